# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast bodies that slide or roll over triangles or tiles go as far as their speed says.

The solver sweeps a body that moves by more than a part of its size in a step against what does not move, and puts it
back to where it first touches something; its speed stays. What lies on a surface sinks into it by a trace, and so
touches each triangle ahead: a box of 10 cm that slid at 10 m/s over triangles of 25 cm went 25 % less far than its
speed says. So what touched something before the step, and was put back on a straight way, goes on, as far as it touches
nothing when it is lifted off what it lies on. Of what the solver corrects in the step, the same part is put back: a
crate that slid up a curve sank into it, deeper in each step, until it was thrown off. So it is lifted and turned, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from rapier3d import PhysicsWorld, QueryFilter, ShapeCastOptions

from ...core import frames
from ...core.frames import Matrix
from ...core.schema import Vector
from .constraints import isometry, matrix_of

#: Part of its size by which a body, or its rim, moves in a step of the solver, at least, to be looked at; and below
#: which a way or a turn is not measured.
LEAST, LITTLE = 0.1, 0.01
#: Part of a step that a body was put back by, at least; part of a speed that may change in a step in which it was.
SHORT, STEADY = 0.02, 0.1
#: Part of its motion by which a body may leave its way, and by which its turn may be put back otherwise than its way.
STRAIGHT = 0.05
#: How high a body is lifted off what it touches, relative to its size and to the rest of its way.
LIFT, SLOPE = 0.01, 0.1
#: Relative to its size: how far a body is lifted out of what it has sunk into in a step, at most.
LIFTED = 0.02
#: Part of the speed of a body with which its rim moves, from which on it rolls.
ROLLS = 0.5
#: Bodies of more colliders stay where they are put back to.
MOST_COLLIDERS = 8


class Before(NamedTuple):
    """A body before a step of the solver. size, radius: shorter side, and from its middle to its end, m. pose, spin: as
    the solver has them. center, velocity: of its centre of mass."""

    body: Any
    size: float
    radius: float
    pose: Any
    center: Vector
    velocity: Vector
    spin: Any


def noted(bodies: Iterable[tuple[Any, float, float]]) -> list[Before]:
    """Bodies, their sizes and radii (m), before a step of the solver."""
    return [
        Before(body, size, radius, body.position, body.center_of_mass.to_tuple(), body.linvel.to_tuple(), body.angvel)
        for body, size, radius in bodies if not body.is_sleeping
    ]  # fmt: skip


def go_on(physics: PhysicsWorld, bodies: Iterable[Before], seconds: float) -> None:
    """Move the bodies that a step of the solver, of so many seconds, has put back to what they slide or roll over."""
    for before in bodies:
        part = _part_done(before, seconds)
        if part < 1.0 - SHORT:
            _move_on(physics, before, (1.0 - part) * seconds)
            # What rolls turns by itself.
            if before.radius * before.body.angvel.norm() < ROLLS * before.body.linvel.norm():
                _lift(physics, before, 1.0 - part)


def _row(vector: Any) -> Matrix:
    return np.array(vector.to_tuple())


def _part_done(before: Before, seconds: float) -> float:
    """The part of its motion that a body has made in a step; 1 where that is not known to be less."""
    body = before.body
    velocity, center = body.linvel.to_tuple(), body.center_of_mass.to_tuple()
    way = seconds * math.hypot(*velocity)
    rim = seconds * body.angvel.norm() * before.radius
    if not LEAST * before.size < max(way, rim) < math.inf:
        return 1.0
    part = 1.0
    if way > LITTLE * before.size:
        made = [now - then for now, then in zip(center, before.center, strict=True)]
        along = [seconds * each for each in velocity]
        part = sum(one * other for one, other in zip(made, along, strict=True)) / (way * way)
        is_steady = math.dist(velocity, before.velocity) < STEADY * math.hypot(*velocity)
        aside = math.dist(made, [part * each for each in along])
        if not (0.0 <= part < 1.0 - SHORT and is_steady and aside < STRAIGHT * way):
            return 1.0
    if rim > LITTLE * before.size:
        spin, spun = _row(body.angvel), _row(before.spin)
        turn = seconds * spin
        # Of a quarter turn the direction is known, too.
        if np.linalg.norm(spin - spun) > STEADY * np.linalg.norm(spin) or np.linalg.norm(turn) > 0.5 * np.pi:
            return 1.0
        turned = frames.rotation_vector(matrix_of(body.position)[:3, :3] @ matrix_of(before.pose)[:3, :3].T)
        turned_part = float(np.array(turned) @ turn) / float(turn @ turn)
        if part < 1.0 and abs(turned_part - part) * rim > STRAIGHT * max(way, rim):
            return 1.0
        part = min(part, max(turned_part, 0.0))
    return part


