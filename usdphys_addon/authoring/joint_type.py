# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the type of joints: one that becomes a rope gets a length, and gives it back where it becomes another type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Context, Object

from ..bridge.joint_frames import imported_frames, is_fixed, side_frames, store_frame
from ..bridge.props import LOCAL_FRAME_FIELDS
from .joint_maker import Array, JointMaker, JointOptions

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
        joint.type = kind
        if kind == "DISTANCE":
            tie(context, obj)


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
