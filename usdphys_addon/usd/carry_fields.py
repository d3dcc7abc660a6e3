# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by `carry` and `carry_restore`: lists of fields, values, asset paths, and parsing of the text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd

from ..core import schema, vendor_schemas
from ..core.errors import InputError
from ..core.schema import Attribute
from ..core.vendors import held_class, is_held
from . import read as usd_read
from . import write as usd_write

Convert = Callable[[Any], Any]


#: Key in customLayerData of the carried text for data that `restore` needs.
NOTES_KEY = "usdphys"
#: Fields that are not copied: composition arcs, which are resolved, and fields that the carrier sets explicitly.
PRIM_FIELDS = frozenset({
    "specifier", "typeName", "apiSchemas", "active", "instanceable", "references", "payload", "inheritPaths",
    "specializes", "variantSelection", "variantSetNames", "clips", "clipSets", "primOrder", "propertyOrder",
    "primChildren", "properties", "permission", "relocates",
})  # fmt: skip
PROPERTY_FIELDS = frozenset({
    "custom", "typeName", "variability", "default", "timeSamples", "spline", "connectionPaths", "targetPaths",
    "connectionChildren", "targetChildren",
})  # fmt: skip
LAYER_FIELDS = frozenset({
    "subLayers", "subLayerOffsets", "primChildren", "primOrder", "defaultPrim", "metersPerUnit", "kilogramsPerUnit",
    "upAxis", "expressionVariables", "layerRelocates", "owner", "sessionOwner", "hasOwnedSubLayers", "customLayerData",
})  # fmt: skip
#: Families of types that the model reads in the same way.
_READ_ALIKE = (
    frozenset({"float", "double", "half", "int", "uint", "int64", "uint64", "uchar"}),
    frozenset({f"{name}3{size}" for name in ("point", "vector", "normal", "color") for size in "fdh"}
              | {"float3", "double3", "half3"}),
    frozenset({"quatf", "quatd", "quath"}),
    frozenset({"token", "string"}),
)  # fmt: skip


_QUATERNIONS = (Gf.Quatd, Gf.Quatf, Gf.Quath)


@lru_cache(maxsize=256)
def table_properties(type_name: str, names: tuple[str, ...]) -> dict[str, tuple[Attribute, str]]:
    """(attribute, instance) by property name: all that the model holds for a prim of this type and schemas."""
    properties: dict[str, tuple[Attribute, str]] = {}
    for name in (type_name, *names):
        cls, (_, instance) = held_class(name, type_name, names), schema.split_applied(name)
        if cls is not None and (cls.kind == "typed") == (name == type_name):
            instance = vendor_schemas.dof_of(cls, instance, type_name)
            held = (attribute for attribute in cls.attributes if is_held(cls, attribute))
            properties.update({attribute.usd_name(instance): (attribute, instance) for attribute in held})
    return properties


def listed_schemas(spec: Sdf.PrimSpec) -> list[str]:
    """API schemas that a spec adds or lists explicitly."""
    if not spec.HasInfo("apiSchemas"):
        return []
    return list(dict.fromkeys(spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()))


def set_type(spec: Sdf.PrimSpec, type_name: str) -> None:
    if type_name:
        spec.typeName = type_name


@lru_cache(maxsize=64)
def parsed(text: str) -> Sdf.Layer:
    """The text as a layer. Cached, because equal prims have equal texts: do not modify it. Raises InputError."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        is_read = layer.ImportFromString(text)
    except Tf.ErrorException as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise InputError(
            f"USD text that the scene keeps of its imported file is broken ({reason}); import the file again."
        ) from error
    if not is_read:
        raise InputError("USD text that the scene keeps of its imported file is broken; import the file again.")
    return layer


def folder(layer: Sdf.Layer) -> str:
    """The folder of a layer; empty for an anonymous layer."""
    return _folder_of(layer.realPath)


@lru_cache(maxsize=8)
def _folder_of(path: str) -> str:
    return Path(path.split("[")[0]).parent.as_posix() if path else ""


def relative_path(path: str, folder: str) -> str:
    """A path relative to a folder, in the syntax of USD; not relative if it is on another drive."""
    try:
        relative = Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return Path(path).as_posix()
    return relative if relative.startswith("../") else f"./{relative}"


def with_assets(value: Any, convert: Callable[[Sdf.AssetPath], Sdf.AssetPath]) -> Any:
    """A value with every asset path in it, in arrays and dictionaries too, converted."""
    if isinstance(value, Sdf.AssetPath):
        return convert(value)
    if isinstance(value, Sdf.AssetPathArray):
        return Sdf.AssetPathArray([convert(one) for one in value])
    if isinstance(value, dict):
        return {key: with_assets(one, convert) for key, one in value.items()}
    return value


def is_asset(type_name: Sdf.ValueTypeName) -> bool:
    return str(type_name) in ("asset", "asset[]")


@cache
def alike(one: str, other: str) -> bool:
    """Whether the model accepts values of one type for an attribute declared with the other."""
    return one == other or any(one in family and other in family for family in _READ_ALIKE)


@cache
def is_stored_as(one: str, other: str) -> bool:
    """Whether values of two types are the same in C++; simulators ask for values by that type, and get no other.

    A file can name a type that there is not.
    """
    types = [Sdf.ValueTypeNames.Find(name) for name in (one, other)]
    return one == other or (all(types) and types[0].type == types[1].type)


def type_in_file(item: Usd.Attribute) -> str:
    """The type that the strongest of the specs of an attribute declares; empty where that is no attribute."""
    stack = item.GetPropertyStack(Usd.TimeCode.Default()) if item else []
    return str(stack[0].typeName) if stack and isinstance(stack[0], Sdf.AttributeSpec) else ""


def is_mistyped(kind: str, attribute: Attribute) -> bool:
    """True for a type whose values count here, and that simulators do not ask for."""
    return alike(kind, attribute.type) and not is_stored_as(kind, attribute.type)


def converted(attribute: Attribute, raw: Any, factor: float, turn: Any) -> Any:
    """A USD value after a unit factor and, if not None, a rotation (3, 3)."""
    value = usd_read.plain_value(raw, 1.0)
    if turn is not None:
        value = tuple((turn @ np.asarray(value)).tolist())
    made = usd_write.usd_value(attribute.type, value, factor)
    # USD makes a number or a vector one of another precision by itself, and no quaternion.
    return type(raw)(made) if isinstance(raw, _QUATERNIONS) else made


def set_paths(listed: Any, paths: Iterable[Sdf.Path]) -> None:
    """Replace a target list by an explicit list, which may be empty."""
    listed.ClearEditsAndMakeExplicit()
    items = list(paths)
    if items:
        listed.explicitItems = items


def copy_fields(source: Sdf.Spec, target: Sdf.Spec, wanted: Callable[[str, bool], bool]) -> None:
    """Copy the fields of a spec for which wanted(name, is_in_target) is True. Children are not copied."""

    def value(_kind: Any, name: str, _from: Any, _path: Any, is_here: bool, _to: Any, _at: Any, is_there: bool) -> bool:
        return is_here and wanted(str(name), is_there)

    def children(*_arguments: Any) -> bool:
        return False

    Sdf.CopySpec(source.layer, source.path, target.layer, target.path, value, children)
