# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the add-on prints: one line at a time, harmless to a terminal, and no failure of a stream is lost."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from ..core.errors import OutputError

#: Control characters, invisible characters that turn the order of text, line separators, and lone surrogates, which
#: stand for bytes of file names that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

#: Blender's lines about a temporary file that it has written.
_FINISHED = re.compile(r"(USD export of .*\.usdphys-.* took |Info: Saved (copy )?as .*\.usdphys-)")


def printable(text: str) -> str:
    """The text on one line, with escapes in place of all that a terminal could take for a command or hide."""
    return _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(
        found[0], f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )  # fmt: skip


def say(line: str) -> None:
    """Print a line of the result to stdout. Raises OutputError if stdout takes it not; a closed one is no error."""
    try:
        _write(sys.stdout, line)
    except OSError as error:
        silence(1)
        raise OutputError(f"The result could not be printed ({error.strerror}); stdout has to be writable.") from error


def note(line: str) -> None:
    """Print a line about what Blender does at the moment to stdout. Where that fails, nothing is lost."""
    with suppress(OSError):
        _write(sys.stdout, line)


def warn(line: str) -> None:
    """Print a line to stderr. Where that fails, there is nobody left to be told."""
    try:
        _write(sys.stderr, line)
    except OSError:
        silence(2)


def _write(stream: TextIO | None, line: str) -> None:
    if stream is None or stream.closed:
        return
    encoding = stream.encoding or "utf-8"
    text = printable(line).encode(encoding, "backslashreplace").decode(encoding, "replace")
    stream.write(f"{text}\n")
    stream.flush()


@contextmanager
def printed_on_success() -> Iterator[None]:
    """Print what a block prints to stdout and stderr to stderr at its end, and drop it if the block fails.

    Blender prints the traceback of an operator that fails, whatever becomes of the exception.
    """
    try:
        saved = [(number, os.dup(number)) for number in (1, 2)]
    except OSError:  # there are no such streams
        yield
        return
    with tempfile.TemporaryFile() as output:
        _flush()
        for number, _ in saved:
            os.dup2(output.fileno(), number)
        is_done = False
        try:
            yield
            is_done = True
        finally:
            _flush()
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)
            output.seek(0)
            if is_done:
                for line in output:
                    warn(line.decode(errors="surrogateescape").rstrip("\r\n"))


@contextmanager
def without_scratch_names() -> Iterator[None]:
    """Print what a block prints to stdout at its end, without the lines in which Blender calls a file finished.

    These name the temporary file, which has another name by then. All other lines are printed, also on failure.
    """
    try:
        saved = os.dup(1)
    except OSError:  # there is no such stream
        yield
        return
    with tempfile.TemporaryFile() as output:
        _flush()
        os.dup2(output.fileno(), 1)
        try:
            yield
        finally:
            _flush()
            os.dup2(saved, 1)
            os.close(saved)
            output.seek(0)
            for line in output:
                text = line.decode(errors="surrogateescape").rstrip("\r\n")
                if not _FINISHED.match(text):
                    note(text)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()


def open_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    Otherwise the next opened file gets the number of the stream, and what Blender prints is written into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)


def silence(number: int) -> None:
    """Send what is still to be written to a broken stream to the null device, so that the end of Python is quiet."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
