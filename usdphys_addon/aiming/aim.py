# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims: values of a model with which bodies are at their targets, found by simulating it again and again."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..core import frames
from ..core.errors import EngineError, InputError
from ..core.model import PhysicsModel
from ..core.qualities import NORMAL
from ..core.validate import Issue
from ..simulation.engine import PREVIEW
from ..simulation.record import Movers, record
from ..simulation.world import World
from .freedoms import Freedom, with_values
from .search import Searcher, searcher

Floats = NDArray[np.float64]
#: Residual of a run that has failed, in tolerances.
_LOST = 1e6


@dataclass(frozen=True, slots=True)
class Target:
    """Where a body is to be at a frame. place: (3,), m; None for anywhere. tolerance: m.

    axis, facing: an axis of the body (3,) and its direction in the world (3,), unit vectors; None for any. angle: its
    tolerance, rad.
    """

    path: str
    frame: int
    place: tuple[float, float, float] | None = None
    tolerance: float = 0.02
    axis: tuple[float, float, float] | None = None
    facing: tuple[float, float, float] | None = None
    angle: float = math.radians(10.0)

    def residual(self, position: Floats, rotation: Floats) -> Floats:
        """How far a body is from it, in tolerances: three numbers for the place, and three for the direction."""
        parts = []
        if self.place is not None:
            parts.append((position - np.array(self.place)) / self.tolerance)
        if self.axis is not None and self.facing is not None:
            now = frames.matrix_of(rotation) @ np.array(self.axis)
            turn = np.cross(now, self.facing)
            size = float(np.linalg.norm(turn))
            angle = math.atan2(size, float(now @ np.array(self.facing)))
            parts.append((turn / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])) * angle / self.angle)
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Setup:
    """How runs are simulated. movers: of animated kinematic bodies, see `record`."""

    model: PhysicsModel
    time_step: float
    steps_per_frame: int = 1
    substeps: int = 0
    quality: str = NORMAL
    engine: str = PREVIEW
    movers: Movers | None = None


@dataclass(slots=True)
class Run:
    """values (n,): of the freedoms. positions (f, b, 3), rotations (f, b, 4): of all bodies at all frames, SI.

    misses: by target, in tolerances. paths: of the bodies. notices: of the world, about unstable bodies, too.
    error: why the engine has lost it; then it has no bodies.
    """

    values: Floats
    paths: tuple[str, ...]
    positions: Floats
    rotations: Floats
    misses: list[float] = field(default_factory=list)
    notices: list[Issue] = field(default_factory=list)
    error: InputError | EngineError | None = None

    @property
    def miss(self) -> float:
        """The largest miss; up to 1 all targets are met."""
        return max(self.misses, default=0.0)


def run_with(setup: Setup, freedoms: Sequence[Freedom], values: Floats, frame: int) -> Run:
    """Simulate the model with values until a frame. Raises InputError where bodies are lost."""
    model = with_values(setup.model, freedoms, values)
    world = World(
        model, time_step=setup.time_step, substeps=setup.substeps, quality=setup.quality, engine=setup.engine
    )  # fmt: skip
    recording = record(world, frame * setup.steps_per_frame, setup.movers)
    every = setup.steps_per_frame
    return Run(
        np.asarray(values, np.float32).astype(float), recording.paths, recording.positions[::every],
        recording.rotations[::every], notices=world.notices,
    )  # fmt: skip


