# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of what Blender waits for while one works: slices of a check, a click and a tooltip of the action bar.

    .venv/bin/python scripts/bench_checks.py [--check]

Prints `name value unit` per figure, the best of a few runs; with --check, exit status 1 where a bound is not met.
"""

from __future__ import annotations

import statistics
from typing import Any

import bench

RUNS = 5
NUMBER = 250
MOST = {
    "slice_95_percent": 5.0, "slice_longest": 15.0, "check_of_a_dense_mesh": 50.0, "click_on_a_dense_mesh": 200.0,
    "tooltip_of_1000": 500.0,
}  # fmt: skip


def crowd(number: int) -> None:
    """Bodies, some with a mass that is an error, some joined."""
    mesh, before = bench.box("Crate"), None
    for index in range(number):
        obj = bench.body(f"B{index}", mesh, (2.0 * index, 0.0, 0.0))
        if index % 2:
            obj.usdphys.colliders[0].shape = "MESH"
        if index % 5 == 0:
            obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, -1.0
        if before is not None and index % 4 == 0:
            joint = bench.placed(f"J{index}", None, (0.0, 0.0, 0.0)).usdphys.joint
            joint.is_applied, joint.type, joint.body0, joint.body1 = True, "REVOLUTE", before, obj
        before = obj


def slices(context: Any) -> list[float]:
    """Milliseconds of each slice of a check of the scene."""
    from usdphys_ext.usdphys_addon.checks import live

    live.forget()
    layer = context.view_layer
    layer.update()
    run = live.begin(context.scene.name, layer)
    if run is None:
        raise RuntimeError(live.on_demand(context.scene.name))
    while not live.proceed(run, layer):
        pass
    if live.report(context.scene.name) is None:
        raise RuntimeError(live.on_demand(context.scene.name))
    return [1e3 * seconds for seconds in run.slices]


def measure(_wanted: Any) -> bench.Rows:
    import bpy

    bench.load_extension().register()
    from usdphys_ext.operators import action_bar
    from usdphys_ext.usdphys_addon.authoring import collider_choice

    context = bench.empty()
    crowd(NUMBER)
    slices(context)
    runs = [slices(context) for _ in range(RUNS)]
    yield "slice_95_percent", min(statistics.quantiles(run, n=20)[-1] for run in runs), "ms"
    yield "slice_longest", min(map(max, runs)), "ms"

    context = bench.empty()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=500, y_subdivisions=500)
    bench.body("Dense", bpy.context.object.data, (0.0, 0.0, 0.0)).usdphys.colliders.add().shape = "SPHERE"
    slices(context)
    yield "check_of_a_dense_mesh", min(sum(slices(context)) for _ in range(RUNS)), "ms"

    context = bench.empty()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=8)
    depsgraph, obj = context.evaluated_depsgraph_get(), context.object
    clicks = [bench.seconds(lambda: collider_choice.choose(obj, "DYNAMIC", depsgraph)) for _ in range(RUNS)]
    yield "click_on_a_dense_mesh", 1e3 * min(clicks), "ms"

    context = bench.empty()
    bpy.ops.mesh.primitive_monkey_add()
    for index in range(999):
        bench.placed(f"Copy{index}", context.object.data, (0.0, 0.0, 0.0)).select_set(True)
    context.view_layer.update()
    cls: Any = next(cls for cls in action_bar.CLASSES if getattr(cls, "role", "") == "DYNAMIC")
    if "Make 1000 objects dynamic" not in cls.description(context, None):
        raise RuntimeError("the tooltip is of something else")
    tooltips = [bench.seconds(lambda: cls.description(context, None)) for _ in range(RUNS)]
    yield "tooltip_of_1000", 1e3 * min(tooltips), "ms"


if __name__ == "__main__":
    bench.main(__doc__, measure, MOST)
