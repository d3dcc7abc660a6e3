# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid body world -> USD Physics properties. Blender's settings stay with the objects.

The conversion reproduces the behaviour of Bullet, Blender's solver, even if a label in Blender suggests another one.
docs/rigid_body_mapping.md lists every mapping, and the settings that have no counterpart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Material, Object, PropertyGroup, Scene

from ..bridge.authored_poses import moved_by_bullet
from ..bridge.roles import is_animated, parents_of
from .blender_keys import copy_animation, is_handed_over

#: For each of Blender's collision collections: does the object belong to it?
Pattern = tuple[bool, ...]

#: Thickness given to a flat box, cylinder or cone, Blender units. A USD primitive cannot be flat.
FLAT = 0.001
#: A motor's drive applies its full force if the velocity is this fraction below the target velocity.
MOTOR_SLIP = 0.01

#: Joint type and axis by constraint type.
JOINTS = {
    "FIXED": ("FIXED", ""),
    "POINT": ("SPHERICAL", ""),
    "HINGE": ("REVOLUTE", "Z"),
    "SLIDER": ("PRISMATIC", "X"),
    "PISTON": ("GENERIC", ""),
    "GENERIC": ("GENERIC", ""),
    "GENERIC_SPRING": ("GENERIC", ""),
    "MOTOR": ("GENERIC", ""),
}
#: Degree of freedom -> the part of Blender's property names that stands for it.
DOFS = {
    "transX": "lin_x", "transY": "lin_y", "transZ": "lin_z",
    "rotX": "ang_x", "rotY": "ang_y", "rotZ": "ang_z",
}  # fmt: skip
#: By constraint type: degrees of freedom that its limits restrict, and those that the type locks.
LIMITED = {"PISTON": ("transX", "rotX"), "GENERIC": tuple(DOFS), "GENERIC_SPRING": tuple(DOFS)}
LOCKED = {"PISTON": ("transY", "transZ", "rotY", "rotZ")}
#: Constraints whose angles Bullet measures as object 1 relative to object 2. USD, and Bullet's slider, measure object 2
#: relative to object 1.
REVERSED_ANGLES = frozenset({"HINGE", "GENERIC", "GENERIC_SPRING"})

#: Round shapes: axes of the bounding box that give the radius, and Bullet's scale factor of the radius.
ROUND: dict[str, tuple[tuple[int, ...], Callable[[list[float]], float]]] = {
    "SPHERE": ((0, 1, 2), lambda scale: scale[0]),
    "CAPSULE": ((0, 1), lambda scale: scale[1]),
    "CYLINDER": ((0, 1), lambda scale: scale[0]),
    "CONE": ((0, 1), lambda scale: (scale[0] + scale[1]) / 2),
}
#: Shapes whose centre of mass in USD would not be at the object's origin, where Bullet assumes it.
OFF_CENTRE = frozenset({"CONE", "CONVEX_HULL", "MESH", "COMPOUND"})
#: Modifiers that only move vertices. The mesh source "Deform" includes them.
DEFORMING = frozenset({
    "ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE", "SHRINKWRAP", "SIMPLE_DEFORM",
    "SMOOTH", "SOFT_BODY", "SURFACE", "SURFACE_DEFORM", "WARP", "WAVE",
})  # fmt: skip

