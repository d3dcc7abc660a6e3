# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender scene -> PhysicsModel. Reads properties and evaluated objects; changes nothing.

Paths are those that Blender's USD exporter is expected to give; `exchange.usd_export` corrects them against the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import bpy
import numpy as np

from ..core import frames, joint_kinds, schema
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.units import StageUnits
from ..core.validate import Issue
from . import props, remembered
from .collider_read import ColliderReader
from .naming import prim_name, unique
from .placements import Placement, Placements
from .property_units import PropertyReader, _si
from .reading import DEFAULT_ROOT, MATERIALS_SCOPE, SceneReading

GROUPS_SCOPE = "CollisionGroups"
#: Blender's matrices are of 32-bit floats.
_FLOAT_ANGLE = 1e-6
#: Of a place in the world, relative to its distance from the origin.
_FLOAT_NOISE = 1e-6
_EARTH = (0.0, 0.0, -9.81)


def read_scene(
    depsgraph: bpy.types.Depsgraph,
    *,
    root: str = DEFAULT_ROOT,
    keep: Callable[[bpy.types.Object], bool] | None = None,
    meters: float | None = None,
) -> SceneReading:
    """The physics of all objects that a depsgraph shows, or of those that `keep` accepts.

    meters: length of a Blender unit; by default what the scene says.
    """
    return SceneReader(depsgraph, root, keep, meters).read()


def scene_units(scene: bpy.types.Scene) -> StageUnits:
    """Units of a Blender scene: metres per Blender unit, kilograms, Z up."""
    return StageUnits(meters_per_unit=float(scene.unit_settings.scale_length) or 1.0)


