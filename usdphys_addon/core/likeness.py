# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two models act alike, whatever their prims are called: what each format can hold of bodies and joints.

`core.proof` compares value by value, for files with the same schemas. Here are places, masses, ranges of colliders,
surfaces, and frames of joints, for files in other words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from . import frames, gprims, mass, summary
from .frames import Matrix
from .model import Mesh, PhysicsModel, Prim, SpherePoints
from .proof import OF_AXES, OF_DISTANCE, OF_SIZE, Mismatch, size_text
from .schemas import usd_geom, usd_physics
from .words import tally

#: Largest deviation of masses and moments, as a share; of friction and restitution.
_OF_MASS, _OF_SURFACE = 1e-3, 1e-4
_CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_STILL = np.eye(4)
_NOWHERE = np.full((2, 3), np.nan)
_FACTORS = ("static_friction", "dynamic_friction", "restitution")


#: count: all bodies and joints of the file are named. kind: which bodies are kinematic. origin: places and axes of
#: bodies, and not of their matter alone. surface: friction and restitution. frame: all axes of joints.
Kept = Literal["count", "kind", "origin", "surface", "frame"]
ALL: frozenset[Kept] = frozenset(get_args(Kept))


class Parts(NamedTuple):
    """Colliders that cover the same range in both models. path: whom a message names. shown, written: their paths."""

    path: str
    shown: Sequence[str]
    written: Sequence[str]


class Tie(NamedTuple):
    """A joint. path: in the file. is_swapped: its bodies have changed places."""

    path: str
    is_swapped: bool = False


@dataclass(slots=True)
class Pairing:
    """Which prim of a file stands for which of the scene. bodies, joints: paths in the file by those in the scene.

    parts: colliders. kept: what the format keeps besides, of `ALL`. to_scene: (4, 4), from the world of the file to
    that of the scene, by the path of the body in the scene: a format may hold a robot in another pose.
    """

    bodies: dict[str, str] = field(default_factory=dict)
    joints: dict[str, Tie] = field(default_factory=dict)
    parts: list[Parts] = field(default_factory=list)
    kept: frozenset[Kept] = ALL
    to_scene: dict[str, Matrix] = field(default_factory=dict)


def mismatches(shown: PhysicsModel, written: PhysicsModel, pairing: Pairing) -> Iterator[Mismatch]:
    """How what was written deviates from what is shown, where the format has words for it."""
    yield from _Likeness(shown, written, pairing).run()


#: What has been computed of equal shapes, with the shapes: they are found by their identity.
_Known = dict[tuple[int, bytes, str], tuple[object, Matrix | None]]


def bounds(prim: Prim, known: _Known | None = None, to_scene: Matrix | None = None) -> Matrix | None:
    """Smallest and largest corner (2, 3) of a collider in the world, m; None if it has no shape, or an endless one.

    to_scene: (4, 4), moves it first.
    """
    source: object = prim.get(usd_geom.Gprim) or (prim.mesh() if prim.mesh is not None else None)
    if source is None:
        return None
    world = np.asarray(prim.world if to_scene is None else to_scene @ prim.world, float)
    api = prim.get(usd_physics.MeshCollisionAPI)
    form = str(api.resolved("approximation")) if api is not None and isinstance(source, Mesh) else ""
    known = {} if known is None else known
    shares = _shares_of(prim)
    key = (id(source), world[:3, :3].tobytes(), f"{form}{shares}")
    if key not in known:
        known[key] = source, _range(source, world[:3, :3], form, shares)
    box = known[key][1]
    return None if box is None else box + world[:3, 3]


def _shares_of(prim: Prim) -> tuple[float, float]:
    """What the ends of a shape have of its radius, bottom and top: others than 1 where there are two radii."""
    radii = mass.taper_of(prim)
    largest = max(radii, default=0.0) if radii is not None else 0.0
    return (1.0, 1.0) if radii is None or not largest else (radii[0] / largest, radii[1] / largest)


