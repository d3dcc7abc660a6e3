# SPDX-License-Identifier: GPL-3.0-or-later
"""What swings on joints keeps its energy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, File, about
from .helpers import place, turn, world_of

W = "/World"
G = 9.81


def pendulum(length: float, **options) -> tuple[File, float]:
    """A weight on a hinge that starts level with it, and the time of its first fall. options: of the joint."""
    file = File(CENTIMETERS)
    moment = 0.01 * length * length
    file.add(
        file.body("Bob", (length, 0, 0), collides=False, inertia=(moment, moment, moment)),
        file.joint("Hinge", "Revolute", "", f"{W}/Bob", pos1=(-length, 0, 0), axis="Y", **options),
    )
    return file, math.sqrt(length / G)


@pytest.mark.slow
@pytest.mark.parametrize(("length", "rate"), [(0.03, 120.0), (0.5, 60.0), (20.0, 24.0)])
def test_a_pendulum_comes_up_again_as_high_after_many_swings(length: float, rate: float) -> None:
    file, time = pendulum(length)
    world = world_of(file, time_step=1.0 / rate)
    highest = -length
    for frame in range(round(25.0 * time * rate)):
        world.step()
        if frame > 20.0 * time * rate:
            highest = max(highest, place(world, "Bob")[2])
            assert np.linalg.norm(place(world, "Bob")) == pytest.approx(length, rel=1e-3)
    # The small one had stayed below by 3.4 % of its length, the next by 1.7 %.
    assert highest == pytest.approx(0.0, abs=0.005 * length)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hinge", "ball", "slide"])
def test_limits_that_are_not_touched_take_no_energy(kind: str) -> None:
    """Joints with limits had lost 1.7 % of the length of a pendulum in seven swings, without them 0.1 %."""
    length, moment = 0.5, 0.0025
    file = File(CENTIMETERS)
    file.add(file.body("Bob", (length, 0, 0), collides=False, inertia=(moment, moment, moment)))
    ends = {"pos1": (-length, 0, 0)}
    if kind == "hinge":
        file.add(file.joint("Joint", "Revolute", "", f"{W}/Bob", axis="Y", low=-math.radians(20), high=3.5, **ends))
    elif kind == "ball":
        # The axis of the cone hangs down, and the bob swings to 80 of its 100 degrees.
        file.gravity = (9.81 * math.sin(math.radians(10)), 0.0, -9.81 * math.cos(math.radians(10)))
        down = about("Y", 90.0)
        file.add(file.joint("Joint", "Spherical", "", f"{W}/Bob", axis="X", rot0=down, cone=(1.75, 1.75), **ends))
    else:
        # On a cart that is far from the ends of its rail.
        file.add(
            file.body("Cart", (0, 0, 0), collides=False, mass=3.0, inertia=(0.1, 0.1, 0.1)),
            file.joint("Rail", "Prismatic", "", f"{W}/Cart", axis="X", low=-1.0, high=1.0),
            file.joint("Joint", "Revolute", f"{W}/Cart", f"{W}/Bob", axis="Y", **ends),
        )
    world = world_of(file)
    steps = round(25.0 * math.sqrt(length / G) * 60.0)
    heights = []
    for _ in range(steps):
        world.step()
        heights.append(place(world, "Bob")[2])
    assert max(heights[-steps // 4:]) == pytest.approx(0.0, abs=0.005 * length)  # fmt: skip
    assert min(heights) < -0.9 * length


@pytest.mark.parametrize("high", [52.0, 60.0, 67.0, 75.0, 80.0, 81.0, 88.0])
def test_a_pendulum_stays_at_the_limit_that_it_hits(high: float) -> None:
    """In whichever of its small steps it does: it had come back from some."""
    file, time = pendulum(0.5, high=math.radians(high))
    world = world_of(file)
    angles = []
    for _ in range(round(4.0 * time * 60.0)):
        world.step()
        x, _, z = place(world, "Bob")
        angles.append(math.degrees(math.atan2(-z, x)))
    assert max(angles) < high + 0.5
    assert min(angles[angles.index(max(angles)):]) > high - 0.5  # fmt: skip


def test_a_pendulum_that_hits_a_wall_stops_there() -> None:
    file, time = pendulum(0.5)
    file.add(
        file.body("Wall", (0.0, 0, -0.5), dynamic=False, size=(0.2, 1.0, 0.2)),
        file.body("Ball", (2.0, 0, 0), shape="Sphere", size=(0.05,)),
        file.joint("Other", "Revolute", "", f"{W}/Ball", pos0=(1.5, 0, 0), pos1=(-0.5, 0, 0), axis="Y"),
        file.body("Stop", (1.5, 0, -0.5), dynamic=False, size=(0.2, 1.0, 0.2)),
    )
    world = world_of(file)
    ways = []
    for _ in range(round(6.0 * time * 60.0)):
        world.step()
        ways.append(place(world, "Ball")[0])
    assert min(ways) == pytest.approx(1.65, abs=0.005)
    assert max(ways[ways.index(min(ways)):]) < 1.665  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("quality", ["normal", "exact"])
def test_two_rods_that_turn_over_keep_their_energy_and_stay_on_their_hinges(quality: str) -> None:
    length, moment = 0.5, 0.25 / 12.0
    file = File(METERS)
    previous, anchor = "", (0.0, 0.0, 0.0)
    for number in range(2):
        path = f"{W}/Rod{number}"
        file.add(
            file.body(f"Rod{number}", ((number + 0.5) * length, 0, 0), collides=False,
                      inertia=(0.1 * moment, moment, moment)),
            file.joint(f"Joint{number}", "Revolute", previous, path, pos0=anchor, pos1=(-length / 2, 0, 0), axis="Y"),
        )  # fmt: skip
        previous, anchor = path, (length / 2, 0.0, 0.0)
    world = world_of(file, quality=quality)
    highest = -2.0
    for _ in range(300):
        world.step()
        ends = [place(world, name) + turn(world, name) @ (length / 2, 0, 0) for name in ("Rod0", "Rod1")]
        assert np.linalg.norm(ends[0]) == pytest.approx(length, rel=1e-3)
        assert abs(ends[1][1]) < 1e-3
        heights = [place(world, name)[2] for name in ("Rod0", "Rod1")]
        highest = max(highest, sum(heights))
    assert highest < 1e-3


def test_a_preview_that_is_taken_back_moves_again_in_the_same_way() -> None:
    file, _ = pendulum(0.5)
    file.add(file.body("Spinner", (5, 0, 0), collides=False, inertia=(1.0, 1.5, 2.2), spin=(1.0, 2.0, 6.0)))
    world = world_of(file)
    for _ in range(20):
        world.step()
    saved = world.snapshot()
    ends = []
    for _ in range(2):
        for _ in range(20):
            world.step()
        ends.append((world.positions.copy(), world.rotations.copy()))
        world.restore(saved)
    for one, other in zip(*ends, strict=True):
        assert np.abs(one - other).max() < 1e-6
