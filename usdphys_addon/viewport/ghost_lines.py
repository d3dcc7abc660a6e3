# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of the paths of a search or of variations. No Blender."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vertices = NDArray[np.float32]
#: Lines of all paths but the best one: with more, each has fewer points.
MOST_LINES = 60_000


def ghost_lines(ways: Sequence[Vertices], best: int) -> tuple[Vertices, Vertices]:
    """(lines of all other runs (2 n, 3), lines of the best run (2 m, 3)). ways: (f, b, 3) of each run, of b bodies."""
    if not ways:
        return _NONE, _NONE
    others = [way for number, way in enumerate(ways) if number != best]
    every = max(1, -(-sum(way.shape[0] * way.shape[1] for way in others) // MOST_LINES))
    return _strips(others, every), _strips([ways[best]], 1)


_NONE = np.zeros((0, 3), np.float32)


def _strips(ways: Sequence[Vertices], every: int) -> Vertices:
    """Lines through every so many points of each path, and to its end."""
    lines = [_NONE]
    for way in ways:
        kept = np.append(np.arange(0, len(way) - 1, every), len(way) - 1)
        points = way[kept]
        lines.append(np.stack((points[:-1], points[1:]), axis=2).transpose(1, 0, 2, 3).reshape(-1, 3))
    return np.concatenate(lines)
