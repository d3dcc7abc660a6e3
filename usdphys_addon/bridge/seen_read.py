# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of what the objects of a scene show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from ..core.frames import Matrix
from ..core.seen import SeenBounds
from .mesh import GEOMETRY_TYPES
from .placements import Placement


def add_seen(placements: Iterable[Placement], meters: float, bounds: SeenBounds) -> Iterator[None]:
    """Add the objects that renders show, one in a step. meters: length of a Blender unit."""
    for placement in placements:
        if placement.obj.type in GEOMETRY_TYPES and not placement.obj.hide_render:
            corners = np.array(placement.evaluated.bound_box, float)
            world = placement.matrix
            bounds.add(placement.path, (corners @ world[:3, :3].T + world[:3, 3]) * meters)
        yield


def seen_of(placements: Iterable[Placement], meters: float, bodies: Collection[str]) -> dict[str, Matrix]:
    """`PhysicsModel.seen` of a scene that was read. bodies: their paths."""
    bounds = SeenBounds(bodies)
    for _ in add_seen(placements, meters, bounds):
        pass
    return bounds.found
