# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of the state after an import, by which an export detects what the user has edited since.

A note is a short text in the properties of an object or a material: digests of its transform, of its data and of its
material slots. It is saved, undone and appended with its owner.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import bpy
import numpy as np
from bpy.types import Material, Mesh, Object

from .identity import remembered

#: Properties of lights and cameras that concern only the interface, or that Blender changes by itself.
_IDLE = frozenset({"name", "name_full", "users", "tag", "is_evaluated", "session_uid", "show_limits", "display_size"})


#: Start of a line of a note with the digests of the name of a node, of the place of its image and of the content.
_IMAGE = "image "
#: Bytes of an image that are looked at.
_MOST_READ = 1 << 26
#: Parts of a mesh that have a digest each in a note.
MESH_PARTS = ("points", "faces", "face_materials", "texture_coordinates", "colors", "shading", "attributes")
#: Attributes of a mesh that are noted by other means, or that nothing outside Blender reads.
_OWN_ATTRIBUTES = frozenset({
    "position", "material_index", "sharp_edge", "sharp_face", "custom_normal", "uv_seam", "freestyle_edge",
    "freestyle_face",
})  # fmt: skip
#: All attributes that most meshes have.
_USUAL_ATTRIBUTES = _OWN_ATTRIBUTES | {".edge_verts", ".corner_vert", ".corner_edge"}
#: Name and number of the values of an attribute, and the type of its column, by its data type.
_COLUMNS = {
    "FLOAT": ("value", 1, "f4"), "INT": ("value", 1, "i4"), "BOOLEAN": ("value", 1, "?"), "INT8": ("value", 1, "i1"),
    "FLOAT_VECTOR": ("vector", 3, "f4"), "FLOAT2": ("vector", 2, "f4"), "QUATERNION": ("value", 4, "f4"),
    "FLOAT4X4": ("value", 16, "f4"),
}  # fmt: skip


class Edited(NamedTuple):
    """Which aspects of an object differ from their state after the import.

    data: its mesh, light or camera. slots: its materials. properties: its custom properties. parts: of a mesh, names of
    `MESH_PARTS` that differ.
    """

    transform: bool
    data: bool
    slots: bool
    properties: bool
    parts: frozenset[str] = frozenset()


def note(objects: Iterable[Object], materials: Iterable[Material], source: str) -> None:
    """Note the state of objects and materials that an import has made. source: path of the file."""
    states = _States({})
    known: dict[str, str] = {}
    for obj in objects:
        obj.usdphys.prim.noted = "\n".join(states.of(obj))
    for material in materials:
        material.usdphys.prim.source = source
        images = _images_of(material).items()
        lines = [f"{_IMAGE}{node} {_place(image, source)} {_content(image, known)}" for node, image in images]
        material.usdphys.prim.noted = "\n".join((_look_of(material), *lines))


def edits_of(objects: Iterable[Object], materials: Mapping[str, str]) -> Iterator[Edited]:
    """What the user has edited of each imported object: everything if the object has no note.

    materials: paths of the imported materials by name.
    """
    states = _States(materials)
    for obj in objects:
        noted = _noted(obj)
        if noted is None:
            yield Edited(True, True, True, True, frozenset(MESH_PARTS))
        else:
            yield _differing(noted, states.of(obj))


def edits_beside(pairs: Iterable[tuple[Object, Object]], materials: Mapping[str, str]) -> Iterator[Edited]:
    """What the user has edited of objects (first of each pair), beside those of a new import (second).

    materials: paths of the imported materials of both by name.
    """
    states = _States(materials)
    for obj, twin in pairs:
        yield _differing(states.of(twin), states.of(obj))


def have_same_look(one: Material, other: Material) -> bool:
    """Whether the nodes and images of two materials are equal."""
    images: list[dict[str, str]] = []
    for material in (one, other):
        known: dict[str, str] = {}
        images.append({node: _content(image, known) for node, image in _images_of(material).items()})
    return _look_of(one) == _look_of(other) and images[0] == images[1]


