# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo behind the door of engines: answers that can be computed by hand."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import vendor_schemas
from usdphys_ext.usdphys_addon.core.errors import MissingDependencyError
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW, engine_row
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import METERS, File
from .helpers import model_in, run, world_of
from .measures import MEASURES
from .measuring import moved

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
def test_a_scene_that_has_run_away_stops_until_a_reset_and_names_its_bodies() -> None:
    file = File(METERS)
    file.add(file.body("Wild", (0, 0, 5)), file.body("Calm", (3, 0, 5)))
    world = world_of(file, engine="mujoco")
    (engine,) = world.spaces
    start = engine.save()
    world.step()
    before = world.positions.copy()
    engine.data.qvel[3] = 1e7  # the first body spins
    world.step()
    world.step()
    assert list(world.unstable) == ["/World/Wild"]
    assert np.isfinite(world.positions).all() and world.positions == pytest.approx(before)
    assert [one.code for one in world.notices if "stands still" in one.message] == ["Unstable"]
    engine.load(start)
    world.step()
    assert world.positions[1, 2] < 5.0


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


@pytest.mark.slow
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
def test_friction_of_a_slide_holds_what_hangs_on_it() -> None:
    """It crept: 2 kg, held by up to 30 N, sank by 2 cm in 2 s."""
    file = File(METERS)
    world = world_of(file.add(
        file.body("Load", (0, 0, 1), mass=2.0, size=(0.1, 0.1, 0.1), collides=False),
        file.joint("Slide", "Prismatic", "", f"{W}/Load", pos0=(0, 0, 1), axis="Z", apis=["NewtonJointAPI"],
                   lines=["float newton:friction = 30"]),
    ), engine="mujoco")  # fmt: skip
    run(world, 0.5)
    assert world.positions[0, 2] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
@needs_mujoco
def test_a_box_that_starts_to_slide_is_not_lifted_and_stops_where_its_friction_says() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.material("Felt", 0.3), file.ground(material=f"{W}/Felt"),
        file.body("Box", (0, 0, 0.15), size=(0.4, 0.4, 0.3), mass=2, velocity=(4, 0, 0), material=f"{W}/Felt"),
    ), engine="mujoco")  # fmt: skip
    heights = []
    for _ in range(100):
        world.step()
        heights.append(world.positions[0, 2])
    assert world.positions[0, 0] == pytest.approx(4.0**2 / (2 * 0.3 * 9.81), rel=0.005)
    assert heights == pytest.approx([0.15] * 100, abs=5e-4)


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize("engine", [PREVIEW, "mujoco"])
def test_the_foot_of_what_is_struck_above_holds_by_friction(engine: str) -> None:
    """Dominoes: the blow presses their feet too, so these hold. Without that the row falls a fifth faster."""
    file = File(METERS)
    file.add(file.material("Wood", 0.4), file.ground(material=f"{W}/Wood"))
    for number in range(12):
        speeds = {"velocity": (0.5, 0, 0), "spin": (0, 2, 0)} if number == 0 else {}
        file.add(file.body(f"D{number}", (0.25 * number, 0, 0.25), size=(0.05, 0.25, 0.5), mass=3.125,
                           material=f"{W}/Wood", **speeds))  # fmt: skip
    world = world_of(file, engine=engine)
    row, frames_passed = world.index(f"{W}/D11"), 0
    while 1.0 - 2.0 * float((world.rotations[row, 1:3] ** 2).sum()) > math.cos(math.radians(20.0)):
        world.step()
        frames_passed += 1
        assert frames_passed < 180
    assert frames_passed == pytest.approx(90, rel=0.1)


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
@pytest.mark.parametrize("excluded", ["B", "D"])
def test_the_joint_that_is_no_part_of_a_tree_closes_its_loop_and_not_one_that_would_lose_its_limits(
    excluded: str,
) -> None:
    """A hinge of a leg of a robot closed the loop with a push rod, and lost its limits and its friction."""
    file = File(METERS)
    places = {"Left": (-1, 0, 1), "Top": (0, 0, 2), "Right": (1, 0, 1)}
    bars = [file.body(name, place, size=(0.1, 0.1, 0.1), collides=False) for name, place in places.items()]
    hinges = {
        "A": ("", "Left", (-1, 0, 0), (0, 0, -1)), "B": ("Left", "Top", (0, 0, 1), (-1, 0, 0)),
        "C": ("Top", "Right", (1, 0, 0), (0, 0, 1)), "D": ("Right", "", (0, 0, -1), (1, 0, 0)),
    }  # fmt: skip
    joints = [
        file.joint(
            name, "Revolute", *(f"{W}/{end}" if end else "" for end in ends), pos0=pos0, pos1=pos1, axis="Y",
            **({"low": -0.3, "high": 0.3, "apis": ["NewtonJointAPI"], "lines": ["float newton:friction = 2.0"]}
               if name == "C" else {}),
            **({"lines": ["uniform bool physics:excludeFromArticulation = 1"]} if name == excluded else {}),
        )
        for name, (*ends, pos0, pos1) in hinges.items()
    ]  # fmt: skip
    world = world_of(file.add(*bars, *joints), engine="mujoco")
    assert [name for name in "ABCD" if not world.is_reduced(f"{W}/{name}")] == [excluded]
    assert not [message for message in said(world) if "because it closes a loop" in message]


