# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that fly freely turn as their moments of inertia say.

The solver takes the gyroscopic torque of the start of each small step for the whole of it: a body that wobbles gains
energy, and turns over at another time. What no joint holds and nothing touches has a motion that needs no solver: its
turn is integrated anew, from where the step began.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
#: Part of a spin by which the solver may change its size beyond what its moments and damping do.
FREE = 0.05


class Flights:
    """The bodies of a space that may wobble in flight."""

    def __init__(self, weights: Sequence[Weight | None]) -> None:
        """weights: of the bodies of the space; None for those that do not count, such as jointed ones."""
        self._weights = weights
        self._uneven: NDArray[np.bool_] = np.array([
            weight is not None and 0.0 < min(weight.moments) < (1.0 - EVEN) * max(weight.moments) < math.inf
            for weight in weights
        ], bool)  # fmt: skip

    def choose(self, turns: NDArray[np.float64], awake: NDArray[np.bool_]) -> list[int]:
        """Rows of the bodies that turn. turns (n,): in the last time step, rad."""
        rows = np.flatnonzero(self._uneven & awake & (turns > LEAST))
        return sorted(map(int, rows[np.argsort(-turns[rows], kind="stable")[:MOST]]))

    def noted(self, rows: Iterable[int], views: Sequence[Any]) -> Before:
        """Bodies before a step of the solver. views: of all in the space."""
        chosen = [row for row in rows if not views[row].is_sleeping]
        return Before(chosen, [views[row] for row in chosen], [self._weights[row] for row in chosen])


class Before:
    """Bodies before a step of the solver: their axes, and their spins along these. rows: in the space."""

    def __init__(self, rows: list[int], bodies: list[Any], weights: list[Any]) -> None:
        self.rows, self._bodies, self._weights = rows, bodies, weights
        self._turns = _turns_of(bodies)
        self._spins = np.einsum("nji,nj->ni", self._turns, _spins_of(bodies))

    def go_on(self, touched: Sequence[bool], seconds: float) -> None:
        """Turn the bodies after a step of the solver of so many seconds. touched: of each, whether something did."""
        spins = np.einsum("nji,nj->ni", _turns_of(self._bodies), _spins_of(self._bodies))
        inertia = np.array([weight.inertia for weight in self._weights], float)
        momenta = [np.linalg.norm(np.einsum("nij,nj->ni", inertia, each), axis=1) for each in (self._spins, spins)]
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = momenta[1] / momenta[0]
        # What is damped loses momentum evenly; more is the doing of something else.
        free = (np.abs(kept - 1.0) < FREE) & ~np.array(touched, bool)
        if not free.any():
            return
        rows = np.flatnonzero(free)
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
