# SPDX-License-Identifier: GPL-3.0-or-later
"""Tetrahedra that fill a closed triangle mesh, all of one shape: the tetrahedra of a body-centred cubic lattice.

Each covers a part of the solid, so that every point of the mesh lies in one of them: a detailed mesh can follow a
coarse simulation. A lattice has corners and centres of cubic cells. Each tetrahedron joins the centres of two
neighbours and an edge of the face between them; its dihedral angles are 60 and 90 degrees, none is flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..words import phrase

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Cells of the lattice: more take gigabytes.
_MOST_CELLS = 4_000_000
#: Points on the surface that are looked up, in all, and on the side of a triangle for each cell.
_MOST_SAMPLES, _SAMPLES = 20_000_000, 3
#: Offset of the vertical lines along which insides are found, in cells: they shall not meet vertices.
_ASIDE = np.array([0.7548776662e-5, 0.5698402910e-5])
#: Corners of a cell's face about an axis, in the order of the other two axes, and which two are an edge: at the low and
#: the high end of the first of these axes, then of the second.
_EDGES = (((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1)))
#: Corners of the faces of a tetrahedron of positive volume, with normals outwards.
FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
#: The name of what a mesh is filled with is that of the mesh with this at the end.
SUFFIX = "_tets"


@dataclass(slots=True)
class TetLattice:
    """points: (n, 3). tets: (t, 4), of positive volume. surface: (s, 3) triangles with normals to the outside.

    cell: length of a cubic cell. volume: of the mesh that it was made from.
    """

    points: Floats
    tets: Ints
    surface: Ints
    cell: float
    volume: float
    origin: Floats
    #: Index of a tetrahedron by its place in the lattice; -1 for those that are left out.
    index: Ints

    @property
    def excess(self) -> float:
        """The volume of the tetrahedra as a multiple of that of the mesh."""
        # Twelve fill a cell.
        return float(len(self.tets) * self.cell**3 / 12.0 / self.volume)

    def embed(self, points: Floats) -> tuple[Ints, Floats]:
        """(index of the tetrahedron (k,), weights of its corners (k, 4)) of points (k, 3); -1 for those outside."""
        tets = self.index[_keys(_inside(points, self), self.index.shape[:3])] if len(points) else np.zeros(0, np.int64)
        corners = self.points[self.tets[np.maximum(tets, 0)]]
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
        weights = np.linalg.solve(edges, (points - corners[:, 0])[..., None])[..., 0]
        return tets, np.concatenate([1.0 - weights.sum(axis=1, keepdims=True), weights], axis=1)


def open_edges(triangles: Ints) -> int:
    """Number of edges of a mesh that do not join two triangles."""
    sides = np.sort(np.concatenate([triangles[:, pair] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
    counts = np.unique(sides, axis=0, return_counts=True)[1]
    return int((counts % 2 == 1).sum())


def cell_of(points: Floats, triangles: Ints, across: int) -> float:
    """The size of a cell of which so many are along the longest side of a mesh; any for one without faces, which `fill`
    refuses."""
    if not len(triangles):
        return 1.0 / across
    return float(np.ptp(points[np.unique(triangles)], axis=0).max()) / across


def fill(points: Floats, triangles: Ints, cell: float) -> TetLattice:
    """Fill a closed mesh with points (n, 3) and triangles (m, 3) with tetrahedra of cubic cells of a size.

    Raises InputError for a mesh that is open or empty, and for cells that are too small.
    """
    used = points[np.unique(triangles)] if len(triangles) else points[:0]
    if not len(used) or not np.isfinite(used).all():
        raise InputError("The mesh has no faces; choose one with a volume.")
    # Vertices may be split, for normals and texture coordinates.
    _, same = np.unique(points, axis=0, return_inverse=True)
    joined = same.reshape(-1)[triangles]
    is_face = (joined != np.roll(joined, 1, axis=1)).all(axis=1)
    if number := open_edges(joined[is_face]):
        raise InputError(phrase(
            "The mesh has {number} open edges; close it, for example with Remesh or Fill Holes.", number=number
        ))  # fmt: skip
    corners = points[triangles[is_face]]
    volume = abs(float(np.linalg.det(corners - used.mean(axis=0)).sum() / 6.0))
    low, size = used.min(axis=0), np.ptp(used, axis=0)
    if not cell > 0.0 or not volume > 1e-9 * float(size.max()) ** 3:
        raise InputError("The mesh has no volume to fill; choose another mesh, and a size above 0.")
    counts = np.ceil(size / cell) + 4
    if counts.prod() > _MOST_CELLS:
        raise InputError(f"Cells of {cell:.3g} would be {counts.prod():.0f}; choose larger ones.")
    shape = tuple(int(count) for count in counts)
    # The mesh is in the middle of the lattice, so that what is symmetric stays so.
    origin = low - (np.array(shape) * cell - size) / 2.0
    is_used = np.zeros((*shape, 3, 4), bool)
    _use_inner(is_used, corners, origin, cell)
    _use_surface(is_used, corners, origin, cell)
    return _made(is_used, origin, cell, volume)


def _use_inner(is_used: NDArray[np.bool_], corners: Floats, origin: Floats, cell: float) -> None:
    """Mark the tetrahedra with a corner inside the mesh."""
    shape = is_used.shape[:3]
    at_corner = _insides(corners, origin, cell, tuple(count + 1 for count in shape))
    at_centre = _insides(corners, origin + cell / 2.0, cell, shape)
    for axis in range(3):
        lower, upper = _ends(shape, axis)
        middles = at_centre[lower] | at_centre[upper]
        for edge, ends in enumerate(_EDGES):
            inner = middles.copy()
            for end in ends:
                inner |= at_corner[_corner_of(shape, axis, end)]
            is_used[..., axis, edge][lower] |= inner


def _ends(shape: tuple[int, ...], axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Slices of the cells that have a neighbour above them along an axis, and of these neighbours."""
    lower, upper = [slice(None)] * 3, [slice(None)] * 3
    lower[axis], upper[axis] = slice(0, shape[axis] - 1), slice(1, shape[axis])
    return tuple(lower), tuple(upper)


