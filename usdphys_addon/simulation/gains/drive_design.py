# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains of a drive from the inertia that it moves and the load that it holds. Independent of the solver.

All other joints are taken as rigid, as they are if drives hold them too.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...core import mass, stacks
from ...core.errors import InputError
from ...core.frames import Matrix
from ...core.model import PhysicsModel, Prim
from .. import hanging
from ..joint_facts import Drive, JointFacts, read_joints
from ..layout import Layout, layout
from ..notices import Notices
from . import arm_motion
from .arm_motion import SETTLED, Arm

#: Largest sag of a position under gravity, as a part of the reach; largest error of a velocity, as a part of it.
SAG = 0.005
SLIP = 0.01
#: Settling time of a critically damped oscillator, times its angular frequency: (1 + t) exp(-t) = SETTLED.
_CRITICAL = 5.8339
_DECAY = -math.log(SETTLED)
#: Joints that move bodies in common have this damping / stiffness, as a part of the settling time, and at least this
#: damping ratio: every motion of theirs is overdamped and takes 0.85 to 1.1 of the settling time.
_COMMON, _OVERDAMPED = 0.28, 1.1


@dataclass(frozen=True, slots=True)
class Task:
    """What a drive has to move and to hold.

    inertia: kg or kg m2, along or about the axis of the degree of freedom, with its armature. load: largest force (N)
    or torque (N m) of gravity in any position. reach: distance of the farthest moved point from the axis, m; 1 m if it
    has no geometry. coupling: how much more inertia it has where all joints move that hold a position and bodies in
    common. count: of these joints.
    """

    inertia: float
    load: float
    reach: float
    is_angular: bool
    coupling: float = 1.0
    count: int = 1

    @property
    def sag(self) -> float:
        """Largest sag of a position, as a part of the reach. The sag of all hinges adds up at the tip: for equal parts
        to (count + 1) / 2 times that of one."""
        return SAG * 2.0 / (self.count + 1)


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of a force drive, SI and radians. settling: s. sag: largest error by gravity: m, rad, or of a velocity."""

    stiffness: float
    damping: float
    settling: float
    sag: float


def position_gains(task: Task, settling: float) -> Gains:
    """Gains that reach a position within `settling` seconds without overshoot, and sag by a part of the reach."""
    sag = task.sag
    span = 1.0 if task.is_angular else task.reach
    if task.coupling > 1.0:
        rate = 2.0 * _OVERDAMPED / (_COMMON * settling)
        stiffness = max(task.coupling * task.inertia * rate**2, task.load / (sag * span))
        return Gains(stiffness, _COMMON * settling * stiffness, settling, task.load / stiffness)
    stiffness = max(task.inertia * (_CRITICAL / settling) ** 2, task.load / (sag * span))
    rate = math.sqrt(stiffness / task.inertia)
    damping = 2.0 * damping_ratio(settling * rate) * stiffness / rate
    return Gains(stiffness, damping, settling, task.load / stiffness)


def velocity_gains(task: Task, speed: float, settling: float) -> Gains:
    """A damping that reaches a velocity within `settling` seconds, sooner if a load would slow it down by more than
    SLIP. speed: rad/s or m/s; a brake (0) may creep through SLIP of a radian or of the reach per second."""
    span = abs(speed) or (1.0 if task.is_angular else task.reach)
    damping = max(task.inertia * _DECAY / settling, task.load / (SLIP * span))
    return Gains(0.0, damping, task.inertia * _DECAY / damping, task.load / damping)


def damping_ratio(scaled: float) -> float:
    """Damping ratio, 1 or more, whose settling time is `scaled` / (angular frequency of the undamped oscillator)."""
    low, high = 1.0, max(1.0, scaled)
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _settling(middle) < scaled else (low, middle)
    return (low + high) / 2.0


def _settling(ratio: float) -> float:
    """Settling time of an overdamped oscillator of angular frequency 1, from rest."""
    if ratio < 1.0 + 1e-9:
        return _CRITICAL
    root = math.sqrt(ratio * ratio - 1.0)
    # The difference of two large numbers, without cancellation.
    slow, fast = 1.0 / (ratio + root), ratio + root
    low, high = 0.0, 2.0 * _DECAY / slow
    for _ in range(60):
        time = (low + high) / 2.0
        left = (fast * math.exp(-slow * time) - slow * math.exp(-fast * time)) / (fast - slow)
        low, high = (time, high) if left > SETTLED else (low, time)
    return low


class Fit(NamedTuple):
    """How an arm is fitted to PhysX. armatures: what joints get in addition to the armature that they have, by path, kg
    m2 or kg. iterations: position iterations of the articulation. motion: what PhysX makes of both. keeps: True if
    the motion is as good as was asked for."""

    armatures: dict[str, float]
    iterations: int
    motion: arm_motion.Motion
    keeps: bool


def fit(
    arm: Arm, tasks: Mapping[str, Task], settling: float, latest: float, *,
    may_add: bool = True, least: int = arm_motion.ITERATIONS,
) -> Fit:  # fmt: skip
    """The fewest position iterations with which an arm sags by less than `arm_motion.ARM_SAG` and each joint settles
    before `latest` (s). Where no number of them is enough, or where masses are too different for the preview, the
    smallest armature with which one is; where no armature is enough, none, and the most iterations.

    tasks: of the joints of the arm that may get an armature; their gains are those for `settling` (s). may_add: False
    for no armature. least: position iterations that the articulation has at least.
    """

    def with_iterations(one: Arm, armatures: dict[str, float]) -> Fit:
        iterations, motion = arm_motion.iterations_for(one, arm_motion.ARM_SAG, latest, least)
        return Fit(armatures, iterations, motion, motion.sag <= arm_motion.ARM_SAG and motion.settling <= latest)

    plain = with_iterations(arm, {})
    # The preview holds an arm only in reduced coordinates.
    if (plain.keeps and arm.ratio <= hanging.BEARABLE_REDUCED) or not may_add:
        return plain
    for part in arm_motion.ARMATURES:
        added = _armatures(arm, tasks, part)
        fitted = with_iterations(_with_armatures(arm, tasks, added, settling), added)
        if fitted.keeps:
            return fitted
    return plain


def _armatures(arm: Arm, tasks: Mapping[str, Task], part: float) -> dict[str, float]:
    """By path of the joints that may change: a part of the largest inertia of those that turn, or that slide."""
    own = dict(zip(arm.joints, np.diag(arm.inertia), strict=True))
    return {
        path: part * max(float(own[other]) for other, one in tasks.items() if one.is_angular == task.is_angular)
        for path, task in tasks.items()
    }


def _with_armatures(arm: Arm, tasks: Mapping[str, Task], added: Mapping[str, float], settling: float) -> Arm:
    """An arm whose joints have more armature, and the gains for it."""
    heavier = replace(arm, inertia=arm.inertia + np.diag([added.get(path, 0.0) for path in arm.joints]))
    stiffness, damping, coupling = arm.stiffness.copy(), arm.damping.copy(), heavier.coupling
    for path, task in tasks.items():
        number = arm.joints.index(path)
        task = replace(task, inertia=task.inertia + added[path], coupling=coupling)
        gains = position_gains(task, settling)
        stiffness[number], damping[number] = gains.stiffness, gains.damping
    return replace(heavier, stiffness=stiffness, damping=damping)


# --------------------------------------------------------------------------- what hangs on a joint


@dataclass(slots=True)
class _Side:
    """Bodies that move as one: mass (kg), centre (3,), m, inertia (3, 3) about it, kg m2, in the world."""

    mass: float
    center: Matrix
    inertia: Matrix
    points: Matrix


class _Scene:
    """What the tasks of a model's drives are computed from."""

    def __init__(self, model: PhysicsModel) -> None:
        # Of the joints of a stack each moves what is behind it.
        model, _ = stacks.chained(model)
        self.found = layout(model, Notices())
        self.joints = read_joints(self.found, Notices())
        #: The colliders that give each body its mass.
        self.weighed = mass.colliders_by_body(model)
        self._bodies: dict[str, _Side] = {}
        self._sides: dict[str, _Sides] = {}
        #: The enabled joints at each body.
        self._at: dict[str, list[JointFacts]] = defaultdict(list)
        for joint in self.joints:
            if joint.enabled:
                for path in {joint.body0, joint.body1}:
                    self._at[path].append(joint)

    def body(self, path: str) -> _Side:
        """A body alone."""
        if path not in self._bodies:
            body = self.found.bodies[path]
            own = mass.mass_properties(self.found.model, path, self.weighed[path])
            center = body.position + body.rotation @ np.asarray(own.center_of_mass)
            points = [center, *itertools.chain.from_iterable(_corners(self.found, prim) for prim in body.colliders)]
            self._bodies[path] = _Side(
                own.mass, center, body.rotation @ own.inertia @ body.rotation.T, np.array(points)
            )  # fmt: skip
        return self._bodies[path]

    def side(self, group: set[str]) -> _Side:
        """Bodies that move as one."""
        bodies = [self.body(path) for path in sorted(group)]
        weights = [body.mass for body in bodies]
        total = sum(weights)
        if not total > 0.0:
            return _Side(0.0, np.zeros(3), np.zeros((3, 3)), np.zeros((0, 3)))
        center = np.average([body.center for body in bodies], axis=0, weights=weights)
        inertia = sum(mass.translated(body.inertia, body.mass, body.center - center) for body in bodies)
        return _Side(total, center, np.asarray(inertia), np.concatenate([body.points for body in bodies]))

    def sides(self, joint: JointFacts) -> _Sides:
        """What moves on both sides of a joint while all others hold."""
        if joint.path not in self._sides:
            groups = [self._group(joint, body) for body in (joint.body0, joint.body1)]
            if groups[0] and groups[0] & groups[1]:
                # A loop: the bodies beside the joint stand for it.
                groups = [{joint.body0}, {joint.body1}]
            held = [self.side(group) if self._is_free(joint, group) else None for group in groups]
            self._sides[joint.path] = _Sides(groups, held)
        return self._sides[joint.path]

    def _is_fixed(self, path: str) -> bool:
        """True for the world and static colliders, and for a kinematic body."""
        return not path or self.found.bodies[path].is_kinematic

    def _group(self, without: JointFacts, start: str) -> set[str]:
        """Bodies that joints connect to one, without a joint and without going through kinematic bodies."""
        reached, stack = {start} - {""}, [start]
        while stack:
            path = stack.pop()
            if self._is_fixed(path):
                continue
            for joint in self._at[path]:
                if joint is not without:
                    new = {joint.body0, joint.body1} - reached
                    new = {other for other in new if not self._is_fixed(other)}
                    reached |= new
                    stack += new
        return reached

    def _is_free(self, without: JointFacts, group: set[str]) -> bool:
        """False for bodies that a joint ties to the world, to a static collider or to a kinematic body, and for
        none."""
        if not group or any(map(self._is_fixed, group)):
            return False
        return not any(
            self._is_fixed(end)
            for path in group for joint in self._at[path] if joint is not without
            for end in (joint.body0, joint.body1)
        )  # fmt: skip


