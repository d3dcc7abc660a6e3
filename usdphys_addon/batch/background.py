# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in a process of their own, beside a Blender with windows, which looks at their results now and then."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.errors import OutputError
from ..system import files, isolate

#: Seconds that a stopped batch has to end its children.
_PATIENCE = 20.0


class BackgroundCommand:
    """A running command of the command line. It uses no thread: its owner asks it whether it has ended.

    folder: its files, which are deleted by `close`.
    """

    #: In messages.
    what = "The command"

    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix=files.WORK, ignore_cleanup_errors=True)
        self.folder = Path(self._kept.name)
        self._log = self.folder / "log.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, arguments: Iterable[str]) -> None:
        """Run it beside this Blender. Raises OutputError, after which its files are gone."""
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*isolate.program(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
        except OSError as error:
            self._kept.cleanup()
            raise OutputError(f"{self.what} cannot be started ({error.strerror}).") from error

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return None if self._process is None else self._process.poll()

    def is_running(self) -> bool:
        """False once it has ended; there can still be new results."""
        return self._process is not None and self.status is None

    def wait(self) -> None:
        """Wait for its end."""
        if self._process is not None:
            self._process.wait()

    def error(self) -> str:
        """Why it has done nothing, or not all; empty if it has, or if its status 1 is an answer: that of a Python that
        ends with a traceback is none."""
        if self.status in (None, 0):
            return ""
        lines: list[str] = []
        with suppress(OSError):
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line.partition(": error: ")[2] for line in lines if line.startswith("usdphys") and ": error: " in line]
        if told:
            return told[-1]
        if self.status == 1 and not any(line.startswith("Traceback ") for line in lines):
            return ""
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        ended = f"{self.what} ended with status {self.status}"
        return f"{ended}: {last[:200]}" if last else ended

    def stop(self) -> None:
        """End it, with its children. Results until then can still be asked for."""
        if self._process is not None and self.status is None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def close(self) -> None:
        """Stop it, and delete its files."""
        self.stop()
        self._kept.cleanup()


class BackgroundBatch(BackgroundCommand):
    """A running batch, which its owner asks for new results."""

    what = "The batch"

    def __init__(self, jobs: Iterable[Mapping[str, Any]], workers: int = 0) -> None:
        """jobs: lines of a file of jobs, see `batch.jobs`. workers: 0 for as many as processors."""
        super().__init__()
        lines = self.folder / "jobs.jsonl"
        lines.write_text("\n".join(map(json.dumps, jobs)), encoding="utf-8")
        self._results, self._offset = self.folder / "results.jsonl", 0
        self.start(
            ["batch", str(lines), "--out", str(self._results), *(["--workers", str(workers)] if workers else [])]
        )

    def results(self) -> list[dict[str, Any]]:
        """The results since the last call."""
        try:
            with self._results.open("rb") as stream:
                stream.seek(self._offset)
                whole, end, _ = stream.read().rpartition(b"\n")
        except OSError:
            return []
        self._offset += len(whole) + len(end)
        return [json.loads(line) for line in whole.split(b"\n") if line]