@needs_mujoco
@pytest.mark.parametrize("drives", [{}, {"angular": {"stiffness": 1.0, "targetPosition": 0.3}}])
def test_a_light_link_with_much_damping_is_stable_in_a_scene_that_is_meant_for_mujoco(drives: Any) -> None:
    """The thumb of a hand got infinitely fast: the damping of a joint was that of an actuator, which is explicit."""
    file = File(METERS)
    file.add(file.body("Thumb", (0.02, 0, 1), mass=0.01, inertia=(1e-6, 1e-6, 1e-6), collides=False))
    said: dict[str, Any] = {"apis": ["NewtonJointAPI"], "lines": ["float newton:damping = 0.00174533"]}
    pin = {"pos0": (0, 0, 1), "pos1": (-0.02, 0, 0), "axis": "Y"}
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Thumb", drives=drives, **pin, **said))
    model = model_in(file)
    for prim in model.scenes.values():
        prim.add(vendor_schemas.find("MjcSceneAPI")(timestep=0.002))
    world = run(World(model, engine="mujoco"), 0.5)
    assert not world.unstable
    # 0.1 N m s/rad, against 2e-3 N m of weight and the spring: some hundredths of a radian in half a second.
    assert np.abs(world.velocities()[1]).max() < 4.0


@pytest.mark.slow
@needs_mujoco
def test_what_lies_on_a_led_body_rides_along() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.body("Table", (0, 0, 1), size=(4, 4, 0.2), kinematic=True), file.body("Cup", (0, 0, 1.2), size=(0.2,) * 3),
    ), engine="mujoco")  # fmt: skip
    for frame in range(1, 121):
        world.set_kinematic_pose(f"{W}/Table", (0.5 * 1.0 * (frame / 60) ** 2, 0, 1), (1, 0, 0, 0))
        world.step()
    # 1 m/s2 is less than what a friction of 0.5 holds.
    assert world.positions[world.index(f"{W}/Table"), 0] == pytest.approx(2.0, abs=1e-9)
    assert world.positions[world.index(f"{W}/Cup"), 0] == pytest.approx(2.0, abs=0.03)


