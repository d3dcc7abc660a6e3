# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked layers of time samples, and prims that are animated in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import time_samples


@pytest.fixture
def stage(tmp_path: Path) -> Usd.Stage:
    made = Usd.Stage.CreateNew(str(tmp_path / "in.usda"))
    UsdGeom.SetStageMetersPerUnit(made, 0.01)
    UsdGeom.SetStageUpAxis(made, UsdGeom.Tokens.y)
    made.SetTimeCodesPerSecond(24)
    UsdGeom.Xform.Define(made, "/World")
    return made


def body(stage: Usd.Stage, path: str, kind: type = UsdGeom.Cube) -> UsdGeom.Xformable:
    made = kind.Define(stage, path)
    UsdPhysics.RigidBodyAPI.Apply(made.GetPrim())
    return made


def world_at(stage: Usd.Stage, path: str, time: float) -> np.ndarray:
    return np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(stage.GetPrimAtPath(path))).T


def baked(stage: Usd.Stage, paths: list[str], worlds: np.ndarray, fps: float | None = None) -> Usd.Stage:
    """A layer over the stage, opened again."""
    stage.GetRootLayer().Save()
    target = Path(stage.GetRootLayer().realPath).with_name("baked.usda")
    time_samples.write_bake(stage, target, paths, worlds, time_samples.Clock(stage, fps))
    return Usd.Stage.Open(str(target))


def about(axis: tuple[float, float, float], degrees: float) -> np.ndarray:
    half = np.radians(degrees) / 2
    return frames.matrix_of((np.cos(half), *(np.sin(half) * np.array(axis))))


def about_point(degrees: float) -> np.ndarray:
    return frames.transform((0.1 * degrees, 0, 0), about((0, 0.6, 0.8), degrees))


# --------------------------------------------------------------------------- baking


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, 0.8)])
def test_a_body_that_turns_on_and_on_turns_the_short_way_between_frames(stage: Usd.Stage, axis: tuple) -> None:
    """A quaternion and its negative turn alike; between samples of different signs USD would turn the long way."""
    body(stage, "/World/Wheel")
    worlds = np.array([[frames.transform((0, 0, 0), about(axis, 50.0 * frame))] for frame in range(16)])
    found = baked(stage, ["/World/Wheel"], worlds)
    attribute = found.GetPrimAtPath("/World/Wheel").GetAttribute("xformOp:orient:simulated")
    samples = [attribute.Get(time) for time in attribute.GetTimeSamples()]
    values = np.array([(sample.GetReal(), *sample.GetImaginary()) for sample in samples])
    assert (np.einsum("ij,ij->i", values[1:], values[:-1]) > 0).all()
    for frame in range(15):
        turned = world_at(found, "/World/Wheel", frame + 0.5)[:3, :3]
        np.testing.assert_allclose(turned, about(axis, 50.0 * (frame + 0.5)), atol=1e-6)


@pytest.mark.parametrize("turned", [(0, 0, 0), (30, 40, 50)], ids=["straight", "sheared"])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1)])
def test_a_body_that_turns_below_an_uneven_scale_keeps_its_shape(stage: Usd.Stage, turned: tuple, axis: tuple) -> None:
    """In the space of its parent it is sheared, and scaled differently in every frame."""
    UsdGeom.Xform.Define(stage, "/World/Room").AddScaleOp().Set((1, 2, 3))
    body(stage, "/World/Room/Box").AddRotateXYZOp().Set(turned)
    start = world_at(stage, "/World/Room/Box", 0)
    worlds = np.array([[frames.transform((frame, 0, 0), about(axis, 30 * frame)) @ start] for frame in range(7)])
    found = baked(stage, ["/World/Room/Box"], worlds)
    for frame in range(7):
        np.testing.assert_allclose(world_at(found, "/World/Room/Box", frame), worlds[frame, 0], atol=1e-6)


