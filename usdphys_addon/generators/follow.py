# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that follow their animation by springs until something hits them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object

from ..authoring.joint_maker import make_body
from ..bridge import scene_read
from ..bridge.animated import NLA, curves_of, is_of_transform
from ..bridge.joint_frames import is_joint, set_world_matrix
from ..bridge.roles import is_animated
from ..core import frames, mass
from ..core.errors import InputError
from ..core.velocities import velocity_scale
from ..core.words import phrase
from . import joints

#: Copied from a body to what leads it.
_OF_TRANSFORM = (
    "rotation_mode", "location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale",
    "delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale", "parent", "parent_type",
    "parent_bone", "matrix_parent_inverse",
)  # fmt: skip
_GRAVITY = 9.81
#: Part of a frame over which the first velocity is measured.
_SOON = 0.05


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """frequency: of the springs, Hz. impulse: of a hit that makes a body let go, N s; infinite for never."""

    frequency: float = 8.0
    impulse: float = 1.0


@dataclass(frozen=True, slots=True)
class Following:
    """bodies, and by each of them the Empty that has its animation and the joint that pulls."""

    bodies: list[Any]
    leaders: list[Any]
    joints: list[Any]


def follow(context: Context, objects: Sequence[Object], options: FollowOptions) -> Following:
    """Let bodies follow their animation by springs until a hit. Raises InputError, with nothing changed.

    An Empty gets the animation, as a kinematic body. A joint with critically damped springs pulls the body after it,
    and breaks. The scene goes to its first frame, where the body begins with the velocity of its animation.
    """
    for obj in objects:
        _check(obj)
    joints.check_free(context, objects)
    scene: Any = context.scene
    scene.frame_set(scene.frame_start)
    starts = [_start(context, obj) for obj in objects]
    leaders = []
    for obj, (place, linear, angular) in zip(objects, starts, strict=True):
        leaders.append(_hand_over(obj))
        make_body([obj], moves=True)
        body = obj.usdphys.rigid_body
        if body.kinematic_enabled:
            body.kinematic_enabled = False
        set_world_matrix(obj, place)
        turn = frames.rotation_of(np.array(place))
        scale = velocity_scale(turn.T @ np.array(place)[:3, :3])
        body.velocity, body.angular_velocity = turn.T @ linear / scale, turn.T @ angular
    context.view_layer.update()
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    by_name = {prim.label: path for path, prim in model.bodies.items()}
    joiner, made = joints.Joiner(context), []
    for obj, leader in zip(objects, leaders, strict=True):
        where = frames.transform(obj.matrix_world.translation, frames.rotation_of(np.array(obj.matrix_world)))
        joint = joiner.add("GENERIC", leader, obj, where)
        joint.name = f"{obj.name} Follow"
        weight = mass.mass_properties(model, by_name[obj.name])
        _pull(joint, weight.mass, max(weight.diagonal_inertia), options)
        made.append(joint)
    context.view_layer.update()
    return Following(list(objects), leaders, made)


def _check(obj: Object) -> None:
    if is_joint(obj):
        raise InputError(phrase("'{name}' is a joint; select objects that are animated.", name=obj.name))
    if not is_animated(obj) and obj.parent is None:
        raise InputError(phrase("'{name}' is not animated; key its motion first.", name=obj.name))
    curves = list(curves_of(obj))
    if any(by == NLA for _, by in curves):
        raise InputError(phrase("'{name}' is animated by the NLA; bake the action first.", name=obj.name))
    physics = next((curve.data_path for curve, _ in curves if not is_of_transform(curve.data_path)), "")
    if physics:
        raise InputError(phrase(
            "'{name}' has its physics animated ('{path}'); clear these keyframes first.", name=obj.name, path=physics,
        ))  # fmt: skip


def _start(context: Context, obj: Object) -> tuple[mathutils.Matrix, Any, Any]:
    """World matrix at the current frame; linear (Blender units a second) and angular velocity (rad/s) there."""
    scene: Any = context.scene
    first = scene.frame_current

    def place(part: float) -> mathutils.Matrix:
        scene.frame_set(first, subframe=part)
        return obj.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.copy()

    soon, now = place(_SOON), place(0.0)
    seconds = _SOON * scene.render.fps_base / scene.render.fps
    turned = (soon.to_quaternion() @ now.to_quaternion().inverted()).normalized()
    if turned.w < 0.0:
        turned.negate()
    axis, angle = turned.to_axis_angle()
    linear = np.array(soon.translation - now.translation) / seconds
    return now, linear, np.array(axis) * (angle / seconds)


def _hand_over(obj: Any) -> Any:
    """A kinematic Empty with the transform, the constraints and the animation of an object, which loses them."""
    leader: Any = bpy.data.objects.new(f"{obj.name} Leader", None)
    obj.users_collection[0].objects.link(leader)
    for name in _OF_TRANSFORM:
        setattr(leader, name, getattr(obj, name))
    for constraint in list(obj.constraints):
        leader.constraints.copy(constraint)
        obj.constraints.remove(constraint)
    data = obj.animation_data
    if data is not None:
        own = leader.animation_data_create()
        own.action = data.action
        if data.action is not None:
            own.action_slot = data.action_slot
        for driver in data.drivers:
            own.drivers.from_existing(src_driver=driver)
        obj.animation_data_clear()
    leader.empty_display_type, leader.empty_display_size = "ARROWS", 0.5 * (max(obj.dimensions) or 1.0)
    leader.usdphys.rigid_body.is_applied = leader.usdphys.rigid_body.kinematic_enabled = True
    return leader


def _pull(joint: Any, weight: float, inertia: float, options: FollowOptions) -> None:
    """Give a joint critically damped springs, which break by a hit.

    An impulse J changes the velocity of a body of mass m by J / m at once. Its damper, 2 m w, pulls with 2 w J then,
    and the springs bear its weight besides.
    """
    rate = 2.0 * math.pi * options.frequency
    group = joint.usdphys.joint
    group.exclude_from_articulation = True
    for dofs, amount in ((joints.TRANSLATIONS, weight), (joints.ROTATIONS, inertia)):
        for dof in dofs:
            joints.damp(joint, dof, 2.0 * amount * rate, amount * rate**2)
    if math.isfinite(options.impulse):
        group.break_force = weight * _GRAVITY + 2.0 * rate * options.impulse
