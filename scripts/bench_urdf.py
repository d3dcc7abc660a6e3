# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of importing robots, against Blender's own import of the same frames and shapes, in one run.

    .venv/bin/python scripts/bench_urdf.py [--check] [--converter PROGRAM] [--robot FILE]

A robot is a tree of boxes on hinges, three below each. With --converter, the program of urdf-usd-converter, a humanoid
of 120 mesh files is imported in a process of its own, in turns with that program and with the start of Blender alone;
--robot takes a robot of others in its place. Prints `name value unit` per figure; with --check, exit status 1 where a
bound is not met. Processor time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench
import numpy as np

#: `links_...`: of the call. `shown_...`: with the evaluation of what is new. `ratio_...`: of that to Blender's own
#: import, which makes no joints and no physics. `growth`: of 1,000 links to 250. `humanoid_ratio`: of a process that
#: imports it to one of the converter and one that starts Blender.
BOUNDS = {"links_500": 0.5, "ratio_500": 3.0, "growth": 6.0, "humanoid_ratio": 1.0}
ROUNDS = 2
#: What a process of its own imports.
IMPORT = """
import sys
sys.path.insert(0, sys.argv[1])
import bench
bench.load_extension().register()
import bpy
from usdphys_ext.usdphys_addon.exchange import urdf_import
from usdphys_ext.usdphys_addon.usd import robot_files
urdf_import.import_urdf(bpy.context, sys.argv[2], robot_files.RobotOptions())
"""


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


def humanoid(folder: Path) -> Path:
    """A file with 60 links in a chain, each with a mesh of 10,000 triangles to see and one of 2,500 to collide."""
    lines = ["<robot name='humanoid'>"]
    for index in range(60):
        for name, rings in (("visual", 50), ("collision", 25)):
            write_ball(folder / f"{name}_{index}.stl", rings, 0.05 + 0.001 * index)
        inertial = (
            "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
        )  # fmt: skip
        shapes = "".join(
            f"<{name}><geometry><mesh filename='{name}_{index}.stl'/></geometry></{name}>"
            for name in ("visual", "collision")
        )
        lines.append(f"<link name='l{index}'>{inertial}{shapes}</link>")
    lines += [
        f"<joint name='j{index}' type='revolute'><parent link='l{index - 1}'/><child link='l{index}'/>"
        f"<origin xyz='0 0 0.1'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='{index}' velocity='1'/></joint>"
        for index in range(1, 60)
    ]
    file = folder / "humanoid.urdf"
    file.write_text("\n".join([*lines, "</robot>"]))
    return file


def write_ball(file: Path, rings: int, radius: float) -> None:
    """A binary STL of a sphere with `rings` rings of two times as many quads, of two triangles each."""
    down, around = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1)[:-1])
    grid = radius * np.stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)], axis=2)
    beside = np.roll(grid, -1, axis=0)
    one, two, three, four = grid[:, :-1], grid[:, 1:], beside[:, 1:], beside[:, :-1]
    corners = np.concatenate(
        [np.stack(part, axis=2).reshape(-1, 3, 3) for part in ((one, two, three), (one, three, four))]
    )
    rows = np.zeros(len(corners), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")]))
    rows["corners"] = corners
    file.write_bytes(b"".ljust(80) + len(rows).to_bytes(4, "little") + rows.tobytes())


def against_converter(converter: str, robot_file: str) -> bench.Rows:
    """The humanoid, in turns with the converter."""
    with tempfile.TemporaryDirectory(prefix="usdphys_") as folder:
        file = robot_file or humanoid(Path(folder))
        here = Path(__file__).resolve().parent
        commands = {
            "import": (sys.executable, "-c", IMPORT, here, file), "converter": (converter, file, f"{folder}/out"),
            "start": (sys.executable, "-c", "import bpy"),
        }  # fmt: skip
        # The first run writes byte code, as the installation of a program does.
        turns = [{name: bench.process(*command)[0] for name, command in commands.items()} for _ in range(3)]
    found = {name: min(turn[name] for turn in turns) for name in commands}
    for name, value in found.items():
        yield f"humanoid_{name}", value, "s"
    yield "humanoid_ratio", found["import"] / (found["converter"] + found["start"]), ""


def least(action: Callable[[], object]) -> tuple[float, float]:
    """Least processor time (s) of several runs, each in an empty file: of the call, and until all is evaluated."""
    import bpy

    found = []
    for _ in range(ROUNDS):
        bench.empty()
        start = time.process_time()
        action()
        called = time.process_time()
        # Blender evaluates what is new at the next redraw.
        bpy.context.view_layer.update()
        found.append((called - start, time.process_time() - start))
    return min(one for one, _ in found), min(other for _, other in found)


def measure(wanted: Any) -> bench.Rows:
    if wanted.converter:
        yield from against_converter(wanted.converter, wanted.robot)
    extension = bench.load_extension()
    extension.register()
    import bpy
    from usdphys_ext.usdphys_addon.exchange import urdf_import
    from usdphys_ext.usdphys_addon.usd import robot_files

    options = robot_files.RobotOptions()
    times, stages = {}, {}
    with tempfile.TemporaryDirectory(prefix="usdphys_") as folder:
        for links in (250, 500, 1_000):
            file = Path(folder) / f"tree{links}.urdf"
            file.write_text(robot(links))
            times[links] = least(lambda file=file: urdf_import.import_urdf(bpy.context, file, options))
            yield f"links_{links}", times[links][0], "s"
            yield f"shown_{links}", times[links][1], "s"
        for links in (250, 500):
            stages[links] = Path(folder) / f"tree{links}.usdc"
            plan = robot_files.plan_robot(Path(folder) / f"tree{links}.urdf", options)
            robot_files.write_stage(plan, robot_files.assets_of(plan, options), stages[links])
        # Blender alone: while the add-on is enabled, its hook adds the physics to each import.
        extension.unregister()
        for links, stage in stages.items():
            _, own = least(lambda stage=stage: bpy.ops.wm.usd_import(filepath=str(stage), import_guide=True))
            yield f"blender_{links}", own, "s"
            yield f"ratio_{links}", times[links][1] / own, ""
        yield "growth", times[1_000][1] / times[250][1], ""


if __name__ == "__main__":
    bench.main(
        __doc__, measure, BOUNDS, converter=("", "the program urdf_usd_converter"),
        robot=("", "a URDF file of others, in place of the humanoid"),
    )  # fmt: skip