@needs_mujoco
@pytest.mark.parametrize("bounce", [0.3, 0.5, 0.8])
def test_a_ball_bounces_to_the_square_of_its_restitution(bounce: float) -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.material("Rubber", 0.5, restitution=bounce), file.ground(material=f"{W}/Rubber"),
        file.body("Ball", (0, 0, 1.1), shape="Sphere", size=(0.1, 0, 0), material=f"{W}/Rubber"),
    ), engine="mujoco")  # fmt: skip
    run(world, math.sqrt(2.0 / 9.81) + 0.02)
    heights = []
    for _ in range(round(2.0 * bounce * math.sqrt(2.0 / 9.81) * 60) - 2):
        world.step()
        heights.append(world.positions[0, 2] - 0.1)
    assert max(heights) == pytest.approx(bounce**2, abs=0.015)


@pytest.mark.slow
@needs_mujoco
def test_a_cone_with_two_angles_stops_at_each() -> None:
    for gravity, most in (((0, 9.81, 0), 20.0), ((9.81, 0, 0), 50.0)):
        file = File(METERS, gravity=gravity)
        rod = file.body("Rod", (0, 0, 1), size=(0.1, 0.1, 2.0), collides=False)
        ball = file.joint(
            "Ball",
            "Spherical",
            "",
            f"{W}/Rod",
            pos1=(0, 0, -1),
            axis="Z",
            cone=(math.radians(50.0), math.radians(20.0)),
        )
        world = run(world_of(file.add(rod, ball), engine="mujoco"), 6.0)
        tilt = math.degrees(math.acos(world.positions[0, 2] / np.linalg.norm(world.positions[0])))
        assert tilt == pytest.approx(most, abs=1.0)


@pytest.mark.slow
@needs_mujoco
def test_a_light_chain_under_a_heavy_weight_gets_more_steps_and_gains_no_energy() -> None:
    file, before = File(METERS), ""
    for number in range(8):
        file.add(
            file.body(f"L{number}", (0, 0, -0.1 * number - 0.05), size=(0.02, 0.02, 0.08), mass=0.1, collides=False),
            file.joint(f"J{number}", "Spherical", before, f"{W}/L{number}", pos0=(0, 0, -0.05) if before else (0, 0, 0),
                       pos1=(0, 0, 0.05)),
        )  # fmt: skip
        before = f"{W}/L{number}"
    file.add(
        file.body("Bob", (0, 0, -1.0), shape="Sphere", size=(0.2, 0, 0), mass=100.0, velocity=(0.5, 0, 0)),
        file.joint("JB", "Spherical", before, f"{W}/Bob", pos0=(0, 0, -0.05), pos1=(0, 0, 0.2)),
    )
    world = world_of(file, engine="mujoco")
    assert world.substeps > 12 and world_of(pendulum(0.1), engine="mujoco").substeps == 10
    bob = world.index(f"{W}/Bob")
    energies = []
    for _ in range(240):
        world.step()
        energies.append(world.kinetic_energy() + 100.0 * 9.81 * (world.positions[bob, 2] + 1.0))
    assert world.unstable == {} and max(energies) < 1.1 * 0.5 * 100.0 * 0.25


@needs_mujoco
def test_a_rope_holds_its_length() -> None:
    file = File(METERS)
    ball = file.body("Ball", (0, 0, -0.5), shape="Sphere", size=(0.1, 0, 0), mass=2.0)
    world = world_of(
        file.add(ball, file.joint("Rope", "Distance", "", f"{W}/Ball", distance=(0, 1.5))), engine="mujoco"
    )
    world.joint_load(f"{W}/Rope")
    run(world, 3.0)
    assert world.positions[0] == pytest.approx([0, 0, -1.5], abs=0.005)
    assert world.joint_load(f"{W}/Rope")[0] == pytest.approx(2.0 * 9.81, rel=0.01)


