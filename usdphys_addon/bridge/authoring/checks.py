# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a scene while one works: in slices of a few milliseconds, after the scene has been left in peace.

What was found is kept as plain values by the name of the scene. Between two slices no Blender object is held: objects
are found again by name.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import bpy
import numpy as np

from ...core import schema, validate
from ...core.model import Prim
from ...core.primitives import Primitive
from ...core.rules.base import RULES, Facts, Issue
from .. import preview_guard, props
from ..collider_read import ColliderReader
from ..environment import collector_at_rest
from ..placements import Placement, Placements
from ..scene_read import DEFAULT_ROOT, _SceneReader, geometry_path

#: Seconds without a change before a check begins.
QUIET = 0.5
#: Seconds that a slice may take; work stops at the budget, which leaves room for the step under way.
SLICE, BUDGET = 0.005, 0.002
#: Seconds between two slices, and between two looks at whether there is work.
PAUSE, IDLE = 0.02, 0.25
#: Steps that cannot be cut would take longer than a slice in scenes of more objects, joints or materials than these.
MAX_OBJECTS, MAX_JOINTS, MAX_MATERIALS = 1000, 200, 1000
#: Slices of one check that may come out too long before the scene counts as too large.
MAX_LATE = 3
_TOO_SLOW = "A check takes too long here: checked on demand"
#: While one works, colliders of meshes with more vertices are fitted to the bounding box.
DENSE = 2000

_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_PRIM_PATH = re.compile(r" \(/[^()]*\)")
_CONVERTED = frozenset({"META", "FONT", "SURFACE", "CURVE"})
_JOINTS = frozenset(cls.usd_name for cls in props.JOINT_TYPES.values())


