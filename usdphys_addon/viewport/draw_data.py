# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of what is drawn over the 3D view. No Blender, no GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vertices = NDArray[np.float32]
#: Half a bar of a cross, in parts of the longer arm of the joint, and where it has none, as a length.
CROSS, SMALLEST = 0.2, 0.05
#: The four diagonals of a cube: a cross from wherever one looks.
_DIAGONALS = np.array([(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)], float) / np.sqrt(3.0)


def broken_joint(place: ArrayLike, bodies: Sequence[ArrayLike], size: float) -> Vertices:
    """A cross at a joint that broke and a line from there to each of its bodies: (n, 3), two vertices for each line.

    place, bodies: (3,). size: the longer arm of the joint, which says how large the cross is. What is not made of
    finite numbers is left out.
    """
    center = np.asarray(place, float)
    if not np.isfinite(center).all():
        return np.zeros((0, 3), np.float32)
    half = CROSS * size if size > 0.0 and np.isfinite(size) else 0.0
    bars = _DIAGONALS * max(half, SMALLEST * (half == 0.0))
    lines = np.stack((center - bars, center + bars), axis=1).reshape(-1, 3)
    ends = [np.asarray(body, float) for body in bodies]
    rays = [point for end in ends if np.isfinite(end).all() for point in (center, end)]
    return np.concatenate((lines, np.array(rays).reshape(-1, 3))).astype(np.float32)


def broken_joints(joints: Sequence[tuple[ArrayLike, Sequence[ArrayLike], float]]) -> Vertices:
    """The lines of many joints that broke, each (place, bodies, size)."""
    found = [broken_joint(*joint) for joint in joints]
    return np.concatenate(found) if found else np.zeros((0, 3), np.float32)
