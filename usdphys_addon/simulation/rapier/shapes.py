# SPDX-License-Identifier: GPL-3.0-or-later
"""Collider prims -> Rapier shapes. Scale, shear and mirroring are part of the shape; position and rotation are not."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial

import numpy as np
import rapier3d
from numpy.typing import NDArray
from rapier3d import SharedShape, TriMeshFlags

from ...core import frames, gprims, mass
from ...core.fitting import bounding_ball
from ...core.frames import Matrix
from ...core.model import Mesh, Prim, SpherePoints
from ...core.schemas import usd_geom, usd_physics
from ...core.steps import Next, Steps, finished, part
from ...core.words import phrase
from ..notices import Notices
from ..weights import Geometry
from . import rounding
from .constraints import isometry
from .matter import rounded
from .plates import MOVING_PLATE, PLATE, plate, surface
from .rounding import Placed

Points = NDArray[np.float64]
Triangles = NDArray[np.int64]

#: Rapier's cylinders and cones stand along Y; these turn Y into the axis.
_FROM_Y: dict[str, Matrix] = {
    "X": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "Y": np.eye(3),
    "Z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
}
#: Half a turn across each axis, for a mirrored cone.
_TURNED: dict[str, Matrix] = {"X": np.diag([-1.0, -1.0, 1.0]), "Y": np.diag([-1.0, -1.0, 1.0]),
                              "Z": np.diag([1.0, -1.0, -1.0])}  # fmt: skip
#: Triangles that a mesh may keep when it is to be simplified, and cells along its longest side.
SIMPLE_TRIANGLES, SIMPLE_CELLS = 512, 16
#: Thickness of a flat hull or box, relative to its extent. A box with less than FLAT of its extent counts as flat.
THIN, FLAT = 0.005, 1e-6
#: Thickness relative to the extent below which no hull is found but those of boxes and `plate`.
COPLANAR = 1e-4
#: Part of the volume of a hull by which a mesh may have less, or more, and be its hull.
CONVEX = 1e-3
#: Triangles of which the solver builds a tree in a tenth of a second, and that are looked at in one step here.
MANY_TRIANGLES, TOGETHER = 100_000, 100_000

#: The smallest size of a shape, m.
_SMALLEST = float(np.finfo(np.float32).tiny)

#: Points around a tapered shape.
_AROUND = 32

#: Relative to the extent of a surface: how far its open edges are put out; for surfaces of at most so many triangles.
BORDER, BORDERED = 1e-5, 20_000
#: LRU cache: hulls and decompositions are slow and are needed again at every start of the preview.
_CACHE: OrderedDict[bytes, Placed] = OrderedDict()
_CACHE_SIZE = 512


#: Primitives by kind, sizes and scale.
_GPRIMS: dict[Hashable, tuple[Placed, bool]] = {}
_GPRIMS_SIZE = 4096


class ShapeError(ValueError):
    """No shape can be made. The message completes "... does not collide: "."""


def shape_of(prim: Prim, geometry: Geometry, rotation: Matrix, notices: Notices, *, moves: bool) -> Placed | None:
    """The shape of a collider with its place in the prim's frame without scale, or None with a notice.

    geometry: of the prim, loaded. rotation: (3, 3) of the prim without its scale. moves: it is part of a body.
    """
    return finished(shape_steps(prim, geometry, rotation, notices, moves=moves))


def shape_steps(
    prim: Prim, geometry: Geometry, rotation: Matrix, notices: Notices, *, moves: bool
) -> Steps[Placed | None]:  # fmt: skip
    """`shape_of` in steps. What the solver makes of many triangles in one call is one step, said before it."""
    try:
        gprim = prim.get(usd_geom.Gprim)
        if gprim is not None:
            return _gprim(prim, gprim, rotation, notices, moves)
        return (yield from _geometry(prim, geometry, rotation, notices, moves))
    except ShapeError as error:
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: {error}.")
    except rapier3d.MeshConversionError as error:
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: its mesh gives no shape ({error}).")
    return None


# --------------------------------------------------------------------------- primitives


def _gprim(prim: Prim, gprim: usd_geom.Gprim, rotation: Matrix, notices: Notices, moves: bool) -> Placed | None:
    if isinstance(gprim, usd_geom.Plane):
        return _plane(prim, rotation, notices, moves)
    # Of most scenes, many are equal, wherever they are.
    values = tuple(repr(getattr(gprim, attribute.field)) for attribute in gprim.attributes)
    taper = mass.taper_of(prim)
    if taper is not None:
        points = _tapered(gprim, *taper) @ (rotation.T @ prim.world[:3, :3]).T
        if not np.isfinite(points).all():
            raise ShapeError("it is scaled to nothing")
        return _convex(points, moves)
    key = (type(gprim), values, rounded(rotation.T @ prim.world[:3, :3]))
    known = _GPRIMS.get(key)
    if known is None:
        if len(_GPRIMS) >= _GPRIMS_SIZE:
            _GPRIMS.clear()
        known = _GPRIMS[key] = _primitive(prim, gprim)
    placed, uneven = known
    if uneven:
        notices.add(
            "ShearedCollider", prim,
            f"{prim.display} is a {type(gprim).__name__.lower()} whose scale is uneven or sheared; the nearest "
            "shape of its kind is simulated.",
        )  # fmt: skip
    return placed


def _tapered(gprim: usd_geom.Gprim, bottom: float, top: float) -> Points:
    """Points whose hull is a tapered capsule or cylinder, in the space of its prim."""
    sizes = gprims.sizes(gprim)
    turns = np.linspace(0.0, 2.0 * math.pi, _AROUND, endpoint=False)
    lifts = np.linspace(-0.5 * math.pi, 0.5 * math.pi, _AROUND // 2 + 1)
    if sizes.kind is usd_geom.Cylinder:
        lifts = np.zeros(1)
    turns, lifts = (grid.ravel() for grid in np.meshgrid(turns, lifts))
    ball = np.stack([np.cos(turns) * np.cos(lifts), np.sin(lifts), np.sin(turns) * np.cos(lifts)], axis=1)
    half = np.array([0.0, sizes.height / 2.0, 0.0])
    return np.asarray(np.concatenate([ball * bottom - half, ball * top + half]) @ _FROM_Y[sizes.axis].T, float)


def _plane(prim: Prim, rotation: Matrix, notices: Notices, moves: bool) -> Placed | None:
    gprim = prim.get(usd_geom.Gprim)
    assert gprim is not None
    sizes = gprims.sizes(gprim, _scale_of(prim))
    if moves:
        notices.add("PlaneMoves", prim, f"{prim.display} is an infinite plane on a moving body; it is left out.")
        return None
    # Inverse transpose: the normal stays perpendicular to the plane under shear.
    axis = np.linalg.inv(prim.world[:3, :3]).T @ np.eye(3)[sizes.spine]
    axis = rotation.T @ (axis / np.linalg.norm(axis))
    return SharedShape.halfspace(tuple(axis.tolist())), None, None


def _scale_of(prim: Prim) -> Matrix:
    scale: Matrix = np.abs(frames.scale_of(prim.world))
    if not np.isfinite(scale).all() or frames.determinant(prim.world) == 0.0:
        raise ShapeError("it is scaled to nothing")
    return scale


def _primitive(prim: Prim, gprim: usd_geom.Gprim) -> tuple[Placed, bool]:
    """(shape with its place, True if the scale of the prim gives no shape of its kind)"""
    signed = frames.scale_of(prim.world)
    scale = _scale_of(prim)
    sizes = gprims.sizes(gprim, scale)
    uneven = frames.is_sheared(prim.world)
    turn: Matrix | None = None
    center: Matrix | None = None
    if sizes.kind is usd_geom.Cube:
        shape = SharedShape.cuboid(*_positive(*(edge / 2.0 for edge in sizes.edges)))
    elif sizes.kind is usd_geom.Sphere:
        uneven |= not frames.is_uniform(scale)
        shape = SharedShape.ball(*_positive(sizes.radius))
    else:
        uneven |= not frames.is_uniform(np.delete(scale, sizes.spine))
        half_height = sizes.height / 2.0
        turn = _FROM_Y[sizes.axis]
        if sizes.kind is usd_geom.Capsule:
            shape = SharedShape.capsule_y(half_height, *_positive(sizes.radius))
        elif sizes.kind is usd_geom.Cylinder:
            shape = rounding.cylinder(*_positive(half_height, sizes.radius))
        else:
            shape, up = rounding.cone(*_positive(half_height, sizes.radius))
            if signed[0] < 0:
                turn = _TURNED[sizes.axis] @ turn
            center = turn @ (0.0, up, 0.0)
    return (shape, center, turn), uneven


def _positive(*sizes: float) -> tuple[float, ...]:
    """Raises ShapeError for sizes that are no number, or zero in the solver's single precision."""
    if not all(_SMALLEST <= size < math.inf for size in sizes):
        raise ShapeError("one of its sizes is zero or not a number")
    return sizes


