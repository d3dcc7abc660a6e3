# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulators beside UsdPhysics say about joints, as further motors of the solver beside that of the drive.

Friction and damping beside a drive stay as they are. Soft limits, springs of a distance, the largest speed, bounces and
armature are set anew before each step of the solver. In reduced coordinates the solver has an armature and a damping of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rapier3d import GenericJoint, JointAxesMask, PhysicsWorld

from ...core.frames import Matrix
from ..joint_facts import NO_LIMIT, Drive, Freedom
from ..joint_poses import position_of, relative_pose
from ..weights import Weight
from .constraints import FREE, RESISTANCE, Constraint, about_x, isometry, set_drive, yielding

#: Damping, 1/s, of a motor that brings a joint to a speed within a step.
_AT_ONCE = 1e6
#: Index of the distance of the anchors among the degrees of freedom.
_DISTANCE = 6


def freedoms_of(constraint: Constraint) -> Iterator[tuple[int, Freedom]]:
    """(index, degree of freedom) of all that can move and have settings or resistances."""
    state = constraint.state
    freedoms = [*enumerate(state.freedoms), *([] if state.distance is None else [(_DISTANCE, state.distance)])]
    for axis, freedom in freedoms:
        if not freedom.is_locked and (freedom.settings.is_special or freedom.resistances):
            yield axis, freedom


def insert_effects(constraint: Constraint, physics: PhysicsWorld) -> None:
    """Add the further motors of a joint in maximal coordinates; each is a joint that locks nothing."""
    made = constraint.state.effects = {}
    for axis, freedom in freedoms_of(constraint):
        settings = freedom.settings
        names = [
            *(f"{RESISTANCE}{number}" for number in range(len(freedom.resistances))),
            *(["limit"] if freedom.has_soft_limit else []),
            *(["speed"] if freedom.has_bounce or settings.max_speed < NO_LIMIT else []),
            *(["armature"] if settings.armature > 0.0 else []),
        ]
        for name in names:
            joint = GenericJoint(FREE)
            joint.local_frame1, joint.local_frame2 = (
                isometry(constraint.facts.frame0),
                isometry(constraint.facts.frame1),
            )
            joint.contacts_enabled = constraint.facts.collides
            if axis == _DISTANCE:
                joint.coupled_axes = JointAxesMask.LIN_AXES
            if name.startswith(RESISTANCE):
                set_drive(joint, axis, freedom.resistances[int(name.removeprefix(RESISTANCE))], 0.0)
            made[axis, name] = physics.impulse_joints.insert(*constraint.handles, joint)


def armature_ratio(constraint: Constraint, weights: Mapping[str, Weight]) -> float:
    """The largest armature of a joint in maximal coordinates, relative to the inertia that it would have without."""
    if constraint.state.reduced:
        return 0.0
    yields = [*yielding(constraint.facts, weights), 0.0]
    return max((freedom.settings.armature * yields[axis] for axis, freedom in freedoms_of(constraint)), default=0.0)


def needs_equal_steps(constraint: Constraint) -> bool:
    """True for a joint in maximal coordinates with an armature."""
    return not constraint.state.reduced and any(
        freedom.settings.armature > 0.0 for _, freedom in freedoms_of(constraint)
    )


def aim(constraint: Constraint, physics: PhysicsWorld, seconds: float) -> None:
    """Set the further motors of a joint for the next step of the solver, which takes so long."""
    turning, look = _turning(constraint, physics), None
    for axis, freedom in freedoms_of(constraint):
        settings = freedom.settings
        motors = {name: handle for (place, name), handle in constraint.state.effects.items() if place == axis}
        turned = constraint.turns and axis == 3
        # Most joints are slower than they may be, and have springs that stay as they are: nothing is to be measured.
        is_slow = 3 <= axis < 6 and not turned and turning <= settings.max_speed
        if is_slow and not (freedom.has_bounce or freedom.has_soft_limit or settings.armature > 0.0):
            if "speed" in motors:
                physics.impulse_joints[motors["speed"]].data.set_enabled(False)
            continue
        if not motors:
            continue
        look = look or Look(constraint, physics)
        # An armature alone asks for the speed only.
        place = look.place(axis) if turned or motors.keys() != {"armature"} else 0.0
        motor = _Motor(constraint, physics, axis, place)
        for name, handle in motors.items():
            if name == "limit":
                over = max(place - freedom.high, 0.0) + min(place - freedom.low, 0.0)
                spring = Drive(settings.stiffness, settings.damping, place - over) if over != 0.0 else None
                motor.put(handle, spring)
            elif name == "speed":
                wanted = _wanted_speed(freedom, place, look.speed(axis), seconds)
                motor.put(handle, None if wanted is None else Drive(0.0, _AT_ONCE, 0.0, wanted, acceleration=True))
            elif name == "armature":
                # The force is -armature * (change of speed) / seconds, implicitly.
                armature = constraint.state.armature * settings.armature
                motor.put(handle, Drive(0.0, armature / seconds, 0.0, look.speed(axis)))
            else:
                motor.turn(handle)


