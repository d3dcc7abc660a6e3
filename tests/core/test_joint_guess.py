# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a hinge belongs that nobody has placed."""

import itertools

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.building import joint_guess


def corners(center: tuple[float, ...], size: tuple[float, ...]) -> joint_guess.Array:
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    return np.array(center) + signs * np.array(size)


@pytest.mark.parametrize("degrees", [0.0, 90.0, 30.0])
def test_a_plank_on_a_stand_turns_about_the_middle_of_its_stand(degrees: float) -> None:
    """It turned about one of its long edges, as a lid does."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    stand, plank = corners((0.1, 0.0, 0.25), (0.1, 0.6, 0.5)), corners((0.0, 0.0, 0.53), (3.0, 0.5, 0.06))
    found = joint_guess.hinge(stand @ turn.T, plank @ turn.T, turn)
    assert found is not None and found.reason == "the middle of a see-saw"
    assert found.position == pytest.approx(turn @ (0.1, 0.0, 0.5), abs=1e-9)
    assert abs(found.axis @ turn[:, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize(("center", "size"), [
    ((1.45, 0.0, 0.25), (0.1, 0.6, 0.5)),  # at its end
    ((0.0, 0.0, 0.25), (3.0, 0.5, 0.5)),  # a chest as long as its lid
    ((0.0, 0.0, 0.1), (0.1, 0.6, 0.2)),  # out of reach
    ((0.0, 0.0, 0.81), (0.1, 0.6, 0.5)),  # it hangs
])  # fmt: skip
def test_a_lid_keeps_its_edge(center: tuple[float, ...], size: tuple[float, ...]) -> None:
    found = joint_guess.hinge(corners(center, size), corners((0.0, 0.0, 0.53), (3.0, 0.5, 0.06)), np.eye(3))
    assert found is not None and found.reason == "the edge of a lid"
