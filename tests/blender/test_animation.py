# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated bodies: time samples for the animation, a default pose for the physics."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.exchange import usd_export
from usdphys_ext.usdphys_addon.usd import read as usd_read


@pytest.fixture
def lift():
    """A kinematic platform that rises from 1 m at frame 1 to 3 m at frame 21, below an animated parent."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 21
    parent = bpy.data.objects.new("Rail", None)
    scene.collection.objects.link(parent)
    for frame, x in ((1, 0.0), (21, 4.0)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    bpy.ops.mesh.primitive_cube_add(size=1)
    platform = bpy.context.object
    platform.name, platform.parent = "Platform", parent
    platform.usdphys.rigid_body.is_applied = True
    platform.usdphys.rigid_body.kinematic_enabled = True
    platform.usdphys.colliders.add()
    for frame, z in ((1, 1.0), (21, 3.0)):
        platform.location.z = z
        platform.keyframe_insert("location", frame=frame)
    return platform


def linear(obj):
    """Keys without easing, so that the middle is the mean."""
    from bpy_extras import anim_utils

    action, slot = obj.animation_data.action, getattr(obj.animation_data, "action_slot", None)
    bag = action if hasattr(action, "fcurves") else anim_utils.action_get_channelbag_for_slot(action, slot)
    for curve in bag.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


@pytest.mark.parametrize("hierarchy", ["nested", "flat", "reset"])
@pytest.mark.parametrize("frame", [1, 11])
def test_physics_starts_where_the_scene_stands(tmp_path, lift, frame, hierarchy):
    linear(lift)
    linear(lift.parent)
    bpy.context.scene.frame_set(frame)
    path = tmp_path / "lift.usda"
    usd_export.export_usd(bpy.context, path, usd_export.ExportOptions(animation=True, hierarchy=hierarchy))
    stage = usd_read.open_stage(path)
    (body,) = usd_read.read_stage(stage).bodies.values()
    share = (frame - 1) / 20
    assert body.world[:3, 3] == pytest.approx((4 * share, 0, 1 + 2 * share), abs=1e-5)
    from pxr import UsdGeom

    for time, x, z in ((1, 0, 1), (11, 2, 2), (21, 4, 3)):
        world = UsdGeom.XformCache(time).GetLocalToWorldTransform(stage.GetPrimAtPath(body.path))
        assert tuple(world.ExtractTranslation()) == pytest.approx((x, 0, z), abs=1e-5)
