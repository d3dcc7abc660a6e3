# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory and time that a child process may take: its parent ends it before it fills the machine.

This module imports the standard library only, and nothing of this package: Dask sends it to its workers as one file.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

#: Environment variables: gigabytes and seconds that a child of `--isolate` or a simulator may take.
MEMORY, SECONDS = "USDPHYS_MEMORY", "USDPHYS_SECONDS"
#: Environment variable: seconds in which a simulator has to answer for a time step.
STEP = "USDPHYS_STEP_SECONDS"
#: Part of the memory of the machine, or of its container, that a child may take; seconds, a day.
_SHARE, _LONGEST = 0.8, 86400.0
#: Seconds between two looks at a process.
_EVERY = 0.1
GB = 1 << 30
SYSTEM = sys.platform
#: Files that say how much memory a container has, in bytes or "max".
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory() -> int:
    """Bytes that a child may take; 0, which is no limit, on systems that do not say how much memory they have."""
    chosen = _number(os.environ.get(MEMORY, ""))
    return int(chosen * GB) if chosen else int(_SHARE * _of_machine())


def seconds() -> float:
    """Seconds that a child may take that is not one of a batch."""
    return _number(os.environ.get(SECONDS, "")) or _LONGEST


def count(variable: str, otherwise: int) -> int:
    """The number of things in an environment variable, or another one where it has none."""
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() and len(text) < 16 else otherwise


def step_seconds(otherwise: float) -> float:
    """Seconds that a simulator may take for a time step. otherwise: where nobody has chosen them."""
    return _number(os.environ.get(STEP, "")) or otherwise


def _number(text: str) -> float:
    with suppress(ValueError):
        return max(0.0, min(float(text), 1e6))
    return 0.0


def _of_machine() -> int:
    limits = []
    with suppress(OSError, ValueError, AttributeError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in CONTAINER:
        with suppress(OSError, ValueError):
            limits.append(int(file.read_text(encoding="ascii")))
    if SYSTEM == "win32":
        limits.append(of_windows(kernel()))
    return min(limits, default=0)


# --------------------------------------------------------------------------- what a process takes


class Gauge:
    """Says how much memory a process takes, with those that it has started: a wrapper is small, its child is not."""

    def taken(self) -> int:
        """Bytes; 0 where the system does not say."""
        return 0

    def close(self) -> None:
        """Measure it no more. On Windows this ends it, if it has not ended."""


def gauge(pid: int, most: int) -> Gauge:
    """The gauge of a process on this system. most: bytes that it may take."""
    with suppress(OSError, AttributeError):
        if SYSTEM == "win32":
            return WindowsJob(kernel(), pid, most)
        if SYSTEM == "darwin":
            return MacGauge(libproc(), pid)
        return LinuxGauge(pid)
    return Gauge()


class LinuxGauge(Gauge):
    """What is resident, as /proc has it."""

    def __init__(self, pid: int, root: Path = Path("/proc")) -> None:
        self._pid, self._root = pid, root

    def taken(self) -> int:
        return self._of(self._pid)

    def _of(self, pid: int) -> int:
        total = 0
        with suppress(OSError, ValueError, IndexError):
            pages = int(Path(self._root, f"{pid}/statm").read_text(encoding="ascii").split()[1])
            total = pages * os.sysconf("SC_PAGE_SIZE")
            # Of the main thread, which is all that a shell has.
            children = Path(self._root, f"{pid}/task/{pid}/children").read_text(encoding="ascii")
            total += sum(self._of(int(child)) for child in children.split())
        return total


class MacGauge(Gauge):
    """The footprint, as Activity Monitor shows it: what macOS has compressed is not resident."""

    #: Flavors of `proc_pid_rusage` and `proc_listpids`; bytes of a rusage_info_v0, and where its ri_phys_footprint is.
    _USAGE, _BY_PARENT, _SIZE, _FOOTPRINT = 0, 6, 96, 72
    _MOST_CHILDREN = 1024

    def __init__(self, library: Any, pid: int) -> None:
        """library: libproc."""
        self._library, self._pid = library, pid

    def taken(self) -> int:
        return self._of(self._pid)

    def _of(self, pid: int) -> int:
        usage = (ctypes.c_uint8 * self._SIZE)()
        if self._library.proc_pid_rusage(ctypes.c_int(pid), ctypes.c_int(self._USAGE), ctypes.pointer(usage)):
            return 0
        total = int.from_bytes(bytes(usage)[self._FOOTPRINT : self._FOOTPRINT + 8], sys.byteorder)
        children = (ctypes.c_int * self._MOST_CHILDREN)()
        size = self._library.proc_listpids(
            ctypes.c_uint32(self._BY_PARENT), ctypes.c_uint32(pid), ctypes.pointer(children),
            ctypes.c_int(ctypes.sizeof(children)),
        )  # fmt: skip
        count = max(0, size) // ctypes.sizeof(ctypes.c_int)
        return total + sum(self._of(child) for child in children[:count] if child not in (0, pid))


class _BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION"""

    _fields_ = (
        ("process_time", ctypes.c_int64), ("job_time", ctypes.c_int64), ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t), ("most_working_set", ctypes.c_size_t),
        ("most_processes", ctypes.c_uint32), ("affinity", ctypes.c_size_t), ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )  # fmt: skip


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION"""

    _fields_ = (
        ("basic", _BasicLimits), ("transfers", ctypes.c_uint64 * 6), ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t), ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )  # fmt: skip


