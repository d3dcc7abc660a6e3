# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo behind the door of engines: answers that can be computed by hand."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import MissingDependencyError
from usdphys_ext.usdphys_addon.simulation.engine import Ability, solver

from .author import METERS, File
from .helpers import run, world_of

W = "/World"
needs_mujoco = pytest.mark.usefixtures("_mujoco")


@pytest.fixture
def _mujoco() -> None:
    pytest.importorskip("mujoco")


def said(world) -> list[str]:
    return [notice.message for notice in world.notices if notice.code == "EngineLimits"]


def pendulum(angle: float, *, swapped: bool = False, **joint) -> File:
    """A ball at a massless arm of 1 m, which begins at an angle (rad) from hanging straight down."""
    file = File(METERS)
    place = (math.sin(angle), 0, -math.cos(angle))
    half = -angle / 2.0
    turn = (math.cos(half), 0, math.sin(half), 0)
    ball = file.body("Ball", place, turn, shape="Sphere", size=(0.01, 0, 0), mass=2.0, inertia=(1e-6, 1e-6, 1e-6),
                     collides=False)  # fmt: skip
    if swapped:
        hinge = file.joint("Hinge", "Revolute", f"{W}/Ball", "", pos0=(0, 0, 1), axis="Y", **joint)
    else:
        hinge = file.joint("Hinge", "Revolute", "", f"{W}/Ball", pos1=(0, 0, 1), axis="Y", **joint)
    return file.add(ball, hinge)


@needs_mujoco
@pytest.mark.parametrize("swapped", [False, True])
def test_a_pendulum_has_the_period_of_the_formula_in_both_orders_of_its_bodies(swapped: bool) -> None:
    world = world_of(pendulum(0.05, swapped=swapped), engine="mujoco", time_step=1.0 / 240.0)
    assert world.is_reduced(f"{W}/Hinge")
    xs = []
    for _ in range(960):
        world.step()
        xs.append(world.positions[0, 0])
    crossings = np.flatnonzero(np.diff(np.sign(xs)))
    period = 2.0 * float(np.diff(crossings).mean()) / 240.0
    assert period == pytest.approx(2.0 * math.pi / math.sqrt(9.81), rel=5e-3)
    assert max(xs) == pytest.approx(math.sin(0.05), rel=0.02)


@needs_mujoco
@pytest.mark.parametrize("swapped", [False, True])
def test_a_limit_stops_a_falling_arm_at_its_own_side(swapped: bool) -> None:
    low, high = (-2.0, -0.3) if not swapped else (0.3, 2.0)
    world = run(world_of(pendulum(0.9, swapped=swapped, low=low, high=high), engine="mujoco"), 4.0)
    assert world.positions[0] == pytest.approx([math.sin(0.3), 0, -math.cos(0.3)], abs=0.005)


@needs_mujoco
def test_a_joint_that_begins_beyond_its_limit_is_moved_to_it_and_named() -> None:
    world = world_of(pendulum(0.2, low=-2.0, high=-0.3), engine="mujoco")
    assert world.positions[0] == pytest.approx([math.sin(0.2), 0, -math.cos(0.2)])
    world.step()
    assert world.positions[0] == pytest.approx([math.sin(0.3), 0, -math.cos(0.3)], abs=0.01)
    assert [notice.code for notice in world.notices if notice.code == "JointApart"] == ["JointApart"]


@needs_mujoco
def test_a_drive_holds_a_weight_where_its_torque_is_that_of_gravity() -> None:
    stiffness = 100.0
    drive = {"angular": {"stiffness": stiffness, "damping": 20.0, "targetPosition": 0.0}}
    world = run(world_of(pendulum(0.8, drives=drive), engine="mujoco"), 6.0)
    angle = world.joint_position(f"{W}/Hinge", "angular")
    per_rad = world.spaces[0].drive(f"{W}/Hinge", "angular").stiffness
    # From hanging, torque of the drive and of gravity both pull back to zero.
    assert angle == pytest.approx(0.0, abs=1e-3) and per_rad > 0.0
    world.set_drive(f"{W}/Hinge", "angular", target_position=0.5)
    run(world, 6.0)
    angle = world.joint_position(f"{W}/Hinge", "angular")
    assert per_rad * (0.5 - angle) == pytest.approx(2.0 * 9.81 * math.sin(angle), rel=0.01)


