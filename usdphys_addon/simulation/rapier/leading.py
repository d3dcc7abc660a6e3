# SPDX-License-Identifier: GPL-3.0-or-later
"""How kinematic bodies move within a time step: their speed changes evenly, not in a jump at its start.

A pose is known for the end of each step. With a constant speed within the steps, all of a change of speed would fall
into the first step of the solver: a joint that bears 7 N read 29 N there, and then 0. So the way of a step is a curve
with the speed at the end of the last step at its start. The speed at its end is the slope of a polynomial through the
last poses. Both only as far as the speed has changed in the same way before, or changes so in the next step, where its
pose is known: a sudden start is one, and throws nothing faster than it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...core import frames
from ...core.frames import Matrix
from ..live_values import quaternion_product, rotation_vector

Pose = tuple[Matrix, Matrix]
#: m and rad in a time step: less is rounding.
STILL = 1e-7


@dataclass(slots=True)
class _Known:
    """Of a body, rows of a linear and an angular vector (2, 3): its mean speed in the step with the number `frame`, how
    much that had changed (None: unknown), and its speed at the end of the step; m/s and rad/s."""

    frame: int
    speed: Matrix
    change: Matrix | None
    end: Matrix


@dataclass(slots=True)
class Way:
    """start: pose. moved: displacement and turn (2, 3), m and rad, of the step; first, last: the same that its speeds
    at the start and at the end would give."""

    start: Pose
    moved: Matrix
    first: Matrix
    last: Matrix

    @property
    def moves(self) -> bool:
        """False for one that ends where it begins, but for rounding."""
        return max(float(np.abs(each).max()) for each in (self.moved, self.first, self.last)) > STILL

    def at(self, part: float) -> Pose:
        """The pose after a part of the step."""
        square, cube = part * part, part * part * part
        moved = (3.0 * square - 2.0 * cube) * self.moved
        moved += (cube - 2.0 * square + part) * self.first + (cube - square) * self.last
        position, rotation = self.start
        return position + moved[0], quaternion_product(frames.turn_by(moved[1]), rotation)


class Leading:
    """The ways of the kinematic bodies of a space, and what is known of their last steps."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def copy(self) -> Leading:
        """What is known is replaced and never changed in place."""
        made = Leading()
        made._known.update(self._known)
        return made

    def take(self, other: Leading) -> None:
        """Take over what another space knows."""
        self._known.update(other._known)

    def way(
        self, path: str, frame: int, seconds: float, start: Pose, goal: Pose, then: Pose | None = None
    ) -> Way:  # fmt: skip
        """The way of a body in the step with a number, which takes so many seconds, to a pose at its end.

        then: the pose a step later, if it is known.
        """
        moved = _moved(start, goal)
        speed = moved / seconds
        ahead = None if then is None else _moved(goal, then) / seconds - speed
        known = self._known.get(path)
        if known is None or known.frame != frame - 1:
            first, end, change = _begun(speed, ahead)
            self._known[path] = _Known(frame, speed, change, end)
            return Way(start, moved, first * seconds, end * seconds)
        change, first, end = speed - known.speed, speed.copy(), speed.copy()
        for row, now in enumerate(change):
            share, more = _going_on(
                now, None if known.change is None else known.change[row], None if ahead is None else ahead[row]
            )
            first[row] += share * (known.end[row] - first[row])
            end[row] += share * more
        self._known[path] = _Known(frame, speed, change, end)
        return Way(start, moved, first * seconds, end * seconds)


def _moved(start: Pose, goal: Pose) -> Matrix:
    """Displacement and turn (2, 3) between two poses, m and rad."""
    return np.array((goal[0] - start[0], rotation_vector(start[1], goal[1])))


def _likeness(now: Matrix, other: Matrix) -> float:
    """How far two changes (3,) of a speed are one and the same acceleration: from 0 to 1.

    The half of one counts as the whole: a motion that begins evenly gains half as much speed in its first step.
    """
    larger = max(float(now @ now), float(other @ other))
    return min(max(2.0 * float(now @ other) / larger, 0.0), 1.0) if larger > 0.0 else 0.0


def _going_on(now: Matrix, before: Matrix | None, ahead: Matrix | None) -> tuple[float, Matrix]:
    """(0 to 1: how far the speed at the start of a step is that at the end of the last one, how much more than its mean
    it is at the end).

    now: how much the mean speed has changed. before: the same a step ago. ahead: how much it changes until the next
    step.
    """
    share, more = 0.0, now / 2.0
    if before is not None:
        share = _likeness(now, before)
        if share == 1.0:
            more += (now - before) / 3.0
    if ahead is None:
        return share, np.asarray(more)
    later = _likeness(now, ahead)
    if share < later:
        # An acceleration begins with this step.
        return later, ahead / 2.0
    sizes = [float(np.linalg.norm(each)) for each in (now, ahead)]
    if share == later == 1.0 and before is not None and np.linalg.norm(ahead - now) <= np.linalg.norm(now - before):
        # It began with the last one, or changes less from now on.
        more = now / 6.0 + ahead / 3.0
    elif 2.0 * sizes[1] < sizes[0]:
        # It ends with this step.
        rest = 2.0 * sizes[1] / sizes[0]
        more = rest * more + (1.0 - rest) * ahead / 2.0
    return share, np.asarray(more)


def _begun(speed: Matrix, ahead: Matrix | None) -> tuple[Matrix, Matrix, Matrix | None]:
    """Speeds (2, 3) at the start and the end of the first step of a motion, and how much the speed changes in a step
    (None: unknown).

    speed: its mean in the step. ahead: how much it changes until the next step. What speeds up is taken to do so
    evenly, at most from rest; what brakes as well, if it does not stop at once.
    """
    if ahead is None:
        return speed, speed, None
    first, end, change = speed.copy(), speed.copy(), ahead.copy()
    for row, (now, more) in enumerate(zip(speed, ahead, strict=True)):
        square, along = float(now @ now), float(now @ more)
        share = 0.0 if square == 0.0 else min(max(1.0 + along / square, 0.0), 1.0)
        # More than three times the mean speed at its end would lead the body back before.
        share *= min(1.0, 4.0 * math.sqrt(square) / max(float(np.linalg.norm(more)), 1e-30))
        first[row] -= share * more / 2.0
        end[row] += share * more / 2.0
        change[row] *= share
        if float(first[row] @ now) < 0.0:
            first[row] = 0.0
    return first, end, change
