# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> Blender properties of imported objects and materials."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from bpy.types import Material, Object, PropertyGroup, Scene

from ..core import frames, paths
from ..core.coasting import keeps_velocity, without_kept
from ..core.model import MATERIAL_TYPES, PhysicsModel, Prim
from ..core.schemas import usd_geom, usd_physics
from . import gprim_properties, vendor_rows
from .curves import CurveWriter
from .identity import remembered
from .identity.names import free_name
from .joint_write import write_joint
from .writing import WritingContext, Written, lives_without_object


@dataclass(frozen=True, slots=True)
class Texts:
    """USD text by prim path: opinions outside Blender and the model. See `usd.import_source.ImportSource`."""

    carried: Mapping[str, str] = field(default_factory=dict)
    transforms: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    bindings: Mapping[str, str] = field(default_factory=dict)


def write_scene(
    model: PhysicsModel,
    scene: Scene,
    objects: dict[str, Object],
    materials: dict[str, Material],
    *,
    texts: Texts | None = None,
    meters: float | None = None,
    local: float | None = None,
    is_usd: bool = True,
    moves_joints: bool | None = None,
) -> Written:
    """Put the physics of a model on objects and materials, given by prim path, and on the scene.

    texts: stored with the objects, for the next export. meters: length of a Blender unit; by default that of the scene.
    local: see `WritingContext`. is_usd: the next export gives the prims of the model their paths back.
    moves_joints: move objects of joints to the joint's frame on its first body; by default if is_usd. Colliders and
    joints that have no object are written on the object above them, if they have a pose in its space.
    """
    writing = WritingContext(model, scene, objects, materials, meters=meters, local=local)
    writing.moves_joints = is_usd if moves_joints is None else moves_joints
    curves = CurveWriter(model, writing.properties)
    origins = _OriginWriter(model, texts or Texts(), is_usd=is_usd)
    _write_physics_scenes(writing, origins)
    _write_materials(writing, origins)
    for path, prim in model.prims.items():
        obj: Any = objects.get(path)
        if obj is not None:
            if is_usd or prim.extras:
                # Asking for an unset group creates it.
                origins.write(obj.usdphys.prim, prim, obj.name)
            _write_object(writing, obj, prim)
        elif prim.local is not None and (above := objects.get(paths.parent_of(path))) is not None:
            _write_below(writing, above, prim)
        elif prim.schemas and not lives_without_object(prim):
            writing.written.missing.append(path)
    for path in objects.keys() - model.prims.keys() if is_usd else ():
        obj = objects[path]
        origins.write(obj.usdphys.prim, Prim(path, model.other_types.get(path, "")), obj.name)
    for path in materials.keys() - model.prims.keys() if is_usd else ():
        material: Any = materials[path]
        origins.write(material.usdphys.prim, Prim(path, "Material"), material.name)
    _write_groups(writing, origins)
    writing.written.still = curves.write()
    return writing.written


class _OriginWriter:
    """Writes which prim a thing was imported from, so that an export gives it its path back."""

    def __init__(self, model: PhysicsModel, texts: Texts, *, is_usd: bool) -> None:
        self.model, self.texts, self.is_usd = model, texts, is_usd

    def write(self, group: PropertyGroup, prim: Prim, id_name: str) -> None:
        """group: the `RememberedPrim` of an object, a material or an item of the scene. id_name: its name."""
        # A property of its own has whether the velocity is kept.
        if extras := without_kept(prim.extras):
            group.extras = json.dumps(extras)
        if not self.is_usd:
            return
        path, order, texts = prim.path, self.model.order, self.texts
        group.path, group.type_name, group.id_name = path, prim.type_name, id_name
        group.order = order.get(path, len(order))
        if text := texts.transforms.get(path):
            group.transform = text
        if text := texts.carried.get(path):
            group.carried = text
        if text := texts.shapes.get(path):
            group.shape = text
        if text := texts.bindings.get(path):
            group.binding = text


# --------------------------------------------------------------------------- scenes, materials, groups


def _write_physics_scenes(writing: WritingContext, origins: _OriginWriter) -> None:
    for path, prim in writing.model.scenes.items():
        item = writing.scene.usdphys.physics_scenes.add()
        item.name = free_name(prim.name, writing.scene_names.values())
        writing.scene_names[path] = item.name
        origins.write(item.prim, prim, item.name)
        value = prim.get(usd_physics.PhysicsScene)
        if value is not None:
            writing.properties.write(item, value)
        vendor_rows.write_vendor(writing.properties, item, "scene", prim, writing.objects)
        writing.written.count("scenes")


