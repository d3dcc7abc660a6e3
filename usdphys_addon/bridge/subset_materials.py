# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials that a file binds to faces for physics only: Blender's importer leaves them out."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core.validate import Issue
from . import remembered
from .hierarchy_repair import Found


def bind(stage: Any, found: Found, issues: list[Issue]) -> None:
    """Give the faces of meshes the materials of their subsets, where the mesh shows no other materials."""
    from pxr import UsdGeom

    by_path = {remembered.path_of(material): material for material in bpy.data.materials}
    for path, name in found.objects.items():
        subsets = [
            (child, str(target))
            for child in stage.GetPrimAtPath(path).GetChildren()
            if child.IsA(UsdGeom.Subset)
            for target in child.GetRelationship("material:binding:physics").GetTargets()[:1]
        ]
        mesh = bpy.data.objects[name].data
        if not subsets or not isinstance(mesh, bpy.types.Mesh):
            continue
        if any(material is not None for material in mesh.materials):
            issues.append(Issue(
                "SubsetMaterialLost", "warning", path, name,
                f"'{name}' has visible materials, so the physics materials of its faces are left out.",
                f"Set the friction of the visible materials of '{name}' instead.",
            ))  # fmt: skip
            continue
        faces = [UsdGeom.Subset(child).GetIndicesAttr().Get() for child, _ in subsets]
        _assign(mesh, [(indices, by_path.get(target)) for indices, (_, target) in zip(faces, subsets, strict=True)])


def _assign(mesh: bpy.types.Mesh, subsets: list[tuple[Any, bpy.types.Material | None]]) -> None:
    slots = np.zeros(len(mesh.polygons), np.int32)
    for indices, material in subsets:
        if material is None or indices is None:
            continue
        faces = np.asarray(indices, np.int64)
        slots[faces[faces < len(slots)]] = len(mesh.materials)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", slots)
