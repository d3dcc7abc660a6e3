# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory: random scenes whose physics is said in two ways, and must move in one; and what is conserved.

`laboratory.py [--seeds N] [--start N] [--only TEXT] [--exhibit NAME] [--keep FOLDER] [--check]`. A seed makes a scene;
`laboratory_statements.py` has the ways to say it differently. No answer has to be known: the tolerance is what the scene
itself makes of a start that is moved by a nanometre and a micrometre, so that chaotic motion is not compared. What fails
is reduced to a small scene; --keep writes both statements of it as .usda. --check: exit status 1 where something fails
that `KNOWN` does not explain.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import laboratory_scenes as scenes
from laboratory_scenes import W, usd_geom, usd_physics
from laboratory_statements import BASE_STEP, TRANSFORMS, Statement, Transform, copied, stage_of
from usdphys_ext.usdphys_addon.core.gprims import sizes
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.simulation.world import World

#: Distances of starts (m) that measure the sensitivity of a scene, and the deviation (m) from which on it is chaos.
MOVED = (1e-9, 1e-6)
CHAOS = 0.005
#: A deviation counts above so many times that of the moved copies, and above this share of the size of a body.
TIMES, LEAST = 30.0, 2e-3
SECONDS = 2.0


@dataclass
class Motion:
    """Of all bodies: positions (f, n, 3), rotations (f, n, 4), velocities (f, n, 6), by frames and paths."""

    paths: list[str]
    positions: Any
    rotations: Any
    velocities: Any
    world: World


@dataclass(frozen=True)
class Finding:
    """Where two statements part: the first time (s), the body, and by how much (m) where how much was allowed."""

    transform: str
    body: str
    time: float
    apart: float
    allowed: float

    @property
    def exhibit(self) -> str:
        return self.body.split("/")[2].lower() if self.body.count("/") > 1 else ""

    def __str__(self) -> str:
        return f"{self.transform}: {self.body} parts at {self.time:.3f} s: {self.apart:.4g}, allowed {self.allowed:.2g}"


def simulated(said: Statement, seconds: float) -> Motion:
    world = World(said.model, time_step=said.step * said.time)
    count = round(seconds / said.step)
    shape = (count + 1, len(world.paths))
    motion = Motion(list(world.paths), np.empty((*shape, 3)), np.empty((*shape, 4)), np.empty((*shape, 6)), world)
    for frame in range(count + 1):
        if frame:
            world.step()
        motion.positions[frame], motion.rotations[frame] = world.positions, world.rotations
        motion.velocities[frame] = np.hstack(world.velocities())
    return motion


def displaced(model: PhysicsModel, distance: float) -> PhysicsModel:
    """A copy whose bodies start elsewhere, each in its own direction."""
    result = copied(model)
    for number, path in enumerate(model.bodies):
        way = distance * np.array((np.cos(number), np.sin(number), 0.3))
        for prim in (result.prims[path], *result.colliders_of(path)):
            prim.world[:3, 3] += way
    return result


def extent_of(model: PhysicsModel, path: str) -> float:
    """About the radius of a body, m."""
    found = 0.05
    for prim in model.colliders_of(path):
        gprim: Any = prim.get(usd_geom.Gprim)
        if gprim is not None:
            found = max(found, 0.5 * max(sizes(gprim, np.linalg.norm(prim.world[:3, :3], axis=0)).extent))
    return found


