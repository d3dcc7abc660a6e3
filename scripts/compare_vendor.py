# SPDX-License-Identifier: GPL-3.0-or-later
"""Do settings of simulators, made as the panels make them, change the motion in PhysX and Newton as they should?

    .venv/bin/python scripts/compare_vendor.py [--physx PYTHON] [--newton PYTHON] [--only TEXT] [--keep FOLDER]
        [--centimetres] [--check]

Each scene of vendor_scenes.py, and for PhysX of joint_scenes.py (its guide to joints), is exported without a setting
and with it, and both files are simulated. A row is good where both motions are what a textbook says, or what PhysX was
seen to do with a file written by hand. Needs Blender (bpy) and a Python with ovphysx or newton[sim]; a simulator whose
Python is not named (PHYSX_PYTHON, NEWTON_PYTHON) is left out. Prints a row per setting, and per simulator the number of
good ones that change the motion, and that must not. With --centimetres the files are in centimetres with Y up. With
--check, exit status 1 where one is not good, or fewer than 30 change the motion in PhysX or 8 in Newton; in centimetres
only PhysX counts, because Newton supports metres alone.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench
import engine_runs
import numpy as np

LEAST = {"physx": 30, "newton": 8}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engine_runs.add_options(parser)
    parser.add_argument("--only", default="", help="only settings with this in their name")
    parser.add_argument("--keep", type=Path, help="keep the files in this folder")
    parser.add_argument("--centimetres", action="store_true", help="files in centimetres with Y up, in place of Z")
    parser.add_argument("--check", action="store_true", help="exit with 1 where too few settings are good")
    options = parser.parse_args()
    bench.load_extension().register()
    units = importlib.import_module("usdphys_ext.usdphys_addon.core.units")
    of_files = units.StageUnits(0.01, 1.0, "Y") if options.centimetres else units.SI
    scenes = importlib.import_module("vendor_scenes")
    guide = importlib.import_module("joint_scenes")
    makers = {"physx": lambda: scenes.in_physx() | guide.experiments(), "newton": scenes.in_newton}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for engine, python in engine_runs.chosen(options).items():
            found = {name: one for name, one in makers[engine]().items() if options.only in name}
            good = compare(engine, python, found, kept, of_files)
            changing = [name for name, one in found.items() if one.with_ != one.without]
            changed = len(good.intersection(changing))
            print(f"{engine}_changes {changed} of {len(changing)}")
            print(f"{engine}_ignored {len(good) - changed} of {len(found) - len(changing)}")
            # Newton supports no other unit than metres, and says so.
            if engine != "newton" or not options.centimetres:
                failed |= len(good) < len(found) or (not options.only and changed < LEAST[engine])
    return 1 if failed and options.check else 0


def compare(engine: str, python: str, experiments: dict[str, Any], folder: Path, units: Any) -> set[str]:
    """Simulate all pairs and print a row for each. units: of the files. Returns the names of the good ones."""
    files = []
    for name, experiment in experiments.items():
        files += [folder / f"{engine}-{name}-{word}.usda" for word in ("without", "with")]
        write(experiment, *files[-2:], units)
    steps = [round(one.seconds * 60) for one in experiments.values() for _ in range(2)]
    pairs = list(zip(files, engine_runs.poses(engine, python, files, steps, 1 / 60, by_path=True), strict=True))
    good = set()
    for row, (name, experiment) in enumerate(experiments.items()):
        found = [measured(*pair, experiment, engine == "newton") for pair in pairs[2 * row : 2 * row + 2]]
        spans = (experiment.without, experiment.with_)
        is_good = all(low <= value <= high for value, (low, high) in zip(found, spans, strict=True))
        if is_good:
            good.add(name)
        shown = " -> ".join(
            f"{value:8.3f} ({low:.4g} to {high:.4g})" for value, (low, high) in zip(found, spans, strict=True)
        )
        print(f"{engine:7} {name:26} {experiment.measure:7} {shown}  {'good' if is_good else 'BAD'}", flush=True)
    return good


def write(experiment: Any, without: Path, with_: Path, units: Any) -> None:
    """Export a scene twice, in these units."""
    import bpy

    usd_export = importlib.import_module("usdphys_ext.usdphys_addon.exchange.usd_export")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.usdphys.targets = set(experiment.targets)
    chosen = usd_export.ExportOptions(units)
    experiment.build()
    bpy.context.view_layer.update()
    usd_export.export_usd(bpy.context, without, chosen)
    experiment.change()
    bpy.context.view_layer.update()
    usd_export.export_usd(bpy.context, with_, chosen)
    # Blender writes siblings in another order from run to run.
    lines = [sorted(file.read_text(encoding="utf-8").splitlines()) for file in (without, with_)]
    if lines[0] == lines[1]:
        raise RuntimeError(f"The setting is not in '{with_}': it looks as if the simulator ignored it.")


def authored(file: Path, path: str) -> tuple[Any, Any, float, bool]:
    """(place, orientation, metres of a unit, is Z up) that a file says of a body."""
    from mathutils import Matrix
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(file))
    place = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path))
    location, rotation, _ = Matrix(np.array(place).T.tolist()).decompose()
    return location, rotation, UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage) == "Z"


def measured(file: Path, poses: dict[str, Any] | None, experiment: Any, turns: bool) -> float:
    """What a simulator moves the watched body by, with Z up; NaN where it does not simulate it.

    turns: its poses have Z up whatever the file has.
    """
    from mathutils import Quaternion, Vector

    paths = [path for path in poses or () if path.rpartition("/")[2] == experiment.watched]
    if not paths:
        return math.nan
    end = poses[paths[0]][-1]
    place, rotation, meters, is_z_up = authored(file, paths[0])
    if turns and not is_z_up:
        up = Quaternion((1, 0, 0), math.pi / 2)
        place, rotation, is_z_up = up @ place, up @ rotation, True
    moved = (Vector(end[:3].tolist()) - place) * meters
    turned = Quaternion((end[6], *end[3:6].tolist())) @ rotation.inverted()
    about = Vector((turned.x, turned.y, turned.z))
    if not is_z_up:
        moved, about = (Vector((one.x, -one.z, one.y)) for one in (moved, about))
    kind, _, axis = experiment.measure.partition(" ")
    if kind == "way":
        return moved.length
    if kind == "tilt":
        return math.degrees(Vector((1, 0, 0)).angle(Quaternion((turned.w, *about)) @ Vector((1, 0, 0))))
    if kind not in ("turn", "turned"):
        return float(moved["xyz".index(kind)])
    part = about.length if kind == "turned" else about["xyz".index(axis)]
    angle = math.degrees(2 * math.atan2(part, turned.w))
    return (angle + 180.0) % 360.0 - 180.0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # bpy may hang while Python ends
