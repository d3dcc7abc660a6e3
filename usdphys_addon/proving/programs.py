# SPDX-License-Identifier: GPL-3.0-or-later
"""The asset, and the joints on the bench, in engines that run in a Python of their own. Each run of them takes seconds
to come up, so all that is asked of an engine at first is one run, which begins when the proof does. None goes on when
the budget is used up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..core.units import SI, StageUnits
from ..simulation.engine import ENGINES
from ..system.files import work_folder
from .budget import Budget
from .joints import BENCH, EXPERIMENTS
from .opinions import MATERIAL, Opinion
from .runs import FLOOR, STEP, Motion

if TYPE_CHECKING:
    from ..simulation.engines.external import Run

#: Why there is no motion.
_TOO_LONG = "it takes longer than the budget leaves"


class Begun:
    """An engine at work since the proof began, on the asset and then on the joints, as a context: leaving it ends the
    engine."""

    def __init__(
        self, engine: str, python: str, budget: Budget, *, stage: Any = None, floored: PhysicsModel,
        seconds: float = 0.0, benches: Mapping[str, PhysicsModel],
    ) -> None:  # fmt: skip
        """stage: of the asset, which stands on the floor of its model; None: it is not asked for. benches: of the
        joints, by their experiments."""
        from ..simulation.engines import external

        self._budget, self._units, self._began = budget, floored.units, budget.used
        self._stack, self._run, self._problem = ExitStack(), None, ""
        self._has_asset, self._together = stage is not None, _by_gravity(benches)
        try:
            folder = self._stack.enter_context(work_folder())
            jobs = []
            if stage is not None:
                file = folder / "asset.usda"
                _write_asset(stage, floored, engine, file)
                jobs.append(external.Job(file, round(seconds / STEP), STEP))
            for number, experiments in enumerate(self._together):
                file = folder / f"joints{number or ''}.usda"
                jobs.append(external.Job(file, round(_write_benches(benches, experiments, file) / STEP), STEP))
            if jobs:
                self._run = self._stack.enter_context(external.Run(engine, python, *jobs[0], more=jobs[1:]))
        except UsdPhysError as error:
            self._problem = str(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def took(self) -> float:
        """Seconds that a run takes; 0 while it is not known."""
        return self._run.took() if self._run is not None else 0.0

    def asset(self, seconds: float, share: float) -> Motion:
        """The first seconds of the motion of the asset. share: of the budget that may be used by then."""
        return self._motion(0, self._units, share).until(seconds)

    def benches(self, share: float) -> dict[str, Motion]:
        """The motion of each bench, by its experiment. share: of the budget that may be used by then."""
        found: dict[str, Motion] = {}
        for number, experiments in enumerate(self._together, self._has_asset):
            motion = self._motion(number, SI, share)
            found |= {experiment: _part_of(motion, experiment) for experiment in experiments}
        return found

    def _motion(self, number: int, units: StageUnits, share: float) -> Motion:
        if self._run is None:
            return _none(self._problem)
        if not self._run.wait_for(number, self._budget.left(share, self._began)):
            return _none(_TOO_LONG)
        return _motion_of(self._run, units, number)


def run_asset(
    stage: Any, floored: PhysicsModel, engine: str, python: str, seconds: float, budget: Budget, share: float,
    chosen: Sequence[Opinion] = (), rate: int = 1,
) -> Motion:  # fmt: skip
    """The asset of a stage, by the variant for this engine where it has one, on the floor of its model.

    chosen: opinions that are taken out before. rate: steps in a frame.
    """
    if not budget.left(share):
        return _none(_TOO_LONG)
    with work_folder() as folder:
        file = folder / "asset.usda"
        _write_asset(stage, floored, engine, file, chosen)
        return _run(engine, python, file, seconds, floored.units, budget.left(share), rate)


def _write_asset(
    stage: Any, floored: PhysicsModel, engine: str, file: Path, chosen: Sequence[Opinion] = ()
) -> None:  # fmt: skip
    from ..usd import restated

    extra = [floored.prims[FLOOR]] if FLOOR in floored.prims else []
    restated.write_with(stage, extra, file, runtime=ENGINES[engine].name, without=_properties(floored, chosen))


def _properties(model: PhysicsModel, chosen: Sequence[Opinion]) -> list[tuple[str, str, list[str]]]:
    """(path of a prim, API schema that it loses or "", names of properties that it loses) of opinions."""
    found = []
    for path, schema, field in chosen:
        value, instance = model.prims[path].schemas.get(schema), split_applied(schema)[1]
        if not schema and field == MATERIAL:
            found.append((path, "", ["material:binding", "material:binding:physics"]))
        elif value is not None:
            names = [
                attribute.usd_name(instance) for attribute, _ in value.authored() if field in ("", attribute.field)
            ]  # fmt: skip
            found.append((path, "" if field else schema, names))
    return found


def run_benches(
    benches: Mapping[str, PhysicsModel], engine: str, python: str, budget: Budget, share: float, rate: int = 1
) -> dict[str, Motion]:
    """The motion of each bench, by its experiment: those with the same gravity in one run. rate: steps in a frame."""
    found: dict[str, Motion] = {}
    for experiments in _by_gravity(benches):
        if not budget.left(share):
            found |= dict.fromkeys(experiments, _none(_TOO_LONG))
            continue
        with work_folder() as folder:
            file = folder / "joints.usda"
            seconds = _write_benches(benches, experiments, file)
            motion = _run(engine, python, file, seconds, SI, budget.left(share), rate)
        found |= {experiment: _part_of(motion, experiment) for experiment in experiments}
    return found


def _by_gravity(benches: Mapping[str, PhysicsModel]) -> list[list[str]]:
    """The experiments, those with the same gravity together."""
    found: dict[Any, list[str]] = {}
    for experiment, model in benches.items():
        scene: Any = next(iter(model.scenes.values())).get(usd_physics.PhysicsScene)
        found.setdefault((scene.gravity_direction, scene.gravity_magnitude), []).append(experiment)
    return list(found.values())


def _write_benches(benches: Mapping[str, PhysicsModel], experiments: Sequence[str], file: Path) -> float:
    """Write some benches into one file. Returns the seconds of the longest experiment."""
    from ..usd import restated

    whole = PhysicsModel()
    for experiment in experiments:
        model = benches[experiment].copied()
        names = {path: _renamed(path, experiment) for path in model.prims if path not in model.scenes}
        for prim in model.renamed(names).prims.values():
            whole.prims[prim.path] = prim
    restated.write_alone(whole, file)
    return max(EXPERIMENTS[one][0] for one in experiments)


def _renamed(path: str, experiment: str) -> str:
    return f"{BENCH}/{experiment}_{path.removeprefix(f'{BENCH}/')}"


def _part_of(motion: Motion, experiment: str) -> Motion:
    """The motion of one experiment, with the paths that its bench has."""
    if motion.problem:
        return motion
    start = f"{BENCH}/{experiment}_"
    part = motion.only([path for path in motion.paths if path.startswith(start)])
    count = round(EXPERIMENTS[experiment][0] / STEP) + 1
    return replace(
        part, paths=tuple(f"{BENCH}/{path.removeprefix(start)}" for path in part.paths),
        positions=part.positions[:count], rotations=part.rotations[:count],
    )  # fmt: skip


def _run(engine: str, python: str, file: Path, seconds: float, units: StageUnits, most: float, rate: int = 1) -> Motion:
    """most: seconds that it may take. rate: steps in a frame."""
    from ..simulation.engines import external

    try:
        with external.Run(engine, python, file, rate * round(seconds / STEP), STEP / rate) as run:
            run.wait(most)
            return _none(_TOO_LONG) if run.is_running() else _motion_of(run, units, 0, rate)
    except UsdPhysError as error:
        return _none(str(error))


def _motion_of(run: Run, units: StageUnits, number: int, rate: int = 1) -> Motion:
    """Where a body is lost, its place is NaN."""
    try:
        poses = run.poses(units, number, is_lost_allowed=True)
    except UsdPhysError as error:
        return _none(str(error))
    none = np.zeros((0, 0, 0))
    took = run.took(number), 0.0
    return Motion(poses.names, poses.positions[::rate], poses.rotations[::rate], none, took=took)


def _none(problem: str) -> Motion:
    none = np.zeros((0, 0, 0))
    return Motion((), none, none, none, problem=problem)
