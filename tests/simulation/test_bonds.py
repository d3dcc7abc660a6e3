# SPDX-License-Identifier: GPL-3.0-or-later
"""Bonds that yield: what they bear, and how they break."""

from __future__ import annotations

import math

import pytest
from usdphys_ext.usdphys_addon.core.building import contact_area

from .author import CENTIMETERS, METERS, File, Units
from .helpers import run, world_of

W, MASS, SIDE = "/World", 10.0, 0.4


def bonded(
    load: tuple[float, float, float], *, swapped: bool = False, units: Units = METERS
) -> tuple[File, contact_area.Bond]:
    """A box of 0.4 m and 10 kg that is bonded to the ground, without contacts of its own, under a gravity.

    load: force on it by what the bond bears, along X, Y and up, which is the normal of the bond and its X axis.
    """
    bond = contact_area.bond(SIDE**2, 1000.0)
    file = File(units)
    file.gravity = tuple(part * bond.force / MASS for part in load)
    dofs = dict.fromkeys(("transX", "transY", "transZ"), (bond.firm, bond.force))
    dofs |= dict.fromkeys(("rotX", "rotY", "rotZ"), (bond.firm_turn, bond.torque))
    # X of the joint is upwards on the first side, and so on the second one.
    up = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)
    ends = [("", (0.0, 0.0, 0.0)), (f"{W}/Box", (0.0, 0.0, 0.0))]
    (first, pos0), (second, pos1) = reversed(ends) if swapped else ends
    press = (-bond.reach, 1e10) if swapped else (-1e10, bond.reach)
    limits = {"transX": press, "transY": (-bond.reach, bond.reach), "transZ": (-bond.reach, bond.reach)}
    file.add(
        file.body("Box", size=(SIDE, SIDE, SIDE), mass=MASS, collides=False),
        file.joint(
            "Bond", "D6", first, second, pos0=pos0, pos1=pos1, rot0=up, rot1=up, limits=limits, break_force=bond.breaks,
            drives={dof: {"stiffness": firm, "damping": firm * contact_area.RETURNS, "maxForce": most}
                    for dof, (firm, most) in dofs.items()},
            apis=[f"PhysxLimitAPI:{dof}" for dof in limits],
            lines=("bool physics:collisionEnabled = true",
                   *(f"float physxLimit:{dof}:stiffness = {bond.fuse / units.kilograms}" for dof in limits)),
        ),
    )  # fmt: skip
    return file, bond


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("load", "breaks"), [
    ((0, 0, 0.9), False), ((0, 0, 1.1), True), ((0.9, 0, 0), False), ((0, 1.1, 0), True),
])  # fmt: skip
def test_a_bond_bears_pull_and_shear_up_to_its_force(units, swapped, load, breaks) -> None:
    file, bond = bonded(load, swapped=swapped, units=units)
    world = run(world_of(file), 1.0)
    assert (world.broken_joints != ()) == breaks
    if not breaks:
        assert max(abs(world.positions[0])) < bond.reach


@pytest.mark.parametrize("swapped", [False, True])
def test_no_pressure_breaks_a_bond(swapped) -> None:
    """Here nothing but the drives bears it, so the box goes through the ground."""
    file, bond = bonded((0, 0, -2), swapped=swapped)
    world = run(world_of(file), 1.0)
    assert world.broken_joints == () and world.positions[0, 2] < -bond.reach


def test_the_load_of_a_broken_bond_is_what_it_bore() -> None:
    file, bond = bonded((0, 0, 1.5))
    world = run(world_of(file), 1.0)
    (path,) = world.broken_joints
    assert world.joint_load(path)[0] == pytest.approx(bond.force, rel=0.05)


def test_a_bond_holds_again_in_a_state_from_before_it_broke() -> None:
    file, _ = bonded((0, 0, 1.5))
    world = world_of(file)
    before = world.snapshot()
    assert run(world, 1.0).broken_joints
    far = world.positions[0, 2]
    world.restore(before)
    assert world.broken_joints == ()
    assert run(world, 1.0).broken_joints and world.positions[0, 2] == pytest.approx(far)
