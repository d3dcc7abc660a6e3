# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies are at inner edges of what they lie on: between triangles of a surface, or shapes beside each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapier3d import PhysicsWorld

#: Relative to the size of a body: how near a shape is that it may lie on.
NEAR = 0.01


def at_seams(physics: PhysicsWorld, bodies: Sequence[Any], stills: Collection[Any]) -> NDArray[np.bool_]:
    """Which bodies (n,) may touch an inner edge now.

    bodies, stills: handles, of all and of those that are floor. A body of several shapes is a floor, too, and has edges
    of its own.
    """
    parts = [_boxes(physics, handle) for handle in bodies]
    is_compound, known = np.array([len(own) > 1 for own in parts], bool), set(bodies)
    floors = [(-1, _boxes(physics, handle)) for handle in stills if handle not in known]
    floors += [(row, own) for row, own in enumerate(parts) if is_compound[row] or bodies[row] in stills]
    # A body without a shape touches nothing.
    nowhere = np.full(3, np.inf)
    lows = np.array([np.min([nowhere, *(low for low, _, _ in own)], axis=0) for own in parts]).reshape(-1, 3)
    highs = np.array([np.max([-nowhere, *(high for _, high, _ in own)], axis=0) for own in parts]).reshape(-1, 3)
    near = NEAR * np.maximum(highs - lows, 0.0).max(axis=1, initial=0.0)[:, None]
    number = np.zeros(len(bodies), np.int64)
    for row, shapes in floors:
        for low, high, edges in shapes:
            meets = ((lows - near <= high) & (highs + near >= low)).all(axis=1)
            if row >= 0:
                meets[row] = False
            number += edges * meets
    return is_compound | (number > 1)


def _boxes(physics: PhysicsWorld, handle: Any) -> list[tuple[NDArray[np.float64], NDArray[np.float64], int]]:
    """(lower corner (3,), upper corner (3,), 1 for a box and 2 for a shape that may have inner edges) of each collider
    of a body, in the world."""
    found = []
    for number in physics.rigid_bodies[handle].colliders:
        collider = physics.colliders[number]
        box = collider.compute_aabb()
        edges = 1 if collider.shape.as_cuboid() is not None else 2
        found.append((np.array(box.mins.to_tuple()), np.array(box.maxs.to_tuple()), edges))
    return found
