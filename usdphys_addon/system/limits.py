# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory and time that a child process may take: its parent ends it before it fills the machine.

This module imports the standard library only, and nothing of this package: Dask sends it to its workers as one file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

#: Environment variables: gigabytes and seconds that a child of `--isolate` or a simulator may take.
MEMORY, SECONDS = "USDPHYS_MEMORY", "USDPHYS_SECONDS"
#: Part of the memory of the machine, or of its container, that a child may take; seconds, a day.
_SHARE, _LONGEST = 0.8, 86400.0
#: Seconds between two looks at a process.
_EVERY = 0.1
GB = 1 << 30
#: Files that say how much memory a container has, in bytes or "max".
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory() -> int:
    """Bytes that a child may take; 0 where there is no limit, as on systems that do not say what a process takes."""
    chosen = _number(os.environ.get(MEMORY, ""))
    return int(chosen * GB) if chosen else int(_SHARE * _of_machine())


def seconds() -> float:
    """Seconds that a child may take that is not one of a batch."""
    return _number(os.environ.get(SECONDS, "")) or _LONGEST


def _number(text: str) -> float:
    with suppress(ValueError):
        return max(0.0, min(float(text), 1e6))
    return 0.0


def _of_machine() -> int:
    found = []
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in CONTAINER:
        with suppress(OSError, ValueError):
            found.append(int(file.read_text(encoding="ascii")))
    return min(found, default=0)


def resident(pid: int) -> int:
    """Bytes that a process has in memory; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


class Watch:
    """Looks at a process in a thread, and ends it when it takes too much; a context, or `close` it.

    exceeded: what it took too much of, as a part of a sentence; empty if nothing.
    """

    def __init__(self, pid: int, end: Callable[[], object], most: int, longest: float = 0.0) -> None:
        """end: kills the process. most: bytes. longest: seconds. No limit for 0."""
        self.exceeded = ""
        self._pid, self._end, self._most, self._left = pid, end, most, longest or float("inf")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="USD Physics limits")
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Look at it no more: its number can be that of another process from now on."""
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(min(_EVERY, self._left)):
            self._left -= _EVERY
            if self._most and resident(self._pid) > self._most:
                self.exceeded = f"more than {self._most / GB:.3g} GB of memory"
            elif self._left <= 0.0:
                self.exceeded = "too long"
            if self.exceeded:
                self._end()
                return
