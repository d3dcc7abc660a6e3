# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts with restitution at several points at once, as of a box that falls flat.

The solver lets one point of a contact rebound after the other, once. So a box that falls flat would turn, and a flat
one or a cylinder would rise to half or to 1.4 times its height, and on tiles to twice of it. All points push along one
normal: together they push as one point between them does, and of one point the solver makes the right rebound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .constraints import matrix_of

#: Relative to the height of a body: how level the corners of a face are.
LEVEL = 0.002
#: Sweeps over the points, at most, and the change, relative to the largest push, from which there is no other one.
SWEEPS, EXACT = 50, 1e-4


class Touch(NamedTuple):
    """Where two bodies touch: points (3,) on both, and how far these are apart, m. is_new: it begins."""

    point: tuple[float, float, float]
    point2: tuple[float, float, float]
    dist: float
    is_new: bool


class Corners:
    """The corners of the bodies of one world of the solver, by which they land."""

    def __init__(self) -> None:
        #: By the handle of a collider, `corners_of` its shape.
        self._known: dict[Any, NDArray[np.float64] | None] = {}

    def lowest(self, ctx: Any, body: Any, down: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The lowest corners (n, 3), m, of a body, in the world; None where a part of it has none. down: (3,)."""
        everything = []
        for handle in ctx.bodies[body].colliders:
            if handle not in self._known:
                self._known[handle] = corners_of(ctx.colliders[handle].shape)
            own = self._known[handle]
            if own is None:
                return None
            pose = matrix_of(ctx.colliders[handle].position)
            everything.append(own @ pose[:3, :3].T + pose[:3, 3])
        corners = np.concatenate(everything)
        heights = corners @ down
        lowest: NDArray[np.float64] = corners[heights > heights.max() - LEVEL * np.ptp(heights)]
        return lowest


def pushes(
    approaches: Sequence[float], yields: Sequence[Sequence[float]], rebounds: Sequence[float]
) -> list[float]:  # fmt: skip
    """The impulses (n,), N s, after which each point leaves at least as fast as it should; those that push, just so.

    approaches: speeds (n,) before, m/s. yields: (n, n), m/s of a point for 1 N s at another one. rebounds: speeds (n,)
    after, m/s.
    """
    found = [0.0] * len(approaches)
    for _ in range(SWEEPS):
        changed = 0.0
        for row, (approach, own, rebound) in enumerate(zip(approaches, yields, rebounds, strict=True)):
            lacks = approach + rebound - sum(part * push for part, push in zip(own, found, strict=True))
            before, found[row] = found[row], max(found[row] + lacks / own[row], 0.0)
            changed = max(changed, abs(found[row] - before))
        if changed <= EXACT * max(found):
            break
    return found


def middle_of(points: Sequence[Sequence[float]], shares: Sequence[float]) -> tuple[float, ...]:
    """The mean of points (n, 3) by their shares (n,), which are not all 0."""
    whole = sum(shares)
    return tuple(
        sum(share * point[axis] for share, point in zip(shares, points, strict=True)) / whole for axis in range(3)
    )


def corners_of(shape: Any) -> NDArray[np.float64] | None:
    """Corners (n, 3), m, of a shape of the solver with flat faces, in its space: a disc has four. None for others."""
    hull = shape.as_round_convex_polyhedron() or shape.as_convex_polyhedron()
    if hull is not None:
        return np.array(hull.points, float)
    box = shape.as_cuboid()
    if box is not None:
        corners: NDArray[np.float64] = _BOX * np.array(box.half_extents.to_tuple(), float)
        return corners
    for disc, ends in ((shape.as_round_cylinder(), (-1.0, 1.0)), (shape.as_round_cone(), (-1.0,))):
        if disc is not None:
            return np.array([(disc.radius * x, disc.half_height * end, disc.radius * z)
                             for end in ends for x, z in _DISC])  # fmt: skip
    return None


_BOX = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_DISC = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
