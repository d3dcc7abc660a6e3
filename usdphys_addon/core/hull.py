# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hull of 3D points with numpy alone (quickhull), because Blender ships no scipy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .steps import Steps, finished, part

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
#: Tolerances relative to the extent. ON_FACE: a nearer point lies on the face. FLATNESS, just above 32-bit rounding:
#: points that are all nearer to one plane have no hull.
ON_FACE = 1e-10
FLATNESS = 2e-7
#: Points of which no hull is computed without choosing among them, and directions in which they are chosen.
MANY, DIRECTIONS = 20_000, 1024
#: Directions, and points added to a hull, in one step.
TOGETHER = 16


def merged_steps(points: Floats) -> Steps[Indices]:
    """A number for each point (n, 3), the same for equal ones."""
    order = np.arange(len(points))
    for done, axis in ((0.2, 2), (0.4, 1), (0.6, 0)):
        order = order[np.argsort(points[order, axis], kind="stable")]
        yield done
    numbers = np.empty(len(points), np.int64)
    steps = (np.diff(points[order], axis=0) != 0.0).any(axis=1)
    numbers[order] = np.concatenate(([0], np.cumsum(steps)))
    yield 0.8
    return numbers


def support_points(points: Floats) -> Indices:
    """Indices of the points (n, 3) that are farthest in one of about DIRECTIONS directions; all of up to MANY points.

    Their hull is that of all points, less caps as thin as a thousandth of the size.
    """
    return finished(support_steps(points))


def support_steps(points: Floats) -> Steps[Indices]:
    """`support_points` in steps."""
    if len(points) <= MANY:
        return np.arange(len(points))
    number = np.arange(DIRECTIONS) + 0.5
    # Even on the sphere: a spiral with the golden angle.
    tilt, around = np.arccos(1.0 - 2.0 * number / DIRECTIONS), np.pi * (1.0 + 5.0**0.5) * number
    directions = np.stack((np.cos(around) * np.sin(tilt), np.sin(around) * np.sin(tilt), np.cos(tilt)), axis=1)
    directions = np.concatenate((np.eye(3), -np.eye(3), directions)).astype(np.float32)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    columns = np.ascontiguousarray((points - middle).T.astype(np.float32))
    rows = []
    # In parts that fit into the cache of a processor.
    for start in range(0, len(directions), TOGETHER):
        rows.append((directions[start : start + TOGETHER] @ columns).argmax(axis=1))
        yield start / len(directions)
    return np.unique(np.concatenate(rows))


def convex_hull(points: ArrayLike) -> Indices | None:
    """Triangles (m, 3) of the hull of points (n, 3), counter-clockwise seen from outside; indices into `points`.

    Of more than MANY points it is the hull of their `support_points`. None if the points are coplanar, collinear,
    coincident or not finite.
    Source: Barber, Dobkin, Huhdanpaa, "The Quickhull Algorithm for Convex Hulls", 1996.
    """
    return finished(hull_steps(points))


def hull_steps(points: ArrayLike) -> Steps[Indices | None]:
    """`convex_hull` in steps."""
    given = np.asarray(points, float).reshape(-1, 3)
    if len(given) < 4 or not np.isfinite(given).all():
        return None
    if len(given) > MANY:
        chosen = yield from part(support_steps(given), 0.0, 0.5)
        faces = yield from part(hull_steps(given[chosen]), 0.5, 1.0)
        return None if faces is None else np.asarray(chosen[faces], np.int64)
    unique, first = np.unique(given, axis=0, return_index=True)
    extent = float(np.ptp(unique, axis=0).max())
    if extent == 0.0:
        return None
    unit = (unique - unique.mean(axis=0)) / extent
    corners = _first_tetrahedron(unit, FLATNESS * max(1.0, float(np.abs(unique).max()) / extent))
    if corners is None:
        return None
    hull = _Hull(unit, corners)
    yield from hull.grow()
    return np.asarray(first[hull.triangles()], np.int64)


