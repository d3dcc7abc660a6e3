# SPDX-License-Identifier: GPL-3.0-or-later
"""JointFacts -> Rapier joints, and their updates before every step.

Rapier has no minimum distance, no cone with two angles and no angles beyond half a turn: `upkeep` emulates them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import rapier3d
from rapier3d import GenericJoint, ImpulseJointHandle, Isometry3, JointAxesMask, JointAxis, MotorModel, PhysicsWorld

from ...core import frames
from ...core.frames import Matrix
from ...core.schema import Vector
from ..articulations import Link
from ..joint_facts import NO_LIMIT, Drive, Freedom, JointFacts
from ..joint_poses import position_of, relative_pose
from ..weights import Weight
from . import tuning

JOINT_AXES = (JointAxis.LIN_X, JointAxis.LIN_Y, JointAxis.LIN_Z, JointAxis.ANG_X, JointAxis.ANG_Y, JointAxis.ANG_Z)
AXIS_BITS = (
    JointAxesMask.LIN_X, JointAxesMask.LIN_Y, JointAxesMask.LIN_Z,
    JointAxesMask.ANG_X, JointAxesMask.ANG_Y, JointAxesMask.ANG_Z,
)  # fmt: skip
FREE = JointAxesMask.empty()
_HALF_TURN = math.pi
#: Limits closer to half a turn than this (rad) are emulated by rotating the joint frame with the hinge.
_MARGIN = 0.3
#: Of the distance of a rod, 1/s2: it yields by less than the precision of the solver.
ROD_STIFFNESS = 1e9
#: Start of the names of further motors that stay as they are, see `joint_effects`.
RESISTANCE = "resistance"
#: Largest turn (rad) of a hinge after which its frame follows.
_FOLLOWS = 0.25
#: Angles (rad) closer to each other than this are equal.
_ROUND = 1e-5
#: Smallest angle (rad) of a cone with two angles: an ellipse of zero width would block the other direction too.
_NARROW = 0.01
#: A drive swings that damps less than so many times as much as the solver does; all but this part is made up for.
LIGHT, ROUNDING = 100.0, 1e-3
#: No force and no torque.
NO_WRENCH: tuple[Vector, Vector] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def isometry(matrix: Matrix) -> Isometry3:
    """Rapier's pose of a matrix (4, 4) without scale."""
    w, x, y, z = frames.quaternion_of(matrix[:3, :3])
    return Isometry3(tuple(matrix[:3, 3].tolist()), rapier3d.Rotation3(w, x, y, z))


def matrix_of(pose: Isometry3) -> Matrix:
    """Matrix (4, 4) of a pose of Rapier's."""
    result: Matrix = np.asarray(pose.to_matrix(), float).reshape(4, 4)
    return result


def yielding(facts: JointFacts, weights: Mapping[str, Weight], *, is_held: bool = False) -> list[float]:
    """By how much each degree of freedom yields, 1/kg or 1/(kg m2), were its bodies otherwise free: (6,).

    Other joints only make it less. is_held: where the joint locks all rotations, it keeps its bodies from turning.
    """
    compliances = np.zeros(6)
    is_straight = is_held and all(freedom.is_locked for freedom in facts.freedoms[3:])
    for path, frame in ((facts.body0, facts.frame0), (facts.body1, facts.frame1)):
        weight = weights.get(path)
        if weight is None:
            continue
        inverse, arm = weight.inverse_inertia, frame[:3, 3] - np.array(weight.center)
        for axis in range(3):
            way = frame[:3, axis]
            turn = np.cross(arm, way)
            compliances[axis] += 1.0 / weight.mass + (0.0 if is_straight else float(turn @ inverse @ turn))
            compliances[axis + 3] += float(way @ inverse @ way)
    return compliances.tolist()


def locked_mask(freedoms: Sequence[Freedom]) -> JointAxesMask:
    """The axes that do not move, for the solver."""
    mask = FREE
    for bit, freedom in zip(AXIS_BITS, freedoms, strict=True):
        if freedom.is_locked:
            mask = mask | bit
    return mask


def set_drive(joint: GenericJoint, axis: int, drive: Drive, target: float, sign: float = 1.0) -> None:
    """Put a drive on an axis of a joint; target: position in the coordinate that the solver uses."""
    name = JOINT_AXES[axis]
    joint.set_motor_model(name, MotorModel.ACCELERATION_BASED if drive.acceleration else MotorModel.FORCE_BASED)
    joint.set_motor(name, target, sign * drive.target_velocity, drive.stiffness, drive.damping)
    joint.set_motor_max_force(name, _max_force(drive))


