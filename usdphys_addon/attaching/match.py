# SPDX-License-Identifier: GPL-3.0-or-later
"""Match the prims of a file to the objects of a scene: by the path of an earlier import, by name, by parents' names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import bpy

from ..bridge import mesh as meshes
from ..bridge import remembered
from ..bridge.naming import prim_name
from ..core.model import PhysicsModel, Prim
from ..core.paths import ancestors_of
from ..core.schemas import usd_physics

_COPY = re.compile(r"(.+)\.\d{3,}")
#: Objects that can stand for the geometry of a file.
_GEOMETRY_OBJECTS = meshes.GEOMETRY_TYPES | {"POINTCLOUD", "CURVES"}
#: Geometry of a file that is the mesh of an object.
MESH_LIKE = frozenset({"Mesh", "Points", "BasisCurves", "NurbsCurves", "NurbsPatch", "HermiteCurves", "TetMesh"})
_GEOMETRY = MESH_LIKE | remembered.GPRIM_TYPES
#: Types of prims that are not objects in Blender, and have no objects below them.
_STAGE_WIDE = frozenset({"PhysicsScene", "PhysicsCollisionGroup", "Material", "Shader", "NodeGraph", "GeomSubset"})
#: Scores of an object's name: the name of the prim itself, or a numbered copy of it ("Wheel.001").
_SAME, _COPIED = 2, 1

_Score = tuple[int, ...]
_Pair = tuple[_Score, str, Any]


class ObjectMatcher:
    """Finds the objects of all prims at once.

    direct: objects by prim path. own: objects by the path of the prim of their geometry, which is below their own prim.
    rivals: ambiguous prims by path, with the names of the objects that match equally well, and the paths of the other
    prims that match these.
    """

    def __init__(self, scene: bpy.types.Scene, model: PhysicsModel) -> None:
        self.model = model
        self.direct: dict[str, Any] = {}
        self.own: dict[str, Any] = {}
        self.rivals: dict[str, tuple[list[str], list[str]]] = {}
        self._chains: dict[Any, list[tuple[str, str]]] = {}
        self._exact: dict[str, list[Any]] = defaultdict(list)
        self._copies: dict[str, list[Any]] = defaultdict(list)
        for obj in scene.objects:
            self._chains[obj] = name_chain(obj)
            name, copied = self._chains[obj][-1]
            self._exact[name].append(obj)
            if copied:
                self._copies[copied].append(obj)
        self._taken: set[Any] = set()
        self._owners: set[Any] = set()
        self._children: dict[str, list[str]] = defaultdict(list)
        self._paths = list(dict.fromkeys((*model.other_types, *model.prims)))
        for path in self._paths:
            self._children[path.rpartition("/")[0]].append(path)
        self._match()

    # ------------------------------------------------------------------ answers

    def object_of(self, path: str) -> Any | None:
        """The object whose prim, or whose geometry's prim, this is; None if there is none."""
        found = self.direct.get(path)
        return found if found is not None else self.own.get(path)

    def above(self, path: str) -> tuple[str, Any | None]:
        """(path, object) of the nearest prim at or above a path that is an object."""
        for site in (path, *ancestors_of(path)):
            found = self.direct.get(site)
            if found is not None:
                return site, found
        return "", None

    def below(self, path: str) -> list[Any]:
        """Objects of all prims below a path, those of parents first."""
        found: dict[Any, None] = {}
        pending = [path]
        while pending:
            children = self._children.get(pending.pop(0), [])
            found.update(dict.fromkeys(obj for child in children if (obj := self.object_of(child)) is not None))
            pending += children
        return list(found)

    def type_name(self, path: str) -> str:
        prim = self.model.prims.get(path)
        return prim.type_name if prim is not None else self.model.other_types.get(path, "")

    # ------------------------------------------------------------------ the match

    def _match(self) -> None:
        wanted = self._wanted()
        joints = self.model.joints
        remembering = {path: obj for obj in self._chains if (path := remembered.path_of(obj))}
        for path in wanted:
            obj = remembering.get(path)
            if obj is not None and (path not in joints or can_be_joint(obj)):
                self._take(path, obj)
        geometry = [path for path in wanted if self.type_name(path) in _GEOMETRY]
        spaces = [path for path in wanted if path not in joints and self.type_name(path) not in _GEOMETRY]
        bodies = [path for path in geometry if self._is_body(path) and not self._has_shown_parent(path)]
        self._settle(self._pairs([*spaces, *bodies], self._can_show))
        for path in geometry:
            obj = self._parent_of_geometry(path)
            if obj is not None and path.rpartition("/")[2] == prim_name(obj.data.name):
                self._own(path, obj)
        self._settle(self._pairs(geometry, self._belongs))
        for path in geometry:
            obj = self._parent_of_geometry(path)
            if obj is not None and self._is_the_geometry(path):
                self._own(path, obj)

    def match_joints(self, targets: Callable[[Prim], tuple[Any, Any] | None]) -> None:
        """Find the objects of joints. targets: the objects of both bodies, None where a body has no object."""
        pairs: list[_Pair] = []
        for path, prim in self.model.joints.items():
            above = self.direct.get(path.rpartition("/")[0]) if path not in self.direct else None
            if above is not None and above.usdphys.joint.is_applied and prim.name == f"{prim_name(above.name)}_joint":
                self.own[path] = above
                continue
            bodies = targets(prim)
            for score, _, obj in self._pairs([path], lambda _path, obj: can_be_joint(obj), lone_copies=True):
                joint = obj.usdphys.joint
                alike = joint.is_applied and (joint.body0, joint.body1) == bodies
                # Copies of a name that is taken are what an earlier attach has made.
                if alike or score[1] or score[0] > _COPIED:
                    pairs.append(((int(alike), *score), path, obj))
        self._settle(pairs)

    def _wanted(self) -> list[str]:
        """Paths of prims with physics, of their targets, and of all prims above these; in the order of the stage."""
        wanted: set[str] = set()
        for path, prim in self.model.prims.items():
            wanted.add(path)
            for value in prim.schemas.values():
                for attribute, targets in value.authored():
                    if attribute.is_relationship:
                        wanted.update(targets)
        wanted.update({above for path in wanted for above in ancestors_of(path)})
        return [path for path in self._paths if path in wanted and self.type_name(path) not in _STAGE_WIDE]

    def _pairs(
        self, paths: Iterable[str], fits: Callable[[str, Any], bool], *, lone_copies: bool = False
    ) -> Iterator[_Pair]:
        """Each prim without object with each free object of its name, and a score: how many names above agree, too."""
        for path in paths:
            if path in self.rivals or self.object_of(path) is not None:
                continue
            parts = path[1:].split("/")
            for same, objects in ((1, self._exact.get(parts[-1], ())), (0, self._copies.get(parts[-1], ()))):
                for obj in objects:
                    if obj in self._taken or not fits(path, obj):
                        continue
                    common = _common(parts, self._chains[obj])
                    if same or common > _COPIED or lone_copies:
                        yield (common, same, int(obj.is_editable)), path, obj

    def _settle(self, pairs: Iterable[_Pair]) -> None:
        """Match pairs by falling score. A prim or object in several pairs of the same score is ambiguous."""
        levels: dict[_Score, list[tuple[str, Any]]] = defaultdict(list)
        for score, path, obj in pairs:
            levels[score].append((path, obj))
        for score in sorted(levels, reverse=True):
            of_path: dict[str, list[Any]] = defaultdict(list)
            of_object: dict[Any, list[str]] = defaultdict(list)
            for path, obj in levels[score]:
                if obj not in self._taken and path not in self.rivals and self.object_of(path) is None:
                    of_path[path].append(obj)
                    of_object[obj].append(path)
            for path, objects in of_path.items():
                others = [other for obj in objects for other in of_object[obj] if other != path]
                if len(objects) == 1 and not others:
                    self._take(path, objects[0])
                else:
                    self.rivals[path] = [obj.name for obj in objects], sorted(set(others))
            for path in of_path:
                if path in self.rivals:
                    self._taken.update(of_path[path])

    def _take(self, path: str, obj: Any) -> None:
        self.direct[path] = obj
        self._taken.add(obj)

    def _own(self, path: str, obj: Any) -> None:
        self.own[path] = obj
        self._owners.add(obj)

    # ------------------------------------------------------------------ geometry

    def _is_body(self, path: str) -> bool:
        prim = self.model.prims.get(path)
        return prim is not None and prim.get(usd_physics.RigidBodyAPI) is not None

    def _has_shown_parent(self, path: str) -> bool:
        """True if an object with geometry has the name of the prim above."""
        above = path.rpartition("/")[0]
        return any(_is_shown(obj) for obj in self._exact.get(above.rpartition("/")[2], ()))

    def _can_show(self, path: str, obj: Any) -> bool:
        """False for a mesh collider and an object without geometry."""
        prim = self.model.prims.get(path)
        if prim is None or prim.type_name not in MESH_LIKE or prim.get(usd_physics.CollisionAPI) is None:
            return True
        return _is_shown(obj)

    def _belongs(self, path: str, obj: Any) -> bool:
        """False for a prim of a body and an object that is not parented to that of the body."""
        if not self._can_show(path, obj):
            return False
        body = self.model.body_of(path)
        if body is None or body.path == path:
            return True
        above = self.direct.get(body.path)
        while obj is not None and above is not None:
            obj = obj.parent
            if obj == above:
                return True
        return False

    def _parent_of_geometry(self, path: str) -> Any | None:
        """The object of the prim right above, if the prim can be its geometry and no other prim is that already."""
        if path in self.rivals or self.object_of(path) is not None:
            return None
        above = path.rpartition("/")[0]
        obj = self.direct.get(above)
        if obj is None or not _is_shown(obj) or obj in self._owners:
            return None
        if self._is_body(path):
            # Two bodies cannot be one object.
            return None if self._is_body(above) else obj
        return obj if self.type_name(path) in MESH_LIKE else None

    def _is_the_geometry(self, path: str) -> bool:
        above, _, name = path.rpartition("/")
        parent = above.rpartition("/")[2]
        if name in (f"{parent}_mesh", f"{parent}Mesh", parent, "mesh", "geometry"):
            return True
        kinds = MESH_LIKE if self.type_name(path) in MESH_LIKE else _GEOMETRY
        return sum(self.type_name(child) in kinds for child in self._children[above]) == 1


def can_be_joint(obj: Any) -> bool:
    """True for Empties and for objects that are joints already."""
    return obj.type == "EMPTY" or bool(obj.usdphys.joint.is_applied)


def _is_shown(obj: Any) -> bool:
    return obj.data is not None and obj.type in _GEOMETRY_OBJECTS


def name_chain(obj: Any) -> list[tuple[str, str]]:
    """Prim names of an object and all above, topmost first, each with the name that it is a numbered copy of."""
    names: list[tuple[str, str]] = []
    while obj is not None:
        copied = _COPY.fullmatch(obj.name)
        names.append((prim_name(obj.name), prim_name(copied[1]) if copied else ""))
        obj = obj.parent
    return names[::-1]


def _common(parts: list[str], chain: list[tuple[str, str]]) -> int:
    """Score of the names at the ends of a path and of a chain of objects that agree."""
    common = 0
    for part, (name, copied) in zip(reversed(parts), reversed(chain), strict=False):
        if part not in (name, copied):
            break
        common += _SAME if part == name else _COPIED
    return common
