# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of tetrahedra in Blender: a mesh of all their points and of their outer faces that keeps the tetrahedra."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

#: Custom property of mesh data: four indices of vertices for each tetrahedron; and the number of vertices then.
TETS, POINTS = "usdphys_tets", "usdphys_tet_points"


def new_mesh(name: str, points: NDArray[Any], tets: NDArray[Any], surface: NDArray[Any]) -> bpy.types.Mesh:
    """points: (n, 3), of the space of the object. tets: (t, 4). surface: (s, 3), the faces that are shown."""
    mesh: Any = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(surface.size)
    mesh.loops.foreach_set("vertex_index", surface.astype(np.int32).ravel())
    mesh.polygons.add(len(surface))
    mesh.polygons.foreach_set("loop_start", np.arange(0, surface.size, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    mesh[TETS], mesh[POINTS] = tets.ravel().tolist(), len(points)
    return mesh  # type: ignore[no-any-return]


def has_tets(mesh: Any) -> bool:
    """True for mesh data that was made of tetrahedra, whether or not they still fit."""
    return isinstance(mesh, bpy.types.Mesh) and TETS in mesh.keys()


def tets_of(mesh: Any, points: int) -> NDArray[np.int64] | None:
    """The tetrahedra (t, 4) of mesh data; None without any, or if the number of points is another one by now."""
    tets: Any = mesh.get(TETS) if has_tets(mesh) else None
    if tets is None or isinstance(tets, str | int | float) or mesh.get(POINTS) != points:
        return None
    indices = np.array(tets, dtype=np.int64)
    fits = indices.size and indices.size % 4 == 0 and indices.min() >= 0 and indices.max() < points
    return indices.reshape(-1, 4) if fits else None
