# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints against what a textbook says, in two unit systems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import joint_kinds
from usdphys_ext.usdphys_addon.core.frames import matrix_of
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.simulation.articulations import trees_of
from usdphys_ext.usdphys_addon.simulation.joint_facts import read_joints
from usdphys_ext.usdphys_addon.simulation.layout import layout
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier.grab import pull
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, DEGREE, INF, METERS, UNITS, File, Units, Vector, about, block
from .catalogue import NEVER, ROD, SCENES
from .helpers import apart, codes, made, model_in, place, run, turn, world_of

G = 9.81
W = "/World"
LINEAR = ("transX", "transY", "transZ")
BALL = {"shape": "Sphere", "size": (0.1,), "inertia": (0.01, 0.01, 0.01)}


def tilt(world, name: str, axis: int = 2) -> float:
    """Radians between an axis of a body and the same axis of the world."""
    return math.acos(min(1.0, max(-1.0, turn(world, name)[axis, axis])))


# --------------------------------------------------------------------------- hinges and pendulums


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_period_of_a_physical_pendulum(axis: str) -> None:
    """omega^2 = m g l / (I + m l^2), whatever the axis of the joint is called."""
    file = File(CENTIMETERS)
    # Turns the joint's own axis into the world's Y.
    frame = {"X": about("Z", 90), "Y": (1, 0, 0, 0), "Z": about("X", -90)}[axis]
    mass, length, moment = 2.0, 0.8, 0.1
    start = about("Y", 5)
    angle = 5 * DEGREE
    position = (-length * math.sin(angle), 0, 3 - length * math.cos(angle))
    file.add(file.body("Bob", position, start, size=(0.2, 0.2, 0.2), mass=mass, inertia=(moment,) * 3))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Bob", pos0=(0, 0, 3), rot0=frame, pos1=(0, 0, length),
                        rot1=frame, axis=axis))  # fmt: skip
    world = world_of(file)
    omega = math.sqrt(mass * G * length / (moment + mass * length**2))
    times, last = [], place(world, "Bob")[0]
    for _ in range(300):
        world.step()
        now = place(world, "Bob")[0]
        if last * now < 0:
            times.append(world.time - world.time_step * now / (now - last))
        last = now
    assert (times[2] - times[0]) * omega / (2 * math.pi) == pytest.approx(1 + angle**2 / 16, rel=0.005)


def test_hinge_angle_and_limits() -> None:
    world = run(made(SCENES["revolute_limit"], CENTIMETERS), 3.0)
    # The rod falls about +Y until its upper limit.
    assert world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(0.5, abs=0.01)
    assert place(world, "Rod") == pytest.approx((0.5 * math.cos(0.5), 0, 3 - 0.5 * math.sin(0.5)), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [(100, 260), (-400, -300), (-200, 170), (30, INF)])
def test_limits_that_are_not_around_zero(limits: tuple[float, float]) -> None:
    """Turned by a drive to the end of its limits, also beyond half a turn."""
    low, high = (value * DEGREE for value in limits)
    for target in (low - 1.0, high + 1.0):
        if not math.isfinite(target):
            continue
        file = File(CENTIMETERS)
        file.gravity = (0, 0, 0)
        middle = (low + high) / 2 if math.isfinite(high) else low + 0.5
        file.add(file.body("Wheel", rotation=about("Z", middle / DEGREE), inertia=(0.1, 0.1, 0.1)))
        file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", axis="Z", low=low, high=high,
                            drives={"angular": {"targetVelocity": math.copysign(2.0, target - middle),
                                                "damping": 5.0}}))  # fmt: skip
        world = run(world_of(file), 4.0)
        end = low if target < middle else high
        angle = math.atan2(turn(world, "Wheel")[1, 0], turn(world, "Wheel")[0, 0])
        assert math.remainder(angle - end, 2 * math.pi) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(("limits", "start"), [((200, 700), 210), ((-700, -200), -210), ((-200, 300), -170)])
