# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that fly freely turn as their moments of inertia say.

The solver takes the gyroscopic torque of the start of each small step for the whole of it: a body that wobbles gains
energy, and turns over at another time. What no joint holds and nothing touches has a motion that needs no solver: its
turn is integrated anew, from where the step began.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import frames
from ...core.frames import Matrix
from ..weights import Weight
from .constraints import isometry
from .loads import places

#: Bodies, at most, that are looked at in a step: those that turn most.
MOST = 32
#: rad: turn in a time step from which on a body is looked at.
LEAST = 1e-3
#: Of moments that count as equal, their difference relative to the largest.
EVEN = 1e-4
#: rad: turn in a step of the integration, at most; and the number of these, at most.
FINE, MOST_STEPS = 0.02, 64
#: Part of its angular momentum that a body may lose or gain in a step: damping takes less, a blow gives more.
FREE = 0.05


def may_wobble(weight: Weight | None) -> bool:
    """True for a body whose spin changes by itself: one whose moments of inertia differ."""
    if weight is None:
        return False
    least, most = min(weight.moments), max(weight.moments)
    return 0.0 < least < (1.0 - EVEN) * most < math.inf


def chosen(turns: NDArray[np.float64], looked_at: NDArray[np.bool_]) -> list[int]:
    """Rows of the bodies that turn. turns (n,): in the last time step, rad. looked_at (n,): those that may wobble."""
    rows = np.flatnonzero(looked_at & (turns > LEAST))
    return sorted(map(int, rows[np.argsort(-turns[rows], kind="stable")[:MOST]]))


def noted(bodies: Iterable[tuple[str, Any, Weight]]) -> Flight | None:
    """Bodies, by path, before a step of the solver; None if all of them sleep."""
    awake = [each for each in bodies if not each[1].is_sleeping]
    return Flight(awake) if awake else None


class Flight:
    """Bodies before a step of the solver: their axes, and their spins along these."""

    def __init__(self, flying: Sequence[tuple[str, Any, Weight]]) -> None:
        self.paths = [path for path, _, _ in flying]
        self._bodies = [body for _, body, _ in flying]
        self._weights = [weight for _, _, weight in flying]
        self._turns = _turns_of(self._bodies)
        self._spins = np.einsum("nji,nj->ni", self._turns, _spins_of(self._bodies))

    def go_on(self, touched: Container[str], seconds: float) -> None:
        """Turn the bodies after a step of the solver of so many seconds. touched: the paths of those that something
        has touched or held."""
        spins = np.einsum("nji,nj->ni", _turns_of(self._bodies), _spins_of(self._bodies))
        inertia = np.array([weight.inertia for weight in self._weights], float)
        momenta = [np.linalg.norm(np.einsum("nij,nj->ni", inertia, each), axis=1) for each in (self._spins, spins)]
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = momenta[1] / momenta[0]
        # What is damped loses momentum evenly; more is the doing of something else.
        free = (np.abs(kept - 1.0) < FREE) & [path not in touched for path in self.paths]
        rows = np.flatnonzero(free)
        if not len(rows):
            return
        turned, later = _integrated(self._spins[rows], inertia[rows], seconds)
        later *= kept[rows, None]
        for number, row in enumerate(rows.tolist()):
            body, turn = self._bodies[row], self._turns[row] @ turned[number]
            middle = np.array(body.center_of_mass.to_tuple()) - turn @ np.array(self._weights[row].center)
            body.position = isometry(frames.transform(middle, turn))
            body.angvel = tuple((turn @ later[number]).tolist())


def _integrated(spins: Matrix, inertia: Matrix, seconds: float) -> tuple[Matrix, Matrix]:
    """The turns (n, 3, 3) of free bodies in a time, and their spins (n, 3) after it, along their own axes."""
    inverse = np.linalg.inv(inertia)
    fastest = float(np.linalg.norm(spins, axis=1).max())
    count = min(max(math.ceil(fastest * seconds / FINE), 1), MOST_STEPS)
    step = seconds / count

    def rates(turn: Matrix, spin: Matrix) -> tuple[Matrix, Matrix]:
        momentum = np.einsum("nij,nj->ni", inertia, spin)
        return turn @ _crosses(spin), np.einsum("nij,nj->ni", inverse, np.cross(momentum, spin))

    turn = np.tile(np.eye(3), (len(spins), 1, 1))
    for _ in range(count):
        first = rates(turn, spins)
        second = rates(turn + 0.5 * step * first[0], spins + 0.5 * step * first[1])
        third = rates(turn + 0.5 * step * second[0], spins + 0.5 * step * second[1])
        last = rates(turn + step * third[0], spins + step * third[1])
        turn, spins = (
            now + step / 6.0 * (one + 2.0 * two + 2.0 * three + four)
            for now, one, two, three, four in zip((turn, spins), first, second, third, last, strict=True)
        )
    return turn, spins


def _crosses(vectors: Matrix) -> Matrix:
    """Matrices (n, 3, 3) that multiply as the cross product with vectors (n, 3)."""
    made = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    made[:, 0, 1], made[:, 0, 2], made[:, 1, 2] = -z, y, -x
    return made - made.transpose(0, 2, 1)


def _turns_of(bodies: Sequence[Any]) -> Matrix:
    return np.asarray(places([body.position.to_bytes() for body in bodies])[1], float)


def _spins_of(bodies: Sequence[Any]) -> Matrix:
    return np.array([body.angvel.to_tuple() for body in bodies], float).reshape(-1, 3)
