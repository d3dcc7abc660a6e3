# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that follow others go on with them beyond half a turn, as wheels, screws and trains of gears do."""

from __future__ import annotations

import math

import pytest

from .author import CENTIMETERS, METERS, File, Units, multiply
from .helpers import run, world_of

#: rad/s of the first joint, and how many seconds it turns: three turns.
SPEED, SECONDS = 2.0 * math.pi, 3.0


def train(units: Units, ratios: tuple[float, ...], kinds: tuple[str, ...], *, articulated: bool = False) -> File:
    """A driven hinge, and joints that follow each the one before, by ratios (rad or m for each rad)."""
    file = File(units)
    file.add(file.body("Base", collides=False, mass=5.0, inertia=(1.0,) * 3,
                       apis=["PhysicsArticulationRootAPI"] * articulated),
             file.joint("Foot", "Fixed", "", "/World/Base"))  # fmt: skip
    for number, kind in enumerate(("Revolute", *kinds)):
        file.add(file.body(f"B{number}", (number, 0, 0), collides=False, mass=1.0, inertia=(0.1,) * 3))
        if not number:
            options = {"drives": {"angular": {"damping": 1e5, "targetVelocity": SPEED}}}
        else:
            options = {"apis": ["NewtonMimicAPI"], "lines": [
                f"rel newton:mimicJoint = </World/J{number - 1}>", f"float newton:mimicCoef1 = {ratios[number - 1]}",
            ]}  # fmt: skip
        file.add(file.joint(f"J{number}", kind, "/World/Base", f"/World/B{number}", pos0=(number, 0, 0), axis="Z",
                            **options))  # fmt: skip
    return file


def turned(file: File, names: tuple[str, ...], seconds: float) -> dict[str, float]:
    """By how much bodies turn about Z, rad, over several turns."""
    world = world_of(file)
    rows = {name: world.paths.index(f"/World/{name}") for name in names}
    whole, before = dict.fromkeys(names, 0.0), world.rotations.copy()
    for _ in range(round(seconds / world.time_step)):
        world.step()
        for name, row in rows.items():
            w, x, y, z = before[row]
            change = multiply(world.rotations[row], (w, -x, -y, -z))
            whole[name] += math.remainder(2.0 * math.atan2(change[3], change[0]), 2.0 * math.pi)
        before = world.rotations.copy()
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("articulated", [False, True], ids=["apart", "articulated"])
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
def test_a_train_of_hinges_turns_by_its_ratios_over_many_turns(units: Units, articulated: bool) -> None:
    """The second one stayed at half a turn, and the third one leapt by whole ones."""
    found = turned(train(units, (-1.5, 0.4), ("Revolute",) * 2, articulated=articulated), ("B0", "B1", "B2"), SECONDS)
    assert found["B0"] == pytest.approx(SPEED * SECONDS, rel=0.01)
    assert found["B1"] == pytest.approx(-1.5 * found["B0"], rel=0.01)
    assert found["B2"] == pytest.approx(0.4 * found["B1"], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
def test_a_screw_goes_on_over_many_turns(units: Units) -> None:
    """It went to and fro with each turn."""
    world = world_of(train(units, (0.02,), ("Prismatic",)))
    run(world, SECONDS)
    assert world.joint_position("/World/J1", "linear") == pytest.approx(0.02 * SPEED * SECONDS, rel=0.01)


@pytest.mark.slow
def test_a_train_that_is_taken_back_turns_again_in_the_same_way() -> None:
    world = world_of(train(METERS, (-1.5, 0.4), ("Revolute",) * 2))
    run(world, 0.8)
    saved = world.snapshot()
    run(world, 0.4)
    wanted = world.rotations.copy()
    world.restore(saved)
    run(world, 0.4)
    assert (world.rotations == wanted).all()
