# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation in any frame rate, range, remapping and unit: the file says at each frame what Blender says, and moves
alike."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Usd
from usdphys_ext.usdphys_addon import stage_motion
from usdphys_ext.usdphys_addon.bridge import animated
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import
from usdphys_ext.usdphys_addon.playback import bake, scene_motion
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes


@pytest.fixture(autouse=True)
def _ends():
    yield
    preview_guard.stop()


@dataclass
class Setup:
    """How time and space are measured. keys: (frame, value), rad/s, of the speed of a motor."""

    fps: int
    base: float
    start: int
    step: int
    remap: tuple[int, int]
    meters: float
    stage: tuple[float, float, str]
    keys: list[tuple[float, float]]
    kind: str

    @property
    def rate(self) -> float:
        return self.fps / self.base

    @property
    def end(self) -> int:
        return self.start + round(self.rate * 0.75)


def drawn(seed: int) -> Setup:
    pick = random.Random(seed)
    fps, base = pick.choice([(24, 1.0), (60, 1.0), (30, 1.001), (25, 1.0)])
    start = pick.choice([0, 1, 100])
    made = Setup(
        fps, base, start, pick.choice([1, 2, 5]), pick.choice([(100, 100), (100, 200), (100, 50)]),
        pick.choice([1.0, 0.01]), pick.choice([(1.0, 1.0, "Z"), (0.01, 1.0, "Y")]), [],
        pick.choice(["LINEAR", "CONSTANT", "BEZIER", "driver"]),
    )  # fmt: skip
    frames = sorted({pick.choice([round, float])(pick.uniform(made.start, made.end)) for _ in range(4)})
    made.keys = [(frame, pick.uniform(-4.0, 4.0)) for frame in frames]
    return made


