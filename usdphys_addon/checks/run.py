# SPDX-License-Identifier: GPL-3.0-or-later
"""One check of a scene in short steps: `scene_read` and the rules of `core`, run in slices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from itertools import islice
from operator import attrgetter
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer

from ..authoring import vendor_edits
from ..bridge import mesh as meshes
from ..bridge import props
from ..bridge.collider_read import ColliderReader
from ..bridge.collider_shapes import ColliderShapes
from ..bridge.placements import Placement, ScenePlacements
from ..bridge.reading import DEFAULT_ROOT, ReadingContext, SceneReading
from ..bridge.scene_read import SceneReader
from ..bridge.seen_read import add_seen
from ..core import clock, joint_kinds, paths, validate
from ..core.model import Mesh
from ..core.primitives import Primitive
from ..core.rules import colliders as collider_rules
from ..core.rules import scene_setup
from ..core.rules.base import RULES, Facts, Issue, Rule, Severity, Target
from ..core.schemas import usd_physics
from ..core.seen import SeenBounds
from ..system.collector import gc_paused
from .fixes import FIXES
from .report import MAX_JOINTS, FoundIssue, Report, TooLargeError

#: In live checks, colliders of meshes with more vertices are fitted to the bounding box.
DENSE_VERTICES = 2000

_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_CONVERTED = frozenset({"META", "FONT", "SURFACE", "CURVE"})


# --------------------------------------------------------------------------- objects by name


class ObjectsByName:
    """The Blender data of one slice: objects by full name, looked up again in every slice."""

    def __init__(self, scene_name: str, layer_name: str) -> None:
        self.scene_name, self.layer_name = scene_name, layer_name
        self.deadline = 0.0
        #: Last known index of each object in bpy.data.objects, which is tried before a linear search.
        self._rows: dict[str, int] = {}
        self._known: dict[str, Any] = {}
        self.scene: Any = None
        self.depsgraph: Any = None

    def renew(self, depsgraph: Depsgraph, deadline: float) -> None:
        """Begin a slice. deadline: its end, in the time of `clock.now`."""
        self._known.clear()
        self.deadline, self.depsgraph, self.scene = deadline, depsgraph, depsgraph.scene.original
        if not self._rows:
            self._rows = {name: row for row, name in enumerate(bpy.data.objects.keys())}

    def release(self) -> None:
        """End a slice: drop all references to Blender data."""
        self._known.clear()
        self.scene = self.depsgraph = None

    def is_time_up(self) -> bool:
        return clock.now() >= self.deadline

    def keep(self, obj: Object) -> None:
        self._known[obj.name_full] = obj

    def find(self, name: str) -> Any:
        """The object with a full name. Raises LookupError if it is gone, which ends the check."""
        known = self._known.get(name)
        if known is not None:
            return known
        row = self._rows.get(name, -1)
        candidate = bpy.data.objects[row] if 0 <= row < len(bpy.data.objects) else None
        if candidate is None or candidate.name_full != name:
            candidate = next((obj for obj in bpy.data.objects if obj.name_full == name), None)
        if candidate is None:
            raise LookupError(name)
        self._known[name] = candidate
        return candidate


_field_values = attrgetter(*(field.name for field in fields(Placement)))


class _NamedPlacement(Placement):
    """A placement that holds the name of its object instead of Blender data, which it looks up in each slice."""

    __slots__ = ("full_name", "objects")

    def __init__(self, objects: ObjectsByName, plain: Placement) -> None:
        self.objects = objects
        super().__init__(*_field_values(plain))
        # Blender's view of the keys points into the object.
        self.touched = list(plain.touched)

    @property
    def obj(self) -> Any:
        return self.objects.find(self.full_name)

    @obj.setter
    def obj(self, obj: Object) -> None:
        self.full_name = obj.name_full
        self.objects.keep(obj)

    # The setters of what follows from the object do nothing.

    @property
    def evaluated(self) -> Any:
        return self.obj.evaluated_get(self.objects.depsgraph)

    @evaluated.setter
    def evaluated(self, _evaluated: Any) -> None: ...

    @property
    def physics(self) -> Any:
        return self.obj.usdphys

    @physics.setter
    def physics(self, _physics: Any) -> None: ...


class SlicedPlacements(ScenePlacements):
    """ScenePlacements that are gathered in slices."""

    def __init__(self, objects: ObjectsByName) -> None:
        super().__init__(DEFAULT_ROOT)
        self.objects = objects

    def _stored(self, placement: Placement) -> Placement:
        return _NamedPlacement(self.objects, placement)

    def steps(self) -> Iterator[None]:
        done = 0
        while True:
            complete, instance = True, None
            # An iterator over depsgraph instances must not outlive a slice.
            for instance in islice(self.objects.depsgraph.object_instances, done, None):
                self._add(instance)
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


class _BoundedShapes(ColliderShapes):
    """Fits colliders of large meshes, and of objects that need `to_mesh`, to bounding boxes, without reading points."""

    def is_dense(self, placement: Placement) -> bool:
        data = placement.evaluated.data
        if isinstance(data, bpy.types.Mesh):
            return len(data.vertices) > DENSE_VERTICES
        return placement.obj.type in _CONVERTED

    def points(self, placement: Placement) -> Any:
        if self.is_dense(placement):
            return np.array([tuple(corner) for corner in placement.evaluated.bound_box], float)
        return super().points(placement)

    def recognised(self, placement: Placement) -> Primitive | None:
        return None if self.is_dense(placement) else super().recognised(placement)

    def has_faces(self, placement: Placement) -> bool:
        return placement.obj.type in _CONVERTED or super().has_faces(placement)


class _HiddenSearch:
    """Looks for hidden objects with physics, twenty objects per step."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context

    def steps(self, report: Callable[[Any], None]) -> Iterator[None]:
        shown = {
            placement.full_name
            for placement in self.context.placements.all
            if isinstance(placement, _NamedPlacement) and placement.instance is None
        }
        done, total = 0, len(self.context.scene.objects)
        if len(shown) == total:
            return
        while done < total:
            obj = None
            for obj in islice(self.context.scene.objects, done, done + 20):
                if obj.name_full not in shown and props.is_physical(obj):
                    report(obj)
            del obj
            done += 20
            yield