class _TooLargeError(Exception):
    """A step would take longer than a slice; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """One issue as plain values. kind: what `name` names: object, material, group, scene, or nothing ("").

    short: the message without the paths of prims.
    """

    severity: str
    code: str
    message: str
    fix: str
    kind: str
    name: str
    path: str
    short: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong with a scene, errors first. counts: by severity."""

    issues: tuple[Found, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


# --------------------------------------------------------------------------- objects by name


class _Objects:
    """The Blender data of one slice: objects by their full name, found anew in every slice."""

    def __init__(self, scene_name: str, layer_name: str) -> None:
        self.scene_name, self.layer_name = scene_name, layer_name
        self.deadline = 0.0
        #: Where in the list of all objects each was: to look there is quicker than to compare the names of all.
        self._rows: dict[str, int] = {}
        self._known: dict[str, Any] = {}
        self.scene: Any = None
        self.depsgraph: Any = None

    def renew(self, depsgraph: Any, deadline: float) -> None:
        """Begin a slice that ends at `deadline`, of `time.perf_counter`."""
        self._known.clear()
        self.deadline, self.depsgraph, self.scene = deadline, depsgraph, depsgraph.scene.original
        if not self._rows:
            self._rows = {name: row for row, name in enumerate(bpy.data.objects.keys())}

    def release(self) -> None:
        """End a slice."""
        self._known.clear()
        self.scene = self.depsgraph = None

    def is_time_up(self) -> bool:
        return time.perf_counter() >= self.deadline

    def keep(self, obj: Any) -> None:
        self._known[obj.name_full] = obj

    def find(self, name: str) -> Any:
        """The object of a full name. Raises LookupError where it is gone, which ends the check."""
        known = self._known.get(name)
        if known is not None:
            return known
        row = self._rows.get(name, -1)
        found = bpy.data.objects[row] if 0 <= row < len(bpy.data.objects) else None
        if found is None or found.name_full != name:
            found = next((obj for obj in bpy.data.objects if obj.name_full == name), None)
        if found is None:
            raise LookupError(name)
        self._known[name] = found
        return found


class _Place(Placement):
    """A placement that finds its Blender data by name."""

    __slots__ = ("full_name", "objects")

    def __init__(self, objects: _Objects, plain: Placement) -> None:
        # The fields obj, evaluated and physics of a placement are properties here.
        self.objects, self.full_name = objects, plain.obj.name_full
        objects.keep(plain.obj)
        self.touched, self.instance, self.name = plain.touched, plain.instance, plain.name
        self.instance_matrix, self.parent, self.chain = plain.instance_matrix, None, ()
        self.path, self.geometry, self._matrix = "", "", None

    @property
    def obj(self) -> Any:  # type: ignore[override]
        return self.objects.find(self.full_name)

    @property
    def evaluated(self) -> Any:  # type: ignore[override]
        return self.obj.evaluated_get(self.objects.depsgraph)

    @property
    def physics(self) -> Any:
        return self.obj.usdphys


class _Places(Placements):
    """Placements that are gathered in slices."""

    def __init__(self, objects: _Objects) -> None:
        self.root = DEFAULT_ROOT
        self.objects = objects
        self.all = []
        self._by_key, self._instancers, self._paths = {}, {}, set()

    def _add(self, instance: Any, keep: Any) -> None:
        count = len(self.all)
        super()._add(instance, keep)
        if len(self.all) == count:
            return
        plain = self.all[-1]
        place = self.all[-1] = _Place(self.objects, plain)
        for known in (self._by_key, self._instancers):
            key = next(reversed(known), None)
            if key is not None and known[key] is plain:  # type: ignore[index]
                known[key] = place  # type: ignore[index]

    def steps(self) -> Iterator[None]:
        done = 0
        while True:
            complete, instance = True, None
            # An iteration over a dependency graph must not outlive a slice.
            for instance in islice(self.objects.depsgraph.object_instances, done, None):
                self._add(instance, None)
                done += 1
                if self.objects.is_time_up():
                    complete = False
                    break
            del instance
            yield
            if complete:
                break
        for placement in self.all:
            self._locate(placement)
            yield


# --------------------------------------------------------------------------- reading in slices


class _Colliders(ColliderReader):
    """Looks at no large mesh, and converts none, unless it is asked to be exact."""

    def __init__(self, scene: _Reader, exact: bool) -> None:
        super().__init__(scene)
        self.exact = exact

    def is_dense(self, placement: Placement) -> bool:
        data = placement.evaluated.data
        if isinstance(data, bpy.types.Mesh):
            return len(data.vertices) > DENSE
        return placement.obj.type in _CONVERTED

    def points(self, placement: Placement) -> Any:
        if not self.exact and self.is_dense(placement):
            return np.array([tuple(corner) for corner in placement.evaluated.bound_box], float)
        return super().points(placement)

    def recognised(self, placement: Placement) -> Primitive | None:
        if not self.exact and self.is_dense(placement):
            return None
        return super().recognised(placement)

    def mesh_prim(self, item: Any, bounding: str, placement: Placement, world: Any) -> Prim | None:
        if self.exact or placement.obj.type not in _CONVERTED or not placement.geometry:
            made = super().mesh_prim(item, bounding, placement, world)
            if made is not None:
                # It would hold the evaluated object.
                made.mesh = None
            return made
        prim = self.own_prim(placement.geometry, "Mesh", placement, world)
        if item.is_property_set("approximation"):
            prim.add(schema.MeshCollisionAPI(item.approximation))
        elif item.shape == "AUTO":
            prim.add(schema.MeshCollisionAPI("convexHull" if self.moves(placement) else "none"))
        return prim


class _Reader(_SceneReader):
    """`scene_read.read_scene` in steps."""

    def __init__(self, objects: _Objects, exact: bool) -> None:
        self.objects = objects
        super().__init__(objects.depsgraph, DEFAULT_ROOT, lambda _: False, None)
        self.keep = None
        self.places = _Places(objects)
        self.placements = self.places
        self.exact = exact

    @property
    def scene(self) -> Any:
        return self.objects.scene

    @scene.setter
    def scene(self, _scene: Any) -> None:
        """The base class remembers the scene; here it belongs to a slice."""

    def steps(self) -> Iterator[None]:
        yield from self.places.steps()
        for placement in self.places.all:
            if placement.touched and props.holds_physics(placement.physics, placement.touched):
                self.physical.append(placement)
            yield
        physics = self.scene.usdphys
        if not self.physical and not len(physics.physics_scenes) and not len(physics.collision_groups):
            return
        del physics
        self.object_paths.update(placement.path for placement in self.places.all)
        self.taken.update(self.object_paths)
        yield
        for placement in self.physical:
            placement.geometry = geometry_path(placement)
            self.taken.add(placement.geometry)
            yield
        self.read_physics_scenes()
        yield
        yield from self.hidden_steps()
        colliders = _Colliders(self, self.exact)
        for placement in self.physical:
            colliders.read(placement, self.read_object(placement))
            yield
        self.add_joint_targets()
        yield
        self.read_groups()
        yield
        self.read_other_materials()
        yield

    def hidden_steps(self) -> Iterator[None]:
        """Name the physics that stays behind because its object is hidden."""
        shown = {
            placement.full_name
            for placement in self.places.all
            if isinstance(placement, _Place) and placement.instance is None
        }
        done, total = 0, len(self.scene.objects)
        if len(shown) == total:
            return
        while done < total:
            obj = None
            for obj in islice(self.scene.objects, done, done + 20):
                if obj.name_full not in shown and props.is_physical(obj):
                    self.issue(
                        "NotExported", "warning", "", obj.name,
                        f"'{obj.name}' has physics and is hidden, so it is left out.",
                        f"Show '{obj.name}', or remove its physics.",
                    )  # fmt: skip
            del obj
            done += 20
            yield


# --------------------------------------------------------------------------- one check


class Check:
    """One check of a scene under way. exact: look at large meshes, too, whatever it takes."""

    def __init__(self, scene_name: str, layer_name: str, *, exact: bool = False) -> None:
        self.exact = exact
        self.objects = _Objects(scene_name, layer_name)
        self.issues: list[Found] = []
        #: Seconds that each slice took: by the clock, or of work where other programs held it up.
        self.slices: list[float] = []
        self._steps: Iterator[None] = self.steps()

    @property
    def scene_name(self) -> str:
        return self.objects.scene_name

    def advance(self, depsgraph: Any, seconds: float) -> bool:
        """Work for about that long; True at the end. Raises LookupError where an object is gone."""
        start, worked = time.perf_counter(), time.thread_time()
        self.objects.renew(depsgraph, start + seconds)
        try:
            # What overflows or is not a number is an issue, not a warning on the console.
            with collector_at_rest(), np.errstate(all="ignore"):
                for _ in self._steps:
                    if self.objects.is_time_up():
                        return False
            return True
        finally:
            self.objects.release()
            # The time of a thread is coarse on some systems: it only ever excuses.
            self.slices.append(min(time.perf_counter() - start, time.thread_time() - worked))

    def steps(self) -> Iterator[None]:
        reader = _Reader(self.objects, self.exact)
        yield
        yield from reader.steps()
        issues = list(reader.issues)
        if not self.exact and sum(prim.type_name in _JOINTS for prim in reader.model.prims.values()) > MAX_JOINTS:
            raise _TooLargeError(f"More than {MAX_JOINTS} joints: checked on demand")
        facts = Facts(reader.model, "usd", "nested", check_geometry=False)
        yield
        for rule in RULES:
            severity = rule.severities.get("usd")
            if severity is not None:
                for finding in rule.check(facts):
                    issues.append(validate._issue(rule, severity, finding))
                    yield
            yield
        issues.sort(key=lambda issue: _SEVERITIES[issue.severity])
        names = _Names(reader)
        for issue in issues:
            self.issues.append(names.found(issue))
            yield

    def report(self) -> Report:
        counts = dict.fromkeys(_SEVERITIES, 0)
        for issue in self.issues:
            counts[issue.severity] += 1
        return Report(tuple(self.issues), counts)


class _Names:
    """From the prims of issues to the names of what they are about in Blender."""

    def __init__(self, reader: _Reader) -> None:
        self.model = reader.model
        self.objects = {
            path: place.full_name for path, place in reader.reading.sites.items() if isinstance(place, _Place)
        }
        self.geometries = {
            place.geometry: place.full_name for place in reader.physical if isinstance(place, _Place) and place.geometry
        }
        self.materials = {path: name for name, path in reader.reading.materials.items()}

    def found(self, issue: Issue) -> Found:
        kind, name = self.owner(issue)
        short = _PRIM_PATH.sub("", issue.message)
        return Found(issue.severity, issue.code, issue.message, issue.fix, kind, name, issue.path, short)

    def owner(self, issue: Issue) -> tuple[str, str]:
        path = issue.path
        if path in self.materials:
            return "material", self.materials[path]
        prim = self.model.prims.get(path)
        if prim is not None and prim.type_name == "PhysicsCollisionGroup":
            return "group", prim.label
        if prim is not None and prim.type_name == "PhysicsScene":
            return "scene", prim.label
        while path and path != "/":
            name = self.objects.get(path) or self.geometries.get(path)
            if name:
                return "object", name
            path = path.rpartition("/")[0]
        return ("object", issue.label) if not issue.path and issue.label else ("", "")


# --------------------------------------------------------------------------- what is known

_reports: dict[str, Report] = {}
#: Why a scene is checked on demand only.
_on_demand: dict[str, str] = {}
#: Numbers of objects with which checks took too long, by scene.
_slow: dict[str, int] = {}
#: Scenes that have changed since they were checked on demand.
_outdated: set[str] = set()


def report(scene_name: str) -> Report | None:
    """What the last check of a scene found; None where there was none."""
    return _reports.get(scene_name)


def on_demand(scene_name: str) -> str:
    """Why a scene is not checked while one works; empty where it is."""
    return _on_demand.get(scene_name, "")


def is_outdated(scene_name: str) -> bool:
    """True where the scene has changed since its last check and is not checked by itself."""
    return scene_name in _outdated or (_is_paused and scene_name in _dirty)


def is_current(scene_name: str) -> bool:
    """True where the scene has not changed since its last check, as far as Blender tells."""
    return _is_live and scene_name in _reports and scene_name not in _dirty and scene_name not in _outdated


def check(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Report:
    """Check a scene now, as exactly as the export does."""
    view_layer.update()
    now = Check(scene.name, view_layer.name, exact=True)
    now.advance(view_layer.depsgraph, float("inf"))
    found = _reports[scene.name] = now.report()
    _dirty.pop(scene.name, None)
    _outdated.discard(scene.name)
    _stop_run(scene.name)
    return found


def object_of(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, path: str) -> str:
    """Full name of the object that a prim comes from, or of the nearest above it; empty where there is none."""
    view_layer.update()
    objects = _Objects(scene.name, view_layer.name)
    objects.renew(view_layer.depsgraph, float("inf"))
    places = _Places(objects)
    for _ in places.steps():
        pass
    names = {place.path: place.obj.name_full for place in places.all}
    objects.release()
    while path and path not in names:
        path = path.rpartition("/")[0]
    return names.get(path, "")


def forget() -> None:
    """Forget all that was found; another file comes."""
    global _run
    _run = None
    _reports.clear()
    _dirty.clear()
    _on_demand.clear()
    _slow.clear()
    _outdated.clear()


# --------------------------------------------------------------------------- while one works

#: When each scene changed, of `time.monotonic`.
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
    """The scene is checked again once it is left in peace."""
    _stop_run(scene_name)
    _dirty[scene_name] = time.monotonic()


def set_live(is_wanted: bool) -> None:
    """Switch the checks while one works on or off."""
    global _is_paused, _run
    _is_paused = not is_wanted
    if _is_paused:
        _run = None


def _shown() -> dict[str, Any]:
    """View layers of the scenes in the windows, by scene."""
    manager = bpy.context.window_manager
    windows = manager.windows if manager is not None else ()
    return {window.scene.name: window.view_layer for window in windows}


def _too_large(view_layer: Any) -> str:
    """Why one step of a check could take longer than a slice; empty where none does."""
    if len(view_layer.objects) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects: checked on demand"
    if len(bpy.data.materials) > MAX_MATERIALS:
        return f"More than {MAX_MATERIALS} materials: checked on demand"
    if sum(1 for _ in islice(view_layer.depsgraph.object_instances, MAX_OBJECTS + 1)) > MAX_OBJECTS:
        return f"More than {MAX_OBJECTS} objects and instances: checked on demand"
    return ""


def begin(scene_name: str, view_layer: Any) -> Check | None:
    """A check in slices, or None where the scene is too large for it."""
    reason = _too_large(view_layer)
    if len(view_layer.objects) >= _slow.get(scene_name, MAX_OBJECTS + 1):
        reason = reason or _on_demand.get(scene_name, _TOO_SLOW)
    if reason:
        _leave(scene_name, reason)
        return None
    _on_demand.pop(scene_name, None)
    return Check(scene_name, view_layer.name)


def _leave(scene_name: str, reason: str) -> None:
    """The scene is checked on demand only, as it is now."""
    _on_demand[scene_name] = reason
    _outdated.add(scene_name)


def proceed(run: Check, view_layer: Any) -> bool:
    """One slice; True once the check is at its end, with its report kept."""
    try:
        if not run.advance(view_layer.depsgraph, BUDGET):
            if sum(seconds > SLICE for seconds in run.slices) > MAX_LATE:
                _slow[run.scene_name] = len(view_layer.objects)
                _leave(run.scene_name, _TOO_SLOW)
                return True
            return False
    except _TooLargeError as error:
        _slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, str(error))
        return True
    except (LookupError, ReferenceError):
        # Something has gone since the last slice: from the start.
        _dirty[run.scene_name] = time.monotonic()
        return True
    except Exception:  # an exception that leaves a timer ends the timer
        traceback.print_exc()
        _slow[run.scene_name] = len(view_layer.objects)
        _leave(run.scene_name, "The check failed (see the console): checked on demand")
        return True
    _reports[run.scene_name] = run.report()
    _outdated.discard(run.scene_name)
    _redraw()
    return True


def tick() -> float:
    """What the timer does: look for changes, and work for one slice. Returns the seconds until the next time."""
    global _run, _last_operator
    if _is_paused or preview_guard.current() is not None:
        _run = None
        return IDLE
    shown = _shown()
    last = _operator_mark()
    if last != _last_operator:
        # Operators that change properties only tell the dependency graph nothing.
        _last_operator = last
        for name in shown:
            note_change(name)
    for name in shown:
        if name not in _reports and name not in _on_demand and name not in _dirty and _run is None:
            note_change(name)
    if _run is None:
        now = time.monotonic()
        ready = next((name for name, when in _dirty.items() if name in shown and now - when >= QUIET), None)
        if ready is None:
            return IDLE
        layer = shown[ready]
        # Nothing to do where all is up to date; else what Blender would do right after.
        layer.update()
        if _dirty.get(ready, 0.0) > now:
            return IDLE
        _dirty.pop(ready, None)
        _run = begin(ready, layer)
        if _run is None:
            _redraw()
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
    """Tells whether another operator has run; it says nothing else."""
    manager = bpy.context.window_manager
    operators: Any = manager.operators if manager is not None else ()
    return int(operators[-1].as_pointer()) if len(operators) else 0


def _redraw() -> None:
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


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


#: Each with whether it is for work in windows only.
_HANDLERS = (
    ("depsgraph_update_post", _after_update, True), ("load_pre", _before_load, False),
    ("undo_pre", _before_undo, True), ("redo_pre", _before_undo, True),
    ("undo_post", _after_undo, True), ("redo_post", _after_undo, True),
)  # fmt: skip


def register(is_live: bool | None = None) -> None:
    """is_live: check while one works; by default where there are windows."""
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