def _range(source: object, linear: Matrix, form: str, shares: tuple[float, float]) -> Matrix | None:
    """Smallest and largest corner (2, 3) of a shape under a linear map (3, 3)."""
    if isinstance(source, usd_geom.Gprim):
        return _gprim_range(source, linear, shares)
    if isinstance(source, SpherePoints):
        if not len(source.centers):
            return None
        centers = source.centers @ linear.T
        reach = source.radii[:, None] * float(np.abs(frames.scale_of(linear)).max())
        return np.array([(centers - reach).min(axis=0), (centers + reach).max(axis=0)])
    assert isinstance(source, Mesh)
    points = np.asarray(source.points, float)
    if not len(points) or not np.isfinite(points).all():
        return None
    if form == "boundingCube":
        low, high = points.min(axis=0), points.max(axis=0)
        points = (low + high) / 2.0 + _CORNERS * (high - low) / 2.0
    if form == "boundingSphere":
        # Of an uneven scale, each program makes another ball.
        return None
    points = points @ linear.T
    return np.array([points.min(axis=0), points.max(axis=0)])


def _gprim_range(gprim: usd_geom.Gprim, linear: Matrix, shares: tuple[float, float]) -> Matrix | None:
    if frames.is_sheared(linear):
        return None  # as no simulator can do it, each format has a form of its own that is near
    scale = frames.scale_of(linear)
    turn = frames.rotation_of(linear)
    sizes = gprims.sizes(gprim, scale)
    if sizes.kind is usd_geom.Plane:
        return None
    if sizes.kind is usd_geom.Cube:
        reach = np.abs(turn) @ (np.asarray(sizes.edges, float) / 2.0)
        return np.array([-reach, reach])
    if sizes.kind is usd_geom.Sphere:
        return np.array([np.full(3, -sizes.radius), np.full(3, sizes.radius)])
    # What is mirrored is turned half around, so that its bottom is where its top would be.
    along = turn[:, sizes.spine] * (sizes.height / 2.0) * (-1.0 if frames.determinant(linear) < 0.0 else 1.0)
    is_round = sizes.kind is usd_geom.Capsule
    rim = sizes.radius * (1.0 if is_round else np.sqrt(np.maximum(1.0 - turn[:, sizes.spine] ** 2, 0.0)))
    bottom, top = (1.0, 0.0) if sizes.kind is usd_geom.Cone else shares
    ends = ((-along, bottom * rim), (along, top * rim))
    return np.array([
        np.min([end - reach for end, reach in ends], axis=0), np.max([end + reach for end, reach in ends], axis=0),
    ])  # fmt: skip


class _Matter(NamedTuple):
    """What is authored of the mass of a body; None is not. center, tensor: (3,), (3, 3) about it, in the world."""

    mass: float | None
    center: Matrix | None
    tensor: Matrix | None


