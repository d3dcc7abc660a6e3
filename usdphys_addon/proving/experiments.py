# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a motion depends on its start, and where another one parts from it.

A deviation of a body counts in metres: of its place, and of its edge as it turns.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..core import frames
from ..core.model import PhysicsModel
from ..core.words import counted
from ..simulation.engine import PREVIEW
from .runs import GLIMPSE, STEP, Floats, Motion, Start, angles, radius_of, simulated

#: Distances (m) of starts that measure how sensitive a motion is. Single precision does not see the first one.
ASIDE = (1e-9, 1e-6, 1e-5)
#: m: a motion that depends so much on its start is chaos, and is compared no further.
CHAOS = 0.005
#: A deviation counts above so many times that of the starts aside, and above this share of the radius of the body.
TIMES, LEAST = 20.0, 2e-3
#: A body parts where it is further away than what is allowed by this factor at any time.
PARTED = 1.5
#: m/s by which single precision moves a slow body, whose place is rounded in every step of the solver.
ROUNDING = 1e-4


def displaced(model: PhysicsModel, distance: float) -> PhysicsModel:
    """A copy whose dynamic bodies start elsewhere, each moved (m) and turned (rad) in its own direction."""
    result = model.copied()
    moved: set[str] = set()
    for number, path in enumerate(model.bodies):
        if path in moved:
            continue
        place = model.prims[path].world[:3, 3]
        change = np.eye(4)
        change[:3, :3] = frames.matrix_of(frames.turn_by(distance * np.eye(3)[number % 3]))
        away = distance * np.array((np.cos(number), np.sin(number), np.cos(3 * number)))
        change[:3, 3] = place + away - change[:3, :3] @ place
        for prim in (result.prims[path], *(result.prims[one.path] for one in model.colliders_of(path))):
            if prim.path not in moved:
                moved.add(prim.path)
                prim.world = change @ prim.world
    return result


class Parting(NamedTuple):
    """Where two motions part: the body, the first time (s), the largest deviation as a share of what is allowed,
    `times`, with the deviation and what was allowed then (m)."""

    body: str
    time: float
    apart: float
    allowed: float
    times: float


