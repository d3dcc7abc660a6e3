# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow bodies go as far as their speed says, wherever in the world they are.

The solver adds the way of each small step to a place in single precision, which is known to 4 micrometres at 60 m from
the origin. A slide of 6 mm/s, which makes 1.6 micrometres in a small step, stood still there, and one of 20 mm/s went
27 % less far. So what moves steadily is moved on, or back, by what rounding may have taken or added along its way. What
is less than the precision of its place is kept for the next step. What touches something is left to the solver, which
corrects places there: idle cars on balls began to roll.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.schema import Vector

#: A body is slow if a small step moves it by less than so many times the precision of its place.
SLOW = 500.0
#: Part of a speed that may change in a step of the solver.
STEADY = 0.05
#: m/s: slower bodies stand still.
LEAST = 1e-5


class Before(NamedTuple):
    """A body before a step of the solver. row: in its space. center, velocity: of its centre of mass, m and m/s."""

    row: int
    body: Any
    center: Vector
    velocity: Vector


def slow_rows(
    positions: NDArray[np.float64], ways: NDArray[np.float64], small_steps: int
) -> NDArray[np.bool_]:  # fmt: skip
    """Which bodies are slow: positions (n, 3) and ways (n,), m, in a time step of so many small steps."""
    return np.asarray(ways < SLOW * small_steps * _precision(np.abs(positions).max(axis=1)))


def noted(bodies: Iterable[tuple[int, Any]]) -> list[Before]:
    """Rows and bodies before a step of the solver."""
    return [Before(row, body, body.center_of_mass.to_tuple(), body.linvel.to_tuple())
            for row, body in bodies if not body.is_sleeping]  # fmt: skip


def go_on(bodies: Iterable[Before], rests: dict[int, Vector], seconds: float, small_steps: int) -> None:
    """Move slow bodies after a step of the solver of so many seconds and small steps.

    rests: by row, what is kept for the next step, m.
    """
    for before in bodies:
        body = before.body
        velocity, center = body.linvel.to_tuple(), body.center_of_mass.to_tuple()
        speed, rest = math.hypot(*velocity), rests.pop(before.row, (0.0, 0.0, 0.0))
        if not LEAST < speed < math.inf or math.dist(velocity, before.velocity) > STEADY * speed:
            continue
        mean = [0.5 * (one + other) for one, other in zip(velocity, before.velocity, strict=True)]
        missing = [seconds * each - (now - then) for each, now, then in zip(mean, center, before.center, strict=True)]
        along = sum(one * other for one, other in zip(missing, velocity, strict=True)) / speed
        precision = float(_precision(np.array(max(map(abs, center)))))
        # Each coordinate is rounded by half of it at most, in each small step; more is the doing of a constraint.
        if abs(along) > 0.5 * math.sqrt(3.0) * precision * small_steps:
            continue
        moved = [along * part / speed for part in velocity]
        # Across its way, too: else it would go aside. As a whole, as what a joint does there is not what rounding does.
        if max(map(abs, missing)) <= 0.5 * precision * small_steps:
            moved = missing
        wanted = [each + kept + more for each, kept, more in zip(center, rest, moved, strict=True)]
        body.translation = tuple(
            own + goal - now for own, goal, now in zip(body.translation.to_tuple(), wanted, center, strict=True)
        )
        rests[before.row] = tuple(
            goal - now for goal, now in zip(wanted, body.center_of_mass.to_tuple(), strict=True)
        )  # fmt: skip


def _precision(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """m: between neighbouring numbers of single precision at these distances, m."""
    return np.spacing(np.minimum(distances, 1e30).astype(np.float32)).astype(float)
