# SPDX-License-Identifier: GPL-3.0-or-later
"""Places for things that are scattered: at random, and none inside of another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Gap between two balls, as a part of the largest radius.
GAP = 0.05


def places(radii: Sequence[float], spread: float, seed: int) -> Array:
    """Centres (n, 3) of balls, in layers of a disc about the Z axis; the lowest layer is at height zero.

    radii: of the balls (n,). spread: radius of the disc; it is at least as wide as the largest ball. No two balls
    touch: they stand in the cells of a grid, shuffled, and move at random within their cells. The same seed gives the
    same places.
    """
    count = len(radii)
    if not count:
        return np.zeros((0, 3))
    random = np.random.default_rng(seed)
    largest = max(max(radii), 1e-9)
    cell = (2.0 + GAP) * largest
    half = int(max(spread - largest, 0.0) // cell)
    steps = np.arange(-half, half + 1) * cell
    grid = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    grid = grid[np.linalg.norm(grid, axis=1) <= max(spread - largest, 0.0) + 1e-9]
    layers = math.ceil(count / len(grid))
    # The lower layers are full.
    order = np.concatenate([random.permutation(len(grid)) for _ in range(layers)])[:count]
    centers = np.empty((count, 3))
    centers[:, :2] = grid[order]
    centers[:, 2] = np.arange(count) // len(grid) * cell
    slack = largest - np.asarray(radii, float)
    return centers + random.uniform(-1.0, 1.0, (count, 3)) * (slack[:, None] + GAP * largest / 2.0) / math.sqrt(3.0)


def turns(count: int, seed: int) -> Array:
    """Unit quaternions (n, 4), w first, evenly distributed over all rotations."""
    quaternions = np.random.default_rng(seed).normal(size=(count, 4))
    return np.asarray(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
