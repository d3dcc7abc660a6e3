# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in a thread while Blender's own importer runs, which holds up the main thread but not Python."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

import bpy

from ..core import clock
from ..core.errors import UsdPhysError
from ..system import collector

_Result = TypeVar("_Result")

#: Seconds after which a waiting thread requests the GIL, while another works; Python's default is 5 ms.
_SWITCH_INTERVAL = 5e-6
#: Seconds between two looks at a thread. Looks at an idle process after which the thread is stuck.
LOOK, LOOKS = 0.2, 600
#: Share of the time that an idle process uses at most.
_IDLE = 0.01


def threads_are_safe() -> bool:
    """Whether Python may run in a thread while an operator of Blender releases the GIL.

    Not under `Context.temp_override`: Blender then looks into the dictionary of the override, and takes no GIL for it
    where "any thread has it" answers `_PyThreadState_UncheckedGet`, as it does before Python 3.12. Two threads in one
    interpreter overwrite each other's objects: a crash sooner or later. No call tells whether an override is active,
    but the context manager of an active one is alive.
    """
    if sys.version_info >= (3, 12):
        return True
    return type(bpy.context.temp_override()) not in map(type, gc.get_objects())


def shorten_walks() -> None:
    """Have later walks of `threads_are_safe`, and the garbage collector, leave out what is alive now: once a process.

    Modules and classes make up nearly all of it. Nothing of it is the manager of an override, or nothing is left out.
    Only without a window: there many files may be imported, and no other add-on comes and goes.
    """
    if not bpy.app.background or sys.version_info >= (3, 12):
        return
    if not collector.is_frozen() and threads_are_safe():
        collector.freeze()


class Background(Generic[_Result]):
    """Work in a thread while Blender imports, which releases the GIL; make one right before.

    Use it in a `with`: the thread does not outlive the block unless it is stuck, and a stuck one does not keep the
    process from its end. Where a thread would bring Blender down, the work is done at once, see `threads_are_safe`.
    """

    def __init__(self, what: str, work: Callable[..., _Result], *arguments: Any) -> None:
        """what: the work in words, for the message if it is stuck."""
        self._what, self._work, self._arguments = what, work, arguments
        self._values: list[_Result] = []
        self._error: BaseException | None = None
        self._done, self._is_stuck = threading.Event(), False
        self._interval = sys.getswitchinterval()
        if not threads_are_safe():
            self._run()
            return
        # pxr releases and retakes the GIL so often that Blender's thread would starve: each release restarts the
        # interval after which a waiting thread requests the GIL. So the interval is shortened while the work lasts.
        sys.setswitchinterval(_SWITCH_INTERVAL)
        try:
            threading.Thread(target=self._run, name="USD Physics", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._run()

    def _run(self) -> None:
        try:
            self._values.append(self._work(*self._arguments))
        except BaseException as error:
            self._error = error
        finally:
            del self._work, self._arguments
            sys.setswitchinterval(self._interval)
            self._done.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._wait()

    def result(self) -> _Result:
        """What the work returns. Raises what it raises, or UsdPhysError if it is stuck."""
        self._wait()
        if self._is_stuck:
            raise UsdPhysError(f"{self._what} made no progress and was stopped; restart Blender and try again.")
        if self._error is not None:
            raise self._error
        return self._values[0]

    def _wait(self) -> None:
        """Wait until the work is done or stuck: the whole process has done next to nothing for a long time."""
        looks, used = 0, clock.process_now()
        while not self._is_stuck and not self._done.wait(LOOK):
            looks += 1
            if clock.process_now() - used > _IDLE * LOOKS * LOOK:
                looks, used = 0, clock.process_now()
            elif looks >= LOOKS:
                self._is_stuck = True
                sys.setswitchinterval(self._interval)
