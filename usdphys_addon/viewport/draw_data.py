# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of the overlays in the 3D view. Needs neither Blender nor a GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vertices = NDArray[np.float32]
#: Half the length of a bar of a cross: as a fraction of the joint's longer arm, and in metres if it has no arm.
CROSS, SMALLEST = 0.2, 0.05
#: Lengths of a joint's longer arm within which a body of a broken joint is near.
NEAR = 2.0
#: The four diagonals of a cube: they look like a cross from any direction.
_DIAGONALS = np.array([(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)], float) / np.sqrt(3.0)


def broken_joint(place: ArrayLike, bodies: Sequence[ArrayLike], size: float) -> Vertices:
    """A cross at a broken joint and a line to each body that is still near: (n, 3), two vertices for each line.

    place, bodies: (3,). size: length of the joint's longer arm, which scales the cross. Points that are not finite are
    left out.
    """
    center = np.asarray(place, float)
    if not np.isfinite(center).all():
        return np.zeros((0, 3), np.float32)
    half = CROSS * size if size > 0.0 and np.isfinite(size) else 0.0
    bars = _DIAGONALS * max(half, SMALLEST * (half == 0.0))
    lines = np.stack((center - bars, center + bars), axis=1).reshape(-1, 3)
    ends = [np.asarray(body, float) for body in bodies]
    # The lines to the pieces of a wall that fly apart would hide it.
    near = NEAR * size if half else np.inf
    shown = [end for end in ends if np.isfinite(end).all() and np.linalg.norm(end - center) <= near]
    rays = [point for end in shown for point in (center, end)]
    return np.concatenate((lines, np.array(rays).reshape(-1, 3))).astype(np.float32)


def broken_joints(joints: Sequence[tuple[ArrayLike, Sequence[ArrayLike], float]]) -> Vertices:
    """The lines of broken joints, each (place, bodies, size)."""
    lines = [broken_joint(*joint) for joint in joints]
    return np.concatenate(lines) if lines else np.zeros((0, 3), np.float32)


# --------------------------------------------------------------------------- lines of shapes, each in its own space

#: Segments of a full circle.
ROUND = 32
#: Dashes of a line: (start, end) as fractions of its length.
DASHES = np.array([(start / 9.0, (start + 1) / 9.0) for start in range(0, 9, 2)], float)
#: Above this cosine between the normals of two faces, their edge is not drawn. Largest number of edges per mesh.
FLAT, MOST_EDGES = 0.9999, 20_000
_AXES = {"X": 0, "Y": 1, "Z": 2}
#: Larger limits count as unlimited.
ENDLESS = 1e9


def _lines(points: ArrayLike) -> Vertices:
    return np.ascontiguousarray(np.asarray(points, np.float32).reshape(-1, 3))


def _strip(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lines (2 (n - 1), 3) through points (n, 3)."""
    return np.stack((points[:-1], points[1:]), axis=1).reshape(-1, 3)


def grab_lines(grabs: Sequence[tuple[ArrayLike, ArrayLike]]) -> Vertices:
    """A line from each held point to its target, with a cross at the point."""
    lines = [_lines(np.array([point, target])) for point, target in grabs]
    for point, target in grabs:
        length = float(np.linalg.norm(np.subtract(target, point)))
        lines.append(cross(0.1 * length) + np.asarray(point, np.float32))
    return joined(*lines)


def joined(*parts: ArrayLike) -> Vertices:
    """Several sets of lines as one."""
    return _lines(np.concatenate([np.asarray(part, float).reshape(-1, 3) for part in parts] or [np.zeros((0, 3))]))


def along(points: ArrayLike, axis: str) -> NDArray[np.float64]:
    """Rotate points so that Z becomes the axis, and X and Y the next two."""
    turn = np.eye(3)[:, [(_AXES[axis] + step) % 3 for step in (1, 2, 3)]]
    turned: NDArray[np.float64] = np.asarray(points, float) @ turn.T
    return turned


def arc_points(radius: float, low: float = -math.pi, high: float = math.pi, z: float = 0.0) -> NDArray[np.float64]:
    """Points of an arc about Z between two angles, rad; 0 is X."""
    steps = max(2, math.ceil(ROUND * abs(high - low) / (2.0 * math.pi)) + 1)
    angles = np.linspace(low, high, steps)
    return np.stack((radius * np.cos(angles), radius * np.sin(angles), np.full(steps, z)), axis=1)


def circle(radius: float, axis: str = "Z", z: float = 0.0) -> NDArray[np.float64]:
    """The lines of a circle about an axis. z: its position on the axis."""
    return along(_strip(arc_points(radius, z=z)), axis)


def box(size: ArrayLike) -> Vertices:
    """The edges of a box about the origin."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * np.asarray(size)
    return _lines(corners[[(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b) in (1, 2, 4)]])


def brackets(low: ArrayLike, high: ArrayLike, part: float = 0.3) -> Vertices:
    """The corners of a box. part: fraction of each edge that is drawn at both of its ends."""
    center, size = (np.asarray(low, float) + np.asarray(high, float)) / 2.0, np.subtract(high, low)
    edges = box(size).reshape(-1, 2, 3).astype(float)
    step = (edges[:, 1] - edges[:, 0]) * part
    return joined(np.stack((edges[:, 0], edges[:, 0] + step, edges[:, 1], edges[:, 1] - step), axis=1) + center)


def sphere(radius: float) -> Vertices:
    """Three circles."""
    return joined(*(circle(radius, axis) for axis in "XYZ"))


def _sides(radius: float, low: float, high: float, top: float) -> NDArray[np.float64]:
    return np.array([
        point for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))
        for point in ((x * radius, y * radius, low), (x * top, y * top, high))
    ])  # fmt: skip


