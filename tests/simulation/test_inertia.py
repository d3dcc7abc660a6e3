# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies turn by their own moments of inertia, wherever and however turned their colliders are, small ones too."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames

from .author import File, about, multiply
from .helpers import place, run, turn, world_of

W = "/World"
TURNS = ((1.0, 0.0, 0.0, 0.0), about("X", 90), about("Z", 90), multiply(about("Y", 35), about("X", 20)))


@pytest.mark.parametrize("size", [1.0, 0.02])
@pytest.mark.parametrize("way", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.1)])
@pytest.mark.parametrize("axis", "XYZ")
def test_a_disc_swings_on_a_spring_by_its_own_inertia(axis: str, way: tuple[float, ...], size: float) -> None:
    radius, density, rate, file = 0.4 * size, 500.0, 2.0, File(gravity=(0, 0, 0))
    mass = density * math.pi * radius**2 * 0.1 * size
    stiffness = 0.5 * mass * radius**2 * (2.0 * math.pi * rate) ** 2
    middle = tuple(size * part for part in way)
    disc = file.shape("Disc", "Cylinder", (radius, 0.1 * size), middle, axis=axis)
    drive = {"angular": {"stiffness": stiffness, "targetPosition": 0.3}}
    file.add(file.body("Wheel", geometry=disc, mass=None, density=density),
             file.joint("Axle", "Revolute", body1=f"{W}/Wheel", pos0=middle, pos1=middle, axis=axis, drives=drive),
             )  # fmt: skip
    world = run(world_of(file), 0.5 / rate)
    assert world.joint_position(f"{W}/Axle", "angular") == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("size", [1.0, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_a_body_that_tumbles_keeps_its_angular_momentum(seed: int, size: float, number: int) -> None:
    """Of two equal moments, and of three that differ, about any axes; the colliders are anywhere."""
    rng, file = Random(f"{seed} {number}"), File(gravity=(0, 0, 0))
    moments = [rng.uniform(0.6, 1.0) * size**5 for _ in range(3)]
    if seed % 2:
        moments[2] = moments[1]
    axes, spin = rng.choice(TURNS), [rng.uniform(-6.0, 6.0) for _ in range(3)]
    shapes = [file.shape(f"Part{part}", "Cube", [rng.uniform(0.1, 0.4) * size for _ in range(3)],
                         [rng.uniform(-0.3, 0.3) * size for _ in range(3)], rng.choice(TURNS))
              for part in range(number)]  # fmt: skip
    file.add(file.body("Body", mass=10.0 * size**3, inertia=moments, center=(0, 0, 0), axes=axes, spin=spin,
                       collides=False, children=shapes))  # fmt: skip
    world = world_of(file)
    own = frames.matrix_of(np.array(axes))
    inertia = own @ np.diag(moments) @ own.T

    def momentum() -> np.ndarray:
        now = turn(world, "Body")
        return now @ inertia @ now.T @ world.velocities()[1][0]

    before = momentum()
    run(world, 0.5)
    assert momentum() == pytest.approx(before, abs=0.02 * float(np.linalg.norm(before)))


def test_a_flywheel_on_an_arm_precesses_as_its_angular_momentum_says() -> None:
    """A wheel of which the cylinder lies along X, on an arm with a level hinge, on a post that turns: m g l / (I w)."""
    length, mass, spin, file = 0.4, 2.0, 400.0, File()
    inertia, slight = (0.06, 0.031, 0.031), (0.01, 0.01, 0.01)
    disc = file.shape("Disc", "Cylinder", (0.24, 0.04), axis="X")
    file.add(file.body("Post", mass=1.0, inertia=slight, collides=False),
             file.body("Arm", (length / 2, 0, 0), mass=0.6, inertia=slight, collides=False),
             file.body("Wheel", (length, 0, 0), mass=mass, inertia=inertia, geometry=disc, spin=(spin, 0, 0)),
             file.joint("Turns", "Revolute", body1=f"{W}/Post", axis="Z"),
             file.joint("Tilts", "Revolute", f"{W}/Post", f"{W}/Arm", pos1=(-length / 2, 0, 0), axis="Y"),
             file.joint("Spins", "Revolute", f"{W}/Arm", f"{W}/Wheel", pos0=(length / 2, 0, 0), axis="X"),
             )  # fmt: skip
    world = run(world_of(file), 1.5)
    x, y, z = place(world, "Wheel")
    rate = (mass + 0.3) * 9.81 * length / (inertia[0] * spin)
    assert math.atan2(y, x) == pytest.approx(1.5 * rate, rel=0.06)
    assert z == pytest.approx(0.0, abs=0.02)
