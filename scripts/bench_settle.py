# SPDX-License-Identifier: GPL-3.0-or-later
"""Settle against Blender's own rigid bodies: scattered objects fall onto a floor, and their poses are applied.

    .venv/bin/python scripts/bench_settle.py [--check] [--number 1000]

Both start from the same places in one run. Blender simulates as long as the settling took, with its default settings,
and the poses are applied with its own operator. Prints `name value unit` per figure; with --check, exit status 1 where
a bound is not met.
"""

from __future__ import annotations

import time
from typing import Any

import bench

SECONDS = 10.0


def build(number: int) -> tuple[Any, list[Any]]:
    """Cubes scattered over a floor, turned at random, in layers. Returns the floor and them."""
    import bpy
    from usdphys_ext.usdphys_addon.core.building import scattering

    bench.empty().scene.render.fps = 60
    floor = bench.placed("Floor", bench.box("Floor"), (0, 0, -0.5))
    floor.scale = (400, 400, 1)
    mesh, found = bench.box("Piece"), []
    places = scattering.places([0.87] * number, 1.1 * number**0.5, 1)
    for place, turn in zip(places.tolist(), scattering.turns(number, 2).tolist(), strict=True):
        obj = bench.placed("Piece", mesh, (place[0], place[1], place[2] + 1.0))
        obj.rotation_mode, obj.rotation_quaternion = "QUATERNION", turn
        found.append(obj)
    bpy.context.view_layer.update()
    return floor, found


def check_rest(objects: list[Any], before: list[float]) -> None:
    heights = heights_of(objects)
    if not all(0.4 < height < 30.0 for height in heights) or heights == before:
        raise RuntimeError(f"heights of {min(heights)} to {max(heights)}: this was no settling")


def heights_of(objects: list[Any]) -> list[float]:
    return [obj.matrix_world.translation.z for obj in objects]


def ours(number: int) -> tuple[float, float]:
    """(s, simulated s)."""
    import bpy
    from usdphys_ext.usdphys_addon.generators import settle

    _, objects = build(number)
    heights = heights_of(objects)
    start = time.perf_counter()
    done = settle.settle(bpy.context, objects, settle.SettleOptions(seconds=SECONDS))
    end = time.perf_counter()
    check_rest(objects, heights)
    return end - start, done.seconds


def blenders(number: int, seconds: float) -> tuple[float, float]:
    """(s of the whole job, s of its frames alone)."""
    import bpy

    floor, objects = build(number)
    heights = heights_of(objects)
    scene = bpy.context.scene
    frames = max(2, round(seconds * 60))
    start = time.perf_counter()
    bench.rigid_bodies(floor, objects, frames + 1)
    scene.frame_set(1)
    playing = time.perf_counter()
    for frame in range(2, frames + 1):
        scene.frame_set(frame)
    played = time.perf_counter()
    for obj in scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]
    bpy.ops.object.visual_transform_apply()
    bpy.ops.rigidbody.objects_remove()
    end = time.perf_counter()
    check_rest(objects, heights)
    return end - start, played - playing


def measure(wanted: Any) -> bench.Rows:
    with bench.extension():
        ours(20)  # what is loaded once is loaded
        mine, simulated = ours(wanted.number)
        whole, played = blenders(wanted.number, simulated)
    yield from (("settle", mine, "s"), ("simulated", simulated, "s"), ("blender", whole, "s"))
    yield from (("blender_frames", played, "s"), ("faster_than_blender", whole / mine, "1"))


if __name__ == "__main__":
    bench.main(__doc__, measure, {}, lambda _: {"faster_than_blender": 5.0}, number=(1000, "of objects"))
