# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex parts of meshes: by the engine of the preview at once, or by CoACD in a process of its own; measured."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ..core import clock
from ..core.errors import InputError
from ..core.fitting import Surface, hull
from ..core.misfit import Misfit, MisfitMeter
from ..core.steps import Next, Steps
from ..core.words import counted
from ..system import limits
from .engine import preview_engine

Method = Literal["fast", "precise"]
#: Environment variable with the path of a Python that has CoACD.
VARIABLE = "USDPHYS_COACD_PYTHON"
_PROGRAM = Path(__file__).absolute().parent / "engines" / "run_coacd.py"
#: CoACD's concavity for parts that are to be joined until an error is reached: finer ones take far longer.
_FINEST, _COARSEST = 0.02, 0.3
_LONGEST = 900.0
#: Errors whose least number of parts is told.
SUGGESTED = (0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True, slots=True)
class Wanted:
    """method: fast, in this process, or precise, by CoACD. error: largest sum of what is missing and added, of the
    volume of the mesh; 0: `most` parts, however well they fit. python: that has CoACD; empty: this one, or VARIABLE's.
    """

    method: Method = "fast"
    error: float = 0.0
    most: int = 16
    python: str = ""


class Split(NamedTuple):
    """fewest: how many parts each error of SUGGESTED needs, as far as one is reached."""

    parts: list[Surface]
    misfit: Misfit
    fewest: dict[float, int]


class Series:
    """The convex parts of a mesh, joined pair by pair down to one, and how well each of these stages fits."""

    def __init__(self, surface: Surface, pieces: Sequence[Surface] | None) -> None:
        """pieces: of another program; None: of the engine of the preview. Raises InputError."""
        self.surface, self.meter = surface, MisfitMeter(surface)
        #: From one part to the finest.
        self.stages: list[list[Surface]] = []

        def keep(parts: Sequence[Surface]) -> float:
            self.stages.append(list(parts))
            return 1.0

        finest = preview_engine().decompose(surface, 1, pieces, keep, 0.0)
        self.stages = self.stages or [finest]
        # The faces of parts that the engine has joined are not those of their hulls.
        self._hulls: dict[int, tuple[Surface, Surface]] = {}
        self._errors: dict[int, float] = {}
        self._splits: dict[tuple[float, int], tuple[list[Surface], Misfit]] = {}

    def _hulls_of(self, parts: Sequence[Surface]) -> list[Surface]:
        for part in parts:
            if id(part) not in self._hulls:
                # With the part itself, whose number is then not given to another one.
                self._hulls[id(part)] = part, hull(part.points) or part
        return [self._hulls[id(part)][1] for part in parts]

    def error(self, row: int) -> float:
        """Of a stage, as `Misfit.error`."""
        if row not in self._errors:
            self._errors[row] = sum(self.meter.error(self._hulls_of(self.stages[row])))
        return self._errors[row]

    def row_within(self, error: float) -> int | None:
        """The stage of the fewest parts within an error; None if the finest is not."""
        return next((row for row in range(len(self.stages)) if self.error(row) <= error), None)

    def split(self, error: float, most: int) -> tuple[list[Surface], Misfit]:
        """The fewest parts within an error, or the finest; without an error at most so many."""
        key = (error, 0 if error > 0.0 else most)
        if key not in self._splits:
            if error > 0.0:
                row = self.row_within(error)
                parts = self.stages[-1 if row is None else row]
            else:
                parts = preview_engine().decompose(self.surface, most, self.stages[-1])
            made = self._hulls_of(parts)
            self._splits[key] = made, self.meter.misfit(made)
        return self._splits[key]

    def fewest(self) -> dict[float, int]:
        """See `Split`."""
        found = {error: self.row_within(error) for error in SUGGESTED}
        return {error: len(self.stages[row]) for error, row in found.items() if row is not None}


#: The series that were made last, so that a slider that moves divides a mesh once.
KEPT: OrderedDict[tuple[str, ...], Series] = OrderedDict()
_MOST_KEPT = 8


