# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex decomposition of a mesh by Rapier; parts are merged if that adds little volume."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import rapier3d

from ...core.errors import InputError
from ...core.fitting import Points, Surface, hull
from ...core.model import Mesh
from . import shapes


def decompose(
    surface: Surface, most: int = 16, pieces: Sequence[Surface] | None = None,
    error: Callable[[Sequence[Surface]], float] | None = None, tolerance: float = 0.0,
) -> list[Surface]:  # fmt: skip
    """At most `most` convex parts that fill a mesh; parts with a nearly convex union are merged.

    error: with it, the fewest parts whose error is within the tolerance, however many these are; the finest where none
    are. pieces: parts of another program in the place of Rapier's. Raises InputError if the mesh is flat or cannot be
    decomposed.
    """
    whole = hull(surface.points)
    if whole is None:
        raise InputError("it is flat; choose a box or give it a thickness")
    if abs(whole.volume - surface.volume) <= _CONVEX * whole.volume:
        return [whole]
    parts = list(pieces) if pieces is not None else _pieces(surface)

    def quick_hull(points: Points) -> Surface | None:
        try:
            polyhedron: Any = rapier3d.SharedShape.convex_hull(points).as_convex_polyhedron()
        except (ValueError, rapier3d.RapierError):
            return hull(points)
        if polyhedron is None:
            return hull(points)
        corners, triangles = polyhedron.to_trimesh()
        return Surface(np.asarray(corners, float), np.asarray(triangles, np.int64).reshape(-1, 3))

    if not parts:
        return [whole]
    if error is None:
        for joined, growth in _stages(parts, quick_hull):
            if len(joined) <= most and growth > _GROWTH * whole.volume:
                break
        return joined
    stages = [joined for joined, _ in _stages(parts, quick_hull)]
    return next((joined for joined in reversed(stages) if error(joined) <= tolerance), stages[0])


def _pieces(surface: Surface) -> list[Surface]:
    """Rapier's convex parts of a mesh."""
    try:
        shape: Any = shapes.decomposition(Mesh(surface.points, surface.triangles))
    except (ValueError, rapier3d.RapierError) as error:
        raise InputError(f"it cannot be split into convex parts ({error})") from error
    compound = shape.as_compound() if shape is not None else None
    pieces = [part.as_convex_polyhedron() for _, part in compound.shapes()] if compound is not None else []
    made = [hull(np.asarray(piece.points, float)) for piece in pieces if piece is not None]
    return [part for part in made if part is not None]


#: Relative to the volume of the mesh's hull. _CONVEX: a mesh with a smaller difference to it is convex. _GROWTH: two
#: parts are merged if their common hull adds less volume.
_CONVEX, _GROWTH = 1e-3, 0.005


def _stages(
    parts: list[Surface], make: Callable[[Points], Surface | None]
) -> Iterator[tuple[list[Surface], float]]:  # fmt: skip
    """(parts, volume that the next merge adds) after each merge of the pair that adds the least, down to one part."""
    alive: dict[int, Surface] = dict(enumerate(parts))
    volumes = {index: part.volume for index, part in alive.items()}
    costs: dict[tuple[int, int], tuple[float, Surface]] = {}

    def cost(first: int, second: int) -> None:
        both = make(np.concatenate((alive[first].points, alive[second].points)))
        if both is not None:
            costs[first, second] = (both.volume - volumes[first] - volumes[second], both)

    for first in alive:
        for second in range(first):
            cost(first, second)
    while costs:
        pair = min(costs, key=lambda each: costs[each][0])
        growth, both = costs[pair]
        yield list(alive.values()), growth
        number = max(alive) + 1
        for index in pair:
            del alive[index], volumes[index]
        costs = {key: value for key, value in costs.items() if not set(key) & set(pair)}
        alive[number], volumes[number] = both, both.volume
        for other in alive:
            if other != number:
                cost(number, other)
    yield list(alive.values()), math.inf
