# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the asset library of the extension: library/physics_library.blend, with thumbnails, and its catalogs.

Each asset is a collection that the generators fill. The file is kept in the tree, so that the zips are the same bytes
for the same tree: Blender writes addresses of its memory into a .blend. Run it after a change of a generator or of an
asset, in the oldest Blender that is supported, because a newer one writes files that this cannot open:

    .venvs/bpy-4.5.15/bin/python scripts/library.py [--out FOLDER] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bench
import bpy
from mathutils import Vector

FILE, CATALOGS = "physics_library.blend", "blender_assets.cats.txt"
OLDEST = (4, 5)
#: Width and height of a thumbnail, pixels.
SIZE = 128
_IDS = uuid.UUID("6f0c1c1e-38a4-4b6c-9d53-8d5b5a1a9d10")
_WOOD, _STEEL, _RED, _BLUE, _STONE = (
    (0.62, 0.42, 0.24), (0.45, 0.48, 0.52), (0.75, 0.16, 0.12), (0.16, 0.36, 0.68), (0.62, 0.58, 0.52)
)  # fmt: skip


class Asset(NamedTuple):
    """An asset of the library. text: what it is and does, with its size and weight."""

    name: str
    catalog: str
    text: str
    build: Callable[[], None]


def _api() -> Any:
    return sys.modules["usdphys_ext"].api


def _add(name: str, data: Any, place: Sequence[float], color: Sequence[float], turn: Sequence[float]) -> Any:
    obj: Any = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.rotation_euler, obj.color = place, turn, (*color, 1.0)
    bpy.context.view_layer.update()
    return obj


def box(
    name: str, place: Sequence[float], size: Sequence[float], color: Sequence[float] = _WOOD, turn: Sequence[float] = ()
) -> Any:
    from usdphys_ext.usdphys_addon.authoring import generators

    return _add(name, generators.box(name, tuple(size)), place, color, turn or (0.0, 0.0, 0.0))


def cylinder(
    name: str, place: Sequence[float], radius: float, depth: float, color: Sequence[float] = _STEEL,
    turn: Sequence[float] = (math.pi / 2.0, 0.0, 0.0),
) -> Any:  # fmt: skip
    from usdphys_ext.usdphys_addon.authoring import generators

    return _add(name, generators.cylinder(name, radius, depth), place, color, turn)


def ball(name: str, place: Sequence[float], radius: float, color: Sequence[float] = _RED) -> Any:
    from usdphys_ext.usdphys_addon.authoring import generators

    return _add(name, generators.sphere(name, radius), place, color, (0.0, 0.0, 0.0))


def static(*objects: Any) -> None:
    _api().tag(list(objects), "static")


def dynamic(obj: Any, mass: float) -> Any:
    _api().tag(obj, "dynamic")
    return weigh(obj, mass)


def weigh(obj: Any, mass: float) -> Any:
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, mass
    return obj


# --------------------------------------------------------------------------- the assets


def _frame(width: float) -> Any:
    """A door frame about the origin, as one mesh. Returns it."""
    half = width / 2.0
    parts = [box("Frame", (-half - 0.05, 0.0, 1.05), (0.1, 0.2, 2.1)),
             box("Frame", (half + 0.05, 0.0, 1.05), (0.1, 0.2, 2.1)),
             box("Frame", (0.0, 0.0, 2.15), (width + 0.2, 0.2, 0.1))]  # fmt: skip
    return _joined(parts)


def _joined(parts: Sequence[Any]) -> Any:
    with bpy.context.temp_override(
        active_object=parts[0], object=parts[0], selected_objects=parts, selected_editable_objects=parts
    ):
        bpy.ops.object.join()
    return parts[0]


def door() -> None:
    frame = _frame(0.9)
    leaf = weigh(box("Leaf", (0.0, 0.0, 1.03), (0.88, 0.05, 2.0), _BLUE), 20.0)
    _api().generate.mechanism(leaf, "door", frame)


def double_door() -> None:
    frame = _frame(1.8)
    for side in (-1, 1):
        leaf = weigh(box("Leaf", (side * 0.447, 0.0, 1.03), (0.87, 0.05, 2.0), _BLUE), 20.0)
        _api().generate.mechanism(leaf, "door", frame)


