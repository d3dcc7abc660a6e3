# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognise meshes that are primitives, and fit primitives to points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import frames
from .hull import merged_steps
from .schemas.usd_geom import Capsule, Cone, Cube, Cylinder, Gprim, Plane, Sphere
from .steps import Steps, finished, part

Points = NDArray[np.float64]
#: Distance of a point from the primitive, relative to the size of the mesh.
TOLERANCE = 1e-3
#: Largest squared cosine between two axes that counts as a right angle.
_SHEAR = 1e-8
_ALIGNED = np.eye(3).tolist()
#: Smallest number of vertices on a rim or a curved surface that counts as round; with fewer it is a polyhedron.
ROUND_RING, ROUND_SURFACE = 12, 40


@dataclass(slots=True)
class Primitive:
    """A primitive in the space of the points it was fitted to.

    center (3,). rotation (3, 3). size (3,): edge lengths of a box, drawn size of a plane. axis: index of the spine.
    """

    kind: type[Gprim]
    center: Points
    rotation: frames.Matrix
    size: Points
    radius: float = 0.0
    height: float = 0.0
    axis: int = 2

    @property
    def is_aligned(self) -> bool:
        """True if it is not rotated."""
        return bool(self.rotation.tolist() == _ALIGNED)

    def survives(self, world: frames.Matrix) -> bool:
        """True if a matrix (4, 4) keeps its kind: no shear, and no uneven scale of a round cross-section."""
        linear = world if self.is_aligned else world[:3, :3] @ self.rotation
        (a, b, c), (d, e, f), (g, h, i) = (row[:3] for row in linear.tolist()[:3])
        # Squared lengths and dot products of the axes, without numpy: its overhead dominates for three numbers.
        x, y, z = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
        xy, yz, zx = a * b + d * e + g * h, b * c + e * f + h * i, c * a + f * d + i * g
        if xy * xy > _SHEAR * x * y or yz * yz > _SHEAR * y * z or zx * zx > _SHEAR * z * x:
            return False
        if self.kind in (Cube, Plane):
            return True
        across = [x, y, z]
        if self.kind in (Cylinder, Cone):
            del across[self.axis]
        return bool(max(across) - min(across) <= 2 * TOLERANCE * min(across))


def radius_scale(kind: type[Gprim], scale: ArrayLike, axis: int) -> float:
    """Factor of a radius under a scale (3,): the largest across the axis; for a sphere, of all three."""
    return float(np.max(scale if kind is Sphere else np.delete(scale, axis)))


def recognise(points: Points) -> Primitive | None:
    """The primitive whose surface the points (n, 3) lie on, or None. Never a Plane, which is infinite."""
    if len(points) < 8 or not np.isfinite(points).all():
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    size = high - low
    if size.min() <= 1e-6 * size.max() or size.max() == 0:
        return None
    tolerance = TOLERANCE * float(size.max())
    return _box(points, low, high, tolerance) or _round(points, (low + high) / 2, size, tolerance)