@pytest.mark.parametrize("way", [1, -1])
def test_limits_beyond_a_turn_are_counted_from_where_the_hinge_is(
    limits: tuple[float, float], start: float, way: int
) -> None:
    """A hinge at -150 degrees whose limits begin at 200 degrees is at 210."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Wheel", rotation=about("Z", start), inertia=(0.1, 0.1, 0.1)))
    low, high = (value * DEGREE for value in limits)
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", axis="Z", low=low, high=high,
                        drives={"angular": {"targetVelocity": 3.0 * way, "damping": 5.0}}))  # fmt: skip
    world = world_of(file)
    turned, last = 0.0, world.joint_position(f"{W}/Hinge", "angular")
    for _ in range(240):
        world.step()
        angle = world.joint_position(f"{W}/Hinge", "angular")
        turned += math.remainder(angle - last, 2 * math.pi)
        last = angle
    assert turned == pytest.approx((high if way > 0 else low) - start * DEGREE, abs=0.03)


def test_drive_to_more_than_a_turn() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Wheel", inertia=(0.1, 0.1, 0.1)))
    file.add(
        file.joint(
            "Hinge",
            "Revolute",
            "",
            f"{W}/Wheel",
            axis="Z",
            drives={"angular": {"targetPosition": 500 * DEGREE, "stiffness": 10.0, "damping": 2.0}},
        )
    )
    world = world_of(file)
    turned, last = 0.0, 0.0
    for _ in range(240):
        world.step()
        angle = world.joint_position(f"{W}/Hinge", "angular")
        turned += math.remainder(angle - last, 2 * math.pi)
        last = angle
    assert turned == pytest.approx(500 * DEGREE, abs=0.02)


# --------------------------------------------------------------------------- sliders, fixed, spherical


def test_slider_falls_along_its_axis_to_its_limit() -> None:
    file = File(CENTIMETERS)
    rotation = about("Y", 30)
    file.add(file.body("Slider", (0, 0, 2), rotation))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(0, 0, 2), rot0=rotation, axis="X",
                        low=-1, high=1))  # fmt: skip
    world = run(world_of(file), 0.5)
    way = G / 2 * math.sin(30 * DEGREE) * 0.25
    along = np.array((math.cos(30 * DEGREE), 0, -math.sin(30 * DEGREE)))
    assert place(world, "Slider") == pytest.approx(np.array((0, 0, 2)) + way * along, abs=0.01)
    run(world, 1.5)
    assert place(world, "Slider") == pytest.approx(np.array((0, 0, 2)) + along, abs=0.005)
    assert world.joint_position(f"{W}/Rail", "linear") == pytest.approx(1.0, abs=0.005)


def test_fixed_joint_holds_place_and_orientation() -> None:
    file = File(CENTIMETERS)
    rotation = about("X", 35)
    file.add(file.body("Load", (1, 0, 3), rotation, mass=10.0))
    file.add(file.joint("Weld", "Fixed", "", f"{W}/Load", pos0=(0, 0, 3), rot0=rotation, pos1=(-1, 0, 0)))
    world = run(world_of(file), 2.0)
    assert place(world, "Load") == pytest.approx((1, 0, 3), abs=0.005)
    assert turn(world, "Load")[2, 2] == pytest.approx(math.cos(35 * DEGREE), abs=0.005)


@pytest.mark.parametrize("direction", [0, 45, 90, 200, 290])
def test_cone_is_round(direction: float) -> None:
    """Pulled sideways in any direction, a cone of 40 degrees ends at 40 degrees."""
    file = File(CENTIMETERS)
    x, y = math.cos(direction * DEGREE), math.sin(direction * DEGREE)
    file.gravity = (20 * x, 20 * y, -5)
    file.add(file.body("Bob", (0, 0, 2), **BALL))
    file.add(file.joint("Cone", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Z",
                        cone=(40 * DEGREE, 40 * DEGREE)))  # fmt: skip
    world = run(world_of(file), 3.0)
    assert tilt(world, "Bob") / DEGREE == pytest.approx(40, abs=1.0)


@pytest.mark.parametrize(("direction", "expected"), [(0, 20), (90, 50), (180, 20), (270, 50), (45, None)])
def test_cone_of_two_angles_is_an_ellipse(direction: float, expected: float | None) -> None:
    """Axis Z: the first angle is towards X, the next axis, and the second towards Y."""
    file = File(CENTIMETERS)
    x, y = math.cos(direction * DEGREE), math.sin(direction * DEGREE)
    file.gravity = (20 * x, 20 * y, 0)
    file.add(file.body("Bob", (0, 0, 2), **BALL))
    file.add(file.joint("Cone", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Z",
                        cone=(20 * DEGREE, 50 * DEGREE)))  # fmt: skip
    world = run(world_of(file), 4.0)
    hanging = np.array((0, 0, 3)) - place(world, "Bob")
    if expected is not None:
        assert tilt(world, "Bob") / DEGREE == pytest.approx(expected, abs=1.5)
    else:
        toward = np.degrees(np.arccos(hanging[2])) * hanging[:2] / np.linalg.norm(hanging[:2])
        assert math.hypot(toward[0] / 20, toward[1] / 50) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("towards", [0, 1])
@pytest.mark.parametrize("other", [-1.0, 0.0])
def test_a_cone_of_one_angle_leaves_the_other_direction_free_or_shut(towards: int, other: float) -> None:
    """20 degrees one way; the other way without a limit, or without any play. Axis Z: X comes first, then Y."""
    cone = [other, other]
    cone[towards] = 20 * DEGREE
    tilts = []
    for pulled in (towards, 1 - towards):
        file = File(CENTIMETERS)
        gravity = [0.0, 0.0, -2.0]
        gravity[pulled] = 20.0
        file.gravity = gravity
        file.add(file.body("Bob", (0, 0, 2), **BALL))
        file.add(file.joint("Cone", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Z", cone=cone))
        world = world_of(file)
        tilts.append(max(tilt(run(world, 0.1), "Bob") / DEGREE for _ in range(20)))
    assert tilts[0] == pytest.approx(20, abs=1.5)
    assert tilts[1] > 45 if other < 0 else tilts[1] < 1.5


def test_a_cone_without_any_angle_keeps_its_axis() -> None:
    file = File(CENTIMETERS)
    file.gravity = (20, 10, -2)
    file.add(file.body("Bob", (0, 0, 2), **BALL, spin=(0, 0, 3)))
    file.add(file.joint("Cone", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Z", cone=(0, 0)))
    world = run(world_of(file), 0.5)
    assert tilt(world, "Bob") / DEGREE < 1.0
    # It turns about that axis all the same.
    assert abs(math.atan2(turn(world, "Bob")[1, 0], turn(world, "Bob")[0, 0])) > 1.0


def test_free_ball_joint_has_no_cone() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 9.81)
    file.add(file.body("Bob", (0, 0.01, 2), **BALL))
    file.add(file.joint("Free", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, -0.01, 1), axis="Z",
                        cone=(-1, -1)))  # fmt: skip
    highest = max(place(run(world, 0.05), "Bob")[2] for world in [world_of(file)] * 60)
    assert highest > 3.9


# --------------------------------------------------------------------------- distance


def test_rope_and_strut() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Hanging", (0.3, 0, 2.5), **BALL), file.body("Standing", (0, 5, 3), **BALL))
    file.add(
        file.joint("Rope", "Distance", "", f"{W}/Hanging", pos0=(0, 0, 3), distance=(-1, 1.2)),
        file.joint("Strut", "Distance", "", f"{W}/Standing", pos0=(0, 5, 1), distance=(0.7, -1)),
    )  # fmt: skip
    world = world_of(file)
    for _ in range(240):
        world.step()
        rope = np.linalg.norm(place(world, "Hanging") - (0, 0, 3))
        strut = np.linalg.norm(place(world, "Standing") - (0, 5, 1))
        assert rope < 1.205
        assert strut > 0.695
        assert world.joint_position(f"{W}/Rope", "distance") == pytest.approx(rope, abs=1e-5)
    assert strut == pytest.approx(0.7, abs=0.005)


def test_a_rope_lets_its_ends_pass_each_other() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Bob", (-0.5, 0, 3), **BALL, velocity=(1, 0, 0)))
    file.add(file.joint("Rope", "Distance", "", f"{W}/Bob", pos0=(0, 0, 3), distance=(-1, 2.0)))
    assert place(run(world_of(file), 1.0), "Bob") == pytest.approx((0.5, 0, 3), abs=0.01)


def test_distance_of_equal_limits_is_a_rod() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Bob", (1, 0, 3), **BALL, velocity=(0, 3, 0)))
    file.add(file.joint("Rod", "Distance", "", f"{W}/Bob", pos0=(0, 0, 3), distance=(1, 1)))
    world = world_of(file)
    for _ in range(180):
        world.step()
        assert np.linalg.norm(place(world, "Bob") - (0, 0, 3)) == pytest.approx(1.0, abs=0.01)


def test_struts_between_two_bodies_push_both() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("A", (0, 0, 0), **BALL, velocity=(1, 0, 0)), file.body("B", (1, 0, 0), **BALL, mass=3.0))
    file.add(file.joint("Strut", "Distance", f"{W}/A", f"{W}/B", distance=(0.5, -1)))
    world = run(world_of(file), 2.0)
    a, b = place(world, "A")[0], place(world, "B")[0]
    assert b - a == pytest.approx(0.5, abs=0.01)
    assert a + 3 * b == pytest.approx(3 + 2.0, abs=0.01)


# --------------------------------------------------------------------------- generic


def test_generic_joint_with_any_mix() -> None:
    """Slides along X within limits, turns about X with limits, all else locked."""
    file = File(CENTIMETERS)
    file.gravity = (3, 0, -9.81)
    file.add(file.body("Thing", (0, 0, 2), center=(0, 0.1, 0), mass=2.0, inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("D6", "D6", "", f"{W}/Thing", pos0=(0, 0, 2), limits={
        "transX": (-1, 0.4), "transY": NEVER, "transZ": NEVER, "rotX": (-0.7, 0.7), "rotY": NEVER, "rotZ": NEVER,
    }))  # fmt: skip
    world = run(world_of(file), 4.0)
    assert place(world, "Thing") == pytest.approx((0.4, 0, 2), abs=0.005)
    assert world.joint_position(f"{W}/D6", "rotX") == pytest.approx(-0.7, abs=0.02)
    assert world.joint_position(f"{W}/D6", "transX") == pytest.approx(0.4, abs=0.005)


@pytest.mark.parametrize("dof", ["rotX", "rotY", "rotZ"])
def test_generic_hinge_about_each_axis(dof: str) -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    others = [name for name in ("rotX", "rotY", "rotZ") if name != dof]
    file.add(file.body("Wheel", inertia=(0.1, 0.2, 0.3)))
    file.add(file.joint("D6", "D6", "", f"{W}/Wheel", limits=dict.fromkeys((*LINEAR, *others), NEVER),
                        drives={dof: {"targetVelocity": 1.5, "damping": 20.0}}))  # fmt: skip
    world = run(world_of(file), 1.0)
    axis = "xyz".index(dof[-1].lower())
    assert world.joint_position(f"{W}/D6", dof) == pytest.approx(1.5, abs=0.03)
    assert turn(world, "Wheel")[axis, axis] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_generic_joint_slides_along_one_axis_and_turns_about_another(axis: int) -> None:
    """Its limits and positions are those of the axis that they name, whichever axis is the free one."""
    slide, hinge = "XYZ"[(axis + 1) % 3], "XYZ"[axis]
    limits = {**dict.fromkeys((*LINEAR, "rotX", "rotY", "rotZ"), NEVER), f"trans{slide}": (-0.4, 0.25)}
    del limits[f"rot{hinge}"]
    file = File(CENTIMETERS)
    gravity = [0.0, 0.0, 0.0]
    gravity["XYZ".index(slide)] = 5.0
    file.gravity = gravity
    file.add(file.body("Thing", inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("D6", "D6", "", f"{W}/Thing", limits=limits,
                        drives={f"rot{hinge}": {"targetVelocity": 1.0, "damping": 20.0}}))  # fmt: skip
    world = run(world_of(file), 1.0)
    expected = np.zeros(3)
    expected["XYZ".index(slide)] = 0.25
    assert place(world, "Thing") == pytest.approx(expected, abs=0.005)
    found = world.joint_positions()[f"{W}/D6"]
    assert found == pytest.approx({f"trans{slide}": 0.25, f"rot{hinge}": 1.0}, abs=0.03)
    assert world.joint_range(f"{W}/D6", f"trans{slide}") == pytest.approx((-0.4, 0.25))


def test_equal_limits_of_a_generic_joint_hold_it_there() -> None:
    """Locked is what has its lower limit above the upper one; that would be at zero."""
    file = File(CENTIMETERS)
    file.add(file.body("Thing", inertia=(0.1, 0.1, 0.1), center=(0, 0.2, 0)))
    limits = {**dict.fromkeys((*LINEAR, "rotX", "rotY", "rotZ"), NEVER), "transY": (0.5, 0.5), "rotX": (0.3, 0.3)}
    file.add(file.joint("D6", "D6", "", f"{W}/Thing", limits=limits))
    world = run(world_of(file), 2.0)
    assert place(world, "Thing") == pytest.approx((0, 0.5, 0), abs=0.01)
    assert world.joint_positions()[f"{W}/D6"] == pytest.approx({"transY": 0.5, "rotX": 0.3}, abs=0.01)


def test_generic_joint_without_limits_is_free() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Ball", (0, 0, 9), **BALL))
    file.add(file.joint("Free", "D6", "", f"{W}/Ball", pos0=(0, 0, 9)))
    world = run(world_of(file), 1.0)
    assert place(world, "Ball")[2] == pytest.approx(9 - G / 2, abs=0.02)


def test_generic_distance_limit() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Bob", (0.5, 0, 3), **BALL))
    file.add(file.joint("D6", "D6", "", f"{W}/Bob", pos0=(0, 0, 3), limits={"distance": (0.2, 0.8)}))
    world = run(world_of(file), 6.0)
    assert np.linalg.norm(place(world, "Bob") - (0, 0, 3)) == pytest.approx(0.8, abs=0.01)


def test_a_generic_joint_with_a_smallest_distance_alone_has_no_largest() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Falls", (0, 0, 2), **BALL), file.body("Stands", (0, 9, 4), **BALL))
    file.add(file.joint("Below", "D6", "", f"{W}/Falls", pos0=(0, 0, 3), limits={"distance": (0.2, INF)}))
    file.add(file.joint("Above", "D6", "", f"{W}/Stands", pos0=(0, 9, 3), limits={"distance": (0.7, INF)}))
    world = run(world_of(file), 2.0)
    assert place(world, "Falls")[2] == pytest.approx(2 - G * 2, abs=0.1)
    assert place(world, "Stands")[2] == pytest.approx(3.7, abs=0.01)


# --------------------------------------------------------------------------- drives


def swing(kind: str, type_: str, mass: float, ratio: float, seconds: float = 4.0) -> np.ndarray:
    """Positions of a drive of 1 Hz with this damping ratio, from 0 to a target of 0.5."""
    rate = 2 * math.pi
    gain = mass if type_ == "force" else 1.0
    drive = {"type": type_, "stiffness": gain * rate**2, "damping": gain * 2 * ratio * rate, "targetPosition": 0.5}
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Thing", mass=mass, inertia=(mass,) * 3))
    dof = "linear" if kind == "Prismatic" else "angular"
    file.add(file.joint("Joint", kind, "", f"{W}/Thing", axis="X", drives={dof: drive}))
    world = world_of(file)
    values = []
    for _ in range(round(seconds * 60)):
        world.step()
        values.append(world.joint_position(f"{W}/Joint", dof))
    return np.array(values)


@pytest.mark.parametrize(
    ("kind", "type_", "ratio"),
    [("Prismatic", "force", 0.1), ("Prismatic", "acceleration", 0.3), ("Revolute", "force", 0.3),
     ("Revolute", "acceleration", 0.1)],
)  # fmt: skip
def test_drive_frequency_and_overshoot(kind: str, type_: str, ratio: float) -> None:
    values = swing(kind, type_, 3.0, ratio)
    root = math.sqrt(1 - ratio**2)
    peak = int(values[:60].argmax())
    assert values[peak] / 0.5 - 1 == pytest.approx(math.exp(-math.pi * ratio / root), abs=0.03)
    assert (peak + 1) / 60 == pytest.approx(0.5 / root, abs=0.02)
    assert values[-1] == pytest.approx(0.5, abs=0.06)


def test_force_drive_feels_the_mass_and_acceleration_drive_does_not() -> None:
    light, heavy = (swing("Prismatic", "acceleration", mass, 0.2) for mass in (1.0, 40.0))
    assert light == pytest.approx(heavy, abs=2e-3)
    file = File()
    file.gravity = (0, 0, 0)
    for name, mass in (("Light", 1.0), ("Heavy", 4.0)):
        file.add(file.body(name, mass=mass, collides=False))
        file.add(file.joint(f"Rail{name}", "Prismatic", "", f"{W}/{name}", axis="X",
                            drives={"linear": {"stiffness": 10.0, "targetPosition": 1.0}}))  # fmt: skip
    world = run(world_of(file), 0.2)
    assert place(world, "Light")[0] / place(world, "Heavy")[0] == pytest.approx(4.0, rel=0.05)


def test_max_force_of_a_drive() -> None:
    world = run(made(SCENES["drive_max_force"], CENTIMETERS), 1.0)
    assert place(world, "Lift")[2] == pytest.approx(5 - (G - 5.0 / 2.0) / 2, abs=0.02)


def test_a_drive_of_no_force_does_nothing() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Slider", velocity=(0.5, 0, 0)))
    drive = {"stiffness": 100.0, "damping": 100.0, "targetPosition": 5.0, "maxForce": 0.0}
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", axis="X", drives={"linear": drive}))
    assert place(run(world_of(file), 1.0), "Slider")[0] == pytest.approx(0.5, abs=1e-3)


def test_max_torque_of_a_drive() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Wheel", inertia=(0.5, 0.5, 0.5)))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", axis="Y",
                        drives={"angular": {"targetVelocity": 100.0, "damping": 1e3, "maxForce": 0.4}}))  # fmt: skip
    world = run(world_of(file), 1.0)
    assert world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(0.5 * 0.4 / 0.5, abs=0.01)


def test_distance_drive_is_a_spring() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Bob", (0, 0, 2), mass=2.0, **BALL))
    file.add(file.joint("Spring", "Distance", "", f"{W}/Bob", pos0=(0, 0, 3), distance=(-1, -1),
                        drives={"distance": {"stiffness": 100.0, "damping": 20.0, "targetPosition": 1.0}}))  # fmt: skip
    world = run(world_of(file), 3.0)
    assert place(world, "Bob")[2] == pytest.approx(2 - 2 * G / 100, abs=0.005)


def test_drives_change_live() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Slider", mass=2.0))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", axis="X", low=-3, high=3))
    world = world_of(file)
    world.set_drive(f"{W}/Rail", "linear", stiffness=200.0, damping=40.0, target_position=0.7)
    assert place(run(world, 2.0), "Slider")[0] == pytest.approx(0.7, abs=0.01)
    world.set_drive(f"{W}/Rail", "linear", target_position=-0.3)
    assert place(run(world, 2.0), "Slider")[0] == pytest.approx(-0.3, abs=0.01)
    world.set_drive(f"{W}/Rail", "linear", stiffness=0.0, damping=1e4, target_velocity=0.5)
    assert place(run(world, 1.0), "Slider")[0] == pytest.approx(0.2, abs=0.02)
    world.set_drive(f"{W}/Rail", "linear", type="acceleration", max_force=0.0)
    with pytest.raises(KeyError):
        world.set_drive(f"{W}/Rail", "angular", stiffness=1.0)
    with pytest.raises(KeyError):
        world.set_drive(f"{W}/Nothing", "linear", stiffness=1.0)


# --------------------------------------------------------------------------- enabling, breaking


def test_joint_that_is_off_does_not_hold() -> None:
    file = File(CENTIMETERS)
    off = "bool physics:jointEnabled = 0"
    file.add(file.body("Load", (0, 0, 9)))
    file.add(file.joint("Weld", "Fixed", "", f"{W}/Load", pos0=(0, 0, 9), lines=[off]))
    world = run(world_of(file), 0.5)
    assert place(world, "Load")[2] == pytest.approx(9 - G / 8, abs=0.02)
    world.set_joint_enabled(f"{W}/Weld", True)
    run(world, 3.0)
    assert place(world, "Load")[2] == pytest.approx(9, abs=0.01)
    world.set_joint_enabled(f"{W}/Weld", False)
    run(world, 0.5)
    assert place(world, "Load")[2] == pytest.approx(9 - G / 8, abs=0.03)


def test_a_strut_that_is_off_or_broken_does_not_push() -> None:
    file = File(CENTIMETERS)
    off = ["bool physics:jointEnabled = 0"]
    for name, x, options in (("Off", 0, {"lines": off}), ("Broken", 5, {"break_force": 1.0}), ("On", 9, {})):
        file.add(file.body(name, (x, 0, 3), **BALL))
        file.add(file.joint(f"Strut{name}", "Distance", "", f"{W}/{name}", pos0=(x, 0, 1), distance=(1.5, -1),
                            **options))  # fmt: skip
    world = run(world_of(file), 1.5)
    assert world.broken_joints == (f"{W}/StrutBroken",)
    assert place(world, "Off")[2] == pytest.approx(3 - G / 2 * 1.5**2, abs=0.1)
    assert place(world, "Broken")[2] < 0
    assert place(world, "On")[2] == pytest.approx(2.5, abs=0.01)


@pytest.mark.parametrize("collides", [False, True])
def test_jointed_bodies_collide_only_when_told(collides: bool) -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    lines = [f"bool physics:collisionEnabled = {int(collides)}"]
    file.add(file.body("A", (0, 0, 0)), file.body("B", (0.5, 0, 0)))
    file.add(file.joint("Rail", "Prismatic", f"{W}/A", f"{W}/B", axis="X", lines=lines))
    world = run(world_of(file), 2.0)
    gap = place(world, "B")[0] - place(world, "A")[0]
    assert gap == pytest.approx(0.5, abs=0.01) if not collides else gap > 0.9
    if not collides:
        # Without the joint they push each other away.
        world.set_joint_enabled(f"{W}/Rail", False)
        run(world, 1.0)
        assert np.linalg.norm(place(world, "B") - place(world, "A")) > 0.9


def two_boxes_on_hinges(
    place: tuple[float, float, float], collides: bool, kind: str = "Revolute", spin: float = 0.0
) -> World:
    """They hang below a static one, from edges (or corners) that both of a pair have. spin: of the lower one, rad/s."""
    x, y, z = place
    file = File()
    file.add(file.shape("Post", "Cube", (0.5, 0.5, 0.5), place))
    names = ("Post", "Upper", "Lower")
    for number, side in ((1, 0.25), (2, -0.25)):
        above, name = names[number - 1 : number + 1]
        file.add(file.body(name, (x, y, z - 0.5 * number), size=(0.5, 0.5, 0.5),
                           spin=(0.0, spin, 0.0) if name == "Lower" else None))  # fmt: skip
        corner = np.array((side, 0.0 if kind == "Revolute" else side, 0.25))
        # The post is a cube that is scaled to its size.
        below = corner * (1, 1, -1) / (0.5 if number == 1 else 1.0)
        file.add(file.joint(f"{name}Hinge", kind, f"{W}/{above}", f"{W}/{name}", axis="Y", pos0=below, pos1=corner,
                            lines=[f"bool physics:collisionEnabled = {int(collides)}"]))  # fmt: skip
    return world_of(file)


@pytest.mark.parametrize("kind", ["Revolute", "Spherical"])
@pytest.mark.parametrize("place", [(-2.75, 0.01, 3.0), (-1.68, 2.3, 0.25), (0.31, -0.88, 4.0), (3.3, 3.9, -2.1)])
def test_what_a_hinge_holds_does_not_touch(place: tuple[float, float, float], kind: str) -> None:
    """Edges and corners that a joint holds together do not brake it; up to here, nothing else touches."""
    free, colliding = (run(two_boxes_on_hinges(place, collides, kind), 0.4) for collides in (False, True))
    np.testing.assert_allclose(colliding.positions, free.positions, atol=1e-5)


def test_boxes_on_a_hinge_stop_each_other() -> None:
    """The lower one swings by half a turn against the upper one, until their sides meet."""
    worlds = [two_boxes_on_hinges((0.0, 0.0, 3.0), collides, spin=3.0) for collides in (False, True)]
    least = []
    for world in worlds:
        apart = []
        for _ in range(60):
            world.step()
            apart.append(np.linalg.norm(world.positions[0] - world.positions[1]))
        least.append(min(apart))
    # The middles of two boxes whose sides touch are 0.5 m from each other.
    assert least[0] < 0.495 < least[1]


@pytest.mark.parametrize(
    ("kind", "mass", "breaks"),
    [("Fixed", 10.5, True), *((kind, 9.5, False) for kind in ("Fixed", "Revolute", "Spherical", "D6"))],
)
def test_breaks_at_the_set_force(kind: str, mass: float, breaks: bool) -> None:
    """98.1 N: the weight of 10 kg."""
    file = File(CENTIMETERS)
    file.add(file.body("Load", (0, 0, 3), mass=mass))
    limits = dict.fromkeys((*LINEAR, "rotX"), NEVER) if kind == "D6" else None
    file.add(file.joint("Hook", kind, "", f"{W}/Load", pos0=(0, 0, 3), break_force=10 * G, limits=limits))
    world = run(world_of(file), 1.0)
    assert (place(world, "Load")[2] < 2) == breaks
    assert world.broken_joints == ((f"{W}/Hook",) if breaks else ())
    if not breaks:
        assert world.joint_load(f"{W}/Hook")[0] == pytest.approx(mass * G, rel=0.01)
    world.reset()
    assert world.broken_joints == ()
    assert place(world, "Load")[2] == 3


def test_a_joint_that_bears_nothing_breaks_at_once() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Load", (0, 0, 3)))
    file.add(file.joint("Hook", "Fixed", "", f"{W}/Load", pos0=(0, 0, 3), break_force=0.0))
    world = run(world_of(file), 0.5)
    assert world.broken_joints == (f"{W}/Hook",)
    assert place(world, "Load")[2] == pytest.approx(3 - G / 8, abs=0.1)


@pytest.mark.parametrize(("bears", "broken"), [(50.0, 0), (25.0, 2), (8.0, 4)])
def test_joints_of_a_chain_that_bear_too_much_in_one_step_break_together(bears: float, broken: int) -> None:
    """As in PhysX. Four weights of 1 kg below each other pull by 39, 29, 20 and 10 N."""
    file = File(CENTIMETERS)
    for index in range(4):
        above = f"{W}/Load{index - 1}" if index else ""
        file.add(file.body(f"Load{index}", (0, 0, 10 - index), size=(0.2, 0.2, 0.2)))
        file.add(file.joint(f"Hook{index}", "Fixed", above, f"{W}/Load{index}",
                            pos0=(0, 0, -0.5 if index else 10.5), pos1=(0, 0, 0.5), break_force=bears))  # fmt: skip
    world = run(world_of(file), 0.1)
    assert world.broken_joints == tuple(f"{W}/Hook{index}" for index in range(broken))


@pytest.mark.parametrize("bears", [0.08, 0.24])
@pytest.mark.parametrize("number", [1, 2], ids=["alone", "in a loop"])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_weight_that_presses_a_bond_together_does_not_break_it(bears: float, number: int, swapped: bool) -> None:
    """A box of 100 kg lies on one side of a slope of 10 degrees without friction: it pulls by sin(10 degrees) m g."""
    file = File(CENTIMETERS)
    tilt = math.radians(10.0)
    file.gravity = (G * math.sin(tilt), 0, -G * math.cos(tilt))
    ends = [("", (0, 0, 0.5)), (f"{W}/Box", (0, 0, -0.5))]
    (first, pos0), (second, pos1) = reversed(ends) if swapped else ends
    limits = dict.fromkeys((*LINEAR, "rotX", "rotY", "rotZ"), NEVER) | {"transZ": (0, INF) if swapped else (-INF, 0)}
    file.add(
        file.body("Box", (0, 0, 1), mass=100.0),
        *(file.joint(f"Bond{row}", "D6", first, second, pos0=pos0, pos1=pos1, limits=limits,
                     break_force=bears * 100.0 * G, lines=("bool physics:collisionEnabled = true",))
          for row in range(number)),
    )  # fmt: skip
    world = run(world_of(file), 0.5)
    assert (world.broken_joints == ()) == (bears > math.sin(tilt))


@pytest.mark.parametrize("share", [0.95, 1.05])
@pytest.mark.parametrize("kind", ["Fixed", "Prismatic"])
def test_breaks_at_the_set_torque(kind: str, share: float) -> None:
    """A load on a cantilever of 0.8 m."""
    file = File(CENTIMETERS)
    bears = 5 * G * 0.8 / share
    file.add(file.body("Load", (0.8, 0, 3), mass=5.0))
    file.add(file.joint("Wall", kind, "", f"{W}/Load", pos0=(0, 0, 3), pos1=(-0.8, 0, 0), break_torque=bears))
    world = run(world_of(file), 1.0)
    assert (world.broken_joints != ()) == (share > 1)


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_the_load_of_a_joint_holds_what_lies_on_what_it_holds(swapped: bool) -> None:
    """A beam of 2 kg in a wall, and a box of 3 kg on it, 0.8 m from the wall."""
    file = File(CENTIMETERS)
    ends = [("", (0, 0, 3)), (f"{W}/Beam", (-0.5, 0, 0))]
    (first, pos0), (second, pos1) = reversed(ends) if swapped else ends
    file.add(
        file.body("Beam", (0.5, 0, 3), size=(1, 0.2, 0.2), mass=2.0, inertia=(0.01, 0.17, 0.17)),
        file.body("Box", (0.8, 0, 3.2), size=(0.2, 0.2, 0.2), mass=3.0),
        file.joint("Wall", "Fixed", first, second, pos0=pos0, pos1=pos1, break_force=1e4, break_torque=1e4),
    )  # fmt: skip
    force, torque = run(world_of(file), 2.0).joint_load(f"{W}/Wall")
    assert force == pytest.approx(5 * G, rel=0.01)
    assert torque == pytest.approx(G * (2 * 0.5 + 3 * 0.8), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("swapped", "kind"), [(False, "Fixed"), (True, "Fixed"), (False, "Prismatic")])
def test_the_force_of_a_joint_is_that_on_its_second_body_along_the_frame_there(swapped: bool, kind: str) -> None:
    """A beam in a wall: its weight downwards on the wall, and as much upwards on the beam. The frame stands upright."""
    file = File(CENTIMETERS)
    up = about("Y", -90)
    ends = [("", (0, 0, 3), up), (f"{W}/Beam", (-0.5, 0, 0), up)]
    (first, pos0, rot0), (second, pos1, rot1) = reversed(ends) if swapped else ends
    file.add(file.body("Beam", (0.5, 0, 3), mass=2.0, inertia=(0.01, 0.17, 0.17)))
    axis = {"axis": "Y", "low": -0.01, "high": 0.01} if kind == "Prismatic" else {}
    file.add(file.joint("Wall", kind, first, second, pos0=pos0, pos1=pos1, rot0=rot0, rot1=rot1, **axis))
    world = world_of(file)
    world.joint_load(f"{W}/Wall")
    force, torque = run(world, 2.0).joint_wrench(f"{W}/Wall")
    sign = -1.0 if swapped else 1.0
    assert force == pytest.approx((sign * 2 * G, 0, 0), abs=0.1)
    assert torque == pytest.approx((0, sign * -2 * G * 0.5, 0), abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("swapped", "breaks"), [(False, False), (True, False), (True, True)])
def test_the_force_of_a_joint_in_a_loop_is_that_on_its_second_body(swapped: bool, breaks: bool) -> None:
    """A beam on two hinges: each bears half of its weight. The frame of one stands upright."""
    file = File(CENTIMETERS)
    file.add(file.body("Beam", (0, 0, 3), size=(2, 0.2, 0.2), mass=4.0))
    for name, x in (("Left", -1.0), ("Right", 1.0)):
        ends = [("", (x, 0, 3)), (f"{W}/Beam", (x, 0, 0))]
        (first, pos0), (second, pos1) = reversed(ends) if swapped else ends
        turned = about("Y", 90) if name == "Right" else (1, 0, 0, 0)
        file.add(file.joint(name, "Revolute", first, second, pos0=pos0, pos1=pos1, rot0=turned, rot1=turned, axis="Y",
                            break_force=1e6 if breaks else math.inf))  # fmt: skip
    world = world_of(file)
    for name in ("Left", "Right"):
        world.joint_wrench(f"{W}/{name}")
    run(world, 2.0)
    up = -2 * G if swapped else 2 * G
    assert world.joint_wrench(f"{W}/Left")[0][2] == pytest.approx(up, rel=0.02)
    # Its X is down.
    assert world.joint_wrench(f"{W}/Right")[0][0] == pytest.approx(-up, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("rise", [25.0, 40.0, 55.0])
@pytest.mark.parametrize("share", [0.96, 1.04])
def test_two_bars_between_posts_break_at_the_load_of_their_ends(rise: float, share: float) -> None:
    """Each end bears the weight of a bar and a pull of half of it over the tangent of the angle, along no axis of a
    bar: the solver mixes the axes of a joint."""
    length, mass, angle = 0.6, 8.0, math.radians(rise)
    file = File(CENTIMETERS)
    for name, end, way in (("A", 0.0, 1), ("B", 2 * length * math.cos(angle), -1)):
        middle = (end + way * 0.5 * length * math.cos(angle), 0, -0.5 * length * math.sin(angle))
        file.add(file.body(name, middle, about("Y", way * rise), mass=mass, size=(length, 0.05, 0.05), collides=False))
    load = mass * G * math.hypot(1.0, 0.5 / math.tan(angle))
    half, a, b = length / 2, f"{W}/A", f"{W}/B"
    file.add(
        file.joint("Left", "Revolute", "", a, pos1=(-half, 0, 0), axis="Y", break_force=share * load),
        file.joint("Middle", "Revolute", a, b, pos0=(half, 0, 0), pos1=(-half, 0, 0), axis="Y"),
        file.joint("Right", "Revolute", b, "", pos0=(half, 0, 0), pos1=(end, 0, 0), axis="Y"),
    )  # fmt: skip
    world = world_of(file)
    world.joint_load(f"{W}/Right")
    run(world, 1.0)
    assert world.broken_joints == ((f"{W}/Left",) if share < 1.0 else ())
    if share > 1.0:
        assert world.joint_load(f"{W}/Left")[0] == pytest.approx(load, rel=0.01)
        assert world.joint_load(f"{W}/Right")[0] == pytest.approx(load, rel=0.01)


def weights_in_a_row(*, bears: tuple[float, float]) -> File:
    """5 kg on a hook, 5 kg below it on another, and a beam on two hinges beside them, which is a loop."""
    file = File(CENTIMETERS)
    file.add(file.body("Upper", (0, 0, 3), mass=5.0), file.body("Lower", (0, 0, 1), mass=5.0),
             file.body("Beam", (5, 0, 3), size=(2, 0.2, 0.2), mass=4.0))  # fmt: skip
    for name, first, second, force in (("High", "", "Upper", bears[0]), ("Low", f"{W}/Upper", "Lower", bears[1])):
        file.add(file.joint(name, "Fixed", first, f"{W}/{second}", pos0=(0, 0, -1) if first else (0, 0, 4),
                            pos1=(0, 0, 1), break_force=force))  # fmt: skip
    for name, x in (("Left", -1.0), ("Right", 1.0)):
        file.add(file.joint(name, "Revolute", "", f"{W}/Beam", pos0=(5 + x, 0, 3), pos1=(x, 0, 0), axis="Y"))
    return file


@pytest.mark.parametrize("bears", [(10 * G * 0.5, 5 * G * 0.9), (10 * G * 0.9, 5 * G * 0.5), (1e3, 5 * G * 0.5)])
def test_looking_at_a_joint_in_a_loop_does_not_change_which_joints_break(bears: tuple[float, float]) -> None:
    broken = []
    for asked in (False, True):
        world = world_of(weights_in_a_row(bears=bears))
        if asked:
            world.joint_load(f"{W}/Left")
        # Weights from the second step on, when the joint is measured.
        world.set_gravity((0, 0, 0))
        world.step()
        world.set_gravity((0, 0, -G))
        broken.append(run(world, 0.2).broken_joints)
    assert broken[0] and broken[0] == broken[1]


def test_a_hand_goes_as_far_in_a_step_that_is_made_again_without_what_broke(monkeypatch) -> None:
    """A beam on three hinges that all bear too little: the step is made again without the first ones that break."""
    file = File(CENTIMETERS)
    file.add(file.body("Beam", (0, 0, 3), size=(2, 0.2, 0.2), mass=4.0))
    for number in range(3):
        ends = {"pos0": (number - 1, 0, 3), "pos1": (number - 1, 0, 0), "axis": "Y"}
        file.add(file.joint(f"Hinge{number}", "Revolute", "", f"{W}/Beam", break_force=10.0 ** (number - 4), **ends))
    world = world_of(file)
    number = world.grab(f"{W}/Beam", (0.5, 0, 3))
    world.move_grab(number, (0.5, 0, 4))
    starts: list[tuple[float, float]] = []

    def watched(physics, held, part) -> None:
        starts.append((part, physics.rigid_bodies[held.hand].translation.to_tuple()[2]))
        pull(physics, held, part)

    monkeypatch.setattr("usdphys_ext.usdphys_addon.simulation.rapier.space.pull", watched)
    world.step()
    assert world.broken_joints and len(starts) > len({part for part, _ in starts})
    assert len(set(starts)) == len({part for part, _ in starts})


def test_the_load_of_a_joint_is_zero_again_after_a_reset() -> None:
    file = weights_in_a_row(bears=(1e6, 1e6))
    world = world_of(file)
    world.joint_load(f"{W}/Left")
    run(world, 0.5)
    assert all(world.joint_load(f"{W}/{name}")[0] > 10.0 for name in ("High", "Low", "Left"))
    world.reset()
    nothing = (0.0, 0.0, 0.0)
    for name in ("High", "Low", "Left"):
        assert world.joint_load(f"{W}/{name}") == (0.0, 0.0)
        assert world.joint_wrench(f"{W}/{name}") == (nothing, nothing)


def test_the_load_of_a_joint_speeds_up_what_hangs_on_it() -> None:
    """A weight at the end of an arm that begins to turn, 1 rad/s2: m r a, and I a + d m r a about the glue."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    drive = {"damping": 1e4, "targetVelocity": 99.0, "maxForce": 0.1 + 0.5 + 2.0 * 1.0**2}
    file.add(
        file.body("Arm", size=(0.1, 0.1, 0.1), mass=1.0, inertia=(0.1, 0.1, 0.1)),
        # Its own Y is up.
        file.body("Tip", (1, 0, 0), about("X", 90), size=(0.1, 0.1, 0.1), mass=2.0, inertia=(0.1, 0.5, 0.2)),
        file.joint("Hinge", "Revolute", "", f"{W}/Arm", axis="Z", drives={"angular": drive}),
        file.joint("Glue", "Fixed", f"{W}/Arm", f"{W}/Tip", pos0=(0.75, 0, 0), pos1=(-0.25, 0, 0),
                   rot1=about("X", -90), break_force=1e5, break_torque=1e5),
    )  # fmt: skip
    force, torque = run(world_of(file), 0.1).joint_load(f"{W}/Glue")
    assert force == pytest.approx(2.0 * 1.0 * 1.0, rel=0.02)
    assert torque == pytest.approx(0.5 * 1.0 + 0.25 * 2.0 * 1.0, rel=0.02)


