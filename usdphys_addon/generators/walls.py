# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls, stacks and chimneys of one brick, and bonds between pieces that touch, which break."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import mathutils
import numpy as np

from ..authoring.material_presets import apply_material_preset
from ..authoring.tagging import Tagging
from ..bridge import mesh as meshes
from ..bridge.joint_frames import is_joint, set_world_matrix
from ..bridge.writing import unit_length
from ..core import frames
from ..core.building import contact_area
from ..core.errors import InputError
from ..core.overlap import close_pairs
from . import joints

#: More take minutes to make, and the preview does not keep up with them.
_MOST_BRICKS = 20_000
#: No limit, m, as a number: PhysX ignores the limit of a slide that has one side only.
_FAR = 1e10


@dataclass(frozen=True, slots=True)
class WallOptions:
    """kind: WALL (each course moved by half a brick), STACK (in a grid), PYRAMID or CHIMNEY (in a circle).

    counts: bricks along X and Y and courses; of a chimney, bricks of a course are counts[0]. gap: between bricks,
    Blender units. shift, turn: largest random offset, Blender units, and turn about Z, rad. seed: of the numbers.
    """

    kind: str = "WALL"
    counts: tuple[int, int, int] = (8, 1, 6)
    gap: float = 0.0
    shift: float = 0.0
    turn: float = 0.0
    seed: int = 0


def make_wall(context: Any, options: WallOptions) -> list[Any]:
    """Make copies of the active object, which share its data, rigid bodies in courses. Raises InputError."""
    brick = context.active_object
    if brick is None or not brick.select_get() or brick.type not in meshes.GEOMETRY_TYPES:
        raise InputError("Select the object that is to be the brick; it needs faces.")
    if math.prod(options.counts) > _MOST_BRICKS:
        raise InputError(f"A wall has {_MOST_BRICKS} bricks at most; choose fewer.")
    depsgraph = context.evaluated_depsgraph_get()
    points = meshes.vertices_of(brick.evaluated_get(depsgraph))
    if not len(points):
        raise InputError(f"'{brick.name}' has no faces, so nothing can stand on it.")
    world = np.array(brick.matrix_world)
    placed = points @ world[:3, :3].T
    size = np.ptp(placed, axis=0) + options.gap
    counts = (
        options.counts[0],
        options.counts[0] if options.kind == "CHIMNEY" else options.counts[1],
        options.counts[2],
    )
    for letter, extent, count in zip("XYZ", size.tolist(), counts, strict=True):
        if extent <= 1e-6 * float(size.max()) and count > 1:
            raise InputError(
                f"'{brick.name}' is flat along {letter}, so bricks would lie in each other; choose another."
            )
    places = _places(options, size)
    Tagging(depsgraph, [brick], "DYNAMIC").apply()
    random = np.random.default_rng(options.seed)
    made = [brick]
    home = (brick.users_collection or (context.collection,))[0]
    for number, (place, turn) in enumerate(places):
        if number == 0:
            obj = brick
        else:
            obj = brick.copy()
            home.objects.link(obj)
            made.append(obj)
        offset = np.append(random.uniform(-options.shift, options.shift, 2), 0.0)
        angle = turn + random.uniform(-options.turn, options.turn)
        turned = mathutils.Matrix.Rotation(angle, 4, "Z") @ mathutils.Matrix(world.tolist()).to_3x3().to_4x4()
        if obj is not brick or options.shift or options.turn or options.kind == "CHIMNEY":
            set_world_matrix(obj, mathutils.Matrix.Translation((world[:3, 3] + place + offset).tolist()) @ turned)
    context.view_layer.update()
    _select(context, made)
    return made


def _places(options: WallOptions, size: Any) -> list[tuple[Any, float]]:
    """(offset (3,), turn about Z) of all bricks; the first is the brick itself."""
    across, deep, courses = options.counts
    found = []
    if options.kind == "CHIMNEY":
        # The inner corners of neighbours touch.
        radius = size[0] / 2.0 / math.tan(math.pi / max(across, 3)) + size[1] / 2.0
        for course in range(courses):
            for number in range(max(across, 3)):
                angle = 2.0 * math.pi * (number + course % 2 / 2.0) / max(across, 3)
                place = np.array([math.sin(angle) * radius, radius - math.cos(angle) * radius, course * size[2]])
                found.append((place, angle))
        return found
    for course in range(courses):
        taken = course if options.kind == "PYRAMID" else 0
        odd = 0.5 * (course % 2) if options.kind == "WALL" else 0.5 * taken
        deep_odd = 0.5 * taken if options.kind == "PYRAMID" and deep > 1 else 0.0
        for y in range(max(deep - taken, 1) if deep > 1 else 1):
            # A brick at the end of every other course would have nothing below it.
            for x in range(across - (course % 2 if options.kind == "WALL" else taken)):
                place = np.array([(x + odd) * size[0], (y + deep_odd) * size[1], course * size[2]])
                found.append((place, 0.0))
    return found


# --------------------------------------------------------------------------- bonds


