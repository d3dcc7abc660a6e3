# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import formats
from ..core.errors import InputError
from .output import output_to_stderr

if TYPE_CHECKING:
    from ..core.model import PhysicsModel
    from ..core.validate import Issue
    from ..formats import Choices


def choices_of(options: argparse.Namespace) -> Choices:
    """The options of reading that the arguments of a command set."""
    names = dict.fromkeys(name for row in formats.FORMATS for name in row.takes)
    given = {name: getattr(options, formats.ARGUMENTS.get(name, name), None) for name in names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if value}


def require_layer(options: argparse.Namespace) -> None:
    """Raise InputError unless a command can write a layer, as text, over the USD file that it gets."""
    if formats.format_of(options.file) is not formats.USD:
        raise InputError(f"'{options.file}' is no USD file; convert it to one first.")
    if Path(options.output).suffix.lower() not in (".usda", ".usd"):
        raise InputError(f"'{options.output}' is written as text; end its name with .usda.")
    formats.require_readable(options.file)
    formats.expose_pxr()


@contextmanager
def model_of(options: argparse.Namespace) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of the file of a command, and the issues of reading it."""
    choices = choices_of(options)
    formats.check_choices(options.file, choices)
    with model_in(options.file, choices) as found:
        yield found


@contextmanager
def model_in(file: str, choices: Choices) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of a file, and the issues of reading it. Raises NeedsBlenderError."""
    source = formats.require_readable(file)
    with output_to_stderr(), source.read(file, source.chosen(choices)) as found:
        yield found
