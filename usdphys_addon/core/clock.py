# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock that the add-on decides by. No other module reads the time: a test replaces it here, for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds from an arbitrary start.
now: Callable[[], float] = time.perf_counter
#: Seconds of processor time that the calling thread has used. Coarse on some systems.
thread_now: Callable[[], float] = time.thread_time
