# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that one ball joint holds at a fixed point turn as Euler's equations say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .answers import rk4
from .author import CENTIMETERS, METERS, File, about
from .helpers import codes, place, run, turn, world_of

W = "/World"
G = 9.81


def rate_of(state: np.ndarray, mass: float, moments: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """How (turn, spin along its own axes) of a body changes that a point holds which is `arm` from its middle."""
    attitude, spin = state[:9].reshape(3, 3), state[9:]
    inertia = np.diag(moments) + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    torque = np.cross(arm, attitude.T @ np.array((0, 0, -mass * G)))
    x, y, z = spin
    across = np.array(((0, -z, y), (z, 0, -x), (-y, x, 0)))
    return np.concatenate(
        ((attitude @ across).ravel(), np.linalg.solve(inertia, torque - np.cross(spin, inertia @ spin)))
    )


def angle_between(first: np.ndarray, second: np.ndarray) -> float:
    return math.acos(min(1.0, (float(np.trace(first.T @ second)) - 1.0) / 2.0))


def uneven(file: File, scale: float, **options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Adds a body on a ball joint at the origin. Returns its arm, moments and spin. options: of the body."""
    arm, moments = np.array((0.1, 0.05, 0.4)) * scale, np.array((0.06, 0.1, 0.15)) * scale * scale
    spin, tilt = np.array((1.0, 2.0, 6.0)) / math.sqrt(scale), about("X", 30.0)
    file.add(
        file.body("Top", (0, 0, 0), tilt, collides=False, mass=2.0, inertia=tuple(moments), center=tuple(arm),
                  spin=tuple(spin), velocity=tuple(np.cross(spin, arm)), **options),
        file.joint("Ball", "Spherical", "", f"{W}/Top", rot0=tilt),
    )  # fmt: skip
    return arm, moments, spin


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "rate"), [(1.0, 60.0), (0.03, 120.0), (20.0, 24.0)])
def test_an_uneven_body_on_a_ball_joint_turns_as_its_equation_says(scale: float, rate: float) -> None:
    file = File(METERS)
    arm, moments, spin = uneven(file, scale)
    world = world_of(file, time_step=1.0 / rate)
    frames = round(1.5 * math.sqrt(scale) * rate)
    begin = np.concatenate((turn(world, "Top").ravel(), spin))
    for _ in range(frames):
        world.step()
    wanted = rk4(lambda state: rate_of(state, 2.0, moments, arm), begin, frames / rate, 800)[-1]
    # The solver alone has it 0.25 rad aside, and the small one 0.7.
    assert angle_between(turn(world, "Top"), wanted[:9].reshape(3, 3)) < 0.01
    assert np.linalg.norm(place(world, "Top")) < 1e-4 * scale


def test_the_joint_of_a_top_bears_what_accelerates_it() -> None:
    file = File(CENTIMETERS)
    file.add(
        file.body("Top", (0.15, 0, 2 + 0.15 * 3**0.5), about("Y", 30.0), mass=1.0, collides=False,
                  inertia=(0.005625, 0.005625, 0.01125), spin=(0, 0, 150.0)),
        file.joint("Tip", "Spherical", "", f"{W}/Top", pos0=(0, 0, 2), pos1=(0, 0, -0.3)),
    )  # fmt: skip
    world = world_of(file)
    loads, ways = [], [place(world, "Top").copy()]
    for _ in range(60):
        world.joint_load(f"{W}/Tip")
        world.step()
        loads.append(np.linalg.norm(world.joint_wrench(f"{W}/Tip")[0]))
        ways.append(place(world, "Top").copy())
    forces = np.diff(ways, 2, axis=0) * 3600.0 + (0, 0, G)
    assert np.mean(loads) == pytest.approx(np.linalg.norm(forces, axis=1).mean(), rel=0.02)


def test_a_top_that_falls_on_a_floor_stops_there() -> None:
    file = File(METERS)
    file.add(
        file.ground(), file.body("Top", (0.3, 0, 0.5), shape="Sphere", size=(0.1,), mass=1.0),
        file.joint("Tip", "Spherical", "", f"{W}/Top", pos0=(0, 0, 0.5), pos1=(-0.3, 0, 0)),
    )  # fmt: skip
    # Straight down it would be at 0.2, its foot at 0.1: the floor is too far; so a table stands in the way.
    file.add(file.body("Table", (0.0, 0, 0.15), dynamic=False, size=(0.2, 1.0, 0.3)))
    world = world_of(file)
    reach = []
    for _ in range(120):
        world.step()
        reach.append(place(world, "Top")[0])
    assert min(reach) > 0.15 and codes(world) == []


def test_a_damped_body_on_a_ball_joint_slows_down() -> None:
    file = File(METERS)
    file.gravity = (0, 0, 0)
    file.add(
        file.body("Top", (0, 0, 0), collides=False, inertia=(0.1, 0.1, 0.1), spin=(0, 0, 5.0),
                  apis=["PhysxRigidBodyAPI"], extra=["float physxRigidBody:angularDamping = 1.0"]),
        file.joint("Tip", "Spherical", "", f"{W}/Top"),
    )  # fmt: skip
    world = run(world_of(file), 1.0)
    before = turn(world, "Top")
    world.step()
    assert angle_between(before, turn(world, "Top")) * 60.0 == pytest.approx(5.0 * math.exp(-1.0), rel=0.03)


def test_a_top_that_is_taken_back_turns_again_in_the_same_way() -> None:
    file = File(METERS)
    uneven(file, 1.0)
    world = run(world_of(file), 0.3)
    saved = world.snapshot()
    ends = []
    for _ in range(2):
        run(world, 0.3)
        ends.append(np.concatenate((world.positions, world.rotations), axis=1))
        world.restore(saved)
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_top_that_a_hand_holds_follows_the_hand() -> None:
    file = File(METERS)
    file.add(
        file.body("Top", (0.3, 0, 0), collides=False, mass=1.0, inertia=(0.01, 0.01, 0.01)),
        file.joint("Tip", "Spherical", "", f"{W}/Top", pos1=(-0.3, 0, 0)),
    )
    world = run(world_of(file), 0.2)
    hand = world.grab(f"{W}/Top", place(world, "Top"))
    world.move_grab(hand, np.array((0.0, 0.3, 0.0)))
    run(world, 2.0)
    assert place(world, "Top") == pytest.approx((0.0, 0.3, 0.0), abs=0.05)
