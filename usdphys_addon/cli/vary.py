# SPDX-License-Identifier: GPL-3.0-or-later
"""`simulate --vary`: many runs of a file with values at random from ranges, as JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from ..aiming import aim, freedoms
from ..core.animation import Key
from ..core.errors import InputError, UsageError
from ..core.model import PhysicsModel
from ..core.units import StageUnits
from ..core.validate import Issue
from ..core.words import counted
from ..simulation.engine import PREVIEW
from ..simulation.record import Animation, Recording, engine_silenced, refuse_lost

#: Runs where --runs says nothing; the help says the number, too.
_RUNS = 10


def check_options(options: argparse.Namespace) -> None:
    """Refuse options that contradict `--vary`. Raises UsageError."""
    if options.out or options.engine != PREVIEW:
        raise UsageError("--vary writes JSON and simulates in the preview; leave out --out and --engine.")
    if not options.json:
        raise UsageError("--vary writes its runs as JSON; add --json with the name of a file.")


def frame_of(options: argparse.Namespace, fps: float) -> int:
    """The last frame of the runs."""
    frames: float = options.seconds * fps
    return max(1, round(frames))


def runs_of(
    options: argparse.Namespace, model: PhysicsModel, fps: float, units: StageUnits, animation: Animation | None
) -> tuple[str, str, list[Issue]]:
    """Simulate a model again and again. Returns (the runs as JSON, a line about them, the notices of all worlds).

    Each run has its values, in SI units and radians, and the poses of all bodies as `--json` of a single run has them.
    animation: what all runs follow, until `frame_of`. Raises InputError and UsageError.
    """
    refuse_lost(model)
    groups = freedoms.varied(model, options.vary)
    for one in (one for group in groups for one in group):
        is_place = one.field == freedoms.PLACE and model.prims[one.path].is_animated
        if is_place or Key(one.path, one.name, one.field) in model.animated:
            raise InputError(
                f"'{one.text}' is animated, which decides it; remove the animation, or vary another value."
            )
    setup = aim.Setup(model, 1.0 / fps, substeps=options.substeps, quality=options.quality, animation=animation)
    frame = frame_of(options, fps)
    names = [one.text for group in groups for one in group]
    seed = options.seed or 0
    runs: list[dict[str, Any]] = []
    notices: dict[tuple[str, str], Issue] = {}
    with engine_silenced():
        for run in aim.variations(setup, groups, frame, options.runs or _RUNS, seed):
            nowhere, still = np.empty((0, 0, 4, 4)), np.zeros(len(run.paths), bool)
            notices.update(((one.code, one.path), one) for one in reversed(run.notices))
            recording = Recording(fps, run.paths, still, nowhere, run.positions, run.rotations)
            runs.append({"values": dict(zip(names, run.values.tolist(), strict=True)), **recording.as_json(units)})
    line = f"{counted(len(runs), 'run')} of {counted(frame + 1, 'frame')}, {counted(len(names), 'value')} varied"
    try:
        return json.dumps({"seed": seed, "runs": runs}, allow_nan=False), line, list(notices.values())
    except ValueError as error:
        raise InputError(f"'{options.file}' moves too far for the units of its stage.") from error
