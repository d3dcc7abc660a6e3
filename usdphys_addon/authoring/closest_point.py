# SPDX-License-Identifier: GPL-3.0-or-later
"""The point between two surfaces where they are closest."""

from __future__ import annotations

import math

import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Distances that differ by less than this fraction of the size of both surfaces are equal.
_TIE = 1e-5
#: With more pairs of edges, only vertices are compared: meshes that dense have one near every point.
_MOST_PAIRS = 30_000_000


def closest_point(one: tuple[Array, Array], other: tuple[Array, Array]) -> Array:
    """As `closest`, without the distance."""
    return closest(one, other)[0]


def closest(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, float]:
    """Midpoint (3,) of the closest points of two surfaces: points (n, 3) and triangles (m, 3), or points alone; and
    their distance, 0 where the surfaces intersect.

    If several pairs of points are equally close, the centre of the bounding box of their midpoints; if the surfaces
    intersect, that of the points where edges pierce triangles.
    """
    corners = np.concatenate([one[0], other[0]])
    tie = _TIE * max(float(np.linalg.norm(np.ptp(corners, axis=0))), 1e-9)
    candidates: list[tuple[Array, Array]] = [_crossings(one, other)]
    best = 0.0 if len(candidates[0][0]) else math.inf
    for first, second in ((one, other), (other, one)):
        pairs = _vertex_pairs(first[0], second, best + tie)
        candidates.append(pairs)
        best = min(best, float(pairs[1].min(initial=math.inf)))
    candidates.append(_edge_pairs(one, other, best + tie))
    places = np.concatenate([pair[0] for pair in candidates])
    distances = np.concatenate([pair[1] for pair in candidates])
    least = float(distances.min())
    chosen = places[distances <= least + tie]
    return np.asarray((chosen.min(axis=0) + chosen.max(axis=0)) / 2), least if least > tie else 0.0


def _tree(surface: tuple[Array, Array]) -> BVHTree:
    return BVHTree.FromPolygons(surface[0].tolist(), surface[1].tolist(), all_triangles=True)


def _vertex_pairs(points: Array, surface: tuple[Array, Array], within: float) -> tuple[Array, Array]:
    """(midpoints, distances) of points and their nearest points on a surface, without pairs that cannot be closest."""
    if not len(surface[1]):
        apart = np.linalg.norm(points[:, None] - surface[0][None], axis=2)
        nearest = apart.argmin(axis=1)
        return (points + surface[0][nearest]) / 2, apart[np.arange(len(points)), nearest]
    tree = _tree(surface)
    places, distances = [], []
    for point in points.tolist():
        reach = within if math.isfinite(within) else 1e30
        location, _, _, distance = tree.find_nearest(point, reach)
        if location is None or distance is None:
            continue
        places.append((np.array(point) + np.array(location)) / 2)
        distances.append(distance)
        within = min(within, distance * (1 + _TIE) + 1e-9)
    return np.array(places).reshape(-1, 3), np.array(distances, float)


def _edges(surface: tuple[Array, Array]) -> tuple[Array, Array]:
    """Ends (n, 3), (n, 3) of the edges of triangles."""
    points, triangles = surface
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return points[pairs[:, 0]], points[pairs[:, 1]]


def _near_box(edges: tuple[Array, Array], box: Array, within: float) -> tuple[Array, Array]:
    """The edges whose bounding boxes are within a distance of the bounding box of points (n, 3)."""
    low, high = np.minimum(*edges), np.maximum(*edges)
    gap = np.maximum(0.0, np.maximum(low - box.max(axis=0), box.min(axis=0) - high))
    near = np.linalg.norm(gap, axis=1) <= within
    return edges[0][near], edges[1][near]


