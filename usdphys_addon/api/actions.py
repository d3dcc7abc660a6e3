# SPDX-License-Identifier: GPL-3.0-or-later
"""Give objects of the open scene physics: roles, joints, groups, materials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..core import joint_kinds
from ..core.errors import InputError
from ..core.nearest import did_you_mean
from ..core.words import counted
from . import blender
from .results import Report

if TYPE_CHECKING:
    import bpy

    from .blender import Obj, Objects

Role = Literal["dynamic", "static", "kinematic", "collider", "clear"]
JointKind = Literal["fixed", "revolute", "prismatic", "spherical", "distance", "generic"]
JointPlace = Literal["auto", "cursor", "midpoint", "child_origin", "closest", "center_0", "center_1"]
JointAxis = Literal["auto", "cursor", "symmetry", "world_x", "world_y", "world_z", "body_x", "body_y", "body_z"]

_ROLES = ("dynamic", "static", "kinematic", "collider", "clear")
_PLACES = ("auto", "cursor", "midpoint", "child_origin", "closest", "center_0", "center_1")
_AXES = ("auto", "cursor", "symmetry", *(f"{of}_{axis}" for of in ("world", "body") for axis in "xyz"))


def chosen(value: str, known: tuple[str, ...], what: str) -> str:
    """A word in upper case, as the rooms have it. Raises InputError with the nearest one, or with all of them."""
    if isinstance(value, str) and value.lower() in known:
        return value.upper()
    hint = did_you_mean(value, known, f"; choose one of {', '.join(known)}.")
    raise InputError(f"There is no {what} {value!r}{hint}")


def report_of(found: Any) -> Report:
    return Report(str(found.text), tuple(map(str, found.notes)), tuple(found.objects))


def tag(objects: Objects, role: Role, *, separate: bool = False) -> Report:
    """Make objects dynamic, static, kinematic or colliders, or clear their physics.

    objects: one object, several, a name, or a pattern such as "Crate*" (* is any text, ? one character, [ab] a or b;
    upper and lower case differ). An object without faces gets the meshes below it as colliders. separate: of objects
    that are given together with their parent without faces, each becomes a body, and the parent does not.

    The report has a note for each reason to leave objects out. Raises InputError, with nothing changed, for an unknown
    role or name, and where there is nothing to do.
    """
    context = blender.require("tag")
    wanted = chosen(role, _ROLES, "role")
    targets = blender.objects_of(objects, context.scene)
    from ..authoring import tagging

    context.view_layer.update()
    return report_of(tagging.tag(context, targets, wanted, separate=separate))


def join(
    body1: Obj, body0: Obj | None = None, kind: JointKind = "revolute", *, place: JointPlace = "auto",
    axis: JointAxis = "auto", name: str = "", make_bodies: bool = True,
) -> bpy.types.Object:  # fmt: skip
    """Join a body to another one, or to the world. Returns the joint, an Empty that is the frame of the joint.

    body1: moves against body0; None is the world. place, axis: where the joint is and about or along what it acts:
    "auto" takes both from the forms of the bodies for hinges and slides. make_bodies: body1 becomes a rigid body, and
    what has no collider gets one.

    Raises InputError, with nothing changed, for unknown words and objects, and where the two cannot be joined.
    """
    context = blender.require("join")
    kinds = tuple(kind.identifier.lower() for kind in joint_kinds.JOINT_KINDS)
    words = (chosen(kind, kinds, "kind of joint"), chosen(place, _PLACES, "place"), chosen(axis, _AXES, "axis"))
    second = blender.object_of(body1, context.scene)
    first = None if body0 is None else blender.object_of(body0, context.scene)
    if first == second:
        raise InputError(f"'{second.name}' cannot be joined to itself; give two objects.")
    for obj in (first, second):
        if obj is not None and obj.library is not None:
            raise InputError(f"'{obj.name}' is linked from a library; make a library override of it first.")
    from ..authoring.joint_maker import JointMaker, JointOptions

    context.view_layer.update()
    maker = JointMaker(context, JointOptions(*words, makes_bodies=make_bodies))
    maker.plan(first, second)
    joint: Any = maker.make()[0]
    if name:
        joint.name = name
    return joint  # type: ignore[no-any-return]


def group(objects: Objects, name: str, *, ignores_itself: bool = False) -> Report:
    """Put objects, with all below them, into a collision group, which is made if the scene has none of this name.

    ignores_itself: members pass through each other; of a new group only, see `ignore_groups`. Raises InputError.
    """
    context = blender.require("group")
    targets = blender.objects_of(objects, context.scene)
    if not isinstance(name, str) or not name.strip():
        raise InputError("A collision group needs a name.")
    from ..authoring import group_edits

    if name in context.scene.usdphys.collision_groups:
        linked = next((obj for obj in targets if not obj.is_editable), None)
        if linked is not None:
            raise InputError(f"'{linked.name}' is linked from a library; make a library override of it first.")
        number = group_edits.add_members(name, targets)
        if ignores_itself:
            group_edits.set_ignored(context.scene, name, name, True)
        return Report(f"Added {counted(number, 'object')} to '{name}'", (), tuple(obj.name for obj in targets))
    return report_of(group_edits.add_group(context.scene, targets, name, ignores_itself=ignores_itself))


def ignore_groups(one: str, other: str, *, ignored: bool = True) -> None:
    """Let the members of two collision groups pass through each other, or collide. Raises InputError without them."""
    context = blender.require("ignore_groups")
    from ..authoring import group_edits

    group_edits.set_ignored(context.scene, one, other, ignored)


def set_material(objects: Objects, material: bpy.types.Material | str) -> Report:
    """Give objects a physics material.

    material: one of Blender, which becomes the physics material of all colliders of each object; or a preset such as
    "steel", "oak", "rubber" or "concrete", whose values the material of each object gets. Raises InputError.
    """
    context = blender.require("set_material")
    targets = blender.objects_of(objects, context.scene)
    names = tuple(obj.name for obj in targets)
    from ..authoring import material_presets
    from ..core.common_materials import BY_KEY

    if isinstance(material, str):
        key = chosen(material, tuple(each.lower() for each in BY_KEY), "preset of a material")
        done = material_presets.apply_material_preset(targets, key)
        text = f"Gave the material {BY_KEY[key].name} to {counted(done.count, 'object')}"
        return Report(text, tuple(done.notes), names)
    if getattr(material, "id_type", "") != "MATERIAL":
        raise InputError(f"{material!r} is no material; give one of Blender or the name of a preset.")
    linked = next((obj for obj in targets if not obj.is_editable), None)
    if linked is not None:
        raise InputError(f"'{linked.name}' is linked from a library; make a library override of it first.")
    for obj in targets:
        obj.usdphys.physics_material = material
    if material.is_editable and not material.usdphys.physics_material.is_applied:
        material.usdphys.physics_material.is_applied = True
    return Report(f"Gave the material {material.name} to {counted(len(targets), 'object')}", (), names)
