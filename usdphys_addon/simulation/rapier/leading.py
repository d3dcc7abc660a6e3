# SPDX-License-Identifier: GPL-3.0-or-later
"""How kinematic bodies move within a time step: their speed changes evenly, not in a jump at its start.

A pose is known for the end of each step. With a constant speed within the steps, all of a change of speed would fall
into the first step of the solver: a joint that bears 7 N read 29 N there, and then 0. So the way of a step is a curve
with the speed at the end of the last step at its start. The speed at its end is the slope of a polynomial through the
last poses. Both only as far as the speed has changed in the same way before: a sudden start is one, and throws nothing
faster than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core import frames
from ...core.frames import Matrix
from ..live_values import quaternion_product, rotation_vector

Pose = tuple[Matrix, Matrix]


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

    def way(self, path: str, frame: int, seconds: float, start: Pose, goal: Pose) -> Way:
        """The way of a body in the step with a number, which takes so many seconds, to a pose at its end."""
        moved = np.array((goal[0] - start[0], rotation_vector(start[1], goal[1])))
        speed = moved / seconds
        known = self._known.get(path)
        if known is None or known.frame != frame - 1:
            self._known[path] = _Known(frame, speed, None, speed)
            return Way(start, moved, moved, moved)
        change, first, end = speed - known.speed, speed.copy(), speed.copy()
        if known.change is not None:
            for row, (now, before) in enumerate(zip(change, known.change, strict=True)):
                larger = max(float(now @ now), float(before @ before))
                share = min(max(2.0 * float(now @ before) / larger, 0.0), 1.0) if larger > 0.0 else 0.0
                first[row] += share * (known.end[row] - first[row])
                end[row] += share * now / 2.0
                if share == 1.0:
                    end[row] += (now - before) / 3.0
        self._known[path] = _Known(frame, speed, change, end)
        return Way(start, moved, first * seconds, end * seconds)
