# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills the meshes of objects with tetrahedra, for simulators of soft bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.types import Context, Object

from ..bridge import mesh as bridge_mesh
from ..bridge import tet_meshes
from ..core.building import tet_lattice
from ..core.errors import InputError
from ..core.words import phrase


@dataclass(slots=True)
class TetMeshes:
    """made: objects of tetrahedra. tets: their number. excess: the largest volume, as a multiple of the mesh's."""

    made: list[Any] = field(default_factory=list)
    tets: int = 0
    excess: float = 0.0
    notes: list[str] = field(default_factory=list)


def make(context: Context, objects: Sequence[Object], across: int) -> TetMeshes:
    """Make an object of tetrahedra for each object with a closed mesh, and select these; earlier ones are replaced.

    across: cells along the longest side of a mesh. Raises InputError where none of the meshes can be filled.
    """
    result = TetMeshes()
    depsgraph = context.evaluated_depsgraph_get()
    sources: list[Any] = [obj for obj in objects if not tet_meshes.has_tets(obj.data)]
    lattices: list[tuple[Any, tet_lattice.TetLattice]] = []
    for obj in sources:
        mesh = bridge_mesh.read_mesh(obj.evaluated_get(depsgraph), 1.0)
        try:
            if mesh is None:
                raise InputError("The mesh has no faces; choose one with a volume.")
            cell = tet_lattice.cell_of(mesh.points, mesh.triangles, across)
            lattices.append((obj, tet_lattice.fill(mesh.points, mesh.triangles, cell)))
        except InputError as error:
            result.notes.append(phrase("'{name}': {reason}", name=obj.name, reason=str(error)))
    if not lattices:
        raise InputError(result.notes[0] if result.notes else "Select objects with closed meshes.")
    for obj, lattice in lattices:
        _remove_earlier(obj)
        name = f"{obj.name}{tet_lattice.SUFFIX}"
        data = tet_meshes.new_mesh(name, lattice.points, lattice.tets, lattice.surface)
        made: Any = bpy.data.objects.new(name, data)
        for collection in obj.users_collection:
            collection.objects.link(made)
        made.parent, made.parent_type, made.parent_bone = obj.parent, obj.parent_type, obj.parent_bone
        made.matrix_parent_inverse, made.matrix_basis = obj.matrix_parent_inverse, obj.matrix_basis
        made.display_type, made.hide_render = "WIRE", True
        result.made.append(made)
        result.tets += len(lattice.tets)
        result.excess = max(result.excess, lattice.excess)
    for obj in objects:
        obj.select_set(False)
    for made in result.made:
        made.select_set(True)
    context.view_layer.objects.active = result.made[-1]
    return result


def _remove_earlier(obj: Any) -> None:
    """Remove the object of tetrahedra that was made for an object before."""
    old: Any = bpy.data.objects.get((f"{obj.name}{tet_lattice.SUFFIX}", None))
    if old is not None and tet_meshes.has_tets(old.data) and old.parent == obj.parent:
        data = old.data
        bpy.data.objects.remove(old)
        if not data.users:
            bpy.data.meshes.remove(data)
