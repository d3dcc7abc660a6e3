# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulators beside UsdPhysics say about joints, as further motors of the solver beside that of the drive.

Friction and damping beside a drive stay as they are. Soft limits, springs of a distance, the largest speed, bounces and
armature are set anew before each step of the solver, if the last is not in the bodies, see `rotors`. In reduced
coordinates the solver has an armature and a damping of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from rapier3d import GenericJoint, JointAxesMask, PhysicsWorld

from ...core.frames import Matrix
from ...core.schema import Vector
from ..joint_facts import NO_LIMIT, Drive, Freedom
from ..joint_poses import position_of, relative_pose
from ..weights import Weight
from .constraints import FREE, JOINT_AXES, RESISTANCE, Constraint, isometry, set_drive, yielding

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
    """Add the further motors of a joint in maximal coordinates; each is a joint that locks nothing.

    Those that stay as they are share one, with an axis for each.
    """
    made = constraint.state.effects = {}
    resisting: dict[str, GenericJoint] = {}
    for axis, freedom in freedoms_of(constraint):
        settings = freedom.settings
        for number, resistance in enumerate(freedom.resistances):
            name = f"{RESISTANCE}{number}" if axis != _DISTANCE else f"{RESISTANCE} of the distance {number}"
            joint = resisting.setdefault(name, _motors(constraint, axis))
            set_drive(joint, _of_solver(axis), resistance, 0.0)
        names = [
            *(["limit"] if freedom.has_soft_limit else []),
            *(["speed"] if freedom.has_bounce or settings.max_speed < NO_LIMIT else []),
            *(["armature"] if settings.armature > 0.0 and not constraint.is_rotor else []),
        ]
        for name in names:
            joint = _motors(constraint, axis)
            if name == "armature":
                set_drive(joint, _of_solver(axis), Drive(damping=settings.armature), 0.0)
            made[axis, name] = physics.impulse_joints.insert(*constraint.handles, joint)
    for name, joint in resisting.items():
        made[3, name] = physics.impulse_joints.insert(*constraint.handles, joint)


def _motors(constraint: Constraint, axis: int) -> GenericJoint:
    """A joint that locks nothing, for motors of a degree of freedom."""
    joint = GenericJoint(FREE)
    joint.local_frame1, joint.local_frame2 = isometry(constraint.facts.frame0), isometry(constraint.facts.frame1)
    joint.contacts_enabled = constraint.facts.collides
    if axis == _DISTANCE:
        joint.coupled_axes = JointAxesMask.LIN_AXES
    return joint


def _of_solver(axis: int) -> int:
    """The axis of the solver's joint that is a degree of freedom."""
    return 0 if axis == _DISTANCE else axis


def armature_ratio(constraint: Constraint, weights: Mapping[str, Weight]) -> float:
    """The largest armature of a joint in maximal coordinates, relative to the inertia that it would have without."""
    if constraint.state.reduced:
        return 0.0
    yields = [*yielding(constraint.facts, weights), 0.0]
    return max((freedom.settings.armature * yields[axis] for axis, freedom in freedoms_of(constraint)), default=0.0)


def has_armature(constraint: Constraint) -> bool:
    """True for a joint in maximal coordinates with an armature that motors stand for."""
    return not (constraint.state.reduced or constraint.is_rotor) and any(
        freedom.settings.armature > 0.0 for _, freedom in freedoms_of(constraint)
    )


