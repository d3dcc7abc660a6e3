# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the parts that generators make, bodies with given sizes, and where they are put."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import mathutils
import numpy as np

from ..authoring.generators import box, cylinder
from ..core.frames import Matrix

__all__ = [
    "add_object", "box", "capsule", "cylinder", "give_box", "give_capsule", "link", "new_collection", "select_only",
]  # fmt: skip

_AROUND, _ALONG = 12, 7
#: Z of a mesh becomes X.
_TO_X = mathutils.Matrix(((0, 0, 1, 0), (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1)))


def _finish(name: str, made: Any, *, is_smooth: bool) -> Any:
    data = bpy.data.meshes.new(name)
    made.to_mesh(data)
    made.free()
    if is_smooth:
        data.polygons.foreach_set("use_smooth", np.ones(len(data.polygons), bool))
    return data


def capsule(name: str, radius: float, height: float) -> Any:
    """Mesh of a capsule about its centre, along X. height: without the caps, Blender units."""
    made = bmesh.new()
    bmesh.ops.create_uvsphere(made, u_segments=_AROUND, v_segments=_ALONG, radius=radius, matrix=_TO_X)
    for vertex in made.verts:
        vertex.co.x += math.copysign(height / 2.0, vertex.co.x)
    return _finish(name, made, is_smooth=True)


def link(name: str, wire: float, length: float, width: float) -> Any:
    """Mesh of a link of a chain about its centre, along X in XY. wire: its radius; other sizes: to its middle."""
    radius, half = width / 2.0, max(length - width, 0.0) / 2.0
    made: Any = bmesh.new()
    rings = []
    for step in range(24):
        angle = 2.0 * math.pi * (step + 0.5) / 24
        out: Any = mathutils.Vector((math.cos(angle), math.sin(angle), 0.0))
        middle = out * radius + mathutils.Vector((math.copysign(half, out.x), 0.0, 0.0))
        turns = [2.0 * math.pi * part / 8 for part in range(8)]
        rings.append([
            made.verts.new(middle + (out * math.cos(turn) + mathutils.Vector((0.0, 0.0, math.sin(turn)))) * wire)
            for turn in turns
        ])  # fmt: skip
    for one, other in zip(rings, rings[1:] + rings[:1], strict=True):
        for part in range(8):
            after = (part + 1) % 8
            made.faces.new((one[part], other[part], other[after], one[after]))
    bmesh.ops.recalc_face_normals(made, faces=made.faces[:])
    return _finish(name, made, is_smooth=True)


def new_collection(context: Any, name: str) -> Any:
    """A new collection below that of the context."""
    collection = bpy.data.collections.new(name)
    context.collection.children.link(collection)
    return collection


def select_only(context: Any, objects: Sequence[Any]) -> None:
    """Select these objects and no others; the first becomes active."""
    for obj in list(context.selected_objects):
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    context.view_layer.objects.active = objects[0]


def add_object(collection: Any, name: str, data: Any, place: Matrix) -> Any:
    """A new object in a collection, with quaternions. place: world matrix (4, 4)."""
    obj: Any = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    obj.rotation_mode = "QUATERNION"
    obj.matrix_basis = mathutils.Matrix(np.asarray(place).tolist())
    return obj


def give_capsule(obj: Any, radius: float, height: float, axis: str = "X", center: Sequence[float] = (0, 0, 0)) -> Any:
    """Add a capsule as a collider of its own size, Blender units."""
    item = obj.usdphys.colliders.add()
    item.shape, item.axis, item.location = "CAPSULE", axis, center
    item.radius, item.height = radius, height
    return item


def give_box(obj: Any, size: Sequence[float], center: Sequence[float] = (0, 0, 0)) -> Any:
    """Add a box as a collider of its own size, Blender units."""
    item = obj.usdphys.colliders.add()
    item.shape, item.size, item.location = "CUBE", size, center
    return item