def _differing(before: Sequence[str], now: Sequence[str]) -> Edited:
    """Which of the texts of two states differ, see `_States.of`."""
    old, new = (text.partition(" ") for text in (before[1], now[1]))
    parts = frozenset(MESH_PARTS)
    if old[2] == new[2]:
        pairs = zip(old[0].split("."), new[0].split("."), strict=False)
        parts = frozenset(name for name, (one, other) in zip(MESH_PARTS, pairs, strict=False) if one != other)
    transform, data, slots, properties = (one != other for one, other in zip(before, now, strict=True))
    return Edited(transform, data, slots, properties, parts)


def _noted(obj: Object) -> list[str] | None:
    """The four texts that an import noted of an object, see `_States.of`; None where it noted nothing."""
    noted = str(obj.usdphys.prim.noted).split("\n")
    return noted if len(noted) == 4 else None


def has_new_slots(obj: Object) -> bool:
    """True where the materials of an imported object are not those of the import, or the import noted nothing."""
    noted = _noted(obj)
    return noted is None or noted[2] != _slots_of(obj, {})


def has_new_data(obj: Object) -> bool:
    """True where the mesh, light or camera of an imported object is not that of the import, or it noted nothing."""
    noted = _noted(obj)
    return noted is None or noted[1] != _data_of(obj, {})


def has_new_shape(obj: Object) -> bool:
    """True where points or modifiers of the mesh of an object are not those of the import, which has noted them."""
    noted = _noted(obj)
    if noted is None or type(obj.data) is not _MESH:
        return False
    before, _, modifiers = noted[1].partition(" ")
    now = " ".join(modifier.type for modifier in obj.modifiers)
    return modifiers != now or before.partition(".")[0] != _digest(_points_of(obj.data))


def is_moved(obj: Object) -> bool:
    """True where the place of an imported object below its parent is not that of the import, or it noted nothing."""
    values: list[float] = []
    for name, _ in TRANSFORM:
        value: Any = getattr(obj, name)
        columns = zip(*value, strict=True) if name.startswith("matrix") else [value]
        values += [part for column in columns for part in column]
    return bool(_placed(obj, array("f", values).tobytes()) != str(obj.usdphys.prim.noted).partition("\n")[0])


def has_new_movers(obj: Object) -> bool:
    """True if an object has constraints, keyframes or drivers, and not those that it had after the import."""
    noted = str(obj.usdphys.prim.noted).partition("\n")[0].partition(" ")
    return _movers(obj) not in ("", f" {noted[2]}")


def edited_inputs(material: Material) -> frozenset[str] | None:
    """Inputs of UsdPreviewSurface that the user has changed on an imported material; None where more has changed."""
    noted = str(material.usdphys.prim.noted)
    if not noted:
        return frozenset()
    lines = noted.split("\n")
    before = [line for line in lines if not line.startswith(_IMAGE)]
    after = _look_of(material).split("\n")
    if before[0] != after[0] or len(before) != len(after) or _has_other_images(material, lines):
        return None
    return frozenset(one.partition(" ")[0] for one, other in zip(before, after, strict=True) if one != other)


# --------------------------------------------------------------------------- objects

#: What places an object below its parent, with the number of values.
TRANSFORM = (
    ("location", 3), ("rotation_euler", 3), ("rotation_quaternion", 4), ("rotation_axis_angle", 4), ("scale", 3),
    ("delta_location", 3), ("delta_rotation_euler", 3), ("delta_rotation_quaternion", 4), ("delta_scale", 3),
    ("matrix_parent_inverse", 16),
)  # fmt: skip
_ROW = 4 * sum(size for _, size in TRANSFORM)
#: Looked up once: `bpy.types` searches for a name on each access.
_MESH = bpy.types.Mesh


