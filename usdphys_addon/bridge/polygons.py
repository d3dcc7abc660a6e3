# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of meshes that a file of triangles has cut, and vertices that it has split: how to make them whole again."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from .mesh import corners_of, points_of, sizes_of

#: Number of vertices, and (corners of a face, number of such faces) in the order of the triangles of a file.
Faces = tuple[int, tuple[tuple[int, int], ...]]


def faces_of(mesh: bpy.types.Mesh) -> Faces:
    """The faces of a mesh in the order in which Blender's glTF exporter writes them: by material, then as they are."""
    slots = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", slots)
    sizes = sizes_of(mesh)[np.argsort(slots, kind="stable")]
    starts = np.flatnonzero(np.diff(sizes, prepend=-1))
    counts = np.diff(starts, append=len(sizes))
    runs = tuple((int(sizes[start]), int(count)) for start, count in zip(starts, counts, strict=True))
    return len(mesh.vertices), runs


def join(mesh: bpy.types.Mesh, faces: Faces) -> bool:
    """Merge split vertices, and join triangles to the faces they were cut from. False if the mesh is another one."""
    wanted, runs = faces
    triangulated = sum((size - 2) * count for size, count in runs)
    is_valid = all(size >= 3 and count >= 0 for size, count in runs)
    if not is_valid or len(mesh.polygons) != triangulated or len(mesh.loops) != 3 * triangulated:
        return False
    sizes = np.concatenate([np.full(count, size, np.int64) for size, count in runs]) if runs else np.zeros(0, np.int64)
    corners = corners_of(mesh)
    _, first, places = np.unique(points_of(mesh), axis=0, return_index=True, return_inverse=True)
    places = places.reshape(-1)
    merged = len(mesh.vertices) != wanted
    if merged and len(first) != wanted:
        return False
    if not merged and (sizes == 3).all():
        return True
    triangles = (first[places] if merged else np.arange(len(places)))[corners].reshape(-1, 3)
    owners = np.repeat(np.arange(len(sizes)), sizes - 2)
    inner = _inner_edges(triangles, owners, sizes)
    if inner is None:
        return False
    made = bmesh.new()
    try:
        made.from_mesh(mesh)
        made.verts.ensure_lookup_table()
        ends = [(made.verts[one], made.verts[other]) for one, other in inner.tolist()]
        if merged:
            targets: Any = {
                made.verts[index]: made.verts[int(first[place])] for index, place in enumerate(places)
                if first[place] != index
            }  # fmt: skip
            bmesh.ops.weld_verts(made, targetmap=targets)
        edges = [edge for pair in ends if (edge := made.edges.get(pair)) is not None]
        bmesh.ops.dissolve_edges(made, edges=edges, use_verts=False, use_face_split=False)
        if len(made.faces) != len(sizes) or len(made.verts) != wanted:
            return False
        made.to_mesh(mesh)
    finally:
        made.free()
    return True


def _inner_edges(triangles: NDArray[Any], owners: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any] | None:
    """Edges (n, 2) between triangles of one face; None unless each face has as many as it needs, all of them its own.

    An edge that other faces share, too, cannot be dissolved.
    """
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    of = np.tile(owners, 3)
    unique, inverse, counts = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    lowest, highest = np.full(len(unique), len(sizes)), np.full(len(unique), -1)
    np.minimum.at(lowest, inverse, of)
    np.maximum.at(highest, inverse, of)
    inside = (lowest == highest) & (counts == 2)
    numbers = np.bincount(lowest[inside], minlength=len(sizes))
    return unique[inside] if (numbers == sizes - 3).all() else None
