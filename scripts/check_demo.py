# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the demonstration behave? PhysX and Newton simulate build/demo/demo.usda for two seconds, and every exhibit is
measured. PhysX simulates generators.usda beside it for five seconds, and both generators_newton.usda, with the bounds
of check_generators.py.

    .venv-usd/bin/python scripts/check_demo.py [FILE] [--physx PYTHON] [--newton PYTHON]

A simulator whose Python is not named (PHYSX_PYTHON, NEWTON_PYTHON) is left out. Exit status 1 where an exhibit
misbehaves.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import check_generators
import engine_runs
import numpy as np
from check_generators import Fact, Poses, carried

ROOT = Path(__file__).resolve().parent.parent
STEPS = (0, 30, 60, 120)
END = STEPS[-1]
STEP = 1 / 60
GRAVITY = 9.81
#: Steps a second of the solver of Newton, which moves what falls by g t / 2 for each of them too far.
NEWTON_RATE = 480.0
#: By simulator: the files with generators that it takes, and what is measured there.
ALL = {"generators_newton.usda": ("together",)}
GENERATED = {
    "physx": {"generators.usda": ("car", "wall", "bridge", "net", "ragdoll", "doors", "machines"), **ALL},
    "newton": ALL,
}
Facts = Iterator[Fact]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "build" / "demo" / "demo.usda")
    engine_runs.add_options(parser)
    options = parser.parse_args()
    expected = options.file.parent / "expected.json"
    if not options.file.is_file() or not expected.is_file():
        print(f"There is no '{options.file}' with its expected.json; run 'make demo' first.", file=sys.stderr)
        return 1
    facts = json.loads(expected.read_text(encoding="utf-8"))
    failed = 0
    for engine, python in engine_runs.chosen(options).items():
        (poses,) = engine_runs.poses(engine, python, [options.file], END, STEP)
        if poses is None:
            sys.exit(f"{engine} does not simulate '{options.file.name}'.")
        rate = NEWTON_RATE if engine == "newton" else math.inf
        found = [*all_there(poses, facts["counts"]["bodies"]), *free_fall(poses, facts["ball_velocity"], rate)]
        found += [fact for check in CHECKS for fact in check(poses)]
        missed = check_generators.judge(engine, found)
        print(f"{engine}: {len(found) - missed} facts hold, {missed} do not")
        failed += missed + generated(engine, python, options.file.parent, facts["generators_joints"])
    return 1 if failed else 0


def generated(engine: str, python: str, folder: Path, joints: dict[str, check_generators.Joints]) -> int:
    """Measure what the generators made. Returns how many facts do not hold."""
    missed = 0
    files = [folder / name for name in GENERATED[engine]]
    frames, step = check_generators.FRAMES, 1 / check_generators.RATE
    found = engine_runs.poses(engine, python, files, frames, step)
    for (name, examples), poses in zip(GENERATED[engine].items(), found, strict=True):
        if poses is None:
            sys.exit(f"{engine} refuses {name}.")
        for example in examples:
            missed += check_generators.judge(
                f"{engine}_{name.split('.')[0]}", check_generators.facts(example, poses, joints[name])
            )
    print(f"{engine}: {missed} facts of generators do not hold")
    return missed


# --------------------------------------------------------------------------- geometry


def at(poses: Poses, name: str, step: int = END) -> Any:
    return poses[name][step, :3]


def moved(poses: Poses, name: str, step: int = END) -> float:
    return math.dist(at(poses, name, step), at(poses, name, 0))


def point(poses: Poses, name: str, height: float) -> Any:
    """A point on the Z axis of a body in the world, after each number of STEPS."""
    return carried(poses[name], (0.0, 0.0, height), is_local=True)[list(STEPS)]


def angle(poses: Poses, parent: str | None, child: str, axis: int) -> float:
    """Degrees by which a body has turned against another (or the world) about an axis since the start."""

    def relative(step: int) -> Any:
        turn = poses[child][step, 3:]
        return turn if parent is None else multiply(poses[parent][step, 3:] * (-1, -1, -1, 1), turn)

    # Joint frames are aligned with the parent: the turn is on its side.
    x = multiply(relative(END), relative(0) * (-1, -1, -1, 1))
    return math.degrees(2 * math.remainder(math.atan2(x[axis], x[3]), math.pi))


def multiply(a: Any, b: Any) -> Any:
    """The product of quaternions x, y, z, w."""
    return np.array([*(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])), a[3] * b[3] - a[:3] @ b[:3]])


# --------------------------------------------------------------------------- facts


def all_there(poses: Poses, bodies: int) -> Facts:
    yield "bodies", len(poses), "count", bodies, bodies
    yield check_generators.numbers(poses)


