# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that change while a world runs: how each reaches the world, and how a body is handed over between its
animation and physics."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import animation, frames, schema
from ..core.animation import Key
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.schema import Vector
from ..core.schemas import usd_physics
from .layout import gravity_of
from .switches import ROLES, is_led
from .vendor_settings import animates

if TYPE_CHECKING:
    from .world import World

#: Names and influences of the constraints of a body and of what is above it.
Ties = tuple[tuple[str, float], ...]
#: Frames of an animation from which the velocity of a body is known when physics takes it over.
_REMEMBERED = 3


def apply(world: World, prim: Prim, name: str, fields: Collection[str]) -> None:
    """Give a running world new values of a schema. name: with instance. fields: those that have changed."""
    value, path = prim.schemas[name], prim.path
    instance = schema.split_applied(name)[1]
    has_joint = path in world.joints
    if isinstance(value, usd_physics.DriveAPI):
        if has_joint:
            with suppress(KeyError):  # of what its joint holds fast, or does not have: it has no effect
                world.set_drive(path, instance, **{item.field: value.resolved(item.field) for item in value.attributes})
    elif isinstance(value, usd_physics.MaterialAPI):
        world.set_friction(
            path, *(value.resolved(one) for one in ("dynamic_friction", "restitution", "static_friction"))
        )
    elif isinstance(value, usd_physics.MassAPI):
        if value.resolved("mass") > 0.0 and world.weighs(path):
            world.set_mass(path, value.resolved("mass"))
    elif isinstance(value, usd_physics.Joint | usd_physics.LimitAPI):
        if has_joint and "joint_enabled" in fields:
            world.set_joint_enabled(path, bool(value.resolved("joint_enabled")))
        if has_joint and set(fields) - {"joint_enabled"}:
            world.set_joint_ranges(prim)
    elif isinstance(value, usd_physics.PhysicsScene):
        world.set_gravity(gravity_of(value), path)
    elif isinstance(value, usd_physics.CollisionAPI):
        world.set_collider_enabled(path, bool(value.resolved("collision_enabled")))
    elif name == "PhysxSurfaceVelocityAPI":
        world.set_surface_velocity(prim)


# --------------------------------------------------------------------------- hand-over


class _Way:
    """Where its animation has a body, the last few times that it was asked."""

    def __init__(self) -> None:
        self.moments: deque[float] = deque(maxlen=_REMEMBERED)
        self.places: deque[Matrix] = deque(maxlen=_REMEMBERED)
        self.turns: deque[Matrix] = deque(maxlen=_REMEMBERED)

    def note(self, moment: float, place: Matrix, turn: Matrix) -> None:
        if self.moments and not moment > self.moments[-1] + 1e-9:
            if moment < self.moments[-1] - 1e-9:
                self.__init__()  # type: ignore[misc]
            else:
                self.moments.pop(), self.places.pop(), self.turns.pop()
        self.moments.append(moment)
        self.places.append(np.array(place, float))
        self.turns.append(np.array(turn, float))

    def ahead(self, moment: float) -> tuple[Matrix, Matrix]:
        """Place and turn at a later moment, where the way goes on as it was: a parabola, and an even turn."""
        angular = np.array(self.velocity()[1])
        moments = np.array(self.moments)
        weights = [
            np.prod((moment - others) / (own - others))
            for own, others in ((own, moments[moments != own]) for own in moments)
        ]  # fmt: skip
        seconds = moment - self.moments[-1]
        turn = quaternion_product(frames.turn_by(angular * seconds), self.turns[-1])
        return np.array(weights) @ np.array(self.places), turn

    def velocity(self) -> tuple[Vector, Vector]:
        """Linear and angular velocity at the last moment: of the curve through the last three places."""
        if len(self.moments) < 2:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        weights = _slope(np.array(self.moments))
        last = self.turns[-1]
        turned = np.array([rotation_vector(turn, last) for turn in self.turns])
        linear, angular = weights @ np.array(self.places), -(weights @ turned)
        return _vector(linear), _vector(angular)


def _vector(numbers: Matrix) -> Vector:
    x, y, z = numbers.tolist()
    return x, y, z


def _slope(moments: Matrix) -> Matrix:
    """Weights (n,) of values at n moments, two or three, whose sum is the slope at the last of the curve through them.

    Of the polynomial of Lagrange.
    """
    last = moments[-1]
    weights = np.zeros(len(moments))
    for row, moment in enumerate(moments):
        others = np.delete(moments, row)
        below = np.prod(moment - others)
        weights[row] = sum(np.prod(last - np.delete(others, skipped)) for skipped in range(len(others))) / below
    return weights


