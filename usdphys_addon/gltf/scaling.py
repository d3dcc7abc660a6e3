# SPDX-License-Identifier: GPL-3.0-or-later
"""Multiplies all lengths of a glTF document, as Blender's exporter does not do for the unit scale of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.errors import InputError
from . import names
from .document import Document

#: Lengths in the materials, lights and cameras of a document.
_MATERIAL = {"KHR_materials_volume": ("thicknessFactor", "attenuationDistance")}
_CAMERA = ("znear", "zfar", "xmag", "ymag")
#: Columns of a matrix with its translation.
_PLACE = slice(12, 15)
_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization")


def scale_lengths(document: Document, factor: float) -> None:
    """Multiply all lengths by a factor. Raises InputError where meshes are compressed."""
    content = document.json
    packed = [name for name in _COMPRESSED if name in content.get("extensionsUsed", ())]
    if packed:
        raise InputError(
            f"The unit scale of the scene is not 1, and '{document.path.name}' has {packed[0]}, whose meshes cannot be "
            "scaled; export it without compression."
        )
    for node in document.nodes:
        if "translation" in node:
            node["translation"] = [factor * value for value in node["translation"]]
        if "matrix" in node:
            node["matrix"][_PLACE] = [factor * value for value in node["matrix"][_PLACE]]
    matrices = {skin["inverseBindMatrices"] for skin in content.get("skins", []) if "inverseBindMatrices" in skin}
    for index in sorted(matrices):
        document.scale_accessor(index, factor, _PLACE)
    for index in sorted(set(_of_meshes(content)) | set(_of_nodes(content)) | set(_of_animations(content))):
        document.scale_accessor(index, factor)
    for camera in content.get("cameras", []):
        for kind in ("perspective", "orthographic"):
            _scale(camera.get(kind, {}), _CAMERA, factor)
    for light in content.get("extensions", {}).get(names.LIGHTS, {}).get("lights", []):
        _scale(light, ("range",), factor)
    for material in content.get("materials", []):
        for name, keys in _MATERIAL.items():
            _scale(material.get("extensions", {}).get(name, {}), keys, factor)
    document.forget()


def _scale(holder: dict[str, Any], keys: tuple[str, ...], factor: float) -> None:
    for key in keys:
        if key in holder:
            holder[key] *= factor


def _of_meshes(content: dict[str, Any]) -> Iterator[int]:
    for mesh in content.get("meshes", []):
        for primitive in mesh.get("primitives", []):
            for one in (primitive["attributes"], *primitive.get("targets", [])):
                if "POSITION" in one:
                    yield one["POSITION"]


def _of_nodes(content: dict[str, Any]) -> Iterator[int]:
    for node in content.get("nodes", []):
        instances = node.get("extensions", {}).get("EXT_mesh_gpu_instancing", {})
        if "TRANSLATION" in instances.get("attributes", {}):
            yield instances["attributes"]["TRANSLATION"]


def _of_animations(content: dict[str, Any]) -> Iterator[int]:
    for animation in content.get("animations", []):
        for channel in animation["channels"]:
            if channel["target"]["path"] == "translation":
                yield animation["samplers"][channel["sampler"]]["output"]
