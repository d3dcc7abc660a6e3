# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of an opened stage: its physics in the solver, frame by frame, and as time samples over the stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .core import animation
from .core.air import OFF, Air
from .core.qualities import NORMAL
from .simulation.engine import PREVIEW
from .simulation.live_values import LiveValues
from .simulation.record import Animation, Changing, Recording, engine_silenced, frame_count, record, refuse_lost
from .simulation.world import World

if TYPE_CHECKING:
    from .core.model import PhysicsModel
    from .usd.time_samples import Clock


@dataclass(slots=True)
class StageMotion:
    """movers: paths of the prims that the stage itself moves. clock: time codes of the frames."""

    model: PhysicsModel
    world: World
    recording: Recording
    movers: tuple[str, ...]
    clock: Clock


def simulate_stage(
    stage: Any, seconds: float, *, fps: float | None = None, substeps: int = 0, quality: str = NORMAL,
    with_loads: bool = False, engine: str = PREVIEW, least_impulse: float | None = None, air: Air = OFF,
) -> StageMotion:  # fmt: skip
    """Simulate a stage from its first frame. fps: frames per second; None for those of the stage.

    engine: of `engine.solvers`. least_impulse: see `record`. Raises InputError where it stops or a body is nowhere,
    UsageError for too long a time.
    """
    from .usd import read as usd_read
    from .usd import time_samples

    clock = time_samples.Clock(stage, fps)
    model = usd_read.read_stage(stage)
    model.air = air
    time_samples.move_to(stage, model, clock.at(0))
    refuse_lost(model)
    for path in time_samples.animated(stage, model.bodies):
        # Its motion in the file counts, and no velocity that it keeps in glTF.
        model.prims[path].is_animated = True
    with engine_silenced():
        start = clock.seconds(0)
        model.put(animation.at(model.animated, start))
        world = World(model, time_step=1.0 / clock.fps, substeps=substeps, quality=quality, engine=engine)
        movers = _movers(stage, world)
        values = Changing(LiveValues(world, model), lambda frame: animation.at(model.animated, clock.seconds(frame)))
        recording = record(
            world, frame_count(world, seconds), lambda frame: time_samples.worlds_at(stage, movers, clock.at(frame)),
            with_loads=with_loads, values=values if model.animated else None, least_impulse=least_impulse,
            looks_ahead=bool(movers),
        )  # fmt: skip
    return StageMotion(model, world, recording, movers, clock)


def _movers(stage: Any, world: World) -> tuple[str, ...]:
    """Paths of the bodies and static colliders that time samples move."""
    from .usd import time_samples

    moved = [
        path for path, kinematic in zip(world.paths, world.kinematic, strict=True)
        if kinematic or path in world.switching
    ]  # fmt: skip
    return time_samples.animated(stage, (*moved, *world.static_colliders))


def animation_of(stage: Any, model: PhysicsModel, clock: Clock, frames: int) -> Animation | None:
    """What is animated in a stage at its first frames, None if nothing is. The model gets the values of the first."""
    from .usd import time_samples

    model.put(animation.at(model.animated, clock.seconds(0)))
    with engine_silenced():
        movers = _movers(stage, World(model))
    if not movers and not model.animated:
        return None
    places = [time_samples.worlds_at(stage, movers, clock.at(frame)) for frame in range(frames + 1)]
    values = [animation.at(model.animated, clock.seconds(frame)) for frame in range(frames + 1)]
    return Animation(places, values if model.animated else [])


def write_cache(
    stage: Any, target: Path, motion: StageMotion, recording: Recording,
    points: Mapping[str, NDArray[np.float64]] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Write a layer over a stage with the poses of all dynamic bodies as time samples. Raises OutputError.

    recording: that of the motion, or of another simulator. points: of deformables (f, k, 3) by path, m, in the world
    with Z up.
    """
    from .usd import time_samples

    dynamic = ~recording.kinematic
    moves = motion.world.switching | motion.world.coasting.keys()
    dynamic |= np.array([path in moves for path in recording.paths], bool)
    paths = [path for path, chosen in zip(recording.paths, dynamic, strict=True) if chosen]
    units = motion.model.units
    placed = {path: each @ units.to_z_up / units.meters_per_unit for path, each in points.items()}
    time_samples.write_bake(stage, target, paths, recording.in_stage(units)[:, dynamic], motion.clock, placed)
