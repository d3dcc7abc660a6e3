# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that bounce and touch in a row, as in Newton's cradle. Solvers handle all impacts of a step together."""

from __future__ import annotations

import numpy as np

from ..core.frames import Matrix
from ..core.model import Prim

#: Distance, in diameters, up to which bodies touch; restitution from which on they bounce in a row; cosine of the angle
#: between two that are on opposite sides of a third.
TOUCHING, LIVELY, OPPOSITE = 1.002, 0.5, -0.9
#: By which part balls of such a row are made smaller.
GAP = 0.003


def row_that_bounces(places: Matrix, sizes: Matrix, bounces: Matrix) -> list[int]:
    """Of bodies that bounce, the rows of those that touch at the start if one has others on opposite sides, that first.

    places (n, 3) and sizes (n,), m: of bodies as wide as high. bounces (n,): their restitution.
    """
    ways = places[None] - places[:, None]
    gaps = np.linalg.norm(ways, axis=2)
    touch = gaps < 0.5 * TOUCHING * (sizes[:, None] + sizes[None])
    touch &= 0.5 * (bounces[:, None] + bounces[None]) >= LIVELY
    np.fill_diagonal(touch, False)
    for row in np.flatnonzero(touch.sum(axis=1) > 1).tolist():
        sides = ways[row, touch[row]] / np.maximum(gaps[row, touch[row], None], 1e-12)
        if float((sides @ sides.T).min()) < OPPOSITE:
            return [row, *(other for other in np.flatnonzero(touch.any(axis=1)).tolist() if other != row)]
    return []


def parted_text(prim: Prim, gap: float = GAP) -> str:
    """What is said where the balls of a row were made smaller, by the body in its middle. gap: by which part."""
    return (
        f"{prim.display} bounces and touches balls on both sides: the balls of the row are simulated {gap:.1%} "
        "smaller, so that a hit passes from one to the next."
    )


def weak_text(prim: Prim) -> str:
    """What is said of a row of other shapes, which are left as they are."""
    return (
        f"{prim.display} bounces and touches bodies on both sides: the preview passes an impact along the row too "
        "weakly."
    )
