# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint that is as fast as it may be brakes what is on both of its sides: no energy comes from that."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.proving import failures
from usdphys_ext.usdphys_addon.proving.runs import simulated, subject_of
from usdphys_ext.usdphys_addon.simulation.speed_limits import braked

from .author import METERS, File, block
from .helpers import model_in

W = "/World"


def legs(most: float, count: int = 3) -> File:
    """Bars in a row that hang from the world by hinges about Y and swing down; each but the first one has a largest
    speed, degrees per second."""
    file = File(METERS)
    parts = []
    for number in range(count):
        limited = number > 0
        parts.append(file.body(f"Bar{number}", (0.5 + number, 0, 2), mass=1.0, size=(1, 0.1, 0.1), collides=False))
        parts.append(file.joint(
            f"Hinge{number}", "Revolute", f"{W}/Legs/Bar{number - 1}" if number else "", f"{W}/Legs/Bar{number}",
            pos0=(0.5, 0, 0) if number else (0, 0, 2), pos1=(-0.5, 0, 0), axis="Y", apis=["NewtonJointAPI"] * limited,
            lines=[f"float newton:velocityLimit = {most}"] * limited,
        ))  # fmt: skip
    file.add(block("Xform", "Legs", parts, ["PhysicsArticulationRootAPI"]))
    return file


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["preview", "mujoco"])
@pytest.mark.parametrize("most", [60.0, 200.0])
def test_a_largest_speed_gives_no_energy(most: float, engine: str) -> None:
    """The legs of a robot gained 2.7 J: a speed was cut off, and what hung behind the joint kept its own."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    model = model_in(legs(most))
    subject = subject_of(model)
    motion = simulated(model, 3.0, engine=engine)
    bodies = [f"{W}/Legs/Bar{number}" for number in range(3)]
    energy = failures.energies_of(subject, bodies, motion).sum(axis=1)
    gained = float((energy - np.minimum.accumulate(energy)).max())
    assert gained < 0.01 * float(np.ptp(energy)) + 0.05
    assert float(energy[0] - energy[-1]) > 1.0  # the limit brakes


@pytest.mark.parametrize("seed", range(60))
def test_braked_joints_are_as_fast_as_they_may_be_and_have_less_energy(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 7))
    root = random.normal(size=(count, count))
    matter = root @ root.T + 0.1 * np.eye(count)
    speeds, most = 3.0 * random.normal(size=count), random.uniform(0.2, 2.0, count)
    yielding = np.linalg.inv(matter)
    impulses = braked(speeds, yielding, most)
    after = speeds + yielding @ impulses
    assert (np.abs(after) <= 1.000001 * most).all()
    assert after @ matter @ after <= speeds @ matter @ speeds + 1e-9
    # An impulse brakes, and only a joint that is as fast as it may be.
    assert (impulses * after <= 1e-9).all()
    assert (np.abs(after)[np.abs(impulses) > 1e-9] > 0.999999 * most[np.abs(impulses) > 1e-9]).all()


def test_joints_within_their_speeds_are_left_alone() -> None:
    speeds, most = np.array([0.5, -0.2]), np.array([1.0, 0.2])
    assert not braked(speeds, np.array([[2.0, 1.0], [1.0, 3.0]]), most).any()
