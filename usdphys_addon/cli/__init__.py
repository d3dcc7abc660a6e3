# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, as `blender --command usdphys`, `python -m usdphys_addon`, and `usdphys` of the wheel."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.errors import InputError, NeedsBlenderError, OutputError, UsageError, UsdPhysError
from ..core.words import counted, is_text
from ..system import console, interrupts, isolate, limits
from ..system.console import warn
from ..system.files import usable_name
from . import blame
from .arguments import make_parser

#: Arguments that are names of files.
_FILES = (
    "file", "input", "first", "second", "ancestor", "ours", "theirs", "output", "onto", "out", "json", "jobs",
    "receipt", "junit", "stamp", "against", "expect",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 for success, 1 for errors in the input, 2 for wrong arguments, 3 for a fault of ours."""
    console.open_streams()
    isolate.watch()
    isolate.deepen_stack()
    with interrupts.between_operators(_say_interrupted):
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            console.silence(number)
            status = status or 1
    return status


def perform(arguments: list[str]) -> dict[str, Any]:
    """Run a command for a batch. Returns what it found: exit (its status), issues, notes, error, table."""
    answer: dict[str, Any] = {"issues": []}
    warned = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(warned):
        answer["exit"] = _run(arguments, answer)
    issues = answer["issues"] = [asdict(issue) for issue in answer["issues"]]
    errors = [line.partition(": error: ")[2] for line in warned.getvalue().splitlines() if line.startswith("usdphys")]
    if answer["exit"] and any(errors):
        answer["error"] = next(filter(None, reversed(errors)))
    elif answer["exit"] and (messages := [issue["message"] for issue in issues if issue["severity"] == "error"]):
        answer["error"] = f"The checks find {counted(len(messages), 'error')}, such as: {messages[0]}"
    return answer


def _run(arguments: list[str], answer: dict[str, Any] | None = None) -> int:
    """Run a command. answer: takes what it finds, see `perform`."""
    parser = make_parser(perform)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # inside `blender --command` the process is not ours to end
        return int(stop.code or 0)
    except OutputError as error:  # of the help
        warn(f"usdphys: error: {error}")
        return 1
    options.answer = {"issues": []} if answer is None else answer
    try:
        _check_names(options)
        if options.isolate and not isolate.is_isolated():
            return _run_isolated(arguments, options)
        command: Callable[[argparse.Namespace], int] = options.run
        with _overflows_ignored() if options.calculates else nullcontext():
            return _run_here_or_in_blender(command, arguments, options, may_hand_over=answer is None)
    except UsdPhysError as error:
        warn(f"usdphys: error: {error}")
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        _say_interrupted()
        return interrupts.STATUS
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        sentence, is_fault = blame.judged(error, _subject(options))
        if options.debug and not isinstance(error, MemoryError):
            traceback.print_exc()
        warn(f"usdphys: error: {sentence}")
        return 3 if is_fault else 1


def _run_here_or_in_blender(
    command: Callable[[argparse.Namespace], int], arguments: list[str], options: argparse.Namespace, *,
    may_hand_over: bool,
) -> int:  # fmt: skip
    """Run a command. One that needs Blender says so before it prints or writes anything; another Blender then runs it.

    may_hand_over: False for the child of a batch, which starts in that Blender where there is one.
    """
    try:
        return command(options)
    except NeedsBlenderError as refusal:
        if not may_hand_over:
            raise
        from . import hand_over

        return hand_over.run_in_blender(arguments, _outputs(options), refusal)


def _say_interrupted() -> None:
    warn("usdphys: error: Interrupted; no output was written.")


def _overflows_ignored() -> AbstractContextManager[object]:
    """What overflows is found in the results; numpy's warnings name lines of code."""
    import numpy as np

    return np.errstate(all="ignore")


def _run_isolated(arguments: list[str], options: argparse.Namespace) -> int:
    ended = isolate.run_in_child(arguments, _outputs(options))
    if ended.crash:
        raise InputError(f"{_subject(options)} makes Blender crash ({ended.crash}); no output was written.")
    if ended.exceeded:
        raise InputError(
            f"{_subject(options)} takes {ended.exceeded}; no output was written. If that is meant, set "
            f"{limits.MEMORY} (gigabytes) or {limits.SECONDS} to more."
        )
    return ended.status


def _outputs(options: argparse.Namespace) -> list[str]:
    """The files that a command writes."""
    names = [getattr(options, name, None) for name in ("output", "out", "json", "receipt", "junit", "stamp")]
    return [name for name in names if isinstance(name, str)]


def _subject(options: argparse.Namespace) -> str:
    names = (getattr(options, name, None) for name in ("file", "input", "first", "ours", "jobs"))
    return f"'{next(filter(None, names), '')}'"


def _check_names(options: argparse.Namespace) -> None:
    """Bring file names into a form that Blender and USD take. Raises InputError for names that they do not."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise InputError("The working folder does not exist any more; change to another one.") from error
    for name in _FILES:
        value = getattr(options, name, None)
        if isinstance(value, str):
            if "://" in value and not Path(value).exists():
                raise UsageError(f"'{value}' is a URL, which only the jobs of a batch take; copy the file here first.")
            setattr(options, name, usable_name(value))
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not is_text(text):
                raise UsageError(f"'{text}' of --{name.replace('_', '-')} is not encoded in UTF-8.")


def run(arguments: Sequence[str] | None = None) -> Any:
    """Entry point of `python -m usdphys_addon`."""
    sys.exit(main(arguments))
