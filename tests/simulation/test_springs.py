# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives with a stiffness and little or no damping swing as springs do, for long, in steps of any length."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .author import METERS, UNITS, File, Units, about, block
from .helpers import place, run, turn, world_of

W = "/World"


def spring(kind: str, rate: float, units: Units, *, damping: float = 0.0, reduced: bool = False) -> File:
    """2 kg or 2 kg m2 on a spring of a rate (Hz), that starts 0.3 m or 0.3 rad away from its target."""
    file, stiffness = File(units, gravity=(0, 0, 0)), 2.0 * (2.0 * math.pi * rate) ** 2
    drive = {"stiffness": stiffness, "damping": damping}
    if kind == "linear":
        parts = [file.body("Body", (0.3, 0, 0), size=(0.1,) * 3, mass=2.0)]
        parts += [file.joint("Spring", "Prismatic", "", f"{W}/R/Body", axis="X", drives={"linear": drive})]
    else:
        parts = [file.body("Body", (0, 0, 0), about("Z", math.degrees(0.3)), size=(0.1,) * 3, inertia=(2, 2, 2))]
        parts += [file.joint("Spring", "Revolute", "", f"{W}/R/Body", axis="Z", drives={"angular": drive})]
    return file.add(block("Xform", "R", parts, ["PhysicsArticulationRootAPI"] if reduced else []))


def swing(world, kind: str, seconds: float) -> np.ndarray:
    found = []
    for _ in range(round(seconds / world.time_step)):
        world.step()
        matrix = turn(world, "Body")
        found.append(place(world, "Body")[0] if kind == "linear" else math.atan2(matrix[1, 0], matrix[0, 0]))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("kind", "rate"), [("linear", 1.6), ("angular", 1.6), ("linear", 4.0)])
def test_a_spring_without_damping_keeps_its_swing(kind: str, rate: float, reduced: bool) -> None:
    """One of 1.6 Hz had half of its swing after 60 s, one of 4 Hz none."""
    world = world_of(spring(kind, rate, METERS, reduced=reduced), time_step=1.0 / 60.0)
    found = swing(world, kind, 20.0)
    assert np.abs(found[-60:]).max() == pytest.approx(0.3, rel=0.05)
    crossings = [at + found[at] / (found[at] - found[at + 1]) for at in range(len(found) - 1)
                 if found[at] > 0.0 >= found[at + 1]]  # fmt: skip
    period = (crossings[-1] - crossings[0]) / (len(crossings) - 1) / 60.0
    assert period == pytest.approx(1.0 / rate, rel=0.005)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("ratio", [0.001, 0.01, 0.05, 0.3])
def test_a_spring_is_damped_by_its_damping_alone(ratio: float, units: Units) -> None:
    """The swing of each period is exp(-2 pi z / sqrt(1 - z^2)) of the one before."""
    rate = 2.0
    damping = 2.0 * ratio * 2.0 * (2.0 * math.pi * rate)
    found = swing(world_of(spring("linear", rate, units, damping=damping), time_step=1.0 / 120.0), "linear", 4.0)
    damped = rate * math.sqrt(1.0 - ratio**2)
    times = np.arange(1, len(found) + 1) / 120.0
    turned = 2.0 * math.pi * damped * times
    wanted = 0.3 * np.exp(-2.0 * math.pi * rate * ratio * times) * (
        np.cos(turned) + ratio / math.sqrt(1.0 - ratio**2) * np.sin(turned)
    )  # fmt: skip
    assert np.abs(found - wanted).max() < 0.02 * 0.3


@pytest.mark.slow
def test_a_spring_gains_nothing_while_another_body_takes_smaller_steps() -> None:
    """A turning platform that something stands on takes up to 48 steps of the solver in a time step."""
    file = spring("linear", 3.0, METERS)
    file.gravity = (0, 0, -9.81)
    file.add(file.body("Table", (0, 5, -0.1), shape="Cylinder", size=(1.0, 0.2), kinematic=True),
             file.body("Rider", (0.3, 5, 0.1), size=(0.2,) * 3),
             file.joint("Tie", "Distance", f"{W}/R/Body", f"{W}/Rider", distance=(-1.0, 50.0)))  # fmt: skip
    world = world_of(file)
    highest = 0.0
    for frame in range(1, 301):
        angle = 6.0 * frame / 60.0 / 2.0 * (frame > 100) * (frame < 250)
        turning = np.array((math.cos(angle), 0, 0, math.sin(angle)))
        world.set_kinematic_pose(f"{W}/Table", np.array((0, 5, -0.1)), turning)
        world.step()
        highest = max(highest, abs(place(world, "Body")[0]))
    assert highest == pytest.approx(0.3, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("quality", ["draft", "normal", "exact"])
def test_a_chain_of_springs_keeps_its_energy_and_gains_none(quality: str) -> None:
    """Five masses of 0.1 to 2 kg on springs of up to 15 Hz, without damping."""
    file = File(METERS, gravity=(0, 0, 0))
    masses, stiffness = [2.0, 0.1, 1.0, 0.3, 0.5], 300.0
    before = ""
    for number, mass in enumerate(masses):
        file.add(file.body(f"Mass{number}", (0.5 * number + 0.05, 0, 0), size=(0.1,) * 3, mass=mass),
                 file.joint(f"Spring{number}", "Prismatic", before, f"{W}/Mass{number}", axis="X",
                            pos0=(0.5 if before else 0.0, 0, 0),
                            drives={"linear": {"stiffness": stiffness, "damping": 0.0}}))  # fmt: skip
        before = f"{W}/Mass{number}"
    world = world_of(file, quality=quality)

    def energy() -> float:
        places = world.positions[:, 0] - 0.5 * np.arange(len(masses))
        speeds = world.velocities()[0][:, 0]
        gaps = np.diff(places, prepend=0.0)
        return float(0.5 * (np.array(masses) * speeds**2).sum() + 0.5 * stiffness * (gaps**2).sum())

    start = energy()
    found = []
    for _ in range(600):
        world.step()
        found.append(energy())
    assert max(found) < 1.1 * start
    assert np.mean(found[-60:]) > (0.5 if quality == "draft" else 0.8) * start
    run(world, 0.1)
    assert world.unstable == {}