class _Likeness:
    def __init__(self, shown: PhysicsModel, written: PhysicsModel, pairing: Pairing) -> None:
        self.shown, self.written, self.pairing = shown, written, pairing
        self._known: _Known = {}

    def run(self) -> Iterator[Mismatch]:
        yield from self._bodies()
        yield from self._ranges()
        if "surface" in self.pairing.kept and self.shown.materials:
            for parts in self.pairing.parts:
                yield from self._surface(parts)
        for path, tie in self.pairing.joints.items():
            yield from self._joint(path, tie)
        if "count" in self.pairing.kept:
            yield from self._surplus()

    def _to_scene(self, path: str) -> Matrix:
        return self.pairing.to_scene.get(path, _STILL)

    def _told(self, kind: str, path: str, place: str, text: str) -> Mismatch:
        prim = self.shown.prims[path]
        label = prim.label or prim.name
        return Mismatch(kind, place, label, text.format(f"'{label}'"))

    def _surplus(self) -> Iterator[Mismatch]:
        """Bodies and joints of the file that nothing in the scene stands for."""
        bodies, joints = set(self.pairing.bodies.values()), {tie.path for tie in self.pairing.joints.values()}
        for kind, known in (("bodies", bodies), ("joints", joints)):
            prims = getattr(self.written, kind).items()
            there = {path for path, prim in prims if kind != "bodies" or moves(prim)}
            if surplus := sorted(there - known):
                more = summary.counts(self.shown)[kind]
                yield Mismatch("count", surplus[0], "", f"it has {tally(len(there), kind)}, and Blender shows {more}.")

    # ------------------------------------------------------------------ bodies

    @cached_property
    def _colliders(self) -> dict[str, list[Prim]]:
        return mass.colliders_by_body(self.shown)

    def _bodies(self) -> Iterator[Mismatch]:
        there: dict[str, Prim] = {}
        for path, place in self.pairing.bodies.items():
            one, other = self.shown.prims[path], self.written.prims.get(place)
            kinds = _kind(one), _kind(other)
            if other is None or kinds[1] == "none":
                yield self._told("missing", path, place, "{} is no body in it.")
                continue
            if kinds[0] != kinds[1] and "kind" in self.pairing.kept:
                yield self._told("value", path, place, f"{{}} is {kinds[1]} in it, and {kinds[0]} here.")
            there[path] = other
            own = usd_physics.MassAPI.usd_name
            if kinds[0] == "dynamic" and (own in one.schemas or own in other.schemas):
                yield from self._mass(path, place)
        if "origin" in self.pairing.kept and there:
            yield from self._places(there)

    def _places(self, there: Mapping[str, Prim]) -> Iterator[Mismatch]:
        """Bodies whose origin or axes are elsewhere. there: of the file, by path in the scene."""
        here = np.array([self.shown.prims[path].world for path in there], float)
        places = np.array([prim.world for prim in there.values()], float)
        if self.pairing.to_scene:
            places = np.array([self._to_scene(path) for path in there]) @ places
        away = np.abs(here[:, :3, 3] - places[:, :3, 3]).max(axis=1)
        turned = np.abs(frames.rotations_of(here) - frames.rotations_of(places)).max(axis=(1, 2))
        is_away = ~(away <= OF_SIZE + OF_DISTANCE * np.abs(here[:, :3, 3]).max(axis=1))
        is_turned = ~(turned <= OF_AXES) & ~is_away
        paths_ = list(there)
        for number in np.flatnonzero(is_away | is_turned):
            path = paths_[number]
            text = f"{{}} is {away[number]:.4g} m away from its place." if is_away[number] else "{} is turned in it."
            yield self._told("place", path, self.pairing.bodies[path], text)

    def _mass(self, path: str, place: str) -> Iterator[Mismatch]:
        here, there = _matter(self.shown, path), _matter(self.written, place)
        if any(value is None and other is not None for value, other in zip(here, there, strict=True)):
            # What follows from densities and shapes.
            properties = mass.mass_properties(self.shown, path, self._colliders.get(path, []))
            world = self.shown.prims[path].world
            turn = frames.rotation_of(world)
            computed = (
                properties.mass,
                turn @ properties.center_of_mass + world[:3, 3],
                turn @ properties.inertia @ turn.T,
            )
            here = _Matter._make(own if own is not None else one for own, one in zip(here, computed, strict=True))
        # What no body can weigh is named as that, and is in no file.
        if (
            here.mass is not None
            and 0.0 < here.mass < math.inf
            and not _near(here.mass, there.mass, _OF_MASS * here.mass)
        ):
            said = "none" if there.mass is None else f"{there.mass:.6g} kg"
            yield self._told("mass", path, place, f"the mass of {{}} is {said} in it, and {here.mass:.6g} kg here.")
        to_scene = self._to_scene(path)
        if here.center is not None and there.center is not None:
            center = to_scene[:3, :3] @ there.center + to_scene[:3, 3]
            away = float(np.abs(here.center - center).max())
            reach = float(np.abs(here.center - self.shown.prims[path].world[:3, 3]).max())
            if not away <= OF_AXES * max(reach, 1e-2) + OF_DISTANCE * float(np.abs(here.center).max()):
                yield self._told("mass", path, place, f"the centre of mass of {{}} is {away:.4g} m away.")
        if here.tensor is not None and there.tensor is not None:
            tensor = to_scene[:3, :3] @ there.tensor @ to_scene[:3, :3].T
            if not np.abs(here.tensor - tensor).max() <= 2.0 * _OF_MASS * np.abs(here.tensor).max():
                yield self._told("mass", path, place, "the moments of inertia of {} are others in it.")

    # ------------------------------------------------------------------ colliders

    def _ranges(self) -> Iterator[Mismatch]:
        """Colliders that cover another range."""
        every, to_scene = self.pairing.parts, self.pairing.to_scene
        if not every:
            return
        here = np.array([self._range(self.shown, one.shown, None) for one in every], float)
        there = np.array([self._range(self.written, one.written, to_scene.get(one.path)) for one in every], float)
        sizes = [box[:, 1] - box[:, 0] for box in (here, there)]
        allowed = OF_SIZE * sizes[0].max(axis=1) + OF_DISTANCE * np.abs(here).max(axis=(1, 2))
        away = np.abs(here - there).max(axis=(1, 2))
        grown = np.abs(sizes[0] - sizes[1]).max(axis=1)
        known = ~np.isnan(here).any(axis=(1, 2))
        for number in np.flatnonzero(known & ~(away <= allowed)):
            parts, place = every[number], next(iter(every[number].written), "")
            if np.isnan(there[number]).any():
                if not self._is_endless(self.written, parts.written):
                    yield self._told("missing", parts.path, place, "{} has no collider in it.")
            elif grown[number] > allowed[number]:
                said, own = (size_text(size[number]) for size in sizes[::-1])
                text = f"the collider of {{}} measures {said} m in it, and {own} m here."
                yield self._told("shape", parts.path, place, text)
            else:
                text = f"the collider of {{}} is {away[number]:.4g} m away."
                yield self._told("place", parts.path, place, text)

    @staticmethod
    def _is_endless(model: PhysicsModel, colliders: Sequence[str]) -> bool:
        return any(path in model.prims and model.prims[path].type_name == "Plane" for path in colliders)

    def _range(self, model: PhysicsModel, colliders: Sequence[str], to_scene: Matrix | None) -> Matrix:
        """The corners (2, 3) of all that colliders cover; NaN without a shape, and with one that has no end."""
        prims = [prim for path in colliders if (prim := model.prims.get(path)) is not None]
        boxes = [bounds(prim, self._known, to_scene) for prim in prims]
        covered = [one for one in boxes if one is not None]
        if not covered or len(covered) < len(boxes):
            return _NOWHERE
        if len(covered) == 1:
            return covered[0]
        return np.array([np.min([one[0] for one in covered], axis=0), np.max([one[1] for one in covered], axis=0)])

    def _surface(self, parts: Parts) -> Iterator[Mismatch]:
        one = _material(self.shown, parts.shown)
        if one is None:
            return
        other = _material(self.written, parts.written) or usd_physics.MaterialAPI()
        for name in _FACTORS:
            here, there = (float(value.resolved(name)) for value in (one, other))
            here = min(max(here, 0.0), 1.0) if name == "restitution" else max(here, 0.0)
            if not _near(here, there, _OF_SURFACE * max(here, 1.0)):
                words = name.replace("_", " ")
                yield self._told("material", parts.path, next(iter(parts.written), ""),
                                 f"the {words} of {{}} is {there:.4g} in it, and {here:.4g} here.")  # fmt: skip

    # ------------------------------------------------------------------ joints

    def _joint(self, path: str, tie: Tie) -> Iterator[Mismatch]:
        prim, other = self.shown.prims[path], self.written.prims.get(tie.path)
        one, two = prim.get(usd_physics.Joint), other.get(usd_physics.Joint) if other is not None else None
        if one is None or other is None or two is None:
            yield self._told("missing", path, tie.path, "{} is no joint in it.")
            return
        for side in (0, 1):
            other_side = 1 - side if tie.is_swapped else side
            wanted = self.pairing.bodies.get(_body_of(self.shown, one, side))
            if wanted is not None and wanted != _body_of(self.written, two, other_side):
                yield self._told("joint", path, tie.path, f"{{}} holds another body {side}.")
            here = _frame(self.shown, one, side)
            there = _frame(self.written, two, other_side)
            if here is None or there is None or not np.isfinite(here).all():
                continue
            target = (getattr(one, f"body{side}") or ("",))[0]
            there = self._to_scene(target) @ there
            away = float(np.abs(here[:3, 3] - there[:3, 3]).max())
            reach = float(np.linalg.norm(one.resolved(f"local_pos{side}")))
            if not away <= 1e-4 * max(reach, 1e-2) + 2.0 * OF_DISTANCE * float(np.abs(here[:3, 3]).max()):
                yield self._told("joint", path, tie.path, f"the anchor of {{}} on body {side} is {away:.4g} m away.")
            elif not self._axes_apart(here, there, prim, other) <= OF_AXES:
                yield self._told("joint", path, tie.path, f"the axes of {{}} on body {side} point elsewhere.")

    def _axes_apart(self, here: Matrix, there: Matrix, prim: Prim, other: Prim) -> float:
        """How far the axes of two joint frames are apart. Of a hinge or a slide, only its axis counts."""
        axes = [
            str(value.resolved("axis")) if (value := one.get(usd_physics.Joint)) is not None and _has_axis(one) else ""
            for one in (prim, other)
        ]  # fmt: skip
        if all(axes):
            columns = [frame[:3, "XYZ".index(axis)] for frame, axis in zip((here, there), axes, strict=True)]
            # Some formats turn the axis, with the limits, where bodies change places.
            apart = float(np.abs(columns[0] - columns[1]).max())
            return apart if "frame" in self.pairing.kept else min(apart, float(np.abs(columns[0] + columns[1]).max()))
        is_kept = "frame" in self.pairing.kept and prim.type_name == other.type_name
        return float(np.abs(here[:3, :3] - there[:3, :3]).max()) if is_kept else 0.0


