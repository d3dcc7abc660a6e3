# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction of each point of contact: what slides, spins, rolls and bounces, against equations of motion of our own."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.rapier.tuning import MOST_SLIDING

from .author import CENTIMETERS, METERS, UNITS, File, Units, about
from .helpers import codes, place, run, turn, world_of

G = 9.81
W = "/World"


def yaw(world, name: str) -> float:
    matrix = turn(world, name)
    return math.atan2(matrix[1, 0], matrix[0, 0])


def turned(world, name: str, seconds: float) -> float:
    """Angle (rad) about Z by which a body turns in so many seconds, beyond half a turn."""
    before, angle = yaw(world, name), 0.0
    for _ in range(round(seconds / world.time_step)):
        world.step()
        angle += math.remainder(yaw(world, name) - before, 2.0 * math.pi)
        before = yaw(world, name)
    return angle


def slide(
    corners: np.ndarray, frictions: np.ndarray, mass: float, inertia: float, speed: float, spin: float, seconds: float
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Way (m) and angle (rad) of a flat body whose points (n, 2) bear the same loads, by small steps."""
    step, place_, velocity, angle = 2e-4, np.zeros(2), np.array((speed, 0.0)), 0.0
    load = mass * G / len(corners)
    for _ in range(round(seconds / step)):
        cosine, sine = math.cos(angle), math.sin(angle)
        arms = corners @ np.array(((cosine, sine), (-sine, cosine)))
        slips = velocity + spin * np.column_stack((-arms[:, 1], arms[:, 0]))
        forces = -(frictions * load)[:, None] * slips / np.maximum(np.linalg.norm(slips, axis=1, keepdims=True), 1e-3)
        velocity = velocity + forces.sum(axis=0) / mass * step
        spin += float((arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0]).sum()) / inertia * step
        place_, angle = place_ + velocity * step, angle + spin * step
    return place_, angle


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(
    ("size", "mass", "friction", "speed", "spin"),
    [((0.6, 0.6, 0.05), 2.0, 0.3, 2.0, 6.0), ((1.0, 0.4, 0.05), 50.0, 0.4, 3.0, -8.0),
     ((0.03, 0.02, 0.002), 0.004, 0.2, 0.6, 25.0)],
)  # fmt: skip
def test_what_slides_and_spins_turns_as_far_as_its_corners_say(
    size, mass: float, friction: float, speed: float, spin: float, units: Units
) -> None:
    """Friction of a pair of bodies brakes spin and slide apart: they turn half as far."""
    file = File(units)
    file.add(file.material("M", friction), file.ground(material=f"{W}/M"),
             file.body("Plate", (0, 0, size[2] / 2), size=size, mass=mass, velocity=(speed, 0, 0), spin=(0, 0, spin),
                       material=f"{W}/M"))  # fmt: skip
    corners = np.array([(x, y) for x in (-size[0] / 2, size[0] / 2) for y in (-size[1] / 2, size[1] / 2)])
    inertia = mass * (size[0] ** 2 + size[1] ** 2) / 12.0
    way, angle = slide(corners, np.full(4, friction), mass, inertia, speed, spin, 3.0)
    world = world_of(file)
    assert turned(world, "Plate", 3.0) == pytest.approx(angle, rel=0.06)
    assert place(world, "Plate")[:2] == pytest.approx(way, abs=0.05 * float(np.linalg.norm(way)))


@pytest.mark.slow
@pytest.mark.parametrize("cut", [0.15, 0.3, 0.45])
def test_a_plate_of_two_parts_that_a_joint_holds_turns_as_far_as_its_corners_say(cut: float) -> None:
    """The friction of jointed bodies is that of each contact, too. cut: where the plate is cut, m."""
    file, middles, masses = File(), [], []
    file.add(file.material("M", 0.3), file.ground(material=f"{W}/M"))
    for name, low, high in (("Plate", -0.3, cut - 0.3), ("Other", cut - 0.3, 0.3)):
        middles.append((low + high) / 2.0)
        masses.append(2.0 * (high - low) / 0.6)
        file.add(file.body(name, (middles[-1], 0, 0.025), size=(high - low, 0.6, 0.05), mass=masses[-1],
                           velocity=(2, 6.0 * middles[-1], 0), spin=(0, 0, 6), material=f"{W}/M"))  # fmt: skip
    place0, place1 = ((cut - 0.3 - middle, 0, 0) for middle in middles)
    file.add(file.joint("Weld", "Fixed", f"{W}/Plate", f"{W}/Other", pos0=place0, pos1=place1))
    corners = np.array([(x, y) for x in (-0.3, cut - 0.3, cut - 0.3, 0.3) for y in (-0.3, 0.3)])
    # Each part bears its own weight on its corners.
    way, angle = slide(corners, 0.3 * np.repeat(masses, 4), 2.0, 2.0 * 0.72 / 12.0, 2.0, 6.0, 1.5)
    world = world_of(file)
    assert turned(world, "Plate", 1.5) == pytest.approx(angle, rel=0.03)
    middle = sum(mass / 2.0 * place(world, name) for mass, name in zip(masses, ("Plate", "Other"), strict=True))
    assert middle[:2] == pytest.approx(way, abs=0.03 * float(np.linalg.norm(way)))
    assert world.notices == []


@pytest.mark.slow
def test_a_plate_that_spins_among_too_many_is_named() -> None:
    """Its friction is that of pairs: it turns half as far. What only slides or only spins is not named."""
    for count, spin, speed in ((MOST_SLIDING + 1, 6.0, 2.0), (MOST_SLIDING + 1, 0.0, 2.0), (MOST_SLIDING + 1, 6.0, 0.0),
                               (MOST_SLIDING, 6.0, 2.0)):  # fmt: skip
        file = File()
        file.add(file.material("M", 0.3), file.ground(material=f"{W}/M"))
        file.add(*(file.body(f"Plate{number}", (0, 1.2 * number, 0.025), size=(0.6, 0.6, 0.05), velocity=(speed, 0, 0),
                             spin=(0, 0, spin), material=f"{W}/M") for number in range(count)))  # fmt: skip
        world = run(world_of(file), 0.2)
        wanted = ["FrictionOfPairs"] if count > MOST_SLIDING and spin and speed else []
        assert [issue.code for issue in world.notices] == wanted, (count, spin, speed)


def test_a_sled_with_a_foot_of_rubber_and_one_of_ice_turns_towards_the_rubber() -> None:
    file = File()
    file.add(file.material("Rubber", 0.8), file.material("Ice", 0.02), file.material("Floor", 0.0),
             file.ground(material=f"{W}/Floor"))  # fmt: skip
    feet = [file.shape(name, "Cube", (0.3, 0.1, 0.1), (0, side, -0.1), material=f"{W}/{name}")
            for name, side in (("Rubber", 0.3), ("Ice", -0.3))]  # fmt: skip
    file.add(file.body("Sled", (0, 0, 0.15), mass=10.0, inertia=(1, 1, 1), center=(0, 0, -0.1), velocity=(3, 0, 0),
                       collides=False, children=feet))  # fmt: skip
    corners = np.array([(x, y) for y in (0.25, 0.35, -0.25, -0.35) for x in (-0.15, 0.15)])
    way, angle = slide(corners, np.repeat((0.4, 0.01), 4), 10.0, 1.0, 3.0, 0.0, 0.6)
    world = run(world_of(file), 0.6)
    assert yaw(world, "Sled") == pytest.approx(angle, rel=0.08)
    assert place(world, "Sled")[0] == pytest.approx(way[0], rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("amplitude", "rate"), [(0.05, 3.0), (0.02, 6.0)])
def test_a_plate_that_is_shaken_does_not_walk_its_box(amplitude: float, rate: float) -> None:
    file = File()
    file.add(file.material("M", 0.3),
             file.body("Plate", (0, 0, -0.05), size=(4, 4, 0.1), kinematic=True, material=f"{W}/M"),
             file.body("Box", (0, 0, 0.1), size=(0.3, 0.3, 0.2), material=f"{W}/M"))  # fmt: skip
    world = world_of(file)
    places = []
    for frame in range(1, 421):
        seconds = frame / 60.0
        where = amplitude * min(seconds, 1.0) * math.sin(2.0 * math.pi * rate * seconds)
        world.set_kinematic_pose(f"{W}/Plate", np.array((where, 0, -0.05)), np.array((1.0, 0, 0, 0)))
        world.step()
        places.append(place(world, "Box")[:2].copy())
    early, late = (np.mean(places[start : start + 20], axis=0) for start in (100, 400))
    assert np.abs(late - early).max() < 0.003 * 5.0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_boxes_of_any_size_slide_as_far_as_friction_says(number: int) -> None:
    """Random sizes of 1 cm to 10 m, masses of 1 g to 10 t, frames, units: speed^2 / 2 mu g, straight ahead."""
    chance = random.Random(number)
    length = 10.0 ** chance.uniform(-2.0, 1.0)
    size = [length * chance.uniform(0.6, 1.0) for _ in range(2)] + [length * chance.uniform(0.2, 0.5)]
    friction, mass = chance.uniform(0.1, 0.7), 10.0 ** chance.uniform(-3.0, 4.0)
    speed = math.sqrt(2.0 * friction * G * length * chance.uniform(2.0, 20.0))
    file = File(chance.choice(UNITS))
    file.add(file.material("M", friction), file.ground(material=f"{W}/M", size=1000.0),
             file.body("Box", (0, 0, size[2] / 2), size=size, mass=mass, velocity=(speed, 0, 0),
                       material=f"{W}/M"))  # fmt: skip
    world = world_of(file, time_step=1.0 / chance.choice((30, 60, 120)))
    run(world, 1.1 * speed / (friction * G) + 0.1)
    way = speed**2 / (2.0 * friction * G)
    assert place(world, "Box")[:2] == pytest.approx((way, 0.0), abs=0.02 * way)


@pytest.mark.slow
def test_a_plate_slides_and_spins_alike_beside_many_that_lie_still() -> None:
    ends = []
    for others in (0, MOST_SLIDING + 20):
        file = File()
        file.add(file.material("M", 0.3), file.ground(material=f"{W}/M"),
                 file.body("Plate", (0, 0, 0.025), size=(0.6, 0.6, 0.05), velocity=(2, 0, 0), spin=(0, 0, 6),
                           material=f"{W}/M"))  # fmt: skip
        file.add(*(file.body(f"Other{number}", (0, 3 + number, 0.025), size=(0.6, 0.6, 0.05), material=f"{W}/M")
                   for number in range(others)))  # fmt: skip
        world = world_of(file)
        ends.append((turned(world, "Plate", 1.5), *place(world, "Plate")[:2]))
    assert ends[0] == pytest.approx(ends[1], abs=0.02)


def test_a_heap_that_is_too_large_to_ask_about_slides_as_far() -> None:
    file = File()
    file.add(file.material("M", 0.3), file.ground(material=f"{W}/M"))
    count = MOST_SLIDING + 5
    file.add(*(file.body(f"Box{number}", (0, 0.21 * number, 0.1), size=(0.2, 0.2, 0.2), velocity=(2, 0, 0),
                         material=f"{W}/M") for number in range(count)))  # fmt: skip
    world = run(world_of(file), 1.0)
    ways = [place(world, f"Box{number}")[0] for number in (0, count // 2, count - 1)]
    assert ways == pytest.approx([4.0 / (0.6 * G)] * 3, rel=0.03)


def test_a_sliding_box_goes_on_alike_after_a_reset_and_from_a_snapshot() -> None:
    file = File()
    file.add(file.material("M", 0.2), file.ground(material=f"{W}/M"),
             file.body("Plate", (0, 0, 0.025), size=(0.5, 0.5, 0.05), velocity=(2, 0, 0), spin=(0, 0, 5),
                       material=f"{W}/M"))  # fmt: skip
    world = run(world_of(file), 0.25)
    kept = world.snapshot()
    first = run(world, 0.5).positions.copy(), world.rotations.copy()
    world.restore(kept)
    assert np.array_equal(run(world, 0.5).positions, first[0]) and np.array_equal(world.rotations, first[1])
    world.reset()
    assert np.array_equal(run(world, 0.75).positions, first[0]) and np.array_equal(world.rotations, first[1])


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize(
    ("restitution", "friction", "along", "down", "frames"),
    [(0.6, 0.2, 4.0, 3.0, 60), (0.6, 0.05, 10.0, 3.0, 60), (0.9, 0.1, 8.0, 2.0, 30), (0.3, 0.3, 12.0, 4.0, 120)],
)
def test_a_ball_that_bounces_at_an_angle_gets_the_spin_of_the_whole_impact(
    restitution: float, friction: float, along: float, down: float, frames: int, units: Units
) -> None:
    """It slides: mu (1 + e) v; or rolls: 2/7 of its speed. The solver's friction saw no rebound, and a longer arm."""
    file = File(units)
    file.add(file.material("M", friction, restitution), file.ground(material=f"{W}/M"),
             file.body("Ball", (0, 0, 1), shape="Sphere", size=(0.1,), velocity=(along, 0, -down),
                       material=f"{W}/M"))  # fmt: skip
    world = world_of(file, time_step=1.0 / frames)
    while world.velocities()[0][0, 2] < 0.0:
        world.step()
    lost = min(friction * (1.0 + restitution) * math.sqrt(down**2 + 2.0 * G * 0.9), along * 2.0 / 7.0)
    linear, angular = world.velocities()
    assert along - linear[0, 0] == pytest.approx(lost, rel=0.05)
    assert angular[0, 1] == pytest.approx(2.5 * lost / 0.1, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("frames", [30, 60, 120])
def test_a_ball_without_loss_bounces_eleven_times_to_its_height(frames: int) -> None:
    file, height = File(), 1.0
    file.add(file.material("M", 0.0, 1.0), file.ground(material=f"{W}/M"),
             file.body("Ball", (0, 0, height + 0.1), shape="Sphere", size=(0.1,), material=f"{W}/M"))  # fmt: skip
    world = world_of(file, time_step=1.0 / frames)
    period = 2.0 * math.sqrt(2.0 * height / G)
    run(world, 10.6 * period)
    highest = 0.0
    for _ in range(round(period * frames)):
        world.step()
        highest = max(highest, place(world, "Ball")[2] - 0.1)
    assert highest == pytest.approx(height, rel=0.05)


def on_a_plank(mass: float, kinematic: bool = False):
    """A plate that slides and spins on a plank, which lies on ice."""
    file = File()
    file.add(file.material("M", 0.3), file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
             file.body("Plank", (0, 0, 0.1), size=(6, 3, 0.2), mass=3.0, material=f"{W}/M", kinematic=kinematic),
             file.body("Plate", (0, 0, 0.225), size=(0.6, 0.6, 0.05), mass=mass, velocity=(2, 0, 0), spin=(0, 0, 6.0),
                       material=f"{W}/M"))  # fmt: skip
    return world_of(file)


@pytest.mark.slow
def test_a_mass_that_is_set_live_rubs_as_one_that_is_written() -> None:
    written, live = on_a_plank(30.0), on_a_plank(0.5)
    live.set_mass(f"{W}/Plate", 30.0)
    assert turned(live, "Plate", 1.0) == pytest.approx(turned(written, "Plate", 1.0), abs=1e-4)
    for name in ("Plank", "Plate"):
        assert place(live, name) == pytest.approx(place(written, name), abs=1e-4)


@pytest.mark.slow
def test_a_body_that_the_hand_leads_rubs_as_a_kinematic_one() -> None:
    written, led = on_a_plank(2.0, kinematic=True), on_a_plank(2.0)
    led.spaces[0].set_led(f"{W}/Plank", None)
    assert turned(led, "Plate", 1.0) == pytest.approx(turned(written, "Plate", 1.0), abs=1e-4)
    assert place(led, "Plate") == pytest.approx(place(written, "Plate"), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1 / 60, 1 / 240])
@pytest.mark.parametrize("tilt", [0.0, 5.0, 19.5, 40.0])
def test_impact_of_a_tilted_plate_gets_the_friction_of_its_whole_impulse(tilt: float, step: float) -> None:
    """Its edges hit one after the other. It slides on all the time, so that friction takes mu times what stops it."""
    along, down, friction = 2.2, 3.9, 0.5
    file = File()
    file.gravity = (0.0, 0.0, -1e-6)
    file.add(file.material("Half", friction))
    file.add(file.shape("Floor", "Cube", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5), material="Half"))
    angle = math.radians(tilt)
    height = 1.125 * math.sin(angle) + 0.15 * math.cos(angle) + 0.2
    # The velocity of a body is in its own space.
    x, z = (along * math.cos(angle) + down * math.sin(angle), along * math.sin(angle) - down * math.cos(angle))
    file.add(file.body("Plate", (0.0, 0.0, height), about("Y", tilt), size=(2.25, 1.46, 0.3), material="Half",
                       velocity=(x, 0.0, z)))  # fmt: skip
    world = run(world_of(file, time_step=step), 0.7)
    assert world.velocities()[0][0] == pytest.approx((along - friction * down, 0.0, 0.0), abs=0.05 * friction * down)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "rate"), [(1.0, 60.0), (0.05, 240.0)])