# --------------------------------------------------------------------------- meshes and points


def _geometry(
    prim: Prim, geometry: Geometry, rotation: Matrix, notices: Notices, moves: bool
) -> Steps[Placed | None]:  # fmt: skip
    if geometry is None:
        notices.add("ColliderWithoutGeometry", prim, f"{prim.display} is a collider without geometry.")
        return None
    stretch = rotation.T @ prim.world[:3, :3]
    if isinstance(geometry, SpherePoints):
        return _balls(geometry, stretch, float(np.abs(frames.scale_of(prim.world)).max())), None, None
    options = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if options is None else options.resolved("approximation")
    other = None if options is None else options.approximation
    if other not in (None, approximation):
        notices.add(
            "ApproximationOther", prim,
            f"{prim.display} collides as '{other}', which the preview does not know; its triangles are "
            "simulated.",
        )  # fmt: skip
    # Meshes are shared by many colliders, most of them of the same size.
    key = (_of_mesh, approximation, moves, stretch.tobytes())
    known: tuple[Placed, bool] | None = geometry.derived.get(key)
    if known is None:
        steps = _of_mesh(geometry, stretch, approximation, moves)
        known = geometry.derived[key] = yield from _about(prim, steps)
    placed, is_flat = known
    if is_flat:
        notices.add("FlatCollider", prim, f"{prim.display} is flat; a thin shape is simulated.")
    return placed