def split(surface: Surface, wanted: Wanted) -> Steps[Split]:
    """The fewest convex parts of a closed mesh that fit as is wanted, and how well they do.

    Where even the finest ones do not, these are returned. Raises InputError for a mesh that is flat or cannot be split,
    and where CoACD is not here.
    """
    threshold = min(_COARSEST, max(_FINEST, wanted.error / 2.0)) if wanted.error else 0.05
    mesh = hashlib.sha256(surface.points.tobytes() + surface.triangles.tobytes()).hexdigest()
    key = (mesh, wanted.method, *((wanted.python, repr(threshold)) if wanted.method == "precise" else ()))
    series = KEPT.get(key)
    if series is None:
        pieces = None
        if wanted.method == "precise":
            pieces = yield from _by_coacd(surface, wanted.python, threshold)
        yield Next(0.8, "convex parts")
        series = Series(surface, pieces)
        KEPT[key] = series
        while len(KEPT) > _MOST_KEPT:
            KEPT.popitem(last=False)
    KEPT.move_to_end(key)
    yield Next(0.9, "measuring the parts")
    parts, misfit = series.split(wanted.error, wanted.most)
    return Split(parts, misfit, series.fewest())


def python_with_coacd(chosen: str = "") -> str:
    """A Python that has CoACD. Raises InputError, which says how to get it."""
    python = chosen or os.environ.get(VARIABLE, "")
    if not python and importlib.util.find_spec("coacd") is not None:
        python = sys.executable
    if not python:
        raise InputError(
            "CoACD is not here: install the extension USD Physics Engines in Blender, or 'python -m pip install coacd' "
            f"in this Python, or name the Python of an environment that has it in {VARIABLE}."
        )
    if not os.access(python, os.X_OK) or not Path(python).is_file():
        raise InputError(f"'{python}' is not a program; choose the python of an environment that has CoACD.")
    return python


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Wait for its end, but not for long."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(0.02)
    return child.returncode is not None


def _by_coacd(surface: Surface, python: str, threshold: float) -> Steps[list[Surface]]:
    """Parts by CoACD. Closing the generator ends its process."""
    python = python_with_coacd(python)
    with tempfile.TemporaryDirectory(prefix="usdphys-run-") as name:
        folder = Path(name)
        np.savez(folder / "mesh.npz", points=surface.points, triangles=surface.triangles)
        command = [python, str(_PROGRAM), str(folder / "mesh.npz"), repr(threshold), str(folder / "parts.npz")]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONHOME"}
        own = importlib.util.find_spec("coacd") if python == sys.executable else None
        if own is not None and own.origin:
            # The Python of Blender does not know by itself where Blender puts the wheels of extensions.
            environment["PYTHONPATH"] = str(Path(own.origin).parent.parent)
        start = clock.now()
        with (folder / "log.txt").open("wb") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
            watch = limits.Watch(child.pid, child.kill, limits.memory(), min(_LONGEST, limits.seconds()))
            try:
                while not _has_ended(child):
                    seconds = clock.now() - start
                    yield Next(0.8 * seconds / (seconds + 10.0), "CoACD")
            finally:
                watch.close()
                if child.poll() is None:
                    child.kill()
                child.wait()
        if watch.exceeded:
            raise InputError(f"CoACD took {watch.exceeded}; allow a larger error, or take a mesh of fewer faces")
        if child.returncode or not (folder / "parts.npz").is_file():
            lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise InputError(f"CoACD ended without parts ({lines[-1][:200] if lines else 'it says nothing'})")
        with np.load(folder / "parts.npz") as found:
            made = [hull(found[key]) for key in found.files]
    return [part for part in made if part is not None]


def described(parts: Sequence[Surface], misfit: Misfit) -> str:
    """Numbers of a split as a sentence without its end."""
    return (
        f"{counted(len(parts), 'part')}, {misfit.missing:.1%} missing, {misfit.extra:.1%} added, "
        f"at most {misfit.distance:.3g} m away"
    )


def suggested(fewest: Mapping[float, int]) -> str:
    """Numbers of parts for errors as a sentence without its end; empty if none is reached."""
    return ", ".join(f"{error:.0%}: {counted(count, 'part')}" for error, count in fewest.items())
