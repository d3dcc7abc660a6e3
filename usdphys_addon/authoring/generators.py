# SPDX-License-Identifier: GPL-3.0-or-later
"""New objects that have physics from the start: ground, ramp, stack, ball and domino row. Sizes are in metres."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import bmesh
import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object, Scene

from ..bridge.roles import has_physics, is_body
from ..bridge.writing import unit_length
from ..core.overlap import close_pairs
from .free_column import Column, lift
from .joint_maker import make_body
from .tagging import is_ground

#: Thickness of the ground, m; its surface is at the cursor.
GROUND, RAMP = (20.0, 20.0, 0.2), (2.0, 1.0, 0.6)
BOX, BALL = 0.5, 0.25
#: How far from a body a ball is thrown at it, m; how long it flies, s; how high it hits, as a part of the height.
THROW, FLIGHT, AIM = 2.0, 0.2, 0.7
#: Density of a ball without a material, kg/m³; largest speed at which one is thrown at bonds, m/s; and with how many
#: times the energy that they bear.
DENSITY, FASTEST, MORE_THAN_BONDS = 1000.0, 30.0, 8.0
#: N; a drive without a largest force is no bond.
LARGEST_FORCE = 1e12
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


class _Box(NamedTuple):
    low: Any
    high: Any


class _Throw(NamedTuple):
    """place: that a ball stands on. velocity: Blender units a second. grown: factor of its usual radius."""

    place: Any
    velocity: Vector3
    grown: float


def _aimed(context: Context, unit: float, flight: float) -> _Throw | None:
    """A ball that hits the largest side of the selected bodies, hard enough for their bonds; None without any.

    unit: Blender units that count as a metre. flight: in seconds.
    """
    bodies = [
        obj for obj in context.selected_objects
        if obj.usdphys.rigid_body.is_applied and not obj.usdphys.rigid_body.kinematic_enabled
    ]  # fmt: skip
    if not bodies:
        return None
    corners = np.array([[obj.matrix_world @ mathutils.Vector(corner) for corner in obj.bound_box] for obj in bodies])
    boxes = np.stack((corners.min(axis=1), corners.max(axis=1)), axis=1)
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    # Above the middle, where a stack tips over; the ball comes down as far as it has risen.
    aim = (low + high) / 2.0
    aim[2] = low[2] + AIM * (high[2] - low[2])
    # What stands apart, as dominoes do, is hit one after the other.
    across = 1 if _is_one(boxes) and high[0] - low[0] > 1.01 * (high[1] - low[1]) else 0
    meters, distance = unit_length(context.scene), THROW * unit
    speed, usual = distance / flight, DENSITY * 4.0 / 3.0 * math.pi * (BALL * unit * meters) ** 3
    hit = DENSITY * float(np.median(np.prod(np.ptp(boxes, axis=1), axis=1))) * meters**3
    # Half as heavy as what it hits, which it pushes then.
    weight = max(usual, hit / 2.0)
    grown = (weight / usual) ** (1.0 / 3.0)
    # In a blow without a bounce, what is hit gets this share of the energy. Masonry is twice as dense.
    share = weight / (weight + 2.0 * hit)
    energy = _bond_energy(context, bodies, aim, across, BALL * unit * grown) / share
    needed = math.sqrt(2.0 * energy / weight) / meters
    if needed > speed:
        # No bullet: a larger ball rather than a faster one.
        grown *= max(needed * meters / FASTEST, 1.0) ** (2.0 / 3.0)
        speed = max(speed, min(needed, FASTEST / meters))
    place, velocity = aim.copy(), np.zeros(3)
    place[across] = low[across] - distance - BALL * unit * grown
    place[2] = max(low[2], aim[2] - BALL * unit * grown)
    velocity[across], velocity[2] = speed, 9.81 / meters * distance / speed / 2.0
    return _Throw(mathutils.Vector(place.tolist()), velocity.tolist(), grown)


def _is_one(boxes: Any) -> bool:
    """True if boxes (n, 2, 3) touch each other in a row, as the bricks of a wall do."""
    slack = 0.02 * float(np.ptp(boxes, axis=1).max())
    return sum(1 for _ in close_pairs([_Box(low, high) for low, high in boxes], slack)) >= len(boxes) - 1


def _bond_energy(context: Context, bodies: Sequence[Object], aim: Any, across: int, radius: float) -> float:
    """Energy (J) that it takes to break the bonds of bodies where a ball of a radius hits them.

    across: the axis along which it flies.
    """
    chosen, meters, energy = set(bodies), unit_length(context.scene), 0.0
    reach = radius + float(np.median([max(obj.dimensions) for obj in bodies]))
    for obj in context.scene.objects:
        joint = obj.usdphys.joint
        if not joint.is_applied or joint.type != "GENERIC" or not {joint.body0, joint.body1} <= chosen:
            continue
        apart = np.delete(np.array(obj.matrix_world.translation) - aim, across)
        if np.linalg.norm(apart) <= reach and joint.drives.transX.max_force < LARGEST_FORCE:
            energy += joint.drives.transX.max_force * abs(joint.limits.transY.high) * meters
    return MORE_THAN_BONDS * energy


def _reach(context: Context) -> float:
    """How far bodies, and selected meshes without physics, reach from the 3D cursor along X or Y, in Blender units."""
    cursor = context.scene.cursor.location
    corners = [corner - cursor for corner in _corners(context.visible_objects)]
    return max((abs(part) for corner in corners for part in corner[:2]), default=0.0)


def _depth(context: Context) -> float:
    """How far what is selected, and will stand on a ground, reaches below the 3D cursor, in Blender units."""
    low = min((corner.z for corner in _corners(context.selected_objects)), default=math.inf)
    return float(max(context.scene.cursor.location.z - low, 0.0))


def _corners(objects: Sequence[Object]) -> list[Any]:
    """Corners of the boxes about bodies, and about selected meshes without physics, in the world."""
    standing = [
        obj for obj in objects
        if obj.type == "MESH" and (is_body(obj) or (obj.select_get() and not has_physics(obj)))
    ]  # fmt: skip
    return [obj.matrix_world @ mathutils.Vector(corner) for obj in standing for corner in obj.bound_box]


def ground(scene: Scene, place: Vector3, width: float) -> Any:
    """Add a static box whose surface is at a place; it is at least as wide as `add` makes it. Blender units."""
    x, y, thickness = (part / unit_length(scene) for part in GROUND)
    data = box("Ground", (max(x, width), max(y, width), thickness))
    made = _new(scene.collection, "Ground", data, (place[0], place[1], place[2] - thickness / 2.0), moves=False)
    made.usdphys.is_ground = True
    return made


def ground_here(context: Context) -> Any:
    """The ground of the add-on on which a new one would lie, and that is wide enough; None without one."""
    cursor, reach = context.scene.cursor.location, _reach(context)
    surface = cursor.z - _depth(context)
    slack = 0.01 * GROUND[2] / unit_length(context.scene)
    for obj in context.visible_objects:
        if not is_ground(obj):
            continue
        corners = np.array([obj.matrix_world @ mathutils.Vector(corner) for corner in obj.bound_box])
        low, high = corners.min(axis=0), corners.max(axis=0)
        is_level = np.sum(np.abs(corners[:, 2] - surface) <= slack) == 4 and abs(high[2] - surface) <= slack
        if is_level and all(
            low[axis] <= cursor[axis] - reach and cursor[axis] + reach <= high[axis] for axis in (0, 1)
        ):
            return obj
    return None


def _new(collection: bpy.types.Collection, name: str, data: Any, place: Any, *, moves: bool) -> Any:
    """Add an object with a collider. moves: it is a rigid body, too."""
    obj: Any = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    obj.location = place
    make_body([obj], moves=moves)
    return obj


def _lift(context: Context, kind: str, place: Any, unit: float, count: int) -> float:
    """How far what starts at a place must be lifted to be in no collider, Blender units. unit, count: as in `add`."""
    x, y, z = place
    if kind == "DOMINOES":
        sides = (DOMINO[0] * unit, DOMINO[1] * unit)
        columns = [Column(x + GAP * number * unit, y, z, DOMINO[2] * unit, sides) for number in range(count)]
    else:
        size = unit * (2.0 * BALL if kind == "BALL" else BOX)
        height = size * (count if kind == "STACK" else 1)
        columns = [Column(x, y, z, height, (size, size), is_round=kind == "BALL")]
    return lift(context, columns)


def add(
    context: Context, kind: str, *, count: int = 5, velocity: Vector3 = (0.0, 0.0, 0.0), throw: bool = False,
    scale: float = 1.0,
) -> list[Any]:  # fmt: skip
    """Add objects at the 3D cursor, standing on its height or, where colliders are in the way, on these; select them.

    A ground goes below what is selected where that reaches below the cursor, and leaves the selection as it is.

    kind: GROUND or RAMP, which are static, or STACK, BALL or DOMINOES, which are dynamic. count: of boxes or dominoes.
    velocity: of a ball, Blender units a second. throw: let a ball without a velocity fly at the selected bodies.
    scale: of the sizes; a ground is at least so wide that bodies and what is selected stand on it.
    """
    unit = scale / unit_length(context.scene)
    if kind == "GROUND":
        width = max(GROUND[0] * unit, 2.5 * _reach(context))
        surface = -_depth(context) / unit
        planned = [("Ground", box("Ground", (width, width, GROUND[2] * unit)), (0.0, 0.0, surface - GROUND[2] / 2.0))]
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
    aimed = None
    if kind == "BALL" and throw and not any(velocity):
        # Of similar paths, the longer one takes the root of its scale longer.
        aimed = _aimed(context, unit, FLIGHT * scale**0.5)
        if aimed is not None:
            cursor, velocity = aimed.place, aimed.velocity
            unit *= aimed.grown
            planned = [("Ball", sphere("Ball", BALL * unit), (0.0, 0.0, BALL))]
    if moves and aimed is None:
        cursor = cursor + mathutils.Vector((0.0, 0.0, _lift(context, kind, cursor, unit, count)))
    chosen = list(context.selected_objects)
    for other in chosen if kind != "GROUND" else ():
        other.select_set(False)
    made = []
    for name, data, place in planned:
        obj = _new(context.collection, name, data, cursor + mathutils.Vector(place) * unit, moves=moves)
        if kind == "BALL" and any(velocity):
            obj.usdphys.rigid_body.velocity = velocity
        # The next press of a button is about what stands on the ground.
        if kind == "GROUND":
            obj.usdphys.is_ground = True
        obj.select_set(kind != "GROUND")
        made.append(obj)
    if kind != "GROUND" or not chosen:
        context.view_layer.objects.active = made[0]
    return made
