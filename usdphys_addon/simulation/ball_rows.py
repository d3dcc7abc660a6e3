# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that bounce and touch in a row, as in Newton's cradle. Solvers handle all impacts of a step together."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ..core.frames import Matrix
from ..core.model import Prim

#: Distance, in diameters, up to which bodies touch; restitution from which on they bounce in a row; cosine of the angle
#: between two that are on opposite sides of a third.
TOUCHING, LIVELY, OPPOSITE = 1.002, 0.5, -0.9
#: Part of the smaller one of two bodies by which they may be in each other and still touch.
DEEP = 0.25
#: Pairs that are looked at together.
_AT_ONCE = 1_000_000
#: By which part balls of such a row are made smaller.
GAP = 0.003


def rows_that_bounce(places: Matrix, sizes: Matrix, bounces: Matrix) -> list[list[int]]:
    """Of bodies that bounce, the groups of those that touch at the start and have one with others on opposite sides.

    Each group begins with such a body. Time and memory grow with the number of bodies that are close to each other.
    places (n, 3) and sizes (n,), m: of bodies as wide as high. bounces (n,): their restitution.
    """
    usable = np.isfinite(places).all(axis=1) & np.isfinite(sizes) & (sizes > 0.0)
    usable &= bounces + bounces.max(initial=-1.0) >= 2.0 * LIVELY
    chosen = np.flatnonzero(usable)
    if len(chosen) < 3:
        return []
    first, second = _touching(places[chosen], sizes[chosen], bounces[chosen])
    if not len(first):
        return []
    groups = _connected(len(chosen), first, second)
    # Both ways, sorted by the body that has the neighbours.
    body, other = np.concatenate((first, second)), np.concatenate((second, first))
    order = np.argsort(body, kind="stable")
    body, other = body[order], other[order]
    starts = np.searchsorted(body, np.arange(len(chosen) + 1))
    middles: dict[int, int] = {}
    for row in np.flatnonzero(np.diff(starts) > 1).tolist():
        if int(groups[row]) in middles:
            continue
        sides = places[chosen[other[starts[row] : starts[row + 1]]]] - places[chosen[row]]
        sides /= np.linalg.norm(sides, axis=1)[:, None]
        # Thousands may be around one large body.
        if any(float((some @ sides.T).min()) < OPPOSITE for some in np.array_split(sides, len(sides) // 256 + 1)):
            middles[int(groups[row])] = row
    return [
        [int(chosen[middle]), *chosen[(groups == group) & (np.arange(len(chosen)) != middle)].tolist()]
        for group, middle in sorted(middles.items())
    ]  # fmt: skip


def _touching(places: Matrix, sizes: Matrix, bounces: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that touch and bounce off each other, by cells of a grid for each power of two of the sizes."""
    levels = np.ceil(np.log2(sizes)).astype(int)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for level in np.unique(levels):
        # A body of this level touches no smaller one that is farther away than a cell.
        cells = np.floor(places / (TOUCHING * 2.0**level))
        own, asking = np.flatnonzero(levels == level), np.flatnonzero(levels <= level)
        keys = _keys(cells[own])
        order = np.argsort(keys, kind="stable")
        own, keys = own[order], keys[order]
        for offset in itertools.product((-1.0, 0.0, 1.0), repeat=3):
            wanted = _keys(cells[asking] + offset)
            begins, ends = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
            totals = np.cumsum(ends - begins)
            start = 0
            while start < len(asking):
                before = int(totals[start - 1]) if start else 0
                end = max(start + 1, int(np.searchsorted(totals, before + _AT_ONCE, side="right")))
                some, counts = asking[start:end], (ends - begins)[start:end]
                first = np.repeat(some, counts)
                within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
                second = own[np.repeat(begins[start:end], counts) + within]
                # Two of one level find each other.
                new = (levels[first] < level) | (first < second)
                first, second = first[new], second[new]
                touch = _touch(places, sizes, first, second) & (bounces[first] + bounces[second] >= 2.0 * LIVELY)
                found.append((first[touch], second[touch]))
                start = end
    pairs = np.concatenate([np.column_stack(pair) for pair in found])
    return pairs[:, 0], pairs[:, 1]


def _keys(cells: Matrix) -> NDArray[np.int64]:
    """A number for each cell (n, 3); different cells may have the same one."""
    # Cells that are too far away for an integer share one.
    numbers = np.clip(cells, -(2.0**40), 2.0**40).astype(np.int64)
    return np.asarray((numbers[:, 0] * 73856093) ^ (numbers[:, 1] * 19349663) ^ (numbers[:, 2] * 83492791))


def _touch(
    places: Matrix, sizes: Matrix, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:  # fmt: skip
    """Which of these pairs touch, and are not deep in each other."""
    gaps = np.linalg.norm(places[second] - places[first], axis=1)
    reach = 0.5 * (sizes[first] + sizes[second])
    return np.asarray((gaps < TOUCHING * reach) & (gaps > reach - DEEP * np.minimum(sizes[first], sizes[second])))


def _connected(count: int, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of so many bodies the lowest of those that it is connected with by pairs."""
    lowest = np.arange(count)
    while True:
        before = lowest.copy()
        np.minimum.at(lowest, first, lowest[second])
        np.minimum.at(lowest, second, lowest[first])
        lowest = lowest[lowest]
        if (lowest == before).all():
            return lowest


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