def test_driven_joint_breaks_by_momentum() -> None:
    """A joint with a drive: the force is that of the whole joint. Two bodies hang on it."""
    for bears, breaks in ((62.0, False), (56.0, True)):
        file = File(CENTIMETERS)
        file.add(file.body("Upper", (0, 0, 3), mass=2.0), file.body("Lower", (0, 0, 1.5), mass=4.0))
        drive = {"linear": {"stiffness": 1e5, "damping": 1e4}}
        file.add(
            file.joint("Lift", "Prismatic", "", f"{W}/Upper", pos0=(0, 0, 3), axis="Z", break_force=bears,
                       drives=drive),
            file.joint("Hook", "Spherical", f"{W}/Upper", f"{W}/Lower", pos0=(0, 0, -0.75), pos1=(0, 0, 0.75)),
        )  # fmt: skip
        world = run(world_of(file), 1.0)
        assert (world.broken_joints == (f"{W}/Lift",)) == breaks


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("kind", "dof"), [("Prismatic", "linear"), ("Revolute", "angular")])
def test_drive_without_stiffness_and_damping_does_nothing(kind: str, dof: str, reduced: bool) -> None:
    """Also where it names a target: force = stiffness * 0.5 + damping * 3 = 0."""
    file = File()
    file.gravity = (0, 0, 0)
    drive = {"targetPosition": 0.5, "targetVelocity": 3.0}
    body = file.body("Thing", velocity=(5, 0, 0), spin=(5, 0, 0), inertia=(0.1, 0.1, 0.1))
    joint = file.joint("Joint", kind, "", f"{W}/R/Thing", axis="X", drives={dof: drive})
    file.add(block("Xform", "R", [body, joint], ["PhysicsArticulationRootAPI"] if reduced else []))
    world = run(world_of(file), 1.0)
    assert world.is_reduced(f"{W}/R/Joint") == reduced
    moves = world.velocities()[0 if dof == "linear" else 1][0]
    assert moves == pytest.approx((5, 0, 0), abs=1e-2)


