# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex shapes in forms whose contacts the solver finds.

Its search for the contacts of cylinders, cones and hulls finds none where two of them just touch, as things do that
stand on a table: they fall for some steps, and are thrown aside. So these are made smaller by a border, and rounded by
it. Of a face of a hull it sees the first four corners only: a drum would stand on a part of its edge. So a face with
more is cut into some with four: a large one that stays, and others around it that are tilted back.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapier3d import RapierError, SharedShape

from ...core.frames import Matrix
from ...core.hull import convex_hull

Points = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Border, relative to the shortest half of a shape.
BORDER = 0.01
#: Neighbours whose normals have a larger cosine are one face for the solver; and how far a cut face is tilted, rad.
ONE_FACE, TILT = 1.0 - 4e-4, 0.032
#: Relative to the extent: how far corners of a face may be from its plane, and from a line through its neighbours.
PLANAR, STRAIGHT = 1e-5, 1e-5
#: As many corners of a face the solver sees.
SEEN = 4
#: How far a cut face may go back, of the thickness there.
DEEPEST = 1.0
#: Hulls of more corners are as smooth as a ball: they touch in points.
MOST_CORNERS = 400
#: How far a corner may move for the border, relative to it: of sharper ones the tip is cut.
SHARP = 4.0

#: (shape, centre (3,) or None, rotation (3, 3) or None)
Placed = tuple[SharedShape, Matrix | None, Matrix | None]


def cylinder(half_height: float, radius: float) -> SharedShape:
    """A cylinder along Y."""
    border = BORDER * min(half_height, radius)
    return SharedShape.round_cylinder(half_height - border, radius - border, border)


def cone(half_height: float, radius: float) -> tuple[SharedShape, float]:
    """A cone along Y, and how far its centre is to be moved along Y. The tip is rounded."""
    border = BORDER * min(half_height, radius)
    sine = radius / math.hypot(radius, 2.0 * half_height)
    height = 2.0 * half_height - border - border / sine
    if height <= 0.0:
        return SharedShape.cone(half_height, radius), 0.0
    shape = SharedShape.round_cone(height / 2.0, height * radius / (2.0 * half_height), border)
    return shape, border + height / 2.0 - half_height


def exact_box(points: Points) -> Placed | None:
    """The box whose eight corners are points (n, 3), however thin; None if they are those of no box."""
    if not 8 <= len(points) <= 24:
        return None
    corners = np.unique(points, axis=0)
    extent = float(np.ptp(corners, axis=0).max())
    return _box(corners, extent) if len(corners) == 8 else None


def hull(points: Points, moves: bool = True) -> Placed | None:
    """The convex hull of points (n, 3) that are not all near one plane; None where a foot would get above its top.

    moves: else it keeps its edges, as between rounded ones that meet there is a groove; None where it has a face that
    the solver sees a part of only.
    """
    made = SharedShape.convex_hull(points)
    hull_made = made.as_convex_polyhedron()
    if hull_made is None or hull_made.num_points() > MOST_CORNERS:
        return made, None, None
    corners, triangles = hull_made.to_trimesh()
    corners, triangles = np.asarray(corners, float), np.asarray(triangles, np.int64).reshape(-1, 3)
    extent = float(np.ptp(corners, axis=0).max())
    faces = _faces(corners, triangles, extent)
    needed = np.ones(len(corners), bool)
    for face in faces:
        needed[face.flat] = False
    for face in faces:
        needed[face.corners] = True
    box = _box(corners[needed], extent) if needed.sum() == 8 else None
    if box is not None:
        return box
    if not moves:
        return None if any(len(face.corners) > SEEN for face in faces) else (made, None, None)
    moved = corners.copy()
    for face in faces:
        for corner, depth in _depths(corners[face.corners], face.normal).items():
            if depth > DEEPEST * float(np.ptp(corners @ face.normal)):
                return None
            moved[face.corners[corner]] -= depth * face.normal
    rounded = _rounded(moved[needed])
    return (made if rounded is None else rounded), None, None


class _Face:
    """A flat face of a hull: all corners in its plane, and those of its outline in order; its normal (3,)."""

    __slots__ = ("corners", "flat", "normal")

    def __init__(self, flat: Indices, corners: Indices, normal: Matrix) -> None:
        self.flat, self.corners, self.normal = flat, corners, normal


