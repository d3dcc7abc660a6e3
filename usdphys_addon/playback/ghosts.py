# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths of the runs of a search or of variations, for the 3D view; one of them is the best, or the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bridge.environment import redraw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # Imported late: panels look whether there are ghosts, and must not wait for what makes them.
    from ..aiming.aim import Run
    from ..aiming.freedoms import Freedom

#: Runs of a search whose paths are kept. The oldest go first, but for the best one.
MOST = 300


@dataclass(slots=True)
class Ghosts:
    """ways: of each run (f, b, 3), Blender units, of b bodies. best: number of the run that is drawn first.

    meters: length of a Blender unit. freedoms: of variations, with the values (n,) of each run; empty of a search.
    change: differs after each change.
    """

    scene_name: str
    meters: float
    freedoms: Sequence[Freedom] = ()
    ways: list[NDArray[np.float32]] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    best: int = 0
    change: int = 0

    def add(self, run: Run, paths: Sequence[str], *, is_best: bool) -> None:
        """Add the paths of bodies in a run; of a run that was lost there are none."""
        if not run.paths:
            return
        rows = [run.paths.index(path) for path in dict.fromkeys(paths)]
        self.ways.append((run.positions[:, rows] / self.meters).astype(np.float32))
        if is_best:
            self.best = len(self.ways) - 1
        if self.freedoms:
            self.values.append(run.values)
        elif len(self.ways) > MOST:
            oldest = 1 if self.best == 0 else 0
            del self.ways[oldest]
            self.best -= self.best > oldest
        self._changed()

    def choose(self, step: int) -> None:
        """Draw the run first that is so many further on."""
        self.best = (self.best + step) % len(self.ways)
        self._changed()

    def _changed(self) -> None:
        self.change += 1
        redraw("VIEW_3D")


#: At most one.
_current: list[Ghosts] = []


def current() -> Ghosts | None:
    """The ghosts that are shown."""
    return _current[0] if _current else None


def variations() -> Ghosts | None:
    """Those of variations, one of which may be chosen."""
    return next((one for one in _current if one.freedoms and one.ways), None)


def begin(scene_name: str, meters: float, freedoms: Sequence[Freedom] = ()) -> Ghosts:
    """Show new ghosts in place of others. meters: length of a Blender unit. freedoms: of variations."""
    _current[:] = [Ghosts(scene_name, meters, freedoms)]
    return _current[0]


def drop() -> None:
    """Show none."""
    _current.clear()
    redraw("VIEW_3D")
