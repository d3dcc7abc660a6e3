# SPDX-License-Identifier: GPL-3.0-or-later
"""Floors of parts side by side: tiles, boards, slabs and terrains that meet, as boxes, hulls, meshes or decompositions.

A body sinks into what it lies on by some micrometres. So the solver finds the side or the edge of the next part of a
floor before its top, and the body trips, or rolls over a bump. Such points are no contacts: nothing can be touched from
a side on which the surface goes on. A floor is all that is static, or one body of several colliders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapier3d import Collider, PhysicsWorld, Point3, QueryFilter, Ray, RigidBody, Vec3

from .constraints import isometry, matrix_of

#: Relative to the size of a body: how far from a point its surroundings are looked at, and of one that may roll.
NEAR, NEAR_ROUND = 2e-3, 1e-2
#: Sine of the angle from which a normal is not that of the surface, and for what may roll.
TILT, TILT_ROUND = 0.1, 0.02
#: Relative to the size of a body: how deep it has sunk in. Cosine up to which a normal is that of a floor.
DEEP, STEEP = 0.01, 0.5
#: Relative to how far is looked: how near a point on a surface is found again.
SAME = 0.25
#: Relative to coordinates: how far the solver's numbers are from what they stand for.
ROUNDING = 4e-7
_Floats = NDArray[np.float64]
_Vector = tuple[float, ...]


class Rider(NamedTuple):
    """What lies on a floor.

    middle: centre of mass, (3,), m. size: m. is_ball: or a capsule. has_rim: a cylinder or cone. groups: with what it
    collides. up: (3,), against gravity; 0 without.
    """

    middle: _Floats
    size: float
    is_ball: bool
    has_rim: bool
    groups: Any
    up: _Floats

    @property
    def near(self) -> float:
        """How far from a point its surroundings are looked at, m."""
        return (NEAR_ROUND if self.is_ball or self.has_rim else NEAR) * self.size


class Ledges:
    """Which contacts are at edges of colliders beyond which other ones of the same floor go on."""

    def __init__(self) -> None:
        #: Handles of the static bodies.
        self.statics: Collection[Any] = ()
        #: Colliders by themselves, which can be asked while the solver makes a step, made on first use: the static ones
        #: by None, those of a body in its space by its handle.
        self._floors: dict[Any, PhysicsWorld] = {}
        #: Single colliders at the origin, by handle.
        self._alone: dict[Any, PhysicsWorld] = {}

    def forget(self) -> None:
        """A collider was moved or switched, or has another shape."""
        self._floors.clear()
        self._alone.clear()

    def is_one(
        self, ctx: Any, rider: Rider, points: Iterable[tuple[_Vector, _Vector]], normal: _Floats, body: Any = None
    ) -> bool:  # fmt: skip
        """Whether no point of a contact can be touched.

        points: on the floor and on the other body, m. normal: (3,), of the contact, towards the other body. body: the
        handle of the body whose colliders are the floor; None: all that is static.
        """
        floor = _Floor(self._floor(ctx, body))
        pairs = [(np.array(point), np.array(own)) for point, own in points]
        if body is not None:
            pose = matrix_of(ctx.bodies[body].position)
            turn, middle = pose[:3, :3].T, pose[:3, 3]
            rider = rider._replace(middle=turn @ (rider.middle - middle), up=turn @ rider.up)
            pairs = [(turn @ (point - middle), turn @ (own - middle)) for point, own in pairs]
            normal = turn @ normal
        return not any(floor.is_open(rider, point, own, normal) for point, own in pairs)

    def below(
        self, ctx: Any, point: _Floats, down: _Floats, reach: float, groups: Any
    ) -> tuple[float, _Floats] | None:  # fmt: skip
        """How far (m) what is static is from a point (3,), at most `reach`, and its normal (3,), on the side of `down`.

        None if nothing is there. down: (3,), a unit.
        """
        start = point - reach * down
        ray = Ray(Point3(*start.tolist()), Vec3(*down.tolist()))
        pipeline = self._floor(ctx, None).query_pipeline
        hit = pipeline.cast_ray_and_get_normal(ray, 2.0 * reach, True, QueryFilter().groups(groups))
        if hit is None:
            return None
        normal = np.array(hit[1].normal.to_tuple())
        return float(hit[1].time_of_impact) - reach, normal if normal @ down > 0.0 else -normal

    def depth(self, ctx: Any, collider: Any, point: _Vector) -> float:
        """How far (m) a point (3,) of the world is from the surface of a collider, by its handle."""
        alone = self._alone.get(collider)
        if alone is None:
            alone = self._alone[collider] = PhysicsWorld()
            alone.add_body(RigidBody.fixed(), [Collider.new(ctx.colliders[collider].shape)])
            alone.update_query_pipeline()
        pose = matrix_of(ctx.colliders[collider].position)
        place = pose[:3, :3].T @ (point - pose[:3, 3])
        found = alone.query_pipeline.project_point(Point3(*place.tolist()), False, QueryFilter())
        return 0.0 if found is None else float(np.linalg.norm(place - found[1].point.to_tuple()))

    def _floor(self, ctx: Any, body: Any) -> PhysicsWorld:
        floor = self._floors.get(body)
        if floor is None:
            bodies = self.statics if body is None else [body]
            space = None if body is None else matrix_of(ctx.bodies[body].position)
            floor = self._floors[body] = _copied(ctx, bodies, space)
        return floor


class _Floor:
    """Questions about the colliders of a world: all in its space."""

    def __init__(self, world: PhysicsWorld) -> None:
        self._world = world

    def is_open(self, rider: Rider, point: _Floats, own: _Floats, normal: _Floats) -> bool:
        """Whether a point can be touched by one of the other body."""
        gap = float((own - point) @ normal)
        # What has sunk in is held in any case.
        if gap < -DEEP * rider.size and float(normal @ rider.up) > STEEP:
            return True
        if gap > rider.near and self._is_hidden(rider, point, own):
            return False
        away = self._nearest(rider, point, normal)
        if away is None:  # the point is on nothing that is known here
            return True
        return _is_along(away, rider, point, normal) or self._is_foot(rider, point, normal)

    def _is_hidden(self, rider: Rider, point: _Floats, own: _Floats) -> bool:
        """Whether there is a surface between a point and the one of the other body that would come to it."""
        near, inwards = rider.near, rider.middle - own
        start = own + inwards * min(2.0 * near / max(float(np.sqrt(inwards @ inwards)), near), 1.0)
        way = point - start
        length = float(np.sqrt(way @ way))
        ray = Ray(Point3(*start.tolist()), Vec3(*(way / length).tolist()))
        hit = self._world.query_pipeline.cast_ray(ray, length, True, QueryFilter().groups(rider.groups))
        return hit is not None and hit[1] < length - near

    def _is_foot(self, rider: Rider, point: _Floats, normal: _Floats) -> bool:
        """Whether a point is at the foot of a wall: there the floor goes on, but the wall does, too."""
        up = rider.middle - point
        up -= normal * (up @ normal)
        length = float(np.sqrt(up @ up))
        if length <= rider.near:
            return False
        higher = point + up * (2.0 * rider.near / length)
        away = self._nearest(rider, higher, normal)
        return away is not None and _is_along(away, rider, higher, normal)

    def _nearest(self, rider: Rider, point: _Floats, normal: _Floats) -> _Floats | None:
        """From a point (3,) to what is nearest to a place before it, m; None if nothing is near."""
        end = Point3(*(point + rider.near * normal).tolist())
        wanted = QueryFilter().groups(rider.groups)
        found = self._world.query_pipeline.project_point(end, False, wanted, 2.0 * rider.near)
        return None if found is None else np.array(found[1].point.to_tuple()) - point


def _is_along(away: _Floats, rider: Rider, point: _Floats, normal: _Floats) -> bool:
    """Whether what is nearest to a place before a point is the point itself, so that the normal there is this one."""
    near, along = rider.near, float(away @ normal)
    aside = away - along * normal
    rounding = ROUNDING * float(np.abs(point).max())
    tilt = TILT_ROUND if rider.is_ball or rider.has_rim else TILT
    return abs(along) <= SAME * near + rounding and float(np.sqrt(aside @ aside)) <= tilt * near + rounding


def _copied(ctx: Any, bodies: Iterable[Any], space: _Floats | None) -> PhysicsWorld:
    """A world with the colliders of some bodies at their places as they are now; shapes are shared.

    space: (4, 4), which the places are in; None: the world.
    """
    world = PhysicsWorld()
    inverse = None if space is None else np.linalg.inv(space)
    for body in bodies:
        for handle in ctx.bodies[body].colliders:
            collider = ctx.colliders[handle]
            if collider.is_enabled and not collider.is_sensor:
                copied = Collider.new(collider.shape).collision_groups(collider.collision_groups)
                place = collider.position
                if inverse is not None:
                    place = isometry(inverse @ matrix_of(place))
                world.add_body(RigidBody.fixed().position(place), [copied])
    world.update_query_pipeline()
    return world
