# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror physics from one side to the other: objects are matched by name (.L, .R), places reflected in a plane."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object, PropertyGroup
from numpy.typing import NDArray

from ..bridge import joint_frames, physics_collections, property_values, props, vendor_rows
from ..bridge.property_values import decided
from ..bridge.roles import is_bare
from ..core import frames, gprims, joint_kinds
from ..core.array_text import text_of
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.primitives import Primitive
from ..core.schema import Place, Schema
from ..core.schemas import usd_physics
from . import joint_edits, joint_maker, vendor_edits

Array = NDArray[np.float64]

#: Fraction of the size of a part by which its counterpart may be off the mirrored place.
_IN_PLACE = 0.01
#: Rotations up to this count as none, radians.
_NO_TURN = 1e-5
#: Properties that are not mirrored as values; joints are written by `write_joint`.
_KEPT = frozenset({"rna_type", "name", "prim", "joint", "active_collider_index", "active_group_index"})
#: Primitives whose two ends differ, so that their axis must not be reversed.
_POINTED = frozenset({"CONE", "PLANE"})


@dataclass(slots=True)
class Mirrored:
    """parts, joints: how many were written. notes: sentences for the user."""

    parts: int = 0
    joints: int = 0
    notes: list[str] = field(default_factory=list)


def flip_name(name: str) -> str:
    """The name of the other side, as Blender flips it; else with its words flipped, as in 'Arm.L Body' of a ragdoll."""
    flipped = str(bpy.utils.flip_name(name))
    return flipped if flipped != name else "".join(map(bpy.utils.flip_name, re.split("([ :])", name)))


def mirror(context: Context, axis: str, *, about_active: bool = False) -> Mirrored:
    """Copy the physics of the selected parts of one side, mirrored, to their counterparts on the other.

    axis: X, Y or Z of the world, or of the active object with `about_active`: the normal of the mirror plane, which
    goes through its origin. Raises InputError before anything is changed.
    """
    return _Mirror(context, axis, about_active).mirror_selection()


def reflection(normal: Array, origin: Array) -> Matrix:
    """Reflection (4, 4) in the plane through origin (3,) with a unit normal (3,)."""
    matrix = np.eye(4)
    matrix[:3, :3] -= 2 * np.outer(normal, normal)
    matrix[:3, 3] = 2 * normal * float(normal @ origin)
    return matrix


def polar(matrix: Matrix) -> Matrix:
    """The rotation (3, 3) of a matrix (4, 4) without scale and shear, negated if it mirrors."""
    turn = frames.rotation_of(matrix)
    return -turn if frames.determinant(matrix) < 0 else turn


def righted(axes: Matrix, kept: int | None = None) -> tuple[Matrix, Array]:
    """(rotation, signs): axes (3, 3), which may be left-handed, with some of them reversed to be right-handed.

    Of all choices of signs (3,), the one with the least rotation; the axis with index `kept` is not reversed.
    """
    parity = 1.0 if np.linalg.det(axes) > 0 else -1.0
    ways = [np.array(signs) for signs in itertools.product((1.0, -1.0), repeat=3)]
    fitting = [way for way in ways if way.prod() == parity and (kept is None or way[kept] > 0)]
    best = max(fitting, key=lambda way: float(np.trace(axes * way)))
    return axes * best, best


@dataclass(slots=True)
class _JointPlan:
    """obj, target: a joint and its counterpart, None for a new one. bodies, both: bodies and world frames (4, 4) of the
    counterpart. axis: see `reversed_axis`."""

    obj: Any
    target: Any | None
    bodies: tuple[Any, Any]
    both: tuple[Matrix, Matrix]
    axis: int


