# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a joint belongs, from the forms of its two bodies: wheels, doors, lids, drawers and carriages. Numbers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Extents that differ by less than this part are equal; vertices of a round body reach this part of its radius.
EQUAL, ROUND = 0.03, 0.03
#: A panel is thinner than this part of its next extent.
THIN = 0.35
#: A rail is longer than this many extents of its carriage, and than this many of its own next extents.
RAIL = 2.0
_TIE = 0.02
#: A beam is longer than this many of its next extents, and stands out on both sides of its stand by this part of it.
BEAM, OVERHANG = 2.0, 0.2


class Guess(NamedTuple):
    """position (3,), unit axis (3,), both in the world. reason: the form, for the user."""

    position: Array
    axis: Array
    reason: str


class Box(NamedTuple):
    """A box around points: centre (3,), axes (3, 3) in columns, extents (3,)."""

    center: Array
    axes: Array
    extents: Array


def box_of(points: Array, axes: Array) -> Box:
    """The box of points (n, 3) along unit axes (3, 3) in columns."""
    along = points @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return Box(axes @ ((low + high) / 2.0), axes, high - low)


def symmetry_axis(points: Array, axes: Array) -> Guess | None:
    """Centre and axis of a body that is round about one axis; None for others, balls among them.

    axes: of the object, (3, 3) in columns. If the body is not round about any of these, as after its rotation was
    applied, the principal axes of its points are tried.
    """
    if len(points) < 8:
        return None
    principal = np.linalg.eigh(np.cov(points.T))[1]
    for frame in (axes, principal):
        box = box_of(points, frame)
        for row in range(3):
            one, other = (box.extents[(row + step) % 3] for step in (1, 2))
            if min(one, other) <= 0.0 or abs(one - other) > EQUAL * max(one, other):
                continue
            if abs(box.extents[row] - one) <= EQUAL * one:
                continue  # a ball or a cube
            axis = frame[:, row]
            arms = points - box.center
            arms -= np.outer(arms @ axis, axis)
            if abs(float(np.linalg.norm(arms, axis=1).max()) - max(one, other) / 2.0) <= ROUND * max(one, other):
                return Guess(box.center, axis, "its symmetry axis")
    return None


def hinge(points0: Array, points1: Array, axes1: Array) -> Guess | None:
    """A hinge of body 1 on body 0: the axis of a wheel, the middle of a see-saw, the side of a door, the edge of a lid;
    None for other forms.

    points0, points1: (n, 3), of the surfaces, in the world; points0 may be empty for the world.
    """
    axis = symmetry_axis(points1, axes1)
    if axis is not None:
        return axis
    box = box_of(points1, axes1)
    balanced = _see_saw(points0, box)
    if balanced is not None:
        return balanced
    order = np.argsort(box.extents)
    thin, short, long = (int(row) for row in order)
    if box.extents[thin] > THIN * box.extents[short]:
        return None
    across = (short, long)
    up = np.abs(axes1[2])
    is_upright = up[thin] < 0.5
    # Doors turn about an upright side; lids about any edge.
    along = [int(max(across, key=lambda row: up[row]))] if is_upright else list(across)
    edges = []
    for row in along:
        other = across[0] if row == across[1] else across[1]
        for sign in (-1.0, 1.0):
            middle = box.center + sign * 0.5 * box.extents[other] * axes1[:, other]
            edges.append((middle, row))
    size = float(box.extents.max())
    gaps = [_gap(points0, middle, axes1[:, row] * box.extents[row]) for middle, row in edges]
    least = min(gaps)
    near = [edge for edge, gap in zip(edges, gaps, strict=True) if gap <= least + _TIE * size]
    if is_upright:
        middle, row = min(near, key=lambda edge: tuple(np.round(edge[0], 6)))
        return Guess(middle, axes1[:, row] * (1.0 if axes1[2, row] >= 0.0 else -1.0), "the side of a door")
    # The longer edges first, and of these the one at the back, +Y, as Blender's front is -Y.
    middle, row = max(near, key=lambda edge: (round(float(box.extents[edge[1]]), 6), *np.round(edge[0][[1, 0]], 6)))
    if len(points0):
        below = float((points0.mean(axis=0) - box.center) @ axes1[:, thin])
        middle = middle + axes1[:, thin] * np.sign(below) * box.extents[thin] / 2.0
    return Guess(middle, axes1[:, row], "the edge of a lid")


