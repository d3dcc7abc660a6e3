# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with answers of a textbook on mechanics, which nothing is tuned to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import CENTIMETERS, METERS, UNITS, File, Units, about
from .helpers import place, run, turn, world_of

G = 9.81
W = "/World"


def upright(angle: float = 0.0) -> np.ndarray:
    """A quaternion about Z, rad."""
    return np.array((math.cos(angle / 2.0), 0.0, 0.0, math.sin(angle / 2.0)))


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS)
def test_a_ball_that_rolls_on_a_turntable_runs_in_circles_at_two_sevenths_of_its_rate(units: Units) -> None:
    file, rate, radius, speed = File(units), 1.4, 0.1, 0.3
    file.add(file.material("M", 0.8),
             file.body("Table", (0, 0, -0.1), shape="Cylinder", size=(3.0, 0.2), kinematic=True, material=f"{W}/M"),
             file.body("Ball", (1, 0, radius), shape="Sphere", size=(radius,), material=f"{W}/M",
                       velocity=(0, speed, 0), spin=((rate - speed) / radius, 0, 0)))  # fmt: skip
    world = world_of(file)
    for frame in range(1, 241):
        world.set_kinematic_pose(f"{W}/Table", np.array((0, 0, -0.1)), upright(rate * frame / 60.0))
        world.step()
    turning = 2.0 / 7.0 * rate
    angle = 4.0 * turning
    wanted = 1.0 + speed / turning * (math.cos(angle) - 1.0), speed / turning * math.sin(angle)
    assert place(world, "Ball")[:2] == pytest.approx(wanted, abs=0.03)


def test_a_wedge_goes_back_as_a_block_slides_down_it() -> None:
    """Without friction: m g sin a cos a / (M + m sin^2 a)."""
    angle, length, file = math.radians(30), 2.0, File()
    height = length * math.tan(angle)
    points = [(0, -0.5, 0), (length, -0.5, 0), (0, -0.5, height), (0, 0.5, 0), (length, 0.5, 0), (0, 0.5, height)]
    faces = [(0, 1, 2), (5, 4, 3), (0, 3, 4, 1), (1, 4, 5, 2), (0, 2, 5, 3)]
    up = np.array((math.sin(angle), 0, math.cos(angle)))
    file.add(file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
             file.body("Wedge", mass=4.0, inertia=(1, 1, 1), center=(0.5, 0, 0.3),
                       geometry=file.mesh("Mesh", points, faces, "convexHull", material=f"{W}/Ice")),
             file.body("Block", np.array((0.4, 0, height - 0.4 * math.tan(angle))) + 0.1 * up, about("Y", 30),
                       size=(0.2,) * 3, mass=2.0, material=f"{W}/Ice"))  # fmt: skip
    world = run(world_of(file), 0.4)
    back = 2.0 * G * math.sin(angle) * math.cos(angle) / (4.0 + 2.0 * math.sin(angle) ** 2)
    assert place(world, "Wedge")[0] == pytest.approx(-0.5 * back * 0.16, rel=0.02)
    speeds = world.velocities()[0][:, 0]
    assert 4.0 * speeds[world.index(f"{W}/Wedge")] + 2.0 * speeds[world.index(f"{W}/Block")] == pytest.approx(
        0.0, abs=0.02
    )


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_beads_that_are_pulled_in_turn_their_bar_faster(units: Units) -> None:
    file, spin, bar = File(units, gravity=(0, 0, 0)), 2.0, 0.1
    file.add(file.body("Bar", inertia=(bar,) * 3, collides=False, spin=(0, 0, spin)))
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        file.add(
            file.body(
                name,
                (side, 0, 0),
                inertia=(0.001,) * 3,
                collides=False,
                velocity=(0, side * spin, 0),
                spin=(0, 0, spin),
            ),
            file.joint(
                f"{name}Slide",
                "Prismatic",
                f"{W}/Bar",
                f"{W}/{name}",
                axis="X",
                drives={"linear": {"stiffness": 400.0, "damping": 60.0, "targetPosition": 0.5 * side}},
            ),
        )
    world = run(world_of(file), 4.0)
    away = float(np.linalg.norm(place(world, "Right") - place(world, "Bar")))
    before, after = (bar + 0.002 + 2.0 * arm**2 for arm in (1.0, away))
    assert away < 0.6
    assert world.velocities()[1][world.index(f"{W}/Bar"), 2] == pytest.approx(spin * before / after, rel=0.01)


def test_a_box_leaves_a_lift_that_stops_and_lands_on_it_again() -> None:
    file = File()
    file.add(file.material("M", 0.5),
             file.body("Lift", (0, 0, -0.1), size=(2, 2, 0.2), kinematic=True, material=f"{W}/M"),
             file.body("Box", (0, 0, 0.25), size=(0.5,) * 3, mass=4.0, material=f"{W}/M"))  # fmt: skip
    world, highest = world_of(file), 0.0
    for frame in range(1, 181):
        seconds = frame / 60.0
        height = 1.5 * seconds**2 if seconds < 1.0 else min(1.5 + 3.0 * (seconds - 1.0), 2.1)
        world.set_kinematic_pose(f"{W}/Lift", np.array((0, 0, height - 0.1)), upright())
        world.step()
        highest = max(highest, place(world, "Box")[2])
    assert highest - 0.25 - 2.1 == pytest.approx(9.0 / 2.0 / G, abs=0.04)
    assert place(world, "Box")[2] == pytest.approx(2.35, abs=0.002)


@pytest.mark.parametrize(("height", "tips"), [(0.9, False), (1.3, True)])
def test_a_box_on_a_slope_tips_where_its_middle_is_beyond_its_edge(height: float, tips: bool) -> None:
    """Width 0.5 m at 25 degrees: above 1.07 m."""
    file, angle = File(), math.radians(25)
    up = np.array((math.sin(angle), 0, math.cos(angle)))
    file.add(file.material("M", 0.8), file.ground(material=f"{W}/M", tilt=25),
             file.body("Box", 0.5 * height * up, about("Y", 25), size=(0.5, 0.5, height), mass=3.0,
                       material=f"{W}/M"))  # fmt: skip
    world = run(world_of(file), 3.0)
    assert (float(turn(world, "Box")[:, 2] @ up) < 0.9) == tips


@pytest.mark.parametrize(
    ("radius", "mass", "speed", "spin"),
    [(0.1, 1.0, 2.0, 0.0), (0.01, 0.004, 0.5, 0.0), (1.0, 500.0, 6.0, 0.0), (0.1, 1.0, 2.0, -30.0)],
)
def test_a_ball_that_slides_begins_to_roll(radius: float, mass: float, speed: float, spin: float) -> None:
    """At (5 v + 2 r w) / 7, also backwards; and goes on."""
    file, friction = File(), 0.3
    file.add(file.material("M", friction), file.ground(material=f"{W}/M", size=400.0),
             file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius,), mass=mass, material=f"{W}/M",
                       velocity=(speed, 0, 0), spin=(0, spin, 0)))  # fmt: skip
    rolls = (5.0 * speed + 2.0 * radius * spin) / 7.0
    world = run(world_of(file), 3.0 * abs(speed - radius * spin) / (7.0 * friction * G) + 0.3)
    start = place(world, "Ball")[0]
    linear, angular = world.velocities()
    assert (linear[0, 0], radius * angular[0, 1]) == pytest.approx((rolls, rolls), rel=0.02)
    assert place(run(world, 1.0), "Ball")[0] - start == pytest.approx(rolls, rel=0.02)
