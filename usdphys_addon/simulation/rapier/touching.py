# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches after a step of the solver: bodies, and the points and forces of their contacts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from rapier3d import PhysicsWorld


def touches(physics: PhysicsWorld, handle: Any) -> bool:
    """True if a body touches anything."""
    pairs = physics.narrow_phase.contact_pairs_with
    return any(
        pair.has_any_active_contact for collider in physics.rigid_bodies[handle].colliders for pair in pairs(collider)
    )


def riders(physics: PhysicsWorld, running: Collection[Any]) -> set[Any]:
    """Handles of the bodies that touch some others."""
    found = set()
    for handle in running:
        for collider in physics.rigid_bodies[handle].colliders:
            for pair in physics.narrow_phase.contact_pairs_with(collider):
                if pair.has_any_active_contact:
                    other = pair.collider2 if pair.collider1 == collider else pair.collider1
                    found.add(physics.colliders[other].parent)
    return found


def touching_bodies(physics: PhysicsWorld) -> Iterator[tuple[Any, Any, Callable[[], float]]]:
    """Bodies that touch, as `ImpulseSums.add` takes them."""
    colliders = physics.colliders
    for pair in physics.narrow_phase.contact_pairs():
        if pair.has_any_active_contact:
            first, second = (colliders[each].parent for each in (pair.collider1, pair.collider2))
            yield first, second, pair.total_impulse_magnitude


def contact_counts(physics: PhysicsWorld, paths: Mapping[Any, str]) -> dict[str, int]:
    """Points of contact by path. paths: of the bodies that count, by their handles."""
    counts: dict[str, int] = {}
    for pair in physics.narrow_phase.contact_pairs():
        points = sum(len(manifold.points) for manifold in pair.manifolds)
        for collider in (pair.collider1, pair.collider2):
            path = paths.get(physics.colliders[collider].parent)
            if path is not None and points:
                counts[path] = counts.get(path, 0) + points
    return counts


def contact_points(physics: PhysicsWorld, moved: Collection[Any], most: int) -> list[tuple[float, ...]]:
    """Points with normals and forces, as `Engine.contact_points` has them; no more pairs once there are `most`.

    moved: handles of the bodies that physics moves: a normal points towards these.
    """
    points: list[tuple[float, ...]] = []
    seconds = physics.integration_parameters.dt
    for pair in physics.narrow_phase.contact_pairs():
        if not pair.has_any_active_contact:
            continue
        for manifold in pair.manifolds:
            data, touching = manifold.data, manifold.points
            x, y, z = _tuple(data.normal)
            if data.rigid_body2 not in moved:
                x, y, z = -x, -y, -z
            for contact in data.solver_contacts:
                point = data.solver_contact_world_points(contact, physics.rigid_bodies)[0]
                force = touching[contact.contact_id].impulse / seconds
                points.append((*_tuple(point), x, y, z, force))
        if len(points) >= most:
            break
    return points


def _tuple(vector: Any) -> tuple[float, float, float]:
    x, y, z = vector.to_tuple() if hasattr(vector, "to_tuple") else vector
    return float(x), float(y), float(z)
