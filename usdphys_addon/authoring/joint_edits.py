# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of existing joints: align, repair frames, swap bodies, limits from a pose, drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import bpy

from ..bridge import props
from ..bridge.joint_frames import (
    NOISE,
    coordinate,
    imported_frames,
    is_fixed,
    limit_of,
    place_joint,
    side_frames,
    store_frame,
)
from ..core import joint_kinds
from ..core.errors import InputError
from ..core.schemas import usd_physics

_ANGULAR_DRIVE = props.AngularDriveProperties
_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def align(context: Any, objects: Sequence[Any], side: int) -> None:
    """Bring both frames of joints to where the frame of one side is; the joint object goes there, too."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph)[side] for obj in objects]
    for obj, frame in zip(objects, wanted, strict=True):
        place_joint(obj, (frame, frame), depsgraph)


def fix_frames(context: Any, objects: Sequence[Any]) -> None:
    """Store both frames of joints in their bodies, where they are now."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph) for obj in objects]
    for obj, both in zip(objects, wanted, strict=True):
        for side in (0, 1):
            store_frame(obj, side, both[side], depsgraph)


def _taken(group: Any, name: str) -> Any:
    """Value of a property, None where it is not authored."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    return value if isinstance(value, str | float | bool | int | bpy.types.ID) or value is None else tuple(value)


def _put(group: Any, name: str, value: Any) -> None:
    if value is None:
        group.property_unset(name)
    else:
        setattr(group, name, value)


def exchange(group: Any, one: str, other: str, change: Callable[[Any], Any] = lambda value: value) -> None:
    """Exchange two properties, each changed, and what is not authored."""
    first, second = _taken(group, one), _taken(group, other)
    _put(group, one, None if second is None else change(second))
    _put(group, other, None if first is None else change(first))


def negate(group: Any, name: str) -> None:
    """Negate a property where it is authored."""
    if group.is_property_set(name):
        setattr(group, name, -getattr(group, name))


def turn_round(joint: Any, names: Iterable[str]) -> None:
    """Negate degrees of freedom of a joint: limits and drive targets. names: of drives and generic limits."""
    for name in names:
        limit, drive = getattr(joint.limits, name, None), getattr(joint.drives, name)
        if limit is not None:
            exchange(limit, "low", "high", lambda value: -value)
        negate(drive, "target_position")
        negate(drive, "target_velocity")


def swap_bodies(obj: Any) -> str:
    """Exchange body 0 and body 1 so that the joint does the same; returns a note where that is not exactly possible."""
    joint = obj.usdphys.joint
    bodies = [getattr(joint, f"body{side}") for side in (0, 1)]
    names = [getattr(joint, f"body{side}_name") for side in (0, 1)]
    for side in (0, 1):
        _put(joint, f"body{side}", bodies[1 - side])
        _put(joint, f"body{side}_name", names[1 - side] or None)
    for what in ("body{}_path", "local_pos{}", "local_rot{}", "remembered_local_pos{}", "remembered_local_rot{}"):
        exchange(joint, what.format(0), what.format(1))
    for own in (joint.revolute, joint.prismatic):
        exchange(own, "lower_limit", "upper_limit", lambda value: -value)
    # Distances have no direction.
    turn_round(joint, (name for name in usd_physics.DriveAPI.instances if name != "distance"))
    return "" if _swaps_exactly(joint) else (
        f"'{obj.name}' turns about several axes; with its bodies swapped its limits are about the same, not exactly."
    )  # fmt: skip


def _swaps_exactly(joint: Any) -> bool:
    """False where limits are of directions that the rotation of the joint itself turns."""
    if joint.type == "SPHERICAL":
        cone = joint.spherical
        return bool(cone.cone_angle0_limit == cone.cone_angle1_limit)
    if joint.type != "GENERIC":
        return True
    limits = [getattr(joint.limits, name) for name in _DOFS]
    is_locked = [limit.is_applied and joint_kinds.has_no_range(limit.low, limit.high) for limit in limits]
    free = [index for index in range(3) if not is_locked[3 + index]]
    if not free:
        return True
    is_said = [limits[index].is_applied or getattr(joint.drives, name).is_applied for index, name in enumerate(_DOFS)]
    if len(free) > 1:
        is_turning_said = any(is_said[3 + index] for index in range(3))
        moves = any(is_said[index] and not _is_pinned(limits[index]) for index in range(3))
        return not is_turning_said and not moves and len({*is_locked[:3]}) == 1
    # About one axis: what is along it stays, what is across it turns, unless it is held.
    across = [index for index in range(3) if index != free[0]]
    moved = [index for index in across if not _is_pinned(limits[index])]
    return not moved or (len(moved) == 2 and not any(is_said[index] for index in moved))


def _is_pinned(limit: Any) -> bool:
    """True for a translation that is held at zero."""
    is_at_zero = limit.low == limit.high == 0.0
    return bool(limit.is_applied and (joint_kinds.is_locked(limit.low, limit.high) or is_at_zero))


def limits_from_pose(context: Any, objects: Sequence[Any], which: str, dof: str) -> list[str]:
    """Make the pose of the bodies a limit of their joints. which: LOWER or UPPER. dof: of generic joints.

    Frames that follow the joint object are stored in the bodies first: the pose of now is then their zero. Returns
    what became of each joint, as a sentence.
    """
    depsgraph = context.evaluated_depsgraph_get()
    plans, notes = [], []
    for obj in objects:
        group, *names, name = limit_of(obj, dof)
        joint = obj.usdphys.joint
        both = imported_frames(obj, depsgraph) or side_frames(obj, depsgraph)
        value = coordinate(*both, name)
        value = 0.0 if abs(value) < NOISE else value
        own, other = names if which == "LOWER" else names[::-1]
        shown = f"{math.degrees(value):.4g}°" if name.startswith("rot") else f"{value:.4g}"
        is_free = name == "distance" and getattr(group, other) < 0
        if group.is_property_set(other) and not is_free:
            limit = getattr(group, other)
            if (limit < value) if which == "LOWER" else (limit > value):
                word, end = ("below", "lower") if which == "UPPER" else ("above", "upper")
                raise InputError(
                    f"'{obj.name}' is at {shown}, {word} its {end} limit; set that one from a pose first, or pose it "
                    "on the other side."
                )  # fmt: skip
        was_fixed = is_fixed(joint, 0) and is_fixed(joint, 1)
        plans.append((obj, group, own, value, both, was_fixed))
        note = f"{own.replace('_', ' ').capitalize()} of '{obj.name}' is {shown}."
        if not was_fixed:
            note += " From now on its bodies keep its frames: pose them, and set the other limit."
        notes.append(note)
    for obj, group, own, value, both, was_fixed in plans:
        if not was_fixed:
            for side in (0, 1):
                store_frame(obj, side, both[side], depsgraph)
        if hasattr(group, "is_applied"):
            group.is_applied = True
        setattr(group, own, value)
    return notes


def driven_dof(obj: Any, dof: str) -> str:
    """The degree of freedom that a drive of a joint moves. dof: for joints that have several. Raises InputError."""
    joint = obj.usdphys.joint
    dofs = joint_kinds.BY_IDENTIFIER[joint.type].drives
    if not dofs:
        other = " of type Generic, with its translations locked" if joint.type == "SPHERICAL" else " of another type"
        raise InputError(
            f"'{obj.name}' is a {joint.type.lower()} joint, which has no degree of freedom that a drive can move; "
            f"use a joint{other}."
        )
    if len(dofs) > 1 and dof not in dofs:
        raise InputError(f"'{obj.name}' has no degree of freedom {dof} to drive; choose one of {', '.join(dofs)}.")
    return dofs[0] if len(dofs) == 1 else dof


def add_motors(objects: Sequence[Any], *, holds: bool, target: float, response: float, dof: str = "rotZ") -> None:
    """Give joints a drive that goes to a position, or keeps a velocity, whatever the masses are.

    holds: a position, else a velocity. target: rad, rad/s, or lengths of Blender. response: seconds in which two
    thirds of an error are gone.
    """
    drives = [getattr(obj.usdphys.joint.drives, driven_dof(obj, dof)) for obj in objects]
    for drive in drives:
        drive.is_applied = True
        drive.type = "acceleration"
        # Gains are per degree where the drive turns something.
        per_unit = 1.0 / math.degrees(1.0) if isinstance(drive, _ANGULAR_DRIVE) else 1.0
        rate = 1.0 / response
        if holds:
            drive.target_position = target
            # Critically damped.
            drive.stiffness, drive.damping = rate**2 * per_unit, 2.0 * rate * per_unit
            drive.property_unset("target_velocity")
        else:
            drive.target_velocity = target
            drive.damping = rate * per_unit
            for name in ("target_position", "stiffness"):
                drive.property_unset(name)
