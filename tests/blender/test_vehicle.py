# SPDX-License-Identifier: GPL-3.0-or-later
"""Vehicles: they stand on their springs, drive straight, steer, and obey the arrow keys."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector
from usdphys_ext.usdphys_addon.core import mass, validate
from usdphys_ext.usdphys_addon.core.schemas import usd_geom
from usdphys_ext.usdphys_addon.generators import vehicle
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes

pytestmark = pytest.mark.slow


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]
    bpy.context.view_layer.update()


def car(unit=1.0, names="Wheel", heading=0.0):
    """A box of 2 m on four wheels of 0.3 m that looks along +X, turned about Z. Returns (chassis, wheels)."""
    floor = scenes.add_box("Floor", (40 * unit, 40 * unit, 0.5 * unit), location=(0, 0, -0.5 * unit))
    scenes.make_collider(floor)
    c, s = math.cos(heading), math.sin(heading)
    chassis = scenes.add_box("Body", (1.0 * unit, 0.45 * unit, 0.2 * unit), location=(0, 0, 0.6 * unit))
    chassis.rotation_euler.z = heading
    wheels = []
    for x in (-0.7, 0.7):
        for y in (-0.6, 0.6):
            bpy.ops.mesh.primitive_cylinder_add(radius=0.3 * unit, depth=0.2 * unit, vertices=48)
            wheel = bpy.context.object
            wheel.name = names
            wheel.location = ((x * c - y * s) * unit, (x * s + y * c) * unit, 0.3 * unit)
            wheel.rotation_euler = (math.pi / 2, 0, heading)
            wheels.append(wheel)
    select(*wheels, chassis)
    return chassis, wheels


def play(seconds, act=None):
    bpy.context.view_layer.update()
    session = preview_guard.current() or preview_guard.start(bpy.context)
    if act is not None:
        act(session)
    end = session.world.time + seconds
    while session.world.time < end:
        session.simulate(bpy.context)
    session.show(bpy.context)
    return session


@pytest.mark.parametrize(("meters", "names"), [(1.0, "Wheel"), (0.01, "Wheel"), (1.0, "Cylinder")])
def test_it_stands_on_its_springs_where_it_was_made(meters, names):
    unit = 1.0 / meters
    bpy.context.scene.unit_settings.scale_length = meters
    chassis, wheels = car(unit, names)
    assert bpy.ops.usdphys.vehicle(drive=False, travel=0.1 * unit) == {"FINISHED"}
    before = chassis.matrix_world.translation.copy()
    play(3.0)
    assert (chassis.matrix_world.translation - before).length * meters < 0.01
    assert all(abs(wheel.matrix_world.translation.z * meters - 0.3) < 0.01 for wheel in wheels)


@pytest.mark.parametrize("driven", ["ALL", "FRONT", "REAR"])
@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_it_drives_ten_metres_straight_ahead(driven, heading):
    chassis, _ = car(heading=heading)
    bpy.ops.usdphys.vehicle(driven=driven, speed=4.0)
    start = chassis.matrix_world.translation.copy()
    ahead = np.array([math.cos(heading), math.sin(heading)])
    way = np.zeros(2)
    for _ in range(12):
        play(0.5)
        way = np.array(chassis.matrix_world.translation - start)[:2]
        if way @ ahead >= 10.0:
            break
    assert way @ ahead >= 10.0
    assert abs(way @ np.array([-ahead[1], ahead[0]])) < 0.2


def test_as_an_articulation_newton_takes_it_and_it_drives_straight():
    """PhysX, 5 s: 17.5 m ahead and 0.2 mm sideways; Newton, 3 s: 9.7 m and 0.1 mm."""
    for is_one in (False, True):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        chassis, _ = car()
        bpy.ops.usdphys.vehicle(articulation=is_one, speed=4.0)
        bpy.context.view_layer.update()
        codes = {issue.code for issue in validate.validate(scenes.read_model(), "newton")}
        assert ("JointOutsideArticulation" in codes) != is_one
    play(3.5)
    assert chassis.matrix_world.translation.x > 10.0 and abs(chassis.matrix_world.translation.y) < 0.2


def test_the_arrow_keys_steer_left_and_right_and_stop():
    chassis, _ = car()
    bpy.ops.usdphys.vehicle(drive=False, speed=3.0)
    assert vehicle.is_there(bpy.context.scene)
    play(3.0, lambda session: vehicle.drive(session, 1.0, 0.5))
    assert chassis.matrix_world.translation.x > 1.0 and chassis.matrix_world.to_euler().z > 0.3
    at = chassis.matrix_world.to_euler().z
    play(2.0, lambda session: vehicle.drive(session, 1.0, -0.5))
    assert chassis.matrix_world.to_euler().z < at
    play(2.0, lambda session: vehicle.drive(session, 0.0, 0.0))
    place = chassis.matrix_world.translation.copy()
    play(1.0)
    assert (chassis.matrix_world.translation - place).length < 0.05


def test_wheels_named_front_say_where_forwards_is():
    chassis, wheels = car()
    for wheel in wheels:
        wheel.name = f"Wheel {'Front' if wheel.location.x < 0 else 'Rear'}"
    bpy.ops.usdphys.vehicle(speed=3.0)
    play(2.0)
    assert chassis.matrix_world.translation.x < -1.0
    steered = [obj.usdphys.joint.body1.name for obj in bpy.data.objects if vehicle.STEERING in obj.keys()]
    assert len(steered) == 2 and all("Front" in name for name in steered)


def test_the_load_of_a_wheel_follows_from_the_centre_of_mass():
    chassis, _ = car()
    chassis.location.x = 0.35
    bpy.context.view_layer.update()
    bpy.ops.usdphys.vehicle()
    stiffness = {}
    for obj in bpy.data.objects:
        joint = obj.usdphys.joint
        if joint.is_applied and joint.type == "GENERIC":
            side = joint.body1.matrix_world.translation.x > 0
            stiffness.setdefault(side, joint.drives.transZ.stiffness)
    # The centre is at three quarters of the wheelbase.
    assert stiffness[True] / stiffness[False] == pytest.approx(3.0, rel=0.01)


def add_round(name, radius, depth, location, rotation=(math.pi / 2, 0, 0)):
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, vertices=32, location=location, rotation=rotation)
    bpy.context.object.name = name
    return bpy.context.object


def test_the_parts_of_a_car_go_with_its_wheels_and_its_chassis():
    """Rims turn with their tyres, a steering wheel and a windscreen go with the chassis, a cone beside it does not."""
    chassis, tyres = car()
    rims = [add_round("Wheel Rim", 0.2, 0.22, wheel.location) for wheel in tyres]
    steering = add_round("SteeringWheel", 0.15, 0.03, (0.3, 0.2, 0.85), (0.5, 0, 0.4))
    spare = add_round("Spare Tyre", 0.3, 0.2, (-1.0, 0, 0.7), (0, math.pi / 2, 0))
    screen = scenes.add_box("Windscreen", (0.02, 0.4, 0.15), location=(0.4, 0, 0.9))
    pole = scenes.add_box("Pole", (0.05, 0.05, 1.0), location=(0.0, 4.0, 1.0))
    select(*rims, steering, spare, screen, pole, *tyres, chassis)
    before = {obj.name: obj.matrix_world.copy() for obj in (*rims, steering, spare, screen, pole)}
    assert bpy.ops.usdphys.vehicle(speed=3.0) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert all(np.allclose(bpy.data.objects[name].matrix_world, there, atol=1e-6) for name, there in before.items())
    assert [rim.parent for rim in rims] == tyres
    assert all(obj.parent == chassis for obj in (steering, spare, screen)) and pole.parent is None
    model = scenes.read_model()
    assert len(model.bodies) == 1 + 2 * len(tyres)
    offsets = {obj: chassis.matrix_world.inverted() @ obj.matrix_world for obj in (steering, screen)}
    play(2.0)
    assert chassis.matrix_world.translation.x > 2.0
    assert all(np.allclose(chassis.matrix_world.inverted() @ obj.matrix_world, at, atol=1e-4)
               for obj, at in offsets.items())  # fmt: skip
    for rim, tyre in zip(rims, tyres, strict=True):
        assert (rim.matrix_world.translation - tyre.matrix_world.translation).length < 1e-4


def test_a_selection_without_wheels_is_refused_with_nothing_changed():
    one, other = scenes.add_box("One"), scenes.add_box("Other", (0.2, 0.5, 0.1), location=(3, 0, 0))
    third = scenes.add_box("Third", (0.4, 0.5, 0.3), location=(6, 0, 0))
    select(one, other, third)
    with pytest.raises(RuntimeError, match="No chassis"):
        bpy.ops.usdphys.vehicle()
    assert not any(obj.usdphys.rigid_body.is_applied for obj in (one, other))


class Event:
    def __init__(self, key, value="PRESS", **modifiers):
        self.type, self.value = key, value
        self.shift = self.alt = self.ctrl = False
        self.__dict__.update(modifiers)


def test_the_preview_takes_the_arrow_keys_only_for_vehicles():
    from usdphys_ext.operators import preview

    arrows, scene = preview.HeldArrows(), bpy.context.scene
    scenes.solid("Crate")
    assert arrows.take(Event("UP_ARROW"), scene) is None and arrows.take(Event("UP_ARROW", "RELEASE"), scene) is None
    car()
    bpy.ops.usdphys.vehicle()
    events = (("UP_ARROW", "PRESS"), ("LEFT_ARROW", "PRESS"), ("UP_ARROW", "RELEASE"), ("LEFT_ARROW", "RELEASE"))
    taken = [arrows.take(Event(key, value), scene) for key, value in events]
    assert taken == [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]
    assert arrows.take(Event("LEFT_ARROW", shift=True, alt=True), scene) is None
    assert arrows.take(Event("A"), scene) is None


@pytest.mark.parametrize("stretch", [1.0, 0.5])
def test_wheels_get_spheres_as_high_and_as_heavy_as_they_are_and_cylinders_on_request(stretch):
    """PhysX rolls cylinders unevenly: a car left its line by a metre in ten; on spheres by a millimetre."""
    masses = []
    for shape in ("CYLINDER", "SPHERE"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        _, wheels = car()
        for wheel in wheels:
            wheel.scale.z = stretch
        bpy.context.view_layer.update()
        assert bpy.ops.usdphys.vehicle(shape=shape) == {"FINISHED"}
        bpy.context.view_layer.update()
        model = scenes.read_model()
        names = {wheel.name for wheel in wheels}
        paths = [path for path, prim in model.bodies.items() if prim.label in names]
        assert len(paths) == 4
        masses.append([mass.mass_properties(model, path).mass for path in paths])
        balls = [prim.get(usd_geom.Sphere) for path, prim in model.prims.items() if prim.get(usd_geom.Sphere)]
        assert len(balls) == (4 if shape == "SPHERE" else 0)
        assert all(ball.radius == pytest.approx(0.3, rel=1e-4) for ball in balls)
    assert masses[1] == pytest.approx(masses[0], rel=1e-5)


def test_the_spheres_of_wheels_are_no_wider_than_the_wheels():
    """Else a car is stopped by what it passes; and the mass stays in the middle of the wheel."""
    _, wheels = car()
    assert bpy.ops.usdphys.vehicle() == {"FINISHED"}
    bpy.context.view_layer.update()
    model = scenes.read_model()
    outer = [
        max(abs(prim.world[1, 3]) + ball.radius for prim in model.prims.values() if (ball := prim.get(usd_geom.Sphere)))
    ]
    assert max(outer) <= 0.7 + 1e-5
    by_label = {prim.label: path for path, prim in model.bodies.items()}
    for wheel in wheels:
        found = mass.mass_properties(model, by_label[wheel.name])
        assert found.center_of_mass == pytest.approx((0, 0, 0), abs=1e-5)
    play(3.0)
    assert bpy.data.objects["Body"].location.x > 2.0 and abs(bpy.data.objects["Body"].location.y) < 0.02


def test_a_trailer_rolls_freely_and_obeys_no_key():
    """Pushed at 2 m/s it keeps most of that; with drives at rest it would brake."""
    chassis, wheels = car()
    assert bpy.ops.usdphys.vehicle(driven="NONE") == {"FINISHED"}
    assert not vehicle.is_there(bpy.context.scene)
    for body in (chassis, *wheels, *(obj for obj in bpy.data.objects if obj.name.endswith("Hub"))):
        body.usdphys.rigid_body.velocity = body.matrix_world.to_quaternion().inverted() @ Vector((2, 0, 0))
    for wheel in wheels:
        spin = Vector((0, 2 / 0.3, 0))
        wheel.usdphys.rigid_body.angular_velocity = wheel.matrix_world.to_quaternion().inverted() @ spin
    play(2.0)
    assert chassis.location.x > 3.0


def test_cubes_are_no_wheels_unless_their_names_say_so():
    boxes = [scenes.add_box("Box", (0.3, 0.3, 0.3), location=(x, 0, 0.3)) for x in (-2, 0, 2)]
    select(*boxes)
    with pytest.raises(RuntimeError, match="No chassis with two or more wheels"):
        bpy.ops.usdphys.vehicle()
    assert not any(obj.usdphys.rigid_body.is_applied for obj in boxes)
    boxes[0].name, boxes[1].name = "Wheel A", "Wheel B"
    assert bpy.ops.usdphys.vehicle() == {"FINISHED"}


def test_a_second_run_does_not_double_springs_and_drives():
    chassis, wheels = car()
    bpy.ops.usdphys.vehicle()
    number = len(bpy.data.objects)
    select(*wheels, chassis)
    with pytest.raises(RuntimeError, match=r"is held by 'Wheel.* already; delete this joint first"):
        bpy.ops.usdphys.vehicle()
    assert len(bpy.data.objects) == number
