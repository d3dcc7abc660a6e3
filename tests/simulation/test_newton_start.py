# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program for Newton's Python hands to the solver. Modules stand for Newton and Warp, which are not here."""

import importlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from deformable_stages import cloth
from pxr import UsdPhysics

PROGRAM = Path(__file__).parents[2] / "usdphys_addon" / "simulation" / "engines" / "run_newton.py"
# Where Python looks for what the program imports.
sys.path.append(str(PROGRAM.parent))
run_newton = importlib.import_module("run_newton")
#: One hinge at 0.5 rad in the pose of the file. As in Newton, states and the model have coordinates each, and the angle
#: that poses have may be said with a whole turn more.
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
    def assign(self, values):
        self.values[:] = values

class Rows(Array):
    def numpy(self):
        return self.values.astype(int)

class JointType:
    REVOLUTE = 1

class State:
    def __init__(self):
        self.joint_q, self.joint_qd, self.body_q = Array(0.0), Array(0.0), Array([0.5] + [0.0] * 6)
        self.body_qd = Array([0.0] * 6)
    def clear_forces(self):
        pass
    def assign(self, other):
        for name, array in vars(other).items():
            getattr(self, name).values[:] = array.values

class Model:
    joint_count = body_count = 1
    body_label = ["/B"]
    def shape_collision_filter_pairs_array(self):
        return np.array([[0, 2], [1, 3]])
    def __init__(self):
        self.joint_q, self.joint_qd = Array(0.0), Array(0.0)
        self.joint_type, self.joint_q_start, self.joint_qd_start = Rows(1), Rows(0), Rows(0)
        self.joint_limit_lower, self.joint_limit_upper = Array(-3.0), Array(3.0)
    def state(self):
        return State()
    def control(self):
        return None

class ModelBuilder:
    particle_q = tet_indices = particle_radius = ()
    joint_label, joint_articulation, joint_parent = ["/J"], [0], [-1]
    def __init__(self):
        self.joint_limit_lower, self.joint_limit_upper = [0.5 if os.environ.get("LOCKED") else -3.0], [0.5]
    def add_usd(self, file, load_visual_shapes, return_deformable_results):
        return {}
    def finalize(self):
        print("range", self.joint_limit_upper[0] - self.joint_limit_lower[0])
        return Model()

def eval_ik(model, state, joint_q, joint_qd):
    joint_q.values[0] = state.body_q.values[0, 0] + 2.0 * np.pi * bool(os.environ.get("TURNED"))

def eval_fk(model, joint_q, joint_qd, state):
    state.body_q.values[0, 0] = joint_q.values[0]

class Geometry:
    geom_contype, geom_conaffinity = np.array([1, 2, 4, 2]), ~np.array([1, 2, 4, 2])
    eq_solref, geom_bodyid = np.array([[0.02, 1.0]]), np.arange(1, 5)
    dof_solref, dof_solimp = np.array([[0.02, 1.0]]), np.array([[0.9, 0.95, 0.001, 0.5, 2.0]])

class solvers:
    class SolverMuJoCo:
        def __init__(self, model, use_mujoco_cpu, cone, impratio):
            self.mj_data, self.mj_model = Data(), Geometry()
            # Shapes 2, 1, 0 and 3, of which 1 and 3 are in one group; 0 and 2 are not, although they are filtered.
            self.mjc_geom_to_newton_shape = Array([2, 1, 0, 3])
        def step(self, now, after, control, contacts, seconds):
            print("holds by", self.mj_model.dof_solimp[0, 0], "in", self.mj_model.dof_solref[0, 0])
            self.mj_data.time += seconds
            if os.environ.get("LOST") and self.mj_data.time > 0.02:
                self.mj_data.time = seconds
            after.joint_q.values[:] = now.joint_q.values
            after.body_q.values[0, 0] = now.joint_q.values[0]
"""
MUJOCO = """
def mj_resetData(model, data):
    data.time = 0.0

def set_mjcb_contactfilter(is_filtered):
    if is_filtered is None:
        return
    pairs = [(one, other) for one in range(4) for other in range(one)]
    print("apart", [pair for pair in pairs if is_filtered(None, None, *pair)])
"""
WARP = """
import contextlib

class config:
    quiet = False

def ScopedDevice(name):
    return contextlib.nullcontext()
