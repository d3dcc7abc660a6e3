# SPDX-License-Identifier: GPL-3.0-or-later
"""Small boxes on each other: those whose contacts the solver knows half of are named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import CENTIMETERS, File, about, prism
from .helpers import codes, place, run, world_of


def bricks(scale: float, off: float, turn: tuple[float, ...] = (1, 0, 0, 0)) -> File:
    """Three bricks of 0.6 m by 0.3 m, times a scale, each aside of the one below it by a part of its length."""
    file = File(CENTIMETERS)
    file.add(file.ground(size=max(50 * scale, 1.0)))
    for number in range(3):
        at = (off * 0.6 * scale * (number % 2), 0, 0.15 * scale * (number + 0.5))
        file.add(file.body(f"Brick{number}", at, turn, size=(0.6 * scale, 0.3 * scale, 0.15 * scale), mass=2.0))
    return file


@pytest.mark.parametrize(
    ("scale", "off", "expected"),
    [
        (0.03, 0.3, ["SmallBoxes"]),
        (0.01, 0.3, ["SmallBoxes"]),
        (1.0, 0.3, []),
        (0.1, 0.3, []),
        # Exactly one on the other: each corner is one of a face.
        (0.03, 0.0, []),
    ],
)
def test_small_boxes_that_lie_beside_their_middles_are_named(scale: float, off: float, expected: list[str]) -> None:
    world = run(world_of(bricks(scale, off)), 0.5)
    assert codes(world) == expected
    if not expected:
        assert abs(place(world, "Brick2")[2] - 0.375 * scale) < 0.02 * scale


def test_in_mujoco_they_stand_and_nothing_is_said() -> None:
    world = run(world_of(bricks(0.03, 0.3), engine="mujoco"), 0.5)
    assert "SmallBoxes" not in codes(world)
    assert abs(place(world, "Brick2")[2] - 0.375 * 0.03) < 0.02 * 0.03


@pytest.mark.parametrize("is_hull", [False, True])
@pytest.mark.parametrize(("width", "degrees", "expected"), [
    (0.01, 30, ["SmallBoxes"]), (0.02, 40, ["SmallBoxes"]), (0.005, 20, ["SmallBoxes"]), (0.05, 40, []), (0.03, 20, []),
    (0.01, 0, []),
])  # fmt: skip
def test_a_small_box_that_falls_through_one_that_it_is_turned_against_is_named(
    width: float, degrees: float, is_hull: bool, expected: list[str]
) -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Post", (0, 0, width / 2), size=(width,) * 3, dynamic=False))
    points, faces = prism(4, width / 2**0.5, width)
    corners = file.mesh("Hull", points, faces, "convexHull") if is_hull else None
    turn = about("Z", degrees + 45 * is_hull)
    file.add(file.body("Box", (0, 0, 1.5 * width), turn, size=(width,) * 3, mass=1000 * width**3, geometry=corners))
    world = run(world_of(file), 0.2)
    assert codes(world) == expected
    assert (place(world, "Box")[2] > 1.45 * width) == (not expected)


def test_a_small_box_lies_on_a_wedge_that_is_its_hull() -> None:
    file, width = File(CENTIMETERS), 0.03
    points, faces = prism(3, width, width)
    hull = file.mesh("Hull", points, faces, "convexHull")
    file.add(file.body("Post", (0, 0, width / 2), dynamic=False, geometry=hull))
    file.add(file.body("Box", (0, 0, 1.5 * width), (1, 0, 0, 0), size=(width,) * 3, mass=1000 * width**3))
    world = run(world_of(file), 0.2)
    assert codes(world) == []
    assert place(world, "Box")[2] > 1.45 * width


@pytest.mark.parametrize(("sides", "expected"), [(3, ["SmallBoxes"]), (5, ["SmallBoxes"]), (6, [])])
def test_a_small_box_that_sinks_into_a_hull_is_named(sides: int, expected: list[str]) -> None:
    """One that stands is not, although the solver finds a part of its contact only."""
    file, width = File(CENTIMETERS), 0.01
    points, faces = prism(sides, width, width)
    hull = file.mesh("Hull", points, faces, "convexHull")
    file.add(
        file.ground(size=1.0),
        file.body("Post", (0, 0, width / 2), geometry=hull, mass=0.001),
        file.body("Box", (0, 0, 1.5 * width), size=(width,) * 3, mass=0.001),
    )
    world = run(world_of(file), 1.0)
    assert codes(world) == expected
    assert (abs(place(world, "Box")[2] - 1.5 * width) < 0.05 * width) == (not expected)


@pytest.mark.parametrize(("radius", "expected"), [(0.1, []), (0.03, ["SmallBoxes"])])
def test_an_arch_that_falls_because_its_stones_are_small_is_named(radius: float, expected: list[str]) -> None:
    """Nine hulls, held by friction. The solver takes an edge for the direction in which the small ones touch."""
    file = File(CENTIMETERS)
    rough = file.material("Stone", 0.7, 0.0)
    file.add(rough, file.ground(size=1.0, material="/World/Stone"))
    for number in range(9):
        angles = [math.pi * (number + each) / 9 for each in (0, 1)]
        middle = math.pi * (number + 0.5) / 9
        at = 0.975 * radius * np.array((math.cos(middle), 0, math.sin(middle)))
        points = [
            tuple(part * radius * np.array((math.cos(angle), 0, math.sin(angle))) + (0, side, 0) - at)
            for angle in angles for part in (0.8, 1.15) for side in (-0.15 * radius, 0.15 * radius)
        ]  # fmt: skip
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        hull = file.mesh(f"Stone{number}", points, faces, "convexHull")
        file.add(file.body(f"Body{number}", tuple(at), geometry=hull, mass=2.0, material="/World/Stone"))
    world = run(world_of(file), 0.5)
    assert codes(world) == expected
    assert (place(world, "Body4")[2] > 0.95 * 0.975 * radius) == (not expected)


def test_a_small_box_that_is_put_back_is_not_named() -> None:
    file, width = File(CENTIMETERS), 0.01
    points, faces = prism(6, width, width)
    hull = file.mesh("Hull", points, faces, "convexHull")
    file.add(
        file.ground(size=1.0),
        file.body("Post", (0, 0, width / 2), geometry=hull, mass=0.001),
        file.body("Box", (0, 0, 1.5 * width), size=(width,) * 3, mass=0.001),
    )
    world = world_of(file)
    start = world.snapshot()
    run(world, 0.1)
    world.restore(start)
    assert codes(run(world, 0.3)) == []
