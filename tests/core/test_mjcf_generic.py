# SPDX-License-Identifier: GPL-3.0-or-later
"""Generic joints as joints of MuJoCo: in the order of the joint, whichever of its bodies is nearer to the world."""

from pathlib import Path

import numpy as np
import pytest
from mjcf_models import placed, turned
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.mjcf import write
from usdphys_ext.usdphys_addon.usd import mjcf_stage

mujoco = pytest.importorskip("mujoco")
DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def random_turn(random: np.random.Generator) -> np.ndarray:
    found, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return found * np.sign(np.linalg.det(found))


def generic(values: dict[str, float]) -> np.ndarray:
    """The second frame of a generic joint in the first: moved along its axes, and turned about Z, then Y, then X."""
    turn = np.eye(3)
    for dof in ("rotZ", "rotY", "rotX"):
        turn = turn @ turned(np.eye(3)["XYZ".index(dof[-1])], values[dof])
    return placed(np.array([values[dof] for dof in DOFS[:3]]), turn)


def held_by(frame: list[np.ndarray], moved: int, held: list[str], start: dict[str, float]) -> PhysicsModel:
    """A body on a generic joint to the world. frame: of both sides. moved: the side of the body."""
    between = generic(start)
    base = frame[1 - moved]
    world = base @ (between if moved else np.linalg.inv(between)) @ np.linalg.inv(frame[moved])
    model = PhysicsModel(SI)
    body = model.add(Prim("/body", "Xform", world, local=world))
    body.add(usd_physics.RigidBodyAPI())
    body.add(usd_physics.MassAPI(mass=1.0, diagonal_inertia=(1.0, 1.0, 1.0), principal_axes=(1.0, 0.0, 0.0, 0.0)))
    joint = usd_physics.Joint()
    for side in (0, 1):
        setattr(joint, f"local_pos{side}", tuple(frame[side][:3, 3].tolist()))
        setattr(joint, f"local_rot{side}", frames.quaternion_of(frame[side][:3, :3]))
    setattr(joint, f"body{moved}", ("/body",))
    prim = model.add(Prim("/joint", "PhysicsJoint", is_xformable=False))
    prim.add(joint)
    for dof in held:
        prim.add(usd_physics.LimitAPI(low=1.0, high=-1.0), dof)
    return model


@pytest.mark.parametrize("moved", [1, 0], ids=["in order", "the way back"])
@pytest.mark.parametrize("seed", range(6))
def test_a_generic_joint_moves_as_it_says_and_comes_back_as_one(seed: int, moved: int, tmp_path: Path) -> None:
    """Where its first body hangs on the second, its hinges had another order, and was read again with light links."""
    random = np.random.default_rng(seed)
    frame = [frames.transform(random.uniform(-0.5, 0.5, 3), random_turn(random)) for _ in range(2)]
    held = [] if seed == 0 else [dof for dof in DOFS if random.random() < 0.4]
    free = [dof for dof in DOFS if dof not in held]
    start = {dof: float(random.uniform(-0.6, 0.6)) if dof in free else 0.0 for dof in DOFS}
    made = write.text_of(held_by(frame, moved, held, start), "m")
    assert made.issues == []
    judge = mujoco.MjModel.from_xml_string(made.text)
    data = mujoco.MjData(judge)
    wanted = {dof: float(random.uniform(-0.7, 0.7)) if dof in free else 0.0 for dof in DOFS}
    for dof in free:
        data.qpos[judge.joint(made.names[f"/joint.{dof}"]).qposadr[0]] = wanted[dof]
    mujoco.mj_kinematics(judge, data)
    ends = [frame[0], frame[1]]
    ends[moved] = placed(data.body("body").xpos, data.body("body").xmat.reshape(3, 3)) @ ends[moved]
    assert np.linalg.solve(ends[0], ends[1]) == pytest.approx(generic(wanted), abs=1e-6)

    (tmp_path / "m.xml").write_text(made.text)
    planned = mjcf_stage.plan(tmp_path / "m.xml")
    assert planned.issues == []
    assert [prim.name for prim in planned.model.bodies.values()] == ["body"]
    assert len(planned.model.joints) == 1
    second = write.text_of(planned.model, "m")
    again = mujoco.MjModel.from_xml_string(second.text)
    assert again.njnt == judge.njnt == len(free)
    there = mujoco.MjData(again)
    for name, (path, dof) in planned.joint_paths.items():
        own = second.names[path if dof in ("angular", "linear") else f"{path}.{dof}"]
        value = data.qpos[judge.joint(name).qposadr[0]]
        there.qpos[again.joint(own).qposadr[0]] = planned.signs[name] * value
    mujoco.mj_kinematics(again, there)
    assert there.body("body").xpos == pytest.approx(data.body("body").xpos, abs=1e-5)
    assert abs(there.body("body").xquat @ data.body("body").xquat) == pytest.approx(1.0, abs=1e-9)
