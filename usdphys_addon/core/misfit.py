# SPDX-License-Identifier: GPL-3.0-or-later
"""How well convex parts fill a mesh: what they leave out, what they add, and how far they are from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fitting import Points, Surface

#: Points of a measurement, and most pairs of a point and a triangle that it looks at.
_POINTS, _PAIRS = 6000, 60_000_000
#: Points on surfaces whose distances are measured, and pairs with triangles.
_ON_SURFACE, _SURFACE_PAIRS = 1500, 8_000_000
_SEED = 20240
#: Parts of the size of a mesh by which a point on a face counts as inside.
_NEAR = 1e-6
_CHUNK = 2_000_000


class Misfit(NamedTuple):
    """missing: what lies in the mesh and in no part; extra: in a part and not in the mesh; both of its volume.

    distance: largest one between the surfaces that was found, m. points: random ones inside the mesh that were counted.
    """

    missing: float
    extra: float
    distance: float
    points: int

    @property
    def error(self) -> float:
        return self.missing + self.extra


class MisfitMeter:
    """Measures parts against one mesh, whose points are looked at once. The points are the same for equal meshes."""

    def __init__(self, surface: Surface) -> None:
        """surface: closed. Its size may be anything but zero."""
        self.surface = surface
        used = surface.points[np.unique(surface.triangles)]
        low, high = used.min(axis=0), used.max(axis=0)
        self.size = float(np.linalg.norm(high - low))
        count = int(min(_POINTS, max(500, _PAIRS // max(1, len(surface.triangles)))))
        # Parts are within the hull of the mesh, or nearly so.
        self.points = np.random.default_rng(_SEED).uniform(low, high, (count, 3))
        self.inside = _inside(surface, self.points)

    def error(self, parts: Sequence[Surface]) -> tuple[float, float]:
        """(missing, extra) as parts of the volume of the mesh."""
        within = np.zeros(len(self.points), bool)
        for part in parts:
            left = ~within
            within[left] = _in_hull(part, self.points[left], self.size * _NEAR)
        count = max(1, int(self.inside.sum()))
        return float((self.inside & ~within).sum()) / count, float((within & ~self.inside).sum()) / count

    def misfit(self, parts: Sequence[Surface]) -> Misfit:
        return Misfit(*self.error(parts), self.distance(parts), int(self.inside.sum()))

    def distance(self, parts: Sequence[Surface]) -> float:
        """The largest distance, m, from points on the parts to the mesh, and from points on the mesh to the parts."""
        triangles = max(1, len(self.surface.triangles))
        count = int(min(_ON_SURFACE, max(100, _SURFACE_PAIRS // triangles)))
        chance = np.random.default_rng(_SEED)
        share = max(12, count // max(1, len(parts)))
        corners = [np.concatenate([_on_surface(part, share, chance), part.points[:share]]) for part in parts]
        on_parts = np.concatenate(corners) if corners else np.zeros((0, 3))
        # A face between two parts is inside of the mesh, and no surface of the whole.
        outside = on_parts[~_inside(self.surface, on_parts)] if len(on_parts) else on_parts
        to_mesh = _to_triangles(outside, self.surface)
        points = np.concatenate([_on_surface(self.surface, count, chance), self.surface.points[:count]])
        to_parts = np.min([_beyond(part, points) for part in parts], axis=0) if parts else np.zeros(1)
        return float(max(to_mesh.max(initial=0.0), to_parts.max(initial=0.0), 0.0))


def _inside(surface: Surface, points: Points) -> NDArray[np.bool_]:
    """True for points around which the triangles of a closed mesh cover all directions."""
    corners = surface.points[surface.triangles]
    made = np.zeros(len(points))
    step = max(1, _CHUNK // max(1, len(corners)))
    for start in range(0, len(points), step):
        some = points[start : start + step, None, :]
        a, b, c = (corners[None, :, side] - some for side in range(3))
        la, lb, lc = (np.sqrt(np.einsum("ijk,ijk->ij", side, side)) for side in (a, b, c))
        below = la * lb * lc
        for (one, other), last in zip(((a, b), (b, c), (c, a)), (lc, la, lb), strict=True):
            below += np.einsum("ijk,ijk->ij", one, other) * last
        made[start : start + step] = np.arctan2(np.einsum("ijk,ijk->ij", a, np.cross(b, c)), below).sum(axis=1)
    return np.abs(made) > np.pi


def _planes(part: Surface) -> tuple[Points, NDArray[np.float64]]:
    """Outward normals (m, 3) of the faces of a convex part, and their distances (m,) from the origin."""
    a, b, c = np.moveaxis(part.points[part.triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    kept = sizes > 1e-9 * sizes.max(initial=0.0)
    normals, corners = normals[kept] / sizes[kept, None], a[kept]
    # Whatever the order of the corners: the middle is inside.
    middle = part.points[np.unique(part.triangles)].mean(axis=0)
    normals *= np.where(np.einsum("ij,ij->i", normals, corners - middle) < 0.0, -1.0, 1.0)[:, None]
    return normals, np.einsum("ij,ij->i", normals, corners)


def _beyond(part: Surface, points: Points) -> NDArray[np.float64]:
    """How far points (n, 3) are beyond the faces of a convex part: below zero inside, at most the distance outside."""
    normals, offsets = _planes(part)
    if not len(normals):
        return np.full(len(points), np.inf)
    return np.asarray((points @ normals.T - offsets).max(axis=1))


def _in_hull(part: Surface, points: Points, near: float) -> NDArray[np.bool_]:
    return _beyond(part, points) <= near


def _on_surface(surface: Surface, count: int, chance: np.random.Generator) -> Points:
    """Random points on a mesh, evenly by area."""
    a, b, c = np.moveaxis(surface.points[surface.triangles], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    if areas.sum() <= 0.0:
        return np.zeros((0, 3))
    chosen = chance.choice(len(areas), count, p=areas / areas.sum())
    u, v = chance.random((2, count))
    flipped = u + v > 1.0
    u, v = np.where(flipped, 1.0 - u, u)[:, None], np.where(flipped, 1.0 - v, v)[:, None]
    return np.asarray(a[chosen] + u * (b[chosen] - a[chosen]) + v * (c[chosen] - a[chosen]))


def _to_triangles(points: Points, surface: Surface) -> NDArray[np.float64]:
    """The distance (n,) of points from a mesh."""
    corners = surface.points[surface.triangles]
    a, b, c = np.moveaxis(corners, 1, 0)
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    units = normals / np.where(sizes > 0, sizes, 1.0)[:, None]
    found = np.full(len(points), np.inf)
    step = max(1, _CHUNK // max(1, len(corners)))
    for start in range(0, len(points), step):
        some = points[start : start + step, None, :]
        within = np.ones((len(some), len(corners)), bool)
        best = np.full((len(some), len(corners)), np.inf)
        for one, other in ((a, b), (b, c), (c, a)):
            edge, away = (other - one)[None], some - one[None]
            along = np.einsum("ijk,ijk->ij", away, np.broadcast_to(edge, away.shape))
            share = np.clip(along / np.maximum(np.einsum("ijk,ijk->ij", edge, edge), 1e-300), 0.0, 1.0)
            rest = away - share[..., None] * edge
            best = np.minimum(best, np.einsum("ijk,ijk->ij", rest, rest))
            side = np.cross(units, (other - one))
            within &= np.einsum("ijk,jk->ij", away, side) >= 0.0
        height = np.abs(np.einsum("ijk,jk->ij", some - a[None], units))
        best = np.where(within & (sizes > 0), np.minimum(best, height**2), best)
        found[start : start + step] = np.sqrt(best.min(axis=1))
    return found