def motor(setup: Setup) -> Any:
    """An arm on a hinge with a motor, without gravity. Returns the drive."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = setup.meters
    scene.render.fps, scene.render.fps_base = setup.fps, setup.base
    scene.render.frame_map_old, scene.render.frame_map_new = setup.remap
    scene.frame_start, scene.frame_end, scene.frame_step = setup.start, setup.end, setup.step
    scene.use_gravity = False
    arm = scenes.solid("Arm", (0.2 / setup.meters, 0.05 / setup.meters, 0.05 / setup.meters), shape="CUBE")
    joint = scenes.add("Hinge").usdphys.joint
    joint.type, joint.axis, joint.body1 = "REVOLUTE", "Z", arm
    drive = joint.drives.angular
    drive.is_applied, drive.type, drive.damping = True, "acceleration", 1000.0
    if setup.kind == "driver":
        (first, low), *_, (last, high) = setup.keys
        driven = drive.driver_add("target_velocity").driver
        driven.expression = f"{low} + ({high} - {low}) * (frame - {first}) / {max(last - first, 1.0)}"
    for frame, value in setup.keys if setup.kind != "driver" else ():
        drive.target_velocity = value
        drive.keyframe_insert("target_velocity", frame=frame)
    for curve, by in animated.curves_of(drive.id_data):
        for point in curve.keyframe_points if by == animated.KEYFRAMES else ():
            point.interpolation = setup.kind
    scene.frame_set(setup.start)
    return drive


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_file_says_and_moves_what_blender_does(seed: int, tmp_path: Any) -> None:
    setup = drawn(seed)
    drive = motor(setup)
    scene = bpy.context.scene
    values = {}
    for frame in range(setup.start, setup.end + 1):
        scene.frame_set(frame)
        values[frame] = drive.target_velocity
    scene.frame_set(setup.start + 3)
    scene.usdphys.stage.meters_per_unit, scene.usdphys.stage.kilograms_per_unit, scene.usdphys.stage.up_axis = (
        setup.stage
    )
    options = usd_export.ExportOptions(*usd_export.stage_options(scene), animation=True)
    result = usd_export.export_usd(bpy.context, tmp_path / "a.usda", options)
    assert not result.errors and scene.frame_current == setup.start + 3
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    name = "drive:angular:physics:targetVelocity"
    (found,) = [prim.GetAttribute(name) for prim in stage.Traverse() if prim.HasAttribute(name)]
    assert stage.GetTimeCodesPerSecond() == pytest.approx(setup.rate)
    assert {frame: np.radians(found.Get(frame)) for frame in values} == {
        frame: pytest.approx(value, rel=1e-4, abs=1e-4) for frame, value in values.items()
    }
    # The same motion: in Blender, baked, and out of the file.
    scene.frame_set(setup.start)
    seconds = (setup.end - setup.start) / setup.rate
    reading = scenes.read()
    _, here = scene_motion.simulate_scene(scene, reading.model, seconds, setup.rate, animated=reading.animated)
    there = stage_motion.simulate_stage(stage, seconds).recording
    turns = [2.0 * np.arctan2(one.rotations[:, 0, 3], one.rotations[:, 0, 0]) for one in (here, there)]
    assert np.ptp(turns[0]) > 0.01
    if setup.remap == (100, 100) and setup.kind != "CONSTANT":
        # The sum of trapezoids is the way at a speed that changes evenly from frame to frame.
        speeds = list(values.values())
        wanted = (sum(speeds) - 0.5 * (speeds[0] + speeds[-1])) / setup.rate
        assert (turns[0][-1] - wanted + np.pi) % (2.0 * np.pi) - np.pi == pytest.approx(0.0, abs=2e-3)
    np.testing.assert_allclose(*turns, atol=0.01)
    bake.bake(bpy.context, setup.start, setup.end)
    scene.render.frame_map_old = scene.render.frame_map_new = 100
    scene.frame_set(setup.end)
    arm = bpy.data.objects["Arm"].matrix_world.to_quaternion()
    # A bake makes smaller steps, which see the keys within a frame.
    jumps = [abs(values[frame + 1] - values[frame]) for frame in range(setup.start, setup.end)]
    within = 0.01 + max(jumps) / setup.rate * (1.0 if setup.kind == "CONSTANT" else 0.3)
    assert 2.0 * np.arctan2(arm.z, arm.w) == pytest.approx(turns[0][-1], abs=within)


@pytest.mark.slow
@pytest.mark.parametrize(("codes", "fps"), [(60.0, 24), (60.0, 60), (24.0, 60)])
def test_another_frame_rate_is_named_and_changes_no_value(codes: float, fps: int, tmp_path: Any) -> None:
    target = tmp_path / "a.usda"
    target.write_text(f"""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
    timeCodesPerSecond = {codes}
    startTimeCode = 0
    endTimeCode = 60
)
def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
{{
    float physics:mass.timeSamples = {{ 0: 1, 60: 4 }}
}}
""")
    scene = bpy.context.scene
    scene.render.fps = fps
    result = usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
    assert ("FrameRateDiffers" in [issue.code for issue in result.issues]) is (codes != fps)
    for frame, mass in ((0, 1.0), (30, 2.5), (60, 4.0)):
        scene.frame_set(frame)
        assert bpy.data.objects["Box"].usdphys.mass.mass == pytest.approx(mass)


def test_an_imported_body_moves_evenly_between_samples_at_once_and_after_loading(tmp_path: Any) -> None:
    """Blender's importer holds samples, and what it has opened stayed so until the .blend was opened again."""
    (tmp_path / "in.usda").write_text(
        '#usda 1.0\n(\ndefaultPrim = "Lift"\nendTimeCode = 48\nmetersPerUnit = 1\nstartTimeCode = 0\n'
        'timeCodesPerSecond = 24\nupAxis = "Z"\n)\n'
        'def Cube "Lift" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])\n{\n'
        "bool physics:kinematicEnabled = 1\ndouble size = 1\n"
        "double3 xformOp:translate.timeSamples = {0: (1, 2, 3), 48: (1, 2, 5)}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    usd_import.import_usd(bpy.context, tmp_path / "in.usda", usd_import.ImportOptions())

    def heights() -> list[float]:
        found = []
        for frame in (0, 12, 24, 47):
            bpy.context.scene.frame_set(frame)
            found.append(bpy.data.objects["Lift"].matrix_world.translation.z)
        return found

    wanted = pytest.approx([3.0, 3.5, 4.0, 3.0 + 2.0 * 47 / 48])
    assert heights() == wanted
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert heights() == wanted