"""


def run(folder, **environment):
    """Poses of the hinge, (4,), and what is printed."""
    for name, text in (("newton", NEWTON), ("mujoco", MUJOCO), ("warp", WARP)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "none.usda", "3", "0.01", str(folder / "poses.npz")]
    every = {**os.environ, "PYTHONPATH": str(folder), **environment}
    text = subprocess.run(command, check=True, env=every, capture_output=True, text=True).stdout
    with np.load(folder / "poses.npz") as found:
        return found["poses"][:, 0, 0].tolist(), text


@pytest.mark.slow
def test_the_solver_of_newton_starts_at_the_angles_of_the_file_and_stays_there(tmp_path):
    """It went on from zero: bodies were in their poses at the first frame, and straight from the second one on."""
    assert run(tmp_path)[0] == [0.5] * 4


@pytest.mark.slow
def test_a_joint_whose_limits_are_the_same_does_not_end_newton(tmp_path: Path) -> None:
    """MuJoCo takes no range without a length: one locked finger, and nothing of a robot was simulated."""
    assert "range 3.5\n" in run(tmp_path)[1]
    poses, text = run(tmp_path, LOCKED="yes")
    assert 0.0 < float(text.split("range ")[1].split()[0]) < 1e-4
    assert poses == pytest.approx([0.5] * 4)


@pytest.mark.slow
def test_a_hinge_does_not_start_a_whole_turn_away_from_where_it_is(tmp_path: Path) -> None:
    """An arm at zero was at 360 degrees, the end of its range, and stuck there."""
    assert run(tmp_path, TURNED="1")[0] == pytest.approx([0.5] * 4)


@pytest.mark.parametrize(
    ("angle", "low", "high", "expected"),
    [
        (2.0 * math.pi, -2.0 * math.pi, 2.0 * math.pi, 0.0),
        (5.0, -1e10, 1e10, 5.0 - 2.0 * math.pi),
        (-1e-6, 0.0, 7.0, -1e-6),
        (0.5, 6.0, 8.0, 0.5 + 2.0 * math.pi),
        (0.5, -8.0, -5.0, 0.5 - 2.0 * math.pi),
        (0.5, 1.0, 2.0, 0.5),
        (3.0, -math.inf, 2.0, 3.0 - 2.0 * math.pi),
    ],
)
def test_whole_turns_of_a_hinge(angle: float, low: float, high: float, expected: float) -> None:
    assert run_newton.unwound(angle, low, high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_what_a_file_filters_stays_apart_in_newton_in_whatever_groups_it_is(tmp_path):
    """The end of a cable lay on the post that holds it, 4 mm deep: Newton has pairs, MuJoCo 32 groups."""
    assert "apart [(2, 0), (3, 1)]" in run(tmp_path)[1]


@pytest.mark.slow
def test_friction_of_joints_holds_in_newton_what_hangs_on_it(tmp_path: Path) -> None:
    """A slide that weighs 20 N, with a friction of 30 N, sank by 2 cm in 2 s."""
    assert f"holds by 0.9999 in {2.0 / 480.0}" in run(tmp_path)[1]


@pytest.mark.slow
def test_poses_are_no_numbers_once_mujoco_has_lost_a_body_and_begun_anew(tmp_path):
    """It resets itself silently: a ragdoll jumped back to where it fell from, and the run was a success."""
    poses, _ = run(tmp_path, LOST="1")
    assert poses[:2] == [0.5] * 2 and np.isnan(poses[3])


def test_a_kinematic_anchor_without_a_mass_gets_one_and_other_files_stay(tmp_path: Path) -> None:
    file = tmp_path / "cloth.usda"
    stage = cloth()
    stage.GetRootLayer().Export(str(file))
    opened = run_newton.anchored(str(file))
    # The anchor of this cloth is a shape, which has a mass as soon as it collides.
    anchor = opened.GetPrimAtPath("/World/Anchor")
    assert UsdPhysics.MassAPI(anchor).GetMassAttr().Get() == 1.0 and stage.GetRootLayer().ExportToString() == (
        opened.GetRootLayer().ExportToString()
    )
    for number, fix in enumerate(
        (
            lambda prim: UsdPhysics.CollisionAPI.Apply(prim),
            lambda prim: UsdPhysics.MassAPI.Apply(prim).CreateMassAttr(3.0),
            lambda prim: UsdPhysics.RigidBodyAPI(prim).CreateKinematicEnabledAttr(False),
        )
    ):
        file = tmp_path / f"{number}.usda"
        other = cloth()
        fix(other.GetPrimAtPath("/World/Anchor"))
        other.GetRootLayer().Export(str(file))
        assert run_newton.anchored(str(file)) == str(file)