class _Mirror:
    def __init__(self, context: Context, axis: str, about_active: bool) -> None:
        self.context = context
        self.depsgraph = context.evaluated_depsgraph_get()
        self.selected = list(context.selected_objects)
        self.scene: Any = context.scene
        #: Those of the scene by name: Blender visits all for each name.
        self.objects: dict[str, Any] = {obj.name: obj for obj in self.scene.objects}
        #: Full names of those that have children.
        self.parents = {obj.parent.name_full for obj in bpy.data.objects if obj.parent is not None}
        normal, origin = np.eye(3)["XYZ".index(axis)], np.zeros(3)
        if about_active:
            active = context.active_object
            if active is None:
                raise InputError("There is no active object to mirror about; click one, or mirror about the world.")
            world = self.world(active)
            normal, origin = frames.rotation_of(world)[:, "XYZ".index(axis)], world[:3, 3]
        self.plane = reflection(normal, origin)
        self.result = Mirrored()
        self.maker = joint_maker.JointMaker(context, joint_maker.JointOptions())
        self.groups = {item.name for item in self.scene.usdphys.collision_groups}

    def world(self, obj: Object) -> Matrix:
        return joint_frames.world_of(obj, self.depsgraph)

    def is_plain_joint(self, obj: Object) -> bool:
        """True if an object is a joint and an otherwise bare Empty."""
        return joint_frames.is_joint(obj) and is_bare(obj, self.parents)

    # ------------------------------------------------------------------ who becomes what

    def mirror_selection(self) -> Mirrored:
        chosen = {obj.name for obj in self.selected}
        for obj in self.selected:
            flipped = flip_name(obj.name)
            if flipped != obj.name and flipped in chosen:
                raise InputError(f"'{obj.name}' and '{flipped}' are both selected; select only the side to copy from.")
        parts = [
            obj for obj in self.selected
            if flip_name(obj.name) != obj.name and _has_physics(obj)
            and not self.is_plain_joint(obj) and not vendor_rows.typed_schema(obj.usdphys)
        ]  # fmt: skip
        held = self.joints_to_mirror(parts)
        if not parts and not held:
            raise InputError("No selected object has physics and a side in its name; name it like 'Arm.L' or 'Arm.R'.")
        pairs: list[tuple[Any, Any]] = []
        planned: list[_JointPlan] = []
        for obj in parts:
            target = self.counterpart(obj)
            if target.library is not None:
                self.note_linked(target)
                continue
            self.check_references(obj)
            self.check_scale(obj)
            self.check_scale(target)
            pairs.append((obj, target))
        for obj in held:
            plan = self.plan_joint(obj, [plan.target for plan in planned])
            if plan is not None:
                planned.append(plan)
        for obj, target in pairs:
            self.write_part(obj, target)
        made = {plan.obj: self.write_joint(plan) for plan in planned}
        for plan in planned:
            self.mirror_rows(plan.obj, made, "joint", "dof")
        for obj in list(self.scene.objects):
            if vendor_rows.typed_schema(obj.usdphys) and any(row.target in made for row in obj.usdphys.vendor):
                self.mirror_prim(obj, made)
        return self.result

    def note_linked(self, obj: Object) -> None:
        self.result.notes.append(f"'{obj.name}' is linked and was left alone; make a library override of it first.")

    def counterpart(self, obj: Object) -> Any:
        """The object of the flipped name; the object itself if its name has no side. Raises InputError."""
        name = flip_name(obj.name)
        if name == obj.name:
            return obj
        mirrored = self.objects.get(name)
        if mirrored is None:
            raise InputError(f"'{obj.name}' has no counterpart '{name}' in the scene; make it first.")
        return mirrored

    def check_scale(self, obj: Object) -> None:
        if frames.is_flat(frames.determinant(self.world(obj))):
            raise InputError(f"'{obj.name}' is scaled to nothing, so its physics cannot be mirrored; give it a scale.")

    def check_references(self, obj: Object) -> None:
        physics = obj.usdphys
        for owner in (physics, *physics.colliders):
            for reference in owner.filtered_pairs.filtered_pairs:
                if reference.object is not None:
                    self.counterpart(reference.object)
            for membership in owner.collision_groups:
                self.group(membership.name)

    def group(self, name: str) -> str:
        """The flipped name of a collision group. Raises InputError if only the group itself exists."""
        flipped = flip_name(name)
        if flipped != name and name in self.groups and flipped not in self.groups:
            raise InputError(f"The collision group '{name}' has no counterpart '{flipped}' in the scene; add it first.")
        return str(flipped)

    # ------------------------------------------------------------------ the parts

    def write_part(self, obj: Object, target: Object) -> None:
        self.say_misplaced(obj, target)
        source, wanted = obj.usdphys, target.usdphys
        space = _Space(self.plane, self.world(obj), self.world(target))
        for item in source.bl_rna.properties:
            if item.identifier not in _KEPT:
                property_values.copy_property(source, wanted, item.identifier)
        space.mirror_values(wanted.rigid_body, usd_physics.RigidBodyAPI)
        space.mirror_vendor(wanted)
        space.mirror_mass(wanted.mass)
        self.map_names(wanted)
        for collider in wanted.colliders:
            self.map_names(collider)
            if collider.is_geometry or collider.shape not in props.GPRIM_SHAPES:
                own = space
            else:
                own = space.mirror_primitive(collider)
            own.mirror_mass(collider.mass)
            own.mirror_vendor(collider)
        self.result.parts += 1

    def say_misplaced(self, obj: Object, target: Object) -> None:
        maker = self.maker
        wanted = self.plane[:3, :3] @ maker.center(obj) + self.plane[:3, 3]
        size = max(physics_collections.span([obj]), 1e-9)
        if float(np.linalg.norm(maker.center(target) - wanted)) > _IN_PLACE * size:
            self.result.notes.append(
                f"'{target.name}' is not at the mirrored place of '{obj.name}'; joints and colliders with "
                "their own place are mirrored exactly, so they are off the object."
            )  # fmt: skip

    def map_names(self, owner: Any) -> None:
        for reference in owner.filtered_pairs.filtered_pairs:
            if reference.object is not None:
                reference.object = self.counterpart(reference.object)
        for membership in owner.collision_groups:
            membership.name = self.group(membership.name)

    # ------------------------------------------------------------------ the joints

    def joints_to_mirror(self, parts: list[Object]) -> list[Any]:
        """The joints among the selected objects, and those that hold a selected part."""
        chosen = {*parts, *(obj for obj in self.selected if joint_frames.is_joint(obj))}
        joints = []
        for obj in self.scene.objects:
            if not joint_frames.is_joint(obj):
                continue
            bodies = [getattr(obj.usdphys.joint, f"body{side}") for side in (0, 1)]
            if obj not in chosen and not any(body in chosen for body in bodies if body is not None):
                continue
            names = {body.name for body in bodies if body is not None}
            flipped = {flip_name(name) for name in names}
            # A joint between the two sides, or between middle parts, is its own mirror image.
            is_named = obj in chosen and flip_name(obj.name) != obj.name
            if names != flipped or is_named:
                joints.append(obj)
        return joints

    def plan_joint(self, obj: Object, claimed: Sequence[Object | None]) -> _JointPlan | None:
        joint = obj.usdphys.joint
        both = joint_frames.side_frames(obj, self.depsgraph)
        bodies = [None if body is None else self.counterpart(body) for body in (joint.body0, joint.body1)]
        for body in bodies:
            if body is not None:
                self.check_scale(body)
        axis = reversed_axis(joint, both[0], self.plane)
        sign = np.where(np.arange(3) == axis, -1.0, 1.0)
        first, second = (
            frames.transform(
                self.plane[:3, :3] @ frame[:3, 3] + self.plane[:3, 3], self.plane[:3, :3] @ frame[:3, :3] * sign
            )
            for frame in both
        )
        target = self.existing_joint(obj, bodies, first, claimed)
        if target is None and not self.is_plain_joint(obj):
            target = self.counterpart(obj)
            if target == obj:
                raise InputError(
                    f"The joint on '{obj.name}' has no side in its name, so it has no counterpart; rename the object, "
                    "or put the joint on an Empty."
                )  # fmt: skip
        if target is not None and target.library is not None:
            self.note_linked(target)
            return None
        return _JointPlan(obj, target, (bodies[0], bodies[1]), (first, second), axis)

    def existing_joint(
        self, obj: Object, bodies: list[Any], place: Matrix, claimed: Sequence[Object | None]
    ) -> Any | None:
        """The joint of the flipped name, else the nearest one of the same type between the mirrored bodies, or None."""
        existing = self.objects.get(self.joint_name(obj))
        if (
            existing is not None
            and existing != obj
            and (joint_frames.is_joint(existing) or is_bare(existing, self.parents))
        ):
            return existing
        alike = []
        for other in self.scene.objects:
            if other == obj or other in claimed or not joint_frames.is_joint(other):
                continue
            joint = other.usdphys.joint
            if [joint.body0, joint.body1] == bodies and joint.type == obj.usdphys.joint.type:
                alike.append(other)
        return min(
            alike, key=lambda other: float(np.linalg.norm(self.world(other)[:3, 3] - place[:3, 3])), default=None
        )

    def joint_name(self, obj: Object) -> str:
        """The flipped name of a joint, or its name with the name of a body in it flipped."""
        name = flip_name(obj.name)
        if name != obj.name:
            return name
        for side in (1, 0):
            body = getattr(obj.usdphys.joint, f"body{side}")
            if body is not None and body.name in name:
                return name.replace(body.name, flip_name(body.name))
        return name

    def mirror_prim(self, obj: Object, made: dict[Any, Any]) -> None:
        """Mirror a gear, rack or the like of mirrored joints. Angles and ways keep their signs, so ratios do."""
        name = flip_name(obj.name)
        for joint, image in made.items():
            if name == obj.name and joint.name in name:
                name = name.replace(joint.name, image.name)
        if name == obj.name:
            return
        target = self.objects.get(name)
        if target is None:
            place = frames.transform((self.plane @ self.world(obj))[:3, 3], np.eye(3))
            target = self.new_empty(obj, name, place)
        self.mirror_rows(obj, {**made, obj: target}, "prim")

    def mirror_rows(self, obj: Object, made: dict[Any, Any], *places: Place) -> None:
        """Give the mirror image of an object its vendor schemas. made: mirror images by object."""
        target = made[obj]
        vendor_edits.copy_rows(obj.usdphys, target.usdphys, *places)
        for row in target.usdphys.vendor if "vendor" in target.usdphys.keys() else ():
            if row.target is not None:
                flipped = self.objects.get(flip_name(row.target.name))
                row.target = made.get(row.target) or flipped or row.target

    def write_joint(self, plan: _JointPlan) -> Any:
        """Returns the mirror image."""
        target = plan.target
        if target is None:
            target = self.new_empty(plan.obj, self.joint_name(plan.obj), plan.both[0])
        source, wanted = plan.obj.usdphys.joint, target.usdphys.joint
        for item in source.bl_rna.properties:
            name = item.identifier
            if name.startswith(("body", "remembered_")) or name == "has_remembered_frames":
                wanted.property_unset(name)
            elif name != "rna_type":
                property_values.copy_property(source, wanted, name)
        for side in (0, 1):
            if plan.bodies[side] is not None:
                setattr(wanted, f"body{side}", plan.bodies[side])
        joint_edits.turn_round(wanted, [
            f"{kind}{name}" for index, name in enumerate("XYZ")
            for kind in (("trans",) if index == plan.axis else ("rot",))
        ])  # fmt: skip
        fixed = joint_frames.is_fixed(source, 0), joint_frames.is_fixed(source, 1)
        joint_frames.place_joint(target, plan.both, self.depsgraph, fixed, self.parents)
        self.result.joints += 1
        return target

    def new_empty(self, obj: Object, name: str, place: Matrix) -> Any:
        """An Empty like another one, below the mirror image of its parent."""
        made: Any = bpy.data.objects.new(name, None)
        made.empty_display_type, made.empty_display_size = obj.empty_display_type, obj.empty_display_size
        homes = [home for home in obj.users_collection if home.library is None] or [self.scene.collection]
        for home in homes:
            home.objects.link(made)
        self.objects[made.name] = made
        parent = None
        if obj.parent is not None:
            parent = self.objects.get(flip_name(obj.parent.name)) or obj.parent
        if parent is not None and not frames.is_flat(frames.determinant(self.world(parent))):
            joint_maker.hang(made, parent, self.world(parent), place)
            self.parents.add(parent.name_full)
        else:
            made.matrix_basis = mathutils.Matrix(place.tolist())
        self.context.view_layer.update()
        self.depsgraph = self.context.evaluated_depsgraph_get()
        return made


