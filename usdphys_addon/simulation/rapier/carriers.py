# SPDX-License-Identifier: GPL-3.0-or-later
"""Carriers: what free trees of joints in reduced coordinates begin with.

The solver moves the first body of a tree by the velocity of its centre of mass, as if that was its origin. Where the
two are apart, the tree drifts while it turns, and contacts and loops that pull it back drive it up: a humanoid that
fell over its feet gained 5 % of its energy, whatever the time step. So a tree hangs on a body of next to no mass, whose
centre is its origin, and which a fixed joint of the tree holds to the first body of the scene.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rapier3d
from rapier3d import GenericJoint, JointAxesMask, PhysicsWorld

from ..weights import Weight

#: Mark of carriers among the solver's bodies.
MARK = 0x63617272
#: Mass and moments of a carrier, relative to those of the body that it carries.
LIGHT = 1e-6
#: m: how far the centre of mass may be from the origin without one.
NEAR = 1e-9


def carry(physics: PhysicsWorld, handle: Any, weight: Weight | None) -> list[tuple[Any, Any, GenericJoint]]:
    """Put a carrier below the first body of a tree that has no joint yet.

    weight: of the body; None if nothing moves it. Returns (handle of the carrier, that of the body, joint), or nothing
    where no carrier is needed.
    """
    if weight is None or float(np.linalg.norm(weight.center)) < NEAR:
        return []
    body = physics.rigid_bodies[handle]
    mass = LIGHT * weight.mass
    moment = LIGHT * max(weight.moments)
    straight = rapier3d.Rotation3(1.0, 0.0, 0.0, 0.0)
    matter = rapier3d.MassProperties((0.0, 0.0, 0.0), mass, (moment,) * 3, straight)
    builder = rapier3d.RigidBody.dynamic().position(body.position).linvel(body.linvel).angvel(body.angvel)
    carrier = physics.add_body(builder.additional_mass_properties(matter).user_data(MARK))
    joint = GenericJoint(JointAxesMask.LIN_AXES | JointAxesMask.ANG_AXES)
    if physics.multibody_joints.insert(carrier, handle, joint) is None:
        physics.remove_body(carrier)
        return []
    return [(carrier, handle, joint)]


def carrier_of(physics: PhysicsWorld, handle: Any) -> Any | None:
    """The carrier of the tree of a body, if it has one."""
    link = physics.multibody_joints.rigid_body_link(handle)
    if link is None:
        return None
    first = physics.multibody_joints.get_multibody(link.multibody).get_link(0).rigid_body
    return first if is_carrier(physics, first) else None


def is_carrier(physics: PhysicsWorld, handle: Any) -> bool:
    return bool(physics.rigid_bodies[handle].user_data == MARK)


def follow(physics: PhysicsWorld, carrier: Any) -> None:
    """Bring a carrier to the body that it carries, which was moved from outside."""
    link = physics.multibody_joints.rigid_body_link(carrier)
    carried = physics.multibody_joints.get_multibody(link.multibody).get_link(1).rigid_body
    physics.rigid_bodies[carrier].position = physics.rigid_bodies[carried].position