NOTES = {
    "taken_out": "Taken out of Blender's rigid body world, which would go on to move them; their settings are kept",
    "led": "Set to Animated in Blender's rigid body world, whose collections hold them indirectly or are linked",
    "no_world": "The scene has no rigid body world with objects, so there is nothing to convert",
    "muted": "Blender's rigid body world is switched off; its objects are converted nevertheless",
    "time_scale": "The speed of Blender's rigid body world is not 1; a physics scene has no such setting",
    "gravity": "The field weights of the rigid body world scale gravity; the scale factor is not converted",
    "fields": "Force fields act on Blender's rigid bodies; UsdPhysics has no force fields",
    "frame": "The simulation started before the current frame, so the bodies start from their current poses",
    "linked": "Linked objects cannot be changed and are skipped; make library overrides of them first",
    "outside": "Skipped, because Blender simulates only objects in the collections of the rigid body world",
    "kept": "Existing USD Physics is kept",
    "damping": "Linear and angular damping have no attribute in UsdPhysics",
    "combine": "Blender multiplies the friction and the restitution of two objects, UsdPhysics averages them, "
    "so contacts slide and bounce differently",
    "locks": "Locked location and rotation are not converted; use a generic joint instead",
    "animated": "Converted to a kinematic body, although Blender ignores the animation of a passive object that "
    "is not set to Animated",
    "keyed": "Of the animation of a rigid body, that of Animated, Enabled and Mass is converted, by keyframes and "
    "drivers of its own",
    "below": "Converted to a kinematic body: in Blender a passive child of a moving object does not follow it",
    "gap": "Blender adds the collision margin around the shape; the margin is not converted",
    "moving_mesh": "Converted to a convex decomposition, because few solvers can move triangle meshes",
    "source": "Blender's collision shape ignores some modifiers of the mesh; the exported mesh includes them",
    "deforms": "The collision mesh deforms during Blender's simulation; the exported collider is rigid",
    "flat": f"The shape is flat in Blender; the collider is {FLAT:g} thick",
    "no_faces": "The mesh has no faces, so the collider is its bounding box",
    "child_scale": "Blender ignores the scale of a mesh within a compound; the collider has the visible size",
    "empty_compound": "A compound without child shapes has no collider",
    "no_bodies": "Skipped, because the constraint has no objects",
    "incomplete": "The joint is disabled, because Blender does not simulate a constraint unless both objects are "
    "rigid bodies",
    "breaking": "The breaking threshold, an impulse per step, becomes a force and a torque by means of the current "
    "step length",
    "old_spring": "The damping of Blender 2.7 springs has no physical unit and is not converted",
    "motor": f"The motor becomes a drive that applies its full force {MOTOR_SLIP:.0%} below its target velocity",
}


@dataclass(slots=True)
class Conversion:
    """How many things were converted. notes: a sentence about each difference from Blender's simulation."""

    bodies: int = 0
    colliders: int = 0
    joints: int = 0
    materials: int = 0
    groups: int = 0
    notes: list[str] = field(default_factory=list)


def convert_scene(
    scene: Scene, objects: Iterable[Object] | None = None, *, replace: bool = False, takes_out: bool = False
) -> Conversion:
    """Convert the rigid body world of a scene to USD Physics properties. objects: convert only these.

    Existing bodies, colliders, materials, groups and joints are kept unless `replace` is set. takes_out: of Blender's
    world, those that it moves.
    """
    return _Converter(scene, objects, replace).convert(takes_out=takes_out)


def take_out(scene: Scene, obj: Object) -> str:
    """Have Blender's rigid body world of a scene no longer move an object, whose settings stay.

    Returns the note that says how; empty if Blender does not move it.
    """
    if obj.name_full not in moved_by_bullet(scene):
        return ""
    members: Any = scene.rigidbody_world.collection  # type: ignore[union-attr]
    if members.library is None and obj in members.objects.values() and len(obj.users_collection) > 1:
        members.objects.unlink(obj)
        return "taken_out"
    _body(obj).kinematic = True
    return "led"


