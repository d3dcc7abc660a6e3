# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit primitives and convex parts around a mesh. All lengths are in the units of the points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import frames
from .hull import convex_hull
from .primitives import Primitive, radius_scale
from .schemas import usd_geom

Points = NDArray[np.float64]
Triangles = NDArray[np.int64]

#: Primitive kinds by key, in the order of preference for equal volumes.
PRIMITIVE_KINDS: dict[str, type[usd_geom.Gprim]] = {
    "BOX": usd_geom.Cube, "SPHERE": usd_geom.Sphere, "CYLINDER": usd_geom.Cylinder, "CAPSULE": usd_geom.Capsule,
}  # fmt: skip
#: Relative gain in volume that justifies a later kind, or a rotated primitive.
_BETTER = 0.005
#: Number of hull faces whose normals are tried as axes, and iterations of the smallest-ball search.
_FACES, _STEPS = 32, 200
#: Smallest thickness of a primitive, relative to the size of the mesh.
_THIN = 0.005


@dataclass(slots=True)
class Surface:
    """A triangle mesh: points (n, 3), triangles (m, 3)."""

    points: Points
    triangles: Triangles

    def moved(self, linear: frames.Matrix) -> Surface:
        """Transformed by a matrix (3, 3); a mirroring matrix flips the winding, so that normals stay outwards."""
        triangles = self.triangles[:, ::-1] if np.linalg.det(linear) < 0 else self.triangles
        return Surface(self.points @ np.asarray(linear, float).T, triangles)

    @property
    def volume(self) -> float:
        """Volume; meaningful for a closed mesh only."""
        a, b, c = np.moveaxis(self.points[self.triangles] - self.points.mean(axis=0), 1, 0)
        return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0


# --------------------------------------------------------------------------- primitives


