# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of joints that are in no articulation: links and linkages move as their energy says, with any of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .answers import rk4
from .author import CENTIMETERS, METERS, File, Units, about
from .helpers import codes, place, run, turn, world_of

G = 9.81
#: Lengths (m) and masses (kg) of crank, coupler and rocker; the distance of the pivots; the crank's angle at the start.
BARS, BASE, START = ((0.3, 1.0), (0.9, 2.0), (0.75, 1.5)), 0.96, 1.2


def shape(angle: float) -> tuple[list[np.ndarray], list[float]]:
    """The middles of the three bars and their angles, for an angle of the crank, and the joints."""
    (a, _), (b, _), (c, _) = BARS
    crank, pivot = a * np.array([math.cos(angle), math.sin(angle)]), np.array([BASE, 0.0])
    way = pivot - crank
    far = float(np.hypot(*way))
    along = (b * b - c * c + far * far) / (2 * far)
    across = math.sqrt(b * b - along * along)
    tip = crank + along * way / far + across * np.array([-way[1], way[0]]) / far
    angles = [angle, math.atan2(*(tip - crank)[::-1]), math.atan2(*(tip - pivot)[::-1])]
    return [crank / 2, (crank + tip) / 2, (pivot + tip) / 2, crank, tip], angles


def rates(angle: float) -> tuple[list[np.ndarray], np.ndarray]:
    """How the middles and the angles change with that of the crank."""
    step = 1e-5
    (after, turned), (before, turned0) = shape(angle + step), shape(angle - step)
    return [(x - y) / (2 * step) for x, y in zip(after, before, strict=True)][:3], (np.array(turned) - turned0) / (
        2 * step
    )


def crank_after(seconds: float, armature: float) -> float:
    """The angle of the crank by the energy of the linkage, each of whose joints has the armature (kg m2)."""

    def inertia(angle: float) -> float:
        moves, turns = rates(angle)
        own = sum(m * (v @ v + (w * long) ** 2 / 12) for (long, m), v, w in zip(BARS, moves, turns, strict=True))
        joints = [turns[0], turns[1] - turns[0], turns[1] - turns[2], turns[2]]
        return float(own + armature * sum(each * each for each in joints))

    def rate(state: np.ndarray) -> np.ndarray:
        angle, speed = state
        change = (inertia(angle + 1e-4) - inertia(angle - 1e-4)) / 2e-4
        pull = sum(m * G * v[1] for (_, m), v in zip(BARS, rates(angle)[0], strict=True))
        return np.array([speed, -(pull + 0.5 * change * speed * speed) / inertia(angle)])

    return float(rk4(rate, (START, 0.0), seconds, 200)[-1][0])


def linkage(armature: float, units: Units) -> File:
    """Four bars in the plane of X and Z, each joint with the armature, kg m2."""
    file = File(units)
    places, angles = shape(START)
    for name, (length, mass), (x, z), angle in zip("ABC", BARS, places, angles, strict=False):
        moment = mass * length**2 / 12
        file.add(file.body(name, (x, 0, z), about("Y", -math.degrees(angle)), size=(length, 0.02, 0.02), mass=mass,
                           inertia=(0.1 * moment, moment, moment), collides=False))  # fmt: skip
    a, b, c = ((length / 2, 0, 0) for length, _ in BARS)
    start_a, start_b, start_c = ((-length / 2, 0, 0) for length, _ in BARS)
    ends = {
        "J0": ("", "A", (0, 0, 0), start_a), "J1": ("A", "B", a, start_b),
        "J2": ("C", "B", c, b), "J3": ("", "C", (BASE, 0, 0), start_c),
    }  # fmt: skip
    for name, (first, second, place0, place1) in ends.items():
        paths = [f"/World/{body}" if body else "" for body in (first, second)]
        file.add(file.joint(name, "Revolute", *paths, axis="Y", pos0=place0, pos1=place1, apis=["NewtonJointAPI"],
                            lines=[f"float newton:armature = {file.torque(armature)}"]))  # fmt: skip
    return file


def played(armature: float, units: Units, seconds: float) -> tuple[World, float, float]:
    """(world, angle of the crank, largest gap of its joint with the coupler, m) of a linkage."""
    world = world_of(linkage(armature, units))
    run(world, seconds)

    def end(name: str, side: float) -> np.ndarray:
        return place(world, name) + turn(world, name) @ (side * BARS["ABC".index(name)][0] / 2, 0, 0)

    gap = max(
        math.dist(end("A", 1), end("B", -1)), math.dist(end("C", 1), end("B", 1)), np.hypot(*end("A", -1)[[0, 2]])
    )
    middle = place(world, "A")
    return world, math.atan2(middle[2], middle[0]), gap


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("armature", [0.01, 0.1, 0.3])
def test_a_linkage_with_armatures_falls_as_they_say(armature: float, units: Units) -> None:
    """The crank alone has 0.0075 kg m2."""
    world, angle, gap = played(armature, units, 0.4)
    fallen = START - crank_after(0.4, armature)
    assert START - angle == pytest.approx(fallen, rel=0.04)
    assert gap < 1e-4
    assert codes(world) == []


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("armature", [3.0, 100.0, 10000.0])
def test_a_loop_with_armatures_of_any_size_stays_together(armature: float, units: Units) -> None:
    world, angle, gap = played(armature, units, 0.4)
    assert gap < 1e-4 and START - 0.05 < angle <= START + 1e-3
    assert set(codes(world)) == {"ArmatureLess"}


