# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of results: a line of JSON per finished job, on the disk before the next one counts as done."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from ..core.errors import InputError, OutputError
from .jobs import Job
from .worker import is_url


def results(file: Path) -> Iterator[dict[str, Any]]:
    """The results in a file, in the order in which they were written. A torn line is left out."""
    if not file.exists():
        return
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"'{file}' cannot be read ({error.strerror}).") from error
    for line in content.split(b"\n"):
        with suppress(ValueError, RecursionError):
            result = json.loads(line)
            if isinstance(result, dict) and isinstance(result.get("id"), str):
                yield result


def done(file: Path) -> dict[str, dict[str, Any]]:
    """The last result of each job in a file, by its id."""
    return {found["id"]: found for found in results(file)}


def is_done(job: Job, found: Mapping[str, Any] | None) -> bool:
    """True for a job that succeeded, as it is now, on its input as it is now, and whose outputs are still there."""
    if found is None or found.get("status") != "ok" or found.get("job") != job.digest:
        return False
    if found.get("input") != job.stamp():
        return False
    try:
        return all(_is_there(output) for output in found.get("outputs") or ())
    except (OSError, ValueError, TypeError, AttributeError):  # the last three: no batch has written that
        return False


def _is_there(output: Mapping[str, Any]) -> bool:
    name, size = output.get("path", ""), output.get("bytes")
    return size is None or is_url(name) or Path(name).stat().st_size == size


#: The beginning of each line that `Journal` writes.
_HEAD = b'{"id"'


class Journal:
    """A file of results that is open for more, as a context. Two batches never write to one file."""

    def __init__(self, file: Path) -> None:
        """Raises OutputError where it cannot be written, holds anything else, or another batch writes to it."""
        self._file = file
        try:
            self._stream = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise OutputError(f"'{file}' cannot be written ({error.strerror}).") from error
        try:
            _lock(self._stream)
            size = os.fstat(self._stream).st_size
            # Less than a line, where its batch was killed.
            head = os.read(self._stream, len(_HEAD))
            if size and _HEAD.startswith(head):
                os.lseek(self._stream, size - 1, os.SEEK_SET)
                if os.read(self._stream, 1) != b"\n":
                    # The last line was torn when its batch was killed.
                    os.write(self._stream, b"\n")
        except OSError as error:
            os.close(self._stream)
            raise OutputError(f"Another batch is writing to '{file}'; wait for its end, or name another.") from error
        if not _HEAD.startswith(head):
            os.close(self._stream)
            raise OutputError(f"'{file}' is no file of results, to which these could be added; choose another name.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._stream)

    def add(self, result: Mapping[str, Any]) -> None:
        """Write a result and have the system put it on the disk. Raises OutputError."""
        line = json.dumps(result).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._stream, line) :]
            os.fsync(self._stream)
        except OSError as error:
            raise OutputError(f"'{self._file}' could not be written ({error.strerror}).") from error


def _lock(stream: int) -> None:
    """Take the file for this process alone. Raises OSError where another one has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        # Some network file systems have no locks.
        return
