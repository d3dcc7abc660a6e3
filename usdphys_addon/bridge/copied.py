# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are copies of one that was read before: the same properties, mesh and scale at another place.

Their prims are copied. Asking Blender for each property of each object takes most of the time of reading a large scene.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import bpy
import numpy as np
from bpy.types import Object

from ..core.frames import Matrix
from ..core.model import Prim
from .placements import Placement
from .reading import ReadingContext
from .stored.stamps import STAMP

#: Properties of an object, and of a collider, that mean the same on a copy: they refer to no prim, and to no part of
#: their own object.
_OF_OBJECTS = frozenset({"rigid_body", "mass", "colliders", "active_collider_index", "physics_material", STAMP})
_OF_COLLIDERS = frozenset({
    "shape", "axis", "location", "rotation", "size", "radius", "height", "approximation", "other_approximation",
    "has_mesh_collision", "collision_enabled", "purpose", "name", "mass", "physics_material", "simulation_owner",
})  # fmt: skip

#: Objects with equal keys have the same prims, except for places and paths.
Key = tuple[Any, ...]


@dataclass(slots=True)
class _SourcePrim:
    """A prim that resulted from reading the first object of a group.

    end: its path after that of the object, such as "/Sphere"; None for the prim of the geometry.
    offset: (3,) from the origin of the object to that of the prim, in metres of the world; None if it is zero.
    is_there: its world matrix is equal to that of the object.
    """

    prim: Prim
    end: str | None
    offset: Matrix | None
    is_there: bool = False


@dataclass(slots=True)
class Group:
    """Objects with equal keys. The first of them is read, the others get copies of its prims.

    is_physical: see `SceneReader.is_physical`. geometry: path of the geometry after that of the object; empty if there
    is none. path: of the first object; empty until it is read. made: the prims of the first object.
    """

    is_physical: bool
    geometry: str
    path: str = ""
    made: list[_SourcePrim] = field(default_factory=list)


class Copies:
    """Finds the copies among the objects of one reading, and makes their prims."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self._groups: dict[Key, Group] = {}
        #: By `_content_of` the properties of an object: True if objects with these properties can share their prims.
        self._contents: dict[bytes | str, bool] = {}
        #: `Placement.mesh_key` by session_uid of the object's data; 0 for an object without data.
        self._shapes: dict[int, str] = {0: ""}
        #: Ids of the placements with children, whose prims can have the path that a prim of a copy needs.
        self._above = {id(placement.parent) for placement in context.placements.all if placement.parent is not None}

    def group_of(self, placement: Placement, look: Callable[[Placement], tuple[bool, str]]) -> Group | None:
        """The group of an object; None if its prims depend on more than its own properties.

        look: called with the first object of a group. Returns (True if it has physics, path of its geometry).
        """
        key = self._key_of(placement)
        if key is None:
            return None
        group = self._groups.get(key)
        if group is None:
            is_physical, geometry = look(placement)
            group = self._groups[key] = Group(is_physical, geometry[len(placement.path) :])
        return group

    def _key_of(self, placement: Placement) -> Key | None:
        """The key of an object; None where its prims also depend on other objects or on animation."""
        if placement.parent is not None or placement.instance is not None or id(placement) in self._above:
            return None
        obj, data = placement.obj, placement.obj.data
        if not _OF_OBJECTS.issuperset(placement.touched) or obj.animation_data is not None or obj.constraints:
            return None
        if data is not None and obj.modifiers:
            return None
        number = 0 if data is None else data.session_uid
        shape = self._shapes.get(number)
        if shape is None:
            shape = self._shapes[number] = placement.mesh_key
        if shape.startswith("object"):
            return None
        values = values_of(obj)
        content = _content_of(values)
        may_copy = self._contents.get(content)
        if may_copy is None:
            may_copy = self._contents[content] = _may_copy(values, names_data=isinstance(content, str))
        if not may_copy:
            return None
        slots = obj.material_slots
        looks = [0 if (look := slot.material) is None else look.session_uid for slot in slots] if len(slots) else ()
        return (content, shape, placement.turn, *looks, obj.hide_render)

    def learn(self, placement: Placement, group: Group, count: int) -> None:
        """Remember the prims that reading an object has added: the last `count` of the model."""
        world = self.context.metric(placement.matrix)
        place = world[:3, 3]
        for prim in reversed(list(islice(reversed(self.context.model.prims.values()), count))):
            if prim.local is not None:
                # All copies share this array.
                prim.local.flags.writeable = False
            offset = prim.world[:3, 3] - place
            if prim.path == placement.geometry:
                group.made.append(_SourcePrim(prim, None, None))
            elif prim.path == placement.path or prim.path.startswith(f"{placement.path}/"):
                end, is_there = prim.path[len(placement.path) :], np.array_equal(prim.world, world)
                group.made.append(_SourcePrim(prim, end, offset if offset.any() else None, is_there))
        group.path = placement.path

    def add(self, placement: Placement, group: Group) -> bool:
        """Add the prims of a copy. Returns False and adds nothing if the first is not read yet or a path is taken."""
        if not group.path:
            return False
        taken, prims, path = self.context.taken, self.context.model.prims, placement.path
        for one in group.made:
            if one.end and path + one.end in taken:
                return False
        world, label = self.context.metric(placement.matrix), placement.chain[-1]
        for one in group.made:
            if one.end is None:
                own = placement.geometry
            else:
                own = path + one.end
                if one.end:
                    taken.add(own)
            prims[own] = _copied(one, own, world, label)
        self.context.result.sites[path] = placement
        return True


def _copied(one: _SourcePrim, path: str, world: Matrix, label: str) -> Prim:
    """The prim of a copy. Copies share the schemas, which nothing changes after the reading."""
    prim = one.prim
    if prim.local is not None and not one.is_there:
        place = world[:3, 3]
        world = prim.world.copy()
        world[:3, 3] = place if one.offset is None else place + one.offset
    return Prim(
        path, prim.type_name, world, prim.schemas.copy(), prim.mesh, prim.materials, prim.physics_binding, prim.purpose,
        prim.local, label=label,
    )  # fmt: skip


def _content_of(values: dict[str, Any]) -> bytes | str:
    """Key that is equal for equal properties: bytes, or a text if properties refer to data-blocks."""
    try:
        return marshal.dumps(values)  # several times faster than a text
    except ValueError:
        return repr(values)


def _may_copy(values: dict[str, Any], *, names_data: bool) -> bool:
    """False if properties refer to more than their own object. names_data: they refer to a data-block by its name."""
    if names_data and bpy.data.libraries:
        # Data-blocks of two libraries can have the same name.
        return False
    colliders: list[dict[str, Any]] = values.get("colliders", [])
    # A group without values does not count: reading an unset group creates it.
    return not any(value for item in colliders for name, value in item.items() if name not in _OF_COLLIDERS)


if bpy.app.version >= (5, 0):

    def values_of(obj: Object) -> dict[str, Any]:
        """All properties of ours that are set on an object."""
        group: Any = obj.bl_system_properties_get()
        values: dict[str, Any] = group["usdphys"].to_dict()
        return values

else:

    def values_of(obj: Object) -> dict[str, Any]:
        """All properties of ours that are set on an object."""
        values: dict[str, Any] = obj["usdphys"].to_dict()
        return values
