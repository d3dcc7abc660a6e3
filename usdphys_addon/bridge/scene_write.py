# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> Blender properties, on objects that exist already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np

from ..core import frames, joint_kinds
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_geom, usd_physics
from . import props, remembered
from .property_units import PropertyWriter, _divided

_SHAPES = {cls.usd_name: shape for shape, cls in props.GPRIM_SHAPES.items()}
_JOINTS = {name: kind.identifier for name, kind in joint_kinds.BY_TYPE_NAME.items()}
#: A frame that differs by less is the same: metres and radians.
_SAME_FRAME = 1e-5


@dataclass(frozen=True, slots=True)
class Texts:
    """What neither Blender nor the model hold of prims, by path: see `usd.import_source.Source`."""

    carried: Mapping[str, str] = field(default_factory=dict)
    transforms: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Written:
    """counts: of what got properties, by kind. missing: paths of prims with physics for which there is no object."""

    counts: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)


def write_scene(
    model: PhysicsModel,
    scene: bpy.types.Scene,
    objects: dict[str, bpy.types.Object],
    materials: dict[str, bpy.types.Material],
    *,
    texts: Texts | None = None,
    meters: float | None = None,
) -> Written:
    """Put the physics of a model on objects and materials, given by prim path, and on the scene.

    texts: for all of these to remember. meters: length of a Blender unit; by default what the scene says.
    """
    writer = _SceneWriter(model, scene, objects, materials, texts)
    if meters is not None:
        writer.meters = meters
        writer.properties = PropertyWriter(meters, writer.local)
    return writer.write()


