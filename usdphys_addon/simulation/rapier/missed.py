# SPDX-License-Identifier: GPL-3.0-or-later
"""Small boxes and hulls that lie on each other beside their middles: the solver misses corners of their contact.

Where two faces overlap, a corner of the overlap is a corner of one of them, or the crossing of two edges. The contacts
that are missing are those of edges whose cross product is less than the root of the precision of the solver's numbers,
in metres, as if it took them for parallel: for edges of 1 and 3 cm any that cross. Then it knows two corners of four,
and the upper box tilts; or none, where one box is turned against the other, and it falls through. Of small hulls that
just touch it may not find the direction of the contact, either: the stones of an arch slide into each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
#: By how much less two solids are apart along the direction of their contact than along another one, relative to the
#: extent of the smaller one, for the direction to be wrong. Contacts are kept until bodies have turned by a degree.
WRONG = 0.1
#: A body tilts or sinks that has turned by this angle (rad), or gone so far against the normal of a contact, of its
#: size, since half of that was found. What is pushed aside slides and turns across it, and what is lifted rises.
TILTED, GONE = 0.035, 0.05
#: Bodies of which contacts are looked at often, at most; and after how many time steps of so many per second.
FEW, OFTEN = 20, 0.05
#: Time steps at the start after each of which contacts are looked at.
FIRST = 3
#: Corners of a hull, at most, for which its faces are looked at.
MOST_CORNERS = 64


class SmallContacts:
    """Watches the small boxes and hulls of a world of the solver.

    What lies on half of its contact may stand on it: a body is told of that then tilts or sinks.
    """

    def __init__(self, physics: PhysicsWorld, bodies: int, time_step: float, period: int) -> None:
        """bodies: of the world. period: time steps after which the contacts of many are looked at."""
        self._period = max(1, round(OFTEN / time_step)) if bodies <= FEW else period
        #: Poses at the start, by handle: in the first time step a small body may tilt until no face lies on another.
        self._start = {handle: matrix_of(body.position) for handle, body in physics.rigid_bodies}
        #: By the handles of a body and of what it lies on.
        self._places: dict[tuple[Any, Any], HalfFound] = {}

    def forget(self) -> None:
        """Bodies were moved from outside."""
        self._places.clear()
        self._start.clear()

    def look(self, physics: PhysicsWorld, frame: int) -> Any | None:
        """The solver's handle of a body that tilts or sinks after a time step with a number from 0, or None."""
        for ends, found in list(self._places.items()):
            now = _place(physics, *ends)
            rise = float((now[:3, 3] - found.place[:3, 3]) @ found.normal)
            turned = float(found.normal @ now[:3, :3] @ found.place[:3, :3].T @ found.normal)
            if turned < math.cos(TILTED) or rise < -GONE * found.size:
                return ends[0]
            if rise > GONE * found.size:
                # It was lifted.
                del self._places[ends]
        if frame <= FIRST or frame % self._period == 0:
            for found in half_found(physics, self._start if frame <= FIRST else {}):
                self._places.setdefault((found.body, found.other), found)
        return None


def _place(physics: PhysicsWorld, body: Any, other: Any) -> Matrix:
    """The pose (4, 4) of one of the solver's bodies as seen from another one."""
    return _seen(*(matrix_of(physics.rigid_bodies[handle].position) for handle in (body, other)))


def _seen(place: Matrix, other: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(other) @ place, float)


class HalfFound(NamedTuple):
    """A contact of which the solver misses corners, or the direction.

    body, other: its handles of the two bodies; the first one moves. place (4, 4): where that was; normal (3,): of the
    contact, towards it; both in the frame of the other. size: of the smaller one, m.
    """

    body: Any
    other: Any
    place: Matrix
    normal: Matrix
    size: float


