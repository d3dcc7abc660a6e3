# SPDX-License-Identifier: GPL-3.0-or-later
"""A job in a child process with limits."""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable
from pathlib import Path


def run(job: Callable[[], str], folder: Path, memory: int, seconds: int) -> dict[str, object]:
    """Let a child do a job that returns a sentence. memory: bytes. folder: for the sentence.

    Returns status, seconds, megabytes, sentence. HOSTILE_DEBUG in the environment prints where an exception came from.
    """
    said = folder / "said.txt"
    said.write_text("", encoding="utf-8")
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            said.write_text(job(), encoding="utf-8")
        except BaseException as error:
            if os.environ.get("HOSTILE_DEBUG"):
                traceback.print_exc()
            said.write_text(f"raised {type(error).__name__}: {error}", encoding="utf-8")
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    return {
        "status": status, "seconds": round(usage.ru_utime + usage.ru_stime, 1), "mb": usage.ru_maxrss >> 10,
        "sentence": said.read_text(encoding="utf-8")[:300],
    }  # fmt: skip