class _Sides(NamedTuple):
    """groups: the bodies on both sides of a joint. moved: these as one, None for a side that is held."""

    groups: list[set[str]]
    moved: list[_Side | None]


@dataclass(frozen=True, slots=True)
class _Moved:
    """A degree of freedom that a drive moves. direction, place: (3,), of its axis in the world. bodies: those that move
    if all other joints hold, by `sign` along or about the axis."""

    joint: JointFacts
    axis: int
    direction: Matrix
    place: Matrix
    bodies: frozenset[str]
    sign: float

    @property
    def is_angular(self) -> bool:
        return 3 <= self.axis < 6

    def motion(self, points: Matrix) -> Matrix:
        """Velocities (..., 3) of points (..., 3) of its bodies for a speed of 1."""
        if self.is_angular:
            return np.asarray(self.sign * np.cross(self.direction, points - self.place))
        return np.broadcast_to(self.sign * self.direction, points.shape)

    def spin(self) -> Matrix:
        return self.sign * self.direction if self.is_angular else np.zeros(3)


def tasks_of(model: PhysicsModel, wanted: Mapping[str, str], *, holds: bool = True) -> dict[str, Task]:
    """The task of each drive. wanted: degree of freedom by path of the joint. holds: False for velocities, which do not
    depend on other joints. A joint that cannot be simulated, or whose drive can move nothing, is not in the result."""
    scene = _Scene(model)
    shared: dict[str, tuple[float, int]] = {}
    for arm in _arms(scene, wanted) if holds else []:
        shared.update(dict.fromkeys(arm.joints, (arm.coupling, len(arm.joints))))
    result = {}
    for joint in scene.joints:
        dof = wanted.get(joint.path)
        if dof is not None and dof in joint.names:
            task = _task(scene, joint, joint.names[dof])
            if task is not None:
                coupling, count = shared.get(joint.path, (1.0, 1))
                result[joint.path] = replace(task, coupling=coupling, count=count)
    return result