def _first_tetrahedron(points: Floats, flat: float) -> tuple[int, int, int, int] | None:
    """Indices of four points far apart, the last below the plane of the others; None if all points are coplanar."""
    extremes = np.unique(np.concatenate((points.argmin(axis=0), points.argmax(axis=0))))
    gaps = np.linalg.norm(points[extremes][:, None] - points[extremes][None], axis=2)
    a, b = (int(extremes[index]) for index in np.unravel_index(gaps.argmax(), gaps.shape))
    along = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
    across = np.linalg.norm(np.cross(points - points[a], along), axis=1)
    c = int(across.argmax())
    if across[c] <= flat:
        return None
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    heights = (points - points[a]) @ (normal / np.linalg.norm(normal))
    d = int(np.abs(heights).argmax())
    if abs(heights[d]) <= flat:
        return None
    return (a, b, c, d) if heights[d] < 0 else (a, c, b, d)


class _Hull:
    """Faces by number: vertex indices, plane (normal, offset), and indices of the points outside it."""

    def __init__(self, points: Floats, corners: tuple[int, int, int, int]) -> None:
        self.points = points
        self.faces: dict[int, tuple[int, int, int]] = {}
        self.planes: dict[int, tuple[float, float, float, float]] = {}
        self.outside: dict[int, Indices] = {}
        self.face_of_edge: dict[tuple[int, int], int] = {}
        self.count = 0
        a, b, c, d = corners
        self.add([(a, b, c), (a, d, b), (b, d, c), (c, d, a)], np.arange(len(points)))

    def add(self, faces: list[tuple[int, int, int]], loose: Indices) -> None:
        """Add faces. Each loose point goes to the face that it is farthest outside of; inside points are dropped."""
        corners = self.points[np.array(faces)]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        normals /= np.where(lengths > 0, lengths, 1.0)[:, None]
        offsets = np.einsum("ij,ij->i", normals, corners[:, 0])
        heights = self.points[loose] @ normals.T - offsets
        best = heights.argmax(axis=1) if len(loose) else np.zeros(0, np.int64)
        is_outside = heights[np.arange(len(loose)), best] > ON_FACE
        loose, best = loose[is_outside], best[is_outside]
        for index, face in enumerate(faces):
            self.faces[self.count] = face
            x, y, z = normals[index].tolist()
            self.planes[self.count] = (x, y, z, float(offsets[index]))
            mine = loose[best == index]
            if len(mine):
                self.outside[self.count] = mine
            for start, end in zip(face, (*face[1:], face[0]), strict=True):
                self.face_of_edge[start, end] = self.count
            self.count += 1

    def grow(self) -> Iterator[float]:
        """Add the farthest outside point of a face until no face has outside points, in steps; 0.5 after each."""
        left = TOGETHER
        while self.outside:
            left -= 1
            if not left:
                left = TOGETHER
                yield 0.5
            face, candidates = next(iter(self.outside.items()))
            normal = np.array(self.planes[face][:3])
            self.add_point(int(candidates[(self.points[candidates] @ normal).argmax()]), face)

    def add_point(self, point: int, start: int) -> None:
        """Replace all faces visible from the point by a cone from their horizon to it."""
        x, y, z = self.points[point].tolist()
        visible, rim, stack = {start}, [], [start]
        while stack:
            a, b, c = self.faces[stack.pop()]
            for edge in ((a, b), (b, c), (c, a)):
                other = self.face_of_edge[edge[1], edge[0]]
                if other in visible:
                    continue
                nx, ny, nz, offset = self.planes[other]
                if nx * x + ny * y + nz * z - offset > ON_FACE:
                    visible.add(other)
                    stack.append(other)
                else:
                    rim.append((edge, other))
        loose = [self.outside.pop(face) for face in visible if face in self.outside]
        for face in visible:
            del self.planes[face]
            a, b, c = self.faces.pop(face)
            for edge in ((a, b), (b, c), (c, a)):
                del self.face_of_edge[edge]
        cone = [(first, second, point) for (first, second), other in rim if other not in visible]
        remaining = np.concatenate(loose)
        self.add(cone, remaining[remaining != point])

    def triangles(self) -> Indices:
        return np.array(list(self.faces.values()), np.int64)
