# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene with one example of each generator. Needs Blender with the properties of the extension registered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import bpy

from usdphys_addon.authoring import generators, tagging
from usdphys_addon.generators import bonds, linkages, mechanisms, nets, ragdoll, ropes, samples, vehicle, walls

Triple = tuple[float, float, float]

#: Segments of ropes, planks of the bridge, knots of the net along a side, bricks of the wall and bonds between them.
SEGMENTS, PLANKS, KNOTS = 16, 14, 5
WALL = (8, 1, 6)
#: The examples that Newton takes, as articulations, and the collection with them. Walls, nets, pulleys and lifts have
#: joints outside of an articulation.
FOR_NEWTON, NEWTON = ("car", "bridge", "lines", "ragdoll", "doors"), "Newton"
#: What OpenUSD's parsing utilities see in the scene, and in what Newton takes of it, by object type.
PARSED = {
    "Scene": 1, "RigidBody": 234, "RigidBodyMaterial": 2, "Articulation": 13, "SphereShape": 4, "CubeShape": 17,
    "CapsuleShape": 157, "CylinderShape": 2, "MeshShape": 77, "RevoluteJoint": 34, "PrismaticJoint": 2,
    "SphericalJoint": 48, "D6Joint": 221, "FixedJoint": 11,
}  # fmt: skip
PARSED_NEWTON = {
    "Scene": 1, "RigidBody": 108, "RigidBodyMaterial": 1, "Articulation": 13, "SphereShape": 4, "CubeShape": 17,
    "CapsuleShape": 61, "CylinderShape": 1, "MeshShape": 26, "RevoluteJoint": 27, "PrismaticJoint": 2,
    "SphericalJoint": 4, "D6Joint": 63, "FixedJoint": 11,
}  # fmt: skip


def build() -> None:
    """Build the scene in the current one, which is empty."""
    scene = bpy.context.scene
    scene.name = "Generators"
    scene.frame_start, scene.frame_end = 1, 120
    add_ground()
    for name in FOR_NEWTON:
        add_example(name, articulation=True)
    collection = bpy.data.collections.new(NEWTON)
    for obj in list(scene.objects):
        collection.objects.link(obj)
    scene.collection.children.link(collection)
    for name in EXAMPLES:
        if name not in FOR_NEWTON:
            add_example(name)
    select()
    bpy.context.view_layer.update()


def exported(obj: Any) -> str:
    """The name of an object in USD; none for the world."""
    return "" if obj is None else obj.name.replace(" ", "_").replace(".", "_")


def joints(objects: Iterable[Any]) -> list[tuple[str, str, tuple[float, float, float]]]:
    """(names of what they join, place in the world) of the joints among objects."""
    bpy.context.view_layer.update()
    return [
        (exported(joint.body0), exported(joint.body1), tuple(obj.matrix_world.translation))
        for joint, obj in ((obj.usdphys.joint, obj) for obj in objects)
        if joint.is_applied
    ]


def add_ground() -> None:
    _still(_box("Ground", (0.0, 0.0, -0.5), (80.0, 80.0, 1.0)))


def add_example(name: str, *, articulation: bool = False) -> None:
    """Add one of EXAMPLES. articulation: what can be one and is none by default is one."""
    example = EXAMPLES[name]
    if articulation and example in (_bridge, _lines, _doors):
        example(articulation=True)
    else:
        example()


