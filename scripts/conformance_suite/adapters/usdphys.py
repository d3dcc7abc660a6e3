# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines of USD Physics: `run.py adapters/usdphys.py preview`, or mujoco, physx or newton.

USDPHYS is the command that is called, by default `usdphys`, which `pip install usdphys` brings.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def simulate(file, seconds, rate, engine="preview"):
    command = shlex.split(os.environ.get("USDPHYS", "usdphys"))
    if shutil.which(command[0]) is None:
        raise SystemExit(f"'{command[0]}' is not found: pip install usdphys, or name the command with USDPHYS.")
    with tempfile.TemporaryDirectory() as folder:
        poses = Path(folder, "poses.json")
        wanted = ["simulate", file, "--seconds", repr(seconds), "--fps", str(rate), "--engine", engine]
        done = subprocess.run([*command, *wanted, "--json", poses, "--quiet"], capture_output=True, text=True)
        if done.returncode or not poses.is_file():
            raise NotImplementedError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no poses")
        bodies = json.loads(poses.read_text())["bodies"]
    poses = {path: np.hstack([body["translation"], body["rotation"]]) for path, body in bodies.items()}
    if Path(file).suffix == ".usda":
        return poses
    # Blender has Z up, the file Y up.
    return {path: rows[:, [0, 2, 1, 3, 4, 6, 5]] * [1, 1, -1, 1, 1, 1, -1] for path, rows in poses.items()}