def _see_saw(points0: Array, box: Box) -> Guess | None:
    """The axis of a beam that lies on a stand below it, and stands out on both of its sides."""
    if not len(points0):
        return None
    long = int(box.extents.argmax())
    others = [row for row in range(3) if row != long]
    up = max(others, key=lambda row: abs(float(box.axes[2, row])))
    length = float(box.extents[long])
    if abs(float(box.axes[2, up])) < 0.7 or length < BEAM * float(box.extents[others].max()):
        return None
    stand = box_of(points0, box.axes)
    away = box.axes.T @ (stand.center - box.center)
    free = 0.5 * length - abs(float(away[long])) - 0.5 * float(stand.extents[long])
    gap = abs(float(away[up])) - 0.5 * float(box.extents[up] + stand.extents[up])
    below = float(away[up]) * float(box.axes[2, up]) < 0.0
    if free < OVERHANG * length or abs(gap) > _TIE * length or not below:
        return None
    to_stand = np.zeros(3)
    to_stand[long], to_stand[up] = away[long], np.sign(away[up]) * 0.5 * box.extents[up]
    (across,) = (row for row in others if row != up)
    return Guess(box.center + box.axes @ to_stand, _positive(box.axes[:, across]), "the middle of a see-saw")


def _gap(points: Array, middle: Array, edge: Array) -> float:
    """Mean distance of an edge from the bounding box of points."""
    if not len(points):
        return 0.0
    low, high = points.min(axis=0), points.max(axis=0)
    samples = middle + np.linspace(-0.5, 0.5, 5)[:, None] * edge
    outside = np.maximum(np.maximum(low - samples, samples - high), 0.0)
    return float(np.linalg.norm(outside, axis=1).mean())


def slide(points0: Array, triangles0: Array, points1: Array, axes1: Array) -> Guess:
    """A slide of body 1 on body 0: along a rail that is much longer, else along the longest axis in which body 0 does
    not stop it. triangles0: (m, 3), of the surface of body 0."""
    box = box_of(points1, axes1)
    if len(points0):
        rail = box_of(points0, np.linalg.eigh(np.cov(points0.T))[1] if len(points0) > 3 else np.eye(3))
        first, second = np.sort(rail.extents)[::-1][:2]
        row = int(rail.extents.argmax())
        if first > RAIL * second and first > RAIL * float(box.extents.max()):
            return Guess(box.center, _positive(rail.axes[:, row]), "the rail")
    free = [
        row for row in range(3)
        if any(_is_free(points0, triangles0, box, row, sign) for sign in (-1.0, 1.0))
    ]  # fmt: skip
    # Of axes of the same length, and in a body without an opening, the one by which it is nearest to the outside.
    outside = _outside(points0, points1, axes1)
    lengths = np.round(box.extents / max(float(box.extents.max()), 1e-30), 2) if free else np.zeros(3)
    chosen = max(free or range(3), key=lambda row: (lengths[row], outside[row]))
    return Guess(box.center, _positive(axes1[:, chosen]), "its longest free axis")


def _outside(points0: Array, points1: Array, axes: Array) -> Array:
    """How far points (n, 3) stand out of the box of others along each axis (3,); negative inside."""
    if not len(points0):
        return np.zeros(3)
    along0, along1 = points0 @ axes, points1 @ axes
    front, back = along1.max(axis=0) - along0.max(axis=0), along0.min(axis=0) - along1.min(axis=0)
    result: Array = np.round(np.maximum(front, back) / max(float(np.ptp(along0, axis=0).max()), 1e-30), 6)
    return result


def _positive(axis: Array) -> Array:
    """The same line, towards the positive of its largest component."""
    result: Array = axis * (1.0 if axis[np.abs(axis).argmax()] >= 0.0 else -1.0)
    return result


def _is_free(points: Array, triangles: Array, box: Box, row: int, sign: float) -> bool:
    """True if no ray from the middle and towards the corners of a box hits triangles on the way along an axis."""
    if not len(triangles):
        return True
    direction = sign * box.axes[:, row]
    others = [other for other in range(3) if other != row]
    for first in (-0.4, 0.0, 0.4):
        for second in (-0.4, 0.0, 0.4):
            start = box.center + first * box.extents[others[0]] * box.axes[:, others[0]]
            start = start + second * box.extents[others[1]] * box.axes[:, others[1]]
            if _hits(points, triangles, start, direction):
                return False
    return True


def _hits(points: Array, triangles: Array, start: Array, direction: Array) -> bool:
    """True if a ray hits a triangle. Source: Moeller and Trumbore, 1997."""
    corner = points[triangles[:, 0]]
    one, other = points[triangles[:, 1]] - corner, points[triangles[:, 2]] - corner
    normal = np.cross(direction, other)
    volume = np.einsum("ij,ij->i", one, normal)
    usable = np.abs(volume) > 1e-12
    inverse = np.divide(1.0, volume, out=np.zeros_like(volume), where=usable)
    away = start - corner
    u = np.einsum("ij,ij->i", away, normal) * inverse
    turned = np.cross(away, one)
    v = (turned @ direction) * inverse
    reach = np.einsum("ij,ij->i", other, turned) * inverse
    return bool((usable & (u >= 0) & (v >= 0) & (u + v <= 1) & (reach > 0)).any())