def _has_physics(obj: Object) -> bool:
    return props.is_physical(obj)


# --------------------------------------------------------------------------- the sign rule


def reversed_axis(joint: PropertyGroup, frame: Matrix, plane: Matrix) -> int:
    """The axis of a joint's frames that is reversed to keep their mirror images right-handed.

    In a frame that is mirrored and has its axis k reversed, rotation about k keeps its sign and rotation about the
    other two changes it; translation along k changes its sign and along the other two keeps it. So a revolute joint
    reverses its axis and a prismatic joint another one, which leaves the limits of both as they are. Joints without an
    axis reverse the axis that is most nearly normal to the plane.
    """
    across = np.abs(frame[:3, :3].T @ (plane[:3, :3] - np.eye(3))).sum(axis=1)
    if joint.type == "REVOLUTE":
        return "XYZ".index(joint.axis)
    if joint.type in ("PRISMATIC", "SPHERICAL"):
        across["XYZ".index(joint.axis)] = -1.0
    if joint.type == "GENERIC":
        limits = [getattr(joint.limits, f"rot{axis}") for axis in "XYZ"]
        free = [
            index for index, limit in enumerate(limits)
            if not (limit.is_applied and joint_kinds.has_no_range(limit.low, limit.high))
        ]  # fmt: skip
        if len(free) == 1:
            return free[0]
    return int(across.argmax())


