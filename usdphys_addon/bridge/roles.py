# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of objects in the physics, from their properties."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .animated import curves_of, is_of_transform


def applies(obj: Any, part: str) -> bool:
    """True if a part of an object's physics is applied."""
    # is_property_set first: reading an unset group creates it.
    return obj.usdphys.is_property_set(part) and bool(getattr(obj.usdphys, part).is_applied)


_PARTS = ("rigid_body", "mass", "joint", "articulation_root", "filtered_pairs", "cable")
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
    """True if constraints, an action, the NLA or drivers may move an object."""
    return bool(obj.constraints) or curves_move(obj)


def curves_move(obj: Any) -> bool:
    """True if an action, the NLA or drivers may move an object."""
    return obj.animation_data is not None and any(is_of_transform(curve.data_path) for curve, _ in curves_of(obj))


def parents_of(obj: Any) -> Iterator[Any]:
    """The parents of an object, nearest first."""
    above = obj.parent
    while above is not None:
        yield above
        above = above.parent


def body_at(obj: Any) -> Any:
    """The nearest body at or above an object; None without one."""
    while obj is not None and not is_body(obj):
        obj = obj.parent
    return obj


def is_moved(obj: Any) -> bool:
    """True if the nearest body at or above an object is dynamic: enabled and not kinematic."""
    found = body_at(obj)
    body = found.usdphys.rigid_body if found is not None else None
    return body is not None and bool(body.rigid_body_enabled and not body.kinematic_enabled)


def physics_material_of(obj: Any) -> Any:
    """The physics material of an object: its own, else the first physical one of its slots, else None."""
    # is_property_set first: reading an unset group creates it.
    if obj.usdphys.is_property_set("physics_material") and obj.usdphys.physics_material is not None:
        return obj.usdphys.physics_material
    for slot in obj.material_slots:
        if slot.material is not None and slot.material.usdphys.physics_material.is_applied:
            return slot.material
    return None


def has_velocity(obj: Any) -> bool:
    """True for a kinematic body that is not at rest."""
    if not obj.usdphys.is_property_set("rigid_body"):
        return False
    body = obj.usdphys.rigid_body
    return bool(body.is_applied and body.kinematic_enabled and (any(body.velocity) or any(body.angular_velocity)))


def is_bare(obj: Any, parents: Collection[str] | None = None) -> bool:
    """True for an Empty without children, instances, rigid body and colliders.

    parents: full names of all objects with children, for many objects: Blender visits all to find the children of one.
    """
    physics = obj.usdphys
    return (
        obj.type == "EMPTY"
        and obj.instance_type == "NONE"
        and not (obj.children if parents is None else obj.name_full in parents)
        and not physics.rigid_body.is_applied
        and not len(physics.colliders)
    )
