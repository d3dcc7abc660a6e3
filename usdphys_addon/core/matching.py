# SPDX-License-Identifier: GPL-3.0-or-later
"""Which prims of two models stand for the same thing: by path, by name, or by place."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from . import paths
from .model import PhysicsModel, Prim
from .schema import Schema
from .schemas import usd_geom, usd_physics

#: Metres within which two things are at one place; a name has as many parts of a path as tell it from others.
_SAME_PLACE, _MOST_PARTS = 1e-4, 6
_NO_WORD = re.compile(r"[^a-z0-9]+")
_KINDS: tuple[type, ...] = (
    usd_physics.PhysicsScene, usd_physics.Joint, usd_physics.CollisionGroup, usd_physics.MaterialAPI,
    usd_physics.RigidBodyAPI, usd_physics.CollisionAPI, usd_geom.Gprim,
)  # fmt: skip


def matches(first: PhysicsModel, second: PhysicsModel) -> dict[str, str]:
    """Paths in the first model by paths in the second one, of prims with physics that are called otherwise there.

    A name or a place counts where it is that of one prim of a kind in either model.
    """
    return _Matcher(first, second).run()


def apart(model: PhysicsModel) -> PhysicsModel:
    """The model with a prim for each collider: formats differ in whether a body can be its own collider.

    The prims of the model are not changed.
    """
    result = replace(model, prims={})
    for path, prim in model.prims.items():
        if prim.get(usd_physics.RigidBodyAPI) is None or prim.get(usd_physics.CollisionAPI) is None:
            result.add(prim)
            continue
        body, collider = copy(prim), copy(prim)
        shape = {name: value for name, value in prim.schemas.items() if _is_of_collider(value)}
        body.schemas = {name: value for name, value in prim.schemas.items() if name not in shape}
        body.type_name, body.mesh, body.materials, body.physics_binding = "Xform", None, (), ""
        collider.path, collider.schemas = f"{path}/{prim.name}_collider", shape
        result.add(body)
        result.add(collider)
    return result


def _is_of_collider(value: Schema) -> bool:
    """True for a schema that says how a prim collides, and not how it moves."""
    if isinstance(value, usd_geom.Gprim | usd_physics.CollisionAPI | usd_physics.MeshCollisionAPI):
        return True
    return "Collision" in value.usd_name


class _Matcher:
    def __init__(self, first: PhysicsModel, second: PhysicsModel) -> None:
        self.first, self.second = first, second
        self.open = [{path: prim for path, prim in model.prims.items() if prim.schemas} for model in (first, second)]
        #: Paths in the first model by those in the second.
        self.found: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        for path in [path for path in self.open[1] if path in self.open[0]]:
            if _kind(self.open[0][path]) == _kind(self.open[1][path]):
                self.take(path, path)
        for parts in range(_MOST_PARTS, 0, -1):
            self.by(partial(_ending, parts=parts))
        self.by(lambda prim: _NO_WORD.sub("", (prim.label or prim.name).lower()) or None)
        self.by(self.ends)
        self.by(self.holder)
        self.by(_place)
        self.by(self.ends)
        self.by(self.holder)
        # A path that another prim keeps is not given away.
        kept = {path for path, prim in self.second.prims.items() if prim.schemas and path not in self.found}
        return {path: other for path, other in self.found.items() if path != other and other not in kept}

    def take(self, one: str, other: str) -> None:
        self.found[other] = one
        del self.open[0][one], self.open[1][other]

    def by(self, key_of: Callable[[Prim], Hashable]) -> None:
        """Match prims whose key is that of no other prim of their kind."""
        one, other = (_alone(prims.values(), key_of) for prims in self.open)
        for key, prim in one.items():
            if key in other:
                self.take(prim.path, other[key].path)

    def in_first(self, prim: Prim, path: str) -> str | None:
        """The path in the first model of what a prim of either names."""
        return path if self.first.prims.get(prim.path) is prim else self.found.get(path)

    def ends(self, prim: Prim) -> Hashable:
        """The bodies of a joint, in the first model."""
        joint = prim.get(usd_physics.Joint)
        if joint is None:
            return None
        targets = [(joint.body0 or ("",))[0], (joint.body1 or ("",))[0]]
        held = [self.in_first(prim, path) if path else "" for path in targets]
        return None if None in held or not any(held) else tuple(held)

    def holder(self, prim: Prim) -> Hashable:
        """The body that a collider is of, in the first model."""
        if prim.get(usd_physics.CollisionAPI) is None:
            return None
        model = self.first if self.first.prims.get(prim.path) is prim else self.second
        owner = model.body_of(paths.parent_of(prim.path))
        return None if owner is None else self.in_first(prim, owner.path)


def _alone(prims: Iterable[Prim], key_of: Callable[[Prim], Hashable]) -> dict[Hashable, Prim]:
    """Prims by kind and key, without keys that several have."""
    by_key: dict[Hashable, Prim | None] = {}
    for prim in prims:
        own = key_of(prim)
        if own is not None:
            key = (_kind(prim), own)
            by_key[key] = None if key in by_key else prim
    return {key: prim for key, prim in by_key.items() if prim is not None}


def _ending(prim: Prim, parts: int) -> str:
    """The last parts of a path."""
    return "/".join(prim.path.split("/")[-parts:])


def _kind(prim: Prim) -> int:
    return next((number for number, cls in enumerate(_KINDS) if prim.get(cls) is not None), len(_KINDS))


def _place(prim: Prim) -> Hashable:
    """Where a body or a collider is, in steps; None for other prims."""
    if prim.get(usd_physics.RigidBodyAPI) is None and prim.get(usd_physics.CollisionAPI) is None:
        return None
    place = np.asarray(prim.world, float)[:3, 3]
    return tuple(np.round(place / _SAME_PLACE).tolist()) if np.isfinite(place).all() else None
