# SPDX-License-Identifier: GPL-3.0-or-later
"""Small boxes that lie on each other beside their middles: the solver misses corners of their contact.

Where two faces overlap, a corner of the overlap is a corner of one of them, or the crossing of two edges. The contacts
that are missing are those of edges whose cross product is less than the root of the precision of the solver's numbers,
in metres, as if it took them for parallel: for edges of 1 and 3 cm any that cross. Then it knows two corners of four,
and the upper box tilts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from .constraints import matrix_of

#: m2: the smallest cross product of two edges that the solver lets cross.
LEAST_CROSS = float(np.sqrt(np.finfo(np.float32).eps))
#: Cosine of the angle between the normals of two faces that lie on each other.
FLAT = 1.0 - 2e-6
#: Part of its width by which a face lies on the other one, at least.
OVER = 0.02


def half_found(physics: PhysicsWorld) -> Any | None:
    """The solver's handle of a body that lies on another one with a contact of which corners are missing, or None."""
    colliders, bodies = physics.colliders, physics.rigid_bodies
    for pair in physics.narrow_phase.contact_pairs():
        if not pair.has_any_active_contact or all(len(each.points) > 2 for each in pair.manifolds):
            continue
        ends = colliders[pair.collider1], colliders[pair.collider2]
        shapes = [end.shape.as_cuboid() for end in ends]
        if None in shapes:
            continue
        sizes = [np.array(shape.half_extents.to_tuple()) for shape in shapes]
        poses = [matrix_of(end.position) for end in ends]
        between = np.linalg.inv(poses[0]) @ poses[1]
        for manifold in pair.manifolds:
            if not 0 < len(manifold.points) < 3:
                continue
            faces = [_face(normal) for normal in (manifold.local_n1, manifold.local_n2)]
            if min(faces) < 0:
                continue
            widths = [np.delete(size, face) for size, face in zip(sizes, faces, strict=True)]
            if 4.0 * widths[0].min() * widths[1].min() >= LEAST_CROSS:
                continue
            reach = np.delete(np.abs(between[:3, :3]) @ sizes[1], faces[0])
            apart = np.abs(np.delete(between[:3, 3], faces[0]))
            if (widths[0] + reach - apart > 2.0 * OVER * np.minimum(widths[0], reach)).all():
                return next(
                    (end.parent for end in ends if end.parent is not None and bodies[end.parent].is_dynamic), None
                )
    return None


def _face(normal: Any) -> int:
    """The axis of a box along which a normal is that of a face, or -1."""
    parts = np.abs(normal.to_tuple())
    return int(parts.argmax()) if parts.max() >= FLAT else -1
