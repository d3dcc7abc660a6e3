# SPDX-License-Identifier: GPL-3.0-or-later
"""A flat floor is a floor, however many triangles it has: what slides and rolls on it goes as far as on a box."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from .author import IDENTITY, METERS, File
from .helpers import place, run, world_of

W = "/World"
G = 9.81
SPEED, FRICTION = 4.0, 0.3


def flat(file: File, cell: float, kind: str) -> str:
    """A floor from -1 to 5 by 2 m in squares of two triangles. kind: shared or split vertices, or the other side up."""
    x, y = np.arange(-1.0, 5.0 + 1e-9, cell), np.arange(-1.0, 1.0 + 1e-9, cell)
    points = [(a, b, 0.0) for a in x for b in y]
    rows = [[i * len(y) + j for j in range(len(y))] for i in range(len(x))]
    faces = []
    for low, high in pairwise(rows):
        for (a, d), (b, c) in zip(pairwise(low), pairwise(high), strict=True):
            faces += [(a, b, c), (a, c, d)]
    if kind == "flipped":
        faces = [face[::-1] for face in faces]
    if kind == "split":
        points, faces = (
            [points[i] for face in faces for i in face],
            [(i, i + 1, i + 2) for i in range(0, 3 * len(faces), 3)],
        )
    return file.mesh("Floor", points, faces, "none", material=f"{W}/Wood")


@pytest.mark.parametrize("kind", ["shared", "split", "flipped"])
@pytest.mark.parametrize(("cell", "start"), [(0.05, 0.013), (0.1, 0.013), (0.25, 0.0), (1.0, 0.0)])
def test_a_box_slides_as_far_as_on_a_box(cell: float, kind: str, start: float) -> None:
    file = File(METERS)
    file.add(file.material("Wood", FRICTION), flat(file, cell, kind),
             file.body("Box", (start, 0.03, 0.1), size=(0.4, 0.4, 0.2), mass=2.0, velocity=(SPEED, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    world = world_of(file)
    highest = 0.0
    for _ in range(120):
        world.step()
        highest = max(highest, float(place(world, "Box")[2]))
    assert place(world, "Box") == pytest.approx((start + SPEED**2 / (2 * FRICTION * G), 0.03, 0.1), abs=0.05)
    assert highest < 0.105


@pytest.mark.parametrize("kind", ["shared", "split", "flipped"])
@pytest.mark.parametrize(("cell", "y"), [(0.05, 0.03), (0.25, 0.03), (0.25, 0.11), (1.0, 0.11)])
@pytest.mark.parametrize(
    ("shape", "size"), [("Cylinder", (0.2, 0.2)), ("Cylinder", (0.27, 0.17)), ("Cone", (0.2, 0.2))]
)
def test_what_has_a_rim_slides_as_far_as_on_a_box(
    shape: str, size: tuple[float, float], cell: float, y: float, kind: str
) -> None:
    file = File(METERS)
    file.add(file.material("Wood", FRICTION), flat(file, cell, kind),
             file.body("Can", (0.013, y, size[1] / 2), shape=shape, size=size, mass=2.0, velocity=(SPEED, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    world = world_of(file)
    highest = 0.0
    for _ in range(120):
        world.step()
        highest = max(highest, float(place(world, "Can")[2]))
    assert place(world, "Can") == pytest.approx((0.013 + SPEED**2 / (2 * FRICTION * G), y, size[1] / 2), abs=0.05)
    assert highest < size[1] / 2 + 0.005


@pytest.mark.parametrize("kind", ["shared", "split", "flipped"])
def test_a_ball_rolls_straight_on_and_keeps_its_speed(kind: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", FRICTION), flat(file, 0.2, kind),
             file.body("Ball", (0, 0.03, 0.1), IDENTITY, shape="Sphere", size=(0.1,), mass=1.0, velocity=(2, 0, 0),
                       spin=(0, 20, 0), material=f"{W}/Wood"))  # fmt: skip
    world = run(world_of(file), 2.0)
    assert place(world, "Ball") == pytest.approx((4.0, 0.03, 0.1), abs=0.04)


def test_a_box_whose_edges_lie_on_edges_of_the_floor() -> None:
    test_a_box_slides_as_far_as_on_a_box(0.1, "flipped", 0.0)