# --------------------------------------------------------------------------- chains and arms


@pytest.mark.slow
def test_long_chain_with_a_heavy_end() -> None:
    """50 links and 100 kg: anchors within 10 mm."""
    file = File(CENTIMETERS)
    length, count = 0.2, 50
    previous, anchor = "", (0.0, 0.0, 20.0)
    for index in range(count):
        place_ = (0, 0, 20 - (index + 0.5) * length)
        path = f"{W}/Link{index}"
        file.add(file.body(f"Link{index}", place_, shape="Capsule", size=(0.03, 0.1), mass=0.2,
                           inertia=(0.001, 0.001, 0.0002)))  # fmt: skip
        file.add(file.joint(f"Joint{index}", "Spherical", previous, path, pos0=anchor, pos1=(0, 0, length / 2)))
        previous, anchor = path, (0.0, 0.0, -length / 2)
    bottom = 20 - count * length
    file.add(file.body("Weight", (0, 0, bottom - 0.3), size=(0.6, 0.6, 0.6), mass=100.0, velocity=(1, 0, 0)))
    file.add(file.joint("Last", "Spherical", previous, f"{W}/Weight", pos0=anchor, pos1=(0, 0, 0.3)))
    world = world_of(file)
    worst = 0.0
    for _ in range(180):
        world.step()
        top = np.array((0.0, 0.0, 20.0))
        for index in range(count):
            here, rotation = place(world, f"Link{index}"), turn(world, f"Link{index}")
            worst = max(worst, float(np.linalg.norm(here + rotation[:, 2] * length / 2 - top)))
            top = here - rotation[:, 2] * length / 2
        worst = max(worst, float(np.linalg.norm(place(world, "Weight") + turn(world, "Weight")[:, 2] * 0.3 - top)))
    assert worst < 0.01
    assert world.unstable == {}