class Experiment:
    """A motion with its sensitivity, which others are compared with. What takes runs is made when it is asked for."""

    def __init__(
        self, model: PhysicsModel, seconds: float, *, engine: str = PREVIEW, is_cheap: bool = False,
        has_time: Callable[[], bool] = lambda: True, fitting: Callable[[Motion], float] | None = None,
        start: Start | None = None,
    ) -> None:  # fmt: skip
        """is_cheap: one start aside. fitting: the seconds that there is time for, by the first ones. start: of this
        model in the preview."""
        self.model, self.engine = model, engine
        self._aside, self._has_time = ASIDE[1:2] if is_cheap else ASIDE, has_time
        self._is_cut = False
        self._start = Start(model) if start is None and engine == PREVIEW else start
        #: The one that it is a part of, with the rows of its bodies there.
        self._whole: tuple[Experiment, list[int]] | None = None
        self._motion: Motion | None = None
        self._coarse: Floats | None = None
        self._sensitivity: Floats | None = None
        if fitting is not None and seconds > GLIMPSE:
            first = self._run(GLIMPSE)
            seconds = seconds if first.problem else min(seconds, max(GLIMPSE, fitting(first)))
        self.seconds = seconds

    def _run(self, seconds: float) -> Motion:
        if self._start is not None:
            return self._start.motion(seconds)
        return simulated(self.model, seconds, engine=self.engine)

    @property
    def motion(self) -> Motion:
        """Of the model."""
        if self._motion is None:
            self._motion = self._run(self.seconds)
        return self._motion

    @motion.setter
    def motion(self, motion: Motion) -> None:
        self._motion = motion
        self.__dict__.pop("radii", None)
        self.__dict__.pop("ways", None)

    @cached_property
    def radii(self) -> Floats:
        """(n,), m, of the bodies."""
        return np.array([radius_of(self.model, path) for path in self.motion.paths])

    @cached_property
    def ways(self) -> Floats:
        """(f, n), m, that the bodies have gone, with the turns of their edges."""
        found = np.zeros((len(self.motion.positions), len(self.radii)))
        if not self.motion.problem:
            steps = np.linalg.norm(np.diff(self.motion.positions, axis=0), axis=2)
            steps = steps + self.radii * angles(self.motion.rotations[1:], self.motion.rotations[:-1])
            found[1:] = np.cumsum(steps, axis=0)
        return found

    @property
    def sensitivity(self) -> Floats:
        """(f, n), m, by which starts aside end elsewhere."""
        if self._whole is not None:
            whole, rows = self._whole
            return whole.sensitivity[: len(self.motion.positions), rows]
        if self._sensitivity is None:
            found = np.zeros(self.ways.shape)
            for distance in () if self.motion.problem else self._aside:
                self._is_cut = self._is_cut or not self._has_time()
                if self._is_cut:
                    break
                other = simulated(displaced(self.model, distance), self.seconds, engine=self.engine)
                if not other.problem:
                    found = np.maximum(found, self.apart(other))
            self._sensitivity = np.maximum.accumulate(found, axis=0)
        return self._sensitivity

    @property
    def is_cut(self) -> bool:
        """Whether there was no time for all starts aside, as far as they were asked for: then nothing that moves
        otherwise can be judged."""
        return self._whole[0].is_cut if self._whole is not None else self._is_cut

    def is_measured(self) -> bool:
        """Run the starts aside. True if there was time for all of them."""
        return self.sensitivity is not None and not self.is_cut

    def glimpse(self) -> Experiment:
        """The experiment with its first moment."""
        result = copy.copy(self)
        result._coarse = result._sensitivity = result._whole = None
        result._is_cut, result.seconds = False, GLIMPSE
        result.motion = self.motion.until(GLIMPSE) if self._whole is not None else self._run(GLIMPSE)
        return result

    def only(self, paths: Collection[str]) -> Experiment:
        """The experiment with some of its bodies."""
        return self._part([row for row, path in enumerate(self.motion.paths) if path in paths])

    def _part(self, rows: list[int]) -> Experiment:
        result = copy.copy(self)
        result.motion = self.motion.only([self.motion.paths[row] for row in rows])
        result._coarse = None if self._coarse is None else self._coarse[:, rows]
        result._whole = self, rows
        return result

    def like(self, motion: Motion) -> Experiment:
        """The experiment with another motion of its bodies, and its sensitivity; itself where they are others."""
        wanted = self.motion.paths
        if not set(wanted) <= set(motion.paths) or len(motion.positions) != len(self.motion.positions):
            return self
        result = self._part(list(range(len(wanted))))
        result.motion = motion.only(wanted)
        return result

    @property
    def coarse(self) -> Floats:
        """(f, n), m: twice of what larger steps of the solver change: no difference of engines or words."""
        if self._coarse is None:
            other = simulated(self.model, self.seconds, engine=self.engine, quality="draft")
            self._coarse = 2.0 * np.maximum.accumulate(np.minimum(self.apart(other), 1e3), axis=0)
        return self._coarse

    def sensitivity_of(self, other: Experiment, names: dict[str, str]) -> Floats:
        """(f, n), m, that is allowed because of the starts aside of the same physics, said otherwise: what is balanced
        by symmetry here, rounding may push there. names: as of `apart`."""
        rows = [other.motion.paths.index(names.get(path, path)) for path in self.motion.paths]
        found = other.sensitivity[:, rows]
        return np.where(found < CHAOS, TIMES * found, np.inf)

    @property
    def chaos(self) -> str:
        """The end of a sentence about bodies that are not compared to the end; empty without any."""
        wild = self.sensitivity >= CHAOS
        count = int(wild.any(axis=0).sum())
        if not count:
            return ""
        first = int(np.flatnonzero(wild.any(axis=1))[0]) * STEP
        return f"; from {first:.2f} s on the motion of {counted(count, 'body')} is chaos, and is not compared"

    def apart(self, other: Motion, names: dict[str, str] | None = None) -> Floats:
        """Deviations (f, n), m. names: of bodies with other paths there, by the path here. Missing ones: infinite."""
        index = {path: row for row, path in enumerate(other.paths)}
        rows = [index.get((names or {}).get(path, path), -1) for path in self.motion.paths]
        count = min(len(self.motion.positions), len(other.positions))
        result = np.full((len(self.motion.positions), len(rows)), np.inf)
        here = [number for number, row in enumerate(rows) if row >= 0]
        there = [rows[number] for number in here]
        own, others = self.motion.positions[:count, here], other.positions[:count, there]
        turned = angles(self.motion.rotations[:count, here], other.rotations[:count, there])
        result[:count, here] = np.linalg.norm(own - others, axis=2) + self.radii[here] * turned
        # What is no number is nowhere.
        return np.where(np.isnan(result), np.inf, result)

    def allowed(self, slack: float) -> Floats:
        """(f, n), m. slack: share of the way of a body by which another solver, or other steps of it, may differ."""
        return self._allowed_alone(slack) + TIMES * self.sensitivity

    def _allowed_alone(self, slack: float) -> Floats:
        """(f, n), m, that is allowed to what is not sensitive."""
        seconds = np.arange(len(self.ways))[:, None] * STEP
        found = LEAST * self.radii + slack * self.ways + ROUNDING * seconds
        if len(self.ways) > 1:
            # An impact may come earlier or later by steps of the solver.
            speeds = np.maximum.accumulate(np.gradient(self.ways, STEP, axis=0), axis=0)
            # What hits a body that lies may come earlier or later by this share of the time.
            aside = slack * self._lain()
            rows = np.arange(len(speeds))[:, None] + np.ceil(aside / STEP).astype(int)
            soon = np.take_along_axis(speeds, np.minimum(rows, len(speeds) - 1), axis=0)
            found = found + STEP / 2 * speeds + aside * soon
        return np.asarray(found)

    def _lain(self) -> Floats:
        """(n,), s, that the bodies lie until they begin to move."""
        moved = self.ways > LEAST * self.radii
        return np.where(moved.any(axis=0), np.argmax(moved, axis=0) * STEP, 0.0)

    def moves_alike(self, other: Motion, slack: float, names: dict[str, str] | None = None) -> bool:
        """Whether no body is further apart than what is not sensitive may be: no starts aside are run for this."""
        if other.problem or self.motion.problem:
            return False
        return bool((self.apart(other, names) <= PARTED * self._allowed_alone(slack)).all())

    def parting(
        self, other: Motion, slack: float, names: dict[str, str] | None = None, *, more: Floats | None = None
    ) -> list[Parting]:
        """Of each body that parts, the first first. more: (f, n), m, that is allowed besides."""
        if other.problem or self.motion.problem or self.moves_alike(other, slack, names):
            return []
        apart, allowed = self.apart(other, names), self.allowed(slack)
        if more is not None:
            allowed = allowed + more
        wrong = (apart > allowed) & (self.sensitivity < CHAOS)
        found = []
        for row, path in enumerate(self.motion.paths):
            shares = np.where(self.sensitivity[:, row] < CHAOS, apart[:, row] / allowed[:, row], 0.0)
            worst = int(np.argmax(shares))
            if shares[worst] > PARTED:
                first = float(np.flatnonzero(wrong[:, row])[0]) * STEP
                far = float(apart[worst, row]), float(allowed[worst, row])
                found.append(Parting(path, first, *far, float(shares[worst])))
        return sorted(found, key=lambda one: one.time)
