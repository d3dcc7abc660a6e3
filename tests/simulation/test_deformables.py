# SPDX-License-Identifier: GPL-3.0-or-later
"""What deforms is left out of the preview, which says so, and nothing else changes by it."""

import deformable_stages
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read

from .helpers import place, run


def falling(stage: Usd.Stage) -> float:
    """Height of a ball of 10 cm, 2 s after it started 3 m above the origin."""
    ball = UsdGeom.Sphere.Define(stage, "/World/Ball")
    ball.GetRadiusAttr().Set(0.1)
    ball.AddTranslateOp().Set((0.2, 0.2, 3.0))
    UsdPhysics.CollisionAPI.Apply(ball.GetPrim())
    UsdPhysics.RigidBodyAPI.Apply(ball.GetPrim())
    world = World(read.read_stage(stage))
    named = [notice.path for notice in world.notices if notice.code == "Deformable"]
    assert named == [path for path in ("/World/Cloth/sim", "/World/Jelly", "/World/Cable") if stage.GetPrimAtPath(path)]
    run(world, 2.0)
    return float(place(world, "Ball")[2])


def test_a_ball_falls_as_if_nothing_that_deforms_were_there() -> None:
    free = falling(deformable_stages.new_stage())
    assert abs(free - (3.0 - 9.81 * 2.0)) < 0.25
    for make in deformable_stages.KINDS:
        assert falling(make()) == free
