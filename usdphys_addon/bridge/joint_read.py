# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint properties and the places of joint objects -> joint prims with limits, drives and local frames."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core import frames, joint_kinds, paths, schema
from ..core.model import Prim
from ..core.schemas import usd_physics
from . import import_notes, props, vendor_rows
from .identity import remembered
from .identity.names import prim_name
from .placements import Placement
from .property_units import si_value
from .reading import ReadingContext
from .roles import is_bare

#: Rounding of a 32-bit position, relative to its distance from the origin.
_FLOAT_NOISE = 1e-6
#: Rounding of three angles in 32 bits where the middle one is nearly 90 degrees (rad).
_ANGLE_NOISE = 1e-3


def read_joint(reading: ReadingContext, placement: Placement, world: frames.Matrix) -> None:
    group = placement.obj.usdphys.joint
    cls = joint_kinds.BY_IDENTIFIER[group.type].cls
    path = _path_of(reading, placement, "joint")
    joint = reading.properties.read(group, usd_physics.Joint, into=cls())
    if hasattr(joint, "axis") and group.is_property_set("axis"):
        joint.axis = group.axis
    if cls is not usd_physics.FixedJoint and cls is not usd_physics.Joint:
        reading.properties.read(getattr(group, group.type.lower()), cls, into=joint, skip=props.JOINT_SHARED_FIELDS)
    prim = reading.model.add(Prim(path, cls.usd_name, world, is_xformable=False, label=placement.obj.name))
    prim.add(joint)
    if "prim" in placement.touched:
        prim.extras.update(remembered.extras_of(placement.physics.prim.extras))
    for dof in usd_physics.LimitAPI.instances:
        limit = getattr(group.limits, dof)
        if limit.is_applied:
            prim.add(reading.properties.read(limit, usd_physics.LimitAPI, angular=dof in schema.ANGULAR_DOFS), dof)
    for dof in usd_physics.DriveAPI.instances:
        drive = getattr(group.drives, dof)
        if drive.is_applied:
            prim.add(reading.properties.read(drive, usd_physics.DriveAPI, angular=dof in schema.ANGULAR_DOFS), dof)
    vendor_rows.read_vendor(reading, placement.obj.usdphys, prim, "joint", "dof")
    for side in (0, 1):
        _read_side(reading, placement, prim, joint, group, side)
    _report_left_behind(reading, placement, path)


def _report_left_behind(reading: ReadingContext, placement: Placement, path: str) -> None:
    """Report a joint that an asset or an instance of the collection of its bodies has not."""
    obj = placement.obj
    bodies = {body for side in (0, 1) if (body := getattr(obj.usdphys.joint, f"body{side}")) is not None}
    home = next((one for one, objects in reading.wholes if bodies and bodies <= objects and obj not in objects), None)
    if home is not None:
        reading.issue(
            "JointLeftBehind", "warning", path, obj.name,
            f"'{obj.name}' is not in the collection '{home.name}', in which its bodies are, so instances of that have "
            "no such joint.",
            f"Move '{obj.name}' into '{home.name}'.",
        )  # fmt: skip


def read_typed(reading: ReadingContext, placement: Placement, type_name: str) -> None:
    """Read a prim of a vendor's type, such as a gear joint."""
    path = _path_of(reading, placement, type_name)
    prim = reading.model.add(Prim(path, type_name, is_xformable=False, label=placement.obj.name))
    vendor_rows.read_vendor(reading, placement.obj.usdphys, prim, "prim")


def _path_of(reading: ReadingContext, placement: Placement, kind: str) -> str:
    """Path of a prim without a transform that an object stands for.

    Below the object where that shows or carries something. kind: end of its name there.
    """
    obj, sources = placement.obj, reading.sources
    keeps_path = sources is not None and placement.instance is None and obj.name in sources.placeless
    if is_bare(obj, frozenset() if keeps_path else reading.parents):
        return placement.path
    path = paths.free(f"{placement.path}/{prim_name(placement.obj.name)}_{kind}", reading.taken.__contains__)
    reading.taken.add(path)
    return path


