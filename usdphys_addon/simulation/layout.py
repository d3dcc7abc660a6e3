# SPDX-License-Identifier: GPL-3.0-or-later
"""Classifies prims for a simulation: moving bodies, their colliders, static colliders, and the scene of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.rules.base import Above
from ..core.schema import Quaternion
from ..core.schemas import usd_physics
from .notices import Notices

EARTH_GRAVITY = 9.81
#: A scale that is one of these ratios of length units, to SAME_RATIO, converts from one to another.
_METERS = (1e-3, 1e-2, 0.1, 1.0, 1e3, 0.0254, 0.3048)
UNIT_RATIOS = tuple(sorted({first / second for first in _METERS for second in _METERS} - {1.0, 10.0, 0.1, 12.0}))
SAME_RATIO = 1e-4
#: Without a bound material: the defaults of PhysX.
DEFAULT_FRICTION, DEFAULT_RESTITUTION = 0.5, 0.0


@dataclass(slots=True)
class Body:
    """An enabled rigid body: position (3,), rotation (3, 3), and stretch (3, 3), the scale and shear of its prim.

    The linear part of the prim's world matrix is rotation @ stretch. scene: path of its physics scene, or "".
    colliders: enabled colliders that move with it. inside: all colliders whose nearest enabled body it is, ignoring
    resets of the transform stack; candidates for its mass.
    """

    prim: Prim
    is_kinematic: bool
    scene: str
    position: Matrix
    rotation: Matrix
    quaternion: Quaternion
    stretch: Matrix
    colliders: list[Prim] = field(default_factory=list)
    inside: list[Prim] = field(default_factory=list)

    @property
    def pose(self) -> Matrix:
        """(4, 4) without scale."""
        return frames.transform(self.position, self.rotation)

    @property
    def velocity_scale(self) -> float:
        """Factor of the body's velocity: 1, or its scale if that converts length units, as a root prim's may."""
        scale = frames.scale_of(self.stretch)
        if not frames.is_uniform(np.abs(scale)):
            return 1.0
        size = float(abs(scale[0]))
        return size if any(abs(size / ratio - 1.0) < SAME_RATIO for ratio in UNIT_RATIOS) else 1.0


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

    worlds (n, 4, 4): world matrices of the prims. positions (n, 3), rotations (n, 3, 3), quaternions (n, 4), w first,
    stretches (n, 3, 3): scale and shear; the linear part of a world matrix is rotation @ stretch.
    """

    def __init__(self, prims: Iterable[Prim]) -> None:
        listed = list(prims)
        self._rows = {prim.path: row for row, prim in enumerate(listed)}
        # Of twice the speed of np.array for thousands of matrices.
        worlds = np.concatenate([prim.world for prim in listed]) if listed else np.zeros((0, 4))
        self.worlds: Matrix = worlds.astype(float).reshape(-1, 4, 4)
        self.positions: Matrix = self.worlds[:, :3, 3]
        self.rotations: Matrix = frames.rotations_of(self.worlds)
        self.quaternions: Matrix = frames.quaternions_of(self.rotations)
        self.stretches: Matrix = self.rotations.swapaxes(1, 2) @ self.worlds[:, :3, :3]

    def rows(self, paths: Iterable[str]) -> list[int]:
        """Rows of prims in the arrays."""
        return [self._rows[path] for path in paths]

    def __getitem__(self, path: str) -> RigidPose:
        row = self._rows[path]
        return RigidPose(self.positions[row], self.rotations[row], _quaternion(self.quaternions[row].tolist()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _quaternion(numbers: list[float]) -> Quaternion:
    w, x, y, z = numbers
    return w, x, y, z


@dataclass(slots=True)
class Layout:
    """bodies: by path, in model order. statics: scene by path of static collider. gravity: (3,), m/s2, by scene; the
    first scene is the default. owners: finds the enabled body of a path. places: by path of bodies and colliders."""

    model: PhysicsModel
    gravity: dict[str, Matrix] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    owners: Above = field(default_factory=lambda: Above({}))
    places: Places = field(default_factory=lambda: Places(()))

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
    result = Layout(model)
    for path, prim in model.scenes.items():
        result.gravity[path] = gravity_of(prim.schemas[usd_physics.PhysicsScene.usd_name])  # type: ignore[arg-type]
    if not result.gravity:
        result.gravity[""] = np.array([0.0, 0.0, -EARTH_GRAVITY])
        notices.add("SceneMissing", None, "There is no physics scene: earth gravity is used.")
    bodies, colliders = model.bodies, model.colliders
    result.places = places = Places({**bodies, **colliders}.values())
    # The bodies are the first rows.
    for (path, prim), position, rotation, quaternion, stretch in zip(
        bodies.items(), places.positions, places.rotations, places.quaternions.tolist(), places.stretches, strict=False
    ):
        api = prim.get(usd_physics.RigidBodyAPI)
        if api is None or not api.resolved("rigid_body_enabled"):
            continue
        scene = _scene(result, prim, api.simulation_owner, notices)
        is_kinematic = bool(api.resolved("kinematic_enabled"))
        result.bodies[path] = Body(prim, is_kinematic, scene, position, rotation, tuple(quaternion), stretch)
    cuts = {path for path, prim in model.prims.items() if prim.resets_xform_stack}
    result.owners = Above({path: body.prim for path, body in result.bodies.items()}, cuts)
    by_mass = Above(result.owners.wanted) if cuts else result.owners
    for path, prim in colliders.items():
        heavy = by_mass.at(path)
        owner = None if heavy is None else result.bodies[heavy.path]
        if owner is not None:
            owner.inside.append(prim)
        collider = prim.get(usd_physics.CollisionAPI)
        if collider is None or not collider.resolved("collision_enabled"):
            continue
        if cuts:
            owner = result.body_of(path)
        if owner is not None:
            owner.colliders.append(prim)
        else:
            result.statics[path] = _scene(result, prim, _static_owner(model, prim, collider), notices)
    return result


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
        what = (
            "has several simulation owners"
            if known
            else f"has the simulation owner {owners[0]}, which is not a physics scene"
        )
        notices.add("SceneOwner", prim, f"{prim.display} {what}: {chosen or 'the default scene'} is used.")
    return chosen


@dataclass(frozen=True, slots=True)
class ContactMaterial:
    """Friction and restitution of a collider. material: path of the bound material, or ""."""

    material: str
    friction: float
    restitution: float


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
    if static != friction:
        notices.add(
            "StaticFriction", material,
            f"{material.display} has static friction {static:g} and dynamic friction {friction:g}; the dynamic one "
            "holds resting bodies, too.",
        )  # fmt: skip
    return ContactMaterial(bound, friction, api.resolved("restitution"))
