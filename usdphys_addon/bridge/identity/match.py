# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is which prim: by the path of an import, by name, by the names above, by place. Without Blender and USD.

An import makes each object of one prim, and notes its path there. Copies of the object have the same note: `originals`
decides between them, for every export and for attaching. `ObjectMatcher` finds the objects for the prims of any file,
`find_written` the prims that Blender's exporter has made of objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...core.model import PhysicsModel, Prim
from ...core.paths import ancestors_of, name_of, parent_of
from ...core.schemas import usd_physics
from ...core.schemas.usd_geom import GPRIM_TYPES
from .names import ascii_path, copied_name, prim_name

#: Geometry of a file that is the mesh of an object.
MESH_LIKE = frozenset({"Mesh", "Points", "BasisCurves", "NurbsCurves", "NurbsPatch", "HermiteCurves", "TetMesh"})
_GEOMETRY = MESH_LIKE | GPRIM_TYPES
#: Types of prims that are not objects in Blender, and have no objects below them.
_STAGE_WIDE = frozenset({"PhysicsScene", "PhysicsCollisionGroup", "Material", "Shader", "NodeGraph", "GeomSubset"})
#: Scores of an object's name: the name of the prim itself, or a numbered copy of it ("Wheel.001").
_SAME, _COPIED = 2, 1

_Score = tuple[int, ...]
#: Names of objects from the root of a stage down to one.
Chain = tuple[str, ...]


@dataclass(slots=True, eq=False)
class Thing:
    """What identifies an object, a material or an item of a scene.

    owner: what it stands for, which answers give. path: of the prim that it, or the one it is a copy of, was imported
    from; empty if it was not. imported_name: the name that the import gave it. The rest is of objects. geometry: name
    of the data if that is geometry. joint: the objects of both bodies, None for the world; None if it is no joint.
    """

    owner: Any
    name: str
    path: str = ""
    imported_name: str = ""
    parent: Thing | None = None
    geometry: str = ""
    is_empty: bool = False
    is_editable: bool = True
    joint: tuple[Any, Any] | None = None

    @property
    def can_be_joint(self) -> bool:
        return self.is_empty or self.joint is not None

    @property
    def keeps_name(self) -> bool:
        """True if it has the name that the import gave it."""
        return self.name == self.imported_name

    def name_chain(self) -> list[tuple[str, str]]:
        """Prim names of it and all above, topmost first, each with the name that it is a numbered copy of, or ""."""
        names: list[tuple[str, str]] = []
        thing: Thing | None = self
        while thing is not None:
            copied = copied_name(thing.name)
            names.append((prim_name(thing.name), prim_name(copied) if copied else ""))
            thing = thing.parent
        return names[::-1]


def originals(things: Iterable[Thing]) -> dict[str, list[Thing]]:
    """What is the prim of each path, likeliest first; several where nothing tells the original from its copies.

    A copy remembers the same path. The original is the one with the name that the import gave, else the only one whose
    name is not that of another one with a number. What is linked from another file comes last.
    """
    by_path: dict[str, list[Thing]] = defaultdict(list)
    for thing in things:
        if thing.path:
            by_path[thing.path].append(thing)
    return {path: _likeliest(same) if len(same) > 1 else same for path, same in by_path.items()}


def _likeliest(same: list[Thing]) -> list[Thing]:
    same = [thing for thing in same if thing.is_editable] or same
    if named := [thing for thing in same if thing.keeps_name]:
        return named
    names = {name for thing in same for name in (thing.name, thing.imported_name, copied_name(thing.imported_name))}
    return [thing for thing in same if (copied_name(thing.name) or None) not in names] or same


def match_item(things: list[Thing], path: str, name: str) -> Thing | None:
    """What was imported from a path, else what has a name, else what has it as its prim name; taken out of the list."""
    alike: list[Thing] = [
        *originals(things).get(path, ()), *(thing for thing in things if thing.name == name),
        *(thing for thing in things if prim_name(thing.name) == name),
    ]  # fmt: skip
    if not alike:
        return None
    things.remove(alike[0])
    return alike[0]


# --------------------------------------------------------------------------- objects for the prims of a file


_Pair = tuple[_Score, str, Thing]


