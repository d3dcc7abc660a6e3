# SPDX-License-Identifier: GPL-3.0-or-later
"""Collider prims -> MuJoCo's geoms: primitives, hulls, and a prism for each triangle of a static mesh."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames, gprims
from ...core.errors import InputError, MissingDependencyError
from ...core.fitting import Surface, bounding_ball, bounding_box, hull
from ...core.frames import Matrix
from ...core.mass import taper_of
from ...core.model import Mesh, Prim, SpherePoints
from ...core.schemas import usd_geom, usd_physics
from ..engine import preview_engine
from ..notices import Notices
from ..weights import Geometry

Points = NDArray[np.float64]
#: Relative: volumes that are nearer are the same.
SAME_VOLUME = 1e-4
#: Triangles of a static mesh that collide each as a prism. Above, its parts or its hull do.
MOST_PRISMS = 2000
#: Convex parts of any other mesh without an approximation.
MOST_PARTS = 32
#: Depth of a prism, of the side of a square of its area, and the size of its lower end.
DEEP, NARROW = 0.5, 0.5
#: Thickness of a flat hull, relative to its extent; below FLAT it counts as flat.
THIN, FLAT = 0.005, 1e-5
_AROUND = 128
_ALONG = {"X": (0.0, 1.0, 0.0), "Y": (-1.0, 0.0, 0.0)}
_TYPES = mujoco.mjtGeom
#: Approximations that the shapes of the other engine of this process give.
_BY_PARTS = ("convexDecomposition", "none", "meshSimplification", "sdf", "sphereFill")


class Shape(NamedTuple):
    """One geom. place: (4, 4) in the prim's frame without scale. points: (n, 3), whose hull it is."""

    kind: Any
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    place: Matrix = np.eye(4)
    points: Points | None = None


def shapes_of(prim: Prim, geometry: Geometry, rotation: Matrix, notices: Notices, *, moves: bool) -> list[Shape]:
    """The geoms of a collider; none with a notice. rotation: (3, 3) of the prim without its scale."""
    stretch = rotation.T @ prim.world[:3, :3]
    gprim = prim.get(usd_geom.Gprim)
    if not np.isfinite(prim.world).all() or abs(frames.determinant(prim.world)) == 0.0:
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: it is scaled to nothing.")
        return []
    if gprim is not None:
        return _gprim(prim, gprim, rotation, stretch, notices, moves)
    if isinstance(geometry, SpherePoints):
        return _balls(geometry, stretch)
    if not isinstance(geometry, Mesh) or not len(geometry.points) or not np.isfinite(geometry.points).all():
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: its mesh has no usable points.")
        return []
    return _mesh(prim, geometry, rotation, stretch, notices, moves)


def _turned(axis: str) -> Matrix:
    """(4, 4) that turns Z, along which MuJoCo's round shapes stand, into an axis."""
    place = np.eye(4)
    if axis in _ALONG:
        place[:3, :3] = frames.matrix_of(frames.turn_by(np.array(_ALONG[axis]) * (math.pi / 2.0)))
    return place


def _gprim(
    prim: Prim, gprim: usd_geom.Gprim, rotation: Matrix, stretch: Matrix, notices: Notices, moves: bool
) -> list[Shape]:
    if isinstance(gprim, usd_geom.Plane):
        if moves:
            notices.add("PlaneMoves", prim, f"{prim.display} is an infinite plane on a moving body; it is left out.")
            return []
        sizes = gprims.sizes(gprim)
        axis = np.linalg.inv(stretch).T @ np.eye(3)[sizes.spine]
        place = np.eye(4)
        # Of the complement of the normal, with the normal as the third.
        first = np.linalg.svd(axis[None, :])[2][1]
        place[:3, :3] = np.stack([first, np.cross(axis, first), axis], axis=1)
        place[:3, :3] /= np.linalg.norm(place[:3, :3], axis=0)
        return [Shape(_TYPES.mjGEOM_PLANE, (0.0, 0.0, 1.0), place)]
    if taper_of(prim) is not None or isinstance(gprim, usd_geom.Cone):
        return [_hull(_round(gprim, *(taper_of(prim) or _cone(gprim))) @ stretch.T)]
    scale = np.abs(frames.scale_of(prim.world))
    sizes = gprims.sizes(gprim, scale)
    if frames.is_sheared(prim.world) or (sizes.kind is usd_geom.Sphere and not frames.is_uniform(scale)):
        notices.add(
            "ShearedCollider", prim,
            f"{prim.display} is a {type(gprim).__name__.lower()} whose scale is uneven or sheared; the nearest "
            "shape of its kind is simulated.",
        )  # fmt: skip
    if sizes.kind is usd_geom.Cube:
        x, y, z = (edge / 2.0 for edge in sizes.edges)
        return [Shape(_TYPES.mjGEOM_BOX, (x, y, z))]
    if sizes.kind is usd_geom.Sphere:
        return [Shape(_TYPES.mjGEOM_SPHERE, (sizes.radius, 0.0, 0.0))]
    kind = _TYPES.mjGEOM_CAPSULE if sizes.kind is usd_geom.Capsule else _TYPES.mjGEOM_CYLINDER
    return [Shape(kind, (sizes.radius, sizes.height / 2.0, 0.0), _turned(sizes.axis))]


def _cone(gprim: usd_geom.Gprim) -> tuple[float, float]:
    return gprims.sizes(gprim).radius, 0.0


