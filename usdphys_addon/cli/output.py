# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command prints: results on stdout, all else on stderr; and the folders of the files that it writes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import OutputError
from ..system.console import say, warn

if TYPE_CHECKING:
    from ..core.validate import Issue


def tell_note(options: argparse.Namespace, note: str, before: str = "") -> None:
    """Print a line that is no issue of the file, and keep it for the results of a batch, without what stands before.

    --quiet leaves it out.
    """
    if not options.quiet:
        warn(f"{before}{note}")
    options.answer.setdefault("notes", []).append(note)


def print_notices(options: argparse.Namespace, notices: list[Issue], tell: Callable[[str], None]) -> None:
    """Like `print_issues`, with one line for those that say the same of different prims."""
    from ..core.rules.base import alike

    options.answer["issues"] += notices
    for issue, number in alike(notices):
        if not options.quiet or issue.severity == "error":
            more = f" The same holds for {number - 1} more." if number > 1 else ""
            tell(f"{issue.severity}: {issue.code}: {issue.message}{more} {issue.fix}".rstrip())


def print_issues(options: argparse.Namespace, issues: list[Issue], tell: Callable[[str], None]) -> None:
    """Print a line for each issue, and keep them for the results of a batch. tell: prints a line.

    --quiet leaves out all but errors.
    """
    options.answer["issues"] += issues
    for issue in issues:
        if not options.quiet or issue.severity == "error":
            tell(f"{issue.severity}: {issue.code}: {issue.message} {issue.fix}".rstrip())


def summarise(options: argparse.Namespace, line: str) -> None:
    """Print what a command has written to a file, without --quiet. That nobody reads the line is no error."""
    if not options.quiet:
        with suppress(OutputError):
            say(line)


@contextmanager
def folders_made(options: argparse.Namespace, *outputs: str | None) -> Iterator[None]:
    """Make the missing folders of outputs, and say so. If the block fails, those that are still empty are deleted."""
    missing: list[Path] = []
    for output in filter(None, outputs):
        folder = Path(output).absolute().parent
        missing += [one for one in (folder, *folder.parents) if not one.exists() and one not in missing]
    missing.sort(key=lambda one: len(one.parts))
    made = []
    try:
        try:
            for one in missing:
                one.mkdir()
                made.append(one)
        except OSError as error:
            raise OutputError(f"The folder '{one}' cannot be made ({error.strerror}); choose another one.") from error
        yield
    except BaseException:
        for one in reversed(made):
            with suppress(OSError):  # it is used by now
                one.rmdir()
        raise
    for one in made:
        tell_note(options, f"The folder '{one}' was made.", "usdphys: note: ")


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Redirect Blender's messages to stderr: stdout is for results."""
    _flush_stdout()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush_stdout()
        os.dup2(saved, 1)
        os.close(saved)


def _flush_stdout() -> None:
    with suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()
