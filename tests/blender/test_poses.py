# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated places reach the objects exactly: under deltas, mirrors, bones, and while objects disappear."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from usdphys_ext.usdphys_addon.bridge import authored_poses
from usdphys_ext.usdphys_addon.playback import bake, poses
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes

pytest.importorskip("rapier3d")


def crate(name: str = "Crate", **settings: Any) -> Any:
    obj = scenes.solid(name, np.full(3, 0.5), **settings)
    obj.usdphys.colliders[0].approximation = "convexHull"
    return obj


def fallen(obj: Any, seconds: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """World matrices (4, 4) of an object before and after a fall."""
    bpy.context.view_layer.update()
    before = np.array(obj.matrix_world)
    session = preview_guard.start(bpy.context)
    for _ in range(round(seconds / session.world.time_step)):
        session.step_once(bpy.context)
    bpy.context.view_layer.update()
    return before, np.array(obj.matrix_world)


def assert_falls_straight(obj: Any) -> None:
    before, after = fallen(obj)
    assert after[:3, :3] == pytest.approx(before[:3, :3], abs=1e-4)
    assert after[:2, 3] == pytest.approx(before[:2, 3], abs=1e-4)
    assert before[2, 3] - after[2, 3] == pytest.approx(9.81 / 2 * 0.5**2, rel=0.03)


def test_a_delta_location_moves_the_object_and_not_its_fall():
    assert_falls_straight(crate(location=(1, 0, 5), delta_location=(3, -2, 4)))


def test_a_mirrored_and_turned_object_stays_mirrored_and_turned():
    assert_falls_straight(crate(location=(0, 0, 5), scale=(1, -1, 1), rotation_euler=(0.3, 0.5, 1.1)))


def test_an_object_on_a_turned_bone_falls_down():
    armature = bpy.data.armatures.new("Rig")
    rig = scenes.add("Rig", armature, location=(0, 0, 5))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (2, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj = crate(parent=rig)
    obj.parent_type, obj.parent_bone = "BONE", "Bone"
    rig.pose.bones["Bone"].rotation_mode = "XYZ"
    rig.pose.bones["Bone"].rotation_euler = (0.4, 0.2, 0.7)
    assert_falls_straight(obj)


@pytest.mark.parametrize("count", [3, 60])
def test_objects_that_are_gone_are_named_and_the_others_move(count):
    """Few objects are written one by one, many at once."""
    names = [crate(f"Crate{number}").name for number in range(count)]
    for name in names:
        authored_poses.freed(bpy.data.objects[name])
    bpy.context.view_layer.update()
    writer = poses.PoseWriter(names)
    bpy.data.objects.remove(bpy.data.objects[names[1]])
    places = np.arange(count)[:, None] * np.array([[0.0, 0.0, 1.0]])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    assert writer.write_plain(places, turns, np.ones(count, bool)) == [names[1]]
    assert [bpy.data.objects[name].location.z for name in (names[0], names[2], names[-1])] == [0, 2, count - 1]


def test_poses_of_children_are_below_those_of_their_parents():
    """The basis of a child is told from the new pose of its parent, however deep it is."""
    parts = [crate("Part0", location=(0, 0, 1))]
    for number in range(1, 4):
        parts.append(crate(f"Part{number}", parent=parts[-1], location=(1, 0, 0), rotation_euler=(0, 0, 0.3)))
    for obj in parts:
        authored_poses.freed(obj)
    bpy.context.view_layer.update()
    writer = poses.PoseWriter([obj.name for obj in parts])
    wanted = [
        np.array(Matrix.LocRotScale((number, 2 * number, 3), Euler((0.1 * number, 0.2, 0.3)), None))
        for number in range(4)
    ]
    writer.write(np.array(wanted), np.ones(4, bool))
    bpy.context.view_layer.update()
    for obj, world in zip(parts, wanted, strict=True):
        assert np.array(obj.matrix_world) == pytest.approx(world, abs=1e-5)
    # Where only the first moves, the others are written anew below it, and stay where they are.
    wanted[0] = np.array(Matrix.LocRotScale((5, 5, 5), Euler((1.0, 0.5, 0.2)), None))
    writer.write(np.array(wanted), np.array([True, False, False, False]))
    bpy.context.view_layer.update()
    for obj, world in zip(parts, wanted, strict=True):
        assert np.array(obj.matrix_world) == pytest.approx(world, abs=1e-5)


def test_a_bake_leaves_the_frame_where_it_was():
    obj = crate(location=(0, 0, 5))
    scene = bpy.context.scene
    scene.frame_set(7)
    for _ in bake.bake_steps(bpy.context, 1, 13):
        pass
    assert scene.frame_current == 7
    shown = obj.matrix_world.translation.z
    at = {}
    for frame in (1, 7):
        scene.frame_set(frame)
        at[frame] = obj.matrix_world.translation.z
    assert at[1] - at[7] == pytest.approx(9.81 / 2 * (6 / 24) ** 2, rel=0.1)
    assert shown == at[7] and not math.isclose(at[1], at[7])
