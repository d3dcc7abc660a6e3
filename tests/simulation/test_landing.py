# SPDX-License-Identifier: GPL-3.0-or-later
"""Slender bodies that fall flat onto a narrow face: nothing turns them, so they stand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, File, Units, about
from .helpers import place, turn, world_of


def most_turned(file: File, names: tuple[str, ...], seconds: float = 1.5) -> float:
    """The largest angle, degrees, of any of these bodies from where it was, at any time."""
    world = world_of(file)
    start, most = {name: turn(world, name) for name in names}, 0.0
    for _ in range(round(seconds / world.time_step)):
        world.step()
        for name in names:
            most = max(most, math.acos(min((np.trace(start[name].T @ turn(world, name)) - 1.0) / 2.0, 1.0)))
    return math.degrees(most)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize("turned", [0.0, 33.0])
@pytest.mark.parametrize(
    ("size", "height"),
    [((0.2, 0.2, 1.0), 0.9), ((0.06, 0.3, 0.6), 0.9), ((0.03, 0.03, 0.3), 0.3), ((2.0, 2.0, 12.0), 4.0)],
)
def test_what_is_slender_and_falls_flat_stands(
    size: tuple[float, float, float], height: float, turned: float, units: Units
) -> None:
    file = File(units)
    file.add(file.ground(), file.body("Column", (0, 0, height + 0.5 * size[2]), about("Z", turned), size=size))
    assert most_turned(file, ("Column",)) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rebounds", [0.0, 0.6])
def test_a_bottle_that_falls_upright_stands(rebounds: float) -> None:
    file = File()
    file.add(file.material("Glass", 0.5, rebounds), file.ground(material="/World/Glass"))
    glass = {"mass": 0.5, "material": "/World/Glass"}
    file.add(file.body("Bottle", (0, 0, 0.55), shape="Cylinder", size=(0.04, 0.3), **glass))
    assert most_turned(file, ("Bottle",)) < 1.0


@pytest.mark.slow
def test_columns_that_fall_onto_each_other_stand() -> None:
    file, names = File(), ("Lower", "Upper")
    file.add(file.ground())
    for number, name in enumerate(names):
        file.add(file.body(name, (0, 0, 0.6 + 1.2 * number), size=(0.2, 0.2, 1.0), mass=40.0))
    assert most_turned(file, names) < 1.0


@pytest.mark.slow
def test_a_body_of_two_boxes_that_is_slender_falls_flat_and_stands() -> None:
    file = File()
    boxes = [
        file.shape("Foot", "Cube", (1.0, 0.2, 0.2), (0.4, 0, 0.1)),
        file.shape("Mast", "Cube", (0.2, 0.2, 0.8), (0, 0, 0.6)),
    ]
    file.add(file.ground(), file.body("Bracket", (0, 0, 0.9), mass=None, collides=False, children=boxes))
    assert most_turned(file, ("Bracket",)) < 1.0


@pytest.mark.slow
def test_a_column_that_starts_oblique_topples() -> None:
    """Its centre of mass is beyond the edge of its foot: nothing holds what ought to fall."""
    file = File()
    file.add(file.ground(), file.body("Column", (0, 0, 0.6), about("Y", 15.0), size=(0.2, 0.2, 1.0), mass=40.0))
    assert most_turned(file, ("Column",), 2.0) > 70.0
    world = world_of(file)
    for _ in range(240):
        world.step()
    assert abs(place(world, "Column")[2] - 0.1) < 0.01
