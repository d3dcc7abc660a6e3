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
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import check_generators
import engine_runs

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

Vector = tuple[float, ...]
Pose = tuple[Vector, Vector]  # position (m), quaternion (x, y, z, w)


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
        report = Report(simulate(engine, python, options.file))
        all_there(report, facts["counts"]["bodies"])
        for check in CHECKS:
            check(report)
        free_fall(report, tuple(facts["ball_velocity"]), NEWTON_RATE if engine == "newton" else math.inf)
        print(f"{engine}: {report.passed} facts hold, {report.failed} do not")
        failed += report.failed + generated(engine, python, options.file.parent, facts["generators_joints"])
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


def simulate(engine: str, python: str, file: Path) -> dict[int, dict[str, Pose]]:
    """Poses of all bodies by name of the prim, after each number of STEPS."""
    (found,) = engine_runs.poses(engine, python, [file], END, STEP)
    if found is None:
        sys.exit(f"{engine} does not simulate '{file.name}'.")
    return {
        step: {name: (tuple(rows[step, :3].tolist()), tuple(rows[step, 3:].tolist())) for name, rows in found.items()}
        for step in STEPS
    }


@dataclass(slots=True)
class Report:
    """Poses by number of steps, and the verdicts so far."""

    poses: dict[int, dict[str, Pose]]
    passed: int = 0
    failed: int = 0

    def at(self, name: str, steps: int = END) -> Vector:
        return self.poses[steps][name][0]

    def turn(self, name: str, steps: int = END) -> Vector:
        return self.poses[steps][name][1]

    def fact(self, name: str, value: float, unit: str, low: float, high: float) -> None:
        """Print a measured value and whether it is within its bounds."""
        holds = low <= value <= high
        self.passed, self.failed = self.passed + holds, self.failed + (not holds)
        print(f"{name} {value:.4g} {unit}  {'PASS' if holds else 'FAIL'} ({low:g} .. {high:g})")


# --------------------------------------------------------------------------- geometry


def multiply(a: Vector, b: Vector) -> Vector:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz,
    )  # fmt: skip


def inverse(q: Vector) -> Vector:
    return (-q[0], -q[1], -q[2], q[3])


def point(pose: Pose, local: Vector) -> Vector:
    """A point of a body in the world."""
    position, turn = pose
    turned = multiply(multiply(turn, (*local, 0.0)), inverse(turn))
    return tuple(a + b for a, b in zip(position, turned, strict=False))


def angle(report: Report, parent: str | None, child: str, axis: int) -> float:
    """Degrees by which a body has turned against another (or the world) about an axis since the start."""

    def relative(steps: int) -> Vector:
        turn = report.turn(child, steps)
        return turn if parent is None else multiply(inverse(report.turn(parent, steps)), turn)

    # Joint frames are aligned with the parent: the turn is on its side.
    x = multiply(relative(END), inverse(relative(0)))
    return math.degrees(2 * math.remainder(math.atan2(x[axis], x[3]), math.pi))


# --------------------------------------------------------------------------- facts


def all_there(report: Report, bodies: int) -> None:
    numbers = [value for poses in report.poses.values() for pose in poses.values() for part in pose for value in part]
    report.fact("bodies", min(map(len, report.poses.values())), "count", bodies, bodies)
    report.fact("not_finite", sum(not math.isfinite(value) for value in numbers), "count", 0, 0)


def free_fall(report: Report, velocity: Vector, rate: float) -> None:
    """The ball against start + v t + g t^2 / 2, relative to how far it is from its start. rate: of the solver, Hz."""
    start = report.at("Ball", 0)
    for steps in STEPS[1:]:
        t = steps * STEP
        moved = [v * t - (0.5 * GRAVITY * t * t if axis == 2 else 0.0) for axis, v in enumerate(velocity)]
        wanted = [a + b for a, b in zip(start, moved, strict=True)]
        error = math.dist(report.at("Ball", steps), wanted)
        too_far = 0.5 * GRAVITY * t / rate
        report.fact(
            f"ball_error_{steps}", 100 * error / math.hypot(*moved), "%", 0, 1 + 100 * too_far / math.hypot(*moved)
        )


