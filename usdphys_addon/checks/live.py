# SPDX-License-Identifier: GPL-3.0-or-later
"""Live checks: a timer checks the shown scenes in slices of a few milliseconds, after a pause in editing.

Reports are kept as plain values by the name of the scene. Between slices no Blender object is referenced; objects are
looked up again by name.
"""

from __future__ import annotations

import traceback
from itertools import islice
from typing import TYPE_CHECKING, Any

import bpy

from ..bridge.environment import redraw
from ..core import clock
from ..playback import guard as preview_guard
from .report import Report, TooLargeError

if TYPE_CHECKING:
    from .run import Check

#: Seconds without a change before a check begins.
QUIET = 0.5
#: Seconds that a slice may take. No step begins after the budget, which leaves time to end the current one.
SLICE, BUDGET = 0.005, 0.002
#: Seconds between two slices, and between two polls for work.
PAUSE, IDLE = 0.02, 0.25
#: With more objects or materials, steps that cannot be divided would exceed a slice.
MAX_OBJECTS, MAX_MATERIALS = 1000, 1000
#: Number of slices of one check that may be too long before the scene counts as too large.
MAX_LATE = 3
_TOO_SLOW = "A check takes too long here: checked on demand"


# --------------------------------------------------------------------------- reports

_reports: dict[str, Report] = {}
#: Reasons why scenes are checked on demand only.
_on_demand: dict[str, str] = {}
#: By scene, the number of objects with which a check took too long.
_slow: dict[str, int] = {}
#: Scenes that have changed since they were checked on demand.
_outdated: set[str] = set()


def report(scene_name: str) -> Report | None:
    """Report of the last check of a scene; None if it was never checked."""
    return _reports.get(scene_name)


def on_demand(scene_name: str) -> str:
    """Why a scene has no live checks; empty if it has."""
    return _on_demand.get(scene_name, "")


def is_outdated(scene_name: str) -> bool:
    """True if the scene has changed since its last check and no live check will follow."""
    return scene_name in _outdated or (_is_paused and scene_name in _dirty)


def is_current(scene_name: str) -> bool:
    """True if live checks are on and Blender has reported no change of the scene since its last check."""
    return _is_live and scene_name in _reports and scene_name not in _dirty and scene_name not in _outdated


def check(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Report:
    """Check a scene now, as exactly as the export does."""
    from .run import Check

    view_layer.update()
    now = Check(scene.name, view_layer.name, exact=True)
    now.advance(view_layer.depsgraph, float("inf"))
    found = _reports[scene.name] = now.report()
    _dirty.pop(scene.name, None)
    _outdated.discard(scene.name)
    _stop_run(scene.name)
    return found


def forget() -> None:
    """Drop all reports and the running check, because another file is loaded."""
    global _run
    _run = None
    _reports.clear()
    _dirty.clear()
    _on_demand.clear()
    _slow.clear()
    _outdated.clear()


# --------------------------------------------------------------------------- live checks

#: Time of the last change of each scene, by `clock.now`.
_dirty: dict[str, float] = {}
_run: Check | None = None
_is_live = False
_is_paused = False
_last_operator = 0


def _stop_run(scene_name: str) -> None:
    global _run
    if _run is not None and _run.scene_name == scene_name:
        _run = None


def note_change(scene_name: str) -> None:
    """Have the scene checked again after a pause in editing."""
    _stop_run(scene_name)
    _dirty[scene_name] = clock.now()


def set_live(is_wanted: bool) -> None:
    """Switch live checks on or off."""
    global _is_paused, _run
    _is_paused = not is_wanted
    if _is_paused:
        _run = None


def _shown() -> dict[str, Any]:
    """View layers of the scenes that windows show, by name of the scene."""
    manager = bpy.context.window_manager
    windows = manager.windows if manager is not None else ()
    return {window.scene.name: window.view_layer for window in windows}


def _too_large(view_layer: Any) -> str:
    """Why one step of a check could take longer than a slice; empty if it could not."""
    if len(view_layer.objects) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects: checked on demand"
    if len(bpy.data.materials) > MAX_MATERIALS:
        return f"More than {MAX_MATERIALS} materials: checked on demand"
    if sum(1 for _ in islice(view_layer.depsgraph.object_instances, MAX_OBJECTS + 1)) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects and instances: checked on demand"
    return ""


def begin(scene_name: str, view_layer: Any) -> Check | None:
    """A new live check, or None if the scene is too large for it."""
    reason = _too_large(view_layer)
    if len(view_layer.objects) >= _slow.get(scene_name, MAX_OBJECTS + 1):
        reason = reason or _on_demand.get(scene_name, _TOO_SLOW)
    if reason:
        _leave(scene_name, reason)
        return None
    from .run import Check

    _on_demand.pop(scene_name, None)
    return Check(scene_name, view_layer.name)


def _leave(scene_name: str, reason: str) -> None:
    """Check the scene on demand only, and mark its report as outdated."""
    _on_demand[scene_name] = reason
    _outdated.add(scene_name)


def proceed(run: Check, view_layer: Any) -> bool:
    """Run one slice. Returns True when the check has ended: complete, abandoned as too slow, or failed."""
    try:
        if not run.advance(view_layer.depsgraph, BUDGET):
            if sum(seconds > SLICE for seconds in run.slices) > MAX_LATE:
                _slow[run.scene_name] = len(view_layer.objects)
                _leave(run.scene_name, _TOO_SLOW)
                return True
            return False
    except TooLargeError as error:
        _slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, str(error))
        return True
    except (LookupError, ReferenceError):
        # Some data was removed since the last slice: start again.
        _dirty[run.scene_name] = clock.now()
        return True
    except Exception:  # an exception that leaves a timer ends the timer
        traceback.print_exc()
        _slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, "The check failed (see the console): checked on demand")
        return True
    _reports[run.scene_name] = run.report()
    _outdated.discard(run.scene_name)
    redraw("VIEW_3D")
    return True