def _has_axis(prim: Prim) -> bool:
    return prim.type_name in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")


def _near(one: float, other: float | None, allowed: float) -> bool:
    return other is not None and abs(one - other) <= allowed


def _kind(prim: Prim | None) -> str:
    body = prim.get(usd_physics.RigidBodyAPI) if prim is not None else None
    if body is None or not body.resolved("rigid_body_enabled"):
        return "none"
    return "kinematic" if body.resolved("kinematic_enabled") else "dynamic"


def moves(prim: Prim) -> bool:
    """True for a body that is enabled; others stand still, as if they were none."""
    return _kind(prim) != "none"


def _matter(model: PhysicsModel, path: str) -> _Matter:
    prim = model.prims[path]
    own = prim.get(usd_physics.MassAPI)
    if own is None:
        return _Matter(None, None, None)
    turn = frames.rotation_of(prim.world)
    value, center, moments = (own.decided(name) for name in ("mass", "center_of_mass", "diagonal_inertia"))
    if center is not None:
        center = turn @ (np.asarray(center) * frames.scale_of(prim.world)) + prim.world[:3, 3]
    tensor = None
    if moments is not None:
        axes = own.decided("principal_axes") or frames.IDENTITY_ROTATION
        tensor = turn @ mass.inertia_tensor(moments, axes) @ turn.T
    return _Matter(value, center, tensor)


