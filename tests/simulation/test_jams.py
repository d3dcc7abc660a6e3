# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that no joint of an articulation can open do not turn its joints, and do not brake them."""

from __future__ import annotations

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
