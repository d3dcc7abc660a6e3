# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set right after each step of the solver, of the bodies of one space: free flight, turns about a fixed point,
slow ways, and what is held back by the edges that it slides over.

Which bodies may need it is known from the build; which of them do is chosen after each time step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from ...core.schema import Vector
from ...core.ties import Ties
from ..weights import Weight
from . import flight, held_back, slow, tops, tuning

Flags = NDArray[np.bool_]


@dataclass(slots=True)
class May:
    """By row of the bodies of a space (n,), what may need to be set right.

    wobble: loose bodies with different moments. slow: what may hover or creep. held_back: what slides over edges.
    points: by row, those that turn about a fixed point.
    """

    wobble: Flags
    slow: Flags
    held_back: Flags
    points: Mapping[int, tops.Held]


@dataclass(slots=True)
class Chosen:
    """Rows of the bodies that are set right in the next time step, and what is kept from the last one.

    flying, turning, slow: rows. rests: by row, ways that were less than the precision of a place, m. fast_until (n,):
    the time step up to which a body may be held back.
    """

    fast_until: NDArray[np.int64]
    flying: list[int] = field(default_factory=list)
    turning: list[int] = field(default_factory=list)
    slow: list[int] = field(default_factory=list)
    rests: dict[int, Vector] = field(default_factory=dict)


class Noted(NamedTuple):
    """Bodies before a step of the solver."""

    fast: list[held_back.Before]
    steady: list[slow.Before]
    flying: flight.Flight | None
    about_points: list[Any]


class Corrections:
    """For the bodies of one space, by row."""

    def __init__(
        self, paths: Sequence[str], weights: Mapping[str, Weight], may: May, tied: Ties, sizes: NDArray[np.float64],
        radii: NDArray[np.float64], small_steps: int,
    ) -> None:  # fmt: skip
        """weights: of those that physics moves, by path. tied: these, by joints. sizes, radii (n,): m. small_steps: of
        the solver in one step, of the body that takes most."""
        self.may, self.chosen = may, Chosen(np.zeros(len(paths), np.int64))
        self._paths, self._weights, self._tied = paths, weights, tied
        self._sizes, self._radii, self._small_steps = sizes, np.maximum(radii, 0.0), small_steps
        self._may_turn = np.zeros(len(paths), bool)
        self._may_turn[list(may.points)] = True

    # ------------------------------------------------------------------ after a time step

    def watch_turns(self, turns: NDArray[np.float64], awake: Flags) -> None:
        """Choose what flies or turns about a point. turns (n,): rad, in the last time step."""
        self.chosen.flying = flight.chosen(turns, self.may.wobble & awake)
        self.chosen.turning = flight.chosen(turns, self._may_turn)

    def watch_fast(self, ways: NDArray[np.float64], turns: NDArray[np.float64] | float, steps: int, until: int) -> None:
        """Choose what may be held back. ways, turns (n,): m and rad, in the last time step. steps: of the solver in it.
        until: the time step up to which this holds."""
        fast = ways + self._radii * turns > held_back.LEAST * self._sizes * steps
        self.chosen.fast_until[fast & self.may.held_back] = until

    def watch_slow(
        self, positions: NDArray[np.float64], ways: NDArray[np.float64], steps: int, touching: Callable[[], set[str]]
    ) -> None:  # fmt: skip
        """Choose what is slow. positions (n, 3), ways (n,): m, after and in a time step of so many steps of the solver.

        touching: gives the paths of the bodies that touch something. These are left out, and those whose joints lead
        to one: contacts correct places, too.
        """
        if not self.may.slow.any():
            return
        rows = np.flatnonzero(slow.slow_rows(positions, ways, steps * self._small_steps) & self.may.slow).tolist()
        if rows:
            held = {self._tied.root(path) for path in touching() if path in self._weights}
            rows = [row for row in rows if self._tied.root(self._paths[row]) not in held]
        self.chosen.slow = rows

    # ------------------------------------------------------------------ in a step of the solver

    def noted(self, physics: PhysicsWorld, views: Sequence[Any], frame: int, ways: NDArray[np.float64]) -> Noted:
        """What has to be known before a step. views: the solver's bodies, by row. frame: number of the time step."""
        return Noted(
            held_back.noted((views[row], float(self._sizes[row]), float(self._radii[row]))
                            for row in self._fast_rows(frame, ways)),
            slow.noted((row, views[row]) for row in self.chosen.slow),
            flight.noted((self._paths[row], views[row], weight) for row, weight in self._moved(self.chosen.flying)),
            tops.noted(physics, ((self.may.points[row], views[row], weight)
                                 for row, weight in self._moved(self.chosen.turning))),
        )  # fmt: skip

    def go_on(
        self, noted: Noted, physics: PhysicsWorld, touched: Callable[[Iterable[str]], Collection[str]], gravity: Matrix,
        seconds: float,
    ) -> None:  # fmt: skip
        """Set right what a step of so many seconds has made. touched: gives those of some bodies that touch something,
        or are held."""
        if noted.flying is not None:
            noted.flying.go_on(touched(noted.flying.paths), seconds)
        if noted.about_points:
            paths = [each.held.path for each in noted.about_points]
            tops.go_on(noted.about_points, touched(paths), gravity, seconds)
        if noted.steady:
            slow.go_on(noted.steady, self.chosen.rests, seconds, self._small_steps)
        if noted.fast:
            held_back.go_on(physics, noted.fast, seconds)

    def saved(self) -> Chosen:
        """A copy of what is chosen."""
        return copy.deepcopy(self.chosen)

    def _fast_rows(self, frame: int, ways: NDArray[np.float64]) -> list[int]:
        """Rows of the bodies that what they slide over may hold back, the fastest of a crowd."""
        rows = np.flatnonzero(self.chosen.fast_until > frame)
        if len(rows) > tuning.CROWD:
            rows = rows[np.argsort(-ways[rows] / self._sizes[rows], kind="stable")[: tuning.CROWD]]
        return rows.tolist()

    def _moved(self, rows: Iterable[int]) -> Iterable[tuple[int, Weight]]:
        """Those of some rows that physics moves now, with their weights: what an animation leads has none."""
        for row in rows:
            weight = self._weights.get(self._paths[row])
            if weight is not None:
                yield row, weight
