# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of objects in the physics, from their properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def applies(obj: Any, part: str) -> bool:
    """True if a part of an object's physics is applied."""
    # is_property_set first: reading an unset group creates it.
    return obj.usdphys.is_property_set(part) and bool(getattr(obj.usdphys, part).is_applied)


_PARTS = ("rigid_body", "mass", "joint", "articulation_root", "filtered_pairs")
_LISTS = ("colliders", "collision_groups", "vendor")


def has_physics(obj: Any) -> bool:
    """True if an object has any physics. A panel that reads an unset group creates it, which is no physics yet."""
    keys = obj.usdphys.keys()
    return bool(keys) and (
        any(applies(obj, part) for part in _PARTS)
        or any(name in keys and len(getattr(obj.usdphys, name)) for name in _LISTS)
    )


def is_body(obj: Any) -> bool:
    return applies(obj, "rigid_body")


def is_animated(obj: Any) -> bool:
    """True if constraints, an action or drivers may move an object."""
    data = obj.animation_data
    return bool(obj.constraints) or (data is not None and (data.action is not None or len(data.drivers) > 0))


def parents_of(obj: Any) -> Iterator[Any]:
    """The parents of an object, nearest first."""
    above = obj.parent
    while above is not None:
        yield above
        above = above.parent


def is_moved(obj: Any) -> bool:
    """True if the nearest body at or above an object is dynamic: enabled and not kinematic."""
    while obj is not None:
        if is_body(obj):
            body = obj.usdphys.rigid_body
            return bool(body.rigid_body_enabled and not body.kinematic_enabled)
        obj = obj.parent
    return False


def is_bare(obj: Any, *, with_children: bool = False) -> bool:
    """True for an Empty without children, instances, rigid body and colliders. with_children: these do not count."""
    physics = obj.usdphys
    return (
        obj.type == "EMPTY"
        and obj.instance_type == "NONE"
        and (with_children or not obj.children)
        and not physics.rigid_body.is_applied
        and not len(physics.colliders)
    )
