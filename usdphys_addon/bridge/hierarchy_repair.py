# SPDX-License-Identifier: GPL-3.0-or-later
"""Put right what Blender's importer makes of prims without a transform, and of those that ignore what is above them.

It drops prims without a type, so that what is below loses its place; it puts units and up axis on the topmost prims
that have a transform, wherever they are; and it does not know `!resetXformStack!`.
"""

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
    conversion = _conversion(stage, cache, found)
    loose: set[str] = set()
    for path in sorted(found.objects):
        for missing in reversed(_missing_above(path, found, below)):
            empty = bpy.data.objects.new(missing.rsplit("/", 1)[1], None)
            empty.empty_display_size = 0.01
            scene.collection.objects.link(empty)
            found.objects[missing] = empty.name
            _place(empty, missing, stage, cache, found)
            _settle(empty, missing, stage, conversion, loose)
        obj = bpy.data.objects[found.objects[path]]
        above = path.rsplit("/", 1)[0]
        expected = found.objects.get(above)
        if expected is not None and (above in loose or obj.parent is None or obj.parent.name != expected):
            _place(obj, path, stage, cache, found)
        if expected is None or above in loose:
            _settle(obj, path, stage, conversion, loose)
    _honour_resets(stage, cache, found, conversion)


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
    from ..core import usd_read

    parent = found.objects.get(path.rsplit("/", 1)[0])
    obj.parent = bpy.data.objects[parent] if parent is not None else None
    obj.matrix_parent_inverse = mathutils.Matrix()
    obj.matrix_basis = _local(path, stage, cache)


def _local(path: str, stage: Any, cache: Any) -> mathutils.Matrix:
    """The local transform of a prim."""
    from ..core import usd_read

    local, _resets = usd_read.settled(cache.GetLocalTransformation, stage.GetPrimAtPath(path))
    return mathutils.Matrix([list(row) for row in local]).transposed()


def _conversion(stage: Any, cache: Any, found: Found) -> mathutils.Matrix:
    """What Blender puts on the topmost prims with a transform: units, up axis, and the scale that somebody asks for."""
    from ..core import usd_read

    for path, name in sorted(found.objects.items()):
        if _is_xformable(stage, path):
            local = _local(path, stage, cache)
            if abs(local.determinant()) > 1e-12:
                conversion: mathutils.Matrix = bpy.data.objects[name].matrix_basis @ local.inverted()
                conversion.translation = (0.0, 0.0, 0.0)
                return conversion
    return mathutils.Matrix()


def _is_xformable(stage: Any, path: str) -> bool:
    from pxr import UsdGeom

    return bool(stage.GetPrimAtPath(path).IsA(UsdGeom.Xformable))


def _settle(obj: bpy.types.Object, path: str, stage: Any, conversion: mathutils.Matrix, loose: set[str]) -> None:
    """Have units and up axis on the topmost object, also where its prim has no transform. loose: such prims."""
    if _is_xformable(stage, path):
        return
    loose.add(path)
    if obj.parent is None:
        obj.matrix_basis = conversion


def _honour_resets(stage: Any, cache: Any, found: Found, conversion: mathutils.Matrix) -> None:
    """Undo what is above a prim that resets the transform stack; its object still moves with its parent."""
    from ..core import usd_read

    for path, name in sorted(found.objects.items()):
        _local, resets = usd_read.settled(cache.GetLocalTransformation, stage.GetPrimAtPath(path))
        if not resets:
            continue
        obj = bpy.data.objects[name]
        if obj.parent is not None:
            obj.matrix_parent_inverse = _world(obj.parent).inverted_safe() @ conversion


def _world(obj: bpy.types.Object) -> mathutils.Matrix:
    """Where an object is; Blender has not evaluated what is new yet."""
    place = obj.matrix_basis.copy()
    while obj.parent is not None:
        place = obj.matrix_parent_inverse @ place
        obj = obj.parent
        place = obj.matrix_basis @ place
    return place
