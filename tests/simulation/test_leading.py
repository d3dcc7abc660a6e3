# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies change their speed evenly within a time step: what joints on them bear is that of their motion."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.schemas.usd_geom import Cube
from usdphys_ext.usdphys_addon.core.schemas.usd_physics import CollisionAPI, FixedJoint, RigidBodyAPI
from usdphys_ext.usdphys_addon.simulation.record import record
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


@pytest.mark.slow
@pytest.mark.parametrize(("fps", "error"), [(24.0, 0.2), (60.0, 0.06), (120.0, 0.03)])
def test_a_joint_on_a_swinging_body_bears_the_force_of_the_swing(fps: float, error: float) -> None:
    found = np.array(forces(held(fps=fps), swing, 2.0))
    times = np.arange(1, len(found) + 1) / fps
    most = MASS * AMPLITUDE * RATE**2
    wanted = most * np.abs(np.cos(RATE * times))
    late = times > 0.5
    assert np.abs(found - wanted)[late].mean() < error * most
    assert found[late].max() < (1.0 + error) * most


@pytest.mark.slow
def test_a_joint_on_a_turning_body_bears_the_force_of_the_turn() -> None:
    world = held()
    found = np.array(forces(world, turn, 2.0))
    times = np.arange(1, len(found) + 1) * world.time_step
    speed, change = 0.6 * RATE * np.sin(RATE * times), 0.6 * RATE**2 * np.cos(RATE * times)
    wanted = MASS * 0.5 * np.hypot(speed**2, change)
    assert np.abs(found - wanted)[30:].mean() < 0.1 * wanted.max()


@pytest.mark.slow
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


def lifted(shape: Callable[[float], float], fps: float, seconds: float, break_force: float = 1e4) -> tuple[World, list]:
    """A ball below a holder that moves up from rest; the poses are known one step ahead. The forces of the joint."""
    world, step = held(break_force, fps), 1.0 / fps

    def pose(time: float) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
        return (shape(time), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)

    found = []
    for number in range(1, round(seconds * fps) + 1):
        world.set_kinematic_pose("/Holder", *pose(number * step), then=pose((number + 1) * step))
        world.step()
        found.append(world.joint_load("/Joint")[0])
    return world, found


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
@pytest.mark.parametrize("waits", [0.0, 0.5])
def test_a_motion_that_is_known_ahead_begins_with_the_force_of_its_acceleration(fps: float, waits: float) -> None:
    def evenly(time: float) -> float:
        return 0.5 * 2.0 * max(time - waits, 0.0) ** 2

    _, found = lifted(evenly, fps, waits + 0.5)
    begun = round(waits * fps)
    assert found[:begun] == pytest.approx([0.0] * begun, abs=0.02)
    # The first load that was asked for is zero.
    assert found[max(begun, 1) :] == pytest.approx([MASS * 2.0] * (len(found) - max(begun, 1)), rel=0.03)


@pytest.mark.parametrize(("share", "holds"), [(1.04, True), (0.96, False)])
@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_a_lift_that_is_known_ahead_breaks_what_bears_less_than_its_acceleration_takes(share, holds, fps) -> None:
    world, _ = lifted(lambda time: time * time, fps, 0.5, share * MASS * 2.0)
    assert bool(world.broken_joints) is not holds


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_a_lift_that_is_known_ahead_bears_no_more_than_its_acceleration_where_it_changes(fps: float) -> None:
    """It speeds up, goes on and brakes, at the borders of frames."""

    def way(time: float) -> float:
        up, down = min(time, 0.5), min(max(time - 1.0, 0.0), 0.5)
        return up * up + (time - up) * 1.0 - down * down - max(time - 1.5, 0.0) * 1.0

    _, found = lifted(way, fps, 2.0)
    assert max(found) < 1.02 * MASS * 2.0
    assert found[round(0.25 * fps)] == pytest.approx(MASS * 2.0, rel=0.03)
    assert found[-1] == pytest.approx(0.0, abs=0.05)


def test_a_motion_that_begins_slowly_and_is_known_ahead_goes_nowhere_back() -> None:
    """It is 1 mm up after a step and 1 m after two: on the way nothing below the start is touched."""
    case = Case()
    case.scene(0.0)
    case.add("/Paddle", "Cube", RigidBodyAPI(kinematic_enabled=True), CollisionAPI(), Cube(size=0.2))
    case.ball(at=place(-0.2002))
    world = World(case.model, substeps=8)
    still = (1.0, 0.0, 0.0, 0.0)
    world.set_kinematic_pose("/Paddle", (0.001, 0.0, 0.0), still, then=((1.0, 0.0, 0.0), still))
    world.step()
    assert world.velocities()[0][world.index("/Ball"), 0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("waits", [0, 20])
def test_a_sudden_start_that_is_known_ahead_throws_nothing_faster_than_its_speed(waits: int) -> None:
    case = Case()
    case.scene(0.0)
    case.add("/Paddle", "Cube", RigidBodyAPI(kinematic_enabled=True), CollisionAPI(), Cube(size=0.2))
    case.ball(at=place(0.2001))
    world = World(case.model)
    for step in range(1, waits + 20):
        ways = [max(number - waits, 0) * world.time_step * 2.0 for number in (step, step + 1)]
        now, then = (((way, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) for way in ways)
        world.set_kinematic_pose("/Paddle", *now, then=then)
        world.step()
    assert world.velocities()[0][world.index("/Ball"), 0] == pytest.approx(2.0, rel=0.05)


def test_a_recording_that_looks_ahead_gives_a_joint_the_load_of_a_lift_from_its_first_frame_on() -> None:
    def movers(frame: int) -> dict[str, np.ndarray]:
        return {"/Holder": place((frame / 60.0) ** 2)}

    recording = record(held(1.04 * MASS * 2.0), 30, movers, with_loads=True, looks_ahead=True)
    assert not recording.broken
    assert recording.loads["/Joint"][1:, 0] == pytest.approx(MASS * 2.0, rel=0.03)


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
