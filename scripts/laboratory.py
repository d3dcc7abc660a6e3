# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory: random scenes whose physics is said in two ways, and must move in one; and what is conserved.

`laboratory.py [--seeds N] [--start N] [--only TEXT] [--exhibit NAME] [--keep FOLDER] [--check]`. A seed makes a scene;
`laboratory_statements.py` has the ways to say it differently. No answer has to be known: the tolerance is what the
scene makes of starts that are moved by up to 10 micrometres, so that chaotic motion is not compared. What fails is
reduced to a small scene; --keep writes both statements of it as .usda. --check: exit status 1 where something fails
that `laboratory_known.toml` does not explain.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import laboratory_laws as laws
import laboratory_scenes as scenes
from laboratory_scenes import W, usd_geom, usd_physics
from laboratory_statements import BASE_STEP, TRANSFORMS, Statement, Transform, copied, stage_of
from usdphys_ext.usdphys_addon.core import paths
from usdphys_ext.usdphys_addon.core.gprims import sizes
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.simulation.record import quaternion_product
from usdphys_ext.usdphys_addon.simulation.world import World

#: Distances of starts (m) that measure the sensitivity of a scene, and the deviation (m) from which on it is chaos.
MOVED = (1e-9, 1e-6, 1e-5)
CHAOS = 0.005
#: A deviation counts above so many times that of the moved copies, and above this share of the size of a body.
TIMES, LEAST = 20.0, 2e-3
#: m/s by which single precision moves a slow body, whose place is rounded in every step of the solver.
ROUNDING = 1e-4
SECONDS = 2.0
#: Copies of a scene that its reduction may try.
MOST_TRIALS = 120
#: What a scene can be without and still mean something.
OPTIONAL = {
    "velocity",
    "angular_velocity",
    "restitution",
    "lower_limit",
    "upper_limit",
    "break_force",
    "target_velocity",
}
KNOWN_FILE = Path(__file__).with_name("laboratory_known.toml")


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
    #: Largest share of what is allowed at any time.
    times: float = 0.0

    @property
    def exhibit(self) -> str:
        return self.body.split("/")[2].lower() if self.body.count("/") > 1 else ""

    def __str__(self) -> str:
        where = f"{self.transform}: {self.body} parts at {self.time:.3f} s"
        return f"{where}: {self.apart:.4g}, allowed {self.allowed:.2g}; later {self.times:.1f} times"


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
    """A copy whose bodies start elsewhere, each moved and turned (rad) in its own direction."""
    result = copied(model)
    for number, path in enumerate(model.bodies):
        place = result.prims[path].world[:3, 3].copy()
        change = scenes.turn("XYZ"[number % 3], distance)
        for prim in (result.prims[path], *result.colliders_of(path)):
            prim.world[:3, 3] += distance * np.array((np.cos(number), np.sin(number), np.cos(3 * number))) - place
            prim.world[:3] = change @ prim.world[:3]
            prim.world[:3, 3] += place
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
        rotations = quaternion_product(np.array(back), other.rotations[::other_stride, rows])
        apart = self.apart(positions, rotations, stride)
        sensitivity, ways = self.sensitivity[::stride], self.ways[::stride]
        seconds = np.arange(len(ways))[:, None] * stride * BASE_STEP
        allowed = LEAST * self.extents + TIMES * sensitivity + transform.slack * ways + ROUNDING * seconds
        allowed += transform.jolt * np.maximum.accumulate(np.gradient(self.ways, BASE_STEP, axis=0))[::stride]
        wrong = (apart > allowed) & (sensitivity < CHAOS)
        if not wrong.any():
            return None, said
        frame = int(np.flatnonzero(wrong.any(axis=1))[0])
        row = int(np.argmax(wrong[frame] * apart[frame] / allowed[frame]))
        times = float(np.max(apart / allowed * (sensitivity < CHAOS)))
        path, time = self.motion.paths[row], frame * stride * BASE_STEP
        return Finding(transform.name, path, time, apart[frame, row], allowed[frame, row], times), said


def angles(one: Any, other: Any) -> Any:
    """Between rotations (..., 4), radians; without the rounding of an arc cosine."""
    sign = np.where((one * other).sum(axis=-1) < 0, -1.0, 1.0)[..., None]
    return 2.0 * np.linalg.norm(one - sign * other, axis=-1)


def broken_laws(experiment: Experiment) -> list[Finding]:
    motion = experiment.motion
    return [Finding(one.law, one.body, one.frame * BASE_STEP, one.error, one.allowed, one.error / one.allowed)
            for one in laws.broken(experiment.model, motion, BASE_STEP)]  # fmt: skip


# --------------------------------------------------------------------------- reduction


def without(model: PhysicsModel, root: str) -> PhysicsModel:
    """A copy without a prim, what is below it, and the joints, groups and bindings that need them."""
    result = copied(model)
    gone = {path for path in result.prims if paths.is_at_or_below(path, root)}
    for path, prim in result.joints.items():
        joint: Any = prim.get(usd_physics.Joint)
        if gone.intersection((joint.body0 or ()) + (joint.body1 or ())):
            gone.add(path)
    for path in gone:
        del result.prims[path]
    for prim in result.prims.values():
        if gone.intersection(prim.materials):
            prim.materials, prim.physics_binding = (), ""
    return result


def smaller(model: PhysicsModel) -> Iterator[PhysicsModel]:
    """Copies of a model with less in them, the largest parts first."""
    roots = sorted({"/".join(path.split("/")[:3]) for path in model.prims} | {*model.prims}, key=lambda x: x.count("/"))
    for root in roots:
        if root in (W, f"{W}/PhysicsScene"):
            continue
        yield without(model, root)
    for path, prim in model.prims.items():
        for name, schema in prim.schemas.items():
            if name.startswith(("PhysicsLimitAPI", "PhysicsDriveAPI", "PhysicsArticulationRootAPI")):
                result = copied(model)
                del result.prims[path].schemas[name]
                yield result
            for attribute, _ in schema.authored():
                if attribute.field in OPTIONAL:
                    result = copied(model)
                    result.prims[path].schemas[name] = schema.copy(**{attribute.field: None})
                    yield result