def ghosts(report: Report) -> None:
    pairs = [(report.at(f"Red{column}"), report.at(f"Blue{column}")) for column in range(1, 7)]
    report.fact("ghosts_apart", max(math.dist(*pair) for pair in pairs), "m", 0, 0.02)
    report.fact("ghosts_lowest", min(spot[2] for pair in pairs for spot in pair), "m", 0.23, 0.27)
    report.fact("ghosts_highest", max(spot[2] for pair in pairs for spot in pair), "m", 0.23, 0.27)


def door(report: Report) -> None:
    report.fact("door_angle", angle(report, None, "Panel", 2), "deg", 67, 73)


def chain(report: Report) -> None:
    """Links of 0.26 m: joined at their ends, and below the anchor."""
    names = [f"Link{index:02}" for index in range(1, 13)]
    gaps = [
        math.dist(point(poses[above], (0, 0, -0.13)), point(poses[below], (0, 0, 0.13)))
        for poses in report.poses.values()
        for above, below in pairwise(names)
    ]
    anchors = [point(poses[names[0]], (0, 0, 0.13)) for poses in report.poses.values()]
    report.fact("chain_largest_gap", max(gaps), "m", 0, 0.01)
    report.fact("chain_anchor_moved", max(math.dist(anchor, anchors[0]) for anchor in anchors), "m", 0, 0.01)
    report.fact("chain_highest_link", max(report.at(name)[2] for name in names) - anchors[0][2], "m", -1, 0)
    report.fact("chain_end_below_anchor", anchors[0][2] - report.at(names[-1])[2], "m", 2.2, 3.2)


def pendulum(report: Report) -> None:
    # The rod is 1.8 m long, from the anchor towards the middle of the weight.
    anchor = point(report.poses[0]["Weight"], (0, 0, 2.1))
    lengths = [math.dist(anchor, point(poses["Weight"], (0, 0, 0.3))) for poses in report.poses.values()]
    report.fact("pendulum_longest", max(lengths), "m", 1.79, 1.81)
    report.fact("pendulum_swing", math.dist(report.at("Weight", 30), report.at("Weight", 0)), "m", 0.1, 3)


def stack(report: Report) -> None:
    names = [f"Box{index:02}" for index in range(1, 11)]
    report.fact("stack_moved", max(math.dist(report.at(name), report.at(name, 0)) for name in names), "m", 0, 0.02)


def cart(report: Report) -> None:
    x, y, z = (b - a for a, b in zip(report.at("Chassis", 0), report.at("Chassis"), strict=True))
    report.fact("cart_forward", x, "m", 1, 3)
    report.fact("cart_sideways", abs(y), "m", 0, 0.1)
    report.fact("cart_height_change", abs(z), "m", 0, 0.03)


def filters(report: Report) -> None:
    report.fact("filtered_crate_height", report.at("CrateThrough")[2], "m", 0.18, 0.22)
    report.fact("other_crate_height", report.at("CrateOn")[2], "m", 1.08, 1.12)
    report.fact("drop_through_disabled_height", report.at("Drop")[2], "m", 0.24, 0.28)


def arm(report: Report) -> None:
    """Gravity makes a drive of finite stiffness sag."""
    for name, parent, child, axis, target in (
        ("yaw", "Base", "Turret", 2, -50.0),
        ("shoulder", "Turret", "Upper", 1, 30.0),
        ("elbow", "Upper", "Fore", 1, 25.0),
    ):  # fmt: skip
        report.fact(f"arm_{name}", angle(report, parent, child, axis), "deg", target - 3, target + 3)
    report.fact("arm_base_moved", math.dist(report.at("Base"), report.at("Base", 0)), "m", 0, 0.001)


def others(report: Report) -> None:
    report.fact("slider_moved", report.at("Carriage")[0] - report.at("Carriage", 0)[0], "m", 1.17, 1.23)
    report.fact("lift_cargo_height", report.at("Cargo")[2], "m", 0.85, 0.89)
    disc, start = report.at("Disc"), report.at("Disc", 0)
    report.fact("turntable_off_axis", math.hypot(disc[0] - start[0], disc[1] - start[1]), "m", 0, 0.01)
    report.fact("turntable_sag", start[2] - disc[2], "m", 0.03, 0.06)
    report.fact("turntable_angle", angle(report, None, "Disc", 2) % 360, "deg", 120, 185)
    report.fact("suzanne_height", report.at("Suzanne")[2], "m", 0.3, 1.0)


CHECKS: tuple[Callable[[Report], None], ...] = (ghosts, door, chain, pendulum, stack, cart, filters, arm, others)


if __name__ == "__main__":
    sys.exit(main())