ARM_AXES = ("Z", "Y", "Z", "Y", "Z", "Y", "Z")


def arm(file: File, root: bool = True, stiffness: float = 2000.0) -> File:
    """Seven axes, stretched out along X, on a base that is bolted down; every joint holds its angle."""
    inside = [
        file.body("Link0", (0, 0, 2), size=(0.1, 0.1, 0.1), mass=5.0),
        file.joint("Foot", "Fixed", "", f"{W}/Arm/Link0", pos0=(0, 0, 2)),
    ]
    parent, offset = f"{W}/Arm/Link0", 0.0
    for index, axis in enumerate(ARM_AXES, 1):
        path = f"{W}/Arm/Link{index}"
        inside.append(file.body(f"Link{index}", (0.2 * index - 0.1, 0, 2), size=(0.2, 0.1, 0.1), mass=2.0,
                                inertia=(0.0034, 0.0084, 0.0084)))  # fmt: skip
        inside.append(file.joint(f"Axis{index}", "Revolute", parent, path, pos0=(offset, 0, 0), pos1=(-0.1, 0, 0),
                                 axis=axis, low=-3.0, high=3.0,
                                 drives={"angular": {"stiffness": stiffness, "damping": 200.0}}))  # fmt: skip
        parent, offset = path, 0.1
    return file.add(block("Xform", "Arm", inside, ["PhysicsArticulationRootAPI"] if root else []))


def sag(stiffness: float = 2000.0) -> list[float]:
    """Angles in equilibrium: each axis bears what is beyond it, turned by the axes before it."""
    angles = np.zeros(7)
    for _ in range(50):
        bent = np.cumsum([angle if axis == "Y" else 0.0 for angle, axis in zip(angles, ARM_AXES, strict=True)])
        joints = np.concatenate(([0.0], np.cumsum(0.2 * np.cos(bent))))
        centers = joints[:-1] + 0.1 * np.cos(bent)
        for index, axis in enumerate(ARM_AXES):
            if axis == "Y":
                angles[index] = 2.0 * G * (centers[index:] - joints[index]).sum() / stiffness
    return angles.tolist()


@pytest.mark.slow
def test_seven_axis_arm_sags_as_computed() -> None:
    model = model_in(arm(File(CENTIMETERS)))
    world = World(model)
    assert all(world.is_reduced(path) for path in world.joints)
    run(world, 5.0)
    for index, expected in enumerate(sag(), 1):
        assert world.joint_position(f"{W}/Arm/Axis{index}", "angular") == pytest.approx(expected, abs=0.05 * DEGREE)
    world.set_drive(f"{W}/Arm/Axis2", "angular", target_position=-0.5)
    run(world, 3.0)
    assert world.joint_position(f"{W}/Arm/Axis2", "angular") == pytest.approx(sag()[1] - 0.5, abs=0.03)
    world.set_joint_enabled(f"{W}/Arm/Axis3", False)
    run(world, 1.0)
    assert place(world, "Link3")[2] < 1.0
    assert world.unstable == {}
    for path in world.joints:
        assert (apart(model, world, path) > 0.5) == path.endswith("Axis3")
    assert world.joint_position(f"{W}/Arm/Axis2", "angular") == pytest.approx(-0.5, abs=0.05)


