# SPDX-License-Identifier: GPL-3.0-or-later
"""Each scene with an answer beside each troublemaker, which is not connected to it: it must keep its answer.

`beside.py [--only TEXT] [--trouble NAME ...] [--check]`. The scenes are those of `accuracy.py`, and those of others
where their folder is beside the checkout; the troublemakers, things that once changed the steps, sweeps or friction of
all, are those of the laboratory. Prints what parts, and by how much (m) a body is elsewhere than without the
troublemaker. --check: exit status 1 where an answer is lost.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import compare_physx
import laboratory_scenes as scenes
import numpy as np
from usdphys_ext.usdphys_addon.core.likeness import bounds
from usdphys_ext.usdphys_addon.core.model import PhysicsModel

if "simulation_tests" not in sys.modules:
    compare_physx.load_scenes()
#: Distance (m) from the last collider of a scene, along X and Y, and width of the floor that a troublemaker gets.
DISTANCE, WIDTH = 12.0, 8.0
ROOT = f"{scenes.W}/Trouble"


@dataclass(frozen=True)
class Outcome:
    """Of a scene: what of its answer does not hold, and places of bodies (frames, n, 3), m."""

    lost: list[str]
    places: Any


def add_trouble(model: PhysicsModel, name: str) -> None:
    """Build a troublemaker beside a scene, on a floor of its own."""
    boxes = [box for prim in model.colliders.values() if (box := bounds(prim)) is not None]
    ends = [box[1, :2] for box in boxes] + [prim.world[:2, 3] for prim in model.bodies.values()]
    place = np.max(ends, axis=0) + DISTANCE
    bench = scenes.Bench(model, ROOT, scenes.frames.transform((*place, 0.0)), Random(1))
    rubber = bench.material("/Floor/Rubber", 0.6)
    floor = bench.cell @ scenes.frames.transform((0, 0, -0.5))
    bench.collider(f"{ROOT}/Floor", "Cube", (WIDTH, WIDTH, 1.0), floor, rubber)
    scenes.TROUBLE[name](bench)


def measured(case: Any, trouble: str = "") -> Outcome:
    """A scene of accuracy.py, alone or beside a troublemaker."""
    helpers, measuring = (importlib.import_module(f"simulation_tests.{name}") for name in ("helpers", "measuring"))
    file = importlib.import_module("simulation_tests.author").File()
    case.fill(file)
    model = helpers.model_in(file)
    own = [path.rsplit("/", 1)[-1] for path in model.bodies]
    if trouble:
        add_trouble(model, trouble)
    motion = measuring.moved(helpers.World(model), case)
    moved = type(motion)(*({name: rows[name] for name in own} for rows in (motion.positions, motion.rotations)))
    value = case.value(moved)
    holds = abs(value - case.expected) <= case.tolerance + 1e-9
    places = np.stack([moved.positions[name] for name in own], axis=1)
    return Outcome([] if holds else [f"{value:.4g} {case.unit}, wanted {case.expected:.4g}"], places)


def judged(file: Path, trouble: str = "") -> Outcome:
    """A scene of others, alone or beside a troublemaker."""
    lab = importlib.import_module("simulation_tests.lab_files")
    change = partial(add_trouble, name=trouble) if trouble else None
    with tempfile.TemporaryDirectory() as folder:
        lost = lab.disagreements(file, Path(folder), lab.PREVIEW, change)
        motion = np.load(Path(folder) / "motion.npz")
        scene, _ = lab.judge().scenes_def.make(file.stem)
        return Outcome(lost, motion["P"] * scene.mpu)


def all_scenes() -> Iterator[tuple[str, Any]]:
    """(name, function of the name of a troublemaker, or of nothing, that simulates the scene)."""
    for case in importlib.import_module("simulation_tests.measures").MEASURES:
        yield f"{case.group}: {case.name}", partial(measured, case)
    for file in importlib.import_module("simulation_tests.lab_files").FILES:
        yield file.stem, partial(judged, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    parser.add_argument("--trouble", nargs="*", choices=sorted(scenes.TROUBLE), default=sorted(scenes.TROUBLE))
    parser.add_argument("--check", action="store_true", help="exit status 1 where an answer is lost")
    options = parser.parse_args()
    chosen = [(name, run) for name, run in all_scenes() if options.only in name]
    parted = 0
    for name, run in chosen:
        alone = run()
        cells = []
        for trouble in options.trouble:
            beside = run(trouble)
            apart = float(np.nanmax(np.linalg.norm(beside.places - alone.places, axis=2), initial=0.0))
            lost = [text for text in beside.lost if not alone.lost]
            parted += bool(lost)
            cells.append(f"{trouble} {apart:.2g}{' LOST: ' + '; '.join(lost) if lost else ''}")
        print(
            f"{name}{' (alone: ' + '; '.join(alone.lost) + ')' if alone.lost else ''}: {', '.join(cells)}", flush=True
        )
    print(f"{len(chosen)} scenes beside {len(options.trouble)} troublemakers: {parted} answers lost")
    return 1 if options.check and (parted or not chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
