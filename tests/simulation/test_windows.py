# SPDX-License-Identifier: GPL-3.0-or-later
"""Large static boxes are cut to where bodies are; nobody notices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File, about
from .helpers import made, place, run

RADIUS = 0.1


def lying(file: File, name: str = "Drum", x: float = 0.0, y: float = 0.0, **options) -> None:
    file.add(file.body(name, (x, y, RADIUS), about("X", 90), shape="Cylinder", size=(RADIUS, 0.3, 0), **options))


def cut(world: World) -> list[float]:
    """Lengths of the static boxes of the first group, m."""
    space = world.spaces[0].spaces[0]
    found = []
    for handle in space.static_handles.values():
        (collider,) = space.physics.rigid_bodies[handle].colliders
        found.append(2 * max(space.physics.colliders[collider].shape.as_cuboid().half_extents.to_tuple()))
    return found


def test_a_floor_is_cut_for_a_drum_and_not_for_a_ball() -> None:
    def fill(file: File) -> None:
        file.add(file.ground(size=1000.0))
        lying(file)

    world = run(made(fill), 0.1)
    assert max(cut(world)) < 25.0
    ball = run(made(lambda file: file.add(file.ground(size=1000.0), file.body("Ball", (0, 0, 1), shape="Sphere"))), 0.1)
    assert max(cut(ball)) == pytest.approx(1000.0)


def test_a_drum_rolls_on_over_a_long_floor_and_falls_off_its_edge() -> None:
    def fill(file: File) -> None:
        file.add(file.ground(size=120.0))
        # A cylinder along Y rolls along X.
        lying(file, x=20.0, velocity=(12.0, 0, 0), spin=(0, 0, -12.0 / RADIUS))

    world = made(fill)
    heights = []
    while place(world, "Drum")[0] < 59.5 and world.time < 6.0:
        world.step()
        heights.append(place(world, "Drum")[2])
    assert world.time < 6.0
    assert np.ptp(heights) < 0.05 * RADIUS
    run(world, 2.0)
    assert place(world, "Drum")[2] < -5.0


def test_a_drum_that_falls_from_high_up_lands() -> None:
    def fill(file: File) -> None:
        file.add(file.ground(size=1000.0))
        file.add(file.body("Drum", (300, -200, 80), about("X", 90), shape="Cylinder", size=(RADIUS, 0.3, 0)))

    world = run(made(fill), 6.0)
    assert place(world, "Drum")[2] == pytest.approx(RADIUS, abs=0.01)


def test_a_drum_goes_on_alike_after_a_reset_and_from_a_snapshot() -> None:
    def fill(file: File) -> None:
        file.add(file.ground(size=1000.0))
        lying(file, velocity=(6.0, 0, 0), spin=(0, 0, -6.0 / RADIUS))

    world = run(made(fill), 1.0)
    saved = world.snapshot()
    first = place(run(world, 1.0), "Drum").copy()
    world.restore(saved)
    assert place(run(world, 1.0), "Drum").tolist() == first.tolist()


def test_a_tilted_block_is_cut_along_its_own_axes() -> None:
    """A drum rolls down a slope of 300 m as fast as on one of 20 m."""
    ways = []
    for size in (20.0, 300.0):
        world = run(made(lambda file, size=size: slope(file, size)), 1.0)
        ways.append(float(np.linalg.norm(place(world, "Drum") - start())))
    assert ways[1] == pytest.approx(ways[0], rel=0.02)
    # g sin 20 degrees / 1.5 / 2
    assert ways[0] == pytest.approx(9.81 * math.sin(math.radians(20)) / 3.0, rel=0.05)


def start() -> np.ndarray:
    angle = math.radians(20)
    return np.array((math.sin(angle), 0.0, math.cos(angle))) * RADIUS


def slope(file: File, size: float) -> None:
    file.add(file.ground(size=size, tilt=20.0))
    file.add(file.body("Drum", start().tolist(), about("X", 90), shape="Cylinder", size=(RADIUS, 0.3, 0),
                       inertia=(0.01, 0.01, 0.5 * RADIUS**2)))  # fmt: skip
