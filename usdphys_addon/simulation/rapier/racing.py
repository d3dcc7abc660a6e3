# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with a largest speed: slowed down after each step of the solver once they come near it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Time steps after which all of these bodies are looked at: a turn in a time step does not tell one turn from two.
LOOK_AT_ALL = 4


class Racing:
    """The bodies of a space that have a largest speed."""

    def __init__(self, limits: Sequence[tuple[int, float, float]], time_step: float) -> None:
        """limits: row of a body, m/s, rad/s."""
        self._limits, self._half = list(limits), 0.5 * time_step
        #: Of these, those that are looked at after each step of the solver.
        self._near = self._limits

    def __bool__(self) -> bool:
        return bool(self._limits)

    def state(self) -> list[tuple[int, float, float]]:
        """For `load`."""
        return list(self._near)

    def load(self, state: Sequence[tuple[int, float, float]]) -> None:
        """Go on from where `state` was taken."""
        self._near = list(state)

    def watch(
        self, views: Sequence[Any], ways: NDArray[np.float64], turns: NDArray[np.float64], frame: int
    ) -> None:  # fmt: skip
        """Slow down bodies beyond their largest speeds, and choose those that come near them.

        views: the solver's bodies. ways, turns (n,): m and rad, in the last time step. frame: its number.
        """
        if not self._limits:
            return
        rows, speeds, spins = np.array(self._limits, float).reshape(-1, 3).T
        chosen = rows.astype(int)
        near = (ways[chosen] > self._half * speeds) | (turns[chosen] > np.minimum(self._half * spins, 1.0))
        self._near = [self._limits[number] for number in np.flatnonzero(near).tolist()]
        _slow_down(views, self._near if frame % LOOK_AT_ALL else self._limits)

    def slow_down(self, views: Sequence[Any]) -> None:
        """Slow down those that came near their largest speeds."""
        _slow_down(views, self._near)


def _slow_down(views: Sequence[Any], watched: Sequence[tuple[int, float, float]]) -> None:
    for row, speed, spin in watched:
        body = views[row]
        for name, most in (("linvel", speed), ("angvel", spin)):
            now = getattr(body, name)
            if (size := now.norm()) > most:
                setattr(body, name, tuple(part * most / size for part in now.to_tuple()))