def rotation_vector(first: Matrix, second: Matrix) -> Matrix:
    """The turn (3,), rad, in the world that leads from one quaternion (w first) to another."""
    a, b, c, d = (float(part) for part in first)
    w, x, y, z = (float(part) for part in second)
    # second * conjugate(first)
    real = w * a + x * b + y * c + z * d
    turn = np.array((-w * b + x * a - y * d + z * c, -w * c + y * a - z * b + x * d, -w * d + z * a - x * c + y * b))
    if real < 0.0:
        real, turn = -real, -turn
    size = float(np.linalg.norm(turn))
    return turn * (2.0 * np.arctan2(size, real) / size) if size > 1e-12 else 2.0 * turn


@dataclass(slots=True)
class _Blend:
    """How far a body is from its animation when that takes it: (3,), m, and a quaternion. left, steps: of time."""

    offset: Matrix
    turn: Matrix
    left: int
    steps: int


@dataclass(slots=True)
class HandOver:
    """Bodies of a world that animation and physics move in turn.

    blend: steps of time in which a body goes over to its animation. A body that nothing animates stays where it is.
    leaving: paths of the bodies that physics takes over after this step of time.
    """

    world: World
    blend: int = 0
    leaving: frozenset[str] = frozenset()
    _ways: dict[str, _Way] = field(default_factory=dict)
    _blends: dict[str, _Blend] = field(default_factory=dict)
    _ties: dict[str, Ties] = field(default_factory=dict)

    def note(
        self, moment: float, path: str, place: Matrix, turn: Matrix, ties: Ties = ()
    ) -> tuple[Matrix, Matrix]:  # fmt: skip
        """Where the animation has a body now: (3,), m, and (4,), w first. Returns where it is to be.

        ties: influences of what ties it to others. Where one ends as physics takes the body over, the body goes on as
        before: without the tie its animation is elsewhere.
        """
        way = self._ways.setdefault(path, _Way())
        if path in self.leaving and ties != self._ties.get(path, ties) and len(way.moments) > 1:
            place, turn = way.ahead(moment)
        else:
            self._ties[path] = ties
        way.note(moment, place, turn)
        return place, turn

    def forget(self) -> None:
        """The bodies were moved elsewhere: where they came from counts no more."""
        self._ways.clear()
        self._blends.clear()
        self._ties.clear()

    def switch(self, prim: Prim) -> None:
        """Let physics or animation move a body from here on, as its prim says."""
        path, row = prim.path, self.world.index(prim.path)
        led = is_led(prim)
        if led == bool(self.world.kinematic[row]):
            return
        way = self._ways.get(path)
        if not led:
            self._blends.pop(path, None)
            kept = self.world.coasting_velocity(path)
            self.world.release_body(path, *(kept or (way if way is not None else _Way()).velocity()))
            return
        self.world.lead_body(path)
        if way is not None and self.blend > 0:
            here, turn = self.world.positions[row], self.world.rotations[row]
            away = quaternion_product(turn, _conjugate(way.turns[-1]))
            self._blends[path] = _Blend(here - way.places[-1], away, self.blend, self.blend)

    def goal(self, path: str, place: Matrix, turn: Matrix) -> tuple[Matrix, Matrix]:
        """Where a body is to be in the next step of time, for which its animation has this place."""
        blend = self._blends.get(path)
        if blend is None:
            return place, turn
        blend.left -= 1
        if blend.left <= 0:
            del self._blends[path]
            return place, turn
        part = blend.left / blend.steps
        part = part * part * (3.0 - 2.0 * part)
        identity = np.array((1.0, 0.0, 0.0, 0.0))
        away = part * blend.turn * (1.0 if blend.turn[0] >= 0.0 else -1.0) + (1.0 - part) * identity
        return place + part * blend.offset, quaternion_product(away / np.linalg.norm(away), turn)


def _conjugate(turn: Matrix) -> Matrix:
    return np.asarray(turn) * (1.0, -1.0, -1.0, -1.0)


def quaternion_product(first: Matrix, second: Matrix) -> Matrix:
    """Products (..., 4) of quaternions (w, x, y, z)."""
    a, b, c, d = np.moveaxis(np.asarray(first, float), -1, 0)
    w, x, y, z = np.moveaxis(np.asarray(second, float), -1, 0)
    return np.stack(
        (a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x,
         a * z + b * y - c * x + d * w),
        axis=-1,
    )  # fmt: skip