# --------------------------------------------------------------------------- values in the space of a part


class _Space:
    """Mirrors values in the space of one object into the space of its counterpart.

    plane: the reflection (4, 4). source, target: world matrices (4, 4).
    """

    def __init__(self, plane: Matrix, source: Matrix, target: Matrix) -> None:
        self.worlds, self.plane = (source, target), plane[:3, :3]
        self.map = np.linalg.solve(target, plane @ source)
        self.turn = polar(target).T @ plane[:3, :3] @ polar(source)
        #: The same between the rotations, which are right-handed even in mirrored spaces, as USD takes them.
        self.unscaled = frames.rotation_of(target).T @ plane[:3, :3] @ frames.rotation_of(source)

    def point(self, point: Array) -> Array:
        return np.asarray(self.map[:3, :3] @ point + self.map[:3, 3])

    def vector(self, vector: Array) -> Array:
        return np.asarray(self.map[:3, :3] @ vector)

    def spin(self, spin: Array) -> Array:
        """An angular velocity, a pseudovector: a reflection also negates it."""
        return np.asarray(-self.unscaled @ spin)

    def mirror_values(self, group: PropertyGroup, cls: type[Schema]) -> None:
        """Mirror the values whose schema attribute has `mirror` set; sentinel values for "automatic" stay."""
        for attribute in cls.attributes:
            name = attribute.field
            value = decided(group, cls, name) if attribute.mirror else None
            if value is not None:
                setattr(group, name, getattr(self, attribute.mirror)(np.array(value)))

    def mirror_mass(self, mass: PropertyGroup) -> None:
        """Mirror the mass of an object, or of a collider whose prim has the space of the object."""
        self.mirror_values(mass, usd_physics.MassAPI)
        mirror_inertia(mass, self.unscaled)

    def mirror_vendor(self, thing: PropertyGroup) -> None:
        """Mirror the vendor schemas of an object or a collider."""
        if "vendor" not in thing.keys():
            return
        for row in thing.vendor:
            attribute = vendor_rows.attribute_of(row)
            if attribute is None or not attribute.mirror or attribute.value.size != 3 or attribute.value.is_array:
                continue
            value = vendor_rows.value_of(row)
            if value is not None:
                mirrored = getattr(self, attribute.mirror)(np.array(value))
                row.text = text_of(attribute.value, tuple(map(float, mirrored)))

    def mirror_primitive(self, item: PropertyGroup) -> _Space:
        """Mirror the size and place of a primitive collider. Returns the space of its prims, about their centres."""
        axes = frames.matrix_of(item.rotation) if item.is_property_set("rotation") else np.eye(3)
        axis = "XYZ".index(item.axis)
        turned, _ = righted(self.turn @ axes, axis if item.shape in _POINTED else None)
        source, target = (world[:3, :3] for world in self.worlds)
        before, after = np.linalg.norm(source @ axes, axis=0), np.linalg.norm(target @ turned, axis=0)
        own_source = _own_space(item, self.worlds[0])
        if item.is_property_set("location"):
            item.location = self.point(np.array(item.location))
        if item.is_property_set("rotation") or np.abs(turned - np.eye(3)).max() > _NO_TURN:
            item.rotation = frames.quaternion_of(turned)
        if item.is_property_set("size"):
            item.size = np.array(item.size) * before / after
        if item.is_property_set("radius"):
            around = [lengths if item.shape == "SPHERE" else np.delete(lengths, axis) for lengths in (before, after)]
            item.radius *= float(around[0].max() / around[1].max())
        if item.is_property_set("height"):
            item.height *= float(before[axis] / after[axis])
        return _Space(_about_origin(self.plane), own_source, _own_space(item, self.worlds[1]))