class _SceneWriter:
    def __init__(
        self,
        model: PhysicsModel,
        scene: bpy.types.Scene,
        objects: dict[str, bpy.types.Object],
        materials: dict[str, bpy.types.Material],
        texts: Texts | None = None,
    ) -> None:
        self.model, self.objects, self.materials, self.texts = model, objects, materials, texts or Texts()
        self.scene: Any = scene
        self.meters = float(scene.unit_settings.scale_length) or 1.0
        self.local = model.units.meters_per_unit
        self.properties = PropertyWriter(self.meters, self.local)
        self.written = Written()
        self.scene_names: dict[str, str] = {}
        self.group_names: dict[str, str] = {}

    def write(self) -> Written:
        self.write_physics_scenes()
        self.write_materials()
        for path, prim in self.model.prims.items():
            obj: Any = self.objects.get(path)
            if obj is not None:
                self.remember(obj.usdphys.prim, prim, obj.name)
                self.write_object(obj, prim)
            elif prim.schemas and not lives_without_object(prim):
                self.written.missing.append(path)
        for path in self.objects.keys() - self.model.prims.keys():
            obj = self.objects[path]
            self.remember(obj.usdphys.prim, Prim(path, self.model.other_types.get(path, "")), obj.name)
        self.write_groups()
        return self.written

    def remember(self, group: Any, prim: Prim, id_name: str) -> None:
        path, texts = prim.path, self.texts
        remember(group, prim, id_name, self.model.order.get(path, len(self.model.order)))
        if path in texts.transforms:
            group.transform = texts.transforms[path]
        if path in texts.carried:
            group.carried = texts.carried[path]

    def count(self, kind: str) -> None:
        self.written.counts[kind] += 1

    # ------------------------------------------------------------------ stage-wide prims

    def write_physics_scenes(self) -> None:
        for path, prim in self.model.scenes.items():
            item = self.scene.usdphys.physics_scenes.add()
            item.name = free_name(prim.name, self.scene_names.values())
            self.scene_names[path] = item.name
            self.remember(item.prim, prim, item.name)
            value = prim.get(usd_physics.PhysicsScene)
            if value is not None:
                self.properties.write(item, value)
            self.count("scenes")

    def write_materials(self) -> None:
        for path, prim in self.model.materials.items():
            material: Any = self.materials.get(path)
            if material is None:
                # A material that only physics uses does not come through Blender's importer.
                material = bpy.data.materials.new(prim.name)
                material.use_fake_user = True
                self.materials[path] = material
            self.remember(material.usdphys.prim, prim, material.name)
            physics = material.usdphys.physics_material
            physics.is_applied = True
            value = prim.get(usd_physics.MaterialAPI)
            if value is not None:
                self.properties.write(physics, value)
            self.count("materials")

    def write_groups(self) -> None:
        for path, prim in self.model.groups.items():
            name = free_name(prim.name, self.group_names.values())
            self.group_names[path] = name
        for path, prim in self.model.groups.items():
            item = self.scene.usdphys.collision_groups.add()
            item.name = self.group_names[path]
            self.remember(item.prim, prim, item.name)
            group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
            self.properties.write(item, group)
            for target in group.filtered_groups or ():
                item.filtered_groups.add().name = self.group_names.get(target, target)
            item.other_includes = self.write_members(group.includes or (), item.name, exclude=False)
            item.other_excludes = self.write_members(group.excludes or (), item.name, exclude=True)
            self.count("groups")

    def write_members(self, targets: Iterable[str], name: str, *, exclude: bool) -> str:
        """Note the membership on the objects; returns the paths without an object, a line each."""
        others = []
        for target in targets:
            obj: Any = self.objects.get(target)
            if obj is None:
                others.append(target)
                continue
            membership = obj.usdphys.collision_groups.add()
            membership.name, membership.exclude = name, exclude
        return "\n".join(others)

    # ------------------------------------------------------------------ objects

    def write_object(self, obj: Any, prim: Prim) -> None:
        if not (prim.schemas or prim.physics_binding):
            return
        physics = obj.usdphys
        # By name: most prims have few of them, and none of these has classes derived from it.
        known: dict[str, Any] = prim.schemas
        body = known.get(usd_physics.RigidBodyAPI.usd_name)
        if body is not None:
            physics.rigid_body.is_applied = True
            self.properties.write(physics.rigid_body, body)
            self.write_owner(physics.rigid_body, body.simulation_owner)
            self.count("bodies")
        collision = known.get(usd_physics.CollisionAPI.usd_name)
        if collision is not None:
            self.write_collider(physics.colliders.add(), obj, prim, collision)
            self.count("colliders")
        if usd_physics.MassAPI.usd_name in known:
            self.write_mass(physics, prim)
        if usd_physics.ArticulationRootAPI.usd_name in known:
            physics.articulation_root.is_applied = True
            self.count("articulations")
        pairs = known.get(usd_physics.FilteredPairsAPI.usd_name)
        if pairs is not None:
            physics.filtered_pairs.is_applied = True
            for target in pairs.filtered_pairs or ():
                reference = physics.filtered_pairs.filtered_pairs.add()
                reference.object = self.objects.get(target)
                reference.path = "" if reference.object else target
        if prim.physics_binding:
            physics.physics_material = self.materials.get(prim.physics_binding)
            if physics.physics_material is None:
                physics.physics_material_path = prim.physics_binding
        joint = prim.get(usd_physics.Joint)
        if joint is not None:
            self.write_joint(obj, prim, joint)
            self.count("joints")

    def write_owner(self, group: Any, targets: tuple[str, ...] | None) -> None:
        if targets:
            group.simulation_owner = self.scene_names.get(targets[0], targets[0])

    def write_mass(self, physics: Any, prim: Prim) -> None:
        value = prim.get(usd_physics.MassAPI)
        if value is not None:
            physics.mass.is_applied = True
            self.properties.write(physics.mass, value)

    def write_collider(self, item: Any, obj: Any, prim: Prim, collision: usd_physics.CollisionAPI) -> None:
        self.properties.write(item, collision)
        self.write_owner(item, collision.simulation_owner)
        approximation = prim.get(usd_physics.MeshCollisionAPI)
        if approximation is not None:
            item.has_mesh_collision = True
            self.properties.write(item, approximation)
        item.purpose = prim.purpose.upper()
        gprim = prim.get(usd_geom.Gprim)
        item.is_geometry = prim.type_name not in remembered.GEOMETRY_TYPES
        item.shape = _SHAPES.get(prim.type_name, "MESH")
        if gprim is not None and item.shape != "MESH":
            item.is_geometry = True
            self.write_gprim(item, gprim)
        if prim.purpose == "guide":
            obj.hide_render = True
            obj.display_type = "WIRE"

    def write_gprim(self, item: Any, gprim: usd_geom.Gprim) -> None:
        """The exact parameters, in the object's space; the object's own transform carries place and scale."""
        item.location = (0.0, 0.0, 0.0)
        if isinstance(gprim, usd_geom.Cube):
            size = gprim.resolved("size") / self.local
            item.size = (size, size, size)
            return
        if isinstance(gprim, usd_geom.Plane):
            axis = "XYZ".index(gprim.resolved("axis"))
            size = [0.0, 0.0, 0.0]
            across, along = ((2, 1), (0, 2), (0, 1))[axis]
            size[across], size[along] = gprim.resolved("width") / self.local, gprim.resolved("length") / self.local
            item.size, item.axis = size, gprim.resolved("axis")
            return
        item.radius = gprim.resolved("radius") / self.local
        if not isinstance(gprim, usd_geom.Sphere):
            item.height, item.axis = gprim.resolved("height") / self.local, gprim.resolved("axis")

    # ------------------------------------------------------------------ joints

    def write_joint(self, obj: Any, prim: Prim, joint: usd_physics.Joint) -> None:
        group = obj.usdphys.joint
        group.is_applied = True
        group.type = _JOINTS[prim.type_name]
        for side in (0, 1):
            self.write_body(group, joint, side)
        local = frozenset(props.LOCAL_FRAME_FIELDS)
        base = usd_physics.Joint(**{item.field: getattr(joint, item.field) for item in usd_physics.Joint.attributes})
        self.properties.write(group, base, skip=local)
        if getattr(joint, "axis", None) is not None and joint.holds("axis"):
            group.axis = joint.axis  # type: ignore[attr-defined]
        if group.type not in ("FIXED", "GENERIC"):
            self.properties.write(getattr(group, group.type.lower()), joint, skip=props.JOINT_SHARED_FIELDS)
        for cls, groups in ((usd_physics.LimitAPI, group.limits), (usd_physics.DriveAPI, group.drives)):
            for instance, value in prim.instances(cls):
                target = getattr(groups, instance, None)
                if target is not None:
                    target.is_applied = True
                    self.properties.write(target, value, instance=instance)
        self.write_frames(obj, group, joint)

    def write_body(self, group: Any, joint: usd_physics.Joint, side: int) -> None:
        targets = getattr(joint, f"body{side}")
        if not targets:
            return
        body = self.objects.get(targets[0])
        if body is not None:
            setattr(group, f"body{side}", body)
        else:
            setattr(group, f"body{side}_path", targets[0])

    def write_frames(self, obj: Any, group: Any, joint: usd_physics.Joint) -> None:
        """Place the object at the frame of body 0; set the frame of body 1 only where it differs from that."""
        places = [self.frame(joint, side) for side in (0, 1)]
        group.has_remembered_frames = True
        for name in props.LOCAL_FRAME_FIELDS:
            value = getattr(joint, name)
            if joint.holds(name):
                text = " ".join(map(repr, _divided(value, self.frame_unit(joint, name))))
                setattr(group, f"remembered_{name}", text)
        if not coincide(*places):
            for name in ("local_pos1", "local_rot1"):
                setattr(group, name, _divided(joint.resolved(name), self.frame_unit(joint, name)))
        place = places[0].copy()
        place[:3, 3] /= self.meters
        put(obj, mathutils.Matrix(place.tolist()))

    def frame_unit(self, joint: usd_physics.Joint, name: str) -> float:
        """Metres per unit of a local frame: that of the body's space, or of the world where there is no body."""
        if "pos" not in name:
            return 1.0
        return self.local if getattr(joint, f"body{name[-1]}") else self.meters

    def frame(self, joint: usd_physics.Joint, side: int) -> frames.Matrix:
        """World frame of a side, metres."""
        targets = getattr(joint, f"body{side}")
        prim = self.model.prims.get(targets[0]) if targets else None
        return frames.world_frame(
            prim.world if prim is not None else None,
            joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"),
        )  # fmt: skip


