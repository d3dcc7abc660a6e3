# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies that keep their velocity: in the preview, baked, in files, and as keyframes."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon.exchange import gltf_import, source_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.playback import bake, scene_motion
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes
from .gltf_scenes import exported, physics

FIRST, LAST = 10, 34
#: Along the axes of the platform, m/s; and rad/s about its Z.
SPEED, SPIN = (0.5, 0.0, 0.25), 1.5


@pytest.fixture(autouse=True)
def _frames():
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, FIRST, LAST
    scene.frame_set(FIRST)
    yield
    preview_guard.stop()


def platform(meters: float = 1.0, **settings: Any) -> Any:
    """A kinematic box at (1, 0, 0) m that is turned by 0.5 rad, moves on, and spins about its center."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = meters
    body = scenes.solid("Platform", shape="CUBE", **settings)
    body.location = (1.0 / meters, 0.0, 0.0)
    body.rotation_mode = "XYZ"
    body.rotation_euler.z = 0.5
    physics = body.usdphys.rigid_body
    physics.kinematic_enabled, physics.keeps_velocity = True, True
    physics.velocity = [part / meters for part in SPEED]
    physics.angular_velocity.z = SPIN
    bpy.context.view_layer.update()
    return body


def wanted(seconds: float, meters: float = 1.0) -> Matrix:
    """Where the platform is, Blender units."""
    x, _, z = SPEED
    place = Matrix.Translation((1.0 + math.cos(0.5) * x * seconds, math.sin(0.5) * x * seconds, z * seconds))
    place.translation /= meters
    return place @ Matrix.Rotation(0.5 + SPIN * seconds, 4, "Z")


def is_at(obj: Any, seconds: float, meters: float = 1.0, within: float = 1e-4) -> bool:
    place, turn, _ = obj.matrix_world.decompose()
    there, turned, _ = wanted(seconds, meters).decompose()
    return bool(np.allclose(place, there, atol=within / meters) and turn.rotation_difference(turned).angle < 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_the_preview_moves_it_and_puts_it_back(meters):
    body = platform(meters)
    scenes.solid("Ball", shape="SPHERE").location.z = 9.0 / meters
    before = body.matrix_world.copy(), body.rotation_mode
    session = preview_guard.start(bpy.context)
    for _ in range(60):
        session.step_once(bpy.context)
    assert is_at(body, 60 * session.world.time_step, meters)
    # It goes on as before where the world is built anew.
    body.usdphys.rigid_body.starts_asleep = True
    bpy.context.view_layer.update()
    for _ in range(60):
        session.step_once(bpy.context)
    assert is_at(body, 120 * session.world.time_step, meters)
    body.usdphys.rigid_body.keeps_velocity = False
    bpy.context.view_layer.update()
    session.step_once(bpy.context)
    # Its object leads it from here on.
    assert is_at(body, 0.0, meters)
    preview_guard.stop()
    assert (body.matrix_world, body.rotation_mode) == before


@pytest.mark.slow
def test_it_moves_with_the_timeline_baked_and_in_simulations():
    body = platform()
    scene = bpy.context.scene
    preview_guard.start(bpy.context, with_timeline=True)
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
    assert is_at(body, 1.0)
    scene.frame_set(FIRST + 12)
    assert is_at(body, 0.5)
    preview_guard.stop()
    scene.frame_set(FIRST)
    assert bake.bake(bpy.context, FIRST, LAST) == 1
    scene.frame_set(LAST)
    assert is_at(body, 1.0)
    bake.clear_bake(scene)
    scene.frame_set(FIRST)
    reading = scenes.read()
    _, recording = scene_motion.simulate_scene(scene, reading.model, 1.0, 24.0)
    assert recording.positions[-1, 0] == pytest.approx(wanted(1.0).translation, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("animation", [True, False])
@pytest.mark.parametrize("units", [(1.0, 1.0, "Z"), (0.01, 1.0, "Y")], ids=["m", "cm"])
def test_usd_gets_its_motion(units, animation, tmp_path):
    parent = scenes.add("Parent", location=(3.0, 2.0, 0.0), rotation_euler=(0.0, 0.0, 1.0))
    space = Matrix.LocRotScale((3, 2, 0), Matrix.Rotation(1, 3, "Z"), None)
    platform(parent=parent, matrix_parent_inverse=space.inverted())
    scene = bpy.context.scene
    scene.usdphys.stage.meters_per_unit, scene.usdphys.stage.kilograms_per_unit, scene.usdphys.stage.up_axis = units
    target = tmp_path / "a.usda"
    options = usd_export.ExportOptions(*usd_export.stage_options(scene), animation=animation)
    result = usd_export.export_usd(bpy.context, target, options)
    (issue,) = [issue for issue in result.issues if issue.code == "KeptVelocityWritten"]
    assert f"from frame {FIRST} to {LAST}" in issue.message
    assert not result.errors
    stage = Usd.Stage.Open(str(target))
    prim = next(prim for prim in stage.Traverse() if prim.GetName() == "Platform")
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (FIRST, LAST, 24.0)
    to_z_up = np.array(((1, 0, 0), (0, 0, -1), (0, 1, 0))) if units[2] == "Y" else np.eye(3)
    for frame in (Usd.TimeCode.Default(), FIRST, FIRST + 7, LAST):
        matrix = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(prim)).T
        seconds = 0.0 if frame == Usd.TimeCode.Default() else (frame - FIRST) / 24.0
        there = wanted(seconds)
        assert to_z_up @ matrix[:3, 3] * units[0] == pytest.approx(there.translation, abs=1e-4)
        turn = to_z_up @ matrix[:3, :3] * units[0] @ to_z_up.T if units[2] == "Z" else None
        assert turn is None or np.allclose(turn, np.array(there)[:3, :3], atol=1e-4)
    # The file alone says how it moves: Blender animates it, so that its velocity does nothing more.
    bpy.ops.wm.read_homefile(use_empty=True)
    usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
    body = bpy.data.objects["Platform"]
    assert body.usdphys.rigid_body.keeps_velocity
    bpy.context.scene.frame_set(LAST)
    assert is_at(body, 1.0, within=1e-3)


def test_edits_over_a_source_name_that_it_keeps_its_velocity(tmp_path):
    body = platform()
    body.usdphys.rigid_body.keeps_velocity = False
    usd_export.export_usd(bpy.context, tmp_path / "a.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True)
    usd_import.import_usd(bpy.context, tmp_path / "a.usda", usd_import.ImportOptions())
    bpy.data.objects["Platform"].usdphys.rigid_body.keeps_velocity = True
    result = source_export.export_edits(bpy.context, tmp_path / "b.usda", "layer")
    assert ["keeps its velocity" in issue.message for issue in result.issues if issue.code == "EditLeftOut"] == [True]


@pytest.mark.slow
def test_gltf_keeps_it_and_names_a_velocity_without_effect(tmp_path):
    body = platform()
    document, _ = exported(tmp_path / "a.gltf")
    motion = physics(document, "Platform")["motion"]
    assert motion["isKinematic"] and motion["linearVelocity"] == pytest.approx([SPEED[0], SPEED[2], 0.0])
    body.usdphys.rigid_body.keeps_velocity = False
    document, result = exported(tmp_path / "b.gltf", "KHR")
    assert "linearVelocity" not in physics(document, "Platform")["motion"]
    assert any("a velocity of a kinematic body" in issue.message for issue in result.issues)
    for file, kept in (("a.gltf", True), ("b.gltf", False)):
        bpy.ops.wm.read_homefile(use_empty=True)
        gltf_import.import_gltf(tmp_path / file)
        assert bpy.data.objects["Platform"].usdphys.rigid_body.keeps_velocity is kept


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE"])
def test_keyframes_take_the_place_of_the_velocity(mode):
    parent = scenes.add("Parent", location=(3.0, 2.0, 0.0), rotation_euler=(0.0, 0.3, 1.0))
    body = platform(parent=parent)
    body.delta_location = (0.2, 0.0, 0.1)
    body.delta_rotation_euler.z = 0.4
    body.rotation_mode = mode
    bpy.context.view_layer.update()
    body.matrix_world = wanted(0.0)
    scenes.select(body)
    assert bpy.ops.usdphys.key_velocity() == {"FINISHED"}
    for frame in (FIRST, FIRST + 5, LAST):
        bpy.context.scene.frame_set(frame)
        assert is_at(body, (frame - FIRST) / 24.0)
    group = body.usdphys.rigid_body
    assert not any(group.is_property_set(name) for name in ("velocity", "angular_velocity", "keeps_velocity"))
    assert not bpy.ops.usdphys.key_velocity.poll()


def test_a_body_that_is_animated_already_keeps_its_animation():
    body = platform()
    body.keyframe_insert("location", frame=FIRST)
    scenes.select(body)
    with pytest.raises(RuntimeError, match="'Platform' is animated already"):
        bpy.ops.usdphys.key_velocity()
    assert body.usdphys.rigid_body.keeps_velocity