def link(armature: float, units: Units, kind: str = "Revolute", count: int = 1) -> File:
    """Links of 1 kg and 1 m in a row along X, each held by its end in the air, or one slide along Z."""
    file, before = File(units), ""
    for number in range(count):
        name = f"L{number}"
        file.add(file.body(name, (number + 0.5, 0, 0), size=(1.0, 0.05, 0.05), mass=1.0, inertia=(0.01, 1 / 12, 1 / 12),
                           collides=False))  # fmt: skip
        value, axis = (file.torque(armature), "Y") if kind == "Revolute" else (armature / units.kilograms, "Z")
        file.add(file.joint(
            f"J{number}", kind, before, f"/World/{name}", axis=axis, pos0=(0.5 if before else 0.0, 0, 0),
            pos1=(-0.5, 0, 0), apis=["NewtonJointAPI"], lines=[f"float newton:armature = {value}"],
        ))  # fmt: skip
        before = f"/World/{name}"
    return file


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("armature", [0.1, 1.0, 10.0, 60.0, 1000.0])
def test_a_link_with_an_armature_falls_as_it_says(armature: float, units: Units) -> None:
    """The link has 1/3 kg m2 about its end. What was more than that acted in part, without a word."""
    world = world_of(link(armature, units))
    run(world, 0.5)
    x, _, z = place(world, "L0")

    def rate(state: np.ndarray) -> np.ndarray:
        return np.array([state[1], 0.5 * G * math.cos(state[0]) / (1 / 3 + armature)])

    expected = float(rk4(rate, (0.0, 0.0), 0.5, 200)[-1][0])
    assert math.atan2(-z, x) == pytest.approx(expected, rel=0.02 if armature < 0.25 else 3e-3)
    assert codes(world) == []


@pytest.mark.slow
@pytest.mark.parametrize("armature", [0.5, 20.0])
def test_a_slide_with_an_armature_falls_as_it_says(armature: float) -> None:
    world = world_of(link(armature, METERS, "Prismatic"))
    run(world, 0.5)
    assert -place(world, "L0")[2] == pytest.approx(0.5 * G * 0.25 / (1.0 + armature), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("armature", [0.1, 0.5, 5.0])
def test_a_slide_between_two_that_move_falls_as_its_armature_says(armature: float, units: Units) -> None:
    """A slide of 1 kg, 0.3 m beside the slide of 1 kg that carries it. Half of its armature acted."""
    file, angles = File(units), (30.0, 70.0)
    for name, x in (("A", 0.0), ("B", 0.3)):
        file.add(file.body(name, (x, 0, 0), size=(0.2, 0.2, 0.2), mass=1.0, collides=False))
    value = armature / units.kilograms
    for number, (before, name, x) in enumerate((("", "A", 0.0), ("/World/A", "B", 0.3))):
        extra = {"apis": ["NewtonJointAPI"], "lines": [f"float newton:armature = {value}"]} if number else {}
        tilt = about("Y", -angles[number])
        file.add(file.joint(f"J{number}", "Prismatic", before, f"/World/{name}", axis="X", pos0=(x, 0, 0), rot0=tilt,
                            rot1=tilt, **extra))  # fmt: skip
    world = world_of(file)
    run(world, 0.5)
    a, b = (np.array((math.cos(math.radians(angle)), 0.0, math.sin(math.radians(angle)))) for angle in angles)
    masses = [[2.0, a @ b], [a @ b, 1.0 + armature]]
    ways = np.linalg.solve(masses, [-2.0 * G * a[2], -G * b[2]]) * 0.5 * 0.25
    first, second = place(world, "A"), place(world, "B") - (0.3, 0.0, 0.0)
    assert [first @ a, (second - first) @ b] == pytest.approx(ways, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("armature", "count"), [(0.2, 3), (2.0, 3), (20.0, 3), (20.0, 5)])
def test_a_row_of_links_with_armatures_falls_as_in_mujoco(armature: float, count: int) -> None:
    worlds = [world_of(link(armature, METERS, count=count), engine=engine) for engine in ("preview", "mujoco")]
    for world in worlds:
        run(world, 0.6)
    for name in (f"L{number}" for number in range(count)):
        ours, theirs = (place(world, name) for world in worlds)
        assert math.dist(ours, theirs) < 0.01 * max(-theirs[2], 0.05)


def test_an_armature_beyond_what_the_solver_bears_is_said() -> None:
    """Of two links: that of a hinge on what does not move is inertia of the link."""
    assert codes(world_of(link(1000.0, METERS, count=2))) == ["ArmatureLess"]
    assert codes(world_of(link(1000.0, METERS))) == []