def test_floating_articulation_falls() -> None:
    file = File(CENTIMETERS)
    inside = [
        file.body("A", (0, 0, 9), size=(0.4, 0.1, 0.1), velocity=(1, 0, 0), spin=(0, 0, 0)),
        file.body("B", (0.4, 0, 9), size=(0.4, 0.1, 0.1), velocity=(1, 0, 0)),
        file.joint("Hinge", "Revolute", f"{W}/Robot/A", f"{W}/Robot/B", pos0=(0.2, 0, 0), pos1=(-0.2, 0, 0), axis="Y"),
    ]
    world = world_of(file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"])))
    assert world.is_reduced(f"{W}/Robot/Hinge")
    run(world, 1.0)
    assert place(world, "A") == pytest.approx((1, 0, 9 - G / 2), abs=0.03)
    assert place(world, "B") == pytest.approx((1.4, 0, 9 - G / 2), abs=0.03)


@pytest.mark.parametrize("legs", [1, 4])
def test_floating_articulation_falls_from_outside_of_its_limits(legs: int) -> None:
    """Limits that the start violates push the links apart, and not the whole robot through space."""
    file = File(CENTIMETERS)
    inside = [file.body("Torso", (0, 0, 9), mass=0.1, inertia=(2e-3,) * 3, collides=False)]
    for number in range(legs):
        x, y = [(1, 0), (-1, 0), (0, 1), (0, -1)][number]
        foot = f"Foot{number}"
        inside += [
            file.body(foot, (0.3 * x, 0.3 * y, 9), mass=0.013, inertia=(5e-4,) * 3, collides=False),
            file.joint(f"Hip{number}", "Revolute", f"{W}/R/Torso", f"{W}/R/{foot}", pos0=(0.2 * x, 0.2 * y, 0),
                       pos1=(-0.1 * x, -0.1 * y, 0), axis="Y" if x else "X", low=30 * DEGREE, high=100 * DEGREE),
        ]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    masses = np.array([0.1] + [0.013] * legs)
    start = masses @ world.positions / masses.sum()
    run(world, 1.0)
    fallen = masses @ world.positions / masses.sum() - start
    assert fallen == pytest.approx((0, 0, -G / 2), abs=0.05)
    # It has got the torque of the limits: the feet are within them.
    for number in range(legs):
        assert 25 * DEGREE < world.joint_position(f"{W}/R/Hip{number}", "angular") < 105 * DEGREE


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_the_order_of_the_joints_of_a_floating_articulation_changes_nothing(order: tuple[int, ...]) -> None:
    """Its root is the body that no joint has as its second one, whichever joint comes first."""
    file = File()
    sizes = {"size": (0.4, 0.1, 0.1), "collides": False, "inertia": (0.002, 0.03, 0.03)}
    links = [file.body(name, (0.4 * number, 0, 5), **sizes) for number, name in enumerate(("C", "B", "A", "D"))]
    hinges = [
        file.joint(f"{first}{second}", "Revolute", f"{W}/R/{first}", f"{W}/R/{second}", pos0=(0.2, 0, 0),
                   pos1=(-0.2, 0, 0), axis="Y", drives={"angular": {"stiffness": 5.0, "targetPosition": 0.5}})
        for first, second in ("CB", "BA", "AD")
    ]  # fmt: skip
    inside = [*links, *(hinges[number] for number in order)]
    model = model_in(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    (tree,) = trees_of(model)
    assert (tree.root, [link.child for link in tree.links]) == (f"{W}/R/C", [f"{W}/R/{name}" for name in "BAD"])


def test_articulation_begins_where_it_is() -> None:
    """Joints that are not at zero, one on a slide, one a ball, one moving."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    fast = 1.5
    inside = [
        file.body("Base", (0, 0, 3)), file.joint("Foot", "Fixed", "", f"{W}/R/Base", pos0=(0, 0, 3)),
        file.body("Sled", (1.7, 0, 3)),
        file.joint("Rail", "Prismatic", f"{W}/R/Base", f"{W}/R/Sled", pos0=(1, 0, 0), axis="X"),
        file.body("Wheel", (1.7, 1, 3), about("Y", 200), spin=(0, fast, 0), inertia=(0.1,) * 3),
        file.joint("Hinge", "Revolute", f"{W}/R/Sled", f"{W}/R/Wheel", pos0=(0, 1, 0), axis="Y", low=2.0, high=8.0),
        file.body("Knob", (1.7, -1, 3), about("X", 70), inertia=(0.1,) * 3),
        file.joint("Ball", "Spherical", f"{W}/R/Sled", f"{W}/R/Knob", pos0=(0, -1, 0)),
    ]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    assert all(world.is_reduced(path) for path in world.joints)
    start = world.positions.copy()
    world.step()
    assert world.positions == pytest.approx(start, abs=1e-3)
    assert turn(world, "Knob")[2, 2] == pytest.approx(math.cos(70 * DEGREE), abs=1e-3)
    run(world, 1.0 - world.time_step)
    assert world.positions == pytest.approx(start, abs=2e-3)
    angle = world.joint_position(f"{W}/R/Hinge", "angular")
    assert math.remainder(angle - 200 * DEGREE - fast, 2 * math.pi) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("swapped", [False, True])
def test_reversed_joint_of_an_articulation(swapped: bool) -> None:
    """The angle is that of body 1 seen from body 0, whichever is nearer to the root."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    base = [file.body("Base", (0, 0, 1)), file.joint("Foot", "Fixed", "", f"{W}/R/Base", pos0=(0, 0, 1))]
    base.append(file.body("Arm", (1, 0, 1), size=(0.5, 0.1, 0.1)))
    ends = {"pos0": (0.5, 0, 0), "pos1": (-0.5, 0, 0)}
    names = [f"{W}/R/Base", f"{W}/R/Arm"]
    if swapped:
        names.reverse()
        ends = {"pos0": ends["pos1"], "pos1": ends["pos0"]}
    base.append(
        file.joint(
            "Hinge",
            "Revolute",
            *names,
            axis="Z",
            low=-1.0,
            high=2.0,
            **ends,
            drives={"angular": {"stiffness": 100.0, "damping": 30.0, "targetPosition": 5.0}},
        )
    )
    world = run(world_of(file.add(block("Xform", "R", base, ["PhysicsArticulationRootAPI"]))), 3.0)
    assert world.is_reduced(f"{W}/R/Hinge")
    assert world.joint_position(f"{W}/R/Hinge", "angular") == pytest.approx(2.0, abs=0.05)
    angle = math.atan2(turn(world, "Arm")[1, 0], turn(world, "Arm")[0, 0])
    assert angle == pytest.approx(-2.0 if swapped else 2.0, abs=0.05)


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_drive_turns_the_same_way_whichever_body_is_nearer_to_the_root(swapped: bool, reduced: bool) -> None:
    """Positive is body 1 seen from body 0: from the start, and after a change while it runs."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    ends = [f"{W}/R/Arm", f"{W}/R/Base"] if swapped else [f"{W}/R/Base", f"{W}/R/Arm"]
    drive = {"damping": 50.0, "targetVelocity": 0.8}
    inside = [
        file.body("Base", mass=10.0, collides=False), file.body("Arm", inertia=(0.1, 0.1, 0.1), collides=False),
        file.joint("Foot", "Fixed", "", f"{W}/R/Base"),
        file.joint("Hinge", "Revolute", *ends, axis="Z", drives={"angular": drive}),
    ]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if reduced else [])))
    assert world.is_reduced(f"{W}/R/Hinge") == reduced
    sign = -1.0 if swapped else 1.0

    def angles() -> tuple[float, float]:
        turned = turn(world, "Arm")
        return world.joint_position(f"{W}/R/Hinge", "angular"), sign * math.atan2(turned[1, 0], turned[0, 0])

    run(world, 1.0)
    assert angles() == pytest.approx((0.8, 0.8), abs=0.03)
    world.set_drive(f"{W}/R/Hinge", "angular", target_velocity=-0.5)
    run(world, 1.0)
    assert angles() == pytest.approx((0.3, 0.3), abs=0.04)
    world.set_drive(f"{W}/R/Hinge", "angular", stiffness=400.0, target_position=1.2, target_velocity=0.0)
    run(world, 2.0)
    assert angles() == pytest.approx((1.2, 1.2), abs=0.03)


@pytest.mark.parametrize("reduced", [False, True])
def test_force_and_kind_of_a_drive_change_live(reduced: bool) -> None:
    """A wheel of 2 kg m2: what a torque of 0.5 N m does to it, then a spring that accelerates it."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    inside = [
        file.body("Wheel", inertia=(2, 2, 2)),
        file.joint("Hinge", "Revolute", "", f"{W}/R/Wheel", axis="Z", drives={"angular": {}}),
    ]
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if reduced else [])))
    assert world.is_reduced(f"{W}/R/Hinge") == reduced
    world.set_drive(f"{W}/R/Hinge", "angular", damping=1e3, target_velocity=50.0, max_force=0.5)
    assert world.joint_position(f"{W}/R/Hinge", "angular") == pytest.approx(0.0, abs=1e-6)
    run(world, 1.0)
    assert world.joint_position(f"{W}/R/Hinge", "angular") == pytest.approx(0.5 * 0.5 / 2, abs=0.01)
    world.reset()
    # A spring of 4 per s2 swings once in 3.14 s, whatever it moves.
    world.set_drive(
        f"{W}/R/Hinge", "angular", type="acceleration", stiffness=4.0, damping=0.0, target_position=1.0, max_force=1e6
    )
    run(world, 0.5)
    assert world.joint_position(f"{W}/R/Hinge", "angular") == pytest.approx(1 - math.cos(2 * 0.5), abs=0.02)


@pytest.mark.parametrize("excluded", [False, True])
def test_loop_is_closed_in_maximal_coordinates(excluded: bool) -> None:
    """A square of four bars, one corner fixed: falls as one piece and stays closed."""
    file = File(CENTIMETERS)
    corners = [(0, 0, 3), (1, 0, 3), (1, 0, 2), (0, 0, 2)]
    inside = []
    for index in range(4):
        a, b = np.array(corners[index], float), np.array(corners[(index + 1) % 4], float)
        inside.append(file.body(f"Bar{index}", tuple((a + b) / 2), size=(0.05,) * 3, mass=1.0, inertia=(0.1,) * 3))
    for index in range(4):
        second = (index + 1) % 4
        corner = np.array(corners[second], float)
        middles = [(np.array(corners[i], float) + corners[(i + 1) % 4]) / 2 for i in (index, second)]
        lines = ["bool physics:excludeFromArticulation = 1"] if excluded and index == 3 else []
        inside.append(file.joint(f"Corner{second}", "Revolute", f"{W}/R/Bar{index}", f"{W}/R/Bar{second}",
                                 pos0=tuple(corner - middles[0]), pos1=tuple(corner - middles[1]), axis="Y",
                                 lines=lines))  # fmt: skip
    inside.append(file.joint("Nail", "Revolute", "", f"{W}/R/Bar0", pos0=(0, 0, 3), pos1=(-0.5, 0, 0), axis="Y"))
    model = model_in(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    world = World(model)
    assert not any(map(world.is_reduced, world.joints))
    assert "ArticulationNotReduced" in codes(world)
    assert ("ArticulationLoop" in codes(world)) != excluded
    for _ in range(120):
        world.step()
        for path in world.joints:
            assert apart(model, world, path) < 0.01


def test_articulation_on_a_kinematic_base_feels_it() -> None:
    file = File()
    file.gravity = (0, 0, 0)
    inside = [
        file.body("Base", (0, 0, 1), kinematic=True), file.body("Arm", (1, 0, 1), size=(0.5, 0.1, 0.1)),
        file.joint("Hinge", "Revolute", f"{W}/R/Base", f"{W}/R/Arm", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0), axis="Z",
                   drives={"angular": {"stiffness": 500.0, "damping": 100.0}}),
    ]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    assert codes(world) == ["JointNotReduced"]
    for step in range(120):
        world.set_kinematic_pose(f"{W}/R/Base", (0, 0.5 * (step + 1) / 60, 1), (1, 0, 0, 0))
        world.step()
    assert place(world, "Base") == pytest.approx((0, 1.0, 1), abs=1e-4)
    anchor = place(world, "Arm") - 0.5 * turn(world, "Arm")[:, 0]
    assert anchor == pytest.approx((0.5, 1.0, 1), abs=0.02)


def test_unstable_articulation_falls_back() -> None:
    """Mass ratios that reduced coordinates cannot bear."""
    file = File()
    inside = [file.body("Link0", (0, 0, 2), mass=1e-7, inertia=(1e-12,) * 3, collides=False),
              file.joint("Foot", "Spherical", "", f"{W}/R/Link0", pos0=(0, 0, 2))]  # fmt: skip
    for index in range(1, 8):
        inside.append(
            file.body(
                f"Link{index}",
                (0.2 * index, 0, 2),
                mass=10.0 ** (index % 2 * 9 - 5),
                inertia=(1e-12,) * 3,
                velocity=(0, 50, 30),
                spin=(90, 0, 70),
                collides=False,
            )
        )
        inside.append(file.joint(f"Ball{index}", "Spherical", f"{W}/R/Link{index - 1}", f"{W}/R/Link{index}",
                                 pos0=(0.1, 0, 0), pos1=(-0.1, 0, 0)))  # fmt: skip
    world = run(world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"]))), 1.0)
    assert np.isfinite(world.positions).all()
    assert "ArticulationUnstable" in codes(world) or world.unstable == {}


def test_unusual_attachments() -> None:
    """A joint to a static collider, to a child of a body, and to a prim that only says where."""
    file = File()
    handle = file.xform("Handle", (0.5, 0, 0), nested=True)
    file.add(
        file.body("Frame", (0, 0, 3), size=(0.2, 0.2, 2), dynamic=False),
        file.body("Door", (0.5, 0, 3), size=(1, 0.1, 2), mass=5.0, children=[handle]),
        file.body("Knob", (1.0, 0, 2.8), size=(0.1, 0.1, 0.1), mass=0.1),
        file.joint("Hinge", "Revolute", f"{W}/Frame/Shape", f"{W}/Door", pos1=(-0.5, 0, 0), axis="Z"),
        file.joint("Hook", "Fixed", f"{W}/Door/Handle", f"{W}/Knob", pos1=(0, 0, 0.2)),
    )  # fmt: skip
    world = run(world_of(file), 1.0)
    assert place(world, "Door") == pytest.approx((0.5, 0, 3), abs=0.01)
    assert place(world, "Knob") == pytest.approx((1.0, 0, 2.8), abs=0.01)
    assert codes(world) == []


@pytest.mark.parametrize(
    ("options", "bodies"),
    [({"body0": "", "body1": ""}, 1), ({"body0": f"{W}/A", "body1": f"{W}/A"}, 1),
     ({"body0": "", "body1": f"{W}/Missing"}, 1), ({"body0": "", "body1": f"{W}/K"}, 1)],
)  # fmt: skip
def test_joints_that_cannot_be(options: dict[str, str], bodies: int) -> None:
    file = File()
    file.add(file.body("A", (0, 0, 5)), file.body("K", (5, 0, 5), kinematic=True))
    file.add(file.joint("Bad", "Fixed", **options))
    world = run(world_of(file), 0.1)
    assert codes(world) == ["JointUnusable"]
    assert world.notices[0].path == f"{W}/Bad"


def test_drives_and_limits_that_mean_nothing_are_said() -> None:
    file = File()
    file.add(file.body("A", (0, 0, 5)))
    file.add(
        file.joint("One", "Revolute", "", f"{W}/A", pos0=(0, 0, 5), drives={"linear": {"stiffness": 1.0}}),
        file.joint("Two", "Revolute", "", f"{W}/A", pos0=(0, 0, 5), limits={"rotX": (-1, 1)}),
        file.joint("Three", "D6", "", f"{W}/A", pos0=(0, 0, 5), limits={"rotX": NEVER},
                   drives={"rotX": {"stiffness": 1.0}}),
        file.joint("Four", "D6", "", f"{W}/A", pos0=(0, 0, 5), limits={"rotX": (-9, 9), "rotY": (-1, 1)}),
    )  # fmt: skip
    assert codes(world_of(file)) == ["DriveIgnored", "DriveIgnored", "DriveIgnored", "LimitBeyondTurn"]


def test_joint_across_scenes_is_said() -> None:
    file = File()
    file.add(file.scene("Other"), file.body("A", owner=f"{W}/Scene"), file.body("B", owner=f"{W}/Other"))
    file.add(file.joint("Tie", "Fixed", f"{W}/A", f"{W}/B"))
    assert codes(world_of(file)) == ["SceneMixed"]


def test_joints_of_an_articulation_that_are_not_reduced_are_said() -> None:
    file = File()
    inside = [file.body("A", (0, 0, 5), **ROD), file.body("B", (1, 0, 5), **ROD)]
    inside.append(file.joint("Tie", "Spherical", f"{W}/R/A", f"{W}/R/B", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0),
                             cone=(0.5, 0.5)))  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    assert codes(world) == ["JointNotReduced"]
    assert not world.is_reduced(f"{W}/R/Tie")