def cylinder(radius: float, height: float, axis: str = "Z") -> Vertices:
    half = height / 2.0
    rings = (circle(radius, z=-half), circle(radius, z=half))
    return _lines(along(np.concatenate((*rings, _sides(radius, -half, half, radius))), axis))


def cone(radius: float, height: float, axis: str = "Z") -> Vertices:
    """Base, and sides up to the tip in the direction of the axis."""
    half = height / 2.0
    return _lines(along(np.concatenate((circle(radius, z=-half), _sides(radius, -half, half, 0.0))), axis))


def capsule(radius: float, height: float, axis: str = "Z") -> Vertices:
    """height: of the cylinder between the caps."""
    half = height / 2.0
    cap = _strip(arc_points(radius, 0.0, math.pi))[:, (0, 2, 1)] + (0.0, 0.0, half)
    turned = cap[:, (1, 0, 2)]
    parts = [circle(radius, z=-half), circle(radius, z=half), _sides(radius, -half, half, radius), cap, turned]
    return _lines(along(np.concatenate((*parts, cap * (1, 1, -1), turned * (1, 1, -1))), axis))


def tapered(bottom: float, top: float, height: float, axis: str = "Z", has_caps: bool = True) -> NDArray[np.float64]:
    """A cylinder with two radii; with caps, what is around balls of these radii, whose middles are a height apart."""
    half = height / 2.0
    ends = ((bottom, -half), (top, half))
    if not has_caps:
        rings = (circle(radius, z=z) for radius, z in ends)
        return along(np.concatenate((*rings, _sides(bottom, -half, half, top))), axis)
    if height <= abs(bottom - top):
        radius, z = max(ends)
        return along(sphere(radius) + np.array((0.0, 0.0, z)), axis)
    # The sides touch the balls at this angle above the middles.
    lift = math.asin((bottom - top) / height)
    edges = [(radius * math.cos(lift), z + radius * math.sin(lift)) for radius, z in ends]
    parts = [circle(radius, z=z) for radius, z in edges]
    parts.append(_sides(edges[0][0], edges[0][1], edges[1][1], edges[1][0]))
    for (radius, z), low, high in zip(ends, (-math.pi - lift, lift), (lift, math.pi - lift), strict=True):
        cap = _strip(arc_points(radius, low, high))[:, (0, 2, 1)] + (0.0, 0.0, z)
        parts += [cap, cap[:, (1, 0, 2)]]
    return along(np.concatenate(parts), axis)


def plane(width: float, length: float, axis: str = "Z") -> Vertices:
    """The drawn rectangle of a plane and its normal, which points away from the solid side, as in UsdGeomPlane."""
    across, up = {"X": (2, 1), "Y": (0, 2), "Z": (0, 1)}[axis], _AXES[axis]
    flat = np.zeros((4, 3))
    flat[:, across[0]] = np.array((-0.5, 0.5, 0.5, -0.5)) * width
    flat[:, across[1]] = np.array((-0.5, -0.5, 0.5, 0.5)) * length
    normal = np.zeros(3)
    normal[up] = 0.25 * min(width, length)
    rim = _strip(flat[[0, 1, 2, 3, 0]])
    return joined(rim, flat[[0, 2, 1, 3]], arrow(np.zeros(3), normal))


