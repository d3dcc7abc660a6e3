# SPDX-License-Identifier: GPL-3.0-or-later
"""The asset, and the joints on the bench, in engines that run in a Python of their own. Each run of them takes seconds,
so experiments share one, and none goes on when the budget is used up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..core.units import SI, StageUnits
from ..simulation.engine import ENGINES
from ..system.files import work_folder
from .joints import BENCH, EXPERIMENTS
from .opinions import MATERIAL, Opinion
from .runs import FLOOR, STEP, Budget, Motion

if TYPE_CHECKING:
    from ..simulation.engines.external import Poses


def run_asset(
    stage: Any, floored: PhysicsModel, engine: str, python: str, seconds: float, budget: Budget, share: float,
    chosen: Sequence[Opinion] = (), rate: int = 1,
) -> Motion:  # fmt: skip
    """The asset of a stage, by the variant for this engine where it has one, on the floor of its model.

    chosen: opinions that are taken out before. rate: steps in a frame.
    """
    from ..usd import restated

    extra = [floored.prims[FLOOR]] if FLOOR in floored.prims else []
    with work_folder() as folder:
        file = folder / "asset.usda"
        restated.write_with(stage, extra, file, runtime=ENGINES[engine].name, without=_properties(floored, chosen))
        return _run(engine, python, file, seconds, floored.units, budget.left(share), rate)


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
    by_gravity: dict[Any, list[str]] = {}
    for experiment, model in benches.items():
        scene: Any = next(iter(model.scenes.values())).get(usd_physics.PhysicsScene)
        by_gravity.setdefault((scene.gravity_direction, scene.gravity_magnitude), []).append(experiment)
    found: dict[str, Motion] = {}
    for experiments in by_gravity.values():
        whole = PhysicsModel()
        for experiment in experiments:
            model = benches[experiment].copied()
            names = {path: _renamed(path, experiment) for path in model.prims if path not in model.scenes}
            for prim in model.renamed(names).prims.values():
                whole.prims[prim.path] = prim
        seconds = max(EXPERIMENTS[one][0] for one in experiments)
        motion = _run_alone(whole, engine, python, seconds, budget, share, rate)
        found |= {experiment: _part_of(motion, experiment) for experiment in experiments}
    return found


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


def _run_alone(
    model: PhysicsModel, engine: str, python: str, seconds: float, budget: Budget, share: float, rate: int
) -> Motion:
    from ..usd import restated

    with work_folder() as folder:
        file = folder / "joints.usda"
        restated.write_alone(model, file)
        return _run(engine, python, file, seconds, SI, budget.left(share), rate)


def _run(engine: str, python: str, file: Path, seconds: float, units: StageUnits, most: float, rate: int = 1) -> Motion:
    """most: seconds that it may take. rate: steps in a frame."""
    from ..simulation.engines import external

    none = np.zeros((0, 0, 0))
    try:
        with external.Run(engine, python, file, rate * round(seconds / STEP), STEP / rate) as run:
            run.wait(most)
            if run.is_running():
                return Motion((), none, none, none, problem="it takes longer than the budget leaves")
            poses: Poses = run.poses(units)
    except UsdPhysError as error:
        return Motion((), none, none, none, problem=str(error))
    return Motion(poses.names, poses.positions[::rate], poses.rotations[::rate], none)
