# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what the generators make behave? Each example of the demonstration alone, in the preview, PhysX and Newton.

    .venv/bin/python scripts/check_generators.py [--only NAME ...] [--physx PYTHON] [--newton PYTHON] [--check]

Needs bpy. Ropes, the bridge and mechanisms are articulations, as Newton needs them. Where Newton has no word for what a
generator makes, the check for it must say so. A simulator without its Python (PHYSX_PYTHON, NEWTON_PYTHON) is left out.
With --check the exit status is 1 where a fact does not hold.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import engine_runs
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SECONDS, RATE = 5.0, 60
FRAMES = round(SECONDS * RATE)
#: Codes of issues with which Newton refuses a file, by example that it refuses.
REFUSED: dict[str, str] = {
    "wall": "JointOutsideArticulation",
    "net": "JointOutsideArticulation",
    "machines": "JointOutsideArticulation",
}
#: Codes of what Newton simulates in another way.
DIFFERENT = {"doors": "SurfaceVelocityIgnored", "together": "SurfaceVelocityIgnored", "wall": "BreakIgnored"}

#: Places (frames + 1, 3), m, of bodies by name; poses have a quaternion x, y, z, w, too: (frames + 1, 7).
Places = Mapping[str, Any]
Poses = Mapping[str, Any]
#: (names of two bodies, or of what stands still, place in the world at the start) of joints.
Joints = Sequence[tuple[str, str, Sequence[float]]]
#: (name, value, unit, least, most).
Fact = tuple[str, float, str, float, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(FACTS), default=list(FACTS))
    parser.add_argument("--check", action="store_true", help="exit with 1 where a fact does not hold")
    engine_runs.add_options(parser)
    options = parser.parse_args()
    engines = engine_runs.chosen(options)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        files = {name: Path(folder) / f"{name}.usda" for name in options.only}
        joints, said = {}, {}
        for name, file in files.items():
            bodies, joints[name] = build(name, file.with_suffix(".blend"))
            said[name] = pool.submit(convert_and_validate, file)
            failed += judge(f"preview_{name}", facts(name, play(bodies), joints[name]))
        texts = {name: one.result() for name, one in said.items()}
        runs = {
            engine: pool.submit(engine_runs.poses, engine, python, [*files.values()], FRAMES, 1 / RATE, quiet=True)
            for engine, python in engines.items()
        }
        for engine in engines:
            for name, found in zip(files, runs[engine].result(), strict=True):
                refused = engine == "newton" and name in REFUSED
                if engine == "newton":
                    failed += judge(f"newton_{name}", [unsaid(name, texts[name])])
                if found is None or refused:
                    failed += judge(f"{engine}_{name}", [("refused", float(found is None), "", refused, refused)])
                else:
                    failed += judge(f"{engine}_{name}", facts(name, found, joints[name]))
    print(f"{failed} facts do not hold")
    return 1 if failed and options.check else 0


def judge(prefix: str, facts: list[Fact]) -> int:
    """Print facts. Returns how many do not hold."""
    missed = 0
    for name, value, unit, low, high in facts:
        holds = low <= value <= high
        missed += not holds
        bound = "" if holds else f"  (not in {low:g} .. {high:g})"
        print(f"{prefix}_{name} {value:.4g} {unit}".rstrip() + bound, flush=True)
    return missed


def facts(name: str, poses: Poses, joints: Joints) -> list[Fact]:
    return [numbers(poses), *FACTS[name](poses, joints)]


def carried(rows: Any, place: Sequence[float], *, is_local: bool = False) -> Any:
    """Where a place at the start, or in the space of the body, goes with a body, (n, 3)."""
    turns, apart = rows[:, 3:], np.array(place) - rows[0, :3]
    local = np.array([place]) if is_local else _turned(turns[:1] * (-1, -1, -1, 1), apart[None])
    return _turned(turns, np.repeat(local, len(rows), axis=0)) + rows[:, :3]


def _turned(turns: Any, vectors: Any) -> Any:
    axes = turns[:, :3]
    return vectors + 2.0 * np.cross(axes, np.cross(axes, vectors) + turns[:, 3:] * vectors)


