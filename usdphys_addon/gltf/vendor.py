# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of simulators' schemas that glTF has words for: triggers, combine modes, soft limits, gravity switched off."""

from __future__ import annotations

from typing import Any

from ..core import vendor_schemas
from ..core.model import Prim

TRIGGER = "PhysxTriggerAPI"
MATERIAL = "PhysxMaterialAPI"
LIMIT = "PhysxLimitAPI"
BODY = "PhysxRigidBodyAPI"


def _field(schema: str, leaf: str) -> str:
    cls: Any = vendor_schemas.find(schema)
    return str(next(item.field for item in cls.attributes if item.usd.rsplit(":", 1)[-1] == leaf))


def value(prim: Prim, schema: str, leaf: str, instance: str = "") -> Any:
    """The authored value of an attribute, by the last part of its USD name; None if there is none."""
    found = prim.schemas.get(f"{schema}:{instance}" if instance else schema)
    return None if found is None else getattr(found, _field(schema, leaf))


def apply(prim: Prim, schema: str, instance: str = "", **values: Any) -> None:
    """Apply a schema with values, by the last parts of their USD names."""
    cls: Any = vendor_schemas.find(schema)
    prim.add(cls(**{_field(schema, leaf): item for leaf, item in values.items()}), instance)
