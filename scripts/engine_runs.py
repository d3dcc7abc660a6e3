# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs PhysX or Newton, each in a Python of its own, over USD files, and reads the poses of their bodies."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
#: Seconds for all files of a run.
LIMIT = 1800.0


def run(engine: str, python: str, jobs: Sequence[str], folder: Path, *, quiet: bool = False) -> None:
    """Run the program of a simulator. jobs: file, number of steps, seconds of a step, file for the poses, of each run.

    What fails writes no poses; its reason is in a log in the folder, and on the standard error unless quiet.
    """
    program = ROOT / "usdphys_addon" / "simulation" / "engines" / f"run_{engine}.py"
    # Modules of this Python must not come before those of the other one.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    log = folder / f"{engine}.log"
    with log.open("wb") as stream:
        done = subprocess.run(
            [python, str(program), *jobs], stdout=stream, stderr=subprocess.STDOUT, env=environment, cwd=folder,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if done.returncode else ():
        if not (quiet or line.startswith("step ")):
            print(line, file=sys.stderr)


def poses(
    engine: str, python: str, files: Sequence[Path], steps: int, seconds: float, *, quiet: bool = False
) -> list[dict[str, Any] | None]:
    """By file: x, y, z and a quaternion x, y, z, w, (steps + 1, 7), of each body by the name of its prim, in the units
    of the file; None for a file that the simulator refuses. One process simulates all."""
    with tempfile.TemporaryDirectory() as folder:
        targets = [Path(folder) / f"{number}.npz" for number in range(len(files))]
        jobs = [
            text
            for file, target in zip(files, targets, strict=True)
            for text in (str(file.absolute()), str(steps), repr(seconds), str(target))
        ]
        run(engine, python, jobs, Path(folder), quiet=quiet)
        return [_read(target) if target.is_file() else None for target in targets]


def _read(file: Path) -> dict[str, Any]:
    with np.load(file) as found:
        return {str(name).rsplit("/", 1)[-1]: found["poses"][:, row] for row, name in enumerate(found["names"])}
