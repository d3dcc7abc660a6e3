# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors, drawers, lids, levers, buttons, turntables and conveyors: limits and springs as their forms ask for."""

import math

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import mass

from . import scenes
from .scenes import select

pytestmark = pytest.mark.slow


def joint():
    (found,) = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    return found.usdphys.joint


def box_with_lid():
    base = scenes.add_box("Box", (0.5, 0.4, 0.25), location=(0, 0, 0.25))
    lid = scenes.add_box("Lid", (0.5, 0.4, 0.02), location=(0, 0, 0.52))
    select(lid, base)
    return lid, base


def test_a_lid_opens_upwards_and_not_into_the_box():
    lid, _ = box_with_lid()
    bpy.ops.usdphys.mechanism(kind="LID")
    made = joint()
    assert made.type == "REVOLUTE" and lid.usdphys.rigid_body.is_applied
    low, high = made.revolute.lower_limit, made.revolute.upper_limit
    assert sorted((abs(low), abs(high))) == pytest.approx([0.0, math.radians(110.0)], abs=1e-6)
    before = lid.matrix_world.copy()
    lid.usdphys.rigid_body.angular_velocity = (0, 0, 0)
    drive = made.drives.angular
    drive.is_applied, drive.stiffness, drive.damping = True, 1000.0, 100.0
    drive.target_position = low if abs(low) > abs(high) else high
    scenes.play(3.0)
    assert lid.matrix_world.translation.z > before.translation.z + 0.2


@pytest.mark.parametrize("is_last", [True, False])
def test_of_a_door_and_a_static_wall_the_wall_holds_whichever_was_clicked_last(is_last):
    wall = scenes.add_box("Wall", (0.1, 0.1, 1), location=(0, 0, 1))
    door = scenes.add_box("Door", (0.4, 0.03, 1), location=(0.51, 0, 1.01))
    scenes.make_collider(wall)
    select(*((door, wall) if is_last else (wall, door)))
    bpy.ops.usdphys.mechanism(kind="DOOR")
    assert (joint().body0, joint().body1) == (wall, door)
    assert not wall.usdphys.rigid_body.is_applied and door.usdphys.rigid_body.is_applied


def test_an_anchor_holds_its_part_where_there_are_no_articulations_as_in_gltf():
    """It is at the origin, and the door hangs far from there: its weight turns what is light."""
    frame = scenes.add_box("Frame", (0.1, 0.1, 1), location=(10, 10, 1.1))
    door = scenes.add_box("Door", (0.4, 0.03, 1), location=(10.5, 10, 1.1))
    select(door, frame)
    bpy.ops.usdphys.mechanism(kind="DOOR", articulation=True)
    model = scenes.read_model()
    own, anchor = (
        mass.mass_properties(model, next(path for path, prim in model.bodies.items() if prim.label == name))
        for name in ("Door", "Door Anchor")
    )
    assert anchor.mass > 5.0 * own.mass
    assert min(anchor.diagonal_inertia) > 5.0 * own.mass * door.matrix_world.translation.length_squared


def test_a_turntable_turns_at_its_speed():
    plate = scenes.add_box("Plate", (0.5, 0.5, 0.05), location=(0, 0, 1))
    select(plate)
    bpy.ops.usdphys.mechanism(kind="TURNTABLE", spin=0.5)
    assert joint().type == "REVOLUTE"
    scenes.play(3.0)
    assert plate.matrix_world.to_euler().z == pytest.approx(1.5, rel=0.1)
    assert plate.matrix_world.translation.z == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("has_base", [False, True])
def test_a_turntable_that_is_an_articulation_hangs_on_an_anchor_as_newton_wants_it(has_base):
    """Newton moves the joint of a single body on the world, and leaves the pose of the body."""
    plate = scenes.add_box("Plate", (0.5, 0.5, 0.05), location=(0, 0, 1))
    base = [scenes.add_box("Base", (0.1, 0.1, 0.45), location=(0, 0, 0.5))] if has_base else []
    select(plate, *base)
    bpy.context.view_layer.objects.active = (base or [plate])[0]
    bpy.ops.usdphys.mechanism(kind="TURNTABLE", spin=0.5, articulation=True)
    (hinge,) = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.type == "REVOLUTE"]
    roots = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.articulation_root.is_applied]
    assert [(one.type, one.body1) for one in roots] == [("FIXED", hinge.body0)] and hinge.body1 == plate
    fixed = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert [(one.body0, one.body1) for one in fixed if one.type == "FIXED"] == [(None, hinge.body0)]
    assert [pair.object for pair in plate.usdphys.filtered_pairs.filtered_pairs] == base
    scenes.play(3.0)
    assert plate.matrix_world.to_euler().z == pytest.approx(1.5, rel=0.1)
    assert plate.matrix_world.translation.z == pytest.approx(1.0, abs=1e-3)


