# SPDX-License-Identifier: GPL-3.0-or-later
"""Belts side by side and in a row: kinematic bodies that stand still are a floor, whose surfaces may run."""

from __future__ import annotations

import math

import pytest

from .author import CENTIMETERS, METERS, File, Units, about, prism
from .helpers import place, run, turn, world_of

FRICTION = 0.5


def belt(file: File, name: str, middle: tuple[float, float, float], size: tuple[float, float], speed: float) -> str:
    """A belt 0.2 m thick, its top 0.1 m above the middle, that runs along X."""
    lines = [f"vector3f physxSurfaceVelocity:surfaceVelocity = ({file.length(speed)}, 0, 0)",
             "bool physxSurfaceVelocity:surfaceVelocityLocalSpace = 1"]  # fmt: skip
    return file.body(name, middle, size=(*size, 0.2), kinematic=True, material="/World/Stuff",
                     apis=["PhysxSurfaceVelocityAPI"] if speed else [], extra=lines if speed else [])  # fmt: skip


def parcel(file: File, kind: str, start: tuple[float, float, float], speed: float) -> str:
    """0.3 m wide and 0.2 m high."""
    options = {"mass": 4.0, "velocity": (speed, 0, 0), "material": "/World/Stuff"}
    if kind == "hull":
        points, faces = prism(6, 0.15, 0.2)
        return file.body("Parcel", start, geometry=file.mesh("Shape", points, faces, "convexHull",
                                                             material="/World/Stuff"), **options)  # fmt: skip
    return file.body("Parcel", start, shape=kind, size=(0.15, 0.2) if kind == "Cylinder" else (0.3, 0.2, 0.2),
                     **options)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("rate", [24, 60, 120])
@pytest.mark.parametrize(("kind", "first", "second"), [
    ("Cube", 0.7, 2.0), ("Cube", 0.4, 0.4), ("Cylinder", 0.9, 1.5), ("hull", 1.2, 0.5),
])  # fmt: skip
def test_a_parcel_goes_from_belt_to_belt(kind: str, first: float, second: float, rate: int, units: Units) -> None:
    """It stood still at the side of the second one, which is as high as the first."""
    file = File(units)
    file.add(file.material("Stuff", FRICTION), belt(file, "One", (-3, 0, -0.1), (6, 2), first),
             belt(file, "Two", (3, 0, -0.1), (6, 2), second),
             parcel(file, kind, (-0.6, 0, 0.1), first))  # fmt: skip
    world = world_of(file, time_step=1.0 / rate)
    # Over the seam, and until it has the speed of the second.
    run(world, 1.0 / first + abs(second - first) / (FRICTION * 9.81) + 0.5)
    row = world.paths.index("/World/Parcel")
    assert world.positions[row, 0] > 0.15
    assert world.velocities()[0][row, 0] == pytest.approx(second, rel=0.02)
    assert abs(world.positions[row, 1]) < 0.02 and abs(world.positions[row, 2] - 0.1) < 0.003


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("rate", [30, 60, 120])
def test_a_parcel_across_belts_that_run_against_each_other_turns_on_the_spot(rate: int, units: Units) -> None:
    """It did not turn: friction of whole pairs holds its turn and its slip by themselves."""
    file = File(units)
    file.add(file.material("Stuff", FRICTION), belt(file, "Left", (0, 0.5, -0.1), (8, 1), 0.8),
             belt(file, "Right", (0, -0.5, -0.1), (8, 1), -0.8),
             file.body("Parcel", (0, 0, 0.1), size=(0.6, 0.6, 0.2), mass=4.0, material="/World/Stuff"))  # fmt: skip
    world = world_of(file, time_step=1.0 / rate)
    run(world, 1.0)
    # With even pressure it would be 1.9, with that of the corners on each belt 1.3.
    angle = -math.atan2(turn(world, "Parcel")[1, 0], turn(world, "Parcel")[0, 0])
    assert 0.6 < angle < 2.0
    run(world, 0.5)
    assert math.hypot(*place(world, "Parcel")[:2]) < 0.02


@pytest.mark.slow
def test_a_belt_that_is_higher_stops_a_parcel() -> None:
    file = File()
    file.add(file.material("Stuff", FRICTION), belt(file, "One", (-3, 0, -0.1), (6, 2), 0.8),
             belt(file, "Two", (3, 0, -0.06), (6, 2), 0.8), parcel(file, "Cube", (-0.6, 0, 0.1), 0.8))  # fmt: skip
    world = run(world_of(file), 2.0)
    assert place(world, "Parcel")[0] == pytest.approx(-0.15, abs=0.01)


@pytest.mark.slow
def test_a_board_that_comes_up_beside_another_is_a_wall() -> None:
    """It was part of the floor, until it moved."""
    file = File()
    file.add(file.material("Stuff", 0.05), belt(file, "One", (-3, 0, -0.1), (6, 2), 0.0),
             belt(file, "Two", (3, 0, -0.1), (6, 2), 0.0), parcel(file, "Cube", (-2.0, 0, 0.1), 2.0))  # fmt: skip
    world = world_of(file)
    for _ in range(180):
        raised = min(0.3, world.time + world.time_step)
        world.set_kinematic_pose("/World/Two", (3, 0, -0.1 + raised), about("Z", 0))
        world.step()
    assert place(world, "Parcel")[0] < -0.14
