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
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SECONDS, RATE, LIMIT = 5.0, 60, 600
FRAMES = round(SECONDS * RATE)
#: Codes of issues with which Newton refuses a file, by example that it refuses.
REFUSED = {
    "wall": "JointOutsideArticulation",
    "net": "JointOutsideArticulation",
    "machines": "JointOutsideArticulation",
}
#: Codes of what Newton simulates in another way.
DIFFERENT = {"doors": "SurfaceVelocityIgnored", "together": "SurfaceVelocityIgnored", "wall": "BreakIgnored"}

#: Places (frames + 1, 3), m, of bodies by name; poses have a quaternion x, y, z, w, too: (frames + 1, 7).
Places = Mapping[str, Any]
Poses = Mapping[str, Any]
#: (two bodies, place in the world at the start) of joints.
Anchors = list[tuple[str, str, tuple[float, ...]]]
#: (name, value, unit, least, most).
Fact = tuple[str, float, str, float, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(FACTS), default=list(FACTS))
    parser.add_argument("--check", action="store_true", help="exit with 1 where a fact does not hold")
    for engine in ("physx", "newton"):
        parser.add_argument(f"--{engine}", default=os.environ.get(f"{engine.upper()}_PYTHON", ""), metavar="PYTHON")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            file = Path(folder) / f"{name}.usda"
            poses, anchors = build(name, file)
            failed += judge(f"preview_{name}", facts(name, poses, anchors))
            for engine in ("physx", "newton"):
                if not getattr(options, engine):
                    continue
                if engine == "newton":
                    failed += said(name, file)
                found = simulate(engine, getattr(options, engine), file)
                refused = engine == "newton" and name in REFUSED
                if found is None or refused:
                    failed += judge(f"{engine}_{name}", [("refused", float(found is None), "", refused, refused)])
                else:
                    failed += judge(f"{engine}_{name}", facts(name, found, anchors))
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


def facts(name: str, poses: Poses, anchors: Anchors) -> list[Fact]:
    found = FACTS[name]({body: rows[:, :3] for body, rows in poses.items()})
    if name == "ragdoll":
        gaps = [np.linalg.norm(_carried(poses[one], at) - _carried(poses[two], at), axis=1) for one, two, at in anchors]
        found.append(("separation", 1000.0 * float(np.max(gaps)), "mm", 0, 5))
    return found


def _carried(rows: Any, place: tuple[float, ...]) -> Any:
    """Where a place at the start goes with a body, (n, 3)."""
    turns, apart = rows[:, 3:], np.array(place) - rows[0, :3]
    local = _turned(turns[:1] * (-1, -1, -1, 1), apart[None])
    return _turned(turns, np.repeat(local, len(rows), axis=0)) + rows[:, :3]


def _turned(turns: Any, vectors: Any) -> Any:
    axes = turns[:, :3]
    return vectors + 2.0 * np.cross(axes, np.cross(axes, vectors) + turns[:, 3:] * vectors)