def _about(prim: Prim, steps: Steps[tuple[Placed, bool]]) -> Steps[tuple[Placed, bool]]:
    """Steps that name the prim where they say what is made."""
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            made: tuple[Placed, bool] = done.value
            return made
        if isinstance(fraction, Next):
            fraction = Next(
                fraction, phrase("{name}: {what}", name=f"'{prim.label or prim.path}'", what=fraction.about)
            )
        yield fraction


def _of_mesh(geometry: Mesh, stretch: Matrix, approximation: str, moves: bool) -> Steps[tuple[Placed, bool]]:
    """(shape with its pose, True if the mesh is flat and was thickened)"""
    if not len(geometry.points) or not np.isfinite(geometry.points).all():
        raise ShapeError("its mesh has no usable points")
    mesh = geometry.stretched(stretch)
    points, triangles = mesh.points, np.asarray(geometry.triangles, np.int64).reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    if approximation == "boundingCube":
        extent = float((high - low).max())
        is_flat = bool((high - low).min() <= FLAT * extent)
        if is_flat:
            solid = _thickened(Mesh(points, triangles)).points
            low, high = solid.min(axis=0), solid.max(axis=0)
        # Points in a line have no side from which to thicken.
        half = np.maximum((high - low) / 2.0, THIN * extent / 2.0 if is_flat else 0.0)
        return (SharedShape.cuboid(*_positive(*half.tolist())), (low + high) / 2.0, None), is_flat
    if approximation == "boundingSphere":
        middle, radius = bounding_ball(points)
        return (SharedShape.ball(*_positive(radius)), middle, None), False
    mesh = Mesh(points, triangles, mesh.derived)
    yield 0.0
    # Of these steps nothing is to be done again for the hull.
    if moves and approximation not in _CONVEX and (yield from part(_is_convex(mesh), 0.0, 0.0)):
        # A triangle of a moving body that lies on a floor meets it with its edges, too, and is pushed aside there.
        approximation = "convexHull"
    placed = None
    for make in _CONVEX.get(approximation, ()):
        if placed is None:
            placed = yield from _cached(f"{make.__name__} {moves}", mesh, partial(make, moves))
    if approximation not in _CONVEX:
        placed = yield from _cached(
            approximation, mesh, _simplified if approximation == "meshSimplification" else _trimesh
        )
    if placed is not None:
        return placed, False
    placed = yield from _cached(f"thin {approximation}", mesh, lambda flat: _hull(moves, _thickened(flat)))
    if placed is None:
        raise ShapeError("all its points are in a line")
    return placed, True


