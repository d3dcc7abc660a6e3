# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .output import output_to_stderr

if TYPE_CHECKING:
    from ..core.model import PhysicsModel
    from ..core.validate import Issue
    from ..exchange.formats import LoadOptions


def load_options(options: argparse.Namespace) -> LoadOptions:
    """What is read of the input, as the arguments of a command say."""
    from ..exchange import formats

    return formats.LoadOptions(
        tuple(getattr(options, "variant", ())), getattr(options, "prim", ""), getattr(options, "onto", None) or "",
        tuple(options.package), tuple(options.arg), options.base, options.merge_fixed, options.prefix,
        options.srdf, options.approximation, options.drives, options.no_self_collision, options.no_visuals,
        options.visual_colliders,
    )  # fmt: skip


@contextmanager
def model_of(options: argparse.Namespace) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of the file of a command, and the issues of reading it."""
    from ..exchange import formats

    load = load_options(options)
    formats.check_options(options.file, load)
    with output_to_stderr(), formats.format_of(options.file).read(options.file, load) as found:
        yield found
