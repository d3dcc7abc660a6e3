# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the authored values make a body land where the Empty is, in any unit and below scaled parents."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.playback import aims, guard

from .scenes import select


def solid(name, location, half, *, moves=True):
    mesh = bpy.data.meshes.new(name)
    corners = [(x * half[0], y * half[1], z * half[2]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    obj.usdphys.rigid_body.is_applied = moves
    obj.usdphys.colliders.add()
    return obj


def empty_at(place):
    target = bpy.data.objects.new("Here", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = place
    return target


def played(body, frame):
    """Where the preview, led by the timeline, shows the body at a frame."""
    guard.start(bpy.context, with_timeline=True)
    for now in range(2, frame + 1):
        bpy.context.scene.frame_set(now)
    place = np.array(body.matrix_world.translation)
    guard.stop()
    bpy.context.scene.frame_set(1)
    return place


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_thrown_crate_is_at_the_empty_when_it_is_played(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    solid("Floor", (0, 0, -unit), (9 * unit, 9 * unit, unit), moves=False)
    crate = solid("Crate", (0, 0, unit), (0.1 * unit,) * 3)
    crate.rotation_euler = (0.3, 0.2, 1.0)
    target = empty_at((2 * unit, 0.5 * unit, 0.8 * unit))
    select(crate, target)
    before = tuple(crate.location)
    assert bpy.ops.usdphys.aim(frame=16, tolerance=0.02 * unit, speed=6 * unit) == {"FINISHED"}
    assert tuple(crate.location) == before and guard.current() is None
    assert np.linalg.norm(played(crate, 16) - np.array(target.location)) < 0.025 * unit


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_place_that_is_too_far_is_a_warning_and_the_best_values_are_kept(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    crate = solid("Crate", (0, 0, unit), (0.1 * unit,) * 3)
    target = empty_at((50 * unit, 0, 0))
    select(crate, target)
    result = None
    steps = aims.aim_steps(bpy.context, crate, target, aims.AimOptions(16, speed=3.0 * unit, most_runs=30))
    while True:
        try:
            next(steps)
        except StopIteration as found:
            result = found.value
            break
    assert not result.is_hit and result.runs == 30
    velocity = crate.usdphys.rigid_body.velocity
    assert velocity[0] > 1.5 * unit and max(map(abs, velocity)) <= 3.0001 * unit


def test_ending_the_search_keeps_the_best():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    target = empty_at((3, 0, 0.5))
    select(crate, target)
    steps = aims.aim_steps(bpy.context, crate, target, aims.AimOptions(20))
    for _ in range(5):
        next(steps)
    steps.close()
    assert crate.usdphys.rigid_body.velocity.length > 0.0


def test_a_place_may_change_and_nothing_else():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    target = empty_at((0.7, -0.4, 0.2))
    select(crate, target)
    assert bpy.ops.usdphys.aim(frame=10, speed=0.0, place=1.5) == {"FINISHED"}
    assert not crate.usdphys.rigid_body.is_property_set("velocity")
    assert np.linalg.norm(played(crate, 10) - np.array(target.location)) < 0.025


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda crate: setattr(crate.usdphys.rigid_body, "is_applied", False), "no rigid body"),
        (lambda crate: crate.keyframe_insert("location"), "animat"),
    ],
)
def test_what_cannot_be_aimed_is_refused(change, part):
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    select(crate, empty_at((1, 0, 0)))
    change(crate)
    with pytest.raises(RuntimeError, match=part):
        bpy.ops.usdphys.aim(frame=10)