def free_fall(poses: Poses, velocity: Any, rate: float) -> Facts:
    """The ball against start + v t + g t^2 / 2, relative to how far it is from its start. rate: of the solver, Hz."""
    for step in STEPS[1:]:
        t = step * STEP
        way = np.array(velocity) * t - (0.0, 0.0, 0.5 * GRAVITY * t * t)
        error = math.dist(at(poses, "Ball", step), at(poses, "Ball", 0) + way)
        too_far = 0.5 * GRAVITY * t / rate
        length = math.hypot(*way)
        yield f"ball_error_{step}", 100 * error / length, "%", 0, 1 + 100 * too_far / length


def ghosts(poses: Poses) -> Facts:
    reds, blues = ([at(poses, f"{colour}{column}") for column in range(1, 7)] for colour in ("Red", "Blue"))
    heights = [place[2] for place in (*reds, *blues)]
    yield "ghosts_apart", max(map(math.dist, reds, blues)), "m", 0, 0.02
    yield "ghosts_lowest", min(heights), "m", 0.23, 0.27
    yield "ghosts_highest", max(heights), "m", 0.23, 0.27


def door(poses: Poses) -> Facts:
    yield "door_angle", angle(poses, None, "Panel", 2), "deg", 67, 73


def chain(poses: Poses) -> Facts:
    """Links of 0.26 m: joined at their ends, and below the anchor."""
    names = [f"Link{index:02}" for index in range(1, 13)]
    gaps = [point(poses, above, -0.13) - point(poses, below, 0.13) for above, below in pairwise(names)]
    anchors = point(poses, names[0], 0.13)
    highest = max(at(poses, name)[2] for name in names)
    yield "chain_largest_gap", np.linalg.norm(gaps, axis=2).max(), "m", 0, 0.01
    yield "chain_anchor_moved", np.linalg.norm(anchors - anchors[0], axis=1).max(), "m", 0, 0.01
    yield "chain_highest_link", highest - anchors[0][2], "m", -1, 0
    yield "chain_end_below_anchor", anchors[0][2] - at(poses, names[-1])[2], "m", 2.2, 3.2


def pendulum(poses: Poses) -> Facts:
    # The rod is 1.8 m long, from the anchor towards the middle of the weight.
    lengths = np.linalg.norm(point(poses, "Weight", 2.1)[0] - point(poses, "Weight", 0.3), axis=1)
    yield "pendulum_longest", lengths.max(), "m", 1.79, 1.81
    yield "pendulum_swing", moved(poses, "Weight", 30), "m", 0.1, 3


def stack(poses: Poses) -> Facts:
    yield "stack_moved", max(moved(poses, f"Box{index:02}") for index in range(1, 11)), "m", 0, 0.02


def cart(poses: Poses) -> Facts:
    x, y, z = at(poses, "Chassis") - at(poses, "Chassis", 0)
    yield from (("cart_forward", x, "m", 1, 3), ("cart_sideways", abs(y), "m", 0, 0.1))
    yield "cart_height_change", abs(z), "m", 0, 0.03


def filters(poses: Poses) -> Facts:
    for fact, name, low, high in (
        ("filtered_crate", "CrateThrough", 0.18, 0.22), ("other_crate", "CrateOn", 1.08, 1.12),
        ("drop_through_disabled", "Drop", 0.24, 0.28), ("lift_cargo", "Cargo", 0.85, 0.89),
        ("suzanne", "Suzanne", 0.3, 1.0),
    ):  # fmt: skip
        yield f"{fact}_height", at(poses, name)[2], "m", low, high


def arm(poses: Poses) -> Facts:
    """Gravity makes a drive of finite stiffness sag."""
    for name, parent, child, axis, target in (
        ("yaw", "Base", "Turret", 2, -50.0), ("shoulder", "Turret", "Upper", 1, 30.0),
        ("elbow", "Upper", "Fore", 1, 25.0),
    ):  # fmt: skip
        yield f"arm_{name}", angle(poses, parent, child, axis), "deg", target - 3, target + 3
    yield "arm_base_moved", moved(poses, "Base"), "m", 0, 0.001


def others(poses: Poses) -> Facts:
    way = at(poses, "Disc") - at(poses, "Disc", 0)
    yield "slider_moved", (at(poses, "Carriage") - at(poses, "Carriage", 0))[0], "m", 1.17, 1.23
    yield "turntable_off_axis", math.hypot(way[0], way[1]), "m", 0, 0.01
    yield "turntable_sag", -way[2], "m", 0.03, 0.06
    yield "turntable_angle", angle(poses, None, "Disc", 2) % 360, "deg", 120, 185


CHECKS: tuple[Callable[[Poses], Facts], ...] = (ghosts, door, chain, pendulum, stack, cart, filters, arm, others)


if __name__ == "__main__":
    sys.exit(main())
