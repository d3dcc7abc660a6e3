# SPDX-License-Identifier: GPL-3.0-or-later
"""Small boxes on each other: those whose contacts the solver knows half of are named."""

from __future__ import annotations

import pytest

from .author import CENTIMETERS, File
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
