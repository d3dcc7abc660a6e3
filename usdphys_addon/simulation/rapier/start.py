# SPDX-License-Identifier: GPL-3.0-or-later
"""The first moment of a world: joints whose frames are apart or outside of their limits are closed, and bodies that
start asleep sleep.

The solver would close a joint within its first step, and the speed that this takes would stay. New joints and contacts
wake the bodies that they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rapier3d import GenericJoint, PhysicsWorld, RigidBody

from ...core import frames
from ...core.frames import Matrix
from ..joint_facts import NO_LIMIT, Freedom, JointFacts
from ..weights import Weight
from . import carriers
from .constraints import JOINT_AXES, isometry, locked_mask, matrix_of
from .matter import of_solver

#: Frames are apart from here on: relative to the size of the joint's bodies, and rad.
APART, TURNED = 2e-5, 1e-4
#: Relative to how far its frames are from an origin, the gap of a joint that is written in single precision.
ROUNDED = 2.5e-7
#: From here on the user is told: relative to the size, and rad.
TOLD, TOLD_TURNED = 2e-3, 0.005
#: Frames back to back, rad, which the solver would leave so, are turned by this angle, rad, before they are closed.
BACK, NUDGE = 3.1, 0.3
_TURN = frames.matrix_of((math.cos(NUDGE / 2.0), 0.0, 0.0, math.sin(NUDGE / 2.0)))
#: Steps that may be needed to close all joints.
MOST_STEPS = 60
#: Seconds of the step in which the solver makes contacts and wakes what they belong to: too short for any motion.
NO_TIME = 1e-6


class Gap(NamedTuple):
    """Between the frames of a joint: m and rad along its locked axes, and beyond the limits of a slide or a hinge.

    size: m, of the joint's longer arm.
    """

    facts: JointFacts
    length: float
    angle: float
    size: float

    @property
    def is_open(self) -> bool:
        return self.length > APART * self.size or self.angle > TURNED

    @property
    def is_told(self) -> bool:
        return self.length > TOLD * self.size or self.angle > TOLD_TURNED


#: A joint and its two bodies in the solver.
Jointed = tuple[JointFacts, tuple[Any, Any]]


def gap(facts: JointFacts, first: Matrix, second: Matrix) -> Gap:
    """The gap of a joint between two bodies with these poses (4, 4)."""
    relative = np.linalg.inv(first @ facts.frame0) @ (second @ facts.frame1)
    held = [freedom.is_locked for freedom in facts.freedoms]
    beyond = [_beyond(each, at) for each, at in zip(facts.freedoms[:3], relative[:3, 3].tolist(), strict=True)]
    length = float(np.linalg.norm([*relative[:3, 3][held[:3]], *beyond]))
    anchors = (facts.frame0, facts.frame1, first @ facts.frame0, second @ facts.frame1)
    if length <= ROUNDED * max(float(np.linalg.norm(frame[:3, 3])) for frame in anchors):
        length = 0.0
    if held[3:] == [False, True, True]:
        angle = math.acos(min(max(float(relative[0, 0]), -1.0), 1.0))
        if _is_limited_hinge(facts):
            angle = max(angle, _beyond(facts.freedoms[3], frames.angle_about(relative[:3, :3], 0)))
    else:
        sines = np.array(frames.quaternion_of(relative[:3, :3])[1:])[held[3:]]
        angle = 2.0 * math.asin(min(float(np.linalg.norm(sines)), 1.0))
    arms = [float(np.linalg.norm(frame[:3, 3])) for path, frame in _sides(facts) if path]
    return Gap(facts, length, angle, max(*arms, length, 1e-6))


def _beyond(freedom: Freedom, value: float) -> float:
    """How far a degree of freedom is outside of its limits, m or rad."""
    if not freedom.is_limited:
        return 0.0
    return max(freedom.low - value, value - freedom.high, 0.0)


def _is_limited_hinge(facts: JointFacts) -> bool:
    """True for a hinge with limits within half a turn, which its angle at the start can be compared with."""
    hinge = facts.freedoms[3]
    others = [freedom.is_locked for freedom in facts.freedoms[4:]]
    return others == [True, True] and hinge.is_limited and hinge.low >= -math.pi and hinge.high <= math.pi


def _sides(facts: JointFacts) -> tuple[tuple[str, Matrix], tuple[str, Matrix]]:
    return (facts.body0, facts.frame0), (facts.body1, facts.frame1)


def close(physics: PhysicsWorld, joints: Sequence[Jointed], weights: Mapping[str, Weight]) -> list[Gap]:
    """Move bodies until no joint is open; all keep their velocities. Returns the gaps that there were.

    The bodies are moved in a world of their own that has neither gravity nor drives nor contacts.
    """
    bodies = physics.rigid_bodies
    listed = [(facts, handles) for facts, handles in joints if facts.enabled and facts.kind != "DistanceJoint"]
    poses = {handle: matrix_of(bodies[handle].position) for _, handles in listed for handle in handles}

    def gaps() -> list[Gap]:
        each_gap = (gap(facts, poses[first], poses[second]) for facts, (first, second) in listed)
        return [each for each in each_gap if each.is_open]

    opened = gaps()
    if not opened:
        return []
    paths: dict[Any, str] = {}
    for facts, (first, second) in listed:
        paths.update({first: facts.body0, second: facts.body1})
    scratch, copies = _scratch_world(physics, paths, weights)
    for facts, (first, second) in listed:
        if gap(facts, poses[first], poses[second]).angle > BACK:
            frame = poses[first] @ facts.frame0
            turn = frames.transform(np.zeros(3), _TURN)
            moved = second if facts.body1 in weights else first
            scratch.rigid_bodies[copies[moved]].position = isometry(frame @ turn @ np.linalg.inv(frame) @ poses[moved])
        scratch.impulse_joints.insert(copies[first], copies[second], _holding(facts))
    for _ in range(MOST_STEPS):
        scratch.step()
        for handle, copied in copies.items():
            body = scratch.rigid_bodies[copied]
            body.linvel = body.angvel = (0.0, 0.0, 0.0)
            poses[handle] = matrix_of(body.position)
        if not gaps():
            break
    for handle, copied in copies.items():
        if paths[handle] in weights and np.isfinite(poses[handle]).all():
            bodies[handle].position = scratch.rigid_bodies[copied].position
    return opened


def _scratch_world(
    physics: PhysicsWorld, paths: Mapping[Any, str], weights: Mapping[str, Weight]
) -> tuple[PhysicsWorld, dict[Any, Any]]:
    """A world without gravity and contacts, and its copies of bodies by handle; those without a weight are fixed."""
    scratch = PhysicsWorld((0.0, 0.0, 0.0))
    # Small parts of a long step: stable for any ratio of masses, and slower than the speeds at which the solver clamps.
    scratch.integration_parameters.num_solver_iterations = 32
    scratch.integration_parameters.dt = 32.0
    scratch.integration_parameters.normalized_max_linear_velocity = 1e9
    copies: dict[Any, Any] = {}
    for handle, path in paths.items():
        moves = path in weights
        builder = RigidBody.dynamic() if moves else RigidBody.fixed()
        builder = builder.position(physics.rigid_bodies[handle].position)
        if moves:
            builder = builder.additional_mass_properties(of_solver(weights[path])).can_sleep(False)
        copies[handle] = scratch.add_body(builder)
    return scratch, copies


def _holding(facts: JointFacts) -> GenericJoint:
    """The joint with its limits and without its drives."""
    joint = GenericJoint(locked_mask(facts.freedoms))
    joint.local_frame1, joint.local_frame2 = isometry(facts.frame0), isometry(facts.frame1)
    for axis, freedom in enumerate(facts.freedoms[: 4 if _is_limited_hinge(facts) else 3]):
        if freedom.is_limited:
            joint.set_limits(JOINT_AXES[axis], max(freedom.low, -NO_LIMIT), min(freedom.high, NO_LIMIT))
    return joint


def put_to_sleep(
    physics: PhysicsWorld, asleep: Collection[Any], moving: Collection[Any], kinematic: Collection[Any]
) -> None:  # fmt: skip
    """Put bodies to sleep. moving: the handles of all other dynamic bodies, which keep their velocities.

    kinematic: handles. They sleep until they move. What touches or holds one that is awake stays awake: while the
    solver still counts a sleeping body among the active ones, it lets it fall without its contacts.
    """
    if not asleep:
        return
    carrying = filter(None, (carriers.carrier_of(physics, handle) for handle in asleep))
    asleep = list(dict.fromkeys((*asleep, *carrying)))
    bodies, parameters = physics.rigid_bodies, physics.integration_parameters
    trees: dict[str, tuple[Any, Any]] = {}
    velocities: dict[Any, tuple[Any, Any]] = {}
    for handle in moving:
        link = physics.multibody_joints.rigid_body_link(handle)
        if link is None:
            velocities[handle] = (bodies[handle].linvel, bodies[handle].angvel)
        else:
            tree = physics.multibody_joints.get_multibody(link.multibody)
            trees.setdefault(str(link.multibody), (tree, tree.generalized_velocity()))
    gravity, step = physics.gravity, parameters.dt
    physics.gravity, parameters.dt = (0.0, 0.0, 0.0), NO_TIME
    physics.step()
    for handle in (*asleep, *kinematic):
        bodies[handle].sleep()
    # Each round wakes one at least, and what that one touches is found in the next round.
    for _ in asleep:
        physics.step()
        active = set(physics.islands.active_dynamic_set())
        caught = [handle for handle in asleep if handle in active and bodies[handle].is_sleeping]
        for handle in caught:
            bodies[handle].wake_up(True)
        if not caught:
            break
    physics.gravity, parameters.dt = gravity, step
    for handle, (linear, angular) in velocities.items():
        bodies[handle].linvel, bodies[handle].angvel = linear, angular
    for tree, speeds in trees.values():
        tree.set_generalized_velocity(speeds)
