# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which declared schemas the model holds and which stay USD text that is carried verbatim."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from . import schema, vendor_data, vendor_schemas
from .joint_kinds import BY_TYPE_NAME
from .model import Prim
from .schema import Attribute, Schema
from .schemas import usd_physics


def is_vendor(cls: type[Schema]) -> bool:
    return cls.family not in schema.OWN_FAMILIES


def held_class(name: str, type_name: str, applied: Collection[str]) -> type[Schema] | None:
    """The class of a schema if the model holds it for a prim of this type and API schemas; None if carried as text.

    Vendor schemas are held if the Blender datablock of the prim has properties for them. Undeclared instance names have
    none. USD ignores an instance name where a schema can be applied only once.
    """
    base, instance = schema.split_applied(name)
    cls = vendor_schemas.find(base)
    if cls is None or (cls.instances and instance not in cls.instances) or (instance and cls.kind != "multiple"):
        return None
    if is_vendor(cls) and not _has_blender_properties(cls, type_name, applied):
        return None
    return cls


def _has_blender_properties(cls: type[Schema], type_name: str, applied: Collection[str]) -> bool:
    if cls.kind == "typed":
        return cls.on == "prim" and cls.usd_name == type_name
    if cls.on == "prim":
        return bool(is_vendor_type(type_name))
    if cls.on == "scene":
        return type_name == usd_physics.PhysicsScene.usd_name
    if cls.on == "material":
        return type_name == "Material" and usd_physics.MaterialAPI.usd_name in applied
    if cls.on == "collider":
        return usd_physics.CollisionAPI.usd_name in applied
    if cls.on in ("joint", "dof"):
        return type_name in BY_TYPE_NAME
    if cls.on == "articulation":
        return usd_physics.ArticulationRootAPI.usd_name in applied
    return cls.on == "body" and (type_name == "Xform" or usd_physics.RigidBodyAPI.usd_name in applied)


@vendor_data.follows
@cache
def is_vendor_type(type_name: str) -> bool:
    """True for a type of prims that a table declares, such as a gear joint. Such a prim has no place of its own."""
    cls = vendor_schemas.find(type_name) if type_name not in schema.SCHEMAS else None
    return cls is not None and cls.kind == "typed" and cls.on == "prim"


def is_placeless(prim: Prim) -> bool:
    """True for joints and for prims of vendors' types, which have no transform."""
    return prim.get(usd_physics.Joint) is not None or bool(is_vendor_type(prim.type_name))


def is_held(cls: type[Schema], attribute: Attribute) -> bool:
    """False for vendor attributes without a Blender property: opaque ones."""
    return not (is_vendor(cls) and attribute.type == "opaque")