def _max_force(drive: Drive) -> float:
    """Largest force for the solver; zero without stiffness and damping, where Rapier's motor would hold the axis."""
    return min(drive.max_force, 3e38) if drive.stiffness != 0.0 or drive.damping != 0.0 else 0.0


@dataclass(slots=True)
class State:
    """Mutable state of a constraint outside the solver."""

    enabled: bool
    broken: bool = False
    reduced: bool = False
    angle: float = 0.0
    freedoms: list[Freedom] = field(default_factory=list)
    distance: Freedom | None = None
    base: ImpulseJointHandle | None = None
    rope: ImpulseJointHandle | None = None
    push: ImpulseJointHandle | None = None
    link: Any = None
    #: Where a joint that follows another was aimed at in the last step of the solver, and where the other one was then,
    #: with all its turns.
    aimed: float | None = None
    led: float | None = None
    #: Added to the target velocity of a hinge whose drive has less damping in the solver, rad/s.
    ahead: float = 0.0
    #: Further motors by degree of freedom and name, see `joint_effects`.
    effects: dict[tuple[int, str], ImpulseJointHandle] = field(default_factory=dict)
    #: Part of each armature that the solver is given: it loses a loop of joints with the whole of a large one.
    armature: float = 1.0
    #: Of a copy: the cone, breaking force and torque, which the facts hold.
    allowed: tuple[tuple[float, float] | None, float, float] = (None, math.inf, math.inf)


