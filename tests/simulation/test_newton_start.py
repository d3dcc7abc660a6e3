# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program for Newton's Python hands to the solver. Modules stand for Newton and Warp, which are not here."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PROGRAM = Path(__file__).parents[2] / "usdphys_addon" / "simulation" / "engines" / "run_newton.py"
#: One hinge at 0.5 rad in the pose of the file. As in Newton, states and the model have coordinates each.
NEWTON = """
import numpy as np

class Array:
    def __init__(self, *values):
        self.values = np.array(values, float)
    def numpy(self):
        return self.values.copy()

class State:
    def __init__(self):
        self.joint_q, self.joint_qd, self.body_q = Array(0.0), Array(0.0), Array([0.5] + [0.0] * 6)
    def clear_forces(self):
        pass

class Model:
    joint_count = body_count = 1
    body_label = ["/B"]
    def __init__(self):
        self.joint_q, self.joint_qd = Array(0.0), Array(0.0)
    def state(self):
        return State()
    def control(self):
        return None

class ModelBuilder:
    def add_usd(self, file, load_visual_shapes):
        pass
    def finalize(self):
        return Model()

def eval_ik(model, state, joint_q, joint_qd):
    joint_q.values[0] = state.body_q.values[0, 0]

def eval_fk(model, joint_q, joint_qd, state):
    state.body_q.values[0, 0] = joint_q.values[0]

class solvers:
    class SolverMuJoCo:
        def __init__(self, model, use_mujoco_cpu):
            pass
        def step(self, now, after, control, contacts, seconds):
            after.joint_q.values[:] = now.joint_q.values
            after.body_q.values[0, 0] = now.joint_q.values[0]
"""
WARP = """
import contextlib

class config:
    quiet = False

def ScopedDevice(name):
    return contextlib.nullcontext()
"""


def test_the_solver_of_newton_starts_at_the_angles_of_the_file_and_stays_there(tmp_path):
    """It went on from zero: bodies were in their poses at the first frame, and straight from the second one on."""
    for name, text in (("newton", NEWTON), ("warp", WARP)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "none.usda", "3", "0.01", str(tmp_path / "poses.npz")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True)
    with np.load(tmp_path / "poses.npz") as found:
        assert found["poses"][:, 0, 0].tolist() == [0.5] * 4
