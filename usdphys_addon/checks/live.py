# SPDX-License-Identifier: GPL-3.0-or-later
"""Live checks: a timer checks the shown scenes in slices of a few milliseconds, after a pause in editing.

Reports are kept as plain values by the name of the scene. Between slices no Blender object is referenced; objects are
looked up again by name.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ..bridge import scene_watch
from ..bridge.environment import redraw
from ..playback import guard as preview_guard
from ..system import faults
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
    return scene_name in _outdated or (_is_paused and scene_name in _reports and _is_due(scene_name))


def is_current(scene_name: str) -> bool:
    """True if live checks are on and Blender has reported no change of the scene since its last check."""
    base = _bases.get(scene_name)
    return (
        _is_live and scene_name in _reports and scene_name not in _outdated and not _is_running(scene_name)
        and base is not None and base.counts == _counts(scene_name)
    )  # fmt: skip


def check(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Report:
    """Check a scene now, as exactly as the export does."""
    from .run import Check

    view_layer.update()
    now = Check(scene.name, view_layer.name, exact=True)
    now.advance(view_layer.depsgraph, float("inf"))
    found = _reports[scene.name] = now.report()
    _drop_run(scene.name)
    _bases[scene.name] = _base(scene.name, view_layer)
    _outdated.discard(scene.name)
    return found


def forget() -> None:
    """Drop all reports and the running check, because another file is loaded."""
    global _run
    _run = None
    _reports.clear()
    _bases.clear()
    _on_demand.clear()
    _slow.clear()
    _outdated.clear()


# --------------------------------------------------------------------------- live checks


class _Base(NamedTuple):
    """A scene when its last check began. counts: of edits and of selections.

    visible: names of the visible objects; None if they are too many to compare them after each selection.
    """

    counts: tuple[int, int]
    visible: frozenset[str] | None


_bases: dict[str, _Base] = {}
_run: Check | None = None
_is_live = False
_is_paused = False


def _counts(scene_name: str) -> tuple[int, int]:
    return scene_watch.edits_of(scene_name), scene_watch.selections_of(scene_name)


def _base(scene_name: str, view_layer: Any) -> _Base:
    return _Base(_counts(scene_name), _visible(view_layer))


def _visible(view_layer: Any) -> frozenset[str] | None:
    if len(view_layer.objects) > MAX_OBJECTS:
        return None
    return frozenset(obj.name for obj in view_layer.objects if obj.visible_get(view_layer=view_layer))


def _is_due(scene_name: str) -> bool:
    """True if the scene was edited since its last check began, or was never checked."""
    base = _bases.get(scene_name)
    return base is None or base.counts[0] != scene_watch.edits_of(scene_name)


def _look_at_visibility(scene_name: str, view_layer: Any) -> None:
    """Have the scene checked again if objects were hidden or shown, which Blender reports like a selection."""
    base, counts = _bases.get(scene_name), _counts(scene_name)
    if base is not None and base.counts[1] != counts[1]:
        base = _bases[scene_name] = base._replace(counts=(base.counts[0], counts[1]))
        if base.visible is None or base.visible != _visible(view_layer):
            del _bases[scene_name]


def _is_running(scene_name: str) -> bool:
    return _run is not None and _run.scene_name == scene_name


def _drop_run(scene_name: str = "") -> None:
    """Drop the running check, or only that of one scene; the scene is checked again later."""
    global _run
    if _run is not None and scene_name in ("", _run.scene_name):
        _bases.pop(_run.scene_name, None)
        _run = None


def set_live(is_wanted: bool) -> None:
    """Switch live checks on or off."""
    global _is_paused
    _is_paused = not is_wanted
    if _is_paused:
        _drop_run()


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
    _bases[scene_name] = _base(scene_name, view_layer)
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
        scene_watch.note_edit(run.scene_name)
        return True
    except Exception:  # an exception that leaves a timer ends the timer
        faults.tell()
        _slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, "The check failed (see the console): checked on demand")
        return True
    _reports[run.scene_name] = run.report()
    _outdated.discard(run.scene_name)
    redraw("VIEW_3D")
    return True


def tick() -> float:
    """Timer callback: look for changes and run one slice. Returns the seconds until the next call."""
    global _run
    if preview_guard.current() is not None:
        _drop_run()
        return IDLE
    scene_watch.look_at_operators()
    shown = _shown()
    for name, layer in shown.items():
        _look_at_visibility(name, layer)
    if _is_paused:
        return IDLE
    if _run is None:
        ready = next((name for name in shown if _is_due(name) and scene_watch.seconds_quiet(name) >= QUIET), None)
        if ready is None:
            return IDLE
        layer = shown[ready]
        # Without pending changes this does nothing; otherwise Blender would do it right after.
        layer.update()
        if scene_watch.seconds_quiet(ready) < QUIET:
            return IDLE
        _run = begin(ready, layer)
        if _run is None:
            redraw("VIEW_3D")
        return PAUSE
    run, layer = _run, shown.get(_run.scene_name)
    if layer is not None:
        layer.update()
    if layer is None or run.objects.layer_name != layer.name or _is_due(run.scene_name):
        _drop_run()
        return IDLE
    if proceed(run, layer):
        _run = None
    return PAUSE


# --------------------------------------------------------------------------- handlers


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_load(*_: Any) -> None:
    forget()


def register(is_live: bool | None = None) -> None:
    """is_live: switch live checks on; None for on unless Blender runs in the background."""
    global _is_live
    _is_live = not bpy.app.background if is_live is None else is_live
    bpy.app.handlers.load_pre.append(_before_load)
    if _is_live:
        bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


def unregister() -> None:
    global _is_live
    _is_live = False
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    bpy.app.handlers.load_pre.remove(_before_load)
    forget()