def _cached(name: str, mesh: Mesh, make: Callable[[Mesh], Steps[Placed | None]]) -> Steps[Placed | None]:
    """make(mesh), in steps, cached by name and contents of the mesh."""
    key = hashlib.blake2b(name.encode(), digest_size=16)
    key.update(mesh.points.tobytes())
    key.update(mesh.triangles.tobytes())
    known = _CACHE.get(key.digest())
    if known is not None:
        _CACHE.move_to_end(key.digest())
        return known
    placed = yield from make(mesh)
    if placed is not None:
        _CACHE[key.digest()] = placed
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return placed


def _balls(points: SpherePoints, stretch: Matrix, scale: float) -> SharedShape:
    usable = np.isfinite(points.centers).all(axis=1) & np.isfinite(points.radii) & (points.radii > 0.0)
    if not usable.any():
        raise ShapeError("none of its points has a width")
    centers, radii = points.centers[usable] @ stretch.T, points.radii[usable] * scale
    parts = [
        (rapier3d.Isometry3(tuple(center)), SharedShape.ball(radius))
        for center, radius in zip(centers.tolist(), radii.tolist(), strict=True)
    ]
    return SharedShape.compound(parts)


def _hull(moves: bool, mesh: Mesh) -> Steps[Placed | None]:
    """The convex hull; None if the points are coplanar. Raises ShapeError if they coincide."""
    box = _thin_box(mesh)
    if box is not None:
        return box
    points = yield from _solid(mesh)
    return plate(mesh.points[(yield from mass.support_points_of(mesh))]) if points is None else _convex(points, moves)


def _convex(points: Points, moves: bool) -> Placed:
    """The hull of points that are not near one plane. Pieces of plates that move catch on each other's seams."""
    whole = None if moves else surface(points)
    if whole is not None:
        return triangles(*whole), None, None
    shape = plate(points, MOVING_PLATE if moves else PLATE) or rounding.hull(points, moves) or plate(points)
    if shape is None:
        corners, faces = SharedShape.convex_hull(points).as_convex_polyhedron().to_trimesh()
        shape = triangles(corners, faces), None, None
    return shape


def _thin_box(mesh: Mesh) -> Placed | None:
    """The box that a mesh is. The hull of a thin one is not found, and as a flat mesh it would get too thick."""
    box = rounding.exact_box(mesh.points)
    if box is None or min(box[0].as_cuboid().half_extents) < FLAT * float(np.ptp(mesh.points, axis=0).max()):
        return None
    return box