def build(name: str, file: Path) -> tuple[dict[str, Any], Joints]:
    """Make the example and save it as a .blend file. Returns (the bodies by their names in USD, joints)."""
    import bpy
    import demo_generators

    from usdphys_addon.bridge import props

    if not hasattr(bpy.types.Object, "usdphys"):
        props.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    demo_generators.add_ground()
    for example in [name] if name != "together" else demo_generators.FOR_NEWTON:
        demo_generators.add_example(example, articulation=True)
    demo_generators.select()
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    objects = bpy.context.scene.objects
    bodies = {demo_generators.exported(obj): obj for obj in objects if obj.usdphys.rigid_body.is_applied}
    return bodies, demo_generators.joints(objects)


def play(bodies: Mapping[str, Any]) -> Poses:
    """Poses of bodies of the scene in the preview."""
    import bpy

    from usdphys_addon.playback import guard

    rows: Any = {name: [] for name in bodies}
    session = guard.start(bpy.context)
    for frame in range(FRAMES + 1):
        while session.world.time < frame / RATE - 1e-6:
            session.simulate(bpy.context)
        session.show(bpy.context)
        for name, obj in bodies.items():
            x = obj.matrix_world.to_quaternion()
            rows[name].append((*obj.matrix_world.translation, x.x, x.y, x.z, x.w))
    guard.stop()
    return {name: np.array(found) for name, found in rows.items()}