# --------------------------------------------------------------------------- while it runs


def _is_aim(key: Key) -> bool:
    """True for the position that a drive has as its target."""
    return key.field == "target_position" and schema.split_applied(key.schema)[0] == usd_physics.DriveAPI.usd_name


class LiveValues:
    """The animated values of a model, handed to the world that was built of it.

    Numbers hold at the end of a step of time, as the places of animated bodies do, and positions that are targets of
    drives go there evenly within the step. Those that act over the step, such as speeds and accelerations, are those of
    its middle. A switch holds from the moment on at which it was set, which is the start of the next step.
    """

    def __init__(self, world: World, model: PhysicsModel, blend: int = 0, moment: float = 0.0) -> None:
        """blend: see `HandOver`. moment: s, of the start. The model is changed with the values."""
        self.world, self.model = world, model
        self.hand_over = HandOver(world, blend)
        for path in world.switching & set(world.paths):
            row = world.index(path)
            self.hand_over.note(moment, path, world.positions[row], world.rotations[row])
        self._switches: dict[Key, Any] = {}
        #: Of the end of the last step.
        self._ends: dict[Key, Any] = {}

    def end(self, key: Key) -> Any:
        """What a value is at the end of the last step of time; None if it is not there."""
        return self._ends.get(key, self.value(key))

    def value(self, key: Key) -> Any:
        """What a value is now; None if it is not there."""
        held = self.model.holder(key)
        return None if held is None else getattr(held.schema, key.field)

    def expect(self, values: Mapping[Key, Any]) -> None:
        """What is switched by the values at the end of the step, before anything is noted of it."""
        known = [key for key in values if key.field in ROLES and key.path in self.world.switching]
        staying = {key.path for key in known if values[key] != ROLES[key.field]}
        self.hand_over.leaving = frozenset(
            key.path for key in known if key.path not in staying and self.world.kinematic[self.world.index(key.path)]
        )

    def begin(self) -> None:
        """A step of time begins: what was switched before holds now."""
        switches, self._switches = self._switches, {}
        self._apply(switches)

    def take(self, values: Mapping[Key, Any]) -> None:
        """The values at the end of the step of time."""
        self.expect(values)
        known = {key: value for key, value in values.items() if self._animates(key)}
        self._switches = {key: value for key, value in known.items() if animation.is_switch(value)}
        numbers = {key: value for key, value in known.items() if key not in self._switches}
        middles = {
            key: animation.between(self.end(key), value, 0.5) if self._acts_over_time(key) else value
            for key, value in numbers.items()
        }  # fmt: skip
        starts = {key: self.end(key) for key, value in numbers.items() if _is_aim(key) and self.end(key) != value}
        self._ends.update(numbers)
        self._apply(middles)
        for key, start in starts.items():
            if start is not None and key.path in self.world.joints:
                with suppress(KeyError):  # as in `apply`
                    self.world.lead_drive(key.path, schema.split_applied(key.schema)[1], start)

    def jump(self, values: Mapping[Key, Any]) -> None:
        """The values at a moment that no step has led to."""
        self._ends.update(values)
        self.take(values)
        self.begin()

    def _acts_over_time(self, key: Key) -> bool:
        held = self.model.prims[key.path].schemas[key.schema]
        return schema.attribute_of(type(held), key.field).dimension.time < 0

    def _animates(self, key: Key) -> bool:
        held = self.model.holder(key)
        return held is not None and animates(key.schema, held.attribute)

    def hand_again(self) -> None:
        """Give a world that was reset all values as they are now."""
        self._switches.clear()
        self._ends.clear()
        self.hand_over.forget()
        fields: dict[tuple[str, str], set[str]] = {}
        for key in self.model.animated:
            if self._animates(key):
                fields.setdefault((key.path, key.schema), set()).add(key.field)
        for (path, name), changed in fields.items():
            self._give(self.model.prims[path], name, changed)

    def _apply(self, values: Mapping[Key, Any]) -> None:
        for prim, name, fields in self.model.put(values):
            self._give(prim, name, fields)

    def _give(self, prim: Prim, name: str, fields: set[str]) -> None:
        """Give the world the values of some fields of a prim."""
        if name != usd_physics.RigidBodyAPI.usd_name or fields.isdisjoint(ROLES):
            apply(self.world, prim, name, fields)
        elif prim.path in self.world.switching:
            self.hand_over.switch(prim)
