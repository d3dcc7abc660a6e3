# SPDX-License-Identifier: GPL-3.0-or-later
"""Property groups of the declared vendor schemas, and how readers and writers find them.

An owner of properties (object, collider, material, physics scene) has one pointer `vendor`, below it one group per API
schema, named by `group_name`; a multiple-apply schema has one group per instance below its own. Typed schemas and
relationships have no properties; an import carries them as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import bpy

from ..core import schema
from ..core.schema import Place, Schema
from .property_types import is_applied, make_group, make_properties, pointer

if TYPE_CHECKING:
    from ..core.model import Prim
    from .property_units import PropertyWriter
    from .reading import ReadingContext

#: Which schemas an owner of properties has, by the name of its group.
PLACES: dict[str, tuple[Place, ...]] = {
    "object": ("body", "articulation", "joint", "dof"),
    "collider": ("collider",),
    "material": ("material",),
    "scene": ("scene",),
}


def group_name(cls: type[Schema]) -> str:
    """Name of the property group of a schema."""
    return cls.usd_name.replace(":", "_")


def schemas_of(owner: str) -> list[type[Schema]]:
    """The vendor schemas that an owner has property groups for."""
    return [cls for cls in schema.vendor_schemas(*PLACES[owner]) if cls.kind != "typed"]


def make_groups() -> tuple[list[type[bpy.types.PropertyGroup]], dict[str, type[bpy.types.PropertyGroup]]]:
    """(all groups in order of registration, group by owner), for the vendor schemas that are declared now."""
    groups: list[type[bpy.types.PropertyGroup]] = []
    owners: dict[str, type[bpy.types.PropertyGroup]] = {}
    for owner in PLACES:
        pointers = {}
        for cls in schemas_of(owner):
            name = group_name(cls)
            made = _schema_groups(cls, f"{name}Properties")
            groups += made
            pointers[name] = pointer(made[-1], name)
        if pointers:
            owners[owner] = make_group(f"Vendor{owner.title()}Properties", "Vendor schemas.", pointers)
            groups.append(owners[owner])
    return groups, owners


def _schema_groups(cls: type[Schema], name: str) -> list[type[bpy.types.PropertyGroup]]:
    """The group of a schema, last, with those that it needs before it."""
    applied = {"is_applied": is_applied(cls.usd_name)}
    if cls.kind != "multiple":
        return [make_group(name, cls.usd_name, {**applied, **make_properties(cls)})]
    by_angle = {
        angular: make_group(
            f"{'Angular' if angular else 'Linear'}{name}", cls.usd_name, {**applied, **make_properties(cls, angular)}
        )
        for angular in dict.fromkeys(instance in schema.ANGULAR_DOFS for instance in cls.instances)
    }
    pointers = {instance: pointer(by_angle[instance in schema.ANGULAR_DOFS], instance) for instance in cls.instances}
    return [*by_angle.values(), make_group(name, cls.usd_name, pointers)]


def applied_groups(vendor: Any, owner: str, *places: Place) -> Iterator[tuple[type[Schema], str, Any]]:
    """(schema, instance, property group) of each applied vendor schema. places: only schemas for these."""
    touched = vendor.keys()
    for cls in schemas_of(owner):
        name = group_name(cls)
        if name not in touched or (places and cls.on not in places):
            continue
        group = getattr(vendor, name)
        if cls.kind != "multiple":
            if group.is_applied:
                yield cls, "", group
            continue
        for instance in cls.instances:
            if instance in group.keys() and getattr(group, instance).is_applied:
                yield cls, instance, getattr(group, instance)


def read_vendor(context: ReadingContext, thing: Any, owner: str, prim: Prim, *places: Place) -> None:
    """Add the vendor schemas of an owner of properties to its prim. thing: the group with the pointer `vendor`."""
    if "vendor" not in thing.keys():
        return
    reader = context.properties
    for cls, instance, group in applied_groups(thing.vendor, owner, *places):
        prim.add(reader.read(group, cls, angular=instance in schema.ANGULAR_DOFS), instance)
        while reader.unreadable:
            attribute, reason = reader.unreadable.pop()
            context.issue(
                "ValueUnreadable", "error", prim.path, prim.label,
                f"{attribute.label} of {prim.display} cannot be written: {reason}.",
                f"Correct {attribute.label} ({attribute.usd_name(instance)}), or clear it.",
            )  # fmt: skip


def write_vendor(writer: PropertyWriter, thing: Any, owner: str, prim: Prim) -> None:
    """Set the properties of the vendor schemas of a prim on an owner of properties."""
    for key, value in prim.schemas.items():
        cls = type(value)
        if cls.family in schema.OWN_FAMILIES or cls.kind == "typed" or cls.on not in PLACES[owner]:
            continue
        instance = schema.split_applied(key)[1]
        group = getattr(thing.vendor, group_name(cls))
        target = getattr(group, instance, None) if instance else group
        if target is not None:
            target.is_applied = True
            writer.write(target, value, instance=instance)
