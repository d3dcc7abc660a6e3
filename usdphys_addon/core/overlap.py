# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep convex colliders are in each other, and in which direction they come apart. No solver."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from . import frames, gprims
from .frames import Matrix
from .model import Mesh, Prim, SpherePoints
from .schemas import usd_geom, usd_physics

#: Directions that are tried for shapes other than boxes, besides their own: the 13 of a cube's faces, edges, corners.
_EVEN = np.array([row for row in itertools.product((-1.0, 0.0, 1.0), repeat=3) if row > (0.0, 0.0, 0.0)])
_EVEN /= np.linalg.norm(_EVEN, axis=1)[:, None]
_EVEN_BOTH = np.concatenate((_EVEN, -_EVEN))
#: Directions all around, by the golden angle.
_TURN, _HEIGHT = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(200), np.linspace(0.0, 1.0, 200)
ALL_AROUND = np.stack(
    [*(np.sqrt(1.0 - _HEIGHT**2) * [np.cos(_TURN), np.sin(_TURN)]), _HEIGHT], axis=1
)  # fmt: skip
#: A hull of more points is replaced by the points that are extreme in some directions; it gets smaller, never larger.
_MOST_POINTS = 200
_UNIT_CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
_CIRCLE = np.array([(np.cos(angle), np.sin(angle)) for angle in np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)])


class Bounded(Protocol):
    """Something with a bounding box (3,), (3,) in the world, m."""

    @property
    def low(self) -> Matrix: ...

    @property
    def high(self) -> Matrix: ...


@dataclass(slots=True)
class Solid:
    """The hull of balls: centres (n, 3), m, and their common radius, in the world. axes (k, 3): of its faces."""

    prim: Prim
    points: Matrix
    radius: float
    axes: Matrix
    is_box: bool = False
    #: Bounding box (3,).
    low: Matrix = field(default_factory=lambda: np.zeros(3))
    high: Matrix = field(default_factory=lambda: np.zeros(3))

    def interval(self, directions: Matrix) -> tuple[Matrix, Matrix]:
        """Least and largest coordinates (m,) along unit directions (m, 3)."""
        along = self.points @ directions.T
        return along.min(axis=0) - self.radius, along.max(axis=0) + self.radius


def solids_of(shapes: Sequence[tuple[Prim, Mesh | SpherePoints | None]]) -> list[Solid]:
    """The convex solids of colliders, without those that are not convex, infinite or broken."""
    known = [pair for pair in shapes if pair[1] is not None or pair[0].get(usd_geom.Gprim) is not None]
    worlds = np.array([prim.world for prim, _ in known], float).reshape(-1, 4, 4)
    finite = np.isfinite(worlds).all(axis=(1, 2))
    usable, worlds = [known[number] for number in np.flatnonzero(finite)], worlds[finite]
    if not usable:
        return []
    rotations = frames.rotations_of(worlds)
    stretches = rotations.transpose(0, 2, 1) @ worlds[:, :3, :3]
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    local: list[Solid | None] = []
    for number, ((prim, geometry), stretch) in enumerate(zip(usable, stretches, strict=True)):
        gprim, convex = prim.get(usd_geom.Gprim), None
        if gprim is not None:
            convex = _gprim(prim, gprims.sizes(gprim, np.diag(stretch)))
        elif isinstance(geometry, Mesh):
            convex = _mesh(prim, np.asarray(geometry.points, float) @ stretch.T)
        local.append(convex)
        if convex is not None:
            alike[len(convex.points), len(convex.axes)].append(number)
    for numbers in alike.values():
        _place([solid for number in numbers if (solid := local[number])], rotations[numbers], worlds[numbers, :3, 3])
    return [solid for solid in local if solid is not None and np.isfinite((solid.low, solid.high)).all()]


def _place(solids: list[Solid], rotations: Matrix, positions: Matrix) -> None:
    """Bring solids with as many points and axes each from the frames of their prims into the world."""
    turned = rotations.transpose(0, 2, 1)
    points = np.array([solid.points for solid in solids]) @ turned + positions[:, None]
    axes, radii = np.array([solid.axes for solid in solids]) @ turned, np.array([[solid.radius] for solid in solids])
    lows, highs = points.min(axis=1) - radii, points.max(axis=1) + radii
    for number, solid in enumerate(solids):
        solid.points, solid.axes, solid.low, solid.high = points[number], axes[number], lows[number], highs[number]


def _gprim(prim: Prim, sizes: gprims.Sizes) -> Solid | None:
    axes = np.eye(3)
    if sizes.kind is usd_geom.Cube:
        return Solid(prim, (_UNIT_CUBE - 0.5) * sizes.edges, 0.0, axes, True)
    if sizes.kind is usd_geom.Sphere:
        return Solid(prim, np.zeros((1, 3)), sizes.radius, axes)
    spine = np.eye(3)[sizes.spine]
    ends = np.array([-spine, spine]) * (sizes.height / 2.0)
    if sizes.kind is usd_geom.Capsule:
        return Solid(prim, ends, sizes.radius, axes)
    if sizes.kind not in (usd_geom.Cylinder, usd_geom.Cone):
        return None
    across = np.delete(np.eye(3), sizes.spine, axis=0)
    rim = _CIRCLE @ across * sizes.radius
    top = ends[1][None] if sizes.kind is usd_geom.Cone else rim + ends[1]
    return Solid(prim, np.concatenate((rim + ends[0], top)), 0.0, axes)


