# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of a file onto the objects that are in the scene already, by name; no geometry is imported.

Everything is decided before anything is written. Objects keep their place, name and mesh. What the file says of a prim
holds relative to where its object stands now, and lengths in the world are those of the file, whatever the scales are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np

from ..core import frames, gprims, schema
from ..core.model import PhysicsModel, Prim
from ..core.primitives import Primitive
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from . import physics_collections, property_units, props, remembered, scene_write
from .attach_match import MESH_LIKE, ObjectMatcher
from .naming import prim_name
from .scene_write import Written

#: Axes that differ by less are the same: radians.
_SAME_TURN = 1e-6


def attach(scene: bpy.types.Scene, model: PhysicsModel, issues: list[Issue], *, vendor_prims: int = 0) -> Written:
    """Put the physics of a model that was read from a stage on the objects of a scene that have the names of its prims.

    issues: takes what could not be attached. vendor_prims: how many prims of the stage have schemas of others, see
    usd_read.count_vendor_prims. Where an exception comes before the first change, nothing was changed.
    """
    writer = _AttachWriter(model, scene, issues)
    writer.plan()
    if vendor_prims:
        writer.say(
            "AttachVendorSkipped", "info", "", "",
            f"{vendor_prims} prims have schemas of simulators beside UsdPhysics, which are not attached.",
            "Import the file as a whole to keep them.",
        )  # fmt: skip
    return writer.write()


@dataclass(slots=True)
class _Collider:
    """values: properties of the collider. material: path of the physics material. on_item: it has mass, filters and
    groups of its own."""

    prim: Prim
    values: dict[str, Any]
    material: str = ""
    on_item: bool = True
    mass: usd_physics.MassAPI | None = None
    groups: dict[tuple[str, bool], None] = field(default_factory=dict)


@dataclass(slots=True)
class _Target:
    """What one object gets; None leaves what it has."""

    obj: Any
    body: usd_physics.RigidBodyAPI | None = None
    mass: usd_physics.MassAPI | None = None
    is_articulation: bool = False
    pairs: tuple[str, ...] | None = None
    colliders: list[_Collider] = field(default_factory=list)
    groups: dict[tuple[str, bool], None] = field(default_factory=dict)


@dataclass(slots=True)
class _Side:
    """body: object, None for the world. space: its place, metres. frame: of the joint, where the body stands now."""

    body: Any | None
    space: frames.Matrix
    frame: frames.Matrix


@dataclass(slots=True)
class _Joint:
    """obj: what becomes the joint, None for a new Empty. parent: of that. place: where it is, metres."""

    prim: Prim
    joint: usd_physics.Joint
    sides: tuple[_Side, _Side]
    obj: Any | None = None
    parent: Any | None = None
    place: frames.Matrix = field(default_factory=lambda: np.eye(4))
    frames: dict[str, tuple[float, ...]] = field(default_factory=dict)


