# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the declared schemas the model holds for a prim, and which stay carried as they are in the file."""

from __future__ import annotations

from collections.abc import Collection

from . import schema
from .joint_kinds import BY_TYPE_NAME
from .schema import Attribute, Schema
from .schemas import usd_physics

_STAGE_WIDE = frozenset({
    usd_physics.PhysicsScene.usd_name, usd_physics.CollisionGroup.usd_name, "Material",
})  # fmt: skip


def is_vendor(cls: type[Schema]) -> bool:
    return cls.family not in schema.OWN_FAMILIES


def held_class(name: str, type_name: str, applied: Collection[str]) -> type[Schema] | None:
    """The class of a schema that the model holds for a prim of this type with these API schemas; None: carried.

    Vendor schemas are held where Blender has a place for their properties. Typed ones and instances that their
    declaration does not name have none.
    """
    base, instance = schema.split_applied(name)
    cls = schema.SCHEMAS.get(base)
    if cls is None or (cls.instances and instance not in cls.instances):
        return None
    if is_vendor(cls) and not _has_place(cls, type_name, applied):
        return None
    return cls


def _has_place(cls: type[Schema], type_name: str, applied: Collection[str]) -> bool:
    if cls.kind == "typed":
        return False
    if cls.on == "scene":
        return type_name == usd_physics.PhysicsScene.usd_name
    if cls.on == "material":
        return type_name == "Material" and usd_physics.MaterialAPI.usd_name in applied
    if cls.on == "collider":
        return usd_physics.CollisionAPI.usd_name in applied
    if cls.on in ("joint", "dof"):
        return type_name in BY_TYPE_NAME
    return cls.on in ("body", "articulation") and type_name not in _STAGE_WIDE


def is_held(cls: type[Schema], attribute: Attribute) -> bool:
    """False for relationships of vendors, which Blender has no property for."""
    return not (is_vendor(cls) and not attribute.is_editable)
