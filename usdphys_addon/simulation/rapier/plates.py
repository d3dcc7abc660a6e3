# SPDX-License-Identifier: GPL-3.0-or-later
"""Thin prisms, such as round floors and table tops, as pieces whose faces have four corners at most, or as triangles.

The solver finds no hull of a very thin one, and in a face with more corners it sees only four. Tilting the others, as
`rounding` does, would put the foot of a thin plate above its top. What slides catches on the seams of pieces, not on
those of triangles, which are for what does not move.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import rapier3d
from numpy.typing import NDArray
from rapier3d import SharedShape

from ...core.hull import convex_hull
from .rounding import STRAIGHT, Placed, Points, outline

Triangles = NDArray[np.int64]

#: Thickness, relative to the extent, below which a prism is cut into pieces; the same of one that moves; and the least.
PLATE, MOVING_PLATE, LEAST = 0.06, 0.005, 2e-6
#: Relative to the extent: how far corners above each other may be apart. To the thickness: how uneven a face may be.
MATCH, EVEN = 1e-4, 1e-2


def plate(points: Points, most: float = PLATE) -> Placed | None:
    """The pieces of a thin prism with these corners (n, 3); None for other shapes.

    most: thickness, relative to the extent.
    """
    prism = _prism(points, most)
    if prism is None:
        return None
    here = rapier3d.Isometry3((0.0, 0.0, 0.0))
    pieces = (np.concatenate([side[rows] for side in prism]) for rows in _quads(len(prism[0])))
    return SharedShape.compound([(here, SharedShape.convex_mesh(*_solid(piece))) for piece in pieces]), None, None


def surface(points: Points, most: float = PLATE) -> tuple[Points, Triangles] | None:
    """The whole surface of `plate`: points (m, 3) and triangles (k, 3), of which few meet at a corner."""
    outline = _prism(points, most)
    if outline is None:
        return None
    count = len(outline[0])
    faces = [face for a, *rest in _quads(count) for b, c in pairwise(rest) for face in (
        (count + a, count + b, count + c), (a, c, b))]  # fmt: skip
    return np.concatenate(outline), np.array(faces + _around(count), np.int64)


def _prism(points: Points, most: float = PLATE) -> tuple[Points, Points] | None:
    """The corners of foot and top (n, 3) of a thin prism, each above one of the other, counter-clockwise from above."""
    away = points - points.mean(axis=0)
    normal = np.linalg.svd(away.T @ away)[0][:, 2]
    heights = away @ normal
    extent, thickness = float(np.ptp(points, axis=0).max()), float(np.ptp(heights))
    if not LEAST * extent < thickness < most * extent:
        return None
    # The hull of points that are pulled apart has the same corners.
    triangles = convex_hull(points + np.outer(heights, normal) * (extent / thickness))
    if triangles is None:
        return None
    used = np.unique(triangles)
    lifts = (heights[used] - heights.min()) / thickness
    if not ((lifts < EVEN) | (lifts > 1.0 - EVEN)).all():
        return None
    sides = (points[used[chosen]] for chosen in (lifts < 0.5, lifts > 0.5))
    foot, top = (side[outline(side, normal, STRAIGHT * extent)] for side in sides)
    if len(foot) != len(top) or len(top) < 3:
        return None
    flat, above = (side - np.outer(side @ normal, normal) for side in (foot, top))
    first = -int(np.linalg.norm(flat - above[0], axis=1).argmin())
    if float(np.linalg.norm(np.roll(flat, first, axis=0) - above, axis=1).max()) > MATCH * extent:
        return None
    return np.roll(foot, first, axis=0), top


def _quads(count: int) -> list[list[int]]:
    """The corners of the pieces of a polygon: between the rungs of a ladder from its first corner."""
    low, high = 0, count - 1
    pieces = []
    while high - low >= 2:
        pieces.append([low, low + 1, high - 1, high] if high - low > 2 else [low, low + 1, high])
        low, high = low + 1, high - 1
    return pieces


def _solid(corners: Points) -> tuple[Points, NDArray[np.uint32]]:
    """Points and triangles of a prism: the corners of its foot, then those of its top, counter-clockwise from above."""
    count = len(corners) // 2
    faces = [(count, count + row, count + row + 1) for row in range(1, count - 1)]
    faces += [(0, row + 1, row) for row in range(1, count - 1)]
    return corners, np.array(faces + _around(count), np.uint32)


def _around(count: int) -> list[tuple[int, int, int]]:
    """The triangles between foot and top."""
    sides = [(row, (row + 1) % count) for row in range(count)]
    return [face for a, b in sides for face in ((a, b, count + b), (a, count + b, count + a))]