def task_of(model: PhysicsModel, path: str, dof: str) -> Task:
    """The task of one drive. Raises InputError if the joint moves no body that has a mass."""
    task = tasks_of(model, {path: dof}).get(path)
    if task is None:
        prim = model.prims[path]
        raise InputError(f"{prim.display} moves no rigid body with a mass; look at the checks.")
    return task


def arms_of(model: PhysicsModel) -> list[Arm]:
    """The arms of a model: two joints or more whose drives hold positions of bodies in common."""
    return _arms(_Scene(model), {})


def _arms(scene: _Scene, wanted: Mapping[str, str]) -> list[Arm]:
    """wanted: degree of freedom by path of further joints that are to hold positions."""
    moved: list[_Moved] = []
    for joint in scene.joints:
        axis = joint.names.get(wanted.get(joint.path, ""))
        if axis is None:
            held = (at for at, each in enumerate(joint.freedoms) if each.drive is not None and each.drive.stiffness > 0)
            axis = next(held, None)
        if axis is not None and axis < 6 and joint.enabled:
            moved_bodies = _moved(scene, joint, axis)
            if moved_bodies is not None:
                moved.append(moved_bodies)
    moved.sort(key=lambda each: -len(each.bodies))
    # Joints that move a body in common are of one arm.
    arms: dict[str, list[_Moved]] = {}
    for each in moved:
        shared = list({id(arm): arm for path in each.bodies if (arm := arms.get(path)) is not None}.values())
        whole = shared[0] if shared else []
        for other in shared[1:]:
            whole += other
            arms.update(dict.fromkeys((path for one in other for path in one.bodies), whole))
        whole.append(each)
        arms.update(dict.fromkeys(each.bodies, whole))
    different = list({id(arm): arm for arm in arms.values()}.values())
    return [_arm(scene, sorted(arm, key=lambda each: -len(each.bodies))) for arm in different if len(arm) > 1]


