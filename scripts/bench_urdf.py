# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of importing robots, against Blender's own import of the same frames and shapes, in one run.

    .venv/bin/python scripts/bench_urdf.py [--check]

A robot is a tree of boxes on hinges, three below each. Prints `name value unit` per figure; with --check, exit status 1
where a bound is not met. Processor time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench

#: `ratio_...`: of our import to Blender's own. `growth`: of 1,000 links to 250.
BOUNDS = {"ratio_500": 5.0, "growth": 6.0}
ROUNDS = 2


def robot(links: int) -> str:
    """The text of a robot."""
    geometry = "<geometry><box size='0.1 0.1 0.1'/></geometry>"
    inertial = "<inertial><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial>"
    lines = ["<robot name='tree'>"]
    lines += [
        f"<link name='l{index}'>{inertial}<visual>{geometry}</visual><collision>{geometry}</collision></link>"
        for index in range(links)
    ]
    lines += [
        f"<joint name='j{index}' type='revolute'><parent link='l{(index - 1) // 3}'/><child link='l{index}'/>"
        "<origin xyz='0.1 0 0.2' rpy='0.1 0 0.2'/><axis xyz='0 0 1'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        for index in range(1, links)
    ]
    return "\n".join([*lines, "</robot>"])


def least(action: Callable[[], object]) -> float:
    """Least processor time (s) of several runs, each in an empty file."""
    import bpy

    found = []
    for _ in range(ROUNDS):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        gc.collect()
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def measure() -> bench.Figures:
    """All figures."""
    extension = bench.load_extension()
    extension.register()
    import bpy
    from usdphys_ext.usdphys_addon.exchange import robot_files, urdf_import

    options = robot_files.RobotOptions()
    figures: bench.Figures = {}
    times = {}
    with tempfile.TemporaryDirectory(prefix="usdphys_") as folder:
        for links in (250, 500, 1_000):
            file = Path(folder) / f"tree{links}.urdf"
            file.write_text(robot(links))
            times[links] = least(lambda file=file: urdf_import.import_urdf(bpy.context, file, options))
            figures[f"links_{links}"] = (times[links], "s")
        stages = {links: Path(folder) / f"tree{links}.usdc" for links in (250, 500)}
        for links, stage in stages.items():
            plan = robot_files.plan_robot(Path(folder) / f"tree{links}.urdf", options)
            robot_files.write_stage(plan, options, stage)
        # Blender alone: while the add-on is enabled, its hook adds the physics to each import.
        extension.unregister()
        for links, stage in stages.items():
            own = least(lambda stage=stage: bpy.ops.wm.usd_import(filepath=str(stage), import_guide=True))
            figures[f"blender_{links}"] = (own, "s")
            figures[f"ratio_{links}"] = (times[links] / own, "")
        figures["growth"] = (times[1_000] / times[250], "")
    return figures


if __name__ == "__main__":
    wanted = bench.parser(__doc__).parse_args()
    sys.exit(bench.report(measure(), BOUNDS, check=wanted.check))