def test_a_body_that_begins_sheared_or_flat_is_baked_as_it_is(stage: Usd.Stage) -> None:
    shear = np.array(((1.0, 0.3, 0.0, 1.0), (0.0, 2.0, 0.0, 0.0), (0.0, 0.2, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    body(stage, "/World/Slanted").AddTransformOp().Set(Gf.Matrix4d(shear.T.tolist()))
    body(stage, "/World/Flat").AddScaleOp().Set((1, 1, 0))
    paths = ["/World/Slanted", "/World/Flat"]
    starts = [world_at(stage, path, 0) for path in paths]
    worlds = np.array([[about_point(20 * frame) @ start for start in starts] for frame in range(4)])
    found = baked(stage, paths, worlds)
    for frame in range(4):
        for row, path in enumerate(paths):
            np.testing.assert_allclose(world_at(found, path, frame), worlds[frame, row], atol=1e-6)


@pytest.mark.parametrize("scale", [(2, 2, 2), (1, 2, 3), (-1, 2, 3)], ids=str)
def test_scale_and_orientation_below_other_bodies_are_kept(stage: Usd.Stage, scale: tuple) -> None:
    """A body below a body below a turned and scaled group; and one that resets the stack."""
    room = UsdGeom.Xform.Define(stage, "/World/Room")
    room.AddTranslateOp().Set((1, 2, 3))
    room.AddRotateXYZOp().Set((10, 20, 30))
    room.AddScaleOp().Set((2, 2, 2))
    outer = body(stage, "/World/Room/Outer", UsdGeom.Xform)
    outer.AddRotateZOp().Set(40.0)
    UsdGeom.Xform.Define(stage, "/World/Room/Outer/Between").AddTranslateOp().Set((5, 0, 0))
    inner = body(stage, "/World/Room/Outer/Between/Inner")
    inner.AddScaleOp().Set(Gf.Vec3f(*scale))
    reset = body(stage, "/World/Room/Outer/Reset")
    reset.AddTranslateOp().Set((7, 8, 9))
    reset.SetResetXformStack(True)
    paths = ["/World/Room/Outer", "/World/Room/Outer/Between/Inner", "/World/Room/Outer/Reset"]
    starts = [world_at(stage, path, 0) for path in paths]
    worlds = np.array([
        [frames.transform((frame, row, -frame), about((0, 1, 0), 25 * frame * (row + 1))) @ start
         for row, start in enumerate(starts)] for frame in range(5)
    ])  # fmt: skip
    found = baked(stage, paths, worlds)
    for frame in range(5):
        for row, path in enumerate(paths):
            np.testing.assert_allclose(world_at(found, path, frame), worlds[frame, row], atol=1e-5)


def test_the_clock_of_a_baked_layer_begins_where_that_of_the_file_does(stage: Usd.Stage) -> None:
    stage.SetStartTimeCode(48)
    stage.SetEndTimeCode(96)
    box = body(stage, "/World/Box")
    found = baked(stage, ["/World/Box"], np.array([[frames.transform((frame, 0, 0))] for frame in range(11)]), 30.0)
    assert (found.GetStartTimeCode(), found.GetEndTimeCode(), found.GetTimeCodesPerSecond()) == (60, 70, 30)
    assert world_at(found, "/World/Box", 65)[0, 3] == pytest.approx(5.0)
    clock = time_samples.Clock(stage, 30.0)
    # Fifteen frames are half a second.
    assert clock.at(15).GetValue() == 48 + 12
    assert box


# --------------------------------------------------------------------------- what the file animates


def test_what_is_below_something_animated_moves_with_it_unless_it_resets_the_stack(stage: Usd.Stage) -> None:
    conveyor = UsdGeom.Xform.Define(stage, "/World/Conveyor").AddTranslateOp()
    conveyor.Set((0, 0, 0), 0)
    conveyor.Set((10, 0, 0), 24)
    for name in ("Rider", "Free"):
        body(stage, f"/World/Conveyor/{name}").AddTranslateOp().Set((0, 1, 0))
    UsdGeom.Xformable(stage.GetPrimAtPath("/World/Conveyor/Free")).SetResetXformStack(True)
    own = body(stage, "/World/Own").AddRotateYOp()
    own.Set(0.0, 0)
    own.Set(90.0, 24)
    body(stage, "/World/Still")
    paths = ["/World/Still", "/World/Own", "/World/Conveyor/Rider", "/World/Conveyor/Free"]
    assert time_samples.animated(stage, paths) == ("/World/Own", "/World/Conveyor/Rider")


def test_animated_prims_are_where_the_model_has_them(stage: Usd.Stage) -> None:
    """In metres and Z up, as everything that is read."""
    arm = body(stage, "/World/Arm")
    move, turn = arm.AddTranslateOp(), arm.AddRotateXYZOp()
    for time, place, angles in ((0, (0, 0, 0), (0, 0, 0)), (24, (100, 200, 300), (30, 40, 50))):
        move.Set(place, time)
        turn.Set(angles, time)
    still = Usd.Stage.CreateInMemory()
    still.GetRootLayer().TransferContent(stage.GetRootLayer())
    for name in ("xformOp:translate", "xformOp:rotateXYZ"):
        attribute = still.GetPrimAtPath("/World/Arm").GetAttribute(name)
        value = attribute.Get(24)
        attribute.Clear()
        attribute.Set(value)
    wanted = usd_read.read_stage(still).prims["/World/Arm"].world
    found = time_samples.worlds_at(stage, ["/World/Arm"], Usd.TimeCode(24))["/World/Arm"]
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    np.testing.assert_allclose(found[:3, 3], (1.0, -3.0, 2.0))
    model = usd_read.read_stage(stage)
    time_samples.move_to(stage, model, Usd.TimeCode(24))
    np.testing.assert_allclose(model.prims["/World/Arm"].world, wanted, atol=1e-9)


def test_the_source_of_a_bake_is_left_alone(stage: Usd.Stage) -> None:
    body(stage, "/World/Box")
    stage.GetRootLayer().Save()
    before = Path(stage.GetRootLayer().realPath).read_bytes()
    found = baked(stage, ["/World/Box"], np.array([[frames.transform((frame, 0, 0))] for frame in range(3)]))
    assert Path(stage.GetRootLayer().realPath).read_bytes() == before
    assert found.GetRootLayer().subLayerPaths[:] == ["./in.usda"]
    specs = [spec.specifier for spec in found.GetRootLayer().rootPrims]
    assert specs == [Sdf.SpecifierOver]


@pytest.mark.parametrize("scale", [(0, 1, 1), (0, 0, 0)])
def test_a_body_below_a_parent_without_an_inverse_moves_all_the_same(stage: Usd.Stage, scale: tuple) -> None:
    """No matrix below such a parent has a place in the world: the body has to leave the parent's transform."""
    UsdGeom.Xform.Define(stage, "/World/Flat").AddScaleOp().Set(Gf.Vec3f(*scale))
    body(stage, "/World/Flat/Ball")
    worlds = np.array([[frames.transform((0, 3.0 - frame, 0), np.eye(3))] for frame in range(3)])
    result = baked(stage, ["/World/Flat/Ball"], worlds)
    for frame in range(3):
        assert world_at(result, "/World/Flat/Ball", frame) == pytest.approx(worlds[frame, 0])


@pytest.mark.parametrize("name", ["timeCodesPerSecond", "startTimeCode"])
@pytest.mark.parametrize("value", [0.0, -24.0, 1e12, float("nan"), float("inf")])
def test_a_stage_whose_time_cannot_be_counted_is_refused(stage: Usd.Stage, name: str, value: float) -> None:
    stage.SetEndTimeCode(10)
    setattr(stage.GetRootLayer(), name, value)
    if name == "startTimeCode" and abs(value) < 1e9:
        assert time_samples.Clock(stage).start == value
        return
    with pytest.raises(InputError, match=r"'in.usda' has .*; set "):
        time_samples.Clock(stage)