def _solid(mesh: Mesh) -> Steps[Points | None]:
    """The points of a hull; None if they are coplanar. Raises ShapeError if they coincide."""
    extent = np.ptp(mesh.points, axis=0)
    if extent.max() == 0.0:
        raise ShapeError("all its points are in one place")
    points = mesh.points[(yield from mass.support_points_of(mesh))]
    away = points - points.mean(axis=0)
    # Thickness across the best plane through the points.
    normal = np.linalg.svd(away[:, :3].T @ away)[0][:, 2]
    if float(np.ptp(away @ normal)) < COPLANAR * float(extent.max()):
        return None
    return np.asarray(points, float)


def _is_convex(mesh: Mesh) -> Steps[bool]:
    """True for a closed surface that its hull has, too."""
    points = yield from _solid(mesh)
    if points is None or not len(mesh.triangles):
        return False
    corners, faces = SharedShape.convex_hull(points).as_convex_polyhedron().to_trimesh()
    whole = _volume(np.asarray(corners, float), np.asarray(faces, np.int64))
    return abs(_volume(mesh.points, mesh.triangles) - whole) < CONVEX * whole


def _volume(points: Points, corners: Triangles) -> float:
    """m3, within a closed surface; with that below its holes as seen from the middle left out."""
    return abs(float(np.linalg.det(points[corners] - points.mean(axis=0)).sum())) / 6.0


def _thickened(mesh: Mesh) -> Mesh:
    """Flat points extruded against the mean normal of the triangles; to both sides where these are on both."""
    away = mesh.points - mesh.points.mean(axis=0)
    normal = np.linalg.svd(away.T @ away)[0][:, 2]
    if len(mesh.triangles):
        a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
        across = np.cross(b - a, c - a) @ normal
        if float(across.sum()) < 0.0:
            normal = -normal
        if abs(float(across.sum())) < 0.5 * float(np.abs(across).sum()):
            half = 0.5 * THIN * float(np.ptp(mesh.points, axis=0).max()) * normal
            return Mesh(np.concatenate((mesh.points + half, mesh.points - half)), mesh.triangles)
    down = -THIN * float(np.ptp(mesh.points, axis=0).max()) * normal
    return Mesh(np.concatenate((mesh.points, mesh.points + down)), mesh.triangles)


def _trimesh(mesh: Mesh) -> Steps[Placed]:
    used = (yield from part(_without_slivers(mesh), 0.0, 0.5)).astype(np.uint32)
    if len(used) > MANY_TRIANGLES:
        yield Next(0.5, phrase("a search tree of {count} triangles", count=f"{len(used):,}"))
    points = mesh.points if len(used) > BORDERED else with_borders(mesh.points, used)
    return triangles(points, used), None, None


def with_borders(points: Points, corners: NDArray[np.integer]) -> Points:
    """Points (n, 3) of a surface of triangles (m, 3) whose open edges are put out by BORDER of its extent.

    Exactly over the line at which two surfaces meet, the solver finds neither of them.
    """
    places, merged = np.unique(points.astype(np.float32), axis=0, return_inverse=True)
    around = merged.reshape(-1)[corners.astype(np.int64)]
    # Each edge with the corner opposite to it.
    first, second, opposite = (np.roll(around, -shift, axis=1).ravel() for shift in range(3))
    edges = np.sort(np.stack([first, second], axis=1), axis=1)
    _, which, counts = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    is_open = counts[which.reshape(-1)] == 1
    if not is_open.any():
        return points
    a, b, c = (places[each[is_open]].astype(float) for each in (first, second, opposite))
    along = b - a
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
    out = a - c
    out -= along * (out * along).sum(axis=1, keepdims=True)
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-30)
    sums = np.zeros((len(places), 3))
    for end in (first, second):
        np.add.at(sums, end[is_open], out)
    # Of two edges that meet each is put out by as much; where they point against each other, by nothing.
    squares = (sums * sums).sum(axis=1, keepdims=True)
    moved = np.where(squares > 0.5, 2.0 * sums / np.maximum(squares, 0.5), 0.0)
    return points + BORDER * float(np.ptp(places, axis=0).max()) * moved[merged.reshape(-1)]


