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
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("tool", sys.argv[1])
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)
px, stage = tool.load(sys.argv[2])
paths = tool.ovstage.PathDictionary(stage)
frames = [{name: pose.tolist() for name, pose in tool.poses(px, paths).items()}]
for _ in range(int(sys.argv[3])):
    px.step_sync(1 / 60)
    frames.append({name: pose.tolist() for name, pose in tool.poses(px, paths).items()})
json.dump(frames, open(sys.argv[4], "w"))
"""
_NEWTON = """
import json, sys
import warp as wp
wp.config.quiet = True
import newton
with wp.ScopedDevice("cpu"):
    builder = newton.ModelBuilder()
    builder.add_usd(sys.argv[2], load_visual_shapes=False)
    model = builder.finalize()
    solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True)
    now, after, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, now)
    frames = []
    for frame in range(int(sys.argv[3]) + 1):
        frames.append(dict(zip(model.body_label, now.body_q.numpy().tolist())))
        for _ in range(8):
            now.clear_forces()
            solver.step(now, after, control, None, 1 / 480)
            now, after = after, now
json.dump(frames, open(sys.argv[4], "w"))
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
    for case in chosen:
        values = [ours(case, quality) for quality in ("draft", "normal", "exact")]
        failed += sum(not holds(case, value) for value in values[1:])
        values += [None if case.movers else by_other(case, *other) for other in others.values()]
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


def by_other(case: Any, python: str, code: str, tool: Path) -> float | None:
    """The value by another simulator; None if it does not read the scene."""
    import numpy as np

    measures = importlib.import_module("simulation_tests.measures")
    with tempfile.TemporaryDirectory() as folder:
        scene, found = Path(folder) / "scene.usda", Path(folder) / "poses.json"
        scene.write_text(filled(case).text(), encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        count = str(round(case.seconds * measures.RATE))
        try:
            subprocess.run(
                [python, "-c", code, str(tool), str(scene), count, str(found)], capture_output=True, timeout=LIMIT,
                env=environment, check=True,
            )  # fmt: skip
            frames = json.loads(found.read_text(encoding="utf-8"))
        except (subprocess.SubprocessError, OSError, ValueError):
            return None
    positions, rotations = {}, {}
    for path in frames[0]:
        poses = np.array([frame[path] for frame in frames], float)
        name = path.rsplit("/", 1)[-1]
        positions[name], rotations[name] = poses[:, :3], poses[:, (6, 3, 4, 5)]
    try:
        return float(case.value(measures.Motion(positions, rotations)))
    except (KeyError, IndexError, ZeroDivisionError):
        return None


if __name__ == "__main__":
    sys.exit(main())