def _moved(scene: _Scene, joint: JointFacts, axis: int) -> _Moved | None:
    groups, sides = scene.sides(joint)
    moved = [(side.mass, number) for number, side in enumerate(sides) if side is not None]
    if not moved or not min(moved)[0] > 0.0:
        return None
    number = min(moved)[1]
    frame = _frame(scene.found, joint)
    return _Moved(
        joint, axis, frame[:3, axis % 3], frame[:3, 3], frozenset(groups[number]), 1.0 if number else -1.0
    )  # fmt: skip


def _arm(scene: _Scene, moved: list[_Moved]) -> Arm:
    count, first = len(moved), moved[0]
    gravity = _gravity(scene.found, first.joint)
    bodies = {path: scene.body(path) for each in moved for path in each.bodies}
    if first.is_angular:
        total = sum(bodies[path].mass for path in first.bodies)
        center = sum(bodies[path].mass * bodies[path].center for path in first.bodies) / total
        # The first joint may turn until gravity acts on it most.
        way = np.cross(first.direction, center - first.place)
        along = first.direction * (gravity @ first.direction)
        if np.linalg.norm(way) > 0.0:
            gravity = along + way / np.linalg.norm(way) * np.linalg.norm(gravity - along)
    masses = np.array([body.mass for body in bodies.values()])
    # Joint by body: does it move it, and how fast does the centre of the body move and the body turn.
    moves = np.array([[float(path in each.bodies) for path in bodies] for each in moved])
    centers = np.array([body.center for body in bodies.values()])
    speeds = moves[:, :, None] * np.array([each.motion(centers) for each in moved])
    spins = moves[:, :, None] * np.array([each.spin() for each in moved])[:, None]
    momenta = np.einsum("jbk,bkl->jbl", spins, np.array([body.inertia for body in bodies.values()]))
    inertia = np.tensordot(masses[:, None] * speeds, speeds, ((1, 2), (1, 2)))
    inertia += np.tensordot(momenta, spins, ((1, 2), (1, 2)))
    load = (masses[:, None] * speeds).sum(axis=1) @ gravity
    farthest, reach, end = first.place, 0.0, ""
    for path in sorted(first.bodies):
        points = bodies[path].points
        away = np.linalg.norm(points - first.place, axis=1)
        if len(away) and away.max() > reach:
            reach, farthest, end = float(away.max()), points[away.argmax()], path
    levers = np.array([each.motion(farthest) if end in each.bodies else np.zeros(3) for each in moved])
    inertia += np.diag([_armature(each.joint, each.axis) for each in moved])
    drives = [each.joint.freedoms[each.axis].drive or Drive() for each in moved]
    ends = [(each.joint.body0, each.joint.body1) for each in moved]
    # A body without extent still has some inertia.
    least = 1e-9 * max(float(np.trace(inertia)), 1e-9)
    return Arm(
        tuple(each.joint.path for each in moved), inertia + least * np.eye(count), load, levers, reach or 1.0,
        np.array([drive.stiffness for drive in drives]), np.array([drive.damping for drive in drives]),
        max(group.ratio for group in hanging.hanging(ends, {path: body.mass for path, body in bodies.items()})),
    )  # fmt: skip


