# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of simulators' schemas that glTF has words for: triggers, combine modes, soft limits,
gravity switched off, locked axes."""

from __future__ import annotations

from typing import Any

from ..core import vendor_schemas
from ..core.model import Prim

TRIGGER = "PhysxTriggerAPI"
MATERIAL = "PhysxMaterialAPI"
LIMIT = "PhysxLimitAPI"
NEWTON = "NewtonJointAPI"
BODY = "PhysxRigidBodyAPI"
#: Bits of locked axes: a mass, or all moments of inertia, that are infinite.
ALL_AXES = 7
#: Of each schema, the last parts of the USD names of its attributes that glTF has words for.
WORDS = {
    TRIGGER: (), MATERIAL: ("frictionCombineMode", "restitutionCombineMode"), LIMIT: ("stiffness", "damping"),
    NEWTON: ("limitStiffness", "limitDamping"),
    BODY: ("disableGravity", "lockedPosAxis", "lockedRotAxis"),
}  # fmt: skip


def field(schema: str, leaf: str) -> str:
    """The field of an attribute of a schema."""
    cls: Any = vendor_schemas.find(schema)
    return str(next(item.field for item in cls.attributes if item.usd.rsplit(":", 1)[-1] == leaf))


def value(prim: Prim, schema: str, leaf: str, instance: str = "") -> Any:
    """The authored value of an attribute, by the last part of its USD name; None if there is none."""
    api = prim.schemas.get(f"{schema}:{instance}" if instance else schema)
    return None if api is None else getattr(api, field(schema, leaf))


def apply(prim: Prim, schema: str, instance: str = "", **values: Any) -> None:
    """Apply a schema with values, by the last parts of their USD names; keeps the others that it has."""
    api = prim.schemas.get(f"{schema}:{instance}" if instance else schema)
    if api is None:
        cls: Any = vendor_schemas.find(schema)
        api = cls()
        prim.add(api, instance)
    for leaf, item in values.items():
        setattr(api, field(schema, leaf), item)