class ObjectMatcher:
    """Finds the objects of all prims at once.

    direct: objects by prim path. rivals: ambiguous prims by path, with the names of the objects that match equally
    well, and the paths of the other prims that match these. All answers are owners of things.
    """

    def __init__(self, things: Iterable[Thing], model: PhysicsModel) -> None:
        self.model = model
        self.direct: dict[str, Any] = {}
        self.rivals: dict[str, tuple[list[str], list[str]]] = {}
        self._things = list(things)
        self._found: dict[str, Thing] = {}
        #: Things by the path of the prim of their geometry, which is below their own prim.
        self._by_geometry: dict[str, Thing] = {}
        self._taken: set[Thing] = set()
        self._with_geometry: set[Thing] = set()
        self._chains: dict[Thing, list[tuple[str, str]]] = {}
        self._exact: dict[str, list[Thing]] = defaultdict(list)
        self._copies: dict[str, list[Thing]] = defaultdict(list)
        for thing in self._things:
            chain = self._chains[thing] = thing.name_chain()
            name, copied = chain[-1]
            self._exact[name].append(thing)
            if copied:
                self._copies[copied].append(thing)
        self._children: dict[str, list[str]] = defaultdict(list)
        self._paths = list(dict.fromkeys((*model.other_types, *model.prims)))
        for path in self._paths:
            self._children[parent_of(path)].append(path)
        self._match()

    # ------------------------------------------------------------------ answers

    def object_of(self, path: str) -> Any | None:
        """The object whose prim, or whose geometry's prim, this is; None if there is none."""
        thing = self._thing_of(path)
        return thing.owner if thing is not None else None

    def above(self, path: str) -> tuple[str, Any | None]:
        """(path, object) of the nearest prim at or above a path that is an object."""
        for site in (path, *ancestors_of(path)):
            obj = self.direct.get(site)
            if obj is not None:
                return site, obj
        return "", None

    def below(self, path: str) -> list[Any]:
        """Objects of all prims below a path, those of parents first."""
        objects: dict[Any, None] = {}
        pending = [path]
        while pending:
            children = self._children.get(pending.pop(0), [])
            objects.update(dict.fromkeys(obj for child in children if (obj := self.object_of(child)) is not None))
            pending += children
        return list(objects)

    def type_name(self, path: str) -> str:
        prim = self.model.prims.get(path)
        return prim.type_name if prim is not None else self.model.other_types.get(path, "")

    def _thing_of(self, path: str) -> Thing | None:
        return self._found.get(path) or self._by_geometry.get(path)

    def _is_open(self, path: str) -> bool:
        """True for a prim that has no object yet, and is not ambiguous."""
        return path not in self.rivals and self._thing_of(path) is None

    # ------------------------------------------------------------------ the match

    def _match(self) -> None:
        wanted = self._wanted()
        joints = self.model.joints
        self._match_originals(wanted)
        geometry = [path for path in wanted if self.type_name(path) in _GEOMETRY]
        spaces = [path for path in wanted if path not in joints and self.type_name(path) not in _GEOMETRY]
        bodies = [path for path in geometry if self._is_body(path) and not self._has_shown_parent(path)]
        self._settle(self._pairs([*spaces, *bodies], self._can_show))
        for path in geometry:
            thing = self._parent_of_geometry(path)
            if thing is not None and name_of(path) == prim_name(thing.geometry):
                self._take_geometry(path, thing)
        self._settle(self._pairs(geometry, self._belongs))
        for path in geometry:
            thing = self._parent_of_geometry(path)
            if thing is not None and self._is_the_geometry(path):
                self._take_geometry(path, thing)

    def _match_originals(self, wanted: list[str]) -> None:
        """Match what was imported. A path that more than one may have been imported from is ambiguous."""
        known, joints = originals(self._things), self.model.joints
        for path in wanted:
            same = [thing for thing in known.get(path, ()) if path not in joints or thing.can_be_joint]
            if len(same) == 1:
                self._take(path, same[0])
            elif same:
                self.rivals[path] = [thing.name for thing in same], []

    def match_joints(self, targets: Callable[[Prim], tuple[Any, Any] | None]) -> None:
        """Find the objects of joints. targets: the objects of both bodies, None where a body has no object."""
        pairs: list[_Pair] = []
        for path, prim in self.model.joints.items():
            above = self._found.get(parent_of(path)) if path not in self._found else None
            if above is not None and above.joint is not None and prim.name == f"{prim_name(above.name)}_joint":
                self._by_geometry[path] = above
                continue
            bodies = targets(prim)
            for score, _, thing in self._pairs([path], lambda _path, thing: thing.can_be_joint, lone_copies=True):
                alike = thing.joint is not None and thing.joint == bodies
                # Copies of a name that is taken are what an earlier attach has made.
                if alike or score[1] or score[0] > _COPIED:
                    pairs.append(((int(alike), *score), path, thing))
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
        self, paths: Iterable[str], fits: Callable[[str, Thing], bool], *, lone_copies: bool = False
    ) -> Iterator[_Pair]:
        """Each open prim with each free object of its name, and a score: how many names above agree, too."""
        for path in paths:
            if not self._is_open(path):
                continue
            parts = path[1:].split("/")
            for same, things in ((1, self._exact.get(parts[-1], ())), (0, self._copies.get(parts[-1], ()))):
                for thing in things:
                    if thing in self._taken or not fits(path, thing):
                        continue
                    common = _common(parts, self._chains[thing])
                    if same or common > _COPIED or lone_copies:
                        yield (common, same, int(thing.is_editable)), path, thing

    def _settle(self, pairs: Iterable[_Pair]) -> None:
        """Match pairs by falling score. A prim or object in several pairs of the same score is ambiguous."""
        levels: dict[_Score, list[tuple[str, Thing]]] = defaultdict(list)
        for score, path, thing in pairs:
            levels[score].append((path, thing))
        for score in sorted(levels, reverse=True):
            of_path: dict[str, list[Thing]] = defaultdict(list)
            of_thing: dict[Thing, list[str]] = defaultdict(list)
            for path, thing in levels[score]:
                if thing not in self._taken and self._is_open(path):
                    of_path[path].append(thing)
                    of_thing[thing].append(path)
            for path, things in of_path.items():
                others = [other for thing in things for other in of_thing[thing] if other != path]
                if len(things) == 1 and not others:
                    self._take(path, things[0])
                else:
                    self.rivals[path] = [thing.name for thing in things], sorted(set(others))
            for path in of_path:
                if path in self.rivals:
                    self._taken.update(of_path[path])

    def _take(self, path: str, thing: Thing) -> None:
        self._found[path] = thing
        self.direct[path] = thing.owner
        self._taken.add(thing)

    def _take_geometry(self, path: str, thing: Thing) -> None:
        self._by_geometry[path] = thing
        self._with_geometry.add(thing)

    # ------------------------------------------------------------------ geometry

    def _is_body(self, path: str) -> bool:
        prim = self.model.prims.get(path)
        return prim is not None and prim.get(usd_physics.RigidBodyAPI) is not None

    def _has_shown_parent(self, path: str) -> bool:
        """True if an object with geometry has the name of the prim above."""
        return any(thing.geometry for thing in self._exact.get(name_of(parent_of(path)), ()))

    def _can_show(self, path: str, thing: Thing) -> bool:
        """False for a mesh collider and an object without geometry."""
        prim = self.model.prims.get(path)
        if prim is None or prim.type_name not in MESH_LIKE or prim.get(usd_physics.CollisionAPI) is None:
            return True
        return bool(thing.geometry)

    def _belongs(self, path: str, thing: Thing) -> bool:
        """False for a prim of a body and an object that is not parented to that of the body."""
        if not self._can_show(path, thing):
            return False
        body = self.model.body_of(path)
        if body is None or body.path == path:
            return True
        above = self._found.get(body.path)
        while above is not None and thing.parent is not None:
            thing = thing.parent
            if thing is above:
                return True
        return False

    def _parent_of_geometry(self, path: str) -> Thing | None:
        """The object of the prim right above, if the prim can be its geometry and no other prim is that already."""
        above = parent_of(path)
        thing = self._found.get(above)
        if not self._is_open(path) or thing is None or not thing.geometry or thing in self._with_geometry:
            return None
        if self._is_body(path):
            # Two bodies cannot be one object.
            return None if self._is_body(above) else thing
        return thing if self.type_name(path) in MESH_LIKE else None

    def _is_the_geometry(self, path: str) -> bool:
        above, _, name = path.rpartition("/")
        parent = name_of(above)
        if name in (f"{parent}_mesh", f"{parent}Mesh", parent, "mesh", "geometry"):
            return True
        kinds = MESH_LIKE if self.type_name(path) in MESH_LIKE else _GEOMETRY
        return sum(self.type_name(child) in kinds for child in self._children[above]) == 1


