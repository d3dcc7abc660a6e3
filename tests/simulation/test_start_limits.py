# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that are outside of their limits at the start: the bodies are moved to the limit and have no speed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.joint_facts import Freedom
from usdphys_ext.usdphys_addon.simulation.joint_poses import whole_turns

from .author import CENTIMETERS, METERS, File, about
from .helpers import codes, place, run, turn, world_of

W = "/World"


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize(("start", "limit"), [(-0.02, 0.1), (0.9, 0.8), (0.05, 0.1)])
def test_a_slide_outside_of_its_limits_is_at_the_limit_and_at_rest(units, start: float, limit: float) -> None:
    """Between two free bodies: their centre of mass stays, and nothing drives them apart."""
    file = File(units, gravity=(0, 0, 0))
    file.add(file.body("One", collides=False, inertia=(1, 1, 1)))
    file.add(file.body("Two", (0, 0, start), collides=False, inertia=(1, 1, 1)))
    file.add(file.joint("Slide", "Prismatic", f"{W}/One", f"{W}/Two", axis="Z", low=0.1, high=0.8))
    world = world_of(file)
    assert codes(world) == ["JointApart"]
    run(world, 2.0)
    apart = place(world, "Two") - place(world, "One")
    assert apart == pytest.approx((0, 0, limit), abs=1e-3)
    assert (place(world, "Two") + place(world, "One"))[2] == pytest.approx(start, abs=1e-3)


@pytest.mark.parametrize("angle", [-50.0, 70.0])
def test_a_hinge_outside_of_its_limits_is_at_the_limit_and_at_rest(angle: float) -> None:
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("Arm", (0, 0, 0), about("Z", angle), collides=False, inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Arm", axis="Z", low=math.radians(-20), high=math.radians(40)))
    world = world_of(file)
    wanted = min(max(angle, -20.0), 40.0)
    assert degrees_of(world) == pytest.approx(angle, abs=1e-3)
    world.step()
    assert degrees_of(world) == pytest.approx(wanted, abs=0.1)
    run(world, 2.0)
    assert degrees_of(world) == pytest.approx(wanted, abs=0.1)
    world.reset()
    assert degrees_of(world) == pytest.approx(angle, abs=1e-3)


@pytest.mark.parametrize("engine", ["preview", "mujoco"])
@pytest.mark.parametrize(("low", "high", "angle"), [(150, 210, 190), (150, 210, 160), (-10, 350, 340), (-300, 0, -250)])
def test_a_hinge_whose_limits_are_beyond_half_a_turn_stays_where_it_starts_within_them(
    engine, low, high, angle
) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("Arm", (0, 0, 0), about("Z", angle), collides=False, inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Arm", axis="Z", low=math.radians(low), high=math.radians(high)))
    world = run(world_of(file, engine=engine), 0.5)
    assert codes(world) == []
    assert math.remainder(degrees_of(world) - angle, 360.0) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("low", "high", "angle", "wanted"),
    [(150, 210, -170, 190), (150, 210, 160, 160), (-300, -200, 100, -260), (-10, 350, -20, 340), (-20, 40, 70, 70),
     (0, 30, -60, -60), (720, 800, 10, 730), (-math.inf, math.inf, 50, 50), (0, math.inf, -90, 270)],
)  # fmt: skip
def test_an_angle_gets_the_whole_turns_that_bring_it_into_its_limits(low, high, angle, wanted) -> None:
    found = whole_turns(Freedom(math.radians(low), math.radians(high)), math.radians(angle))
    assert math.degrees(found) == pytest.approx(wanted)


def degrees_of(world) -> float:
    ((cosine, _, _), (sine, _, _), _) = turn(world, "Arm")
    return math.degrees(math.atan2(sine, cosine))


def test_joints_within_their_limits_are_not_moved() -> None:
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("One", (0, 0, 0.3), collides=False), file.body("Two", (2, 0, 0), about("Z", 30), collides=False))
    file.add(file.joint("Slide", "Prismatic", "", f"{W}/One", axis="Z", low=0.1, high=0.8))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Two", axis="Z", pos0=(2, 0, 0), low=-0.1, high=0.6))
    world = world_of(file)
    assert codes(world) == []
    assert np.array_equal(place(world, "One"), (0, 0, 0.3))


@pytest.mark.parametrize(("low", "high"), [(-400.0, -300.0), (200.0, 500.0), (-90.0, math.inf)])
def test_a_hinge_with_limits_of_more_than_half_a_turn_starts_where_it_is(low: float, high: float) -> None:
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("Arm", (0, 0, 0), about("Z", 20), collides=False, inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Arm", axis="Z", low=math.radians(low), high=math.radians(high)))
    world = world_of(file)
    assert "JointApart" not in codes(world)
    assert degrees_of(run(world, 0.1)) == pytest.approx(20.0, abs=1e-3)