def _corner_of(shape: tuple[int, ...], axis: int, end: tuple[int, int]) -> tuple[slice, ...]:
    """Slice of a corner of the face above each cell along an axis. end: low or high along the other axes."""
    rows = [slice(0, 0)] * 3
    rows[axis] = slice(1, shape[axis])
    for other, step in zip((one for one in range(3) if one != axis), end, strict=True):
        rows[other] = slice(step, shape[other] + step)
    return tuple(rows)


def _insides(corners: Floats, origin: Floats, cell: float, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which nodes of a grid are inside a mesh: its faces are crossed more often in one direction than in the other."""
    places = (corners - origin) / cell
    places[..., :2] -= _ASIDE
    flat = places[..., :2]
    first = np.maximum(np.ceil(flat.min(axis=1)), 0).astype(np.int64)
    last = np.minimum(np.floor(flat.max(axis=1)), np.array(shape[:2]) - 1).astype(np.int64)
    spans = np.maximum(last - first + 1, 0)
    each = spans.prod(axis=1)
    face = np.repeat(np.arange(len(corners)), each)
    within = np.arange(len(face)) - np.repeat(np.cumsum(each) - each, each)
    column = first[face] + np.stack(
        [within // np.maximum(spans[face, 1], 1), within % np.maximum(spans[face, 1], 1)], 1
    )
    a, b, c = (places[face, corner] for corner in range(3))
    parts = [_twice_area(b, c, column), _twice_area(c, a, column), _twice_area(a, b, column)]
    total = parts[0] + parts[1] + parts[2]
    signs = np.sign(total)
    hit = (signs != 0) & np.all([part * signs >= 0 for part in parts], axis=0)
    face, column, total, signs = face[hit], column[hit], total[hit], signs[hit]
    heights = sum(part[hit] * corner[hit, 2] for part, corner in zip(parts, (a, b, c), strict=True)) / total
    # Upwards from below: each node above a face has crossed it.
    crossed = np.zeros((*shape[:2], shape[2] + 1), np.int64)
    above = np.clip(np.ceil(heights), 0, shape[2]).astype(np.int64)
    np.add.at(crossed, (column[:, 0], column[:, 1], above), signs.astype(np.int64))
    return np.asarray(np.cumsum(crossed, axis=2)[..., :-1] != 0)


def _twice_area(one: Floats, other: Floats, place: Ints) -> Floats:
    """Twice the signed area of a triangle in the plane of the first two axes."""
    return np.asarray(
        (one[:, 0] - place[:, 0]) * (other[:, 1] - place[:, 1])
        - (one[:, 1] - place[:, 1]) * (other[:, 0] - place[:, 0])
    )


def _use_surface(is_used: NDArray[np.bool_], corners: Floats, origin: Floats, cell: float) -> None:
    """Mark the tetrahedra with a part of the surface in them: points of a grid in each triangle, with its corners."""
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    steps = np.maximum(np.ceil(_SAMPLES * sides / cell), 1).astype(np.int64)
    if ((steps + 1) * (steps + 2) // 2).sum() > _MOST_SAMPLES:
        raise InputError(f"Cells of {cell:.3g} are too small for this mesh; choose larger ones.")
    for count in np.unique(steps):
        row, column = np.nonzero(np.add.outer(np.arange(count + 1), np.arange(count + 1)) <= count)
        weights = np.stack([row, column, count - row - column], axis=1) / count
        faces = corners[steps == count]
        # In parts: a fine mesh of large triangles has millions of points.
        for part in np.array_split(faces, max(1, len(faces) * len(weights) // 1_000_000)):
            keys = _keys((np.einsum("kc,fcx->fkx", weights, part).reshape(-1, 3) - origin) / cell, is_used.shape[:3])
            is_used[keys] = True


def _inside(points: Floats, lattice: TetLattice) -> Floats:
    """Points in cells of the lattice; those outside are moved to its corner, where no tetrahedron is."""
    places = (points - lattice.origin) / lattice.cell
    shape = np.array(lattice.index.shape[:3])
    is_in = ((places >= 1.0) & (places <= shape - 1.0)).all(axis=1, keepdims=True)
    return np.where(is_in, places, 0.5)


def _keys(places: Floats, shape: tuple[int, ...]) -> tuple[Ints, ...]:
    """(cell, axis, edge) of the tetrahedron of each place, in cells. It is owned by the lower one of its two cells."""
    own = np.minimum(np.floor(places), np.array(shape) - 1).astype(np.int64)
    away = places - own - 0.5
    order = np.argsort(np.abs(away), axis=1)
    axis, second = order[:, 2], order[:, 1]
    rows = np.arange(len(places))
    own[rows, axis] -= away[rows, axis] < 0
    # The first of the axes beside this one is 0, or 1 beside axis 0.
    is_first = second == np.where(axis == 0, 1, 0)
    edge = np.where(is_first, 0, 2) + (away[rows, second] >= 0)
    return (*own.T, axis, edge)


def _made(is_used: NDArray[np.bool_], origin: Floats, cell: float, volume: float) -> TetLattice:
    """The lattice of the tetrahedra that are used."""
    shape = np.array(is_used.shape[:3])
    places = np.stack(np.nonzero(is_used), axis=1)
    cells, axes, edges = places[:, :3], places[:, 3], places[:, 4]
    index = np.full(is_used.shape, -1, np.int64)
    index[is_used] = np.arange(len(places))
    upper = cells.copy()
    upper[np.arange(len(cells)), axes] += 1
    # Nodes by twice their place in cells: corners are even, centres odd.
    nodes = np.zeros((len(cells), 4, 3), np.int64)
    nodes[:, 0], nodes[:, 1] = 2 * cells + 1, 2 * upper + 1
    others = np.array([[1, 2], [0, 2], [0, 1]])[axes]
    rows = np.arange(len(cells))
    for corner in (0, 1):
        node = 2 * upper
        for side in (0, 1):
            node[rows, others[:, side]] += 2 * np.array([ends[corner][side] for ends in _EDGES])[edges]
        nodes[:, 2 + corner] = node
    numbers = np.ravel_multi_index(tuple(nodes.reshape(-1, 3).T), tuple(2 * shape + 3))
    known, tets = np.unique(numbers, return_inverse=True)
    tets = tets.reshape(-1, 4).astype(np.int64)
    points = origin + np.stack(np.unravel_index(known, tuple(2 * shape + 3)), axis=1) * (cell / 2.0)
    corners = points[tets]
    is_turned = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tets[is_turned] = tets[is_turned][:, [0, 1, 3, 2]]
    return TetLattice(points, tets, surface_of(tets), cell, volume, origin, index)


def surface_of(tets: Ints) -> Ints:
    """The triangles (s, 3) that only one of some tetrahedra (t, 4) of positive volume has, with normals outwards."""
    faces = np.concatenate([tets[:, corners] for corners in FACES])
    _, first, counts = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return np.asarray(faces[np.sort(first[counts == 1])])