def _write_materials(writing: WritingContext, origins: _OriginWriter) -> None:
    for path, prim in writing.model.materials.items():
        if prim.type_name not in MATERIAL_TYPES:
            continue
        material: Any = writing.materials.get(path)
        if material is None:
            # Blender's importer skips materials that are bound for physics only.
            material = bpy.data.materials.new(prim.name)
            material.use_fake_user = True
            writing.materials[path] = material
        origins.write(material.usdphys.prim, prim, material.name)
        physics = material.usdphys.physics_material
        physics.is_applied = True
        value = prim.get(usd_physics.MaterialAPI)
        if value is not None:
            writing.properties.write(physics, value)
        vendor_rows.write_vendor(writing.properties, material.usdphys, "material", prim, writing.objects)
        writing.written.count("materials")


def _write_groups(writing: WritingContext, origins: _OriginWriter) -> None:
    names = writing.group_names
    for path, prim in writing.model.groups.items():
        names[path] = free_name(prim.name, names.values())
    for path, prim in writing.model.groups.items():
        item = writing.scene.usdphys.collision_groups.add()
        item.name = names[path]
        origins.write(item.prim, prim, item.name)
        group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
        writing.properties.write(item, group)
        for target in group.filtered_groups or ():
            item.filtered_groups.add().name = names.get(target, target)
        item.other_includes = _write_members(writing, group.includes or (), item.name, exclude=False)
        item.other_excludes = _write_members(writing, group.excludes or (), item.name, exclude=True)
        writing.written.count("groups")


def _write_members(writing: WritingContext, targets: Iterable[str], name: str, *, exclude: bool) -> str:
    """Write the membership to the objects; returns the paths that have no object, one a line."""
    others = []
    for target in targets:
        obj = writing.objects.get(target)
        item = writing.items.get(target) if obj is None else obj.usdphys
        if item is None:
            others.append(target)
            continue
        membership = item.collision_groups.add()
        membership.name, membership.exclude = name, exclude
    return "\n".join(others)


# --------------------------------------------------------------------------- objects


def _write_object(writing: WritingContext, obj: Object, prim: Prim) -> None:
    if not (prim.schemas or prim.physics_binding):
        return
    physics, properties, written = obj.usdphys, writing.properties, writing.written
    # By name, which is quicker than `Prim.get`: no class is derived from one of these.
    known: dict[str, Any] = prim.schemas
    body = known.get(usd_physics.RigidBodyAPI.usd_name)
    if body is not None:
        group = physics.rigid_body
        group.is_applied = True
        properties.write(group, body)
        if prim.extras and keeps_velocity(prim):
            group.keeps_velocity = True
        _write_owner(writing, group, body.simulation_owner)
        written.count("bodies")
    collision = known.get(usd_physics.CollisionAPI.usd_name)
    if collision is not None:
        _write_collider(writing, physics.colliders.add(), obj, prim, collision)
        written.count("colliders")
    _write_mass_and_pairs(writing, physics, prim)
    if usd_physics.ArticulationRootAPI.usd_name in known:
        physics.articulation_root.is_applied = True
        written.count("articulations")
    if prim.physics_binding:
        physics.physics_material = writing.materials.get(prim.physics_binding)
        if physics.physics_material is None:
            physics.physics_material_path = prim.physics_binding
    joint = prim.get(usd_physics.Joint)
    if joint is not None:
        write_joint(writing, obj, prim, joint)
    vendor_rows.write_vendor(properties, physics, "object", prim, writing.objects)


def _write_mass_and_pairs(writing: WritingContext, owner: Any, prim: Prim) -> None:
    """Write the mass and the filtered pairs of an object or a collider."""
    known: dict[str, Any] = prim.schemas
    mass = known.get(usd_physics.MassAPI.usd_name)
    if mass is not None:
        group = owner.mass
        group.is_applied = True
        writing.properties.write(group, mass)
    pairs = known.get(usd_physics.FilteredPairsAPI.usd_name)
    if pairs is not None:
        owner.filtered_pairs.is_applied = True
        for target in pairs.filtered_pairs or ():
            reference = owner.filtered_pairs.filtered_pairs.add()
            reference.object = writing.objects.get(target)
            reference.path = "" if reference.object else target


def _write_below(writing: WritingContext, obj: Object, prim: Prim) -> None:
    """Write a collider or a joint that has a pose in the space of an object on that object."""
    joint = prim.get(usd_physics.Joint)
    if joint is not None:
        obj.usdphys.prim.extras = json.dumps({**remembered.extras_of(obj.usdphys.prim.extras), **prim.extras})
        write_joint(writing, obj, prim, joint)
        vendor_rows.write_vendor(writing.properties, obj.usdphys, "object", prim, writing.objects)
    collision = prim.get(usd_physics.CollisionAPI)
    if collision is None or prim.local is None:
        return
    item = writing.items[prim.path] = obj.usdphys.colliders.add()
    gprim = prim.get(usd_geom.Gprim)
    if gprim is None or prim.name != f"{prim.type_name}_collider":
        # The other name is the one that a collider without a name gets.
        item.name = prim.name
    _write_collision(writing, item, prim, collision)
    writing.written.count("colliders")
    if prim.physics_binding:
        item.physics_material = writing.materials.get(prim.physics_binding)
    if gprim is not None:
        # Copies of a collider share its gprim and its pose.
        pose = prim.local
        shape = _stretched(prim, gprim, pose, writing.local)
        if shape is None:
            key = (id(gprim), id(pose))
            if key not in writing.shapes:
                writing.shapes[key] = (gprim, pose, _shape_below(prim, gprim, pose, writing.local))
            shape = writing.shapes[key][2]
        for name, value in shape:
            setattr(item, name, value)
    else:
        item.shape = "MESH"
    if prim.purpose != ("default" if gprim is None else "guide"):
        item.purpose = prim.purpose.upper()
    _write_mass_and_pairs(writing, item, prim)
    if prim.extras:
        item.extras = json.dumps(prim.extras)


