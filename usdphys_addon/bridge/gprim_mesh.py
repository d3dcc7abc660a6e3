# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that shows a gprim, for objects that have none."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import mathutils

from ..core import gprims
from ..core.schemas import usd_geom

_TURNS = {"X": mathutils.Matrix.Rotation(1.5707963267948966, 4, "Y"),
          "Y": mathutils.Matrix.Rotation(-1.5707963267948966, 4, "X"), "Z": mathutils.Matrix()}  # fmt: skip


def mesh_of(name: str, gprim: usd_geom.Gprim, unit: float) -> bpy.types.Mesh:
    """unit: length of a unit of the mesh, metres."""
    sizes = gprims.sizes(gprim)
    made = bmesh.new()
    turn = _TURNS[sizes.axis] if sizes.kind not in (usd_geom.Cube, usd_geom.Sphere) else mathutils.Matrix()
    if sizes.kind is usd_geom.Cube:
        edges = mathutils.Matrix.Diagonal((*(edge / unit for edge in sizes.edges), 1.0))
        bmesh.ops.create_cube(made, size=1.0, matrix=edges)
    elif sizes.kind is usd_geom.Sphere:
        bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=sizes.radius / unit)
    elif sizes.kind is usd_geom.Plane:
        extent = [2.0 * half / unit for half in gprims.half_extent(gprim)]
        bmesh.ops.create_grid(made, x_segments=1, y_segments=1, size=0.5)
        bmesh.ops.transform(made, matrix=turn, verts=list(made.verts))
        bmesh.ops.scale(made, vec=tuple(edge or 1.0 for edge in extent), verts=list(made.verts))
        turn = mathutils.Matrix()
    elif sizes.kind is usd_geom.Capsule:
        bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=sizes.radius / unit)
        for vertex in made.verts:
            vertex.co.z += (0.5 if vertex.co.z > 0.0 else -0.5) * sizes.height / unit
    else:
        top: Any = 0.0 if sizes.kind is usd_geom.Cone else sizes.radius / unit
        bmesh.ops.create_cone(
            made, cap_ends=True, segments=24, radius1=sizes.radius / unit, radius2=top, depth=sizes.height / unit
        )  # fmt: skip
    bmesh.ops.transform(made, matrix=turn, verts=list(made.verts))
    data = bpy.data.meshes.new(name)
    made.to_mesh(data)
    made.free()
    return data