def bounding_box(points: Points, thin: float = 0.0) -> tuple[Points, Points]:
    """(middle (3,), half sizes (3,)) of the box along the axes around points (n, 3).

    thin: the least size, as a part of the largest one.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2.0, np.maximum((high - low) / 2.0, thin * float((high - low).max()) / 2.0)


def bounding_ball(points: Points) -> tuple[Points, float]:
    """(middle (3,), radius) of the ball around points (n, 3), about the middle of their box."""
    middle, _ = bounding_box(points)
    return middle, float(np.linalg.norm(points - middle, axis=1).max())


def volume(shape: Primitive) -> float:
    """Volume of a primitive."""
    if shape.kind is usd_geom.Cube:
        return float(np.prod(shape.size))
    ball = 4.0 / 3.0 * np.pi * shape.radius**3
    if shape.kind is usd_geom.Sphere:
        return float(ball)
    pillar = float(np.pi * shape.radius**2 * shape.height)
    if shape.kind is usd_geom.Cone:
        return pillar / 3.0
    return pillar + float(ball) if shape.kind is usd_geom.Capsule else pillar


def contain(
    points: Points,
    kinds: Iterable[str] = PRIMITIVE_KINDS,
    *,
    axis: str = "AUTO",
    turned: bool = False,
    margin: float = 0.0,
) -> Primitive:
    """The smallest of the primitives of these kinds (keys of PRIMITIVE_KINDS) that contains the points (n, 3).

    axis: "X", "Y" or "Z" of a capsule or cylinder; "AUTO" takes the one with the smallest volume. turned: also try
    rotated axes. margin: length added on all sides.
    """
    outer, normals = _outermost(points)
    axes = range(3) if axis == "AUTO" else ("XYZ".index(axis),)
    turns = _turns(outer, normals) if turned else []
    best: Primitive | None = None
    for kind in kinds:
        smallest = min((_contain(PRIMITIVE_KINDS[kind], outer, each) for each in _axes_of(kind, axes)), key=volume)
        if kind != "SPHERE" and turns:
            other = _best_turned(PRIMITIVE_KINDS[kind], outer, turns, _axes_of(kind, axes))
            if volume(other) < (1.0 - _BETTER) * volume(smallest):
                smallest = other
        if best is None or volume(smallest) < (1.0 - _BETTER) * volume(best):
            best = smallest
    assert best is not None
    return _grown(best, margin, float(np.ptp(points, axis=0).max()))


def _axes_of(kind: str, axes: Sequence[int]) -> Sequence[int]:
    return axes if kind in ("CYLINDER", "CAPSULE") else (2,)


def _contain(
    kind: type[usd_geom.Gprim], points: Points, axis: int, rotation: frames.Matrix | None = None, steps: int = _STEPS
) -> Primitive:
    """The primitive of a kind along one axis of a rotation (3, 3) that contains all points."""
    seen = points if rotation is None else points @ rotation
    low, high = seen.min(axis=0), seen.max(axis=0)
    primitive = Primitive(kind, (low + high) / 2, np.eye(3), high - low, axis=axis)
    if kind is usd_geom.Sphere:
        primitive.center, primitive.radius = _ball(seen, steps)
    elif kind is not usd_geom.Cube:
        others = [index for index in range(3) if index != axis]
        middle, primitive.radius = _ball(seen[:, others], steps)
        primitive.center[others] = middle
        primitive.height = float(primitive.size[axis])
        if kind is usd_geom.Capsule:
            across = np.linalg.norm(seen[:, others] - middle, axis=1)
            reach = np.sqrt(np.maximum(primitive.radius**2 - across**2, 0.0))
            first, last = float((seen[:, axis] + reach).min()), float((seen[:, axis] - reach).max())
            primitive.center[axis] = (first + last) / 2
            primitive.height = max(0.0, last - first)
    if rotation is not None:
        primitive.rotation, primitive.center = rotation, rotation @ primitive.center
    return primitive


def _best_turned(
    kind: type[usd_geom.Gprim], points: Points, turns: Sequence[frames.Matrix], axes: Sequence[int]
) -> Primitive:
    """The smallest over all rotations and axes; a rough fit selects three candidates for the exact fit."""
    tries = [(turn, axis) for turn in turns for axis in axes]
    tries.sort(key=lambda each: volume(_contain(kind, points, each[1], each[0], 1)))
    return min((_contain(kind, points, axis, turn) for turn, axis in tries[:3]), key=volume)


def _ball(points: Points, steps: int) -> tuple[Points, float]:
    """(centre, radius) of a ball, or in a plane a circle, around the points, near the smallest one.

    Source: Badoiu, Clarkson, "Smaller core-sets for balls", 2003.
    """
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    best_center, best = center, np.inf
    for step in range(steps):
        distances = ((points - center) ** 2).sum(axis=1)
        farthest = int(distances.argmax())
        if distances[farthest] < best * (1.0 - 1e-9):
            best_center, best = center, float(distances[farthest])
        center = center + (points[farthest] - center) / (step + 2)
    return best_center, float(np.sqrt(best))


def _outermost(points: Points) -> tuple[Points, Points]:
    """Vertices (n, 3) of the hull and normals (m, 3) of its faces times areas; coplanar points as given, no normals."""
    triangles = convex_hull(points)
    if triangles is None:
        return points, np.zeros((0, 3))
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    return points[np.unique(triangles)], np.cross(b - a, c - a) / 2


def _turns(points: Points, normals: Points) -> list[frames.Matrix]:
    """Candidate rotations (3, 3): the principal axes, and axes along the normals of the largest hull faces."""
    away = points - points.mean(axis=0)
    rotations = [frames.rotation_of(np.linalg.svd(away.T @ away)[0])]
    if not len(normals):
        return rotations
    areas = np.linalg.norm(normals, axis=1)
    units = np.round(normals[areas > 0] / areas[areas > 0, None], 4)
    # Opposite normals are one direction.
    units[units[:, 0] < 0] *= -1
    directions, which = np.unique(units, axis=0, return_inverse=True)
    total = np.bincount(which.reshape(-1), areas[areas > 0])
    chosen = directions[np.argsort(-total)[:_FACES]]
    chosen = chosen / np.linalg.norm(chosen, axis=1)[:, None]
    for index, first in enumerate(chosen):
        # The normal most perpendicular to the first gives the second axis.
        cosines = np.abs(chosen @ first)
        second = chosen[int(cosines.argmin())] if len(chosen) > 1 else np.eye(3)[int(np.abs(first).argmin())]
        x, z = second - first * float(second @ first), first
        length = float(np.linalg.norm(x))
        if length < 1e-3:
            continue
        x = x / length
        rotations.append(np.stack([x, np.cross(z, x), z], axis=1))
        if index == 0:
            rotations += [_about(z, x, angle) for angle in np.radians((15, 30, 45, 60, 75))]
    return rotations


def _about(z: Points, x: Points, angle: float) -> frames.Matrix:
    turned = np.cos(angle) * x + np.sin(angle) * np.cross(z, x)
    return np.stack([turned, np.cross(z, turned), z], axis=1)


def _grown(shape: Primitive, margin: float, size: float) -> Primitive:
    """The primitive enlarged by a margin on all sides, with at least the minimum thickness."""
    least = _THIN * size
    shape.size = np.maximum(shape.size + 2 * margin, least)
    shape.radius = max(shape.radius + margin, least / 2) if shape.kind is not usd_geom.Cube else 0.0
    if shape.kind is usd_geom.Cylinder:
        shape.height = max(shape.height + 2 * margin, least)
    return shape


def to_object(shape: Primitive, world: frames.Matrix) -> Primitive:
    """Convert a primitive from the space that `stretch` leads to into the space of the object.

    world: matrix (4, 4) of the object. The input has world lengths and is relative to the object's origin and rotation.
    """
    lengths = np.linalg.norm(world[:3, :3] @ shape.rotation, axis=0)
    center = np.asarray(np.linalg.solve(world[:3, :3], frames.rotation_of(world) @ shape.center), float)
    return Primitive(
        shape.kind, center, shape.rotation, shape.size / lengths,
        shape.radius / radius_scale(shape.kind, lengths, shape.axis),
        shape.height / float(lengths[shape.axis]), shape.axis,
    )  # fmt: skip


def stretch(world: frames.Matrix) -> frames.Matrix:
    """Matrix (3, 3) from object space to world lengths along the axes of the object's rotation."""
    return np.asarray(frames.rotation_of(world).T @ np.asarray(world, float)[:3, :3], float)


