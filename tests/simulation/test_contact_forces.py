"""Forces at contacts: what rests bears its weight, in every engine, unit and state of sleep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW, engine_row
from usdphys_ext.usdphys_addon.simulation.layout import EARTH_GRAVITY
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import METERS, File, about
from .helpers import model_in, run

ENGINES = [PREVIEW, "mujoco"]


def world_of(file: File, engine: str) -> World:
    if not engine_row(engine).is_here():
        pytest.skip(f"{engine} is not installed")
    return World(model_in(file), engine=engine)


def at_height(world: World, height: float) -> tuple[float, Any]:
    """(sum of the forces, normals) of the contacts at a height, m."""
    points, normals, forces = world.contact_points()
    rows = np.abs(points[:, 2] - height) < 0.02
    return float(forces[rows].sum()), normals[rows]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_a_stack_bears_what_is_above(engine: str, seconds: float) -> None:
    """After a second it is awake, after eight it sleeps."""
    file = File(METERS)
    file.add(file.ground(), file.body("Lower", (0, 0, 0.5), mass=3.0), file.body("Upper", (0, 0, 1.5), mass=2.0))
    world = world_of(file, engine)
    run(world, seconds)
    for height, mass in ((0.0, 5.0), (1.0, 2.0)):
        force, normals = at_height(world, height)
        assert force == pytest.approx(mass * EARTH_GRAVITY, rel=0.02)
        # A floor pushes up; of two bodies either is one that physics moves.
        assert (normals[:, 2] if height == 0.0 else np.abs(normals[:, 2])) == pytest.approx(1.0, abs=1e-2)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_falls_bears_nothing(engine: str) -> None:
    file = File(METERS)
    file.add(file.ground(), file.body("Crate", (0, 0, 5.0)))
    world = world_of(file, engine)
    run(world, 0.1)
    points, normals, forces = world.contact_points()
    assert points.shape == normals.shape == (0, 3) and forces.shape == (0,)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ramp_bears_the_part_of_the_weight_along_its_normal(engine: str) -> None:
    """With friction the crate rests: the normal forces are m g cos(15 degrees)."""
    file = File(METERS)
    file.add(
        file.material("Rough", 1.0), file.ground(tilt=15.0, material="/World/Rough"),
        file.body("Crate", (0.13, 0, 0.49), about("Y", 15.0), mass=4.0, material="/World/Rough"),
    )  # fmt: skip
    world = world_of(file, engine)
    run(world, 2.0)
    force = float(world.contact_points()[2].sum())
    assert force == pytest.approx(4.0 * EARTH_GRAVITY * np.cos(np.radians(15.0)), rel=0.03)
