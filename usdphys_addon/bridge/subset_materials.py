# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials that Blender's importer leaves out: of faces for physics only, of gprims, of meshes below their subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core.validate import Issue
from . import remembered
from .hierarchy_repair import Found
from .naming import objects_by_name

if TYPE_CHECKING:
    from ..core.usd_source import Source


def bind(source: Source, found: Found, issues: list[Issue]) -> None:
    """Give colliders the materials that are bound to them, as far as they show no others."""
    known = objects_by_name()
    _bind_colliders(source, found, known)
    _bind_faces(source, found, known, issues)


def _bind_colliders(source: Source, found: Found, known: dict[str, Any]) -> None:
    """The material of a whole gprim, and that of a mesh of which all faces have others: it becomes the first slot."""
    materials = {path: bpy.data.materials[name] for path, name in found.materials.items()}
    for path, material_path in source.visible_materials.items():
        material = materials.get(material_path)
        mesh = known[found.objects[path]].data if material is not None and path in found.objects else None
        if not isinstance(mesh, bpy.types.Mesh):
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


def _bind_faces(source: Source, found: Found, known: dict[str, Any], issues: list[Issue]) -> None:
    """Give the faces of meshes the materials of their subsets, where the mesh shows no other materials."""
    by_path = {remembered.path_of(material): material for material in bpy.data.materials}
    for path, subsets in source.face_materials.items():
        name = found.objects.get(path, "")
        mesh = known[name].data if name else None
        if not isinstance(mesh, bpy.types.Mesh):
            continue
        if any(material is not None for material in mesh.materials):
            issues.append(Issue(
                "SubsetMaterialLost", "warning", path, name,
                f"'{name}' has visible materials, so the physics materials of its faces are left out.",
                f"Set the friction of the visible materials of '{name}' instead.",
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