@pytest.mark.parametrize("kind", joint_kinds.JOINT_KINDS, ids=lambda kind: kind.identifier)
def test_drives_that_the_preview_takes_are_those_of_the_table(kind) -> None:
    """Panel, motor, checks and preview read one table; here what the preview does with every drive there is."""
    for dof in usd_physics.DriveAPI.instances:
        prim = Prim("/Joint", kind.cls.usd_name, is_xformable=False)
        prim.add(kind.cls(body1=("/Body",)))
        prim.add(usd_physics.DriveAPI(stiffness=1.0), dof)
        body = Prim("/Body", "Cube")
        body.add(usd_physics.RigidBodyAPI())
        notices = Notices()
        (facts,) = read_joints(layout(PhysicsModel(prims={"/Body": body, "/Joint": prim}), notices), notices)
        assert bool(facts.drives) == (dof in kind.drives), dof
        ignored = [issue for issue in notices.issues if issue.code == "DriveIgnored"]
        assert bool(ignored) != (dof in kind.drives), dof


def test_a_joint_of_an_articulation_that_can_break_is_not_reduced_and_breaks() -> None:
    file = File(CENTIMETERS)
    inside = [file.body("Arm", (0, 0, 5), mass=2.0),
              file.joint("Weld", "Fixed", "", f"{W}/R/Arm", pos0=(0, 0, 5), break_force=15.0)]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    assert codes(world) == ["JointNotReduced"]
    run(world, 1.0)
    assert world.broken_joints == (f"{W}/R/Weld",)
    assert place(world, "Arm")[2] == pytest.approx(5 - G / 2, abs=0.2)


def test_a_joint_of_an_articulation_that_is_off_does_not_hold() -> None:
    file = File(CENTIMETERS)
    inside = [file.body("Arm", (0, 0, 5)), file.joint("Weld", "Fixed", "", f"{W}/R/Arm", pos0=(0, 0, 5),
                                                      lines=["bool physics:jointEnabled = 0"])]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    run(world, 1.0)
    assert place(world, "Arm")[2] == pytest.approx(5 - G / 2, abs=0.1)
    world.set_joint_enabled(f"{W}/R/Weld", True)
    assert place(run(world, 3.0), "Arm")[2] == pytest.approx(5, abs=0.02)


@pytest.mark.parametrize(("root", "cut"), [("A", "BC"), ("B", "CA"), ("C", "AB")])
def test_a_loop_is_cut_opposite_to_the_body_that_carries_the_root(root: str, cut: str) -> None:
    """A ring of three bodies floats; the joint that is named is the one that is simulated otherwise."""
    file = File()
    places = {"A": (0.0, 0.0, 5.0), "B": (1.0, 0.0, 5.0), "C": (0.5, 0.0, 6.0)}
    for name, position in places.items():
        apis = ["PhysicsArticulationRootAPI"] if name == root else []
        file.add(file.body(name, position, size=(0.1,) * 3, inertia=(0.1,) * 3, apis=apis))
    for first, second in ("AB", "BC", "CA"):
        middle = (np.array(places[first]) + places[second]) / 2
        file.add(file.joint(f"{first}{second}", "Revolute", f"{W}/{first}", f"{W}/{second}", axis="Y",
                            pos0=tuple(middle - places[first]), pos1=tuple(middle - places[second])))  # fmt: skip
    world = world_of(file)
    assert [issue.path for issue in world.notices if issue.code == "ArticulationLoop"] == [f"{W}/{cut}"]
    (found,) = [issue.message for issue in world.notices if issue.code == "ArticulationNotReduced"]
    assert cut in found


def test_an_articulation_takes_no_joints_of_a_group_whose_name_begins_alike() -> None:
    file = File(CENTIMETERS)
    for name, apis in (("Robot", ["PhysicsArticulationRootAPI"]), ("Robot2", [])):
        inside = [file.body("Arm", (0, 0, 5)), file.joint("Weld", "Fixed", "", f"{W}/{name}/Arm", pos0=(0, 0, 5))]
        file.add(block("Xform", name, inside, apis))
    world = world_of(file)
    assert (world.is_reduced(f"{W}/Robot/Weld"), world.is_reduced(f"{W}/Robot2/Weld")) == (True, False)


def test_a_driven_ball_of_an_articulation_is_driven() -> None:
    """Drives about several axes are simulated in maximal coordinates, and that is said."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    drive = {"stiffness": 50.0, "damping": 10.0}
    inside = [file.body("Arm", (0, 0, 5), inertia=(0.5, 0.5, 0.5)),
              file.joint("Ball", "D6", "", f"{W}/R/Arm", pos0=(0, 0, 5), limits=dict.fromkeys(LINEAR, NEVER),
                         drives={"rotX": {**drive, "targetPosition": 0.4}, "rotY": drive, "rotZ": drive})]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))
    assert codes(world) == ["JointNotReduced"]
    run(world, 3.0)
    assert world.joint_positions()[f"{W}/R/Ball"] == pytest.approx({"rotX": 0.4, "rotY": 0, "rotZ": 0}, abs=0.01)


def test_an_articulation_root_on_a_joint_takes_all_that_hangs_on_it() -> None:
    """A fixed base: the root is on the joint to the world, the bodies are beside it."""
    file = File(CENTIMETERS)
    foot = file.joint("Foot", "Fixed", "", f"{W}/Base", pos0=(0, 0, 3), apis=["PhysicsArticulationRootAPI"])
    file.add(
        file.body("Base", (0, 0, 3), size=(0.2,) * 3), file.body("Arm", (0.5, 0, 3), **ROD), foot,
        file.joint("Hinge", "Revolute", f"{W}/Base", f"{W}/Arm", pos1=(-0.5, 0, 0), axis="Y"),
        file.body("Other", (5, 0, 3)), file.joint("Nail", "Fixed", "", f"{W}/Other", pos0=(5, 0, 3)),
    )  # fmt: skip
    world = world_of(file)
    assert {path for path in world.joints if world.is_reduced(path)} == {f"{W}/Foot", f"{W}/Hinge"}
    run(world, 0.5)
    assert place(world, "Base") == pytest.approx((0, 0, 3), abs=1e-3)
    assert place(world, "Arm")[2] < 2.8


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_a_joint_to_a_turned_wall_is_where_the_wall_is(side: int, reduced: bool) -> None:
    """The frame on a static collider is in its space, whichever side it is on; the arm hinges there."""
    file = File(CENTIMETERS)
    turned = about("Z", 90)
    # The wall's own X is Y of the world: its anchor is at (2, 1.5, 3), the arm goes on from there along Y.
    file.add(file.body("Wall", (2, 1, 3), turned, size=(0.2, 0.2, 0.2), dynamic=False))
    ends = [(f"{W}/Wall/Shape", (0.5, 0, 0)), (f"{W}/R/Arm", (-0.5, 0, 0))]
    (first, pos0), (second, pos1) = reversed(ends) if side else ends
    scale = (0.2, 0.2, 0.2)
    pos0, pos1 = (
        tuple(np.array(pos) / scale) if path.endswith("Shape") else pos for path, pos in ((first, pos0), (second, pos1))
    )
    inside = [file.body("Arm", (2, 2, 3), turned, **ROD),
              file.joint("Hinge", "Revolute", first, second, pos0=pos0, pos1=pos1, axis="Z")]  # fmt: skip
    world = world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if reduced else [])))
    assert world.is_reduced(f"{W}/R/Hinge") == reduced
    assert world.joint_position(f"{W}/R/Hinge", "angular") == pytest.approx(0.0, abs=1e-5)
    run(world, 1.0)
    assert place(world, "Arm") == pytest.approx((2, 2, 3), abs=0.01)
    world.set_gravity((5, 0, 0))
    run(world, 0.3)
    hinge = place(world, "Arm") + turn(world, "Arm") @ (-0.5, 0, 0)
    assert hinge == pytest.approx((2, 1.5, 3), abs=0.01)
    assert place(world, "Arm")[0] > 2.05


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_a_drive_that_loses_its_gains_while_it_runs_lets_the_joint_swing(units: Units, reduced: bool) -> None:
    """A pendulum held out level for a second, then let go: after a period it has been down and is up again."""
    file = File(units)
    inertia = 2.0 * 0.4**2 / 3.0
    inside = [
        file.body("Rod", (0.4, 0, 3), size=(0.8, 0.1, 0.1), mass=2.0, inertia=(0.01, inertia, inertia)),
        file.joint("Hinge", "Revolute", "", f"{W}/R/Rod", pos0=(0, 0, 3), pos1=(-0.4, 0, 0), axis="Y",
                   drives={"angular": {"stiffness": 1e5, "damping": 1e3}}),
    ]  # fmt: skip
    file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if reduced else []))
    world = run(world_of(file), 1.0)
    assert place(world, "Rod")[2] == pytest.approx(3.0, abs=0.01)
    world.set_drive(f"{W}/R/Hinge", "angular", stiffness=0.0, damping=0.0)
    lowest = min(run(world, 1 / 60) and place(world, "Rod")[2] for _ in range(90))
    assert lowest == pytest.approx(2.6, abs=0.01)


@pytest.mark.parametrize("type_", ["force", "acceleration"])
@pytest.mark.parametrize("angles", [(0.6, 0.8, -0.5), (1.2, 0.3, 0.9), (-0.4, -1.0, 2.0), (0.0, 0.7, 0.7)])
def test_three_driven_angles_are_those_of_a_rotation_about_x_then_y_then_z(angles: Vector, type_: str) -> None:
    """As in PhysX: Rz * Ry * Rx, in axes that are fixed on body 0."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    drive = {"stiffness": 30.0 if type_ == "force" else 400.0, "damping": 2.0 if type_ == "force" else 40.0}
    file.add(file.body("Head", (0, 0, 2), about("X", 20), size=(0.4, 0.3, 0.2), inertia=(0.07, 0.08, 0.09)))
    file.add(file.joint(
        "Neck", "D6", "", f"{W}/Head", pos0=(0, 0, 2), rot0=about("X", 20),
        limits=dict.fromkeys(("transX", "transY", "transZ"), NEVER),
        drives={f"rot{axis}": {**drive, "targetPosition": angle, "type": type_}
                for axis, angle in zip("XYZ", angles, strict=True)},
    ))  # fmt: skip
    world = run(world_of(file), 4.0)
    x, y, z = (matrix_of(about(axis, angle / DEGREE)) for axis, angle in zip("XYZ", angles, strict=True))
    assert turn(world, "Head") == pytest.approx(matrix_of(about("X", 20)) @ z @ y @ x, abs=0.01)
    assert world.unstable == {}


