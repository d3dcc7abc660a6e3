# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the solver that are equal but for their place: made once as a template, then added at each place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter, is_, itemgetter
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import NDArray

from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schema import Schema, Vector
from ...core.schemas import usd_physics
from ..filters import Filters
from ..layout import ROW, Body, Places
from ..vendor_settings import PLAIN, BodySettings, Surface
from ..weights import Weight
from .matter import COARSE, DIGITS, Geometries, fingerprint

_MATERIALS, _BINDING, _EXTRAS = attrgetter("materials"), attrgetter("physics_binding"), attrgetter("extras")
_INSIDE, _MESH, _SCHEMAS = map(attrgetter, ("inside", "mesh", "schemas"))
#: What this schema says of a body is about the axes of the world.
_VENDOR = "PhysxRigidBodyAPI"


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


class Twins:
    """Tells which bodies are equal in the solver but for their place.

    The space of a body has no place in the world, so that a body may be turned. Only what vendors say about a body may
    be about the axes of the world.
    """

    def __init__(
        self, bodies: Sequence[Body], places: Places, geometries: Geometries, filters: Filters, precision: float = 0.0
    ) -> None:
        """precision: of the world matrices, see `PhysicsModel.angular_precision`."""
        self._bodies, self._places, self._geometries, self._masks = bodies, places, geometries, filters.masks
        #: In `places`, (n,).
        self.rows: NDArray[np.int64] = np.fromiter(map(ROW, bodies), np.int64, len(bodies))
        #: Fingerprints of meshes by their loaders, which equal shapes often share.
        self._prints: dict[int, bytes] = {}
        numbers, prims = _Numbers(), [body.prim for body in bodies]
        self._own = numbers.of(prims)
        kinds = dict(zip(self._own, prims, strict=True))
        #: Whether bodies of a kind may be equal whatever their place.
        plain = {number for number, prim in kinds.items() if not _moves(prim) and _VENDOR not in prim.schemas}
        # One collider at the place of its body, as most bodies have.
        self._only = [
            inside[0]
            if len(inside) == 1 and inside is body.colliders and inside[0].world is own.world and number in plain
            else None
            for number, body, own, inside in zip(self._own, bodies, prims, map(_INSIDE, bodies), strict=True)
        ] if not self._masks else [None] * len(bodies)  # fmt: skip
        forms, form_of = _rounded(places.forms, precision), places.form_of[self.rows]
        self._stretches = list(map(forms.__getitem__, form_of.tolist()))
        only = [prim for prim in self._only if prim is not None]
        said = [numbers.of(only), list(map(id, map(_MESH, only)))]
        #: Of each body: two with the same one are equal; often the same object. No geometry is loaded for it.
        self.quick: list[Hashable]
        if len(only) == len(bodies):
            columns: list[list[Any]] = [self._own, self._stretches, *said, list(map(is_, only, prims))]
            alike = all(map(_is_same, columns))
            self.quick = (
                [next(zip(*columns, strict=True))] * len(only) if alike and only else list(zip(*columns, strict=True))
            )
        else:
            more = zip(*said, strict=True)
            self.quick = [
                row if prim is None else (number, stretch, *next(more), prim is own)
                for row, (number, stretch, prim, own) in enumerate(
                    zip(self._own, self._stretches, self._only, prims, strict=True)
                )
            ]
        others, apart = [], []
        for body, prim in zip(bodies, self._only, strict=True) if len(only) < len(bodies) else ():
            if prim is None:
                for listed in (body.inside,) if body.inside is body.colliders else (body.inside, body.colliders):
                    others += listed
                    apart += [(body.row, row) for row in places.rows(listed)]
        self._numbers = dict(zip(map(id, others), numbers.of(others), strict=True))
        self._frames = dict(zip(apart, _rounded(_local(places, apart), precision), strict=True)) if apart else {}

    def key(self, row: int) -> Hashable:
        """All that decides what the body in a row is in the solver; None for one that moves at the start.

        Loads its geometry.
        """
        body, number, only = self._bodies[row], self._own[row], self._only[row]
        own, inside, colliders = body.prim, body.inside, body.colliders
        if only is not None:
            quick: Any = self.quick[row]
            return *quick[:3], self._print_of(only), quick[4]
        if _moves(own):
            return None
        found: list[Hashable] = [number, self._stretches[row]]
        for prims in (inside,) if inside is colliders else (inside, colliders):
            for prim in prims:
                if prim is not own:
                    found.append(self._numbers[id(prim)])
                    if prim.world is not own.world:
                        found.append(self._frames[body.row, self._places.rows((prim,))[0]])
                    if len(inside) > 1:
                        # Tells which of several is below another.
                        found.append(prim.path[len(own.path) :])
                if self._masks and (mask := self._masks.get(prim.path)) is not None:
                    found.append((mask.member, mask.meets))
                if prim.mesh is not None:
                    found.append(self._print_of(prim))
            found.append(None)
        if _VENDOR in own.schemas:
            found.append(body.rotation.tobytes())
        return tuple(found)

    def _print_of(self, prim: Prim) -> bytes | None:
        """The fingerprint of the geometry of a prim; None without one."""
        loader = prim.mesh
        if loader is None:
            return None
        if id(loader) not in self._prints:
            self._prints[id(loader)] = fingerprint(self._geometries.of(prim))
        return self._prints[id(loader)]


