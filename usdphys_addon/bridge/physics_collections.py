# SPDX-License-Identifier: GPL-3.0-or-later
"""Collections for imported objects that only physics needs: joints, and colliders that are not rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import bpy
import numpy as np
from bpy.types import Object

from ..core import paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.vendors import is_placeless
from .identity.remembered import ImportedIDs

JOINTS = "Physics Joints"
COLLIDERS = "Physics Colliders"
#: Size of a joint as a fraction of what the file spans.
_JOINT_SIZE = 0.03
#: Colliders with more faces than this are drawn as boxes where the body shows something else: their wires hide it.
_MOST_WIRES = 500


def tidy(model: PhysicsModel, found: ImportedIDs) -> None:
    """Move the objects of joints and guide colliders into collections. Colliders of many faces are drawn as boxes."""
    bodies = model.bodies
    guides = {path for path, prim in model.prims.items() if prim.purpose == "guide"}
    #: Bodies that show a mesh beside their guides.
    seen = {paths.nearest(path, bodies) for path, obj in found.objects.items() if guides and obj.type == "MESH"
            and path not in guides} - {""}  # fmt: skip
    moved: list[tuple[Object, str]] = []
    for path, prim in model.prims.items():
        is_joint = is_placeless(prim)
        if not is_joint and path not in guides:
            continue
        obj = found.objects.get(path)
        if obj is None:
            continue
        if is_joint:
            moved.append((obj, JOINTS))
        elif prim.get(usd_physics.CollisionAPI) is not None and obj.type != "EMPTY":
            moved.append((obj, COLLIDERS))
            if obj.type == "MESH" and len(obj.data.polygons) > _MOST_WIRES and paths.nearest(path, bodies) in seen:
                obj.display_type = "BOUNDS"
    if moved:
        _move_all(moved)


def size_empties(model: PhysicsModel, found: ImportedIDs) -> None:
    """Size joints and other Empties to the scene, whose objects have been evaluated.

    Ground and surroundings, which can be far larger than what moves, do not count beside bodies.
    """
    empties = [(path, obj) for path, obj in found.objects.items() if obj.type == "EMPTY"]
    if not empties or not model.prims:
        return
    bodies = model.bodies
    size = joint_size([obj for path, obj in found.objects.items() if paths.nearest(path, bodies)]
                      or found.objects.values())  # fmt: skip
    for path, empty in empties:
        prim = model.prims.get(path)
        if prim is not None and is_placeless(prim):
            show_joint(empty, size)
        elif size < empty.empty_display_size:
            empty.empty_display_size = _below_scale(empty, size)


def show_joint(obj: Object, size: float) -> None:
    """Show an Empty as the axes of a joint. size: their length in the world, Blender units."""
    obj.empty_display_type = "ARROWS"
    obj.empty_display_size = _below_scale(obj, size)


def _below_scale(obj: Object, size: float) -> float:
    """A display size that is `size` in the world, Blender units."""
    scale = max(obj.matrix_world.to_scale(), key=abs)
    return size / (abs(scale) or 1.0)


def move(obj: Object, name: str) -> None:
    """Move an object from its collections to the one with this name below the first of them."""
    _move(obj, list(obj.users_collection), name, below)


def _move_all(moved: list[tuple[Object, str]]) -> None:
    """`move` for many objects: `users_collection` and `below` each visit all collections, so both are done once."""
    homes: dict[Object, list[bpy.types.Collection]] = {obj: [] for obj, _ in moved}
    for collection in (*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)):
        for obj in homes.keys() & set(collection.objects):
            homes[obj].append(collection)
    known_below = cache(below)
    for obj, name in moved:
        _move(obj, homes[obj], name, known_below)


def _move(
    obj: Object, homes: list[bpy.types.Collection], name: str,
    child_of: Callable[[bpy.types.Collection, str], bpy.types.Collection],
) -> None:  # fmt: skip
    if not homes or homes[0].name.startswith(name):
        return
    child_of(homes[0], name).objects.link(obj)
    for other in homes:
        other.objects.unlink(obj)


def below(home: bpy.types.Collection, name: str) -> bpy.types.Collection:
    """The child collection with this name; a new one if there is none."""
    target = next((child for child in home.children if child.name.split(".")[0] == name), None)
    if target is None:
        target = bpy.data.collections.new(name)
        home.children.link(target)
    return target


def joint_size(objects: Iterable[Object | None]) -> float:
    """Display size of joints among these objects, Blender units."""
    return _JOINT_SIZE * span(objects)


def span(objects: Iterable[Object | None]) -> float:
    """Diagonal of the bounding box of objects, Blender units; 1 if it is zero or not finite."""
    corners: list[tuple[float, ...]] = []
    for obj in objects:
        if obj is None:
            continue
        corners.append(obj.matrix_world.translation[:])
        if obj.type == "MESH":
            box, world = obj.bound_box, obj.matrix_world
            corners += [(world @ type(world.translation)(box[index]))[:] for index in (0, 6)]
    if not corners:
        return 1.0
    places = np.array(corners)
    places = places[np.isfinite(places).all(axis=1)]
    length = float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0
    return length if 0.0 < length < np.inf else 1.0
