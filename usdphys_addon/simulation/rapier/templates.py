# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the solver that are equal but for their place: made once as a template, then added at each place."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rapier3d

from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schemas import usd_physics
from ..filters import Filters
from ..layout import Layout, Places
from ..vendor_settings import PLAIN, BodySettings, Surface
from .loads import Weight
from .matter import COARSE, DIGITS, Geometries, fingerprint


@dataclass(slots=True)
class Template:
    """A body of the solver with its colliders.

    materials: path of the physics material of each collider, or "". sides: shorter and longer side of each, m. bounce:
    the largest restitution of any.
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
    bounce: float = 0.0

    @property
    def is_plain(self) -> bool:
        """False for a body that is watched or driven beside the solver, or asleep."""
        return self.settings is PLAIN and self.surface is None and not self.starts_asleep

    @property
    def size(self) -> float:
        """Shorter side, m, of the largest collider; 0 without one."""
        return max((shorter for shorter, _ in self.sides), default=0.0)


def keys(layout: Layout, paths: Sequence[str], geometries: Geometries, filters: Filters) -> Iterator[Hashable]:
    """For each body all that decides what it is in the solver, but for its place; None for one that moves at the start.

    Keys of one call can be compared. The space of a body has no place in the world, so that a body may be turned. Only
    what vendors say about a body may be about the axes of the world.
    """
    places, masks, numbers = layout.places, filters.masks, _Numbers()
    listed = [layout.bodies[path] for path in paths]
    apart = []
    for body in listed:
        world, row = body.prim.world, body.row
        apart += [(row, places.row(prim.path)) for prim in body.inside if prim.world is not world]
        if body.colliders is not body.inside:
            apart += [(row, places.row(prim.path)) for prim in body.colliders if prim.world is not world]
    frames = dict(zip(apart, _rounded(_local(places, apart)), strict=True))
    prints: dict[int, bytes] = {}
    number_of, name = numbers.of, usd_physics.RigidBodyAPI.usd_name
    for body, stretch in zip(listed, _rounded(places.stretches[[body.row for body in listed]]), strict=True):
        own, inside, colliders = body.prim, body.inside, body.colliders
        api: Any = own.schemas[name]
        if api.velocity or api.angular_velocity:
            yield None
            continue
        if len(inside) == 1 and inside is colliders and not masks and "PhysxRigidBodyAPI" not in own.schemas:
            # One collider, as most bodies have.
            (prim,) = inside
            if prim is not own and prim.world is own.world:
                loader = prim.mesh
                if loader is not None and id(loader) not in prints:
                    prints[id(loader)] = fingerprint(geometries.of(prim))
                yield number_of(own), stretch, number_of(prim), None if loader is None else prints[id(loader)]
                continue
        found: list[Hashable] = [number_of(own), stretch]
        for prims in (inside,) if inside is colliders else (inside, colliders):
            for prim in prims:
                if prim is not own:
                    found.append(number_of(prim))
                    if prim.world is not own.world:
                        found.append(frames[body.row, places.row(prim.path)])
                    if len(inside) > 1:
                        # Tells which of several is below another.
                        found.append(prim.path[len(own.path) :])
                if masks and (mask := masks.get(prim.path)) is not None:
                    found.append((mask.member, mask.meets))
                if (loader := prim.mesh) is not None:
                    # Equal shapes often share their loader.
                    if id(loader) not in prints:
                        prints[id(loader)] = fingerprint(geometries.of(prim))
                    found.append(prints[id(loader)])
            found.append(None)
        if "PhysxRigidBodyAPI" in own.schemas:
            found.append(body.rotation.tobytes())
        yield tuple(found)


class _Numbers:
    """Numbers of what prims say, but for their place and geometry: equal where they say the same."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._alone = 0

    def of(self, prim: Prim) -> int:
        """A negative number is given once, to a prim with a value of a wrong type that has no hash."""
        schemas = prim.schemas
        # Faster than tuples, which would be joined: called twice for each body.
        said: list[Hashable] = [prim.materials, prim.physics_binding, *schemas]
        said += [value.all_values() for value in schemas.values()]
        if prim.extras:
            said.append(repr(prim.extras))
        try:
            return self._known.setdefault(tuple(said), len(self._known))
        except TypeError:
            self._alone -= 1
            return self._alone


def _local(places: Places, apart: Sequence[tuple[int, int]]) -> Matrix:
    """Frames (n, 3, 4) of prims in the spaces of their bodies. apart: rows of body and prim."""
    owners, owned = np.array(apart, int).reshape(-1, 2).T
    local = places.worlds[owned, :3]
    local[:, :, 3] -= places.positions[owners]
    return np.asarray(places.rotations[owners].swapaxes(1, 2) @ local)


def _rounded(matrices: Matrix) -> list[bytes]:
    """Each of n matrices without the noise of a rotation; 0.0 turns -0.0 into 0.0."""
    if not len(matrices):
        return []
    flat = np.ascontiguousarray(matrices).reshape(len(matrices), -1)
    result = np.where(np.abs(flat).max(axis=1, keepdims=True) >= COARSE, np.round(flat, DIGITS) + 0.0, flat)
    found: list[Any] = result.view(np.dtype((np.void, result.strides[0]))).ravel().tolist()
    return found


def poses(places: Places, rows: Sequence[int]) -> Iterator[tuple[list[float], list[float]]]:
    """Where prims are, for the solver: position, and quaternion with w last."""
    return zip(places.positions[rows].tolist(), places.quaternions[rows][:, (1, 2, 3, 0)].tolist(), strict=True)
