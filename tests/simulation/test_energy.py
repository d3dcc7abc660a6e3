# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy from nowhere is named; energy that gravity, drives, hands and animation give is not."""

from __future__ import annotations

import math
import warnings
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.rapier.energy import EnergyWatch, Matter
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, about, block
from .catalogue import SCENES
from .helpers import made, place, run, world_of

W = "/World"
G = 9.81


def wheel(drive: dict[str, float | str], *, reduced: bool = False, spin: float = 0.0) -> World:
    """A wheel about X on a driven hinge, beside a crate that rests. spin: rad/s that it starts with."""
    file = File(CENTIMETERS)
    hinge = file.joint("Hinge", "Revolute", "", f"{W}/Robot/Wheel", pos0=(0, 0, 3), axis="X", drives={"angular": drive})
    body = file.body("Wheel", (0, 0, 3), shape="Cylinder", size=(0.5, 0.2), mass=5.0, inertia=(0.6, 0.6, 0.6),
                     spin=(spin, 0, 0) if spin else None)  # fmt: skip
    file.add(block("Xform", "Robot", [body, hinge], ["PhysicsArticulationRootAPI"] if reduced else []))
    file.add(file.ground(-5.0), file.body("Crate", (3, 0, -4.5)))
    return world_of(file)


@pytest.mark.slow
def test_no_false_alarm_in_any_scene() -> None:
    found = {name: run(made(fill, CENTIMETERS), 12.0).unstable for name, fill in SCENES.items()}
    assert found == {name: {} for name in SCENES}


def test_an_energy_that_is_no_number_is_no_alarm_and_no_warning() -> None:
    """That of a huge body, which the solver's single precision cannot hold."""
    view = SimpleNamespace(
        gravity_scale=1.0, kinetic_energy=lambda: math.inf, center_of_mass=SimpleNamespace(to_tuple=lambda: (0, 0, 0))
    )  # fmt: skip
    physics: Any = SimpleNamespace(gravity=SimpleNamespace(to_tuple=lambda: (0.0, 0.0, -9.81)))
    watch, matter = EnergyWatch(), Matter(np.array([1e15]), np.array([1e23]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [watch.look(physics, [view], matter, [], 0.25) for _ in range(2)] == [-1, -1]


@pytest.mark.slow
def test_no_false_alarm_in_a_fall_of_a_minute() -> None:
    world = run(made(SCENES["free_fall"], CENTIMETERS), 60.0)
    assert place(world, "Ball")[2] < -17000
    assert world.unstable == {}


@pytest.mark.slow
@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(
    "drive",
    [
        {"damping": 200.0, "targetVelocity": 40.0},
        {"damping": 1e6, "targetVelocity": 40.0, "maxForce": 30.0},
        {"damping": 30.0, "targetVelocity": 40.0, "type": "acceleration"},
        {"stiffness": 400.0, "damping": 0.1, "targetPosition": 2.5},
        {"stiffness": 900.0, "damping": 1.0, "targetPosition": 2.5, "type": "acceleration"},
        {"stiffness": 1e7, "targetPosition": 2.5, "maxForce": 50.0},
    ],
)
def test_no_false_alarm_where_a_drive_spins_a_wheel(drive: dict, reduced: bool) -> None:
    world = wheel(drive, reduced=reduced)
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, world.kinetic_energy())
    assert fastest > 30.0
    assert world.unstable == {}


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(
    "drive", [{"stiffness": 400.0, "damping": 1.0, "targetPosition": 2.5}, {"damping": 3.0, "targetVelocity": 30.0}]
)
def test_no_false_alarm_where_a_drive_accelerates_something_heavy(drive: dict, reduced: bool) -> None:
    """What it gives grows with what it moves: here 80 kg m2."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    inside = [file.body("Wheel", mass=5.0, inertia=(80, 80, 80)),
              file.joint("Hinge", "Revolute", "", f"{W}/Robot/Wheel", axis="X",
                         drives={"angular": {**drive, "type": "acceleration"}})]  # fmt: skip
    world = world_of(file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"] if reduced else [])))
    fastest = 0.0
    for _ in range(120):
        world.step()
        fastest = max(fastest, world.kinetic_energy())
    assert fastest > 1e4
    assert world.unstable == {}


@pytest.mark.slow
@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("target", "spin"), [(0.0, 30.0), (0.0, -30.0), (9.0, 0.0), (-9.0, 0.0)])
def test_no_false_alarm_where_a_spring_is_wound_up_beyond_half_a_turn(
    target: float, spin: float, reduced: bool
) -> None:
    """It gives back what it was given, also after whole turns."""
    world = wheel({"stiffness": 5.0, "targetPosition": target}, reduced=reduced, spin=spin)
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, world.kinetic_energy())
    assert fastest > 100.0
    assert world.unstable == {}


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_no_false_alarm_where_a_hinge_is_seen_from_its_other_body(swapped: bool) -> None:
    """The spring of a joint in reduced coordinates whose body 1 is nearer to the root."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    ends = ["", f"{W}/Robot/Wheel"]
    pos = {"pos0": (0, 0, 3)}
    if swapped:
        ends.reverse()
        pos = {"pos1": (0, 0, 3)}
    drive = {"stiffness": 60.0, "targetPosition": 8.0}
    inside = [file.body("Wheel", (0, 0, 3), inertia=(0.6, 0.6, 0.6), mass=5.0),
              file.joint("Hinge", "Revolute", *ends, axis="X", drives={"angular": drive}, **pos)]  # fmt: skip
    file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"]))
    world = world_of(file)
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, world.kinetic_energy())
    assert fastest == pytest.approx(0.5 * 60.0 * 8.0**2, rel=0.1)
    assert world.unstable == {}


