# SPDX-License-Identifier: GPL-3.0-or-later
"""The prims that Blender things were imported from. The name counts as long as nobody renames the thing."""

from __future__ import annotations

from typing import Any

import bpy

from ..core import paths, schema
from .naming import prim_name

GPRIM_TYPES = frozenset(schema.schemas_of("UsdGeom"))
#: Types of prims that are geometry themselves.
GEOMETRY_TYPES = frozenset({"Mesh", "Points"}) | GPRIM_TYPES


def prim_of(thing: Any) -> Any | None:
    """What an object, a material, a physics scene or a collision group remembers of its prim, or None."""
    owner = thing if isinstance(thing, bpy.types.PropertyGroup) else thing.usdphys
    prim: Any = owner.prim  # type: ignore[union-attr]
    return prim if prim.path and prim.id_name == thing.name else None


def name_of(obj: bpy.types.Object) -> str:
    """Name of the prim of an object: the one it was imported under, else its own."""
    prim = prim_of(obj) if obj.usdphys.is_property_set("prim") else None  # type: ignore[attr-defined]
    return paths.name_of(prim.path) if prim is not None else prim_name(obj.name)


def path_of(thing: Any) -> str:
    """Path that something was imported from; empty where it was not, or has another name by now."""
    prim = prim_of(thing)
    return str(prim.path) if prim is not None else ""


def type_of(obj: bpy.types.Object) -> str:
    """Type of the prim that an object, or what it was copied from, was imported from; empty where it was not."""
    physics: Any = obj.usdphys  # type: ignore[attr-defined]
    return str(physics.prim.type_name) if physics.is_property_set("prim") else ""


def is_geometry(obj: bpy.types.Object) -> bool:
    """True where the prim of an object was the geometry itself, without an Xform above."""
    return type_of(obj) in GEOMETRY_TYPES
