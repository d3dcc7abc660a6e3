# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that move and collide as surfaces of triangles, which is what meshes do that are not convex.

Such a surface has no inside: of two that meet the solver cannot say on which side of each other they are. Links of a
chain climb up each other, or fall through; what lies on a floor of triangles stands still on a slope, or creeps aside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rapier3d import PhysicsWorld, ShapeType

from .templates import Template


def surfaces_of(physics: PhysicsWorld, bodies: Iterable[tuple[Any, Template]]) -> set[Any]:
    """Handles of the colliders that are surfaces of triangles. bodies: handles and templates of those that move."""
    return {
        physics.rigid_bodies[handle].colliders[number]
        for handle, template in bodies if template.weight is not None for number in template.surfaces
    }  # fmt: skip


def meeting(physics: PhysicsWorld, surfaces: Iterable[Any]) -> tuple[Any, bool] | None:
    """The handle of a body whose surface touches that of another body, and whether the other one moves, too.

    None if there is none.
    """
    known = set(surfaces)
    for collider in known:
        for pair in physics.narrow_phase.contact_pairs_with(collider):
            if pair.has_any_active_contact:
                other = pair.collider2 if pair.collider1 == collider else pair.collider1
                if other in known or physics.colliders[other].shape.shape_type == ShapeType.TRIMESH:
                    return physics.colliders[collider].parent, other in known
    return None