@dataclass(frozen=True, slots=True)
class BondOptions:
    """material: key of `common_materials`: density, friction and strength. strength: factor of the material's.

    gap: largest distance of faces that touch, Blender units.
    """

    material: str = "BRICK"
    strength: float = 1.0
    gap: float = 0.001


@dataclass(frozen=True, slots=True)
class Bonded:
    pieces: list[Any]
    joints: list[Any]


def bond(context: Any, objects: Sequence[Any], options: BondOptions) -> Bonded:
    """Make pieces rigid bodies, and join those that touch by joints that yield and break. Raises InputError.

    A single object is split into its loose parts first. The strength follows from the area and the material.
    """
    pieces = [obj for obj in objects if obj.type == "MESH" and not is_joint(obj) and obj.library is None]
    if len(pieces) == 1:
        pieces = _split(context, pieces[0])
    if len(pieces) < 2:
        raise InputError("Select the pieces, or one mesh with loose parts.")
    for obj in pieces:
        if obj.parent in pieces:
            raise InputError(f"'{obj.name}' is below another piece; clear its parent.")
    depsgraph = context.evaluated_depsgraph_get()
    meters = unit_length(context.scene)
    surfaces = []
    for obj in pieces:
        mesh = meshes.read_mesh(obj.evaluated_get(depsgraph), 1.0)
        if mesh is None:
            raise InputError(f"'{obj.name}' has no faces, so it touches nothing.")
        world = np.array(obj.matrix_world)
        points = (mesh.points @ world[:3, :3].T + world[:3, 3]) * meters
        # A mirrored object has its faces inside out.
        triangles = mesh.triangles[:, ::-1] if frames.determinant(world) < 0.0 else mesh.triangles
        surfaces.append(contact_area.surface(points, triangles))
    strength = options.strength * contact_area.STRENGTHS[options.material]
    found = []
    for one, other in sorted(close_pairs(surfaces, options.gap * meters)):
        touch = contact_area.contact(surfaces[one], surfaces[other], options.gap * meters)
        if touch is not None:
            found.append((pieces[one], pieces[other], touch))
    if not found:
        raise InputError(
            "No two pieces touch face to face; move those together that are apart, and those apart that overlap, or "
            "choose a larger gap."
        )
    own = (obj.usdphys.joint for obj in context.scene.objects if is_joint(obj))
    joined = {frozenset((joint.body0, joint.body1)) for joint in own}
    found = [pair for pair in found if frozenset(pair[:2]) not in joined]
    if not found:
        raise InputError("The pieces that touch are joined already; delete their joints first.")
    Tagging(depsgraph, pieces, "DYNAMIC").apply()
    for obj in pieces:
        for item in obj.usdphys.colliders:
            if item.shape == "MESH":
                # Pieces lie against each other, so hulls that are larger than they are would push them apart.
                item.approximation = "convexHull"
    apply_material_preset(pieces, options.material)
    joiner = joints.Joiner(context)
    made = []
    for body0, body1, touch in found:
        joint = joiner.add("GENERIC", body0, body1, _facing(touch.center / meters, touch.normal))
        _fasten(joint, contact_area.bond(touch.area, strength), meters)
        made.append(joint)
    _select(context, pieces)
    return Bonded(pieces, made)


def _fasten(joint: Any, bond: contact_area.Bond, meters: float) -> None:
    """Let a joint, whose X axis is the normal, hold by drives up to what a bond bears, and break where it gives way."""
    reach = bond.reach / meters
    for dof in joints.TRANSLATIONS:
        joints.hold(joint, dof, bond.firm, bond.firm * contact_area.RETURNS, bond.force)
        # The pieces bear the pressure: they collide.
        joints.limit(joint, dof, -_FAR / meters if dof == "transX" else -reach, reach)
        joints.soften(joint, dof, bond.fuse)
    for dof in joints.ROTATIONS:
        joints.hold(joint, dof, bond.firm_turn, bond.firm_turn * contact_area.RETURNS, bond.torque)
    joint.usdphys.joint.collision_enabled = True
    joint.usdphys.joint.break_force = bond.breaks


def _facing(place: Any, normal: Any) -> frames.Matrix:
    """A frame whose X axis is the normal."""
    turn: Any = mathutils.Vector(normal.tolist()).to_track_quat("X", "Z")
    return frames.transform(place, np.array(turn.to_matrix()))


def _split(context: Any, obj: Any) -> list[Any]:
    """The loose parts of a mesh as objects of their own, each with its origin in its middle."""
    if obj.modifiers or obj.data.shape_keys is not None:
        raise InputError(f"'{obj.name}' has modifiers or shape keys; apply them first.")
    _select(context, [obj])
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    bpy.ops.mesh.separate(type="LOOSE")
    parts = list(context.selected_objects)
    if len(parts) < 2:
        raise InputError(
            f"'{obj.name}' has only one part; break it into pieces first, for instance with Cell Fracture."
        )
    bpy.ops.object.origin_set(type="ORIGIN_CENTER_OF_VOLUME", center="MEDIAN")
    context.view_layer.update()
    return parts


def _select(context: Any, objects: Sequence[Any]) -> None:
    for obj in list(context.selected_objects):
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    context.view_layer.objects.active = objects[0]