def chest() -> None:
    parts = [box("Chest", (0.0, 0.0, 0.03), (1.0, 0.6, 0.06))]
    parts += [box("Chest", (0.0, y, 0.28), (1.0, 0.05, 0.44)) for y in (-0.275, 0.275)]
    parts += [box("Chest", (x, 0.0, 0.28), (0.05, 0.5, 0.44)) for x in (-0.475, 0.475)]
    body = _joined(parts)
    lid = weigh(box("Lid", (0.0, 0.0, 0.535), (1.0, 0.6, 0.06), _RED), 4.0)
    _api().generate.mechanism(lid, "lid", body)


def drawers() -> None:
    parts = [box("Cabinet", (x, 0.0, 0.4), (0.03, 0.5, 0.8)) for x in (-0.315, 0.315)]
    parts += [box("Cabinet", (0.0, 0.0, z), (0.6, 0.5, 0.03)) for z in (0.015, 0.785)]
    parts.append(box("Cabinet", (0.0, 0.235, 0.4), (0.6, 0.03, 0.74)))
    cabinet = _joined(parts)
    for level in range(3):
        drawer = weigh(box("Drawer", (0.0, -0.02, 0.16 + 0.24 * level), (0.57, 0.44, 0.2), _BLUE), 3.0)
        _api().generate.mechanism(drawer, "drawer", cabinet)


def wheel() -> None:
    stand = box("Stand", (0.0, 0.25, 0.35), (0.1, 0.1, 0.7), _STONE)
    disc = weigh(cylinder("Wheel", (0.0, 0.0, 0.6), 0.35, 0.15), 10.0)
    static(stand)
    _axle(disc, stand, (0.0, 0.0, 0.6))
    disc.usdphys.rigid_body.angular_velocity = (0.0, 0.0, 6.0)


def car() -> None:
    chassis = weigh(box("Chassis", (0.0, 0.0, 0.6), (2.4, 1.0, 0.4), _RED), 800.0)
    wheels = [cylinder("Wheel", (x, y, 0.35), 0.35, 0.25) for x in (-0.8, 0.8) for y in (-0.7, 0.7)]
    _api().generate.vehicle(chassis, wheels, speed=3.0)


def crane() -> None:
    mast = _joined([box("Mast", (0.0, 0.0, 1.6), (0.3, 0.3, 3.2), _RED), box("Mast", (0.0, 0.0, 0.1), (1.4, 1.4, 0.2)),
                    box("Mast", (0.9, 0.0, 3.1), (2.2, 0.2, 0.2), _RED)])  # fmt: skip
    static(mast)
    load = dynamic(box("Load", (1.8, 0.0, 0.9), (0.5, 0.5, 0.5), _STONE), 50.0)
    hook = box("Hook", (1.8, 0.0, 2.95), (0.1, 0.1, 0.1), _STEEL)
    static(hook)
    _api().generate.rope([hook, load], "chain", segments=12, radius=0.02, slack=0.0)


def pulley() -> None:
    disc = cylinder("Pulley", (0.0, 0.0, 2.6), 0.3, 0.2)
    loads = [box("Load", (-0.32, 0.0, 1.3), (0.28,) * 3, _BLUE), box("Load", (0.32, 0.0, 1.3), (0.34,) * 3, _RED)]
    _api().generate.pulley(disc, tuple(loads))


def scissor_lift() -> None:
    base = box("Base", (0.0, 0.0, 0.1), (2.0, 1.0, 0.2), _STEEL)
    platform = box("Platform", (0.0, 0.0, 0.75), (2.0, 1.0, 0.1), _RED)
    _api().generate.scissor_lift(base, platform, stages=2, rise=0.8)


def _hanger(name: str, place: Sequence[float], size: Sequence[float] = (0.2, 0.2, 0.2)) -> Any:
    obj = box(name, place, size, _STONE)
    static(obj)
    return obj


def chain() -> None:
    top = _hanger("Holder", (0.0, 0.0, 2.0))
    weight = dynamic(ball("Weight", (0.0, 0.0, 0.6), 0.15), 10.0)
    _api().generate.rope([top, weight], "chain", segments=14, radius=0.02, slack=0.0)


def rope() -> None:
    ends = [_hanger("Holder", (x, 0.0, 1.5)) for x in (-1.0, 1.0)]
    _api().generate.rope(ends, "rope", segments=20, radius=0.02, slack=0.3, mass=1.0)


def bridge() -> None:
    ends = [box("Post", (x, 0.0, 0.75), (0.4, 1.2, 1.5), _STONE) for x in (-2.0, 2.0)]
    _api().generate.rope(ends, "bridge", segments=12, radius=0.04, slack=0.05, mass=15.0)


