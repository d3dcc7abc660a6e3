# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes and places of gprims: in scaled spaces, by axis, as half extents."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import frames
from .primitives import Primitive
from .schemas import usd_geom

#: Along which axes (0: x) the width and the length of a plane run, by its normal. Source: UsdGeomPlane.
PLANE_AXES = {"X": (2, 1), "Y": (0, 2), "Z": (0, 1)}


def placed_gprim(shape: Primitive, world: frames.Matrix, meters: float) -> tuple[frames.Matrix, usd_geom.Gprim]:
    """(pose below the object, schema), metres, of a primitive in the object's space, Blender units.

    Where the object's scale is uneven, and the shape no box that is aligned with it, the pose takes the scale back and
    the parameters carry it: round things cannot be scaled unevenly, nor can anything be sheared.
    """
    if shape.kind is usd_geom.Cube and shape.is_aligned and shape.survives(world):
        return _aligned_box(shape, meters)
    pose = frames.transform(shape.center * meters, shape.rotation)
    scale: Any = np.ones(3)
    lengths = np.linalg.norm(world[:3, :3] @ shape.rotation, axis=0)
    # Simulators do not agree on where a mirrored cone or plane points.
    turns_over = frames.determinant(world) < 0 and shape.kind in (usd_geom.Cone, usd_geom.Plane)
    if turns_over or not frames.is_uniform(lengths, 1e-4) or frames.is_sheared(world):
        placed = world @ pose
        rotation = frames.rotation_of(placed)
        if turns_over:
            rotation[:, [shape.axis, shape.axis - 1]] *= -1
        pose = np.asarray(np.linalg.solve(world, frames.transform(placed[:3, 3], rotation)), float)
        scale = lengths
    around = np.delete(scale, shape.axis).max()
    if shape.kind is usd_geom.Cube:
        size = shape.size * scale * meters
        if np.ptp(size) <= 1e-7 * size.max():
            return pose, usd_geom.Cube(float(size[0]))
        return pose @ frames.transform((0, 0, 0), None, size), usd_geom.Cube(1.0)
    axis = "XYZ"[shape.axis]
    if shape.kind is usd_geom.Sphere:
        return pose, usd_geom.Sphere(float(shape.radius * scale.max() * meters))
    if shape.kind is usd_geom.Plane:
        across, along = PLANE_AXES[axis]
        width, length = shape.size[across] * scale[across], shape.size[along] * scale[along]
        return pose, usd_geom.Plane(float(width * meters), float(length * meters), axis)
    height, radius = float(shape.height * scale[shape.axis] * meters), float(shape.radius * around * meters)
    if shape.kind is usd_geom.Capsule:
        return pose, usd_geom.Capsule(height, radius, axis)
    if shape.kind is usd_geom.Cylinder:
        return pose, usd_geom.Cylinder(height, radius, axis)
    return pose, usd_geom.Cone(height, radius, axis)


def _aligned_box(shape: Primitive, meters: float) -> tuple[frames.Matrix, usd_geom.Gprim]:
    """A box along the axes of the object: any scale of the object scales it rightly."""
    pose = np.eye(4)
    pose[:3, 3] = shape.center * meters
    x, y, z = (shape.size * meters).tolist()
    if max(x, y, z) - min(x, y, z) <= 1e-7 * max(x, y, z):
        return pose, usd_geom.Cube(x)
    pose[0, 0], pose[1, 1], pose[2, 2] = x, y, z
    return pose, usd_geom.Cube(1.0)


def half_extent(gprim: usd_geom.Gprim) -> tuple[float, float, float]:
    """Half the size (3,) of a gprim along x, y and z, metres."""
    if isinstance(gprim, usd_geom.Cube):
        return (gprim.resolved("size") / 2,) * 3
    if isinstance(gprim, usd_geom.Sphere):
        return (gprim.resolved("radius"),) * 3
    axis = "XYZ".index(gprim.resolved("axis"))
    if isinstance(gprim, usd_geom.Plane):
        across, along = PLANE_AXES["XYZ"[axis]]
        half = [0.0, 0.0, 0.0]
        half[across], half[along] = gprim.resolved("width") / 2, gprim.resolved("length") / 2
        return (half[0], half[1], half[2])
    radius = gprim.resolved("radius")
    half = [radius] * 3
    half[axis] = gprim.resolved("height") / 2 + (radius if isinstance(gprim, usd_geom.Capsule) else 0.0)
    return (half[0], half[1], half[2])
