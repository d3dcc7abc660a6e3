# SPDX-License-Identifier: GPL-3.0-or-later
"""Add > Physics: what is added stands, lies and falls as it should, in any unit scale."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector
from usdphys_ext.panels import action_bar_panel as panels
from usdphys_ext.usdphys_addon.authoring import generator_kinds

from . import scenes
from .layout_recorder import draw


def added(kind, **options):
    before = set(bpy.data.objects)
    assert bpy.ops.usdphys.add_physics(kind=kind, **options) == {"FINISHED"}
    return [obj for obj in bpy.context.scene.objects if obj not in before]


def test_a_ground_goes_below_what_is_selected_and_keeps_the_selection():
    low, high = scenes.add_box("Low", location=(0, 0, -1)), scenes.add_box("High", location=(0, 0, 3))
    scenes.select(low, high)
    bpy.ops.usdphys.add_physics(kind="GROUND")
    ground = bpy.data.objects["Ground"]
    assert set(bpy.context.selected_objects) == {low, high} and bpy.context.object == high
    assert ground.location.z + ground.dimensions.z / 2 == pytest.approx(-1.5)
    # What is above the cursor falls onto the ground.
    bpy.data.objects.remove(ground)
    scenes.select(high)
    bpy.ops.usdphys.add_physics(kind="GROUND", scale=2.0)
    ground = bpy.data.objects["Ground"]
    assert ground.location.z + ground.dimensions.z / 2 == pytest.approx(0.0)


@pytest.mark.parametrize("meters", [1.0, 0.001])
@pytest.mark.parametrize(("kind", "under", "foot"), [
    ("BALL", "RAMP", 0.375), ("STACK", "RAMP", 0.375), ("DOMINOES", "RAMP", 0.52), ("BALL", "STACK", 2.5),
    ("BALL", "BALL", 0.5), ("STACK", "STACK", 2.5), ("DOMINOES", "DOMINOES", 0.6), ("BALL", "GROUND", 0.0),
])  # fmt: skip
def test_what_falls_starts_on_what_is_at_the_cursor_and_not_in_it(kind, under, foot, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    bpy.context.scene.cursor.location = (1.0 / meters, 2.0 / meters, 3.0 / meters)
    added(under)
    scenes.select()
    made = added(kind)
    bpy.context.view_layer.update()
    low = min((obj.matrix_world @ Vector(corner)).z for obj in made for corner in obj.bound_box)
    assert low * meters == pytest.approx(3.0 + foot, abs=0.03)


def test_a_ball_stays_at_the_cursor_below_a_ceiling_a_sheet_and_what_does_not_collide():
    scenes.make_collider(scenes.add_box("Ceiling", (5, 5, 0.1), location=(0, 0, 0.7)))
    scenes.make_collider(scenes.operator_mesh("primitive_plane_add", size=10.0, location=(0, 0, 3)))
    scenes.add_box("Cloud", (1, 1, 1))
    scenes.select()
    (ball,) = added("BALL")
    assert ball.location.z == pytest.approx(0.25)
    bpy.data.objects.remove(ball)
    # Here it has no room below the ceiling, but above it.
    bpy.data.objects["Ceiling"].location.z = 0.4
    (ball,) = added("BALL")
    assert ball.location.z == pytest.approx(0.75, abs=0.01)


def test_a_second_press_on_ground_takes_the_ground_that_is_there(capfd):
    """There were two in the same place, whose faces flickered."""
    (ground,) = added("GROUND")
    crate = scenes.add_box("Crate", location=(0, 0, 2))
    scenes.select(crate)
    capfd.readouterr()
    assert bpy.ops.usdphys.add_physics(kind="GROUND") == {"CANCELLED"}
    assert "'Ground' is there already" in capfd.readouterr().out
    assert bpy.context.selected_objects == [crate]
    scenes.select()
    assert added("GROUND") == [] and bpy.context.selected_objects == [ground] == [bpy.context.object]
    # Elsewhere, wider than that one, or once that one moves, it is another.
    bpy.context.scene.cursor.location.z = -3.0
    crate.location.x = 0.5
    assert len(added("GROUND")) == 1
    bpy.context.scene.cursor.location = (50.0, 0.0, 0.0)
    scenes.select()
    assert len(added("GROUND")) == 1
    bpy.context.scene.cursor.location = (0.0, 0.0, 0.0)
    crate.location.x = 11.0
    scenes.select(crate)
    (wider,) = added("GROUND")
    assert wider.dimensions.x > 22.0
    bpy.data.objects.remove(wider)
    crate.location.x = 0.0
    ground.usdphys.rigid_body.is_applied = True
    assert len(added("GROUND")) == 1


def test_a_ground_is_not_made_dynamic_with_others():
    crate = scenes.add_box("Crate", location=(0, 0, 2))
    ground = added("GROUND")[0]
    assert bpy.context.selected_objects == []
    scenes.select(ground, crate)
    assert bpy.ops.usdphys.make_dynamic() == {"FINISHED"}
    assert crate.usdphys.rigid_body.is_applied and not ground.usdphys.rigid_body.is_applied
    scenes.select(ground)
    bpy.ops.usdphys.make_dynamic()
    assert ground.usdphys.rigid_body.is_applied
    scenes.select(ground, crate)
    bpy.ops.usdphys.make_kinematic()
    assert ground.usdphys.rigid_body.kinematic_enabled


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_stack_stands_on_the_ground_and_a_ball_rolls_down_the_ramp(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    added("GROUND")
    stack = added("STACK", count=4)
    bpy.context.scene.cursor.location = (5 / meters, 0, 0)
    (ramp,) = added("RAMP")
    bpy.context.scene.cursor.location = (5.9 / meters, 0, 0.65 / meters)
    (ball,) = added("BALL")
    before = [np.array(box.location) for box in stack]
    start = ball.location.x
    for _ in range(24):
        bpy.ops.usdphys.preview_step()
    for box, place in zip(stack, before, strict=True):
        assert np.abs(np.array(box.location) - place).max() < 0.01 / meters
    assert ball.location.x < start - 0.2 / meters
    assert ramp.location.z == pytest.approx(0.3 / meters)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.002, 1.0, 30.0])
def test_a_thrown_ball_hits_a_stack_of_its_scale_on_a_ground_of_its_scale(scale):
    """Similar scenes move alike: lengths by the scale, times by its root."""
    ground = added("GROUND", scale=scale)[0]
    assert tuple(ground.dimensions) == pytest.approx((20 * scale, 20 * scale, 0.2 * scale))
    stack = added("STACK", scale=scale)
    before = [obj.location.copy() for obj in stack]
    ball = added("BALL", scale=scale)[0]
    assert ball.dimensions.x == pytest.approx(0.5 * scale)
    for _ in range(math.ceil(60 * 1.0 * scale**0.5)):
        bpy.ops.usdphys.preview_step()
    assert max((obj.location - place).length for obj, place in zip(stack, before, strict=True)) > 0.2 * scale


def test_a_ground_is_wide_enough_for_bodies_and_what_is_selected():
    """A hall of 100 m: half of it stood beside the ground."""
    column, crate = scenes.add_box("Column", location=(50, 0, 1)), scenes.add_box("Crate", location=(0, -70, 1))
    scenes.make_body(column)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    crate.select_set(True)
    bpy.context.view_layer.update()
    (ground,) = added("GROUND")
    assert ground.dimensions.x / 2 > 70.5
    bpy.data.objects.remove(crate)
    bpy.data.objects.remove(ground)
    assert 50.5 < added("GROUND")[0].dimensions.x / 2 < 70.5


def test_colliders_are_primitives_where_the_form_is_one():
    shapes = {}
    for kind in ("GROUND", "STACK", "BALL", "DOMINOES"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = added(kind)[0]
        from usdphys_ext.usdphys_addon.viewport import readout

        shapes[kind] = readout.compute_shapes(bpy.context, obj.name)
        assert obj.usdphys.rigid_body.is_applied == (kind != "GROUND")
    assert shapes == {"GROUND": ("Box",), "STACK": ("Box",), "BALL": ("Sphere",), "DOMINOES": ("Box",)}


def test_dominoes_do_not_touch_and_reach_each_other():
    row = added("DOMINOES", count=3)
    assert len(row) == 3 and len({obj.data.name for obj in row}) == 1
    step = row[1].location.x - row[0].location.x
    assert row[0].dimensions.x < step < row[0].dimensions.z


def test_all_kinds_are_in_the_menu():
    buttons = draw(panels.USDPHYS_MT_add).buttons("usdphys.add_physics")
    assert [one.values["kind"] for one in buttons] == [kind for kind, *_ in generator_kinds.KINDS]
    first = draw(panels.USDPHYS_PT_actions).buttons("usdphys.add_physics")
    assert sorted(one.values["kind"] for one in first) == ["BALL", "GROUND"]
    assert scenes.read_model().bodies == {}