class Aim:
    """Sets the further motors of a joint before each step of the solver, in plain numbers: it is called often."""

    def __init__(self, constraint: Constraint) -> None:
        """Made anew when the joint changes."""
        self.constraint = constraint
        motors: dict[int, dict[str, Any]] = {}
        for (axis, name), handle in constraint.state.effects.items():
            # A resistance stays as it is, unless its frame turns with a hinge.
            if not name.startswith(RESISTANCE) or constraint.turns:
                motors.setdefault(axis, {})[name] = handle
        #: (degree of freedom, its motors by name) of those that are set.
        self._axes = [(axis, freedom, motors[axis]) for axis, freedom in freedoms_of(constraint) if axis in motors]
        #: By translation, `Look.arms` of the last step.
        self._arms: dict[int, Arms] = {}
        #: Rotations of which nothing is to be measured while the joint is slower than it may be.
        self._plain = {
            axis for axis, freedom, names in self._axes
            if 3 <= axis < 6 and not (constraint.turns and axis == 3) and names.keys() == {"speed"}
            and not freedom.has_bounce
        }  # fmt: skip

    def aim(self, physics: PhysicsWorld, seconds: float) -> None:
        """Set the motors for the next step of the solver, which takes so long."""
        if not self._axes:
            return
        constraint, joints, look = self.constraint, physics.impulse_joints, Look(self.constraint, physics)
        for axis, freedom, motors in self._axes:
            settings = freedom.settings
            if axis in self._plain and look.turning <= settings.max_speed:
                joints[motors["speed"]].data.set_enabled(False)
                continue
            # An armature alone asks for the speed only.
            turned = constraint.turns and axis == 3
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
                    motor.brake(handle, armature / seconds, self._speed_before(axis, look))
                else:
                    motor.turn(handle)

    def _speed_before(self, axis: int, look: Look) -> float:
        """The speed of a degree of freedom before its bodies moved on: a slide that is turned gains speed by that."""
        if axis >= 3:
            return look.speed(axis)
        before, self._arms[axis] = self._arms.get(axis), look.arms(axis)
        return look.speed(axis) if before is None else look.speed_at(*before)


def _wanted_speed(freedom: Freedom, place: float, speed: float, seconds: float) -> float | None:
    """The speed to bring a degree of freedom to; None where it goes on by itself."""
    settings = freedom.settings
    after = place + speed * seconds
    is_over = (after > freedom.high and speed > 0.0) or (after < freedom.low and speed < 0.0)
    if freedom.has_bounce and is_over and abs(speed) > settings.threshold:
        return -settings.bounce * speed
    return math.copysign(settings.max_speed, speed) if abs(speed) > settings.max_speed else None


def stored_energy(constraint: Constraint, physics: PhysicsWorld) -> float:
    """Energy (J) that soft limits and armatures hold, beside that of the bodies."""
    if not constraint.active or not (constraint.state.effects or constraint.is_rotor):
        return 0.0
    energy, look = 0.0, Look(constraint, physics)
    for axis, freedom in freedoms_of(constraint):
        settings = freedom.settings
        if freedom.has_soft_limit:
            place = look.place(axis)
            over = max(place - freedom.high, freedom.low - place, 0.0)
            energy += 0.5 * settings.stiffness * over**2
        if settings.armature > 0.0 and constraint.is_rotor:
            # Each body has the whole of it, about this axis.
            first, second = look.spins(axis)
            energy -= settings.armature * first * second
        elif settings.armature > 0.0:
            energy += 0.5 * constraint.state.armature * settings.armature * look.speed(axis) ** 2
    return energy


class _Motor:
    """Sets motors of one degree of freedom. place: where it is."""

    def __init__(self, constraint: Constraint, physics: PhysicsWorld, axis: int, place: float) -> None:
        self.constraint, self.joints, self.place = constraint, physics.impulse_joints, place
        self.axis = _of_solver(axis)
        # The solver measures angles from the frames: turned with the hinge, they are small.
        self.frame = constraint.turned_frame(place) if constraint.turns and axis == 3 else None

    def turn(self, handle: Any) -> Any:
        """Turn the frame of a motor with the hinge. Returns its joint."""
        joint = self.joints[handle].data
        if self.frame is not None:
            joint.local_frame2 = self.frame
        return joint

    def put(self, handle: Any, drive: Drive | None) -> None:
        """Set a motor; None: it does nothing."""
        joint = self.joints[handle].data
        joint.set_enabled(drive is not None)
        if drive is None:
            return
        self.turn(handle)
        target = drive.target_position - (self.place if self.frame is not None else 0.0)
        if 3 <= self.axis < 6 and drive.stiffness > 0.0:
            factor = self.constraint.sine_factor(self.axis, target, is_turned=self.frame is not None)
            drive = replace(drive, stiffness=drive.stiffness * factor)
        set_drive(joint, self.axis, drive, target)

    def brake(self, handle: Any, damping: float, speed: float) -> None:
        """Let a motor brake what deviates from a speed (m/s or rad/s) with a damping (N s/m or N m s)."""
        joint = self.turn(handle)
        joint.set_enabled(True)
        joint.set_motor_velocity(JOINT_AXES[self.axis], speed, damping)