def test_no_false_alarm_where_animation_and_hands_push() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Bat", (0, 0, 0), size=(0.2, 2, 2), kinematic=True), file.body("Ball", (1, 0, 0)),
             file.body("Held", (0, 20, 0)))  # fmt: skip
    world = world_of(file)
    held = world.grab(f"{W}/Held", (0, 20, 0))
    for step in range(60):
        world.set_kinematic_pose(f"{W}/Bat", (0.2 * step, 0, 0), (1, 0, 0, 0))
        world.move_grab(held, (0.2 * step, 20, 0))
        world.step()
    world.release(held)
    world.set_gravity((0, 5, 0))
    run(world, 2.0)
    assert place(world, "Ball")[0] > 20 and place(world, "Held")[0] > 20
    assert world.unstable == {}


@pytest.mark.slow
def test_what_gains_from_nowhere_is_named() -> None:
    """A damper that pushes instead: nothing authored may give energy, and this does."""
    world = run(wheel({"damping": -3.0}, spin=1.0), 3.0)
    assert list(world.unstable) == [f"{W}/Robot/Wheel"]
    assert "energy" in world.unstable[f"{W}/Robot/Wheel"]
    (notice,) = [issue for issue in world.notices if issue.code == "Unstable"]
    assert "Wheel" in notice.message and notice.path == f"{W}/Robot/Wheel"
    world.reset()
    assert world.unstable == {}


def rocket(file: File, name: str, y: float, rate: float) -> None:
    """A body on a rail along X whose damper pushes: its speed, 5 m/s at first, is 5 m/s * exp(rate * time)."""
    mass = 2.0
    file.add(file.body(name, (0, y, 0), mass=mass, velocity=(5, 0, 0)))
    file.add(file.joint(f"{name}Rail", "Prismatic", "", f"{W}/{name}", pos0=(0, y, 0), axis="X",
                        drives={"linear": {"damping": -rate * mass}}))  # fmt: skip


def test_the_body_that_gains_most_is_named() -> None:
    file = File(CENTIMETERS)
    for index, rate in enumerate((0.5, 1.0, 2.0, 1.5)):
        rocket(file, f"Box{index}", 3.0 * index, rate)
    world = run(world_of(file), 0.6)
    assert list(world.unstable) == [f"{W}/Box2"]


@pytest.mark.slow
@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 480])
def test_a_world_of_many_steps_is_looked_at_as_often(step: float) -> None:
    """Twice in half a simulated second, whatever a step is: the first look has nothing to compare with."""
    file = File()
    rocket(file, "Rocket", 0.0, 2.0)
    world = world_of(file, time_step=step)
    while world.time < 0.5 - step - 1e-9:
        world.step()
    assert world.unstable == {}
    run(world, 0.05 + step)
    assert list(world.unstable) == [f"{W}/Rocket"]
    assert "energy" in world.unstable[f"{W}/Rocket"]


@pytest.mark.slow
def test_a_heap_of_boxes_that_bounces_gains_nothing() -> None:
    file, rng = File(METERS), Random(1)
    file.add(file.material("Stuff", 0.5, 0.8), file.ground(material=f"{W}/Stuff"))
    for number in range(27):
        x, y, z = number % 3, number // 3 % 3, number // 9
        file.add(file.body(f"Box{number}", (0.55 * x + rng.uniform(-0.02, 0.02), 0.55 * y, 0.3 + 0.55 * z),
                           about("Z", rng.uniform(0, 90)), size=(0.4,) * 3, material=f"{W}/Stuff"))  # fmt: skip
    world = world_of(file)
    moment = 0.4**2 / 6.0
    start = G * float(world.positions[:, 2].sum())
    for _ in range(40):
        world.step()
        linear, angular = world.velocities()
        moving = 0.5 * float((linear**2).sum()) + 0.5 * moment * float((angular**2).sum())
        assert moving + G * float(world.positions[:, 2].sum()) < 1.02 * start