@needs_mujoco
def test_huge_gains_neither_explode_nor_reset_the_world() -> None:
    drive = {"angular": {"stiffness": 1e9, "damping": 1e8, "targetPosition": 0.5}}
    world = run(world_of(pendulum(0.2, drives=drive), engine="mujoco"), 2.0)
    assert world.unstable == {}
    assert world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(0.5, abs=0.02)


@needs_mujoco
def test_a_body_with_a_velocity_that_is_no_number_is_unstable_and_the_world_is_not_reset() -> None:
    file = File(METERS)
    world = run(world_of(file.add(file.body("Box", (0, 0, 9))), engine="mujoco"), 0.5)
    world.spaces[0].data.qvel[0] = math.nan
    world.step()
    assert f"{W}/Box" in world.unstable and world.positions[0, 2] < 8.0


@needs_mujoco
def test_boxes_fall_on_the_ground_and_rest_there() -> None:
    file = File(METERS)
    world = world_of(file.add(file.ground(), file.body("Box", (0, 0, 2)), file.body("Ball", (3, 0, 2), shape="Sphere",
                     size=(0.5, 0, 0))), engine="mujoco")  # fmt: skip
    run(world, 0.5)
    assert world.positions[:, 2] == pytest.approx([2.0 - 0.5 * 9.81 * 0.25] * 2, abs=0.02)
    run(world, 2.0)
    assert world.positions[:, 2] == pytest.approx([0.5, 0.5], abs=0.005) and world.contact_count() == 2
    assert np.abs(np.concatenate(world.velocities())).max() < 0.05


@needs_mujoco
def test_a_bullet_stops_at_a_thin_wall() -> None:
    file = File(METERS, gravity=(0, 0, 0))
    world = world_of(file.add(
        file.body("Wall", (5, 0, 0), size=(0.02, 4, 4), dynamic=False),
        file.body("Bullet", shape="Sphere", size=(0.05, 0, 0), velocity=(300, 0, 0)),
    ), engine="mujoco")  # fmt: skip
    run(world, 0.2)
    assert world.positions[0, 0] < 5.0


@needs_mujoco
@pytest.mark.parametrize(("friction", "slides"), [(0.4, True), (0.8, False)])
def test_a_box_slides_where_the_slope_is_steeper_than_the_friction(friction: float, slides: bool) -> None:
    tilt = math.radians(30.0)
    file = File(METERS)
    turn = (math.cos(tilt / 2), 0, math.sin(tilt / 2), 0)
    away = (0.5 * math.sin(tilt), 0, 0.5 * math.cos(tilt))
    world = world_of(file.add(
        file.material("Rough", friction), file.ground(material=f"{W}/Rough", tilt=30.0),
        file.body("Box", away, turn, material=f"{W}/Rough"),
    ), engine="mujoco")  # fmt: skip
    run(world, 1.0)
    way = float(np.linalg.norm(world.positions[0] - np.array(away)))
    wanted = 0.5 * 9.81 * (math.sin(tilt) - friction * math.cos(tilt)) if slides else 0.0
    assert way == pytest.approx(wanted, abs=0.05)


@needs_mujoco
def test_a_moving_free_body_keeps_the_velocity_of_its_centre_of_mass() -> None:
    file = File(METERS, gravity=(0, 0, 0))
    body = file.body("Box", (0, 0, 5), center=(0.2, 0, 0), velocity=(1, 2, 0), spin=(0, 0, 1.5))
    world = world_of(file.add(body), engine="mujoco")
    linear, angular = world.velocities()
    assert linear[0] == pytest.approx([1, 2, 0], abs=1e-6)
    assert angular[0] == pytest.approx([0, 0, 1.5], abs=1e-6)
    run(world, 1.0)
    assert world.velocities()[0][0] == pytest.approx([1, 2, 0], abs=1e-3)


@needs_mujoco
def test_a_snapshot_replays_to_the_bit() -> None:
    drive = {"angular": {"stiffness": 3.0, "damping": 0.1, "targetPosition": 0.3}}
    file = pendulum(0.8, drives=drive)
    world = run(world_of(file.add(file.ground(-1.5), file.body("Box", (3, 0, 0))), engine="mujoco"), 0.4)
    kept = world.snapshot()
    first = run(world, 0.5).positions.copy()
    world.restore(kept)
    assert np.array_equal(run(world, 0.5).positions, first)
    world.reset()
    start = world.positions.copy()
    again = run(world, 0.9).positions.copy()
    world.reset()
    assert np.array_equal(world.positions, start) and np.array_equal(run(world, 0.9).positions, again)
    assert np.array_equal(again, first)


