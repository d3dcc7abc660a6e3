# SPDX-License-Identifier: GPL-3.0-or-later
"""Free articulations whose first body has its centre of mass beside its origin, as that of nearly every robot has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, Units
from .helpers import place, run, turn, world_of

G = 9.81
CENTER = (0.1, 0.2, 0.05)
NAMES = ("B0", "B1", "B2")


def chain(
    units: Units = METERS, *, articulated: bool = True, held: str = "", center: tuple[float, ...] = CENTER,
    spin: tuple[float, ...] | None = None, asleep: bool = False,
) -> File:  # fmt: skip
    """Three bodies in a row along X on hinges. held: the one that a ball joint holds to the world, at its outer end.

    center: centre of mass of each, in its own space. spin: rad/s, of all, about the origin of the world.
    """
    file = File(units)
    for number, name in enumerate(NAMES):
        file.add(file.body(
            name, (number, 0, 0), size=(0.8, 0.1, 0.1), mass=1.0, inertia=(0.02, 0.1, 0.05), center=center,
            spin=spin, velocity=None if spin is None else np.cross(spin, np.add((number, 0, 0), center)).tolist(),
            collides=False, apis=["PhysicsArticulationRootAPI"] if articulated and number == 0 else [],
            asleep=asleep,
        ))  # fmt: skip
    for number, axis in enumerate("YZ"):
        ends = (f"/World/{name}" for name in NAMES[number : number + 2])
        file.add(file.joint(f"J{number}", "Revolute", *ends, axis=axis, pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0)))
    if held:
        end = 0.5 if held == "B2" else -0.5
        file.add(file.joint("Held", "Spherical", "", f"/World/{held}", pos0=(NAMES.index(held) + end, 0, 0),
                            pos1=(end, 0, 0)))  # fmt: skip
    return file


def center_of(world: World, center: tuple[float, ...] = CENTER) -> np.ndarray:
    return sum(place(world, name) + turn(world, name) @ center for name in NAMES) / len(NAMES)


def energy(world: World) -> float:
    return world.kinetic_energy() + len(NAMES) * G * float(center_of(world)[2])


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("held", ["B0", "B2"])
def test_an_articulation_that_hangs_on_one_of_its_links_keeps_its_energy(held: str, units: Units) -> None:
    """It lost 8 J where its first body hangs, and gained 3 J where its last one does."""
    world = world_of(chain(units, held=held))
    start = energy(world)
    assert all(world.is_reduced(f"/World/J{number}") for number in (0, 1))
    for _ in range(6):
        run(world, 0.15)
        assert energy(world) == pytest.approx(start, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("held", ["B0", "B2"])
def test_it_moves_as_by_its_joints_one_by_one(held: str) -> None:
    worlds = [world_of(chain(held=held, articulated=articulated)) for articulated in (True, False)]
    for world in worlds:
        run(world, 0.5)
    assert [world.is_reduced("/World/J0") for world in worlds] == [True, False]
    for name in NAMES:
        assert math.dist(*(place(world, name) for world in worlds)) < 0.02


@pytest.mark.parametrize("articulated", [True, False])
def test_an_articulation_in_free_flight_does_not_drift(articulated: bool) -> None:
    spin = (0.5, 0.7, 0.3)
    world = world_of(chain(spin=spin, articulated=articulated))
    assert world.is_reduced("/World/J0") is articulated
    start = center_of(world)
    way = np.cross(spin, start)
    run(world, 1.0)
    expected = start + way - (0, 0, 0.5 * G)
    assert np.abs(center_of(world) - expected)[:2].max() < 0.01
    assert center_of(world)[2] == pytest.approx(expected[2], abs=0.04)  # of the time step


def test_a_sleeping_articulation_sleeps_and_one_that_is_moved_goes_on_from_there() -> None:
    world = world_of(chain(asleep=True))
    run(world, 0.3)
    assert world.awake_count == 0 and place(world, "B0") == pytest.approx((0, 0, 0), abs=1e-6)
    world = world_of(chain())
    before = world.snapshot()
    moved = world.pose_joint("/World/J0", "angular", 0.6)
    assert moved
    places = {name: place(world, name).copy() for name in NAMES}
    world.step()
    assert all(math.dist(places[name], place(world, name)) < 0.01 for name in NAMES)
    run(world, 0.2)
    world.restore(before)
    assert place(world, "B2") == pytest.approx((2, 0, 0), abs=1e-6)
    run(world, 0.2)
    assert center_of(world)[2] == pytest.approx(CENTER[2] - 0.5 * G * 0.04, abs=0.02)


@pytest.mark.parametrize("center", [(0.0, 0.0, 0.0), (-0.1, 0.0, 0.1), (0.3, 0.1, -0.2)])
def test_a_link_starts_as_fast_as_its_centre_of_mass_is_told_wherever_its_origin_is(center: tuple[float, ...]) -> None:
    """A foot of a walker whose origin, joint and centre of mass are apart began with half of its speed: the solver did
    not know yet where the centre is."""
    rate, pin = 0.6, np.array((-0.2, 0.0, 0.1))
    spin = np.array((0.0, rate, 0.0))
    file = File(METERS, gravity=(0, 0, 0))
    base = file.body("Base", mass=3.0, inertia=(0.1,) * 3, collides=False, apis=["PhysicsArticulationRootAPI"])
    file.add(
        base, file.joint("Fix", "Fixed", "", "/World/Base"),
        file.body("Foot", tuple(-pin), mass=3.0, inertia=(0.005, 0.024, 0.024), center=center, collides=False,
                  velocity=tuple(np.cross(spin, center - pin)), spin=tuple(spin)),
        file.joint("Ankle", "Revolute", "/World/Base", "/World/Foot", pos1=tuple(pin), axis="Y"),
    )  # fmt: skip
    world = world_of(file)
    assert world.is_reduced("/World/Ankle")
    run(world, 0.5)
    assert world.joint_position("/World/Ankle", "angular") == pytest.approx(0.5 * rate, rel=0.01)
