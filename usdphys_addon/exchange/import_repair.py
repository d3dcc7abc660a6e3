# SPDX-License-Identifier: GPL-3.0-or-later
"""Repair the hierarchy and the transforms of objects that Blender's importer has made.

The importer drops prims without a type, and with them the transforms above their children. It converts units and up
axis on the topmost prims that have a transform, even if these have parents. It ignores `!resetXformStack!`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
import mathutils
import numpy as np
from bpy.types import Object, Scene

from ..bridge.identity.remembered import ImportedIDs
from ..core import paths

if TYPE_CHECKING:
    from pxr import Usd

    from ..usd.rest_time import RestCaches


def repair(
    scene: Scene, stage: Usd.Stage, found: ImportedIDs, resets: Iterable[str], below: str = "", scale: float = 1.0
) -> None:
    """Make an Empty for every prim that was dropped between two objects; give each object the parent of its prim.

    resets: paths of prims that reset the transform stack. scale: Blender units of a unit of the stage.
    """
    from ..usd import rest_time

    places = rest_time.places(stage)
    objects = found.objects
    conversion = world_conversion(stage, scale)
    is_converted = conversion != mathutils.Matrix()
    loose: set[str] = set()
    for path in sorted(objects):
        above = paths.parent_of(path)
        for missing in () if above in objects else reversed(_missing_above(path, found, below)):
            empty = objects[missing] = _empty(scene, missing)
            _place(empty, places, missing, _parent(missing, found))
            if empty.parent is None:
                # Blender leaves out the root prim of its own files, and with it the conversion of units and up axis.
                empty.matrix_basis = conversion @ empty.matrix_basis
            _settle(empty, missing, stage, conversion, loose)
        obj, expected = objects[path], objects.get(above)
        parent = obj.parent
        if expected is not None and parent is None and above not in loose and not is_converted:
            # Its transform is that of its prim below the parent already; only the parent is new.
            obj.parent = expected
        elif expected is not None and (parent != expected or above in loose):
            _place(obj, places, path, _parent(path, found))
        if expected is None or above in loose:
            _settle(obj, path, stage, conversion, loose)
    _honour_resets(resets, found, conversion)


def add_empties(scene: Scene, found: ImportedIDs, wanted: Iterable[str]) -> None:
    """Make an Empty for each prim of a type that the importer does not know; `repair` gives it its parent."""
    for path in wanted:
        if path not in found.objects:
            found.objects[path] = _empty(scene, path)


def _empty(scene: Scene, path: str) -> Object:
    empty = bpy.data.objects.new(paths.name_of(path), None)
    empty.empty_display_size = 0.01
    scene.collection.objects.link(empty)
    return empty


def _missing_above(path: str, found: ImportedIDs, below: str) -> list[str]:
    """Paths above one that have no object, up to the first that has; nearest first."""
    missing: list[str] = []
    for above in paths.ancestors_of(path):
        if above in found.objects or not paths.is_at_or_below(above, below):
            break
        missing.append(above)
    return missing


def _parent(path: str, found: ImportedIDs) -> Object | None:
    return found.objects.get(paths.parent_of(path))


def _place(obj: Object, places: RestCaches[Any], path: str, parent: Object | None) -> None:
    """Parent an object and give it the local transform of its prim."""
    obj.parent = parent
    obj.matrix_parent_inverse = mathutils.Matrix()
    obj.matrix_basis = _local(places, path)


def _local(places: RestCaches[Any], path: str) -> mathutils.Matrix:
    """The local transform of a prim."""
    from ..usd import read as usd_read

    prim = places.stage.GetPrimAtPath(path)
    local, _resets = usd_read.local_transform(places.of(prim), prim)
    return mathutils.Matrix(np.array(local).T.tolist())


def world_conversion(stage: Usd.Stage, scale: float) -> mathutils.Matrix:
    """The matrix that converts units and up axis, for the topmost objects."""
    from pxr import UsdGeom

    is_y_up = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y
    turn = mathutils.Matrix.Rotation(math.radians(90.0) if is_y_up else 0.0, 4, "X")
    return turn @ mathutils.Matrix.Scale(scale, 4)


def _is_xformable(stage: Usd.Stage, path: str) -> bool:
    from pxr import UsdGeom

    return bool(stage.GetPrimAtPath(path).IsA(UsdGeom.Xformable))


def _settle(obj: Object, path: str, stage: Usd.Stage, conversion: mathutils.Matrix, loose: set[str]) -> None:
    """Convert units and up axis on a topmost object whose prim cannot have a transform. loose: collects such prims."""
    if _is_xformable(stage, path):
        return
    loose.add(path)
    if obj.parent is None:
        obj.matrix_basis = conversion


def _honour_resets(resets: Iterable[str], found: ImportedIDs, conversion: mathutils.Matrix) -> None:
    """Cancel the transforms above prims that reset the transform stack. The objects stay parented."""
    for path in sorted(found.objects.keys() & resets):
        obj = found.objects[path]
        if obj.parent is not None:
            obj.matrix_parent_inverse = _world(obj.parent).inverted_safe() @ conversion


def _world(obj: Object) -> mathutils.Matrix:
    """World matrix of an object, computed here: Blender has not evaluated the new objects yet."""
    place = obj.matrix_basis.copy()
    while obj.parent is not None:
        place = obj.matrix_parent_inverse @ place
        obj = obj.parent
        place = obj.matrix_basis @ place
    return place


def with_data(empty: Object, data: Any) -> Any:
    """An object with other data in the place of an object without any, or with other ones, which is removed."""
    name = empty.name
    obj: Any = bpy.data.objects.new(name, data)
    for collection in empty.users_collection:
        collection.objects.link(obj)
    obj.parent, obj.parent_type, obj.parent_bone = empty.parent, empty.parent_type, empty.parent_bone
    obj.matrix_parent_inverse = empty.matrix_parent_inverse
    obj.rotation_mode = empty.rotation_mode
    obj.location, obj.scale = empty.location, empty.scale
    obj.rotation_quaternion, obj.rotation_euler = empty.rotation_quaternion, empty.rotation_euler
    for key, value in empty.items():
        obj[key] = value
    if hasattr(empty, "gltf2_animation_rest"):
        obj.gltf2_animation_rest = empty.gltf2_animation_rest
    for child in empty.children:
        child.parent = obj
    bpy.data.objects.remove(empty)
    obj.name = name
    return obj