def is_closed(points: Points, corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> bool:
    """True if the faces of a mesh enclose a volume: every edge has exactly two faces.

    points: (n, 3). corners: vertex indices of all faces, concatenated. sizes: number of corners of each face.
    Coincident points are merged.
    """
    return finished(closed_steps(points, corners, sizes))


def closed_steps(points: Points, corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> Steps[bool]:
    """`is_closed` in steps."""
    if not len(corners):
        return False
    welded = yield from part(merged_steps(np.round(points, 6)), 0.0, 0.6)
    ends = np.cumsum(sizes)
    following = np.arange(1, len(corners) + 1)
    following[ends - 1] = ends - sizes
    first, second = welded[corners], welded[corners[following]]
    edges = (np.minimum(first, second) * len(points) + np.maximum(first, second))[first != second]
    yield 0.8
    edges.sort()
    if len(edges) % 2:
        return False
    return bool((edges[::2] == edges[1::2]).all() and (edges[1:-1:2] != edges[2::2]).all())


def _box(points: Points, low: Points, high: Points, tolerance: float) -> Primitive | None:
    if len(points) > 64:
        return None
    _, firsts = np.unique(np.round(points / tolerance).astype(np.int64), axis=0, return_index=True)
    if len(firsts) != 8:
        return None
    if (np.minimum(np.abs(points - low), np.abs(points - high)) <= tolerance).all():
        return Primitive(Cube, (low + high) / 2, np.eye(3), high - low)
    vertices = points[firsts]
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
    if len(points) >= ROUND_SURFACE and np.abs(radii - radius).max() <= tolerance and _is_rounded(offset, radius):
        return Primitive(Sphere, center, np.eye(3), size, radius)
    for axis in range(3):
        others = [index for index in range(3) if index != axis]
        if abs(size[others[0]] - size[others[1]]) > 2 * tolerance:
            continue
        primitive = _turned(offset, axis, others, size, tolerance)
        if primitive is not None:
            kind, found_radius, height = primitive
            return Primitive(kind, center, np.eye(3), size, found_radius, height, axis)
    return None


def _turned(
    offset: Points, axis: int, others: list[int], size: Points, tolerance: float
) -> tuple[type[Gprim], float, float] | None:
    """(kind, radius, height) of a cylinder, cone or capsule about an axis through the centre, or None."""
    along, across = offset[:, axis], np.linalg.norm(offset[:, others], axis=1)
    radius, half = float(size[others].max()) / 2, float(size[axis]) / 2
    on_rim = np.abs(across - radius) <= tolerance
    on_axis = across <= tolerance
    at_base, at_tip = np.abs(along + half) <= tolerance, np.abs(along - half) <= tolerance
    has_base = (at_base & on_rim).sum() >= ROUND_RING
    has_top = (at_tip & on_rim).sum() >= ROUND_RING
    if has_base and has_top and ((at_base | at_tip) & (on_rim | on_axis)).all():
        return Cylinder, radius, 2 * half
    if has_base and (at_tip & on_axis).any() and ((at_base & (on_rim | on_axis)) | (at_tip & on_axis)).all():
        return Cone, radius, 2 * half
    spine = half - radius
    if spine > tolerance and len(offset) >= ROUND_SURFACE:
        beyond = along - np.clip(along, -spine, spine)
        if np.abs(np.hypot(across, beyond) - radius).max() <= tolerance and _is_rounded(beyond, radius):
            return Capsule, radius, 2 * spine
    return None


def _is_rounded(offset: Points, radius: float) -> bool:
    """True if there are vertices between rim and tip on both sides of all axes, so it is not a double cone."""
    part = offset / radius
    above, below = (part > 0.25) & (part < 0.8), (part < -0.25) & (part > -0.8)
    return bool(np.all(above.any(axis=0) & below.any(axis=0)))


def fit(kind: type[Gprim], points: Points, axis: int = 2) -> Primitive:
    """The primitive of a kind with the bounding box of the points (n, 3); unit size without points."""
    if len(points) == 0:
        size, center = np.ones(3), np.zeros(3)
    else:
        low, high = points.min(axis=0), points.max(axis=0)
        size, center = high - low, (low + high) / 2
    primitive = Primitive(kind, center, np.eye(3), size, axis=axis)
    across = float(np.delete(size, axis).max()) / 2
    if kind is Sphere:
        primitive.radius = float(size.max()) / 2
    elif kind is Capsule:
        primitive.radius, primitive.height = across, max(0.0, float(size[axis]) - 2 * across)
    elif kind in (Cylinder, Cone):
        primitive.radius, primitive.height = across, float(size[axis])
    elif kind is Plane:
        primitive.size = size
    return primitive


def fit_in(kind: type[Gprim], points: Points, axis: int, rotation: frames.Matrix, world: frames.Matrix) -> Primitive:
    """`fit` along the axes of a rotation (3, 3), after the uneven scale of a world matrix (4, 4), if there is one."""
    lengths = np.linalg.norm(world[:3, :3] @ rotation, axis=0)
    scale = np.ones(3) if len(points) == 0 or frames.is_uniform(lengths) else lengths
    primitive = fit(kind, points @ rotation * scale, axis)
    primitive.rotation, primitive.center = rotation, rotation @ (primitive.center / scale)
    primitive.size = primitive.size / scale
    primitive.radius /= radius_scale(kind, scale, axis)
    primitive.height /= float(scale[axis])
    return primitive
