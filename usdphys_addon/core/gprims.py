# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes and poses of gprims in scaled spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import frames
from .frames import vector
from .model import Prim
from .primitives import Primitive, radius_scale
from .schema import Vector
from .schemas import usd_geom

#: Indices of the axes along which a plane has its width and its length, by the index of its normal.
PLANE_AXES = ((2, 1), (0, 2), (0, 1))
#: Largest number in a transform, and largest length of a gprim, m: solvers compute with 32 bits, and square them.
LARGEST = 1e15
#: Share of its size by which a point may be off the surface of a gprim: Blender holds 32 bits.
_SAME = 1e-4
#: Points of a box.
_CORNERS = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of a gprim, not negative.

    edges: of a cube or plane along x, y and z; 0 along the normal of a plane. radius, height, axis: of round gprims;
    the height of a capsule is without its caps.
    """

    kind: type[usd_geom.Gprim]
    edges: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    height: float = 0.0
    axis: str = "Z"

    @property
    def spine(self) -> int:
        """The index of the axis."""
        return "XYZ".index(self.axis)

    def scaled(self, scale: ArrayLike) -> Sizes:
        """The sizes multiplied by a scale (3,), by the rules of the UsdPhysics parsing utilities.

        A radius is multiplied by the largest of the scales that act on it.
        """
        factors = np.abs(np.asarray(scale, float)).tolist()
        x, y, z = (edge * factor for edge, factor in zip(self.edges, factors, strict=True))
        radius = self.radius and self.radius * radius_scale(self.kind, factors, self.spine)
        return Sizes(self.kind, (x, y, z), radius, self.height * factors[self.spine], self.axis)

    @property
    def extent(self) -> Vector:
        """The edge lengths of the bounding box."""
        if self.kind in (usd_geom.Cube, usd_geom.Plane):
            return self.edges
        extent = [2.0 * self.radius] * 3
        if self.kind is not usd_geom.Sphere:
            extent[self.spine] = self.height + (2.0 * self.radius if self.kind is usd_geom.Capsule else 0.0)
        return (extent[0], extent[1], extent[2])

    def gprim(self) -> usd_geom.Gprim:
        """The gprim of these sizes; the cube has the first of the edges."""
        if self.kind is usd_geom.Cube:
            return usd_geom.Cube(self.edges[0])
        if self.kind is usd_geom.Sphere:
            return usd_geom.Sphere(self.radius)
        if self.kind is usd_geom.Plane:
            across, along = PLANE_AXES[self.spine]
            return usd_geom.Plane(self.edges[across], self.edges[along], self.axis)
        make: Any = self.kind
        return make(self.height, self.radius, self.axis)  # type: ignore[no-any-return]


def sizes(gprim: usd_geom.Gprim, scale: ArrayLike = (1.0, 1.0, 1.0)) -> Sizes:
    """The sizes of a gprim in a space with a scale (3,); unauthored attributes have their fallback."""
    kind = type(gprim)
    if kind is usd_geom.Cube:
        lengths = Sizes(kind, (abs(gprim.resolved("size")),) * 3)
    elif kind is usd_geom.Sphere:
        lengths = Sizes(kind, radius=abs(gprim.resolved("radius")))
    elif kind is usd_geom.Plane:
        axis, edges = gprim.resolved("axis"), [0.0, 0.0, 0.0]
        across, along = PLANE_AXES["XYZ".index(axis)]
        edges[across], edges[along] = abs(gprim.resolved("width")), abs(gprim.resolved("length"))
        lengths = Sizes(kind, (edges[0], edges[1], edges[2]), axis=axis)
    else:
        radius, height = abs(gprim.resolved("radius")), abs(gprim.resolved("height"))
        lengths = Sizes(kind, radius=radius, height=height, axis=gprim.resolved("axis"))
    return lengths.scaled(scale)


def of_points(kind: type[usd_geom.Gprim], points: NDArray[np.float64], axis: str) -> usd_geom.Gprim | None:
    """The gprim of a kind around the origin on whose surface all points (n, 3) of a mesh lie; None if there is none.

    axis: of round gprims and planes. A flat end of a cylinder or cone may have a point in its middle.
    """
    if not len(points) or not np.isfinite(points).all():
        return None
    spine = "XYZ".index(axis)
    sides, along = np.abs(points), points[:, spine]
    away = np.hypot(*np.delete(points, spine, axis=1).T)
    low, high = points.min(axis=0), points.max(axis=0)
    reaches, radius, half = sides.max(axis=0), float(away.max()), float(sides[:, spine].max())
    size = float(reaches.max())
    if kind in (usd_geom.Cube, usd_geom.Plane):
        edges = 2.0 * (np.full(3, size) if kind is usd_geom.Cube else reaches)
        off = np.abs(edges / 2.0 - sides).max(axis=1)
        lengths = Sizes(kind, vector(edges), axis=axis)
        balance = low + high
    else:
        # Points of whole circles have the axis in their middle.
        balance = points.mean(axis=0)
        balance[spine] = low[spine] + high[spine]
        lengths = Sizes(kind, radius=radius, height=2.0 * half, axis=axis)
    if kind is usd_geom.Sphere:
        reach_of = np.linalg.norm(points, axis=1)
        lengths = Sizes(kind, radius=float(reach_of.max()))
        off = lengths.radius - reach_of
    elif kind is usd_geom.Capsule:
        lengths = Sizes(kind, radius=radius, height=max(2.0 * (half - radius), 0.0), axis=axis)
        off = np.hypot(away, np.maximum(sides[:, spine] - lengths.height / 2.0, 0.0)) - radius
    elif kind in (usd_geom.Cylinder, usd_geom.Cone):
        is_cone = kind is usd_geom.Cone
        rim = radius * (half - along) / (2.0 * half) if is_cone and half else np.full(len(points), radius)
        to_end = np.abs(half + along) if is_cone else half - sides[:, spine]
        off = np.minimum(np.abs(rim - away), np.maximum(to_end, away))
    # The corners of any box lie on a sphere, and those of a square one on a cylinder.
    if kind in (usd_geom.Sphere, usd_geom.Capsule, usd_geom.Cylinder) and len(points) <= _CORNERS:
        return None
    is_it = size > 0.0 and max(np.abs(off).max(), np.abs(balance).max()) <= _SAME * size
    return lengths.gprim() if is_it else None


def reach(prim: Prim) -> tuple[float, float]:
    """(largest number in the transform of a prim, largest length of its gprim), m; NaN if there is any."""
    gprim = prim.get(usd_geom.Gprim)
    lengths = Sizes(usd_geom.Gprim) if gprim is None else sizes(gprim, frames.scale_of(prim.world))
    return float(np.abs(prim.world).max()), float(np.max((*lengths.edges, lengths.radius, lengths.height)))


def placed_gprim(
    shape: Primitive, world: frames.Matrix, meters: float, *, is_tapered: bool = False
) -> tuple[frames.Matrix, usd_geom.Gprim]:
    """(matrix (4, 4) relative to the object, schema), metres, of a primitive in object space, Blender units.

    If the object's scale is uneven and the shape is not an aligned box, the matrix removes the scale and the parameters
    contain it: colliders may be neither sheared nor, if round, unevenly scaled. is_tapered: its two ends differ.
    """
    if shape.kind is usd_geom.Cube and shape.is_aligned and shape.survives(world):
        return _aligned_box(shape, meters)
    pose = frames.transform(shape.center * meters, shape.rotation)
    scale: Any = np.ones(3)
    lengths = np.linalg.norm(world[:3, :3] @ shape.rotation, axis=0)
    # Simulators disagree about the direction of a mirrored cone or plane.
    turns_over = frames.determinant(world) < 0 and (is_tapered or shape.kind in (usd_geom.Cone, usd_geom.Plane))
    if turns_over or not frames.is_uniform(lengths, 1e-4) or frames.is_sheared(world):
        placed = world @ pose
        rotation = frames.rotation_of(placed)
        if turns_over:
            rotation[:, [shape.axis, shape.axis - 1]] *= -1
        pose = np.asarray(np.linalg.solve(world, frames.transform(placed[:3, 3], rotation)), float)
        scale = lengths
    x, y, z = shape.size.tolist()
    scaled = Sizes(shape.kind, (x, y, z), shape.radius, shape.height, "XYZ"[shape.axis]).scaled(scale * meters)
    if shape.kind is usd_geom.Cube and max(scaled.edges) - min(scaled.edges) > 1e-7 * max(scaled.edges):
        return pose @ frames.transform((0, 0, 0), None, scaled.edges), usd_geom.Cube(1.0)
    return pose, scaled.gprim()


def _aligned_box(shape: Primitive, meters: float) -> tuple[frames.Matrix, usd_geom.Gprim]:
    """A box along the axes of the object: correct with any scale of the object."""
    pose = np.eye(4)
    pose[:3, 3] = shape.center * meters
    x, y, z = (shape.size * meters).tolist()
    if max(x, y, z) - min(x, y, z) <= 1e-7 * max(x, y, z):
        return pose, usd_geom.Cube(x)
    pose[0, 0], pose[1, 1], pose[2, 2] = x, y, z
    return pose, usd_geom.Cube(1.0)


def half_extent(gprim: usd_geom.Gprim) -> tuple[float, float, float]:
    """Half the size (3,) of a gprim along x, y and z, metres."""
    x, y, z = sizes(gprim).extent
    return (x / 2, y / 2, z / 2)
