# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame of the preview in an engine in a process of its own, the way there and back included.

    .venv-usd/bin/python scripts/bench_live.py [physx] [newton] [havok] [--physx PYTHON] [--newton PYTHON]
        [--havok FOLDER] [--check]

100 and 1,000 boxes in stacks of five; Newton with 100 only, as 1,000 are too slow for it. For each: `start`, until the
first pose; `frame`, the median of a time step of 1/60 s; `engine`, what of that the engine takes itself, as its process
measures it in the same run; `ratio`, the one by the other. Without its Python or folder an engine is left out.

Prints `name value unit` per figure; with --check, exit status 1 where a bound is not met.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Iterator

import engine_runs

#: ms of a frame at 60 Hz, for so many bodies; the ratio of the whole to the engine alone.
FRAME, RATIO = 1000.0 / 60.0, 1.5
SIZES = {"physx": (100, 1000), "newton": (100,), "havok": (100, 1000)}
#: Steps before what is measured, in which the stacks fall together, and steps that are measured.
BEFORE, MEASURED = 30, 120
#: Boxes in a stack.
HIGH = 5
_BOX = """    def Cube "Box{number}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {{
        double size = 1
        double3 xformOp:translate = ({x}, {y}, {z})
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
"""
_SCENE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{{
    def PhysicsScene "Scene" {{}}
    def Cube "Ground" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {{
        double size = 1
        float3 xformOp:scale = (200, 200, 1)
        double3 xformOp:translate = (0, 0, -0.5)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }}
{boxes}}}
"""


def stacks(number: int) -> str:
    """A USD file with so many boxes, in stacks that fall together."""
    side = math.ceil(math.sqrt(number / HIGH))
    boxes = []
    for index in range(number):
        stack, layer = divmod(index, HIGH)
        row, column = divmod(stack, side)
        boxes.append(_BOX.format(number=index, x=1.5 * row, y=1.5 * column, z=round(0.55 + 1.05 * layer, 3)))
    return _SCENE.format(boxes="".join(boxes))


def figures(engine: str, number: int) -> Iterator[tuple[str, float, str]]:
    """(name, value, unit) of an engine with so many bodies."""
    from pxr import Usd

    from usdphys_addon.simulation.world import World
    from usdphys_addon.usd import read

    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(stacks(number))
    model = read.read_stage(stage)
    began = time.perf_counter()
    world = World(model, engine=engine)
    yield f"{engine}_{number}_start", time.perf_counter() - began, "s"
    for _ in range(BEFORE):
        world.step()
    frames, alone = [], []
    for _ in range(MEASURED):
        world.step()
        frames.append(world.step_milliseconds)
        alone.append(sum(scene.spent for scene in world.spaces))  # type: ignore[attr-defined]
    world.close()
    frame, own = statistics.median(frames), statistics.median(alone)
    yield f"{engine}_{number}_frame", frame, "ms"
    yield f"{engine}_{number}_engine", own, "ms"
    yield f"{engine}_{number}_ratio", frame / own, "1"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", choices=(*SIZES, []), help="which engines; all that are named")
    engine_runs.add_options(parser)
    folder = os.environ.get("USDPHYS_HAVOK_FOLDER", "")
    parser.add_argument("--havok", default=folder, metavar="FOLDER", help="a folder node_modules with @babylonjs/havok")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(engine_runs.ROOT))
    from usdphys_addon.simulation.engine import PYTHONS

    late = []
    chosen = engine_runs.chosen(options) | ({"havok": options.havok} if options.havok else {})
    for engine, python in chosen.items():
        PYTHONS[engine] = python
        for number in SIZES[engine] if not options.engines or engine in options.engines else ():
            for name, value, unit in figures(engine, number):
                print(name, f"{value:.4g}", unit, flush=True)
                bound = {"frame": FRAME, "ratio": RATIO}.get(name.rpartition("_")[2])
                if bound is not None and value > bound:
                    late.append(f"{name} is {value:.4g}, above {bound:.4g}")
    print(*late, sep="\n", end="\n" if late else "", file=sys.stderr)
    return int(options.check and bool(late))


if __name__ == "__main__":
    sys.exit(main())
