# SPDX-License-Identifier: GPL-3.0-or-later
"""New objects that have physics from the start: ground, ramp, stack, ball and domino row. Sizes are in metres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bmesh
import bpy
import mathutils
from bpy.types import Context, Scene

from ..bridge.roles import has_physics, is_body
from ..bridge.writing import unit_length
from .joint_maker import make_body

#: Thickness of the ground, m; its surface is at the cursor.
GROUND, RAMP = (20.0, 20.0, 0.2), (2.0, 1.0, 0.6)
BOX, BALL = 0.5, 0.25
#: How far from a body a ball is thrown at it, m; how long it flies, s; how high it hits, as a part of the height.
THROW, FLIGHT, AIM = 2.0, 0.2, 0.7
DOMINO, GAP = (0.08, 0.3, 0.6), 0.35
Vector3 = Sequence[float]


def _mesh(name: str, fill: Callable[[Any], Any]) -> Any:
    data = bpy.data.meshes.new(name)
    made = bmesh.new()
    fill(made)
    made.to_mesh(data)
    made.free()
    return data


def box(name: str, size: Vector3) -> Any:
    """Mesh of a box about its centre. size: Blender units."""
    scale = mathutils.Matrix.Diagonal((*size, 1.0))
    return _mesh(name, lambda mesh: bmesh.ops.create_cube(mesh, size=1.0, matrix=scale))


def _wedge(name: str, size: Vector3) -> Any:
    """Rises along X."""
    x, y, z = (part / 2.0 for part in size)

    def fill(mesh: bmesh.types.BMesh) -> None:
        low = [mesh.verts.new(corner) for corner in ((-x, -y, -z), (x, -y, -z), (x, y, -z), (-x, y, -z))]
        top = [mesh.verts.new(corner) for corner in ((x, -y, z), (x, y, z))]
        for face in (low[::-1], (low[0], low[1], top[0]), (low[3], top[1], low[2]),
                     (low[1], low[2], top[1], top[0]), (low[0], top[0], top[1], low[3])):  # fmt: skip
            mesh.faces.new(face)

    return _mesh(name, fill)


def cylinder(name: str, radius: float, depth: float) -> Any:
    """Mesh of a cylinder about its centre, along Z. radius, depth: Blender units."""

    def fill(mesh: bmesh.types.BMesh) -> None:
        bmesh.ops.create_cone(
            mesh, cap_ends=True, segments=32, radius1=radius, radius2=radius, depth=depth,
        )  # fmt: skip

    return _mesh(name, fill)


def sphere(name: str, radius: float) -> Any:
    def fill(mesh: bmesh.types.BMesh) -> None:
        bmesh.ops.create_uvsphere(mesh, u_segments=32, v_segments=16, radius=radius)

    data = _mesh(name, fill)
    for face in data.polygons:
        face.use_smooth = True
    return data


def _aimed(context: Context, unit: float, flight: float) -> tuple[Any, Vector3] | None:
    """(place that a ball stands on, its velocity) so that it hits the selected bodies; None without any.

    unit: Blender units that count as a metre. flight: in seconds.
    """
    bodies = [
        obj for obj in context.selected_objects
        if obj.usdphys.rigid_body.is_applied and not obj.usdphys.rigid_body.kinematic_enabled
    ]  # fmt: skip
    corners = [obj.matrix_world @ mathutils.Vector(corner) for obj in bodies for corner in obj.bound_box]
    if not corners:
        return None
    rows = list(zip(*corners, strict=True))
    low, high = mathutils.Vector([min(row) for row in rows]), mathutils.Vector([max(row) for row in rows])
    # Above the middle, where a stack tips over; the ball comes down as far as it has risen.
    height = max(low.z, low.z + AIM * (high.z - low.z) - BALL * unit)
    speed = THROW * unit / flight
    place = mathutils.Vector((low.x - (THROW + BALL) * unit, (low.y + high.y) / 2.0, height))
    return place, (speed, 0.0, 9.81 / unit_length(context.scene) * flight / 2.0)


def _reach(context: Context) -> float:
    """How far bodies, and selected meshes without physics, reach from the 3D cursor along X or Y, in Blender units."""
    cursor = context.scene.cursor.location
    standing = [
        obj for obj in context.visible_objects
        if obj.type == "MESH" and (is_body(obj) or (obj.select_get() and not has_physics(obj)))
    ]  # fmt: skip
    corners = [obj.matrix_world @ mathutils.Vector(corner) - cursor for obj in standing for corner in obj.bound_box]
    return max((abs(part) for corner in corners for part in corner[:2]), default=0.0)


def ground(scene: Scene, place: Vector3, width: float) -> Any:
    """Add a static box whose surface is at a place; it is at least as wide as `add` makes it. Blender units."""
    x, y, thickness = (part / unit_length(scene) for part in GROUND)
    data = box("Ground", (max(x, width), max(y, width), thickness))
    return _new(scene.collection, "Ground", data, (place[0], place[1], place[2] - thickness / 2.0), moves=False)


def _new(collection: bpy.types.Collection, name: str, data: Any, place: Any, *, moves: bool) -> Any:
    """Add an object with a collider. moves: it is a rigid body, too."""
    obj: Any = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    obj.location = place
    make_body([obj], moves=moves)
    return obj


def add(
    context: Context, kind: str, *, count: int = 5, velocity: Vector3 = (0.0, 0.0, 0.0), throw: bool = False,
    scale: float = 1.0,
) -> list[Any]:  # fmt: skip
    """Add objects at the 3D cursor, standing on its height, and select them.

    kind: GROUND or RAMP, which are static, or STACK, BALL or DOMINOES, which are dynamic. count: of boxes or dominoes.
    velocity: of a ball, Blender units a second. throw: let a ball without a velocity fly at the selected bodies.
    scale: of the sizes; a ground is at least so wide that bodies and what is selected stand on it.
    """
    unit = scale / unit_length(context.scene)
    if kind == "GROUND":
        width = max(GROUND[0] * unit, 2.5 * _reach(context))
        planned = [("Ground", box("Ground", (width, width, GROUND[2] * unit)), (0.0, 0.0, -GROUND[2] / 2.0))]
    elif kind == "RAMP":
        planned = [("Ramp", _wedge("Ramp", [part * unit for part in RAMP]), (0.0, 0.0, RAMP[2] / 2.0))]
    elif kind == "BALL":
        planned = [("Ball", sphere("Ball", BALL * unit), (0.0, 0.0, BALL))]
    elif kind == "STACK":
        data = box("Box", [BOX * unit] * 3)
        planned = [("Box", data, (0.0, 0.0, BOX * (number + 0.5))) for number in range(count)]
    else:
        data = box("Domino", [part * unit for part in DOMINO])
        planned = [("Domino", data, (GAP * number, 0.0, DOMINO[2] / 2.0)) for number in range(count)]
    moves = kind not in ("GROUND", "RAMP")
    cursor = context.scene.cursor.location
    if kind == "BALL" and throw and not any(velocity):
        # Of similar paths, the longer one takes the root of its scale longer.
        aimed = _aimed(context, unit, FLIGHT * scale**0.5)
        if aimed is not None:
            cursor, velocity = aimed
    for other in list(context.selected_objects):
        other.select_set(False)
    made = []
    for name, data, place in planned:
        obj = _new(context.collection, name, data, cursor + mathutils.Vector(place) * unit, moves=moves)
        if kind == "BALL" and any(velocity):
            obj.usdphys.rigid_body.velocity = velocity
        obj.select_set(True)
        made.append(obj)
    context.view_layer.objects.active = made[0]
    return made
