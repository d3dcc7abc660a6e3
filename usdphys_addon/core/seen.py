# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of what is seen of each prim, with what is below it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from . import paths
from .frames import Matrix


class SeenBounds:
    """found: lowest and highest corner (2, 3), m, in the world, by path. What a body carries counts for no prim above.

    bodies: their paths.
    """

    def __init__(self, bodies: Collection[str]) -> None:
        self.bodies, self.found = bodies, dict[str, Matrix]()

    def add(self, path: str, points: Matrix) -> None:
        """Points (n, 3), m, in the world, of a shape that is seen; those that are not finite are left out."""
        if not len(points) or not np.isfinite(points).all():
            return
        low, high = points.min(axis=0), points.max(axis=0)
        for above in (path, *paths.ancestors_of(path)):
            known = self.found.get(above)
            if known is None:
                self.found[above] = np.stack([low, high])
            else:
                self.found[above] = np.stack([np.minimum(known[0], low), np.maximum(known[1], high)])
            if above in self.bodies:
                return
