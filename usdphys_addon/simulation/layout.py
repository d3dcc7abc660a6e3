# SPDX-License-Identifier: GPL-3.0-or-later
"""Classifies prims for a simulation: moving bodies, their colliders, static colliders, and the scene of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import deformables, frames
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.rules.base import Above
from ..core.schema import Quaternion
from ..core.schemas import usd_physics
from ..core.velocities import velocity_scale
from .notices import Notices

EARTH_GRAVITY = 9.81
#: Without a bound material: the defaults of PhysX.
DEFAULT_FRICTION, DEFAULT_RESTITUTION = 0.5, 0.0
_WORLD, _TYPE, _SCHEMAS = attrgetter("world"), attrgetter("type_name"), attrgetter("schemas")
ROW = attrgetter("row")
_BODY_NAME, _COLLIDER_NAME = usd_physics.RigidBodyAPI.usd_name, usd_physics.CollisionAPI.usd_name
_BODY = attrgetter("rigid_body_enabled", "simulation_owner", "kinematic_enabled")


@dataclass(slots=True)
class Body:
    """An enabled rigid body. scene: path of its physics scene, or "". row: of its prim in `places`.

    inside: all colliders whose nearest enabled body it is, ignoring resets of the transform stack; candidates for its
    mass. colliders: enabled colliders that move with it; the same list as `inside` if no collider is in one only.
    """

    prim: Prim
    is_kinematic: bool
    scene: str
    places: Places
    row: int
    inside: list[Prim]
    colliders: list[Prim]

    @property
    def position(self) -> Matrix:
        """(3,)"""
        return np.asarray(self.places.positions[self.row])

    @property
    def rotation(self) -> Matrix:
        """(3, 3)"""
        return np.asarray(self.places.rotations[self.row])

    @property
    def stretch(self) -> Matrix:
        """Scale and shear of the prim (3, 3): the linear part of its world matrix is rotation @ stretch."""
        return np.asarray(self.places.stretches[self.row])

    @property
    def pose(self) -> Matrix:
        """(4, 4) without scale."""
        return frames.transform(self.position, self.rotation)

    @property
    def velocity_scale(self) -> float:
        """See `velocities.velocity_scale`."""
        return velocity_scale(self.stretch)


class RigidPose(NamedTuple):
    """Pose of a prim without scale: position (3,), rotation (3, 3), and the same as a quaternion (w, x, y, z)."""

    position: Matrix
    rotation: Matrix
    quaternion: Quaternion

    @property
    def pose(self) -> Matrix:
        """(4, 4) without scale."""
        return frames.transform(self.position, self.rotation)


class Places(Mapping[str, RigidPose]):
    """The poses of many prims, by path; together in arrays, because one by one they would take most of the time to
    build a world.

    Prims that share their world matrix share a row. worlds (n, 4, 4): world matrices of the prims. positions (n, 3),
    rotations (n, 3, 3), quaternions (n, 4), w first, stretches (n, 3, 3): scale and shear; the linear part of a world
    matrix is rotation @ stretch.
    """

    def __init__(self, prims: Iterable[Prim]) -> None:
        self._prims = list(prims)
        worlds_of = list(map(_WORLD, self._prims))
        numbers = list(map(id, worlds_of))
        # A prim and its geometry often share their matrix, and then a row. The matrices are kept, and so their numbers.
        self._kept = dict(zip(numbers, worlds_of, strict=True))
        self._row_of = dict(zip(self._kept, count()))
        #: Rows of the prims, in their order.
        self.in_order = list(map(self._row_of.__getitem__, numbers))
        #: Rows by path; made on first use, which a world of equal bodies never needs.
        self._rows: dict[str, int] | None = None
        self.worlds: Matrix = _stacked(list(self._kept.values()))
        self.positions: Matrix = self.worlds[:, :3, 3]
        linear = np.ascontiguousarray(self.worlds[:, :3, :3])
        # Many prims are turned and scaled alike.
        middle = linear[len(linear) // 2 :][:1]
        others = np.flatnonzero((linear != middle).any(axis=(1, 2)))
        #: Row in `forms` and `turns` of each row: the different stretches (k, 3, 3) and quaternions (k, 4).
        self.form_of: NDArray[np.int64] = np.zeros(len(linear), np.int64)
        self.form_of[others] = np.arange(1, len(others) + 1)
        linear = np.concatenate((middle, linear[others]))
        rotations = frames.rotations_of(linear)
        self.forms: Matrix = rotations.swapaxes(1, 2) @ linear
        self.rotations: Matrix = rotations[self.form_of]
        self.turns: Matrix = frames.quaternions_of(rotations)
        self.quaternions: Matrix = self.turns[self.form_of]
        self.stretches: Matrix = self.forms[self.form_of]

    def rows(self, prims: Iterable[Prim]) -> list[int]:
        """Rows of prims in the arrays. Raises KeyError where one got another world matrix since."""
        return list(map(self._row_of.__getitem__, map(id, map(_WORLD, prims))))

    def of(self, prim: Prim) -> RigidPose:
        """The pose of a prim."""
        return self._pose(self._row_of[id(prim.world)])

    def _pose(self, row: int) -> RigidPose:
        return RigidPose(self.positions[row], self.rotations[row], _quaternion(self.quaternions[row].tolist()))

    def _by_path(self) -> dict[str, int]:
        if self._rows is None:
            self._rows = dict(zip([prim.path for prim in self._prims], self.in_order, strict=True))
        return self._rows

    def __getitem__(self, path: str) -> RigidPose:
        return self._pose(self._by_path()[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_path())

    def __len__(self) -> int:
        return len(self._by_path())


def _stacked(matrices: list[Matrix]) -> Matrix:
    """Matrices (4, 4) as one array (n, 4, 4), which may be read-only."""
    if {matrix.dtype for matrix in matrices} == {np.dtype(float)}:
        # As bytes it takes a sixth of the time.
        with suppress(TypeError):  # of matrices in another order of memory
            return np.frombuffer(b"".join(matrices)).reshape(-1, 4, 4)  # type: ignore[arg-type]
    return np.array(matrices, float).reshape(-1, 4, 4)


def _quaternion(numbers: list[float]) -> Quaternion:
    w, x, y, z = numbers
    return w, x, y, z


@dataclass(slots=True)
class Layout:
    """bodies: by path, in model order. statics: scene by path of static collider. gravity: (3,), m/s2, by scene; the
    first scene is the default. owners: finds the enabled body of a path. places: by path of bodies and colliders."""

    model: PhysicsModel
    #: Types and schemas of all prims.
    names: set[str]
    places: Places
    owners: Above
    gravity: dict[str, Matrix] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)

    def body_of(self, path: str) -> Body | None:
        """The enabled body that carries a prim; disabled bodies are skipped."""
        prim = self.owners.at(path)
        return None if prim is None else self.bodies[prim.path]


def gravity_of(scene: usd_physics.PhysicsScene) -> Matrix:
    """Acceleration (3,), m/s2, Z up; the sentinels are earth gravity, downwards."""
    direction, magnitude = scene.resolved("gravity_direction"), scene.resolved("gravity_magnitude")
    size = math.hypot(*direction)
    if not math.isfinite(size) or size == 0.0:
        direction, size = (0.0, 0.0, -1.0), 1.0
    if not 0.0 <= magnitude < math.inf:
        magnitude = EARTH_GRAVITY
    result: Matrix = np.asarray(direction, float) * (magnitude / size)
    return result


def layout(model: PhysicsModel, notices: Notices) -> Layout:
    """Classify the prims of a model, in linear time."""
    prims = model.prims.values()
    names = {*map(_TYPE, prims)}.union(*map(_SCHEMAS, prims))
    bodies, colliders, cuts = _classified(model, notices)
    places = Places(chain(bodies.values(), colliders.values()))
    result = Layout(model, names, places, Above(bodies, cuts))
    scenes = model.scenes if usd_physics.PhysicsScene.usd_name in names else {}
    for path, prim in scenes.items():
        result.gravity[path] = gravity_of(prim.schemas[usd_physics.PhysicsScene.usd_name])  # type: ignore[arg-type]
    if not result.gravity:
        result.gravity[""] = np.array([0.0, 0.0, -EARTH_GRAVITY])
        notices.add("SceneMissing", None, "There is no physics scene: earth gravity is used.")
    _enable_bodies(result, bodies, notices)
    if len(result.bodies) < len(bodies):
        result.owners = Above({path: body.prim for path, body in result.bodies.items()}, cuts)
    _share_colliders(result, colliders, cuts, notices)
    return result


def _classified(model: PhysicsModel, notices: Notices) -> tuple[dict[str, Prim], dict[str, Prim], set[str]]:
    """Bodies and rigid colliders by path, and the paths at which the parent's transform ends."""
    bodies, colliders, cuts = dict[str, Prim](), dict[str, Prim](), set[str]()
    in_instancers = model.in_instancers()
    for path, prim in model.prims.items():
        schemas = prim.schemas
        if path in in_instancers:
            if _BODY_NAME in schemas or _COLLIDER_NAME in schemas:
                text = f"{prim.display} is in the point instancer '{in_instancers[path]}': it is not simulated."
                notices.add("InInstancer", prim, text)
            continue
        if _BODY_NAME in schemas:
            bodies[path] = prim
        if prim.extras and deformables.kind_of(prim):
            notices.add("Deformable", prim, f"{prim.display} deforms: it is not simulated.")
        elif _COLLIDER_NAME in schemas:
            colliders[path] = prim
        if prim.resets_xform_stack:
            cuts.add(path)
    return bodies, colliders, cuts


