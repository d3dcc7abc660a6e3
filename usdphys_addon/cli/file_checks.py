# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files `validate` checks, and what it finds in one of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import InputError, UsageError
from ..system.files import usable_name
from .inputs import choices_of, model_in
from .output import output_to_stderr

if TYPE_CHECKING:
    from ..core.validate import Issue, Target
    from ..formats import Choices

SEVERITIES = ("error", "warning", "info")
#: What is checked where only targets are asked for that a format does not have.
_SPECIFICATION: tuple[Target, ...] = ("usd",)
#: A target of `validate` that only some formats have, see `formats.Format.checks`.
ROS = "ros"


class Found(NamedTuple):
    """One issue of a file, and the targets that it is one for."""

    issue: Issue
    targets: tuple[str, ...]


class Repair(NamedTuple):
    """What was fixed, or was not. text: what was done, or why it was not."""

    code: str
    path: str
    text: str


@dataclass(slots=True)
class FileReport:
    """What is known of one file. error: why it cannot be read, or "". is_fault: that is a fault of this program.

    fixed, unfixed: by `--fix`. notes: what else `--fix` has to say.
    """

    file: str
    found: list[Found] = field(default_factory=list)
    error: str = ""
    is_fault: bool = False
    fixed: list[Repair] = field(default_factory=list)
    unfixed: list[Repair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, severity: str) -> int:
        return sum(found.issue.severity == severity for found in self.found)

    def is_bad(self, bar: Sequence[str]) -> bool:
        """Whether it cannot be read, or has an issue of one of some severities."""
        return bool(self.error) or any(found.issue.severity in bar for found in self.found)


# --------------------------------------------------------------------------- which files


def named_files(names: Iterable[str]) -> Iterator[str]:
    """The files that arguments name: files as they are, and those of a known format in folders, sorted.

    A file that is named twice comes once. Raises InputError for a folder without any.
    """
    from .. import formats

    seen: set[str] = set()
    for name in names:
        folder = Path(name)
        files = _inside(folder, formats.is_known) if folder.is_dir() else [name]
        if not files:
            listed = ", ".join(formats.suffixes())
            raise InputError(f"The folder '{name}' holds no file to check; these end with {listed}.")
        for file in files:
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file


def require_readable(files: Iterable[str]) -> None:
    """Raise NeedsBlenderError if one of some files is read by Blender, which is not here."""
    from .. import formats

    for file in files:
        try:
            formats.format_of(file)
        except InputError:
            continue  # is said when it is this file's turn
        formats.require_readable(file)


def _inside(folder: Path, is_wanted: Callable[[Path], bool]) -> list[str]:
    """The wanted files in a folder and the folders in it, without those that are hidden."""
    names = []
    for above, folders, files in os.walk(folder, onerror=_refuse_folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names += [
            str(Path(above, name)) for name in sorted(files)
            if not name.startswith(".") and is_wanted(Path(above, name))
        ]  # fmt: skip
    return names


def _refuse_folder(error: OSError) -> None:
    raise InputError(f"The folder '{error.filename}' cannot be read ({error.strerror}).") from error


# --------------------------------------------------------------------------- one file


def choices_for(options: argparse.Namespace, file: str, *, is_alone: bool) -> Choices:
    """How a file is read. Of several files, each takes the options that its format has. Raises UsageError."""
    from .. import formats

    choices = choices_of(options)
    if is_alone:
        formats.check_choices(file, choices)
    return choices


def check_used(options: argparse.Namespace, files: Sequence[str]) -> None:
    """Raise UsageError for an option or a target that none of several files has."""
    from .. import formats

    known = []
    for file in files:
        try:
            known.append(formats.format_of(file))
        except InputError:
            continue
    if not known:
        return
    taken = {name for row in known for name in row.takes}
    formats.check_choices(files[0], {name: value for name, value in choices_of(options).items() if name not in taken})
    if ROS in options.target and not any(ROS in row.checks for row in known):
        raise UsageError(f"--target {ROS} is for robots in URDF, and none of these files is one.")


def issues_of(file: str, choices: Choices, targets: Sequence[str], *, is_alone: bool) -> list[Found]:
    """What is wrong with a file for some targets, errors first.

    Raises InputError, also UsageError; NeedsBlenderError for a .blend where Blender is not here.
    """
    from .. import formats
    from ..core import validate

    source = formats.format_of(file)
    own = [target for target in targets if target in source.checks]
    common: list[Target] = [target for target in validate.TARGETS if target in targets]
    if is_alone and len(own) + len(common) < len(targets):
        other = next(target for target in targets if target not in own and target not in common)
        raise UsageError(f"'{file}' is a {source.name}; --target {other} is for robots in URDF.")
    by_target: dict[str, list[Issue]] = {}
    with output_to_stderr():
        for target in own:
            by_target[target] = source.checks[target](file, source.chosen(choices))
    if common or not own:
        with model_in(file, choices) as (model, issues):
            for target in common or _SPECIFICATION:
                by_target[target] = issues + validate.validate(model, target)
    return _together(by_target)


def _together(by_target: dict[str, list[Issue]]) -> list[Found]:
    """Each issue once, as severe as the worst of its targets says, errors first."""
    worst: dict[tuple[str, str, str], Found] = {}
    repeated: list[Found] = []
    for target, issues in by_target.items():
        for issue in issues:
            key = (issue.code, issue.path, issue.message)
            known = worst.get(key)
            if known is None:
                worst[key] = Found(issue, (target,))
            elif target in known.targets:
                repeated.append(Found(issue, (target,)))
            else:
                chosen = min(known.issue, issue, key=lambda one: SEVERITIES.index(one.severity))
                worst[key] = Found(chosen, (*known.targets, target))
    found = [*worst.values(), *repeated]
    if len(by_target) > 1:
        found.sort(key=lambda one: SEVERITIES.index(one.issue.severity))
    return found


def usable(file: str) -> str:
    """A file name that Blender and USD take. Raises InputError, UsageError for a URL."""
    if "://" in file and not Path(file).exists():
        raise UsageError(f"'{file}' is a URL, which only the jobs of a batch take; copy the file here first.")
    return usable_name(file)
