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


@pytest.mark.slow
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


@pytest.mark.slow
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


def trough(file: File, cell: float, length: float, wall: bool = False) -> str:
    """A floor of triangles along X, and where it ends a wall of 2 m, in one mesh."""
    count = round((length + 1.0) / cell)
    rows = [(cell * number - 1.0, 0.0) for number in range(count + 1)]
    rows += [(rows[-1][0], 0.1 * number) for number in range(1, 21)] if wall else []
    points = [(x, y, z) for x, z in rows for y in (-1.0, 0.11, 1.0)]
    faces = []
    for row in range(len(rows) - 1):
        for column in range(2):
            first = 3 * row + column
            faces += [(first, first + 3, first + 4), (first, first + 4, first + 1)]
    return file.mesh("Floor", points, faces, "none", material=f"{W}/Wood")


SMALL = [("Cube", (0.1, 0.1, 0.1), 0.05), ("Sphere", (0.05,), 0.05), ("Cylinder", (0.1, 0.1), 0.05),
         ("Capsule", (0.05, 0.2), 0.15)]  # fmt: skip


@pytest.mark.parametrize("floor", ["mesh", "tiles"])
@pytest.mark.parametrize("speed", [5.0, 10.0, 20.0])
@pytest.mark.parametrize(("shape", "size", "height"), SMALL)
def test_what_slides_fast_goes_as_far_as_its_speed_says(
    shape: str, size: tuple[float, ...], height: float, speed: float, floor: str
) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0))
    if floor == "mesh":
        file.add(trough(file, 0.25, 1.2 * speed))
    else:
        file.add(*(file.body(f"Tile{number}", (0.5 * number - 0.75, 0, -0.5), size=(0.5, 2.0, 1.0), dynamic=False,
                             material=f"{W}/Wood") for number in range(round(2.4 * speed) + 2)))  # fmt: skip
    file.add(file.body("Body", (0, 0.013, height), shape=shape, size=size, velocity=(speed, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    world = run(world_of(file), 1.0)
    assert place(world, "Body")[0] == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize("speed", [5.0, 10.0, 20.0, 40.0])
@pytest.mark.parametrize(("shape", "size", "height"), SMALL)
def test_what_slides_fast_stops_at_a_wall_of_the_same_mesh(
    shape: str, size: tuple[float, ...], height: float, speed: float
) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0), trough(file, 0.25, 3.0, wall=True),
             file.body("Body", (0.013, 0.013, height), shape=shape, size=size, velocity=(speed, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    world = world_of(file)
    farthest = 0.0
    for _ in range(90):
        world.step()
        farthest = max(farthest, float(place(world, "Body")[0]))
    assert 2.85 < farthest < 3.0


def test_what_spins_fast_on_triangles_turns_as_far_as_its_spin_says() -> None:
    """A bar of 60 cm, whose ends are fast."""
    angles = []
    for cell in (0.1, 20.0):
        file = File(METERS)
        file.add(file.material("Wood", 0.0), trough(file, cell, 19.0),
                 file.body("Bar", (0, 0.013, 0.02), size=(0.6, 0.04, 0.04), spin=(0, 0, 12.0), mass=1.0,
                           material=f"{W}/Wood"))  # fmt: skip
        world = world_of(file)
        angle, last = 0.0, 0.0
        for _ in range(60):
            world.step()
            w, _, _, z = world.rotations[0]
            now = 2.0 * float(np.arctan2(z, w))
            angle += (now - last + np.pi) % (2.0 * np.pi) - np.pi
            last = now
        angles.append(angle)
    assert angles == pytest.approx([12.0, 12.0], rel=0.01)