@needs_mujoco
def test_a_joint_is_posed_by_hand() -> None:
    world = world_of(pendulum(0.0), engine="mujoco")
    moved = world.pose_joint(f"{W}/Hinge", "angular", 0.7)
    assert moved == (f"{W}/Ball",)
    assert world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(0.7, abs=1e-6)
    assert np.linalg.norm(world.positions[0]) == pytest.approx(1.0, abs=1e-6)


@needs_mujoco
def test_a_led_body_arrives_with_what_hangs_on_it() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.body("Hook", (0, 0, 5), kinematic=True), file.body("Lamp", (0, 0, 4)),
        file.joint("Weld", "Fixed", f"{W}/Hook", f"{W}/Lamp", pos1=(0, 0, 1)),
    ), engine="mujoco")  # fmt: skip
    world.set_kinematic_pose(f"{W}/Hook", (1, 0, 5), (1, 0, 0, 0))
    world.step()
    assert world.positions[world.index(f"{W}/Hook")] == pytest.approx([1, 0, 5], abs=1e-9)
    assert world.positions[world.index(f"{W}/Lamp")] == pytest.approx([1, 0, 4], abs=1e-6)
    assert any("does not feel its motion" in message for message in said(world))


@needs_mujoco
def test_a_loop_of_hinges_stays_closed() -> None:
    file = File(METERS)
    places = {"Left": (-1, 0, 1), "Top": (0, 0, 2), "Right": (1, 0, 1)}
    bars = [file.body(name, place, size=(0.1, 0.1, 0.1), collides=False) for name, place in places.items()]
    hinge = {"axis": "Y"}
    world = world_of(file.add(
        *bars,
        file.joint("A", "Revolute", "", f"{W}/Left", pos0=(-1, 0, 0), pos1=(0, 0, -1), **hinge),
        file.joint("B", "Revolute", f"{W}/Left", f"{W}/Top", pos0=(0, 0, 1), pos1=(-1, 0, 0), **hinge),
        file.joint("C", "Revolute", f"{W}/Top", f"{W}/Right", pos0=(1, 0, 0), pos1=(0, 0, 1), **hinge),
        file.joint("D", "Revolute", f"{W}/Right", "", pos0=(0, 0, -1), pos1=(1, 0, 0), **hinge),
    ), engine="mujoco")  # fmt: skip
    world.set_drive(f"{W}/A", "angular", target_velocity=1.0, damping=50.0)
    run(world, 1.0)
    assert sum(not world.is_reduced(f"{W}/{name}") for name in "ABCD") == 1
    assert abs(world.positions[world.index(f"{W}/Top"), 0]) > 0.05
    for name in "ABCD":
        first, second = world.spaces[0].joint_frames(f"{W}/{name}")
        assert first[:3, 3] == pytest.approx(second[:3, 3], abs=1e-3)


@needs_mujoco
def test_what_it_is_not_told_is_named() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.material("Ice", 0.1, static=0.9), file.body("Cone", (0, 0, 0), shape="Cone", size=(0.5, 1, 0)),
        file.body("Box", (3, 0, 0), material=f"{W}/Ice", asleep=True),
        file.joint("Rope", "Distance", f"{W}/Cone", f"{W}/Box", distance=(0, 3)),
    ), engine="mujoco")  # fmt: skip
    found = " ".join(said(world))
    assert "distance of" in found and "static friction of" in found and "shape of its kind" in found
    assert "the sleep of" in found
    assert world.joints == () and not world.can(Ability.GRABS)


def test_without_it_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for name in [name for name in sys.modules if ".simulation.mujoco" in name]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingDependencyError, match=r"pip install mujoco==4\.0\.0 mujoco-core==4\.0\.0"):
        solver("mujoco").load()


@needs_mujoco
def test_the_damping_of_a_joint_acts_beside_a_drive_with_a_largest_force() -> None:
    """A motor of 2 N m against 0.5 N m s: the speed settles at 4 rad/s, within inertia over damping."""
    file = File(METERS)
    file.add(file.body("Wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), collides=False))
    file.add(file.joint(
        "Axle", "Revolute", "", f"{W}/Wheel", axis="Z", apis=["NewtonJointAPI"],
        lines=[f"float newton:damping = {0.5 * math.pi / 180.0}"],
        drives={"angular": {"damping": 50.0, "targetVelocity": 1000.0, "maxForce": 2.0}},
    ))  # fmt: skip
    world = world_of(file, engine="mujoco", time_step=1.0 / 240.0)
    run(world, 2.0)
    assert float(world.velocities()[1][0, 2]) == pytest.approx(4.0, rel=0.01)