class Constraint:
    """One joint in Rapier."""

    def __init__(self, facts: JointFacts, handles: tuple[Any, Any], link: Link | None = None) -> None:
        """handles: of the solver's bodies on both sides. link: its place in a tree in reduced coordinates."""
        self.facts, self.handles, self.tree_link = facts, handles, link
        self.state = State(
            facts.enabled, freedoms=copy.deepcopy(facts.freedoms), distance=copy.deepcopy(facts.distance),
            reduced=link is not None,
        )  # fmt: skip
        self.turns = facts.turns
        #: True if it follows another joint, over any number of turns.
        self.follows = False
        #: True if it is in maximal coordinates at a body in reduced ones, and a rotation has a spring; and where its
        #: rotations are then, rad.
        self.is_beside_tree, self._angles = False, [0.0, 0.0, 0.0]
        #: True if its armature is inertia of its bodies, see `rotors`.
        self.is_rotor = False
        self._turns = tuple(frames.quaternion_of(frame[:3, :3]) for frame in (facts.frame0, facts.frame1))
        self._anchors = tuple(_point(frame) for frame in (facts.frame0, facts.frame1))
        #: Force (N) and torque (N m) of the last solver step; and both on the second body, at its joint frame, along
        #: the axes of the world.
        self.load = (0.0, 0.0)
        self.wrench: tuple[Vector, Vector] = NO_WRENCH
        #: Damping from which on the drive of a hinge is rigid to the solver, and the one that it gets instead.
        self.rigid_damping, self.soft_damping = math.inf, math.inf
        #: s: the smallest step of the solver; and by how much each degree of freedom yields at most, 1/kg or 1/(kg m2).
        self.small_step, self.yields = 0.0, [math.inf] * 6

    # ----------------------------------------------------------------------- building

    @property
    def active(self) -> bool:
        """True where the joint holds."""
        return self.state.enabled and not self.state.broken

    @property
    def reversed(self) -> bool:
        return self.tree_link is not None and self.tree_link.reversed

    @property
    def is_rod(self) -> bool:
        """True if the smallest distance is the largest."""
        distance = self.state.distance
        is_rigid = distance is not None and not distance.has_soft_limit
        return is_rigid and distance is not None and 0.0 < distance.high <= distance.low * (1.0 + 1e-6)

    @property
    def is_rope(self) -> bool:
        """True for a rope or a rod that nothing else holds or drives: the solver tells how it pulls."""
        state = self.state
        distance = state.distance
        is_alone = state.base is None and state.rope is not None and distance is not None
        return is_alone and distance is not None and not distance.has_soft_limit and distance.drive is None

    def pull(self, physics: PhysicsWorld) -> float:
        """The impulse (N s) of a small step with which a rope or rod pulls its ends together; less than 0 where it
        pushes them apart."""
        state, joints = self.state, physics.impulse_joints
        rope = joints[state.rope].data
        pull = float(rope.motor(JointAxis.LIN_X).impulse if self.is_rod else rope.limits(JointAxis.LIN_X).impulse)
        if state.push is not None and joints[state.push].data.is_enabled:
            pull += float(joints[state.push].data.limits(JointAxis.LIN_X).impulse)
        return pull

    def reduced_joint(self) -> GenericJoint:
        """The joint of a link of a tree, seen from the parent."""
        facts, state = self.facts, self.state
        joint = GenericJoint(locked_mask(self.state.freedoms))
        first, second = facts.ends(is_reversed=self.reversed)
        joint.local_frame1, joint.local_frame2 = isometry(first), isometry(second)
        joint.contacts_enabled = facts.collides
        sign = -1.0 if self.reversed else 1.0
        for axis, freedom in enumerate(state.freedoms):
            if freedom.is_limited:
                low, high = sorted((sign * _bounded(freedom.low), sign * _bounded(freedom.high)))
                joint.set_limits(JOINT_AXES[axis], low, high)
            if freedom.drive is not None:
                set_drive(joint, axis, freedom.drive, sign * freedom.drive.target_position, sign)
        return joint

    def insert(self, physics: PhysicsWorld) -> None:
        """Put the joint into the world as one in maximal coordinates."""
        facts, state = self.facts, self.state
        joints = physics.impulse_joints
        state.reduced, state.link = False, None
        self._first_angle(physics)
        if facts.kind != "DistanceJoint":
            state.base = joints.insert(*self.handles, self._base_joint())
        if state.distance is not None:
            state.rope = joints.insert(*self.handles, self._rope_joint())
            if state.distance.low > 0.0 and not self.is_rod and not state.distance.has_soft_limit:
                state.push = joints.insert(*self.handles, self._plain(FREE))
        self.apply_enabled(physics)

    def _plain(self, mask: JointAxesMask) -> GenericJoint:
        joint = GenericJoint(mask)
        joint.local_frame1, joint.local_frame2 = isometry(self.facts.frame0), isometry(self.facts.frame1)
        joint.contacts_enabled = self.facts.collides
        return joint

    def _base_joint(self) -> GenericJoint:
        joint = self._plain(locked_mask(self.state.freedoms))
        if self.facts.cone is not None:
            joint.coupled_axes = JointAxesMask.ANG_Y | JointAxesMask.ANG_Z
            limit = max(self.facts.cone)
            joint.set_limits(JointAxis.ANG_Y, -limit, limit)
        self._apply(joint)
        return joint

    def _rope_joint(self) -> GenericJoint:
        joint = self._plain(FREE)
        joint.coupled_axes = JointAxesMask.LIN_AXES
        self._apply_rope(joint)
        return joint

    def _apply_rope(self, joint: GenericJoint) -> None:
        distance = self.state.distance
        assert distance is not None
        if distance.has_soft_limit:
            if distance.drive is not None:
                set_drive(joint, 0, distance.drive, distance.drive.target_position)
            return
        if self.is_rod:
            # A rope and a strut of the same length would each stop what the other begins.
            joint.set_motor_model(JointAxis.LIN_X, MotorModel.ACCELERATION_BASED)
            joint.set_motor(JointAxis.LIN_X, distance.high, 0.0, ROD_STIFFNESS, 0.0)
            return
        joint.set_limits(JointAxis.LIN_X, 0.0, _bounded(distance.high))
        if distance.drive is not None:
            set_drive(joint, 0, distance.drive, distance.drive.target_position)

    def _apply(self, joint: GenericJoint) -> None:
        """Set limits and drives of the base joint, relative to the current rotation of its frame."""
        state = self.state
        if self.turns:
            # Rotate frame 2, because frame 1 defines the directions of the translations.
            joint.local_frame2 = self.turned_frame(state.angle)
        several = not self.turns
        targets = self._targets()
        for axis, freedom in enumerate(state.freedoms):
            offset = state.angle if axis == 3 and self.turns else 0.0
            is_hard = freedom.is_limited and not freedom.has_soft_limit
            if is_hard and not (axis > 3 and self.facts.cone is not None):
                low, high = freedom.low - offset, freedom.high - offset
                if axis >= 3:
                    edge = _HALF_TURN - (1e-3 if several else 0.0)
                    low, high = min(max(low, -edge), edge), max(min(high, edge), -edge)
                joint.set_limits(JOINT_AXES[axis], _bounded(low), _bounded(high))
            if freedom.drive is not None:
                target = targets[axis] - offset
                if axis >= 3:
                    target = min(max(target, 0.01 - _HALF_TURN), _HALF_TURN - 0.01)
                drive = freedom.drive
                if drive.damping > self.rigid_damping:
                    speed = drive.target_velocity + state.ahead
                    drive = replace(drive, damping=self.soft_damping, target_velocity=speed)
                damping = self._damping(axis, drive)
                stiffness = drive.stiffness * (self.sine_factor(axis, target) if axis >= 3 else 1.0)
                set_drive(joint, axis, replace(drive, stiffness=stiffness, damping=damping), target)

    def sine_factor(self, axis: int, target: float, *, is_turned: bool = False) -> float:
        """By what a spring of a rotation is to be stiffer in the solver.

        target: rad, in the solver's coordinate. is_turned: the frame is turned with the joint, so that this is 0 now.

        For joints at bodies in reduced coordinates the solver takes the difference of the sines of half of the angles
        for that of the angles.
        """
        if not self.is_beside_tree:
            return 1.0
        now = 0.0 if is_turned else self._angles[axis - 3]
        if abs(target - now) < _ROUND:
            return 2.0 / math.cos(0.5 * now)
        return (target - now) / (math.sin(0.5 * target) - math.sin(0.5 * now))

    def note_angles(self, physics: PhysicsWorld) -> None:
        """Note where the rotations are now, in the solver's coordinates."""
        w, *sines = self.turn(*(physics.rigid_bodies[handle].position for handle in self.handles))
        self._angles = [2.0 * math.asin(min(max(math.copysign(1.0, w) * sine, -1.0), 1.0)) for sine in sines]
        if self.turns:
            self._angles[0] = math.remainder(2.0 * math.atan2(sines[0], w) - self.state.angle, 2.0 * math.pi)

    def _is_sprung(self) -> bool:
        """True if a rotation has a spring."""
        return any(
            freedom.has_soft_limit or (freedom.drive is not None and freedom.drive.stiffness != 0.0)
            for freedom in self.state.freedoms[3:]
            if not freedom.is_locked
        )

    def _damping(self, axis: int, drive: Drive) -> float:
        """The damping of a drive in the solver: less by what the solver damps a spring that swings freely by itself.

        The solver takes the force of a spring at the end of its step: as if it had a damping of step * stiffness more.
        """
        if drive.stiffness == 0.0 or self.small_step == 0.0:
            return drive.damping
        more = self.small_step * drive.stiffness
        turn = self.small_step * more * (1.0 if drive.acceleration else self.yields[axis])
        if drive.damping < LIGHT * more and turn < tuning.SPRING_TURN**2:
            return drive.damping - (1.0 - ROUNDING) * more
        return drive.damping

    def _targets(self) -> list[float]:
        """Target positions of the six degrees of freedom in the solver's coordinates; zero without a drive.

        Several angles together mean Rz * Ry * Rx, as in PhysX. The solver's coordinate of a rotation about several
        axes is twice the arc sine of each component of its quaternion.
        """
        freedoms = self.state.freedoms
        targets = [0.0 if freedom.drive is None else freedom.drive.target_position for freedom in freedoms]
        if self.turns or sum(angle != 0.0 for angle in targets[3:]) < 2 or not np.isfinite(targets[3:]).all():
            return targets
        return targets[:3] + _half_sines(targets[3:], [freedom.is_locked for freedom in freedoms[3:]])

    def stretch(self, physics: PhysicsWorld, axis: int) -> float:
        """How far (m or rad) a driven degree of freedom is from its target."""
        if axis == 6:
            drive = None if self.state.distance is None else self.state.distance.drive
            return abs(self.position(physics, axis) - (0.0 if drive is None else drive.target_position))
        target = self._targets()[axis]
        if axis == 3 and self.turns:
            return abs(target - self.turned(physics))
        if axis < 3 or self.turns:
            return abs(target - self.position(physics, axis))
        sine = frames.quaternion_of(self.relative(physics)[:3, :3])[axis - 2]
        return abs(target - 2.0 * math.asin(min(max(sine, -1.0), 1.0)))

    # ----------------------------------------------------------------------- changes

    def apply_enabled(self, physics: PhysicsWorld) -> None:
        """Update the solver: a disabled or broken joint neither holds nor filters contacts of its bodies."""
        for handle in (self.state.base, self.state.rope):
            if handle is not None:
                joint = physics.impulse_joints[handle].data
                joint.set_enabled(self.active)
                joint.contacts_enabled = self.facts.collides or not self.active
        for (_, name), handle in self.state.effects.items():
            joint = physics.impulse_joints[handle].data
            joint.set_enabled(self.active and name.startswith(RESISTANCE))
            joint.contacts_enabled = self.facts.collides or not self.active
        if self.state.push is not None:
            joint = physics.impulse_joints[self.state.push].data
            joint.set_enabled(False)
            joint.contacts_enabled = True

    def leave_tree(self, physics: PhysicsWorld) -> None:
        """Switch from reduced to maximal coordinates in the current pose."""
        if self.state.link is not None:
            physics.multibody_joints.remove(self.state.link)
        self.insert(physics)

    def set_enabled(self, physics: PhysicsWorld, enabled: bool) -> None:
        """Switch the joint; a broken one stays broken."""
        if enabled == self.state.enabled:
            return
        if self.state.reduced:
            self.leave_tree(physics)
        self.state.enabled = enabled
        if enabled:
            self._first_angle(physics)
            if self.state.base is not None:
                self._apply(physics.impulse_joints[self.state.base].data)
        self.apply_enabled(physics)

    def break_up(self, physics: PhysicsWorld) -> None:
        """Break the joint."""
        self.state.broken = True
        self.apply_enabled(physics)

    def drive_of(self, dof: str) -> Drive:
        """A copy of the drive of a degree of freedom. Raises KeyError for one that cannot move."""
        freedom = self._freedom(dof)
        if freedom.is_locked:
            raise KeyError(dof)
        return Drive() if freedom.drive is None or freedom.drive.is_friction else copy.copy(freedom.drive)

    def set_drive_of(self, physics: PhysicsWorld, dof: str, drive: Drive) -> None:
        """Replace the drive of a degree of freedom."""
        self._freedom(dof).drive = drive
        self.apply_drives(physics)

    def set_ranges(self, physics: PhysicsWorld, facts: JointFacts) -> None:
        """Take limits, cone and breaking load of other facts, which have the same degrees of freedom."""
        own, state = self.facts, self.state
        own.break_force, own.break_torque = facts.break_force, facts.break_torque
        is_shaped_anew = (own.cone is None) != (facts.cone is None)
        own.cone = facts.cone
        for freedom, new in zip(state.freedoms, facts.freedoms, strict=True):
            is_shaped_anew |= freedom.is_locked != new.is_locked or freedom.is_limited != new.is_limited
            freedom.low, freedom.high = new.low, new.high
        if state.distance is not None and facts.distance is not None:
            is_shaped_anew |= (state.distance.low > 0.0) != (facts.distance.low > 0.0)
            was_rod = self.is_rod
            state.distance.low, state.distance.high = facts.distance.low, facts.distance.high
            is_shaped_anew |= was_rod or self.is_rod
        if state.reduced:
            self.leave_tree(physics)
        elif is_shaped_anew:
            for handle in (state.base, state.rope, state.push):
                if handle is not None:
                    physics.impulse_joints.remove(handle)
            state.base = state.rope = state.push = None
            self.insert(physics)
        else:
            self._first_angle(physics)
            if self.facts.cone is not None and state.base is not None:
                limit = max(self.facts.cone)
                physics.impulse_joints[state.base].data.set_limits(JointAxis.ANG_Y, -limit, limit)
            self.apply_drives(physics)

    def _freedom(self, dof: str) -> Freedom:
        index = self.facts.names[dof]
        if index < 6:
            return self.state.freedoms[index]
        if self.state.distance is None:
            raise KeyError(dof)
        return self.state.distance

    def apply_drives(self, physics: PhysicsWorld) -> None:
        """Give the solver the drives as they are now."""
        state = self.state
        if state.reduced:
            multibody, number = physics.multibody_joints.get(state.link)
            sign = -1.0 if self.reversed else 1.0
            for axis, freedom in enumerate(state.freedoms):
                drive = freedom.drive
                if drive is not None:
                    kind = MotorModel.ACCELERATION_BASED if drive.acceleration else MotorModel.FORCE_BASED
                    multibody.set_link_motor_model(number, JOINT_AXES[axis], kind)
                    multibody.set_link_motor(
                        number, JOINT_AXES[axis], sign * drive.target_position, sign * drive.target_velocity,
                        drive.stiffness, self._damping(axis, drive),
                    )  # fmt: skip
                    multibody.set_link_motor_max_force(number, JOINT_AXES[axis], _max_force(drive))
            return
        if state.base is not None:
            self._apply(physics.impulse_joints[state.base].data)
        if state.rope is not None:
            self._apply_rope(physics.impulse_joints[state.rope].data)

    # ----------------------------------------------------------------------- before a step

    def needs_upkeep(self, physics: PhysicsWorld) -> bool:
        """True if `upkeep` must be called before each step."""
        state, cone = self.state, self.facts.cone
        if state.reduced or not self.active:
            return False
        trees = physics.multibody_joints
        self.is_beside_tree = self._is_sprung() and any(
            trees.rigid_body_link(handle) is not None for handle in self.handles
        )
        is_odd = state.push is not None or (cone is not None and cone[0] != cone[1])
        return is_odd or self.is_beside_tree or self._turns_far()

    def _turns_far(self) -> bool:
        if not self.turns or self.state.base is None:
            return False
        if self.follows:
            return True
        freedom = self.state.freedoms[3]
        if freedom.is_limited and not (freedom.high - freedom.low <= 2.0 * (_HALF_TURN - _MARGIN)):
            return True
        drive = freedom.drive
        if drive is None or drive.stiffness == 0.0:
            return False
        return abs(drive.target_position - _middle(freedom)) > _HALF_TURN - _MARGIN

    def _first_angle(self, physics: PhysicsWorld) -> None:
        """Set the initial rotation of a hinge frame: the middle of its limits, or the current angle if it turns far."""
        if not self.turns:
            return
        self.state.angle = _middle(self.state.freedoms[3])
        if not self._turns_far_without_base():
            return
        angle, turn = self.angle_now(physics), 2.0 * math.pi
        freedom = self.state.freedoms[3]
        low, high = _bounded(freedom.low), _bounded(freedom.high)
        # As many whole turns as bring it to the limits: these can be far away, and even without end.
        angle += turn * max(0, math.ceil((low - angle) / turn))
        angle -= turn * max(0, math.ceil((angle - high) / turn))
        self.state.angle = angle

    def _turns_far_without_base(self) -> bool:
        had = self.state.base
        self.state.base = had or ImpulseJointHandle.invalid()
        far = self._turns_far()
        self.state.base = had
        return far

    def frames(self, physics: PhysicsWorld) -> tuple[Matrix, Matrix]:
        """The joint frames (4, 4) on both bodies, in the world."""
        first, second = (matrix_of(physics.rigid_bodies[handle].position) for handle in self.handles)
        return first @ self.facts.frame0, second @ self.facts.frame1

    def wrench_in_frame(self, physics: PhysicsWorld) -> tuple[Vector, Vector]:
        """`wrench` along the axes of the authored joint frame on the second body."""
        to_frame = self.frames(physics)[1][:3, :3].T
        force, torque = (np.roll(to_frame @ part, self.facts.first).tolist() for part in self.wrench)
        return (force[0], force[1], force[2]), (torque[0], torque[1], torque[2])

    def relative(self, physics: PhysicsWorld) -> Matrix:
        """Pose (4, 4) of the frame on body 1 in the frame on body 0."""
        return relative_pose(*self.frames(physics))

    def position(self, physics: PhysicsWorld, axis: int) -> float:
        """Where a degree of freedom is, m or rad within half a turn; axis: as in `facts.names`."""
        return position_of(self.facts, self.relative(physics), axis)

    def drives(self) -> list[tuple[int, Drive]]:
        """(axis, drive) of all that are driven."""
        freedoms = [*self.state.freedoms, *([] if self.state.distance is None else [self.state.distance])]
        return [(axis, freedom.drive) for axis, freedom in enumerate(freedoms) if freedom.drive is not None]

    def turn_to(self, physics: PhysicsWorld, angle: float) -> None:
        """Set the full angle (rad) of a hinge; the solver knows it only within half a turn."""
        if not self.state.reduced and self._turns_far():
            self.state.angle = angle
            self._apply(physics.impulse_joints[self.state.base].data)

    def angle_now(self, physics: PhysicsWorld) -> float:
        """Angle about X, within half a turn."""
        w, x, _, _ = self.turn(*(physics.rigid_bodies[handle].position for handle in self.handles))
        return math.remainder(2.0 * math.atan2(x, w), 2.0 * math.pi)

    def turned(self, physics: PhysicsWorld) -> float:
        """Angle of a hinge, rad, beyond half a turn where the solver, or the upkeep, counts whole turns."""
        if self.state.reduced:
            multibody, number = physics.multibody_joints.get(self.state.link)
            angle = float(multibody.generalized_position()[multibody.get_link(number).assembly_id])
            return -angle if self.reversed else angle
        angle = self.angle_now(physics)
        if self._turns_far():
            angle = self.state.angle + math.remainder(angle - self.state.angle, 2.0 * math.pi)
        return angle

    def upkeep(self, physics: PhysicsWorld) -> None:
        """Update the emulated limits for the current poses of the bodies. In plain numbers: it is called often."""
        state, cone = self.state, self.facts.cone
        first, second = (physics.rigid_bodies[handle].position for handle in self.handles)
        if state.push is not None:
            self._push(physics, first, second)
        if state.base is None:
            return
        if self.is_beside_tree:
            self.note_angles(physics)
            self._apply(physics.impulse_joints[state.base].data)
        if cone is not None and cone[0] != cone[1]:
            w, x, y, z = self.turn(first, second)
            across, along = 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
            size = math.hypot(across, along)
            widths = [max(angle, _NARROW) for angle in cone]
            limit = min(widths) if size < 1e-6 else size / math.hypot(across / widths[0], along / widths[1])
            physics.impulse_joints[state.base].data.set_limits(JointAxis.ANG_Y, -limit, limit)
        if self._turns_far():
            w, x, _, _ = self.turn(first, second)
            turned = math.remainder(2.0 * math.atan2(x, w) - state.angle, 2.0 * math.pi)
            # The solver knows angles within half a turn of the frame. A spring that is wound up further has the force
            # of half a turn, from wherever it is.
            if abs(turned) > _FOLLOWS or (turned != 0.0 and self._is_wound()):
                state.angle += turned
                self._apply(physics.impulse_joints[state.base].data)

    def _is_wound(self) -> bool:
        drive = self.state.freedoms[3].drive
        return (
            drive is not None and drive.stiffness != 0.0
            and abs(drive.target_position - self.state.angle) > _HALF_TURN - _MARGIN
        )  # fmt: skip

    def turn(self, first: Isometry3, second: Isometry3) -> tuple[float, float, float, float]:
        """Rotation (w, x, y, z) of the frame on body 1 in the frame on body 0."""
        a, b, c, d = _product(_quaternion(first), self._turns[0])
        return _product((a, -b, -c, -d), _product(_quaternion(second), self._turns[1]))

    def spin(self, first: Any, second: Any) -> Vector:
        """How fast body 1 turns, seen from body 0, along the axes of the joint frame on that, rad/s."""
        a, b, c, d = _product(_quaternion(first.position), self._turns[0])
        x, y, z = (after - before for after, before in zip(
            second.angvel.to_tuple(), first.angvel.to_tuple(), strict=True))  # fmt: skip
        _, x, y, z = _product(_product((a, -b, -c, -d), (0.0, x, y, z)), (a, b, c, d))
        return x, y, z

    def turned_frame(self, angle: float) -> Isometry3:
        """The frame on body 1 turned with a hinge, so that it lies on that of body 0 at an angle, rad."""
        w, x, y, z = _product(self._turns[1], (math.cos(0.5 * angle), -math.sin(0.5 * angle), 0.0, 0.0))
        return Isometry3(self._anchors[1], rapier3d.Rotation3(w, x, y, z))

    def _push(self, physics: PhysicsWorld, first: Isometry3, second: Isometry3) -> None:
        """Emulate the minimum distance: a limit along the current line between the anchors."""
        state = self.state
        assert state.distance is not None and state.push is not None
        joint = physics.impulse_joints[state.push].data
        far = second.transform_point(self._anchors[1])
        x, y, z = first.inverse().transform_point(far.to_tuple()).to_tuple()
        a, b, c = self._anchors[0]
        x, y, z = x - a, y - b, z - c
        distance = math.sqrt(x * x + y * y + z * z)
        near = distance < state.distance.low * 1.5 + 0.05
        joint.set_enabled(near)
        if not near:
            return
        x, y, z = (x / distance, y / distance, z / distance) if distance > 1e-6 else (1.0, 0.0, 0.0)
        # The shortest turn of X to that line; half a turn about Z where it is nearly -X.
        w, j, k = (1.0 + x, -z, y) if x > -0.9999 else (0.0, 0.0, 1.0)
        size = math.sqrt(w * w + j * j + k * k)
        joint.local_frame1 = Isometry3(self._anchors[0], rapier3d.Rotation3(w / size, 0.0, j / size, k / size))
        joint.set_limits(JointAxis.LIN_X, state.distance.low, NO_LIMIT)

    # ----------------------------------------------------------------------- another world

    def take_over(self, other: Constraint) -> None:
        """Go on as the same joint in another world. Call it before this one is inserted."""
        state, before = self.state, other.saved()
        state.enabled, state.broken, state.ahead = before.enabled, before.broken, before.ahead
        state.aimed, state.led = before.aimed, before.led
        state.freedoms, state.distance = before.freedoms, before.distance
        self.load, self.wrench = other.load, other.wrench

    def turn_as(self, physics: PhysicsWorld, other: Constraint, others: PhysicsWorld) -> None:
        """Count the whole turns of a hinge as the same joint in another world does."""
        if not self.turns:
            return
        if self.state.reduced:
            multibody, number = physics.multibody_joints.get(self.state.link)
            place, displacements = multibody.get_link(number).assembly_id, [0.0] * multibody.ndofs
            before = other.turned(others) * (-1.0 if self.reversed else 1.0)
            displacements[place] = before - multibody.generalized_position()[place]
            multibody.apply_displacements(displacements)
        elif self.state.base is not None:
            self.state.angle = other.state.angle
            self._apply(physics.impulse_joints[self.state.base].data)

    # ----------------------------------------------------------------------- snapshots

    def saved(self) -> State:
        """A copy of the state."""
        state = copy.copy(self.state)
        state.freedoms, state.distance = copy.deepcopy(state.freedoms), copy.deepcopy(state.distance)
        state.effects = dict(state.effects)
        state.allowed = (self.facts.cone, self.facts.break_force, self.facts.break_torque)
        return state

    def load_state(self, state: State) -> None:
        """Restore a copied state."""
        self.state = copy.copy(state)
        self.state.freedoms = copy.deepcopy(state.freedoms)
        self.state.distance = copy.deepcopy(state.distance)
        self.state.effects = dict(state.effects)
        self.facts.cone, self.facts.break_force, self.facts.break_torque = state.allowed


