# SPDX-License-Identifier: GPL-3.0-or-later
"""Scatter and Settle: objects come to rest on the scene, and nothing but their poses changes."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import property_values
from usdphys_ext.usdphys_addon.core.building import scattering
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.generators import settle
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]
    bpy.context.view_layer.update()


def physics():
    return {obj.name: property_values.snapshot(obj.usdphys) for obj in bpy.data.objects if obj.usdphys.keys()}


def floor(unit=1.0):
    return scenes.add_box("Floor", (20 * unit, 20 * unit, 0.5 * unit), location=(0, 0, -0.5 * unit))


@pytest.mark.parametrize("meters", [1.0, 0.01, 25.0])
def test_a_box_lands_flat_on_a_floor_without_physics_in_any_unit_scale(meters):
    """A box of half a metre, dropped from half a metre above the floor."""
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    floor(unit)
    box = scenes.add_box("Box", (0.25 * unit,) * 3, location=(0, 0, 0.75 * unit), rotation_euler=(0.3, 0.2, 0.1))
    select(box)
    assert bpy.ops.usdphys.settle() == {"FINISHED"}
    assert box.matrix_world.translation.z == pytest.approx(0.25 * unit, abs=0.005 * unit)
    up = np.abs(np.array(box.matrix_world)[2, :3])
    assert sorted(up)[-1] == pytest.approx(1.0, abs=1e-3)
    assert not any(physics().values())


def test_it_waits_for_a_reset_of_the_preview_like_all_that_makes_something():
    """Objects that stand in for those of an instance are gone after it."""
    box = scenes.add_box("Box", location=(0, 0, 3))
    scenes.make_body(box)
    select(box)
    preview_guard.start(bpy.context)
    with pytest.raises(RuntimeError, match="Reset the preview first"):
        bpy.ops.usdphys.settle()
    assert preview_guard.current() is not None
    preview_guard.stop()
    assert bpy.ops.usdphys.settle() == {"FINISHED"}


def test_children_scale_and_rotation_mode_stay_and_the_parent_takes_them_along():
    floor()
    box = scenes.add_box("Box", scale=(0.5, 0.5, 2.0), location=(0, 0, 3))
    box.rotation_mode = "XYZ"
    child = scenes.add_box("Child", (0.1, 0.1, 0.1), parent=box, location=(0, 0, 0.6))
    select(box, child)
    place = child.location[:]
    bpy.ops.usdphys.settle()
    assert tuple(box.scale) == (0.5, 0.5, 2.0) and box.rotation_mode == "XYZ"
    assert child.parent == box and child.location[:] == place
    # The child sticks out of the bottom or the top by 0.2 of the scaled box.
    assert box.matrix_world.translation.z < 1.45


def test_physics_that_was_there_is_the_same_afterwards():
    floor()
    dynamic = scenes.solid("Dynamic", location=(5, 0, 4))
    static = scenes.add_box("Static", location=(0, 0, 5))
    scenes.make_collider(static, "MESH", approximation="none")
    fall = scenes.add_box("Fall", location=(5, 0, 6))
    before = physics()
    select(static, fall)
    bpy.ops.usdphys.settle()
    assert physics() == before
    assert dynamic.location.z == 4 and fall.location.z == pytest.approx(5, abs=0.01)
    assert static.location.z == pytest.approx(0.5, abs=0.01)


def test_what_falls_past_the_scene_stays_and_is_named():
    floor()
    lands = scenes.add_box("Lands", location=(0, 0, 2))
    falls = scenes.add_box("Falls", location=(100, 0, 2))
    select(lands, falls)
    done = settle.settle(bpy.context, [lands, falls])
    assert falls.location[:] == (100, 0, 2) and "'Falls'" in done.notes[0]
    assert lands.location.z == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_copies_share_data_do_not_touch_at_first_and_lie_on_the_floor():
    floor()
    box = scenes.add_box("Box", (0.2, 0.2, 0.2), location=(0, 0, 9))
    select(box)
    bpy.context.scene.cursor.location = (1, 2, 0)
    bpy.ops.usdphys.settle(copies=12, spread=1.5, seed=3)
    made = [obj for obj in bpy.context.selected_objects if obj != box]
    assert len(made) == 12 and {obj.data for obj in made} == {box.data} and box.location.z == 9
    heights = [obj.matrix_world.translation.z for obj in made]
    assert min(heights) > 0.19 and min(heights) < 0.25
    assert max(abs(obj.location.x - 1) for obj in made) < 4


def test_copies_that_fall_past_the_scene_are_not_kept():
    """They would hang in the air where they were scattered."""
    scenes.add_box("Slope", (1, 1, 0.1), location=(0, 0, -1), rotation_euler=(1.2, 0, 0))
    stone = scenes.add_box("Stone", (0.1, 0.1, 0.1), location=(5, 5, 0))
    select(stone)
    result = settle.settle(bpy.context, [stone], settle.SettleOptions(seconds=4.0, copies=3, spread=0.2))
    assert result.notes == ["Copies that fell past the scene are not kept: 3"] and not result.objects
    assert result.text == "No object was settled"
    assert sorted(obj.name for obj in bpy.data.objects) == ["Slope", "Stone"]


def test_what_still_falls_is_not_said_to_be_settled():
    floor()
    box = scenes.add_box("Box", location=(0, 0, 50))
    result = settle.settle(bpy.context, [box], settle.SettleOptions(seconds=0.3))
    assert result.text == "Let 1 object fall for 0.3 s of simulated time"
    assert result.notes == ["Not everything was at rest after 0.3 s; settle again, or for longer"]


def test_closing_it_half_way_puts_everything_back():
    floor()
    box = scenes.add_box("Box", location=(0, 0, 5))
    before, names = box.location[:], set(bpy.data.objects.keys())
    steps = settle.settle_steps(bpy.context, [box], settle.SettleOptions(copies=5))
    for _ in range(20):
        next(steps)
    assert len(bpy.data.objects) == len(names) + 5
    steps.close()
    assert set(bpy.data.objects.keys()) == names and not any(physics().values())
    assert box.location[:] == before


def test_keep_physics_leaves_bodies_of_the_dropped_objects_alone():
    ground = floor()
    box = scenes.add_box("Box", location=(0, 0, 2))
    select(box)
    bpy.ops.usdphys.settle(keep_physics=True)
    assert box.usdphys.rigid_body.is_applied and len(box.usdphys.colliders) == 1
    assert not len(ground.usdphys.colliders)


def test_nothing_to_drop_is_refused_with_nothing_changed():
    floor()
    lamp = scenes.add("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    with pytest.raises(InputError):
        settle.settle(bpy.context, [lamp])
    assert not any(physics().values())


def hill(height):
    """A hill of sines over 12 m, and how high it is at a place."""

    def surface(x, y):
        return height * np.cos(x / 2.0) * np.cos(y / 2.5)

    steps = np.linspace(-6, 6, 49)
    data = bpy.data.meshes.new("Hill")
    data.from_pydata(
        [(x, y, surface(x, y)) for x in steps for y in steps], [],
        [(i * 49 + j, i * 49 + 49 + j, i * 49 + 50 + j, i * 49 + j + 1) for i in range(48) for j in range(48)],
    )  # fmt: skip
    return scenes.add("Hill", data), surface


@pytest.mark.parametrize("height", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("cursor", [-1.0, 0.0, 2.0])
def test_scattered_stones_start_above_a_hill_and_not_in_each_other(height, cursor):
    """Those inside would be left buried; those under a roof stay there."""
    _, surface = hill(height)
    scenes.add_box("Roof", (6, 6, 0.1), location=(0, 0, 30))
    stone = scenes.add_box("Stone", (0.15, 0.1, 0.1), location=(5, 5, 10))
    select(stone)
    bpy.context.scene.cursor.location.z = cursor
    steps = settle.settle_steps(bpy.context, [stone], settle.SettleOptions(copies=60, spread=3.0, seed=2))
    next(steps)
    made = [obj for obj in bpy.data.objects if obj.name.startswith("Stone.")]
    assert len(made) == 60
    places = np.array([obj.matrix_world.translation for obj in made])
    corners = [obj.matrix_world @ vertex.co for obj in made for vertex in obj.data.vertices]
    assert all(corner.z > surface(corner.x, corner.y) - 0.01 for corner in corners)
    assert places[:, 2].max() < 29.0
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1) + 9.0 * np.eye(60)
    assert apart.min() > 2.0 * np.sqrt(0.15**2 + 0.1**2 + 0.1**2) - 1e-6
    steps.close()


@pytest.mark.parametrize("spread", [0.0, 1.0, 7.0])
def test_scattered_balls_never_touch(spread):
    radii = np.random.default_rng(1).uniform(0.05, 0.4, 200)
    where = scattering.places(radii, spread, 5)
    apart = np.linalg.norm(where[:, None] - where[None], axis=-1) - radii[:, None] - radii[None]
    np.fill_diagonal(apart, 1.0)
    assert apart.min() > 0.0
    assert np.linalg.norm(where[:, :2], axis=1).max() <= max(spread, 0.4) + 0.4
    assert np.array_equal(where, scattering.places(radii, spread, 5))
    assert not np.array_equal(where, scattering.places(radii, spread, 6)) or spread == 0.0