def ragdoll() -> None:
    from usdphys_ext.usdphys_addon.generators import samples, shapes
    from usdphys_ext.usdphys_addon.generators.ragdoll import RagdollOptions, make_ragdoll

    samples.add_figure(bpy.context)
    for body in make_ragdoll(bpy.context, RagdollOptions()).bodies:
        item = body.usdphys.colliders[0]
        is_box = item.shape == "CUBE"
        data = shapes.box("Part", item.size) if is_box else shapes.capsule("Part", item.radius, item.height)
        part = _add("Part", data, item.location, _BLUE, (0.0, 0.0 if is_box else math.pi / 2.0, 0.0))
        if not is_box:
            part.rotation_euler = (0.0, 0.0, math.pi / 2.0)
        part.parent = body


def arm() -> None:
    from usdphys_ext.usdphys_addon.authoring import robot_arm
    from usdphys_ext.usdphys_addon.generators import shapes

    parts = [box("Base", (0.0, 0.0, 0.5), (0.4, 0.4, 1.0), _STEEL)]
    parts += [box("Link", (0.7 + n, 0.0, 0.9), (0.9, 0.15, 0.15), _RED) for n in range(3)]
    shapes.select_only(bpy.context, parts)
    bpy.context.view_layer.update()
    robot_arm.add_arm(bpy.context, order="NEAREST", limits=(-2.0, 2.0), response=0.1)


def conveyor() -> None:
    belt = box("Belt", (0.0, 0.0, 0.25), (3.0, 0.6, 0.1), _STEEL)
    _api().generate.mechanism(belt, "conveyor", speed=0.5)
    legs = [box("Leg", (x, y, 0.1), (0.08, 0.08, 0.2), _STONE) for x in (-1.4, 1.4) for y in (-0.25, 0.25)]
    static(_joined(legs))
    dynamic(box("Parcel", (-1.2, 0.0, 0.45), (0.3, 0.3, 0.3)), 2.0)


def dominoes() -> None:
    tiles = [dynamic(box("Domino", (0.12 * n, 0.0, 0.2), (0.05, 0.2, 0.4), _BLUE), 0.5) for n in range(12)]
    tiles[0].rotation_euler = (0.0, 0.25, 0.0)
    tiles[0].location.z += 0.002


def _bricks(kind: str, counts: tuple[int, int, int], *, bonded: bool = False) -> None:
    brick = box("Brick", (0.0, 0.0, 0.1), (0.4, 0.2, 0.2), (0.62, 0.28, 0.18))
    _api().generate.wall(brick, kind, counts=counts, bonded=bonded)


def wall() -> None:
    _bricks("wall", (5, 1, 5))


def chimney() -> None:
    _bricks("chimney", (8, 1, 6), bonded=True)


def pyramid() -> None:
    _bricks("pyramid", (5, 1, 5))


def stack() -> None:
    for n in range(5):
        dynamic(box("Crate", (0.0, 0.0, 0.25 + 0.5 * n), (0.5, 0.5, 0.5)), 12.0)


def lever() -> None:
    base = box("Base", (0.0, 0.0, 0.1), (0.3, 0.3, 0.2), _STONE)
    stick = weigh(box("Lever", (0.0, 0.0, 0.5), (0.06, 0.06, 0.6), _RED), 1.0)
    _api().generate.mechanism(stick, "lever", base)


def button() -> None:
    base = box("Base", (0.0, 0.0, 0.1), (0.4, 0.4, 0.2), _STONE)
    knob = weigh(cylinder("Button", (0.0, 0.0, 0.24), 0.12, 0.08, _RED, (0.0, 0.0, 0.0)), 0.2)
    _api().generate.mechanism(knob, "button", base)


def turntable() -> None:
    plate = weigh(cylinder("Plate", (0.0, 0.0, 0.25), 0.8, 0.1, _STEEL, (0.0, 0.0, 0.0)), 30.0)
    _api().generate.mechanism(plate, "turntable", speed=60.0)


def seesaw() -> None:
    stand = cylinder("Stand", (0.0, 0.0, 0.25), 0.25, 0.6, _STONE)
    plank = weigh(box("Plank", (0.0, 0.0, 0.53), (3.0, 0.4, 0.06)), 20.0)
    static(stand)
    _axle(plank, stand, (0.0, 0.0, 0.5))
    dynamic(box("Crate", (1.2, 0.0, 0.76), (0.4, 0.36, 0.4), _RED), 15.0)


def pendulum() -> None:
    holder = _hanger("Holder", (0.0, 0.0, 2.0))
    bob = dynamic(ball("Bob", (1.0, 0.0, 1.85), 0.15), 5.0)
    _axle(bob, holder, (0.0, 0.0, 1.85))


