# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognise the mesh that is a primitive, and fit primitives to points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from . import frames
from .schema import Capsule, Cone, Cube, Cylinder, Gprim, Plane, Sphere

Points = NDArray[np.float64]
#: Relative to the size of the mesh.
TOLERANCE = 1e-3
#: Fewer vertices than these are a polyhedron of its own right, not a round thing.
ROUND_RING, ROUND_SURFACE = 12, 40


@dataclass(slots=True)
class Primitive:
    """A primitive in the space of the points it was found in.

    size: (3,) edge lengths of a box and drawn size of a plane. axis: index of the spine.
    """

    kind: type[Gprim]
    center: Points
    rotation: frames.Matrix
    size: Points
    radius: float = 0.0
    height: float = 0.0
    axis: int = 2


def recognise(points: Points) -> Primitive | None:
    """The primitive whose surface the points (n, 3) lie on, or None. Planes are not: a mesh has an edge."""
    if len(points) < 8 or not np.isfinite(points).all():
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    size = high - low
    if size.min() <= 1e-6 * size.max() or size.max() == 0:
        return None
    tolerance = TOLERANCE * float(size.max())
    return _box(points, low, high, tolerance) or _round(points, (low + high) / 2, size, tolerance)


def _box(points: Points, low: Points, high: Points, tolerance: float) -> Primitive | None:
    if len(points) > 64:
        return None
    corners = np.unique(np.round(points / tolerance).astype(np.int64), axis=0)
    if len(corners) != 8:
        return None
    if (np.minimum(np.abs(points - low), np.abs(points - high)) <= tolerance).all():
        return Primitive(Cube, (low + high) / 2, np.eye(3), high - low)
    vertices = corners * tolerance
    edges = vertices[1:] - vertices[0]
    lengths = np.linalg.norm(edges, axis=1)
    directions = edges / lengths[:, None]
    for triple in combinations(range(7), 3):
        chosen = directions[list(triple)]
        if np.abs(chosen @ chosen.T - np.eye(3)).max() > 10 * TOLERANCE:
            continue
        size = lengths[list(triple)]
        center = vertices.mean(axis=0)
        local = np.abs((points - center) @ chosen.T)
        if np.abs(local - size / 2).max() <= 4 * tolerance:
            return Primitive(Cube, center, frames.rotation_of(chosen.T), size)
    return None


def _round(points: Points, center: Points, size: Points, tolerance: float) -> Primitive | None:
    offset = points - center
    radii = np.linalg.norm(offset, axis=1)
    radius = float(size.max()) / 2
    if len(points) >= ROUND_SURFACE and np.abs(radii - radius).max() <= tolerance:
        return Primitive(Sphere, center, np.eye(3), size, radius)
    for axis in range(3):
        others = [index for index in range(3) if index != axis]
        if abs(size[others[0]] - size[others[1]]) > 2 * tolerance:
            continue
        found = _turned(offset, axis, others, size, tolerance)
        if found is not None:
            kind, found_radius, height = found
            return Primitive(kind, center, np.eye(3), size, found_radius, height, axis)
    return None


def _turned(
    offset: Points, axis: int, others: list[int], size: Points, tolerance: float
) -> tuple[type[Gprim], float, float] | None:
    """(kind, radius, height) of a body of revolution about an axis through the centre."""
    along, across = offset[:, axis], np.linalg.norm(offset[:, others], axis=1)
    radius, half = float(size[others].max()) / 2, float(size[axis]) / 2
    on_rim = np.abs(across - radius) <= tolerance
    on_axis = across <= tolerance
    at_end = np.abs(np.abs(along) - half) <= tolerance
    if on_rim.sum() >= 2 * ROUND_RING and (at_end & (on_rim | on_axis)).all():
        return Cylinder, radius, 2 * half
    at_base, at_tip = np.abs(along + half) <= tolerance, np.abs(along - half) <= tolerance
    if (
        (at_base & on_rim).sum() >= ROUND_RING
        and (at_tip & on_axis).any()
        and ((at_base & (on_rim | on_axis)) | (at_tip & on_axis)).all()
    ):
        return Cone, radius, 2 * half
    spine = half - radius
    if spine > tolerance and len(offset) >= ROUND_SURFACE:
        beyond = along - np.clip(along, -spine, spine)
        if np.abs(np.hypot(across, beyond) - radius).max() <= tolerance:
            return Capsule, radius, 2 * spine
    return None


def fit(kind: type[Gprim], points: Points, axis: int = 2) -> Primitive:
    """The primitive of a kind with the extent of the points (n, 3); a unit one where there are none."""
    if len(points) == 0:
        size, center = np.ones(3), np.zeros(3)
    else:
        low, high = points.min(axis=0), points.max(axis=0)
        size, center = high - low, (low + high) / 2
    found = Primitive(kind, center, np.eye(3), size, axis=axis)
    across = float(np.delete(size, axis).max()) / 2
    if kind is Sphere:
        found.radius = float(size.max()) / 2
    elif kind is Capsule:
        found.radius, found.height = across, max(0.0, float(size[axis]) - 2 * across)
    elif kind in (Cylinder, Cone):
        found.radius, found.height = across, float(size[axis])
    elif kind is Plane:
        found.size = size
    return found
