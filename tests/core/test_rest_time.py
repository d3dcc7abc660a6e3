# SPDX-License-Identifier: GPL-3.0-or-later
"""Files whose transforms have time samples only, as Houdini and Maya write them: things are where viewers show them."""

from __future__ import annotations

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import rest_time

START = 5.0


def stage_of(meters: float = 1.0) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetStartTimeCode(START)
    stage.SetEndTimeCode(20)
    return stage


def at(stage: Usd.Stage, path: str, samples: dict[float, float], default: float | None = None) -> Usd.Prim:
    """A cube with a body, this far along X."""
    cube = UsdGeom.Cube.Define(stage, path)
    UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim())
    UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
    operation = cube.AddTranslateOp()
    for time, x in samples.items():
        operation.Set(Gf.Vec3d(x, 0, 0), time)
    if default is not None:
        operation.Set(Gf.Vec3d(default, 0, 0))
    return cube.GetPrim()


def read_x(stage: Usd.Stage, path: str) -> float:
    return float(usd_read.read_stage(stage).prims[path].world[0, 3])


@pytest.mark.parametrize("meters", [1.0, 0.01])
@pytest.mark.parametrize(
    ("samples", "default", "x"),
    [
        ({1: 2}, None, 2),
        ({30: 2}, None, 2),
        ({0: 1, 10: 3}, None, 2),  # at the start of the animation
        ({1: 2}, 7, 7),  # what the default says stands
        ({}, 7, 7),
    ],
)
def test_a_place_in_samples_only_is_that_at_the_start(samples, default, x, meters) -> None:
    stage = stage_of(meters)
    at(stage, "/Body", samples, default)
    assert read_x(stage, "/Body") == pytest.approx(x * meters)


def test_what_is_below_goes_along_and_what_is_beside_stays() -> None:
    stage = stage_of()
    at(stage, "/Group", {1: 2})
    at(stage, "/Group/Child", {}, 10)
    at(stage, "/Group/Sampled", {2: 20})
    at(stage, "/Beside", {1: 4}, 1)
    assert [read_x(stage, path) for path in ("/Group/Child", "/Group/Sampled", "/Beside")] == [12, 22, 1]


def test_a_prim_that_resets_the_transforms_above_is_not_moved_by_them() -> None:
    stage = stage_of()
    at(stage, "/Group", {1: 2})
    UsdGeom.Xformable(at(stage, "/Group/Free", {1: 4}, 3)).SetResetXformStack(True)
    assert read_x(stage, "/Group/Free") == 3


def test_every_operation_of_a_stack_counts() -> None:
    """Turned by 90 degrees about Z and then scaled by 2, each in samples, with the distance as a default."""
    stage = stage_of()
    cube = UsdGeom.Cube.Define(stage, "/Body")
    UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim())
    cube.AddTranslateOp().Set(Gf.Vec3d(1, 0, 0))
    cube.AddRotateZOp().Set(90.0, 1)
    cube.AddScaleOp().Set(Gf.Vec3f(2, 2, 2), 1)
    world = usd_read.read_stage(stage).prims["/Body"].world
    assert np.allclose(world, [[0, -2, 0, 1], [2, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]], atol=1e-7)


def test_one_prim_is_asked_like_many() -> None:
    stage = stage_of()
    prims = [at(stage, "/Group", {1: 2}), at(stage, "/Group/Child", {}, 10), at(stage, "/Beside", {1: 4}, 1)]
    many = rest_time.places(stage)
    for prim in prims:
        assert rest_time.place_cache(prim).GetTime() == many.of(prim).GetTime()
    assert [many.of(prim).GetTime().IsDefault() for prim in prims] == [False, False, True]
    assert rest_time.place_cache(prims[0]).GetTime().GetValue() == START
