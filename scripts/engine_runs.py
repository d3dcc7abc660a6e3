# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs PhysX or Newton, each in a Python of its own, over USD files, and reads the poses of their bodies."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("physx", "newton")
#: Seconds after which a simulator that says nothing is ended.
LIMIT = 300.0


def add_options(parser: argparse.ArgumentParser, *engines: str) -> None:
    """An option for the Python of each simulator, or of these."""
    for engine in engines or ENGINES:
        python = os.environ.get(f"{engine.upper()}_PYTHON", "")
        parser.add_argument(f"--{engine}", default=python, metavar="PYTHON", help=f"a Python with {engine}")


def chosen(options: argparse.Namespace) -> dict[str, str]:
    """The Pythons that are named, by simulator. Says which simulators are left out."""
    found = {engine: getattr(options, engine) for engine in ENGINES if hasattr(options, engine)}
    for engine in (engine for engine, python in found.items() if not python):
        print(f"{engine} is left out: name its Python with --{engine}", file=sys.stderr)
    return {engine: python for engine, python in found.items() if python}


def poses(
    engine: str, python: str, files: Sequence[Path], steps: int | Sequence[int], seconds: float, *, quiet: bool = False,
    by_path: bool = False,
) -> list[dict[str, Any] | None]:  # fmt: skip
    """By file: x, y, z and a quaternion x, y, z, w, (steps + 1, 7), of each body by the name of its prim, or its path,
    in the units of the file; None for a file that the simulator refuses. One process simulates all, because it takes
    long to start; another goes on after a file that ends or halts it. Errors go to the standard error unless quiet."""
    numbers = [steps] * len(files) if isinstance(steps, int) else steps
    with tempfile.TemporaryDirectory() as folder:
        targets = [Path(folder) / f"{number}.npz" for number in range(len(files))]
        jobs = [
            (str(file.absolute()), str(number), repr(seconds), str(target))
            for file, number, target in zip(files, numbers, targets, strict=True)
        ]
        first = 0
        while first < len(jobs):
            if _run(engine, python, [text for job in jobs[first:] for text in job], Path(folder), quiet=quiet):
                break
            # Where it ended there are no poses.
            first = max((place for place, target in enumerate(targets) if target.is_file()), default=first - 1)
            first += 2
        return [_read(target, by_path=by_path) if target.is_file() else None for target in targets]


def _run(engine: str, python: str, jobs: list[str], folder: Path, *, quiet: bool) -> bool:
    """Run the program of a simulator. Returns whether it has come to the end of its jobs."""
    program = ROOT / "usdphys_addon" / "simulation" / "engines" / f"run_{engine}.py"
    # Modules of this Python must not come before those of the other one.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    log, size = folder / "log.txt", -1
    with log.open("wb") as stream, subprocess.Popen(
        [python, str(program), *jobs], stdout=stream, stderr=subprocess.STDOUT, env=environment, cwd=folder
    ) as process:  # fmt: skip
        while process.poll() is None and size < (size := log.stat().st_size):
            try:
                process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                continue
        process.kill()
    if process.returncode and not quiet:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print(*(line for line in lines if not line.startswith("step ")), sep="\n", file=sys.stderr)
    return process.returncode in (0, 1)


def _read(file: Path, *, by_path: bool) -> dict[str, Any]:
    with np.load(file) as found:
        names = [str(name) if by_path else str(name).rsplit("/", 1)[-1] for name in found["names"]]
        return {name: found["poses"][:, row] for row, name in enumerate(names)}