@needs_mujoco
@pytest.mark.parametrize(("mass", "holds"), [(4.0, True), (6.0, False)])
def test_a_joint_breaks_under_more_than_it_bears(mass: float, holds: bool) -> None:
    file = File(METERS)
    box = file.body("Box", (0, 0, 0), size=(0.2,) * 3, mass=mass)
    world = world_of(
        file.add(box, file.joint("Weld", "Fixed", "", f"{W}/Box", pos0=(0, 0, 1), pos1=(0, 0, 1), break_force=50.0)),
        engine="mujoco",
    )
    start = world.positions.copy()
    run(world, 1.0)
    assert (world.broken_joints == ()) == holds and (world.positions[0, 2] > -0.01) == holds
    world.reset()
    assert world.broken_joints == () and np.array_equal(world.positions, start)
    run(world, 1.0)
    assert (world.broken_joints == ()) == holds


@needs_mujoco
def test_a_hinge_of_a_tree_tells_what_it_bears() -> None:
    world = world_of(pendulum(0.0), engine="mujoco")
    world.joint_load(f"{W}/Hinge")
    run(world, 0.2)
    force, torque = world.joint_wrench(f"{W}/Hinge")
    assert force == pytest.approx((0.0, 0.0, 19.62), abs=1e-3) and np.abs(torque).max() < 1e-3


@pytest.mark.slow
@needs_mujoco
def test_a_held_body_is_pulled_to_the_hand_and_falls_when_it_is_released() -> None:
    file = File(METERS, gravity=(0, 0, -9.81))
    world = run(world_of(file.add(file.ground(), file.body("Box", (0, 0, 0.5))), engine="mujoco"), 3.0)
    number = world.grab(f"{W}/Box", (0, 0, 0.5))
    world.move_grab(number, (0, 0, 2.0))
    run(world, 2.0)
    # Where the spring carries the weight: g / (2 pi 3 Hz)^2 below.
    assert world.positions[0, 2] == pytest.approx(2.0 - 9.81 / (2 * math.pi * 3) ** 2, abs=0.01)
    world.release(number)
    run(world, 2.0)
    assert world.positions[0, 2] == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
@needs_mujoco
def test_live_edits_act_and_a_reset_undoes_them() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.material("Rough", 0.8), file.ground(material=f"{W}/Rough", tilt=20.0),
        file.body("Box", (0.5 * math.sin(math.radians(20)), 0, 0.5 * math.cos(math.radians(20))),
                  (math.cos(math.radians(10)), 0, math.sin(math.radians(10)), 0), material=f"{W}/Rough"),
    ), engine="mujoco")  # fmt: skip
    first = run(world, 2.0).positions.copy()
    world.set_friction(f"{W}/Rough", 0.05)
    world.set_mass(f"{W}/Box", 7.0)
    run(world, 1.0)
    assert np.linalg.norm(world.positions - first) > 1.0 and world.spaces[0].weights[f"{W}/Box"].mass == 7.0
    world.set_gravity((0, 0, 0))
    speed = world.velocities()[0].copy()
    run(world, 0.1)
    # It would gain 0.28 m/s.
    assert world.velocities()[0] == pytest.approx(speed, abs=0.1)
    world.reset()
    assert world.spaces[0].weights[f"{W}/Box"].mass != 7.0
    assert np.array_equal(run(world, 2.0).positions, first)


EDITS = {
    "limit": {"upper_limit": 0.1}, "load": {"break_force": 5.0},
    "cone": {"cone_angle0_limit": 0.35, "cone_angle1_limit": 0.2},
}  # fmt: skip


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize("engine", [PREVIEW, "mujoco"])
@pytest.mark.parametrize("edit", EDITS)
def test_a_reset_undoes_an_edit_of_what_a_joint_allows_and_the_same_edit_acts_again(engine: str, edit: str) -> None:
    if edit == "cone":
        file = File(METERS, gravity=(9.81, 0, 0))
        ball = file.body("Ball", (0, 0, -1), shape="Sphere", size=(0.01, 0, 0), mass=1.0, collides=False)
        file.add(ball, file.joint("Hinge", "Spherical", "", f"{W}/Ball", pos1=(0, 0, 1), axis="Z", cone=(0.7, 0.5)))
    elif edit == "load":
        file = File(METERS)
        file.add(file.body("Ball", mass=1.0), file.joint("Hinge", "Fixed", "", f"{W}/Ball", break_force=50.0))
    else:
        file = pendulum(0.3, low=-1.5, high=1.5)
    model = model_in(file)
    world = World(model, engine=engine)
    prim = model.prims[f"{W}/Hinge"]
    name = next(iter(prim.schemas))
    edited = replace(prim, schemas=prim.schemas | {name: prim.schemas[name].copy(**EDITS[edit])})

    def places() -> np.ndarray:
        return np.array([run(world, 1 / 60).positions[0].copy() for _ in range(60)])

    as_told = places()
    world.reset()
    world.set_joint_ranges(edited)
    as_edited = places()
    assert np.abs(as_edited - as_told).max() > 0.1
    world.reset()
    assert places() == pytest.approx(as_told, abs=1e-9)
    world.reset()
    world.set_joint_ranges(edited)
    assert places() == pytest.approx(as_edited, abs=1e-9)


