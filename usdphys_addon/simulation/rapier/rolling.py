# SPDX-License-Identifier: GPL-3.0-or-later
"""The resistance against rolling, which the solver does not have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ..weights import Weight
from .constraints import matrix_of

#: rad/s: a body that turns more slowly does not roll.
LEAST = 1e-4


def brake(
    physics: PhysicsWorld, bodies: Iterable[tuple[Any, Weight]], coefficient: float, step: float, seconds: float
) -> None:
    """Slow down bodies that roll by coefficient * load * distance of the contact from the centre of mass, N m.

    bodies: in the solver, with their weights. step: s, of the solver, whose last loads count. seconds: the time for
    which this acts at once.
    """
    for body, weight in bodies:
        if body.is_sleeping:
            continue
        spin = np.array(body.angvel.to_tuple())
        if float(np.linalg.norm(spin)) < LEAST:
            continue
        turn = matrix_of(body.position)[:3, :3]
        inertia, center = turn @ weight.inertia @ turn.T, np.array(body.center_of_mass.to_tuple())
        for normal, load, arm in _contacts(physics, body, center, step):
            rolling = spin - normal * float(spin @ normal)
            speed = float(np.linalg.norm(rolling))
            if speed < LEAST:
                continue
            axis = rolling / speed
            # No more than stops it, with what friction then takes of its way.
            most = (float(axis @ inertia @ axis) + weight.mass * arm**2) * speed
            push = axis * min(coefficient * load * arm * seconds, most)
            body.apply_torque_impulse(tuple((-push).tolist()), True)
            spin = spin - np.linalg.solve(inertia, push)


def _contacts(physics: PhysicsWorld, body: Any, center: Any, step: float) -> Iterable[tuple[Any, float, float]]:
    """Of each contact: its normal (3,), its load, N, and its distance from the centre of mass, m."""
    for collider in body.colliders:
        for pair in physics.narrow_phase.contact_pairs_with(collider):
            for manifold in pair.manifolds if pair.has_any_active_contact else ():
                load = sum(point.impulse for point in manifold.points) / step
                data = manifold.data
                points = [tuple(data.solver_contact_world_points(contact, physics.rigid_bodies)[0])
                          for contact in data.solver_contacts]  # fmt: skip
                if load > 0.0 and points:
                    middle = np.mean(points, axis=0)
                    yield np.array(data.normal.to_tuple()), load, float(np.linalg.norm(middle - center))
