# SPDX-License-Identifier: GPL-3.0-or-later
"""The only place that reads the time, so that tests can replace the clock for all modules."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds from an arbitrary start.
now: Callable[[], float] = time.perf_counter
#: Seconds since 1970, to compare with the times of files.
wall: Callable[[], float] = time.time
#: CPU seconds used by all threads of the process.
process_now: Callable[[], float] = time.process_time
#: CPU seconds used by the calling thread. Coarse resolution on some systems.
thread_now: Callable[[], float] = time.thread_time
