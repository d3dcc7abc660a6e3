# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials as far as Blender's importer leaves them out: bindings, and values behind the interface of a material.

It does not bind materials of faces that are for physics only, of gprims, and of meshes whose faces all have others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Material, Mesh

from ..bridge.identity.remembered import ImportedIDs
from ..core.validate import Issue

if TYPE_CHECKING:
    from pxr import Usd

    from ..usd.import_source import ImportSource

#: Inputs of the Principled BSDF by inputs of UsdPreviewSurface.
_SOCKETS = {
    "diffuseColor": "Base Color", "emissiveColor": "Emission Color", "specularColor": "Specular Tint",
    "metallic": "Metallic", "roughness": "Roughness", "ior": "IOR", "opacity": "Alpha", "clearcoat": "Coat Weight",
    "clearcoatRoughness": "Coat Roughness",
}  # fmt: skip


def bind(
    source: ImportSource, found: ImportedIDs, materials: Mapping[str, Material], issues: list[Issue]
) -> None:  # fmt: skip
    """Give colliders the materials that are bound to them, unless that would replace visible ones.

    materials: all of the import by prim path, also those that are bound for physics only.
    """
    _bind_colliders(source, found)
    _bind_faces(source, found, materials, issues)


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


def _bind_faces(
    source: ImportSource, found: ImportedIDs, materials: Mapping[str, Material], issues: list[Issue]
) -> None:  # fmt: skip
    """Give the faces of meshes the materials of their subsets, unless the mesh has visible materials."""
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
        _assign(mesh, [(faces, materials.get(target)) for faces, target in subsets])


def _assign(mesh: Mesh, subsets: list[tuple[Any, Material | None]]) -> None:
    slots = np.zeros(len(mesh.polygons), np.int32)
    for faces, material in subsets:
        if material is None or faces is None:
            continue
        slots[faces[(faces >= 0) & (faces < len(slots))]] = len(mesh.materials)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", slots)


# --------------------------------------------------------------------------- values behind an interface


def resolve_interfaces(stage: Usd.Stage, found: ImportedIDs) -> None:
    """Set the values of shaders that are inputs of their material: Blender's importer reads a shader's own only."""
    from ..usd import looks

    for path, values in looks.interface_values(stage, found.materials).items():
        material = found.materials[path]
        tree: Any = material.node_tree
        shader = next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None) if tree else None
        if shader is None:
            continue
        for name, value in values.values.items():
            _set_input(material, shader, name, value)
        for name, file in values.textures.items():
            _set_texture(shader.inputs.get(_SOCKETS.get(name, "Normal")), file)


def _set_input(material: Any, shader: Any, name: str, value: Any) -> None:
    socket = shader.inputs.get(_SOCKETS.get(name, ""))
    if socket is None or socket.is_linked:
        return
    is_color = hasattr(socket.default_value, "__len__")
    if is_color != isinstance(value, tuple) or (is_color and len(value) != 3):
        return
    socket.default_value = (*value, 1.0) if is_color else value
    if name == "emissiveColor":
        shader.inputs["Emission Strength"].default_value = float(any(value))
    # The colour of the viewport, which Blender's importer sets, too.
    if name == "diffuseColor":
        material.diffuse_color = (*value, material.diffuse_color[3])
    elif name in ("metallic", "roughness"):
        setattr(material, name, value)


def _set_texture(socket: Any, file: str) -> None:
    """Load the file into the texture that leads to a socket, if that has no image."""
    pending = [socket]
    while pending:
        current = pending.pop()
        for link in current.links if current is not None else ():
            node = link.from_node
            if node.type == "TEX_IMAGE" and node.image is None:
                try:
                    node.image = bpy.data.images.load(file, check_existing=True)
                except RuntimeError:  # no image, or in a package
                    return
            pending.extend(node.inputs)
