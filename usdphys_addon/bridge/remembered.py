# SPDX-License-Identifier: GPL-3.0-or-later
"""The prims that Blender things were imported from. They count as long as nobody renames the thing."""

from __future__ import annotations

from typing import Any

import bpy

from ..core import schema
from .naming import prim_name

#: Types of prims that are geometry themselves.
GEOMETRY_TYPES = frozenset({"Mesh", "Points", *schema.schemas_of("UsdGeom")})


def prim_of(thing: Any) -> Any | None:
    """What an object, a material, a physics scene or a collision group remembers of its prim, or None."""
    prim = thing.usdphys.prim if isinstance(thing, bpy.types.ID) else thing.prim
    return prim if prim.path and prim.id_name == thing.name else None


def name_of(obj: bpy.types.Object) -> str:
    """Name of the prim of an object: the one it was imported under, else its own."""
    prim = prim_of(obj) if obj.usdphys.is_property_set("prim") else None  # type: ignore[attr-defined]
    return str(prim.path.rsplit("/", 1)[-1]) if prim is not None else prim_name(obj.name)


def is_geometry(obj: bpy.types.Object) -> bool:
    """True where the prim of an object was the geometry itself, without an Xform above."""
    if not obj.usdphys.is_property_set("prim"):  # type: ignore[attr-defined]
        return False
    prim = prim_of(obj)
    return prim is not None and prim.type_name in GEOMETRY_TYPES
