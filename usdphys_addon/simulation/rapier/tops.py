# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that one ball joint holds at a fixed point turn as Euler's equations say, as tops and gyroscopes do.

The solver lags behind the axis of a spin, and takes the gyroscopic torque of the start of each small step: a top
precesses too slowly, and droops. What nothing else touches or holds has a motion that needs no solver: its turn about
the point is integrated anew, from where the step began.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rapier3d import PhysicsWorld

from ...core import frames
from ...core.frames import Matrix
from ..weights import Weight
from .constraints import Constraint, isometry, matrix_of

#: rad: turn in a step of the integration, at most; and the number of these, at most.
FINE, MOST_STEPS = 0.15, 64
#: Part of its spin, or of the spin that gravity gives in a step, by which the solver's result may differ: a blow
#: differs by more.
FREE = 0.05
#: How far the point may be from where the joint holds it, relative to the distance of the centre of mass.
CLOSED = 1e-3


class Held(NamedTuple):
    """A body, the joint that holds it, and the side of the body in that joint: 0 or 1."""

    path: str
    joint: Constraint
    side: int


def held_at_points(constraints: Sequence[Constraint], weights: Mapping[str, Weight]) -> list[Held]:
    """The bodies that one ball joint, free to turn, holds on what does not move."""
    joints: dict[str, list[tuple[Constraint, int]]] = {}
    for item in constraints:
        for side, path in enumerate((item.facts.body0, item.facts.body1)):
            if path:
                joints.setdefault(path, []).append((item, side))
    found = []
    for path, ends in joints.items():
        joint, side = ends[0]
        facts = joint.facts
        is_alone = len(ends) == 1 and path in weights and not (facts.body0, facts.body1)[1 - side]
        if is_alone and _is_plain(joint) and _is_free(joint):
            found.append(Held(path, joint, side))
    return found


def _is_plain(item: Constraint) -> bool:
    facts = item.facts
    is_special = item.state.reduced or facts.breaks or facts.bond
    is_limited = facts.cone is not None or facts.distance is not None
    return not is_special and not is_limited and all(freedom.is_locked for freedom in facts.freedoms[:3])


def _is_free(item: Constraint) -> bool:
    """True while nothing drives or limits its turns."""
    turns = item.state.freedoms[3:]
    return item.active and not any(
        one.is_locked or one.is_limited or one.drive is not None or one.settings.is_special for one in turns
    )


class _Before(NamedTuple):
    """A body before a step of the solver. point (3,): of the joint, in the world; arm (3,): from there to the centre
    of mass, anchor (3,): the point, in the body; turn (3, 3) and spin (3,), along its own axes."""

    body: Any
    held: Held
    weight: Weight
    point: Matrix
    anchor: Matrix
    arm: Matrix
    turn: Matrix
    spin: Matrix


def noted(physics: PhysicsWorld, bodies: Iterable[tuple[Held, Any, Weight]]) -> list[_Before]:
    """Those of some bodies that turn freely about a point, before a step of the solver."""
    found = []
    for held, body, weight in bodies:
        if body.is_sleeping or body.linear_damping or body.angular_damping or not _is_free(held.joint):
            continue
        ends = held.joint.frames(physics)
        point = ends[1 - held.side][:3, 3]
        pose = matrix_of(body.position)
        anchor = (held.joint.facts.frame0, held.joint.facts.frame1)[held.side][:3, 3]
        arm, turn = np.array(weight.center) - anchor, pose[:3, :3]
        gap = float(np.linalg.norm(ends[held.side][:3, 3] - point))
        if gap <= CLOSED * float(np.linalg.norm(arm)) + 1e-5:
            found.append(_Before(body, held, weight, point, anchor, arm, turn, turn.T @ body.angvel.to_tuple()))
    return found


def go_on(before: Sequence[_Before], touched: Container[str], gravity: Matrix, seconds: float) -> None:
    """Turn bodies after a step of the solver of so many seconds. touched: the paths of those that something touches or
    holds. gravity (3,): m/s2."""
    for item in before:
        if item.held.path in touched:
            continue
        arm, mass = item.arm, item.weight.mass
        inertia = item.weight.inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        if float(np.linalg.eigvalsh(inertia)[0]) <= 0.0:
            continue
        pull = gravity * mass * item.body.gravity_scale
        turn, spin = _integrated(item.turn, item.spin, inertia, arm, pull, seconds)
        now = item.turn @ item.spin, turn @ spin
        solved = np.array(item.body.angvel.to_tuple())
        allowed = FREE * (float(np.linalg.norm(now[1])) + float(np.linalg.norm(now[1] - now[0])))
        if not float(np.linalg.norm(solved - now[1])) <= allowed:
            continue
        item.body.position = isometry(frames.transform(item.point - turn @ item.anchor, turn))
        item.body.angvel = tuple(now[1].tolist())
        item.body.linvel = tuple(np.cross(now[1], turn @ arm).tolist())


def _integrated(
    turn: Matrix, spin: Matrix, inertia: Matrix, arm: Matrix, pull: Matrix, seconds: float
) -> tuple[Matrix, Matrix]:
    """The turn (3, 3) and spin (3,) after a time. pull (3,): the weight, N."""
    count = min(max(math.ceil(float(np.linalg.norm(spin)) * seconds / FINE), 1), MOST_STEPS)
    step = seconds / count
    # Along the principal axes about the point, in plain numbers: arrays of three take five times as long.
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    (i, j, k), (a, b, c), (f, g, h) = moments.tolist(), (axes.T @ arm).tolist(), pull.tolist()

    def rates(state: list[float]) -> tuple[float, ...]:
        w, x, y, z, p, q, r = state
        # The weight along the axes of the body.
        u = f * (1.0 - 2.0 * (y * y + z * z)) + g * 2.0 * (x * y + w * z) + h * 2.0 * (x * z - w * y)
        v = f * 2.0 * (x * y - w * z) + g * (1.0 - 2.0 * (x * x + z * z)) + h * 2.0 * (y * z + w * x)
        t = f * 2.0 * (x * z + w * y) + g * 2.0 * (y * z - w * x) + h * (1.0 - 2.0 * (x * x + y * y))
        return (
            -0.5 * (x * p + y * q + z * r), 0.5 * (w * p + y * r - z * q), 0.5 * (w * q + z * p - x * r),
            0.5 * (w * r + x * q - y * p), (b * t - c * v + (j - k) * q * r) / i, (c * u - a * t + (k - i) * r * p) / j,
            (a * v - b * u + (i - j) * p * q) / k,
        )  # fmt: skip

    def ahead(state: list[float], rate: Sequence[float], seconds: float) -> list[float]:
        return [now + seconds * change for now, change in zip(state, rate, strict=True)]

    state = [*frames.quaternion_of(turn @ axes), *(axes.T @ spin).tolist()]
    for _ in range(count):
        first = rates(state)
        second = rates(ahead(state, first, 0.5 * step))
        third = rates(ahead(state, second, 0.5 * step))
        last = rates(ahead(state, third, step))
        mean = [(one + 2.0 * (two + three) + four) / 6.0
                for one, two, three, four in zip(first, second, third, last, strict=True)]  # fmt: skip
        state = ahead(state, mean, step)
    turned = np.array(state[:4]) / math.hypot(*state[:4])
    return frames.matrix_of(turned) @ axes.T, axes @ np.array(state[4:])