def _common(parts: list[str], chain: list[tuple[str, str]]) -> int:
    """Score of the names at the ends of a path and of a chain of objects that agree."""
    common = 0
    for part, (name, copied) in zip(reversed(parts), reversed(chain), strict=False):
        if part not in (name, copied):
            break
        common += _SAME if part == name else _COPIED
    return common


# --------------------------------------------------------------------------- prims of exported objects


class ExportedPrims(Protocol):
    """The prims of a stage that Blender's exporter has written.

    chains: paths by the names of the objects from the root down to that of the prim.
    """

    @property
    def chains(self) -> Mapping[Chain, list[str]]: ...

    def object_name(self, path: str) -> str | None:
        """Name of the object of a prim; empty if Blender gives none, None where no prim is."""

    def distance(self, path: str, place: Any) -> float:
        """How far a prim is from a place."""


def find_written(
    prims: ExportedPrims, expected: str, chain: Chain, place: Any, taken: Container[str] = ()
) -> str | None:  # fmt: skip
    """Path of the prim of an object; None if it was not written.

    expected: path that it should have. chain: names of the objects from the root down to it. place: see `distance`,
    which decides between objects that the names do not tell apart, such as copies that an instance shows. taken: paths
    of prims that are those of other objects.
    """
    if prims.object_name(expected) in (chain[-1], ""):
        return expected
    if candidates := [path for path in prims.chains.get(chain, []) if path not in taken]:
        return min(candidates, key=lambda path: prims.distance(path, place)) if len(candidates) > 1 else candidates[0]
    return find_in_ascii(prims, expected)


def find_in_ascii(prims: ExportedPrims, expected: str) -> str | None:
    """The path as Blender writes it where it does not allow other letters, if a prim of no known object is there."""
    plain = ascii_path(expected)
    return plain if plain != expected and prims.object_name(plain) == "" else None