class _States:
    """The states of objects, of which an import notes the text. All transforms are read at once, which is quicker."""

    def __init__(self, materials: Mapping[str, str]) -> None:
        objects: Any = bpy.data.objects
        columns = []
        for name, size in TRANSFORM:
            values = np.empty(len(objects) * size, "f4")
            objects.foreach_get(name, values)
            columns.append(values.reshape(-1, size))
        self.transforms = np.hstack(columns).tobytes()
        self.starts = dict(zip(objects, count(0, _ROW), strict=False))
        self.meshes: dict[int, str] = {}
        self.materials = dict(materials)

    def of(self, obj: Object) -> tuple[str, str, str, str]:
        """(transform and what moves the object besides, data and modifiers, materials in the slots, properties)."""
        start = self.starts[obj]
        transform = _placed(obj, self.transforms[start : start + _ROW])
        data = obj.data
        if data is None:
            return transform, "", "", _properties_of((obj,))
        return transform, _data_of(obj, self.meshes), _slots_of(obj, self.materials), _properties_of((obj, data))


def _placed(obj: Object, transform: bytes) -> str:
    """Text of what places an object: its transform, and what moves it besides."""
    return f"{crc32(transform):x}{obj.rotation_mode}{_movers(obj)}"


def _data_of(obj: Object, known: dict[int, str]) -> str:
    """Digest of the data of an object, and its modifiers. known: digests of data by its address."""
    data = obj.data
    if data is None:
        return ""
    key = data.as_pointer()
    if key not in known:
        known[key] = mesh_digest(data) if type(data) is _MESH else _digest(_data_values(data))
    modifiers = obj.modifiers
    return known[key] + "".join([f" {modifier.type}" for modifier in modifiers]) if len(modifiers) else known[key]


def _slots_of(obj: Object, known: dict[str, str]) -> str:
    """The materials in the slots of an object, by the prims that they were imported from, else by name.

    known: the result for materials, by name.
    """
    if obj.data is None:
        return ""
    slots: Any = obj.material_slots
    names = slots.keys()  # of their materials
    for row, name in enumerate(names):
        if name and name not in known:
            known[name] = remembered.path_of(slots[row].material) or name
    return "\t".join([known[name] if name else "" for name in names])


def _movers(obj: Object) -> str:
    """What moves an object besides its own transform: constraints, keyframes and drivers."""
    constraints, data = obj.constraints, obj.animation_data
    if data is None and not len(constraints):
        return ""
    names: list[str] = [constraint.type for constraint in constraints]
    if data is not None and (data.action is not None or len(data.drivers)):
        names.append("animation")
    return "".join(f" {name}" for name in names)


def _properties_of(owners: tuple[Any, ...]) -> str:
    """Digest of the custom properties of an object and of its data."""
    lines = []
    for owner in owners:
        for name in owner.keys():
            value = owner[name]
            # Add-ons keep groups of values there.
            if isinstance(value, bool | int | float | str) or hasattr(value, "typecode"):
                lines.append(f"{name} {_text(value)}")
    # A file can hold bytes that are no text, which Python keeps as lone surrogates.
    return _digest("\n".join(sorted(lines)).encode(errors="surrogatepass")) if lines else ""


