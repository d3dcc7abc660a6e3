# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes and drivers of Blender's rigid bodies, copied to the physics that they are converted to."""

from __future__ import annotations

from typing import Any

from bpy.types import Object

from ..bridge.animated import DRIVER, KEYFRAMES, curves_of
from ..bridge.curves import new_curve

_BLENDER = "rigid_body."
#: By property of Blender's rigid body.
_HOMES = {
    "rigid_body.kinematic": "usdphys.rigid_body.kinematic_enabled",
    "rigid_body.enabled": "usdphys.rigid_body.rigid_body_enabled",
    "rigid_body.mass": "usdphys.mass.mass",
}


def is_handed_over(obj: Object) -> bool:
    """True if *Animated* or *Enabled* of a rigid body of Blender's changes over time."""
    return any(curve.data_path in ("rigid_body.kinematic", "rigid_body.enabled") for curve, _ in curves_of(obj))


def copy_animation(obj: Object) -> bool:
    """Copy what animates the rigid body of an object. Returns False where some of it has no place."""
    is_whole = True
    for curve, by in list(curves_of(obj)):
        path = curve.data_path
        if not path.startswith(_BLENDER):
            continue
        home = _HOMES.get(path)
        if home is None or by not in (KEYFRAMES, DRIVER):
            is_whole = False
        elif by == DRIVER:
            data: Any = obj.animation_data
            data.drivers.from_existing(src_driver=curve).data_path = home
        else:
            is_whole = is_whole and not curve.modifiers  # which are not copied
            _copy(curve, new_curve(obj, home))
    return is_whole


def _copy(source: Any, target: Any) -> None:
    """Give a new curve the keys of another."""
    points = source.keyframe_points
    target.keyframe_points.add(len(points))
    for old, new in zip(points, target.keyframe_points, strict=True):
        new.co, new.interpolation, new.easing = old.co, old.interpolation, old.easing
        new.amplitude, new.back, new.period = old.amplitude, old.back, old.period
        new.handle_left_type, new.handle_right_type = old.handle_left_type, old.handle_right_type
        new.handle_left, new.handle_right = old.handle_left, old.handle_right
    target.extrapolation = source.extrapolation
    target.update()
