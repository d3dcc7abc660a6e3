# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of runs as lines: the best one apart, no line between two bodies, and a bound for many runs."""

from __future__ import annotations

import numpy as np
from usdphys_ext.usdphys_addon.viewport.ghost_lines import MOST_LINES, ghost_lines


def ways(runs, frames, bodies):
    """Body b of run r is at (frame, b, r)."""
    found = np.zeros((runs, frames, bodies, 3), np.float32)
    for run, frame, body in np.ndindex(runs, frames, bodies):
        found[run, frame, body] = (frame, body, run)
    return list(found)


def test_each_line_joins_two_frames_of_one_body_of_one_run():
    others, best = ghost_lines(ways(3, 5, 2), 1)
    assert len(best) == 2 * 4 * 2 and len(others) == 2 * len(best)
    assert set(best[:, 2]) == {1} and set(others[:, 2]) == {0, 2}
    for lines in (others, best):
        starts, ends = lines[::2], lines[1::2]
        assert (ends[:, 0] - starts[:, 0] == 1).all() and (ends[:, 1:] == starts[:, 1:]).all()


def test_many_runs_have_fewer_points_each_and_the_best_has_all():
    many = [np.zeros((400, 10, 3), np.float32) for _ in range(100)]
    for way in many:
        way[:, :, 0] = np.arange(400)[:, None]
    others, best = ghost_lines(many, 0)
    assert len(others) // 2 <= 1.1 * MOST_LINES and len(best) == 2 * 399 * 10
    # Each path still begins and ends where it does.
    assert others[:, 0].min() == 0 and others[:, 0].max() == 399


def test_nothing_is_drawn_without_runs_and_one_run_is_the_best():
    assert [len(lines) for lines in ghost_lines([], 0)] == [0, 0]
    assert [len(lines) for lines in ghost_lines(ways(1, 3, 1), 0)] == [0, 4]
