# SPDX-License-Identifier: GPL-3.0-or-later
"""The six degrees of freedom of generic joints: presets, lock, limit or free for each, and gains of their drives."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from ..bridge import scene_read
from ..bridge.joint_frames import imported_frames, is_fixed, place_joint, side_frames
from ..core import frames
from ..core.errors import InputError
from ..core.joint_kinds import AXIS_DOFS, PRESETS, is_locked
from ..core.schema import ANGULAR_DOFS
from ..core.schemas import usd_physics
from ..simulation.gains import drive_design
from ..simulation.gains.oscillator import Oscillator, gains, oscillator_of

DRIVE_FIELDS = tuple(attribute.field for attribute in usd_physics.DriveAPI.attributes)
#: What a degree of freedom can do.
MOTIONS = ("LOCKED", "LIMITED", "FREE")
#: Limits that a degree of freedom gets where it had none: rad and metres.
_FIRST_ANGLE, _FIRST_LENGTH = math.radians(45.0), 0.1


#: Types with limits and a drive of their own: (names of the limits, their drive, the same of a generic joint).
OWN = {
    "REVOLUTE": (("lower_limit", "upper_limit"), "angular", "rotX"),
    "PRISMATIC": (("lower_limit", "upper_limit"), "linear", "transX"),
}


def apply_preset(context: Context, obj: Object, identifier: str) -> list[str]:
    """Make a joint a generic one and lock all but the degrees of freedom of a preset; these keep limits and drives.

    X of the presets is the axis that the joint had. Returns notes about what cannot be kept. Raises InputError.
    """
    joint = obj.usdphys.joint
    notes = _make_generic(context, obj, PRESETS[identifier].free) if joint.type != "GENERIC" else []
    for dof in AXIS_DOFS:
        if dof not in PRESETS[identifier].free:
            set_motion(joint, dof, "LOCKED")
        elif motion_of(joint, dof) == "LOCKED":
            set_motion(joint, dof, "FREE")
    return notes


def _make_generic(context: Context, obj: Object, free: Collection[str]) -> list[str]:
    """Turn the axis of a joint to X, and take its limits and its drive over where they act on what is free."""
    joint, kind = obj.usdphys.joint, obj.usdphys.joint.type
    axis = "XYZ".index(joint.axis) if kind in (*OWN, "SPHERICAL") else 0
    if axis:
        depsgraph = context.evaluated_depsgraph_get()
        turn = frames.transform((0, 0, 0), np.roll(np.eye(3), axis, axis=0))
        first, second = imported_frames(obj, depsgraph) or side_frames(obj, depsgraph)
        place_joint(obj, (first @ turn, second @ turn), depsgraph, (is_fixed(joint, 0), is_fixed(joint, 1)))
    joint.type = "GENERIC"
    if kind == "DISTANCE" and any(map(joint.distance.is_property_set, ("min_distance", "max_distance"))):
        return [f"'{obj.name}' no longer limits a distance; limit its translations"]
    if kind == "SPHERICAL" and any(map(joint.spherical.is_property_set, ("cone_angle0_limit", "cone_angle1_limit"))):
        return [f"'{obj.name}' no longer has a cone; limit its rotations"]
    if kind not in OWN:
        return []
    names, old, new = OWN[kind]
    own, drive = getattr(joint, kind.lower()), getattr(joint.drives, old)
    is_limited = any(own.is_property_set(name) for name in names)
    if new not in free:
        has_some = is_limited or drive.is_applied
        drive.is_applied = False
        return [f"'{obj.name}' lost its limits and its motor, because it no longer moves that way"] * has_some
    if is_limited:
        take_over(own, getattr(joint.limits, new), dict(zip(names, ("low", "high"), strict=True)))
    if drive.is_applied:
        take_over(drive, getattr(joint.drives, new), dict.fromkeys(DRIVE_FIELDS))
        drive.is_applied = False
    return []


def take_over(source: Any, target: Any, names: Mapping[str, str | None]) -> None:
    """Apply a schema and give it the authored values of another. names: in the source, and in the target if others."""
    if hasattr(target, "is_applied"):
        target.is_applied = True
    for name, other in names.items():
        if source.is_property_set(name):
            setattr(target, other or name, getattr(source, name))
        else:
            target.property_unset(other or name)


def preset_of(joint: PropertyGroup) -> str:
    """The preset that a generic joint has now; empty for other combinations."""
    free = tuple(dof for dof in AXIS_DOFS if motion_of(joint, dof) != "LOCKED")
    return next((name for name, preset in PRESETS.items() if preset.free == free), "")


def motion_of(joint: Any, dof: str) -> str:
    """What a degree of freedom of a generic joint does: one of MOTIONS."""
    limit = getattr(joint.limits, dof)
    if not limit.is_applied:
        return "FREE"
    if is_locked(limit.low, limit.high):
        return "LOCKED"
    return "LIMITED" if limit.is_property_set("low") or limit.is_property_set("high") else "FREE"


def set_motion(joint: Any, dof: str, motion: str, meters: float = 1.0) -> None:
    """Lock, limit or free a degree of freedom. meters: length of a Blender unit, for limits that it has not had."""
    limit = getattr(joint.limits, dof)
    if motion == motion_of(joint, dof):
        return
    if motion == "FREE":
        for name in ("low", "high"):
            limit.property_unset(name)
        limit.is_applied = False
        return
    limit.is_applied = True
    if motion == "LOCKED":
        # UsdPhysics locks where the low limit is above the high one.
        limit.low, limit.high = 1.0, -1.0
        return
    size = _FIRST_ANGLE if dof in ANGULAR_DOFS else _FIRST_LENGTH / meters
    limit.low, limit.high = -size, size


def equal_gains(joint: Any, dof: str) -> list[str]:
    """Give the drives of the other free rotations the values of one; UsdPhysics has no drive along the shortest arc.

    Returns the degrees of freedom that have changed. Raises InputError where the drive is not there.
    """
    source = getattr(joint.drives, dof)
    if not source.is_applied:
        raise InputError(f"There is no drive {dof} to copy; add it first")
    changed = []
    for other in ("rotX", "rotY", "rotZ"):
        if other == dof or motion_of(joint, other) == "LOCKED":
            continue
        drive = getattr(joint.drives, other)
        drive.is_applied = True
        for name in ("type", "stiffness", "damping", "max_force"):
            if source.is_property_set(name):
                setattr(drive, name, getattr(source, name))
            else:
                drive.property_unset(name)
        changed.append(other)
    return changed


# --------------------------------------------------------------------------- gains


@dataclass(frozen=True, slots=True)
class Tuning:
    """The drive of a degree of freedom as an oscillator. inertia: kg or kg m2; oscillator: None without stiffness."""

    inertia: float
    is_angular: bool
    oscillator: Oscillator | None


def inertia_of(context: Context, obj: Object, dof: str) -> tuple[float, bool]:
    """(inertia that a drive moves, kg or kg m2; True for a rotation). Raises InputError where it moves no body."""
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    path = next((path for path, prim in model.joints.items() if prim.label == obj.name), "")
    if not path:
        raise InputError(f"The joint '{obj.name}' is not in the scene")
    task = drive_design.task_of(model, path, dof)
    return task.inertia, task.is_angular


def tuning_of(drive: PropertyGroup, inertia: float, is_angular: bool) -> Tuning:
    """What a drive does now. inertia: of what it moves."""
    unit = math.radians(1.0) if is_angular else 1.0
    seen = 1.0 if drive.type == "acceleration" else inertia
    return Tuning(inertia, is_angular, oscillator_of(drive.stiffness / unit, drive.damping / unit, seen))


def tune(drive: PropertyGroup, oscillator: Oscillator, inertia: float, is_angular: bool) -> None:
    """Set the gains of a drive; those of angular ones are per degree."""
    unit = math.radians(1.0) if is_angular else 1.0
    stiffness, damping = gains(oscillator, 1.0 if drive.type == "acceleration" else inertia)
    drive.is_applied = True
    drive.stiffness, drive.damping = stiffness * unit, damping * unit
