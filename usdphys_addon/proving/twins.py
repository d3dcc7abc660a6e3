# SPDX-License-Identifier: GPL-3.0-or-later
"""Worlds of the same physics that run beside a shown one: another engine, or the same one at twice the rate.

They get all that the shown world gets, and are compared with it after each of its time steps. All numbers are SI. A
deviation of a body counts in metres, and is allowed, as in `runs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import UsdPhysError
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.qualities import NORMAL
from ..core.rules.base import Issue
from ..core.steps import Steps, part
from ..core.words import Phrase, length_text, phrase
from ..simulation.engine import AUTOMATIC, NotLiveError, solvers
from ..simulation.world import World
from . import partings, runs
from .experiments import LEAST, ROUNDING, Parting
from .reasons import SLACK
from .runs import Floats, Motion, Subject, subject_of

#: A twin is stopped after so many time steps in a row that take longer than this, milliseconds, and so many times as
#: long as those of the shown world: on a machine that is busy with something else, both are slow.
SLOWEST, TIMES_SLOWER, IN_ROW = 100.0, 10.0, 10
#: What a long way allows is at most this share of the room in which the body has moved: one that swings for minutes,
#: and is on the other side, has parted.
MOST_OF_ROOM = 0.25
#: Above this share of what is allowed a body counts as close to parting.
CLOSE = 0.5
#: Partings of a twin of which the place is known: those after it follow from them.
MOST_PLACED = 20


class Kind(NamedTuple):
    """A twin. engine: key of `simulation.engine.solvers`. rate: its time steps in each of the shown world."""

    engine: str
    rate: int = 1

    @property
    def name(self) -> str:
        """As users read it."""
        engine = solvers()[self.engine].name
        return phrase("{engine} at twice the rate", engine=engine) if self.rate > 1 else engine


def kinds_beside(engine: str, *, has_steps: bool) -> list[Kind]:
    """The engines of this process beside one, and before them that one at twice the rate: if `has_steps`, or if there
    is no other engine."""
    others = [Kind(key) for key, row in solvers().items() if key not in (engine, AUTOMATIC) and row.is_here()]
    return [*([Kind(engine, 2)] if has_steps or not others else []), *others]


class Verdict(IntEnum):
    """What the twins say of a body, from good to bad. STEPS: even smaller time steps show something else, so that what
    another engine shows is no proof of a difference between engines."""

    ALIKE = 0
    CLOSE = 1
    ENGINE = 2
    STEPS = 3


class Split(NamedTuple):
    """Where a body parts from the shown one, or rather is first found to: time (s), row of the body, the deviation and
    what was allowed (m), its place (3,) in the shown world, and all poses there, if they are kept."""

    time: float
    row: int
    apart: float
    allowed: float
    place: Matrix
    poses: tuple[Floats, Floats] | None


@dataclass(slots=True, eq=False)
class Twin:
    """A world beside the shown one. world: None if it was not built. rows: of its bodies, for each body of that.

    apart (n,), m: deviations now. share (n,): largest so far, as a share of what is allowed. problem: why it does not
    run, or not any more. is_stale: it has missed an edit.
    """

    kind: Kind
    world: World | None
    rows: Any
    problem: str = ""
    is_stale: bool = False
    apart: Floats = field(init=False)
    worst: Floats = field(init=False)
    share: Floats = field(init=False)
    splits: dict[int, Split] = field(init=False)
    _grabs: dict[int, int] = field(default_factory=dict)
    _led: dict[str, tuple[Matrix, Matrix]] = field(default_factory=dict)
    _slow: int = 0

    def __post_init__(self) -> None:
        self.forget()

    @property
    def runs(self) -> bool:
        """False for one that was not built, or has failed."""
        return self.world is not None and not self.problem

    def forget(self) -> None:
        """Begin to compare anew."""
        self.apart, self.worst, self.share = (np.zeros(len(self.rows)) for _ in range(3))
        self.splits, self._slow = {}, 0
        self._led.clear()

    # ----------------------------------------------------------------------- running

    def follow(self, name: str, result: Any, /, *args: Any, **kwargs: Any) -> None:
        """Do to this world what was done to the shown one."""
        if self.world is None or self.problem:
            return
        if name == "set_kinematic_pose":
            path, place, turn = args
            self._led[path] = (np.asarray(place, float), np.asarray(turn, float))
            return
        try:
            if name == "grab":
                self._grabs[result] = self.world.grab(*args)
            elif name in ("move_grab", "release"):
                number = self._grabs.get(args[0]) if name == "move_grab" else self._grabs.pop(args[0], None)
                if number is not None:
                    getattr(self.world, name)(number, *args[1:])
            else:
                getattr(self.world, name)(*args, **kwargs)
        except KeyError:
            # It does not simulate this prim, and its notices say so.
            return
        except NotLiveError:
            self.is_stale = True
        except UsdPhysError as error:
            self.problem = str(error)

    def step(self, shown_milliseconds: float) -> None:
        """As many time steps as the shown world takes in one, which took so long."""
        assert self.world is not None
        taken = 0.0
        try:
            for number in range(self.kind.rate):
                self._lead(1.0 / (self.kind.rate - number))
                self.world.step()
                taken += self.world.step_milliseconds
        except UsdPhysError as error:
            self.problem = str(error)
            return
        self._led.clear()
        lost = [path for path, why in self.world.unstable.items() if "not a number" in why]
        if lost:
            self.problem = phrase("it gave NaN for {body}", body=lost[0])
        self._slow = self._slow + 1 if taken > max(SLOWEST, TIMES_SLOWER * shown_milliseconds) else 0
        if self._slow == IN_ROW:
            self.problem = phrase("a time step of it takes {time}, too long to run beside", time=f"{taken / 1e3:.2f} s")

    def _lead(self, share: float) -> None:
        """Bring kinematic bodies a share of their way on."""
        assert self.world is not None
        for path, (place, turn) in self._led.items():
            row = self.world.index(path)
            here, was = self.world.positions[row], self.world.rotations[row]
            aim = turn if float(turn @ was) >= 0.0 else -turn
            try:
                self.world.set_kinematic_pose(path, here + share * (place - here), was + share * (aim - was))
            except KeyError:
                continue

    def poses(self) -> tuple[Floats, Floats]:
        """Positions (n, 3) and rotations (n, 4) in the order of the shown bodies; NaN where it has none."""
        assert self.world is not None
        places, turns = self.world.positions[self.rows], self.world.rotations[self.rows]
        missing = self.rows < 0
        if missing.any():
            places[missing] = turns[missing] = np.nan
        return places, turns

    def matrices(self) -> Floats:
        """World matrices (n, 4, 4) of the prims, in the order of the bodies of the shown world."""
        assert self.world is not None
        found: Floats = self.world.matrices()[self.rows]
        found[self.rows < 0] = np.nan
        return found


class Twins:
    """The twins of a shown world, and what they say about its bodies.

    model: that the world was built of. is_late: they were built while it ran, and have no start to go back to.
    """

    def __init__(self, shown: World, model: PhysicsModel, twins: Sequence[Twin], *, is_late: bool = False) -> None:
        self.shown, self.model, self.twins, self.is_late = shown, model, list(twins), is_late
        self.radii = np.array([runs.radius_of(model, path) for path in shown.paths])
        self._begin()
        for twin in self.twins:
            shown.followers.append(twin.follow)

    @classmethod
    def steps(
        cls, shown: World, model: PhysicsModel, kinds: Sequence[Kind], *, substeps: int = 0, quality: str = NORMAL,
        is_late: bool = False,
    ) -> Steps[Twins]:  # fmt: skip
        """Build twins in steps. model: as the shown world is now. One that cannot be built has a problem."""
        twins = []
        for number, kind in enumerate(kinds):
            span = number / len(kinds), (number + 1) / len(kinds)
            time_step = shown.time_step / kind.rate
            steps = World.steps(
                model.copied(), time_step=time_step, substeps=substeps, quality=quality, engine=kind.engine
            )
            try:
                world = yield from part(steps, *span)
            except UsdPhysError as error:
                twins.append(Twin(kind, None, np.full(len(shown.paths), -1), str(error)))
                continue
            world.frame = shown.frame * kind.rate
            index = {path: row for row, path in enumerate(world.paths)}
            twin = Twin(kind, world, np.array([index.get(path, -1) for path in shown.paths], int))
            for path in shown.broken_joints:
                twin.follow("set_joint_enabled", None, path, False)
            twins.append(twin)
        return cls(shown, model, twins, is_late=is_late)

    def end(self) -> None:
        """Let go of the shown world."""
        for twin in self.twins:
            if twin.follow in self.shown.followers:
                self.shown.followers.remove(twin.follow)

    def _begin(self) -> None:
        self._before = self.shown.positions.copy(), self.shown.rotations.copy()
        self.ways, self.fastest = np.zeros(len(self.radii)), np.zeros(len(self.radii))
        self._low, self._high = self.shown.positions.copy(), self.shown.positions.copy()
        self.seconds = 0.0

    def reset(self) -> None:
        """Back to the start, with the shown world."""
        for twin in self.twins:
            if twin.world is not None:
                twin.world.reset()
                twin.problem, twin.is_stale = "", False
            twin.forget()
        self._begin()

    @property
    def is_stale(self) -> bool:
        """True if a twin has missed an edit, and has to be built anew."""
        return any(twin.is_stale and twin.runs for twin in self.twins)

    # ----------------------------------------------------------------------- comparing

    def step(self) -> None:
        """Let all twins take the time step that the shown world has just taken, and compare them with it."""
        places, turns = self.shown.positions, self.shown.rotations
        moved = np.linalg.norm(places - self._before[0], axis=1) + self.radii * runs.angles(turns, self._before[1])
        self.ways += moved
        self.fastest = np.maximum(self.fastest, moved / self.shown.time_step)
        self._before = places.copy(), turns.copy()
        self.seconds += self.shown.time_step
        self._low, self._high = np.minimum(self._low, places), np.maximum(self._high, places)
        room = np.linalg.norm(self._high - self._low, axis=1) + 2.0 * self.radii
        allowed = LEAST * self.radii + np.minimum(SLACK * self.ways, MOST_OF_ROOM * room)
        # An impact may come earlier or later by a step of the solver.
        allowed += ROUNDING * self.seconds + 0.5 * self.shown.time_step * self.fastest
        for twin in self.twins:
            if twin.runs:
                twin.step(self.shown.step_milliseconds)
            if twin.runs:
                self._compare(twin, allowed)
            if twin.runs and twin.kind.rate > 1:
                # What other steps of the same engine change is no difference of engines.
                allowed = allowed + 2.0 * twin.worst

    def _compare(self, twin: Twin, allowed: Floats) -> None:
        places, turns = twin.poses()
        own, own_turns = self._before
        apart = np.linalg.norm(places - own, axis=1) + self.radii * runs.angles(turns, own_turns)
        twin.apart = np.where(self.shown.kinematic | ~np.isfinite(apart), 0.0, apart)
        twin.worst = np.maximum(twin.worst, twin.apart)
        twin.share = np.maximum(twin.share, twin.apart / np.maximum(allowed, 1e-12))
        for row in np.flatnonzero(twin.share > 1.0).tolist():
            if row not in twin.splits:
                poses = self._before if len(twin.splits) < MOST_PLACED else None
                twin.splits[row] = Split(
                    self.shown.time, row, float(twin.apart[row]), float(allowed[row]), own[row].copy(), poses
                )

    # ----------------------------------------------------------------------- what they say

    def verdicts(self) -> Any:
        """(n,) of `Verdict`."""
        found = np.zeros(len(self.radii), int)
        for twin in self.twins:
            bad = Verdict.STEPS if twin.kind.rate > 1 else Verdict.ENGINE
            found = np.maximum(found, np.select([twin.share > 1.0, twin.share > CLOSE], [bad, Verdict.CLOSE], 0))
        return found

    def first(self) -> tuple[Twin, Split] | None:
        """What parts first; None while all are alike."""
        found = [(twin, split) for twin in self.twins for split in islice(twin.splits.values(), 1)]
        return min(found, key=lambda pair: pair[1].time, default=None)

    def splits_of(self, row: int) -> list[tuple[Twin, Split]]:
        """Where a body parts, from each twin that it does."""
        return [(twin, twin.splits[row]) for twin in self.twins if row in twin.splits]

    def notices(self, twin: Twin) -> list[Issue]:
        """What a twin simulates differently, or not at all, and the shown world does not say of itself."""
        if twin.world is None:
            return []
        own = {(notice.code, notice.path) for notice in self.shown.notices}
        return [notice for notice in twin.world.notices if (notice.code, notice.path) not in own]

    def sentence(self, twin: Twin, split: Split) -> Phrase:
        """Where a body parts from a twin, when and how far."""
        kind, other = self._where(split)
        words = {"body": self._label(split.row), "twin": twin.kind.name, "time": f"{split.time:.2f} s",
                 "apart": length_text(split.apart), "allowed": length_text(split.allowed), "other": other}  # fmt: skip
        if kind == "contact":
            return phrase(
                "{body} parts from {twin} at {time}, at the contact with {other}: by {apart}, {allowed} is allowed.",
                **words,
            )
        if kind == "joint":
            return phrase(
                "{body} parts from {twin} at {time}, at the joint {other}: by {apart}, {allowed} is allowed.", **words
            )
        return phrase("{body} parts from {twin} at {time}: by {apart}, {allowed} is allowed.", **words)

    def why(self, row: int) -> list[Phrase]:
        """Sentences about a body: whether and where it parts, and what that means."""
        told = [self.sentence(twin, split) for twin, split in self.splits_of(row)]
        verdict = Verdict(int(self.verdicts()[row]))
        body = self._label(row)
        if verdict is Verdict.ENGINE:
            known = [twin for twin in self.twins if twin.kind.rate > 1 and twin.runs]
            told.append(
                phrase("Smaller time steps change less: the engines treat it differently. Prove names the attribute.")
                if known else phrase("Switch on Confidence to see whether smaller time steps change it, too.")
            )  # fmt: skip
        elif verdict is Verdict.STEPS:
            told.append(phrase("Smaller time steps of the same engine change it: raise the frequency. If it still "
                               "parts then, its motion is chaos, and no engine will repeat it."))  # fmt: skip
        elif verdict is Verdict.CLOSE:
            share = max(float(twin.share[row]) for twin in self.twins)
            told.append(phrase("{body} is apart by {share:.0%} of what is allowed.", body=body, share=share))
        else:
            told.append(phrase("{body} moves alike in all that run beside.", body=body))
        return told

    def _label(self, row: int) -> str:
        path = self.shown.paths[row]
        return self.model.prims[path].label or path

    def _where(self, split: Split) -> tuple[str, str]:
        if split.poses is None:
            return "free", ""
        body = self.shown.paths[split.row]
        motion = Motion(self.shown.paths, split.poses[0][None], split.poses[1][None], np.zeros((0, 0, 0)))
        kind, path = partings.where_of(self._subject, motion, Parting(body, 0.0, split.apart, split.allowed, 1.0))
        return kind, (self.model.prims[path].label or path) if path else ""

    @cached_property
    def _subject(self) -> Subject:
        return subject_of(self.model)
