# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of a world: what moves, what is high, and both over the last seconds."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core import frames

if TYPE_CHECKING:
    from .engine import Engine

#: Seconds of simulation that are kept, and the most values.
SECONDS, MOST = 10.0, 1000

Floats = NDArray[np.float64]


class Moving(Protocol):
    """What is asked of a world."""

    positions: Floats
    rotations: Floats
    awake: NDArray[np.bool_]
    spaces: tuple[Engine, ...]
    paths: tuple[str, ...]
    unstable: dict[str, str]
    time_step: float

    @property
    def time(self) -> float: ...

    def velocities(self) -> tuple[Floats, Floats]: ...


class Energy(NamedTuple):
    """At a moment, s: the kinetic energy of the dynamic bodies that are awake, and the energy of height of all, J.

    The second is 0 where the centres of mass are at the origin. What springs and drives hold is in neither.
    """

    seconds: float
    kinetic: float
    height: float


class _Inertias(NamedTuple):
    """Of the dynamic bodies of an engine: rows in the world, masses (n,), centres (n, 3), tensors (n, 3, 3).

    numbers: identities of their weights, which are replaced where an edit changes them, and not changed.
    """

    numbers: list[int]
    rows: NDArray[np.int64]
    masses: Floats
    centres: Floats
    tensors: Floats


class Energies:
    """Call `note` after each step of the world. first_unstable: s, when a body first was; None if none was."""

    def __init__(self, world: Moving) -> None:
        self._world = world
        self._rows = {path: row for row, path in enumerate(world.paths)}
        self._known: dict[int, _Inertias] = {}
        self.values: deque[Energy] = deque(maxlen=min(MOST, round(SECONDS / world.time_step) + 1))
        self.first_unstable: float | None = None

    def now(self) -> Energy:
        """Of all physics scenes together."""
        world = self._world
        linear, angular = world.velocities()
        kinetic = height = 0.0
        for number, engine in enumerate(world.spaces):
            known = self._inertias(number, engine)
            turns = frames.matrices_of(world.rotations[known.rows])
            centres = world.positions[known.rows] + np.einsum("nij,nj->ni", turns, known.centres)
            height -= float(known.masses @ (centres @ np.asarray(engine.gravity, float)))
            spins = np.einsum("nji,nj->ni", turns, angular[known.rows])
            twice = known.masses * (linear[known.rows] ** 2).sum(axis=1)
            twice += np.einsum("ni,nij,nj->n", spins, known.tensors, spins)
            kinetic += 0.5 * float(twice[world.awake[known.rows]].sum())
        return Energy(world.time, kinetic, height)

    def note(self) -> None:
        """Keep the energy after the time step that the world has made."""
        self.values.append(self.now())
        if self.first_unstable is None and self._world.unstable:
            self.first_unstable = self._world.time

    def forget(self) -> None:
        """The world is at its start again."""
        self.values.clear()
        self.first_unstable = None

    def _inertias(self, number: int, engine: Engine) -> _Inertias:
        weights = engine.weights
        numbers = list(map(id, weights.values()))
        known = self._known.get(number)
        if known is None or known.numbers != numbers:
            each = list(weights.values())
            known = self._known[number] = _Inertias(
                numbers, np.array([self._rows[path] for path in weights], np.int64),
                np.array([weight.mass for weight in each], float),
                np.array([weight.center for weight in each], float).reshape(-1, 3),
                np.array([weight.inertia for weight in each], float).reshape(-1, 3, 3),
            )  # fmt: skip
        return known
