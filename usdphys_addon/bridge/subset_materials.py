# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials that Blender's importer leaves out: of faces for physics only, of gprims, of meshes below their subsets."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core.validate import Issue
from . import remembered
from .hierarchy_repair import Found
from .naming import objects_by_name


def bind(stage: Any, found: Found, issues: list[Issue]) -> None:
    """Give colliders the materials that are bound to them, as far as they show no others."""
    _bind_colliders(stage, found)
    _bind_faces(stage, found, issues)


def _bind_colliders(stage: Any, found: Found) -> None:
    """The material of a whole gprim, and that of a mesh of which all faces have others: it becomes the first slot."""
    from pxr import Tf, UsdPhysics, UsdShade

    found_prims = [(stage.GetPrimAtPath(path), name) for path, name in found.objects.items()]
    colliders = [(prim, name) for prim, name in found_prims if prim.HasAPI(UsdPhysics.CollisionAPI)]
    try:
        materials, _relationships = UsdShade.MaterialBindingAPI.ComputeBoundMaterials([prim for prim, _ in colliders])
    except Tf.ErrorException:  # a binding somewhere is no relationship
        return
    known_objects = objects_by_name()
    for (_, name), usd_material in zip(colliders, materials, strict=True):
        known = found.materials.get(str(usd_material.GetPath())) if usd_material else None
        mesh = known_objects[name].data
        if known is None or not isinstance(mesh, bpy.types.Mesh):
            continue
        material = bpy.data.materials[known]
        slots = list(mesh.materials)
        if material in slots:
            continue
        faces = np.zeros(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", faces)
        mesh.materials.clear()
        for slot in (material, *slots):
            mesh.materials.append(slot)
        mesh.polygons.foreach_set("material_index", faces + 1 if slots else faces)


def _bind_faces(stage: Any, found: Found, issues: list[Issue]) -> None:
    """Give the faces of meshes the materials of their subsets, where the mesh shows no other materials."""
    from pxr import UsdGeom, Vt

    from ..core import usd_read

    by_path = {remembered.path_of(material): material for material in bpy.data.materials}
    for path, name in found.objects.items():
        subsets = [
            (child, target)
            for child in stage.GetPrimAtPath(path).GetChildren()
            if child.IsA(UsdGeom.Subset)
            for target in usd_read.targets(child.GetRelationship("material:binding:physics"))[:1]
        ]
        if not subsets:
            continue
        mesh = bpy.data.objects[name].data
        if not isinstance(mesh, bpy.types.Mesh):
            continue
        if any(material is not None for material in mesh.materials):
            issues.append(Issue(
                "SubsetMaterialLost", "warning", path, name,
                f"'{name}' has visible materials, so the physics materials of its faces are left out.",
                f"Set the friction of the visible materials of '{name}' instead.",
            ))  # fmt: skip
            continue
        values = [UsdGeom.Subset(child).GetIndicesAttr().Get() for child, _ in subsets]
        faces = [value if isinstance(value, Vt.IntArray) else None for value in values]
        _assign(mesh, [(indices, by_path.get(target)) for indices, (_, target) in zip(faces, subsets, strict=True)])


def _assign(mesh: bpy.types.Mesh, subsets: list[tuple[Any, bpy.types.Material | None]]) -> None:
    slots = np.zeros(len(mesh.polygons), np.int32)
    for indices, material in subsets:
        if material is None or indices is None:
            continue
        faces = np.asarray(indices, np.int64)
        slots[faces[(faces >= 0) & (faces < len(slots))]] = len(mesh.materials)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", slots)
