# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks of materials: values behind their interface, for Blender; and their networks, kept as text for an export."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd, UsdShade, Vt

from ..core.errors import InputError
from ..core.paths import free, is_at_or_below
from .carry import Carrier, carry_whole, note_ancestors, prims_below
from .carry_fields import NOTES_KEY, PRIM_FIELDS, folder, parsed, set_type
from .carry_restore import Moved, Restorer, layer_units, made_prim

#: Identifier of the shader that Blender imports and exports.
_PREVIEW = "UsdPreviewSurface"
_OUTPUTS = ("outputs:", "inputs:")


class Images:
    """Images of the materials of a stage. textures: folder beside it that they are copied to; None: as they are."""

    def __init__(self, textures: Path | None) -> None:
        self.textures = textures
        self.copied: dict[Path, str] = {}

    def asset(self, file: Path) -> str:
        """The path of an image, as the stage names it. Each is copied once."""
        if self.textures is None:
            return file.absolute().as_posix()
        if file not in self.copied:
            self.textures.mkdir(exist_ok=True)
            name = free(file.stem, {Path(one).stem for one in self.copied.values()}.__contains__) + file.suffix
            shutil.copyfile(file, self.textures / name)
            self.copied[file] = f"./{self.textures.name}/{name}"
        return self.copied[file]


# --------------------------------------------------------------------------- values behind an interface


@dataclass(slots=True)
class InterfaceValues:
    """Inputs of a UsdPreviewSurface that are connected to inputs of the material, and not to another shader.

    values: by name of the input, as floats or tuples of floats. textures: resolved files of the UsdUVTexture behind an
    input, where their file is an input of the material.
    """

    values: dict[str, Any] = field(default_factory=dict)
    textures: dict[str, str] = field(default_factory=dict)


def interface_values(stage: Usd.Stage, paths: Iterable[str]) -> dict[str, InterfaceValues]:
    """The values behind the interfaces of materials, by path; without materials that have none."""
    interfaces = {}
    for path in paths:
        try:
            values = _interface_values(UsdShade.Material(stage.GetPrimAtPath(path)))
        except Tf.ErrorException:  # an input that is a relationship, or the like
            continue
        if values.values or values.textures:
            interfaces[path] = values
    return interfaces


def _interface_values(material: UsdShade.Material) -> InterfaceValues:
    values = InterfaceValues()
    surface = material.ComputeSurfaceSource()[0] if material else None
    if not surface or surface.GetIdAttr().Get() != _PREVIEW:
        return values
    for item in surface.GetInputs():
        if not item.HasConnectedSource():
            continue
        for attribute in item.GetValueProducingAttributes():
            if not UsdShade.Output.IsOutput(attribute):
                value = attribute.Get()
                if value is not None and not isinstance(value, str | Sdf.AssetPath):
                    values.values[item.GetBaseName()] = value if isinstance(value, float) else tuple(value)
                continue
            texture = UsdShade.Shader(attribute.GetPrim())
            file = texture.GetInput("file") if texture else None
            if file and file.HasConnectedSource():
                asset = next((one.Get() for one in file.GetValueProducingAttributes()), None)
                if isinstance(asset, Sdf.AssetPath) and asset.resolvedPath:
                    values.textures[item.GetBaseName()] = asset.resolvedPath
    return values


# --------------------------------------------------------------------------- networks


def capture_looks(stage: Usd.Stage, materials: Iterable[str], shown: Collection[str], below: str = "") -> str:
    """Materials with the shaders and node graphs below them, as USDA text; without the physics of the materials.

    materials: paths. shown: paths of the materials that Blender has imported. below: path of the prim that others must
    be below.
    """
    carrier = Carrier("", folder(stage.GetRootLayer()))
    carried: list[str] = []
    hidden: list[str] = []
    for path in materials:
        material = stage.GetPrimAtPath(path)
        if path not in shown and not is_at_or_below(path, below):
            continue
        carried.append(path)
        if path not in shown:
            hidden.append(path)
        if path in shown:
            spec = carrier.at(material.GetPath())
            spec.specifier, spec.typeName = Sdf.SpecifierDef, str(material.GetTypeName())
            for item in material.GetAuthoredProperties():
                if item.GetName().startswith(_OUTPUTS):
                    carrier.property(item)
        else:
            carry_whole(carrier, material)
        for inner in prims_below(material):
            if inner != material:
                carry_whole(carrier, inner)
    if not carried:
        return ""
    note_ancestors(
        carrier, stage, [str(one.GetPath()) for path in carried for one in prims_below(stage.GetPrimAtPath(path))]
    )
    carrier.notes["prims"] = Vt.StringArray(carried)
    carrier.notes["hidden"] = Vt.StringArray(hidden)
    return carrier.text()


def looks_in(text: str) -> dict[str, bool]:
    """Paths of the materials that `capture_looks` has carried, and whether Blender has imported each."""
    if not text.strip():
        return {}
    notes = parsed(text).customLayerData.get(NOTES_KEY, {})
    hidden = frozenset(notes.get("hidden", ()))
    return {path: path not in hidden for path in notes.get("prims", ())}


def other_networks(text: str, path: str) -> list[str]:
    """Names of the outputs of a material that Blender cannot write, such as `outputs:mdl:surface`."""
    spec = parsed(text).GetPrimAtPath(path)
    names = list(spec.properties.keys()) if spec is not None else []
    return [name for name in names if name.startswith("outputs:") and name.count(":") > 1]


def restore_looks(text: str, layer: Sdf.Layer, moved: Moved, paths: Iterable[str]) -> None:
    """Replace the networks of materials in a layer by the ones that `capture_looks` has found, and make missing ones.

    Properties that are not of the network stay, such as the physics. Raises InputError if the text cannot be parsed.
    """
    source = parsed(text)
    back = Restorer(source, layer, moved, layer_units(layer))
    for path in paths:
        carried = source.GetPrimAtPath(path)
        if carried is None:
            raise InputError(f"The material '{path}' is missing from the USD text that the scene keeps.")
        spec = layer.GetPrimAtPath(moved(path)) or made_prim(back, Sdf.Path(moved(path)), carried)
        spec.specifier = Sdf.SpecifierDef
        for child in list(spec.nameChildren):
            del spec.nameChildren[child.name]
        for name in [name for name in spec.properties.keys() if name.startswith(_OUTPUTS)]:
            spec.RemoveProperty(spec.properties[name])
        _add(back, carried, spec)


def _add(back: Restorer, carried: Sdf.PrimSpec, spec: Sdf.PrimSpec) -> None:
    back.schemas(carried, spec)
    back.metadata(carried, spec, PRIM_FIELDS)
    back.properties(carried, spec)
    for child in carried.nameChildren:
        new = Sdf.CreatePrimInLayer(back.layer, spec.path.AppendChild(child.name))
        new.specifier = child.specifier
        set_type(new, child.typeName)
        _add(back, child, new)