def _own_space(item: PropertyGroup, world: Matrix) -> Matrix:
    """Prim space to world (4, 4), without translation, of the prim that an export writes for a primitive collider."""
    rotation = frames.matrix_of(item.rotation) if item.is_property_set("rotation") else np.eye(3)
    shape = Primitive(
        props.GPRIM_SHAPES[item.shape], np.zeros(3), rotation, np.array(item.size), item.radius, item.height,
        "XYZ".index(item.axis),
    )  # fmt: skip
    return _about_origin(world @ gprims.placed_gprim(shape, world, 1.0)[0])


def _about_origin(matrix: Matrix) -> Matrix:
    """A matrix (3, 3) or (4, 4) as (4, 4) without translation."""
    result = np.eye(4)
    result[:3, :3] = matrix[:3, :3]
    return result


def mirror_inertia(mass: PropertyGroup, turn: Matrix) -> None:
    """Turn the principal axes of an inertia by a rotation or reflection (3, 3); the moments about them stay."""
    before = decided(mass, usd_physics.MassAPI, "principal_axes")
    if before is None and decided(mass, usd_physics.MassAPI, "diagonal_inertia") is None:
        return
    axes, _ = righted(turn @ (np.eye(3) if before is None else frames.matrix_of(before)))
    if before is not None or np.abs(axes - np.eye(3)).max() > _NO_TURN:
        mass.principal_axes = frames.quaternion_of(axes)