def _material(model: PhysicsModel, colliders: Sequence[str]) -> usd_physics.MaterialAPI | None:
    """The surface of the first of some colliders: what is bound to it as a whole, or to a prim above it."""
    for path in colliders[:1]:
        prim = model.prims.get(path)
        for one in (prim, *model.ancestors(path)) if prim is not None else ():
            bound = one.physics_binding or (one.materials[-1] if one.materials else "") if one is not None else ""
            if bound:
                material = model.prims.get(bound)
                return material.get(usd_physics.MaterialAPI) if material is not None else None
    return None


def _body_of(model: PhysicsModel, joint: usd_physics.Joint, side: int) -> str:
    """Path of the body that a side of a joint holds; empty for the world."""
    target = (getattr(joint, f"body{side}") or ("",))[0]
    owner = model.body_of(target) if target else None
    return owner.path if owner is not None else ""


def _frame(model: PhysicsModel, joint: usd_physics.Joint, side: int) -> Matrix | None:
    """World frame (4, 4) of a side of a joint; None if the model does not know where its body is."""
    target: Sequence[str] = getattr(joint, f"body{side}") or ()
    position, rotation = joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
    if not target:
        return frames.world_frame(None, position, rotation)
    prim = model.prims.get(target[0])
    return None if prim is None else frames.world_frame(prim.world, position, rotation)