def put(obj: bpy.types.Object, place: mathutils.Matrix) -> None:
    """Put an object somewhere in the world, exactly so below parents that are scaled unevenly, too."""
    if obj.parent is not None:
        undone = obj.parent.matrix_world.inverted_safe()
        if frames.is_sheared(np.array(undone @ place), 1e-6):
            # What location, rotation and scale of the object cannot hold.
            obj.matrix_parent_inverse, obj.matrix_basis = undone, place
            return
    obj.matrix_world = place


def coincide(one: frames.Matrix, other: frames.Matrix) -> bool:
    apart = float(np.linalg.norm(one[:3, 3] - other[:3, 3]))
    turned = float(np.abs(one[:3, :3] - other[:3, :3]).max())
    size = max(1.0, float(np.linalg.norm(one[:3, 3])))
    return apart <= _SAME_FRAME * size and turned <= _SAME_FRAME


def lives_without_object(prim: Prim) -> bool:
    """True for kinds of prims that live in the scene or in a material."""
    return any(
        prim.get(cls) is not None
        for cls in (usd_physics.PhysicsScene, usd_physics.CollisionGroup, usd_physics.MaterialAPI)
    )


def remember(group: Any, prim: Prim, id_name: str, order: int) -> None:
    """Note where something was imported from; order: its place among all prims of the stage."""
    group.path, group.type_name, group.id_name, group.order = prim.path, prim.type_name, id_name, order


def free_name(name: str, taken: Iterable[str]) -> str:
    names, number, candidate = set(taken), 0, name
    while candidate in names:
        number += 1
        candidate = f"{name}.{number:03d}"
    return candidate
