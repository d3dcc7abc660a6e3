# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose collider is their triangles (approximation none) slide as far as friction lets them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .answers import turned
from .author import CENTIMETERS, DEGREE, METERS, File, Units, about, multiply, prism
from .helpers import codes, run, world_of

SLOPE = 25.0


def slid(
    points: list[tuple[float, ...]], faces: list[tuple[int, ...]], turn: float, ratio: float, units: Units = METERS
) -> tuple[float, float, list[str]]:
    """How far a body slides down a slope in a second, relative to what friction lets it; how far aside, m; notices.

    ratio: of friction to that which holds. turn: degrees about the normal.
    """
    friction, slope = math.tan(SLOPE * DEGREE) * ratio, about("Y", SLOPE)
    low = min(point[2] for point in points)
    file = File(units)
    file.add(
        file.material("Stuff", friction), file.ground(material="/World/Stuff", tilt=SLOPE),
        file.body("Body", turned(slope, (0, 0, -low)).tolist(), multiply(slope, about("Z", turn)), mass=2.0,
                  geometry=file.mesh("Shape", points, faces, "none", material="/World/Stuff")),
    )  # fmt: skip
    world = world_of(file)
    start = world.positions[0].copy()
    run(world, 1.0)
    pull = 9.81 * (math.sin(SLOPE * DEGREE) - friction * math.cos(SLOPE * DEGREE))
    way = world.positions[0] - start
    return float(way @ turned(slope, (1, 0, 0))) / (0.5 * pull), float(np.abs(way[1])), codes(world)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("turn", [0.0, 17.0, 45.0])
@pytest.mark.parametrize("sides", [4, 6, 12])
def test_a_convex_mesh_slides_as_its_hull(sides: int, turn: float, units: Units) -> None:
    """Its triangles were pushed aside where they stood: prisms came up to 18 times as far, or not at all."""
    for ratio in (0.5, 0.93):
        way, aside, said = slid(*prism(sides, 0.35, 0.15), turn, ratio, units)
        assert way == pytest.approx(1.0, abs=0.02)
        assert aside < 0.01
        assert said == []
