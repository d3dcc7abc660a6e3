# SPDX-License-Identifier: GPL-3.0-or-later
"""Live checks: a job checks the shown scenes in slices of a few milliseconds, after a pause in editing.

Reports are kept as plain values by the name of the scene. Between slices no Blender object is referenced; objects are
looked up again by name.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.types import Scene, ViewLayer

from ..bridge import scene_watch
from ..bridge.environment import redraw
from ..playback import guard as preview_guard
from ..system import faults
from ..worker import jobs
from ..worker.queue import Job
from .report import Report, TooLargeError

if TYPE_CHECKING:
    from .run import Check

#: Seconds without a change before a check begins.
QUIET = 0.5
#: Seconds that a slice may take. No step begins after the budget, which leaves time to end the current one.
SLICE, BUDGET = 0.005, 0.002
#: Seconds between two slices, between two looks for changes, and until the first look.
PAUSE, IDLE, FIRST = 0.02, 0.25, 1.0
#: With more objects or materials, steps that cannot be divided would exceed a slice.
MAX_OBJECTS, MAX_MATERIALS = 1000, 1000
#: Number of slices of one check that may be too long before the scene counts as too large.
MAX_LATE = 3
_TOO_SLOW = "A check takes too long here: checked on demand"


# --------------------------------------------------------------------------- reports


class _Base(NamedTuple):
    """A scene when its last check began.

    visible: names of the visible objects; None if they are too many to compare them after each selection.
    """

    stamp: scene_watch.Stamp
    visible: frozenset[str] | None


class _State:
    """What is known of scenes, by their names.

    on_demand: why a scene is checked on demand only. slow: number of objects with which a check took too long.
    outdated: scenes that have changed since they were checked on demand. run: the check that is running.
    """

    def __init__(self) -> None:
        self.is_paused = False
        self.forget()

    def forget(self) -> None:
        """Drop all reports and the running check."""
        self.reports: dict[str, Report] = {}
        self.bases: dict[str, _Base] = {}
        self.on_demand: dict[str, str] = {}
        self.slow: dict[str, int] = {}
        self.outdated: set[str] = set()
        self.run: Check | None = None


_state = _State()
#: Drop all reports and the running check, because another file is loaded.
forget = _state.forget


def report(scene_name: str) -> Report | None:
    """Report of the last check of a scene; None if it was never checked."""
    return _state.reports.get(scene_name)


def on_demand(scene_name: str) -> str:
    """Why a scene has no live checks; empty if it has."""
    return _state.on_demand.get(scene_name, "")


def is_outdated(scene_name: str) -> bool:
    """True if the scene has changed since its last check and no live check will follow."""
    if scene_name in _state.outdated:
        return True
    return _state.is_paused and scene_name in _state.reports and _is_due(scene_name)


def is_current(scene_name: str) -> bool:
    """True if live checks are on and Blender has reported no change of the scene since its last check."""
    if not jobs.is_waiting(watch) or scene_name in _state.outdated or scene_name not in _state.reports:
        return False
    base, run = _state.bases.get(scene_name), _state.run
    is_running = run is not None and run.scene_name == scene_name
    return not is_running and base is not None and base.stamp == scene_watch.stamp_of(scene_name)


def check(scene: Scene, view_layer: ViewLayer) -> Report:
    """Check a scene now, as exactly as the export does."""
    from .run import Check

    view_layer.update()
    now = Check(scene.name, view_layer.name, exact=True)
    now.advance(view_layer.depsgraph, float("inf"))
    report = _state.reports[scene.name] = now.report()
    _drop_run(scene.name)
    _state.bases[scene.name] = _base(scene.name, view_layer)
    _state.outdated.discard(scene.name)
    return report


# --------------------------------------------------------------------------- live checks


def _base(scene_name: str, view_layer: ViewLayer) -> _Base:
    return _Base(scene_watch.stamp_of(scene_name), _visible(view_layer))


def _visible(view_layer: ViewLayer) -> frozenset[str] | None:
    if len(view_layer.objects) > MAX_OBJECTS:
        return None
    # An object that a script has just removed is None until Blender updates the layer.
    there = (obj for obj in view_layer.objects if obj is not None)
    return frozenset(obj.name for obj in there if obj.visible_get(view_layer=view_layer))


def _is_due(scene_name: str) -> bool:
    """True if the scene was edited since its last check began, or was never checked."""
    base = _state.bases.get(scene_name)
    return base is None or base.stamp.edits != scene_watch.stamp_of(scene_name).edits


def _look_at_visibility(scene_name: str, view_layer: ViewLayer) -> None:
    """Have the scene checked again if objects were hidden or shown, which Blender reports like a selection."""
    base, stamp = _state.bases.get(scene_name), scene_watch.stamp_of(scene_name)
    if base is not None and base.stamp.selections != stamp.selections:
        base = base._replace(stamp=base.stamp._replace(selections=stamp.selections))
        _state.bases[scene_name] = base
        if base.visible is None or base.visible != _visible(view_layer):
            del _state.bases[scene_name]


def _drop_run(scene_name: str = "") -> None:
    """Drop the running check, or only that of one scene; the scene is checked again later."""
    run = _state.run
    if run is not None and scene_name in ("", run.scene_name):
        _state.bases.pop(run.scene_name, None)
        _state.run = None


def set_live(is_wanted: bool) -> None:
    """Switch live checks on or off."""
    _state.is_paused = not is_wanted
    if _state.is_paused:
        _drop_run()


def _shown() -> dict[str, Any]:
    """View layers of the scenes that windows show, by name of the scene."""
    manager = bpy.context.window_manager
    windows = manager.windows if manager is not None else ()
    return {window.scene.name: window.view_layer for window in windows}


def _too_large(view_layer: ViewLayer) -> str:
    """Why one step of a check could take longer than a slice; empty if it could not."""
    if len(view_layer.objects) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects: checked on demand"
    if len(bpy.data.materials) > MAX_MATERIALS:
        return f"More than {MAX_MATERIALS} materials: checked on demand"
    if sum(1 for _ in islice(view_layer.depsgraph.object_instances, MAX_OBJECTS + 1)) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects and instances: checked on demand"
    return ""


def begin(scene_name: str, view_layer: ViewLayer) -> Check | None:
    """A new live check, or None if the scene is too large for it."""
    _state.bases[scene_name] = _base(scene_name, view_layer)
    reason = _too_large(view_layer)
    if len(view_layer.objects) >= _state.slow.get(scene_name, MAX_OBJECTS + 1):
        reason = reason or _state.on_demand.get(scene_name, _TOO_SLOW)
    if reason:
        _leave(scene_name, reason)
        return None
    from .run import Check

    _state.on_demand.pop(scene_name, None)
    return Check(scene_name, view_layer.name)


def _leave(scene_name: str, reason: str) -> None:
    """Check the scene on demand only, and mark its report as outdated."""
    _state.on_demand[scene_name] = reason
    _state.outdated.add(scene_name)


def proceed(run: Check, view_layer: ViewLayer) -> bool:
    """Run one slice. Returns True when the check has ended: complete, abandoned as too slow, or failed."""
    try:
        if not run.advance(view_layer.depsgraph, BUDGET):
            if sum(seconds > SLICE for seconds in run.slices) > MAX_LATE:
                _state.slow[run.scene_name] = len(view_layer.objects)
                _leave(run.scene_name, _TOO_SLOW)
                return True
            return False
    except TooLargeError as error:
        _state.slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, str(error))
        return True
    except (LookupError, ReferenceError):
        # Some data was removed since the last slice: start again.
        scene_watch.note_edit(run.scene_name)
        return True
    except Exception:  # an exception that leaves a timer ends the timer
        faults.tell()
        _state.slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, "The check failed (see the console): checked on demand")
        return True
    _state.reports[run.scene_name] = run.report()
    _state.outdated.discard(run.scene_name)
    redraw("VIEW_3D")
    return True


def watch() -> Job:
    """Job without an end: look for changes of the shown scenes, and check them."""
    yield FIRST
    while True:
        layers = _scenes_to_check()
        is_busy = _go_on(layers) if _state.run is not None else _begin_next(layers)
        del layers  # view layers may be gone at the next step
        yield PAUSE if is_busy else IDLE


def _scenes_to_check() -> dict[str, Any]:
    """View layers of the shown scenes, by name; none while a preview runs, nor where live checks are off."""
    if preview_guard.current() is not None:
        _drop_run()
        return {}
    scene_watch.look_at_operators()
    layers = _shown()
    for name, layer in layers.items():
        _look_at_visibility(name, layer)
    return {} if _state.is_paused else layers


def _begin_next(shown: dict[str, Any]) -> bool:
    """Begin to check a scene that has changed and was left alone for a while. Returns False if there is none."""
    ready = next((name for name in shown if _is_due(name) and scene_watch.seconds_quiet(name) >= QUIET), None)
    if ready is None:
        return False
    layer = shown[ready]
    # Without pending changes this does nothing; otherwise Blender would do it right after.
    layer.update()
    if scene_watch.seconds_quiet(ready) < QUIET:
        return False
    _state.run = begin(ready, layer)
    if _state.run is None:
        redraw("VIEW_3D")
    return True


def _go_on(shown: dict[str, Any]) -> bool:
    """One slice of the running check, which is dropped if the scene has changed. Returns False then."""
    run = _state.run
    assert run is not None
    layer = shown.get(run.scene_name)
    if layer is not None:
        layer.update()
    if layer is None or run.objects.layer_name != layer.name or _is_due(run.scene_name):
        _drop_run()
        return False
    if proceed(run, layer):
        _state.run = None
    return True


def register(is_live: bool | None = None) -> None:
    """is_live: switch live checks on; None for on unless Blender runs in the background."""
    jobs.on_load.append(forget)
    if is_live or (is_live is None and not bpy.app.background):
        jobs.add(watch, survives=True)


def unregister() -> None:
    jobs.on_load.remove(forget)
    jobs.cancel(watch)
    forget()
