# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import brings for physics alone, in collections of its own: joints, and colliders that are not rendered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from .imported import ImportedIDs

JOINTS = "Physics Joints"
COLLIDERS = "Physics Colliders"
#: Size of a joint as a fraction of what the file spans.
_JOINT_SIZE = 0.03


def tidy(model: PhysicsModel, found: ImportedIDs) -> None:
    """Move the objects of joints and guide colliders into collections, and size the joints to the scene."""
    joints = model.joints
    size = joint_size(found.objects.values()) if joints else 1.0
    for path, prim in model.prims.items():
        is_joint = path in joints
        if not is_joint and prim.purpose != "guide":
            continue
        obj = found.objects.get(path)
        if obj is None:
            continue
        if is_joint:
            if obj.type == "EMPTY":
                show_joint(obj, size)
            move(obj, JOINTS)
        elif prim.get(usd_physics.CollisionAPI) is not None and obj.type != "EMPTY":
            move(obj, COLLIDERS)


def show_joint(obj: Any, size: float) -> None:
    """Show an Empty as the axes of a joint, as large in the world."""
    obj.empty_display_type = "ARROWS"
    scale = max(obj.matrix_world.to_scale(), key=abs)
    obj.empty_display_size = size / (abs(scale) or 1.0)


def move(obj: bpy.types.Object, name: str) -> None:
    """Move an object from the collection that it is in to the one of this name below that."""
    homes = list(obj.users_collection)
    if not homes or homes[0].name.startswith(name):
        return
    below(homes[0], name).objects.link(obj)
    for other in homes:
        other.objects.unlink(obj)


def below(home: bpy.types.Collection, name: str) -> bpy.types.Collection:
    """The collection of a name right below another; made where there is none."""
    target = next((child for child in home.children if child.name.split(".")[0] == name), None)
    if target is None:
        target = bpy.data.collections.new(name)
        home.children.link(target)
    return target


def joint_size(objects: Iterable[bpy.types.Object | None]) -> float:
    """What joints are shown with among these objects, Blender units."""
    return _JOINT_SIZE * span(objects)


def span(objects: Iterable[bpy.types.Object | None]) -> float:
    """Length, Blender units, of the diagonal of objects; 1 where that is nothing."""
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
