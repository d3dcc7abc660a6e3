# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal faces that meet edge on edge, and what slides over the middle of a round floor."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, File, about, prism
from .helpers import made, place, run

W = "/World"


@pytest.mark.parametrize("seed", range(12))
def test_equal_boxes_that_meet_face_to_face_do_not_spin_off(seed: int) -> None:
    """Wherever they are, in a world that the units turn."""
    rng = Random(seed)
    x, y, z = (rng.uniform(-5, 5) for _ in range(3))

    def fill(file: File) -> None:
        file.gravity = (0, 0, 0)
        file.add(file.material("Stuff", 0.0, 0.25))
        for name, at, speed, mass in (("One", x - 1, 5.8, 1.3), ("Two", x + 1, -0.9, 17.3)):
            file.add(file.body(name, (at, y, z), size=(0.4,) * 3, mass=mass, velocity=(speed, 0, 0),
                               material=f"{W}/Stuff"))  # fmt: skip

    world = run(made(fill, CENTIMETERS, time_step=1 / 30), 1.0)
    middle = (1.3 * 5.8 - 17.3 * 0.9) / 18.6
    assert world.velocities()[0][0][0] == pytest.approx(middle - 17.3 / 18.6 * 0.25 * 6.7, abs=0.05)
    # One corner alone gave 4 rad/s. The solver lets the four rebound one after the other, which leaves some.
    assert np.abs(world.velocities()[1]).max() < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("sides", [5, 6, 8, 32])
@pytest.mark.parametrize("start", [0.0, -0.3])
def test_a_box_slides_over_the_middle_of_a_round_floor(sides: int, start: float) -> None:
    friction, speed = 0.15, 2.5
    points, faces = prism(sides, 8.0, 0.2)

    def fill(file: File) -> None:
        floor = file.mesh("Shape", points, faces, "convexHull", material=f"{W}/Stuff")
        file.add(file.material("Stuff", friction), file.body("Floor", (0, 0, -0.1), dynamic=False, geometry=floor))
        file.add(file.body("Box", (start, 0, 0.06), about("Z", 30), size=(0.5, 0.3, 0.12), mass=3.0,
                           velocity=(speed, 0, 0), material=f"{W}/Stuff"))  # fmt: skip

    world = run(made(fill, METERS), 2.0)
    way = place(world, "Box") - (start, 0, 0.06)
    far = speed**2 / 2 / friction / 9.81
    assert math.hypot(way[0], way[1]) == pytest.approx(far, rel=0.03)
    assert abs(way[2]) < 0.002
