# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops, half pipes and bowls take no more speed than their edges do.

A track of flat parts has an edge between two of them. Without restitution a body loses there what of its speed points
into the next part: what slides keeps the cosine of the angle; what rolls keeps more, because its spin goes on.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, File, Units, prism
from .helpers import place, world_of

W = "/World"
G = 9.81
#: m: radius of the track, and of what moves on it.
WIDE, SMALL = 0.5, 0.05


def track(file: File, parts: int, first: float, last: float, entry: float = 0.0) -> str:
    """Triangles round the Y axis, so many parts a turn, from one angle to another; before them a floor of `entry` m."""
    angles = [first + 2 * math.pi * k / parts for k in range(round((last - first) * parts / 2 / math.pi) + 1)]
    line = [(WIDE * math.sin(angle), WIDE - WIDE * math.cos(angle)) for angle in angles]
    if entry:
        line.insert(0, (line[0][0] - entry, line[0][1]))
    points = [(x, y, z) for x, z in line for y in (-0.5, 0.5)]
    rows = list(pairwise(range(0, len(points), 2)))
    faces = [face for a, b in rows for face in ((a, b, b + 1), (a, b + 1, a + 1))]
    mesh = file.mesh("Shape", points, faces, "none", material=f"{W}/Wood")
    return file.body("Track", dynamic=False, geometry=mesh)


def scene(
    shape: str, parts: int, *, speed: float = 0.0, start: float = 0.0, friction: float = 0.0, units: Units = METERS
) -> File:  # fmt: skip
    """A body that enters a loop from a floor, or that starts from rest at an angle (rad) in a half pipe."""
    file = File(units)
    loop = speed > 0.0
    half = math.pi / 2
    file.add(file.material("Wood", friction),
             track(file, parts, 0.0, 3 * half, 2.0) if loop else track(file, parts, -half, half))  # fmt: skip
    apart = WIDE - SMALL
    at = (-0.3, 0.013, SMALL) if loop else (apart * math.sin(start), 0.013, WIDE - apart * math.cos(start))
    size = {"Sphere": (SMALL,), "Cube": (2 * SMALL,) * 3}.get(shape, (SMALL, 2 * SMALL))
    file.add(file.body(
        "Body", at, velocity=(speed, 0, 0), spin=(0, speed / SMALL if friction else 0.0, 0),
        geometry=file.shape("Shape", shape, size, axis="Y", material=f"{W}/Wood"),
    ))  # fmt: skip
    return file


def square_at_top(parts: int, speed: float, rolls: float) -> float:
    """Square of the speed (m2/s2) that is left at the top of a loop. rolls: moment of inertia over mass and radius."""
    turn = 2 * math.pi / parts
    square, height = speed**2, 0.0
    for number in range(parts // 2):
        angle = turn if number else turn / 2
        square *= ((math.cos(angle) + rolls) / (1 + rolls)) ** 2
        above = (WIDE - SMALL) * (1 - math.cos(turn * (number + 1)))
        square -= 2 * G * (above - height) / (1 + rolls)
        height = above
    return square


def check_loop(
    shape: str, parts: int, friction: float, rate: int = 60, quality: str = "normal", units: Units = METERS
) -> None:  # fmt: skip
    """Run a loop, and compare the speed at its top with what the edges leave, and with that of a smooth track."""
    speed, rolls = (6.5, {"Sphere": 0.4}.get(shape, 0.45)) if friction else (6.0, 0.0)
    file = scene(shape, parts, speed=speed, friction=friction, units=units)
    world = world_of(file, time_step=1.0 / rate, quality=quality)
    outside, top = 0.0, 0.0
    for _ in range(rate):
        world.step()
        x, _, z = place(world, "Body")
        if x > 0.0 or z > WIDE:
            outside = max(outside, math.hypot(x, z - WIDE) - (WIDE - SMALL))
        if z > WIDE and x < 0.0:
            left = float(np.linalg.norm(world.velocities()[0][0])) ** 2
            top = left - 2 * G * (2 * WIDE - SMALL - z) / (1 + rolls)
            break
    assert outside < 0.15 * SMALL
    smooth = speed**2 - 4 * G * (WIDE - SMALL) / (1 + rolls)
    assert 0.93 * math.sqrt(square_at_top(parts, speed, rolls)) < math.sqrt(max(top, 0.0)) < 1.01 * math.sqrt(smooth)


@pytest.mark.parametrize(
    ("parts", "rate", "quality", "units"),
    [(64, 60, "normal", METERS), (360, 60, "normal", CENTIMETERS), (360, 24, "normal", METERS),
     (128, 60, "draft", METERS)],
)  # fmt: skip
def test_a_loop_takes_no_more_speed_of_a_ball_than_its_edges(parts: int, rate: int, quality: str, units: Units) -> None:
    check_loop("Sphere", parts, 0.0, rate, quality, units)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "parts", "friction"),
    [("Sphere", 360, 0.8), ("Cube", 128, 0.0), ("Capsule", 128, 0.8), ("Cylinder", 64, 0.8), ("Cylinder", 128, 0.8)],
)
def test_what_slides_and_rolls_through_a_loop_keeps_its_speed(shape: str, parts: int, friction: float) -> None:
    check_loop(shape, parts, friction)


