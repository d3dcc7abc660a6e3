# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that move and collide as surfaces of triangles, which is what meshes do that are not convex.

Such a surface has no inside: of two that meet the solver cannot say on which side of each other they are. Links of a
chain climb up each other, or fall through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rapier3d import PhysicsWorld

from .templates import Template


def surfaces_of(physics: PhysicsWorld, bodies: Iterable[tuple[Any, Template]]) -> set[Any]:
    """Handles of the colliders that are surfaces of triangles. bodies: handles and templates of those that move."""
    return {
        physics.rigid_bodies[handle].colliders[number]
        for handle, template in bodies if template.weight is not None for number in template.surfaces
    }  # fmt: skip


def meeting(physics: PhysicsWorld, surfaces: Iterable[Any]) -> Any:
    """The handle of a body whose surface touches that of another body that moves; None if there is none."""
    known = set(surfaces)
    for collider in known:
        for pair in physics.narrow_phase.contact_pairs_with(collider):
            if pair.has_any_active_contact and pair.collider1 in known and pair.collider2 in known:
                return physics.colliders[collider].parent
    return None
