# SPDX-License-Identifier: GPL-3.0-or-later
"""The prims that Blender data was imported from. The prim of renamed data is ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import bpy

from ..core import paths
from ..core.schemas import usd_geom
from .naming import prim_name

#: What Blender appends to a name that is taken.
_NUMBER = re.compile(r"\.\d{3,}\Z")
GPRIM_TYPES = frozenset(cls.usd_name for cls in usd_geom.Gprim.__subclasses__())
#: Types of prims that are geometry themselves.
GEOMETRY_TYPES = frozenset({"Mesh", "Points"}) | GPRIM_TYPES
#: Types of prims that are curves, which have no faces.
CURVE_TYPES = frozenset({"BasisCurves", "HermiteCurves", "NurbsCurves"})


def prim_of(thing: Any) -> Any | None:
    """The RememberedPrim of an object, material, physics scene or collision group; None if new or renamed."""
    owner = thing if isinstance(thing, bpy.types.PropertyGroup) else thing.usdphys
    prim: Any = owner.prim  # type: ignore[union-attr]
    return prim if prim.path and prim.id_name == thing.name else None


def is_renamed(thing: Any) -> bool:
    """True if imported data has another name now, and not only a number because something else has the name."""
    is_item = isinstance(thing, bpy.types.PropertyGroup)
    imported = str((thing if is_item else thing.usdphys).prim.id_name)
    if imported == thing.name:
        return False
    others: Any = () if is_item else bpy.data.objects if isinstance(thing, bpy.types.Object) else bpy.data.materials
    return imported not in others or _NUMBER.sub("", imported) != _NUMBER.sub("", thing.name)


def origins(things: Iterable[Any]) -> dict[str, str]:
    """Path that each object, material or item was imported from, by its name: renamed ones, too, but no copies.

    A copy remembers the same prim as its original. The original is the one with the name that the import gave, else
    the first.
    """
    found: dict[str, Any] = {}
    for thing in things:
        owner: Any = thing if isinstance(thing, bpy.types.PropertyGroup) else thing.usdphys
        prim = owner.prim if owner.is_property_set("prim") else None
        if prim is not None and prim.path and (prim.path not in found or prim.id_name == thing.name):
            found[prim.path] = thing
    return {thing.name: path for path, thing in found.items()}


def name_of(obj: bpy.types.Object) -> str:
    """Name of the prim of an object: the one it was imported under, else its own."""
    prim = prim_of(obj) if obj.usdphys.is_property_set("prim") else None  # type: ignore[attr-defined]
    return paths.name_of(prim.path) if prim is not None else prim_name(obj.name)


def path_of(thing: Any) -> str:
    """Path that an object or other data was imported from; empty if it was not, or was renamed."""
    prim = prim_of(thing)
    return str(prim.path) if prim is not None else ""


def extras_of(text: str) -> dict[str, Any]:
    """`Prim.extras` from the JSON that an object or a collider keeps; empty for other text, which a script can set."""
    if not text:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def type_of(obj: bpy.types.Object) -> str:
    """Prim type that an object, or the object it is a copy of, was imported from; empty if it was not."""
    physics: Any = obj.usdphys  # type: ignore[attr-defined]
    return str(physics.prim.type_name) if physics.is_property_set("prim") else ""


def is_geometry(obj: bpy.types.Object) -> bool:
    """True if an object was imported from a geometry prim, not from an Xform above one."""
    return type_of(obj) in GEOMETRY_TYPES
