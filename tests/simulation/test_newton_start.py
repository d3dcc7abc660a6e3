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
import os
import numpy as np

class Data:
    time = 0.0

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
            self.mj_data = Data()
        def step(self, now, after, control, contacts, seconds):
            self.mj_data.time += seconds
            if os.environ.get("LOST") and self.mj_data.time > 0.02:
                self.mj_data.time = seconds
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


def run(folder, **environment):
    """Poses of the hinge, (4,)."""
    for name, text in (("newton", NEWTON), ("warp", WARP)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "none.usda", "3", "0.01", str(folder / "poses.npz")]
    every = {**os.environ, "PYTHONPATH": str(folder), **environment}
    subprocess.run(command, check=True, env=every, capture_output=True)
    with np.load(folder / "poses.npz") as found:
        return found["poses"][:, 0, 0].tolist()


def test_the_solver_of_newton_starts_at_the_angles_of_the_file_and_stays_there(tmp_path):
    """It went on from zero: bodies were in their poses at the first frame, and straight from the second one on."""
    assert run(tmp_path) == [0.5] * 4


def test_poses_are_no_numbers_once_mujoco_has_lost_a_body_and_begun_anew(tmp_path):
    """It resets itself silently: a ragdoll jumped back to where it fell from, and the run was a success."""
    poses = run(tmp_path, LOST="1")
    assert poses[:2] == [0.5] * 2 and np.isnan(poses[3])
