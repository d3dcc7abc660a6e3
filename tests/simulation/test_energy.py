# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy from nowhere is named; energy that gravity, drives, hands and animation give is not."""

from __future__ import annotations

import math

import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import UNITS, File, Units, block
from .catalogue import SCENES
from .helpers import made, place, run, world_of

W = "/World"
units = pytest.mark.parametrize("units", UNITS, ids=lambda item: item.name)


def wheel(units: Units, drive: dict[str, float | str], *, reduced: bool = False, mass: float = 5.0) -> World:
    """A wheel about X on a driven hinge, beside a crate that rests."""
    file = File(units)
    hinge = file.joint("Hinge", "Revolute", "", f"{W}/Robot/Wheel", pos0=(0, 0, 3), axis="X", drives={"angular": drive})
    body = file.body("Wheel", (0, 0, 3), shape="Cylinder", size=(0.5, 0.2), mass=mass, inertia=(0.6, 0.6, 0.6))
    file.add(block("Xform", "Robot", [body, hinge], ["PhysicsArticulationRootAPI"] if reduced else []))
    file.add(file.ground(-5.0), file.body("Crate", (3, 0, -4.5)))
    return world_of(file)


@units
@pytest.mark.parametrize("name", sorted(SCENES))
def test_no_false_alarm_in_any_scene(name: str, units: Units) -> None:
    assert run(made(SCENES[name], units), 12.0).unstable == {}


@units
def test_no_false_alarm_in_a_fall_of_a_minute(units: Units) -> None:
    world = run(made(SCENES["free_fall"], units), 60.0)
    assert place(world, "Ball")[2] < -17000
    assert world.unstable == {}


@units
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
def test_no_false_alarm_where_a_drive_spins_a_wheel(drive: dict, reduced: bool, units: Units) -> None:
    world = wheel(units, drive, reduced=reduced)
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, world.kinetic_energy())
    assert fastest > 30.0
    assert world.unstable == {}


@units
def test_no_false_alarm_where_animation_and_hands_push(units: Units) -> None:
    file = File(units)
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


@units
def test_what_gains_from_nowhere_is_named(units: Units) -> None:
    """A damper that pushes instead: nothing authored may give energy, and this does."""
    world = wheel(units, {"damping": -3.0})
    space = world._spaces[0]
    space.physics.rigid_bodies[space.handles[f"{W}/Robot/Wheel"]].angvel = (1.0, 0, 0)
    run(world, 3.0)
    assert list(world.unstable) == [f"{W}/Robot/Wheel"]
    assert "energy" in world.unstable[f"{W}/Robot/Wheel"]
    (notice,) = [issue for issue in world.notices if issue.code == "Unstable"]
    assert "Wheel" in notice.message and notice.path == f"{W}/Robot/Wheel"
    world.reset()
    assert world.unstable == {}


@units
def test_the_body_that_gains_most_is_named(units: Units) -> None:
    file = File(units)
    file.add(file.ground(), *(file.body(f"Box{index}", (3.0 * index, 0, 0.5), mass=1.0 + index) for index in range(4)))
    world = run(world_of(file), 0.5)
    space = world._spaces[0]
    for step in range(30):
        for name, speed in (("Box1", 0.15), ("Box2", 0.4)):
            path = f"{W}/{name}"
            world._spaces[0].physics.rigid_bodies[space.handles[path]].linvel = (0, 0, speed * step)
            space.physics.wake_up(space.handles[path])
        world.step()
    assert list(world.unstable) == [f"{W}/Box2"]


def test_a_world_of_many_steps_is_looked_at_as_often() -> None:
    """The time between two looks is one of the clock, not of steps."""
    file = File()
    file.add(file.body("Rocket", (0, 0, 0), mass=2.0))
    file.gravity = (0, 0, 0)
    for step in (1 / 30, 1 / 60, 1 / 480):
        world = world_of(file, time_step=step)
        space = world._spaces[0]
        for _ in range(round(1.0 / step)):
            body = space.physics.rigid_bodies[space.handles[f"{W}/Rocket"]]
            body.linvel = (body.linvel.to_tuple()[0] + 20.0 * step, 0.0, 0.0)
            world.step()
        assert list(world.unstable) == [f"{W}/Rocket"], step
        assert math.isfinite(world.kinetic_energy())