def arrow(start: ArrayLike, end: ArrayLike, head: float = 0.25) -> NDArray[np.float64]:
    """A line with a head of four strokes. head: length of the head as a fraction of the line."""
    first, last = np.asarray(start, float), np.asarray(end, float)
    way = last - first
    size = float(np.linalg.norm(way))
    if not size > 0.0:
        return np.zeros((0, 3))
    side = np.cross(way, np.eye(3)[int(np.abs(way).argmin())])
    side *= head * 0.4 * size / float(np.linalg.norm(side))
    other = np.cross(way / size, side)
    base = last - head * way
    strokes = [point for offset in (side, -side, other, -other) for point in (last, base + offset)]
    return np.array([first, last, *strokes])


def cross(size: float) -> Vertices:
    """Three lines through the origin."""
    return _lines([sign * size * row for row in np.eye(3) for sign in (-1.0, 1.0)])


def diamond(size: float) -> Vertices:
    """The edges of an octahedron."""
    tips = np.concatenate((np.eye(3), -np.eye(3))) * size
    return _lines(tips[[(a, b) for a in range(6) for b in range(a + 1, 6) if b - a != 3]])


def mesh_edges(points: ArrayLike, triangles: ArrayLike) -> Vertices:
    """The edges of a mesh, without those between coplanar faces; only the longest ones if there are too many."""
    places, faces = np.asarray(points, float).reshape(-1, 3), np.asarray(triangles, np.int64).reshape(-1, 3)
    if not len(faces):
        return np.zeros((0, 3), np.float32)
    # Merge points at the same place: solvers and modelling tools split them.
    _, first, welded = np.unique(np.round(places, 6), axis=0, return_index=True, return_inverse=True)
    faces = first[welded.reshape(-1)][faces]
    a, b, c = np.moveaxis(places[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    usable = lengths[:, 0] > 0.0
    faces, normals = faces[usable], (normals / np.where(lengths > 0.0, lengths, 1.0))[usable]
    edges = np.sort(faces[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges, owner = edges[order], owner[order]
    is_first = np.ones(len(edges), bool)
    is_first[1:] = (edges[1:] != edges[:-1]).any(axis=1)
    starts = np.flatnonzero(is_first)
    counts = np.diff(np.append(starts, len(edges)))
    is_flat = np.zeros(len(starts), bool)
    twins = starts[counts == 2]
    is_flat[counts == 2] = np.einsum("ij,ij->i", normals[owner[twins]], normals[owner[twins + 1]]) > FLAT
    outer = edges[starts[~is_flat]]
    if len(outer) > MOST_EDGES:
        sizes = np.linalg.norm(places[outer[:, 0]] - places[outer[:, 1]], axis=1)
        outer = outer[np.argpartition(-sizes, MOST_EDGES)[:MOST_EDGES]]
    return _lines(places[outer])


# --------------------------------------------------------------------------- limits of joints; X is the joint's axis


def _about_x(points: ArrayLike) -> NDArray[np.float64]:
    """Rotate points so that Z becomes X, and X becomes Y."""
    return np.asarray(points, float)[..., (2, 0, 1)]


def angle_limit(low: float, high: float, radius: float) -> Vertices:
    """The sector about X between two angles, rad, from Y towards Z; a circle for a full turn or more."""
    if not high - low < 2.0 * math.pi:
        return _lines(_about_x(_strip(arc_points(radius))))
    points = arc_points(radius, low, high)
    ends = np.concatenate((np.zeros((1, 3)), points[:1], np.zeros((1, 3)), points[-1:]))
    return _lines(_about_x(np.concatenate((_strip(points), ends))))


def needle(angle: float, radius: float) -> Vertices:
    """An arrow from the origin at an angle about X, rad."""
    return _lines(_about_x(arrow((0, 0, 0), (radius * math.cos(angle), radius * math.sin(angle), 0), 0.15)))


def turning(velocity: float, radius: float) -> Vertices:
    """A curved arrow about X in the direction of an angular velocity."""
    way = math.copysign(1.0, velocity)
    points = arc_points(radius, 0.0, way * 1.5)
    last, step = points[-1], points[-1] - points[-2]
    back = -2.0 * step
    side = np.cross(back, (0.0, 0.0, 1.0)) * 0.5
    strokes = np.array([last, last + back + side, last, last + back - side])
    return _lines(_about_x(np.concatenate((_strip(points), strokes))))


def rail(low: float, high: float, size: float) -> Vertices:
    """A line along X between two positions, with a square at each end that is limited and an arrow at the others."""
    ends = [low if low > -ENDLESS else -2.0 * size, high if high < ENDLESS else 2.0 * size]
    parts = [np.array([(ends[0], 0, 0), (ends[1], 0, 0)])]
    parts += [
        stop(end, size) if abs(limit) < ENDLESS else arrow((0, 0, 0), (end, 0, 0), 0.1)
        for end, limit in zip(ends, (low, high), strict=True)
    ]
    return joined(*parts)


def stop(place: float, size: float) -> NDArray[np.float64]:
    """A square across X."""
    half = 0.25 * size
    rim = np.array([(place, half, half), (place, -half, half), (place, -half, -half), (place, half, -half)])
    return _strip(rim[[0, 1, 2, 3, 0]])


def cone_limit(towards_y: float, towards_z: float, length: float) -> Vertices:
    """The cone within which the axis X can tilt: largest angles towards Y and Z, rad; pi is free."""
    angles = np.linspace(-math.pi, math.pi, ROUND + 1)
    first, second = (min(max(angle, 0.0), math.pi) for angle in (towards_y, towards_z))
    tilt_y, tilt_z = first * np.cos(angles), second * np.sin(angles)
    tilt = np.hypot(tilt_y, tilt_z)
    part = np.sinc(tilt / math.pi)  # sin(tilt) / tilt
    rim = length * np.stack((np.cos(tilt), part * tilt_y, part * tilt_z), axis=1)
    rays = np.zeros((16, 3))
    rays[1::2] = rim[: -1 : ROUND // 8]
    return joined(_strip(rim), rays)


# --------------------------------------------------------------------------- all lines of a scene


@dataclass(slots=True)
class Drawing:
    """Shapes made of lines that move with carriers, and links: lines between two carriers. Lengths in metres.

    A shape has vertices in its own space, which several shapes can share, the pose of this space in the space of its
    carrier, and the index of a colour. `finish` sorts them into the order in which `positions` returns the vertices.
    """

    _items: list[tuple[Vertices, int, NDArray[np.float64], int]] = field(default_factory=list)
    _links: list[tuple[int, ArrayLike, int, ArrayLike, int, bool]] = field(default_factory=list)
    groups: list[tuple[Vertices, int, int]] = field(default_factory=list)
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    poses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4, 4)))
    #: For every shape, then for every link: number of vertices, index of the colour, row of the carrier.
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    colors: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    owners: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _ends: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2, 4)))
    _end_rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    _spans: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))
    _span_links: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    total: int = 0

    def add(self, vertices: Vertices, row: int, pose: NDArray[np.float64], color: int) -> None:
        """Add a shape; it is left out if a number is not finite."""
        if len(vertices) and np.isfinite(pose).all() and np.isfinite(vertices).all():
            self._items.append((vertices, row, pose, color))

    def link(
        self, row0: int, point0: ArrayLike, row1: int, point1: ArrayLike, color: int, dashed: bool = False
    ) -> None:
        """Add a line between two points, each in the space of a carrier."""
        if np.isfinite(point0).all() and np.isfinite(point1).all():
            self._links.append((row0, point0, row1, point1, color, dashed))

    def finish(self) -> Drawing:
        """Sort shapes and links, and compute the arrays. Returns the drawing itself."""
        shared: dict[int, int] = {}
        for vertices, *_ in self._items:
            shared.setdefault(id(vertices), len(shared))
        items = sorted(self._items, key=lambda item: shared[id(item[0])])
        self.rows = np.array([item[1] for item in items], np.int64)
        self.poses = np.array([item[2] for item in items], float).reshape(-1, 4, 4)
        start = 0
        while start < len(items):
            vertices, end = items[start][0], start
            while end < len(items) and items[end][0] is vertices:
                end += 1
            self.groups.append((vertices, start, end))
            start = end
        links = self._links
        spans = [DASHES if link[5] else np.array([(0.0, 1.0)]) for link in links]
        self._spans = np.concatenate(spans) if spans else np.zeros((0, 2))
        self._span_links = np.repeat(np.arange(len(links)), [len(span) for span in spans]).astype(np.int64)
        self._ends = np.ones((len(links), 2, 4))
        if links:
            self._ends[:, :, :3] = [(np.asarray(link[1], float), np.asarray(link[3], float)) for link in links]
        self._end_rows = np.array([(link[0], link[2]) for link in links], np.int64).reshape(-1, 2)
        counts = [len(item[0]) for item in items] + [2 * len(span) for span in spans]
        self.counts = np.array(counts, np.int64)
        self.colors = np.array([item[3] for item in items] + [link[4] for link in links], np.int64)
        self.owners = np.array([item[1] for item in items] + [link[0] for link in links], np.int64)
        self.total = int(self.counts.sum())
        self._items, self._links = [], []
        return self

    def positions(self, matrices: NDArray[np.float64], meters: float = 1.0) -> Vertices:
        """World positions (total, 3) of all vertices. matrices (n, 4, 4): of the carriers. meters: per unit."""
        result = np.empty((self.total, 3), np.float32)
        worlds = matrices[self.rows] @ self.poses
        if meters != 1.0:
            worlds = worlds / meters
        turns = np.ascontiguousarray(worlds[:, :3, :3].transpose(0, 2, 1), np.float32)
        places = np.ascontiguousarray(worlds[:, None, :3, 3], np.float32)
        at = 0
        for vertices, start, end in self.groups:
            number = len(vertices)
            into = result[at : at + number * (end - start)].reshape(end - start, number, 3)
            np.matmul(vertices, turns[start:end], out=into)
            into += places[start:end]
            at += number * (end - start)
        if len(self._ends):
            ends = np.einsum("lsij,lsj->lsi", matrices[self._end_rows], self._ends)[:, :, :3] / meters
            first, way = ends[self._span_links, None, 0], (ends[:, 1] - ends[:, 0])[self._span_links, None]
            result[at:] = (first + way * self._spans[:, :, None]).reshape(-1, 3)
        return result

    def vertex_colors(self, palette: ArrayLike, colors: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Colours (total, 4) of all vertices. palette: (n, 4). colors: indices that replace those of the drawing."""
        chosen = np.asarray(palette, np.float32)[self.colors if colors is None else colors]
        return np.repeat(chosen, self.counts, axis=0)

    def vertices_of(self, colors: NDArray[np.int64], wanted: Sequence[int]) -> NDArray[np.bool_]:
        """Mask (total,) of the vertices whose colour index is one of these. colors: as in `vertex_colors`."""
        return np.repeat(np.isin(colors, wanted), self.counts)

    def is_same(self, other: Drawing) -> bool:
        """True if both have the same lines and colours on the same carriers."""
        return (
            self.total == other.total
            and len(self.groups) == len(other.groups)
            and all(
                (start, end) == (first, last) and (mine is theirs or np.array_equal(mine, theirs))
                for (mine, start, end), (theirs, first, last) in zip(self.groups, other.groups, strict=True)
            )
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _COMPARED)
        )


_COMPARED = ("rows", "poses", "colors", "_ends", "_end_rows")


def contact_lines(
    points: NDArray[np.float64], normals: NDArray[np.float64], forces: NDArray[np.float64], length: float
) -> Vertices:
    """A cross at each point (n, 3) and an arrow along its normal, as long as its force (n,): (2 k, 3).

    length: that of the arrow of the largest force. A contact that bears nothing has a cross alone.
    """
    longest = float(forces.max(initial=0.0))
    reach = length * normals * (np.maximum(forces, 0.0) / longest if longest > 0.0 else np.zeros(len(forces)))[:, None]
    tips = points + reach
    # Two lines back from the tip, in a plane through the arrow.
    least = np.eye(3)[np.abs(normals).argmin(axis=1)] if len(normals) else np.zeros((0, 3))
    aside = np.cross(normals, least)
    aside *= (np.linalg.norm(reach, axis=1) / np.maximum(np.linalg.norm(aside, axis=1), 1e-12))[:, None]
    heads = [tips - 0.25 * reach + 0.12 * sign * aside for sign in (-1.0, 1.0)]
    lines = np.stack([points, tips, tips, heads[0], tips, heads[1]], axis=1)
    bars = 0.12 * length * np.repeat(np.eye(3), 2, axis=0) * np.array((1.0, -1.0) * 3)[:, None]
    ends_of_bars = np.concatenate((lines, points[:, None] + bars), axis=1)
    return _lines(ends_of_bars[np.isfinite(ends_of_bars).all(axis=(1, 2))])
