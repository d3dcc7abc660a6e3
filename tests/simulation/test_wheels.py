# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot on two driven wheels and a ball without friction: it turns at r (w_right - w_left) / track."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shares import each_of
from usdphys_ext.usdphys_addon.simulation.rapier.tuning import MOST_GRIPS

from .author import CENTIMETERS, METERS, File, Units, about
from .helpers import codes, place, run, turn, world_of

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


@pytest.mark.slow
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


def skid_steer(units: Units, shape: str, half: tuple[float, float], mass: float, *, articulated: bool) -> File:
    """A robot on four driven wheels, the left ones of which turn backwards, at `half` (m) beside its middle."""
    file = File(units)
    radius = 0.4 * half[0]
    file.add(file.material("Rubber", 0.6), file.ground(material=f"{W}/Rubber", size=50))
    apis = ["PhysicsArticulationRootAPI"] if articulated else []
    file.add(file.body("Chassis", (3, 2, radius), size=(2 * half[0], half[1], 0.5 * radius), mass=mass, apis=apis))
    light = 0.05 * mass
    moments = (0.3 * light * radius**2, 0.3 * light * radius**2, 0.5 * light * radius**2)
    for name, x, y in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        at = (x * half[0], y * half[1])
        file.add(file.body(name, (3 + at[0], 2 + at[1], radius), about("X", -90), shape=shape,
                           size=(radius, 0.1 * radius), mass=light, inertia=moments, material=f"{W}/Rubber"),
                 file.joint(f"{name}Hinge", "Revolute", f"{W}/Chassis", f"{W}/{name}", pos0=(*at, 0), axis="Y",
                            rot1=about("X", 90),
                            drives={"angular": {"damping": 1e3 * mass * radius**2,
                                                "targetVelocity": -2 * y * half[0] / radius}}))  # fmt: skip
    return file


@pytest.mark.slow
@pytest.mark.parametrize("articulated", [False, True])
@pytest.mark.parametrize("shape", ["Sphere", "Cylinder"])
@pytest.mark.parametrize(("half", "mass", "units"), [((0.5, 0.4), 200.0, METERS), ((0.1, 0.15), 1.0, CENTIMETERS)])
def test_a_robot_that_skids_turns_where_its_friction_has_no_moment(
    half: tuple[float, float], mass: float, units: Units, shape: str, articulated: bool
) -> None:
    world = run(world_of(skid_steer(units, shape, half, mass, articulated=articulated)), 1.0)
    angles = [yaw(world)]
    for _ in range(60):
        world.step()
        angles.append(yaw(world))
    turned = np.unwrap(angles)
    wanted = 2 * half[0] * half[1] / (half[0] ** 2 + half[1] ** 2)
    assert turned[-1] - turned[0] == pytest.approx(wanted, rel=0.02 if shape == "Sphere" else 0.04)


@pytest.mark.parametrize("number", [MOST_GRIPS, MOST_GRIPS + 1])
def test_wheels_that_skid_as_the_solver_lets_them_are_named_because_there_are_too_many(number: int) -> None:
    file = File(METERS)
    file.add(file.body("Chassis", (0, 0, 5), size=(1, 1, 1), mass=100.0))
    for index in range(number):
        file.add(file.body(f"Wheel{index}", (0, 2 * index, 5), shape="Sphere", size=(0.1,), mass=1.0),
                 file.joint(f"Hinge{index}", "Revolute", f"{W}/Chassis", f"{W}/Wheel{index}", pos0=(0, 2 * index, 0),
                            axis="Y", drives={"angular": {"damping": 1.0, "targetVelocity": 1.0}}))  # fmt: skip
    world = world_of(file)
    assert ("WheelsTooMany" in codes(world)) == (number > MOST_GRIPS)
    if number > MOST_GRIPS:
        (notice,) = [issue for issue in world.notices if issue.code == "WheelsTooMany"]
        assert notice.path == f"{W}/Wheel0" and f"{number} driven wheels" in notice.message


def rovers(count: int, damping: float, *, articulated: bool) -> File:
    """Robots on four wheels of cylinders, beside each other, each ahead; driven as stiffly as files of robots say."""
    file = File()
    file.add(file.material("Rubber", 0.8), file.ground(material=f"{W}/Rubber"))
    apis = ["PhysicsArticulationRootAPI"] if articulated else []
    for number in range(count):
        side = 3.0 * number
        chassis = f"Chassis{number}"
        file.add(file.body(chassis, (0, side, 0.17), size=(0.6, 0.36, 0.1), mass=10.0, apis=apis,
                           material=f"{W}/Rubber"))  # fmt: skip
        for wheel, (x, y) in enumerate(((0.2, 0.23), (0.2, -0.23), (-0.2, 0.23), (-0.2, -0.23))):
            name = f"Wheel{number}_{wheel}"
            file.add(
                file.body(name, (x, side + y, 0.1), about("X", -90), shape="Cylinder", size=(0.1, 0.06), mass=1.0,
                          material=f"{W}/Rubber"),
                file.joint(f"{name}Axle", "Revolute", f"{W}/{chassis}", f"{W}/{name}", pos0=(x, y, -0.07), axis="Y",
                           rot1=about("X", 90),
                           drives={"angular": {"damping": damping, "targetVelocity": 2 * math.pi}}),
            )  # fmt: skip
    return file


@pytest.mark.slow
def test_a_robot_rolls_on_however_many_are_beside_it() -> None:
    """In a world of all wheels, its way would depend on the number of theirs."""
    ways = []
    for count in (1, 3):
        world = run(world_of(rovers(count, 6e6, articulated=True)), 1.5)
        ways.append(np.append(place(world, "Chassis0"), turn(world, "Chassis0")))
    assert ways[1] == pytest.approx(ways[0], abs=1e-6)


def roll_ahead(count: int, damping: float, quality: str, *, articulated: bool) -> None:
    world = run(world_of(rovers(count, damping, articulated=articulated), quality=quality), 1.0)
    names = [f"Chassis{number}" for number in range(count)]
    starts = [place(world, name).copy() for name in names]
    highest = 0.0
    for _ in range(180):
        world.step()
        highest = max(highest, *(place(world, name)[2] for name in names))
    for name, start in zip(names, starts, strict=True):
        way = place(world, name) - start
        assert way[0] == pytest.approx(3 * 0.1 * 2 * math.pi, rel=0.03) and abs(way[1]) < 0.03
    assert highest < 0.175


#: Each quality with each of two others.
ROVERS = [
    (count, damping, articulated, ("draft", "normal", "exact")[(row + column + articulated) % 3])
    for row, count in enumerate((1, 2, 4))
    for column, damping in enumerate((600.0, 6e4, 6e6))
    for articulated in (False, True)
]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "damping", "articulated", "quality"), each_of(ROVERS, 5))
def test_stiff_wheels_roll_and_do_not_rear_up(count: int, damping: float, articulated: bool, quality: str) -> None:
    roll_ahead(count, damping, quality, articulated=articulated)


@pytest.mark.slow
def test_two_robots_with_stiff_wheels_roll_ahead() -> None:
    """The second one, 3 m from the origin, leapt by 36 mm: there the contacts are rounded otherwise."""
    roll_ahead(2, 6e4, "normal", articulated=False)