class _Converter:
    def __init__(self, scene: Scene, objects: Iterable[Object] | None, replace: bool) -> None:
        self.scene = scene
        self.world: Any = scene.rigidbody_world
        self.replace = replace
        self.meters = float(scene.unit_settings.scale_length) or 1.0
        self.result = Conversion()
        self.noted: dict[str, dict[str, None]] = {}
        self.in_scene = {obj.name_full for obj in scene.objects}
        self.wanted = list(scene.objects if objects is None else objects)
        self.bodies = self.members("collection", "rigid_body")
        self.constraints = self.members("constraints", "rigid_body_constraint")
        self.materials: dict[tuple[float, float], Material] = {}

    def members(self, collection: str, settings: str) -> dict[str, Object]:
        """Objects that Blender simulates, by name. collection: of the world. settings: attribute of the objects."""
        group = getattr(self.world, collection, None)
        return {
            obj.name_full: obj
            for obj in (() if group is None else group.all_objects)
            if obj.name_full in self.in_scene and getattr(obj, settings) is not None
        }

    def convert(self, *, takes_out: bool) -> Conversion:
        if self.world is None or (self.world.collection is None and self.world.constraints is None):
            self.note("no_world")
        else:
            is_enabled = self.world.enabled
            # Taken out of the world, objects are where they are authored.
            self.world.enabled = is_enabled and not takes_out
            try:
                # Evaluate first: bounding boxes and matrices are read from the evaluated objects.
                self.scene.view_layers[0].update()
                for obj in self.chosen(self.bodies, "rigid_body"):
                    self.convert_object(obj)
                self.convert_groups()
                for obj in self.chosen(self.constraints, "rigid_body_constraint"):
                    self.convert_constraint(obj)
            finally:
                self.world.enabled = is_enabled
            self.note_world(starts_now=not takes_out)
            for obj in self.chosen(self.bodies, "rigid_body") if takes_out else ():
                if how := take_out(self.scene, obj):
                    self.note(how, obj)
        self.result.materials = len(self.materials)
        self.result.notes = [_sentence(NOTES[key], list(names)) for key, names in self.noted.items()]
        return self.result

    def chosen(self, members: dict[str, Object], settings: str) -> Iterator[Object]:
        for obj in self.wanted:
            if getattr(obj, settings) is None:
                continue
            if obj.name_full not in members:
                self.note("outside", obj)
            elif obj.library is not None:
                self.note("linked", obj)
            else:
                yield obj

    def note(self, key: str, obj: Object | None = None) -> None:
        names = self.noted.setdefault(key, {})
        if obj is not None:
            names[obj.name] = None

    def note_world(self, *, starts_now: bool) -> None:
        weights = self.world.effector_weights
        has_begun = self.world.enabled and self.scene.frame_current > self.world.point_cache.frame_start
        conditions = {
            "muted": not self.world.enabled,
            "time_scale": self.world.time_scale != 1.0,
            "gravity": weights is not None and weights.gravity * weights.all != 1.0,
            "fields": any(obj.field is not None and obj.field.type != "NONE" for obj in self.scene.objects),
            "frame": starts_now and has_begun,
        }
        for key, applies in conditions.items():
            if applies:
                self.note(key)

    def is_free(self, obj: Object, authored: bool, *parts: str) -> bool:
        """True if parts of an object's physics may be written; these parts are then cleared.

        Clearing invalidates references to property groups of these parts.
        """
        if authored and not self.replace:
            self.note("kept", obj)
            return False
        for part in parts:
            _physics(obj).property_unset(part)
        return True

    # ------------------------------------------------------------------ bodies

    def convert_object(self, obj: Object) -> None:
        physics = _physics(obj)
        has_body = physics.rigid_body.is_applied or physics.mass.is_applied
        if self.is_free(obj, has_body, "rigid_body", "mass"):
            self.convert_body(obj)
            self.convert_mass(obj)
            if not copy_animation(obj):
                self.note("keyed", obj)
        if self.is_free(obj, len(physics.colliders) > 0, "colliders"):
            self.convert_collider(obj)
        if self.is_free(obj, physics.physics_material is not None, "physics_material"):
            self.convert_material(obj)

    def convert_body(self, obj: Object) -> None:
        source, body = _body(obj), _physics(obj).rigid_body
        if _compound_of(obj) is not None or not self.has_body(obj):
            return
        body.is_applied = True
        self.result.bodies += 1
        if source.type == "PASSIVE" or source.kinematic:
            body.kinematic_enabled = True
        elif not source.enabled:
            body.rigid_body_enabled = False
        elif source.use_deactivation and source.use_start_deactivated:
            body.starts_asleep = True
        if not self.is_dynamic(obj):
            return
        if source.linear_damping or source.angular_damping:
            self.note("damping", obj)
        locks: Any = (obj.lock_location, obj.lock_rotation)
        if any(any(lock) for lock in locks):
            self.note("locks", obj)

    def has_body(self, obj: Object) -> bool:
        """True if the object needs a body; a static collider needs none."""
        if _body(obj).type == "ACTIVE" or _body(obj).kinematic:
            return True
        if any(self.moves(above) for above in parents_of(obj)):
            self.note("below", obj)
            return True
        if any(is_animated(above) for above in (obj, *parents_of(obj))):
            self.note("animated", obj)
            return True
        return False

    def moves(self, obj: Object) -> bool:
        source = _body(obj)
        return obj.name_full in self.bodies and (source.kinematic or (source.type == "ACTIVE" and source.enabled))

    def is_dynamic(self, obj: Object) -> bool:
        """True if the solver moves the object, or the compound that it is a part of."""
        whole = _compound_of(obj) or obj
        source = _body(whole)
        return source.type == "ACTIVE" and ((source.enabled and not source.kinematic) or is_handed_over(whole))

    def convert_mass(self, obj: Object) -> None:
        source, mass = _body(obj), _physics(obj).mass
        if source.type != "ACTIVE" or _compound_of(obj) is not None:
            return
        mass.is_applied = True
        mass.mass = source.mass
        if source.collision_shape in OFF_CENTRE:
            mass.center_of_mass = (0.0, 0.0, 0.0)

    # ------------------------------------------------------------------ colliders

    def convert_collider(self, obj: Object) -> None:
        source = _body(obj)
        shape = source.collision_shape
        if shape == "COMPOUND":
            if not any(child.parent == obj for child in self.bodies.values()):
                self.note("empty_compound", obj)
            return
        mesh: Any = obj.data
        if shape in ("MESH", "CONVEX_HULL") and not len(mesh.polygons) and not obj.modifiers:
            self.note("no_faces", obj)
            shape = "BOX"
        item = _physics(obj).colliders.add()
        self.result.colliders += 1
        if shape in ("MESH", "CONVEX_HULL"):
            item.shape = "MESH"
            item.approximation = self.approximation(obj)
            self.note_mesh(obj)
        else:
            item.shape = "CUBE" if shape == "BOX" else shape
            item.location = (0.0, 0.0, 0.0)
            for name, value in self.dimensions(obj, shape).items():
                setattr(item, name, value)
        has_gap = shape in ("MESH", "CONE") or (shape == "CONVEX_HULL" and source.use_margin)
        if has_gap and source.collision_margin:
            self.note("gap", obj)

    def approximation(self, obj: Object) -> str:
        if _body(obj).collision_shape == "CONVEX_HULL":
            return "convexHull"
        if self.is_dynamic(obj):
            self.note("moving_mesh", obj)
            return "convexDecomposition"
        return "none"

    def note_mesh(self, obj: Object) -> None:
        source = _body(obj)
        modifiers = {modifier.type for modifier in obj.modifiers if modifier.show_viewport}
        lost = {
            "BASE": bool(modifiers) or getattr(obj.data, "shape_keys", None) is not None,
            "DEFORM": bool(modifiers - DEFORMING),
        }
        if lost.get(source.mesh_source, False):
            self.note("source", obj)
        if source.collision_shape == "MESH" and source.use_deform:
            self.note("deforms", obj)
        if _compound_of(obj) is not None and any(abs(part - 1.0) > 1e-4 for part in _scale(obj.matrix_local)):
            self.note("child_scale", obj)

    def dimensions(self, obj: Object, shape: str) -> dict[str, Any]:
        """Size of the primitive that Bullet creates from the bounding box, about the origin, in the object's space.

        Bullet scales a compound's children with the compound's scale only, and the radius of a round shape with the
        scale of certain axes. USD scales by the object's scale, and a radius by the largest component, so the values
        are divided by that.
        Source: rigidbody_validate_sim_shape_helper in Blender's rigidbody.cc, setLocalScaling of Bullet's shapes.
        """
        corners = list(obj.bound_box)
        half = [(max(axis) - min(axis)) / 2 for axis in zip(*corners, strict=True)]
        seen = _scale(obj.matrix_world)
        bullet = _scale((_compound_of(obj) or obj).matrix_world)
        if shape == "BOX":
            return {"size": [self.thick(2 * half[i] * bullet[i] / seen[i], obj) for i in range(3)]}
        axes, scale_of = ROUND[shape]
        radius = max(half[i] for i in axes)
        values = {"radius": self.thick(radius * scale_of(bullet) / max(seen[i] for i in axes), obj)}
        if shape != "SPHERE":
            along = bullet[2] / seen[2]
            height = 2 * half[2]
            values["height"] = (
                max(height - 2 * radius, 0.0) * along if shape == "CAPSULE" else self.thick(height * along, obj)
            )
        return values

    def thick(self, length: float, obj: Object) -> float:
        if length > 0:
            return length
        self.note("flat", obj)
        return FLAT

    # ------------------------------------------------------------------ materials

    def convert_material(self, obj: Object) -> None:
        if _body(obj).collision_shape == "COMPOUND":
            return
        source = _body(_compound_of(obj) or obj)
        key = (round(source.friction, 5), round(source.restitution, 5))
        if key not in self.materials:
            self.materials[key] = _material(*key)
        _physics(obj).physics_material = self.materials[key]
        self.note("combine")

    # ------------------------------------------------------------------ collision groups

    def convert_groups(self) -> None:
        """Make one group per pattern of collision collections. Groups without a common collection filter each other."""
        patterns = {
            name: tuple(_body(obj).collision_collections)
            for name, obj in self.bodies.items()
            if _compound_of(obj) is None
        }
        distinct = sorted(set(patterns.values()), reverse=True)
        everyone_collides = len(distinct) < 2 and all(any(pattern) for pattern in distinct)
        for obj in self.wanted:
            if obj.name_full not in patterns or obj.library is not None:
                continue
            memberships = _physics(obj).collision_groups
            if self.is_free(obj, len(memberships) > 0, "collision_groups") and not everyone_collides:
                self.join_group(obj, patterns)
        if not everyone_collides:
            for pattern in distinct:
                self.define_group(pattern, [other for other in distinct if not _shares(pattern, other)])
            self.result.groups = len(distinct)

    def join_group(self, obj: Object, patterns: dict[str, Pattern]) -> None:
        own = patterns[obj.name_full]
        inherited = {patterns[above.name_full]: None for above in parents_of(obj) if above.name_full in patterns}
        memberships = _physics(obj).collision_groups
        memberships.add().name = _group_name(own)
        for pattern in inherited:
            if pattern != own:
                item = memberships.add()
                item.name, item.exclude = _group_name(pattern), True

    def define_group(self, pattern: Pattern, filtered: list[Pattern]) -> None:
        groups = self.scene.usdphys.collision_groups
        name = _group_name(pattern)
        group = groups.get(name)
        if group is None:
            group = groups.add()
            group.name = name
        targets = {target.name for target in group.filtered_groups}
        for other in filtered:
            if _group_name(other) not in targets:
                group.filtered_groups.add().name = _group_name(other)

    # ------------------------------------------------------------------ constraints

    def convert_constraint(self, obj: Object) -> None:
        source = _constraint(obj)
        if source.object1 is None and source.object2 is None:
            self.note("no_bodies", obj)
            return
        if not self.is_free(obj, _physics(obj).joint.is_applied, "joint"):
            return
        joint = _physics(obj).joint
        joint.is_applied = True
        joint.type, axis = JOINTS[source.type]
        if axis:
            joint.axis = axis
        for side, body in enumerate((source.object1, source.object2)):
            if body is not None and body.name_full in self.in_scene:
                setattr(joint, f"body{side}", body)
        if not all(self.is_simulated(body) for body in (source.object1, source.object2)):
            self.note("incomplete", obj)
            joint.joint_enabled = False
        elif not source.enabled:
            joint.joint_enabled = False
        if not source.disable_collisions:
            joint.collision_enabled = True
        self.convert_breaking(obj)
        self.convert_limits(source, joint)
        self.convert_springs(obj)
        self.convert_motor(obj)
        self.result.joints += 1

    def is_simulated(self, obj: Object | None) -> bool:
        return obj is not None and obj.name_full in self.bodies and _compound_of(obj) is None

    def convert_breaking(self, obj: Object) -> None:
        source, joint = _constraint(obj), _physics(obj).joint
        if not source.use_breaking:
            return
        render = self.scene.render
        step = self.world.time_scale * render.fps_base / (render.fps * self.world.substeps_per_frame)
        if step > 0:
            joint.break_force = source.breaking_threshold / step * self.meters
            joint.break_torque = source.breaking_threshold / step * self.meters**2
            self.note("breaking", obj)

    def convert_limits(self, source: Any, joint: Any) -> None:
        if source.type == "HINGE":
            _set_limits(joint.revolute, ("lower_limit", "upper_limit"), _limits(source, "ang_z"))
        elif source.type == "SLIDER":
            _set_limits(joint.prismatic, ("lower_limit", "upper_limit"), _limits(source, "lin_x"))
        for dof in LOCKED.get(source.type, ()):
            _set_limits(getattr(joint.limits, dof), ("low", "high"), (0.0, 0.0), locks=True)
        for dof in LIMITED.get(source.type, ()):
            _set_limits(getattr(joint.limits, dof), ("low", "high"), _limits(source, DOFS[dof]), locks=True)

    def convert_springs(self, obj: Object) -> None:
        source, joint = _constraint(obj), _physics(obj).joint
        if source.type != "GENERIC_SPRING":
            return
        for dof, name in DOFS.items():
            axis = name.removeprefix("lin_")
            if not getattr(source, f"use_spring_{axis}"):
                continue
            gain = self.angular_gain() if dof.startswith("rot") else 1.0
            drive = getattr(joint.drives, dof)
            drive.is_applied = True
            drive.stiffness = getattr(source, f"spring_stiffness_{axis}") * gain
            if source.spring_type == "SPRING2":
                drive.damping = getattr(source, f"spring_damping_{axis}") * gain
            else:
                self.note("old_spring", obj)

    def angular_gain(self) -> float:
        """Blender's torque per radian in N·m per degree."""
        return math.radians(self.meters**2)

    def convert_motor(self, obj: Object) -> None:
        """Bullet drives object 1 relative to object 2, and uses "Max Impulse" as a force. Measured in Blender."""
        source, joint = _constraint(obj), _physics(obj).joint
        if source.type != "MOTOR":
            return
        for dof, name, force_unit, gain in (
            ("transX", "lin", self.meters, 1.0),
            ("rotX", "ang", self.meters**2, self.angular_gain()),
        ):
            if not getattr(source, f"use_motor_{name}"):
                continue
            velocity = getattr(source, f"motor_{name}_target_velocity")
            force = getattr(source, f"motor_{name}_max_impulse")
            drive = getattr(joint.drives, dof)
            drive.is_applied = True
            drive.target_velocity = -velocity
            drive.max_force = force * force_unit
            drive.damping = force / (MOTOR_SLIP * (abs(velocity) or 1.0)) * gain
            self.note("motor", obj)


