# SPDX-License-Identifier: GPL-3.0-or-later
"""Attach the physics of a file to the objects that a scene has already, by name; no geometry is imported.

Objects keep their place, name and mesh. What belongs to a prim moves along with its object; lengths in the world are
those of the file, whatever the scale of the object is. Nothing is written before everything is decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import mathutils
from bpy.types import Object, PropertyGroup, Scene

from ...bridge import physics_collections
from ...bridge.identity.match import ObjectMatcher
from ...bridge.joint_frames import set_world_matrix
from ...bridge.joint_write import write_joint_values
from ...bridge.writing import WritingContext, Written
from ...core import schema
from ...core.model import PhysicsModel
from ...core.schemas import usd_physics
from ...core.validate import Issue
from ...core.words import counted
from .colliders import PlannedCollider
from .context import AttachContext
from .plan import AttachPlan, PlannedJoint, PlannedObject, make_plan


def attach(scene: Scene, model: PhysicsModel, issues: list[Issue], *, vendor_prims: int = 0) -> Written:
    """Put the physics of a model that was read from a stage on the objects of a scene that have the names of its prims.

    issues: takes what could not be attached. vendor_prims: how many prims have vendor schemas, see
    usd_read.count_vendor_prims. An exception while it decides leaves the scene unchanged.
    """
    context = AttachContext(scene, model, issues)
    plan = make_plan(context)
    if vendor_prims:
        context.issue(
            "AttachVendorSkipped", "info", "", "",
            f"Schemas of simulators are not attached, but only those of UsdPhysics: {counted(vendor_prims, 'prim')}.",
            "Import the file as a whole to keep them.",
        )  # fmt: skip
    # All lengths in a plan are metres, also those in the space of an object.
    writing = WritingContext(model, scene, {}, dict(plan.materials), meters=context.meters, local=context.meters)
    writing.scene_names, writing.group_names = plan.scene_names, plan.group_names
    writing.written.missing = context.missing
    _write_plan(writing, plan, context.match)
    return writing.written


def _write_plan(writing: WritingContext, plan: AttachPlan, match: ObjectMatcher) -> None:
    _write_physics_scenes(writing, plan)
    _write_materials(writing, plan)
    for target in plan.objects.values():
        _write_object(writing, target)
    _write_joints(writing, plan.joints, match)
    _write_groups(writing, plan)
    names = set(plan.group_names.values())
    for obj in {**dict.fromkeys(match.direct.values()), **dict.fromkeys(plan.objects)}:
        if obj.is_editable:
            _write_memberships(obj, plan.objects.get(obj), names)


# --------------------------------------------------------------------------- scenes, materials, groups


def _write_physics_scenes(writing: WritingContext, plan: AttachPlan) -> None:
    for path, prim in writing.model.scenes.items():
        item = plan.scene_items[path] or writing.scene.usdphys.physics_scenes.add()
        item.name = plan.scene_names[path]
        _unset(item, usd_physics.PhysicsScene)
        writing.properties.write(item, prim.get(usd_physics.PhysicsScene) or usd_physics.PhysicsScene())
        writing.written.count("scenes")


def _write_materials(writing: WritingContext, plan: AttachPlan) -> None:
    for path, prim in writing.model.materials.items():
        material = writing.materials[path]
        if material is None:
            material = bpy.data.materials.new(plan.material_names[path])
            material.use_fake_user = True
            writing.materials[path] = material
        if path in plan.linked_materials:
            continue
        material.usdphys.property_unset("physics_material")
        physics = material.usdphys.physics_material
        physics.is_applied = True
        writing.properties.write(physics, prim.get(usd_physics.MaterialAPI) or usd_physics.MaterialAPI())
        writing.written.count("materials")


def _write_groups(writing: WritingContext, plan: AttachPlan) -> None:
    names = plan.group_names
    for path, prim in writing.model.groups.items():
        item = plan.group_items[path] or writing.scene.usdphys.collision_groups.add()
        item.name = names[path]
        for name in item.bl_rna.properties.keys():
            if name not in ("rna_type", "name", "prim"):
                item.property_unset(name)
        group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
        writing.properties.write(item, group)
        for target in group.filtered_groups or ():
            if target in names:
                item.filtered_groups.add().name = names[target]
        writing.written.count("groups")


def _write_memberships(obj: Object, target: PlannedObject | None, names: set[str]) -> None:
    """Set the memberships of an object in the groups of the file; those in other groups stay.

    names: the groups of the file. Colliders that were written anew have theirs already.
    """
    lists = [obj.usdphys.collision_groups]
    if target is None or not target.colliders:
        lists += [item.collision_groups for item in obj.usdphys.colliders]
    for memberships in lists:
        for index in reversed(range(len(memberships))):
            if memberships[index].name in names:
                memberships.remove(index)
    if target is not None:
        _add_memberships(obj.usdphys.collision_groups, target.groups)


def _add_memberships(memberships: PropertyGroup, groups: Iterable[tuple[str, bool]]) -> None:
    for name, exclude in groups:
        membership = memberships.add()
        membership.name, membership.exclude = name, exclude


def _unset(group: PropertyGroup, cls: type[schema.Schema]) -> None:
    for attribute in cls.attributes:
        if not attribute.is_relationship and attribute.type != "opaque":
            group.property_unset(attribute.field)


# --------------------------------------------------------------------------- objects


def _write_object(writing: WritingContext, target: PlannedObject) -> None:
    physics, properties, written = target.obj.usdphys, writing.properties, writing.written
    if target.body is not None:
        physics.property_unset("rigid_body")
        physics.rigid_body.is_applied = True
        properties.write(physics.rigid_body, target.body)
        _write_owner(writing, physics.rigid_body, target.body.simulation_owner)
        written.count("bodies")
    if target.mass is not None:
        physics.property_unset("mass")
        physics.mass.is_applied = True
        properties.write(physics.mass, target.mass)
    if target.is_articulation:
        physics.articulation_root.is_applied = True
        written.count("articulations")
    if target.pairs is not None:
        physics.property_unset("filtered_pairs")
        _write_pairs(physics.filtered_pairs, target.pairs)
    if target.colliders:
        _write_colliders(writing, physics, target.colliders)


def _write_colliders(writing: WritingContext, physics: Any, colliders: list[PlannedCollider]) -> None:
    """Replace all colliders of an object. A material that they all share is set on the object."""
    physics.colliders.clear()
    for name in ("physics_material", "physics_material_path", "active_collider_index"):
        physics.property_unset(name)
    shared = {collider.material for collider in colliders}
    if len(shared) == 1 and shared != {""}:
        physics.physics_material = writing.materials[shared.pop()]
        shared = {""}
    for collider in colliders:
        item = physics.colliders.add()
        collision = collider.prim.get(usd_physics.CollisionAPI) or usd_physics.CollisionAPI()
        writing.properties.write(item, collision)
        _write_owner(writing, item, collision.simulation_owner)
        for name, value in collider.values.items():
            setattr(item, name, value)
        if collider.mass is not None:
            item.mass.is_applied = True
            writing.properties.write(item.mass, collider.mass)
        if collider.pairs is not None:
            _write_pairs(item.filtered_pairs, collider.pairs)
        if collider.material and shared != {""}:
            item.physics_material = writing.materials[collider.material]
        _add_memberships(item.collision_groups, collider.groups)
        writing.written.count("colliders")


def _write_pairs(group: PropertyGroup, objects: Iterable[Object]) -> None:
    group.is_applied = True
    for obj in objects:
        group.filtered_pairs.add().object = obj


def _write_owner(writing: WritingContext, group: PropertyGroup, targets: tuple[str, ...] | None) -> None:
    """Write the simulation owner by name, if the file defines it."""
    if targets and targets[0] in writing.scene_names:
        group.simulation_owner = writing.scene_names[targets[0]]


# --------------------------------------------------------------------------- joints


def _write_joints(writing: WritingContext, joints: list[PlannedJoint], match: ObjectMatcher) -> None:
    home, size = None, 0.0
    if any(planned.obj is None for planned in joints):
        home = physics_collections.below(writing.scene.collection, physics_collections.JOINTS)
        size = physics_collections.joint_size(match.direct.values())
    for planned in joints:
        obj = planned.obj
        if obj is None:
            obj = _new_joint_object(writing, planned, home, size)
        _write_joint(writing, obj, planned)


def _new_joint_object(writing: WritingContext, planned: PlannedJoint, home: Any, size: float) -> Any:
    """A new Empty in a collection, at the place of the joint."""
    obj = bpy.data.objects.new(planned.prim.name, None)
    home.objects.link(obj)
    if planned.parent is not None:
        obj.parent = planned.parent
    place = planned.place.copy()
    place[:3, 3] /= writing.meters
    set_world_matrix(obj, mathutils.Matrix(place.tolist()))
    physics_collections.show_joint(obj, size)
    return obj


def _write_joint(writing: WritingContext, obj: Object, planned: PlannedJoint) -> None:
    obj.usdphys.property_unset("joint")
    group = obj.usdphys.joint
    write_joint_values(writing.properties, group, planned.prim, planned.joint)
    for index, side in enumerate(planned.sides):
        if side.body is not None:
            setattr(group, f"body{index}", side.body)
    for name, value in planned.local_frames.items():
        setattr(group, name, value)
    if planned.prim.get(usd_physics.ArticulationRootAPI) is not None:
        obj.usdphys.articulation_root.is_applied = True
        writing.written.count("articulations")
    writing.written.count("joints")