def _faces(corners: Points, triangles: Indices, extent: float) -> list[_Face]:
    """The flat faces of a hull with more corners than a triangle."""
    a, b, c = np.moveaxis(corners[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    by_edge: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (i, j, k) in enumerate(triangles.tolist()):
        for edge in ((i, j), (j, k), (k, i)):
            by_edge[min(edge), max(edge)].append(number)
    group = list(range(len(triangles)))

    def top(number: int) -> int:
        while group[number] != number:
            group[number] = number = group[group[number]]
        return number

    for both in by_edge.values():
        if len(both) == 2 and float(normals[both[0]] @ normals[both[1]]) > ONE_FACE:
            group[top(both[0])] = top(both[1])
    members: dict[int, list[int]] = defaultdict(list)
    for number in range(len(triangles)):
        members[top(number)].append(number)
    faces = []
    for numbers in members.values():
        if len(numbers) == 1:
            continue
        flat = np.unique(triangles[numbers])
        areas = np.linalg.norm(np.cross(b[numbers] - a[numbers], c[numbers] - a[numbers]), axis=1)
        normal = (normals[numbers] * areas[:, None]).sum(axis=0)
        normal /= np.linalg.norm(normal)
        if float(np.ptp(corners[flat] @ normal)) <= PLANAR * extent:
            faces.append(_Face(flat, flat[outline(corners[flat], normal, STRAIGHT * extent)], normal))
    return faces


def outline(points: Points, normal: Matrix, straight: float) -> Indices:
    """Indices of the corners of the outline of points in a plane, counter-clockwise about the normal."""
    along = np.linalg.svd(normal[None])[2][1]
    flat = np.stack((points @ along, points @ np.cross(normal, along)), axis=1)
    away = flat - flat.mean(axis=0)
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0])).tolist()
    changed = True
    while changed and len(order) > 3:
        changed = False
        for number in range(len(order)):
            before, here, after = (flat[order[(number + step) % len(order)]] for step in (-1, 0, 1))
            side = after - before
            width = float(np.linalg.norm(side))
            if side[0] * (here - before)[1] - side[1] * (here - before)[0] > -straight * width:
                del order[number]
                changed = True
                break
    return np.array(order, np.int64)


def _depths(points: Points, normal: Matrix) -> dict[int, float]:
    """How far corners of a face (n, 3), in order, go back so that no face has more than four."""
    if len(points) <= 4:
        return {}
    depths: dict[int, float] = {}
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    first, second = sorted(int(index) for index in np.unravel_index(distances.argmax(), distances.shape))
    quad = [first, second]
    for low, high in ((first, second), (second, first + len(points))):
        chain = [index % len(points) for index in range(low + 1, high)]
        if chain:
            quad.append(max(chain, key=lambda index: _beyond(points, normal, first, second, index) ** 2))
    quad = sorted(set(quad))
    for low, high in pairwise([*quad, quad[0] + len(points)]):
        _cut([index % len(points) for index in range(low, high + 1)], points, normal, {}, depths)
    return depths


def _beyond(points: Points, normal: Matrix, first: int, second: int, index: int) -> float:
    """How far a corner is outside of the line through two others."""
    side = points[second] - points[first]
    outwards = np.cross(side, normal)
    return float((points[index] - points[first]) @ outwards) / float(np.linalg.norm(side))


def _cut(chain: list[int], points: Points, normal: Matrix, depths: dict[int, float], found: dict[int, float]) -> None:
    """Tilt the corners between the ends of a chain back about the line through these. depths: of the plane so far."""
    first, *between, last = chain
    if not between:
        return
    slope = math.tan(TILT)
    deeper = {
        index: depths.get(index, 0.0) + slope * max(_beyond(points, normal, first, last, index), 0.0)
        for index in between
    }  # fmt: skip
    third = len(between) / 3.0
    picked = between if len(between) <= 2 else [between[int(third)], between[int(2.0 * third)]]
    found.update({index: deeper[index] for index in picked})
    stops = [0, *(chain.index(index) for index in picked), len(chain) - 1]
    for low, high in pairwise(stops):
        _cut(chain[low : high + 1], points, normal, deeper, found)


def _box(corners: Points, extent: float) -> Placed | None:
    """A box with these eight corners; None if they are not those of one."""
    middle = corners.mean(axis=0)
    away = corners - middle
    near = np.argsort(np.linalg.norm(corners - corners[0], axis=1), kind="stable")[1:]
    for first in near:
        for second in near:
            sides = np.stack((corners[first] - corners[0], corners[second] - corners[0]))
            lengths = np.linalg.norm(sides, axis=1)
            if second == first or abs(float(sides[0] @ sides[1])) > 1e-5 * float(lengths.prod()):
                continue
            across = np.cross(sides[0], sides[1]) / lengths.prod()
            turn = np.stack((*(sides / lengths[:, None]), across), axis=1)
            local = away @ turn
            half = np.abs(local).mean(axis=0)
            if float(np.abs(np.abs(local) - half).max()) <= PLANAR * extent and half.min() > 0.0:
                signs = {tuple(row) for row in (local > 0.0).tolist()}
                if len(signs) == 8:
                    return SharedShape.cuboid(*half.tolist()), middle, turn
    return None


def _rounded(points: Points) -> SharedShape | None:
    """The hull of points (n, 3), its faces moved inwards and its edges rounded by a border; None if that fails."""
    triangles = convex_hull(points)
    if triangles is None:
        return None
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    middle = points.mean(axis=0)
    border = BORDER * float(((a - middle) * normals).sum(axis=1).min())
    if border <= 0.0:
        return None
    at: dict[int, list[int]] = defaultdict(list)
    for number, corners in enumerate(triangles.tolist()):
        for corner in corners:
            at[corner].append(number)
    inner = []
    for corner, numbers in at.items():
        # Towards which all planes at the corner go back by the border.
        step = np.linalg.lstsq(normals[numbers], np.full(len(numbers), -border), rcond=1e-3)[0]
        size = float(np.linalg.norm(step))
        inner.append(points[corner] + step * min(1.0, SHARP * border / max(size, 1e-300)))
    try:
        return SharedShape.round_convex_hull(np.array(inner), border)
    except RapierError:
        return None
