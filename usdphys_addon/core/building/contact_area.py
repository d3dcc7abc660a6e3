# SPDX-License-Identifier: GPL-3.0-or-later
"""Where two pieces touch: the area that their faces share, and how much such a bond bears."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ties import Ties

Array = NDArray[np.float64]
#: Faces whose normals are opposite up to this cosine may touch.
_OPPOSITE = -0.98
#: Tensile strength in Pa, by key of `common_materials`; of masonry it is that of lime mortar. Nominal values.
STRENGTHS = {
    "STEEL": 400e6, "STAINLESS_STEEL": 500e6, "ALUMINIUM": 200e6, "COPPER": 200e6, "CAST_IRON": 150e6, "OAK": 5e6,
    "PINE": 3e6, "PLYWOOD": 5e6, "RUBBER": 10e6, "CONCRETE": 2e6, "BRICK": 0.05e6, "GLASS": 30e6, "ICE": 1e6,
    "ABS": 40e6, "PLA": 50e6, "NYLON": 60e6, "PTFE": 20e6, "CARDBOARD": 2e6, "LEATHER": 10e6, "EPS_FOAM": 0.2e6,
}  # fmt: skip

#: How far a bond gives way before it breaks, in its sides; from which part of that on it bears no more; the time, s, in
#: which it goes back. Where it breaks after less, PhysX at 60 steps a second breaks more of what is not hit.
GIVES, FIRM, RETURNS = 0.05, 0.2, 0.005


#: A contact of less than this part of the largest one of both its pieces is a sliver.
SLIVER = 0.01


class Contact(NamedTuple):
    """area: m². center: (3,) of the area. normal: (3,) from the first piece to the second."""

    area: float
    center: Array
    normal: Array


class Surface(NamedTuple):
    """Triangles (n, 3, 3) of a piece in the world, m, their unit normals (n, 3), and the bounds (3,) of the piece."""

    triangles: Array
    normals: Array
    low: Array
    high: Array


def surface(points: Array, triangles: NDArray[np.int64]) -> Surface:
    """points: (n, 3), m. triangles: (m, 3) indices, counter-clockwise from outside."""
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    is_sound = lengths > 1e-30
    corners, normals = corners[is_sound], normals[is_sound] / lengths[is_sound, None]
    return Surface(corners, normals, points.min(axis=0), points.max(axis=0))


def contact(one: Surface, other: Surface, gap: float) -> Contact | None:
    """The faces of two pieces that are opposite each other and no farther apart than `gap`; None if there are none."""
    if (one.low > other.high + gap).any() or (other.low > one.high + gap).any():
        return None
    facing = one.normals @ other.normals.T < _OPPOSITE
    if not facing.any():
        return None
    # Distance of the planes of the first along the normals of the second.
    apart = np.abs(np.einsum("jk,ijk->ij", other.normals, one.triangles.mean(axis=1)[:, None] - other.triangles[:, 0]))
    total, center, normal = 0.0, np.zeros(3), np.zeros(3)
    for first, second in np.argwhere(facing & (apart <= gap)):
        axis = one.normals[first]
        side = one.triangles[first, 1] - one.triangles[first, 0]
        side = side / np.linalg.norm(side)
        basis = np.stack((side, np.cross(axis, side)))
        origin = one.triangles[first, 0]
        area, middle = _shared((one.triangles[first] - origin) @ basis.T, (other.triangles[second] - origin) @ basis.T)
        if area > 0.0:
            total += area
            center += area * (origin + middle @ basis)
            normal += area * axis
    if total <= 0.0:
        return None
    return Contact(total, center / total, normal / np.linalg.norm(normal))


def bonded(contacts: Sequence[tuple[int, int, Contact]]) -> list[tuple[int, int, Contact]]:
    """The contacts of pieces (their numbers) that get a bond: all but slivers beside larger ones.

    A sliver bears nothing, and gives way by less than touching pieces move in a solver, so it would break by itself.
    It gets a bond where nothing else holds its pieces together.
    """
    largest: dict[int, float] = {}
    for one, other, touch in contacts:
        for piece in (one, other):
            largest[piece] = max(largest.get(piece, 0.0), touch.area)
    ties, chosen = Ties(), []
    for row in sorted(range(len(contacts)), key=lambda row: -contacts[row][2].area):
        one, other, touch = contacts[row]
        is_sliver = touch.area < SLIVER * min(largest[one], largest[other])
        if not is_sliver or ties.root(str(one)) != ties.root(str(other)):
            ties.tie((str(one), str(other)))
            chosen.append(row)
    return [contacts[row] for row in sorted(chosen)]


class Bond(NamedTuple):
    """What a bond bears, N and N m, and how far it gives way before it breaks, m.

    firm, firm_turn: N/m and N m/rad with which it holds until then. fuse: N/m of the limit beyond, which breaks it at
    the force `breaks`, N.
    """

    force: float
    torque: float
    reach: float
    firm: float
    firm_turn: float
    fuse: float
    breaks: float


def bond(area: float, strength: float) -> Bond:
    """A square bond. area: m². strength: Pa.

    In bending the whole section yields before it breaks: its plastic modulus is side³ / 4. It breaks by its way, and
    not by its load: a bond that bears a whole blow for a step of the simulator hands it on to the whole wall.
    """
    side = area**0.5
    force, torque, reach = strength * area, strength * side**3 / 4.0, GIVES * side
    rise = FIRM * reach
    return Bond(force, torque, reach, force / rise, torque * side / (2.0 * rise), force / side, 0.01 * force)


def _shared(one: Array, other: Array) -> tuple[float, Array]:
    """(area, centre (2,)) of the intersection of two triangles (3, 2)."""
    if _cross(other[1] - other[0], other[2] - other[0]) < 0.0:
        other = other[::-1]
    left = [np.asarray(point) for point in one]
    for start, end in zip(other, np.roll(other, -1, axis=0), strict=True):
        edge = end - start
        common = []
        for here, after in zip(left, left[1:] + left[:1], strict=True):
            inside, goes_in = _cross(edge, here - start), _cross(edge, after - start)
            if inside >= 0.0:
                common.append(here)
            if inside * goes_in < 0.0:
                common.append(here + (after - here) * (inside / (inside - goes_in)))
        left = common
        if len(left) < 3:
            return 0.0, np.zeros(2)
    area, center = 0.0, np.zeros(2)
    for here, after in pairwise(left[1:]):
        part = abs(_cross(here - left[0], after - left[0])) / 2.0
        area += part
        center = center + part * (left[0] + here + after) / 3.0
    return area, center / area if area > 0.0 else np.zeros(2)


def _cross(one: Array, other: Array) -> float:
    return float(one[0] * other[1] - one[1] * other[0])