def _round(gprim: usd_geom.Gprim, bottom: float, top: float) -> Points:
    """Points whose hull is a cone, or a tapered capsule or cylinder, in the space of its prim."""
    sizes = gprims.sizes(gprim)
    turns = np.linspace(0.0, 2.0 * math.pi, _AROUND, endpoint=False)
    lifts = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 9) if sizes.kind is usd_geom.Capsule else np.zeros(1)
    turns, lifts = (grid.ravel() for grid in np.meshgrid(turns, lifts))
    ball = np.stack([np.cos(turns) * np.cos(lifts), np.sin(turns) * np.cos(lifts), np.sin(lifts)], axis=1)
    half = np.array([0.0, 0.0, sizes.height / 2.0])
    points = np.concatenate([ball * bottom - half, ball * top + half])
    return np.asarray(points @ _turned(sizes.axis)[:3, :3].T, float)


def _balls(points: SpherePoints, stretch: Matrix) -> list[Shape]:
    scale = float(np.cbrt(abs(np.linalg.det(stretch))))
    found = []
    for center, radius in zip(points.centers @ stretch.T, points.radii * scale, strict=True):
        if np.isfinite(center).all() and radius > 0.0:
            found.append(Shape(_TYPES.mjGEOM_SPHERE, (float(radius), 0.0, 0.0), frames.transform(center, np.eye(3))))
    return found


def _hull(points: Points) -> Shape:
    return Shape(_TYPES.mjGEOM_MESH, points=points)


def _mesh(prim: Prim, geometry: Mesh, rotation: Matrix, stretch: Matrix, notices: Notices, moves: bool) -> list[Shape]:
    api = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if api is None else api.resolved("approximation")
    points = np.asarray(geometry.points, float) @ stretch.T
    middle, half = bounding_box(points, THIN)
    if not half.any():
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: all its points are in one place.")
        return []
    if approximation == "boundingCube":
        x, y, z = half.tolist()
        return [Shape(_TYPES.mjGEOM_BOX, (x, y, z), frames.transform(middle, np.eye(3)))]
    if approximation == "boundingSphere":
        middle, radius = bounding_ball(points)
        return [Shape(_TYPES.mjGEOM_SPHERE, (radius, 0.0, 0.0), frames.transform(middle, np.eye(3)))]
    if approximation in _BY_PARTS:
        found = _parts(prim, geometry, rotation, points, notices, moves, approximation)
        if found:
            return found
    solid = _solid(points, prim, notices)
    return [] if solid is None else [_hull(solid)]


def _parts(
    prim: Prim, geometry: Mesh, rotation: Matrix, points: Points, notices: Notices, moves: bool, approximation: str
) -> list[Shape]:
    """Convex parts, or prisms; none where the hull is to collide."""
    triangles = np.asarray(geometry.triangles, np.int64).reshape(-1, 3)
    if approximation != "convexDecomposition" and not moves:
        if _is_convex(points, triangles):
            return []  # its hull is the same, and nothing that slides over it trips on the edges of prisms
        if len(triangles) <= MOST_PRISMS:
            return [_hull(corners) for corners in prisms(points, triangles)]
        notices.add(
            "EngineLimits", prim,
            f"MuJoCo collides with convex shapes only: {prim.display} has {len(triangles)} triangles, more than "
            f"{MOST_PRISMS}, so its convex parts collide.",
        )  # fmt: skip
    elif approximation != "convexDecomposition":
        notices.add(
            "EngineLimits",
            prim,
            f"MuJoCo collides with convex shapes only: {prim.display} moves, so its convex parts collide.",
        )
    found: list[Points] = []
    with suppress(InputError, MissingDependencyError):
        engine = preview_engine()
        if approximation == "convexDecomposition":
            found = [part for part, _ in engine.surfaces_of(prim, geometry, rotation)]
        else:
            found = [np.asarray(part.points) for part in engine.decompose(Surface(points, triangles), MOST_PARTS)]
    found = [part for part in found if _thickness(part) > FLAT]
    if not found:
        notices.add("EngineLimits", prim, f"{prim.display} has no convex parts here: its convex hull collides.")
    return [_hull(part) for part in found]


def _is_convex(points: Points, triangles: NDArray[np.int64]) -> bool:
    """Whether triangles (m, 3) enclose what the hull of their points (n, 3) does."""
    whole = hull(points) if _thickness(points) > FLAT else None
    return whole is not None and abs(Surface(points, triangles).volume - whole.volume) < SAME_VOLUME * whole.volume


def _thickness(points: Points) -> float:
    """Of the extent, across the best plane through points."""
    if len(points) < 4:
        return 0.0
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(spread[-1] / spread[0]) if spread[0] > 0.0 else 0.0


def _solid(points: Points, prim: Prim, notices: Notices) -> Points | None:
    """Points with a hull that has a volume: flat ones are thickened. None with a notice for points in a line."""
    if _thickness(points) > FLAT:
        return points
    away = points - points.mean(axis=0)
    _, spread, axes = np.linalg.svd(away, full_matrices=True)
    if len(points) < 3 or spread[1] < FLAT * spread[0]:
        notices.add("MeshUnusable", prim, f"{prim.display} does not collide: all its points are in a line.")
        return None
    notices.add("FlatCollider", prim, f"{prim.display} is flat; a thin shape is simulated.")
    half = 0.5 * THIN * float(np.ptp(points, axis=0).max()) * axes[2]
    return np.concatenate((points + half, points - half))


def prisms(points: Points, triangles: NDArray[np.int64]) -> list[Points]:
    """Corners (6, 3) of a prism for each triangle with an area, narrowing against its normal."""
    corners = points[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(across, axis=1)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    found = []
    for number in np.flatnonzero(sizes > 1e-6 * longest**2):
        top, size = corners[number], sizes[number]
        middle = top.mean(axis=0)
        depth = DEEP * math.sqrt(size)
        below = middle + NARROW * (top - middle) - depth * across[number] / size
        found.append(np.concatenate((top, below)))
    return found
