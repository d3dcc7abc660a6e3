# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a batch is: a bar on a terminal, and a line per job elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, TextIO

from ..core import clock
from ..core.words import counted
from ..system import console
from .drive import STATUSES
from .jobs import Job

_WIDTH = 24
#: Seconds between two pictures of the bar.
_EVERY = 0.1


class Progress:
    """Told of each finished job. counts: of each status."""

    def __init__(self, jobs: int, stream: TextIO | None = None, *, is_quiet: bool = False) -> None:
        """jobs: how many there are to do. stream: where a terminal may be; stderr by default. is_quiet: no bar, and
        lines for jobs that are not ok only.
        """  # fmt: skip
        self._is_quiet = is_quiet
        self.counts: Counter[str] = Counter()
        self._jobs, self._stream = jobs, sys.stderr if stream is None else stream
        self._start, self._drawn, self._width = clock.now(), float("-inf"), 0
        self._is_terminal = not is_quiet and self._stream is not None and self._stream.isatty()

    def told(self, job: Job, result: Mapping[str, Any]) -> None:
        """Show a finished job."""
        self.counts[result["status"]] += 1
        if result["status"] != "ok" or not (self._is_terminal or self._is_quiet):
            self._clear()
            number = f"{self.counts.total()}/{self._jobs}"
            taken = f" ({result['seconds']:.2f} s)" if result.get("seconds") is not None else ""
            why = f": {result['error']}" if result.get("error") else ""
            console.warn(f"{number} {result['status']} {job.id}{taken}{why}")
        if self._is_terminal and (clock.now() - self._drawn >= _EVERY or self.counts.total() == self._jobs):
            self._drawn = clock.now()
            self._draw(self.line())

    def line(self) -> str:
        """The bar with its numbers."""
        done, passed = self.counts.total(), max(clock.now() - self._start, 1e-9)
        filled = _WIDTH * done // max(1, self._jobs)
        bad = done - self.counts["ok"]
        left = passed / done * (self._jobs - done) if done else 0.0
        return (
            f"[{'#' * filled}{' ' * (_WIDTH - filled)}] {done}/{self._jobs}"
            f"{f', {bad} not ok' if bad else ''}, {done / passed:.3g} a second, {duration(left)} left"
        )

    def end(self) -> None:
        """Take the bar away."""
        self._clear()

    def _draw(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r{text.ljust(self._width)}")
            self._stream.flush()
            self._width = len(text)

    def _clear(self) -> None:
        if self._width:
            self._draw("")
            if self._stream is not None:
                self._stream.write("\r")
            self._width = 0


def duration(seconds: float) -> str:
    """1:05 for 65 seconds, 1:00:00 for an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def summary(name: str, counts: Mapping[str, int], skipped: int) -> str:
    """The last line of a batch: how many jobs, and what became of them."""
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts.get(status)]
    if skipped:
        parts.append(f"{skipped} done before")
    return f"{name}: {counted(sum(counts.values()) + skipped, 'job')}{': ' if parts else ''}{', '.join(parts)}"
