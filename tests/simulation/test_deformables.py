# SPDX-License-Identifier: GPL-3.0-or-later
"""What deforms is left out of the preview, which says so, and nothing else changes by it."""

from pathlib import Path

import deformable_stages
import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import stage_motion
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.simulation.engines import external
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read, unit_conversion

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


def test_segments_carry_the_points_of_a_cable() -> None:
    """Each segment turns about its middle by an angle of its own; a point between two is in the middle."""
    stage = deformable_stages.cable(segments=2, length=2.0)
    (one,) = read.read_stage(stage).deformables()[0]
    start, up = one.points[one.elements].mean(axis=1), np.array([0.0, 0.0, 1.0])
    still = np.array([(1.0, 0, 0, 0)] * 2)
    half = np.sqrt(0.5)
    turned = np.array([(half, 0, -half, 0), (1.0, 0, 0, 0)])  # about -Y: X goes to Z
    positions = np.stack([np.vstack([np.full(3, 9.0), start]), np.vstack([np.full(3, 9.0), start + up])])
    rotations = np.stack([np.vstack([still[0], still]), np.vstack([still[0], turned])])
    names = ("/World/Other", "/World/Cable_0", "/World/Cable_1")
    poses = external.Poses(names, positions, rotations, cables={"/World/Cable": (1, 3)})
    moved = external.deformed(poses, [one])["/World/Cable"]
    assert np.allclose(moved[0], one.points)
    assert np.allclose(moved[1][0], start[0] + 0.5 * up)
    assert np.allclose(moved[1][1], (start[0] + 1.5 * up + one.points[1] + up) / 2.0)
    assert np.allclose(moved[1][2], one.points[2] + up)
    assert external.farthest(moved) == pytest.approx(np.linalg.norm(moved[1] - moved[0], axis=1).max())


@pytest.mark.parametrize("units", [StageUnits(), StageUnits(0.01, 1.0, "Y")])
def test_points_come_back_as_time_samples_in_the_space_of_their_prim(tmp_path: Path, units: StageUnits) -> None:
    stage, file = deformable_stages.cloth(), tmp_path / "cloth.usda"
    unit_conversion.convert(stage, units)
    stage.GetRootLayer().Export(str(file))
    stage = read.open_stage(file)
    motion = stage_motion.simulate_stage(stage, 0.25, fps=24)
    (one,) = motion.model.deformables()[0]
    drop = np.array([(0.1 * frame, 0.0, -0.5 * 9.81 * (frame / 24) ** 2) for frame in range(7)])
    wanted = one.points + drop[:, None]
    stage_motion.write_cache(stage, tmp_path / "out.usda", motion, motion.recording, {one.path: wanted})
    moved = Usd.Stage.Open(str(tmp_path / "out.usda"))
    points = moved.GetPrimAtPath(one.path).GetAttribute("points")
    assert len(points.GetTimeSamples()) == 7
    for time, expected in zip(points.GetTimeSamples(), wanted, strict=True):
        world = UsdGeom.XformCache(time).GetLocalToWorldTransform(moved.GetPrimAtPath(one.path))
        local = np.array(points.Get(time), float)
        places = (np.c_[local, np.ones(len(local))] @ np.array(world))[:, :3] * units.meters_per_unit
        assert np.allclose(places @ units.to_z_up.T, expected, atol=1e-6)
