# SPDX-License-Identifier: GPL-3.0-or-later
"""What an articulation touches or holds at the start moves as beside any other body, and falls asleep with it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from .answers import rk4
from .author import UNITS, File, Units, about, block
from .helpers import world_of

W = "/World"
ROOT = f"{W}/Robot"
ARTICULATION = ["PhysicsArticulationRootAPI"]
Fill = Callable[[File], list[str]]


def cube(file: File, name: str, height: float, *, kinematic: bool = False, length: float = 0.2) -> str:
    """One edge at x = 0 where it is longer than 0.2 m."""
    return file.body(name, (0.5 * length - 0.1, 0, height), size=(length, 0.2, 0.2), kinematic=kinematic)


def hinge(file: File, body0: str, body1: str, height0: float, height1: float) -> str:
    return file.joint("Hinge", "Revolute", body0, body1, axis="Y", pos0=(0, 0, height0), pos1=(0, 0, height1))


def holds(base: str) -> Fill:
    """A link on a joint of this kind to the world, or free, is joined to an animated body above it."""

    def fill(file: File) -> list[str]:
        own = [file.joint("Base", base, "", f"{ROOT}/A", pos0=(0, 0, 2))] if base else []
        hung = [] if base else [cube(file, "B", 1.6), hinge(file, f"{ROOT}/A", f"{ROOT}/B", -0.2, 0.2)]
        held = file.joint("Held", "Spherical", f"{ROOT}/A", f"{ROOT}/K", pos0=(0, 0, 1))
        return [cube(file, "A", 2), cube(file, "K", 3, kinematic=True), *own, *hung, held]

    return fill


def lies(*, kinematic: bool) -> Fill:
    """An arm on a hinge to the world lies on a box, which is animated, or lies on the ground."""

    def fill(file: File) -> list[str]:
        file.add(file.ground(1.69))
        arm = file.body("A", (0.3, 0, 2), size=(0.6, 0.2, 0.2))
        axle = file.joint("Axle", "Revolute", "", f"{ROOT}/A", axis="Y", pos0=(0, 0, 2), pos1=(-0.3, 0, 0))
        return [arm, axle, file.body("K", (0.3, 0, 1.795), size=(0.2, 0.2, 0.2), kinematic=kinematic)]

    return fill


def stands(file: File) -> list[str]:
    """A tree of two stands on an animated platform."""
    platform = file.body("K", (0, 0, 1.8), size=(1, 1, 0.2), kinematic=True)
    return [cube(file, "A", 2), cube(file, "B", 2.4), platform, hinge(file, f"{ROOT}/A", f"{ROOT}/B", 0.2, -0.2)]


CASES = {
    **{f"holds, {base or 'free'}": holds(base) for base in ("Fixed", "Revolute", "Spherical", "")},
    "lies on an animated box": lies(kinematic=True), "lies on a box": lies(kinematic=False), "stands": stands,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@pytest.mark.parametrize("case", CASES)
def test_all_fall_asleep_together(case: str, units: Units) -> None:
    """The solver stopped with an assertion as they did: it did not know of the bodies beside those of the tree."""
    file = File(units)
    file.add(block("Xform", "Robot", CASES[case](file), ARTICULATION))
    world = world_of(file)
    for _ in range(2):
        for _ in range(90):
            world.step()
        assert np.abs(world.velocities()[0]).max() < 1e-3
        assert world.awake_count == 0
        world.reset()


@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@pytest.mark.parametrize("apis", [ARTICULATION, []], ids=["articulation", "joints"])
def test_a_box_slides_down_the_tray_of_an_articulation(apis: list[str], units: Units) -> None:
    """It stood still for ever, as nothing had told the solver of it. With friction f: g (sin a - f cos a) t^2 / 2."""
    file, turn, angle = File(units), about("Y", 30.0), math.radians(30.0)
    along, up = np.array([math.cos(angle), 0, -math.sin(angle)]), np.array([math.sin(angle), 0, math.cos(angle)])
    file.add(file.material("Plain", 0.3))
    tray = file.body("Tray", (0, 0, 2), turn, size=(2, 1, 0.1), mass=5.0, material=f"{W}/Plain")
    # Between such limits the hinge is locked, but a joint of the tree.
    axle = file.joint("Axle", "Revolute", "", f"{ROOT}/Tray", axis="Y", pos0=(0, 0, 2), rot0=turn, low=0.0, high=1e-4)
    file.add(block("Xform", "Robot", [tray, axle], apis))
    start = np.array([0, 0, 2]) - 0.7 * along + 0.15 * up
    file.add(file.body("Box", start.tolist(), turn, size=(0.2, 0.2, 0.2), material=f"{W}/Plain"))
    world = world_of(file)
    for _ in range(60):
        world.step()
    way = world.positions[world.index(f"{W}/Box")] - start
    answer = 0.5 * 9.81 * (math.sin(angle) - 0.3 * math.cos(angle))
    assert way @ along == pytest.approx(answer, rel=0.02)
    assert abs(way @ up) < 0.005


def sprung(dof: str, target: float, units: Units, *, is_soft: bool = False) -> File:
    """A body that a joint with two degrees of freedom holds, so that it is apart from the articulation beside it.

    Springs of 10 N m/rad, 0.5 N m s/rad and 10 N/m, 2 N s/m; or, soft, a limit at 0 whose spring has pushed it away.
    """
    file = File(units, gravity=(0, 0, 0))
    file.add(file.body("A", (0, 0, 3), size=(0.3, 0.3, 0.3), mass=2.0, inertia=(0.1,) * 3, collides=False,
                       apis=ARTICULATION))  # fmt: skip
    file.add(file.joint("Root", "Fixed", "", f"{W}/A", pos0=(0, 0, 3)))
    spin = tuple(2.0 * (name == dof) for name in ("rotX", "rotY", "rotZ")) if is_soft else None
    file.add(file.body("B", (0, 0, 3), size=(0.2, 0.2, 0.2), mass=1.0, inertia=(0.1,) * 3, spin=spin, collides=False))
    free = (dof, "transZ")
    limits: dict[str, tuple[float, float]] = {
        name: (1.0, -1.0) for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if name not in free
    }  # fmt: skip
    drives, more = {"transZ": {"stiffness": 10.0, "damping": 2.0, "targetPosition": 0.1}}, {}
    if is_soft:
        limits[dof] = (-math.pi / 2, 0.0)
        more = {"apis": [f"PhysxLimitAPI:{dof}"], "lines": [f"float physxLimit:{dof}:stiffness = {file.torque(10.0)}"]}
    else:
        drives[dof] = {"stiffness": 10.0, "damping": 0.5, "targetPosition": target}
    file.add(file.joint("Held", "D6", f"{W}/A", f"{W}/B", limits=limits, drives=drives, **more))  # type: ignore[arg-type]
    return file


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@pytest.mark.parametrize("target", [-0.2, 0.8, 1.4])
@pytest.mark.parametrize("dof", ["rotX", "rotY", "rotZ"])
def test_springs_of_a_joint_beside_an_articulation_are_as_stiff_as_they_say(dof, target, units) -> None:
    """Those of rotations had half of their stiffness, and less the farther they were from their target."""
    world = world_of(sprung(dof, target, units))
    for step in range(1, 6):
        for _ in range(6):
            world.step()
        states = rk4(lambda y: np.array([y[1], (10.0 * (target - y[0]) - 0.5 * y[1]) / 0.1]), (0, 0), 0.1 * step, 500)
        assert world.joint_position(f"{W}/Held", dof) == pytest.approx(float(states[-1][0]), abs=0.02 * abs(target))


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@pytest.mark.parametrize("dof", ["rotX", "rotY", "rotZ"])
def test_soft_limits_of_a_joint_beside_an_articulation_are_as_stiff_as_they_say(dof, units) -> None:
    """A body at 2 rad/s turns beyond its limit by 2 sqrt(I / k)."""
    world, most = world_of(sprung(dof, 0.0, units, is_soft=True)), 0.0
    for _ in range(20):
        world.step()
        most = max(most, world.joint_position(f"{W}/Held", dof))
    assert most == pytest.approx(2.0 * math.sqrt(0.1 / 10.0), rel=0.03)
