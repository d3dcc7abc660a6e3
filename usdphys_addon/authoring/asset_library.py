# SPDX-License-Identifier: GPL-3.0-or-later
"""The asset library of the extension in Blender's preferences, and the size of what was dropped from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import mathutils
from bpy.types import Context, Object

from ..bridge import mesh as meshes
from ..core.errors import InputError
from ..core.words import named

NAME = "Physics"
FOLDER = Path(__file__).resolve().parents[2] / "library"


def entries() -> list[Any]:
    """The entries of the library in the preferences, also those of another version or place of the extension."""
    libraries: Any = bpy.context.preferences.filepaths.asset_libraries
    return [one for one in libraries if _is_ours(one)]


def _is_ours(entry: Any) -> bool:
    path = Path(bpy.path.abspath(entry.path))
    return path == FOLDER or (entry.name == NAME and path.name == FOLDER.name)


def add() -> bool:
    """Add the library to the preferences. Returns False if it is there. Raises InputError where it has no files."""
    if not list(FOLDER.glob("*.blend")):
        raise InputError("This copy of the extension has no library; install a zip of a release.")
    known = entries()
    if len(known) == 1 and Path(known[0].path) == FOLDER:
        return False
    remove()
    libraries: Any = bpy.context.preferences.filepaths.asset_libraries
    libraries.new(name=NAME, directory=str(FOLDER))
    bpy.context.preferences.is_dirty = True
    return True


def remove() -> bool:
    """Remove the library from the preferences. Returns False if it was not there. What was dropped stays."""
    libraries: Any = bpy.context.preferences.filepaths.asset_libraries
    found = entries()
    for entry in found:
        libraries.remove(entry)
    if found:
        bpy.context.preferences.is_dirty = True
    return bool(found)


def fit(context: Context) -> list[str]:
    """Scale the other selected objects evenly to the width of the active one, and put them on top of it.

    An even scale keeps joints and round wheels as they are. Width is the longest side along X or Y. Returns their
    names. Raises InputError, with nothing changed.
    """
    target = context.active_object
    chosen = [obj for obj in context.selected_objects if obj != target and obj.parent not in context.selected_objects]
    if target is None or target not in context.selected_objects or not chosen:
        raise InputError("Select what is to be fitted, and last the object to fit it to.")
    context.view_layer.update()
    boxes = {obj: box_of(context, obj) for obj in (target, *chosen)}
    flat = [obj.name for obj, box in boxes.items() if box is None or max(*(box[1] - box[0]).xy) <= 0.0]
    linked = [obj.name for obj in chosen if obj.library is not None]
    if flat or linked:
        raise InputError(f"What has no width or is linked cannot be fitted: {named(flat + linked)}.")
    low, high = boxes[target]  # type: ignore[misc]
    place = mathutils.Vector(((low.x + high.x) / 2.0, (low.y + high.y) / 2.0, high.z))
    for obj in chosen:
        own_low, own_high = boxes[obj]  # type: ignore[misc]
        factor = max(*(high - low).xy) / max(*(own_high - own_low).xy)
        foot = mathutils.Vector(((own_low.x + own_high.x) / 2.0, (own_low.y + own_high.y) / 2.0, own_low.z))
        move = mathutils.Matrix.Translation(place) @ mathutils.Matrix.Scale(factor, 4)
        obj.matrix_world = move @ mathutils.Matrix.Translation(-foot) @ obj.matrix_world
    context.view_layer.update()
    return [obj.name for obj in chosen]


def box_of(context: Context, obj: Object) -> tuple[mathutils.Vector, mathutils.Vector] | None:
    """Least and largest corner in the world of an object, of all below it, and of what they instance; None if empty."""
    inside = {obj, *obj.children_recursive}
    points = []
    instances: Any = context.evaluated_depsgraph_get().object_instances
    for one in instances:
        top = one.parent.original if one.is_instance and one.parent is not None else one.object.original
        if top in inside and one.object.type in meshes.GEOMETRY_TYPES:
            points += [one.matrix_world @ mathutils.Vector(corner) for corner in one.object.bound_box]
    if not points:
        return None
    low, high = (mathutils.Vector([each(point[axis] for point in points) for axis in range(3)]) for each in (min, max))
    return low, high
