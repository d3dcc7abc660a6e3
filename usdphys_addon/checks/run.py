# SPDX-License-Identifier: GPL-3.0-or-later
"""One check of a scene, in steps that are short: `scene_read` and the rules of `core`, cut into slices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import bpy
import numpy as np

from ..bridge import props
from ..bridge.collider_read import ColliderReader
from ..bridge.environment import collector_at_rest
from ..bridge.placements import Placement, Placements
from ..bridge.reading import DEFAULT_ROOT
from ..bridge.scene_read import SceneReader
from ..core import clock, joint_kinds, validate
from ..core.model import Prim
from ..core.primitives import Primitive
from ..core.rules.base import RULES, Facts, Issue
from ..core.schemas import usd_physics
from .fixes import FIXES
from .live import MAX_JOINTS
from .report import Found, Report, TooLargeError

#: While one works, colliders of meshes with more vertices are fitted to the bounding box.
DENSE = 2000

_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_PRIM_PATH = re.compile(r" \(/[^()]*\)")
_CONVERTED = frozenset({"META", "FONT", "SURFACE", "CURVE"})
_JOINTS = frozenset(cls.usd_name for cls in joint_kinds.JOINT_TYPES.values())


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
        """Begin a slice that ends at `deadline`, of `clock.now`."""
        self._known.clear()
        self.deadline, self.depsgraph, self.scene = deadline, depsgraph, depsgraph.scene.original
        if not self._rows:
            self._rows = {name: row for row, name in enumerate(bpy.data.objects.keys())}

    def release(self) -> None:
        """End a slice."""
        self._known.clear()
        self.scene = self.depsgraph = None

    def is_time_up(self) -> bool:
        return clock.now() >= self.deadline

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
            prim.add(usd_physics.MeshCollisionAPI(item.approximation))
        elif item.shape == "AUTO":
            prim.add(usd_physics.MeshCollisionAPI("convexHull" if self.moves(placement) else "none"))
        return prim


class _Reader(SceneReader):
    """Reads objects that it finds by name, a slice at a time."""

    def __init__(self, objects: _Objects, exact: bool) -> None:
        self.objects, self.exact = objects, exact
        super().__init__(objects.depsgraph, DEFAULT_ROOT, None, None)

    @property
    def scene(self) -> Any:
        return self.objects.scene

    @scene.setter
    def scene(self, _scene: Any) -> None:
        """The base class remembers the scene; here it belongs to a slice."""

    def find_placements(self, depsgraph: Any, keep: Any) -> Placements:
        self.places = _Places(self.objects)
        return self.places

    def collider_reader(self) -> ColliderReader:
        return _Colliders(self, self.exact)

    def steps(self) -> Iterator[None]:
        yield from self.places.steps()
        yield from super().steps()

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
                    self.say_hidden(obj)
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
        start, worked = clock.now(), clock.thread_now()
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
            self.slices.append(min(clock.now() - start, clock.thread_now() - worked))

    def steps(self) -> Iterator[None]:
        reader = _Reader(self.objects, self.exact)
        yield
        yield from reader.steps()
        issues = list(reader.issues)
        if not self.exact and sum(prim.type_name in _JOINTS for prim in reader.model.prims.values()) > MAX_JOINTS:
            raise TooLargeError(f"More than {MAX_JOINTS} joints: checked on demand")
        facts = Facts(reader.model, "usd", "nested", check_geometry=False)
        yield
        for rule in RULES:
            severity = rule.severities.get("usd")
            if severity is not None:
                for finding in rule.check(facts):
                    issues.append(validate.issue_of(rule, severity, finding))
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
        can_be_fixed = issue.code in FIXES
        return Found(issue.severity, issue.code, issue.message, issue.fix, kind, name, issue.path, short, can_be_fixed)

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