class SceneReader:
    """Reads a scene, at once or in steps."""

    def __init__(
        self, depsgraph: bpy.types.Depsgraph, root: str, keep: Callable[[bpy.types.Object], bool] | None,
        meters: float | None,
    ) -> None:  # fmt: skip
        scene: Any = depsgraph.scene
        self.scene: Any = scene.original
        self.root = root.rstrip("/")
        self.units = scene_units(self.scene) if meters is None else StageUnits(meters_per_unit=meters)
        self.meters = self.units.meters_per_unit
        self.properties = PropertyReader(self.meters)
        self.placements = self.find_placements(depsgraph, keep)
        self.reading = SceneReading(PhysicsModel(self.units, source=bpy.data.filepath, angular_precision=_FLOAT_ANGLE))
        self.reading.frame = self.scene.frame_current_final
        self.model = self.reading.model
        self.issues = self.reading.issues
        self.physical: list[Placement] = []
        self.members: dict[str, tuple[list[str], list[str]]] = {}
        self.taken: set[str] = set()
        self.object_paths = self.reading.object_paths
        self.keep = keep
        self.scene_paths: dict[str, str] = {}
        self.slot_paths: dict[str, str] = {}

    def find_placements(
        self, depsgraph: bpy.types.Depsgraph, keep: Callable[[bpy.types.Object], bool] | None
    ) -> Placements:
        return Placements(depsgraph, self.root, keep)

    def collider_reader(self) -> ColliderReader:
        return ColliderReader(self)

    def read(self) -> SceneReading:
        for _ in self.steps():
            pass
        if not self.has_physics():
            self.read_imported_materials()
        self.reading.paths_are_certain = self.placements.are_certain and not self.scene.usdphys.source.filepath
        return self.reading

    def has_physics(self) -> bool:
        """True where an object or the scene says anything; known once the first steps have looked."""
        physics = self.scene.usdphys
        return bool(self.physical or len(physics.physics_scenes) or len(physics.collision_groups))

    def steps(self) -> Iterator[None]:
        """Read; at a yield, which comes after whatever takes time, nothing of Blender is held here."""
        for placement in self.placements.all:
            if props.holds_physics(placement.physics, placement.touched):
                self.physical.append(placement)
            yield
        if not self.has_physics():
            return
        self.object_paths.update(placement.path for placement in self.placements.all)
        self.taken.update(self.object_paths)
        yield
        for placement in self.physical:
            placement.geometry = geometry_path(placement)
            self.taken.add(placement.geometry)
            yield
        self.read_physics_scenes()
        yield
        yield from self.hidden_steps()
        colliders = self.collider_reader()
        for placement in self.physical:
            colliders.read(placement, self.read_object(placement))
            yield
        self.add_joint_targets()
        yield
        self.read_groups()
        yield
        self.read_other_materials()
        yield

    def issue(self, code: str, severity: str, prim_path: str, label: str, message: str, fix: str) -> None:
        self.issues.append(Issue(code, severity, prim_path, label, message, fix))  # type: ignore[arg-type]

    # ------------------------------------------------------------------ stage-wide prims

    def made_path(self, name: str, kind: str, scope: str = "", item: Any = None) -> str:
        """Path of a prim that has no object; a name that USD cannot hold, or that is taken, changes and is said.

        item: what remembers the prim that it was imported from.
        """
        known = remembered.prim_of(item) if item is not None else None
        if known is not None and f"{self.root}{known.path}" not in self.taken:
            self.taken.add(f"{self.root}{known.path}")
            return f"{self.root}{known.path}"
        base = unique(f"{self.root}/{scope}", self.object_paths) if scope else self.root
        path = unique(f"{base}/{prim_name(name)}", self.taken)
        self.taken.add(path)
        leaf = path.rsplit("/", 1)[-1]
        if leaf != name:
            self.issue(
                "NameChanged", "info", path, name, f"The {kind} '{name}' is written as '{leaf}'.",
                "Give it a name of letters, digits and underscores that nothing else has.",
            )  # fmt: skip
        return path

    def read_physics_scenes(self) -> None:
        for item in self.scene.usdphys.physics_scenes:
            path = self.made_path(item.name or "PhysicsScene", "physics scene", item=item)
            self.scene_paths.setdefault(item.name, path)
            self.model.add(Prim(path, "PhysicsScene", is_xformable=False, label=item.name)).add(
                self.properties.read(item, usd_physics.PhysicsScene)
            )
        # A file that had no physics scene is written back without one.
        if not self.scene_paths and not self.scene.usdphys.source.filepath:
            path = self.made_path("PhysicsScene", "physics scene")
            self.model.add(Prim(path, "PhysicsScene", is_xformable=False)).add(self.blender_gravity())

    def blender_gravity(self) -> usd_physics.PhysicsScene:
        """The scene's own gravity, as far as it is not the default of Blender."""
        if not self.scene.use_gravity:
            return usd_physics.PhysicsScene(gravity_magnitude=0.0)
        gravity = np.array(self.scene.gravity, float)
        if np.allclose(gravity, _EARTH, atol=1e-6):
            return usd_physics.PhysicsScene()
        size = float(np.linalg.norm(gravity))
        if size == 0:
            return usd_physics.PhysicsScene(gravity_magnitude=0.0)
        x, y, z = (float(part) / size for part in gravity)
        return usd_physics.PhysicsScene(gravity_direction=(x, y, z), gravity_magnitude=size * self.meters)

    def owner(self, name: str, prim_path: str, label: str) -> tuple[str, ...] | None:
        """Targets of a simulation owner that is given by name."""
        if not name:
            return None
        path = self.scene_paths.get(name)
        if path is None:
            self.issue(
                "OwnerMissing", "error", prim_path, label,
                f"'{label}' names the physics scene '{name}' as its simulation owner, and there is none.",
                f"Add a physics scene '{name}' to the scene, or clear the simulation owner of '{label}'.",
            )  # fmt: skip
            return None
        return (path,)

    def read_groups(self) -> None:
        paths: dict[str, str] = {}
        defined = {item.name: item for item in self.scene.usdphys.collision_groups}
        for name in (*defined, *(name for name in self.members if name not in defined)):
            paths[name] = self.made_path(name or "CollisionGroup", "collision group", GROUPS_SCOPE, defined.get(name))
        for name, path in paths.items():
            prim = self.model.add(Prim(path, "PhysicsCollisionGroup", is_xformable=False, label=name))
            group = usd_physics.CollisionGroup()
            item = defined.get(name) or self.defined_elsewhere(name, path)
            if item is not None:
                self.properties.read(item, usd_physics.CollisionGroup, into=group)
                filtered = [self.group_target(target.name, paths, path, name) for target in item.filtered_groups]
                group.filtered_groups = tuple(target for target in filtered if target) or None
            includes, excludes = self.members.get(name, ([], []))
            if item is not None:
                includes = includes + [self.root + path for path in item.other_includes.splitlines()]
                excludes = excludes + [self.root + path for path in item.other_excludes.splitlines()]
            group.includes = tuple(includes) or None
            group.excludes = tuple(excludes) or None
            prim.add(group)

    def defined_elsewhere(self, name: str, path: str) -> Any:
        """The definition of a group in another scene of the file, a linked one among them."""
        for scene in bpy.data.scenes:
            for item in scene.usdphys.collision_groups:  # type: ignore[attr-defined]
                if item.name == name:
                    return item
        self.issue(
            "GroupUndefined", "warning", path, name,
            f"Objects belong to the collision group '{name}', which this scene does not define; it filters nothing.",
            f"Add a collision group '{name}' to the scene, or take the objects out of it.",
        )  # fmt: skip
        return None

    def group_target(self, name: str, paths: dict[str, str], path: str, label: str) -> str:
        if name in paths:
            return paths[name]
        self.issue(
            "GroupTargetMissing", "error", path, label,
            f"The collision group '{label}' filters the group '{name}', and there is none.",
            f"Add the group '{name}', or remove it from the filtered groups of '{label}'.",
        )  # fmt: skip
        return ""

    # ------------------------------------------------------------------ objects

    def hidden_steps(self) -> Iterator[None]:
        """Name the physics that stays behind because its object is hidden."""
        plain = [placement for placement in self.placements.all if placement.instance is None]
        if len(plain) == len(self.scene.objects):
            return
        shown = {placement.obj.name_full for placement in plain}
        for obj in self.scene.objects:
            if obj.name_full not in shown and (self.keep is None or self.keep(obj)) and props.is_physical(obj):
                self.say_hidden(obj)
        yield

    def say_hidden(self, obj: bpy.types.Object) -> None:
        self.issue(
            "NotExported", "warning", "", obj.name, f"'{obj.name}' has physics and is hidden, so it is left out.",
            f"Show '{obj.name}', or remove its physics.",
        )  # fmt: skip

    def read_object(self, placement: Placement) -> frames.Matrix:
        """Read all but the colliders; the place of the object in the world, metres."""
        obj, physics, touched = placement.obj, placement.physics, placement.touched
        label = placement.chain[-1]
        self.reading.sites[placement.path] = placement
        self.check_name(placement)
        world = self.metric(placement.matrix)
        if "joint" in touched and physics.joint.is_applied:
            self.read_joint(placement, world)
        prim = Prim(placement.path, "Xform", world, label=label)
        # Only a changed transform can animate a body: its own, or that of something above it.
        prim.is_animated = _is_animated(obj) or any(_is_animated(above.obj) for above in placement.ancestors())
        prim.sheared_local = _sheared_local(placement)
        group = physics.rigid_body if "rigid_body" in touched else None
        if group is not None and group.is_applied:
            body = self.properties.read(group, usd_physics.RigidBodyAPI)
            body.simulation_owner = self.owner(group.simulation_owner, prim.path, label)
            prim.add(body)
        if "articulation_root" in touched and physics.articulation_root.is_applied:
            prim.add(usd_physics.ArticulationRootAPI())
        self.read_common(physics, touched, prim, placement)
        if not len(physics.colliders):
            # Those below it inherit the material; colliders of its own have it each.
            if "physics_material" in touched and physics.physics_material is not None:
                prim.physics_binding = self.material_path(physics.physics_material)
            elif "physics_material_path" in touched and physics.physics_material_path:
                prim.physics_binding = self.root + physics.physics_material_path
        if prim.schemas:
            existing = self.model.prims.get(prim.path)
            if existing is None:
                self.model.add(prim)
            else:
                existing.schemas.update(prim.schemas)
        elif prim.sheared_local is not None and len(physics.colliders):
            self.model.add(prim)
        return world

    def check_name(self, placement: Placement) -> None:
        """Blender writes a child and its parent's mesh to one prim where their names are the same."""
        parent = placement.parent
        if parent is not None and geometry_path(parent) == placement.path:
            name, other = placement.obj.name, parent.obj.name
            self.issue(
                "NameClash", "error", placement.path, name,
                f"The object '{name}' has the name of the mesh of its parent '{other}': both would be one prim.",
                f"Rename the object '{name}', or the mesh of '{other}'.",
            )  # fmt: skip

    def metric(self, matrix: frames.Matrix) -> frames.Matrix:
        """A world matrix with its translation in metres."""
        if self.meters != 1.0:
            matrix = matrix.copy()
            matrix[:3, 3] *= self.meters
        return matrix

    def read_common(self, owner: Any, touched: list[str], prim: Prim, placement: Placement) -> None:
        """What objects and colliders both have: mass, filtered pairs, groups. touched: keys of the owner."""
        mass = owner.mass if "mass" in touched else None
        if mass is not None and mass.is_applied:
            prim.add(self.properties.read(mass, usd_physics.MassAPI))
        if "filtered_pairs" in touched and owner.filtered_pairs.is_applied:
            self.read_filtered_pairs(owner.filtered_pairs, prim, placement)
        if "collision_groups" in touched:
            self.read_memberships(owner.collision_groups, prim.path)

    def read_filtered_pairs(self, group: Any, prim: Prim, placement: Placement) -> None:
        targets = []
        for reference in group.filtered_pairs:
            if reference.object is None and reference.path:
                targets.append(self.root + reference.path)
                continue
            other = self.placements.find(reference.object, placement.instance)
            if other is None:
                what = f"'{reference.object.name}'" if reference.object else "a deleted object"
                self.issue(
                    "FilteredPairMissing", "error", prim.path, placement.obj.name,
                    f"'{placement.obj.name}' filters {what}, which is not in what is exported.",
                    f"Remove it from the filtered pairs of '{placement.obj.name}'.",
                )  # fmt: skip
            else:
                targets.append(other.path)
        prim.add(usd_physics.FilteredPairsAPI(filtered_pairs=tuple(targets) or None))

    def read_memberships(self, memberships: Iterable[Any], path: str) -> None:
        for membership in memberships:
            self.members.setdefault(membership.name, ([], []))[bool(membership.exclude)].append(path)

    # ------------------------------------------------------------------ joints

    def read_joint(self, placement: Placement, world: frames.Matrix) -> None:
        group = placement.obj.usdphys.joint  # type: ignore[attr-defined]
        cls = joint_kinds.JOINT_TYPES[group.type]
        path = placement.path
        if not _is_bare(placement.obj):
            # A joint has no transform: it cannot stand in for a prim that shows or carries something.
            path = unique(f"{path}/{prim_name(placement.obj.name)}_joint", self.taken)
            self.taken.add(path)
        joint = self.properties.read(group, usd_physics.Joint, into=cls())
        if hasattr(joint, "axis") and group.is_property_set("axis"):
            joint.axis = group.axis
        if cls is not usd_physics.FixedJoint and cls is not usd_physics.Joint:
            self.properties.read(getattr(group, group.type.lower()), cls, into=joint, skip=props.JOINT_SHARED_FIELDS)
        prim = self.model.add(Prim(path, cls.usd_name, world, is_xformable=False, label=placement.obj.name))
        prim.add(joint)
        for dof in usd_physics.LimitAPI.instances:
            limit = getattr(group.limits, dof)
            if limit.is_applied:
                prim.add(self.properties.read(limit, usd_physics.LimitAPI, angular=dof in schema.ANGULAR_DOFS), dof)
        for dof in usd_physics.DriveAPI.instances:
            drive = getattr(group.drives, dof)
            if drive.is_applied:
                prim.add(self.properties.read(drive, usd_physics.DriveAPI, angular=dof in schema.ANGULAR_DOFS), dof)
        for side in (0, 1):
            self.read_side(placement, prim, joint, group, side)

    def read_side(self, placement: Placement, prim: Prim, joint: usd_physics.Joint, group: Any, side: int) -> None:
        """Body and local frame of one side; the frame is the joint object's place unless it is set."""
        label = placement.obj.name
        body = getattr(group, f"body{side}")
        target = self.placements.find(body, placement.instance)
        if target is None and (body is not None or getattr(group, f"body{side}_name")):
            name = body.name if body is not None else getattr(group, f"body{side}_name")
            self.issue(
                "JointBodyMissing", "error", prim.path, label,
                f"Body {side} of the joint '{label}', '{name}', was deleted or is not in what is exported.",
                f"Choose another body {side} for '{label}', or clear it to attach the joint to the world.",
            )  # fmt: skip
            return
        elsewhere = getattr(group, f"body{side}_path")
        if target is None and elsewhere:
            setattr(joint, f"body{side}", (self.root + elsewhere,))
            self.recall_frame(joint, group, side)
            return
        if target is not None:
            setattr(joint, f"body{side}", (target.path,))
        try:
            position, rotation = frames.local_frame(None if target is None else self.metric(target.matrix), prim.world)
        except np.linalg.LinAlgError:
            self.issue(
                "ZeroScale", "error", prim.path, label,
                f"Body {side} of the joint '{label}', '{body.name}', is scaled to nothing: a joint has no place there.",
                f"Give '{body.name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            return
        if self.is_remembered_frame(group, side, position, rotation, target, prim.world):
            self.recall_frame(joint, group, side)
            return
        if getattr(joint, f"local_pos{side}") is None:
            setattr(joint, f"local_pos{side}", position)
        if getattr(joint, f"local_rot{side}") is None:
            setattr(joint, f"local_rot{side}", rotation)

    def is_remembered_frame(
        self, group: Any, side: int, position: schema.Vector, rotation: schema.Quaternion,
        target: Placement | None, place: frames.Matrix,
    ) -> bool:  # fmt: skip
        """True where the objects stand as they were imported, so that the local frame is the imported one."""
        if not group.has_remembered_frames:
            return False
        if group.is_property_set(f"local_pos{side}"):
            # Set by the import, or by somebody since.
            position = _si(getattr(group, f"local_pos{side}"), self.meters)
            rotation = _si(getattr(group, f"local_rot{side}"), 1.0)
        before = usd_physics.Joint()
        self.recall_frame(before, group, side)
        old_position = getattr(before, f"local_pos{side}") or (0.0, 0.0, 0.0)
        old_rotation = getattr(before, f"local_rot{side}") or frames.IDENTITY_ROTATION
        size = max(1.0, *(abs(part) for part in old_position))
        apart = np.subtract(position, old_position)
        turned = np.abs(frames.matrix_of(rotation) - frames.matrix_of(old_rotation)).max()
        if turned > 1e-5 or np.abs(apart).max() <= 1e-5 * size:
            return bool(turned <= 1e-5)
        # The units of a body can be much smaller than those of the world, in which Blender rounds.
        body = np.eye(4) if target is None else self.metric(target.matrix)
        noise = _FLOAT_NOISE * (np.linalg.norm(place[:3, 3]) + np.linalg.norm(body[:3, 3]))
        return bool(np.linalg.norm(body[:3, :3] @ apart) <= noise)

    def add_joint_targets(self) -> None:
        """Objects without physics of their own that joints are attached to: where they are counts."""
        targets = {path for prim in self.model.joints.values() for path in _bodies_of(prim)} - self.model.prims.keys()
        for placement in self.placements.all if targets else ():
            if placement.path in targets:
                world = self.metric(placement.matrix)
                self.model.add(Prim(placement.path, "Xform", world, label=placement.chain[-1]))

    def recall_frame(self, joint: usd_physics.Joint, group: Any, side: int) -> None:
        """Write a local frame as it was imported, what was not authored included."""
        for name, factor in ((f"local_pos{side}", self.meters), (f"local_rot{side}", 1.0)):
            setattr(joint, name, None)
            text = getattr(group, f"remembered_{name}")
            if text:
                setattr(joint, name, _si(tuple(map(float, text.split())), factor))

    # ------------------------------------------------------------------ materials

    def slot_path(self, material: bpy.types.Material) -> str:
        """Path of a material that a slot brings; empty where it is not physical."""
        name = material.name_full
        if name not in self.slot_paths:
            is_physical = material.usdphys.physics_material.is_applied  # type: ignore[attr-defined]
            self.slot_paths[name] = self.material_path(material) if is_physical else ""
        return self.slot_paths[name]

    def material_path(self, material: bpy.types.Material) -> str:
        """Path of a physics material; the first use adds it to the model."""
        path = self.reading.materials.get(material.name_full)
        if path is None:
            known = remembered.prim_of(material)
            expected = known.path if known is not None else f"/{MATERIALS_SCOPE}/{prim_name(material.name)}"
            path = unique(f"{self.root}{expected}", self.taken)
            self.taken.add(path)
            self.reading.materials[material.name_full] = path
            prim = self.model.add(Prim(path, "Material", is_xformable=False, label=material.name))
            prim.add(self.properties.read(material.usdphys.physics_material, usd_physics.MaterialAPI))  # type: ignore[attr-defined]
        return path

    def read_other_materials(self) -> None:
        """Physics materials that no collider uses: they are written where Blender exports the material."""
        self.read_imported_materials()
        for material in bpy.data.materials:
            if material.name_full not in self.reading.materials and material.usdphys.physics_material.is_applied:  # type: ignore[attr-defined]
                self.reading.optional_materials.append(self.material_path(material))

    def read_imported_materials(self) -> None:
        """Physics materials of the imported file, which nothing in Blender need use."""
        if not self.scene.usdphys.source.filepath:
            return
        for material in bpy.data.materials:
            physics: Any = material.usdphys  # type: ignore[attr-defined]
            if physics.physics_material.is_applied and remembered.prim_of(material) is not None:
                self.material_path(material)


def _sheared_local(placement: Placement) -> frames.Matrix | None:
    """Place below the parent where parenting has made it more than location, rotation and scale can hold."""
    obj = placement.obj
    if obj.parent is None or placement.parent is None or obj.matrix_parent_inverse.is_identity:
        return None
    try:
        parent, own = (np.asarray(one.matrix, np.float64) for one in (placement.parent, placement))
        local: frames.Matrix = np.asarray(np.linalg.solve(parent, own), np.float64)
    except np.linalg.LinAlgError:
        return None
    return local if frames.is_sheared(local, 1e-6) else None


def _bodies_of(prim: Prim) -> tuple[str, ...]:
    """Paths of what a joint is attached to."""
    joint = prim.get(usd_physics.Joint)
    return (*(joint.body0 or ()), *(joint.body1 or ())) if joint is not None else ()


def geometry_path(placement: Placement) -> str:
    """Expected path of the geometry of an object; empty where it has none."""
    data: Any = placement.obj.data
    if data is not None and "prim" in placement.touched and remembered.is_geometry(placement.obj):
        return placement.path
    return "" if data is None else f"{placement.path}/{prim_name(data.name)}"


def _is_bare(obj: Any) -> bool:
    """True for an Empty that nothing hangs on."""
    physics = obj.usdphys
    return (
        obj.type == "EMPTY"
        and obj.instance_type == "NONE"
        and not obj.children
        and not physics.rigid_body.is_applied
        and not len(physics.colliders)
    )


def _is_animated(obj: bpy.types.Object) -> bool:
    data = obj.animation_data
    return bool(obj.constraints) or (data is not None and (data.action is not None or len(data.drivers) > 0))
