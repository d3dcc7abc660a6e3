# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of the add-on: one queue, which one timer of Blender works off while the window is idle.

All jobs are cancelled here: by loading a file, by undo and redo, and when the add-on is disabled. Between two steps a
job keeps no reference to Blender's data, which may be freed by then: it looks names up again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..core import clock
from ..system import faults
from .queue import Job, Queue

#: Seconds of one call of the timer, after which no further step begins.
SLICE = 0.005

_queue = Queue(faults.tell)
#: Called before and after Blender replaces its data: to forget what was computed from it.
on_load: list[Callable[[], None]] = []
on_undo: list[Callable[[], None]] = []


class _Alarm:
    """at: time at which Blender calls `tick`."""

    at = 0.0


def add(make: Callable[..., Job], *arguments: Any, survives: bool = False) -> None:
    """Begin the job that `make` returns for the arguments, unless the same one is in the queue.

    survives: loading a file, undo and redo do not cancel it.
    """
    _queue.add((make, *arguments), lambda: make(*arguments), survives=survives)
    _set_alarm()


def call_later(call: Callable[[], object], seconds: float = 0.0, *, survives: bool = False) -> None:
    """Call a function once, when the running operator or handler has ended. Once, however often this was asked for."""

    def job() -> Job:
        yield seconds
        _queue.cancel((call,))  # the function may ask to be called again
        call()

    _queue.add((call,), job, survives=survives)
    _set_alarm()


def is_waiting(function: Callable[..., Any], *arguments: Any) -> bool:
    """True if this job, or this function to be called later, is in the queue."""
    return (function, *arguments) in _queue


def cancel(function: Callable[..., Any], *arguments: Any) -> bool:
    """Close a job, or do not call a function. Returns False if it is not in the queue."""
    return _queue.cancel((function, *arguments))


def turn(function: Callable[..., Any], *arguments: Any) -> float | None:
    """One step of a job now, however long it wants to wait. Returns the seconds until its next step; None at its end.

    For tests, and for scripts without a window, where Blender calls no timer.
    """
    key = (function, *arguments)
    _queue.turn([key])
    return _queue.wait(key)


# --------------------------------------------------------------------------- Blender's timer and handlers


def tick() -> float | None:
    """Timer callback. Returns the seconds until the next call, None to end the timer."""
    _queue.work(SLICE)
    wait = _queue.wait()
    _Alarm.at = clock.now() + (wait or 0.0)
    return wait


def _set_alarm() -> None:
    """Have Blender call `tick` when the first job is due."""
    wait = _queue.wait()
    if wait is None or _queue.is_working:  # `tick` itself returns when it is to be called again
        return
    due = clock.now() + wait
    if bpy.app.timers.is_registered(tick):
        if _Alarm.at <= due:
            return
        bpy.app.timers.unregister(tick)
    _Alarm.at = due
    bpy.app.timers.register(tick, first_interval=wait, persistent=True)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _at_load(*_: Any) -> None:
    _forget(on_load)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _at_undo(*_: Any) -> None:
    _forget(on_undo)


def _forget(calls: list[Callable[[], None]]) -> None:
    _queue.cancel_all(survivors=False)
    for call in calls:
        call()


_HANDLERS = (
    ("load_pre", _at_load), ("load_post", _at_load), ("undo_pre", _at_undo), ("undo_post", _at_undo),
    ("redo_pre", _at_undo), ("redo_post", _at_undo),
)  # fmt: skip


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    _queue.cancel_all()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
