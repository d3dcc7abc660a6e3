# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind materials that Blender's importer leaves out.

These are materials of faces that are for physics only, of gprims, and of meshes whose faces all have others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge import remembered
from ..bridge.imported import ImportedIDs
from ..core.validate import Issue

if TYPE_CHECKING:
    from ..usd.import_source import ImportSource


def bind(source: ImportSource, found: ImportedIDs, issues: list[Issue]) -> None:
    """Give colliders the materials that are bound to them, unless that would replace visible ones."""
    _bind_colliders(source, found)
    _bind_faces(source, found, issues)


def _bind_colliders(source: ImportSource, found: ImportedIDs) -> None:
    """Bind the material of a whole gprim or mesh as its first slot. Faces with another material keep that."""
    for path, material_path in source.visible_materials.items():
        material = found.materials.get(material_path)
        obj = found.objects.get(path) if material is not None else None
        if obj is None or not isinstance(mesh := obj.data, bpy.types.Mesh):
            continue
        slots = list(mesh.materials)
        if material in slots:
            continue
        faces = np.zeros(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", faces)
        mesh.materials.clear()
        for slot in (material, *slots):
            mesh.materials.append(slot)
        mesh.polygons.foreach_set("material_index", faces + 1 if slots else faces)


def _bind_faces(source: ImportSource, found: ImportedIDs, issues: list[Issue]) -> None:
    """Give the faces of meshes the materials of their subsets, unless the mesh has visible materials."""
    by_path = {remembered.path_of(material): material for material in bpy.data.materials}
    for path, subsets in source.face_materials.items():
        obj = found.objects.get(path)
        if obj is None or not isinstance(mesh := obj.data, bpy.types.Mesh):
            continue
        if any(material is not None for material in mesh.materials):
            issues.append(Issue(
                "SubsetMaterialLost", "warning", path, obj.name,
                f"'{obj.name}' has visible materials, so the physics materials of its faces are left out.",
                f"Set the friction of the visible materials of '{obj.name}' instead.",
            ))  # fmt: skip
            continue
        _assign(mesh, [(faces, by_path.get(target)) for faces, target in subsets])


def _assign(mesh: bpy.types.Mesh, subsets: list[tuple[Any, bpy.types.Material | None]]) -> None:
    slots = np.zeros(len(mesh.polygons), np.int32)
    for faces, material in subsets:
        if material is None or faces is None:
            continue
        slots[faces[(faces >= 0) & (faces < len(slots))]] = len(mesh.materials)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", slots)