class _AttachWriter(scene_write._SceneWriter):
    def __init__(self, model: PhysicsModel, scene: bpy.types.Scene, issues: list[Issue]) -> None:
        super().__init__(model, scene, {}, {})
        self.properties = property_units.PropertyWriter(self.meters, self.meters)
        self.issues = issues
        _evaluate(scene)
        self.match = ObjectMatcher(scene, model)
        self.targets: dict[Any, _Target] = {}
        self.by_collider: dict[str, _Collider] = {}
        self.new_joints: list[_Joint] = []
        self.current: _Joint | None = None
        self.scene_items: dict[str, Any] = {}
        self.group_items: dict[str, Any] = {}
        self.found_materials: dict[str, Any] = {}
        self.said: set[str] = set()
        self._motions: dict[str, frames.Matrix] = {}

    # ------------------------------------------------------------------ where things are

    def world_now(self, obj: Any) -> frames.Matrix:
        """Object space to world, metres."""
        world = np.array(obj.matrix_world, float)
        world[:3, 3] *= self.meters
        return world

    def world_in_file(self, path: str) -> frames.Matrix:
        """Prim space to world, metres."""
        prim = self.model.prims.get(path)
        world = prim.world if prim is not None else self.model.locate(path) if self.model.locate is not None else None
        return np.eye(4) if world is None else np.nan_to_num(world, posinf=0.0, neginf=0.0)

    def motion(self, path: str) -> frames.Matrix:
        """How what belongs to a prim has moved with its object since the file was written, without any scale.

        Turns, shifts, and mirrors where either of them is mirrored.
        """
        site, obj = self.match.above(path)
        if site not in self._motions:
            moved = np.eye(4)
            if obj is not None:
                moved = _unscaled(self.world_now(obj)) @ _undone(_unscaled(self.world_in_file(site)))
            self._motions[site] = moved
        return self._motions[site]

    # ------------------------------------------------------------------ what could not be attached

    def say(self, code: str, severity: str, path: str, label: str, message: str, fix: str) -> None:
        self.issues.append(Issue(code, severity, path, label, message, fix))  # type: ignore[arg-type]

    def say_unmatched(self, path: str) -> None:
        """Name a prim for which there is no object, or the one above that decides on it; each once."""
        self.written.missing.append(path)
        cause = path
        while cause and cause not in self.match.rivals and self.match.object_of(cause) is None:
            cause = cause.rpartition("/")[0]
        if cause in self.match.rivals:
            if cause not in self.said:
                self.said.add(cause)
                objects, prims = self.match.rivals[cause]
                others = f", and so could {_listed(prims)}" if prims else ""
                self.say(
                    "AttachAmbiguous", "warning", cause, "",
                    f"'{cause}' could be {_listed(objects, ' or ')}{others}: its physics is left out.",
                    "Parent or name the objects like the prims, so that one of them fits best.",
                )  # fmt: skip
            return
        body = self.model.body_of(path)
        if path in self.said or (body is not None and body.path in self.said):
            return
        self.said.add(path)
        self.say_missing(path, f"There is no object for '{path}', so its physics is left out.",
                         f"Name its object '{path.rpartition('/')[2]}', or import the file as a whole.")  # fmt: skip

    def say_missing(self, path: str, message: str, fix: str) -> None:
        self.say("AttachMissing", "warning", path, "", message, fix)

    def is_editable(self, obj: Any, path: str) -> bool:
        """False, and said, for what comes from a library."""
        if obj.is_editable:
            return True
        if obj.name_full not in self.said:
            self.said.add(obj.name_full)
            self.say(
                "AttachLinked", "warning", path, obj.name,
                f"'{obj.name}' is linked from another file and cannot be changed.",
                "Make a library override of it, and attach the physics again.",
            )  # fmt: skip
        return False

    # ------------------------------------------------------------------ decisions

    def plan(self) -> None:
        """Decide on everything; changes nothing."""
        self.plan_stage_wide()
        for path, prim in self.model.prims.items():
            if prim.schemas and not scene_write.lives_without_object(prim) and prim.get(usd_physics.Joint) is None:
                self.plan_prim(path, prim)
        self.match.match_joints(self.joint_bodies)
        for path, prim in self.model.joints.items():
            self.plan_joint(path, prim)
        for path, prim in self.model.groups.items():
            group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
            for exclude, members in ((False, group.includes), (True, group.excludes)):
                for member in members or ():
                    self.plan_member(path, group, member, exclude)

    def plan_stage_wide(self) -> None:
        """Which physics scenes, groups and materials of Blender those of the file are."""
        for prims, items, names, found in (
            (self.model.scenes, self.scene.usdphys.physics_scenes, self.scene_names, self.scene_items),
            (self.model.groups, self.scene.usdphys.collision_groups, self.group_names, self.group_items),
        ):
            free = list(items)
            for path, prim in prims.items():
                wanted = scene_write.free_name(prim.name, names.values())
                found[path] = _pick(free, path, wanted)
                names[path] = found[path].name if found[path] is not None else wanted
        names = {}
        known = list(bpy.data.materials)
        for path, prim in self.model.materials.items():
            names[path] = scene_write.free_name(prim.name, names.values())
            self.found_materials[path] = _pick(known, path, names[path])
        self.material_names = names
        self.physical_materials = {material for material in self.found_materials.values() if material is not None}

    def target(self, obj: Any) -> _Target:
        return self.targets.setdefault(obj, _Target(obj))

    def plan_prim(self, path: str, prim: Prim) -> None:
        obj = self.match.object_of(path)
        gprim = prim.get(usd_geom.Gprim)
        body = prim.get(usd_physics.RigidBodyAPI)
        collision = prim.get(usd_physics.CollisionAPI)
        is_folded = path not in self.match.direct
        if obj is None and gprim is not None and collision is not None and body is None:
            obj = self.carrier(path)
        if obj is None:
            self.say_unmatched(path)
            return
        if not self.is_editable(obj, path) or (collision is not None and not self.moves_as_in_file(path, obj)):
            return
        target = self.target(obj)
        item = self.plan_collider(prim, gprim, obj) if collision is not None else None
        if collision is not None and item is None:
            return
        space = self.world_now(obj)
        if body is not None:
            target.body = self.moved_body(body, prim, space)
        if prim.get(usd_physics.ArticulationRootAPI) is not None:
            target.is_articulation = True
        mass, pairs = prim.get(usd_physics.MassAPI), prim.get(usd_physics.FilteredPairsAPI)
        on_item = item is not None and body is None
        if item is not None:
            item.on_item = on_item
            target.colliders.append(item)
            if is_folded:
                self.by_collider[path] = item
        if mass is not None:
            if on_item and item is not None:
                item.mass = self.moved_mass(mass, prim, self.collider_space(item, space))
            else:
                target.mass = self.moved_mass(mass, prim, space)
        if pairs is not None and not on_item:
            target.pairs = pairs.filtered_pairs or ()

    def moves_as_in_file(self, path: str, obj: Any) -> bool:
        """False, and said, where a collider of a body would not move with the object of that."""
        body = self.model.body_of(path)
        mover = self.match.object_of(body.path) if body is not None else None
        if mover is None or _is_within(obj, mover):
            return True
        self.written.missing.append(path)
        self.say_missing(
            path,
            f"'{path}' is a collider of '{mover.name}', and '{obj.name}' is not parented to that: it is left out.",
            f"Parent '{obj.name}' to '{mover.name}'.",
        )  # fmt: skip
        return False

    def carrier(self, path: str) -> Any | None:
        """The object that a primitive without one of its own goes to: that of the nearest prim above."""
        site, obj = self.match.above(path)
        body = self.model.body_of(path)
        # Past a body that has no object it would belong to something else.
        return None if body is not None and len(body.path) > len(site) else obj

    # ------------------------------------------------------------------ bodies and masses

    def moved_body(self, body: usd_physics.RigidBodyAPI, prim: Prim, space: frames.Matrix) -> usd_physics.RigidBodyAPI:
        """A body with its velocities in the space of its object."""
        if body.velocity is None and body.angular_velocity is None:
            return body
        change = self.change(prim, space)
        body = body.copy()
        if body.velocity is not None and np.isfinite(body.velocity).all():
            body.velocity = _vector(change[:3, :3] @ body.velocity)
        if body.angular_velocity is not None and np.isfinite(body.angular_velocity).all():
            body.angular_velocity = _vector(_turn(change) @ body.angular_velocity)
        return body

    def moved_mass(self, mass: usd_physics.MassAPI, prim: Prim, space: frames.Matrix) -> usd_physics.MassAPI:
        """A mass with its centre and axes in the space of its object or collider."""
        if mass.center_of_mass is None and mass.principal_axes is None:
            return mass
        change = self.change(prim, space)
        mass = mass.copy()
        if mass.center_of_mass is not None and np.isfinite(mass.center_of_mass).all():
            mass.center_of_mass = _vector(change[:3, :3] @ mass.center_of_mass + change[:3, 3])
        if mass.principal_axes is not None and any(mass.principal_axes):
            turn = _turn(change)
            if turn is not _NO_TURN:
                mass.principal_axes = frames.quaternion_of(turn @ frames.matrix_of(mass.principal_axes))
        return mass

    def change(self, prim: Prim, space: frames.Matrix) -> frames.Matrix:
        """From the space of a prim to another, metres."""
        placed = self.motion(prim.path) @ self.world_in_file(prim.path)
        if abs(np.linalg.det(space)) < 1e-18:
            return np.eye(4)
        return np.asarray(np.linalg.solve(space, placed), float)

    # ------------------------------------------------------------------ colliders

    def plan_collider(self, prim: Prim, gprim: usd_geom.Gprim | None, obj: Any) -> _Collider | None:
        space = self.world_now(obj)
        if not abs(np.linalg.det(space[:3, :3])) > 1e-18:
            self.say(
                "ZeroScale", "warning", prim.path, obj.name,
                f"'{obj.name}' or one of its parents is scaled to nothing, so it takes no collider.",
                f"Give '{obj.name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            return None
        is_primitive = gprim is not None and prim.type_name in scene_write._SHAPES
        if gprim is not None and is_primitive:
            values = self.geometry_values(prim, gprim, obj) or self.primitive_values(prim, gprim, space)
        else:
            values = {"shape": "MESH"}
            if prim.type_name not in MESH_LIKE:
                values["is_geometry"] = True
        approximation = prim.get(usd_physics.MeshCollisionAPI)
        if approximation is not None and (not is_primitive or "is_geometry" in values):
            values["has_mesh_collision"] = True
            if approximation.approximation in schema.attribute_of(usd_physics.MeshCollisionAPI, "approximation").tokens:
                values["approximation"] = approximation.approximation
        is_guide = obj.hide_render if not is_primitive else "is_geometry" not in values
        if prim.purpose != ("guide" if is_guide else "default"):
            values["purpose"] = prim.purpose.upper()
        if is_primitive and "is_geometry" not in values and prim.path not in self.match.direct:
            values["name"] = prim.name
        return _Collider(prim, values, self.material_of(prim, obj, is_primitive))

    def primitive_values(self, prim: Prim, gprim: usd_geom.Gprim, space: frames.Matrix) -> dict[str, Any]:
        """Place and size of a primitive in the space of an object, Blender units; the reverse of what an export does.

        An export takes uneven scale of the object into the parameters: here it is taken out of them.
        """
        placed = self.motion(prim.path) @ self.world_in_file(prim.path)
        axis = "XYZ".index(getattr(gprim, "axis", None) or "Z")
        has_tip = isinstance(gprim, usd_geom.Cone | usd_geom.Plane)
        rotation = frames.rotation_of(placed)
        # Mirrored twice, tips point where they did.
        if has_tip and (frames.determinant(placed) < 0) != (frames.determinant(space) < 0):
            rotation[:, [axis, axis - 1]] *= -1
        local = frames.rotation_of(space).T @ rotation
        if np.abs(local - np.eye(3)).max() <= _SAME_TURN:
            local = np.eye(3)
        lengths = np.linalg.norm(placed[:3, :3], axis=0)
        scale = np.linalg.norm(space[:3, :3] @ local, axis=0)
        center = np.linalg.solve(space, placed[:, 3])[:3] / self.meters
        values: dict[str, Any] = {"shape": scene_write._SHAPES[prim.type_name], "location": _vector(center)}
        if not np.array_equal(local, np.eye(3)):
            values["rotation"] = frames.quaternion_of(local)
        around = float(np.delete(lengths, axis).max() / np.delete(scale, axis).max())
        along = float(lengths[axis] / scale[axis])
        if isinstance(gprim, usd_geom.Sphere):
            around = float(lengths.max() / scale.max())
        return values | self.parameters(gprim, lengths / scale, around, along)

    def geometry_values(self, prim: Prim, gprim: usd_geom.Gprim, obj: Any) -> dict[str, Any] | None:
        """Size of a primitive that the object is itself; None where it is not."""
        if self.match.direct.get(prim.path) != obj or remembered.type_of(obj) != prim.type_name:
            return None
        lengths = np.linalg.norm(self.world_in_file(prim.path)[:3, :3], axis=0)
        ratio = lengths / np.linalg.norm(self.world_now(obj)[:3, :3], axis=0)
        # Blender loses the shear below uneven scale when it imports; the prim itself has kept it.
        size = float(ratio[0]) if frames.is_uniform(ratio, 1e-4) else self.meters / self.local
        values = self.parameters(gprim, np.full(3, size), size, size)
        return {"shape": scene_write._SHAPES[prim.type_name], "location": (0.0, 0.0, 0.0), "is_geometry": True} | values

    def parameters(self, gprim: usd_geom.Gprim, scale: frames.Matrix, around: float, along: float) -> dict[str, Any]:
        """The parameters of a primitive, Blender units, times a scale by axis, across and along its own axis."""
        if isinstance(gprim, usd_geom.Cube):
            return {"size": _vector(scale * gprim.resolved("size") / self.meters)}
        if isinstance(gprim, usd_geom.Sphere):
            return {"radius": gprim.resolved("radius") * around / self.meters}
        axis = gprim.resolved("axis")
        if isinstance(gprim, usd_geom.Plane):
            size = np.zeros(3)
            across, length = ((2, 1), (0, 2), (0, 1))["XYZ".index(axis)]
            size[across], size[length] = gprim.resolved("width"), gprim.resolved("length")
            return {"size": _vector(size * scale / self.meters), "axis": axis}
        return {
            "radius": gprim.resolved("radius") * around / self.meters,
            "height": gprim.resolved("height") * along / self.meters,
            "axis": axis,
        }

    def collider_space(self, item: _Collider, space: frames.Matrix) -> frames.Matrix:
        """The space that the prim of a collider will have when it is exported, metres."""
        values = item.values
        kind = props.GPRIM_SHAPES.get(values["shape"])
        if kind is None or "is_geometry" in values:
            return space
        shape = Primitive(
            kind, np.array(values["location"]), frames.matrix_of(values.get("rotation", (1.0, 0.0, 0.0, 0.0))),
            np.array(values.get("size", (1.0, 1.0, 1.0))), values.get("radius", 0.5), values.get("height", 1.0),
            "XYZ".index(values.get("axis", "Z")),
        )  # fmt: skip
        return space @ gprims.placed_gprim(shape, space, self.meters)[0]

    def material_of(self, prim: Prim, obj: Any, is_primitive: bool) -> str:
        """Path of the physics material that a collider needs a binding for; empty where its slots bring it."""
        bound = prim.physics_binding or (prim.materials[-1] if prim.materials else "")
        if bound not in self.found_materials:
            return ""
        if not prim.physics_binding or is_primitive:
            physical = self.physical_materials
            in_slots = dict.fromkeys(slot.material for slot in obj.material_slots if slot.material in physical)
            if in_slots and list(in_slots)[::-1] == [self.found_materials.get(path) for path in prim.materials]:
                return ""
        return bound

    # ------------------------------------------------------------------ groups

    def plan_member(self, path: str, group: usd_physics.CollisionGroup, member: str, exclude: bool) -> None:
        key = (self.group_names[path], exclude)
        item = self.by_collider.get(member)
        obj = self.match.object_of(member)
        only_itself = group.resolved("expansion_rule") == "explicitOnly"
        if item is None and only_itself and obj is not None and obj in self.targets:
            # The mesh below the object is not the object.
            item = next((one for one in self.targets[obj].colliders if one.prim.path == member), None)
        if item is not None:
            item.groups[key] = None
            return
        objects = [obj] if obj is not None else []
        for one in [] if only_itself else self.match.below(member):
            # What is below it in the file need not be below its object.
            if not any(_is_within(one, other) for other in objects):
                objects.append(one)
        if not objects:
            if member not in self.said and member not in self.written.missing:
                self.say_unmatched(member)
            return
        for one in objects:
            if self.is_editable(one, member):
                self.target(one).groups[key] = None

    # ------------------------------------------------------------------ joints

    def side(self, joint: usd_physics.Joint, side: int) -> _Side | str:
        """One side of a joint; the path of the body where that has no object."""
        targets = getattr(joint, f"body{side}")
        path = targets[0] if targets else ""
        frame = frames.world_frame(
            self.world_in_file(path) if path else None,
            joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"),
        )  # fmt: skip
        if not path:
            return _Side(None, np.eye(4), frame)
        obj = self.match.object_of(path)
        if obj is None:
            body = self.model.body_of(path)
            if body is not None:
                obj = self.match.object_of(body.path)
            elif path in self.model.prims and path not in self.match.rivals:
                # What does not move holds a joint like the world does.
                obj = self.match.above(path)[1]
                if obj is None:
                    return _Side(None, np.eye(4), frame)
            if obj is None:
                return path
        return _Side(obj, self.world_now(obj), _rigid(self.motion(path) @ frame))

    def joint_bodies(self, prim: Prim) -> tuple[Any, Any] | None:
        joint = prim.get(usd_physics.Joint)
        sides = [self.side(joint, side) for side in (0, 1)] if joint is not None else []
        bodies = [side.body for side in sides if isinstance(side, _Side)]
        return (bodies[0], bodies[1]) if len(bodies) == 2 else None

    def plan_joint(self, path: str, prim: Prim) -> None:
        joint = prim.get(usd_physics.Joint)
        if joint is None or prim.type_name not in scene_write._JOINTS:
            return
        first, second = self.side(joint, 0), self.side(joint, 1)
        if not isinstance(first, _Side) or not isinstance(second, _Side):
            body = first if isinstance(first, str) else second
            self.written.missing.append(path)
            self.say_missing(path, f"The joint '{path}' is left out, because there is no object for its body '{body}'.",
                             "Name the objects like the prims, or import the file as a whole.")  # fmt: skip
            return
        obj = self.match.object_of(path)
        if obj is None and path in self.match.rivals:
            self.say_unmatched(path)
            return
        if obj is not None and not self.is_editable(obj, path):
            return
        planned = _Joint(prim, joint, (first, second), obj)
        if obj is None:
            planned.place = first.frame
            planned.parent = self.joint_parent(path, prim)
        else:
            planned.place = _rigid(self.world_now(obj))
        for index, side in enumerate(planned.sides):
            if scene_write.coincide(planned.place, side.frame):
                continue
            try:
                position, rotation = frames.local_frame(side.space, side.frame)
            except np.linalg.LinAlgError:
                name = side.body.name if side.body is not None else ""
                self.say(
                    "ZeroScale", "warning", path, "",
                    f"Body {index} of the joint '{path}', '{name}', is scaled to nothing, so the joint is left out.",
                    f"Give '{name}' and its parents a scale that is not zero.",
                )  # fmt: skip
                return
            planned.frames[f"local_pos{index}"] = tuple(part / self.meters for part in position)
            planned.frames[f"local_rot{index}"] = rotation
        self.new_joints.append(planned)

    def joint_parent(self, path: str, prim: Prim) -> Any | None:
        """What a new joint is parented to: the object above it in the file."""
        parent = self.match.above(path.rpartition("/")[0])[1]
        if parent is None or parent.usdphys.joint.is_applied or abs(np.linalg.det(self.world_now(parent))) < 1e-18:
            return None
        # Blender would write the joint and the mesh of its parent to one prim.
        has_name = parent.data is not None and prim_name(parent.data.name) == prim.name
        return None if has_name else parent

    # ------------------------------------------------------------------ what is written

    def write(self) -> Written:
        self.write_physics_scenes()
        self.write_materials()
        for target in self.targets.values():
            self.write_target(target)
        self.write_joints()
        self.write_groups()
        return self.written

    def remember(self, group: Any, prim: Prim, id_name: str) -> None:
        """Nothing was imported."""

    def write_physics_scenes(self) -> None:
        for path, prim in self.model.scenes.items():
            item = self.scene_items[path] or self.scene.usdphys.physics_scenes.add()
            item.name = self.scene_names[path]
            _unset(item, usd_physics.PhysicsScene)
            self.properties.write(item, prim.get(usd_physics.PhysicsScene) or usd_physics.PhysicsScene())
            self.count("scenes")

    def write_materials(self) -> None:
        for path, prim in self.model.materials.items():
            material = self.found_materials[path]
            if material is None:
                material = bpy.data.materials.new(self.material_names[path])
                material.use_fake_user = True
            self.materials[path] = material
            if not self.is_editable(material, path):
                continue
            material.usdphys.property_unset("physics_material")
            physics = material.usdphys.physics_material
            physics.is_applied = True
            self.properties.write(physics, prim.get(usd_physics.MaterialAPI) or usd_physics.MaterialAPI())
            self.count("materials")

    def write_target(self, target: _Target) -> None:
        physics = target.obj.usdphys
        if target.body is not None:
            physics.property_unset("rigid_body")
            physics.rigid_body.is_applied = True
            self.properties.write(physics.rigid_body, target.body)
            self.write_owner(physics.rigid_body, target.body.simulation_owner)
            self.count("bodies")
        if target.mass is not None:
            physics.property_unset("mass")
            physics.mass.is_applied = True
            self.properties.write(physics.mass, target.mass)
        if target.is_articulation:
            physics.articulation_root.is_applied = True
            self.count("articulations")
        if target.pairs is not None:
            physics.property_unset("filtered_pairs")
            self.write_pairs(physics.filtered_pairs, target.pairs)
        if target.colliders:
            self.write_colliders(physics, target.colliders)

    def write_pairs(self, group: Any, targets: Iterable[str]) -> None:
        group.is_applied = True
        done = set()
        for path in targets:
            obj = self.match.object_of(path) or self.carrier(path)
            if obj is not None and obj not in done:
                done.add(obj)
                group.filtered_pairs.add().object = obj
            elif obj is None and path not in self.said:
                self.say_unmatched(path)

    def write_colliders(self, physics: Any, colliders: list[_Collider]) -> None:
        """All colliders of an object anew; the material that they share is that of the object."""
        physics.colliders.clear()
        for name in ("physics_material", "physics_material_path", "active_collider_index"):
            physics.property_unset(name)
        shared = {collider.material for collider in colliders}
        if len(shared) == 1 and shared != {""}:
            physics.physics_material = self.materials[shared.pop()]
            shared = {""}
        for collider in colliders:
            item, prim = physics.colliders.add(), collider.prim
            collision = prim.get(usd_physics.CollisionAPI) or usd_physics.CollisionAPI()
            self.properties.write(item, collision)
            self.write_owner(item, collision.simulation_owner)
            for name, value in collider.values.items():
                setattr(item, name, value)
            if collider.mass is not None:
                item.mass.is_applied = True
                self.properties.write(item.mass, collider.mass)
            pairs = prim.get(usd_physics.FilteredPairsAPI)
            if pairs is not None and collider.on_item:
                self.write_pairs(item.filtered_pairs, pairs.filtered_pairs or ())
            if collider.material and shared != {""}:
                item.physics_material = self.materials[collider.material]
            for name, exclude in collider.groups:
                membership = item.collision_groups.add()
                membership.name, membership.exclude = name, exclude
            self.count("colliders")

    def write_owner(self, group: Any, targets: tuple[str, ...] | None) -> None:
        if targets and targets[0] in self.scene_names:
            group.simulation_owner = self.scene_names[targets[0]]

    # ------------------------------------------------------------------ groups

    def write_groups(self) -> None:
        for path, prim in self.model.groups.items():
            item = self.group_items[path] or self.scene.usdphys.collision_groups.add()
            item.name = self.group_names[path]
            for name in item.bl_rna.properties.keys():
                if name not in ("rna_type", "name", "prim"):
                    item.property_unset(name)
            group = prim.get(usd_physics.CollisionGroup) or usd_physics.CollisionGroup()
            self.properties.write(item, group)
            for target in group.filtered_groups or ():
                if target in self.group_names:
                    item.filtered_groups.add().name = self.group_names[target]
            self.count("groups")
        names = set(self.group_names.values())
        for obj in {**dict.fromkeys(self.match.direct.values()), **dict.fromkeys(self.targets)}:
            if obj.is_editable:
                self.write_memberships(obj, names)

    def write_memberships(self, obj: Any, names: set[str]) -> None:
        """The groups of the file have the members that the file says; those of others stay."""
        target = self.targets.get(obj)
        lists = [obj.usdphys.collision_groups]
        if target is None or not target.colliders:
            lists += [item.collision_groups for item in obj.usdphys.colliders]
        for memberships in lists:
            for index in reversed(range(len(memberships))):
                if memberships[index].name in names:
                    memberships.remove(index)
        for name, exclude in target.groups if target is not None else ():
            membership = obj.usdphys.collision_groups.add()
            membership.name, membership.exclude = name, exclude

    # ------------------------------------------------------------------ joints

    def write_joints(self) -> None:
        made = [planned for planned in self.new_joints if planned.obj is None]
        home = physics_collections.below(self.scene.collection, physics_collections.JOINTS) if made else None
        size = physics_collections.joint_size(self.match.direct.values()) if made else 0.0
        for planned in self.new_joints:
            self.write_planned_joint(planned, home, size)

    def write_planned_joint(self, planned: _Joint, home: Any, size: float) -> None:
        obj = planned.obj
        if obj is None:
            obj = _new_empty(planned.prim.name)
            home.objects.link(obj)
            if planned.parent is not None:
                obj.parent = planned.parent
            place = planned.place.copy()
            place[:3, 3] /= self.meters
            scene_write.put(obj, mathutils.Matrix(place.tolist()))
            physics_collections.show_joint(obj, size)
        obj.usdphys.property_unset("joint")
        self.current = planned
        self.write_joint(obj, planned.prim, planned.joint)
        if planned.prim.get(usd_physics.ArticulationRootAPI) is not None:
            obj.usdphys.articulation_root.is_applied = True
            self.count("articulations")
        self.count("joints")

    def write_body(self, group: Any, joint: usd_physics.Joint, side: int) -> None:
        if self.current is not None and self.current.sides[side].body is not None:
            setattr(group, f"body{side}", self.current.sides[side].body)

    def write_frames(self, obj: Any, group: Any, joint: usd_physics.Joint) -> None:
        if self.current is not None:
            for name, value in self.current.frames.items():
                setattr(group, name, value)


_NO_TURN = np.eye(3)


def _turn(change: frames.Matrix) -> frames.Matrix:
    """The rotation in a change of spaces; `_NO_TURN` itself where there is none."""
    turn = frames.rotation_of(change)
    return _NO_TURN if np.abs(turn - _NO_TURN).max() <= _SAME_TURN else turn


def _rigid(world: frames.Matrix) -> frames.Matrix:
    """A place without its scale."""
    return frames.transform(world[:3, 3], frames.rotation_of(world))


def _unscaled(world: frames.Matrix) -> frames.Matrix:
    """A place without its scale that stays mirrored."""
    rotation = frames.rotation_of(world)
    return frames.transform(world[:3, 3], -rotation if frames.determinant(world) < 0 else rotation)


def _undone(pose: frames.Matrix) -> frames.Matrix:
    """The inverse of a place without scale, be it mirrored."""
    return frames.transform(-pose[:3, :3].T @ pose[:3, 3], pose[:3, :3].T)


def _vector(values: Any) -> schema.Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _listed(names: list[str], last: str = " and ") -> str:
    quoted = [f"'{name}'" for name in names]
    return last.join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _is_within(obj: Any, other: Any) -> bool:
    """True for an object itself and all that it is parented to."""
    while obj is not None:
        if obj == other:
            return True
        obj = obj.parent
    return False


def _pick(things: list[Any], path: str, name: str) -> Any | None:
    """Take what remembers a path or has a name, the very name first, out of a list."""
    tests = (
        lambda thing: remembered.path_of(thing) == path,
        lambda thing: thing.name == name,
        lambda thing: prim_name(thing.name) == name,
    )
    for is_it in tests:
        found = next((thing for thing in things if is_it(thing)), None)
        if found is not None:
            things.remove(found)
            return found
    return None


def _unset(group: Any, cls: type[schema.Schema]) -> None:
    for attribute in cls.attributes:
        if not attribute.is_relationship and attribute.type != "opaque":
            group.property_unset(attribute.field)


def _new_empty(name: str) -> Any:
    return bpy.data.objects.new(name, None)


def _evaluate(scene: bpy.types.Scene) -> None:
    """Places are as they are shown."""
    context: Any = bpy.context
    layer: Any = context.view_layer if context.scene == scene else scene.view_layers[0]
    layer.update()
