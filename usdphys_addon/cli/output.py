# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command prints: results on stdout, all else on stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..core.errors import OutputError
from ..system.console import say, warn

if TYPE_CHECKING:
    from ..core.validate import Issue


def tell_note(options: argparse.Namespace, note: str, before: str = "") -> None:
    """Print a line that is no issue of the file, and keep it for the results of a batch, without what stands before."""
    warn(f"{before}{note}")
    options.answer.setdefault("notes", []).append(note)


def print_issues(options: argparse.Namespace, issues: list[Issue], tell: Callable[[str], None]) -> None:
    """Print a line for each issue, and keep them for the results of a batch. tell: prints a line."""
    options.answer["issues"] += issues
    for issue in issues:
        tell(f"{issue.severity}: {issue.code}: {issue.message} {issue.fix}".rstrip())


def summarise(line: str) -> None:
    """Print what a command has written to a file. The file is there: that nobody reads the line is no error."""
    with suppress(OutputError):
        say(line)


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
