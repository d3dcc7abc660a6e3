# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command of the command line in a child process, which a crash of Blender ends in place of this one."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from . import blender, files, interrupts, limits

#: Environment variable of the child: the file that takes the stack of a crash.
FAULT_LOG = "USDPHYS_FAULT_LOG"
#: Environment variable of a child that ends with the process that has started it. Those of a batch go on.
_ENDS_TOO = "USDPHYS_ENDS_TOO"
_PR_SET_PDEATHSIG = 1
#: The folder that has the program, from which Python can run it.
ROOT = str(blender.PACKAGE.parent)
#: What a function of ours was having Blender do, by the name of its module.
_STEPS = {
    "usd_import": "while it imported the USD file",
    "usd_export": "while it exported the scene",
    "edited_geometry": "while it exported edited objects",
    "blend_file": "while it opened or saved the .blend file",
    "scene_read": "while it evaluated the scene",
}
#: Bytes of the main stack. Linux keeps at least twice as much free below it.
_STACK = 64 * 1024**2


def is_isolated() -> bool:
    """True in the child."""
    return FAULT_LOG in os.environ


def watch() -> None:
    """In the child, have the stack of a crash written down for the parent."""
    if is_isolated():
        log = Path(os.environ[FAULT_LOG]).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        faulthandler.enable(log)
        if os.environ.pop(_ENDS_TOO, ""):
            _end_with_parent()


def _end_with_parent() -> None:
    """On Linux, have the system end this process with the one that has started it, also if that is killed."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def deepen_stack() -> None:
    """Let the main stack grow further: USD calls itself for each level of prims, and 20,000 fill the usual 8 MiB.

    Linux looks at the limit when the stack grows. Elsewhere it stays as it was when the process began.
    """
    if sys.platform == "linux":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        if soft != resource.RLIM_INFINITY and soft < _STACK:
            most = _STACK if hard == resource.RLIM_INFINITY else min(_STACK, hard)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_STACK, (most, hard))


class Ended(NamedTuple):
    """How a child has ended. crash: the cause, or "". exceeded: what it took too much of, or ""; see `limits`."""

    status: int
    crash: str = ""
    exceeded: str = ""


def run_in_child(arguments: Sequence[str], outputs: Iterable[str]) -> Ended:
    """Run a command line in a child process, within the limits of `limits`.

    outputs: files that it writes; the temporary files of a crashed child are deleted.
    """
    targets = [Path(name) for name in outputs]
    before = {path for target in targets for path in files.temporary_files(target)}
    with files.work_folder() as folder, interrupts.raised(signal.SIGINT, signal.SIGTERM):
        log = folder / "faults.txt"
        environment = {**os.environ, FAULT_LOG: str(log), _ENDS_TOO: "1"}
        try:
            status, exceeded = _wait([*program(), *arguments], environment)
        except KeyboardInterrupt:
            _delete_new(targets, before)  # the child is dead
            raise
        # A shell between the two adds 128 to the number of the signal; statuses of ours are smaller.
        number = -status if status < 0 else status - 128
        if not exceeded and (status in range(129) or number == signal.SIGINT):
            return Ended(status)
        _delete_new(targets, before)
        if exceeded:
            return Ended(1, "", exceeded)
        messages = ""
        with suppress(OSError):
            messages = log.read_text(encoding="utf-8", errors="replace")
        return Ended(1, cause(number, messages))


def _wait(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """(exit status, what it took too much of or "") of a child."""
    with subprocess.Popen(command, env=environment) as child:
        try:
            with limits.Watch(child.pid, child.kill, limits.memory(), limits.seconds()) as watch:
                status = child.wait()
        except BaseException:
            child.kill()
            raise
    return status, watch.exceeded


def _delete_new(targets: Iterable[Path], before: Collection[Path]) -> None:
    """Delete the temporary files of outputs that were not there before."""
    for target in targets:
        for path in files.temporary_files(target):
            if path not in before:
                files.delete(path)


def program() -> list[str]:
    """The start of a command line that runs this program again, in the same Blender or Python."""
    binary = getattr(getattr(sys.modules.get("bpy"), "app", None), "binary_path", "")
    if binary:
        # Also where the user has not saved that the add-on is enabled.
        extension = (__package__ or "").removesuffix(".usdphys_addon.system")
        enabled = ["--addons", extension] if extension.startswith("bl_ext.") else []
        return [binary, *enabled, "--command", "usdphys"]
    start = f"import sys; sys.path.insert(0, {ROOT!r}); from {blender.PACKAGE.name}.cli import run; run()"
    return [sys.executable, "-c", start]


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says
        return os.cpu_count() or 1


def cause(number: int, faults: str) -> str:
    """Why a child has ended, in words. number: of the signal. faults: what it wrote to its fault log."""
    try:
        name = signal.strsignal(number) or f"signal {number}"
    except ValueError:
        name = f"status {number}"
    step = step_of(faults)
    return f"{name.lower()}{', ' if step else ''}{step}"


def step_of(faults: str) -> str:
    """What the program was having Blender do at the time of a stack; empty where the stack does not say."""
    modules = re.findall(r'/(\w+)\.py", line \d+', faults)
    return next((_STEPS[module] for module in modules if module in _STEPS), "")
