# SPDX-License-Identifier: GPL-3.0-or-later
"""Scale and shear of many prims at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Prim

#: As in OpenUSD's validators: how much the scales of a sphere may differ, relative to the smallest.
UNIFORM = 1e-5
#: Cosine between two axes from which a space counts as sheared.
SHEAR = 1e-4
#: OpenUSD sees a scale orientation from this angle on, in radians.
ORIENTATION = 2e-10
#: Axes below this length count as nothing; OpenUSD decomposes matrices with this tolerance.
NOTHING = 1e-10

Mask = NDArray[np.bool_]


_PAIRS = ((0, 1), (0, 2), (1, 2))


class Placements:
    """Masks (n,) over `prims`. up_axis: the stage's, so that OpenUSD's own rounding can be followed.

    precision: angle below which the axes of the prims are noise, radians; OpenUSD's rounding then says nothing.
    """

    def __init__(self, prims: list[Prim], up_axis: str, precision: float = 0.0) -> None:
        self.prims = prims
        worlds = np.concatenate([prim.world for prim in prims]) if prims else np.zeros((0, 4))
        self.finite: Mask = np.isfinite(worlds.reshape(-1, 16)).all(axis=1)
        linear = worlds.reshape(-1, 4, 4)[:, :3, :3]
        if not self.finite.all():
            linear = np.where(self.finite[:, None, None], linear, np.eye(3))
        # Rows of (axis, prim), in the order in which OpenUSD adds, before the turn to Z up: rounding errors count,
        # see `skewed`.
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
        #: Scale along the prim's own axes (n, 3), without sign.
        self.lengths = lengths.T
        self.zero: Mask = (lengths < NOTHING).any(axis=0)
        self.sheared: Mask = (cosines > SHEAR).any(axis=0) & ~self.zero
        self.uneven: Mask = np.ptp(scales, axis=0) > UNIFORM * scales.min(axis=0)
        self.mirrored: Mask = (volumes < 0 if up_axis != "Y" else volumes > 0) & ~self.zero
        # OpenUSD asks whether the axes of the scale are turned at all, by Jacobi's method. Where two of three scales
        # are equal they may be any two axes in a plane: there a rounding error decides, be it of second order.
        second_order = np.abs(
            np.array([products[1] * products[2], products[0] * products[2], products[0] * products[1]])
        )
        gaps = np.array([np.abs(squares[q] - squares[p]) for p, q in _PAIRS])
        self.skewed: Mask = (np.abs(products) + second_order > ORIENTATION * gaps).any(axis=0) & self.uneven
        if precision > ORIENTATION:
            self.skewed = self.sheared & self.uneven

    def where(self, mask: Mask) -> list[Prim]:
        """The prims of a mask."""
        return [self.prims[row] for row in np.flatnonzero(mask)]
