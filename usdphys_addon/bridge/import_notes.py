# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of what an import has made, from which an export tells what the user has edited since.

A note is a short text in the properties of an object or a material: digests of its transform, of its data and of its
material slots. It is saved, undone and appended with its owner.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import bpy
import numpy as np

from . import remembered

#: Values of lights and cameras that are of the interface, or that Blender changes by itself.
_IDLE = frozenset({"name", "name_full", "users", "tag", "is_evaluated", "session_uid", "show_limits", "display_size"})


#: What a note tells apart of a mesh.
MESH_PARTS = ("points", "faces", "face_materials", "texture_coordinates", "colors")


#: Sockets of a Principled BSDF that Blender writes to each input of a UsdPreviewSurface.
SURFACE_INPUTS = {
    "diffuseColor": ("Base Color",), "emissiveColor": ("Emission Color", "Emission Strength"),
    "metallic": ("Metallic",), "roughness": ("Roughness",), "clearcoat": ("Coat Weight",),
    "clearcoatRoughness": ("Coat Roughness",), "opacity": ("Alpha",), "ior": ("IOR",),
    "specular": ("Specular IOR Level",), "specularColor": ("Specular Tint",), "opacityThreshold": (),
    "normal": (), "displacement": (), "occlusion": (), "useSpecularWorkflow": (),
}  # fmt: skip


class Edited(NamedTuple):
    """What of an object differs from what the import made.

    data: its mesh, light or camera. slots: its materials. parts: of a mesh, names of `MESH_PARTS` that differ.
    """

    transform: bool
    data: bool
    slots: bool
    parts: frozenset[str] = frozenset()


def note(objects: Iterable[bpy.types.Object], materials: Iterable[bpy.types.Material], source: str) -> None:
    """Note the state of objects and materials that an import has made. source: path of the file."""
    known: dict[str, str] = {}
    for obj in objects:
        obj.usdphys.prim.noted = "\n".join(_state(obj, known))  # type: ignore[attr-defined]
    for material in materials:
        material.usdphys.prim.source = source  # type: ignore[attr-defined]
        material.usdphys.prim.noted = " ".join(_material_state(material))  # type: ignore[attr-defined]


def edited(obj: bpy.types.Object, materials: Mapping[str, str]) -> Edited:
    """What the user has edited of an imported object. Everything, where the import noted nothing.

    materials: paths of the imported materials by name.
    """
    noted = str(obj.usdphys.prim.noted).split("\n")  # type: ignore[attr-defined]
    if len(noted) != 3:
        return Edited(True, True, True, frozenset(MESH_PARTS))
    now = _state(obj, {}, materials)
    before, after = (text.partition(" ") for text in (noted[1], now[1]))
    parts = frozenset(MESH_PARTS)
    if before[2] == after[2]:
        pairs = zip(before[0].split("."), after[0].split("."), strict=False)
        parts = frozenset(name for name, (one, other) in zip(MESH_PARTS, pairs, strict=False) if one != other)
    return Edited(noted[0] != now[0], noted[1] != now[1], noted[2] != now[2], parts)


def is_moved(obj: bpy.types.Object) -> bool:
    """True where the place of an imported object below its parent is not that of the import."""
    return bool(str(obj.usdphys.prim.noted).partition("\n")[0] != _transform_of(obj))  # type: ignore[attr-defined]


def has_new_movers(obj: bpy.types.Object) -> bool:
    """True if constraints, keyframes or drivers move an object that the import has not made."""
    noted = str(obj.usdphys.prim.noted).partition("\n")[0].partition(" ")  # type: ignore[attr-defined]
    return _movers(obj) not in ("", f" {noted[2]}")


def is_edited_material(material: bpy.types.Material) -> bool:
    noted = material.usdphys.prim.noted  # type: ignore[attr-defined]
    return bool(noted and noted != " ".join(_material_state(material)))


def edited_inputs(material: bpy.types.Material) -> frozenset[str]:
    """Inputs of a UsdPreviewSurface whose values were edited; all of them if other nodes or links were."""
    before, after = str(material.usdphys.prim.noted).split(), _material_state(material)  # type: ignore[attr-defined]
    if len(before) != len(after) or before[0] != after[0]:
        return frozenset(SURFACE_INPUTS)
    pairs = zip(SURFACE_INPUTS, before[1:], after[1:], strict=False)
    return frozenset(name for name, one, other in pairs if one != other)


# --------------------------------------------------------------------------- objects


def _state(
    obj: bpy.types.Object, known: dict[str, str], materials: Mapping[str, str] | None = None
) -> tuple[str, str, str]:
    return _transform_of(obj), _data_of(obj, known), _slots_of(obj, materials or {})


def _transform_of(obj: Any) -> str:
    """Digest of what places an object below its parent, with the names of what moves it besides."""
    mode = obj.rotation_mode
    turned = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    values = [*obj.location, *getattr(obj, turned), *obj.scale]
    values += [*obj.delta_location, *obj.delta_rotation_euler, *obj.delta_scale]
    if not obj.matrix_parent_inverse.is_identity:
        values += [part for row in obj.matrix_parent_inverse for part in row]
    return _digest(array("f", values).tobytes(), mode.encode()) + _movers(obj)


def _movers(obj: Any) -> str:
    """What moves an object besides its own transform: constraints, keyframes and drivers."""
    found: list[str] = [constraint.type for constraint in obj.constraints]
    data = obj.animation_data
    if data is not None and (data.action is not None or len(data.drivers)):
        found.append("animation")
    return "".join(f" {name}" for name in found)


