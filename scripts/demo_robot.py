# SPDX-License-Identifier: GPL-3.0-or-later
"""One robot in three formats, URDF, USD and MJCF, in the engines that this Python has. `demo.py` runs it.

    .venv-usd/bin/python scripts/demo_robot.py FOLDER

Writes robot.urdf, robot.usda and robot.xml, each made of the one before, and lets each move for half a second in the
preview and in MuJoCo. Prints a line for each run. Exit status 1 where a body ends elsewhere than in the first run.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from usdphys_addon import cli  # noqa: E402

FILES = ("robot.urdf", "robot.usda", "robot.xml")
SECONDS = 0.5
#: m, by which the bodies of two runs may be apart at the end: of two formats in one engine, and of two engines.
FORMATS, ENGINES = 1e-4, 3e-3


def command(*arguments: str) -> None:
    status = cli.main(["--quiet", *arguments])
    if status:
        sys.exit(f"'usdphys {' '.join(arguments)}' ended with status {status}")


def ends(file: Path, engine: str) -> dict[str, np.ndarray]:
    """Where each body is at the end, by name."""
    poses = file.with_suffix(f".{engine}.json")
    command("simulate", str(file), "--engine", engine, "--seconds", str(SECONDS), "--json", str(poses))
    bodies = json.loads(poses.read_text(encoding="utf-8"))["bodies"]
    poses.unlink()
    return {path.rpartition("/")[2]: np.array(pose["translation"][-1]) for path, pose in bodies.items()}


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest distance, m, of bodies that both have: MJCF has none for what stands still."""
    common = one.keys() & other.keys()
    return max((float(np.linalg.norm(one[name] - other[name])) for name in common), default=np.inf)


def main(folder: Path) -> int:
    shutil.copyfile(ROOT / "scripts" / FILES[0], folder / FILES[0])
    for source, target in itertools.pairwise(FILES):
        command("convert", str(folder / source), str(folder / target))
    engines = ["preview"] + ["mujoco"] * (importlib.util.find_spec("mujoco") is not None)
    first, bad = None, 0
    for engine in engines:
        start = None
        for name in FILES:
            found = ends(folder / name, engine)
            first, start = first or found, start or found
            gaps = apart(found, start), apart(found, first)
            bad += gaps[0] > FORMATS or gaps[1] > ENGINES
            print(
                f"{name} in {engine}: {1e3 * gaps[0]:.3f} mm from {FILES[0]}, {1e3 * gaps[1]:.3f} mm from the preview"
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