def triangles(points: Points, corners: NDArray[np.integer]) -> SharedShape:
    """A surface of triangles, whose inner edges do not trip what slides over them, on whichever side it is.

    Points in one place are merged, so edges between triangles that share no points count as inner ones, too.
    """
    return SharedShape.trimesh(points, corners, TriMeshFlags.FIX_INTERNAL_EDGES_TWO_SIDED)


def _without_slivers(mesh: Mesh) -> Steps[Triangles]:
    """The triangles with an area, and with three corners in the solver. Raises ShapeError if there are none."""
    kept = [np.zeros((0, 3), np.int64)]
    # As the solver rounds them.
    rounded_points = mesh.points.astype(np.float32)
    for start in range(0, len(mesh.triangles), TOGETHER):
        some = mesh.triangles[start : start + TOGETHER]
        a, b, c = np.moveaxis(mesh.points[some], 1, 0)
        corners = rounded_points[some]
        apart = (corners != np.roll(corners, 1, axis=1)).any(axis=2).all(axis=1)
        kept.append(some[apart & (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0)])
        yield start / len(mesh.triangles)
    used: Triangles = np.concatenate(kept)
    if not len(used):
        raise ShapeError("its mesh has no faces")
    return used


def decomposition(mesh: Mesh) -> SharedShape | None:
    """Convex decomposition by Rapier's VHACD; None if the mesh is flat or a plate. Raises ShapeError without faces."""
    plain = finished(_plain(mesh))
    return None if plain is None else plain[0]


def _plain(mesh: Mesh) -> Steps[Placed | None]:
    used = yield from part(_without_slivers(mesh), 0.0, 0.2)
    if (yield from part(_solid(mesh), 0.2, 0.4)) is None or _is_plate(mesh):
        return None
    yield Next(0.4, phrase("convex parts of {count} triangles", count=f"{len(used):,}"))
    return SharedShape.convex_decomposition(mesh.points, used.astype(np.uint32)), None, None


def _is_plate(mesh: Mesh) -> bool:
    """True for a thin prism, of which the solver's parts would be too thick: not where it has holes or notches."""
    whole = surface(mesh.points)
    if whole is None:
        return False
    volumes = [_volume(points, triangles) for points, triangles in (whole, (mesh.points, mesh.triangles))]
    return volumes[1] > 0.99 * volumes[0]


def _parts(moves: bool, mesh: Mesh) -> Steps[Placed | None]:
    """Convex parts, in forms whose contacts the solver finds."""
    plain = yield from _cached("plainParts", mesh, _plain)
    compound = None if plain is None else plain[0].as_compound()
    if compound is None:
        return plain
    parts = []
    for place, each in compound.shapes():
        piece = each.as_convex_polyhedron()
        corners = None if piece is None else np.asarray(piece.points, float)
        placed = None
        if corners is not None:
            placed = _convex(corners, moves)
            # Triangles cannot be a part of parts.
            placed = placed if placed[0].as_trimesh() is None else rounding.hull(corners)
        shape, center, turn = (each, None, None) if placed is None else placed
        if center is not None:
            place = place * isometry(frames.transform(center, turn))
        flat = shape.as_compound()
        parts += [(place, shape)] if flat is None else [(place * here, thin) for here, thin in flat.shapes()]
        yield 0.9
    if not parts:
        raise ShapeError("it cannot be split into convex parts")
    return SharedShape.compound(parts), None, None


def box_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> Matrix | None:
    """Edges (3,), m, of the box that is simulated for a mesh, a flat one thickened; None if it is no box."""
    placed = shape_of(prim, geometry, rotation, Notices(), moves=True)
    box = None if placed is None else placed[0].as_cuboid()
    return None if box is None else 2.0 * np.array(box.half_extents.to_tuple(), float)