def _mesh(prim: Prim, points: Matrix) -> Solid | None:
    if not len(points) or not np.isfinite(points).all():
        return None
    settings = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if settings is None else settings.resolved("approximation")
    low, high = points.min(axis=0), points.max(axis=0)
    if approximation == "boundingCube":
        return Solid(prim, corners(low, high), 0.0, np.eye(3), True)
    if approximation == "boundingSphere":
        middle = (low + high) / 2.0
        return Solid(prim, middle[None], float(np.linalg.norm(points - middle, axis=1).max()), np.eye(3))
    is_flat = float((high - low).min()) <= 1e-6 * float((high - low).max())
    if approximation != "convexHull" and not is_flat:
        return None
    if len(points) > _MOST_POINTS:
        along = points @ np.concatenate((_EVEN, np.eye(3))).T
        points = points[np.unique(np.concatenate((along.argmin(axis=0), along.argmax(axis=0))))]
    return Solid(prim, points, 0.0, np.eye(3), is_flat and approximation != "convexHull")


def corners(low: Matrix, high: Matrix) -> Matrix:
    """The corners (8, 3) of a box."""
    return low + _UNIT_CUBE * (high - low)


def depth(one: Solid, other: Solid) -> tuple[float, Matrix]:
    """(how deep two solids are in each other, m, at most; unit direction (3,) in which `one` leaves `other`).

    0 or less if some direction separates them. Exact for two boxes and for two balls, else an upper bound.
    """
    between = one.points.mean(axis=0) - other.points.mean(axis=0)
    candidates = [one.axes, other.axes, between[None]]
    candidates.append(np.cross(one.axes[:, None], other.axes[None]).reshape(-1, 3))
    if not (one.is_box and other.is_box):
        candidates.append(_EVEN)
    directions = np.concatenate(candidates)
    lengths = np.linalg.norm(directions, axis=1)
    directions = directions[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    low, high = one.interval(directions)
    other_low, other_high = other.interval(directions)
    # `one` leaves backwards over its upper end, or forwards over its lower end.
    back, forth = high - other_low, other_high - low
    both = np.concatenate((back, forth))
    best = int(both.argmin())
    row = best % len(directions)
    return float(both[best]), -directions[row] if best < len(directions) else directions[row]


def depth_closely(one: Solid, other: Solid) -> float:
    """`depth` for any two solids, to within a hundredth of their sizes; 0 or less where some direction parts them."""
    crossed = np.cross(one.axes[:, None], other.axes[None]).reshape(-1, 3)
    tried = np.concatenate((ALL_AROUND, one.axes, other.axes, crossed[np.linalg.norm(crossed, axis=1) > 1e-9]))
    tried = tried / np.linalg.norm(tried, axis=1)[:, None]
    tried = np.concatenate((tried, -tried))

    def depths(directions: Matrix) -> Matrix:
        return np.asarray(one.interval(directions)[1] - other.interval(directions)[0])

    found = depths(tried)
    way, least = tried[int(found.argmin())], float(found.min())
    # Around the best of these, ever closer.
    for reach in (0.1, 0.05, 0.02, 0.01, 0.005, 0.002):
        if least <= 0.0:
            break
        near = way + reach * _EVEN_BOTH
        near /= np.linalg.norm(near, axis=1)[:, None]
        found = depths(near)
        if float(found.min()) < least:
            way, least = near[int(found.argmin())], float(found.min())
    return least


def close_pairs(solids: Sequence[Bounded], margin: float = 0.0, most: int = 20_000_000) -> Iterator[tuple[int, int]]:
    """Pairs of solids whose bounding boxes meet, by a sweep along X. Ends after `most` comparisons."""
    if not solids:
        return
    lows = np.array([solid.low for solid in solids]) - margin
    highs = np.array([solid.high for solid in solids]) + margin
    order = np.argsort(lows[:, 0])
    lows, highs = lows[order], highs[order]
    ends = np.searchsorted(lows[:, 0], highs[:, 0], side="right")
    left = most
    for number in np.flatnonzero(ends > np.arange(len(order)) + 1).tolist():
        near = slice(number + 1, ends[number])
        left -= ends[number] - number - 1
        if left < 0:
            return
        meets = (lows[near, 1:] <= highs[number, 1:]) & (lows[number, 1:] <= highs[near, 1:])
        for second in np.flatnonzero(meets.all(axis=1)):
            yield int(order[number]), int(order[number + 1 + second])


def depths_inside(solid: Solid, points: Matrix) -> Matrix:
    """How deep points (n, 3) are in a solid, m (n,); 0 or less outside. Exact for boxes, balls and capsules."""
    if len(solid.points) <= 2:
        start, way = solid.points[0], solid.points[-1] - solid.points[0]
        part = np.clip((points - start) @ way / max(float(way @ way), 1e-30), 0.0, 1.0)
        return np.asarray(solid.radius - np.linalg.norm(points - start - part[:, None] * way, axis=1))
    directions = solid.axes if solid.is_box else np.concatenate((solid.axes, ALL_AROUND))
    low, high = solid.interval(directions)
    along = points @ directions.T
    return np.asarray(np.minimum(along - low, high - along).min(axis=1))
