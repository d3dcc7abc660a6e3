# SPDX-License-Identifier: GPL-3.0-or-later
"""What is jointed holds where it hits the floor, and comes to rest; friction holds at any mass and rate."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import UNITS, File, Units, about
from .helpers import apart, made, model_in, place, run

G = 9.81
W = "/World"
NEWTON = ["NewtonJointAPI"]


@pytest.mark.parametrize("speed", [2.0, 5.0, 20.0])
def test_a_wrist_holds_where_a_light_hand_hits_the_floor(speed: float) -> None:
    """The solver put the hand back to where it touches, without the arm: 12 to 389 mm apart, they flew up 6 to 58 m."""
    file = File()
    file.add(
        file.ground(),
        file.body("Arm", (0, 0, 1.3), size=(0.06, 0.06, 0.3), mass=2.0, velocity=(1, 0, -speed)),
        file.body("Hand", (0, 0, 1.05), size=(0.06, 0.06, 0.2), mass=0.4, velocity=(1, 0, -speed)),
        file.joint("Wrist", "Spherical", f"{W}/Arm", f"{W}/Hand", pos0=(0, 0, -0.15), pos1=(0, 0, 0.1)),
    )
    model = model_in(file)
    world = World(model, time_step=1 / 240, substeps=1)
    worst = 0.0
    for _ in range(144):
        world.step()
        worst = max(worst, apart(model, world, f"{W}/Wrist"))
    assert place(world, "Hand")[2] < 0.15
    # Its way in less than a millisecond; a small step of the solver takes a half.
    assert worst < 0.0008 * speed


@pytest.mark.slow
def test_a_whip_that_meets_itself_stays_whole() -> None:
    """The solver put fast links back to where they touch others, without those that they are joined to: 58 mm apart."""
    file, length, count = File(), 0.1, 24
    for number in range(count):
        file.add(file.body(f"Link{number}", (length * (number + 0.5), 0, 8), about("Y", 90), shape="Capsule",
                           size=(0.02, 0.06), mass=0.1))  # fmt: skip
        before = f"{W}/Link{number - 1}" if number else ""
        start = (0, 0, length / 2) if number else (0, 0, 8)
        file.add(file.joint(f"Joint{number}", "Spherical", before, f"{W}/Link{number}", pos0=start,
                            pos1=(0, 0, -length / 2)))  # fmt: skip
    model = model_in(file)
    world = World(model)
    worst = 0.0
    for _ in range(240):
        world.step()
        worst = max(worst, *(apart(model, world, path) for path in world.joints))
    assert worst < 0.03 * length


@pytest.mark.slow
def test_a_heap_of_jointed_boxes_comes_to_rest() -> None:
    """Light boxes between heavy ones slid below these at 0.3 m/s: velocities of corrections were not taken out."""
    locks = dict.fromkeys(("transX", "transY", "transZ"), (1.0, -1.0))
    limits = {**locks, "rotX": (-1.2, 1.2), "rotY": (-1.2, 1.2), "rotZ": (-0.3, 0.3)}

    def fill(file: File, chance: random.Random) -> None:
        file.add(file.ground())
        for number in range(8):
            width, mass = (0.07, 0.7) if number % 3 else (0.2, 10.0)
            where = (number % 2 * 0.12, chance.uniform(-0.02, 0.02), 0.3 + 0.28 * number)
            file.add(file.body(f"B{number}", where, size=(width, 0.8 * width, 0.28), mass=mass))
            if number:
                shift = 0.06 if number % 2 else -0.06
                file.add(file.joint(
                    f"J{number}", "D6", f"{W}/B{number - 1}", f"{W}/B{number}", pos0=(shift, 0, 0.14),
                    pos1=(-shift, 0, -0.14), limits=limits,
                    drives={axis: {"damping": 0.02} for axis in ("rotX", "rotY", "rotZ")},
                    apis=NEWTON, lines=["float newton:armature = 0.0005"],
                ))  # fmt: skip

    means = []
    for seed in range(3, 8):
        world, speeds = run(made(partial(fill, chance=random.Random(seed))), 2.5), []
        for _ in range(60):
            world.step()
            speeds.append(np.linalg.norm(world.velocities()[0], axis=1).max())
        means.append(np.mean(speeds))
    assert np.median(means) < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("rate", [60, 1000])
@pytest.mark.parametrize("mass", [0.001, 1000.0])
@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
def test_friction_holds_a_load_just_below_it_and_brakes_above(units: Units, mass: float, rate: int) -> None:
    """A slide with friction of 1.01 m g stays, with 0.9 m g it falls with 0.1 g; a hinge stops after w I / T."""
    inertia, torque, spin = 0.1 * mass, 0.8 * mass, 4.0

    def fill(file: File) -> None:
        for name, part in (("Held", 1.01), ("Slides", 0.9)):
            file.add(
                file.body(name, (0, 0, 0), mass=mass, inertia=(inertia,) * 3, collides=False),
                file.joint(f"{name}Joint", "Prismatic", "", f"{W}/{name}", axis="Z", apis=NEWTON,
                           lines=[f"float newton:friction = {file.force(part * mass * G)}"]),
            )  # fmt: skip
        file.add(
            file.body("Wheel", (0, 0, 0), mass=mass, inertia=(inertia,) * 3, spin=(0, 0, spin), collides=False),
            file.joint("Axle", "Revolute", "", f"{W}/Wheel", axis="Z", apis=NEWTON,
                       lines=[f"float newton:friction = {file.torque(torque)}"]),
        )  # fmt: skip

    seconds = 0.4
    world = run(made(fill, units, time_step=1 / rate), seconds)
    assert world.joint_position(f"{W}/HeldJoint", "linear") == pytest.approx(0.0, abs=1e-4)
    assert world.joint_position(f"{W}/SlidesJoint", "linear") == pytest.approx(-0.05 * G * seconds**2, rel=0.05)
    wheel = world.velocities()[1][world.index(f"{W}/Wheel")]
    assert np.linalg.norm(wheel) == pytest.approx(spin - torque / inertia * seconds, abs=0.02)
    run(world, 0.2)
    assert world.joint_position(f"{W}/Axle", "angular") == pytest.approx(spin**2 * inertia / (2 * torque), abs=0.02)
