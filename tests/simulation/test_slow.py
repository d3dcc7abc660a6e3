# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow bodies go as far as their speed says, also far from the origin, where places are coarse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import METERS, File, about
from .helpers import place, row_of, run, world_of

W = "/World"
FAR = [0.0, 6.0, 60.0, 200.0]


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [0.0, 37.0])
@pytest.mark.parametrize("speed", [0.001, 0.006, 0.02, 0.1])
@pytest.mark.parametrize("x", FAR)
def test_a_slide_goes_as_far_as_it_is_driven(x: float, speed: float, degrees: float) -> None:
    file = File(METERS)
    file.add(file.body("Slide", (x, 0.3, 2.0), about("Z", degrees), size=(0.2,) * 3, mass=0.5),
             file.joint("Joint", "Prismatic", "", f"{W}/Slide", pos0=(x, 0.3, 2.0), rot0=about("Z", degrees), axis="X",
                        drives={"linear": {"damping": 50.0, "targetVelocity": speed}}))  # fmt: skip
    world = run(world_of(file), 1.0)
    before = place(world, "Slide").copy()
    way = place(run(world, 2.0), "Slide") - before
    along = np.array((math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0))
    assert way == pytest.approx(2.0 * speed * along, rel=0.01, abs=3e-5)


@pytest.mark.parametrize("degrees", [0.1, 2.0])
@pytest.mark.parametrize("x", FAR)
def test_a_hinge_turns_as_far_as_it_is_driven(x: float, degrees: float) -> None:
    file = File(METERS)
    speed = math.radians(degrees)
    file.add(file.body("Arm", (x + 0.5, 0.3, 2.0), size=(0.2,) * 3, mass=0.5),
             file.joint("Joint", "Revolute", "", f"{W}/Arm", pos0=(x, 0.3, 2.0), pos1=(-0.5, 0, 0), axis="Z",
                        drives={"angular": {"damping": 50.0, "targetVelocity": speed}}))  # fmt: skip
    world = run(world_of(file), 1.0)

    def angle() -> float:
        w, _, _, z = world.rotations[row_of(world, "Arm")]
        return 2.0 * math.atan2(z, w)

    before = angle()
    run(world, 4.0)
    assert angle() - before == pytest.approx(4.0 * speed, rel=0.02)


@pytest.mark.parametrize("speed", [0.001, 0.006, 0.1])
@pytest.mark.parametrize("x", FAR)
def test_what_drifts_in_space_goes_as_far_as_its_speed_says(x: float, speed: float) -> None:
    file = File(METERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Probe", (x, 0.3, 2.0), size=(0.2,) * 3, mass=0.5, velocity=(speed, 0, 0)))
    world = run(world_of(file), 4.0)
    assert place(world, "Probe")[0] - x == pytest.approx(4.0 * speed, rel=0.01, abs=3e-5)


@pytest.mark.parametrize("spin", [0.0, 0.004])
@pytest.mark.parametrize("speed", [0.001, 0.006])
@pytest.mark.parametrize("x", FAR)
def test_what_drifts_in_space_does_not_go_aside(x: float, speed: float, spin: float) -> None:
    """By up to 17 % of its way: each coordinate is rounded by its own part."""
    way = np.array((-0.16, -0.83, 0.53)) / np.linalg.norm((-0.16, -0.83, 0.53))
    file = File(METERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Probe", (x, -0.2, 2.0), size=(0.2,) * 3, mass=0.5, velocity=tuple(speed * way),
                       spin=(0, -spin, 0)))  # fmt: skip
    world = world_of(file)
    before = place(world, "Probe").copy()
    assert place(run(world, 2.0), "Probe") - before == pytest.approx(2.0 * speed * way, abs=0.02 * speed + 1e-5)


def test_a_pendulum_far_away_swings_as_at_the_origin() -> None:
    """Slow is not steady: what swings is left to the solver."""
    ways = []
    for x in (0.0, 60.0):
        file = File(METERS)
        file.add(
            file.body("Ball", (x + 0.1, 0, 1.0), shape="Sphere", size=(0.05,), mass=1.0),
            file.joint("Joint", "Revolute", "", f"{W}/Ball", pos0=(x, 0, 2.0), pos1=(-0.1, 0, 1.0), axis="Y"),
        )
        world = world_of(file)
        ways.append([float(place(run(world, 0.1), "Ball")[0]) - x for _ in range(40)])
    assert np.abs(np.subtract(*ways)).max() < 0.002


def test_a_snapshot_of_slow_bodies_replays_to_the_bit() -> None:
    file = File(METERS)
    file.add(file.body("Slide", (60, 0.3, 2.0), size=(0.2,) * 3, mass=0.5),
             file.joint("Joint", "Prismatic", "", f"{W}/Slide", pos0=(60, 0.3, 2.0), axis="X",
                        drives={"linear": {"damping": 50.0, "targetVelocity": 0.006}}))  # fmt: skip
    world = run(world_of(file), 0.5)
    kept = world.snapshot()
    first = run(world, 1.0).positions.copy()
    world.restore(kept)
    assert (run(world, 1.0).positions == first).all()