def gate() -> None:
    post = box("Post", (0.0, 0.0, 0.5), (0.15, 0.15, 1.0), _STONE)
    boom = weigh(box("Boom", (1.3, 0.0, 0.95), (2.4, 0.08, 0.08), _RED), 6.0)
    static(post)
    joint = _axle(boom, post, (0.1, 0.0, 0.95))
    from usdphys_ext.usdphys_addon.authoring import joint_edits

    bpy.context.view_layer.update()
    joint_edits.add_motors(bpy.context, [(joint, "angular", -math.radians(60.0))], holds=True, response=1.0)


def _axle(body: Any, base: Any, place: Sequence[float]) -> Any:
    """A hinge about Y."""
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_euler = place, (0.0, 0.0, 0.0)
    joint = _api().join(body, base, "revolute", place="cursor", axis="world_y")
    cursor.location = (0.0, 0.0, 0.0)
    return joint


ASSETS = (
    Asset("Door", "Doors", "A door of 0.9 x 2 m, 20 kg, that swings in its frame", door),
    Asset("Double Door", "Doors", "Two leaves of 0.9 x 2 m, 20 kg each, in one frame", double_door),
    Asset("Boom Gate", "Doors", "A boom of 2.4 m, 6 kg, that a servo lifts by 60 degrees", gate),
    Asset("Chest", "Furniture", "A chest of 1 x 0.6 x 0.56 m whose lid, 4 kg, can be opened", chest),
    Asset("Drawers", "Furniture", "A cabinet of 0.66 x 0.5 x 0.8 m with three drawers of 3 kg", drawers),
    Asset("Lever", "Controls", "A lever of 0.6 m, 1 kg, on a base", lever),
    Asset("Button", "Controls", "A button of 0.24 m that springs back", button),
    Asset("Wheel", "Machines", "A wheel of 0.7 m, 10 kg, that turns on a stand", wheel),
    Asset("Turntable", "Machines", "A plate of 1.6 m, 30 kg, that turns by 60 degrees in a second", turntable),
    Asset("Conveyor", "Machines", "A belt of 3 m that carries at 0.5 m/s, with a parcel of 2 kg", conveyor),
    Asset("Pulley", "Machines", "Two loads on a rope over a wheel; the heavier one sinks", pulley),
    Asset("Scissor Lift", "Machines", "Crossed bars that lift a platform of 2 x 1 m", scissor_lift),
    Asset("Crane", "Machines", "A crane of 3.2 m with a load of 50 kg on a chain", crane),
    Asset("Robot Arm", "Machines", "An arm of three links of 0.9 m, which servos hold", arm),
    Asset("Car", "Vehicles", "A car of 2.4 m, 800 kg, on springs, that drives at 3 m/s", car),
    Asset("Chain", "Ropes", "A chain of 1.2 m with a weight of 10 kg", chain),
    Asset("Rope", "Ropes", "A rope that hangs between two holders 2 m apart", rope),
    Asset("Rope Bridge", "Ropes", "A bridge of planks between two posts 4 m apart", bridge),
    Asset("Ragdoll", "Figures", "A figure of 1.8 m that falls", ragdoll),
    Asset("Pendulum", "Toys", "A bob of 5 kg, 1 m from its axis, that starts level", pendulum),
    Asset("Seesaw", "Toys", "A plank of 3 m, 20 kg, with a crate of 15 kg on one end", seesaw),
    Asset("Dominoes", "Toys", "Twelve dominoes of 0.4 m; the first leans, and they fall one by one", dominoes),
    Asset("Brick Wall", "Bricks", "A wall of 5 courses of bricks of 0.4 x 0.2 x 0.2 m", wall),
    Asset("Chimney", "Bricks", "A chimney of 6 courses, whose bricks are joined by bonds that break", chimney),
    Asset("Pyramid", "Bricks", "A pyramid of 5 courses of bricks of 0.4 x 0.2 x 0.2 m", pyramid),
    Asset("Crates", "Bricks", "A stack of five crates of 0.5 m, 12 kg each", stack),
)


# --------------------------------------------------------------------------- writing


def catalog_id(name: str) -> str:
    return str(uuid.uuid5(_IDS, name))


def catalogs() -> str:
    names = sorted({asset.catalog for asset in ASSETS})
    lines = [f"{catalog_id(name)}:Physics/{name}:Physics-{name}" for name in names]
    return "\n".join(["# Catalogs of the physics library.", "", "VERSION 1", "", *lines, ""])