# ---------------------------------------------------------------------- helpers


def _physics(obj: Object) -> Any:
    return obj.usdphys


def _body(obj: Object) -> Any:
    return obj.rigid_body


def _constraint(obj: Object) -> Any:
    return obj.rigid_body_constraint


def _compound_of(obj: Object) -> Object | None:
    """The outermost compound that an object is a shape of."""
    compound = None
    for above in parents_of(obj):
        if above.rigid_body is None or above.rigid_body.collision_shape != "COMPOUND":
            break
        compound = above
    return compound


def _scale(matrix: mathutils.Matrix) -> list[float]:
    """Lengths of the matrix axes, 1 for a zero length, as in Bullet."""
    return [float(length) or 1.0 for length in np.linalg.norm(np.array(matrix)[:3, :3], axis=0)]


def _material(friction: float, restitution: float) -> Material:
    """A physics material with these values: that of an earlier conversion if there is one, else a new one."""
    name = f"Friction {round(friction, 3)} Restitution {round(restitution, 3)}"
    wanted = {"static_friction": friction, "dynamic_friction": friction, "restitution": restitution}
    for material in bpy.data.materials:
        if material.library is None and material.name.startswith(name) and _has_values(material, wanted):
            return material
    material = bpy.data.materials.new(name)
    physics = material.usdphys.physics_material
    physics.is_applied = True
    for key, value in wanted.items():
        setattr(physics, key, value)
    return material


