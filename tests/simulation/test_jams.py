# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that no joint of an articulation can open do not turn its joints, and do not brake them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File, block
from .helpers import codes, place, run, turn, world_of

W = "/World/Robot"
#: Places of the robot: what rounds differently must not move differently.
PLACES = [(0.0, 0.0), (3.0, -2.0), (-1.37, 0.73), (8.1, 5.3)]


def robot(file: File, inside: list[str]) -> World:
    return world_of(file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"])))


def head(x: float, y: float, spin: float = 0.0) -> World:
    """A ball on a hinge about Z whose shoulders, on the same body, reach into it."""
    file = File()
    inside = [
        file.body("Trunk", (x, y, 1.0), size=(0.3, 0.3, 0.3), mass=10.0, inertia=(1, 1, 1)),
        file.body("Arm", (x, y - 0.22, 1.1), size=(0.2, 0.1, 0.6), mass=10.0, inertia=(1, 1, 1)),
        file.body("Head", (x, y, 1.3), shape="Sphere", size=(0.2, 0, 0), mass=2.0, inertia=(1, 1, 1),
                  spin=(0, 0, spin) if spin else None),
        file.joint("Stand", "Fixed", "", f"{W}/Trunk", pos0=(x, y, 1.0)),
        file.joint("Shoulder", "Fixed", f"{W}/Trunk", f"{W}/Arm", pos0=(0, -0.22, 0.1)),
        file.joint("Neck", "Revolute", f"{W}/Trunk", f"{W}/Head", pos0=(0, 0, 0.3), axis="Z"),
    ]  # fmt: skip
    return robot(file, inside)


@pytest.mark.parametrize("spot", PLACES)
def test_a_ball_between_shoulders_stays_at_rest(spot: tuple[float, float]) -> None:
    world = head(*spot)
    for _ in range(60):
        world.step()
        assert turn(world, "Head")[0, 0] == pytest.approx(1.0, abs=1e-6)
    assert codes(world).count("ContactJammed") == 1


@pytest.mark.parametrize("spot", PLACES)
def test_a_ball_between_shoulders_turns_as_freely_as_its_hinge(spot: tuple[float, float]) -> None:
    world = run(head(*spot, spin=2.0), 1.0)
    assert world.velocities()[1][world.index(f"{W}/Head"), 2] == pytest.approx(2.0, rel=1e-3)


@pytest.mark.slow
def test_a_turntable_that_only_touches_the_floor_is_jammed_wherever_it_is() -> None:
    """The normal of a contact that is no distance apart is off by up to 3e-3 there."""
    places = random.Random(1)
    for _ in range(60):
        x, y = places.uniform(-50.0, 50.0), places.uniform(-50.0, 50.0)
        thick, shape = places.choice([0.02, 0.1, 0.3]), places.choice(["Cylinder", "Cube"])
        size = (3.0 * thick, thick) if shape == "Cylinder" else (3.0 * thick, 2.0 * thick, thick)
        file = File()
        file.add(file.ground())
        inside = [
            file.body("Table", (x, y, 0.5 * thick), shape=shape, size=size, mass=5.0),
            file.joint("Axle", "Revolute", "", f"{W}/Table", pos0=(x, y, 0.5 * thick), axis="Z"),
        ]
        assert codes(robot(file, inside)).count("ContactJammed") == 1, (x, y, thick, shape)


@pytest.mark.parametrize("sunk", [0.0, 0.002])
@pytest.mark.parametrize("spot", PLACES)
def test_a_driven_turntable_in_the_floor_turns(spot: tuple[float, float], sunk: float) -> None:
    x, y = spot
    file = File()
    file.add(file.ground())
    inside = [
        file.body("Table", (x, y, 0.05 - sunk), shape="Cylinder", size=(0.3, 0.1), mass=5.0),
        file.joint("Axle", "Revolute", "", f"{W}/Table", pos0=(x, y, 0.05 - sunk), axis="Z",
                   drives={"angular": {"damping": 50.0, "targetVelocity": 2.0}}),
    ]  # fmt: skip
    world = run(robot(file, inside), 1.0)
    assert world.velocities()[1][world.index(f"{W}/Table"), 2] == pytest.approx(2.0, rel=1e-2)


def test_a_lever_that_can_leave_the_floor_leaves_it() -> None:
    file = File()
    file.add(file.ground())
    inside = [
        file.body("Lever", (0.8, 0, 0.047), size=(0.4, 0.1, 0.1), mass=2.0),
        file.joint("Axle", "Revolute", "", f"{W}/Lever", pos0=(0, 0, 0.3), pos1=(-0.8, 0, 0.253), axis="Y"),
    ]
    world = run(robot(file, inside), 2.0)
    assert 0.045 < place(world, "Lever")[2] < 0.06
    assert "ContactJammed" not in codes(world)


def two_links(overlap: float, lever: float) -> World:
    """A trunk, and a shin on two hinges that reaches into it at some distance (m) from the axis of the first."""
    file = File(gravity=(0, 0, 0))
    inside = [
        file.body("Trunk", (0, 0, 0), size=(0.4, 0.2, 0.05), mass=1.0),
        file.body("Hip", (0.1, -0.15, 0), size=(0.02, 0.02, 0.02), mass=0.1, collides=False),
        file.body("Shin", (0.1, -0.11 + overlap, -lever), size=(0.02, 0.02, 0.02), mass=0.1),
        file.joint("Stand", "Fixed", "", f"{W}/Trunk"),
        file.joint("Roll", "Revolute", f"{W}/Trunk", f"{W}/Hip", pos0=(0.1, -0.15, 0), axis="X"),
        file.joint("Pitch", "Revolute", f"{W}/Hip", f"{W}/Shin", pos1=(0, -0.04 - overlap, lever), axis="Y"),
    ]  # fmt: skip
    return robot(file, inside)


def test_links_that_overlap_close_to_an_axis_do_not_throw_it_about() -> None:
    """The trunk would have to turn the hip by more than half a radian to be rid of 3.5 mm."""
    world = two_links(0.0035, 0.005)
    fastest = max(abs(run(world, 1 / 60).velocities()[1]).max() for _ in range(60))
    assert fastest < 0.01 and codes(world).count("ContactJammed") == 1


def test_links_that_overlap_far_from_an_axis_are_pushed_apart() -> None:
    world = two_links(0.0003, 0.03)
    assert "ContactJammed" not in codes(world)
    assert place(run(world, 1.0), "Shin")[1] < -0.1098


def arms(apart: float) -> World:
    """Two equal arms that are fixed to the world: servos turn a column about Z, and tilt a boom on it."""
    file, drive = File(), {"angular": {"stiffness": 100.0, "damping": 10.0, "maxForce": 50.0}}
    for name, y in (("One", 0.0), ("Other", apart)):
        path = f"/World/{name}"
        file.add(block("Xform", name, [
            file.body("Base", (0.0, y, 0.1), shape="Cylinder", size=(0.22, 0.2), mass=8.0),
            file.body("Column", (0.0, y, 0.35), size=(0.16, 0.16, 0.3), mass=3.0),
            file.body("Boom", (0.35, y, 0.5), size=(0.7, 0.1, 0.1), mass=2.0),
            file.joint("Stand", "Fixed", "", f"{path}/Base", pos0=(0, y, 0.1)),
            file.joint("Turn", "Revolute", f"{path}/Base", f"{path}/Column", pos0=(0, 0, 0.1), pos1=(0, 0, -0.15),
                       axis="Z", drives=drive),
            file.joint("Lift", "Revolute", f"{path}/Column", f"{path}/Boom", pos0=(0, 0, 0.15), pos1=(-0.35, 0, 0),
                       axis="Y", drives=drive),
        ], ["PhysicsArticulationRootAPI"]))  # fmt: skip
    return world_of(file)


@pytest.mark.parametrize("apart", [0.0, 0.05, 0.1, 0.3])
def test_two_arms_in_each_other_do_not_make_the_solver_fail(apart: float) -> None:
    """A robot that is imported twice is twice in the same place."""
    world = arms(apart)
    start = world.positions.copy()
    run(world, 0.5)
    assert not world.unstable and np.abs(world.positions - start).max() < 0.3
    for name, y in (("One", 0.0), ("Other", apart)):
        assert world.positions[world.index(f"/World/{name}/Base")] == pytest.approx((0.0, y, 0.1), abs=1e-3)