def select(*objects: Any) -> None:
    """Select these objects alone; the last is active."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None
    bpy.context.view_layer.update()


def _add(name: str, data: Any, place: Triple, turn: Triple = (0.0, 0.0, 0.0)) -> Any:
    obj: Any = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.rotation_euler = place, turn
    return obj


def _box(name: str, place: Triple, size: Sequence[float]) -> Any:
    return _add(name, generators.box(name, size), place)


def _still(obj: Any) -> Any:
    bpy.context.view_layer.update()
    tagging.Tagging(bpy.context.evaluated_depsgraph_get(), [obj], "STATIC").apply()
    return obj


def _moving(obj: Any, mass: float) -> Any:
    bpy.context.view_layer.update()
    tagging.Tagging(bpy.context.evaluated_depsgraph_get(), [obj], "DYNAMIC").apply()
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, mass
    return obj


def _car() -> None:
    """It drives along +X."""
    chassis = _box("Car", (-10.0, -8.0, 0.6), (2.0, 0.9, 0.4))
    wheels = [
        _add("Wheel", generators.cylinder("Wheel", 0.3, 0.2), (-10.0 + x, -8.0 + y, 0.3), (math.pi / 2.0, 0.0, 0.0))
        for x in (-0.7, 0.7) for y in (-0.6, 0.6)
    ]  # fmt: skip
    select(*wheels, chassis)
    vehicle.make_vehicle(bpy.context, vehicle.VehicleOptions(speed=4.0, articulation=True))


def _wall() -> None:
    """A steel ball flies at the upper corner of a wall of bricks that are bonded."""
    select(_box("Brick", (-0.7, -4.0, 0.05), (0.2, 0.2, 0.1)))
    bricks = walls.make_wall(bpy.context, walls.WallOptions("WALL", WALL))
    bonds.bond(bpy.context, bricks, bonds.BondOptions())
    ball = _moving(_add("Ball", generators.sphere("Ball", 0.06), (0.6, -4.5, 0.55)), 8.0)
    ball.usdphys.rigid_body.velocity = (0.0, 20.0, 0.0)


def _bridge(*, articulation: bool = False) -> None:
    """A crate of 100 kg stands on a bridge, which is too high to lie on the ground."""
    select(*(_box("Bank", (x, 0.0, 1.0), (1.0, 2.0, 2.0)) for x in (-3.0, 3.0)))
    row = ropes.make_row(
        bpy.context, ropes.RopeOptions("BRIDGE", PLANKS, 0.03, slack=0.03, mass=20.0, articulation=articulation)
    )  # fmt: skip
    low = min(obj.matrix_world.translation.z for obj in row.bodies)
    _moving(_box("Cargo", (0.0, 0.0, low + 0.4), (0.6, 0.6, 0.6)), 100.0)


def _lines(*, articulation: bool = False) -> None:
    """A rope, a chain, and a cloth line: a cable on which things hang."""
    for number, kind in enumerate(("ROPE", "CHAIN", "CABLE")):
        y = 4.0 + 2.0 * number
        select(*(_box(f"Pole {kind.title()}", (x, y, 1.5), (0.2, 0.2, 3.0)) for x in (-2.0, 2.0)))
        options = ropes.RopeOptions(
            kind, SEGMENTS, 0.03, slack=0.1, mass=2.0, stiffness=5.0, articulation=articulation
        )  # fmt: skip
        ropes.make_row(bpy.context, options)


def _net() -> None:
    """A ball lies in a net."""
    bpy.context.scene.cursor.location = (7.0, 4.0, 2.0)
    nets.make_net(bpy.context, nets.NetOptions(cells=(KNOTS, KNOTS)))
    _moving(_add("Catch", generators.sphere("Catch", 0.35), (7.0, 4.0, 2.4)), 2.0)


def _figure() -> None:
    select(samples.add_figure(bpy.context))
    bpy.context.active_object.location = (7.0, 0.0, 0.3)
    bpy.context.view_layer.update()
    ragdoll.make_ragdoll(bpy.context, ragdoll.RagdollOptions())


#: (kind, size and place of the part, those of what holds it), m; places are beside each other along X.
PARTS = (
    ("DOOR", (1.0, 0.1, 1.6), (0.6, 0.0, 1.0), (0.2, 1.0, 2.0), (0.0, 0.0, 1.0)),
    ("DRAWER", (0.8, 0.5, 0.3), (0.0, -0.4, 0.5), (1.0, 0.1, 1.0), (0.0, 0.3, 0.5)),
    ("LID", (1.0, 0.8, 0.1), (0.0, 0.0, 1.06), (1.0, 0.8, 1.0), (0.0, 0.0, 0.5)),
    ("LEVER", (0.1, 0.1, 0.8), (0.0, 0.0, 1.42), (0.5, 0.5, 1.0), (0.0, 0.0, 0.5)),
    ("BUTTON", (0.3, 0.3, 0.1), (0.0, 0.0, 1.06), (0.5, 0.5, 1.0), (0.0, 0.0, 0.5)),
    ("TURNTABLE", (1.0, 1.0, 0.1), (0.0, 0.0, 1.06), (0.5, 0.5, 1.0), (0.0, 0.0, 0.5)),
)  # fmt: skip


def _doors(*, articulation: bool = False) -> None:
    """One of each mechanism of two parts, a wheel and a conveyor."""
    for number, (kind, size, place, base, foot) in enumerate(PARTS):
        x, y = -8.0 + 2.5 * number, 12.0
        part = _box(kind.title(), (x + place[0], y + place[1], place[2]), size)
        select(part, _box(f"{kind.title()} Base", (x + foot[0], y + foot[1], foot[2]), base))
        mechanisms.make_mechanism(bpy.context, kind, 1.0, articulation=articulation)
    spinner = _add("Spinner", generators.cylinder("Spinner", 0.4, 0.1), (8.0, 12.0, 1.0), (math.pi / 2.0, 0.0, 0.0))
    select(spinner, _box("Spinner Base", (8.0, 12.3, 0.6), (0.3, 0.3, 1.2)))
    mechanisms.make_mechanism(bpy.context, "WHEEL", 0.0, articulation=articulation)
    select(_box("Belt", (11.0, 12.0, 0.2), (3.0, 0.5, 0.4)))
    mechanisms.make_mechanism(bpy.context, "CONVEYOR", 0.5)
    _moving(_box("Parcel", (9.8, 12.0, 0.55), (0.3, 0.3, 0.3)), 1.0)


def _machines() -> None:
    wheel = _add("Pulley", generators.cylinder("Pulley", 0.3, 0.2), (-3.0, 16.0, 3.0), (math.pi / 2.0, 0.0, 0.0))
    loads = [_box("Load", (-3.0 + x, 16.0, 1.5), (size,) * 3) for x, size in ((-0.32, 0.3), (0.32, 0.32))]
    select(*loads, wheel)
    linkages.make_pulley(bpy.context)
    platform = _box("Platform", (2.0, 16.0, 0.75), (2.0, 1.0, 0.1))
    select(platform, _box("Lift Base", (2.0, 16.0, 0.1), (2.0, 1.0, 0.2)))
    linkages.make_scissor_lift(bpy.context, 2, 0.8)


EXAMPLES: dict[str, Callable[..., None]] = {
    "car": _car, "wall": _wall, "bridge": _bridge, "lines": _lines, "net": _net, "ragdoll": _figure, "doors": _doors,
    "machines": _machines,
}  # fmt: skip