class Experiment:
    """A model with its motion and sensitivity, which other statements are compared with."""

    def __init__(self, model: PhysicsModel, seconds: float = SECONDS) -> None:
        self.model, self.seconds = model, seconds
        self.motion = simulated(Statement(model), seconds)
        self.extents = np.array([extent_of(model, path) for path in self.motion.paths])
        copies = [simulated(Statement(displaced(model, distance)), seconds) for distance in MOVED]
        apart = [self.apart(one.positions, one.rotations) for one in copies]
        #: (f, n): the largest deviation so far.
        self.sensitivity = np.maximum.accumulate(np.max(apart, axis=0), axis=0)
        steps = np.linalg.norm(np.diff(self.motion.positions, axis=0), axis=2)
        steps = steps + self.extents * angles(self.motion.rotations[1:], self.motion.rotations[:-1])
        self.ways = np.vstack([np.zeros(len(self.extents)), np.cumsum(steps, axis=0)])

    def apart(self, positions: Any, rotations: Any, stride: int = 1) -> Any:
        """Deviations (f, n), m, of poses from those of this experiment: of the place, and of the edge of the body."""
        own = self.motion.positions[::stride], self.motion.rotations[::stride]
        return np.linalg.norm(positions - own[0], axis=2) + self.extents * angles(rotations, own[1])

    def compare(self, transform: Transform, rng: Random) -> tuple[Finding | None, Statement | None]:
        """How another statement of the model differs; None, None where there is none."""
        said = transform.make(self.model, rng)
        if said is None:
            return None, None
        other = simulated(said, self.seconds)
        rows = [other.paths.index(said.names.get(path, path)) for path in self.motion.paths]
        stride = max(1, round(said.step / BASE_STEP))
        other_stride = max(1, round(BASE_STEP / said.step))
        inverse = np.linalg.inv(said.matrix)
        positions = other.positions[::other_stride, rows] @ inverse[:3, :3].T + inverse[:3, 3]
        back = scenes.frames.quaternion_of(scenes.frames.rotation_of(inverse))
        rotations = multiplied(np.array(back), other.rotations[::other_stride, rows])
        apart = self.apart(positions, rotations, stride)
        sensitivity, ways = self.sensitivity[::stride], self.ways[::stride]
        allowed = LEAST * self.extents + TIMES * sensitivity + transform.slack * ways
        wrong = (apart > allowed) & (sensitivity < CHAOS)
        if not wrong.any():
            return None, said
        frame = int(np.flatnonzero(wrong.any(axis=1))[0])
        row = int(np.argmax(wrong[frame] * apart[frame] / allowed[frame]))
        time = frame * stride * BASE_STEP
        return Finding(transform.name, self.motion.paths[row], time, apart[frame, row], allowed[frame, row]), said


def angles(one: Any, other: Any) -> Any:
    """Between rotations (..., 4), radians; without the rounding of an arc cosine."""
    sign = np.where((one * other).sum(axis=-1) < 0, -1.0, 1.0)[..., None]
    return 2.0 * np.linalg.norm(one - sign * other, axis=-1)


def multiplied(a: Any, b: Any) -> Any:
    w, x, y, z = np.moveaxis(a, -1, 0)
    p, q, r, s = np.moveaxis(b, -1, 0)
    parts = (w * p - x * q - y * r - z * s, w * q + x * p + y * s - z * r, w * r - x * s + y * p + z * q, w * s + x * r - y * q + z * p)
    return np.stack(parts, axis=-1)


# --------------------------------------------------------------------------- command line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="", help="only transforms with this in their name")
    parser.add_argument("--exhibit", default="", help="scenes of this exhibit alone")
    options = parser.parse_args()
    chosen = [one for one in TRANSFORMS.values() if options.only in one.name]
    found: Counter[tuple[str, str]] = Counter()
    compared: Counter[str] = Counter()
    for seed in range(options.start, options.start + options.seeds):
        experiment = Experiment(scenes.scene_of(seed, options.exhibit))
        for one in chosen:
            finding, said = experiment.compare(one, Random(seed))
            compared[one.name] += said is not None
            if finding is not None:
                found[one.name, finding.exhibit] += 1
                print(f"{seed}: {finding}", flush=True)
    print(f"{options.seeds} seeds, {sum(compared.values())} comparisons, {sum(found.values())} part")
    for (name, exhibit), count in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{count:5d}  {name:24} {exhibit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
