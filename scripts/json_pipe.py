# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of a child process: one JSON value in each line of a pipe. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import time
from pathlib import Path
from typing import Any


class JsonPipe:
    """The reading end of a pipe, by its file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.buffer = descriptor, b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(descriptor, selectors.EVENT_READ)

    def message(self, timeout: float) -> Any:
        """What the child says next. Raises TimeoutError where it is silent for so many seconds, EOFError at the end."""
        end = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            if not self.selector.select(max(0.0, end - time.monotonic())):
                raise TimeoutError
            data = os.read(self.descriptor, 65536)
            if not data:
                raise EOFError
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def message_of(self, pid: int, timeout: float) -> Any:
        """`message`, but a child waits for its turn on a busy machine.

        Raises TimeoutError where it is silent for so many seconds and works half of them, or for 20 times as many.
        """
        for _ in range(20):
            before = work_of(pid)
            try:
                return self.message(timeout)
            except TimeoutError:
                if work_of(pid) - before > timeout / 2:
                    raise
        raise TimeoutError

    def close(self) -> None:
        self.selector.close()
        os.close(self.descriptor)


def work_of(pid: int) -> float:
    """Seconds of the processor that a process has used; of a process that is gone, 0."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0