def _has_values(material: Material, wanted: dict[str, float]) -> bool:
    physics = material.usdphys.physics_material
    if not physics.is_applied or physics.is_property_set("density"):
        return False
    return all(math.isclose(getattr(physics, key), value, abs_tol=1e-5) for key, value in wanted.items())


def _group_name(pattern: Pattern) -> str:
    numbers = [str(index + 1) for index, belongs in enumerate(pattern) if belongs]
    return "_".join(["Collections", *(numbers or ["none"])])


def _shares(one: Pattern, other: Pattern) -> bool:
    return any(a and b for a, b in zip(one, other, strict=True))


def _limits(source: Any, name: str) -> tuple[float, float] | None:
    """USD limits of a degree of freedom: motion of object 2 relative to object 1, right-handed. None if it is free."""
    low, high = getattr(source, f"limit_{name}_lower"), getattr(source, f"limit_{name}_upper")
    if not getattr(source, f"use_limit_{name}") or low > high:
        return None
    return (-high, -low) if name.startswith("ang") and source.type in REVERSED_ANGLES else (low, high)


def _set_limits(
    group: PropertyGroup, names: tuple[str, str], limits: tuple[float, float] | None, *, locks: bool = False
) -> None:
    """Author a pair of limits. locks: apply the schema, and write (0, 0) as low > high, which locks the axis in USD."""
    if limits is None:
        return
    if locks:
        group.is_applied = True
        limits = (1.0, -1.0) if limits == (0.0, 0.0) else limits
    for name, value in zip(names, limits, strict=True):
        setattr(group, name, value)


def _sentence(text: str, names: list[str]) -> str:
    if not names:
        return f"{text}."
    listed = ", ".join(f"'{name}'" for name in names[:3])
    more = len(names) - 3
    return f"{text}: {listed}{f' and {more} more' if more > 0 else ''}."
