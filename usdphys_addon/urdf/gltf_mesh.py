# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangles of a glTF file -> arrays, with colours and textures; turned to Z up, because glTF defines Y up."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from .mesh_data import Floats, MeshData, MeshMaterial, joined, sibling
from .packages import is_file

_TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
_MOST_NODES = 20_000


def read_gltf(path: Path) -> MeshData:
    """All triangles of the scene of a .gltf or .glb file. Raises ValueError if there are none."""
    data, binary = path.read_bytes(), b""
    if data[:4] == b"glTF":
        at, text = 12, b""
        while at + 8 <= len(data):
            size, kind = struct.unpack_from("<II", data, at)
            chunk = data[at + 8 : at + 8 + size]
            text, binary = (chunk, binary) if kind == 0x4E4F534A else (text, binary or chunk)
            at += 8 + size
        data = text
    return _Reader(json.loads(data.decode("utf-8")), binary, path).mesh()


class _Reader:
    def __init__(self, document: dict[str, Any], binary: bytes, path: Path) -> None:
        self.document, self.binary, self.path = document, binary, path
        self.buffers: dict[int, bytes] = {}
        self.parts: list[MeshData] = []
        self.nodes = 0

    def mesh(self) -> MeshData:
        nodes = self.document.get("nodes", [])
        scenes = self.document.get("scenes", [])
        below = {child for node in nodes for child in node.get("children", [])}
        roots = [index for index in range(len(nodes)) if index not in below]
        if scenes:
            roots = scenes[self.document.get("scene", 0)].get("nodes", [])
        for root in roots:
            self.node(root, _Z_UP, 0)
        if not self.parts:
            raise ValueError("it shows no triangles")
        return joined(self.parts)

    def node(self, index: int, above: Matrix, depth: int) -> None:
        self.nodes += 1
        if depth > 60 or self.nodes > _MOST_NODES:
            return
        node = self.document["nodes"][index]
        here = above @ _place(node)
        if "mesh" in node:
            for primitive in self.document["meshes"][node["mesh"]]["primitives"]:
                if primitive.get("mode", 4) == 4 and "POSITION" in primitive["attributes"]:
                    self.parts.append(self.primitive(primitive, here))
        for child in node.get("children", []):
            self.node(child, here, depth + 1)

    def primitive(self, primitive: dict[str, Any], here: Matrix) -> MeshData:
        attributes = primitive["attributes"]
        points = self.accessor(attributes["POSITION"])
        corners = np.arange(len(points))
        if "indices" in primitive:
            corners = self.accessor(primitive["indices"]).reshape(-1).astype(np.int64)
        corners = corners[: len(corners) // 3 * 3]
        if np.linalg.det(here[:3, :3]) < 0:
            corners = corners.reshape(-1, 3)[:, ::-1].reshape(-1)
        part = MeshData(points @ here[:3, :3].T + here[:3, 3], np.full(len(corners) // 3, 3), corners)
        inside = corners.size and corners.min() >= 0 and corners.max() < len(points)
        if "TEXCOORD_0" in attributes and inside:
            uvs = self.accessor(attributes["TEXCOORD_0"])[corners][:, :2]
            part.uvs = np.stack([uvs[:, 0], 1.0 - uvs[:, 1]], axis=1)
        if "material" in primitive:
            part.materials = [self.material(primitive["material"])]
            part.faces = np.zeros(len(part.counts), np.int64)
        return part

    def accessor(self, index: int) -> Floats:
        accessor = self.document["accessors"][index]
        kind, width = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]]
        count = int(accessor["count"])
        if "bufferView" not in accessor:
            return np.zeros((count, width))
        view = self.document["bufferViews"][accessor["bufferView"]]
        data = self.buffer(view["buffer"])
        start = int(view.get("byteOffset", 0)) + int(accessor.get("byteOffset", 0))
        step = int(view.get("byteStride", 0)) or kind.itemsize * width
        if count < 0 or start < 0 or start + step * (count - 1) + kind.itemsize * width > len(data):
            raise ValueError("an accessor is larger than its buffer")
        rows = np.ndarray((count, width), kind, data, start, (step, kind.itemsize))
        values = rows.astype(float)
        if accessor.get("normalized") and kind.kind in "iu":
            values /= float(np.iinfo(kind).max)
        return values

    def buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            uri = self.document["buffers"][index].get("uri")
            if uri is None:
                self.buffers[index] = self.binary
            elif uri.startswith("data:"):
                self.buffers[index] = base64.b64decode(uri.partition(",")[2])
            else:
                file = self.path.parent / uri
                if ".." in Path(uri).parts or Path(uri).is_absolute() or file.suffix.lower() != ".bin":
                    raise ValueError("it names a buffer outside its folder")
                # A link can lead to a device, which has no end.
                if not is_file(file):
                    raise ValueError("a buffer is no file")
                self.buffers[index] = file.read_bytes()
        return self.buffers[index]

    def material(self, index: int) -> MeshMaterial:
        material = self.document["materials"][index]
        surface = material.get("pbrMetallicRoughness", {})
        red, green, blue, alpha = (float(part) for part in surface.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0)))
        if material.get("alphaMode", "OPAQUE") == "OPAQUE":
            alpha = 1.0
        made = MeshMaterial(material.get("name") or f"material_{index}", (red, green, blue, alpha))
        strength = (
            material.get("extensions", {}).get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
        )
        red, green, blue = (float(part) * float(strength) for part in material.get("emissiveFactor", (0.0, 0.0, 0.0)))
        made.emission = (red, green, blue)
        made.texture = self.image(surface.get("baseColorTexture"))
        if any(made.emission):
            made.glow = self.image(material.get("emissiveTexture"))
        return made

    def image(self, reference: dict[str, Any] | None) -> Path | None:
        """The file of a texture, if it is one of its own."""
        if reference is None:
            return None
        texture = self.document["textures"][reference["index"]]
        image = self.document["images"][texture["source"]] if "source" in texture else {}
        uri = image.get("uri", "")
        return sibling(self.path.parent, uri) if uri and not uri.startswith("data:") else None


def _place(node: dict[str, Any]) -> Matrix:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    return frames.transform(
        node.get("translation", (0.0, 0.0, 0.0)), frames.matrix_of((w, x, y, z)), node.get("scale", (1.0, 1.0, 1.0))
    )  # fmt: skip
