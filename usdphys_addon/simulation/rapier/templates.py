# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the solver that are equal but for their place: made once as a template, then added at each place."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rapier3d

from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schemas import usd_physics
from ..filters import Filters
from ..layout import Body, Layout, Places
from ..vendor_settings import PLAIN, BodySettings, Surface
from .loads import Weight
from .matter import COARSE, DIGITS, Geometries, fingerprint

_IDENTITY = rapier3d.Isometry3.identity().to_bytes()
#: Numbers at the end of a serialized pose: quaternion (x, y, z, w) and position, of 4 bytes each.
_POSE = 7


@dataclass(slots=True)
class Template:
    """A body of the solver with its colliders.

    materials: path of the physics material of each collider, or "". sides: shorter and longer side of each, m.
    surface: how it runs. starts_asleep: of a dynamic body.
    """

    body: rapier3d.RigidBody
    weight: Weight | None
    settings: BodySettings = PLAIN
    surface: Surface | None = None
    starts_asleep: bool = False
    colliders: list[Any] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    sides: list[tuple[float, float]] = field(default_factory=list)


def keys(layout: Layout, paths: Sequence[str], geometries: Geometries, filters: Filters) -> Iterator[Hashable]:
    """For each body all that decides what it is in the solver, but for its place; None for one that moves at the start.

    The space of a body has no place in the world, so that a body may be turned. Only what vendors say about a body may
    be about the axes of the world.
    """
    places = layout.places
    listed = [layout.bodies[path] for path in paths]
    parts = [_parts(body) for body in listed]
    below = [
        (body, prim) for body, prims in zip(listed, parts, strict=True) for prim, _ in prims if prim is not body.prim
    ]
    owners, owned = places.rows(body.prim.path for body, _ in below), places.rows(prim.path for _, prim in below)
    local = places.worlds[owned, :3]
    local[:, :, 3] -= places.positions[owners]
    frames = iter(_rounded(places.rotations[owners].swapaxes(1, 2) @ local))
    masks = filters.masks
    for body, prims, stretch in zip(listed, parts, _rounded(places.stretches[places.rows(paths)]), strict=True):
        found: list[Hashable] = [body.is_kinematic, stretch]
        for prim, role in prims:
            mask = masks.get(prim.path) if masks else None
            found += (
                role, None if prim is body.prim else (prim.path[len(body.prim.path) :], next(frames)), _facts(prim),
                mask and (mask.member, mask.meets), prim.mesh and fingerprint(geometries.of(prim)),
            )  # fmt: skip
        if not prims or prims[0][0] is not body.prim:
            found.append(_facts(body.prim))
        if "PhysxRigidBodyAPI" in body.prim.schemas:
            found.append(body.rotation.tobytes())
        api = body.prim.schemas[usd_physics.RigidBodyAPI.usd_name]
        moves = api.velocity or api.angular_velocity  # type: ignore[attr-defined]
        yield None if moves else tuple(found)


def _facts(prim: Prim) -> tuple[Hashable, ...]:
    """What a prim says, but for its place and geometry."""
    schemas = prim.schemas
    return (
        *schemas, *[value.all_values() for value in schemas.values()], prim.materials, prim.physics_binding,
        repr(prim.extras) if prim.extras else "",
    )  # fmt: skip


def _parts(body: Body) -> list[tuple[Prim, int]]:
    """The prims that decide mass (1), shape (2) or both (3) of a body."""
    inside, colliders = body.inside, body.colliders
    if len(inside) == len(colliders) and all(map(_is, inside, colliders)):
        return [(prim, 3) for prim in inside]
    return [*((prim, 1) for prim in inside), *((prim, 2) for prim in colliders)]


def _is(one: Any, other: Any) -> bool:
    return one is other


def _rounded(matrices: Matrix) -> list[bytes]:
    """Each of n matrices without the noise of a rotation; 0.0 turns -0.0 into 0.0."""
    if not len(matrices):
        return []
    flat = np.ascontiguousarray(matrices).reshape(len(matrices), -1)
    result = np.where(np.abs(flat).max(axis=1, keepdims=True) >= COARSE, np.round(flat, DIGITS) + 0.0, flat)
    found: list[Any] = result.view(np.dtype((np.void, result.strides[0]))).ravel().tolist()
    return found


def known(templates: Mapping[Hashable, Template], key: Hashable) -> Template | None:
    """The template of a key; None for a new one, or where a value of a wrong type has no hash."""
    try:
        return templates.get(key)
    except TypeError:
        return None


def isometries(places: Places, rows: Sequence[int]) -> list[rapier3d.Isometry3]:
    """Where prims are, for the solver."""
    numbers = np.empty((len(rows), _POSE), "<f4")
    numbers[:, (3, 0, 1, 2)] = places.quaternions[rows]
    numbers[:, 4:] = places.positions[rows]
    head = _IDENTITY[: -4 * _POSE]
    make = rapier3d.Isometry3.from_bytes
    return [make(head + raw) for raw in numbers.view(np.dtype((np.void, 4 * _POSE))).ravel().tolist()]