def _half_sines(angles: list[float], is_locked: list[bool]) -> list[float]:
    """Twice the arc sines of the quaternion of Rz * Ry * Rx. Angles in rad; a locked component is taken out."""
    x, y, z = (np.array((math.cos(angle / 2.0), math.sin(angle / 2.0))) for angle in angles)
    w = x[0] * y[0] * z[0] + x[1] * y[1] * z[1]
    sines = np.array((
        x[1] * y[0] * z[0] - x[0] * y[1] * z[1],
        x[0] * y[1] * z[0] + x[1] * y[0] * z[1],
        x[0] * y[0] * z[1] - x[1] * y[1] * z[0],
    ))  # fmt: skip
    if w < 0.0:
        w, sines = -w, -sines
    if is_locked[0]:
        # Without the twist that is left of X, as PhysX does; the length stays one.
        cosine, sine = np.array((w, sines[0])) / max(math.hypot(w, sines[0]), 1e-12)
        _, b, c = sines
        sines = np.array((0.0, cosine * b + sine * c, cosine * c - sine * b))
    sines[is_locked] = 0.0
    return [2.0 * math.asin(min(max(float(part), -1.0), 1.0)) for part in sines]


def _point(frame: Matrix) -> tuple[float, float, float]:
    x, y, z = frame[:3, 3].tolist()
    return x, y, z


def _quaternion(pose: Isometry3) -> tuple[float, float, float, float]:
    x, y, z, w = pose.rotation.quaternion
    return w, x, y, z


def _product(
    first: tuple[float, float, float, float], second: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    a, b, c, d = first
    w, x, y, z = second
    return (
        a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w,
    )  # fmt: skip


def _bounded(value: float) -> float:
    return min(max(value, -NO_LIMIT), NO_LIMIT)


def _middle(freedom: Freedom) -> float:
    """The middle of the limits of a hinge that has both, else zero."""
    if freedom.is_limited and abs(freedom.low) < NO_LIMIT and abs(freedom.high) < NO_LIMIT:
        return (freedom.low + freedom.high) / 2.0
    return 0.0
