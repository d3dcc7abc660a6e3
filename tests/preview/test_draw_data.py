# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the 3D view, as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.viewport import draw_data

from .author import File
from .helpers import place, run, world_of

W = "/World"


def test_a_cross_and_lines_to_both_bodies() -> None:
    lines = draw_data.broken_joint((1, 2, 3), [(0, 0, 0), (4, 4, 4)], 2.0).reshape(-1, 2, 3)
    assert lines.dtype == np.float32 and lines.flags.c_contiguous
    cross, rays = lines[:4], lines[4:]
    assert cross.mean(axis=1) == pytest.approx(np.tile((1, 2, 3), (4, 1)))
    assert np.linalg.norm(cross[:, 1] - cross[:, 0], axis=1) == pytest.approx([2 * draw_data.CROSS * 2.0] * 4)
    assert rays.tolist() == [[[1, 2, 3], [0, 0, 0]], [[1, 2, 3], [4, 4, 4]]]


def test_joint_to_the_world_has_one_line_and_a_cross_of_some_size() -> None:
    lines = draw_data.broken_joint((0, 0, 0), [(1, 0, 0)], 0.0)
    assert len(lines) == 2 * 5
    assert np.linalg.norm(lines[1] - lines[0]) == pytest.approx(2 * draw_data.SMALLEST)


@pytest.mark.parametrize("size", [float("nan"), float("inf"), -1.0])
def test_what_is_not_finite_is_left_out(size: float) -> None:
    nan = float("nan")
    assert np.isfinite(draw_data.broken_joint((0, 0, 0), [(nan, 0, 0), (1, 1, 1)], size)).all()
    assert len(draw_data.broken_joint((0, nan, 0), [(1, 1, 1)], size)) == 0
    assert draw_data.broken_joints([]).shape == (0, 3)
    two = [((0, 0, 0), [(1, 1, 1)], 1.0), ((5, 0, 0), [(6, 1, 1), (7, 0, 0)], 1.0)]
    assert len(draw_data.broken_joints(two)) == 2 * (5 + 6)


def test_places_are_those_of_now() -> None:
    """A beam that hangs on a body breaks off: the cross stays on that body, the line follows the beam."""
    file = File()
    file.add(
        file.body("Block", (0, 0, 5), mass=1.0), file.joint("Nail", "Fixed", "", f"{W}/Block", pos0=(0, 0, 5)),
        file.body("Beam", (1.5, 0, 5), size=(2, 0.2, 0.2), mass=1.0, center=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)),
        file.joint("Weld", "Fixed", f"{W}/Block", f"{W}/Beam", pos0=(0.5, 0, 0), pos1=(-1, 0, 0), break_force=1.0),
    )  # fmt: skip
    world = run(world_of(file), 0.5)
    assert world.broken_joints == (f"{W}/Weld",)
    where, ends, size = world.joint_ends(f"{W}/Weld")
    assert where == pytest.approx((0.5, 0, 5), abs=1e-3)
    assert ends[0] == pytest.approx(place(world, "Block"), abs=1e-3)
    assert place(world, "Beam")[2] < 4.5
    assert np.linalg.norm(ends[1] - place(world, "Beam")) == pytest.approx(0.5, abs=1e-5)
    assert size == pytest.approx(1.5)
