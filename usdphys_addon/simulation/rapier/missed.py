# SPDX-License-Identifier: GPL-3.0-or-later
"""Small boxes and hulls that lie on each other beside their middles: the solver misses corners of their contact.

Where two faces overlap, a corner of the overlap is a corner of one of them, or the crossing of two edges. The contacts
that are missing are those of edges whose cross product is less than the root of the precision of the solver's numbers,
in metres, as if it took them for parallel: for edges of 1 and 3 cm any that cross. Then it knows two corners of four,
and the upper box tilts; or none, where one box is turned against the other, and it falls through.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from .constraints import matrix_of

#: m2: the smallest cross product of two edges that the solver lets cross.
LEAST_CROSS = float(np.sqrt(np.finfo(np.float32).eps))
#: Height of the corners of a face above each other along its normal, relative to its width, at most.
FLAT = 2e-3
#: Part of its width by which a face lies on the other one, at least.
OVER = 0.02
#: How far faces that touch may be apart, relative to their width.
NEAR = 0.02
#: How far the contact may end before a corner of what the faces share, relative to the width of that.
BEYOND = 0.25
#: Corners of a hull, at most, for which its faces are looked at.
MOST_CORNERS = 64


def half_found(physics: PhysicsWorld) -> Any | None:
    """The solver's handle of a body that lies on another one with a contact of which corners are missing, or None.

    A pair that is filtered has no manifold; one whose contact is missed has one without points.
    """
    colliders, bodies = physics.colliders, physics.rigid_bodies
    for pair in physics.narrow_phase.contact_pairs():
        ends = colliders[pair.collider1], colliders[pair.collider2]
        solids = [_corners(end.shape) for end in ends]
        if not all(len(corners) for corners in solids):
            continue
        poses = [matrix_of(end.position) for end in ends]
        for manifold in pair.manifolds:
            normals = (manifold.local_n1, manifold.local_n2)
            faces = [_face(solid, np.array(normal.to_tuple())) for solid, normal in zip(solids, normals, strict=True)]
            if not all(len(face) for face in faces):
                continue
            along = poses[0][:3, :3] @ np.array(manifold.local_n1.to_tuple())
            frame = _across(along)
            placed = [face @ pose[:3, :3].T + pose[:3, 3] for face, pose in zip(faces, poses, strict=True)]
            flat = [_ordered(points @ frame) for points in placed]
            if not _has_lost_crossings(*flat):
                continue
            heights = [points @ along for points in placed]
            if heights[1].min() - heights[0].max() > NEAR * _width(flat[0]):
                continue
            found = np.array([(poses[0] @ (*point.local_p1.to_tuple(), 1.0))[:3] @ frame for point in manifold.points])
            if _is_beyond(_overlap(*flat), found):
                return _dynamic(ends, bodies)
    return None


def _dynamic(ends: tuple[Any, Any], bodies: Any) -> Any | None:
    """The handle of the body of two colliders that moves."""
    return next((end.parent for end in ends if end.parent is not None and bodies[end.parent].is_dynamic), None)


def _corners(shape: Any) -> Matrix:
    """The corners of a box or hull, (n, 3); of other shapes none."""
    if box := shape.as_cuboid():
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        return np.asarray(signs * np.array(box.half_extents.to_tuple()), float)
    hull = shape.as_convex_polyhedron()
    return np.array(hull.points, float) if hull and hull.num_points() <= MOST_CORNERS else np.zeros((0, 3))


def _face(corners: Matrix, normal: Matrix) -> Matrix:
    """The corners of the face of a solid that a normal is of; none if it is of an edge or a corner."""
    heights = corners @ normal
    width = float(np.ptp(corners, axis=0).min())
    face = corners[heights > heights.max() - FLAT * width]
    return face if len(face) > 2 else np.zeros((0, 3))


def _across(normal: Matrix) -> Matrix:
    """Two axes across a normal, (3, 2)."""
    first = np.cross(normal, np.eye(3)[int(np.abs(normal).argmin())])
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first)]).T


def _ordered(points: Matrix) -> Matrix:
    """Corners of a convex polygon in their order around it."""
    out = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(out[:, 1], out[:, 0]))]


def _edges(polygon: Matrix) -> Matrix:
    return np.roll(polygon, -1, axis=0) - polygon


def _has_lost_crossings(one: Matrix, other: Matrix) -> bool:
    """True if edges of two faces have a cross product for which the solver takes them for parallel, and are not."""
    first, second = _edges(one), _edges(other)
    crosses = np.abs(first[:, None, 0] * second[None, :, 1] - first[:, None, 1] * second[None, :, 0])
    lengths = np.linalg.norm(first, axis=1)[:, None] * np.linalg.norm(second, axis=1)[None]
    return bool(((crosses < LEAST_CROSS) & (crosses > FLAT * lengths)).any())


def _overlap(one: Matrix, other: Matrix) -> Matrix:
    """What two convex polygons share; without corners if that is thinner than OVER of the narrower one."""
    rest = one
    for start, way in zip(other, _edges(other), strict=True):
        rest = _cut(rest, start, way)
        if len(rest) < 3:
            return np.zeros((0, 2))
    return rest if _width(rest) > OVER * min(_width(one), _width(other)) else np.zeros((0, 2))


def _is_beyond(polygon: Matrix, found: Matrix) -> bool:
    """True if a corner of a polygon is further from what the points span that were found than BEYOND of its width."""
    if not len(polygon) or not len(found):
        return len(polygon) > 0
    spanned, most = _ordered(found), BEYOND * _width(polygon)
    return any(_distance(corner, spanned) > most for corner in polygon)


def _distance(point: Matrix, polygon: Matrix) -> float:
    """From a point to a convex polygon, which may have one or two corners."""
    ways, out = _edges(polygon), point - polygon
    if len(polygon) > 2 and (ways[:, 0] * out[:, 1] - ways[:, 1] * out[:, 0] >= 0.0).all():
        return 0.0
    shares = np.clip((ways * out).sum(axis=1) / np.maximum((ways * ways).sum(axis=1), 1e-30), 0.0, 1.0)
    return float(np.linalg.norm(out - shares[:, None] * ways, axis=1).min())


def _cut(polygon: Matrix, start: Matrix, way: Matrix) -> Matrix:
    """The part of a polygon to the left of a line."""
    out = polygon - start
    sides = way[0] * out[:, 1] - way[1] * out[:, 0]
    left = []
    for index, side in enumerate(sides):
        point, before = polygon[index], polygon[index - 1]
        if side * sides[index - 1] < 0.0:
            left.append(before + (point - before) * sides[index - 1] / (sides[index - 1] - side))
        if side >= 0.0:
            left.append(point)
    return np.array(left)


def _width(polygon: Matrix) -> float:
    """The smallest width of a convex polygon, across one of its edges."""
    widths = [math.inf]
    for start, end in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        way, out = end - start, polygon - start
        length = float(np.linalg.norm(way))
        if length > 0.0:
            widths.append(float(np.abs(way[0] * out[:, 1] - way[1] * out[:, 0]).max() / length))
    return min(widths)
