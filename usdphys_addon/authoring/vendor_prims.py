# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that stand for prims of vendors' own types: gears, racks with pinions, actuators, tendons."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Object, PropertyGroup

from ..bridge import physics_collections, roles, vendor_rows
from ..core import vendor_schemas
from ..core.errors import InputError
from ..core.joint_settings import GEAR, RACK
from ..core.schema import Schema
from . import joint_maker, vendor_edits


def types() -> list[type[Schema]]:
    """The types of prims that can be added."""
    return [cls for cls in vendor_schemas.all_schemas("prim") if cls.kind == "typed"]


def add_prim(context: Context, type_name: str) -> Any:
    """Add an Empty that stands for a prim of a vendor's type. Raises InputError for an unknown type."""
    if type_name not in {cls.usd_name for cls in types()}:
        raise InputError(f"No known simulator has the type of prim '{type_name}'; search for another")
    return _add(context, type_name.removeprefix("PhysxPhysics"), type_name, tuple(context.scene.cursor.location))


def couple(context: Context, *, ratio: float, radius: float, is_reversed: bool) -> Any:
    """Couple two selected joints: hinges by a gear, a hinge and a slide by a rack and pinion. Returns the new Empty.

    ratio: turns of the active hinge for one of the other. radius: of the pinion, Blender units. Raises InputError.
    """
    joints = [obj for obj in joint_maker.joints_of(context) if obj.usdphys.joint.type in ("REVOLUTE", "PRISMATIC")]
    kinds = sorted(obj.usdphys.joint.type for obj in joints)
    if kinds not in (["REVOLUTE", "REVOLUTE"], ["PRISMATIC", "REVOLUTE"]):
        raise InputError(
            "Select two hinges, or a hinge and a slide: they are what gears, and racks and pinions, couple"
        )
    if ratio == 0.0 or radius <= 0.0:
        raise InputError("A ratio of zero couples nothing; choose another one")
    is_rack = kinds[0] == "PRISMATIC"
    joints.sort(key=lambda obj: obj.usdphys.joint.type == "PRISMATIC" if is_rack else obj == context.active_object)
    # Before the Empty is made: a refusal leaves nothing behind.
    bodies = [_moving_body(obj) for obj in joints]
    sign = -1.0 if is_reversed else 1.0
    middle = sum((obj.matrix_world.translation for obj in joints), joints[0].matrix_world.translation * 0.0) / 2.0
    type_name = RACK if is_rack else GEAR
    empty = _add(context, f"{joints[0].name}_{'rack' if is_rack else 'gear'}", type_name, tuple(middle))
    ends = ("hinge", "prismatic") if is_rack else ("hinge0", "hinge1")
    if joints[0].parent is not None:
        # Below what the joints are below: a file that refers to this one takes its default prim only.
        empty.parent, empty.matrix_parent_inverse = joints[0].parent, joints[0].parent.matrix_world.inverted_safe()
    for number, (obj, body) in enumerate(zip(joints, bodies, strict=True)):
        _lead(empty, type_name, f"physics:{ends[number]}", obj)
        _lead(empty, type_name, f"physics:body{number}", body)
    name, value = ("physics:ratio", sign / radius) if is_rack else ("physics:gearRatio", sign * ratio)
    vendor_edits.apply_row(empty.usdphys, type_name, vendor_schemas.attribute_named(type_name, name), value)
    return empty


def _moving_body(joint: Object) -> Any:
    """The body that a joint moves. Raises InputError."""
    group = joint.usdphys.joint
    bodies = [body for body in (group.body1, group.body0) if body is not None]
    moving = next((body for body in bodies if roles.is_moved(body)), None)
    if moving is None:
        raise InputError(f"'{joint.name}' moves no rigid body; give it one")
    return moving


def _lead(empty: Object, type_name: str, name: str, target: Object) -> None:
    attribute = vendor_schemas.attribute_named(type_name, name)
    row = vendor_edits.apply_row(empty.usdphys, type_name, attribute, ())
    row.target = target


def _add(context: Context, name: str, type_name: str, place: tuple[float, ...]) -> Any:
    empty: Any = bpy.data.objects.new(name, None)
    context.collection.objects.link(empty)
    empty.location = place
    physics_collections.move(empty, physics_collections.JOINTS)
    physics_collections.show_joint(empty, physics_collections.joint_size(context.scene.objects))
    empty.empty_display_type = "SPHERE"
    vendor_edits.apply_row(empty.usdphys, type_name)
    for obj in context.selected_objects:
        obj.select_set(False)
    context.view_layer.update()
    empty.select_set(True)
    context.view_layer.objects.active = empty
    return empty


def add_target(thing: PropertyGroup, applied: str, name: str) -> Any:
    """Add a further target to a relationship."""
    attribute = vendor_schemas.attribute_named(applied, name)
    if attribute is None or not attribute.is_relationship:
        raise InputError(f"'{name}' is not a relationship; only relationships have targets")
    return vendor_rows.add_row(thing, applied, name, "rel", "")