@pytest.mark.slow
@needs_mujoco
def test_a_static_collider_that_is_moved_carries_what_lies_on_it_no_more() -> None:
    file = File(METERS)
    world = world_of(file.add(
        file.body("Shelf", (0, 0, 1), size=(2, 2, 0.2), dynamic=False), file.body("Box", (0, 0, 1.6)), file.ground(),
    ), engine="mujoco")  # fmt: skip
    run(world, 3.0)
    assert world.positions[0, 2] == pytest.approx(1.6, abs=0.01) and world.awake_count == 0
    world.set_static_pose(next(path for path in world.static_colliders if "Shelf" in path), (9, 0, 1), (1, 0, 0, 0))
    run(world, 2.0)
    assert world.positions[0, 2] == pytest.approx(0.5, abs=0.01)


@needs_mujoco
@pytest.mark.parametrize("collides", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_what_flies_freely_does_not_sleep(collides: bool, whole: bool) -> None:
    """However slowly it moves or turns. whole: the scene has no gravity, or the body."""
    file = File(gravity=(0, 0, 0) if whole else (0, 0, -9.81))
    apis, extra = ([], []) if whole else (["PhysxRigidBodyAPI"], ["bool physxRigidBody:disableGravity = 1"])
    drift, spin = 4e-4, math.radians(0.04)
    file.add(file.body("Box", (0, 0, 3), velocity=(drift, 0, 0), spin=(0, 0, spin), collides=collides, mass=2.0,
                       inertia=(0.4, 0.3, 0.2), apis=apis, extra=extra))  # fmt: skip
    world = run(world_of(file, engine="mujoco"), 3.0)
    assert world.positions[0] == pytest.approx((3 * drift, 0, 3), abs=1e-5)
    assert 2 * world.rotations[0][3] == pytest.approx(3 * spin, rel=0.01)


@needs_mujoco
def test_what_turns_freely_without_a_shape_keeps_its_spin() -> None:
    file = File(gravity=(0, 0, 0))
    file.add(file.body("Top", (0, 0, 0), collides=False, mass=2.0, inertia=(0.4, 0.4, 0.2), spin=(0, 0, 2.0)))
    world = run(world_of(file, engine="mujoco"), 1.0)
    assert 2 * math.atan2(world.rotations[0][3], world.rotations[0][0]) == pytest.approx(2.0, rel=0.01)


@needs_mujoco
def test_a_body_that_starts_asleep_stays_in_the_air() -> None:
    file = File(METERS)
    world = run(world_of(file.add(file.body("Box", (0, 0, 3), asleep=True)), engine="mujoco"), 1.0)
    assert world.positions[0, 2] == 3.0 and world.awake_count == 0


@needs_mujoco
def test_what_it_is_not_told_is_named() -> None:
    file = File(METERS)
    places = {"Left": (-1, 0, 1), "Right": (1, 0, 1)}
    world = world_of(file.add(
        *(file.body(name, place, size=(0.1,) * 3, collides=False) for name, place in places.items()),
        file.joint("A", "Prismatic", "", f"{W}/Left", pos0=(-1, 0, 1), axis="X"),
        file.joint("B", "Prismatic", "", f"{W}/Right", pos0=(1, 0, 1), axis="X"),
        file.joint("Loop", "Prismatic", f"{W}/Left", f"{W}/Right", pos0=(2, 0, 0), axis="X"),
    ), engine="mujoco")  # fmt: skip
    assert any(message.endswith("closes: a joint of its kind cannot close one.") for message in said(world))
    assert f"{W}/Loop" not in world.joints


@needs_mujoco
def test_automatic_takes_mujoco_for_a_tree_and_rapier_for_a_pile_and_says_why() -> None:
    def chosen(file: File) -> str:
        world = world_of(file, engine="automatic")
        run(world, 0.1)
        (message,) = [notice.message for notice in world.notices if notice.code == "EngineChosen"]
        return f"{type(world.spaces[0]).__name__}: {message}"

    assert chosen(pendulum(0.3)).startswith("MujocoScene: ") and "on trees of joints" in chosen(pendulum(0.3))
    pile = File(METERS)
    pile.add(pile.ground(), *(pile.body(f"Box{number}", (0, 0, 0.5 + number)) for number in range(5)))
    assert "the preview: no dynamic body is on a joint" in chosen(pile)
    both = pendulum(0.3)
    both.add(*(both.body(f"Box{number}", (5, 0, 0.5 + number)) for number in range(5)))
    assert chosen(both).startswith("GroupedSpace: ") and "5 bodies are on no joint" in chosen(both)


def test_without_it_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for name in [name for name in sys.modules if ".simulation.mujoco" in name]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingDependencyError, match=r"pip install mujoco==4\.0\.0 mujoco-core==4\.0\.0"):
        engine_row("mujoco").load()


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


