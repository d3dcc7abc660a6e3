# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of the overlays in Python: reading the scene, a redraw while nothing changes, a redraw while all moves.

    .venvs/bpy-5.2.3/bin/python scripts/bench_overlay.py [--check] [--large]

Draws offscreen, which takes a Blender that has a GPU without a window (5.2). What the GPU, or what stands in for it,
takes for the lines is left out, but for `redraw_drawn`. Prints `name value unit` per figure, the median of many
redraws; with --check, exit status 1 where a bound is not met. --large adds 10,000 colliders.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import bench

MOST = {"redraw_still_1000": 4.0, "redraw_moving_1000": 16.0, "redraw_preview_1000": 16.0}
REDRAWS = 40


def build(number: int) -> Any:
    """Boxes, balls and lumps that are hulls, a third each; every one has a body. Returns the context."""
    import bpy

    context = bench.empty()
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, segments=16, ring_count=8)
    ball = bpy.context.object.data
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.5, subdivisions=2)
    lump = bpy.context.object.data
    for vertex in lump.vertices:
        vertex.co.x *= 1.0 + 0.3 * (vertex.index % 3)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    meshes, side = (bench.box("Box"), ball, lump), round(number**0.5)
    for index in range(number):
        bench.body(f"Thing {index:05d}", meshes[index % 3], (1.5 * (index % side), 1.5 * (index // side), 1.0))
    context.view_layer.update()
    return context


def median(draw: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Milliseconds of a call."""
    taken = []
    for _ in range(REDRAWS):
        before()
        taken.append(bench.seconds(draw))
    return 1e3 * statistics.median(taken)


def measure_one(number: int) -> bench.Rows:
    import bpy
    import gpu
    import numpy as np
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard
    from usdphys_ext.usdphys_addon.viewport import overlay, overlay_settings, overlay_state

    context = build(number)
    settings = overlay_settings.current(context)
    settings.colliders = settings.bodies = settings.joints = "ALL"
    options = overlay_settings.options_of(settings)
    key = (context.scene.name, context.view_layer.name, 0)

    def renew() -> None:
        overlay_state.renew(key, options, context.view_layer)

    yield f"read_{number}", 1e3 * bench.seconds(renew), "ms"
    objects = bpy.data.objects
    places = np.empty(3 * len(objects), np.float32)
    objects.foreach_get("location", places)

    def move() -> None:
        places[2::3] += 0.01
        objects.foreach_set("location", places)
        for obj in objects:
            obj.update_tag()
        context.view_layer.update()

    def draw() -> None:
        overlay.draw_physics(context, None, None, None, settings)

    target = gpu.types.GPUOffScreen(64, 64)
    with target.bind():
        draw()
        view = overlay_state.views[key]
        if view.drawing.total < 24 * number:
            raise RuntimeError(f"{view.drawing.total} vertices: this was no drawing")
        yield f"redraw_drawn_{number}", median(draw), "ms"
        with patch.object(overlay, "_stroke", lambda *_: None):
            yield f"redraw_still_{number}", median(draw), "ms"
            yield f"redraw_moving_{number}", median(draw, move), "ms"
            if not view.positions[:, 2].max() > 1.0 + 0.01 * REDRAWS:
                raise RuntimeError("nothing has moved")
            session = preview_guard.start(context)
            renew()
            draw()
            yield f"redraw_preview_{number}", median(draw, lambda: session.step_once(context)), "ms"
            preview_guard.stop()
    target.free()


def measure(wanted: Any) -> bench.Rows:
    import bpy  # noqa: F401 - it brings gpu
    import gpu

    gpu.init()
    bench.load_extension().register()
    list(measure_one(50))  # what is loaded once is loaded
    for number in (1_000, 10_000) if wanted.large else (1_000,):
        yield from measure_one(number)


if __name__ == "__main__":
    bench.main(__doc__, measure, MOST, large=(False, "10,000 colliders, too"))
