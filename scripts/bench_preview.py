# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview against Blender's own rigid bodies: time per frame of a pile of boxes, poses in Blender included.

    .venv/bin/python scripts/bench_preview.py [--check] [--large]

Both simulate a sixtieth of a second per frame, from the same start, in one run. Prints `name value unit` per figure;
with --check, exit status 1 where a bound is not met. --large adds 10,000 boxes, for the preview alone.
"""

from __future__ import annotations

import sys
import time

import bench

LEAST = {"faster_than_defaults_1000": 6.0, "faster_than_4_substeps_1000": 3.0}
MOST = {"build_1000": 500.0}
#: Blender's default range; here four seconds, in which the pile comes to rest.
FRAMES = 249
SIZES = (200, 1_000)


def build(number: int, *, own: bool, substeps: int = 0) -> None:
    """Loose layers of boxes above a floor; with our physics, or with Blender's."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps = 60
    scene.frame_end = FRAMES + 2
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata(corners, [], faces)
    floor = bpy.data.objects.new("Floor", mesh)
    floor.scale, floor.location = (200, 200, 1), (0, 0, -0.5)
    scene.collection.objects.link(floor)
    side = max(4, round((number / 4) ** 0.5))
    boxes = []
    for index in range(number):
        obj = bpy.data.objects.new(f"Box {index:05d}", mesh)
        layer, place = divmod(index, side * side)
        obj.location = (1.2 * (place % side) + 0.1 * layer, 1.2 * (place // side) + 0.07 * layer, 0.6 + 1.2 * layer)
        scene.collection.objects.link(obj)
        boxes.append(obj)
    if own:
        floor.usdphys.colliders.add()
        for obj in boxes:
            obj.usdphys.rigid_body.is_applied = True
            obj.usdphys.colliders.add()
    else:
        bpy.ops.rigidbody.world_add()
        world = scene.rigidbody_world
        world.collection = bpy.data.collections.new("Rigid Bodies")
        if substeps:
            world.substeps_per_frame = substeps
        for obj, kind in ((floor, "PASSIVE"), *((box, "ACTIVE") for box in boxes)):
            world.collection.objects.link(obj)
            obj.rigid_body.type, obj.rigid_body.collision_shape = kind, "BOX"
        world.point_cache.frame_end = FRAMES + 2
    bpy.context.view_layer.update()


def preview(number: int, frames: int = FRAMES) -> tuple[float, float]:
    """(ms to build the session, ms per frame)."""
    import bpy
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    build(number, own=True)
    start = time.perf_counter()
    session = preview_guard.start(bpy.context)
    built = time.perf_counter()
    for _ in range(frames):
        session.step_once(bpy.context)
    end = time.perf_counter()
    highest = max(obj.matrix_world.translation.z for obj in bpy.data.objects)
    if not 0 < highest < 10 * number:
        raise RuntimeError(f"the pile is {highest} high: this was no simulation")
    preview_guard.stop()
    return (built - start) * 1e3, (end - built) / frames * 1e3


def blender(number: int, substeps: int = 0) -> float:
    """Ms per frame of Blender's rigid body world; substeps: 0 is its default."""
    import bpy

    build(number, own=False, substeps=substeps)
    scene = bpy.context.scene
    scene.frame_set(1)
    before = scene.objects["Box 00000"].matrix_world.translation.z
    start = time.perf_counter()
    for frame in range(2, FRAMES + 2):
        scene.frame_set(frame)
    end = time.perf_counter()
    if scene.objects["Box 00000"].matrix_world.translation.z == before:
        raise RuntimeError("Blender's rigid bodies did not move")
    return (end - start) / FRAMES * 1e3


def measure(large: bool) -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit)."""
    import bpy  # noqa: F401

    extension = bench.load_extension()
    extension.register()  # type: ignore[attr-defined]
    figures: dict[str, tuple[float, str]] = {}
    try:
        preview(20, 10)  # what is loaded once is loaded
        for number in SIZES:
            built, own = preview(number)
            defaults, coarse = blender(number), blender(number, 4)
            figures |= {
                f"build_{number}": (built, "ms"), f"preview_{number}": (own, "ms"),
                f"blender_defaults_{number}": (defaults, "ms"), f"blender_4_substeps_{number}": (coarse, "ms"),
                f"faster_than_defaults_{number}": (defaults / own, "1"),
                f"faster_than_4_substeps_{number}": (coarse / own, "1"),
            }  # fmt: skip
        if large:
            built, own = preview(10_000, 60)
            figures |= {"build_10000": (built, "ms"), "preview_10000": (own, "ms")}
    finally:
        extension.unregister()  # type: ignore[attr-defined]
    return figures


def main() -> int:
    parser = bench.parser(__doc__)
    parser.add_argument("--large", action="store_true", help="10,000 boxes, too")
    options = parser.parse_args()
    return bench.report(measure(options.large), MOST, LEAST, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
