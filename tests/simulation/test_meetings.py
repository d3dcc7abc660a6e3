# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with several impacts at once."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, File, Units, about
from .helpers import made, place, row_of, run, world_of

W = "/World"
G = 9.81


def in_space(bounce: float, units: Units = METERS) -> File:
    file = File(units)
    file.gravity = (0, 0, 0)
    file.add(file.material("Steel", 0.0, bounce))
    return file


def speeds(world, *names: str) -> np.ndarray:
    return world.velocities()[0][[row_of(world, name) for name in names]]


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize("bounce", [1.0, 0.5])
@pytest.mark.parametrize("shape", ["Sphere", "Cube"])
def test_what_is_hit_from_both_sides_at_once_stays_and_both_rebound(shape: str, bounce: float, units: Units) -> None:
    """Of equal bodies, one impact undone by the other left half of the energy, and moved the middle one."""
    file = in_space(bounce, units)
    size = (0.25,) if shape == "Sphere" else (0.5,) * 3
    for name, x, speed in (("Left", -1, 2.0), ("Middle", 0, 0.0), ("Right", 1, -2.0)):
        file.add(file.body(name, (x, 0, 0), shape=shape, size=size, velocity=(speed, 0, 0), material=f"{W}/Steel"))
    world = run(world_of(file), 1.0)
    found = speeds(world, "Left", "Middle", "Right")
    ahead = file.world((1, 0, 0))
    assert found @ ahead == pytest.approx([-2.0 * bounce, 0.0, 2.0 * bounce], abs=0.02)
    assert np.abs(world.velocities()[1]).max() < 0.01


@pytest.mark.parametrize("seed", range(4))
def test_a_blow_passes_through_balls_that_touch(seed: int) -> None:
    """One after the other, as the masses say; wherever the row points."""
    rng = Random(seed)
    way = np.array([rng.gauss(0, 1) for _ in range(3)])
    way /= np.linalg.norm(way)
    bounce, masses = rng.uniform(0.5, 1.0), [rng.uniform(0.5, 2.0) for _ in range(3)]
    file = in_space(bounce)
    for number, (at, mass) in enumerate(zip((-1.0, 0.0, 0.5), masses, strict=True)):
        velocity = tuple(3.0 * way) if number == 0 else (0, 0, 0)
        file.add(file.body(f"B{number}", tuple(at * way), shape="Sphere", size=(0.25,), mass=mass, velocity=velocity,
                           material=f"{W}/Steel"))  # fmt: skip
    wanted = [3.0, 0.0, 0.0]
    while max(wanted[0] - wanted[1], wanted[1] - wanted[2]) > 1e-6:
        for one in (0, 1):
            mass = masses[one] * masses[one + 1] / (masses[one] + masses[one + 1])
            push = (1.0 + bounce) * mass * max(wanted[one] - wanted[one + 1], 0.0)
            wanted[one] -= push / masses[one]
            wanted[one + 1] += push / masses[one + 1]
    world = run(world_of(file, time_step=1 / 60), 0.6)
    assert speeds(world, "B0", "B1", "B2") @ way == pytest.approx(wanted, abs=0.03)


def test_the_break_of_a_rack_of_balls_keeps_its_energy() -> None:
    radius, speed = 0.0286, 8.0
    file = in_space(1.0)
    spots = [(3**0.5 * radius * line, (2 * number - line) * radius) for line in range(5) for number in range(line + 1)]
    for number, (x, y) in enumerate(spots):
        file.add(file.body(f"B{number}", (x, y, 0), shape="Sphere", size=(radius,), material=f"{W}/Steel"))
    file.add(file.body("Cue", (-0.5, 0.003, 0), shape="Sphere", size=(radius,), velocity=(speed, 0, 0),
                       material=f"{W}/Steel"))  # fmt: skip
    found = run(world_of(file), 0.5).velocities()[0]
    assert (found**2).sum() == pytest.approx(speed**2, rel=0.01)
    assert found.sum(axis=0) == pytest.approx((speed, 0, 0), abs=0.01)


@pytest.mark.parametrize(("mass", "boxes"), [(0.1, 1), (1.0, 1), (10.0, 1), (1.0, 2)])
@pytest.mark.parametrize("bounce", [0.5, 0.8])
def test_a_ball_bounces_off_boxes_on_the_floor_as_off_the_floor(bounce: float, mass: float, boxes: int) -> None:
    """It came up to a quarter of its height, and a heavy one not at all."""

    def fill(file: File) -> None:
        file.add(file.material("Wood", 0.5, bounce),
                 file.body("Floor", (0, 0, -0.5), size=(9, 9, 1), dynamic=False, material=f"{W}/Wood"),
                 file.body("Ball", (0, 0, 0.5 * boxes + 1.1), shape="Sphere", size=(0.1,), mass=mass,
                           material=f"{W}/Wood"),
                 *(file.body(f"Box{number}", (0, 0, 0.25 + 0.5 * number), size=(0.5,) * 3, material=f"{W}/Wood")
                   for number in range(boxes)))  # fmt: skip

    world = run(made(fill), (1.0 + bounce) * (2.0 / G) ** 0.5)
    assert place(world, "Ball")[2] - 0.5 * boxes - 0.1 == pytest.approx(bounce**2, abs=0.04)
    assert place(world, "Box0") == pytest.approx((0, 0, 0.25), abs=0.005)


@pytest.mark.parametrize("bounce", [1.0, 0.7])
@pytest.mark.parametrize("degrees", [30.0, 45.0, 60.0, 75.0])
def test_a_ball_comes_straight_out_of_a_groove_with_its_restitution(degrees: float, bounce: float) -> None:
    """Out of one whose sides are 60 degrees from the vertical it came aside, with a third more energy."""
    file = in_space(bounce)
    across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    for name, sign in (("Left", 1.0), ("Right", -1.0)):
        file.add(file.body(name, (-0.5 * sign * across, 0, -0.5 * up), about("Y", sign * (90.0 - degrees)),
                           size=(4, 4, 1), dynamic=False, material=f"{W}/Steel"))  # fmt: skip
    file.add(file.body("Ball", (0, 0, 0.1 / up + 0.5), shape="Sphere", size=(0.1,), velocity=(0, 0, -2),
                       material=f"{W}/Steel"))  # fmt: skip
    world = run(world_of(file), 0.4)
    assert speeds(world, "Ball")[0] == pytest.approx((0, 0, 2.0 * bounce), abs=0.01)


@pytest.mark.slow
def test_a_heap_that_bounces_gains_no_energy() -> None:
    rng = Random(3)
    file = File()
    file.add(file.material("Rubber", 0.4, 0.8),
             file.body("Floor", (0, 0, -0.5), size=(20, 20, 1), dynamic=False, material=f"{W}/Rubber"))  # fmt: skip
    for number in range(12):
        spot = (rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), 0.4 + 0.25 * number)
        file.add(file.body(f"B{number}", spot, size=(0.3, 0.25, 0.2), inertia=(0.01,) * 3, material=f"{W}/Rubber"))
    world = world_of(file)
    energies = []
    for _ in range(30):
        run(world, 0.1)
        linear, angular = world.velocities()
        energies.append(float((G * world.positions[:, 2]).sum() + 0.5 * (linear**2).sum() + 0.005 * (angular**2).sum()))
    assert max(np.diff(energies)) < 0.02 * energies[0]
    assert energies[-1] < 0.5 * energies[0]
