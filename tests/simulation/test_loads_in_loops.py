# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads of joints in loops: of ropes and rods; and those that nothing tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter

import pytest

from .author import CENTIMETERS, METERS, UNITS, File, Units
from .helpers import run, world_of

W, G = "/World", 9.81


def plank_on_ropes(
    units: Units, *, ropes: Sequence[tuple[float, float]], lean: float = 0.0, least: float = 0.0
) -> File:  # fmt: skip
    """A plank of 30 kg hangs 1 m below the upper ends of ropes. ropes: x on the plank, m, and breaking force, N. lean:
    how far out the upper ends are, relative to x. least: smallest distance, relative to the length."""
    file = File(units)
    file.add(file.body("Plank", (0, 0, 2), size=(2, 0.3, 0.05), mass=30.0))
    for number, (x, bears) in enumerate(ropes):
        top = (x * (1.0 + lean), 0, 3)
        length = math.hypot(x * lean, 1.0)
        ends = (f"{W}/Plank", "") if number == 1 else ("", f"{W}/Plank")
        places = ((x, 0, 0), top) if number == 1 else (top, (x, 0, 0))
        file.add(file.joint(f"Rope{number}", "Distance", *ends, pos0=places[0], pos1=places[1],
                            distance=(least * length, length), break_force=bears))  # fmt: skip
    return file


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=attrgetter("name"))
@pytest.mark.parametrize(("lean", "least"), [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0)], ids=["straight", "oblique", "rods"])
@pytest.mark.parametrize("share", [0.95, 1.05])
def test_ropes_in_a_loop_break_at_their_part_of_the_weight(
    units: Units, lean: float, least: float, share: float
) -> None:
    """The first one is nearer to the middle, and bears more; what is oblique pulls by more than it bears."""
    near, far = 0.6, 0.9
    middle = 30.0 * G * far / (near + far)
    if lean:  # the same angle at both ends: no push along the plank is left
        near = far
        middle = 15.0 * G * math.hypot(1.0, lean * near)
    file = plank_on_ropes(units, ropes=((-near, share * middle), (far, 1e6)), lean=lean, least=least)
    world = run(world_of(file), 0.5)
    assert (f"{W}/Rope0" in world.broken_joints) == (share < 1.0)


def test_the_load_of_a_rope_in_a_loop_pulls_its_second_body_towards_the_other_end() -> None:
    world = world_of(plank_on_ropes(CENTIMETERS, ropes=((-0.9, math.inf), (0.9, math.inf)), lean=0.5))
    for number in range(2):
        world.joint_load(f"{W}/Rope{number}")
    run(world, 1.0)
    pull = 15.0 * G * math.hypot(1.0, 0.45)
    for number, sign in ((0, 1.0), (1, -1.0)):
        assert world.joint_load(f"{W}/Rope{number}")[0] == pytest.approx(pull, rel=0.02)
        assert world.joint_wrench(f"{W}/Rope{number}")[0] == pytest.approx((-15 * G * 0.45, 0, sign * 15 * G), abs=4.0)


def test_a_rope_that_breaks_leaves_its_load_to_the_others() -> None:
    """The middle one of three breaks whatever its share of a third or more is: two that bear less than half follow."""
    for bears, broken in ((0.45, 3), (0.6, 1)):
        ropes = ((-0.9, bears * 30 * G), (0.0, 0.25 * 30 * G), (0.9, bears * 30 * G))
        world = run(world_of(plank_on_ropes(METERS, ropes=ropes)), 0.3)
        assert len(world.broken_joints) == broken


@pytest.mark.parametrize("kind", ["Prismatic", "limited"])
def test_a_joint_in_a_loop_whose_load_is_not_known_is_named(kind: str) -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Beam", (0, 0, 3), size=(2, 0.2, 0.2), mass=4.0))
    for name, x in (("Left", -1.0), ("Right", 1.0)):
        more = {"low": -0.5, "high": 0.5} if kind == "limited" else {}
        file.add(file.joint(name, "Revolute" if kind == "limited" else kind, "", f"{W}/Beam", pos0=(x, 0, 3),
                            pos1=(x, 0, 0), axis="Y", break_force=1.0, **more))  # fmt: skip
    world = run(world_of(file), 0.2)
    told = [issue for issue in world.notices if issue.code == "LoadUnknown"]
    assert [issue.path for issue in told] == [f"{W}/Left", f"{W}/Right"]
    assert "never breaks" in told[0].message