class Arms(NamedTuple):
    """The way (3,) of a translation, and from both centres of mass to the point that it moves (3,), in the world."""

    way: Matrix
    first: Matrix
    second: Matrix


class Look:
    """Where a joint is now and how fast it moves: what its degrees of freedom share is measured once."""

    __slots__ = ("_bodies", "_frames", "_physics", "_relative", "_spin", "constraint")

    def __init__(self, constraint: Constraint, physics: PhysicsWorld) -> None:
        self.constraint, self._physics = constraint, physics
        self._bodies = [physics.rigid_bodies[handle] for handle in constraint.handles]
        self._frames: tuple[Matrix, Matrix] | None = None
        self._relative: Matrix | None = None
        self._spin: Vector | None = None

    def place(self, axis: int) -> float:
        """Where a degree of freedom is, m or rad."""
        if axis == 3 and self.constraint.turns:
            return self.constraint.turned(self._physics)
        if self._relative is None:
            self._relative = relative_pose(*self._in_world())
        return position_of(self.constraint.facts, self._relative, axis)

    def speed(self, axis: int) -> float:
        """Speed (m/s or rad/s) of a degree of freedom, body 1 seen from body 0."""
        if 3 <= axis < 6:
            if self._spin is None:
                self._spin = self.constraint.spin(*self._bodies)
            return self._spin[axis - 3]
        if axis < 3:
            return self.speed_at(*self.arms(axis))
        first, second = self._bodies
        world0, world1 = self._in_world()
        place = world1[:3, 3]
        speed = _vector(second.velocity_at_point(tuple(place))) - _vector(first.velocity_at_point(tuple(place)))
        line = place - world0[:3, 3]
        return float(speed @ line) / max(float(np.linalg.norm(line)), 1e-9)

    def arms(self, axis: int) -> Arms:
        """Where a translation pushes both bodies."""
        world0, world1 = self._in_world()
        first, second = (world1[:3, 3] - _vector(body.center_of_mass) for body in self._bodies)
        return Arms(world0[:3, axis], first, second)

    def speed_at(self, way: Matrix, first: Matrix, second: Matrix) -> float:
        """Speed (m/s) along a way (3,) of the ends of arms (3,) from both centres of mass."""
        speeds = [
            _vector(body.linvel) + np.cross(_vector(body.angvel), arm)
            for body, arm in zip(self._bodies, (first, second), strict=True)
        ]
        return float((speeds[1] - speeds[0]) @ way)

    def spins(self, axis: int) -> tuple[float, float]:
        """How fast each body turns about the axis of a rotation, rad/s."""
        way = self._in_world()[0][:3, axis - 3]
        first, second = (float(way @ _vector(body.angvel)) for body in self._bodies)
        return first, second

    @property
    def turning(self) -> float:
        """The most that any rotation of the joint can be, rad/s."""
        first, second = self._bodies
        return math.dist(first.angvel.to_tuple(), second.angvel.to_tuple())

    def _in_world(self) -> tuple[Matrix, Matrix]:
        if self._frames is None:
            self._frames = self.constraint.frames(self._physics)
        return self._frames


def _vector(value: Any) -> Matrix:
    return np.array(value.to_tuple(), float)


# --------------------------------------------------------------------------- reduced coordinates


def set_tree_settings(constraint: Constraint, physics: PhysicsWorld) -> None:
    """Give the solver the armature of a joint in reduced coordinates, and a damping that is not in its drive."""
    multibody, number = physics.multibody_joints.get(constraint.state.link)
    first = multibody.get_link(number).assembly_id
    free = [axis for axis, freedom in enumerate(constraint.state.freedoms) if not freedom.is_locked]
    armature, damping = list(multibody.armature()), list(multibody.damping())
    for axis, freedom in freedoms_of(constraint):
        place = first + free.index(axis)
        armature[place] = freedom.settings.armature
        damping[place] = sum(drive.damping for drive in freedom.resistances if not drive.is_friction)
    multibody.set_armature(armature)
    multibody.set_damping(damping)


def why_not_reduced(freedom: Freedom) -> str:
    """Which setting of a degree of freedom the solver does not have in reduced coordinates; or empty."""
    if freedom.has_soft_limit:
        return "a soft limit"
    return "a limit that bounces" if freedom.has_bounce else ""
