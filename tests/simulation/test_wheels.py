# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot on two driven wheels and a ball without friction: it turns at r (w_right - w_left) / track."""

from __future__ import annotations

import math

import pytest

from .author import CENTIMETERS, METERS, File, Units
from .helpers import place, run, turn, world_of

W = "/World"
RADIUS, TRACK = 0.1, 0.4


def robot(units: Units, left: float, right: float, *, articulated: bool) -> File:
    file = File(units)
    file.add(file.material("Rubber", 1.0), file.material("Ice", 0.0), file.ground(material=f"{W}/Rubber"))
    caster = file.shape("Caster", "Sphere", (RADIUS,), (-0.15, 0, -0.05), material=f"{W}/Ice")
    apis = ["PhysicsArticulationRootAPI"] if articulated else []
    parts = [file.body("Chassis", (0, 0, 0.15), collides=False, children=[caster], mass=5.0, center=(-0.05, 0, 0),
                       inertia=(0.05, 0.08, 0.1), apis=apis)]  # fmt: skip
    for name, side, speed in (("Left", 1, left), ("Right", -1, right)):
        y = side * TRACK / 2
        parts.append(file.body(name, (0, y, RADIUS), shape="Sphere", size=(RADIUS,), mass=0.5, inertia=(0.002,) * 3,
                               material=f"{W}/Rubber"))  # fmt: skip
        drive = {"damping": 20.0, "targetVelocity": speed}
        parts.append(file.joint(f"{name}Hinge", "Revolute", f"{W}/Chassis", f"{W}/{name}", pos0=(0, y, -0.05), axis="Y",
                                drives={"angular": drive}))  # fmt: skip
    return file.add(*parts)


def yaw(world) -> float:
    matrix = turn(world, "Chassis")
    return math.atan2(matrix[1, 0], matrix[0, 0])


@pytest.mark.parametrize("articulated", [False, True])
@pytest.mark.parametrize(("left", "right"), [(2.0, 4.0), (-3.0, 3.0), (5.0, 2.0), (3.0, 3.0)])
@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_a_differential_drive_turns_as_its_wheels_roll(
    units: Units, left: float, right: float, articulated: bool
) -> None:
    world = run(world_of(robot(units, left, right, articulated=articulated)), 1.0)
    before, start = yaw(world), place(world, "Chassis").copy()
    run(world, 1.0)
    rate, speed = RADIUS * (right - left) / TRACK, RADIUS * (left + right) / 2
    assert yaw(world) - before == pytest.approx(rate, rel=0.02, abs=0.005)
    # The middle between the wheels goes along an arc, of which this is the chord.
    chord = speed if rate == 0 else 2 * speed / rate * math.sin(rate / 2)
    way = place(world, "Chassis") - start
    assert math.hypot(way[0], way[1]) == pytest.approx(abs(chord), rel=0.03, abs=0.005)
