# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch in a process of its own, beside a Blender with windows, which looks at its results now and then."""

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


class BackgroundBatch:
    """A running batch. It uses no thread: its owner asks it for new results.

    folder: its files, which are deleted by `close`.
    """

    def __init__(self, jobs: Iterable[Mapping[str, Any]], workers: int = 0) -> None:
        """jobs: lines of a file of jobs, see `batch.jobs`. workers: 0 for as many as processors."""
        self._kept = tempfile.TemporaryDirectory(prefix=files.WORK, ignore_cleanup_errors=True)
        self.folder = Path(self._kept.name)
        lines = self.folder / "jobs.jsonl"
        lines.write_text("\n".join(map(json.dumps, jobs)), encoding="utf-8")
        self._results, self._log, self._offset = self.folder / "results.jsonl", self.folder / "log.txt", 0
        command = [*isolate.program(), "batch", str(lines), "--out", str(self._results)]
        command += ["--workers", str(workers)] if workers else []
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        except OSError as error:
            self._kept.cleanup()
            raise OutputError(f"The batch cannot be started ({error.strerror}).") from error

    def is_running(self) -> bool:
        """False once it has ended; there can still be new results."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait()

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

    def error(self) -> str:
        """Why it has done no jobs, or not all of them; empty if it has."""
        if self._process.poll() in (None, 0):
            return ""
        lines: list[str] = []
        with suppress(OSError):
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line.partition(": error: ")[2] for line in lines if line.startswith("usdphys") and ": error: " in line]
        if told:
            return told[-1]
        if self._process.returncode == 1:
            return ""
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"The batch ended with status {self._process.returncode}{': ' if last else ''}{last[:200]}"

    def stop(self) -> None:
        """End it, with its children. Results of jobs that ended until then can still be asked for."""
        if self._process.poll() is None:
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
