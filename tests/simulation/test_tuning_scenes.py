# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes for rows of the tuning that no other test proves; see `test_tuning.py`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.rapier.quality import rolling_steps, turning_steps
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File, about, block
from .helpers import codes, place, run, turn, world_of

W = "/World"
G = 9.81


def stack(count: int, size: float, seconds: float, gap: float = 0.0) -> World:
    """Boxes on the ground, one on the other, after some time."""
    file = File()
    file.add(file.ground(size=max(50 * size, 1.0)))
    for index in range(count):
        file.add(file.body(f"Box{index}", (0, 0, size * (index + 0.5) + gap * index), size=(size,) * 3))
    return run(world_of(file), seconds)


def sag(count: int, size: float) -> float:
    """How far the top of a stack has sunk after five seconds, mm."""
    return 1e3 * (size * (count - 0.5) - float(place(stack(count, size, 5.0), f"Box{count - 1}")[2]))


def test_a_stack_of_large_boxes_hardly_sinks() -> None:
    assert sag(6, 5.0) < 1.0


def test_the_lowest_contact_of_a_stack_bears_all_of_it() -> None:
    assert sag(5, 2.0) < 0.43


def test_a_box_that_falls_flat_lands_where_it_falls() -> None:
    """Of 5 cm to 2 m, from 0.5 to 5 m high."""
    for size, height in ((0.3, 1.5), (1.0, 1.5), (0.05, 0.5), (2.0, 5.0), (0.1, 3.0)):
        file = File()
        file.add(file.ground(), file.body("Box", (0, 0, height + 0.5 * size), size=(size,) * 3, mass=500 * size**3))
        x, y, z = place(run(world_of(file), 2.0), "Box")
        assert math.hypot(x, y) < 0.003 * size
        assert abs(z - 0.5 * size) < 0.002 * size


def test_a_box_among_many_that_fall_flat_lands_where_it_falls() -> None:
    """Each impact is shared among the corners in a larger world, too."""
    file = File()
    file.add(file.ground(), *(file.body(f"Box{number}", (0, 2 * number - 30, 2.0), mass=500) for number in range(30)))
    world = run(world_of(file), 2.0)
    for number in range(30):
        x, y, z = place(world, f"Box{number}")
        assert math.hypot(x, y + 30 - 2 * number) < 0.003 and abs(z - 0.5) < 0.002


def test_small_cubes_sink_by_a_part_of_their_size() -> None:
    assert sag(2, 0.005) < 0.015


def test_a_column_of_small_cubes_sinks_by_a_part_of_its_height() -> None:
    assert sag(10, 0.02) < 0.005 * 200


@pytest.mark.slow
def test_grains_of_a_millimetre_come_to_rest() -> None:
    assert [stack(count, 0.001, 1.5).awake_count for count in (4, 6, 8, 10)] == [0] * 4


def test_boxes_of_thirty_metres_lie_on_each_other() -> None:
    world = stack(4, 30.0, 8.0, gap=2.0)
    assert [place(world, f"Box{index}")[2] for index in range(4)] == pytest.approx([15, 45, 75, 105], abs=0.002)


def test_a_bar_holds_many_times_its_mass() -> None:
    """A drive of 1 % sag at 3 kg on a bar of 0.1 kg and 5 cm, in maximal coordinates."""
    arm, load = 0.05, 3.0
    stiffness = G * arm * (load + 0.05) / 0.01
    file = File()
    file.add(
        file.body("Bar", (arm / 2, 0, 1), size=(arm, 0.005, 0.005), mass=0.1, inertia=(1e-6, 2e-5, 2e-5),
                  collides=False),
        file.body("Load", (arm, 0, 1), size=(0.02,) * 3, mass=load, inertia=(1e-4,) * 3, collides=False),
        file.joint("Weld", "Fixed", f"{W}/Bar", f"{W}/Load", pos0=(arm / 2, 0, 0)),
        file.joint("Hinge", "Revolute", "", f"{W}/Bar", pos0=(0, 0, 1), pos1=(-arm / 2, 0, 0), axis="Y",
                   drives={"angular": {"stiffness": stiffness, "damping": 2.0 * arm * math.sqrt(stiffness * load)}}),
    )  # fmt: skip
    world = run(world_of(file), 2.0)
    assert (1.0 - place(world, "Load")[2]) / arm == pytest.approx(0.01, abs=0.0005)


def test_a_fuse_breaks_before_what_it_protects() -> None:
    """A hook pulls on a beam by a weak joint; the two hinges that hold the beam are overloaded until that breaks."""
    file = File()
    file.add(
        file.body("Beam", (0, 0, 3), size=(2, 0.2, 0.2), mass=4.0),
        file.body("Hook", (0, 0, 4), kinematic=True, collides=False),
        file.joint("Left", "Revolute", "", f"{W}/Beam", pos0=(-1, 0, 3), pos1=(-1, 0, 0), axis="Y", break_force=2000.0),
        file.joint("Right", "Revolute", "", f"{W}/Beam", pos0=(1, 0, 3), pos1=(1, 0, 0), axis="Y", break_force=2000.0),
        file.joint("Fuse", "Fixed", f"{W}/Hook", f"{W}/Beam", pos0=(0, 0, -1), break_force=50.0),
    )
    world = world_of(file)
    for step in range(20):
        world.set_kinematic_pose(f"{W}/Hook", (0, 0, 4 + 0.3 * min(step, 5)), (1, 0, 0, 0))
        world.step()
    assert world.broken_joints == (f"{W}/Fuse",)


