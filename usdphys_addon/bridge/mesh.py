# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import mathutils
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ..core.model import Mesh

#: Object types that Blender's USD export writes as geometry that can collide.
GEOMETRY_TYPES = frozenset({"MESH", "META", "FONT", "SURFACE", "CURVE"})
#: Numbers of a mesh that are read item by item in less time than an attribute is found by its name.
_SMALL = 200


def vertices_of(obj: bpy.types.Object) -> NDArray[np.float64]:
    """Vertices (n, 3) of an evaluated object in its own space, Blender units; (0, 3) if it has no mesh."""
    with _mesh_of(obj) as mesh:
        if mesh is None:
            return np.zeros((0, 3))
        return points_of(mesh).astype(float)


def points_of(mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """Coordinates (n, 3) of the vertices, in the own space of the mesh."""
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    if not _copied(mesh, "position", "vector", flat, 3):
        mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def corners_of(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Index of the vertex at each corner (n,) of all faces, face by face."""
    corners = np.empty(len(mesh.loops), np.int32)
    if not _copied(mesh, ".corner_vert", "value", corners, 1):
        mesh.loops.foreach_get("vertex_index", corners)
    return corners


def sizes_of(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Number of corners (n,) of each face."""
    starts = np.empty(len(mesh.polygons), np.int32)
    # The number itself takes three times as long. The corners of faces follow each other.
    mesh.polygons.foreach_get("loop_start", starts)
    return np.diff(starts, append=np.int32(len(mesh.loops)))


def _copied(mesh: bpy.types.Mesh, name: str, member: str, values: NDArray[Any], width: int) -> bool:
    """Copy an attribute of a large mesh as one block, a thousand times as fast as item by item. False where there is
    none, as while it is edited."""
    attribute: Any = mesh.attributes.get(name) if len(values) > _SMALL else None
    if attribute is None or len(attribute.data) * width != len(values):
        return False
    attribute.data.foreach_get(member, values)
    return True


def surface_of(obj: bpy.types.Object) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Coordinates (3 n,) in the object's own space, vertex indices of all faces, sizes of the faces; evaluated."""
    with _mesh_of(obj) as mesh:
        if mesh is None:
            return np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int32)
        return _surface(mesh)


def _surface(mesh: bpy.types.Mesh) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    return points_of(mesh).ravel(), corners_of(mesh), sizes_of(mesh)


def has_faces(obj: bpy.types.Object) -> bool:
    """True if an evaluated object has faces."""
    with _mesh_of(obj) as mesh:
        return mesh is not None and len(mesh.polygons) > 0


def mesh_data(obj: bpy.types.Object) -> bpy.types.Mesh | None:
    """The mesh data of an evaluated object with its arrays; None if its data are of another type."""
    data: Any = obj.data
    if not isinstance(data, bpy.types.Mesh):
        return None
    if data.is_editmode:
        # The arrays of a mesh that this object or another one edits are empty until somebody asks for a copy.
        obj.to_mesh()
        obj.to_mesh_clear()
    return data


@contextmanager
def _mesh_of(obj: bpy.types.Object) -> Iterator[bpy.types.Mesh | None]:
    """The mesh of an evaluated object, a temporary one if its data is of another type; None if it cannot have one."""
    data = mesh_data(obj)
    if data is not None:
        yield data
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
    if len(mesh.loops) == 3 * len(mesh.polygons) and (sizes_of(mesh) == 3).all():
        triangles = corners_of(mesh)
    else:
        mesh.calc_loop_triangles()
        triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    if not len(triangles):
        return None
    return Mesh(points_of(mesh).astype(float) * meters, triangles.reshape(-1, 3).astype(np.int64))


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


def is_inside(tree: BVHTree, point: Any) -> bool:
    """True where a ray from a point (3,) meets the surface an odd number of times: inside of a closed one."""
    # A way that is along no edge of what people build.
    way: Any = mathutils.Vector((0.5773, 0.6113, 0.5411)).normalized()
    start, hits = mathutils.Vector(point.tolist()), 0
    while True:
        place, _, _, distance = tree.ray_cast(start, way)
        if place is None or distance is None:
            return hits % 2 == 1
        hits += 1
        start = place + way * 1e-6 * (1.0 + place.length)