def _read_side(
    reading: ReadingContext, placement: Placement, prim: Prim, joint: usd_physics.Joint, group: Any, side: int
) -> None:
    """Read body and local frame of one side; the frame is the joint object's place unless it is set."""
    label = placement.obj.name
    body = getattr(group, f"body{side}")
    target = reading.placements.find(body, placement.instance)
    path = reading.hidden_path(body) if target is None else target.path
    matrix = None if target is None else target.matrix
    if target is None and path:
        matrix = _unshown_matrix(body)
    elif target is None and (body is not None or getattr(group, f"body{side}_name")):
        name = body.name if body is not None else getattr(group, f"body{side}_name")
        others = [] if body is None else [scene.name for scene in bpy.data.scenes if body.name_full in scene.objects]
        message = f"Body {side} of the joint '{label}', '{name}', was deleted or is not exported."
        if others and reading.scene.name not in others:
            message = f"Body {side} of the joint '{label}', '{name}', is in another scene, '{others[0]}'."
        fix = f"Choose another body {side} for '{label}', or clear it to attach the joint to the world."
        instancer = "" if body is None else reading.placements.instancer_of(body)
        if instancer:
            message = f"Body {side} of the joint '{label}', '{name}', is shown by instances only, as by '{instancer}'."
            fix = f"Put '{label}' into the collection of '{name}', or make the instance real, and choose that body."
        reading.issue("JointBodyMissing", "error", prim.path, label, message, fix)
        return
    remembered_path = getattr(group, f"body{side}_path")
    if not path and remembered_path:
        setattr(joint, f"body{side}", (reading.root + remembered_path,))
        _recall_frame(reading, joint, group, side)
        return
    if path:
        setattr(joint, f"body{side}", (path,))
    place = None if matrix is None else reading.metric(matrix)
    try:
        position, rotation = frames.local_frame(place, prim.world)
    except np.linalg.LinAlgError:
        reading.issue(
            "ZeroScale", "error", prim.path, label,
            f"Body {side} of the joint '{label}', '{body.name}', is scaled to nothing, so a joint has no place in it.",
            f"Give '{body.name}' and its parents a scale that is not zero.",
        )  # fmt: skip
        return
    if _is_remembered_frame(reading, (placement.obj, body), side, position, rotation, place, prim.world):
        _recall_frame(reading, joint, group, side)
        return
    if getattr(joint, f"local_pos{side}") is None:
        setattr(joint, f"local_pos{side}", position)
    if getattr(joint, f"local_rot{side}") is None:
        setattr(joint, f"local_rot{side}", rotation)


def _unshown_matrix(obj: Any) -> frames.Matrix:
    """World matrix (4, 4) of an object that Blender does not evaluate, without its constraints."""
    local = np.array(obj.matrix_basis, float)
    if obj.parent is None:
        return local
    return np.asarray(_unshown_matrix(obj.parent) @ np.array(obj.matrix_parent_inverse, float) @ local)


def _is_remembered_frame(
    reading: ReadingContext, objects: tuple[Any, Any], side: int, position: schema.Vector, rotation: schema.Quaternion,
    body: frames.Matrix | None, place: frames.Matrix,
) -> bool:  # fmt: skip
    """True where the objects stand as they were imported, so that the local frame is the imported one.

    objects: the joint and the body, None for the world. body, place: their world matrices.
    """
    group = objects[0].usdphys.joint
    if not group.has_remembered_frames:
        return False
    # Set by the import, or by somebody since.
    is_placed, is_turned = (group.is_property_set(f"local_{what}{side}") for what in ("pos", "rot"))
    is_set = is_placed or is_turned
    if is_placed:
        position = si_value(getattr(group, f"local_pos{side}"), reading.meters)
    if is_turned:
        rotation = si_value(getattr(group, f"local_rot{side}"), 1.0)
    before = usd_physics.Joint()
    _recall_frame(reading, before, group, side)
    old_position = getattr(before, f"local_pos{side}") or (0.0, 0.0, 0.0)
    old_rotation = getattr(before, f"local_rot{side}") or frames.IDENTITY_ROTATION
    size = max(1.0, *(abs(part) for part in old_position))
    apart = np.subtract(position, old_position)
    turned = np.abs(frames.matrix_of(rotation) - frames.matrix_of(old_rotation)).max()
    if turned > 1e-5:
        return bool(turned <= _ANGLE_NOISE) and not is_set and not any(_was_moved(obj) for obj in objects)
    if np.abs(apart).max() <= 1e-5 * size:
        return True
    # Compare in the world, where Blender rounds: the space of the body can be scaled down.
    body = np.eye(4) if body is None else body
    noise = _FLOAT_NOISE * (np.linalg.norm(place[:3, 3]) + np.linalg.norm(body[:3, 3]))
    return bool(np.linalg.norm(body[:3, :3] @ apart) <= noise)


def _was_moved(obj: Any) -> bool:
    """True if an object or one of its ancestors was moved since the import."""
    while obj is not None:
        if import_notes.is_moved(obj):
            return True
        obj = obj.parent
    return False


def _recall_frame(reading: ReadingContext, joint: usd_physics.Joint, group: Any, side: int) -> None:
    """Set a local frame as it was imported; None for values that were not authored."""
    for name, factor in ((f"local_pos{side}", reading.meters), (f"local_rot{side}", 1.0)):
        setattr(joint, name, None)
        numbers = _numbers(getattr(group, f"remembered_{name}"))
        if len(numbers) == (3 if name.startswith("local_pos") else 4):
            setattr(joint, name, si_value(numbers, factor))


def _numbers(text: str) -> tuple[float, ...]:
    """The numbers of a remembered value; empty for other text, which a script can have put there."""
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return ()


def add_joint_targets(reading: ReadingContext) -> None:
    """Add prims for objects without physics that joints are attached to, because their places matter."""
    targets = {path for prim in reading.model.joints.values() for path in _bodies_of(prim)} - reading.model.prims.keys()
    for placement in reading.placements.all if targets else ():
        if placement.path in targets:
            world = reading.metric(placement.matrix)
            reading.model.add(Prim(placement.path, "Xform", world, label=placement.chain[-1]))


def _bodies_of(prim: Prim) -> tuple[str, ...]:
    """Paths of the bodies of a joint."""
    joint = prim.get(usd_physics.Joint)
    return (*(joint.body0 or ()), *(joint.body1 or ())) if joint is not None else ()
