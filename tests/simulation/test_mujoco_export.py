# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that is meant for MuJoCo moves in the preview as its exported file does in MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import vendor_schemas
from usdphys_ext.usdphys_addon.mjcf import write
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import METERS, File
from .helpers import model_in, world_of

mujoco = pytest.importorskip("mujoco")
W = "/World"


def quaternion(random: np.random.Generator) -> tuple[float, ...]:
    found = random.normal(size=4)
    return tuple((found / np.linalg.norm(found)).tolist())


def product(first, second):
    found = np.zeros(4)
    mujoco.mju_mulQuat(found, np.array(first, float), np.array(second, float))
    return found


def tree(seed: int) -> File:
    """Bodies on joints of all kinds, at random places, that hang from the world; every joint is closed at the start."""
    random = np.random.default_rng(seed)
    file = File(METERS, gravity=(0, 0, -9.81))
    places = {"": (np.zeros(3), np.array((1.0, 0, 0, 0)))}
    for number in range(int(random.integers(2, 7))):
        parent = str(random.choice(list(places)))
        own, turn = quaternion(random), quaternion(random)
        at, back = random.uniform(-0.5, 0.5, 3), random.uniform(-0.5, 0.5, 3)
        origin, base = places[parent]
        joint = np.zeros(3)
        mujoco.mju_rotVecQuat(joint, at, base)
        # The frame on the child is that on the parent, so that all coordinates are zero.
        inverse = product((turn[0], -turn[1], -turn[2], -turn[3]), (1, 0, 0, 0))
        world_turn = product(product(base, own), inverse)
        away = np.zeros(3)
        mujoco.mju_rotVecQuat(away, back, world_turn)
        place = origin + joint - away
        name = f"Link{number}"
        file.add(file.body(
            name, tuple(place), tuple(world_turn), size=tuple(random.uniform(0.1, 0.4, 3)),
            mass=float(random.uniform(0.5, 4.0)), collides=False,
        ))  # fmt: skip
        kind = str(random.choice(["Revolute", "Revolute", "Prismatic", "Spherical", "Fixed"]))
        extra = {}
        if kind in ("Revolute", "Prismatic") and random.random() < 0.6:
            dof = "angular" if kind == "Revolute" else "linear"
            # Angles in degrees, as files have them.
            gains = {"stiffness": 20.0, "damping": 1.0} if kind == "Revolute" else {"stiffness": 2e4, "damping": 100.0}
            extra = {"drives": {dof: {**gains, "targetPosition": float(random.uniform(-0.2, 0.2))}}}
        body0 = f"{W}/{parent}" if parent else ""
        file.add(file.joint(
            f"Joint{number}", kind, body0, f"{W}/{name}", pos0=tuple(at), pos1=tuple(back), rot0=own, rot1=turn,
            axis=str(random.choice(["X", "Y", "Z"])), **extra,
        ))  # fmt: skip
        places[name] = (place, world_turn)
    return file


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_without_contact_moves_as_in_the_exported_file(seed: int) -> None:
    file = tree(seed)
    model = model_in(file)
    for prim in model.scenes.values():
        prim.add(vendor_schemas.find("MjcSceneAPI")(timestep=0.002))
    written = write.text_of(model, "tree")
    theirs = mujoco.MjModel.from_xml_string(written.text)
    data = mujoco.MjData(theirs)
    for _ in range(500):
        mujoco.mj_step(theirs, data)
    mujoco.mj_kinematics(theirs, data)
    world = World(model, time_step=0.02, engine="mujoco")
    assert world.substeps == 10
    for _ in range(50):
        world.step()
    assert world.unstable == {}
    for path in world.paths:
        row, body = world.index(path), data.body(written.names[path])
        assert world.positions[row] == pytest.approx(body.xpos, abs=1e-6)
        assert abs(float(world.rotations[row] @ body.xquat)) == pytest.approx(1.0, abs=1e-9)
    # Else nothing was compared.
    assert theirs.nv == 0 or not np.allclose(data.qpos, theirs.qpos0, atol=1e-3)
    assert world_of(file, engine="mujoco").substeps == 10


def test_flags_and_options_of_the_scene_hold_and_an_integrator_that_cannot_is_named() -> None:
    model = model_in(File(METERS).add(File(METERS).ground(), File(METERS).body("Box", (0, 0, 0.6))))
    for prim in model.scenes.values():
        prim.add(vendor_schemas.find("MjcSceneAPI")(contact=False, integrator="rk4", iterations=7))
    world = World(model, time_step=0.02, engine="mujoco")
    for _ in range(50):
        world.step()
    assert world.positions[world.index(f"{W}/Box"), 2] < -4.0  # nothing stops it
    assert world.spaces[0].model.opt.iterations == 7
    assert any("the integrator RK4" in notice.message for notice in world.notices)


@pytest.mark.parametrize("parents_pass", [True, False])
@pytest.mark.parametrize("collides", [True, False])
def test_what_a_joint_lets_collide_and_mujoco_does_not_is_said_once(collides: bool, parents_pass: bool) -> None:
    """MuJoCo lets the two sides of a joint pass, and what is fixed to them, and nothing was said of it."""
    file = File(METERS)
    for number, height in enumerate((2.0, 2.15, 2.3)):
        file.add(file.body(f"Link{number}", (0, 0, height), mass=1.0, size=(0.4, 0.4, 0.4)))
    file.add(file.joint("Fix", "Fixed", f"{W}/Link0", f"{W}/Link1", pos0=(0, 0, 0.15)))
    file.add(file.joint("Turn", "Revolute", f"{W}/Link1", f"{W}/Link2", pos0=(0, 0, 0.15), axis="Z",
                        lines=[f"bool physics:collisionEnabled = {int(collides)}"]))  # fmt: skip
    model = model_in(file)
    if not parents_pass:
        scene = next(iter(model.scenes.values()))
        scene.add(vendor_schemas.find("MjcSceneAPI")(filterparent=False))
    written = write.text_of(model, "tied")
    tied = [issue for issue in written.issues if "pass through each other in MuJoCo" in issue.message]
    assert len(tied) == parents_pass
    assert all(f"{W}/Link0 and {W}/Link2 collide" in issue.message for issue in tied)
    assert all(("So does 1 other pair." in issue.message) == collides for issue in tied)
    compiled = mujoco.MjModel.from_xml_string(written.text)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    met = {tuple(sorted(compiled.geom_bodyid[one.geom].tolist())) for one in data.contact}
    assert len(met) == (0 if parents_pass else 1 + collides)