def mesh_digest(mesh: Any) -> str:
    """Digests of MESH_PARTS, with a dot between them."""
    attributes = mesh.attributes
    names = attributes.keys()
    points = _points_of(mesh)
    # The last face ends where the corners end.
    faces = _column(mesh.polygons, "loop_start", 1, "i4")
    if ".corner_vert" in names:
        faces = _column(attributes[".corner_vert"].data, "value", 1, "i4") + faces
    materials = _column(mesh.polygons, "material_index", 1, "i4") if len(mesh.materials) > 1 else b""
    shading = b"custom" if "custom_normal" in names else b""
    if "sharp_face" in names:
        shading += _column(attributes["sharp_face"].data, "value", 1, "?").rstrip(b"\0")
    shading += b"."
    if "sharp_edge" in names:
        shading += _column(attributes["sharp_edge"].data, "value", 1, "?").rstrip(b"\0")
    shading += b"."
    own = f"{_digest(points)}.{_digest(faces)}.{_digest(materials)}"
    more = () if _USUAL_ATTRIBUTES.issuperset(names) else {name for name in names if name[:1] != "."} - _OWN_ATTRIBUTES
    if not more:
        return f"{own}...{_digest(shading)}."
    layers = b"".join([layer.name.encode() + _column(layer.uv, "vector", 2) for layer in mesh.uv_layers])
    colors = b"".join([item.name.encode() + _column(item.data, "color", 4) for item in mesh.color_attributes])
    known = {*mesh.uv_layers.keys(), *mesh.color_attributes.keys()}
    others = b"".join([_values_of(attributes[name]) for name in sorted(more) if name not in known])
    return f"{own}.{_digest(layers)}.{_digest(colors)}.{_digest(shading)}.{_digest(others)}"


def _points_of(mesh: Any) -> bytes:
    """The points of a mesh, with its shape keys."""
    points = _column(mesh.vertices, "co", 3)
    return points if mesh.shape_keys is None else points + b"".join(_shape_keys_of(mesh))


def _values_of(attribute: Any) -> bytes:
    """Name, place and values of a generic attribute of a mesh."""
    start = f"{attribute.name} {attribute.domain} {attribute.data_type} {len(attribute.data)}".encode()
    return start + _column(attribute.data, *_COLUMNS[attribute.data_type]) if attribute.data_type in _COLUMNS else start


def _shape_keys_of(mesh: Mesh) -> Iterator[bytes]:
    """The shape keys of a mesh that nothing animates."""
    keys = mesh.shape_keys
    for block in keys.key_blocks if keys is not None and keys.animation_data is None else ():
        yield f"{block.name} {block.value} {block.mute}".encode()
        yield _column(block.data, "co", 3)


def _data_values(data: Any) -> bytes:
    """Values of data that is no mesh, with the points of curves, point clouds and armatures."""
    chunks = [values_digest(data).encode()]
    for item in getattr(data, "attributes", ()):
        if item.name in ("position", "radius"):
            is_vector = item.data_type == "FLOAT_VECTOR"
            chunks.append(_column(item.data, "vector" if is_vector else "value", 3 if is_vector else 1))
    for spline in getattr(data, "splines", ()):
        chunks += [_column(spline.points, "co", 4), _column(spline.bezier_points, "co", 3)]
    for bone in getattr(data, "bones", ()):
        chunks.append(np.array(bone.matrix_local, "f4").tobytes())
    return b"".join(chunks)


def _column(items: Any, name: str, size: int, kind: str = "f4") -> bytes:
    values = np.empty(len(items) * size, kind)
    items.foreach_get(name, values)
    return values.tobytes()


# --------------------------------------------------------------------------- materials and other data


#: Inputs of UsdPreviewSurface by those of Blender's Principled BSDF that its exporter writes them from.
_SURFACE_INPUTS = {
    "Base Color": "diffuseColor", "Roughness": "roughness", "Metallic": "metallic", "Alpha": "opacity", "IOR": "ior",
    "Emission Color": "emissiveColor", "Emission Strength": "emissiveColor", "Coat Weight": "clearcoat",
    "Coat Roughness": "clearcoatRoughness", "Specular IOR Level": "specular",
}  # fmt: skip