def _slots_of(obj: bpy.types.Object, paths: Mapping[str, str]) -> str:
    """The materials in the slots of an object, by the prims that they were imported from, else by name."""
    materials = [slot.material for slot in obj.material_slots]
    return "\t".join(
        "" if material is None else paths.get(material.name) or remembered.path_of(material) or material.name
        for material in materials
    )


def _data_of(obj: bpy.types.Object, known: dict[str, str]) -> str:
    """Digest of the data of an object and of its modifiers. known: digests by name of the data."""
    data: Any = obj.data
    if data is None:
        return ""
    name = f"{obj.type} {data.name}"
    if name not in known:
        is_mesh = isinstance(data, bpy.types.Mesh)
        known[name] = mesh_digest(data) if is_mesh else _digest(*_points_of(data), values_digest(data).encode())
    return known[name] + "".join(f" {modifier.type}" for modifier in obj.modifiers)


def mesh_digest(mesh: Any) -> str:
    """Digests of MESH_PARTS, with a dot between them."""
    faces = _column(mesh.loops, "vertex_index", 1, "i4"), _column(mesh.polygons, "loop_total", 1, "i4")
    layers = [part for layer in mesh.uv_layers for part in (layer.name.encode(), _column(layer.uv, "vector", 2))]
    colors = [
        part for item in mesh.color_attributes for part in (item.name.encode(), _column(item.data, "color", 4))
    ]  # fmt: skip
    materials = _column(mesh.polygons, "material_index", 1, "i4")
    points = _column(mesh.vertices, "co", 3), *_shape_keys_of(mesh)
    parts = (points, faces, (materials,), layers, colors)
    return ".".join(_digest(*part, size=5) for part in parts)


def _shape_keys_of(mesh: Any) -> Iterator[bytes]:
    """The shape keys of a mesh that nothing animates."""
    keys = mesh.shape_keys
    for block in keys.key_blocks if keys is not None and keys.animation_data is None else ():
        yield f"{block.name} {block.value} {block.mute}".encode()
        yield _column(block.data, "co", 3)


def _points_of(data: Any) -> Iterator[bytes]:
    """The points of curves, point clouds and armatures."""
    for item in getattr(data, "attributes", ()):
        if item.name in ("position", "radius"):
            is_vector = item.data_type == "FLOAT_VECTOR"
            yield _column(item.data, "vector" if is_vector else "value", 3 if is_vector else 1)
    for spline in getattr(data, "splines", ()):
        yield _column(spline.points, "co", 4)
        yield _column(spline.bezier_points, "co", 3)
    for bone in getattr(data, "bones", ()):
        yield array("f", [part for row in bone.matrix_local for part in row]).tobytes()


def _column(items: Any, name: str, size: int, kind: str = "f4") -> bytes:
    values = np.empty(len(items) * size, kind)
    items.foreach_get(name, values)
    return values.tobytes()


# --------------------------------------------------------------------------- materials and other data


def _material_state(material: bpy.types.Material) -> list[str]:
    """Digests of all that changes the look of a material: nodes, links and images, SURFACE_INPUTS, other inputs."""
    tree: Any = material.node_tree
    if tree is None:
        return [values_digest(material)]
    parts = [f"{material.use_nodes}" if bpy.app.version < (5, 0) else ""]
    surface = next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    for node in tree.nodes:
        parts.append(f"{node.bl_idname} {node.name} {node.mute}")
        if node != surface:
            parts += [f"{name} {value}" for name, value in _values_of(node).items()]
        image = getattr(node, "image", None)
        if image is not None:
            parts.append(f"{_file_name(image.filepath)} {image.colorspace_settings.name}")
        if node.type in ("RGB", "VALUE"):
            parts.append(_text(node.outputs[0].default_value))
    parts += [
        f"{link.from_node.name} {link.from_socket.identifier} {link.to_node.name} {link.to_socket.identifier}"
        for link in tree.links
    ]
    state = [_digest("\n".join(parts).encode())]
    if surface is not None:
        values = _values_of(surface)
        texts = [" ".join(values.pop(name, "") for name in names) for names in SURFACE_INPUTS.values()]
        state += [_digest(text.encode(), size=4) for text in texts]
        state.append(_digest(" ".join(values.values()).encode(), size=4))
    return state


def _values_of(node: Any) -> dict[str, str]:
    """The values of the inputs of a node, by identifier."""
    return {item.identifier: _text(item.default_value) for item in node.inputs if hasattr(item, "default_value")}


def values_digest(data: Any) -> str:
    """Digest of the numbers, choices and names of a data-block, such as a light or a camera."""
    found = []
    for item in data.bl_rna.properties:
        name = item.identifier
        if item.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING") and not item.is_readonly and name not in _IDLE:
            value = getattr(data, name)
            found.append(f"{name} {_file_name(value) if item.subtype == 'FILE_PATH' else _text(value)}")
    return _digest("\n".join(found).encode())


def _file_name(filepath: str) -> str:
    """The name of a file; saving a .blend makes its folder relative, which is no edit."""
    return filepath.replace("\\", "/").rpartition("/")[2]


def _text(value: Any) -> str:
    try:
        return " ".join(repr(part) for part in value) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)


def _digest(*parts: bytes, size: int = 9) -> str:
    made = blake2b(digest_size=size)
    for part in parts:
        made.update(part)
        made.update(b"\0")
    return made.hexdigest()
