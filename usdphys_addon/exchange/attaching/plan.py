# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what the physics of a file becomes on the objects of a scene. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from bpy.types import Object

from ...bridge import joint_write
from ...bridge.identity.match import match_item
from ...bridge.identity.names import free_name, prim_name
from ...bridge.identity.remembered import things_of
from ...bridge.joint_frames import coincide, rigid
from ...bridge.writing import lives_without_object
from ...core import frames
from ...core.model import Prim
from ...core.schemas import usd_geom, usd_physics
from .colliders import ColliderPlanner, PlannedCollider
from .context import AttachContext, is_flat, is_within


@dataclass(slots=True)
class PlannedObject:
    """What one object gets; None leaves what it has.

    filters, pairs: paths of the filtered pairs, and their objects. groups: (name, exclude).
    """

    obj: Any
    body: usd_physics.RigidBodyAPI | None = None
    mass: usd_physics.MassAPI | None = None
    is_articulation: bool = False
    filters: tuple[str, ...] | None = None
    pairs: list[Any] | None = None
    colliders: list[PlannedCollider] = field(default_factory=list)
    groups: dict[tuple[str, bool], None] = field(default_factory=dict)


@dataclass(slots=True)
class JointSide:
    """body: object, None for the world. space: world matrix of the body. frame: that of the joint, moved with it."""

    body: Any | None
    space: frames.Matrix
    frame: frames.Matrix


