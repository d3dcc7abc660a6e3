#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a physics engine move the scenes of this suite as a textbook says?

    python run.py ADAPTER.py [ARGUMENT...] [--form usda|glb] [--only TEXT] [--json RESULTS]

Needs Python 3.10 or later and numpy. ADAPTER.py has one function:

    def simulate(file, seconds, rate, *arguments):
        '''Poses by path of the prim, or name of the node: array (frames + 1, 7).

        file: path of the scene, in metres, Z up in .usda and Y up in .glb. rate: frames a second. A pose is a position,
        m, and a quaternion, w first, in the world of the file. Raise NotImplementedError("why") where the engine
        cannot run the scene.'''

One line for each scene: its name, `holds`, `off`, `refused` or `broken`, the number that was measured, and the answer.
A scene is broken where the adapter raises another exception, or returns no such poses; the others run all the same.
Exit status 1 where a scene is off or broken, or none holds, 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", type=Path, metavar="ADAPTER.py")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="handed to the adapter")
    parser.add_argument("--form", choices=("usda", "glb"), default="usda", help="which file of each scene")
    parser.add_argument("--only", default="", help="only scenes with this in their name or title; case does not matter")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    if not options.adapter.is_file():
        parser.error(f"'{options.adapter}' is no file")
    if not any(True for _ in chosen(options)):
        parser.error(f"no scene has '{options.only}' in its name")
    simulate = getattr(load(options.adapter), "simulate", None)
    if simulate is None:
        parser.error(f"'{options.adapter}' has no function simulate(file, seconds, rate)")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
    results = []
    for scene in chosen(options):
        results.append(result(scene, simulate, options))
        print(line(results[-1]), flush=True)
        if options.json:
            # An engine may end the process.
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    verdicts = Counter(one["verdict"] for one in results)
    told = f"{verdicts['holds']} hold, {verdicts['off']} off, {verdicts['refused']} refused"
    print(f"{len(results)} scenes: {told}, {verdicts['broken']} broken")
    return 1 if verdicts["off"] or verdicts["broken"] or not verdicts["holds"] else 0


def chosen(options: argparse.Namespace) -> Iterator[dict]:
    """The scenes that are asked for."""
    wanted = options.only.lower()
    for scene in scenes():
        if options.form in scene["files"] and (wanted in scene["name"].lower() or wanted in scene["title"].lower()):
            yield scene


def load(adapter: Path):
    """The module of an adapter."""
    spec = importlib.util.spec_from_file_location("adapter", adapter)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scenes(folder: Path = FOLDER) -> list[dict]:
    """The scenes of the suite: name, files by form, seconds, frames_per_second, expected, tolerance, unit."""
    return json.loads((folder / "suite.json").read_text(encoding="utf-8"))["scenes"]


def result(scene: dict, simulate, options: argparse.Namespace) -> dict:
    """What became of one scene."""
    known = {key: scene[key] for key in ("name", "expected", "tolerance", "unit")}
    file = FOLDER / scene["files"][options.form]
    try:
        poses = simulate(file, scene["seconds"], scene["frames_per_second"], *options.arguments)
        value = measured(scene, poses, is_y_up=options.form == "glb")
    except NotImplementedError as error:
        return {**known, "verdict": "refused", "value": None, "why": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {**known, "verdict": "broken", "value": None, "why": f"{type(error).__name__}: {error}"}
    is_right = math.isfinite(value) and abs(value - scene["expected"]) <= scene["tolerance"] + 1e-9
    return {**known, "verdict": "holds" if is_right else "off", "value": value if math.isfinite(value) else None}


def measured(scene: dict, poses: dict, *, is_y_up: bool) -> float:
    """The number of a scene in the poses of its bodies."""
    import numpy as np

    sys.path.insert(0, str(FOLDER))
    from suite.measures import MEASURES, Motion

    case = next(case for case in MEASURES if f"{case.group}: {case.name}" == scene["title"])
    wanted = round(scene["seconds"] * scene["frames_per_second"]) + 1
    positions, rotations = {}, {}
    for path, rows in poses.items():
        values = np.asarray(rows, float)
        if values.shape != (wanted, 7):
            raise TypeError(f"the adapter gives {values.shape} for '{path}' and not ({wanted}, 7)")
        place, turn = values[:, :3], values[:, 3:]
        if is_y_up:
            x, y, z = place.T
            place = np.stack([x, -z, y], axis=1)
            # The axes of nodes are turned as those of the world are.
            w, x, y, z = turn.T
            turn = np.stack([w, x, -z, y], axis=1)
        name = path.rsplit("/", 1)[-1]
        positions[name], rotations[name] = place, turn
    try:
        return float(case.value(Motion(positions, rotations)))
    except KeyError as error:
        raise NotImplementedError(f"no poses of {error}") from error
    except (IndexError, ValueError, ZeroDivisionError):
        return math.nan


def line(one: dict) -> str:
    answer = f"{one['expected']:.4g} +- {one['tolerance']:.3g} {one['unit']}"
    if one["verdict"] in ("refused", "broken"):
        return f"{one['name']} {one['verdict']}: {one['why']}"
    value = "lost" if one["value"] is None else f"{one['value']:.4g}"
    return f"{one['name']} {one['verdict']} {value} (answer {answer})"


if __name__ == "__main__":
    sys.exit(main())
