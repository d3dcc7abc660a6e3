# SPDX-License-Identifier: GPL-3.0-or-later
"""Gears, racks and pinions: the solver has no such row, so both joints get a force before each of its steps.

The force is the one that makes their speeds agree at once, and a fifth of what their places are apart. Both joints feel
it, so that momentum and load go from one to the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core.joint_settings import Gearing, gearing_of
from ...core.model import PhysicsModel
from ..weights import Weight
from .constraints import Constraint, matrix_of
from .joint_effects import speed_of, where_is

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
        place = where_is(self.constraint, physics, self.axis)
        change = 0.0 if self.last is None else place - self.last
        self.way += change if self.axis < 3 else math.remainder(change, 2.0 * math.pi)
        self.last = place

    def speed(self, physics: PhysicsWorld) -> float:
        return speed_of(self.constraint, physics, self.axis)

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
        self.gearing, self._sides = gearing, sides

    @property
    def bodies(self) -> tuple[str, str]:
        """Paths of the two bodies that mesh; they do not collide."""
        return self.gearing.bodies

    def push(self, physics: PhysicsWorld, weights: Mapping[str, Weight], seconds: float) -> None:
        """Push both joints in the next step of the solver, which takes so long."""
        sides = self._sides
        for side in sides:
            side.look(physics)
        if not all(side.constraint.active for side in sides):
            return
        speed = sum(side.factor * side.speed(physics) for side in sides)
        way = sum(side.factor * side.way for side in sides)
        free, held, most = 0.0, 0.0, 0.0
        for side in sides:
            inertia = side.inertia(physics, weights)
            with_drive, impulse = side.held(inertia, seconds)
            free += side.factor**2 / inertia
            held += side.factor**2 / with_drive
            most += impulse / abs(side.factor)
        if not free > 0.0:
            return
        wanted = speed + _BACK * way / seconds
        if abs(wanted) < 1e-9:
            return
        # A drive takes up what it can; beyond that the joint is as light as it is.
        size = min(abs(wanted) / held, abs(wanted) / free + most)
        for side in sides:
            side.push(physics, -math.copysign(size, wanted) * side.factor / seconds)

    def release(self, physics: PhysicsWorld) -> None:
        """Take the forces back after the step."""
        for side in self._sides:
            side.release(physics)


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