def test_two_driven_angles_beside_a_locked_twist_point_the_axis_as_in_physx() -> None:
    """0.6 rad about Y and 0.8 about Z with X locked: the quaternion that PhysX 0.7 comes to rest at."""
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.body("Head", (0, 0, 2), size=(0.4, 0.3, 0.2), mass=2.0, inertia=(0.05, 0.05, 0.05)))
    file.add(file.joint(
        "Neck", "D6", "", f"{W}/Head", pos0=(0, 0, 2),
        limits=dict.fromkeys(("transX", "transY", "transZ", "rotX"), NEVER),
        drives={dof: {"stiffness": 400.0, "damping": 20.0, "targetPosition": angle}
                for dof, angle in (("rotY", 0.6), ("rotZ", 0.8))},
    ))  # fmt: skip
    world = run(world_of(file), 4.0)
    assert world.rotations[0] == pytest.approx((0.8874, 0.0, 0.2216, 0.4042), abs=0.002)


def test_the_load_of_a_joint_that_cannot_break_is_measured_once_it_is_asked_for() -> None:
    """20 kg hang still on a hinge with limits and on an arm in reduced coordinates: 196.2 N each, and their moment."""
    file = File(CENTIMETERS)
    inside = [file.body("Arm", (0.5, 5, 3), size=(1.0, 0.1, 0.1), mass=20.0, inertia=(0.1, 1.7, 1.7)),
              file.joint("Shoulder", "Revolute", "", f"{W}/R/Arm", pos0=(0, 5, 3), pos1=(-0.5, 0, 0), axis="Y",
                         drives={"angular": {"stiffness": 1e6, "damping": 1e4}})]  # fmt: skip
    file.add(
        file.body("Bob", (0, 0, 2), mass=20.0),
        file.joint("Hinge", "Revolute", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Y", low=-1, high=1),
        block("Xform", "R", inside, ["PhysicsArticulationRootAPI"]),
    )  # fmt: skip
    world = run(world_of(file), 1.0)
    assert world.is_reduced(f"{W}/R/Shoulder")
    assert world.joint_load(f"{W}/Hinge") == (0.0, 0.0) == world.joint_load(f"{W}/R/Shoulder")
    world.step()
    assert world.joint_load(f"{W}/Hinge") == pytest.approx((20 * G, 0.0), abs=0.2)
    assert world.joint_load(f"{W}/R/Shoulder") == pytest.approx((20 * G, 20 * G * 0.5), rel=0.01)


@pytest.mark.parametrize("is_free", [False, True])
def test_every_joint_of_a_tree_has_the_load_of_what_hangs_on_it(is_free: bool) -> None:
    """A beam with three arms of two boxes each; held at its middle, or in free fall, where nothing bears anything."""
    file = File()
    file.add(file.body("Beam", (0, 0, 9), size=(4, 0.2, 0.2), mass=5.0))
    if not is_free:
        file.add(file.joint("Hook", "Spherical", "", f"{W}/Beam", pos0=(0, 0, 9), low=0, break_force=1e6))
    for arm_, x in enumerate((-1.5, 0.0, 1.5)):
        for level in range(2):
            name = f"Box{arm_}{level}"
            above = f"{W}/Beam" if level == 0 else f"{W}/Box{arm_}0"
            file.add(file.body(name, (x, 0, 8 - level), size=(0.4,) * 3, mass=1.0 + level),
                     file.joint(f"Rope{arm_}{level}", "Spherical", above, f"{W}/{name}", break_force=1e6,
                                break_torque=1e6, pos0=(x if level == 0 else 0, 0, -0.5),
                                pos1=(0, 0, 0.5)))  # fmt: skip
    world = run(world_of(file), 1.5)
    for arm_ in range(3):
        upper, lower = (world.joint_load(f"{W}/Rope{arm_}{level}")[0] for level in range(2))
        assert (upper, lower) == pytest.approx((0, 0) if is_free else (3 * G, 2 * G), abs=0.1)
    if not is_free:
        assert world.joint_load(f"{W}/Hook")[0] == pytest.approx(14 * G, rel=0.01)


def test_measuring_the_loads_of_a_chain_is_the_same_work_for_each_joint(count_calls) -> None:
    def hanging(count: int):
        file = File()
        previous, anchor = "", (0.0, 0.0, 50.0)
        for index in range(count):
            path = f"{W}/Link{index}"
            file.add(file.body(f"Link{index}", (0, 0, 49.9 - 0.2 * index), size=(0.1, 0.1, 0.2), mass=1.0),
                     file.joint(f"J{index}", "Revolute", previous, path, pos0=anchor, pos1=(0, 0, 0.1), axis="Y",
                                break_force=1e6, break_torque=1e6))  # fmt: skip
            previous, anchor = path, (0.0, 0.0, -0.1)
        return run(world_of(file), 0.05)

    few, many = hanging(10), hanging(80)
    assert count_calls(many.step) < 10 * count_calls(few.step)


def test_kinetic_energy_is_known_before_the_first_step() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Top", (0, 0, 0), about("X", 40), mass=3.0, inertia=(0.1, 0.2, 0.4),
                       velocity=(2, 0, 1), spin=(1, 2, 3)))  # fmt: skip
    world = world_of(file)
    expected = 0.5 * 3.0 * 5.0 + 0.5 * (0.1 + 0.2 * 4 + 0.4 * 9)
    assert world.kinetic_energy() == pytest.approx(expected, rel=1e-5)
    assert run(world, 0.5).kinetic_energy() == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("root", [False, True])
def test_a_skid_steered_robot_turns_as_fast_whatever_its_heading(root: bool) -> None:
    """Wheels of both sides in opposite directions: friction has no direction of its own. PhysX turns by 189 degrees."""

    def yaw(heading: float) -> float:
        file = File()
        c, s = math.cos(heading), math.sin(heading)
        turned = about("Z", heading / DEGREE)
        file.add(file.material("Rubber", 1.0), file.ground(material=f"{W}/Rubber", size=100))
        inside = [file.body("Base", (0, 0, 0.15), turned, size=(0.6, 0.3, 0.1), mass=10.0)]
        for index, (x, y) in enumerate(((0.2, 0.25), (0.2, -0.25), (-0.2, 0.25), (-0.2, -0.25))):
            wheel = file.shape("Shape", "Cylinder", (0.1, 0.06), axis="Y", material=f"{W}/Rubber")
            inside += [
                file.body(f"Wheel{index}", (c * x - s * y, s * x + c * y, 0.1), turned, geometry=wheel, mass=1.0),
                file.joint(f"Axle{index}", "Revolute", f"{W}/R/Base", f"{W}/R/Wheel{index}", axis="Y",
                           pos0=(x, y, -0.05),
                           drives={"angular": {"damping": 50.0, "targetVelocity": -8.0 if y > 0 else 8.0}}),
            ]  # fmt: skip
        file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if root else []))
        world = world_of(file)
        assert ("ArticulationNotReduced" in codes(world)) == root
        angles = [math.atan2(*turn(run(world, 0.05), "Base")[1::-1, 0]) for _ in range(60)]
        return float(np.ptp(np.unwrap(angles)[20:])) / DEGREE

    first, second, third = (yaw(heading) for heading in (0.0, 0.5, math.pi / 4))
    assert (second, third) == pytest.approx((first, first), rel=0.05)
    # Of sliding wheels at (x, y), v on the rim, the moment vanishes at y v / (x^2 + y^2), 111 degrees a second.
    assert first == pytest.approx(2 * 0.25 * 0.8 / (0.2**2 + 0.25**2) / DEGREE, rel=0.08)


@pytest.mark.parametrize(
    "kind, limit",
    [("Spherical", {"axis": "Z", "cone": (30 * DEGREE, 30 * DEGREE)}), ("Distance", {"distance": (-1, 1)})],
)
def test_a_cone_or_rope_on_a_link_of_an_articulation_holds(kind: str, limit: dict[str, object]) -> None:
    """The solver ignores it where the link is in reduced coordinates: a body on a rope fell through the world."""
    file = File(METERS)
    parts = [
        file.body("Base", (0, 0, 3), size=(0.2, 0.2, 0.2), mass=5.0, collides=False),
        file.joint("Fixed", "Fixed", "", f"{W}/Robot/Base", pos0=(0, 0, 3)),
        file.body("Bob", (0, 0, 2), size=(0.1, 0.1, 0.1), collides=False, velocity=(4, 0, 0)),
        file.joint(
            "Held", kind, f"{W}/Robot/Base", f"{W}/Robot/Bob", pos1=(0, 0, 1 if "cone" in limit else 0), **limit
        ),
    ]
    file.add(block("Xform", "Robot", parts, ["PhysicsArticulationRootAPI"]))
    world, farthest, lowest = world_of(file), 0.0, 0.0
    for _ in range(60):
        world.step()
        x, _, z = world.positions[world.index(f"{W}/Robot/Bob")] - (0, 0, 3)
        farthest, lowest = max(farthest, math.hypot(x, z)), max(lowest, math.degrees(math.atan2(abs(x), -z)))
    assert farthest == pytest.approx(1.0, abs=0.01)
    assert lowest == pytest.approx(30, abs=1) if "cone" in limit else lowest > 70
    assert "ArticulationNotReduced" in codes(world)


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@pytest.mark.parametrize("high", [0.3, 0.5, 1.0])
def test_an_arm_stays_at_the_limit_that_it_falls_to(high: float, units: Units) -> None:
    """On a base that a fixed joint holds. It rose again by 0.03 to 0.07 rad, with a third of its speed; now a fifth."""
    file = File(units)
    file.add(file.body("Base", (0, 0, 3), size=(0.3, 0.3, 0.3), mass=2.0, collides=False))
    file.add(file.joint("Held", "Fixed", "", f"{W}/Base", pos0=(0, 0, 3)))
    file.add(file.body("Arm", (0.5, 0, 3), size=(1, 0.05, 0.05), mass=1.0, inertia=(0.01, 1 / 12, 1 / 12),
                       collides=False))  # fmt: skip
    file.add(file.joint("Hinge", "Revolute", f"{W}/Base", f"{W}/Arm", axis="Y", pos1=(-0.5, 0, 0), low=-1.0,
                        high=high))  # fmt: skip
    world, angles = world_of(file), []
    for _ in range(60):
        world.step()
        angles.append(world.joint_position(f"{W}/Hinge", "angular"))
    arrived = next(row for row, angle in enumerate(angles) if angle > high - 0.02)
    assert max(angles) < high + 2e-3 and min(angles[arrived + 1 :]) > high - 0.012 - 0.023 * high
