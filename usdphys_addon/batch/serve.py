# SPDX-License-Identifier: GPL-3.0-or-later
"""What a warm child does: read a job, run it, answer, until its input ends."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core import clock
from ..system import collector
from .worker import FAULT_LOG, FOLDER, MARK

#: Bytes above those at its start that a child keeps without asking which of them are free.
_KEPT = 1 << 26


def serve(perform: Callable[[list[str]], Mapping[str, Any]]) -> int:
    """Run the jobs that come in on stdin. perform: a command line -> its answer. Returns the exit status."""
    answers = os.dup(1)
    # Blender prints to stdout: that goes to the log of the child.
    os.dup2(2, 1)
    log = Path(os.environ.get(FAULT_LOG, os.devnull)).open("a", encoding="utf-8")  # noqa: SIM115 - open until the end
    least = _memory()
    _answer(answers, {"memory": least})
    is_first = True
    for line in sys.stdin:
        job = json.loads(line)
        # A watchdog outside of Python: it ends the process also where Blender never comes back, and where the process
        # that has started this one is gone.
        faulthandler.dump_traceback_later(job["seconds"], exit=True, file=log)
        began = clock.now()
        answer = dict(perform(job["arguments"]))
        faulthandler.cancel_dump_traceback_later()
        if _memory() > least + _KEPT:
            _give_back()
        _answer(answers, {**answer, "seconds": round(clock.now() - began, 4), "memory": _memory()})
        if is_first:
            # The modules that the first job has loaded stay: the collector need not look at them again.
            is_first = False
            gc.collect()
            collector.freeze()
    # The process that has started this one would have ended it, and deleted its files: it is gone.
    folder = Path(os.environ.get(FAULT_LOG, "")).parent
    if folder.name.startswith(FOLDER):
        log.close()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _answer(stream: int, value: Mapping[str, Any]) -> None:
    # A line feed first: what Blender has printed before may be without one.
    text = f"\n{MARK}{json.dumps(value)}\n".encode()
    while text:
        text = text[os.write(stream, text) :]


def _give_back() -> None:
    """Have the C library return what is free to the system: it keeps the space of small pieces, as USD has them."""
    with suppress(OSError, AttributeError, TypeError):  # other libraries have no such function, or do it themselves
        ctypes.CDLL(None).malloc_trim(0)


def _memory() -> int:
    """Bytes that the process has in memory; 0 where the system does not say."""
    with suppress(OSError, ValueError, AttributeError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
