# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads of joints over time, and their plot."""

from __future__ import annotations

import pytest
from usdphys_ext.usdphys_addon.simulation.load_history import SECONDS, JointBreak, JointLoads, LoadHistory
from usdphys_ext.usdphys_addon.viewport import load_plot

from .author import File
from .helpers import world_of

W, G = "/World", 9.81
ZERO = (0.0, 0.0, 0.0)


@pytest.mark.slow
def test_the_break_of_a_joint_is_kept_with_its_time_and_load_and_a_plot_of_the_last_seconds() -> None:
    """10 kg on a hook that bears 50 N, and 10 kg on one that holds."""
    file = File()
    file.add(file.body("Left", (0, 0, 3), mass=10.0), file.body("Right", (5, 0, 3), mass=10.0),
             file.joint("Weak", "Fixed", "", f"{W}/Left", pos0=(0, 0, 3), break_force=50.0),
             file.joint("Strong", "Fixed", "", f"{W}/Right", pos0=(5, 0, 3)))  # fmt: skip
    world = world_of(file)
    history = LoadHistory(world)
    history.watch(f"{W}/Weak")
    history.watch(f"{W}/Strong")
    for _ in range(round((SECONDS + 1.0) / world.time_step)):
        world.step()
        history.note()
    weak, strong = history.loads_of(f"{W}/Weak"), history.loads_of(f"{W}/Strong")
    assert history.breaks == {f"{W}/Weak": weak.broken}
    assert weak.broken is not None and weak.broken.seconds == pytest.approx(world.time_step)
    assert weak.broken.force == weak.most_force == pytest.approx(10 * G, rel=0.02)
    assert weak.values[-1][1:] == (0.0, 0.0) and weak.values[-1][0] == pytest.approx(world.time)
    assert (weak.force, weak.torque) == (ZERO, ZERO), "nothing is held any longer"
    assert strong.force[2] == pytest.approx(10 * G, rel=0.01)
    assert strong.broken is None and strong.values[-1][1] == pytest.approx(10 * G, rel=0.01)
    assert strong.values[0][0] == pytest.approx(world.time - SECONDS, abs=1e-6)
    world.reset()
    history.forget()
    assert history.loads_of(f"{W}/Weak") == JointLoads((), 0.0, 0.0, ZERO, ZERO, None)


def test_the_plot_ends_at_the_last_value_and_its_height_is_the_largest_one() -> None:
    values = ((1.0, 0.0, 0.0), (2.0, 8.0, 0.0), (3.0, 2.0, 0.0))
    force, torque, broken = load_plot.curves(JointLoads(values, 9.0, 0.0, ZERO, ZERO, JointBreak(2.0, 8.0, 0.0)), 4.0)
    assert force.tolist() == [[0.5, 0.0], [0.75, 1.0], [0.75, 1.0], [1.0, 0.25]]
    assert torque[:, 1].tolist() == [0.0] * 4 and broken.tolist() == [[0.75, 0.0], [0.75, 1.0]]
    force, _, broken = load_plot.curves(JointLoads(values, 9.0, 0.0, ZERO, ZERO, JointBreak(0.5, 8.0, 0.0)), 1.0)
    assert force.tolist() == [[0.0, 1.0], [1.0, 0.25]] and not len(broken)
    assert all(not len(part) for part in load_plot.curves(JointLoads((), 0.0, 0.0, ZERO, ZERO, None), 4.0))


def test_a_load_has_about_the_decimals_of_the_largest_one() -> None:
    """0.000105 N m, for example, beside a largest one of 0.0555 was cut in the sidebar."""
    loads = JointLoads(((1.0, 2.987654, 0.0001049),), 10.8, 0.0555, ZERO, ZERO, None)
    assert load_plot.pairs(loads) == (("2.99 N", "10.8 N"), ("0.0001 N m", "0.0555 N m"))
    assert load_plot.pairs(JointLoads(((1.0, 1231.4, 1e-9),), 1570.4, 0.0, ZERO, ZERO, None))[0] == ("1230 N", "1570 N")
    assert load_plot.pairs(JointLoads((), 0.0, 0.0, ZERO, ZERO, None)) == (("0 N", "0 N"), ("0 N m", "0 N m"))
    assert load_plot.along_text((-83.47, 0.0002663, 1070.4), "N") == "-83  0  1070 N"
    assert load_plot.along_text((0.0, 0.0, 0.0), "N m") == "0  0  0 N m"
