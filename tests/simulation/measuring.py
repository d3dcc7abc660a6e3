# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a measure in a world of the preview."""

from __future__ import annotations

from usdphys_ext.usdphys_addon.simulation.record import record
from usdphys_ext.usdphys_addon.simulation.world import World

from .measures import RATE, Measure, Motion


def moved(world: World, case: Measure) -> Motion:
    """The motion of all bodies of a world during a measure."""
    from usdphys_ext.usdphys_addon.core import frames

    # Of two with one name the first: what is built beside a measure comes later.
    paths = {path.rsplit("/", 1)[-1]: path for path in reversed(world.paths)}

    def movers(frame: int):
        found = {}
        for name, pose in case.movers.items():
            place, turn = pose(frame / RATE)
            found[paths[name]] = frames.transform(place, frames.matrix_of(turn))
        return found

    recording = record(world, round(case.seconds * RATE), movers)
    rows = {name: recording.paths.index(path) for name, path in paths.items()}
    return Motion(
        {name: recording.positions[:, row] for name, row in rows.items()},
        {name: recording.rotations[:, row] for name, row in rows.items()},
    )