@dataclass(slots=True)
class PlannedJoint:
    """obj: the joint object, None for a new Empty. parent: of a new Empty. place: world matrix of the joint object.

    local_frames: local positions (Blender units) and rotations by property name, where they differ from the place.
    """

    prim: Prim
    joint: usd_physics.Joint
    sides: tuple[JointSide, JointSide]
    obj: Any | None = None
    parent: Any | None = None
    place: frames.Matrix = field(default_factory=lambda: np.eye(4))
    local_frames: dict[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class AttachPlan:
    """By prim path: the items of the scene and the materials that are there already (None: new), and their names.

    linked_materials: paths of those that cannot be changed. objects: by object. colliders: by path, without those that
    are their object's own mesh.
    """

    scene_items: dict[str, Any] = field(default_factory=dict)
    scene_names: dict[str, str] = field(default_factory=dict)
    group_items: dict[str, Any] = field(default_factory=dict)
    group_names: dict[str, str] = field(default_factory=dict)
    materials: dict[str, Any] = field(default_factory=dict)
    material_names: dict[str, str] = field(default_factory=dict)
    linked_materials: set[str] = field(default_factory=set)
    objects: dict[Any, PlannedObject] = field(default_factory=dict)
    colliders: dict[str, PlannedCollider] = field(default_factory=dict)
    joints: list[PlannedJoint] = field(default_factory=list)

    def object(self, obj: Object) -> PlannedObject:
        return self.objects.setdefault(obj, PlannedObject(obj))


def make_plan(context: AttachContext) -> AttachPlan:
    """Decide on everything that the file holds."""
    plan, model = AttachPlan(), context.model
    _match_stage_wide(context, plan)
    colliders = ColliderPlanner(context, plan.materials)
    for path, prim in model.prims.items():
        if prim.schemas and not lives_without_object(prim) and prim.get(usd_physics.Joint) is None:
            _plan_prim(context, plan, colliders, path, prim)
    context.match.match_joints(lambda prim: _joint_bodies(context, prim))
    for path, prim in model.joints.items():
        joint = _plan_joint(context, path, prim)
        if joint is not None:
            plan.joints.append(joint)
    for path, prim in model.groups.items():
        group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
        for exclude, members in ((False, group.includes), (True, group.excludes)):
            for member in members or ():
                _plan_member(context, plan, path, group, member, exclude)
    for path, material in plan.materials.items():
        if material is not None and not context.is_editable(material, path):
            plan.linked_materials.add(path)
    _plan_filters(context, plan)
    return plan


# --------------------------------------------------------------------------- scenes, groups, materials


def _match_stage_wide(context: AttachContext, plan: AttachPlan) -> None:
    """Match the file's physics scenes, collision groups and materials to those in Blender."""
    model, physics = context.model, context.scene.usdphys
    for prims, there, names, matched in (
        (model.scenes, physics.physics_scenes, plan.scene_names, plan.scene_items),
        (model.groups, physics.collision_groups, plan.group_names, plan.group_items),
        (model.materials, bpy.data.materials, plan.material_names, plan.materials),
    ):
        free = things_of(there, context.scene, model.source)
        for path, prim in prims.items():
            wanted = free_name(prim.name, names.values())
            thing = match_item(free, path, wanted)
            matched[path], names[path] = (thing.owner, thing.name) if thing is not None else (None, wanted)


def _plan_member(
    context: AttachContext, plan: AttachPlan, path: str, group: usd_physics.CollisionGroup, member: str, exclude: bool
) -> None:
    """Make a prim a member of a group: its collider, or its object and those of the prims below."""
    match = context.match
    key = (plan.group_names[path], exclude)
    collider = plan.colliders.get(member)
    obj = match.object_of(member)
    only_itself = group.resolved("expansion_rule") == "explicitOnly"
    if collider is None and only_itself and obj is not None and obj in plan.objects:
        # The prim of the mesh, which is below that of the object.
        collider = next((one for one in plan.objects[obj].colliders if one.prim.path == member), None)
    if collider is not None:
        collider.groups[key] = None
        return
    objects = [obj] if obj is not None else []
    for one in [] if only_itself else match.below(member):
        # An object belongs to the groups of its parents, but the parents need not be those of the file.
        if not any(is_within(one, other) for other in objects):
            objects.append(one)
    if not objects:
        if member not in context.reported and member not in context.missing:
            context.leave_out_unmatched(member)
        return
    for one in objects:
        if context.is_editable(one, member):
            plan.object(one).groups[key] = None


# --------------------------------------------------------------------------- bodies, masses, filtered pairs


def _plan_prim(context: AttachContext, plan: AttachPlan, colliders: ColliderPlanner, path: str, prim: Prim) -> None:
    """Decide on the physics of one prim that is no joint."""
    body, collision = prim.get(usd_physics.RigidBodyAPI), prim.get(usd_physics.CollisionAPI)
    gprim = prim.get(usd_geom.Gprim)
    obj = context.match.object_of(path)
    if obj is None and gprim is not None and collision is not None and body is None:
        obj = context.carrier(path)
    if obj is None:
        context.leave_out_unmatched(path)
        return
    if not context.is_editable(obj, path) or (collision is not None and not _moves_as_in_file(context, path, obj)):
        return
    target, space = plan.object(obj), context.world_now(obj)
    collider = colliders.plan(prim, gprim, obj) if collision is not None else None
    if collision is not None and collider is None:
        return
    if body is not None:
        target.body = _moved_body(context, body, prim, space)
    if prim.get(usd_physics.ArticulationRootAPI) is not None:
        target.is_articulation = True
    if collider is not None:
        collider.on_item = body is None
        target.colliders.append(collider)
        if path not in context.match.direct:
            plan.colliders[path] = collider
    mass, pairs = prim.get(usd_physics.MassAPI), prim.get(usd_physics.FilteredPairsAPI)
    if collider is not None and collider.on_item:
        if mass is not None:
            collider.mass = _moved_mass(context, mass, prim, colliders.space_of(collider, space))
        return
    if mass is not None:
        target.mass = _moved_mass(context, mass, prim, space)
    if pairs is not None:
        target.filters = pairs.filtered_pairs or ()


def _moves_as_in_file(context: AttachContext, path: str, obj: Object) -> bool:
    """False (and reports an issue) if the object of a collider is not parented to that of its body."""
    body = context.model.body_of(path)
    mover = context.match.object_of(body.path) if body is not None else None
    if mover is None or is_within(obj, mover):
        return True
    context.leave_out(
        path,
        f"'{path}' is a collider of '{mover.name}', and '{obj.name}' is not parented to that: it is left out.",
        f"Parent '{obj.name}' to '{mover.name}'.",
    )
    return False


def _moved_body(
    context: AttachContext, body: usd_physics.RigidBodyAPI, prim: Prim, space: frames.Matrix
) -> usd_physics.RigidBodyAPI:
    """A body with its velocities in the space of its object."""
    if body.velocity is None and body.angular_velocity is None:
        return body
    change = context.change(prim, space)
    body = body.copy()
    if body.velocity is not None and np.isfinite(body.velocity).all():
        body.velocity = frames.vector(change[:3, :3] @ body.velocity)
    if body.angular_velocity is not None and np.isfinite(body.angular_velocity).all():
        body.angular_velocity = frames.vector(context.rotation(prim, space) @ body.angular_velocity)
    return body


def _moved_mass(
    context: AttachContext, mass: usd_physics.MassAPI, prim: Prim, space: frames.Matrix
) -> usd_physics.MassAPI:
    """A mass with its centre and principal axes in the space of its object or collider."""
    if mass.center_of_mass is None and mass.principal_axes is None:
        return mass
    change = context.change(prim, space)
    mass = mass.copy()
    if mass.center_of_mass is not None and np.isfinite(mass.center_of_mass).all():
        mass.center_of_mass = frames.vector(change[:3, :3] @ mass.center_of_mass + change[:3, 3])
    if mass.principal_axes is not None and any(mass.principal_axes):
        rotation = context.rotation(prim, space)
        if not np.array_equal(rotation, np.eye(3)):
            mass.principal_axes = frames.quaternion_of(rotation @ frames.matrix_of(mass.principal_axes))
    return mass


def _plan_filters(context: AttachContext, plan: AttachPlan) -> None:
    """Find the objects of all filtered pairs."""
    for target in plan.objects.values():
        if target.filters is not None:
            target.pairs = _filtered_objects(context, target.filters)
        for collider in target.colliders:
            pairs = collider.prim.get(usd_physics.FilteredPairsAPI)
            if pairs is not None and collider.on_item:
                collider.pairs = _filtered_objects(context, pairs.filtered_pairs or ())


def _filtered_objects(context: AttachContext, targets: Iterable[str]) -> list[Any]:
    objects: dict[Any, None] = {}
    for path in targets:
        obj = context.match.object_of(path) or context.carrier(path)
        if obj is not None:
            objects[obj] = None
        elif path not in context.reported:
            context.leave_out_unmatched(path)
    return list(objects)


# --------------------------------------------------------------------------- joints


def _joint_bodies(context: AttachContext, prim: Prim) -> tuple[Any, Any] | None:
    """The objects of both bodies, None for the world; None if one of them has no object."""
    joint = prim.get(usd_physics.Joint)
    if joint is None:
        return None
    first, second = _plan_side(context, joint, 0), _plan_side(context, joint, 1)
    return (first.body, second.body) if isinstance(first, JointSide) and isinstance(second, JointSide) else None


def _plan_side(context: AttachContext, joint: usd_physics.Joint, side: int) -> JointSide | str:
    """One side of a joint; the path of its body if that has no object."""
    targets = getattr(joint, f"body{side}")
    path = targets[0] if targets else ""
    frame = frames.world_frame(
        context.world_in_file(path) if path else None,
        joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"),
    )  # fmt: skip
    if not path:
        return JointSide(None, np.eye(4), frame)
    obj = context.match.object_of(path)
    if obj is None:
        body = context.model.body_of(path)
        if body is not None:
            obj = context.match.object_of(body.path)
        elif path in context.model.prims and path not in context.match.rivals:
            # A prim that belongs to no body does not move: without an object, the world takes its place.
            obj = context.match.above(path)[1]
            if obj is None:
                return JointSide(None, np.eye(4), frame)
        if obj is None:
            return path
    return JointSide(obj, context.world_now(obj), rigid(context.motion(path) @ frame))


def _plan_joint(context: AttachContext, path: str, prim: Prim) -> PlannedJoint | None:
    """Decide on a joint; None if it cannot be attached, which is reported for all but types that are unknown."""
    joint = prim.get(usd_physics.Joint)
    if joint is None or prim.type_name not in joint_write.KINDS:
        return None
    first, second = _plan_side(context, joint, 0), _plan_side(context, joint, 1)
    if not isinstance(first, JointSide) or not isinstance(second, JointSide):
        body = first if isinstance(first, str) else second
        context.leave_out(
            path, f"The joint '{path}' is left out, because there is no object for its body '{body}'.",
            "Name the objects like the prims, or import the file as a whole.",
        )  # fmt: skip
        return None
    obj = context.match.object_of(path)
    if obj is None and path in context.match.rivals:
        context.leave_out_unmatched(path)
        return None
    if obj is not None and not context.is_editable(obj, path):
        return None
    planned = PlannedJoint(prim, joint, (first, second), obj)
    if obj is None:
        planned.place = first.frame
        planned.parent = _parent_of_joint(context, path, prim)
    else:
        planned.place = rigid(context.world_now(obj))
    for index, side in enumerate(planned.sides):
        if coincide(planned.place, side.frame):
            continue
        try:
            position, rotation = frames.local_frame(side.space, side.frame)
        except np.linalg.LinAlgError:
            name = side.body.name if side.body is not None else ""
            context.issue(
                "ZeroScale", "warning", path, "",
                f"Body {index} of the joint '{path}', '{name}', is scaled to nothing, so the joint is left out.",
                f"Give '{name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            return None
        planned.local_frames[f"local_pos{index}"] = tuple(part / context.meters for part in position)
        planned.local_frames[f"local_rot{index}"] = rotation
    return planned


def _parent_of_joint(context: AttachContext, path: str, prim: Prim) -> Any | None:
    """What a new joint is parented to: the object above it in the file, unless an export would not keep that."""
    parent = context.match.above(path.rpartition("/")[0])[1]
    if parent is None or parent.usdphys.joint.is_applied or is_flat(context.world_now(parent)):
        return None
    # Blender would write the joint and the mesh of its parent to one prim.
    has_name = parent.data is not None and prim_name(parent.data.name) == prim.name
    return None if has_name else parent