def tick() -> float:
    """Timer callback: look for changes and run one slice. Returns the seconds until the next call."""
    global _run, _last_operator
    if _is_paused or preview_guard.current() is not None:
        _run = None
        return IDLE
    shown = _shown()
    last = _operator_mark()
    if last != _last_operator:
        # Operators that only change properties cause no depsgraph update.
        _last_operator = last
        for name in shown:
            note_change(name)
    for name in shown:
        if name not in _reports and name not in _on_demand and name not in _dirty and _run is None:
            note_change(name)
    if _run is None:
        now = clock.now()
        ready = next((name for name, when in _dirty.items() if name in shown and now - when >= QUIET), None)
        if ready is None:
            return IDLE
        layer = shown[ready]
        # Without pending changes this does nothing; otherwise Blender would do it right after.
        layer.update()
        if _dirty.get(ready, 0.0) > now:
            return IDLE
        _dirty.pop(ready, None)
        _run = begin(ready, layer)
        if _run is None:
            redraw("VIEW_3D")
        return PAUSE
    if _run.scene_name not in shown:
        _run = None
        return IDLE
    layer = shown[_run.scene_name]
    layer.update()
    run = _run
    if run is None or run.objects.layer_name != layer.name:
        _run = None
        note_change(layer.id_data.name)
        return IDLE
    if proceed(run, layer):
        _run = None
    return PAUSE


def _operator_mark() -> int:
    """Address of the last operator in the history, which changes when another operator has run."""
    manager = bpy.context.window_manager
    operators: Any = manager.operators if manager is not None else ()
    return int(operators[-1].as_pointer()) if len(operators) else 0


# --------------------------------------------------------------------------- handlers


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_update(scene: Any, depsgraph: Any) -> None:
    if preview_guard.current() is None and len(depsgraph.updates):
        note_change(scene.name)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_load(*_: Any) -> None:
    forget()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_undo(*_: Any) -> None:
    global _run
    _run = None


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_undo(*_: Any) -> None:
    for name in _shown():
        note_change(name)


#: (name, handler, whether it is for live checks only).
_HANDLERS = (
    ("depsgraph_update_post", _after_update, True), ("load_pre", _before_load, False),
    ("undo_pre", _before_undo, True), ("redo_pre", _before_undo, True),
    ("undo_post", _after_undo, True), ("redo_post", _after_undo, True),
)  # fmt: skip


def register(is_live: bool | None = None) -> None:
    """is_live: switch live checks on; None for on unless Blender runs in the background."""
    global _is_live
    _is_live = not bpy.app.background if is_live is None else is_live
    for name, handler, live_only in _HANDLERS:
        if _is_live or not live_only:
            getattr(bpy.app.handlers, name).append(handler)
    if _is_live:
        bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


def unregister() -> None:
    global _is_live
    _is_live = False
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    for name, handler, _ in _HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        while handler in handlers:
            handlers.remove(handler)
    forget()