def test_a_block_on_a_belt_sticks_and_slips(scale: float, rate: float) -> None:
    """A spring holds it: it goes with the belt until that pulls as static friction does, and swings back from there."""
    static, sliding, belt = 0.6, 0.3, 0.3 * math.sqrt(scale)
    stiffness = 9.81 * static / (0.2 * scale)
    file, size = File(METERS), 0.2 * scale
    lines = [f"vector3f physxSurfaceVelocity:surfaceVelocity = ({belt}, 0, 0)"]
    file.add(
        file.material("M", sliding, static=static),
        file.body("Belt", (0, 0, -0.1 * scale), kinematic=True, size=(6 * scale, scale, 0.2 * scale),
                  material="/World/M", apis=["PhysxSurfaceVelocityAPI"], extra=lines),
        file.body("Block", (0, 0, size / 2), size=(size,) * 3, material="/World/M"),
        file.joint("Spring", "", "", "/World/Block", pos0=(0, 0, size / 2),
                   drives={"transX": {"stiffness": stiffness, "damping": 0.0, "targetPosition": 0.0}}),
    )  # fmt: skip
    world = world_of(file, time_step=1.0 / rate)
    ways = []
    for _ in range(round(3.0 * math.sqrt(scale) * rate)):
        world.step()
        ways.append(place(world, "Block")[0])
    swing = math.hypot(0.1 * scale, belt / math.sqrt(stiffness))
    assert max(ways) == pytest.approx(0.1 * scale + swing, rel=0.03)


@pytest.mark.parametrize(("mass", "told"), [(9e9, []), (1e12, ["BodyTooHeavy"])])
def test_what_is_too_heavy_for_the_friction_of_the_solver_is_named(mass: float, told: list[str]) -> None:
    """Boulders of a kilometre slid as on ice, without a word. Up to the bound friction is right."""
    file = File()
    file.add(file.material("Stone", 0.5), file.ground(material=f"{W}/Stone", size=1000.0))
    file.add(file.body("Rock", (0, 0, 10), size=(40, 40, 20), mass=mass, velocity=(8, 0, 0), material=f"{W}/Stone"))
    world = run(world_of(file), 1.0)
    assert codes(world) == told
    if not told:
        assert place(world, "Rock")[0] == pytest.approx(8.0 - 0.5 * 0.5 * G, rel=0.01)
