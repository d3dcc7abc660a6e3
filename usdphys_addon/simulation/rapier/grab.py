# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabbing a body: a spring between a point of it and a target that the user moves, scaled by the mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import ArrayLike
from rapier3d import GenericJoint, JointAxesMask, JointAxis, MotorModel, PhysicsWorld

from .. import engine
from ..layout import EARTH_GRAVITY


@dataclass(slots=True)
class Grab(engine.Grab):
    """hand, joint: handles of the solver."""

    hand: Any
    joint: Any


def grab(physics: PhysicsWorld, path: str, handle: Any, point: ArrayLike, mass: float) -> Grab:
    """Hold a body at a world point (3,). mass: of the body and of what hangs on it, kg."""
    place = _vector(point)
    body = physics.rigid_bodies[handle]
    local = _vector(body.position.inverse().transform_point(place).to_tuple())
    hand = physics.add_body(rapier3d.RigidBody.kinematic_position_based().translation(place))
    joint = GenericJoint(JointAxesMask.empty())
    joint.local_anchor1, joint.local_anchor2 = (0.0, 0.0, 0.0), local
    # The axes of the spring are those of the hand, body 1, so they do not rotate with the held body.
    rate = 2.0 * math.pi * engine.GRAB_FREQUENCY
    for axis in (JointAxis.LIN_X, JointAxis.LIN_Y, JointAxis.LIN_Z):
        joint.set_motor_model(axis, MotorModel.FORCE_BASED)
        joint.set_motor(axis, 0.0, 0.0, mass * rate * rate, mass * 2.0 * engine.GRAB_DAMPING_RATIO * rate)
        joint.set_motor_max_force(axis, engine.GRAB_STRONGEST * EARTH_GRAVITY * mass)
    for axis in (JointAxis.ANG_X, JointAxis.ANG_Y, JointAxis.ANG_Z):
        joint.set_motor_model(axis, MotorModel.ACCELERATION_BASED)
        joint.set_motor_velocity(axis, 0.0, engine.GRAB_SPIN_DAMPING)
    held = physics.impulse_joints.insert(hand, handle, joint)
    return Grab(path, local, place, hand, held)


def pull(physics: PhysicsWorld, held: Grab, part: float) -> None:
    """Move the hand towards its target by this part of the remaining way in the next solver step."""
    hand = physics.rigid_bodies[held.hand]
    here = np.array(hand.translation.to_tuple())
    hand.set_next_kinematic_translation(_vector(here + (np.array(held.target) - here) * part))
    body = physics.impulse_joints[held.joint].body2
    physics.wake_up(body)


def release(physics: PhysicsWorld, held: Grab) -> None:
    """Let go; the body keeps its velocity."""
    physics.impulse_joints.remove(held.joint)
    physics.remove_body(held.hand)


def _vector(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, float).tolist()
    return (x, y, z)
