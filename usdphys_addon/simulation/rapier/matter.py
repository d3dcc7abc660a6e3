# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses of bodies, cached for bodies that differ in position and rotation only."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from operator import attrgetter
from typing import Any

import numpy as np
from rapier3d import Isometry3, MassProperties, Rotation3

from ...core.frames import Matrix
from ...core.mass import properties_steps
from ...core.model import PhysicsModel, Prim, SpherePoints
from ...core.schema import Schema
from ...core.schemas import usd_geom, usd_physics
from ...core.steps import Steps, finished
from ..layout import Body
from ..weights import Geometries, Geometry, Weight, alone

#: Schemas on which a mass depends, besides geometry, pose and material.
_DECIDING: tuple[type[Schema], ...] = (
    usd_physics.MassAPI,
    usd_physics.CollisionAPI,
    usd_physics.RigidBodyAPI,
    usd_physics.MeshCollisionAPI,
    usd_geom.Gprim,
)
#: Decimals of poses and scales that count, where they are no smaller than COARSE.
DIGITS, COARSE = 10, 1e-3
_IGNORED = frozenset({"velocity", "angular_velocity", "simulation_owner", "starts_asleep", "kinematic_enabled"})


#: Weights by all that decides them: needed again at every start of the preview, and slow for heavy meshes.
KNOWN: dict[Hashable, tuple[Weight, MassProperties]] = {}
MOST_KNOWN = 10_000


#: Roundings of a place that are tried; one in four does not do.
_MOST_ROUNDINGS, _ROUNDING = 40, 6e-8
#: The zero of the solver, as it compares it.
_NOTHING = [0.0] * 10 + [1.0]


def of_solver(weight: Weight) -> MassProperties:
    """A weight in the type of the solver."""
    return MassProperties(weight.center, weight.mass, weight.moments, Rotation3(*weight.axes))


def massless(place: Isometry3) -> tuple[Isometry3, MassProperties]:
    """(place, mass) of a collider that adds nothing to the mass of its body; the place moves by its rounding.

    The solver adds up the masses of a body and its colliders, and diagonalizes the sum: below 0.01 kg m2, and with two
    equal moments, often with wrong axes. It only skips what is zero to the bit in the frame of the body. So this mass
    has the middle and the axes that the place takes there; without a mass, they mean nothing.
    """
    x, y, z, w = place.rotation.quaternion
    back = tuple(-part for part in place.translation.to_tuple())
    for number in range(_MOST_ROUNDINGS):
        change = [0.0] * 4
        change[number % 4] = (number + 3) // 4 * _ROUNDING
        turn = Rotation3(w + change[0], x + change[1], y + change[2], z + change[3])
        turned = Isometry3((0.0, 0.0, 0.0), turn)
        middle = turned.inverse().transform_point(back).to_tuple()
        x1, y1, z1, w1 = turn.quaternion
        nothing = MassProperties(middle, 0.0, (0.0, 0.0, 0.0), Rotation3(w1, -x1, -y1, -z1))
        away = tuple(-part for part in nothing.transform_by(turned).local_com.to_tuple())
        exact = Isometry3(away, turn)
        # Its properties give the axes as a quaternion that is normalized.
        if np.frombuffer(nothing.transform_by(exact).to_bytes()[-44:], "<f4").tolist() == _NOTHING:
            return exact, nothing
    return place, MassProperties.zero()


class Weigher:
    """Weights of the bodies of one model."""

    def __init__(self, model: PhysicsModel, geometries: Geometries) -> None:
        self.model, self.geometries = model, geometries
        self._getters: dict[type[Schema], attrgetter[Any] | None] = {}

    def of(self, body: Body) -> tuple[Weight, MassProperties]:
        """The weight of a body, also in the type of the solver."""
        return finished(self.steps(body))

    def steps(self, body: Body) -> Steps[tuple[Weight, MassProperties]]:
        """`of` in steps."""
        key = self._key(body)
        known = KNOWN.get(key)
        if known is None:
            if len(KNOWN) >= MOST_KNOWN:
                KNOWN.clear()
            properties = yield from properties_steps(alone(body, self.model, self.geometries), body.prim.path)
            weight = Weight.of(properties)
            known = KNOWN[key] = (weight, of_solver(weight))
        return known

    def _key(self, body: Body) -> Hashable:
        """Cache key: all inputs of a mass, in the space of the body: equal bodies share one wherever they are."""
        back = body.rotation.T
        parts: list[Hashable] = [rounded(body.stretch), self._facts(body.prim)]
        for prim in body.inside:
            if prim is body.prim:
                parts.append(self._substance(prim))
                continue
            below = prim.path[len(body.prim.path) :]
            local = np.empty((3, 4))
            local[:, :3] = prim.world[:3, :3]
            local[:, 3] = prim.world[:3, 3] - body.position
            parts.append((below, rounded(back @ local), self._facts(prim), self._substance(prim)))
        return tuple(parts)

    def _facts(self, prim: Prim) -> Hashable:
        """Values of the schemas on which the mass depends."""
        facts: list[Hashable] = []
        for name, value in prim.schemas.items():
            kind = type(value)
            if kind not in self._getters:
                fields = [item.field for item in kind.attributes if item.field not in _IGNORED]
                decides = isinstance(value, _DECIDING) and fields
                self._getters[kind] = attrgetter(*fields) if decides else None
            get = self._getters[kind]
            # As text: a value of a wrong type may have no hash.
            facts.append((name, None if get is None else repr(get(value))))
        return tuple(facts)

    def _substance(self, prim: Prim) -> Hashable:
        """Geometry and materials of a collider."""
        densities = []
        for path in prim.materials:
            material = self.model.prims.get(path)
            api = None if material is None else material.get(usd_physics.MaterialAPI)
            densities.append((path, None if api is None else repr(api.density)))
        return fingerprint(self.geometries.of(prim)), tuple(densities), prim.physics_binding


def rounded(matrix: Matrix) -> bytes:
    """Without the noise of a rotation; 0.0 turns -0.0 into 0.0."""
    return (np.round(matrix, DIGITS) + 0.0).tobytes() if np.abs(matrix).max() >= COARSE else matrix.tobytes()


def fingerprint(geometry: Geometry) -> bytes:
    """Hash of the points and faces; cached in the mesh."""
    if geometry is None:
        return b""
    if isinstance(geometry, SpherePoints):
        return _digest(b"points", geometry.centers, geometry.radii)
    known: bytes | None = geometry.derived.get(fingerprint)
    if known is None:
        known = geometry.derived[fingerprint] = _digest(b"mesh", geometry.points, geometry.triangles)
    return known


def _digest(kind: bytes, *arrays: Any) -> bytes:
    result = hashlib.blake2b(kind, digest_size=16)
    for array in arrays:
        result.update(repr((array.shape, str(array.dtype))).encode())
        result.update(array.tobytes())
    return result.digest()