def make(asset: Asset, pictures: Path) -> Any:
    """Build an asset in a scene of its own, mark it and give it its thumbnail. Returns its collection."""
    scene: Any = bpy.data.scenes.new("Build")
    bpy.context.window.scene = scene
    home = bpy.data.collections[asset.name]
    asset.build()
    bpy.context.view_layer.update()
    for child in list(scene.collection.children):
        home.children.link(child)
        scene.collection.children.unlink(child)
    for obj in list(scene.collection.objects):
        home.objects.link(obj)
        scene.collection.objects.unlink(obj)
    scene.collection.children.link(home)
    bpy.context.view_layer.update()
    picture(scene, home, pictures / f"{asset.name}.png")
    scene.collection.children.unlink(home)
    home.asset_mark()
    data: Any = home.asset_data
    data.catalog_id, data.description = catalog_id(asset.catalog), asset.text
    data.author, data.license = "USD Physics developers", "GPL-3.0-or-later"
    for tag in ("physics", asset.catalog.lower()):
        data.tags.new(tag)
    show_picture(home, pictures / f"{asset.name}.png")
    bpy.context.window.scene = next(one for one in bpy.data.scenes if one != scene)
    bpy.data.scenes.remove(scene)
    return home


def corners(objects: Any) -> list[Vector]:
    return [obj.matrix_world @ Vector(corner) for obj in objects if obj.type == "MESH" for corner in obj.bound_box]


def picture(scene: Any, home: Any, path: Path) -> None:
    import demo_scene

    demo_scene.set_up_picture(SIZE, SIZE)
    camera = scene.camera
    points = corners(home.all_objects)
    low, high = (Vector(each(point[axis] for point in points) for axis in range(3)) for each in (min, max))
    middle, reach = (low + high) / 2.0, (high - low).length / 2.0
    camera.data.type, camera.data.ortho_scale = "ORTHO", 2.0 * reach
    away = Vector((0.75, -1.0, 0.6)).normalized()
    camera.location = middle + away * (reach * 3.0 + 1.0)
    camera.rotation_euler = (-away).to_track_quat("-Z", "Y").to_euler()
    camera.data.clip_end = reach * 8.0 + 10.0
    scene.display.shading.color_type = "OBJECT"
    scene.render.film_transparent, scene.render.image_settings.color_mode = True, "RGBA"
    demo_scene.draw_picture(path)
    data = camera.data
    bpy.data.objects.remove(camera)
    bpy.data.cameras.remove(data)


def show_picture(owner: Any, path: Path) -> None:
    image = bpy.data.images.load(str(path))
    preview = owner.preview_ensure()
    preview.image_size = (SIZE, SIZE)
    preview.image_pixels_float[:] = list(image.pixels)
    bpy.data.images.remove(image)


def write(folder: Path, pictures: Path, only: Sequence[str] = ()) -> None:
    """Write the library into a folder. only: names of assets; all by default."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    package = sys.modules.get("usdphys_ext") or bench.load_extension()
    package.register()
    for asset in ASSETS:  # before generators make collections with such names
        bpy.data.collections.new(asset.name)
    homes = {make(asset, pictures) for asset in ASSETS if not only or asset.name in only}
    for world in list(bpy.data.worlds):
        bpy.data.worlds.remove(world)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CATALOGS).write_text(catalogs(), encoding="utf-8", newline="\n")
    from usdphys_ext.usdphys_addon.bridge import joint_ends

    joint_ends.sync(makes_joints=False)
    bpy.data.libraries.write(str(folder / FILE), homes, fake_user=True, compress=True)
    package.unregister()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=bench.ROOT / "library")
    parser.add_argument("--pictures", type=Path, help="keep the thumbnails there as files, to look at")
    parser.add_argument("--only", nargs="*", default=())
    options = parser.parse_args()
    if bpy.app.version[:2] != OLDEST and options.out == bench.ROOT / "library":
        parser.error(f"run this with the bpy of Blender {OLDEST[0]}.{OLDEST[1]}, or give --out")
    with tempfile.TemporaryDirectory() as temporary:
        pictures = (options.pictures or Path(temporary)).resolve()
        pictures.mkdir(parents=True, exist_ok=True)
        write(options.out.resolve(), pictures, options.only)
    size = (options.out / FILE).stat().st_size
    print(f"{options.out / FILE}: {len(options.only or ASSETS)} assets, {size / 1024:,.0f} KiB")


if __name__ == "__main__":
    main()
