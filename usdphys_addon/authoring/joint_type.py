# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the type of joints.

One that becomes a rope gets a length, one that becomes generic keeps what it locks, limits and drives; both give that
back where they become another type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Context, Object

from ..bridge.joint_frames import imported_frames, is_fixed, side_frames, store_frame
from ..bridge.props import LOCAL_FRAME_FIELDS
from ..core.joint_kinds import AXIS_DOFS
from .joint_freedoms import DRIVE_FIELDS, OWN, motion_of, set_motion, take_over
from .joint_maker import Array, JointMaker, JointOptions

_ROTATIONS = ("rotX", "rotY", "rotZ")
_LENGTHS = ("min_distance", "max_distance")
#: Part of the length of a rope by which its ends may be elsewhere than `tie` has put them.
_SAME = 1e-4


def set_type(context: Context, objects: Sequence[Object], kind: Any) -> None:
    """Give joints a type. kind: key of joint_kinds.BY_IDENTIFIER."""
    context.view_layer.update()
    for obj in objects:
        joint = obj.usdphys.joint
        if joint.type == kind:
            continue
        if joint.type == "DISTANCE":
            _untie(context, obj)
        elif joint.type == "GENERIC":
            _close(joint)
        elif kind == "GENERIC":
            _open(joint)
        joint.type = kind
        if kind == "DISTANCE":
            tie(context, obj)


def _free(joint: Any, kind: str) -> tuple[str, ...] | None:
    """The degrees of freedom that a type of joint leaves free; None for one that a generic joint cannot be."""
    return {
        "REVOLUTE": (f"rot{joint.axis}",), "PRISMATIC": (f"trans{joint.axis}",), "SPHERICAL": _ROTATIONS, "FIXED": (),
    }.get(kind)  # fmt: skip


def _open(joint: Any) -> None:
    """Let a joint that becomes generic lock, limit and drive what it does now: without limits it would hold nothing.

    One that has limits of generic joints already keeps these.
    """
    free = _free(joint, joint.type)
    if free is None or any(getattr(joint.limits, dof).is_applied for dof in AXIS_DOFS):
        return
    for dof in AXIS_DOFS:
        if dof not in free:
            set_motion(joint, dof, "LOCKED")
    if joint.type in OWN:
        names, drive, _ = OWN[joint.type]
        own, limit = getattr(joint, joint.type.lower()), getattr(joint.limits, free[0])
        if any(map(own.is_property_set, names)):
            take_over(own, limit, dict(zip(names, ("low", "high"), strict=True)))
        _move_drive(getattr(joint.drives, drive), getattr(joint.drives, free[0]))
    elif joint.type == "SPHERICAL":
        # Each angle is one towards an axis, which is about the axis that remains.
        axis = "XYZ".index(joint.axis)
        for name, other in (("cone_angle0_limit", 2), ("cone_angle1_limit", 1)):
            angle = getattr(joint.spherical, name)
            if joint.spherical.is_property_set(name) and angle >= 0.0:
                limit = getattr(joint.limits, f"rot{'XYZ'[(axis + other) % 3]}")
                limit.is_applied, limit.low, limit.high = True, -angle, angle


def _close(joint: Any) -> None:
    """Take back what `_open` has done to a joint that was a hinge or a slide, and still moves as one."""
    moves = tuple(dof for dof in AXIS_DOFS if motion_of(joint, dof) != "LOCKED")
    kind = next((kind for kind in OWN if _free(joint, kind) == moves), "")
    if not kind:
        return
    names, drive, _ = OWN[kind]
    own, limit = getattr(joint, kind.lower()), getattr(joint.limits, moves[0])
    take_over(limit, own, dict(zip(("low", "high"), names, strict=True)))
    _move_drive(getattr(joint.drives, moves[0]), getattr(joint.drives, drive))
    for dof in AXIS_DOFS:
        set_motion(joint, dof, "FREE")


def _move_drive(source: Any, target: Any) -> None:
    if source.is_applied:
        take_over(source, target, dict.fromkeys(DRIVE_FIELDS))
        source.is_applied = False


def tie(context: Context, obj: Object) -> None:
    """Give a distance joint without a length that of its start: without one it holds nothing.

    Where both its ends are at the joint, it goes from the middle of one body to that of the other.
    """
    joint = obj.usdphys.joint
    if any(map(joint.distance.is_property_set, _LENGTHS)):
        return
    depsgraph = context.evaluated_depsgraph_get()
    both = imported_frames(obj, depsgraph) or side_frames(obj, depsgraph)
    length = float(np.linalg.norm(both[1][:3, 3] - both[0][:3, 3]))
    if not is_fixed(joint, 0) and not is_fixed(joint, 1):
        ends = _middles(context, obj)
        length = float(np.linalg.norm(ends[1] - ends[0]))
        for side in (0, 1):
            frame = both[side].copy()
            frame[:3, 3] = ends[side]
            store_frame(obj, side, frame, depsgraph)
    joint.distance.max_distance = length


def _untie(context: Context, obj: Object) -> None:
    """Take back what `tie` has done, unless it was edited since."""
    joint, distance = obj.usdphys.joint, obj.usdphys.joint.distance
    if distance.is_property_set("min_distance") or not distance.is_property_set("max_distance"):
        return
    here = [frame[:3, 3] for frame in side_frames(obj, context.evaluated_depsgraph_get())]
    ends = _middles(context, obj)
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if np.allclose(here, ends, rtol=0.0, atol=_SAME * length) and abs(distance.max_distance - length) <= _SAME * length:
        distance.property_unset("max_distance")
        for name in LOCAL_FRAME_FIELDS:
            joint.property_unset(name)


def _middles(context: Context, obj: Object) -> tuple[Array, Array]:
    """The middles of both bodies of a joint; for the world, the place of the joint."""
    maker, joint = JointMaker(context, JointOptions()), obj.usdphys.joint
    first, second = (
        maker.world(obj)[:3, 3] if body is None else maker.center(body) for body in (joint.body0, joint.body1)
    )
    return first, second