def _edge_pairs(one: tuple[Array, Array], other: tuple[Array, Array], within: float) -> tuple[Array, Array]:
    """(midpoints, distances) of the pairs of edges that are within a distance; empty if there are too many pairs."""
    nothing = np.zeros((0, 3)), np.zeros(0)
    if not len(one[1]) or not len(other[1]):
        return nothing
    first = _near_box(_edges(one), other[0], within)
    second = _near_box(_edges(other), one[0], within)
    if len(first[0]) * len(second[0]) > _MOST_PAIRS or not len(first[0]) or not len(second[0]):
        return nothing
    low, high = np.minimum(*second), np.maximum(*second)
    places, distances = [nothing[0]], [nothing[1]]
    for start, end in zip(*first, strict=True):
        gap = np.maximum(0.0, np.maximum(low - np.maximum(start, end), np.minimum(start, end) - high))
        near = np.einsum("ni,ni->n", gap, gap) <= within * within
        if near.any():
            place, distance = _between_segments(start, end, second[0][near], second[1][near])
            counts = distance <= within
            places.append(place[counts])
            distances.append(distance[counts])
    return np.concatenate(places), np.concatenate(distances)


def _between_segments(start: Array, end: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """(midpoints, distances) of the closest points of one segment and each of many.

    Parallel segments give one of their closest pairs; `_vertex_pairs` finds the ends of the overlap.
    """
    along, across, apart = end - start, ends - starts, start - starts
    a = max(float(along @ along), 1e-300)
    e = np.maximum(np.einsum("ni,ni->n", across, across), 1e-300)
    b, c, f = across @ along, apart @ along, np.einsum("ni,ni->n", across, apart)
    denominator = a * e - b * b
    is_skew = denominator > 1e-12 * a * e
    s = np.where(is_skew, np.clip((b * f - c * e) / np.where(is_skew, denominator, 1.0), 0.0, 1.0), 0.0)
    t = (b * s + f) / e
    clipped = np.clip(t, 0.0, 1.0)
    s = np.where(t != clipped, np.clip((b * clipped - c) / a, 0.0, 1.0), s)
    one, other = start + s[:, None] * along, starts + clipped[:, None] * across
    return (one + other) / 2, np.linalg.norm(one - other, axis=1)


def _crossings(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    """(points, zeros) where edges of one surface go through triangles of the other."""
    if not len(one[1]) or not len(other[1]):
        return np.zeros((0, 3)), np.zeros(0)
    pairs = np.array(_tree(one).overlap(_tree(other)), np.int64).reshape(-1, 2)
    crossings = [np.zeros((0, 3))]
    for edges_of, faces_of, order in ((one, other, pairs), (other, one, pairs[:, ::-1])):
        corners = edges_of[0][edges_of[1][order[:, 0]]]
        faces = faces_of[0][faces_of[1][order[:, 1]]]
        for start, end in ((0, 1), (1, 2), (2, 0)):
            crossings.append(_through(corners[:, start], corners[:, end], faces))
    points = np.concatenate(crossings)
    return points, np.zeros(len(points))


def _through(starts: Array, ends: Array, faces: Array) -> Array:
    """The points where segments from (n, 3) to (n, 3) go through triangles (n, 3, 3), row by row (Möller-Trumbore)."""
    u, v = faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]
    ray = ends - starts
    p = np.cross(ray, v)
    determinant = np.einsum("ni,ni->n", u, p)
    size = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1) * np.linalg.norm(ray, axis=1)
    is_crossing = np.abs(determinant) > 1e-9 * size
    inverse = 1.0 / np.where(is_crossing, determinant, 1.0)
    w = starts - faces[:, 0]
    first = np.einsum("ni,ni->n", w, p) * inverse
    q = np.cross(w, u)
    second = np.einsum("ni,ni->n", ray, q) * inverse
    along = np.einsum("ni,ni->n", v, q) * inverse
    inside = is_crossing & (first >= 0) & (second >= 0) & (first + second <= 1) & (along >= 0) & (along <= 1)
    return np.asarray(starts[inside] + along[inside, None] * ray[inside])