def _enable_bodies(result: Layout, bodies: Mapping[str, Prim], notices: Notices) -> None:
    first, places = next(iter(result.gravity)), result.places
    apis: list[Any] = [prim.schemas[_BODY_NAME] for prim in bodies.values()]
    for (path, prim), api, (is_on, owners, moved), row in zip(
        bodies.items(), apis, map(_BODY, apis), places.in_order[: len(bodies)], strict=True
    ):
        # Asking for None first, not authored, is faster for thousands of bodies.
        if is_on is None or api.resolved("rigid_body_enabled"):
            scene = _scene(result, prim, owners, notices) if owners else first
            is_kinematic = moved is not None and bool(api.resolved("kinematic_enabled"))
            inside: list[Prim] = []
            result.bodies[path] = Body(prim, is_kinematic, scene, places, row, inside, inside)


def _share_colliders(result: Layout, colliders: Mapping[str, Prim], cuts: set[str], notices: Notices) -> None:
    """Give each collider to the body that it weighs on and to the one that it moves with; the others are static."""
    enabled = result.bodies
    by_mass = Above(result.owners.wanted) if cuts else result.owners
    for path, prim in colliders.items():
        # Most colliders are at or just below their body.
        schemas = prim.schemas
        heavy = enabled.get(path if _BODY_NAME in schemas else path[: path.rfind("/")])
        collider: Any = schemas[_COLLIDER_NAME]
        if heavy is not None and collider.collision_enabled is None and not cuts:
            heavy.inside.append(prim)
            if heavy.colliders is not heavy.inside:
                heavy.colliders.append(prim)
            continue
        if heavy is None and (above := by_mass.at(path)) is not None:
            heavy = enabled[above.path]
        collides = collider.collision_enabled is None or collider.resolved("collision_enabled")
        owner = heavy if collides and not cuts else result.body_of(path) if collides else None
        if heavy is not None:
            if heavy is not owner and heavy.colliders is heavy.inside:
                heavy.colliders = list(heavy.inside)
            heavy.inside.append(prim)
        if owner is not None:
            if owner is not heavy and owner.colliders is owner.inside:
                owner.colliders = list(owner.inside)
            if owner.colliders is not owner.inside:
                owner.colliders.append(prim)
        elif collides:
            result.statics[path] = _scene(result, prim, _static_owner(result.model, prim, collider), notices)


