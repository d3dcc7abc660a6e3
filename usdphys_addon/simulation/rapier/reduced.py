# SPDX-License-Identifier: GPL-3.0-or-later
"""State of joint trees in reduced coordinates, set from the poses and velocities of their bodies.

Rapier itself starts with all joint coordinates and velocities at zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rapier3d import GenericJoint, JointAxesMask, Multibody, PhysicsWorld

from ...core import frames
from ...core.frames import Matrix
from ..speed_limits import braked
from ..weights import Weight
from . import carriers
from .constraints import AXIS_BITS, JOINT_AXES, Constraint, matrix_of
from .joint_effects import freedoms_of

#: (body of the parent, body of the child, joint), in the solver's terms.
Inserted = tuple[Any, Any, GenericJoint]


def start_tree(physics: PhysicsWorld, joints: Sequence[Inserted], weights: Mapping[Any, Weight]) -> None:
    """Set coordinates and velocities of a tree that has just been inserted, from the poses of its bodies.

    weights: by the handle of the body; without those of bodies that nothing moves.
    """
    if not joints:
        return
    bodies = physics.rigid_bodies
    by_child = {child: (parent, joint) for parent, child, joint in joints}
    multibody = physics.multibody_joints.get_multibody(physics.multibody_joints.rigid_body_link(joints[0][1]).multibody)
    poses = {handle: matrix_of(bodies[handle].position) for triple in joints for handle in triple[:2]}
    for handle in poses:
        # New bodies get their centres of mass with the next step; velocities are of these.
        bodies[handle].recompute_mass_properties_from_colliders(physics.colliders)
    # Rapier determines here whether the root is fixed.
    multibody.forward_kinematics(bodies, True)
    displacements: list[float] = []
    velocities = {}
    for number in range(multibody.num_links):
        link = multibody.get_link(number)
        known = by_child.get(link.rigid_body)
        body = bodies[link.rigid_body]
        velocities[number] = (*body.linvel.to_tuple(), *body.angvel.to_tuple())
        if known is None:
            displacements += [0.0] * link.ndofs
            continue
        parent, joint = known
        first = poses[parent] @ matrix_of(joint.local_frame1)
        second = poses[link.rigid_body] @ matrix_of(joint.local_frame2)
        displacements += coordinates(joint, np.linalg.inv(first) @ second)
    if any(displacements):
        multibody.apply_displacements(displacements)
        multibody.forward_kinematics(bodies, True)
    multibody.update_rigid_bodies(bodies, True)
    undamp(multibody)
    if any(any(values) for values in velocities.values()):
        # Of the velocities that the joints allow, those that differ from the given ones by the least kinetic energy.
        rows, wanted = [], []
        for number, velocity in velocities.items():
            handle = multibody.get_link(number).rigid_body
            metric = _root_of_mass(weights.get(handle), poses[handle][:3, :3])
            rows.append(metric @ np.asarray(multibody.body_jacobian(number), float).reshape(6, -1))
            wanted.append(metric @ velocity)
        solution = np.linalg.lstsq(np.concatenate(rows), np.concatenate(wanted), rcond=None)[0]
        multibody.set_generalized_velocity(solution.tolist())


def _root_of_mass(weight: Weight | None, turn: Matrix) -> Matrix:
    """(6, 6): its product with a velocity, m/s and rad/s in the world, has a length whose square is twice the kinetic
    energy.
    """
    result = np.zeros((6, 6))
    if weight is not None:
        result[:3, :3] = math.sqrt(weight.mass) * np.eye(3)
        axes = turn @ frames.matrix_of(weight.axes)
        result[3:, 3:] = np.sqrt(np.maximum(weight.moments, 0.0))[:, None] * axes.T
    return result


def limit_speeds(
    constraints: Iterable[Constraint], physics: PhysicsWorld, weights: Mapping[str, Weight], paths: Mapping[Any, str]
) -> None:
    """Slow down joints in reduced coordinates that are too fast. A joint may have left them within the step.

    weights: by path. paths: by the handle of the body.
    """
    trees: dict[Any, tuple[Multibody, dict[int, float]]] = {}
    for constraint in constraints:
        if constraint.state.reduced:
            multibody, number = physics.multibody_joints.get(constraint.state.link)
            place = multibody.get_link(number).assembly_id
            most = trees.setdefault(multibody.get_link(0).rigid_body, (multibody, {}))[1]
            for _, freedom in freedoms_of(constraint):
                most[place] = freedom.settings.max_speed
    for multibody, most in trees.values():
        speeds = np.array(multibody.generalized_velocity())
        places, largest = np.array(list(most)), np.array(list(most.values()))
        limited = np.isfinite(largest)
        places, largest = places[limited], largest[limited]
        if (np.abs(speeds[places]) > largest).any():
            # (n, k): how much faster an impulse on each of the joints makes all coordinates of the tree.
            matter = _matter(multibody, physics, weights, paths)
            gained = np.linalg.lstsq(matter, np.eye(len(speeds))[:, places], rcond=None)[0]
            speeds += gained @ braked(speeds[places], gained[places], largest)
            multibody.set_generalized_velocity(speeds.tolist())


def _matter(
    multibody: Multibody, physics: PhysicsWorld, weights: Mapping[str, Weight], paths: Mapping[Any, str]
) -> Matrix:
    """(n, n), kg and kg m2: the inertia of a tree in its coordinates."""
    rows = []
    for number in range(multibody.num_links):
        handle = multibody.get_link(number).rigid_body
        weight = weights.get(paths.get(handle, ""))
        if weight is not None:
            metric = _root_of_mass(weight, matrix_of(physics.rigid_bodies[handle].position)[:3, :3])
            rows.append(metric @ np.asarray(multibody.body_jacobian(number), float).reshape(6, -1))
    whole = np.concatenate(rows)
    return np.asarray(whole.T @ whole + np.diag(multibody.armature()))


def bend(physics: PhysicsWorld, constraint: Constraint, relative: Matrix, value: float) -> None:
    """Give a joint of a tree the coordinates of a pose (4, 4), frame 1 in frame 0, without moving the bodies yet.

    value: of its one free coordinate, where it has one.
    """
    multibody, number = physics.multibody_joints.get(constraint.state.link)
    link = multibody.get_link(number)
    displacements = [0.0] * multibody.ndofs
    sign = -1.0 if constraint.reversed else 1.0
    if link.ndofs == 1:
        displacements[link.assembly_id] = sign * value - multibody.generalized_position()[link.assembly_id]
    else:
        seen, now = relative[:3, :3], constraint.relative(physics)[:3, :3]
        change = seen.T @ now if constraint.reversed else seen @ now.T
        displacements[link.assembly_id : link.assembly_id + 3] = frames.rotation_vector(change)
    multibody.apply_displacements(displacements)


def follow(physics: PhysicsWorld, constraints: Sequence[Constraint]) -> None:
    """Update the poses of the bodies of trees from root poses and joint coordinates, at rest."""
    done = set()
    for constraint in constraints:
        multibody, _ = physics.multibody_joints.get(constraint.state.link)
        root = multibody.get_link(0).rigid_body
        if root in done:
            continue
        done.add(root)
        if carriers.is_carrier(physics, root):
            carriers.follow(physics, root)
        multibody.forward_kinematics(physics.rigid_bodies, True)
        multibody.update_rigid_bodies(physics.rigid_bodies, True)
        multibody.set_generalized_velocity([0.0] * multibody.ndofs)


def undamp(multibody: Multibody) -> None:
    """Remove the damping that Rapier gives to every joint in reduced coordinates."""
    multibody.set_damping([0.0] * len(multibody.damping()))


def coordinates(joint: GenericJoint, relative: Matrix) -> list[float]:
    """Free coordinates of a joint whose second frame has this pose (4, 4) in its first."""
    free = [axis for axis, bit in enumerate(AXIS_BITS) if (joint.locked_axes & bit) == JointAxesMask.empty()]
    result = [float(relative[axis, 3]) for axis in free if axis < 3]
    turning = [axis - 3 for axis in free if axis >= 3]
    if len(turning) == 1:
        axis = turning[0]
        angle = frames.angle_about(relative[:3, :3], axis)
        limits = joint.limits(JOINT_AXES[axis + 3])
        if limits is not None:
            # Choose the full turn that is within the limits.
            candidates = [angle + turn * 2.0 * math.pi for turn in (0, 1, -1)]
            angle = min(candidates, key=lambda value: max(limits.min - value, value - limits.max, 0.0))
        result.append(angle)
    elif turning:
        result += frames.rotation_vector(relative[:3, :3])
    return result