# --------------------------------------------------------------------------- one check


def _severity(rule: Rule, targets: Collection[Target]) -> Severity | None:
    """How serious what a rule finds is; None if it does not matter. What only simulators mind is no error."""
    severities = [rule.severities[target] for target in targets if target in rule.severities]
    if not severities:
        return None
    severity = min(severities, key=_SEVERITIES.__getitem__)
    return severity if "usd" in rule.severities or severity == "info" else "warning"


class Check:
    """One running check of a scene. exact: read large meshes too, however long it takes."""

    def __init__(self, scene_name: str, layer_name: str, *, exact: bool = False) -> None:
        self.exact = exact
        self.objects = ObjectsByName(scene_name, layer_name)
        self.issues: list[FoundIssue] = []
        #: Duration of each slice, s: wall time or thread CPU time, whichever is less.
        self.slices: list[float] = []
        self._steps: Iterator[None] = self.steps()

    @property
    def scene_name(self) -> str:
        return self.objects.scene_name

    def advance(self, depsgraph: Depsgraph, seconds: float) -> bool:
        """Work for about so many seconds. Returns True when the check is complete.

        Raises LookupError if an object is gone, and TooLargeError.
        """
        start, worked = clock.now(), clock.thread_now()
        self.objects.renew(depsgraph, start + seconds)
        try:
            # Overflow and NaN become issues, not numpy warnings on the console.
            with gc_paused(), np.errstate(all="ignore"):
                for _ in self._steps:
                    if self.objects.is_time_up():
                        return False
            return True
        finally:
            self.objects.release()
            # CPU time leaves out waiting for other programs. It is coarse on some systems, hence the minimum.
            self.slices.append(min(clock.now() - start, clock.thread_now() - worked))

    def steps(self) -> Iterator[None]:
        places = SlicedPlacements(self.objects)
        context = ReadingContext(lambda: self.objects.scene, places)
        shapes = ColliderShapes() if self.exact else _BoundedShapes()
        # The closure of a mesh loader would keep the evaluated object alive after the slice.
        colliders = ColliderReader(context, shapes, with_meshes=False)
        reader = SceneReader(context, colliders, hidden_steps=_HiddenSearch(context).steps)
        yield
        yield from places.steps()
        yield from reader.steps()
        issues = list(context.result.issues)
        joints = sum(prim.type_name in joint_kinds.BY_TYPE_NAME for prim in context.model.prims.values())
        if not self.exact and joints > MAX_JOINTS:
            raise TooLargeError(f"More than {MAX_JOINTS} joints: checked on demand")
        points: dict[str, Any] = {}
        bounds: dict[str, Any] = {}
        hulls: dict[str, Mesh] = {}
        for _ in self._read_points(context, reader, points, bounds, hulls):
            yield
        seen = SeenBounds(context.model.bodies)
        yield from add_seen(context.placements.all, context.meters, seen)
        facts = Facts(
            context.model,
            "usd",
            "nested",
            check_geometry=False,
            points=points,
            bounds=bounds,
            hulls=hulls,
            seen=seen.found,
        )
        yield
        yield from collider_rules.prepare(facts)
        yield from scene_setup.prepare(facts)
        targets = _targets(self.objects.scene)
        for rule in RULES:
            severity = _severity(rule, targets)
            if severity is not None:
                for finding in rule.check(facts):
                    issues.append(validate.issue_of(rule, severity, finding))
                    yield
            yield
        issues.sort(key=lambda issue: _SEVERITIES[issue.severity])
        names = _Names(context.result, reader.physical)
        for issue in issues:
            self.issues.append(names.found(issue))
            yield

    def _read_points(
        self, context: ReadingContext, reader: SceneReader, points: dict[str, Any], bounds: dict[str, Any],
        hulls: dict[str, Mesh],
    ) -> Iterator[None]:  # fmt: skip
        """Vertices of small meshes that collide, for the rules about overlaps and sizes; bounds of the others.

        hulls: gets the meshes of those that collide as their hulls.
        """
        meters = context.model.units.meters_per_unit
        colliders = context.model.colliders
        for place in reader.physical:
            path = next((path for path in (place.path, place.geometry) if path in colliders), "")
            if not path or colliders[path].type_name != "Mesh" or place.obj.type != "MESH":
                continue
            data: Any = place.evaluated.data
            if len(data.vertices) <= DENSE_VERTICES:
                points[path] = meshes.vertices_of(place.evaluated) * meters
                settings = colliders[path].get(usd_physics.MeshCollisionAPI)
                if settings is not None and settings.approximation == "convexHull":
                    surface = meshes.triangles_of(data, meters)
                    if surface is not None:
                        hulls[path] = surface
            else:
                bounds[path] = np.array(place.evaluated.bound_box, float) * meters
            yield

    def report(self) -> Report:
        counts = dict.fromkeys(_SEVERITIES, 0)
        for issue in self.issues:
            counts[issue.severity] += 1
        return Report(tuple(self.issues), counts)