def _moves(prim: Prim) -> bool:
    """True for a body with a velocity at the start."""
    api: Any = prim.schemas[usd_physics.RigidBodyAPI.usd_name]
    return bool(api.velocity or api.angular_velocity)


class _Numbers:
    """Gives prims numbers that are equal where all their values are, place and geometry aside."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._alone = 0

    def of(self, prims: Sequence[Prim]) -> list[int]:
        """A number for each prim. One with a value of a wrong type that has no hash gets a negative one for itself."""
        held = list(map(_SCHEMAS, prims))
        if not held:
            return []
        # As many names, and all of those of the first: the same ones. A tuple of names for each prim takes longer.
        if _is_same(list(map(len, held))):
            with suppress(KeyError):
                return self._of_kind(tuple(held[0]), prims, held)
        rows: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for row, schemas in enumerate(held):
            rows[tuple(schemas)].append(row)
        result = [0] * len(prims)
        for kind, chosen in rows.items():
            found = self._of_kind(kind, [prims[row] for row in chosen], [held[row] for row in chosen])
            for row, number in zip(chosen, found, strict=True):
                result[row] = number
        return result

    def _of_kind(self, names: tuple[str, ...], prims: Sequence[Prim], held: Sequence[dict[str, Schema]]) -> list[int]:
        """The same for prims with the same schemas, by column: several times as fast as one prim after the other."""
        columns: list[list[Any]] = [list(map(get, prims)) for get in (_MATERIALS, _BINDING)]
        columns += [list(map(held[0][name].values_of, map(itemgetter(name), held))) for name in names]
        if any(map(_EXTRAS, prims)):
            columns.append([repr(prim.extras) for prim in prims])
        known = self._known
        try:
            if all(map(_is_same, columns)):
                said = (names, *[column[0] for column in columns])
                return [known.setdefault(said, len(known))] * len(prims)
            return [known.setdefault((names, *said), len(known)) for said in zip(*columns, strict=True)]
        except TypeError:
            return [self._of_one((names, *said)) for said in zip(*columns, strict=True)]

    def _of_one(self, said: Hashable) -> int:
        try:
            return self._known.setdefault(said, len(self._known))
        except TypeError:
            self._alone -= 1
            return self._alone


def _is_same(values: Sequence[Any]) -> bool:
    """True if all values are equal."""
    return not values or values.count(values[0]) == len(values)


def _local(places: Places, apart: Sequence[tuple[int, int]]) -> Matrix:
    """Frames (n, 3, 4) of prims in the spaces of their bodies. apart: rows of body and prim."""
    owners, owned = np.array(apart, int).reshape(-1, 2).T
    local = places.worlds[owned, :3]
    local[:, :, 3] -= places.positions[owners]
    return np.asarray(places.rotations[owners].swapaxes(1, 2) @ local)


def _rounded(matrices: Matrix, precision: float) -> list[bytes]:
    """Each of n matrices without the noise of a rotation; 0.0 turns -0.0 into 0.0.

    precision: relative to the power of ten above the largest element, what counts as noise; 0: of double precision.
    """
    flat = np.ascontiguousarray(matrices).reshape(len(matrices), -1)
    largest = np.abs(flat).max(axis=1, initial=0.0, keepdims=True)
    if precision:
        # Noise must not take an element of 1 over the power of ten.
        unit = precision * 10.0 ** np.ceil(np.log10(np.maximum(largest, np.finfo(float).tiny)) - 1e-4)
        result = np.round(flat / unit) * unit + 0.0
    else:
        result = np.where(largest >= COARSE, np.round(flat, DIGITS) + 0.0, flat)
    found: list[Any] = result.view(np.dtype((np.void, result.strides[0]))).ravel().tolist() if len(result) else []
    return found


def poses(places: Places, rows: NDArray[np.int64]) -> tuple[list[Vector], list[Any]]:
    """Where prims are, for the solver, which takes tuples sooner than lists: positions, and quaternions with w last.

    Prims that are turned alike share the object of the latter.
    """
    turns = list(zip(*places.turns[:, (1, 2, 3, 0)].T.tolist(), strict=True))
    positions: list[Any] = list(zip(*places.positions[rows].T.tolist(), strict=True))
    return positions, list(map(turns.__getitem__, places.form_of[rows].tolist()))