def _look_of(material: Material) -> str:
    """Digest of the nodes, links and images of a material; then a line for each input of its surface."""
    tree: Any = material.node_tree
    if tree is None:
        return values_digest(material)
    parts, inputs = [f"{material.use_nodes}" if bpy.app.version < (5, 0) else ""], []
    for node in tree.nodes:
        parts.append(f"{node.bl_idname} {node.name} {node.mute}")
        for item in node.inputs:
            if not hasattr(item, "default_value"):
                continue
            if node.type != "BSDF_PRINCIPLED":
                parts.append(f"{item.identifier} {_text(item.default_value)}")
            elif name := _SURFACE_INPUTS.get(item.name):  # others have no word in USD
                inputs.append(f"{name} {_digest(_text(item.default_value).encode())}")
        image = getattr(node, "image", None)
        if image is not None:
            parts.append(f"{_file_name(image.filepath)} {image.colorspace_settings.name}")
        if node.type in ("RGB", "VALUE"):
            parts.append(_text(node.outputs[0].default_value))
    parts += [
        f"{link.from_node.name} {link.from_socket.identifier} {link.to_node.name} {link.to_socket.identifier}"
        for link in tree.links
    ]
    return "\n".join((_digest("\n".join(parts).encode()), *inputs))


def _images_of(material: Material) -> dict[str, Any]:
    """The images of files that a material shows, by digests of the names of the nodes."""
    tree: Any = material.node_tree
    shown = [(node.name, getattr(node, "image", None)) for node in tree.nodes] if tree is not None else []
    return {_text_digest(name): image for name, image in shown if image is not None and image.filepath}


def _has_other_images(material: Material, noted: list[str]) -> bool:
    """Whether an image of the same name from another folder has replaced a noted one.

    Folders move, and files are edited in place, so that both the place and the content have to differ. What notes of
    older versions or missing files leave open counts as no edit.
    """
    images, source = _images_of(material), str(material.usdphys.prim.source)
    for line in noted:
        if line.startswith(_IMAGE):
            node, place, content = line.removeprefix(_IMAGE).split(" ")
            image = images.get(node)
            if image is not None and content and place != _place(image, source):
                now = _content(image, {})
                if now and now != content:
                    return True
    return False


def _place(image: Any, source: str) -> str:
    """Digest of the path of an image file, as seen from the folder of the file that a material is from."""
    file = bpy.path.abspath(image.filepath, library=image.library)
    with suppress(ValueError):  # on another drive of Windows
        file = os.path.relpath(file, Path(bpy.path.abspath(source)).parent)
    return _text_digest(file.replace("\\", "/"))


def _content(image: Any, known: dict[str, str]) -> str:
    """Size and CRC-32 of an image, packed or in its file; empty where it cannot be read. known: by path.

    Of a larger one only the first `_MOST_READ` bytes count.
    """
    if image.packed_file is not None:
        return f"{image.packed_file.size:x}-{crc32(image.packed_file.data[:_MOST_READ]):x}"
    file = bpy.path.abspath(image.filepath, library=image.library)
    if file not in known:
        known[file] = ""
        with suppress(OSError, ValueError):
            if Path(file).is_file():
                with Path(file).open("rb") as stream:
                    known[file] = f"{Path(file).stat().st_size:x}-{crc32(stream.read(_MOST_READ)):x}"
    return known[file]


def values_digest(data: Any) -> str:
    """Digest of the numbers, choices and names of a data-block, such as a light or a camera."""
    lines = []
    for item in data.bl_rna.properties:
        name = item.identifier
        if item.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING") and not item.is_readonly and name not in _IDLE:
            value = getattr(data, name)
            lines.append(f"{name} {_file_name(value) if item.subtype == 'FILE_PATH' else _text(value)}")
    return _digest("\n".join(lines).encode())


def _file_name(filepath: str) -> str:
    """The name of a file; saving a .blend makes its folder relative, which is no edit."""
    return filepath.replace("\\", "/").rpartition("/")[2]


def _text(value: Any) -> str:
    try:
        return " ".join(repr(part) for part in value) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)


def _text_digest(text: str) -> str:
    return _digest(text.encode(errors="surrogatepass"))


def _digest(data: bytes) -> str:
    """Length and CRC-32. Each change of one number changes it; of larger changes, one in four billion does not."""
    return f"{len(data):x}-{crc32(data):x}" if data else ""