def _turning(constraint: Constraint, physics: PhysicsWorld) -> float:
    """The most that any rotation of a joint can be, rad/s."""
    first, second = (physics.rigid_bodies[handle].angvel.to_tuple() for handle in constraint.handles)
    return math.dist(first, second)


def _wanted_speed(freedom: Freedom, place: float, speed: float, seconds: float) -> float | None:
    """The speed to bring a degree of freedom to; None where it goes on by itself."""
    settings = freedom.settings
    after = place + speed * seconds
    is_over = (after > freedom.high and speed > 0.0) or (after < freedom.low and speed < 0.0)
    if freedom.has_bounce and is_over and abs(speed) > settings.threshold:
        return -settings.bounce * speed
    return math.copysign(settings.max_speed, speed) if abs(speed) > settings.max_speed else None


def stored_energy(constraint: Constraint, physics: PhysicsWorld) -> float:
    """Energy (J) that soft limits and armatures hold."""
    if not constraint.active or not constraint.state.effects:
        return 0.0
    energy, look = 0.0, Look(constraint, physics)
    for axis, freedom in freedoms_of(constraint):
        settings = freedom.settings
        if freedom.has_soft_limit:
            place = look.place(axis)
            over = max(place - freedom.high, freedom.low - place, 0.0)
            energy += 0.5 * settings.stiffness * over**2
        if settings.armature > 0.0:
            energy += 0.5 * constraint.state.armature * settings.armature * look.speed(axis) ** 2
    return energy


class _Motor:
    """Sets motors of one degree of freedom. place: where it is."""

    def __init__(self, constraint: Constraint, physics: PhysicsWorld, axis: int, place: float) -> None:
        self.physics, self.axis, self.place = physics, axis, place
        # The solver measures angles from the frames: turned with the hinge, they are small.
        self.frame = isometry(constraint.facts.frame1 @ about_x(-place)) if constraint.turns and axis == 3 else None

    def turn(self, handle: Any) -> Any:
        """Turn the frame of a motor with the hinge. Returns its joint."""
        joint = self.physics.impulse_joints[handle].data
        if self.frame is not None:
            joint.local_frame2 = self.frame
        return joint

    def put(self, handle: Any, drive: Drive | None) -> None:
        """Set a motor; None: it does nothing."""
        joint = self.physics.impulse_joints[handle].data
        joint.set_enabled(drive is not None)
        if drive is None:
            return
        self.turn(handle)
        axis = 0 if self.axis == _DISTANCE else self.axis
        set_drive(joint, axis, drive, drive.target_position - (self.place if self.frame is not None else 0.0))


class Look:
    """Where a joint is now and how fast it moves: what its degrees of freedom share is measured once."""

    __slots__ = ("_bodies", "_frames", "_physics", "_relative", "_spin", "constraint")

    def __init__(self, constraint: Constraint, physics: PhysicsWorld) -> None:
        self.constraint, self._physics = constraint, physics
        self._bodies = [physics.rigid_bodies[handle] for handle in constraint.handles]
        self._frames = constraint.frames(physics)
        self._relative: Matrix | None = None
        self._spin: Matrix | None = None

    def place(self, axis: int) -> float:
        """Where a degree of freedom is, m or rad."""
        if axis == 3 and self.constraint.turns:
            return self.constraint.turned(self._physics)
        if self._relative is None:
            self._relative = relative_pose(*self._frames)
        return position_of(self.constraint.facts, self._relative, axis)

    def speed(self, axis: int) -> float:
        """Speed (m/s or rad/s) of a degree of freedom, body 1 seen from body 0."""
        first, second = self._bodies
        world0, world1 = self._frames
        if 3 <= axis < 6:
            if self._spin is None:
                self._spin = _vector(second.angvel) - _vector(first.angvel)
            return float(self._spin @ world0[:3, axis - 3])
        place = world1[:3, 3]
        speed = _vector(second.velocity_at_point(tuple(place))) - _vector(first.velocity_at_point(tuple(place)))
        if axis < 3:
            return float(speed @ world0[:3, axis])
        line = place - world0[:3, 3]
        return float(speed @ line) / max(float(np.linalg.norm(line)), 1e-9)


def _vector(value: Any) -> Matrix:
    return np.array(value.to_tuple(), float)


# --------------------------------------------------------------------------- reduced coordinates


def set_tree_settings(constraint: Constraint, physics: PhysicsWorld) -> None:
    """Give the solver the armature of a joint in reduced coordinates, and a damping that is not in its drive."""
    multibody, number = physics.multibody_joints.get(constraint.state.link)
    place = multibody.get_link(number).assembly_id
    for _, freedom in freedoms_of(constraint):
        dampings = [drive.damping for drive in freedom.resistances if not drive.is_friction]
        armature, damping = list(multibody.armature()), list(multibody.damping())
        armature[place], damping[place] = freedom.settings.armature, sum(dampings)
        multibody.set_armature(armature)
        multibody.set_damping(damping)


def why_not_reduced(freedom: Freedom) -> str:
    """Which setting of a degree of freedom the solver does not have in reduced coordinates; or empty."""
    if freedom.has_soft_limit:
        return "a soft limit"
    return "a limit that bounces" if freedom.has_bounce else ""
