# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects are in the physics, as their properties say."""

from __future__ import annotations

from typing import Any


def applies(obj: Any, part: str) -> bool:
    """True where a part of an object's physics is applied. What was never set is not read, which would make it."""
    return obj.usdphys.is_property_set(part) and bool(getattr(obj.usdphys, part).is_applied)


def is_body(obj: Any) -> bool:
    return applies(obj, "rigid_body")


def is_moved(obj: Any) -> bool:
    """True where the nearest body at or above an object is one that the solver moves."""
    while obj is not None:
        if is_body(obj):
            body = obj.usdphys.rigid_body
            return bool(body.rigid_body_enabled and not body.kinematic_enabled)
        obj = obj.parent
    return False


def is_bare(obj: Any) -> bool:
    """True for an Empty that nothing hangs on."""
    physics = obj.usdphys
    return (
        obj.type == "EMPTY"
        and obj.instance_type == "NONE"
        and not obj.children
        and not physics.rigid_body.is_applied
        and not len(physics.colliders)
    )
