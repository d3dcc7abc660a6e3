# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the solver that are equal but for their place: made once as a template, then added at each place."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rapier3d

from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schemas import usd_physics
from ..filters import Filters
from ..layout import Body
from .loads import Weight
from .matter import COARSE, DIGITS, Geometries, fingerprint

_IDENTITY = rapier3d.Isometry3.identity().to_bytes()
#: Numbers at the end of a serialized pose: quaternion (x, y, z, w) and position, of 4 bytes each.
_POSE = 7


@dataclass(slots=True)
class Template:
    """A body of the solver with its colliders.

    materials: path of the physics material of each collider, or "". sides: shorter and longer side of each, m.
    """

    body: rapier3d.RigidBody
    weight: Weight | None
    colliders: list[Any] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    sides: list[tuple[float, float]] = field(default_factory=list)


def keys(bodies: Iterable[Body], geometries: Geometries, filters: Filters) -> Iterator[Hashable]:
    """For each body all that decides what it is in the solver, but for its place; None for one that moves at the start.

    The space of a body has no place in the world, so that a body may be turned. Only what vendors say about a body may
    be about the axes of the world.
    """
    listed = list(bodies)
    parts = [_parts(body) for body in listed]
    owners = [row for row, prims in enumerate(parts) for prim, _ in prims if prim is not listed[row].prim]
    below = [prim for row, prims in enumerate(parts) for prim, _ in prims if prim is not listed[row].prim]
    turns = np.array([body.rotation for body in listed], float).reshape(-1, 3, 3)[owners].swapaxes(1, 2)
    places = np.array([body.position for body in listed], float).reshape(-1, 3)[owners]
    local = np.array([prim.world[:3] for prim in below], float).reshape(-1, 3, 4)
    local[:, :, 3] -= places
    frames = iter(_rounded(turns @ local))
    for body, prims, stretch in zip(
        listed, parts, _rounded(np.array([body.stretch for body in listed], float).reshape(-1, 3, 3)), strict=True
    ):
        found: list[Hashable] = [body.is_kinematic, stretch]
        for prim, role in prims:
            is_own = prim is body.prim
            mask = filters.masks.get(prim.path)
            found += (
                role, None if is_own else (prim.path[len(body.prim.path) :], next(frames)), tuple(prim.schemas),
                *[value.all_values() for value in prim.schemas.values()], prim.materials, prim.physics_binding,
                mask and (mask.member, mask.meets), fingerprint(geometries.of(prim)),
            )  # fmt: skip
        if not prims or prims[0][0] is not body.prim:
            found += (tuple(body.prim.schemas), *[value.all_values() for value in body.prim.schemas.values()])
        if "PhysxRigidBodyAPI" in body.prim.schemas:
            found.append(body.rotation.tobytes())
        api = body.prim.schemas[usd_physics.RigidBodyAPI.usd_name]
        moves = api.velocity or api.angular_velocity  # type: ignore[attr-defined]
        yield None if moves else tuple(found)


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


def isometries(bodies: Iterable[Body]) -> list[rapier3d.Isometry3]:
    """Where bodies are, for the solver."""
    listed = list(bodies)
    numbers = np.empty((len(listed), _POSE), "<f4")
    numbers[:, (3, 0, 1, 2)] = np.array([body.quaternion for body in listed], float).reshape(-1, 4)
    numbers[:, 4:] = np.array([body.position for body in listed], float).reshape(-1, 3)
    head = _IDENTITY[: -4 * _POSE]
    make = rapier3d.Isometry3.from_bytes
    return [make(head + raw) for raw in numbers.view(np.dtype((np.void, 4 * _POSE))).ravel().tolist()]