@pytest.mark.slow
@needs_mujoco
def test_each_shape_keeps_its_friction_where_trees_of_joints_are_beside_each_other() -> None:
    """MuJoCo numbers shapes along trees. Sleds on runners without friction, with loads of much, go on at 2 m/s."""
    file = File(METERS)
    file.add(file.ground(material=f"{W}/Ice"), file.material("Ice", 0.0), file.material("Felt", 1.0))
    for number in range(2):
        load, runner, side = f"Load{number}", f"Runner{number}", 2.0 * number
        file.add(
            file.body(load, (0, side, 0.15), size=(0.4, 0.4, 0.1), velocity=(2, 0, 0), material=f"{W}/Felt"),
            file.body(runner, (0, side, 0.05), size=(0.4, 0.4, 0.1), velocity=(2, 0, 0), material=f"{W}/Ice"),
            file.joint(f"Hold{number}", "Fixed", f"{W}/{load}", f"{W}/{runner}", pos1=(0, 0, 0.1)),
        )
    world = run(world_of(file, engine="mujoco"), 1.0)
    assert world.positions[:, 0] == pytest.approx([2.0] * 4, abs=0.02)


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize(
    "name",
    [
        "eight cubes of 3 mm",
        "turntable of 2 rad/s",
        "turntable of 4 rad/s",
        "five balls that touch",
        "150 rad/s, from 30 degrees: tilt",
    ],
)
def test_small_riding_bouncing_and_spinning_bodies_keep_the_tolerances_of_the_preview(name: str) -> None:
    (case,) = [case for case in MEASURES if name in f"{case.group}: {case.name}"]
    file = File(METERS)
    case.fill(file)
    assert case.value(moved(world_of(file, engine="mujoco"), case)) == pytest.approx(case.expected, abs=case.tolerance)


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize("engine", ["preview", "mujoco"])
def test_a_hand_at_the_last_link_of_a_servo_is_as_strong_as_all_that_the_servo_holds_is_heavy(engine: str) -> None:
    """3 kg and 0.1 kg at 1 m: a spring of 3 Hz for 3.1 kg against one of 500 N m/rad, with 0.2 m to go."""
    file = File(METERS)
    file.gravity = (0.0, 0.0, 0.0)
    file.add(
        file.body("Arm", (0.5, 0, 0), size=(1.0, 0.05, 0.05), mass=3.0, collides=False),
        file.body("Tip", (1.0, 0, 0), size=(0.05, 0.05, 0.05), mass=0.1, collides=False),
        file.joint("Servo", "Revolute", "", f"{W}/Arm", pos1=(-0.5, 0, 0), axis="Z",
                   drives={"angular": {"stiffness": 500.0, "damping": 50.0}}),
        file.joint("Weld", "Fixed", f"{W}/Arm", f"{W}/Tip", pos0=(0.5, 0, 0)),
    )  # fmt: skip
    world = world_of(file, engine=engine)
    number = world.grab(f"{W}/Tip", (1.0, 0.0, 0.0))
    world.move_grab(number, np.array([1.0, 0.2, 0.0]))
    run(world, 3.0)
    spring = 3.1 * (2.0 * math.pi * 3.0) ** 2
    assert world.positions[world.index(f"{W}/Tip"), 1] == pytest.approx(0.2 * spring / (spring + 500.0), rel=0.05)


