# SPDX-License-Identifier: GPL-3.0-or-later
"""Settle against Blender's own rigid bodies: scattered objects fall onto a floor, and their poses are applied.

    .venv/bin/python scripts/bench_settle.py [--check] [--number 1000]

Both start from the same places in one run. Blender simulates as long as the settling took, with its default settings,
and the poses are applied with its own operator. Prints `name value unit` per figure; with --check, exit status 1 where
a bound is not met.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import bench

LEAST = {"faster_than_blender": 5.0}
SECONDS = 10.0


def build(number: int) -> list[Any]:
    """Cubes scattered over a floor: turned at random, in layers."""
    import bpy
    from usdphys_ext.usdphys_addon.core.building import scattering

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps = 60
    bpy.ops.mesh.primitive_cube_add(size=1)
    first = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(size=1)
    floor = bpy.context.object
    floor.scale, floor.location = (400, 400, 1), (0, 0, -0.5)
    places = scattering.places([0.87] * number, 1.1 * number**0.5, 1)
    turns = scattering.turns(number, 2)
    found = []
    for place, turn in zip(places.tolist(), turns.tolist(), strict=True):
        obj = bpy.data.objects.new("Piece", first.data)
        scene.collection.objects.link(obj)
        obj.rotation_mode = "QUATERNION"
        obj.location, obj.rotation_quaternion = (place[0], place[1], place[2] + 1.0), turn
        found.append(obj)
    bpy.data.objects.remove(first)
    bpy.context.view_layer.update()
    return found


def select(objects: list[Any]) -> None:
    import bpy

    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def check_rest(objects: list[Any], before: list[float]) -> None:
    heights = [obj.matrix_world.translation.z for obj in objects]
    if not all(0.4 < height < 30.0 for height in heights) or heights == before:
        raise RuntimeError(f"heights of {min(heights)} to {max(heights)}: this was no settling")


def ours(number: int) -> tuple[float, float]:
    """(s, simulated s)."""
    import bpy
    from usdphys_ext.usdphys_addon.generators import settle

    objects = build(number)
    heights = [obj.matrix_world.translation.z for obj in objects]
    start = time.perf_counter()
    done = settle.settle(bpy.context, objects, settle.SettleOptions(seconds=SECONDS))
    end = time.perf_counter()
    check_rest(objects, heights)
    return end - start, done.seconds


def blenders(number: int, seconds: float) -> tuple[float, float]:
    """(s of the whole job, s of its frames alone)."""
    import bpy

    objects = build(number)
    heights = [obj.matrix_world.translation.z for obj in objects]
    scene = bpy.context.scene
    floor = scene.objects["Cube.001"]
    frames = max(2, round(seconds * 60))
    start = time.perf_counter()
    bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.collection = bpy.data.collections.new("Rigid Bodies")
    for obj, kind in ((floor, "PASSIVE"), *((one, "ACTIVE") for one in objects)):
        world.collection.objects.link(obj)
        obj.rigid_body.type, obj.rigid_body.collision_shape = kind, "BOX"
    world.point_cache.frame_end = frames + 1
    scene.frame_set(1)
    playing = time.perf_counter()
    for frame in range(2, frames + 1):
        scene.frame_set(frame)
    played = time.perf_counter()
    select(objects)
    bpy.ops.object.visual_transform_apply()
    bpy.ops.rigidbody.objects_remove()
    end = time.perf_counter()
    check_rest(objects, heights)
    return end - start, played - playing


def measure(number: int) -> bench.Figures:
    import bpy  # noqa: F401

    extension = bench.load_extension()
    extension.register()
    try:
        ours(20)  # what is loaded once is loaded
        mine, simulated = ours(number)
        whole, played = blenders(number, simulated)
        return {
            "settle": (mine, "s"), "simulated": (simulated, "s"), "blender": (whole, "s"),
            "blender_frames": (played, "s"), "faster_than_blender": (whole / mine, "1"),
        }  # fmt: skip
    finally:
        extension.unregister()


def main() -> int:
    parser = bench.parser(__doc__)
    parser.add_argument("--number", type=int, default=1000, help="of objects")
    options = parser.parse_args()
    return bench.report(measure(options.number), {}, LEAST, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
