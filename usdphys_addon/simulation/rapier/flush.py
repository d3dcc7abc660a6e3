# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal boxes that lie or meet flush, in sizes whose contacts the solver finds.

It cuts one face with the other. Where the edges of both are the same lines but for rounding, it finds anything from no
contact to all four: a stack moves aside in some places of the world, and two boxes that meet face to face spin off. So
each box is smaller by its own tiny part, and one of two faces lies inside of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from rapier3d import PhysicsWorld, SharedShape

#: Relative to its size, by which a box is smaller at most, and at least; nobody sees 5 micrometres of half a metre.
MOST, LEAST = 1e-5, 0.1


def part_boxes(physics: PhysicsWorld, handles: Mapping[str, Any], boxes: Mapping[str, Sequence[int]]) -> None:
    """handles: the solver's, of bodies. boxes: numbers of the colliders of a body that are boxes; both by path."""
    bodies, colliders = physics.rigid_bodies, physics.colliders
    for path, numbers in boxes.items():
        # By the path: others in the scene, and their order, change nothing.
        factor = 1.0 - MOST * (LEAST + (1.0 - LEAST) * crc32(path.encode()) / 2**32)
        owned = bodies[handles[path]].colliders
        for number in numbers:
            collider = colliders[owned[number]]
            x, y, z = collider.shape.as_cuboid().half_extents.to_tuple()
            collider.shape = SharedShape.cuboid(x * factor, y * factor, z * factor)
