# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of colliders, and of the scale of objects."""

from __future__ import annotations

from typing import Any

import mathutils
import numpy as np

from ..bridge import props
from ..bridge.list_items import remove_item
from ..core import frames
from ..core.errors import InputError
from ..core.rules.colliders import TRIANGLES
from .fix_table import fix
from .issue_data import editable, nothing_to_do, object_of, require, unset
from .report import FoundIssue

# --------------------------------------------------------------------------- colliders


@fix("ColliderTriangleMeshDynamic", safe=True, label="Use the convex hull")
def _use_hull(scene: Any, issue: FoundIssue) -> None:
    items = [
        item for item in object_of(scene, issue).usdphys.colliders
        if item.shape in ("MESH", "AUTO") and item.approximation in TRIANGLES
        and (item.shape == "MESH" or item.is_property_set("approximation"))
    ]  # fmt: skip
    require(items, issue)
    for item in items:
        item.approximation = "convexHull"


@fix("BoundsFittedAnew", safe=False, label="Use a primitive in place of the bounds")
def _use_primitive(scene: Any, issue: FoundIssue) -> None:
    kinds = {"boundingCube": "CUBE", "boundingSphere": "SPHERE"}
    items = [
        item for item in object_of(scene, issue).usdphys.colliders
        if item.shape in ("MESH", "AUTO") and item.approximation in kinds
    ]  # fmt: skip
    require(items, issue)
    for item in items:
        item.shape = kinds[item.approximation]
        unset(item, "approximation", "other_approximation")


@fix("MeshCollisionOnNonMesh", safe=True, label="Clear Collides As")
def _remove_approximation(scene: Any, issue: FoundIssue) -> None:
    for item in object_of(scene, issue).usdphys.colliders:
        if item.shape in props.GPRIM_SHAPES:
            unset(item, "approximation", "other_approximation", "has_mesh_collision")


@fix("ColliderWithoutGeometry", safe=False, label="Remove the mesh collider")
def _remove_empty_collider(scene: Any, issue: FoundIssue) -> None:
    items = object_of(scene, issue).usdphys.colliders
    for row in reversed(range(len(items))):
        if items[row].shape in ("MESH", "AUTO"):
            remove_item(items, row)


@fix("MeshColliderTwice", safe=False, label="Keep the first mesh collider")
def _remove_second_mesh(scene: Any, issue: FoundIssue) -> None:
    items = object_of(scene, issue).usdphys.colliders
    rows = [row for row, item in enumerate(items) if item.shape in ("MESH", "AUTO") and not item.is_geometry]
    # What was imported with the object stays.
    kept = 0 if any(item.is_geometry for item in items) else 1
    for row in reversed(rows[kept:]):
        remove_item(items, row)


@fix("NameClash", safe=False, label="Rename the mesh of the parent")
def _rename_mesh(scene: Any, issue: FoundIssue) -> None:
    obj = object_of(scene, issue)
    data = obj.parent.data if obj.parent is not None else None
    if data is None:
        raise nothing_to_do(issue)
    editable(data).name = f"{data.name}_mesh"


# --------------------------------------------------------------------------- scale


@fix("NegativeScale", "ColliderSheared", "RigidBodyOrientationScale", safe=True, label="Apply the scale")
def _apply_scale(scene: Any, issue: FoundIssue) -> None:
    """Move scale and shear of an object from its transform into its mesh, so that nothing moves in the world."""
    obj = object_of(scene, issue, places=True)
    _refuse_scale(scene, obj)
    world = np.array(obj.matrix_world)
    rigid = frames.unscaled(world)
    rest = np.linalg.solve(rigid, world)
    residue = mathutils.Matrix(rest.tolist())
    above = obj.parent.matrix_world if obj.parent is not None else None
    if obj.data is not None:
        obj.data.transform(residue, shape_keys=True)
        if np.linalg.det(rest[:3, :3]) < 0:
            obj.data.flip_normals()
        obj.data.update()
    if above is not None:
        # Only this matrix can hold the inverse of any parent, which may be sheared.
        obj.matrix_parent_inverse = above.inverted()
    for name in ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"):
        obj.property_unset(name)
    obj.matrix_basis = mathutils.Matrix(rigid.tolist())
    obj.scale = (1.0, 1.0, 1.0)
    for child in obj.children:
        child.matrix_parent_inverse = residue @ child.matrix_parent_inverse


def _refuse_scale(scene: Any, obj: Any) -> None:
    """Raise InputError if the scale of an object cannot be applied without changing something else."""
    reason = ""
    colliders = list(obj.usdphys.colliders)
    joints = [other for other in scene.objects if other.usdphys.joint.is_applied]
    local = [
        joint.name for joint in joints for side in (0, 1)
        if getattr(joint.usdphys.joint, f"body{side}") == obj
        and joint.usdphys.joint.is_property_set(f"local_pos{side}")
    ]  # fmt: skip
    animation = obj.animation_data
    if obj.type not in ("MESH", "EMPTY"):
        reason = "it is not a mesh"
    elif obj.type == "EMPTY" and obj.instance_type != "NONE":
        reason = "it instances other objects"
    elif obj.data is not None and (obj.data.library is not None or obj.data.users > 1):
        reason = f"its mesh '{obj.data.name}' is linked or has other users"
    elif len(obj.modifiers) or len(obj.constraints):
        reason = "it has modifiers or constraints"
    elif animation is not None and (animation.action is not None or len(animation.drivers)):
        reason = "it is animated"
    elif obj.parent is not None and (
        obj.parent_type != "OBJECT" or frames.is_flat(obj.parent.matrix_world.determinant())
    ):
        reason = f"its parent '{obj.parent.name}' is flat, or holds it by a bone or vertex"
    elif frames.is_flat(obj.matrix_world.determinant()):
        reason = "it is scaled to nothing"
    elif any(item.is_geometry or any(map(item.is_property_set, _SIZES)) for item in colliders):
        reason = "a collider of it has its own place or size"
    elif any(map(obj.usdphys.mass.is_property_set, ("center_of_mass", "diagonal_inertia"))):
        reason = "its centre of mass or its inertia is set"
    elif local:
        reason = f"the joint '{local[0]}' has a stored frame in it"
    elif any(child.library is not None for child in obj.children):
        reason = "a child of it is linked from a library"
    if reason:
        raise InputError(f"The scale of '{obj.name}' cannot be applied, because {reason}; apply it by hand.")


_SIZES = ("location", "rotation", "size", "radius", "height")
