# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the manual's pictures of a robot from a URDF, in a real window with USD (see `make ui`).

    .venv/bin/python scripts/robot_pictures.py [URDF]

The pictures go to build/ui, from where they are copied to docs/pictures.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ui"))
import window

ROBOT = Path(__file__).resolve().parent / "robot.urdf"


def main(robot: Path) -> None:
    """Import, undo, pose, play, export; take a picture of each."""
    runner: Any = window
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf"
        shutil.copy(robot, file)
        print(runner.run("robot", runner.build_zip(Path(folder)), (file,), usd=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROBOT)
