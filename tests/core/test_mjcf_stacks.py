# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges and slides between the same two bodies as joints of one body of MuJoCo, whatever their pose at the start."""

import numpy as np
import pytest
from mjcf_models import placed, turned
from usdphys_ext.usdphys_addon.core import frames, mass
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.mjcf import write

mujoco = pytest.importorskip("mujoco")
HIP = np.array([0.3, -0.2, 2.0])
LEG = placed(np.add(HIP, (0.0, 0.1, -0.5)), np.eye(3))


def body(model: PhysicsModel, path: str, world: np.ndarray) -> None:
    prim = model.add(Prim(path, "Xform", world, local=world))
    prim.add(usd_physics.RigidBodyAPI())
    prim.add(usd_physics.MassAPI(
        mass=1.0, diagonal_inertia=(0.05, 0.04, 0.02), principal_axes=(1.0, 0.0, 0.0, 0.0),
        center_of_mass=(0.1, 0.0, 0.0),
    ))  # fmt: skip


def chained(turns: list[np.ndarray], values: list[float]) -> list[np.ndarray]:
    """What is behind each joint at these values, from zero: hinges about the X of frames at the hip."""
    total, found = np.eye(4), []
    for own, value in zip(turns, values, strict=True):
        by = placed(HIP, own @ turned(np.array([1.0, 0.0, 0.0]), value) @ own.T) @ placed(-HIP, np.eye(3))
        total = total @ by
        found.append(total)
    return found


def stack(turns: list[np.ndarray], values: list[float], *, held: str) -> PhysicsModel:
    """held: the one of both bodies that is fixed to the world, empty for none."""
    model = PhysicsModel(SI)
    root = model.add(Prim("/Robot", "Xform"))
    root.add(usd_physics.ArticulationRootAPI())
    body(model, "/Robot/Hip", placed(HIP, np.eye(3)))
    body(model, "/Robot/Leg", chained(turns, values)[-1] @ LEG)
    if held:
        fixed = usd_physics.FixedJoint(body1=(held,))
        world = model.prims[held].world
        fixed.local_pos0, fixed.local_rot0 = frames.vector(world[:3, 3]), frames.quaternion_of(world[:3, :3])
        model.add(Prim("/Robot/Held", "PhysicsFixedJoint", is_xformable=False)).add(fixed)
    for number, own in enumerate(turns):
        turn = frames.quaternion_of(own)
        model.add(Prim(f"/Robot/J{number}", "PhysicsRevoluteJoint", is_xformable=False)).add(
            usd_physics.RevoluteJoint(
                axis="X", body0=("/Robot/Hip",), body1=("/Robot/Leg",), local_rot0=turn, local_rot1=turn,
                local_pos1=frames.vector(HIP - LEG[:3, 3]), lower_limit=-2.0, upper_limit=2.0,
            )
        )  # fmt: skip
    return model


@pytest.mark.parametrize("held", ["/Robot/Hip", "/Robot/Leg", ""])
@pytest.mark.parametrize("seed", range(4))
def test_a_stack_is_several_joints_of_one_body(seed: int, held: str) -> None:
    """They were equalities beside the first one: nothing moved. MuJoCo has the same pose, and moves it the same way."""
    random = np.random.default_rng(seed)
    turns = [np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in range(2 + seed % 2)]
    turns = [own * np.linalg.det(own) for own in turns]
    values = random.uniform(-0.3, 0.3, len(turns)).tolist() if seed > 1 else [0.0] * len(turns)
    model = stack(turns, values, held=held)
    made = write.text_of(model, "leg")
    compiled = mujoco.MjModel.from_xml_string(made.text)
    assert (compiled.neq, compiled.njnt) == (0, len(turns) + (not held))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    hip, leg = (compiled.body(name).id for name in ("Hip", "Leg"))

    def seen() -> np.ndarray:
        """The leg, seen from the hip."""
        hip_world, leg_world = (placed(data.xpos[each], data.xmat[each].reshape(3, 3)) for each in (hip, leg))
        return np.linalg.inv(hip_world) @ leg_world

    start = placed(HIP, np.eye(3))
    assert seen() == pytest.approx(np.linalg.inv(start) @ model.prims["/Robot/Leg"].world, abs=1e-5)
    others = random.uniform(-1.0, 1.0, len(turns)).tolist()
    for number, value in enumerate(others):
        joint = compiled.joint(f"J{number}")
        assert data.qpos[joint.qposadr[0]] == pytest.approx(values[number], abs=1e-2 if seed == 3 else 1e-5)
        data.qpos[joint.qposadr[0]] = value
    mujoco.mj_forward(compiled, data)
    if seed != 3:  # three axes may have the same pose at other values
        assert seen() == pytest.approx(np.linalg.inv(start) @ chained(turns, others)[-1] @ LEG, abs=1e-5)


def test_a_plate_keeps_its_moments_in_mujoco() -> None:
    """Of 32 bits, its largest moment was larger than the others together by their last digit: MuJoCo took the mean of
    all three, which turned the plate into a ball."""
    model = PhysicsModel(SI)
    for number, moments in enumerate([(0.05, 0.04, 0.01), (0.1, 0.3, 0.2), (1e-6, 1.0, 1.0), (1.0, 1.0, 9.0)]):
        body(model, f"/B{number}", placed(np.array([number, 0.0, 0.0]), np.eye(3)))
        rounded = tuple(float(np.float32(moment)) for moment in moments)
        said = model.prims[f"/B{number}"].get(usd_physics.MassAPI)
        model.prims[f"/B{number}"].add(said.copy(diagonal_inertia=rounded))
    made = write.text_of(model, "plates")
    compiled = mujoco.MjModel.from_xml_string(made.text)
    for number, moments in enumerate([(0.05, 0.04, 0.01), (0.1, 0.3, 0.2), (1e-6, 1.0, 1.0)]):
        found = compiled.body_inertia[compiled.body(f"B{number}").id]
        assert sorted(found) == pytest.approx(sorted(moments), rel=1e-5)
    assert [issue.path for issue in made.issues if "no body can have" in issue.message] == ["/B3"]


def test_moments_that_rounding_makes_impossible_become_possible_by_the_least_change() -> None:
    """To seven digits, as files have them: plates, rods, and what is far from both."""
    random = np.random.default_rng(4)
    for _ in range(2000):
        small, middle = np.sort(10.0 ** random.uniform(-9.0, 2.0, 2))
        large = random.choice([small + middle, middle, 0.5 * (2.0 * middle + small)])
        moments = random.permutation([small, middle, large * (1.0 + random.uniform(-1e-6, 1e-6))])
        least, other, most = sorted(float(f"{moment:.7g}") for moment in mass.possible_moments(moments))
        assert most <= least + other
        assert mass.possible_moments(moments) == pytest.approx(moments, rel=1e-5)
    assert mass.possible_moments((1.0, 1.0, 9.0)).tolist() == [1.0, 1.0, 9.0]
    assert mass.possible_moments((1.0, 2.0, 2.5)).tolist() == [1.0, 2.0, 2.5]