def half_found(physics: PhysicsWorld, start: Mapping[Any, Matrix]) -> Iterator[HalfFound]:
    """start: poses of bodies, by handle, that count for what lay on each other in these.

    A pair that is filtered has no manifold; one whose contact is missed has one without points.
    """
    colliders, bodies = physics.colliders, physics.rigid_bodies
    for pair in physics.narrow_phase.contact_pairs():
        ends = colliders[pair.collider1], colliders[pair.collider2]
        solids = [_corners(end.shape) for end in ends]
        if not all(len(corners) for corners in solids):
            continue
        poses = [matrix_of(end.position) for end in ends]
        if not _is_half_found(pair, ends, solids, poses):
            continue
        size = min(float(np.ptp(solid, axis=0).max()) for solid in solids)
        handles = [end.parent for end in ends]
        places = [matrix_of(bodies[handle].position) for handle in handles]
        _, normal = _apart(solids, poses, _faces_of(ends, poses))
        if start.keys() >= set(handles):
            began = [start[handle] for handle in handles]
            moved = [first @ _seen(pose, now) for first, now, pose in zip(began, places, poses, strict=True)]
            gap, first_normal = _apart(solids, moved, _faces_of(ends, moved))
            if abs(gap) < NEAR * size:
                places, normal = began, first_normal
        if not bodies[handles[1]].is_dynamic:
            handles, places, normal = handles[::-1], places[::-1], -normal
        yield HalfFound(handles[1], handles[0], _seen(places[1], places[0]), places[0][:3, :3].T @ normal, size)


def _is_half_found(pair: Any, ends: Any, solids: list[Matrix], poses: list[Matrix]) -> bool:
    if pair.has_any_active_contact and _is_misled(pair, ends, solids, poses):
        return True
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
            return True
    return False


def _is_misled(pair: Any, ends: Any, solids: list[Matrix], poses: list[Matrix]) -> bool:
    """True if two solids are further apart along the normal of a face than along that of their contact."""
    found = [poses[0][:3, :3] @ np.array(each.local_n1.to_tuple()) for each in pair.manifolds if each.points]
    size = min(float(np.ptp(solid, axis=0).max()) for solid in solids)
    if not found or size**2 > 4.0 * LEAST_CROSS:
        return False
    apart, _ = _apart(solids, poses, _faces_of(ends, poses))
    return apart - _apart(solids, poses, np.array(found))[0] > WRONG * size


def _apart(solids: list[Matrix], poses: list[Matrix], axes: Matrix) -> tuple[float, Matrix]:
    """How far the second of two solids is from the first along the one of some axes (n, 3) for which that is most."""
    first, second = (solid @ pose[:3, :3].T + pose[:3, 3] for solid, pose in zip(solids, poses, strict=True))
    gaps = (second @ axes.T).min(axis=0) - (first @ axes.T).max(axis=0)
    return float(gaps.max()), np.asarray(axes[gaps.argmax()], float)


def _faces_of(ends: Any, poses: list[Matrix]) -> Matrix:
    """Normals (n, 3) of the faces of two colliders, from the first to the second."""
    ways = [sign * _normals(end.shape) @ pose[:3, :3].T for sign, end, pose in zip((1, -1), ends, poses, strict=True)]
    return np.concatenate(ways)


def _normals(shape: Any) -> Matrix:
    """Outward normals (n, 3) of the faces of a box or hull."""
    if shape.as_cuboid():
        return np.concatenate((np.eye(3), -np.eye(3)))
    corners, triangles = (shape.as_convex_polyhedron() or shape.as_round_convex_polyhedron()).to_trimesh()
    a, b, c = np.moveaxis(np.asarray(corners, float)[np.asarray(triangles).reshape(-1, 3)], 1, 0)
    normals = np.cross(b - a, c - a)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _corners(shape: Any) -> Matrix:
    """The corners of a box or hull, (n, 3); of other shapes none."""
    if box := shape.as_cuboid():
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        return np.asarray(signs * np.array(box.half_extents.to_tuple()), float)
    hull = shape.as_convex_polyhedron() or shape.as_round_convex_polyhedron()
    return np.array(hull.points, float) if hull and hull.num_points() <= MOST_CORNERS else np.zeros((0, 3))


def _face(corners: Matrix, normal: Matrix) -> Matrix:
    """The corners of the face of a solid that a normal is of; none if it is of an edge or a corner.

    A manifold of what is near and has not touched yet has a normal of zeros.
    """
    if not normal.any():
        return np.zeros((0, 3))
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
