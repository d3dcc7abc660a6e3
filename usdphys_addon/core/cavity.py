# SPDX-License-Identifier: GPL-3.0-or-later
"""The hollow of a mesh that its convex hull fills: a cup, a gripper, a ring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .model import Mesh
from .overlap import ALL_AROUND
from .steps import Steps, finished, part

#: A ball of this part of the largest extent is looked for, by its diameter; smaller hollows are of no account.
LEAST = 0.2
#: Points across the bounds of a mesh that are tried, points on its surface, and places that are looked at closely.
_ACROSS, _ON_SURFACE, _CLOSE = 12, 2000, 4
#: Directions in which a hull ends, and in which one looks out of a hollow.
_ENDS = np.concatenate((ALL_AROUND, -ALL_AROUND))
_WAYS = _ENDS[::4]
#: Part of all directions in which nothing may be in the way out of a hollow: more than cracks let through.
_OPEN = 0.03
_CHUNK = 400_000
_SEED = 20240


def radius(mesh: Mesh) -> float:
    """`radius_steps` in one."""
    return finished(radius_steps(mesh))


def radius_steps(mesh: Mesh) -> Steps[float]:
    """Radius, in the units of the mesh, of a large ball inside its hull that nothing of the mesh is in.

    0 where none of a diameter of LEAST of the mesh's extent is found, or the way to it is closed on all sides. The mesh
    need not be closed.
    """
    points, triangles = np.asarray(mesh.points, float), np.asarray(mesh.triangles)
    if len(triangles) < 4 or not np.isfinite(points).all():
        return 0.0
    used = points[np.unique(triangles)]
    low, size = used.min(axis=0), np.ptp(used, axis=0)
    least = LEAST * float(size.max()) / 2.0
    # A ball of this size does not fit into a hull that is thinner.
    if float(size.min()) < 2.0 * least:
        return 0.0
    steps = (np.arange(_ACROSS) + 0.5) / _ACROSS
    tried = low + np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3) * size
    deep = ((used @ _ENDS.T).max(axis=0) - tried @ _ENDS.T).min(axis=1)
    tried, deep = tried[deep >= least], deep[deep >= least]
    corners = points[triangles]
    yield 0.1
    near = yield from part(_to_samples(tried, corners), 0.1, 0.3)
    room = np.minimum(deep, near)
    order = np.argsort(-room)
    for number in order[room[order] >= least][:_CLOSE]:
        free = yield from part(_free(tried[number], corners), 0.3, 1.0)
        if free >= _OPEN:
            return float(room[number])
    return 0.0


def _to_samples(tried: NDArray[np.float64], corners: NDArray[np.float64]) -> Steps[NDArray[np.float64]]:
    """About how far points (n, 3) are from the triangles (m, 3, 3), by points that are spread over these by area."""
    a, b, c = np.moveaxis(corners, 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    if not len(tried) or areas.sum() <= 0.0:
        return np.zeros(len(tried))
    chance = np.random.default_rng(_SEED)
    chosen = chance.choice(len(areas), _ON_SURFACE, p=areas / areas.sum())
    u, v = chance.random((2, _ON_SURFACE, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    samples = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    squares = np.einsum("ij,ij->i", samples, samples)
    found = np.empty(len(tried))
    step = max(1, _CHUNK // _ON_SURFACE)
    for start in range(0, len(tried), step):
        some = tried[start : start + step]
        found[start : start + step] = (squares - 2.0 * some @ samples.T).min(axis=1) + np.einsum("ij,ij->i", some, some)
        yield start / len(tried)
    return np.sqrt(np.maximum(found, 0.0))


def _free(point: NDArray[np.float64], corners: NDArray[np.float64]) -> Steps[float]:
    """The part of all directions in which no triangle (m, 3, 3) is seen from a point (3,)."""
    a, b, c = np.moveaxis(corners - point, 1, 0)
    # A ray goes through a triangle if it is on the same side of the planes through the point and each of its edges.
    sides = [np.cross(one, other) for one, other in ((a, b), (b, c), (c, a))]
    free = np.ones(len(_WAYS), bool)
    step = max(1, _CHUNK // len(_WAYS))
    for start in range(0, len(corners), step):
        signs = [_WAYS @ side[start : start + step].T for side in sides]
        inside = np.ones(signs[0].shape, bool)
        volume = np.einsum("ij,ij->i", sides[0], c)[start : start + step]
        for sign in signs:
            inside &= sign * volume >= 0.0
        free &= ~(inside & (volume != 0.0)).any(axis=1)
        yield start / len(corners)
    return float(free.mean())
