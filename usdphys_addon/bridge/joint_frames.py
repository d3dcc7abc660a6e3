# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of joints in Blender: read, compare, store and place them, and keep them when bodies have moved."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import mathutils
import numpy as np
from bpy.types import Depsgraph, Object

from ..core import frames
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from . import props
from .identity.remembered import objects_by_name
from .roles import applies, is_bare

#: Largest difference of equal frames: metres, and elements of a rotation matrix.
_SAME = 1e-5
_IDENTITY = mathutils.Matrix()
#: Rotation modes of three angles, and the middle angle (rad) beyond which these are not exact.
_EULER = frozenset({"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"})
_STEEP = math.radians(87.0)


def keep(model: PhysicsModel, after: Mapping[str, Matrix], meters: float) -> None:
    """Move joint objects with their first body, and store the frame of the second if it is elsewhere.

    model: as it was before the move. after: world matrices (4, 4) of the moved bodies, metres. meters: of a Blender
    unit.
    """
    objects = objects_by_name(with_linked=True)
    for prim in model.joints.values():
        joint = prim.get(usd_physics.Joint)
        obj: Any = objects.get(prim.label)
        if joint is None or obj is None or not _moved(joint, after):
            continue
        worlds = [_world(model, joint, side, after) for side in (0, 1)]
        places = [
            frames.world_frame(worlds[side], joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
            for side in (0, 1)
        ]
        place = places[0].copy()
        place[:3, 3] /= meters
        if not obj.usdphys.joint.is_property_set("local_pos0"):
            obj.matrix_world = mathutils.Matrix(place.tolist())
        if np.abs(places[0] - places[1]).max() > _SAME:
            group = obj.usdphys.joint
            group.local_pos1 = [part / meters for part in joint.resolved("local_pos1")]
            group.local_rot1 = joint.resolved("local_rot1")


def _moved(joint: usd_physics.Joint, after: Mapping[str, Matrix]) -> bool:
    return any(target in after for side in (0, 1) for target in getattr(joint, f"body{side}") or ())


def _world(model: PhysicsModel, joint: usd_physics.Joint, side: int, after: Mapping[str, Matrix]) -> Matrix | None:
    targets = getattr(joint, f"body{side}")
    if not targets:
        return None
    prim: Prim | None = model.prims.get(targets[0])
    return after.get(targets[0], None if prim is None else prim.world)


#: The same for an object that still stands at an imported frame; positions are relative.
_IN_PLACE = 1e-4


#: Angles and lengths below this are noise of Blender's 32 bits.
NOISE = 1e-6


def is_joint(obj: Object) -> bool:
    return applies(obj, "joint")


def world_of(obj: Object, depsgraph: Depsgraph) -> Matrix:
    """Evaluated world matrix (4, 4) of an object, Blender units."""
    return np.array(obj.evaluated_get(depsgraph).matrix_world)


def body_world(obj: Object, side: int, depsgraph: Depsgraph) -> Matrix | None:
    """World matrix (4, 4) of a body, Blender units; None for the world. Raises InputError if it is gone or flat."""
    joint = obj.usdphys.joint
    body = getattr(joint, f"body{side}")
    if body is None:
        if getattr(joint, f"body{side}_name") or getattr(joint, f"body{side}_path"):
            raise InputError(f"Body {side} of the joint '{obj.name}' is gone; choose another one, or clear it.")
        return None
    world = world_of(body, depsgraph)
    if frames.is_flat(frames.determinant(world)):
        raise InputError(f"'{body.name}' is scaled to nothing, so '{obj.name}' has no place in it; give it a scale.")
    return world


def side_frames(obj: Object, depsgraph: Depsgraph) -> tuple[Matrix, Matrix]:
    """World frames (4, 4) of both sides of a joint, Blender units, as an export would write them."""
    place = rigid(world_of(obj, depsgraph))
    joint, frames_of_sides = obj.usdphys.joint, []
    for side in (0, 1):
        world = body_world(obj, side, depsgraph)
        if not is_fixed(joint, side):
            frames_of_sides.append(place)
            continue
        position, rotation = frames.local_frame(world, place)
        if joint.is_property_set(f"local_pos{side}"):
            position = tuple(getattr(joint, f"local_pos{side}"))
        if joint.is_property_set(f"local_rot{side}"):
            rotation = tuple(getattr(joint, f"local_rot{side}"))
        frames_of_sides.append(frames.world_frame(world, position, rotation))
    return frames_of_sides[0], frames_of_sides[1]


def rigid(matrix: Matrix) -> Matrix:
    """A frame without its scale."""
    return frames.unscaled(matrix)


def is_fixed(joint: Object, side: int) -> bool:
    """True where a side of a joint does not follow the joint object."""
    return any(joint.is_property_set(f"local_{what}{side}") for what in ("pos", "rot"))


def imported_frames(obj: Object, depsgraph: Depsgraph) -> tuple[Matrix, Matrix] | None:
    """World frames (4, 4) from the imported local frames and the current bodies, Blender units.

    None if the joint has none, or if its object was moved away from them, so that its place counts.
    """
    joint = obj.usdphys.joint
    if not joint.has_remembered_frames or is_fixed(joint, 0):
        return None
    place, frames_of_sides, is_in_place = rigid(world_of(obj, depsgraph)), [], False
    for side in (0, 1):
        texts = [getattr(joint, f"remembered_local_{what}{side}") for what in ("pos", "rot")]
        position = tuple(map(float, texts[0].split())) or (0.0, 0.0, 0.0)
        rotation = tuple(map(float, texts[1].split())) or frames.IDENTITY_ROTATION
        frame = frames.world_frame(body_world(obj, side, depsgraph), position, rotation)
        frames_of_sides.append(frame)
        size = max(1.0, float(np.abs(frame[:3, 3]).max()))
        is_in_place |= bool(
            np.abs(frame[:3, 3] - place[:3, 3]).max() <= _IN_PLACE * size
            and np.abs(frame[:3, :3] - place[:3, :3]).max() <= _IN_PLACE
        )
    if is_fixed(joint, 1):
        frames_of_sides[1] = side_frames(obj, depsgraph)[1]
    return (frames_of_sides[0], frames_of_sides[1]) if is_in_place else None


def store_frame(obj: Object, side: int, frame: Matrix, depsgraph: Depsgraph) -> None:
    """Store a world frame (4, 4), Blender units, as the local frame of one side."""
    position, rotation = frames.local_frame(body_world(obj, side, depsgraph), frame)
    setattr(obj.usdphys.joint, f"local_pos{side}", position)
    setattr(obj.usdphys.joint, f"local_rot{side}", rotation)


def place_joint(
    obj: Object, both: tuple[Matrix, Matrix], depsgraph: Depsgraph, stored: tuple[bool, bool] = (False, False),
    parents: Collection[str] | None = None,
) -> None:  # fmt: skip
    """Give a joint world frames (4, 4), Blender units. A bare Empty is moved to the frame of body 0.

    A local frame is stored for each side whose frame differs from the place of the joint object, or that is `stored`.
    parents: see `is_bare`.
    """
    joint = obj.usdphys.joint
    for name in props.LOCAL_FRAME_FIELDS:
        joint.property_unset(name)
    place = both[0]
    if is_bare(obj, parents):
        scale = obj.matrix_world.to_scale() if obj.matrix_world.determinant() > 0 else (1.0, 1.0, 1.0)
        scale_matrix = frames.transform((0, 0, 0), None, tuple(scale))
        set_world_matrix(obj, mathutils.Matrix((place @ scale_matrix).tolist()))
    else:
        place = rigid(world_of(obj, depsgraph))
    for side in (0, 1):
        if stored[side] or not same_frame(both[side], place):
            store_frame(obj, side, both[side], depsgraph)


def set_world_matrix(obj: Object, world: mathutils.Matrix) -> None:
    """Give an object a world matrix, exactly.

    Below a parent with uneven scale, location, rotation and scale may not be able to hold it; the parent inverse can.
    Three angles in 32 bits are up to 4e-4 rad wrong where the middle one is nearly 90 degrees; a quaternion is not.
    """
    if obj.parent is not None:
        undone = obj.parent.matrix_world.inverted_safe()
        if undone != _IDENTITY and frames.is_sheared(np.array(undone @ world), 1e-6):
            obj.matrix_parent_inverse, obj.matrix_basis = undone, world
            return
    obj.matrix_world = world
    if obj.rotation_mode in _EULER and abs(obj.rotation_euler["XYZ".index(obj.rotation_mode[1])]) > _STEEP:
        obj.rotation_mode = "QUATERNION"
        obj.matrix_world = world


def coincide(one: Matrix, other: Matrix) -> bool:
    """True if two frames that were read from a file are the same within its 32-bit floats."""
    apart = float(np.linalg.norm(one[:3, 3] - other[:3, 3]))
    turned = float(np.abs(one[:3, :3] - other[:3, :3]).max())
    size = max(1.0, float(np.linalg.norm(one[:3, 3])))
    return apart <= _SAME * size and turned <= _SAME


def same_frame(one: Matrix, other: Matrix) -> bool:
    """True if two frames that were computed from objects are the same; stricter than `coincide` on places."""
    size = max(1.0, float(np.abs(one[:3, 3]).max()))
    apart = float(np.abs(one[:3, 3] - other[:3, 3]).max())
    return apart <= NOISE * size and float(np.abs(one[:3, :3] - other[:3, :3]).max()) <= 1e-5


def coordinate(first: Matrix, second: Matrix, dof: str) -> float:
    """Position of the second frame along or about an axis of the first: length, or angle in radians within ±pi."""
    move = first[:3, :3].T @ (second[:3, 3] - first[:3, 3])
    if dof == "distance":
        return float(np.linalg.norm(move))
    index = "XYZ".index(dof[-1])
    if dof.startswith("trans"):
        return float(move[index])
    return frames.angle_about(first[:3, :3].T @ second[:3, :3], index)


def limit_of(obj: Object, dof: str) -> tuple[Any, str, str, str]:
    """(property group, name of its lower limit, of its upper limit, degree of freedom). Raises InputError if none."""
    joint = obj.usdphys.joint
    if joint.type == "REVOLUTE":
        return joint.revolute, "lower_limit", "upper_limit", f"rot{joint.axis}"
    if joint.type == "PRISMATIC":
        return joint.prismatic, "lower_limit", "upper_limit", f"trans{joint.axis}"
    if joint.type == "DISTANCE":
        return joint.distance, "min_distance", "max_distance", "distance"
    if joint.type == "GENERIC":
        return getattr(joint.limits, dof), "low", "high", dof
    kind = joint.type.lower()
    raise InputError(f"'{obj.name}' is a {kind} joint, which has no lower and upper limit; choose another joint.")
