# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies change their speed evenly within a time step: what joints on them bear is that of their motion."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.schemas.usd_geom import Cube
from usdphys_ext.usdphys_addon.core.schemas.usd_physics import CollisionAPI, FixedJoint, RigidBodyAPI
from usdphys_ext.usdphys_addon.simulation.world import World

from .test_animated import Case, place

#: m, rad/s and kg: of a ball that swings with its holder. The largest force is 7.2 N.
AMPLITUDE, RATE, MASS = 0.2, 6.0, 1.0


def held(break_force: float = 1e4, fps: float = 60.0) -> World:
    case = Case()
    case.scene(0.0)
    case.add("/Holder", "Cube", RigidBodyAPI(kinematic_enabled=True), CollisionAPI(), Cube(size=0.2))
    case.ball(at=place(0.5))
    joint = FixedJoint(break_force=break_force)
    joint.body0, joint.body1, joint.local_pos0 = ("/Holder",), ("/Ball",), (0.5, 0.0, 0.0)
    case.add("/Joint", "PhysicsFixedJoint", joint)
    return World(case.model, time_step=1.0 / fps)


def swing(t: float) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    return (AMPLITUDE * (1.0 - math.cos(RATE * t)), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def turn(t: float) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    angle = 0.6 * (1.0 - math.cos(RATE * t))
    return (0.0, 0.0, 0.0), (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))


def forces(world: World, motion: Callable[[float], object], seconds: float) -> list[float]:
    found = []
    for step in range(1, round(seconds / world.time_step) + 1):
        world.set_kinematic_pose("/Holder", *motion(step * world.time_step))
        world.step()
        found.append(world.joint_load("/Joint")[0])
    return found


@pytest.mark.parametrize(("fps", "error"), [(24.0, 0.2), (60.0, 0.06), (120.0, 0.03)])
def test_a_joint_on_a_swinging_body_bears_the_force_of_the_swing(fps: float, error: float) -> None:
    found = np.array(forces(held(fps=fps), swing, 2.0))
    times = np.arange(1, len(found) + 1) / fps
    most = MASS * AMPLITUDE * RATE**2
    wanted = most * np.abs(np.cos(RATE * times))
    late = times > 0.5
    assert np.abs(found - wanted)[late].mean() < error * most
    assert found[late].max() < (1.0 + error) * most


def test_a_joint_on_a_turning_body_bears_the_force_of_the_turn() -> None:
    world = held()
    found = np.array(forces(world, turn, 2.0))
    times = np.arange(1, len(found) + 1) * world.time_step
    speed, change = 0.6 * RATE * np.sin(RATE * times), 0.6 * RATE**2 * np.cos(RATE * times)
    wanted = MASS * 0.5 * np.hypot(speed**2, change)
    assert np.abs(found - wanted)[30:].mean() < 0.1 * wanted.max()


@pytest.mark.parametrize(("force", "holds"), [(1.2, True), (0.8, False)])
def test_a_joint_breaks_where_the_motion_is_too_fast_for_it(force: float, holds: bool) -> None:
    world = held(force * MASS * AMPLITUDE * RATE**2)
    for step in range(1, 181):
        t = step * world.time_step
        # It begins gently.
        grown = min(t, 1.0) ** 2 * (3.0 - 2.0 * min(t, 1.0))
        world.set_kinematic_pose("/Holder", (grown * AMPLITUDE * math.sin(RATE * t), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        world.step()
    assert bool(world.broken_joints) is not holds


@pytest.mark.parametrize("substeps", [0, 8])
def test_a_sudden_start_throws_nothing_faster_than_its_speed(substeps: int) -> None:
    """A paddle at rest starts at 2 m/s: a ball without restitution leaves it at 2 m/s."""
    case = Case()
    case.scene(0.0)
    case.add("/Paddle", "Cube", RigidBodyAPI(kinematic_enabled=True), CollisionAPI(), Cube(size=0.2))
    case.ball(at=place(0.2001))
    world = World(case.model, substeps=substeps)
    for step in range(1, 40):
        moved = max(step - 20, 0) * world.time_step * 2.0
        world.set_kinematic_pose("/Paddle", (moved, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        world.step()
    speed = world.velocities()[0][world.index("/Ball"), 0]
    assert speed == pytest.approx(2.0, rel=0.05)


def test_poses_at_the_end_of_each_step_are_those_that_were_asked_for() -> None:
    world, random = held(), np.random.default_rng(3)
    for _ in range(60):
        goal, quaternion = random.normal(size=3) * 0.05, np.array((1.0, *random.normal(size=3) * 0.1))
        world.set_kinematic_pose("/Holder", goal, quaternion)
        world.step()
        row = world.index("/Holder")
        assert world.positions[row] == pytest.approx(goal, abs=1e-6)
        assert abs(world.rotations[row] @ quaternion) / np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-5)


def test_a_restored_world_goes_on_bit_for_bit() -> None:
    world = held()
    forces(world, swing, 0.5)
    snapshot = world.snapshot()

    def later() -> np.ndarray:
        for step in range(31, 61):
            world.set_kinematic_pose("/Holder", *swing(step * world.time_step))
            world.step()
        return world.positions.copy()

    first = later()
    world.restore(snapshot)
    assert np.array_equal(later(), first)
