# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as numpy arrays."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.model import Mesh

#: Object types that Blender's USD export writes as geometry that can collide.
GEOMETRY_TYPES = frozenset({"MESH", "META", "FONT", "SURFACE", "CURVE"})


def vertices_of(obj: bpy.types.Object) -> NDArray[np.float64]:
    """Vertices (n, 3) of an evaluated object in its own space, Blender units; empty where it has no mesh."""
    mesh = obj.data if obj.type == "MESH" else None
    if not isinstance(mesh, bpy.types.Mesh):
        return np.zeros((0, 3))
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def read_mesh(obj: bpy.types.Object, meters: float) -> Mesh | None:
    """Mesh of an evaluated object of any kind, in its own space, times `meters`; None where it has no faces."""
    mesh = obj.to_mesh()
    if mesh is None:
        return None
    try:
        mesh.calc_loop_triangles()
        points = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", points)
        triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    finally:
        obj.to_mesh_clear()
    if not len(triangles):
        return None
    return Mesh(points.reshape(-1, 3).astype(float) * meters, triangles.reshape(-1, 3).astype(np.int64))