# --------------------------------------------------------------------------- parts of a mesh


def loose_parts(surface: Surface) -> list[Surface]:
    """The connected components of a mesh. Coincident vertices are merged; vertices without faces are dropped."""
    _, welded = np.unique(np.round(surface.points, 6), axis=0, return_inverse=True)
    corners = welded.reshape(-1)[surface.triangles]
    label = np.arange(int(corners.max(initial=-1)) + 1)
    while len(corners):
        lowest = label[corners].min(axis=1)
        before = label.copy()
        np.minimum.at(label, corners.reshape(-1), np.repeat(lowest, 3))
        # Pointer jumping: otherwise a long strip would need one iteration for each triangle.
        label = label[label]
        if (label == before).all():
            break
    part_of = label[corners[:, 0]] if len(corners) else np.zeros(0, np.int64)
    return [_compact(surface.points, surface.triangles[part_of == part]) for part in np.unique(part_of)]


def _compact(points: Points, triangles: Triangles) -> Surface:
    used, numbers = np.unique(triangles, return_inverse=True)
    return Surface(points[used], numbers.reshape(-1, 3).astype(np.int64))


def hull(points: Points, margin: float = 0.0) -> Surface | None:
    """The convex hull, enlarged by a margin on all sides; None if the points are coplanar."""
    triangles = convex_hull(points)
    if triangles is None:
        return None
    surface = _compact(np.asarray(points, float), triangles)
    if margin <= 0.0:
        return surface
    a, b, c = np.moveaxis(surface.points[surface.triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None]
    moved = surface.points.copy()
    for index in range(len(moved)):
        around = np.unique(np.round(normals[(surface.triangles == index).any(axis=1)], 5), axis=0)
        # Least-squares intersection of the planes of its faces after they move outwards.
        step = np.linalg.lstsq(around, np.full(len(around), margin), rcond=1e-3)[0]
        length = float(np.linalg.norm(step))
        moved[index] += step * min(1.0, 3.0 * margin / length) if length else 0.0
    return hull(moved) or surface


# --------------------------------------------------------------------------- primitives as wires and properties


def wire_of(shape: Primitive, count: int = 32) -> tuple[Points, list[tuple[int, int]]]:
    """(vertices (n, 3), edges) of a wireframe of a primitive about the origin."""
    if shape.kind is usd_geom.Cube:
        signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        ends = [(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit]
        return signs * shape.size, ends
    half = 0.0 if shape.kind is usd_geom.Sphere else shape.height / 2
    angles = np.arange(count) * 2 * np.pi / count
    x, y = shape.radius * np.cos(angles), shape.radius * np.sin(angles)
    rings = [np.stack([x, y, np.full(count, along)], axis=1) for along in sorted({-half, half})]
    if shape.kind is usd_geom.Cylinder:
        across, along = np.array([1, 1, -1, -1]) * shape.radius, np.array([-1, 1, 1, -1]) * half
    else:
        # Half a circle at each end, joined by straight sides.
        turn = np.linspace(-np.pi / 2, np.pi / 2, count // 2 + 1)
        across = shape.radius * np.concatenate((np.sin(turn), -np.sin(turn)))
        along = np.concatenate((shape.radius * np.cos(turn) + half, -shape.radius * np.cos(turn) - half))
    nothing = np.zeros(len(across))
    rings += [np.stack([across, nothing, along], axis=1), np.stack([nothing, across, along], axis=1)]
    edges: list[tuple[int, int]] = []
    start = 0
    for ring in rings:
        edges += [(start + index, start + (index + 1) % len(ring)) for index in range(len(ring))]
        start += len(ring)
    # Rotate Z onto the spine by a cyclic permutation of the axes, which does not mirror.
    return np.roll(np.concatenate(rings), shape.axis - 2, axis=1), edges


def sizes_of(shape: Primitive) -> dict[str, Any]:
    """The size of a primitive as properties of a collider."""
    if shape.kind in (usd_geom.Cube, usd_geom.Plane):
        return {"size": shape.size.tolist()}
    if shape.kind is usd_geom.Sphere:
        return {"radius": shape.radius}
    return {"radius": shape.radius, "height": shape.height, "axis": "XYZ"[shape.axis]}
