# SPDX-License-Identifier: GPL-3.0-or-later
"""Generators start with sizes that fit: in scenes of any units, and for toys as for cranes."""

import bpy
import pytest

from . import scenes
from .scenes import select

#: (metres of a unit, size of things in metres by that of usual ones).
PLACES = [(1.0, 1.0), (0.01, 1.0), (0.001, 1.0), (1.0, 0.05), (0.01, 0.05)]


def wheel(unit, x, y):
    bpy.ops.mesh.primitive_cylinder_add(
        radius=0.3 * unit, depth=0.2 * unit, vertices=24, location=(x, y, 0.3 * unit), rotation=(1.5708, 0, 0)
    )
    bpy.context.object.name = "Wheel"
    return bpy.context.object


@pytest.mark.parametrize(("meters", "size"), PLACES)
@pytest.mark.parametrize("kind", ["ROPE", "CABLE", "BRIDGE"])
def test_a_row_is_as_thick_and_as_heavy_as_its_length_asks_for(meters, size, kind):
    """4 m of rope of 4 cm weigh 1 kg/m; one of 0.2 m is 2.5 mm thick. Planks are of wood, and bear less if small."""
    bpy.context.scene.unit_settings.scale_length = meters
    unit = size / meters
    select(*(scenes.add("Post", location=(x * unit, 0, 2 * unit)) for x in (-2, 2)))
    bpy.ops.usdphys.rope(kind=kind, slack=0.1, segments=10, articulation=True)
    radius = min(0.02, 4.4 * size / 160.0)
    row = [bpy.data.objects[f"{kind.title()} {number}"] for number in range(1, 11)]
    total = sum(obj.usdphys.mass.mass for obj in row)
    if kind == "BRIDGE":
        width = min(1.0, 4.4 * size / 3.0)
        assert row[0].dimensions.y * meters == pytest.approx(width, rel=1e-3)
        assert row[0].dimensions.z * meters == pytest.approx(2.0 * radius, rel=1e-3)
        assert total == pytest.approx(600.0 * width * 2.0 * radius * 4.4 * size, rel=1e-2)
    else:
        assert row[0].usdphys.colliders[0].radius * meters == pytest.approx(radius, rel=1e-3)
        assert total == pytest.approx((radius / 0.02) ** 2 * 4.4 * size, rel=1e-2)


@pytest.mark.parametrize(("meters", "size"), PLACES)
def test_a_vehicle_moves_its_wheels_and_drives_as_its_size_asks_for(meters, size):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = size / meters
    chassis = scenes.add_box("Car", (unit, 0.4 * unit, 0.2 * unit), location=(0, 0, 0.6 * unit))
    wheels = [wheel(unit, x * unit, y * unit) for x in (-0.7, 0.7) for y in (-0.6, 0.6)]
    select(*wheels, chassis)
    bpy.ops.usdphys.vehicle()
    joints = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert max(one.limits.transZ.high for one in joints if one.limits.transZ.is_applied) * meters == pytest.approx(
        0.1 * size, rel=1e-3
    )
    speed = max(one.drives.angular.target_velocity for one in joints) * 0.3 * size
    assert speed == pytest.approx(3.0 * size**0.5, rel=1e-2)


@pytest.mark.parametrize(("meters", "size"), PLACES)
def test_a_scissor_lift_and_a_conveyor_fit_what_is_selected(meters, size):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = size / meters
    base = scenes.add_box("Base", (0.6 * unit, 0.3 * unit, 0.1 * unit), location=(0, 0, 0.1 * unit))
    platform = scenes.add_box("Platform", (0.6 * unit, 0.3 * unit, 0.05 * unit), location=(0, 0, 1.2 * unit))
    select(platform, base)
    assert bpy.ops.usdphys.mechanism(kind="SCISSOR_LIFT") == {"FINISHED"}
    belt = scenes.add_box("Belt", (1.5 * unit, 0.3 * unit, 0.05 * unit), location=(0, 3 * unit, 0))
    select(belt)
    bpy.ops.usdphys.mechanism(kind="CONVEYOR")
    (prim,) = [prim for prim in scenes.read_model().bodies.values() if prim.label == "Belt"]
    assert prim.schemas["PhysxSurfaceVelocityAPI"].surface_velocity[0] == pytest.approx(min(1.0, 1.5 * size), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "size"), PLACES)
def test_copies_are_scattered_about_as_wide_as_six_objects(meters, size):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = size / meters
    floor = scenes.add_box("Floor", (20 * unit, 20 * unit, 0.5 * unit), location=(0, 0, -0.5 * unit))
    pebble = scenes.add_box("Pebble", (0.15 * unit,) * 3, location=(9 * unit, 0, 0.2 * unit))
    select(pebble)
    bpy.context.scene.cursor.location = (0, 0, 0)
    assert bpy.ops.usdphys.settle(copies=6, seconds=1.0) == {"FINISHED"}
    copies = [obj for obj in bpy.context.selected_objects if obj != floor]
    away = [obj.matrix_world.translation.xy.length for obj in copies]
    assert len(copies) == 6 and max(away) < 6 * 0.3 * unit * 1.2 and max(away) > 0.3 * unit


def test_what_is_given_is_kept_and_what_follows_from_it_follows():
    select(*(scenes.add("Post", location=(x, 0, 2)) for x in (-2, 2)))
    bpy.ops.usdphys.rope(radius=0.04, slack=0.0, segments=4)
    rope = bpy.data.objects["Rope 1"]
    assert rope.usdphys.colliders[0].radius == pytest.approx(0.04)
    assert rope.usdphys.mass.mass == pytest.approx(4.0)