def convert_and_validate(file: Path) -> str:
    """Write the .blend file beside a USD file to that. Returns what the checks for Newton say of it, as JSON."""
    command = [sys.executable, "-m", "usdphys_addon"]
    subprocess.run(
        [*command, "convert", str(file.with_suffix(".blend")), str(file)], cwd=ROOT, check=True, capture_output=True
    )
    said = [*command, "validate", "--json", "--target", "newton", str(file)]
    return subprocess.run(said, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def unsaid(name: str, text: str) -> Fact:
    """Do the checks for Newton say what it refuses, and what is otherwise there? text: JSON."""
    json.loads(text)
    wanted = {codes[name] for codes in (REFUSED, DIFFERENT) if name in codes}
    missing = [code for code in wanted if f'"{code}"' not in text]
    needless = "JointOutsideArticulation" in text and name not in REFUSED
    return ("unsaid_by_checks", len(missing) + needless, "", 0, 0)


# --------------------------------------------------------------------------- facts
#
# Bounds are asked for, or computed from what the examples are made of; none is read off what a simulator did.

#: m by which a joint that holds may separate, as asked of the ragdoll; in place of it, what is broken is farther apart.
HOLDS = 0.005
#: m/s at rest: PhysX lets a body sleep whose kinetic energy is below 5e-5 J/kg, which is v = sqrt(2 * 5e-5 m²/s²).
REST = 0.01
#: Radius, m, of the ball that hits the wall; size, m, of bricks along X and Z.
BALL = 0.06
BRICK = np.array([0.2, 0.1])


def places_of(poses: Poses, names: str) -> dict[str, Any]:
    """Places (frames + 1, 3) of bodies whose names begin so."""
    return {name: rows[:, :3] for name, rows in poses.items() if name.startswith(names)}


def separations(poses: Poses, joints: Joints, names: str) -> dict[tuple[str, str], Any]:
    """By joint between two bodies of such names: how far it separates, (frames + 1,), m."""
    return {
        (one, two): np.linalg.norm(carried(poses[one], at) - carried(poses[two], at), axis=1)
        for one, two, at in joints
        if one in poses and two in poses and one.startswith(names) and two.startswith(names)
    }


def speed(places: Places) -> float:
    """The largest at the end, m/s."""
    return max(float(np.linalg.norm(rows[-1] - rows[-2])) * RATE for rows in places.values())


def gone(poses: Poses, name: str) -> float:
    return float(np.linalg.norm(poses[name][-1, :3] - poses[name][0, :3]))


def numbers(poses: Poses) -> Fact:
    return ("not_finite", float(sum(not np.isfinite(rows).all() for rows in poses.values())), "bodies", 0, 0)


def car(poses: Poses, joints: Joints) -> list[Fact]:
    """10 m straight within 0.2 m, and no farther than its speed of 4 m/s goes."""
    rows = poses["Car"][:, :3] - poses["Car"][0, :3]
    there = np.flatnonzero(rows[:, 0] >= 10.0)
    aside = float(np.abs(rows[: there[0] + 1, 1]).max()) if len(there) else math.inf
    return [("forward", float(rows[-1, 0]), "m", 10, 4 * SECONDS), ("sideways_in_10_m", aside, "m", 0, 0.2)]


def wall(poses: Poses, joints: Joints) -> list[Fact]:
    """It breaks where it is hit and nowhere else, 0.7 s after a ball has flown at it.

    The place of impact is the bricks whose fronts the disc of the ball overlaps, and those that are bonded to these: a
    brick that is knocked out may take a neighbour along. Only bonded neighbours count.
    """
    bricks = places_of(poses, "Brick")
    apart = np.abs(np.array([rows[0, [0, 2]] - poses["Ball"][0, [0, 2]] for rows in bricks.values()]))
    outside = np.linalg.norm(np.maximum(apart - BRICK / 2.0, 0.0), axis=1)
    struck = {name for name, far in zip(bricks, outside, strict=True) if far < BALL}
    when = round(0.7 * RATE)
    broken = [pair for pair, gap in separations(poses, joints, "Brick").items() if gap[when] > HOLDS]
    near = {name for one, two, _ in joints for name in (one, two) if struck & {one, two}}
    return [
        ("broken_where_hit", float(sum(bool(near & {*pair}) for pair in broken)), "bonds", 1, math.inf),
        ("broken_elsewhere", float(sum(not near & {*pair} for pair in broken)), "bonds", 0, 0),
    ]  # fmt: skip


def is_segment(name: str, names: str) -> bool:
    """Segments have numbers after their names."""
    return name.startswith(names) and name.removeprefix(names).isdigit()


def ends_of(joints: Joints, names: str) -> tuple[Any, Any]:
    """Where the two ends of a row hang at the start. names: of its segments."""
    first, last = (np.array(at) for one, two, at in joints if is_segment(one, names) != is_segment(two, names))
    return first, last


def bridge(poses: Poses, joints: Joints) -> list[Fact]:
    """It holds 100 kg: the crate (0.6 m) is at rest, and no lower than if two straight halves of the row, 3 %
    longer than the distance of its ends, bore it at the joint between them."""
    first, last = ends_of(joints, "Bridge_")
    half = float(np.linalg.norm(last - first)) / 2.0
    lowest = first[2] - half * math.sqrt(1.03**2 - 1.0)
    above = float(poses["Cargo"][-1, 2]) - 0.3 - lowest
    gaps = separations(poses, joints, "Bridge_")
    # The far end closes a loop, which yields where the crate lands.
    planks = [gap for (one, _), gap in gaps.items() if is_segment(one, "Bridge_")]
    return [
        ("cargo_above_taut", above, "m", 0, half), ("cargo_speed", speed(places_of(poses, "Cargo")), "m/s", 0, REST),
        ("bridge_separation", 1000.0 * max(float(gap.max()) for gap in planks), "mm", 0, 1000 * HOLDS),
        ("bridge_ends", 1000.0 * max(float(gap[-1]) for gap in gaps.values()), "mm", 0, 1000 * HOLDS),
    ]  # fmt: skip


def hanging(span: float, length: float, number: int, stiffness: float = 0.0) -> float:
    """How far below its ends the lowest middle of so many equal rods of 2 kg/m hangs, m, with the least energy.

    stiffness: N m² against bending between rods; a stiff row hangs lower in its middle, as it does not follow the
    steep ends. Newton's method for the slopes and the two forces at the end.
    """
    each = length / number
    slopes, forces = np.linspace(-0.6, 0.6, number), np.zeros(2)
    weights = 2.0 * 9.81 * each**2 * (number - np.arange(number) - 0.5)
    change = np.diff(np.eye(number), axis=0)
    springs = stiffness / each * change.T @ change
    for _ in range(100):
        sine, cosine = np.sin(slopes), np.cos(slopes)
        ways = each * np.array([-sine, cosine])
        curves = np.diag(-weights * sine + each * (forces[0] * cosine + forces[1] * sine)) + springs
        rows = np.block([[curves, -ways.T], [ways, np.zeros((2, 2))]])
        missing = each * np.array([cosine.sum(), sine.sum()]) - (span, 0.0)
        step = -np.linalg.solve(rows, np.append(weights * cosine + springs @ slopes - forces @ ways, missing))
        step *= min(1.0, 0.3 / np.abs(step[:number]).max(initial=1e-12))
        slopes, forces = slopes + step[:number], forces + step[number:]
    falls = each * np.sin(slopes)
    return -float((np.cumsum(falls) - falls / 2.0).min())


def lines(poses: Poses, joints: Joints) -> list[Fact]:
    """Rope, chain and cable, of 5 N m², hang as rods 10 % longer than the distance of their ends do; at rest."""
    found: list[Fact] = []
    for kind in ("Rope", "Chain", "Cable"):
        rows = {name: rows[:, :3] for name, rows in poses.items() if is_segment(name, f"{kind}_")}
        first, last = ends_of(joints, f"{kind}_")
        span = float(np.linalg.norm(last - first))
        wanted = hanging(span, 1.1 * span, len(rows), 5.0 if kind == "Cable" else 0.0)
        lowest = float(first[2] - min(row[-1, 2] for row in rows.values()))
        found += [
            (f"{kind.lower()}_hangs", lowest, "m", wanted - HOLDS, wanted + HOLDS),
            (f"{kind.lower()}_speed", speed(rows), "m/s", 0, REST),
        ]  # fmt: skip
    return found


def net(poses: Poses, joints: Joints) -> list[Fact]:
    """It holds a ball of 0.35 m that is dropped at its middle from 0.4 m above it.

    From a corner of a square of a = 2 m to the middle the strings are a long, and sqrt(1/2) a as the crow flies: the
    middle is at most sqrt(1/2) a below the corners, at 2 m, and the ball lies on it.
    """
    return [("ball_height", float(poses["Catch"][-1, 2]), "m", 2.0 - math.sqrt(0.5) * 2.0 + 0.35, 2.4)]


def ragdoll(poses: Poses, joints: Joints) -> list[Fact]:
    """No joint separates by 5 mm, and it is at rest after 5 s."""
    bodies = {name: rows for name, rows in poses.items() if name.endswith("Body")}
    gaps = separations(bodies, joints, "")
    return [
        ("ragdoll_speed", speed({name: rows[:, :3] for name, rows in bodies.items()}), "m/s", 0, REST),
        ("separation", 1000.0 * max(float(gap.max()) for gap in gaps.values()), "mm", 0, 1000 * HOLDS),
    ]


def doors(poses: Poses, joints: Joints) -> list[Fact]:
    """The turntable turns on the spot by 1 rad/s, its motor comes up to that within its response of 0.3 s; a lever that
    stands upright stays, and a button sags by 1 % of its way of 5 cm."""
    turns = poses["Turntable"][:, 3:]
    # Each step turns by less than half a turn, so the angles of the steps add up.
    steps = 2.0 * np.arctan2(
        turns[1:, 2] * turns[:-1, 3] - turns[1:, 3] * turns[:-1, 2],
        turns[1:, 3] * turns[:-1, 3] + turns[1:, 2] * turns[:-1, 2],
    )
    turned = float(np.sum(np.remainder(steps + math.pi, 2.0 * math.pi) - math.pi))
    return [
        ("turntable_moved", gone(poses, "Turntable"), "m", 0, HOLDS),
        ("turntable_turned", turned, "rad", SECONDS - 0.3, SECONDS),
        ("lever_moved", gone(poses, "Lever"), "m", 0, HOLDS),
        ("button_moved", gone(poses, "Button"), "m", 0, 0.01 * 0.05),
    ]  # fmt: skip


def machines(poses: Poses, joints: Joints) -> list[Fact]:
    """The platform is lifted by *Rise*, 0.8 m."""
    rise = float(poses["Platform"][-1, 2] - poses["Platform"][0, 2])
    return [("platform_rise", rise, "m", 0.8 - HOLDS, 0.8 + HOLDS)]


def together(poses: Poses, joints: Joints) -> list[Fact]:
    """All that Newton takes, in one file."""
    return [
        fact
        for name, make in FACTS.items()
        if name not in REFUSED and name != "together"
        for fact in make(poses, joints)
    ]


FACTS: dict[str, Callable[[Poses, Joints], list[Fact]]] = {
    "car": car, "wall": wall, "bridge": bridge, "lines": lines, "net": net, "ragdoll": ragdoll, "doors": doors,
    "machines": machines, "together": together,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
