# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of joint trees in reduced coordinates that no joint can open, such as of a head on a hinge with shoulders.

The solver divides by how much the joints yield along the normal of a contact. Where this is rounding, the contact turns
the joint at any speed, or brakes it as if it were locked. Where bodies overlap close to the axis of a joint, the solver
would have to turn it far in a step, which throws the tree about: the legs of a small robot, which are 3.5 mm inside of
its trunk, at 1e24 rad/s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from .constraints import matrix_of

#: A joint yields along a normal if its part there is above this share of its motion.
YIELDS = 1e-3
#: rad or m: what a joint may have to move at most, for an overlap to end.
FARTHEST = 0.02
#: The same of two trees, which may be pushed apart as two bodies are. At 0.28, two arms in the same place are thrown
#: about, or become NaN; at 0.18 they stay.
FARTHEST_OF_TWO = 0.1
#: Where shapes touch within this part of how far they are from the origin, m, the normal is off by so much: it is made
#: of a distance that is rounding. 3e-3 is the worst of 100 floors at 50 m.
TOUCHING, NOISE = 2e-7, 1e-2


def jams(
    physics: PhysicsWorld, trees: Collection[Any], parted: Collection[frozenset[Any]]
) -> Iterator[tuple[Any, Any, bool]]:
    """(one body, the other, whether they move relative to each other) of pairs that touch now and cannot part soon.

    They are of one tree or of two, or one of them stands still. trees: handles of bodies in reduced coordinates.
    parted: pairs of handles that do not collide anyway.
    """
    # It knows no joints, and therefore finds the contacts of parted bodies, too.
    physics.detect_collisions()
    # It forgets which bodies are new, too: those that nothing changes later would be in none of the solver's islands.
    for handle in physics.rigid_bodies.handles():
        body = physics.rigid_bodies[handle]
        if not body.is_fixed:
            body.wake_up(True)
    for pair in physics.narrow_phase.contact_pairs():
        first, second = (physics.colliders[handle].parent for handle in (pair.collider1, pair.collider2))
        if (first not in trees and second not in trees) or not pair.has_any_active_contact:
            continue
        columns = None if frozenset((first, second)) in parted else _columns(physics, first, second)
        if columns is None:
            continue
        ways = [_ways(physics, pair.collider1, (first, second), manifold, columns) for manifold in pair.manifolds]
        apart, sideways, needed = np.max(ways, axis=0)
        if apart < YIELDS or needed > (FARTHEST_OF_TWO if _are_two(physics, first, second) else FARTHEST):
            yield first, second, bool(sideways >= YIELDS)


def _columns(physics: PhysicsWorld, first: Any, second: Any) -> tuple[Matrix, Matrix] | None:
    """Jacobians (6, n) of both bodies in the coordinates of their trees; None if something else moves one of them."""
    links = [physics.multibody_joints.rigid_body_link(handle) for handle in (first, second)]
    loose = [handle for handle, link in zip((first, second), links, strict=True)
             if link is None and not physics.rigid_bodies[handle].is_fixed]  # fmt: skip
    if loose:
        return None
    rows = [np.zeros((6, 0)) if link is None else _rows(physics, link) for link in links]
    sizes = [part.shape[1] for part in rows]
    if not any(sizes):
        return None
    if _are_two(physics, first, second):
        empty = [np.zeros((6, size)) for size in sizes]
        return np.hstack((rows[0], empty[1])), np.hstack((empty[0], rows[1]))
    found = [part if size else np.zeros((6, max(sizes))) for part, size in zip(rows, sizes, strict=True)]
    return found[0], found[1]


def _are_two(physics: PhysicsWorld, first: Any, second: Any) -> bool:
    """True if two bodies are in two trees."""
    links = [physics.multibody_joints.rigid_body_link(handle) for handle in (first, second)]
    return len({str(link.multibody) for link in links if link is not None}) == 2


def _rows(physics: PhysicsWorld, link: Any) -> Matrix:
    """Jacobian (6, n) of a body in the coordinates of its tree; without columns where nothing moves in it."""
    tree = physics.multibody_joints.get_multibody(link.multibody)
    return np.asarray(tree.body_jacobian(link.id), float).reshape(6, -1) if tree.ndofs else np.zeros((6, 0))


def _ways(
    physics: PhysicsWorld, collider: Any, handles: tuple[Any, Any], manifold: Any, columns: tuple[Matrix, Matrix]
) -> tuple[float, float, float]:
    """How far the coordinates of a tree move two bodies apart at their contact, and how far at all, relative to how
    far they move either; and how far the best of them has to move until the bodies do not overlap.
    """
    pose = matrix_of(physics.colliders[collider].position)
    normal = pose[:3, :3] @ manifold.local_n1.to_tuple()
    apart = anyhow = needed = 0.0
    for contact in manifold.points:
        point = pose[:3, :3] @ contact.local_p1.to_tuple() + pose[:3, 3]
        ways, largest = [], np.full(columns[0].shape[1], 1e-12)
        for handle, rows in zip(handles, columns, strict=True):
            arm = point - physics.rigid_bodies[handle].center_of_mass.to_tuple()
            ways.append(rows[:3] + np.cross(rows[3:], arm, axis=0))
            largest += np.linalg.norm(rows[:3], axis=0)
            largest += np.linalg.norm(rows[3:], axis=0) * np.linalg.norm(arm)
        relative = (ways[0] - ways[1]) / largest
        needed = max(needed, -contact.dist / max(float(np.abs(normal @ (ways[0] - ways[1])).max()), 1e-12))
        noise = NOISE if abs(contact.dist) <= TOUCHING * (1.0 + float(np.linalg.norm(point))) else 0.0
        apart = max(apart, float(np.abs(normal @ relative).max()) - noise)
        anyhow = max(anyhow, float(np.linalg.norm(relative, axis=0).max()))
    return apart, anyhow, needed
