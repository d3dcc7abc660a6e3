# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of importing a model of MuJoCo, against mujoco-usd-converter and the start of Blender, in one run.

    .venv/bin/python scripts/bench_mjcf.py --converter PROGRAM [--model FILE] [--check]

The model is a chain of 40 bodies that each show a mesh of 10,000 triangles and collide with one of 2,500, on hinges
with servos; --model takes a file of others. Each is done in a process of its own, in turns. Prints `name value unit`
per figure; with --check, exit status 1 where a bound is not met. Processor time, which other programs disturb less.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import bench
from bench_urdf import write_ball

#: `ratio`: of an import in Blender to the converter and a start of Blender, which such an import would take.
#: `convert_ratio`: of a conversion to USD in the same Python, to the same.
BOUNDS = {"ratio": 1.0, "convert_ratio": 1.0}
ROUNDS = 3
#: Without the modules of the benches, which an import does not need.
LOAD = """
import importlib.util
import sys
spec = importlib.util.spec_from_file_location(
    "usdphys_ext", f"{sys.argv[1]}/__init__.py", submodule_search_locations=[sys.argv[1]]
)
sys.modules["usdphys_ext"] = extension = importlib.util.module_from_spec(spec)
spec.loader.exec_module(extension)
"""
IMPORT = f"""{LOAD}
extension.register()
import bpy
from usdphys_ext.usdphys_addon.exchange import mjcf_import
mjcf_import.import_mjcf(bpy.context, sys.argv[2])
"""
CONVERT = f"""{LOAD}
from pathlib import Path
from usdphys_ext.usdphys_addon import formats
formats.expose_pxr()
from usdphys_ext.usdphys_addon.usd import mjcf_stage
mjcf_stage.convert(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def chain(folder: Path, bodies: int = 40) -> Path:
    """A file of a chain of bodies with meshes of their own."""
    assets, opened, servos = [], [], []
    for number in range(bodies):
        for name, rings in (("seen", 50), ("hit", 25)):
            write_ball(folder / f"{name}{number}.stl", rings, 0.05 + 0.001 * number)
            assets.append(f'<mesh name="{name}{number}" file="{name}{number}.stl"/>')
        opened.append(
            f'<body name="b{number}" pos="0 0 0.1"><joint name="j{number}" axis="0 1 0" range="-1 1"/>'
            f'<geom type="mesh" mesh="seen{number}" contype="0" conaffinity="0" group="2"/>'
            f'<geom type="mesh" mesh="hit{number}"/>'
        )
        servos.append(f'<position name="s{number}" joint="j{number}" kp="50" forcerange="-9 9"/>')
    file = folder / "chain.xml"
    file.write_text(
        f'<mujoco model="chain"><compiler autolimits="true"/><asset>{"".join(assets)}</asset><worldbody>'
        f"{''.join(opened)}{'</body>' * bodies}</worldbody><actuator>{''.join(servos)}</actuator></mujoco>"
    )
    return file


def measure(wanted: Any) -> bench.Rows:
    if not wanted.converter:
        raise SystemExit("Name the program of mujoco-usd-converter: --converter PROGRAM.")
    with tempfile.TemporaryDirectory(prefix="usdphys_") as name:
        folder = Path(name)
        file = Path(wanted.model).absolute() if wanted.model else chain(folder)
        here = bench.ROOT
        commands = {
            "import": (sys.executable, "-c", IMPORT, here, file),
            "convert": (sys.executable, "-c", CONVERT, here, file, folder / "model.usdc"),
            "converter": (wanted.converter, file, folder / "out"), "start": (sys.executable, "-c", "import bpy"),
        }  # fmt: skip
        # The first run writes byte code, as the installation of a program does.
        turns = [{key: bench.process(*command)[0] for key, command in commands.items()} for _ in range(ROUNDS)]
    found = {key: min(turn[key] for turn in turns) for key in commands}
    for key, value in found.items():
        yield key, value, "s"
    yield "ratio", found["import"] / (found["converter"] + found["start"]), ""
    yield "convert_ratio", found["convert"] / (found["converter"] + found["start"]), ""


if __name__ == "__main__":
    bench.main(
        __doc__, measure, BOUNDS, converter=("", "the program mujoco_usd_converter"),
        model=("", "a file of MuJoCo of others, in place of the chain"),
    )  # fmt: skip