def aim_steps(
    setup: Setup, freedoms: Sequence[Freedom], targets: Sequence[Target], *, most_runs: int = 200, seed: int = 0
) -> Generator[Run, None, Run]:
    """Search values of the freedoms with which all targets are met. Yields each run; returns the best one.

    The first run has the values of the model. Closing the generator ends the search: the caller has the runs. Bodies
    whose freedoms are theirs alone are searched side by side, in the same runs. Raises InputError if nothing may
    change, or a target's body is not simulated, and what the engine raises where it can simulate none of the runs.
    """
    if not freedoms or not targets:
        raise InputError("Aiming needs a target for a body, and a value that may change.")
    low = np.array([one.low for one in freedoms])
    width = np.array([one.high for one in freedoms]) - low
    authored = np.array([one.value(setup.model) for one in freedoms])
    start = np.clip((authored - low) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
    last = max(target.frame for target in targets)
    parts = _parts(freedoms, targets)
    searchers: list[Searcher] = [searcher(start[list(columns)], seed + at) for at, (columns, _) in enumerate(parts)]
    points = [next(one) for one in searchers]
    kept: list[tuple[float, Floats] | None] = [None] * len(parts)
    best: Run | None = None
    for number in range(most_runs):
        whole = start.copy()
        for (columns, _), point, found in zip(parts, points, kept, strict=True):
            whole[list(columns)] = point if found is None else found[1]
        values = authored if number == 0 else low + whole * width
        run, residuals = _tried(setup, freedoms, values, last, targets)
        if best is None or run.miss < best.miss:
            best = run
        yield run
        if run.miss <= 1.0:
            return run
        for at, (_, rows) in enumerate(parts):
            miss = max((run.misses[row] for row in rows), default=0.0)
            if kept[at] is not None and miss <= 1.0:
                continue
            if kept[at] is None and miss <= 1.0:
                kept[at] = (miss, points[at])
                continue
            # What met its target alone, and does not beside the others as they are now, goes on.
            kept[at] = None
            points[at] = searchers[at].send(np.concatenate([residuals[row] for row in rows]))
    assert best is not None
    if best.error is not None:  # all runs have one, or another would be better
        raise best.error
    return best


def _tried(
    setup: Setup, freedoms: Sequence[Freedom], values: Floats, last: int, targets: Sequence[Target]
) -> tuple[Run, list[Floats]]:  # fmt: skip
    """A run, and its residuals by target. A run that the engine loses misses all of them."""
    try:
        run = run_with(setup, freedoms, values, last)
    except (InputError, EngineError) as error:
        run = Run(values, (), np.zeros((last + 1, 0, 3)), np.zeros((last + 1, 0, 4)), error=error)
    missing = next((one.path for one in targets if run.paths and one.path not in run.paths), None)
    if missing is not None:
        raise InputError(f"'{missing}' has a target, but is no body that is simulated.")
    residuals = []
    for target in targets:
        size = 3 * ((target.place is not None) + (target.facing is not None))
        if not run.paths:
            residuals.append(np.full(size, _LOST))
            continue
        row = run.paths.index(target.path)
        residuals.append(target.residual(run.positions[target.frame, row], run.rotations[target.frame, row]))
    run.misses = [miss_of(residual) for residual in residuals]
    return run, residuals


def miss_of(residual: Floats) -> float:
    """The larger of the distance and the angle, in tolerances."""
    return max(float(np.linalg.norm(residual[at : at + 3])) for at in range(0, len(residual), 3))


def _parts(freedoms: Sequence[Freedom], targets: Sequence[Target]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(freedoms, targets) that are searched together, by their numbers."""
    aimed = {target.path for target in targets}
    if aimed != {freedom.path for freedom in freedoms}:
        return [(tuple(range(len(freedoms))), tuple(range(len(targets))))]
    found = []
    for path in dict.fromkeys(freedom.path for freedom in freedoms):
        columns = tuple(at for at, freedom in enumerate(freedoms) if freedom.path == path)
        found.append((columns, tuple(at for at, target in enumerate(targets) if target.path == path)))
    return found


def variations(
    setup: Setup, groups: Sequence[Sequence[Freedom]], frame: int, count: int, seed: int = 0
) -> Generator[Run, None, None]:
    """Runs until a frame with random values, evenly from the ranges; the freedoms of a group get the same number."""
    rng = np.random.default_rng(seed)
    freedoms = [freedom for group in groups for freedom in group]
    for _ in range(count):
        parts = rng.random(len(groups))
        values = [
            one.low + part * (one.high - one.low) for group, part in zip(groups, parts, strict=True) for one in group
        ]  # fmt: skip
        yield run_with(setup, freedoms, np.array(values), frame)
