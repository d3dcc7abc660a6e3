# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the solver that are equal but for their place: made once as a template, then added at each place."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, is_
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import NDArray

from ...core import prototypes
from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schema import Vector
from ...core.schemas import usd_physics
from ..filters import Filters
from ..layout import ROW, Body, Places
from ..vendor_settings import PLAIN, BodySettings, Surface
from ..weights import Geometries, Weight
from .contact_hook import Roller
from .matter import COARSE, DIGITS, fingerprint

_PRIM, _INSIDE, _MESH = map(attrgetter, ("prim", "inside", "mesh"))
#: What this schema says of a body is about the axes of the world.
_VENDOR = "PhysxRigidBodyAPI"


@dataclass(slots=True)
class Template:
    """A body of the solver with its colliders.

    materials: path of the physics material of each collider, or "". sides: shorter and longer side of each, m. radius:
    m, from the origin of the body to the end of all. bounce: the largest restitution of any. boxes: half extents, m,
    of the colliders that are boxes, by number. is_searched: the solver searches for the contacts of a collider, as of a
    cylinder or hull. rollers: of the colliders that roll on a line, by number. surfaces: numbers of the colliders that
    are surfaces of triangles. surface: how it runs. starts_asleep: of a dynamic body.
    """

    body: rapier3d.RigidBody
    weight: Weight | None
    settings: BodySettings = PLAIN
    surface: Surface | None = None
    starts_asleep: bool = False
    colliders: list[Any] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    sides: list[tuple[float, float]] = field(default_factory=list)
    boxes: dict[int, Vector] = field(default_factory=dict)
    is_searched: bool = False
    rollers: dict[int, Roller] = field(default_factory=dict)
    surfaces: list[int] = field(default_factory=list)
    radius: float = 0.0
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

    Their prims have the same prototypes; the rest is where the colliders are in the body, what they meet, and what
    their geometry is. The space of a body has no place in the world, so that a body may be turned. Only what vendors
    say about a body may be about the axes of the world.
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
        prims = list(map(_PRIM, bodies))
        self._own = prototypes.numbers(prims)
        #: Numbers of the prototypes of bodies that are equal whatever their place.
        plain = {
            number for number, prim in dict(zip(self._own, prims, strict=True)).items()
            if not self._masks and not _moves(prim) and _VENDOR not in prim.schemas
        }  # fmt: skip
        # One collider at the place of its body, as most bodies have.
        self._only = [
            inside[0]
            if len(inside) == 1 and inside is body.colliders and inside[0].world is own.world and number in plain
            else None
            for number, body, own, inside in zip(self._own, bodies, prims, map(_INSIDE, bodies), strict=True)
        ]
        forms, form_of = _rounded(places.forms, precision), places.form_of[self.rows]
        self._stretches = list(map(forms.__getitem__, form_of.tolist()))
        # Of the others the prims of the bodies, which are told apart by their rows.
        shown = [prim if only is None else only for only, prim in zip(self._only, prims, strict=True)]
        self._kinds = self._own if all(map(is_, shown, prims)) else prototypes.numbers(shown)
        #: Of each body: two with the same number are equal. No geometry is loaded for it.
        self.quick = prototypes.numbered([
            [row if only is None else -1 for row, only in enumerate(self._only)], self._own, self._stretches,
            self._kinds, list(map(id, map(_MESH, shown))), list(map(is_, shown, prims)),
        ])  # fmt: skip
        others, apart = [], []
        for body, only in zip(bodies, self._only, strict=True) if None in self._only else ():
            if only is None:
                for listed in (body.inside,) if body.inside is body.colliders else (body.inside, body.colliders):
                    others += listed
                    apart += [(body.row, row) for row in places.rows(listed)]
        self._numbers = dict(zip(map(id, others), prototypes.numbers(others), strict=True))
        self._frames = dict(zip(apart, _rounded(_local(places, apart), precision), strict=True)) if apart else {}

    def key(self, row: int) -> Hashable:
        """All that decides what the body in a row is in the solver; None for one that moves at the start.

        Loads its geometry.
        """
        body, number, only = self._bodies[row], self._own[row], self._only[row]
        own, inside, colliders = body.prim, body.inside, body.colliders
        if only is not None:
            return number, self._stretches[row], self._kinds[row], self._print_of(only), only is own
        if _moves(own):
            return None
        keys: list[Hashable] = [number, self._stretches[row]]
        for prims in (inside,) if inside is colliders else (inside, colliders):
            for prim in prims:
                if prim is not own:
                    keys.append(self._numbers[id(prim)])
                    if prim.world is not own.world:
                        keys.append(self._frames[body.row, self._places.rows((prim,))[0]])
                    if len(inside) > 1:
                        # Tells which of several is below another.
                        keys.append(prim.path[len(own.path) :])
                if self._masks and (mask := self._masks.get(prim.path)) is not None:
                    keys.append((mask.member, mask.meets))
                if prim.mesh is not None:
                    keys.append(self._print_of(prim))
            keys.append(None)
        if _VENDOR in own.schemas:
            keys.append(body.rotation.tobytes())
        return tuple(keys)

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
    texts: list[Any] = result.view(np.dtype((np.void, result.strides[0]))).ravel().tolist() if len(result) else []
    return texts


def turns_of(places: Places, rows: NDArray[np.int64]) -> list[Any]:
    """How prims are turned, for the solver: quaternions with w last. Prims that are turned alike share the object."""
    turns = list(zip(*places.turns[:, (1, 2, 3, 0)].T.tolist(), strict=True))
    return list(map(turns.__getitem__, places.form_of[rows].tolist()))