def test_drawers_of_a_cabinet_that_moves_are_links_of_its_articulation():
    cabinet, drawer = scenes.solid("Cabinet", (0.3, 0.3, 0.4)), scenes.add_box("Drawer", (0.25, 0.28, 0.1))
    drawer.location.y = -0.1
    select(drawer, cabinet)
    bpy.context.view_layer.objects.active = cabinet
    bpy.ops.usdphys.mechanism(kind="DRAWER", articulation=True)
    assert cabinet.usdphys.articulation_root.is_applied and joint().body0 == cabinet


def test_a_button_springs_back_and_is_pushed_by_half_of_its_height():
    base = scenes.add_box("Base", (0.5, 0.5, 0.1))
    button = scenes.add_box("Button", (0.1, 0.1, 0.05), location=(0, 0, 0.15))
    select(button, base)
    bpy.ops.usdphys.mechanism(kind="BUTTON")
    limits = joint().prismatic
    assert (limits.lower_limit, limits.upper_limit) == pytest.approx((-0.05, 0.0))
    scenes.play(2.0)
    assert button.matrix_world.translation.z == pytest.approx(0.15, abs=0.005)


def test_a_lever_turns_by_45_degrees_to_both_sides():
    base = scenes.add_box("Base", (0.5, 0.5, 0.1))
    lever = scenes.add_box("Lever", (0.03, 0.03, 0.3), location=(0, 0, 0.4))
    select(lever, base)
    bpy.ops.usdphys.mechanism(kind="LEVER")
    limits = joint().revolute
    assert (limits.lower_limit, limits.upper_limit) == pytest.approx((-math.pi / 4, math.pi / 4))
    scenes.play(2.0)
    assert lever.matrix_world.translation.z == pytest.approx(0.4, abs=0.01)


def test_a_conveyor_is_kinematic_and_its_surface_runs_along_its_longest_side():
    belt = scenes.add_box("Belt", (0.3, 2.0, 0.1))
    select(belt)
    bpy.ops.usdphys.mechanism(kind="CONVEYOR", speed=0.5)
    assert belt.usdphys.rigid_body.kinematic_enabled
    (prim,) = [prim for prim in scenes.read_model().bodies.values() if prim.label == "Belt"]
    values = {name: str(value) for name, value in prim.schemas.items() if "SurfaceVelocity" in name}
    assert list(values) == ["PhysxSurfaceVelocityAPI"] and "0.5" in values["PhysxSurfaceVelocityAPI"]


def test_a_crate_rides_on_a_conveyor_in_the_preview():
    belt, crate = scenes.add_box("Belt", (0.3, 2.0, 0.1)), scenes.solid("Crate")
    crate.scale, crate.location = (0.1, 0.1, 0.1), (0, -1, 0.2)
    select(belt)
    bpy.ops.usdphys.mechanism(kind="CONVEYOR", speed=0.5)
    scenes.play(2.0)
    assert crate.matrix_world.translation.y == pytest.approx(-1 + 0.5 * 2.0, abs=0.1)
    assert belt.matrix_world.translation.length < 1e-6


@pytest.mark.parametrize(("meters", "halves"), [(1.0, (1, 0.5, 0.1)), (0.01, (0.5, 1, 0.1))])
def test_a_scissor_lift_lifts_its_platform_straight_up_to_its_height(meters, halves):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    base = scenes.add_box("Base", [half * unit for half in halves], location=(unit, 0, 0))
    platform = scenes.add_box("Platform", [half * unit for half in halves], location=(unit, 0, unit))
    select(platform, base)
    assert bpy.ops.usdphys.mechanism(kind="SCISSOR_LIFT", stages=2, rise=0.5 * unit) == {"FINISHED"}
    scenes.play(2.0)
    place = np.array(platform.matrix_world.translation) * meters
    assert place == pytest.approx((1.0, 0.0, 1.5), abs=0.01)
    assert max(abs(angle) for angle in platform.matrix_world.to_euler()) < 0.01


def test_a_scissor_lift_says_how_far_it_can_lift():
    base, platform = (
        scenes.add_box("Base", (1, 0.5, 0.1)),
        scenes.add_box("Platform", (1, 0.5, 0.1), location=(0, 0, 1)),
    )
    select(platform, base)
    with pytest.raises(RuntimeError, match="cannot lift by 9, but by"):
        bpy.ops.usdphys.mechanism(kind="SCISSOR_LIFT", rise=9.0)
    assert not platform.usdphys.rigid_body.is_applied
    select(base, platform)
    with pytest.raises(RuntimeError, match="not above"):
        bpy.ops.usdphys.mechanism(kind="SCISSOR_LIFT")


