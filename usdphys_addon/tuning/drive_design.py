# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains of a drive from the inertia that it moves and the load that it holds. Independent of the solver.

All other joints are taken as rigid, as they are if drives hold them too.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..core import mass
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..simulation.joint_facts import JointFacts, read_joints
from ..simulation.layout import Layout, layout
from ..simulation.notices import Notices

#: A motion has settled when this part of it, or less, is left.
SETTLED = 0.02
#: Largest sag of a position under gravity, as a part of the reach; largest error of a velocity, as a part of it.
SAG = 0.005
SLIP = 0.01
#: Settling time of a critically damped oscillator, times its angular frequency: (1 + t) exp(-t) = SETTLED.
_CRITICAL = 5.8339
_DECAY = -math.log(SETTLED)


@dataclass(frozen=True, slots=True)
class Task:
    """What a drive has to move and to hold.

    inertia: kg or kg m2, along or about the axis of the degree of freedom. load: largest force (N) or torque (N m) of
    gravity in any position. reach: distance of the farthest moved point from the axis, m; 1 m if it has no geometry.
    """

    inertia: float
    load: float
    reach: float
    is_angular: bool


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of a force drive, SI and radians. settling: s. sag: largest error by gravity: m, rad, or of a velocity."""

    stiffness: float
    damping: float
    settling: float
    sag: float


def position_gains(task: Task, settling: float, sag: float = SAG) -> Gains:
    """Gains that reach a position within `settling` seconds without overshoot, and sag by a part of the reach."""
    span = 1.0 if task.is_angular else task.reach
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


# --------------------------------------------------------------------------- what hangs on a joint


@dataclass(slots=True)
class _Side:
    """Bodies that move as one: mass (kg), centre (3,), m, inertia (3, 3) about it, kg m2, in the world."""

    mass: float
    center: Matrix
    inertia: Matrix
    points: Matrix


def tasks_of(model: PhysicsModel, wanted: dict[str, str]) -> dict[str, Task]:
    """The task of each drive. wanted: degree of freedom by path of the joint. A joint that cannot be simulated, or
    whose drive can move nothing, is not in the result."""
    found = layout(model, Notices())
    joints = read_joints(found, Notices())
    weighed = mass.colliders_by_body(model)
    result = {}
    for joint in joints:
        dof = wanted.get(joint.path)
        if dof is not None and dof in joint.names:
            task = _task(found, weighed, joints, joint, joint.names[dof])
            if task is not None:
                result[joint.path] = task
    return result


def task_of(model: PhysicsModel, path: str, dof: str) -> Task:
    """The task of one drive. Raises InputError if the joint moves no body that has a mass."""
    task = tasks_of(model, {path: dof}).get(path)
    if task is None:
        prim = model.prims[path]
        raise InputError(f"{prim.display} moves no rigid body with a mass; look at the checks.")
    return task


def _task(
    found: Layout, weighed: dict[str, list[Prim]], joints: list[JointFacts], joint: JointFacts, axis: int
) -> Task | None:  # fmt: skip
    """weighed: the colliders that give each body its mass."""
    groups = [_group(found, joints, joint, body) for body in (joint.body0, joint.body1)]
    if groups[0] and groups[0] & groups[1]:
        # A loop: the bodies beside the joint stand for it.
        groups = [{joint.body0}, {joint.body1}]
    sides = [_side(found, weighed, group) if _is_free(found, joints, joint, group) else None for group in groups]
    frame = joint.frame0 if not joint.body0 else found.bodies[joint.body0].pose @ joint.frame0
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
    gravity = found.gravity.get(joint.scene, next(iter(found.gravity.values())))
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
    return Task(inertia, load if load > least else 0.0, reach or 1.0, is_angular)


def _group(found: Layout, joints: list[JointFacts], without: JointFacts, start: str) -> set[str]:
    """Bodies that joints connect to one, without a joint and without going through kinematic bodies."""
    if not start or found.bodies[start].is_kinematic:
        return {start} - {""}
    at: dict[str, list[JointFacts]] = defaultdict(list)
    for joint in joints:
        if joint is not without and joint.enabled:
            at[joint.body0].append(joint)
            at[joint.body1].append(joint)
    reached, stack = {start}, [start]
    while stack:
        for joint in at[stack.pop()]:
            for path in (joint.body0, joint.body1):
                if path and path not in reached and not found.bodies[path].is_kinematic:
                    reached.add(path)
                    stack.append(path)
    return reached


def _is_free(found: Layout, joints: list[JointFacts], without: JointFacts, group: set[str]) -> bool:
    """False for bodies that a joint ties to the world, to a static collider or to a kinematic body, or for none."""
    if not group or any(found.bodies[path].is_kinematic for path in group):
        return False
    for joint in joints:
        ends = {joint.body0, joint.body1}
        if joint is without or not joint.enabled or not ends & group:
            continue
        other = ends - group
        if other and any(not path or found.bodies[path].is_kinematic for path in other):
            return False
    return True


def _side(found: Layout, weighed: dict[str, list[Prim]], group: set[str]) -> _Side:
    weights, centers, tensors, points = [], [], [], []
    for path in sorted(group):
        body = found.bodies[path]
        own = mass.mass_properties(found.model, path, weighed[path])
        weights.append(own.mass)
        centers.append(body.position + body.rotation @ np.asarray(own.center_of_mass))
        tensors.append(body.rotation @ own.inertia @ body.rotation.T)
        points.append(centers[-1])
        for prim in body.colliders:
            points += _corners(found, prim)
    total = sum(weights)
    if not total > 0.0:
        return _Side(0.0, np.zeros(3), np.zeros((3, 3)), np.zeros((0, 3)))
    center = np.average(centers, axis=0, weights=weights)
    inertia = sum(
        mass.translated(tensor, weight, middle - center)
        for tensor, weight, middle in zip(tensors, weights, centers, strict=True)
    )
    return _Side(total, center, np.asarray(inertia), np.array(points))


def _corners(found: Layout, prim: Prim) -> list[Matrix]:
    """Corners in the world of the box that has the moments of a collider."""
    shape, place = mass.collider_shape(prim), found.places[prim.path]
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
