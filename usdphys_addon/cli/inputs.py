# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import formats
from .output import output_to_stderr

if TYPE_CHECKING:
    from ..core.model import PhysicsModel
    from ..core.validate import Issue


def load_options(options: argparse.Namespace) -> formats.LoadOptions:
    """What is read of the input, as the arguments of a command say."""
    return formats.LoadOptions(
        tuple(getattr(options, "variant", ())), getattr(options, "prim", ""), getattr(options, "onto", None) or "",
        tuple(options.package), tuple(options.arg), options.base, options.merge_fixed, options.prefix,
        options.srdf, options.approximation, options.drives, options.no_self_collision, options.no_visuals,
        options.visual_colliders,
    )  # fmt: skip


@contextmanager
def model_of(options: argparse.Namespace) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of the file of a command, and the issues of reading it."""
    load = load_options(options)
    formats.check_options(options.file, load)
    with model_in(options.file, load) as found:
        yield found


@contextmanager
def model_in(file: str, load: formats.LoadOptions) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of a file, and the issues of reading it. Raises NeedsBlenderError."""
    with output_to_stderr(), formats.require_readable(file).read(file, load) as found:
        yield found
