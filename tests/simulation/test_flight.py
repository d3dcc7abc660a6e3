# SPDX-License-Identifier: GPL-3.0-or-later
"""Uneven bodies in free flight turn as Euler's equations say."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation.rapier import flight
from usdphys_ext.usdphys_addon.simulation.weights import Weight

from .answers import rk4
from .author import CENTIMETERS, METERS, File, about, multiply
from .helpers import place, run, turn, world_of

G = 9.81


def euler(moments: np.ndarray, spin: np.ndarray, seconds: float) -> np.ndarray:
    """The turn (3, 3) of a free body along its principal axes, which spins by so much at the start, rad/s."""

    def rate(state: np.ndarray) -> np.ndarray:
        rotation, speed = state[:9].reshape(3, 3), state[9:]
        x, y, z = speed
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.concatenate(((rotation @ cross).ravel(), np.cross(moments * speed, speed) / moments))

    return rk4(rate, [*np.eye(3).ravel(), *spin], seconds)[-1, :9].reshape(3, 3)


def angle(one: np.ndarray, other: np.ndarray) -> float:
    """Between two turns, rad."""
    return math.acos(max(-1.0, min(1.0, (np.trace(one.T @ other) - 1.0) / 2.0)))


CASES = [(number, units, rate) for number, units in enumerate((METERS, CENTIMETERS) * 3) for rate in (24, 60)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "units", "rate"), CASES)
def test_an_uneven_body_turns_as_its_moments_say_wherever_its_axes_and_its_middle_are(seed, units, rate) -> None:
    random = np.random.default_rng(seed)
    moments = np.sort(random.uniform(0.5, 1.4, 3)) * 10.0 ** random.uniform(-3, 1)
    spin, way = random.uniform(-5, 5, 3), random.uniform(-2, 2, 3)
    axes, start = (
        multiply(about("X", random.uniform(0, 360)), about("Z", random.uniform(0, 360))) for _ in range(2)
    )  # fmt: skip
    center = tuple(random.uniform(-0.2, 0.2, 3))
    own = np.array(frames.matrix_of(axes))
    file = File(units)
    file.add(file.body(
        "Body", (0, 0, 50), start, size=(0.2,) * 3, mass=2.0, inertia=tuple(moments), axes=axes, center=center,
        spin=tuple(own @ spin), velocity=tuple(way),
    ))  # fmt: skip
    world = world_of(file, time_step=1.0 / rate)
    before = turn(world, "Body")
    middle = place(world, "Body") + before @ center
    run(world, 2.0)
    assert angle(turn(world, "Body"), before @ own @ euler(moments, spin, 2.0) @ own.T) < 0.01
    falls = middle + before @ way * 2.0 + np.array((0.0, 0.0, -0.5 * G * 4.0))
    assert np.abs(place(world, "Body") + turn(world, "Body") @ center - falls).max() < 0.03


def racket(*, spin: tuple[float, float, float], height: float = 50.0) -> File:
    file = File()
    file.add(file.ground())
    size, moments = (0.2, 0.3, 0.05), (0.02, 0.06, 0.08)
    return file.add(file.body("Racket", (0, 0, height), size=size, mass=1.0, inertia=moments, spin=spin))


@pytest.mark.slow
@pytest.mark.parametrize("spin", [(0.05, 6.0, 0.03), (0.005, 6.0, 0.003), (0.3, 6.0, 0.2)])
def test_what_turns_about_its_middle_axis_flips_when_it_should(spin: tuple[float, float, float]) -> None:
    world = run(world_of(racket(spin=spin, height=200.0)), 5.0)
    assert angle(turn(world, "Racket"), euler(np.array((0.02, 0.06, 0.08)), np.array(spin), 5.0)) < 0.02


def test_what_has_landed_rests() -> None:
    world = run(world_of(racket(spin=(0.3, 6.0, 0.2), height=2.0)), 5.0)
    resting = turn(world, "Racket").copy()
    assert angle(turn(run(world, 1.0), "Racket"), resting) < 0.005
    assert place(world, "Racket")[2] < 0.16


def test_what_sleeps_is_not_looked_at() -> None:
    """A body may fall asleep between two steps of the solver in which it is looked at."""
    weight = Weight(1.0, (0.0, 0.0, 0.0), (0.02, 0.06, 0.08), (1.0, 0.0, 0.0, 0.0))
    assert flight.noted([("/Racket", SimpleNamespace(is_sleeping=True), weight)]) is None
    assert flight.noted([]) is None


def test_a_reset_repeats_a_flight_to_the_bit() -> None:
    world = run(world_of(racket(spin=(0.3, 6.0, 0.2))), 1.0)
    first = world.rotations.copy()
    world.reset()
    assert (run(world, 1.0).rotations == first).all()