def _armature(joint: JointFacts, axis: int) -> float:
    """Inertia of a degree of freedom alone, such as that of its motor."""
    return joint.freedoms[axis].settings.armature if axis < len(joint.freedoms) else 0.0


def _frame(found: Layout, joint: JointFacts) -> Matrix:
    """Joint frame in the world."""
    return joint.frame0 if not joint.body0 else found.bodies[joint.body0].pose @ joint.frame0


def _gravity(found: Layout, joint: JointFacts) -> Matrix:
    return found.gravity.get(joint.scene, next(iter(found.gravity.values())))


def _task(scene: _Scene, joint: JointFacts, axis: int) -> Task | None:
    sides = scene.sides(joint).moved
    frame = _frame(scene.found, joint)
    direction, place = frame[:3, axis % 3] if axis < 6 else frame[:3, 0], frame[:3, 3]
    is_angular = 3 <= axis < 6
    moved = [side for side in sides if side is not None]
    if not moved or any(not side.mass > 0.0 for side in moved):
        return None
    inertia = _effective(sides, frame, axis if axis < 6 else 0)
    if not 0.0 < inertia < math.inf:
        return None
    # The lighter side moves, the other one stands.
    side = min(moved, key=lambda each: each.mass)
    gravity = _gravity(scene.found, joint)
    arm = side.center - place
    if is_angular:
        across = np.linalg.norm(arm - direction * (arm @ direction))
        load = side.mass * float(across * np.linalg.norm(np.cross(direction, gravity)))
    else:
        load = side.mass * abs(float(gravity @ direction))
    away = side.points - place
    if is_angular:
        away = away - np.outer(away @ direction, direction)
        reach = float(np.linalg.norm(away, axis=1).max(initial=0.0))
    else:
        reach = float(np.ptp(side.points @ direction)) if len(side.points) else 0.0
    # Rounding of 32-bit places is no load.
    least = 1e-4 * side.mass * float(np.linalg.norm(gravity)) * (reach or 1.0)
    inertia += _armature(joint, axis)
    return Task(inertia, load if load > least else 0.0, reach or 1.0, is_angular)


def _corners(found: Layout, prim: Prim) -> list[Matrix]:
    """Corners in the world of the box that has the moments of a collider."""
    shape, place = mass.collider_shape(prim), found.places.of(prim)
    if not shape.volume > 0.0:
        return [place.position]
    moments, axes = np.linalg.eigh(shape.inertia / shape.volume)
    half = np.sqrt(np.maximum(moments.sum() / 2.0 - moments, 0.0) * 3.0)
    center = place.position + place.rotation @ shape.center
    return [center + place.rotation @ axes @ (half * signs) for signs in itertools.product((-1.0, 1.0), repeat=3)]


def _effective(sides: list[_Side | None], frame: Matrix, axis: int) -> float:
    """Inertia (kg or kg m2) against a relative acceleration of two bodies in one degree of freedom, the others locked.

    None stands for the world. From the equations of motion with constraints: 1 / (J W J' - J W A' (A W A')^-1 A W J').
    """
    place, turn = frame[:3, 3], frame[:3, :3]
    spread = np.zeros((6, 6))
    for side in sides:
        if side is None:
            continue
        # Twist of the frame per wrench at the frame: the mobility of the body.
        arm = place - side.center
        cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
        # A body without extent about an axis still has some inertia.
        least = np.eye(3) * 1e-9 * max(float(np.trace(side.inertia)), side.mass * 1e-9)
        compliance = np.linalg.inv(side.inertia + least)
        mobility = np.zeros((6, 6))
        mobility[:3, :3] = np.eye(3) / side.mass - cross @ compliance @ cross
        mobility[:3, 3:] = -cross @ compliance
        mobility[3:, :3] = mobility[:3, 3:].T
        mobility[3:, 3:] = compliance
        spread += mobility
    both = np.zeros((6, 6))
    both[:3, :3] = both[3:, 3:] = turn
    spread = both.T @ spread @ both
    # The inverse of the mobility is the inertia with all other degrees of freedom locked.
    return float(np.linalg.inv(spread)[axis, axis])
