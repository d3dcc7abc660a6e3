# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that a surface leads round: in a loop, a half pipe or a bowl.

In a step the solver moves a body along the tangent. What of its speed then points into the surface is lost in the next
step: with an angle x per step, half of x for each radian. So a time step in which a surface turns much below a body
that touches it takes more of these steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld, Point3, QueryFilter

from ...core.frames import Matrix
from .held_back import normals_of

#: Parts in which the surface on the way of a body is looked at.
PARTS = 4
#: Cosine up to which a surface leads a body round: it is stopped by what is steeper.
STEEP = 0.5
#: Sine of the angle to a normal from which on a way is along the surface.
ALONG = 0.5


def angle_ahead(physics: PhysicsWorld, body: Any, seconds: float) -> float:
    """By how much (rad) a surface that a body touches leads it round in so many seconds; 0 for others."""
    velocity, place = np.array(body.linvel.to_tuple()), np.array(body.center_of_mass.to_tuple())
    speed = float(np.linalg.norm(velocity))
    if not any(abs(float(velocity @ normal)) < ALONG * speed for normal, _ in normals_of(physics, body)):
        return 0.0
    chosen = QueryFilter.only_fixed().exclude_sensors().groups(physics.colliders[body.colliders[0]].collision_groups)
    angle, step, way = 0.0, velocity * (seconds / PARTS), speed * seconds / PARTS
    up, height = _from_surface(physics, place, chosen)
    for _ in range(PARTS):
        before = up
        up, distance = _from_surface(physics, place + step, chosen)
        cosine = float(before @ up)
        if cosine <= STEEP:
            break
        angle += math.acos(min(cosine, 1.0))
        place = place + step + (height - distance) * up
        step = step - float(step @ up) * up
        length = float(np.linalg.norm(step))
        if length < ALONG * way:
            break
        step *= way / length
    return angle


def _from_surface(physics: PhysicsWorld, place: Matrix, chosen: QueryFilter) -> tuple[Matrix, float]:
    """Direction (3,) and distance (m) to a place (3,), m, from what is nearest to it and does not move.

    No direction (zeros) where there is nothing, or no distance.
    """
    found = physics.query_pipeline.project_point(Point3(*place.tolist()), False, chosen)
    away = np.zeros(3) if found is None else place - np.array(found[1].point.to_tuple())
    length = float(np.linalg.norm(away))
    return away / max(length, 1e-12), length
