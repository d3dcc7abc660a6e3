# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex decomposition of a mesh by Rapier; parts are merged if that adds little volume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import rapier3d

from ...core.errors import InputError
from ...core.fitting import Points, Surface, hull
from ...core.model import Mesh
from . import shapes


def decompose(surface: Surface, most: int = 16) -> list[Surface]:
    """At most `most` convex parts that fill a mesh; parts with a nearly convex union are merged.

    Raises InputError if the mesh is flat or cannot be decomposed.
    """
    whole = hull(surface.points)
    if whole is None:
        raise InputError("it is flat; choose a box or give it a thickness")
    if abs(whole.volume - surface.volume) <= _CONVEX * whole.volume:
        return [whole]
    try:
        shape: Any = shapes.decomposition(Mesh(surface.points, surface.triangles))
    except (ValueError, rapier3d.RapierError) as error:
        raise InputError(f"it cannot be split into convex parts ({error})") from error
    compound = shape.as_compound() if shape is not None else None
    pieces = [part.as_convex_polyhedron() for _, part in compound.shapes()] if compound is not None else []
    made = [hull(np.asarray(piece.points, float)) for piece in pieces if piece is not None]
    parts = [part for part in made if part is not None]

    def quick_hull(points: Points) -> Surface | None:
        try:
            polyhedron: Any = rapier3d.SharedShape.convex_hull(points).as_convex_polyhedron()
        except (ValueError, rapier3d.RapierError):
            return hull(points)
        if polyhedron is None:
            return hull(points)
        corners, triangles = polyhedron.to_trimesh()
        return Surface(np.asarray(corners, float), np.asarray(triangles, np.int64).reshape(-1, 3))

    return _joined(parts, most, whole.volume, quick_hull) if parts else [whole]


#: Relative to the volume of the mesh's hull. _CONVEX: a mesh with a smaller difference to it is convex. _GROWTH: two
#: parts are merged if their common hull adds less volume.
_CONVEX, _GROWTH = 1e-3, 0.005


def _joined(parts: list[Surface], most: int, size: float, make: Callable[[Points], Surface | None]) -> list[Surface]:
    """Merge the pair that adds the least volume, while that is below _GROWTH or there are more than `most` parts."""
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
        if len(alive) <= most and growth > _GROWTH * size:
            break
        number = max(alive) + 1
        for index in pair:
            del alive[index], volumes[index]
        costs = {key: value for key, value in costs.items() if not set(key) & set(pair)}
        alive[number], volumes[number] = both, both.volume
        for other in alive:
            if other != number:
                cost(number, other)
    return list(alive.values())
