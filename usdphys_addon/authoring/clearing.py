# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove the physics of objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import bpy
from bpy.types import Object, PropertyGroup

from ..bridge import property_values, props, vendor_rows
from ..bridge.roles import applies
from ..core.errors import InputError
from ..core.words import counted, joined, named, phrase
from .edit_report import LINKED, EditReport, sentences

#: All physics properties of an object, without the remembered prim of an import. An object has `vendor` only if vendor
#: schemas are declared.
PHYSICS_PARTS = (
    "rigid_body", "mass", "colliders", "joint", "articulation_root", "filtered_pairs", "collision_groups",
    "physics_material", "physics_material_path", "vendor",
)  # fmt: skip
_INDICES = ("active_collider_index", "active_group_index")
_FROM_LIBRARY = "The physics comes from a library file and has to be removed there: {names}"


def clear_physics(objects: Iterable[Object]) -> EditReport:
    """Remove all `PHYSICS_PARTS` of objects. Raises InputError, with nothing changed, if there are none."""
    left_out: dict[str, list[str]] = defaultdict(list)
    chosen = []
    for obj in objects:
        if not has_any(obj):
            continue
        override = obj.override_library
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        elif override is not None and override.reference is not None and props.is_physical(override.reference):
            left_out[_FROM_LIBRARY].append(obj.name)
        else:
            chosen.append(obj)
    notes = sentences(left_out)
    if not chosen:
        raise InputError(joined(". ", notes or ["There is no physics on these objects; select some that have any"]))
    counts = {"body": 0, "collider": 0, "joint": 0, "mass": 0, "articulation root": 0, "group membership": 0,
              "filtered pair": 0, "vendor schema": 0}  # fmt: skip
    for obj in chosen:
        physics = obj.usdphys
        counts["body"] += applies(obj, "rigid_body")
        counts["collider"] += len(physics.colliders)
        counts["joint"] += applies(obj, "joint")
        counts["mass"] += applies(obj, "mass")
        counts["articulation root"] += applies(obj, "articulation_root")
        counts["group membership"] += len(physics.collision_groups)
        if applies(obj, "filtered_pairs"):
            counts["filtered pair"] += len(physics.filtered_pairs.filtered_pairs)
        if "vendor" in physics.keys():
            counts["vendor schema"] += len(vendor_rows.applied_names(physics))
    names = {obj.name_full for obj in chosen}
    for obj in chosen:
        for part in (*PHYSICS_PARTS, *_INDICES):
            if part in obj.usdphys.bl_rna.properties:
                obj.usdphys.property_unset(part)
        property_values.drop_lone_stamp(obj.usdphys)
    joints = [obj.name for obj in bpy.data.objects if _joins(obj, names)]
    if joints:
        notes.append(phrase("These joints hold objects that now have no physics: {names}", names=named(joints)))
    text: str = phrase("Removed the physics of {objects}", objects=counted(len(chosen), "object"))
    listed = [counted(number, what) for what, number in counts.items() if number]
    if listed:
        text = joined(": ", (text, joined(", ", listed)))
    return EditReport(text, notes, [obj.name for obj in chosen])


def _joins(obj: Object, names: set[str]) -> bool:
    if not applies(obj, "joint"):
        return False
    joint = obj.usdphys.joint
    return any(body is not None and body.name_full in names for body in (joint.body0, joint.body1))


def has_any(obj: Object) -> bool:
    """True if any physics property of an object is set."""
    physics = obj.usdphys
    return any(part in physics.bl_rna.properties and _is_set(physics, part) for part in PHYSICS_PARTS)


def _is_set(group: PropertyGroup, name: str) -> bool:
    if not group.is_property_set(name):
        return False
    value = getattr(group, name)
    if isinstance(value, bpy.types.PropertyGroup):
        return any(_is_set(value, item.identifier) for item in value.bl_rna.properties if item.identifier != "rna_type")
    kind = group.bl_rna.properties[name].type
    if kind == "COLLECTION":
        return len(value) > 0
    return value is not None and value != "" if kind in ("POINTER", "STRING") else True