def _shape_below(prim: Prim, gprim: usd_geom.Gprim, pose: frames.Matrix, meters: float) -> tuple[tuple[str, Any], ...]:
    """Properties of a collider with a pose (4, 4) in the space of its object. meters: length of a unit there."""
    values: dict[str, Any] = {"shape": gprim_properties.SHAPES.get(prim.type_name, "MESH")}
    rows = pose.tolist()
    values["location"] = [row[3] / meters for row in rows[:3]]
    if _is_straight(rows):
        scale = [rows[0][0], rows[1][1], rows[2][2]]
    else:
        values["rotation"] = frames.quaternion_of(frames.rotation_of(pose))
        scale = frames.scale_of(pose).tolist()
    return (*values.items(), *gprim_properties.gprim_properties(gprim, meters, scale=scale).items())


def _stretched(
    prim: Prim, gprim: usd_geom.Gprim, pose: frames.Matrix, meters: float
) -> tuple[tuple[str, Any], ...] | None:  # fmt: skip
    """`_shape_below` of a round gprim whose pose has a scale, such as one that takes back that of its object.

    Its radius goes by the largest scale across its axis, of the object as of all. None for other shapes.
    """
    own = frames.scale_of(pose)
    if isinstance(gprim, usd_geom.Cube | usd_geom.Plane) or np.abs(own - 1.0).max() < 1e-9 or not own.all():
        return None
    above = prim.world @ np.linalg.inv(pose)
    now = np.linalg.norm(prim.world[:3, :3], axis=0)
    before = np.linalg.norm(above[:3, :3] @ frames.rotation_of(pose), axis=0)
    axis = "XYZ".index(getattr(gprim, "axis", None) or "Z")
    around, along = float(np.delete(now, axis).max() / np.delete(before, axis).max()), float(now[axis] / before[axis])
    if isinstance(gprim, usd_geom.Sphere):
        around = float(now.max() / before.max())
    size = gprim_properties.gprim_properties(gprim, meters, around=around, along=along)
    return tuple((dict(_shape_below(prim, gprim, pose, meters)) | size).items())


def _is_straight(rows: list[list[float]]) -> bool:
    """True for a matrix that moves and scales, but neither turns nor mirrors."""
    (a, b, c, _), (d, e, f, _), (g, h, i, _), _ = rows
    return a > 0.0 and e > 0.0 and i > 0.0 and not (b or c or d or f or g or h)


def _write_owner(writing: WritingContext, group: Any, targets: tuple[str, ...] | None) -> None:
    """Write the simulation owner by name, or by path if the file does not define it."""
    if targets:
        group.simulation_owner = writing.scene_names.get(targets[0], targets[0])


def _write_collider(
    writing: WritingContext, item: Any, obj: Object, prim: Prim, collision: usd_physics.CollisionAPI
) -> None:
    _write_collision(writing, item, prim, collision)
    item.purpose = prim.purpose.upper()
    gprim = prim.get(usd_geom.Gprim)
    if prim.type_name not in usd_geom.GEOMETRY_TYPES:
        item.is_geometry = True
    item.shape = shape = gprim_properties.SHAPES.get(prim.type_name, "MESH")
    if gprim is not None and shape != "MESH":
        item.is_geometry = True
        # In the space of the object: its own transform carries place and scale.
        item.location = (0.0, 0.0, 0.0)
        for name, value in gprim_properties.gprim_properties(gprim, writing.local).items():
            setattr(item, name, value)
    if prim.purpose == "guide":
        obj.hide_render = True
        obj.display_type = "WIRE"


def _write_collision(writing: WritingContext, item: Any, prim: Prim, collision: usd_physics.CollisionAPI) -> None:
    """Write what does not depend on the shape of a collider."""
    writing.properties.write(item, collision)
    _write_owner(writing, item, collision.simulation_owner)
    approximation: Any = prim.schemas.get(usd_physics.MeshCollisionAPI.usd_name)
    if approximation is not None:
        item.has_mesh_collision = True
        writing.properties.write(item, approximation)
        if isinstance(approximation.approximation, str) and not approximation.holds("approximation"):
            item.other_approximation = approximation.approximation
    vendor_rows.write_vendor(writing.properties, item, "collider", prim, writing.objects)