def _move_on(physics: PhysicsWorld, before: Before, seconds: float) -> None:
    """Let a body go on for so many seconds, or until it touches something else than what it lies on."""
    body = before.body
    way = _row(body.linvel) * seconds
    normals = list(normals_of(physics, body))
    if not normals or len(body.colliders) > MOST_COLLIDERS:
        return
    lift = LIFT * before.size + SLOPE * float(np.linalg.norm(way))
    up = np.zeros(3)
    for normal, depth in normals:
        # As high above each of the surfaces, of which many are parallel.
        up += max(depth + lift - float(up @ normal), 0.0) * normal
    options = ShapeCastOptions(max_time_of_impact=1.0)
    part = 1.0
    for handle in body.colliders:
        collider = physics.colliders[handle]
        pose = matrix_of(collider.position)
        pose[:3, 3] += up
        chosen = QueryFilter.only_fixed().exclude_sensors().groups(collider.collision_groups)
        hit = physics.query_pipeline.cast_shape(isometry(pose), tuple(way.tolist()), collider.shape, options, chosen)
        if hit is not None:
            part = min(part, hit[1].time_of_impact)
    if part <= 0.0:
        return
    pose, center = matrix_of(body.position), _row(body.center_of_mass)
    turn = frames.matrix_of(frames.turn_by(_row(body.angvel) * seconds * part))
    pose[:3, :3], pose[:3, 3] = turn @ pose[:3, :3], center + part * way + turn @ (pose[:3, 3] - center)
    body.position = isometry(pose)


def _lift(physics: PhysicsWorld, before: Before, part: float) -> None:
    """Lift and turn a body by a part of what the solver corrects in a step: off what it was in before that."""
    body = before.body
    center = _row(body.center_of_mass)
    allowed = physics.integration_parameters.allowed_linear_error()
    rows, depths = [], []
    for normal, point, depth in _points_of(physics, body):
        if depth > allowed:
            # The smallest change, where a turn counts by the way of the rim.
            rows.append(np.append(normal, np.cross(point - center, normal) / before.radius))
            depths.append(depth - allowed)
    if not rows:
        return
    change = part * np.linalg.lstsq(np.array(rows), np.array(depths), rcond=1e-3)[0]
    change *= min(1.0, LIFTED * before.size / max(float(np.linalg.norm(change[:3])), 1e-12))
    pose, turn = matrix_of(body.position), frames.matrix_of(frames.turn_by(change[3:] / before.radius))
    pose[:3, :3], pose[:3, 3] = turn @ pose[:3, :3], center + change[:3] + turn @ (pose[:3, 3] - center)
    body.position = isometry(pose)


def _points_of(physics: PhysicsWorld, body: Any) -> Iterator[tuple[Matrix, Matrix, float]]:
    """Of the contacts of a body with what stands still: normals (3,) away from that, points (3,), m, and depths, m."""
    for handle in body.colliders:
        pose = matrix_of(physics.colliders[handle].position)
        for pair in physics.narrow_phase.contact_pairs_with(handle):
            is_first = pair.collider1 == handle
            other = physics.colliders[pair.collider2 if is_first else pair.collider1].parent
            if other is not None and not physics.rigid_bodies[other].is_fixed:
                continue
            for manifold in pair.manifolds:
                normal = _row(manifold.data.normal) * (-1.0 if is_first else 1.0)
                for one in manifold.points:
                    own = (one.local_p1 if is_first else one.local_p2).to_tuple()
                    yield normal, pose[:3, :3] @ own + pose[:3, 3], -float(one.dist)


def normals_of(physics: PhysicsWorld, body: Any) -> Iterator[tuple[Matrix, float]]:
    """Directions away from what stands still and touches a body, and how deep it is in that, m."""
    for handle in body.colliders:
        for pair in physics.narrow_phase.contact_pairs_with(handle):
            is_first = pair.collider1 == handle
            other = physics.colliders[pair.collider2 if is_first else pair.collider1].parent
            if other is not None and not physics.rigid_bodies[other].is_fixed:
                continue
            for manifold in pair.manifolds:
                if manifold.points:
                    normal = _row(manifold.data.normal)
                    yield (-normal if is_first else normal), max(-min(one.dist for one in manifold.points), 0.0)