@pytest.mark.parametrize(("shape", "parts"), [("Sphere", 64), ("Sphere", 360), ("Capsule", 128), ("Cylinder", 128)])
def test_what_rolls_to_and_fro_in_a_half_pipe_comes_up_again(shape: str, parts: int) -> None:
    """It keeps in one pass what the edges leave of the energy, to within 6 %."""
    start, rolls = math.radians(75), {"Sphere": 0.4}.get(shape, 0.45)
    world = world_of(scene(shape, parts, start=start, friction=1.0))
    highest = 0.0
    for _ in range(75):
        world.step()
        x, _, z = place(world, "Body")
        if x < 0.0:
            highest = max(highest, float(z) - SMALL)
    turn = 2 * math.pi / parts
    kept = ((math.cos(turn) + rolls) / (1 + rolls)) ** (2 * 2 * start / turn)
    before = (WIDE - SMALL) * (1 - math.cos(start))
    assert kept - 0.06 < highest / before < 1.01


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("parts", [64, 256, 512])
@pytest.mark.parametrize("shape", ["crate", "hull", "two boxes", "beam"])
def test_a_body_slides_up_a_curve_as_high_as_its_speed_says(shape: str, parts: int, units: Units) -> None:
    """Faster than its edge in a step, a crate sank into the curve without turning, and was thrown off half as high."""
    wide, edge, ice = 2.0, 0.06, f"{W}/Ice"
    speed = math.sqrt(2 * G * 0.8 * wide)
    file = File(units)
    angles = [2 * math.pi * k / parts for k in range(parts // 4 + 1)]
    line = [(-1.0, 0.0), *((wide * math.sin(angle), wide - wide * math.cos(angle)) for angle in angles)]
    points = [(x, y, z) for x, z in line for y in (-0.3, 0.3)]
    faces = [(a, b, b + 1, a + 1) for a, b in pairwise(range(0, len(points), 2))]
    file.add(
        file.material("Ice", 0.0),
        file.body("Curve", dynamic=False, geometry=file.mesh("Shape", points, faces, "none", material=ice)),
        file.body("Body", (-0.5, 0, edge / 2), velocity=(speed, 0, 0), geometry="\n".join({
            "crate": [file.shape("Shape", "Cube", (edge,) * 3, material=ice)],
            "hull": [file.mesh("Shape", *prism(6, 0.6 * edge, edge), "convexHull", material=ice)],
            "two boxes": [file.shape(f"Box{side + 1}", "Cube", (edge / 2, edge, edge), (side * edge / 4, 0, 0),
                                     material=ice) for side in (-1, 1)],
            "beam": [file.shape("Shape", "Cube", (4 * edge, edge, edge), material=ice)],
        }[shape])),
    )  # fmt: skip
    world = world_of(file)
    top = 0.0
    for _ in range(75):
        world.step()
        top = max(top, float(place(world, "Body")[2]) - edge / 2)
    square = speed**2
    for angle in angles[1:]:
        left = square - 2 * G * wide * (1 - math.cos(angle))
        if left <= 0.0:
            break
        square -= left * math.sin(2 * math.pi / parts) ** 2
    assert top == pytest.approx(square / (2 * G), rel=0.07)
    assert not world.unstable