def build(name: str, file: Path) -> tuple[Poses, Anchors]:
    """Make the example, write it to file, and play it in the preview."""
    import bpy
    import demo_generators

    from usdphys_addon.bridge import props
    from usdphys_addon.playback import guard

    if not hasattr(bpy.types.Object, "usdphys"):
        props.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    demo_generators.add_ground()
    if name == "wall":
        demo_generators.add_wall_hit_at_a_corner()
    else:
        for example in (
            [name] if name != "together" else [one for one in demo_generators.EXAMPLES if one not in REFUSED]
        ):
            demo_generators.add_example(example, articulation=True)
    demo_generators.select()
    bpy.ops.wm.save_as_mainfile(filepath=str(file.with_suffix(".blend")))
    command = [sys.executable, "-m", "usdphys_addon", "convert", str(file.with_suffix(".blend")), str(file)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    bodies = [obj for obj in bpy.context.scene.objects if obj.usdphys.rigid_body.is_applied]
    places: Any = {_exported(obj): [] for obj in bodies}
    joined = [(obj.usdphys.joint, obj) for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied]
    anchors = [
        (_exported(joint.body0), _exported(joint.body1), tuple(obj.matrix_world.translation))
        for joint, obj in joined
        if joint.body0 in bodies and joint.body1 in bodies
    ]
    session = guard.start(bpy.context)
    for frame in range(FRAMES + 1):
        while session.world.time < frame / RATE - 1e-6:
            session.simulate(bpy.context)
        session.show(bpy.context)
        for obj in bodies:
            x = obj.matrix_world.to_quaternion()
            places[_exported(obj)].append((*obj.matrix_world.translation, x.x, x.y, x.z, x.w))
    guard.stop()
    return {name: np.array(rows) for name, rows in places.items()}, anchors


def _exported(obj: Any) -> str:
    """The name of an object in USD."""
    return obj.name.replace(" ", "_").replace(".", "_")


def simulate(engine: str, python: str, file: Path) -> Poses | None:
    """Poses in a simulator; None where it refuses the file."""
    target = file.with_suffix(f".{engine}.npz")
    program = ROOT / "usdphys_addon" / "simulation" / "engines" / f"run_{engine}.py"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(
        [python, str(program), str(file), str(FRAMES), repr(1 / RATE), str(target)], cwd=file.parent,
        capture_output=True, timeout=LIMIT, env=environment, check=False,
    )  # fmt: skip
    if not target.is_file():
        return None
    with np.load(target) as found:
        names = [str(name).rsplit("/", 1)[-1] for name in found["names"]]
        return {name: found["poses"][:, row] for row, name in enumerate(names)}


def said(name: str, file: Path) -> int:
    """Do the checks for Newton say what it refuses, and what is otherwise there? Returns 1 where not."""
    command = [sys.executable, "-m", "usdphys_addon", "validate", "--json", "--target", "newton", str(file)]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    json.loads(text)
    wanted = {codes[name] for codes in (REFUSED, DIFFERENT) if name in codes}
    missing = [code for code in wanted if f'"{code}"' not in text]
    needless = "JointOutsideArticulation" in text and name not in REFUSED
    return judge(f"newton_{name}", [("unsaid_by_checks", len(missing) + needless, "", 0, 0)])


# --------------------------------------------------------------------------- facts


def _speed(places: Places, names: str = "") -> float:
    """The largest speed at the end, m/s."""
    return max(float(np.linalg.norm(rows[-1] - rows[-2])) * RATE for key, rows in places.items() if names in key)


def _numbers(places: Places) -> Fact:
    return ("not_finite", float(sum(not np.isfinite(rows).all() for rows in places.values())), "bodies", 0, 0)


def car(places: Places) -> list[Fact]:
    rows = places["Car"] - places["Car"][0]
    there = np.flatnonzero(rows[:, 0] >= 10.0)
    aside = float(np.abs(rows[: there[0] + 1, 1]).max()) if len(there) else math.inf
    return [_numbers(places), ("forward", float(rows[-1, 0]), "m", 10, 25), ("sideways_in_10_m", aside, "m", 0, 0.2)]


def wall(places: Places) -> list[Fact]:
    """Neighbours that are no longer as far from each other, 0.7 s after a ball has flown at the upper corner."""
    bricks = np.array([rows[[0, round(0.7 * RATE)]] for name, rows in places.items() if name.startswith("Brick")])
    before, after = (np.linalg.norm(now[:, None] - now, axis=2) for now in bricks.swapaxes(0, 1))
    pairs = np.argwhere(np.triu((before < 0.25) & (np.abs(after - before) > 0.01), 1))
    hit = places["Ball"][0][[0, 2]]
    apart = [float(np.linalg.norm(bricks[pair, 0].mean(axis=0)[[0, 2]] - hit)) for pair in pairs]
    return [
        _numbers(places), ("broken", float(len(pairs)), "pairs of bricks", 1, 40),
        ("farthest", max(apart, default=math.inf), "m", 0, 0.51),
    ]  # fmt: skip


def bridge(places: Places) -> list[Fact]:
    fall = float(places["Cargo"][0, 2] - places["Cargo"][-1, 2])
    return [
        _numbers(places),
        ("cargo_fell", fall, "m", 0, 0.5),
        ("cargo_speed", _speed(places, "Cargo"), "m/s", 0, 0.1),
    ]


def lines(places: Places) -> list[Fact]:
    lowest = min(float(rows[-1, 2]) for name, rows in places.items() if "Anchor" not in name)
    return [_numbers(places), ("lowest", lowest, "m", 0.72, 0.76), ("speed", _speed(places), "m/s", 0, 0.3)]


def net(places: Places) -> list[Fact]:
    return [_numbers(places), ("ball_height", float(places["Catch"][-1, 2]), "m", 0.5, 2.4)]


def ragdoll(places: Places) -> list[Fact]:
    bodies = {name: rows for name, rows in places.items() if name.endswith("Body")}
    return [_numbers(places), ("speed", _speed(bodies), "m/s", 0, 0.1)]


def doors(places: Places) -> list[Fact]:
    return [
        _numbers(places), ("turntable_moved", _gone(places["Turntable"]), "m", 0, 0.05),
        ("lever_moved", _gone(places["Lever"]), "m", 0, 0.2), ("button_moved", _gone(places["Button"]), "m", 0, 0.05),
    ]  # fmt: skip


def together(places: Places) -> list[Fact]:
    """All that Newton takes, in one file."""
    return [*car(places), *bridge(places)[1:], *ragdoll(places)[1:]]


def _gone(rows: Any) -> float:
    return float(np.linalg.norm(rows[-1] - rows[0]))


def machines(places: Places) -> list[Fact]:
    rise = float(places["Platform"][-1, 2] - places["Platform"][0, 2])
    return [_numbers(places), ("platform_rise", rise, "m", 0.7, 0.9)]


FACTS: dict[str, Callable[[Places], list[Fact]]] = {
    "car": car, "wall": wall, "bridge": bridge, "lines": lines, "net": net, "ragdoll": ragdoll, "doors": doors,
    "machines": machines, "together": together,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
