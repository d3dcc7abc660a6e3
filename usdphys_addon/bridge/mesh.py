# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.model import Mesh

#: Object types that Blender's USD export writes as geometry that can collide.
GEOMETRY_TYPES = frozenset({"MESH", "META", "FONT", "SURFACE", "CURVE"})


def vertices_of(obj: bpy.types.Object) -> NDArray[np.float64]:
    """Vertices (n, 3) of an evaluated object in its own space, Blender units; (0, 3) if it has no mesh."""
    with _mesh_of(obj) as mesh:
        if mesh is None:
            return np.zeros((0, 3))
        flat = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def surface_of(obj: bpy.types.Object) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Coordinates (3 n,) in the object's own space, vertex indices of all faces, sizes of the faces; evaluated."""
    if isinstance(obj.data, bpy.types.Mesh):
        return _surface(obj.data)
    with _mesh_of(obj) as mesh:
        if mesh is None:
            return np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int32)
        return _surface(mesh)


def _surface(mesh: bpy.types.Mesh) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    vertices, loops, polygons = mesh.vertices, mesh.loops, mesh.polygons
    coordinates = np.empty(len(vertices) * 3, np.float32)
    corners, sizes = np.empty(len(loops), np.int32), np.empty(len(polygons), np.int32)
    vertices.foreach_get("co", coordinates)
    loops.foreach_get("vertex_index", corners)
    polygons.foreach_get("loop_total", sizes)
    return coordinates, corners, sizes


def has_faces(obj: bpy.types.Object) -> bool:
    """True if an evaluated object has faces."""
    with _mesh_of(obj) as mesh:
        return mesh is not None and len(mesh.polygons) > 0


@contextmanager
def _mesh_of(obj: bpy.types.Object) -> Iterator[bpy.types.Mesh | None]:
    """The mesh of an evaluated object, a temporary one if its data is of another type; None if it cannot have one."""
    if isinstance(obj.data, bpy.types.Mesh):
        yield obj.data
    elif obj.type in GEOMETRY_TYPES:
        try:
            yield obj.to_mesh()
        finally:
            obj.to_mesh_clear()
    else:
        yield None


def read_mesh(obj: bpy.types.Object, meters: float) -> Mesh | None:
    """Mesh of an evaluated object of any kind, in its own space, times `meters`; None where it has no faces."""
    mesh = obj.to_mesh() if obj.type in GEOMETRY_TYPES else None
    if mesh is None:
        return None
    try:
        return triangles_of(mesh, meters)
    finally:
        obj.to_mesh_clear()


def triangles_of(mesh: bpy.types.Mesh, meters: float) -> Mesh | None:
    """The triangles of mesh data, times `meters`; None where it has no faces."""
    mesh.calc_loop_triangles()
    points = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", points)
    triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    if not len(triangles):
        return None
    return Mesh(points.reshape(-1, 3).astype(float) * meters, triangles.reshape(-1, 3).astype(np.int64))


def is_written_undeformed(obj: bpy.types.Object) -> bool:
    """True if Blender's USD exporter writes a mesh without what shapes it: keys, bones or a subdivision at the end."""
    return bool(options_to_write_as_shown(obj))


def options_to_write_as_shown(obj: bpy.types.Object) -> dict[str, Any]:
    """Options with which Blender's USD exporter writes the evaluated mesh of an object; none where it does anyway."""
    if obj.type != "MESH":
        return {}
    shown = [modifier.type for modifier in obj.modifiers if modifier.show_viewport]
    options: dict[str, Any] = {}
    if getattr(obj.data, "shape_keys", None):
        options["export_shapekeys"] = False
    if "ARMATURE" in shown:
        options["export_armatures"] = False
    if shown[-1:] == ["SUBSURF"]:
        options["export_subdivision"] = "TESSELLATE"
    return options
