"""A scene is simulated in another simulator and baked. A program stands for it: it needs no environment of its own."""

import os
import sys
from dataclasses import replace

import bpy
import pytest
from usdphys_ext.usdphys_addon.playback import bake
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES

from . import scenes
from .test_vendor_targets import imported

#: Drops each body of the file by 0.1 units of the stage in each step; it takes the place of the real program.
PROGRAM = """
import sys
import numpy as np
file, steps, seconds, target = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
names = {names!r}
poses = np.zeros((steps + 1, len(names), 7))
poses[..., 6] = 1.0
poses[..., 2] = 3.0 - 0.1 * np.arange(steps + 1)[:, None]
for number in range(steps + 1):
    print(f"step {{number}}", flush=True)
np.savez(target, names=np.array(names), poses=poses, is_z_up=False)
"""
#: Finds the bodies in the file.
MOVER = """
import sys
import numpy as np
import bpy
bpy.utils.expose_bundled_modules()
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])
names = [str(prim.GetPath()) for prim in stage.Traverse() if "PhysicsRigidBodyAPI" in prim.GetAppliedSchemas()]
poses = np.zeros((int(sys.argv[2]) + 1, len(names), 7))
poses[..., 6] = 1.0
poses[..., 2] = 1.0 / UsdGeom.GetStageMetersPerUnit(stage)
np.savez(sys.argv[4], names=np.array(names), poses=poses, is_z_up=False)
"""


def fake(monkeypatch, folder, names):
    program = folder / "engine.py"
    program.write_text(PROGRAM.format(names=names), encoding="utf-8")
    engine = replace(ENGINES["physx"], program=str(program))
    monkeypatch.setitem(ENGINES, "physx", engine)
    monkeypatch.setenv(engine.variable, sys.executable)


def falling(scale=1.0):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = scale
    scene.frame_start, scene.frame_end = 1, 11
    ball = scenes.solid("Ball")
    ball.location.z = 3.0 / scale
    bpy.context.view_layer.update()
    return ball


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_motion_of_another_simulator_is_baked(monkeypatch, tmp_path, scale):
    ball = falling(scale)
    fake(monkeypatch, tmp_path, ["/root/Ball"])
    assert bpy.ops.usdphys.engine_bake(engine="physx") == {"FINISHED"}
    for frame in (1, 6, 11):
        bpy.context.scene.frame_set(frame)
        assert ball.matrix_world.translation.z * scale == pytest.approx(3.0 - 0.1 * (frame - 1), rel=1e-5)
    bake.clear_bake(bpy.context.scene)
    assert ball.animation_data is None and ball.location.z * scale == pytest.approx(3.0)


def test_an_environment_that_is_not_there_is_explained(monkeypatch):
    falling()
    monkeypatch.delenv(ENGINES["newton"].variable, raising=False)
    with pytest.raises(RuntimeError, match="in it with pip"):
        bpy.ops.usdphys.engine_bake(engine="newton")


def test_a_simulator_that_fails_leaves_the_scene_as_it_was(monkeypatch, tmp_path):
    ball = falling()
    fake(monkeypatch, tmp_path, ["/root/Ball"])
    (tmp_path / "engine.py").write_text("raise SystemExit('no such thing')", encoding="utf-8")
    with pytest.raises(RuntimeError, match="no such thing"):
        bpy.ops.usdphys.engine_bake(engine="physx")
    assert ball.animation_data is None and bpy.context.scene.frame_current == 1


def test_a_body_that_the_simulator_does_not_report_is_named(monkeypatch, tmp_path, capfd):
    falling()
    fake(monkeypatch, tmp_path, ["/Other"])
    bpy.ops.usdphys.engine_bake(engine="physx")
    assert "PhysX reports no body at '/root/Ball'" in capfd.readouterr().out


@pytest.mark.skipif(not os.access("/tmp/ovp/bin/python", os.X_OK), reason="PhysX is not here")
def test_physx_itself_drops_a_ball(monkeypatch):
    ball = falling()
    bpy.context.scene.frame_end = 13
    monkeypatch.setenv(ENGINES["physx"].variable, "/tmp/ovp/bin/python")
    bpy.ops.usdphys.engine_bake(engine="physx")
    bpy.context.scene.frame_set(13)
    assert ball.matrix_world.translation.z == pytest.approx(3.0 - 9.81 / 2 * 0.5**2, abs=0.15)


@pytest.mark.slow
def test_an_imported_scene_is_written_with_the_paths_of_the_preview(monkeypatch, tmp_path):
    """The program gets the file and gives back its bodies one metre up."""
    objects = imported(tmp_path)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
    fake(monkeypatch, tmp_path, [])
    program = tmp_path / "engine.py"
    program.write_text(MOVER, encoding="utf-8")
    bpy.ops.usdphys.engine_bake(engine="physx")
    bpy.context.scene.frame_set(3)
    assert [objects[name].matrix_world.translation.z for name in ("Arm", "Finger")] == pytest.approx([1.0, 1.0])