def test_loads_on_a_pulley_move_as_those_of_atwoods_machine():
    bpy.ops.mesh.primitive_cylinder_add(radius=0.3, depth=0.2, vertices=48, location=(0, 0, 3), rotation=(1.5708, 0, 0))
    wheel = bpy.context.object
    light = scenes.add_box("Light", (0.15, 0.15, 0.15), location=(-0.32, 0, 1.5))
    heavy = scenes.add_box("Heavy", (0.18, 0.18, 0.18), location=(0.32, 0, 1.8))
    select(light, heavy, wheel)
    assert bpy.ops.usdphys.mechanism(kind="PULLEY") == {"FINISHED"}
    model = scenes.read_model()
    masses = {prim.label: mass.mass_properties(model, path).mass for path, prim in model.bodies.items()}
    inertia = sum(masses.values()) - masses[wheel.name] / 2.0
    wanted = 9.81 * (masses["Heavy"] - masses["Light"]) / inertia * 0.5**2 / 2.0
    scenes.play(0.5)
    assert 1.8 - heavy.matrix_world.translation.z == pytest.approx(wanted, rel=0.05)
    assert light.matrix_world.translation.z - 1.5 == pytest.approx(wanted, rel=0.05)


def test_a_door_alone_is_refused():
    select(scenes.add_box("Door"))
    with pytest.raises(RuntimeError, match="the object that holds it last"):
        bpy.ops.usdphys.mechanism(kind="DOOR")


@pytest.mark.parametrize("kind", ["DOOR", "BUTTON"])
def test_a_part_that_carries_what_holds_it_is_refused(kind):
    """The joint was made between an object and itself."""
    part = scenes.add_box("Part", location=(0, 0, 1))
    holder = scenes.add_box("Holder", (0.1, 0.3, 0.1), parent=part, location=(1, 0, 0))
    select(part, holder)
    with pytest.raises(RuntimeError, match="'Part' carries 'Holder'"):
        bpy.ops.usdphys.mechanism(kind=kind)
    assert not part.usdphys.rigid_body.is_applied and len(bpy.data.objects) == 2


@pytest.mark.parametrize("kind", ["DOOR", "DRAWER", "LEVER", "TURNTABLE"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_camera_or_a_light_is_no_part_of_a_mechanism_and_holds_none(kind, which):
    """They became bodies without a collider, and the report was of success."""
    pair = [scenes.add_box("Box"), scenes.add_box("Frame", location=(2, 0, 0))]
    data = bpy.data.cameras.new("Eye") if which else bpy.data.lights.new("Eye", "POINT")
    pair[which] = scenes.add("Eye", data, location=(1, 0, 0))
    select(*pair)
    before = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match="'Eye' has no faces"):
        bpy.ops.usdphys.mechanism(kind=kind)
    with pytest.raises(RuntimeError, match="'Eye' has no faces"):
        bpy.ops.usdphys.rope()
    assert len(bpy.data.objects) == before and not any(obj.usdphys.rigid_body.is_applied for obj in bpy.data.objects)


def test_an_empty_is_no_conveyor():
    select(scenes.add("Empty"))
    with pytest.raises(RuntimeError, match="'Empty' has no faces"):
        bpy.ops.usdphys.mechanism(kind="CONVEYOR")


@pytest.mark.parametrize(("operator", "options"), [("rope", {}), ("wall", {"bonded": True}), ("mechanism", {})])
def test_an_object_of_scale_zero_is_refused_in_one_sentence(operator, options):
    """It ended in a traceback, or left bricks behind."""
    flat = scenes.add_box("Flat", location=(0, -3, 1), scale=(0, 1, 1))
    select(scenes.add_box("Box"), flat)
    with pytest.raises(RuntimeError, match="'Flat' has scale 0"):
        getattr(bpy.ops.usdphys, operator)(**options)
    assert len(bpy.data.objects) == 2


def test_bricks_that_do_not_touch_stand_without_bonds():
    """They were left without a step to undo."""
    select(scenes.add_box("Brick", (0.1, 0.1, 0.05), location=(0, 0, 0.05)))
    assert bpy.ops.usdphys.wall(kind="CHIMNEY", counts=(8, 1, 1), turn=0.3, shift=0.2, bonded=True) == {"FINISHED"}
    assert len(bpy.context.selected_objects) == 8
    assert not any(obj.usdphys.joint.is_applied for obj in bpy.data.objects)


@pytest.mark.parametrize("kind", ["DOOR", "DRAWER", "BUTTON", "SCISSOR_LIFT"])
def test_a_second_run_makes_no_second_joint(kind):
    base = scenes.add_box("Base", (1, 0.5, 0.1))
    part = scenes.add_box("Part", (1, 0.5, 0.1), location=(0, 0, 1))
    select(part, base)
    bpy.ops.usdphys.mechanism(kind=kind)
    number = len(bpy.data.objects)
    select(part, base)
    with pytest.raises(RuntimeError, match=r"'Part' is held by .* already; delete this joint first"):
        bpy.ops.usdphys.mechanism(kind=kind)
    assert len(bpy.data.objects) == number
