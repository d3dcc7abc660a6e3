# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of the add-on: one queue, which one timer of Blender works off while the window is idle.

All jobs are cancelled here: by loading a file, by undo and redo, and when the add-on is disabled. Between two steps a
job keeps no reference to Blender's data, which may be freed by then: it looks names up again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..system import faults
from .handlers import Handlers
from .queue import Job, Queue

#: Seconds of one call of the timer, after which no further step begins.
SLICE = 0.005

_queue = Queue(faults.tell)
#: Called before and after Blender replaces its data: to forget what was computed from it.
on_load: list[Callable[[], None]] = []
on_undo: list[Callable[[], None]] = []


def add(make: Callable[[], Job], *, survives: bool = False) -> None:
    """Begin the job that a function makes, unless it is in the queue.

    survives: loading a file, undo and redo do not cancel it.
    """
    _begin(make, make, survives)


def call_later(call: Callable[[], object], seconds: float = 0.0, *, survives: bool = False) -> None:
    """Call a function once, when the running operator or handler has ended. Once, however often this was asked for."""

    def job() -> Job:
        yield seconds
        cancel(call)  # the function may ask to be called again
        call()

    _begin(call, job, survives)


def is_waiting(function: Callable[[], Any]) -> bool:
    """True if this job, or this function to be called later, is in the queue."""
    return function in _queue


def cancel(function: Callable[[], Any]) -> bool:
    """Close a job, or do not call a function. Returns False if it is not in the queue."""
    return _queue.cancel(function)


def turn(function: Callable[[], Any]) -> float | None:
    """One step of a job now, however long it wants to wait. Returns the seconds until its next step; None at its end.

    For tests, and for scripts without a window, where Blender calls no timer.
    """
    _queue.turn([function])
    return _queue.wait(function)


def _begin(key: Callable[[], Any], make: Callable[[], Job], survives: bool) -> None:
    if _queue.add(key, make, survives=survives) and not _queue.is_working:  # `tick` says when it is to be called again
        _end_alarm()
        bpy.app.timers.register(tick, first_interval=_queue.wait() or 0.0, persistent=True)


# --------------------------------------------------------------------------- Blender's timer and handlers


def tick() -> float | None:
    """Timer callback. Returns the seconds until the next call, None to end the timer."""
    _queue.work(SLICE)
    return _queue.wait()


def _end_alarm() -> None:
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)


def _at_load(*_: Any) -> None:
    _forget(on_load)


def _at_undo(*_: Any) -> None:
    _forget(on_undo)


def _forget(calls: list[Callable[[], None]]) -> None:
    _queue.cancel_all(survivors=False)
    for call in calls:
        call()


_handlers = Handlers(
    ("load_pre", _at_load), ("load_post", _at_load), ("undo_pre", _at_undo), ("undo_post", _at_undo),
    ("redo_pre", _at_undo), ("redo_post", _at_undo),
)  # fmt: skip
register = _handlers.register


def unregister() -> None:
    _handlers.unregister()
    _queue.cancel_all()
    _end_alarm()
