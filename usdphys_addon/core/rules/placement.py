# SPDX-License-Identifier: GPL-3.0-or-later
"""Scale and shear of many prims, vectorized."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Prim

#: Largest relative difference of scales that counts as uniform, as in OpenUSD's validators.
UNIFORM = 1e-5
#: Smallest cosine between two axes that counts as shear.
SHEAR = 1e-4
#: Smallest angle (radians) that OpenUSD counts as a scale orientation.
ORIENTATION = 2e-10
#: Axes below this length count as zero: the tolerance of OpenUSD's matrix decomposition.
NOTHING = 1e-10

Mask = NDArray[np.bool_]


_PAIRS = ((0, 1), (0, 2), (1, 2))


class WorldScales:
    """Boolean masks (n,) over `prims`. up_axis: of the stage, to reproduce OpenUSD's rounding errors.

    precision: angle (radians) below which the axes are rounding noise; above ORIENTATION, `skewed` is shear instead.
    """

    def __init__(self, prims: list[Prim], up_axis: str, precision: float = 0.0) -> None:
        self.prims = prims
        worlds = np.concatenate([prim.world for prim in prims]) if prims else np.zeros((0, 4))
        self.finite: Mask = np.isfinite(worlds.reshape(-1, 16)).all(axis=1)
        #: The largest number in each transform (n,), m.
        self.reach = np.abs(worlds.reshape(-1, 16)).max(axis=1)
        linear = worlds.reshape(-1, 4, 4)[:, :3, :3]
        if not self.finite.all():
            linear = np.where(self.finite[:, None, None], linear, np.eye(3))
        # Rows of (axis, prim), summed in the order of OpenUSD, before the rotation to Z up, because
        # `skewed` depends on rounding errors.
        x, y, z = np.ascontiguousarray(linear.transpose(1, 2, 0))[[0, 2, 1] if up_axis == "Y" else [0, 1, 2]]
        squares = x * x + y * y + z * z
        products = np.array([x[p] * x[q] + y[p] * y[q] + z[p] * z[q] for p, q in _PAIRS])
        volumes = x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2])
        volumes += x[2] * (y[0] * z[1] - y[1] * z[0])
        lengths = np.sqrt(squares)
        sizes = np.maximum(lengths, NOTHING)
        cosines = np.abs(products) / np.array([sizes[p] * sizes[q] for p, q in _PAIRS])
        scales = lengths.copy()
        oblique = (cosines > NOTHING).any(axis=0)
        if oblique.any():
            scales[:, oblique] = np.linalg.svd(linear[oblique], compute_uv=False).T
        #: Unsigned scale along the prim's own axes (n, 3).
        self.lengths = lengths.T
        self.zero: Mask = (lengths < NOTHING).any(axis=0)
        self.sheared: Mask = (cosines > SHEAR).any(axis=0) & ~self.zero
        self.uneven: Mask = np.ptp(scales, axis=0) > UNIFORM * scales.min(axis=0)
        self.mirrored: Mask = (volumes < 0 if up_axis != "Y" else volumes > 0) & ~self.zero
        # OpenUSD tests by Jacobi's method whether the axes of the scale are rotated at all. If two of three scales are
        # equal, these two axes are undefined in their plane: a rounding error, even of second order, decides.
        second_order = np.abs(
            np.array([products[1] * products[2], products[0] * products[2], products[0] * products[1]])
        )
        gaps = np.array([np.abs(squares[q] - squares[p]) for p, q in _PAIRS])
        self.skewed: Mask = (np.abs(products) + second_order > ORIENTATION * gaps).any(axis=0) & self.uneven
        if precision > ORIENTATION:
            self.skewed = self.sheared & self.uneven

    def where(self, mask: Mask) -> list[Prim]:
        """The prims where a mask is True."""
        return [self.prims[row] for row in np.flatnonzero(mask)]
