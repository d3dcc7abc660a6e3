# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the preview move things as PhysX does? Both simulate the same USD files for one second; differences per body.

`compare_physx.py [FILE...]`: without files, the scenes of tests/simulation/catalogue.py. Needs a Python with ovphysx
(--python or PHYSX_PYTHON); says so and ends with status 0 where it is missing. This Python needs rapier3d and pxr. Exit
status 1 where a body is farther from PhysX's place than 1 % of the way it went and than 5 mm. Orientations are shown
only: PhysX damps every rotation.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import engine_runs

ROOT = Path(__file__).resolve().parent.parent
RATE = 60
#: Of the way that a body went, and metres.
PART, DISTANCE = 0.01, 0.005

Vector = tuple[float, ...]
Pose = tuple[Vector, Vector]  # metres; w, x, y, z


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="USD files (default: the scenes of the tests)")
    parser.add_argument("--python", default=os.environ.get("PHYSX_PYTHON", ""), help="a Python with ovphysx")
    parser.add_argument("--steps", type=int, default=RATE, help="steps of a sixtieth of a second (default: 60)")
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    options = parser.parse_args()
    if not options.python or not Path(options.python).is_file():
        print("SKIP: no Python with ovphysx; name one with --python or PHYSX_PYTHON")
        return 0
    load_extension()
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or write_scenes(Path(folder))
        judged = [judge(file, options) for file in files if options.only in file.stem]
    failed = sum(not item for item in judged)
    print(f"{len(judged) - failed} scenes agree, {failed} do not")
    return 1 if failed or not judged else 0


def load_extension() -> None:
    """The code and the scenes under the names that the tests use."""
    load("conftest", ROOT / "tests" / "conftest.py")
    load_scenes()


def load_scenes() -> None:
    """The scenes alone, as the package `simulation_tests`; they need nothing of the code."""
    package = ModuleType("simulation_tests")
    package.__path__ = [str(ROOT / "tests" / "simulation")]
    sys.modules[package.__name__] = package


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def write_scenes(folder: Path) -> list[Path]:
    author = importlib.import_module("simulation_tests.author")
    catalogue = importlib.import_module("simulation_tests.catalogue")
    files = []
    for name, fill in catalogue.SCENES.items():
        file = author.File()
        fill(file)
        path = folder / f"{name}.usda"
        path.write_text(file.text(), encoding="utf-8")
        files.append(path)
    return files


def judge(file: Path, options: argparse.Namespace) -> bool:
    """Print a line per body; True where all agree."""
    judged = with_physx(options.python, file, options.steps)
    ours, ways = with_preview(file, options.steps)
    good = True
    for path in sorted(ours):
        if path not in judged:
            print(f"{file.stem}: {path} is no body for PhysX")
            continue
        (place, turn), (other, other_turn) = ours[path], judged[path]
        way, turning = ways[path]
        error, angle = math.dist(place, other), between(turn, other_turn)
        holds = error <= max(PART * way, DISTANCE)
        good = good and holds
        print(
            f"{file.stem:20} {path:20} {1e3 * error:7.2f} mm of {way:6.3f} m {angle:6.2f} of {turning:5.0f} deg  "
            f"{'PASS' if holds else 'FAIL'}"
        )
        if not holds:
            print(f"{'':20} ours {shown(place)} {shown(turn)}, PhysX {shown(other)} {shown(other_turn)}")
    return good and bool(ours)


def between(first: Vector, second: Vector) -> float:
    """Degrees between two orientations (w, x, y, z)."""
    cosine = abs(sum(a * b for a, b in zip(first, second, strict=True)))
    cosine /= math.hypot(*first) * math.hypot(*second)
    return math.degrees(2 * math.acos(min(1.0, cosine)))


def shown(vector: Vector) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in vector) + ")"


def with_preview(file: Path, steps: int) -> tuple[dict[str, Pose], dict[str, tuple[float, float]]]:
    """Poses at the end in metres, axes of the stage; lengths of the ways there in metres and degrees."""
    usd_read = importlib.import_module("usdphys_ext.usdphys_addon.usd.read")
    world_module = importlib.import_module("usdphys_ext.usdphys_addon.simulation.world")
    record_module = importlib.import_module("usdphys_ext.usdphys_addon.simulation.record")
    stage = usd_read.open_stage(file)
    model = usd_read.read_stage(stage)
    recording = record_module.record(world_module.World(model, time_step=1 / RATE), steps)
    table = recording.as_json(model.units)["bodies"]
    meters = model.units.meters_per_unit
    poses, ways = {}, {}
    for path, body in table.items():
        places = [tuple(part * meters for part in place) for place in body["translation"]]
        turns = [tuple(turn) for turn in body["rotation"]]
        poses[path] = (places[-1], turns[-1])
        ways[path] = (
            sum(math.dist(*pair) for pair in pairwise(places)),
            sum(between(*pair) for pair in pairwise(turns)),
        )
    return poses, ways


def with_physx(python: str, file: Path, steps: int) -> dict[str, Pose]:
    """Poses after so many steps, in metres, axes of the stage."""
    usd_read = importlib.import_module("usdphys_ext.usdphys_addon.usd.read")
    meters = usd_read.stage_units(usd_read.open_stage(file)).meters_per_unit
    (found,) = engine_runs.poses("physx", python, [file], steps, 1 / RATE, by_path=True)
    ends = {path: rows[-1].tolist() for path, rows in (found or {}).items()}
    return {path: (tuple(part * meters for part in end[:3]), (end[6], *end[3:6])) for path, end in ends.items()}


if __name__ == "__main__":
    sys.exit(main())