def _static_owner(model: PhysicsModel, prim: Prim, collider: usd_physics.CollisionAPI) -> tuple[str, ...] | None:
    """The simulation owner of a static collider; that of its disabled body, if it has one."""
    body = model.body_of(prim.path)
    api = None if body is None else body.get(usd_physics.RigidBodyAPI)
    return collider.simulation_owner if api is None else api.simulation_owner


def _scene(layout_: Layout, prim: Prim, owners: tuple[str, ...] | None, notices: Notices) -> str:
    first = next(iter(layout_.gravity))
    if not owners:
        return first
    known = [owner for owner in owners if owner in layout_.gravity]
    chosen = known[0] if known else first
    if len(owners) > 1 or not known:
        what = "names several physics scenes" if known else f"names {owners[0]}, which is not a physics scene"
        notices.add("SceneOwner", prim, f"{prim.display} {what}: {chosen or 'the default scene'} is used.")
    return chosen


@dataclass(frozen=True, slots=True)
class ContactMaterial:
    """Friction and restitution of a collider. material: path of the bound material, or "". friction: of what slides."""

    material: str
    friction: float
    restitution: float
    static_friction: float = DEFAULT_FRICTION


def contact_material(model: PhysicsModel, prim: Prim, notices: Notices) -> ContactMaterial:
    """The physics material of a collider: the one bound for physics, else that of the whole prim."""
    bound = prim.physics_binding if prim.physics_binding in prim.materials else next(reversed(prim.materials), "")
    material = model.prims.get(bound)
    api = None if material is None else material.get(usd_physics.MaterialAPI)
    if len({path for path in prim.materials if path}) > 1:
        notices.add("MaterialPerFace", prim, f"{prim.display} has several physics materials; '{bound}' is used.")
    if material is None or api is None:
        return ContactMaterial("", DEFAULT_FRICTION, DEFAULT_RESTITUTION)
    friction = api.resolved("dynamic_friction")
    static = api.resolved("static_friction")
    if static < friction:
        notices.add(
            "StaticFriction", material,
            f"{material.display} has static friction {static:g}, less than its dynamic friction {friction:g}: bodies "
            "at rest get the dynamic one, too.",
        )  # fmt: skip
    return ContactMaterial(bound, friction, api.resolved("restitution"), static)
