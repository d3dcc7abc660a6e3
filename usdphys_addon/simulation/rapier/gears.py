# SPDX-License-Identifier: GPL-3.0-or-later
"""Gears, racks and pinions: the solver has no such row, so both joints get a force before each of its steps.

The force is the one that makes their speeds agree at the end of the step, and a fifth of what their places are apart.
Both joints feel it, so that momentum and load go from one to the other. The forces of gears that share a joint, as of
planets around a sun, depend on each other, and come from one system of equations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core.joint_settings import Gearing, gearing_of
from ...core.model import PhysicsModel
from ...core.ties import Ties
from ..weights import Weight
from .constraints import Constraint, matrix_of
from .joint_effects import Look

#: Share of the difference of places that is taken back in a step.
_BACK = 0.2


class _Side:
    """One joint of a gear. factor: of its place in the equation whose sum stays."""

    def __init__(self, constraint: Constraint, axis: int, factor: float) -> None:
        self.constraint, self.axis, self.factor = constraint, axis, factor
        self.last: float | None = None
        #: Way since the start, m, or rad beyond half a turn.
        self.way = 0.0

    def look(self, physics: PhysicsWorld) -> None:
        """Note where the joint is."""
        place = Look(self.constraint, physics).place(self.axis)
        change = 0.0 if self.last is None else place - self.last
        self.way += change if self.axis < 3 else math.remainder(change, 2.0 * math.pi)
        self.last = place

    def speed(self, physics: PhysicsWorld) -> float:
        return Look(self.constraint, physics).speed(self.axis)

    def inertia(self, physics: PhysicsWorld, weights: Mapping[str, Weight]) -> float:
        """What hangs on the joint, kg or kg m2; infinite where nothing of it moves."""
        world, facts = self.constraint.frames(physics)[0], self.constraint.facts
        axis, anchor, inverse = world[:3, self.axis % 3], world[:3, 3], 0.0
        for path, handle in zip((facts.body0, facts.body1), self.constraint.handles, strict=True):
            body, weight = physics.rigid_bodies[handle], weights.get(path)
            if weight is None or not body.is_dynamic:
                continue
            if self.axis < 3:
                inverse += 1.0 / weight.mass
                continue
            pose = matrix_of(body.position)
            along = pose[:3, :3].T @ axis
            arm = np.cross(pose[:3, :3] @ np.array(weight.center) + pose[:3, 3] - anchor, axis)
            inverse += 1.0 / (float(along @ weight.inertia @ along) + weight.mass * float(arm @ arm))
        return 1.0 / inverse if inverse > 0.0 else math.inf

    @property
    def key(self) -> tuple[str, int]:
        """The same for the sides of all gears at a joint."""
        return self.constraint.facts.path, self.axis

    def pulled(self, physics: PhysicsWorld, weights: Mapping[str, Weight], inertia: float) -> float:
        """Acceleration by gravity, m/s2 or rad/s2, of a joint with what does not move."""
        facts = self.constraint.facts
        sides = [(sign, weight, physics.rigid_bodies[handle]) for sign, path, handle in
                 zip((-1.0, 1.0), (facts.body0, facts.body1), self.constraint.handles, strict=True)
                 if (weight := weights.get(path)) is not None]  # fmt: skip
        if len(sides) != 1 or not sides[0][2].is_dynamic:
            return 0.0
        ((sign, weight, body),) = sides
        frame = self.constraint.frames(physics)[0]
        axis, down = frame[:3, self.axis % 3], np.array(physics.gravity.to_tuple()) * body.gravity_scale
        if self.axis < 3:
            return sign * float(down @ axis)
        arm = np.array(body.center_of_mass.to_tuple()) - frame[:3, 3]
        return sign * weight.mass * float(np.cross(arm, down) @ axis) / inertia

    def rests(self, physics: PhysicsWorld) -> bool:
        """True if nothing at the joint is awake."""
        bodies = (physics.rigid_bodies[handle] for handle in self.constraint.handles)
        return not any(body.is_dynamic and not body.is_sleeping for body in bodies)

    def held(self, inertia: float, seconds: float) -> tuple[float, float]:
        """(inertia with what the drive adds to it in a step, largest impulse of the drive)."""
        drive = self.constraint.state.freedoms[self.axis].drive
        if drive is None or drive.stiffness == drive.damping == 0.0:
            return inertia, 0.0
        added = drive.damping * seconds + drive.stiffness * seconds**2
        return inertia + added * (inertia if drive.acceleration else 1.0), drive.max_force * seconds

    def push(self, physics: PhysicsWorld, force: float) -> None:
        """Push body 1 away from body 0 along the degree of freedom, in the next step."""
        axis = self.constraint.frames(physics)[0][:3, self.axis % 3]
        for sign, handle in zip((-1.0, 1.0), self.constraint.handles, strict=True):
            body = physics.rigid_bodies[handle]
            value: Any = tuple((sign * force * axis).tolist())
            if body.is_dynamic:
                (body.add_force if self.axis < 3 else body.add_torque)(value, True)

    def release(self, physics: PhysicsWorld) -> None:
        for handle in self.constraint.handles:
            body = physics.rigid_bodies[handle]
            if body.is_dynamic:
                (body.reset_forces if self.axis < 3 else body.reset_torques)(False)


class Gear:
    """Two joints whose ways depend on each other."""

    def __init__(self, gearing: Gearing, sides: tuple[_Side, _Side]) -> None:
        self.gearing, self.sides = gearing, sides

    @property
    def bodies(self) -> tuple[str, str]:
        """Paths of the two bodies that mesh; they do not collide."""
        return self.gearing.bodies

    def look(self, physics: PhysicsWorld) -> bool:
        """Note where the joints are. True if both hold."""
        for side in self.sides:
            side.look(physics)
        return all(side.constraint.active for side in self.sides)

    def release(self, physics: PhysicsWorld) -> None:
        """Take the forces back after the step."""
        for side in self.sides:
            side.release(physics)


class Train:
    """Gears that share joints."""

    def __init__(self, gears: Sequence[Gear]) -> None:
        self._gears = gears

    def push(self, physics: PhysicsWorld, weights: Mapping[str, Weight], seconds: float) -> None:
        """Push all joints in the next step of the solver, which takes so long."""
        gears = [gear for gear in self._gears if gear.look(physics)]
        joints = {side.key: side for gear in gears for side in gear.sides}
        if all(side.rests(physics) for side in joints.values()):
            return
        columns = {key: column for column, key in enumerate(joints)}
        factors, ways = np.zeros((len(gears), len(joints))), np.zeros(len(gears))
        for row, gear in enumerate(gears):
            for side in gear.sides:
                factors[row, columns[side.key]] += side.factor
                ways[row] += side.factor * side.way
        inertias = [side.inertia(physics, weights) for side in joints.values()]
        speeds = [side.speed(physics) + seconds * side.pulled(physics, weights, inertia)
                  for side, inertia in zip(joints.values(), inertias, strict=True)]  # fmt: skip
        held = [side.held(inertia, seconds) for side, inertia in zip(joints.values(), inertias, strict=True)]
        wanted = factors @ speeds + _BACK * ways / seconds
        if np.abs(wanted).max() < 1e-9:
            return
        # A drive takes up what it can; beyond that the joint is as light as it is.
        free, driven = (
            np.linalg.lstsq((factors / moved) @ factors.T, wanted, rcond=None)[0]
            for moved in (np.array(inertias), np.array([with_drive for with_drive, _ in held]))
        )
        impulses = np.array([impulse for _, impulse in held])
        most = np.abs(free) + np.divide(
            impulses, np.abs(factors), out=np.zeros_like(factors), where=factors != 0.0
        ).sum(1)
        pushes = -np.clip(driven, -most, most) @ factors / seconds
        for side, force in zip(joints.values(), pushes.tolist(), strict=True):
            side.push(physics, force)

    def release(self, physics: PhysicsWorld) -> None:
        """Take the forces back after the step."""
        for gear in self._gears:
            gear.release(physics)


def trains_of(gears: Sequence[Gear]) -> list[Train]:
    """The gears in groups, each of which shares no joint with the others."""
    ties = Ties()
    for gear in gears:
        ties.tie([side.key[0] for side in gear.sides])
    groups: dict[str, list[Gear]] = {}
    for gear in gears:
        groups.setdefault(ties.root(gear.sides[0].key[0]), []).append(gear)
    return [Train(group) for group in groups.values()]


def gears_of(model: PhysicsModel, constraints: Iterable[Constraint]) -> tuple[list[Gear], list[tuple[str, str]]]:
    """(gears of a world, (path, reason) of those that do nothing)."""
    by_path = {constraint.facts.path: constraint for constraint in constraints}
    gears, idle = [], []
    for path, prim in model.prims.items():
        gearing = gearing_of(prim)
        if gearing is None or not gearing.is_enabled:
            continue
        sides = []
        for joint, body, factor, kind in zip(
            gearing.joints, gearing.bodies, gearing.factors, gearing.axes, strict=True
        ):
            constraint = by_path.get(joint)
            free = [] if constraint is None else [
                axis for axis, freedom in enumerate(constraint.state.freedoms) if not freedom.is_locked
            ]  # fmt: skip
            if constraint is None or free != [kind] or factor == 0.0:
                break
            facts = constraint.facts
            moving = body or facts.body1 or facts.body0
            if moving not in (facts.body0, facts.body1) or not moving:
                break
            sides.append(_Side(constraint, kind, factor if moving == facts.body1 else -factor))
        if len(sides) == 2:
            gears.append(Gear(gearing, (sides[0], sides[1])))
        else:
            idle.append((path, gearing.needs))
    return gears, idle
