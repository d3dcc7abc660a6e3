# SPDX-License-Identifier: GPL-3.0-or-later
"""A model as a file of MJCF that takes the place of an old one once it is whole and right."""

from __future__ import annotations

from pathlib import Path

from ..core import proof, summary, validate
from ..core.model import PhysicsModel
from ..core.validate import Issue
from ..system.files import checked, replacing
from . import verify, write


def write_model(
    model: PhysicsModel, target: Path, *, strict: bool = False, inputs: tuple[Path, ...] = ()
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    """Write a model as a file that takes the place of the target. Returns (issues, number of prims by kind).

    strict: write nothing where the checks find errors. Raises InputError, OutputError and ValidationFailedError.
    """
    checked(target, inputs)
    issues = validate.validate(model, check_geometry=False)
    written = write.text_of(model, target.stem)
    issues += written.issues
    with replacing(target) as scratch:
        scratch.write_text(written.text, encoding="utf-8")
        issues += proof.issues_of(list(verify.differences(model, written, scratch)), is_of_robot=True)
        validate.refuse_errors(issues, target, strict=strict)
    return issues, summary.counts(model)