def whip(count: int, ratio: float, inertia: float, spin: float, *, is_free: bool) -> World:
    """An articulation of balls in a row that spins."""
    file, inside = File(), []
    for index in range(count):
        mass = ratio ** (-(index % 2))
        inside.append(file.body(f"Link{index}", (0.2 * index + 0.1, 0, 2), mass=mass, inertia=(inertia,) * 3,
                                spin=(spin, 0, spin), collides=False))  # fmt: skip
        if index or not is_free:
            before, anchor = (f"{W}/R/Link{index - 1}", (0.1, 0, 0)) if index else ("", (0, 0, 2))
            inside.append(
                file.joint(f"Ball{index}", "Spherical", before, f"{W}/R/Link{index}", pos0=anchor, pos1=(-0.1, 0, 0))
            )
    return world_of(file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"])))


def test_an_articulation_that_reduced_coordinates_lose_is_simulated_in_maximal_ones() -> None:
    world = whip(6, 3.0, 1e-4, 200.0, is_free=False)
    assert codes(world) == ["ArticulationUnstable"]
    assert run(world, 1.0).unstable == {}


def test_a_free_articulation_that_spins_falls_straight_down() -> None:
    world = whip(4, 1.0, 1e-3, 30.0, is_free=True)
    middle, speed = world.positions.mean(axis=0), world.velocities()[0].mean(axis=0)
    run(world, 1.0)
    moved = world.positions.mean(axis=0) - middle - speed
    assert np.abs(moved - (0, 0, -G / 2)).max() < 0.05


#: m/s: of the drive below.
LIFT = 0.15


def lift(mass: float, is_reversed: bool) -> tuple[World, np.ndarray]:
    """Tube and rod of 10 and 8 kg below the middle of a boom of such a mass; and where the tube stands."""
    file, reach = File(), 1.5
    foot, end = np.array([0.6, 0.0, -0.6]), reach * np.array([math.cos(0.2), 0.0, math.sin(0.2)])
    length = float(np.linalg.norm(end - foot))
    along = (end - foot) / length
    lean, raised = about("Y", -math.degrees(math.atan2(along[2], along[0]))), about("Y", -math.degrees(0.2))
    moments = (0.01 * mass, 0.75 * mass, 0.75 * mass)
    prims = [
        file.body("Boom", end, raised, mass=mass, inertia=moments, collides=False),
        file.body("Tube", foot + 0.3 * along, lean, mass=10.0, inertia=(0.4, 0.4, 0.4), collides=False),
        file.body("Rod", end - 0.3 * along, lean, mass=8.0, inertia=(0.4, 0.4, 0.4), collides=False),
        file.joint("Hinge", "Revolute", "", f"{W}/Boom", pos0=(0, 0, 0), pos1=(-reach, 0, 0), axis="Y"),
        file.joint("Foot", "Revolute", "", f"{W}/Tube", pos0=foot, pos1=(-0.3, 0, 0), axis="Y"),
        file.joint("Eye", "Revolute", f"{W}/Boom", f"{W}/Rod", pos0=(0, 0, 0), pos1=(0.3, 0, 0), axis="Y"),
        file.joint("Cylinder", "Prismatic", f"{W}/Tube", f"{W}/Rod", pos0=(0.3, 0, 0), pos1=(0.6 - length, 0, 0),
                   axis="X", drives={"linear": {"damping": 1e9, "targetVelocity": LIFT}}),
    ]  # fmt: skip
    return world_of(file.add(*(prims[::-1] if is_reversed else prims))), foot


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_light_cylinder_lifts_a_heavy_boom_at_its_speed(is_reversed: bool) -> None:
    world, foot = lift(1000.0, is_reversed)
    assert codes(world) == []
    run(world, 0.1)
    start = float(np.linalg.norm(place(world, "Boom") - foot))
    run(world, 0.5)
    assert np.linalg.norm(place(world, "Boom") - foot) - start == pytest.approx(0.5 * LIFT, rel=0.04)


def test_a_drive_that_far_too_heavy_bodies_slow_down_is_named() -> None:
    (notice,) = lift(8000.0, False)[0].notices
    assert notice.code == "MassRatio" and "Rod" in notice.message and "1e+03 times" in notice.message


def test_a_linkage_of_seven_bars_does_not_brake_its_drive() -> None:
    """The one of Peaucellier: a crank from (0.5, 0), two long bars from the origin, and a rhombus between them."""
    file = File()
    file.gravity = (0, -G, 0)
    crank, long, side, phi, speed = 0.5, 1.4, 0.95, 0.5, 0.8
    pen = np.array([crank + crank * math.cos(phi), crank * math.sin(phi)])
    near = float(np.linalg.norm(pen))
    along = pen / near
    middle = (near**2 + long**2 - side**2) / (2 * near)
    across = math.sqrt(long**2 - middle**2) * np.array([-along[1], along[0]])
    origin, left, right = np.zeros(2), along * middle + across, along * middle - across
    far = along * (2 * middle - near)
    bars = {
        "Crank": (np.array([crank, 0.0]), pen), "LongA": (origin, left), "LongB": (origin, right),
        "NearA": (pen, left), "NearB": (pen, right), "FarA": (far, left), "FarB": (far, right),
    }  # fmt: skip
    lengths = {name: float(np.linalg.norm(second - first)) for name, (first, second) in bars.items()}
    for name, (first, second) in bars.items():
        (x, y), angle, length = (first + second) / 2, math.atan2(*(second - first)[::-1]), lengths[name]
        moment = length**3 / 12
        file.add(file.body(name, (x, y, 0), about("Z", math.degrees(angle)), size=(length, 0.02, 0.04), mass=length,
                           inertia=(1e-3, moment, moment), collides=False))  # fmt: skip

    def pin(first: str, second: str, place: tuple[float, float], **drives: object) -> str:
        ends = []
        for name in (first, second):
            if name:
                start, end = bars[name]
                at_end = np.linalg.norm(end - place) < np.linalg.norm(start - place)
                ends.append((f"{W}/{name}", ((0.5 if at_end else -0.5) * lengths[name], 0, 0)))
            else:
                ends.append(("", (*place, 0)))
        (body0, pos0), (body1, pos1) = ends
        return file.joint(f"Pin{first}{second}", "Revolute", body0, body1, pos0=pos0, pos1=pos1, axis="Z", **drives)

    file.add(
        pin("", "Crank", bars["Crank"][0], drives={"angular": {"damping": 4000.0, "targetVelocity": speed}}),
        pin("", "LongA", origin), pin("", "LongB", origin), pin("Crank", "NearA", pen), pin("Crank", "NearB", pen),
        pin("LongA", "NearA", left), pin("LongA", "FarA", left), pin("LongB", "NearB", right),
        pin("LongB", "FarB", right), pin("FarA", "FarB", far),
    )  # fmt: skip
    world = run(world_of(file), 0.5)
    x, y = place(world, "Crank")[:2] - (crank, 0)
    assert math.atan2(y, x) - phi == pytest.approx(speed * 0.5, rel=0.03)


def test_what_turns_ever_faster_takes_no_more_steps_for_ever() -> None:
    assert turning_steps(1 / 60, 3000.0) < 100
    assert rolling_steps(1 / 60, 1e6, 4) < 100


@pytest.mark.slow
def test_a_loop_of_joints_swings_on() -> None:
    """A plate on two equal rods, let go at 60 degrees: fewer small steps take three times as much of its energy."""
    file, length, rods = File(), 0.5, about("Y", -60.0)
    away, down = length * math.sin(math.radians(60.0)), length * math.cos(math.radians(60.0))
    moments = (length**2 / 12, length**2 / 12, length**2 / 120)
    file.add(file.body("Plate", (0.2 + away, 0, -down), collides=False, inertia=(0.01, 0.02, 0.02)))
    for number, place_of_rod in enumerate((0.0, 0.4)):
        rod = f"/World/Rod{number}"
        file.add(
            file.body(f"Rod{number}", (place_of_rod + away / 2, 0, -down / 2), rods, collides=False, inertia=moments),
            file.joint(f"High{number}", "Revolute", "", rod, pos0=(place_of_rod, 0, 0), pos1=(0, 0, length / 2),
                       rot1=about("Y", 60.0), axis="Y"),
            file.joint(f"Low{number}", "Revolute", rod, "/World/Plate", pos0=(0, 0, -length / 2),
                       pos1=(place_of_rod - 0.2, 0, 0), rot0=about("Y", 60.0), axis="Y"),
        )  # fmt: skip
    world = run(world_of(file), 3.7)
    heights = []
    for _ in range(80):
        world.step()
        heights.append(place(world, "Plate")[2])
    assert max(heights) == pytest.approx(-down, abs=0.004)


@pytest.mark.slow
def test_a_top_on_a_kinematic_stand_hardly_droops() -> None:
    """Of one that stands on what does not move, the turn is integrated."""
    file = File()
    file.add(
        file.body("Stand", (0, 0, 1), kinematic=True, collides=False),
        file.body("Top", (0.15, 0, 2 + 0.15 * 3**0.5), about("Y", 30.0), mass=1.0, collides=False,
                  inertia=(0.005625, 0.005625, 0.01125), spin=(0, 0, 250.0)),
        file.joint("Tip", "Spherical", "/World/Stand", "/World/Top", pos0=(0, 0, 1), pos1=(0, 0, -0.3)),
    )  # fmt: skip
    world = run(world_of(file), 9.0)
    tilts = []
    for _ in range(30):
        world.step()
        tilts.append(math.degrees(math.acos(turn(world, "Top")[2, 2])))
    # With the steps of others 35.2 degrees.
    assert sum(tilts) / 30 < 34.2
