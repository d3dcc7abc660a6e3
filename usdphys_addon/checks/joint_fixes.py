# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of joints, and of bodies that are in each other."""

from __future__ import annotations

import math
from typing import Any

import bpy
import mathutils
from bpy.types import Object, PropertyGroup, Scene

from ..authoring import joint_edits, vendor_edits
from ..authoring.joint_maker import JointMaker, JointOptions
from ..bridge import joint_ends, props
from ..bridge.joint_frames import is_joint
from ..bridge.roles import is_body, parents_of
from ..core import joint_kinds
from ..core.errors import InputError
from ..core.rules import joint_frames, overlaps
from ..core.rules.base import Facts
from ..core.schemas import usd_physics
from .fix_table import fix
from .issue_data import editable, find_object, joint_of, nothing_to_do, object_of, require, unset
from .report import FoundIssue


@fix("JointSameBody", safe=False, label="Attach the joint to the world instead of its first body")
def _clear_first_body(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    _clear_body(joint, 0)


def _clear_body(joint: PropertyGroup, side: int) -> None:
    setattr(joint, f"body{side}", None)
    unset(joint, f"body{side}_path", f"local_pos{side}", f"local_rot{side}")


@fix("JointBodyMissing", safe=False, label="Clear the missing body")
def _clear_missing_body(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    missing = []
    for side in (0, 1):
        body = getattr(joint, f"body{side}")
        if body is not None:
            if body.name_full in scene.objects and not body.visible_get():
                raise InputError(f"'{body.name}' is hidden; show it, or choose another body {side} for '{issue.name}'.")
            if find_object(scene, body.name_full) is None:
                missing.append(side)
        elif getattr(joint, f"body{side}_name") or getattr(joint, f"body{side}_path"):
            missing.append(side)
    require(missing, issue)
    for side in missing:
        _clear_body(joint, side)


@fix("JointLeftBehind", safe=True, label="Move the joint into the collection of its bodies")
def _bring_joint_home(scene: Scene, issue: FoundIssue) -> None:
    obj = object_of(scene, issue)
    require(joint_ends.bring_home(obj), issue)


@fix("JointRelNotXformable", safe=False, label="Clear the body that is a joint itself")
def _clear_joint_as_body(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    bodies = [(side, getattr(joint, f"body{side}")) for side in (0, 1)]
    sides = [side for side, body in bodies if body is not None and body.usdphys.joint.is_applied]
    require(sides, issue)
    for side in sides:
        _clear_body(joint, side)


@fix("JointNoEnabledRigidBody", safe=False, label="Make its second body, its first, or the nearest object a rigid body")
def _make_body(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    bodies = [body for body in (joint.body1, joint.body0) if body is not None]
    if not bodies:
        # A joint without bodies was often added or imported alone: it belongs to what is next to it.
        bodies = [_nearest(scene, object_of(scene, issue))]
        joint.body1 = bodies[0]
    body = next((body for body in bodies if body.usdphys.rigid_body.is_applied), bodies[0])
    group = editable(body).usdphys.rigid_body
    group.is_applied = True
    unset(group, "rigid_body_enabled")
    is_solid = any(len(one.usdphys.colliders) for one in (body, *body.children_recursive))
    if not is_solid and body.type == "MESH" and len(body.data.polygons):
        # Else the next check would name a body without a mass.
        body.usdphys.colliders.add()


def _nearest(scene: Scene, joint: Object) -> Any:
    """The visible body whose origin is nearest to a joint, else the nearest mesh without physics, else collider.

    A static collider comes last: it is often the ground, which would fall as a body.
    """
    visible = [obj for obj in scene.objects if obj.visible_get() and obj.library is None and not is_joint(obj)]
    meshes = [obj for obj in visible if obj.type == "MESH"]
    chosen = (
        [obj for obj in visible if is_body(obj)]
        or [obj for obj in meshes if not len(obj.usdphys.colliders)]
        or [obj for obj in visible if len(obj.usdphys.colliders)]
    )
    if not chosen:
        raise InputError(f"There is no object that the joint '{joint.name}' could hold; add one, or delete the joint.")
    return min(chosen, key=lambda obj: (obj.matrix_world.translation - joint.matrix_world.translation).length)


@fix("BodiesOverlap", safe=False, label="Drop on Top: lift it onto the other, or out of its side")
@fix("BodiesInOnePlace", safe=False, label="Separate: move it out of the other, the shortest way")
def _separate(scene: Scene, issue: FoundIssue) -> None:
    from ..bridge import scene_read

    object_of(scene, issue, places=True)
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    found = overlaps.separation(Facts(reading.model), issue.path)
    if found is None:
        raise nothing_to_do(issue)
    way = mathutils.Vector((found.way / reading.model.units.meters_per_unit).tolist())
    sites = [reading.sites[path] for path in sorted(found.moved) if path in reading.sites]
    if any(site.instance is not None for site in sites):
        raise InputError(f"'{issue.name}' hangs together with what an instance shows; move the instance.")
    objects = {site.obj for site in sites}
    for obj in objects:
        if objects.isdisjoint(parents_of(obj)):
            # From the world to the space of the location.
            space = (obj.matrix_world @ obj.matrix_basis.inverted_safe()).to_3x3()
            editable(obj).location += space.inverted_safe() @ way


@fix("KinematicVelocity", safe=True, label="Clear the velocities")
def _clear_velocity(scene: Scene, issue: FoundIssue) -> None:
    body = object_of(scene, issue).usdphys.rigid_body
    if not body.kinematic_enabled or not (body.is_property_set("velocity") or body.is_property_set("angular_velocity")):
        raise nothing_to_do(issue)
    unset(body, "velocity", "angular_velocity")


@fix("JointTouchesStatic", safe=False, label="Filter the contacts of the two")
def _filter_static(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    if not JointMaker(bpy.context, JointOptions("FIXED", "CLOSEST")).part_from_static(joint.body0, joint.body1):
        raise nothing_to_do(issue)


@fix("JointRotationNotUnit", safe=True, label="Normalize the rotation")
def _normalize_rotation(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    for name in ("local_rot0", "local_rot1", "remembered_local_rot0", "remembered_local_rot1"):
        # Frames of a file are text.
        is_text = name.startswith("remembered")
        if not joint.is_property_set(name):
            continue
        rotation = getattr(joint, name)
        value = tuple(map(float, rotation.split())) if is_text else tuple(rotation)
        length = math.hypot(*value)
        if not math.isfinite(length) or length == 0:
            joint.property_unset(name)
        elif abs(length - 1) > 1e-3:
            turned = [part / length for part in value]
            setattr(joint, name, " ".join(map(repr, turned)) if is_text else turned)


@fix("JointFramesApart", "JointFramesTilted", safe=False, label="Use the place of the joint for both frames")
def _forget_frames(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    if not any(map(joint.is_property_set, props.LOCAL_FRAME_FIELDS)):
        raise nothing_to_do(issue)
    unset(joint, *props.LOCAL_FRAME_FIELDS)


@fix("JointJumpsAtStart", safe=False, label="Set the start positions of its articulation from the poses")
def _set_start_positions(scene: Scene, issue: FoundIssue) -> None:
    from ..bridge import scene_read

    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    groups = joint_frames.jumps(Facts(reading.model, "physx"))
    jumping = next((group for group in groups if issue.name in (jump.prim.label for jump in group)), [])
    settable = [(jump, find_object(scene, jump.prim.label)) for jump in jumping if jump.is_settable]
    chosen = [(jump, editable(obj)) for jump, obj in settable if obj is not None]
    require(chosen, issue)
    for jump, obj in chosen:
        place = f"PhysicsJointStateAPI:{jump.dof}", f"state:{jump.dof}:physics:position"
        vendor_edits.add_attribute(obj.usdphys, *place, scene)
        vendor_edits.put_concept(scene, obj.usdphys, "start_position", jump.position, jump.dof)


@fix("LimitsReversed", safe=True, label="Swap the limits")
def _swap_limits(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    group = getattr(joint, joint.type.lower(), None)
    names = ("min_distance", "max_distance") if joint.type == "DISTANCE" else ("lower_limit", "upper_limit")
    if group is None or not all(map(group.is_property_set, names)):
        raise nothing_to_do(issue)
    low, high = (getattr(group, name) for name in names)
    if low <= high:
        raise nothing_to_do(issue)
    setattr(group, names[0], high)
    setattr(group, names[1], low)


@fix("JointLightFirst", safe=False, label="Swap the bodies")
def _light_second(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    obj = joint.id_data
    if note := joint_edits.swap_bodies(obj):
        joint_edits.swap_bodies(obj)
        raise InputError(note)


@fix("LimitNotOnJoint", safe=True, label="Remove the limits per degree of freedom")
def _remove_limits(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    if joint.type == "GENERIC":
        raise nothing_to_do(issue)
    for dof in usd_physics.LimitAPI.instances:
        limit = getattr(joint.limits, dof)
        if limit.is_applied:
            limit.is_applied = False


@fix("DriveNotOnJoint", safe=True, label="Remove the drive")
def _remove_drives(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    allowed = joint_kinds.BY_IDENTIFIER[joint.type].drives
    for dof, drive in _drives(joint):
        if dof not in allowed:
            drive.is_applied = False


def _drives(joint: Any) -> list[tuple[str, Any]]:
    """(degree of freedom, drive) of the drives that are applied."""
    drives = [(dof, getattr(joint.drives, dof)) for dof in usd_physics.DriveAPI.instances]
    return [(dof, drive) for dof, drive in drives if drive.is_applied]


@fix("DriveWithoutGain", safe=False, label="Remove the drive")
def _remove_idle_drives(scene: Scene, issue: FoundIssue) -> None:
    for _, drive in _drives(joint_of(scene, issue)):
        if not (drive.stiffness or drive.damping) or drive.max_force == 0:
            drive.is_applied = False


@fix("DriveInvalidValues", safe=True, label="Set negative values to automatic")
def _unset_negative_gains(scene: Scene, issue: FoundIssue) -> None:
    for _, drive in _drives(joint_of(scene, issue)):
        unset(drive, *(name for name in ("stiffness", "damping", "max_force") if getattr(drive, name) < 0))