class WindowsJob(Gauge):
    """A job object: it counts what a process and those that it starts commit, and ends them when this process ends.

    Windows counts only in a job with a limit. It is above ours, so that what reaches ours is seen; a process that
    reaches that of the job between two looks gets no more memory.
    """

    #: JOB_OBJECT_LIMIT_JOB_MEMORY, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE; JobObjectExtendedLimitInformation.
    COUNTED, ENDS_TOO, _EXTENDED = 0x200, 0x2000, 9
    #: PROCESS_SET_QUOTA and PROCESS_TERMINATE.
    _RIGHTS = 0x101
    _ABOVE = 1.25

    def __init__(self, kernel: Any, pid: int, most: int) -> None:
        """kernel: kernel32. Raises OSError where Windows allows no job."""
        self._kernel, self._job = kernel, kernel.CreateJobObjectW(None, None)
        limits = JobLimits()
        limits.basic.flags = self.ENDS_TOO | (self.COUNTED if most else 0)
        limits.job_memory = int(self._ABOVE * most)
        process = kernel.OpenProcess(self._RIGHTS, False, pid) if self._job else None
        is_set = process and kernel.SetInformationJobObject(
            self._job, self._EXTENDED, ctypes.pointer(limits), ctypes.sizeof(limits)
        )
        is_in = is_set and kernel.AssignProcessToJobObject(self._job, process)
        if process:
            kernel.CloseHandle(process)
        if not is_in:
            self.close()
            raise OSError("The process cannot be put into a job.")

    def taken(self) -> int:
        job_limits = JobLimits()
        if not self._kernel.QueryInformationJobObject(
            self._job, self._EXTENDED, ctypes.pointer(job_limits), ctypes.sizeof(job_limits), None
        ):
            return 0
        return int(job_limits.peak_job_memory)

    def close(self) -> None:
        if self._job:
            self._kernel.CloseHandle(self._job)
        self._job = None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX"""

    _fields_ = (("size", ctypes.c_uint32), ("load", ctypes.c_uint32), ("sizes", ctypes.c_uint64 * 7))


def of_windows(kernel: Any) -> int:
    """Bytes of memory of a machine with Windows. kernel: kernel32."""
    status = _MemoryStatus(ctypes.sizeof(_MemoryStatus))
    return int(status.sizes[0]) if kernel.GlobalMemoryStatusEx(ctypes.pointer(status)) else 0


def libproc() -> Any:
    """The library of macOS that knows processes. Raises OSError elsewhere."""
    return ctypes.CDLL("/usr/lib/libproc.dylib")


def kernel() -> Any:
    """kernel32 of this process, with the types of the calls that take handles, which are as wide as pointers."""
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle, number, pointer = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    for name, result, *types in (
        ("CreateJobObjectW", handle, pointer, ctypes.c_wchar_p),
        ("OpenProcess", handle, number, ctypes.c_int, number),
        ("SetInformationJobObject", ctypes.c_int, handle, ctypes.c_int, pointer, number),
        ("AssignProcessToJobObject", ctypes.c_int, handle, handle),
        ("CloseHandle", ctypes.c_int, handle),
        ("QueryInformationJobObject", ctypes.c_int, handle, ctypes.c_int, pointer, number, pointer),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, types
    return library


# --------------------------------------------------------------------------- the watch


class Watch:
    """Looks at a process in a thread, and ends it when it takes too much; a context, or `close` it.

    exceeded: what it took too much of, as a part of a sentence; empty if nothing.
    """

    def __init__(self, pid: int, end: Callable[[], object], most: int, longest: float = 0.0) -> None:
        """end: kills the process. most: bytes. longest: seconds. No limit for 0."""
        self.exceeded = ""
        self._due = float("inf")
        self._end, self._most, self._left = end, most, longest or float("inf")
        self._gauge = gauge(pid, most)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="USD Physics limits")
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answers_within(self, seconds: float) -> None:
        """It has to answer from now on within this time; infinite once it has."""
        self._due = time.monotonic() + seconds

    def close(self) -> None:
        """Look at it no more: its number can be that of another process from now on."""
        self._stop.set()
        self._thread.join()
        self._gauge.close()

    def _look(self) -> None:
        while not self._stop.wait(min(_EVERY, self._left)):
            self._left -= _EVERY
            if self._most and self._gauge.taken() > self._most:
                self.exceeded = f"more than {self._most / GB:.3g} GB of memory"
            elif self._left <= 0.0 or time.monotonic() > self._due:
                self.exceeded = "too long"
            if self.exceeded:
                self._end()
                return
