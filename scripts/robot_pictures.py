# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the manual's pictures of a robot from a URDF, in a real window (see `make ui`).

    .venv/bin/python scripts/robot_pictures.py [URDF]

The Blender of the window is built without USD. So the robot is imported by the command line, with the Blender of this
Python, and the window opens the .blend. The pictures go to build/ui, from where they are copied to docs/pictures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ui"))
import window

ROOT = Path(__file__).resolve().parent.parent
ROBOT = Path(__file__).resolve().parent / "robot.urdf"


def main(robot: Path) -> None:
    """Import, open, take."""
    runner: Any = window
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "robot.blend"
        command = [sys.executable, "-m", "usdphys_addon", "convert", str(robot), str(blend)]
        subprocess.run(command, cwd=ROOT, check=True)
        runner.run("robot", runner.build_zip(Path(folder)), (blend,))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROBOT)