def _targets(scene: Scene) -> list[Target]:
    """Whose rules a scene is checked by: those of OpenUSD, and of the simulators that it is written for."""
    chosen = vendor_edits.targets_of(scene)
    named: dict[str, Target] = {"PhysX": "physx", "Newton": "newton", "MuJoCo": "mujoco"}
    return ["usd", *(target for name, target in named.items() if name in chosen)]


class _Names:
    """Maps the prims of issues to the names of their Blender objects, materials, groups and scenes."""

    def __init__(self, reading: SceneReading, physical: list[Placement]) -> None:
        self.model = reading.model
        self.objects = {
            path: place.full_name for path, place in reading.sites.items() if isinstance(place, _NamedPlacement)
        }
        self.geometries = {
            place.geometry: place.full_name
            for place in physical
            if isinstance(place, _NamedPlacement) and place.geometry
        }
        self.materials = {path: name for name, path in reading.materials.items()}

    def found(self, issue: Issue) -> FoundIssue:
        kind, name = self.owner(issue)
        return FoundIssue(
            issue.severity, issue.code, issue.message, issue.fix, kind, name, issue.path, issue.short,
            issue.code in FIXES,
        )  # fmt: skip

    def owner(self, issue: Issue) -> tuple[str, str]:
        path = issue.path
        if path in self.materials:
            return "material", self.materials[path]
        prim = self.model.prims.get(path)
        if prim is not None and prim.type_name == "PhysicsCollisionGroup":
            return "group", prim.label
        if prim is not None and prim.type_name == "PhysicsScene":
            return "scene", prim.label
        for above in (path, *paths.ancestors_of(path)):
            name = self.objects.get(above) or self.geometries.get(above)
            if name:
                return "object", name
        return ("object", issue.label) if not issue.path and issue.label else ("", "")


def object_of(scene: Scene, view_layer: ViewLayer, path: str) -> str:
    """Full name of the object of the nearest prim at or above a path; empty if there is none."""
    view_layer.update()
    objects = ObjectsByName(scene.name, view_layer.name)
    objects.renew(view_layer.depsgraph, float("inf"))
    places = SlicedPlacements(objects)
    for _ in places.steps():
        pass
    names = {place.path: place.obj.name_full for place in places.all}
    objects.release()
    return names.get(paths.nearest(path, names), "")
