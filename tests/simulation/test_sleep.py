# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves slowly goes on, and what rests falls asleep."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from .author import File
from .helpers import made, place, run, turn, world_of

W = "/World"


@pytest.mark.parametrize("seed", range(12))
def test_what_a_drive_moves_slowly_does_not_stop(seed: int) -> None:
    """Hinges and slides of any size, at a speed or to a far target at their own pace, with gravity and without."""
    chance = random.Random(seed)
    size = 10.0 ** chance.uniform(-1.5, 1)
    is_hinge, is_spring = chance.random() < 0.5, chance.random() < 0.5
    speed = 10.0 ** chance.uniform(-2.3, -1.5) * (1.0 if is_hinge else size)
    mass = 1000.0 * size**3
    damping = 100.0 * (mass * size**2 if is_hinge else mass)
    # A spring goes at that speed towards a target that it reaches by a factor of e in 100 s.
    drive: dict[str, float | str] = (
        {"stiffness": damping / 100.0, "damping": damping, "targetPosition": 100.0 * speed}
        if is_spring else {"damping": damping, "targetVelocity": speed}
    )  # fmt: skip
    dof = "angular" if is_hinge else "linear"
    file = File(gravity=chance.choice([(0.0, 0.0, -9.81), (0.0, 0.0, 0.0)]))
    file.add(
        file.body("Lever", (0, 0, 2 * size), size=(size, size, 0.2 * size), mass=mass),
        file.joint(
            "Joint", "Revolute" if is_hinge else "Prismatic", "", f"{W}/Lever", pos0=(0, 0, 2 * size),
            axis="Z" if is_hinge else "X", drives={dof: drive},
        ),
    )  # fmt: skip
    seconds = 4.0
    world = run(world_of(file), seconds)
    way = 100.0 * speed * (1.0 - math.exp(-seconds / 100.0)) if is_spring else speed * seconds
    assert world.joint_position(f"{W}/Joint", dof) == pytest.approx(way, rel=0.03)


@pytest.mark.parametrize("seed", range(6))
def test_what_flies_freely_goes_on(seed: int) -> None:
    chance = random.Random(seed)
    velocity = np.array([chance.uniform(-1, 1) for _ in range(3)]) * 10.0 ** chance.uniform(-4, -2)
    file = File(gravity=(0.0, 0.0, 0.0))
    file.add(file.body("Box", size=(10.0 ** chance.uniform(-2, 1),) * 3, velocity=velocity.tolist()))
    assert place(run(world_of(file), 4.0), "Box") == pytest.approx(4.0 * velocity, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("size", [0.01, 0.03])
def test_a_small_body_that_creeps_goes_on(size: float) -> None:
    """On ice, by a fifth of its size in a second."""

    def fill(file: File) -> None:
        file.add(
            file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
            file.body("Box", (0, 0, 0.5 * size), size=(size,) * 3, velocity=(0.2 * size, 0, 0), material=f"{W}/Ice"),
        )  # fmt: skip

    assert place(run(made(fill), 3.0), "Box")[0] == pytest.approx(0.6 * size, rel=0.04)


@pytest.mark.parametrize("size", [0.05, 0.3, 2.0])
def test_a_heap_falls_asleep(size: float) -> None:
    def fill(file: File) -> None:
        file.add(file.ground(), *(
            file.body(f"B{number}", (0.1 * size * (number % 2), 0, (0.52 + 1.02 * number) * size), size=(size,) * 3)
            for number in range(4)
        ))  # fmt: skip

    assert run(made(fill), 5.0).awake_count == 0


@pytest.mark.slow
@pytest.mark.parametrize("frequency", [0.03, 0.1])
def test_a_spring_without_damping_turns_back(frequency: float) -> None:
    """Where it turns it is as slow as what rests."""
    file = File()
    file.gravity = (0, 0, -9.81)
    gains = {"stiffness": 0.6 * (2 * math.pi * frequency) ** 2, "targetPosition": 0.3}
    file.add(
        file.body("Wheel", (0, 0, 3), mass=5.0, inertia=(0.6, 0.6, 0.6)),
        file.joint("Hinge", "Revolute", "", f"{W}/Wheel", pos0=(0, 0, 3), axis="X", drives={"angular": gains}),
    )
    world = run(world_of(file), 0.5 / frequency)
    assert math.asin(turn(world, "Wheel")[2, 1]) == pytest.approx(0.6, abs=0.03)
    run(world, 0.5 / frequency)
    assert turn(world, "Wheel")[2, 1] == pytest.approx(0.0, abs=0.03)
