# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims: values of a model with which bodies are at their targets, found by simulating it again and again."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..core import frames
from ..core.errors import EngineError, InputError
from ..core.model import PhysicsModel
from ..core.qualities import NORMAL
from ..core.validate import Issue
from ..simulation.engine import PREVIEW
from ..simulation.layout import layout
from ..simulation.live_values import LiveValues, rotation_vector
from ..simulation.notices import Notices
from ..simulation.record import Animation, Changing, record
from ..simulation.world import World
from .freedoms import Freedom, with_values
from .parts import Part, apart, parts_of
from .search import Searcher, searcher

Floats = NDArray[np.float64]
#: Residual of a run that has failed, in tolerances.
_LOST = 1e6
#: A body at rest is slower than this: m/s, rad/s.
REST_SPEED, REST_SPIN = 0.05, 0.5
#: Part of the runs after which parts that have not met their targets alone are searched beside the others.
_APART = 0.7
#: Parts of the time to a target after which a body that flies there lands.
_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a body is to be at a frame. place: (3,), m; None for anywhere. tolerance: m.

    axis, facing: an axis of the body (3,) and its direction in the world (3,), unit vectors; None for any. angle: its
    tolerance, rad. at_rest: it is to be slower than `REST_SPEED` and `REST_SPIN` then.
    """

    path: str
    frame: int
    place: tuple[float, float, float] | None = None
    tolerance: float = 0.02
    axis: tuple[float, float, float] | None = None
    facing: tuple[float, float, float] | None = None
    angle: float = math.radians(10.0)
    at_rest: bool = False

    @property
    def size(self) -> int:
        """Numbers of a residual: three for the place, the direction, the velocity and the spin."""
        return 3 * ((self.place is not None) + (self.facing is not None) + 2 * self.at_rest)


@dataclass(frozen=True, slots=True)
class Setup:
    """How runs are simulated. animation: what they follow. blend: time steps in which a body goes over to it."""

    model: PhysicsModel
    time_step: float
    steps_per_frame: int = 1
    substeps: int = 0
    quality: str = NORMAL
    engine: str = PREVIEW
    animation: Animation | None = None
    blend: int = 0

    @property
    def frame_time(self) -> float:
        """Seconds of a frame."""
        return self.time_step * self.steps_per_frame


@dataclass(slots=True)
class Run:
    """values (n,): of the freedoms. positions (f, b, 3), rotations (f, b, 4): of all bodies at all frames, SI.

    frame_time: s. misses: by target, in tolerances. paths: of the bodies. notices: of the world, about unstable bodies,
    too. best (n,): the best values until then. error: why the engine has lost it; then it has no bodies.
    """

    values: Floats
    paths: tuple[str, ...]
    positions: Floats
    rotations: Floats
    frame_time: float
    misses: list[float] = field(default_factory=list)
    notices: list[Issue] = field(default_factory=list)
    best: Floats = field(default_factory=lambda: np.zeros(0))
    error: InputError | EngineError | None = None

    @property
    def miss(self) -> float:
        """The largest miss; up to 1 all targets are met."""
        return max(self.misses, default=0.0)

    def residual(self, target: Target) -> Floats:
        """How far the body of a target is from it, in tolerances: (target.size,). A lost run misses all."""
        if not self.paths:
            return np.full(target.size, _LOST)
        row, frame = self.paths.index(target.path), target.frame
        rotation, parts = self.rotations[frame, row], []
        if target.place is not None:
            parts.append((self.positions[frame, row] - np.array(target.place)) / target.tolerance)
        if target.axis is not None and target.facing is not None:
            now = frames.matrix_of(rotation) @ np.array(target.axis)
            turn = np.cross(now, target.facing)
            size = float(np.linalg.norm(turn))
            angle = math.atan2(size, float(now @ np.array(target.facing)))
            parts.append((turn / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])) * angle / target.angle)
        if target.at_rest:
            way = self.positions[frame, row] - self.positions[frame - 1, row]
            turned = rotation_vector(self.rotations[frame - 1, row], rotation)
            parts += [way / (self.frame_time * REST_SPEED), turned / (self.frame_time * REST_SPIN)]
        return np.concatenate(parts)

    def miss_of(self, target: Target) -> float:
        """The largest of distance, angle, speed and spin, in tolerances."""
        return _miss_of(self.residual(target))


def _miss_of(residual: Floats) -> float:
    return max(float(np.linalg.norm(residual[at : at + 3])) for at in range(0, len(residual), 3))


def run_with(setup: Setup, freedoms: Sequence[Freedom], values: Floats, frame: int) -> Run:
    """Simulate the model with values until a frame. Raises InputError where bodies are lost."""
    model = with_values(setup.model, freedoms, values)
    world = World(
        model, time_step=setup.time_step, substeps=setup.substeps, quality=setup.quality, engine=setup.engine
    )  # fmt: skip
    places, live = setup.animation or Animation((), ())
    changing = Changing(LiveValues(world, model, setup.blend), live.__getitem__) if live else None
    steps = frame * setup.steps_per_frame
    recording = record(
        world, steps, places.__getitem__ if places else None, values=changing, looks_ahead=bool(places)
    )  # fmt: skip
    every = setup.steps_per_frame
    return Run(
        np.asarray(values, np.float32).astype(float), recording.paths, recording.positions[::every],
        recording.rotations[::every], setup.frame_time, notices=world.notices,
    )  # fmt: skip


def aim_steps(
    setup: Setup, freedoms: Sequence[Freedom], targets: Sequence[Target], *, most_runs: int = 200, seed: int = 0
) -> Generator[Run, None, Run]:
    """Search values of the freedoms with which all targets are met. Yields each run; returns the best one.

    The first run has the values of the model. Closing the generator ends the search: the caller has the runs. Parts
    that nothing connects (`parts`) are searched side by side, in the same runs, in which they pass through each other.
    When all have met their targets so, those that do not beside the others go on. Raises InputError if nothing may
    change, or a target's body is not simulated, and what the engine raises where it can simulate none of the runs.
    """
    if not freedoms or not targets:
        raise InputError("Aiming needs a target for a body, and a value that may change.")
    low = np.array([one.low for one in freedoms])
    width = np.array([one.high for one in freedoms]) - low
    authored = np.array([one.value(setup.model) for one in freedoms])
    start = np.clip((authored - low) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
    last = max(target.frame for target in targets)
    parts = parts_of(setup.model, freedoms, [target.path for target in targets])
    searches = []
    for at, part in enumerate(parts):
        columns = list(part.freedoms)
        own, wanted = [freedoms[one] for one in columns], [targets[one] for one in part.targets]
        likely = _throws(setup, own, wanted, start[columns])
        searches.append(_Search(part, start[columns], searcher(start[columns], seed + at, likely)))
    single = replace(setup, model=apart(setup.model, parts)) if len(parts) > 1 else setup
    is_apart = len(parts) > 1
    best: Run | None = None
    for number in range(most_runs):
        if is_apart and (number >= most_runs * _APART or all(one.is_met for one in searches)):
            is_apart = False
        whole = start.copy()
        for one in searches:
            whole[list(one.part.freedoms)] = one.best if one.is_met else one.point
        values = authored if number == 0 else low + whole * width
        run, residuals = _tried(single if is_apart else setup, freedoms, values, last, targets)
        for one in searches:
            one.note(residuals)
        if is_apart:
            combined = start.copy()
            for one in searches:
                combined[list(one.part.freedoms)] = one.best
            run.best = np.asarray(low + combined * width, np.float32).astype(float)
        else:
            best = run if best is None else min(best, run, key=_rank)
            run.best = best.values
        yield run
        if run.miss <= 1.0 and not is_apart:
            return run
    if best is None:  # too few runs for one in which all meet
        best = _tried(setup, freedoms, run.best, last, targets)[0]
        best.best = best.values
    assert best is not None
    if best.error is not None:  # all runs have one, or another would be better
        raise best.error
    return best


def _rank(run: Run) -> tuple[int, float]:
    """The better a run, the smaller."""
    return sum(miss > 1.0 for miss in run.misses), run.miss


@dataclass(slots=True)
class _Search:
    """The search of a part: the point that it tries next, the best one, and how far that has missed."""

    part: Part
    point: Floats
    searcher: Searcher
    best: Floats = field(init=False)
    miss: float = math.inf
    is_met: bool = False

    def __post_init__(self) -> None:
        self.best = self.point = next(self.searcher)

    def note(self, residuals: Sequence[Floats]) -> None:
        """Take the residuals of a run, by target, of the point; if it is met, of the best one."""
        own = [residuals[row] for row in self.part.targets]
        miss = max(_miss_of(one) for one in own)
        if self.is_met:
            # What has met its target alone, and does not beside the others, goes on.
            self.is_met = miss <= 1.0
            if self.is_met:
                return
            self.miss = math.inf
        if miss < self.miss:
            self.miss, self.best = miss, self.point
        if miss <= 1.0:
            self.is_met = True
            return
        self.point = self.searcher.send(np.concatenate(own))


def _throws(
    setup: Setup, freedoms: Sequence[Freedom], targets: Sequence[Target], start: Floats
) -> list[Floats]:  # fmt: skip
    """Points (d,) with which bodies fly to the places of their targets, and are there at the frame or earlier."""
    world = layout(setup.model, Notices())
    points = []
    for share in _SHARES:
        point = start.copy()
        for target in targets:
            body = world.bodies.get(target.path)
            if body is None or target.place is None:
                continue
            seconds = share * target.frame * setup.frame_time
            way = np.array(target.place) - body.prim.world[:3, 3]
            velocity = way / seconds - 0.5 * seconds * world.gravity[body.scene]
            authored = body.rotation.T @ velocity / body.velocity_scale
            for column, one in enumerate(freedoms):
                if (one.path, one.field) == (target.path, "velocity") and one.high > one.low:
                    point[column] = np.clip((authored[one.index] - one.low) / (one.high - one.low), 0.0, 1.0)
        if not np.array_equal(point, start):
            points.append(point)
    return points


def _tried(
    setup: Setup, freedoms: Sequence[Freedom], values: Floats, last: int, targets: Sequence[Target]
) -> tuple[Run, list[Floats]]:  # fmt: skip
    """A run, and its residuals by target. A run that the engine loses misses all of them."""
    try:
        run = run_with(setup, freedoms, values, last)
    except (InputError, EngineError) as error:
        run = Run(values, (), np.zeros((last + 1, 0, 3)), np.zeros((last + 1, 0, 4)), setup.frame_time, error=error)
    missing = next((one.path for one in targets if run.paths and one.path not in run.paths), None)
    if missing is not None:
        raise InputError(f"'{missing}' has a target, but is no body that is simulated.")
    residuals = [run.residual(target) for target in targets]
    run.misses = [_miss_of(one) for one in residuals]
    return run, residuals


def variations(
    setup: Setup, groups: Sequence[Sequence[Freedom]], frame: int, count: int, seed: int = 0
) -> Generator[Run, None, None]:
    """Runs until a frame with random values, evenly from the ranges; the freedoms of a group get the same number."""
    freedoms = [freedom for group in groups for freedom in group]
    for number in range(count):
        yield run_with(setup, freedoms, random_values(groups, seed, number), frame)


def random_values(groups: Sequence[Sequence[Freedom]], seed: int, number: int) -> Floats:
    """The values of run `number` of a seed, by group."""
    parts = np.random.default_rng((seed, number)).random(len(groups))
    return np.array([
        one.low + part * (one.high - one.low) for group, part in zip(groups, parts, strict=True) for one in group
    ])  # fmt: skip
