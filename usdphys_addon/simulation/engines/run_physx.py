# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a Python with `ovphysx` and `physx-usd-schemas`: simulates USD files in PhysX, on the processor.

    python run_physx.py FILE STEPS SECONDS POSES [FILE STEPS SECONDS POSES ...]

Writes the poses of all bodies at the start and after each step of so many seconds to POSES, a .npz file: names (n,) of
prims, poses (steps + 1, n, 7): x, y, z, then a quaternion x, y, z, w, in the units and axes of the stage. Exit status 1
where a file failed; the others are simulated all the same.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import numpy as np


def _read(px: Any, paths: Any) -> dict[str, list[float]]:
    from ovphysx.types import ObjectScope, SimObjectType

    values: dict[str, list[float]] = {}
    for kind in (SimObjectType.RIGID_BODY, SimObjectType.ARTICULATION_LINK):
        with px.read_sync(kind, ["position", "orientation"], scope=ObjectScope.ALL) as reading:
            columns: dict[tuple[str, ...], list[Any]] = {}
            for group in reading.groups:
                if group.is_delete or group.is_array or not group.tensors:
                    continue
                names = tuple(paths.path_to_string(one) for one in paths.get_paths(group.prim_list))
                columns.setdefault(names, []).append(np.array(group.tensors[0].numpy(), float))
        for names, (places, turns) in columns.items():
            for name, place, turn in zip(names, places, turns, strict=True):
                values[name] = [*place.tolist(), *turn.tolist()]
    return values


def _simulate(px: Any, file: str, steps: int, seconds: float, target: str) -> None:
    import ovstage

    stage = ovstage.Stage(target)
    ovstage.population.open_usd(stage, file, ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    px.wait_task(px.attach_ovstage(stage, read_ordinal=1))
    paths = ovstage.PathDictionary(stage)
    start = _read(px, paths)
    names = sorted(start)
    poses = np.empty((steps + 1, len(names), 7))
    for number in range(steps + 1):
        if number:
            px.step_sync(seconds)
        now = _read(px, paths) if number else start
        poses[number] = [now[name] for name in names] if names else np.empty((0, 7))
        print(f"step {number}", flush=True)
    np.savez(target, names=np.array(names, str), poses=poses, is_z_up=False)
    px.wait_task(px.detach_ovstage())


def main(arguments: list[str]) -> int:
    """Simulate and write. Returns the exit status."""
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples import schema_support
    from ovphysx.types import GlobalConfigKey

    ovphysx.set_global_config(GlobalConfigKey.CPU_ONLY, True)
    roots = [*map(str, schema_support.physx_schema_paths()), str(ovphysx.newton_schema_root())]
    ovstage.population.register_usd_schemas(roots)
    px, status = ovphysx.PhysX(), 0
    for file, steps, seconds, target in zip(*(arguments[start::4] for start in range(4)), strict=True):
        try:
            _simulate(px, file, int(steps), float(seconds), target)
        except Exception:
            traceback.print_exc()
            status = 1
    # A file that failed is still attached.
    if not status:
        px.destroy()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
