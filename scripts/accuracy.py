# SPDX-License-Identifier: GPL-3.0-or-later
"""How exact is the preview? Scenes with an answer from a textbook, in both engines of the preview, PhysX and Newton.

`accuracy.py [--page docs/accuracy.md] [--only TEXT]`. The scenes are those of tests/simulation/measures.py. PhysX and
Newton read the same USD files in their own processes, where a Python that has them is named (--physx, --newton, or
PHYSX_PYTHON, NEWTON_PYTHON). This Python needs rapier3d, pxr and, for its column, mujoco.
--page writes the table into a page of the manual. Exit status 1 where the preview in Rapier is outside of a tolerance
at the quality Normal or Exact.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import compare_physx
import engine_runs

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"physx": "PhysX", "newton": "Newton"}
#: Qualities that are shown of the preview in MuJoCo.
MUJOCO = ("normal", "exact")
#: Lines of the page between which the table is written.
BEGIN, END = "<!-- table -->", "<!-- end -->"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, help="a page of the manual, whose table is written anew")
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    engine_runs.add_options(parser)
    options = parser.parse_args()
    compare_physx.load_extension()
    measures = importlib.import_module("simulation_tests.measures")
    chosen = [case for case in measures.MEASURES if options.only in f"{case.group}: {case.name}"]
    others = engine_runs.chosen(options)
    rows, failed = [], 0
    mujoco = importlib.util.find_spec("mujoco") is not None
    columns = [by_other([case for case in chosen if not case.movers], *other) for other in others.items()]
    for case in chosen:
        values = [ours(case, quality) for quality in ("draft", "normal", "exact")]
        failed += sum(not holds(case, value) for value in values[1:])
        if mujoco:
            values += [in_mujoco(case, quality) for quality in MUJOCO]
        values += [column.get(case.name) for column in columns]
        rows.append(row(case, values))
        print(rows[-1], flush=True)
    head = ["scene", "answer", "Draft", "Normal", "Exact"]
    head += [f"MuJoCo, {quality.capitalize()}" for quality in MUJOCO if mujoco]
    head += [NAMES[engine] for engine in others]
    table = "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])
    if options.page and not options.only:
        text = options.page.read_text(encoding="utf-8")
        before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
        options.page.write_text(f"{before}\n{table}\n{after}", encoding="utf-8")
    print(f"{len(chosen)} scenes, {failed} values outside of their tolerance")
    return 1 if failed or not chosen else 0


def holds(case: Any, value: float | None) -> bool:
    return value is not None and abs(value - case.expected) <= case.tolerance + 1e-9


def row(case: Any, values: list[float | None]) -> str:
    """A line of the table; what is outside of the tolerance is marked."""
    cells = []
    for value in values:
        if value is None:
            cells.append("-")
        elif not math.isfinite(value) or abs(value) > 1e5:
            cells.append("**lost**")
        else:
            cells.append(f"{value:.3g}" if holds(case, value) else f"**{value:.3g}**")
    answer = f"{case.expected:.4g} ± {case.tolerance:.3g} {case.unit}"
    return f"| {case.group}: {case.name} | {answer} | {' | '.join(cells)} |"


def filled(case: Any) -> Any:
    author = importlib.import_module("simulation_tests.author")
    file = author.File()
    case.fill(file)
    return file


def ours(case: Any, quality: str) -> float:
    helpers = importlib.import_module("simulation_tests.helpers")
    measuring = importlib.import_module("simulation_tests.measuring")
    return float(case.value(measuring.moved(helpers.world_of(filled(case), quality=quality), case)))


def in_mujoco(case: Any, quality: str) -> float | None:
    """The value of the preview in MuJoCo; None where it has no number, as where bodies are lost."""
    helpers = importlib.import_module("simulation_tests.helpers")
    measuring = importlib.import_module("simulation_tests.measuring")
    try:
        world = helpers.world_of(filled(case), quality=quality, engine="mujoco")
        return float(case.value(measuring.moved(world, case)))
    except (KeyError, IndexError, ValueError, ZeroDivisionError):
        return None


def by_other(cases: list[Any], engine: str, python: str) -> dict[str, float | None]:
    """The values of another simulator by name of the scene; None if it does not read the scene."""
    measures = importlib.import_module("simulation_tests.measures")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"scene{number}.usda" for number in range(len(cases))]
        for file, case in zip(files, cases, strict=True):
            file.write_text(filled(case).text(), encoding="utf-8")
        steps = [round(case.seconds * measures.RATE) for case in cases]
        found = engine_runs.poses(engine, python, files, steps, 1 / measures.RATE, quiet=True)
    return {case.name: value_of(case, poses) for case, poses in zip(cases, found, strict=True)}


def value_of(case: Any, poses: dict[str, Any] | None) -> float | None:
    """The number of a measure in the poses of another simulator."""
    if not poses:
        return None
    measures = importlib.import_module("simulation_tests.measures")
    positions, rotations = ({name: rows[:, part] for name, rows in poses.items()} for part in ([0, 1, 2], [6, 3, 4, 5]))
    try:
        return float(case.value(measures.Motion(positions, rotations)))
    except (KeyError, IndexError, ValueError, ZeroDivisionError):
        return None


if __name__ == "__main__":
    sys.exit(main())
