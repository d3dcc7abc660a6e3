# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex parts of meshes: by the engine of the preview at once, or by CoACD in a process of its own; measured."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
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
    parts: list[Surface]
    misfit: Misfit


def split(surface: Surface, wanted: Wanted) -> Steps[Split]:
    """The fewest convex parts of a closed mesh that fit as is wanted, and how well they do.

    Where even the finest ones do not, these are returned. Raises InputError for a mesh that is flat or cannot be split,
    and where CoACD is not here.
    """
    yield Next(0.0, "measuring the mesh")
    meter = MisfitMeter(surface)
    pieces = None
    if wanted.method == "precise":
        pieces = yield from _by_coacd(surface, wanted)
    yield Next(0.8, "convex parts")
    # The faces of parts that the engine has joined are not those of their hulls.
    hulls: dict[int, Surface] = {}
    kept: list[Surface] = []

    def hulls_of(parts: Sequence[Surface]) -> list[Surface]:
        for part in parts:
            if id(part) not in hulls:
                kept.append(part)
                hulls[id(part)] = hull(part.points) or part
        return [hulls[id(part)] for part in parts]

    def error(parts: Sequence[Surface]) -> float:
        return sum(meter.error(hulls_of(parts)))

    parts = hulls_of(preview_engine().decompose(
        surface, wanted.most, pieces, error if wanted.error > 0.0 else None, wanted.error
    ))  # fmt: skip
    return Split(parts, meter.misfit(parts))


def python_with_coacd(chosen: str = "") -> str:
    """A Python that has CoACD. Raises InputError, which says how to get it."""
    python = chosen or os.environ.get(VARIABLE, "")
    if not python and importlib.util.find_spec("coacd") is not None:
        python = sys.executable
    if not python:
        raise InputError(
            "CoACD is not here: install it into this Python with 'python -m pip install coacd', or name the Python of "
            f"an environment that has it in {VARIABLE}."
        )
    if not os.access(python, os.X_OK) or not Path(python).is_file():
        raise InputError(f"'{python}' is not a program; choose the python of an environment that has CoACD.")
    return python


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Wait for its end, but not for long."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(0.02)
    return child.returncode is not None


def _by_coacd(surface: Surface, wanted: Wanted) -> Steps[list[Surface]]:
    """Parts by CoACD. Closing the generator ends its process."""
    python = python_with_coacd(wanted.python)
    threshold = min(_COARSEST, max(_FINEST, wanted.error / 2.0)) if wanted.error else 0.05
    with tempfile.TemporaryDirectory(prefix="usdphys-run-") as name:
        folder = Path(name)
        np.savez(folder / "mesh.npz", points=surface.points, triangles=surface.triangles)
        command = [python, str(_PROGRAM), str(folder / "mesh.npz"), repr(threshold), str(folder / "parts.npz")]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONHOME"}
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
