# SPDX-License-Identifier: GPL-3.0-or-later
"""Set-ups for aims that have a solution, made of seeds: for tests and for the figures of scripts/aims.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from usdphys_ext.usdphys_addon.aiming.aim import Run, Setup, Target, aim_steps, run_with
from usdphys_ext.usdphys_addon.aiming.freedoms import Freedom
from usdphys_ext.usdphys_addon.core.frames import matrix_of, transform
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

BODY = usd_physics.RigidBodyAPI.usd_name
STEP = 1.0 / 60.0
FAST = 9.0


class Aim(NamedTuple):
    """What is searched."""

    setup: Setup
    freedoms: Sequence[Freedom]
    targets: Sequence[Target]

    def searched(self, **options) -> tuple[Run, int]:
        """The best run, and the number of runs."""
        steps = aim_steps(*self, **options)
        count = 0
        while True:
            try:
                next(steps)
                count += 1
            except StopIteration as found:
                return found.value, count

    def again(self, run: Run) -> Run:
        """A new run with the values of another one."""
        return run_with(self.setup, self.freedoms, run.values, max(target.frame for target in self.targets))


def add(model, path, shape, where, *, moves=True, restitution=0.5, friction=0.4):
    prim = model.add(Prim(path, type(shape).usd_name, where))
    prim.add(shape)
    prim.add(usd_physics.CollisionAPI())
    if moves:
        prim.add(usd_physics.RigidBodyAPI())
    material = model.add(Prim(f"{path}Matter", "Material"))
    material.add(usd_physics.MaterialAPI(static_friction=friction, dynamic_friction=friction, restitution=restitution))
    prim.materials = (material.path,)
    return prim


def turned(place, axis, angle):
    axis = np.array(axis) / np.linalg.norm(axis)
    quaternion = (math.cos(angle / 2), *(math.sin(angle / 2) * axis))
    matrix = transform(place)
    matrix[:3, :3] = matrix_of(quaternion)
    return matrix


def velocities(*paths, fast=FAST):
    return [Freedom(path, BODY, "velocity", axis, -fast, fast) for path in paths for axis in range(3)]


def room(chance):
    """A ball, a floor, and walls and ramps about it."""
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=chance.uniform(0.2, 0.9))
    add(model, "/Ball", usd_geom.Sphere(radius=0.1), transform((0, 0, chance.uniform(0.2, 1.5))))
    for number in range(chance.integers(1, 5)):
        where = chance.uniform((-4, -4, 0), (4, 4, 1.5))
        if np.linalg.norm(where[:2]) < 1.2:
            where[:2] *= 2.5
        tilt = 0.0 if chance.random() < 0.5 else chance.uniform(-0.6, 0.6)
        matrix = turned(where, (chance.normal(), chance.normal(), 0.1), tilt)
        matrix[:3, :3] = matrix[:3, :3] @ np.diag(chance.uniform((0.1, 0.6, 0.3), (0.8, 2.0, 1.5)))
        add(model, f"/Wall{number}", usd_geom.Cube(size=1.0), matrix, moves=False, restitution=chance.uniform(0.2, 0.9))
    return model


def bounced(seed) -> Aim:
    """As `thrown`, but the ball may only be thrown downwards."""
    return thrown(seed, highest=0.0)


def thrown(seed, highest=FAST) -> Aim:
    """A ball and a place 4 m away, which it reaches after it has touched something. highest: upward velocity, m/s."""
    chance = np.random.default_rng(seed)
    freedoms = velocities("/Ball")
    freedoms[2] = replace(freedoms[2], high=highest)
    while True:
        model = room(chance)
        frame = int(chance.integers(50, 110))
        setup = Setup(model, STEP)
        for _ in range(40):
            values = chance.uniform(-0.75 * FAST, (0.75 * FAST, 0.75 * FAST, 0.75 * highest))
            run = run_with(setup, freedoms, values, frame)
            way = run.positions[:, run.paths.index("/Ball")]
            speeds = np.diff(way, axis=0) / STEP
            kicks = np.abs(np.diff(speeds, axis=0) - (0, 0, -9.81 * STEP)).max(axis=1) > 0.3
            if 3.9 < np.linalg.norm((way[-1] - way[0])[:2]) < 4.1 and kicks.any():
                return Aim(setup, freedoms, [Target("/Ball", frame, tuple(way[-1].tolist()))])


def die(seed) -> Aim:
    """A die on a floor, and a face that is to be on top: the seed modulo six."""
    chance = np.random.default_rng(seed)
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=chance.uniform(0.1, 0.5))
    add(model, "/Die", usd_geom.Cube(size=0.1), transform((0, 0, chance.uniform(0.5, 1.0))), restitution=0.3)
    axis = [0.0, 0.0, 0.0]
    axis[seed % 6 // 2] = 1.0 if seed % 2 else -1.0
    target = Target("/Die", 150, axis=tuple(axis), facing=(0.0, 0.0, 1.0), angle=math.radians(5))
    spin = [Freedom("/Die", BODY, "angular_velocity", axis, -12.0, 12.0) for axis in range(3)]
    return Aim(Setup(model, STEP), [*velocities("/Die", fast=1.0), *spin], [target])


#: Half the width and the height of a cup inside, m, and the radius of its ball.
CUP, RIM, BALL = 0.19, 0.2, 0.05


def cups(seed, count=10, fast=FAST) -> Aim:
    """Balls in a row, each with a cup of its own: it is to be in there."""
    chance = np.random.default_rng(seed)
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=0.1)
    targets, balls = [], [f"/Ball{number}" for number in range(count)]
    for number, path in enumerate(balls):
        add(model, path, usd_geom.Sphere(radius=BALL), transform((-2.0, 0.6 * number, 0.5)), restitution=0.1)
        place = (float(chance.uniform(1, 3)), 0.6 * number, BALL)
        for side, (x, y) in enumerate(((0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2))):
            wall = transform((place[0] + x, place[1] + y, 0.5 * RIM))
            wall[:3, :3] = np.diag((0.02 if x else 0.4, 0.02 if y else 0.4, RIM))
            add(model, f"/Cup{number}_{side}", usd_geom.Cube(size=1.0), wall, moves=False, restitution=0.1)
        targets.append(Target(path, 100, place, tolerance=0.02))
    return Aim(Setup(model, STEP), velocities(*balls, fast=fast), targets)