@needs_mujoco
def test_more_steps_for_what_is_small_or_swings_fast_do_not_run_ahead_of_time() -> None:
    """A cube of 2 mm and a load of 5 kg on a link of 10 g fall as far as all else, by g t^2 / 2."""
    file = File(METERS)
    file.add(
        file.body("Tiny", (0, 0, 5), size=(0.002, 0.002, 0.002), mass=1e-5),
        file.body("Link", (1, 0, 5), size=(0.02, 0.02, 0.2), mass=0.01, collides=False),
        file.body("Load", (1, 0, 4.5), size=(0.1, 0.1, 0.1), mass=5.0, collides=False),
        file.joint("Hang", "Revolute", f"{W}/Link", f"{W}/Load", pos0=(0, 0, -0.1), pos1=(0, 0, 0.4), axis="Y"),
    )
    world = world_of(file, engine="mujoco")
    assert world.spaces[0].substeps > 10
    start = world.positions[:, 2].copy()
    run(world, 0.5)
    assert start - world.positions[:, 2] == pytest.approx([0.5 * 9.81 * 0.25] * 3, rel=0.02)


@needs_mujoco
def test_a_body_whose_centre_of_mass_is_beyond_all_shapes_is_simulated() -> None:
    """Its moments of inertia about that centre are rounding."""
    file = File(METERS)
    world = world_of(
        file.add(file.body("Far", center=(-21474836.0, 21474836.0, 0.03), size=(0.25, 0.25, 0.25), mass=10.0)),
        engine="mujoco",
    )
    run(world, 0.1)
    assert np.isfinite(world.positions).all()


@needs_mujoco
def test_a_body_that_turns_and_whose_moments_of_inertia_are_no_numbers_ends_no_simulation() -> None:
    file = File(METERS)
    huge = file.body("Huge", inertia=(math.inf, math.inf, math.inf), spin=(0, 0, 90), velocity=(1, 0, 0))
    run(world_of(file.add(huge), engine="mujoco"), 0.1)


@needs_mujoco
def test_what_mujoco_is_not_told_of_a_body_on_a_joint_is_a_sentence() -> None:
    file = File(METERS)
    speed = "float physxRigidBody:maxLinearVelocity = 2"
    file.add(
        file.body("Bob", (0, 0, 1), collides=False, apis=["PhysxRigidBodyAPI"], extra=[speed]),
        file.joint("Pin", "Revolute", "", f"{W}/Bob", pos0=(0, 0, 2), pos1=(0, 0, 1), axis="Y"),
    )
    told = f"MuJoCo is not told the largest speeds of {W}/Bob, because it is on a joint."
    assert said(world_of(file, engine="mujoco")) == [told]
