# SPDX-License-Identifier: GPL-3.0-or-later
"""What slows down bodies that author no damping: against exponentials and the work of rolling resistance."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.air import OFF, Air, of_physx, of_targets
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import UNITS, File, Units
from .helpers import model_in, place, run

G = 9.81
W = "/World"


def world_in(file: File, air: Air) -> World:
    model = model_in(file)
    model.air = air
    return World(model)


def simulated(folder, file: File, *arguments: str) -> np.ndarray:
    """Where the body Ball is at the end of 2 s on the command line."""
    (folder / "in.usda").write_text(file.text())
    out = folder / "out.json"
    assert cli.main(["simulate", str(folder / "in.usda"), "--seconds", "2", "--json", str(out), *arguments]) == 0
    return np.array(json.loads(out.read_text())["bodies"][f"{W}/Ball"]["translation"][-1])


def speed(world: World, name: str) -> tuple[float, float]:
    """m/s and rad/s."""
    linear, angular = world.velocities()
    row = world.paths.index(f"{W}/{name}")
    return float(np.linalg.norm(linear[row])), float(np.linalg.norm(angular[row]))


def test_only_a_scene_that_is_made_for_physx_alone_gets_its_damping() -> None:
    assert of_targets({"PHYSX"}) == of_targets({"PHYSX", "NEUTRAL"}) == of_physx() == Air(0.0, 0.05, of="PhysX")
    for targets in ({"NEUTRAL"}, {"PHYSX", "NEWTON"}, {"PHYSX", "MUJOCO"}, {"MUJOCO"}, set()):
        assert of_targets(targets) == OFF


@pytest.mark.parametrize("units", UNITS)
def test_bodies_that_author_no_damping_get_that_of_the_air(units: Units) -> None:
    """What a body authors counts, a 0 as well: for its speed and its spin alone."""
    file = File(units, gravity=(0, 0, 0))
    linear, angular = (f"float physxRigidBody:{name}Damping = {{}}".format for name in ("linear", "angular"))
    bodies = {"Plain": ([], 0.3, 0.7), "Linear": ([linear(1.0)], 1.0, 0.7), "Angular": ([angular(0.0)], 0.3, 0.0),
              "None": ([linear(0.0), angular(0.0)], 0.0, 0.0)}  # fmt: skip
    for number, (name, (extra, *_)) in enumerate(bodies.items()):
        file.add(file.body(name, (0, 5 * number, 0), velocity=(2, 0, 0), spin=(0, 0, 3), extra=extra,
                           apis=["PhysxRigidBodyAPI"] if extra else []))  # fmt: skip
    world = run(world_in(file, Air(0.3, 0.7)), 2.0)
    for name, (_, slowing, turning) in bodies.items():
        wanted = 2.0 * math.exp(-2.0 * slowing), 3.0 * math.exp(-2.0 * turning)
        assert speed(world, name) == pytest.approx(wanted, rel=0.01), name


def test_air_is_told_where_it_acts() -> None:
    moving, still = File(), File()
    moving.add(moving.body("Box"))
    still.add(still.body("Box", kinematic=True))
    for file, air, codes in ((moving, of_physx(), ["AirSlows"]), (moving, OFF, []), (still, of_physx(), [])):
        assert [issue.code for issue in world_in(file, air).notices] == codes
    message = world_in(moving, of_physx()).notices[0].message
    assert message == "Bodies without damping of their own lose 5 % of their spin a second, as in PhysX."


@pytest.mark.slow
@pytest.mark.parametrize(("radius", "mass", "coefficient"), [(0.5, 1.0, 0.05), (0.1, 20.0, 0.02), (0.03, 0.1, 0.1)])
def test_a_ball_rolls_as_far_as_its_energy_lasts(radius: float, mass: float, coefficient: float) -> None:
    """0.7 m v^2 = c m g way, for a ball that rolls without sliding."""
    way = 20.0 * radius
    start = math.sqrt(2.0 * coefficient * G * way / 1.4)
    file = File()
    file.add(file.material("M", 0.8), file.ground(material=f"{W}/M"),
             file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius, 0, 0), mass=mass,
                       velocity=(start, 0, 0), spin=(0, start / radius, 0), material=f"{W}/M"))  # fmt: skip
    world = run(world_in(file, Air(rolling=coefficient)), 1.5 * 2.0 * way / start)
    assert place(world, "Ball")[:2] == pytest.approx((way, 0.0), abs=0.04 * way)
    assert max(speed(world, "Ball")) < 0.02


@pytest.mark.slow
def test_rolling_resistance_lets_a_ball_rest_on_a_flat_slope_only() -> None:
    """It holds where the slope is below its coefficient, and else g (sin a - c cos a) / 1.4 is the acceleration."""
    for degrees, coefficient in ((2.0, 0.05), (10.0, 0.05), (10.0, 0.0)):
        file, angle = File(), math.radians(degrees)
        file.add(file.material("M", 0.8), file.ground(material=f"{W}/M", tilt=degrees),
                 file.body("Ball", (0, 0, 0.2 / math.cos(angle)), shape="Sphere", size=(0.2, 0, 0),
                           material=f"{W}/M"))  # fmt: skip
        world = world_in(file, Air(rolling=coefficient))
        before = place(world, "Ball").copy()
        run(world, 2.0)
        way = max(G * (math.sin(angle) - coefficient * math.cos(angle)) / 1.4, 0.0) * 2.0
        assert float(np.linalg.norm(place(world, "Ball") - before)) == pytest.approx(way, rel=0.05, abs=0.02)


@pytest.mark.slow
def test_the_command_line_takes_what_slows_bodies_down(tmp_path, capsys) -> None:
    file = File(gravity=(0, 0, 0)).add(File(gravity=(0, 0, 0)).body("Ball", velocity=(1, 0, 0)))
    assert simulated(tmp_path, file)[0] == pytest.approx(2.0, abs=1e-3)
    assert simulated(tmp_path, file, "--air", "off")[0] == pytest.approx(2.0, abs=1e-3)
    assert "AirSlows" not in capsys.readouterr().err
    assert simulated(tmp_path, file, "--air", "0.5")[0] == pytest.approx(2.0 * (1.0 - math.exp(-1.0)), rel=0.01)
    assert simulated(tmp_path, file, "--air", "physx")[0] == pytest.approx(2.0, abs=1e-3)
    assert "lose 5 % of their spin a second, as in PhysX" in capsys.readouterr().err
    for wrong in ("x", "0.1,", "1,2,3,4", "nan", "0,inf"):
        assert cli.main(["simulate", str(tmp_path / "in.usda"), "--seconds", "1", "--air", wrong]) != 0
        assert "argument --air" in capsys.readouterr().err
