# SPDX-License-Identifier: GPL-3.0-or-later
"""What the functions of the API return, as plain values that hold nothing of Blender or USD."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.nearest import did_you_mean
from ..core.units import SI, StageUnits
from ..core.validate import Issue
from ..system.files import checked, write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..simulation.record import Recording


@dataclass(frozen=True, slots=True)
class Report:
    """What an action on objects has done. text: as one sentence. notes: what it left out, and why. objects: names."""

    text: str
    notes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of a file. issues: what did not come through, and what is wrong. counts: prims with physics, by kind.

    objects: names of the objects that an import has made.
    """

    path: Path
    issues: tuple[Issue, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixReport:
    """fixed: number of issues that are fixed. refused: why others could not be. left: the issues that remain.

    notes: what else has changed in the file.
    """

    fixed: int
    refused: tuple[str, ...]
    left: tuple[Issue, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """The poses of all bodies of a simulation: world space, metres, Z up.

    fps: frames per second. bodies: paths of their prims, n of them. names: of the objects in Blender, or of the prims.
    positions (f, n, 3): of the origins. rotations (f, n, 4): quaternions (w, x, y, z). kinematic: True for each body
    that is animated and not simulated. issues: what is simulated in another way than the physics says. broken: paths of
    the joints that broke, with the time of each in seconds. Frame 0 is the start.
    """

    fps: float
    bodies: tuple[str, ...]
    names: tuple[str, ...]
    positions: NDArray[Any]
    rotations: NDArray[Any]
    kinematic: tuple[bool, ...]
    issues: tuple[Issue, ...]
    broken: Mapping[str, float]
    _recording: Recording = field(repr=False)
    _units: StageUnits = field(repr=False, default=SI)

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return (len(self.positions) - 1) / self.fps

    def row(self, body: str) -> int:
        """The place of a body in the arrays, by its path or name. Raises InputError with the nearest name."""
        for names in (self.bodies, self.names):
            if body in names:
                return names.index(body)
        raise InputError(f"No body '{body}' was simulated{did_you_mean(body, (*self.bodies, *self.names))}")

    def position(self, body: str, frame: int = -1) -> tuple[float, float, float]:
        """Where a body is at a frame, metres. frame: from 0, or from the end with a minus sign."""
        x, y, z = map(float, self.positions[frame, self.row(body)])
        return x, y, z

    def rotation(self, body: str, frame: int = -1) -> tuple[float, float, float, float]:
        """How a body is turned at a frame: (w, x, y, z)."""
        w, x, y, z = map(float, self.rotations[frame, self.row(body)])
        return w, x, y, z

    def as_json(self) -> dict[str, Any]:
        """The poses as the command line writes them: units and axes of the stage, see the page of the command line."""
        return self._recording.as_json(self._units)

    def write_json(self, path: str | Path) -> Path:
        """Write `as_json` to a file, which is replaced when it is complete. Raises OutputError."""
        target = Path(path).absolute()
        checked(target)
        write_text(target, json.dumps(self.as_json(), allow_nan=False))
        return target