def reduced(model: PhysicsModel, fails: Callable[[PhysicsModel], Finding | None]) -> tuple[PhysicsModel, Finding]:
    """The smallest scene found that fails in the same way, and how it does."""
    finding = fails(model)
    assert finding is not None
    trials = 0
    again = True
    while again:
        again = False
        for candidate in smaller(model):
            if trials >= MOST_TRIALS or len(candidate.prims) + sum(map(_size, candidate.prims.values())) >= _total(
                model
            ):
                continue
            trials += 1
            try:
                found = fails(candidate)
            except (ValueError, KeyError, IndexError, ArithmeticError):
                # A part that another one needs is missing: not the same failure.
                continue
            if found is not None and found.exhibit == finding.exhibit and found.times > min(2.0, finding.times / 2):
                model, finding, again = candidate, found, True
                break
    return model, finding


def _size(prim: Any) -> int:
    return sum(1 + sum(1 for _ in schema.authored()) for schema in prim.schemas.values())


def _total(model: PhysicsModel) -> int:
    return len(model.prims) + sum(map(_size, model.prims.values()))


def failing(finding: Finding, seed: int) -> Callable[[PhysicsModel], Finding | None]:
    """A function that tells of a model whether it fails as a scene of this seed did, and for how long it has to run."""
    seconds = min(SECONDS, finding.time + 0.25)

    def fails(model: PhysicsModel) -> Finding | None:
        if finding.transform in TRANSFORMS:
            return Experiment(model, seconds).compare(TRANSFORMS[finding.transform], Random(seed))[0]
        found = broken_laws(Experiment(model, SECONDS))
        return next((one for one in found if one.transform == finding.transform), None)

    return fails


def write_finding(folder: Path, name: str, model: PhysicsModel, finding: Finding, seed: int) -> None:
    """NAME.usda, and NAME_other.usda with the other statement; their comments have the first frame that differs."""
    folder.mkdir(parents=True, exist_ok=True)
    made = TRANSFORMS[finding.transform].make(model, Random(seed)) if finding.transform in TRANSFORMS else None
    for suffix, said in (("", Statement(model)), ("_other", made)):
        if said is None:
            continue
        stage = said.stage or stage_of(said.model, SI)
        rate = 1.0 / (said.step * said.time)
        stage.SetTimeCodesPerSecond(rate)
        stage.SetFramesPerSecond(rate)
        stage.SetMetadata("comment", f"Seed {seed}. {finding} (frame {finding.time / said.step:.0f}).")
        stage.GetRootLayer().Export(str(folder / f"{name}{suffix}.usda"))


# --------------------------------------------------------------------------- command line


@cache
def known_rows() -> list[dict[str, Any]]:
    """The causes that are not mended yet, see the file."""
    rows: list[dict[str, Any]] = tomllib.loads(KNOWN_FILE.read_text(encoding="utf-8"))["known"]
    return rows


def known() -> dict[tuple[str, str], str]:
    """Sentences by (transform or law, exhibit) that explain what is not mended yet."""
    return {
        (name, exhibit): row["reason"] for row in known_rows() for name in row["parts"] for exhibit in row["exhibits"]
    }


def findings_of(seed: int, exhibit: str = "", chosen: Callable[[str], bool] = bool) -> tuple[list[Finding], int]:
    """(what a seed finds, number of comparisons). chosen: tells of the name of a transform whether it is tried."""
    experiment = Experiment(scenes.scene_of(seed, exhibit))
    found, compared = broken_laws(experiment), 0
    for one in TRANSFORMS.values():
        if chosen(one.name):
            finding, said = experiment.compare(one, Random(seed))
            compared += said is not None
            found += [finding] if finding is not None else []
    return found, compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="", help="only transforms and laws with this in their name")
    parser.add_argument("--exhibit", default="", choices=["", *scenes.EXHIBITS], help="scenes of this exhibit alone")
    parser.add_argument("--keep", type=Path, help="folder for the reduced scene of each kind of failure")
    parser.add_argument("--check", action="store_true", help="exit status 1 where something fails that is not known")
    options = parser.parse_args()
    found: dict[tuple[str, str], list[tuple[int, Finding]]] = {}
    compared = 0
    for seed in range(options.start, options.start + options.seeds):
        findings, tried = findings_of(seed, options.exhibit, lambda name: options.only in name)
        compared += tried
        for finding in findings:
            if options.only in finding.transform:
                found.setdefault((finding.transform, finding.exhibit), []).append((seed, finding))
                print(f"{seed}: {finding}", flush=True)
    new = 0
    for key, cases in sorted(found.items(), key=lambda item: -len(item[1])):
        seed, worst = max(cases, key=lambda case: case[1].times)
        new += key not in known()
        print(f"{len(cases):4d}  {key[0]:24} {key[1]:10} {worst.times:7.1f} times, seed {seed}: "
              f"{known().get(key, 'NOT KNOWN')}", flush=True)  # fmt: skip
        if options.keep:
            model, finding = reduced(scenes.scene_of(seed, options.exhibit), failing(worst, seed))
            write_finding(options.keep, f"{key[0]}_{key[1]}".replace(" ", "_"), model, finding, seed)
    print(f"{options.seeds} seeds, {compared} comparisons: {len(found)} kinds of failure, {new} not known")
    return 1 if options.check and new else 0


if __name__ == "__main__":
    sys.exit(main())
