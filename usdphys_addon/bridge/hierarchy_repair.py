# SPDX-License-Identifier: GPL-3.0-or-later
"""Put right what Blender's importer makes of prims without a type: it drops them, and what is below loses its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils


@dataclass(slots=True)
class Found:
    """What Blender made of the prims: names of objects and materials by prim path."""

    objects: dict[str, str] = field(default_factory=dict)
    materials: dict[str, str] = field(default_factory=dict)


def repair(scene: bpy.types.Scene, stage: Any, found: Found, below: str = "") -> None:
    """Give every prim between two imported ones an Empty, and every object the parent and place that its prim has."""
    from pxr import Usd, UsdGeom

    cache = UsdGeom.XformCache(Usd.TimeCode.Default())
    for path in sorted(found.objects):
        for missing in reversed(_missing_above(path, found, below)):
            empty = bpy.data.objects.new(missing.rsplit("/", 1)[1], None)
            empty.empty_display_size = 0.01
            scene.collection.objects.link(empty)
            found.objects[missing] = empty.name
            _place(empty, missing, stage, cache, found)
        obj = bpy.data.objects[found.objects[path]]
        expected = found.objects.get(path.rsplit("/", 1)[0])
        if expected is not None and (obj.parent is None or obj.parent.name != expected):
            _place(obj, path, stage, cache, found)


def _missing_above(path: str, found: Found, below: str) -> list[str]:
    """Paths above one that have no object though something above them has; nearest first."""
    missing: list[str] = []
    above = path.rsplit("/", 1)[0]
    while above and above not in found.objects and above.startswith(below):
        missing.append(above)
        above = above.rsplit("/", 1)[0]
    return missing


def _place(obj: bpy.types.Object, path: str, stage: Any, cache: Any, found: Found) -> None:
    """Parent an object as its prim is, with the prim's local transform."""
    parent = found.objects.get(path.rsplit("/", 1)[0])
    obj.parent = bpy.data.objects[parent] if parent is not None else None
    prim = stage.GetPrimAtPath(path)
    local, _resets = cache.GetLocalTransformation(prim)
    obj.matrix_parent_inverse = mathutils.Matrix()
    obj.matrix_basis = mathutils.Matrix([list(row) for row in local]).transposed()