def surfaces_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> list[tuple[Points, Triangles]]:
    """Points (n, 3) and triangles (m, 3) of the shapes of a mesh in the prim's frame without scale, not rounded.

    rotation: (3, 3) of the prim without its scale. Empty where there is no shape.
    """
    options = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if options is None else options.resolved("approximation")
    placed: Placed | None = None
    if approximation in ("convexHull", "convexDecomposition") and np.isfinite(geometry.points).all():
        mesh = Mesh(np.asarray(geometry.points, float) @ (rotation.T @ prim.world[:3, :3]).T, geometry.triangles)
        try:
            if approximation == "convexDecomposition":
                placed = finished(_cached("plainParts", mesh, _plain))
            if placed is None and (box := _thin_box(mesh)) is not None:
                shape, center, turn = box
                corners, faces = shape.as_cuboid().to_trimesh()
                turned = np.asarray(corners, float) @ (np.eye(3) if turn is None else turn).T
                return [(turned if center is None else turned + center, np.asarray(faces, np.int64).reshape(-1, 3))]
            if placed is None and (thin := surface(mesh.points[finished(mass.support_points_of(mesh))])) is not None:
                return [thin]
            if placed is None:
                points = finished(_solid(mesh))
                placed = SharedShape.convex_hull(_thickened(mesh).points if points is None else points), None, None
        except (ShapeError, rapier3d.RapierError):
            return []
    else:
        placed = shape_of(prim, geometry, rotation, Notices(), moves=False)
    if placed is None:
        return []
    compound = placed[0].as_compound()
    surfaces = []
    for shape in [placed[0]] if compound is None else [each for _, each in compound.shapes()]:
        solid, mesh_shape = shape.as_convex_polyhedron(), shape.as_trimesh()
        if solid is not None:
            corners, faces = solid.to_trimesh()
        elif mesh_shape is not None:
            corners, faces = mesh_shape.vertices, mesh_shape.indices
        else:
            continue
        surfaces.append((np.asarray(corners, float), np.asarray(faces, np.int64).reshape(-1, 3)))
    return surfaces


def _simplified(mesh: Mesh) -> Steps[Placed]:
    """Vertex clustering on the finest grid that gives at most SIMPLE_TRIANGLES triangles."""
    if len(mesh.triangles) <= SIMPLE_TRIANGLES:
        return (yield from _trimesh(mesh))
    low, extent = mesh.points.min(axis=0), float(np.ptp(mesh.points, axis=0).max())
    cells, triangles, points = SIMPLE_CELLS, mesh.triangles, mesh.points
    while cells > 2:
        places = np.floor((mesh.points - low) / extent * cells).astype(np.int64)
        wide = cells + 1
        numbers = (places[:, 0] * wide + places[:, 1]) * wide + places[:, 2]
        yield 0.2
        used = np.flatnonzero(np.bincount(numbers, minlength=wide**3))
        cluster = np.searchsorted(used, np.arange(wide**3))[numbers]
        sizes = np.bincount(cluster)
        points = np.stack([np.bincount(cluster, column) for column in mesh.points.T], axis=1) / sizes[:, None]
        yield 0.4
        kept_triangles = [np.zeros((0, 3), np.int64)]
        for start in range(0, len(mesh.triangles), TOGETHER):
            some = cluster[mesh.triangles[start : start + TOGETHER]]
            kept_triangles.append(some[(some != np.roll(some, 1, axis=1)).all(axis=1)])
            yield 0.6
        triangles = np.concatenate(kept_triangles)
        a, b, c = np.sort(triangles, axis=1).T
        _, first = np.unique((a * len(used) + b) * len(used) + c, return_index=True)
        triangles = triangles[np.sort(first)]
        if len(triangles) <= SIMPLE_TRIANGLES:
            break
        cells = cells * 3 // 4
        yield 0.8
    return (yield from _trimesh(Mesh(points, triangles)))


#: Makers of convex shapes by approximation, one after the other until one finds a shape.
_CONVEX: dict[str, tuple[Callable[[bool, Mesh], Steps[Placed | None]], ...]] = {
    "convexHull": (_hull,), "convexDecomposition": (_parts, _hull),
}  # fmt: skip
