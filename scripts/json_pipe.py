# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of a child process: one JSON value in each line of a pipe. Standard library only."""

from __future__ import annotations

import json
import os
import selectors
import time
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

    def close(self) -> None:
        self.selector.close()
        os.close(self.descriptor)
