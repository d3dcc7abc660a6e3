# SPDX-License-Identifier: GPL-3.0-or-later
"""How exact is the preview? Scenes with an answer from a textbook, simulated here, by PhysX and by Newton.

`accuracy.py [--page docs/accuracy.md] [--only TEXT]`. The scenes are those of tests/simulation/measures.py. PhysX and
Newton read the same USD files in their own processes, where a Python that has them is named (--physx, --newton, or
PHYSX_PYTHON, NEWTON_PYTHON) and ovphysx_check.py and newton_check.py lie in ../shared/tools (--tools). This Python
needs rapier3d and pxr. --page writes the table into a page of the manual. Exit status 1 where the preview is outside of
a tolerance at the quality Normal or Exact.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import compare_physx

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 300
#: Lines of the page between which the table is written.
BEGIN, END = "<!-- table -->", "<!-- end -->"

_PHYSX = """
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("tool", sys.argv[1])
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

def frames_of(scene, count):
    px, stage = tool.load(scene)
    paths = tool.ovstage.PathDictionary(stage)
    frames = [{name: pose.tolist() for name, pose in tool.poses(px, paths).items()}]
    for _ in range(count):
        px.step_sync(1 / 60)
        frames.append({name: pose.tolist() for name, pose in tool.poses(px, paths).items()})
    return frames
"""
_NEWTON = """
import json, os, sys
import warp as wp
wp.config.quiet = True
import newton

def frames_of(scene, count):
    builder = newton.ModelBuilder()
    builder.add_usd(scene, load_visual_shapes=False)
    model = builder.finalize()
    solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True)
    now, after, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, now)
    frames = []
    for frame in range(count + 1):
        frames.append(dict(zip(model.body_label, now.body_q.numpy().tolist())))
        for _ in range(8):
            now.clear_forces()
            solver.step(now, after, control, None, 1 / 480)
            now, after = after, now
    return frames

wp.ScopedDevice("cpu").__enter__()
"""
#: Simulates scenes one after the other. The file is a JSON list of (scene, number of frames, file for the poses).
_LOOP = """
for scene, count, found in json.load(open(sys.argv[2])):
    try:
        frames = frames_of(scene, count)
    except Exception:
        frames = None
    with open(found + ".part", "w") as file:
        json.dump(frames, file)
    os.replace(found + ".part", found)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, help="a page of the manual, whose table is written anew")
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    parser.add_argument("--physx", default=os.environ.get("PHYSX_PYTHON", ""), help="a Python with ovphysx")
    parser.add_argument("--newton", default=os.environ.get("NEWTON_PYTHON", ""), help="a Python with newton")
    parser.add_argument("--tools", type=Path, default=ROOT.parent / "shared" / "tools", help="where the tools lie")
    options = parser.parse_args()
    compare_physx.load_extension()
    measures = importlib.import_module("simulation_tests.measures")
    chosen = [case for case in measures.MEASURES if options.only in f"{case.group}: {case.name}"]
    others = {}
    for name, python, code, tool in (
        ("PhysX", options.physx, _PHYSX, "ovphysx_check.py"), ("Newton", options.newton, _NEWTON, ""),
    ):  # fmt: skip
        if python and Path(python).is_file() and (not tool or (options.tools / tool).is_file()):
            others[name] = (python, code, options.tools / tool)
        else:
            print(f"SKIP: no {name}", file=sys.stderr)
    rows, failed = [], 0
    columns = [by_other([case for case in chosen if not case.movers], *other) for other in others.values()]
    for case in chosen:
        values = [ours(case, quality) for quality in ("draft", "normal", "exact")]
        failed += sum(not holds(case, value) for value in values[1:])
        values += [column.get(case.name) for column in columns]
        rows.append(row(case, values))
        print(rows[-1], flush=True)
    head = ["scene", "answer", "Draft", "Normal", "Exact", *others]
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


def by_other(cases: list[Any], python: str, code: str, tool: Path) -> dict[str, float | None]:
    """The values of another simulator by name of the scene; None if it does not read the scene.

    One process simulates all, because it takes long to start. It is started again after a scene that ends or halts it.
    """
    found: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {case.name: Path(folder) / f"poses{number}.json" for number, case in enumerate(cases)}
        for number, case in enumerate(cases):
            (Path(folder) / f"scene{number}.usda").write_text(filled(case).text(), encoding="utf-8")
        left = list(enumerate(cases))
        while left:
            simulate(left, Path(folder), python, code, tool)
            done = 0
            for _, case in left:
                if not files[case.name].is_file():
                    break
                found[case.name] = value_of(case, json.loads(files[case.name].read_text(encoding="utf-8")))
                done += 1
            # The scene at which it ended has no value.
            left = left[done + 1 :]
    return found


def simulate(left: list[tuple[int, Any]], folder: Path, python: str, code: str, tool: Path) -> None:
    """Run the scenes until the process ends, or one takes longer than LIMIT."""
    measures = importlib.import_module("simulation_tests.measures")
    jobs = [
        (f"{folder}/scene{number}.usda", round(case.seconds * measures.RATE), f"{folder}/poses{number}.json")
        for number, case in left
    ]  # fmt: skip
    (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with subprocess.Popen(
        [python, "-c", code + _LOOP, str(tool), str(folder / "jobs.json")], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=environment,
    ) as process:  # fmt: skip
        known = -1
        while known < (now := sum(Path(found).is_file() for _, _, found in jobs)):
            known = now
            try:
                process.wait(LIMIT)
                return
            except subprocess.TimeoutExpired:
                continue
        process.kill()


def value_of(case: Any, frames: list[dict[str, list[float]]] | None) -> float | None:
    """The number of a measure in the poses of another simulator."""
    import numpy as np

    if not frames:
        return None
    measures = importlib.import_module("simulation_tests.measures")
    positions, rotations = {}, {}
    for path in frames[0]:
        poses = np.array([frame[path] for frame in frames], float)
        name = path.rsplit("/", 1)[-1]
        positions[name], rotations[name] = poses[:, :3], poses[:, (6, 3, 4, 5)]
    try:
        return float(case.value(measures.Motion(positions, rotations)))
    except (KeyError, IndexError, ValueError, ZeroDivisionError):
        return None


if __name__ == "__main__":
    sys.exit(main())
