# SPDX-License-Identifier: GPL-3.0-or-later
"""Bonds between pieces that touch: joints that yield and break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mathutils
import numpy as np
from bpy.types import Context, Object

from ..authoring.material_presets import apply_material_preset
from ..authoring.tagging import Tagging
from ..bridge import mesh as meshes
from ..bridge.joint_frames import is_joint
from ..bridge.writing import unit_length
from ..core import frames
from ..core.building import contact_area
from ..core.errors import InputError
from ..core.overlap import close_pairs
from . import joints, shapes
from .fracture import meshes_of

#: No limit, m, as a number: PhysX ignores the limit of a slide that has one side only.
_FAR = 1e10


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


def bond(context: Context, objects: Sequence[Object], options: BondOptions) -> Bonded:
    """Make pieces rigid bodies, and join those that touch by joints that yield and break. Raises InputError.

    The strength follows from the area and the material.
    """
    pieces = meshes_of(objects)
    if len(pieces) < 2:
        raise InputError("Select the pieces, or one mesh.")
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
    contacts = []
    for one, other in sorted(close_pairs(surfaces, options.gap * meters)):
        touch = contact_area.contact(surfaces[one], surfaces[other], options.gap * meters)
        if touch is not None:
            contacts.append((one, other, touch))
    pairs = [(pieces[one], pieces[other], touch) for one, other, touch in contact_area.bonded(contacts)]
    if not pairs:
        raise InputError(
            "No two pieces touch face to face; move those together that are apart, and those apart that overlap, or "
            "choose a larger gap."
        )
    own = (obj.usdphys.joint for obj in context.scene.objects if is_joint(obj))
    joined = {frozenset((joint.body0, joint.body1)) for joint in own}
    pairs = [pair for pair in pairs if frozenset(pair[:2]) not in joined]
    if not pairs:
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
    for body0, body1, touch in pairs:
        joint = joiner.add("GENERIC", body0, body1, _facing(touch.center / meters, touch.normal))
        _fasten(joint, contact_area.bond(touch.area, strength), meters)
        made.append(joint)
    shapes.select_only(context, pieces)
    return Bonded(pieces, made)


def _fasten(joint: Object, bond: contact_area.Bond, meters: float) -> None:
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


def _facing(place: frames.Matrix, normal: frames.Matrix) -> frames.Matrix:
    """A frame whose X axis is the normal."""
    turn: Any = mathutils.Vector(normal.tolist()).to_track_quat("X", "Z")
    return frames.transform(place, np.array(turn.to_matrix()))
