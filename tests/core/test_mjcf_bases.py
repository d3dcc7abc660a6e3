# SPDX-License-Identifier: GPL-3.0-or-later
"""Bases of robots: bodies of MJCF that stand still and have a mass of their own are bodies on a fixed joint."""

from pathlib import Path

import numpy as np
import pytest
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.usd import mjcf_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read

ROBOT = """<mujoco model="m">
  <worldbody>
    <geom name="floor" type="box" size="1 1 0.1" pos="0 0 -0.1"/>
    <body name="table" pos="0 0 0"><geom name="top" type="box" size="0.1 0.1 0.1"/></body>
    <body name="base" pos="0 0 0.05"><!-- of a robot -->
      INERTIAL
      <geom name="foot" type="box" size="0.1 0.1 0.1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="turn" axis="0 1 0"/><geom name="bone" type="capsule" size="0.05 0.2" mass="1"/>
      </body>
    </body>
  </worldbody>
  CONTACT
</mujoco>
"""
OWN = '<inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>'


def planned(folder: Path, inertial: str = OWN, contact: str = ""):
    path = folder / "m.xml"
    path.write_text(ROBOT.replace("INERTIAL", inertial).replace("CONTACT", contact))
    return mjcf_stage.plan(path)


def pairs(model) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in model.filtered_pairs()}


def test_a_base_with_a_mass_of_its_own_is_a_body_and_one_of_geoms_is_not(tmp_path):
    model = planned(tmp_path).model
    assert sorted(prim.name for prim in model.bodies.values()) == ["arm", "base"]
    assert model.prims["/m/base"].get(usd_physics.MassAPI).mass == 3.0
    held = model.joints["/m/joints/base_fixed"].get(usd_physics.FixedJoint)
    assert (held.body0, held.body1) == (None, ("/m/base",))
    assert model.joints["/m/joints/turn"].get(usd_physics.Joint).body0 == ("/m/base",)
    assert sorted(planned(tmp_path, "").model.bodies) == ["/m/arm"]


@pytest.mark.parametrize(("contact", "touch"), [
    ("", True), ('<contact><exclude body1="arm" body2="base"/></contact>', False),
])  # fmt: skip
def test_a_base_collides_with_what_mujoco_lets_it_collide_with(tmp_path, contact, touch):
    """MuJoCo lets a body pass the one above it only if that moves; what is fixed to the world passes the world."""
    model = planned(tmp_path, contact=contact).model
    assert (model.joints["/m/joints/turn"].get(usd_physics.Joint).collision_enabled is True) == touch
    assert {frozenset(("/m/base", "/m/floor")), frozenset(("/m/base", "/m/table/top"))} <= pairs(model)
    mujoco = pytest.importorskip("mujoco")
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    met = {frozenset(compiled.geom(row).name for row in one.geom) for one in data.contact}
    assert (frozenset(("bone", "foot")) in met) == touch
    assert not {frozenset(("foot", "floor")), frozenset(("foot", "top"))} & met


def test_an_exclusion_of_the_world_is_read(tmp_path):
    """It was left out without a word, because the world is the root of all prims."""
    contact = '<contact><exclude body1="world" body2="arm"/></contact>'
    assert frozenset(("/m/arm", "/m/floor")) in pairs(planned(tmp_path, contact=contact).model)


def test_a_base_that_is_put_elsewhere_changes_its_numbers_in_the_text_and_nothing_else(tmp_path):
    from pxr import Gf

    planned(tmp_path)
    api.convert(tmp_path / "m.xml", tmp_path / "m.usda")
    stage = usd_read.open_stage(tmp_path / "m.usda")
    place = Gf.Vec3d(2, 0, 0.05)
    for name, there in (("base", place), ("arm", place + Gf.Vec3d(0, 0, 0.1))):
        stage.GetPrimAtPath(f"/m/{name}").GetAttribute("xformOp:translate").Set(there)
    stage.GetPrimAtPath("/m/joints/base_fixed").GetAttribute("physics:localPos0").Set(Gf.Vec3f(place))
    stage.GetRootLayer().Export(str(tmp_path / "moved.usda"))
    result = api.convert(tmp_path / "moved.usda", tmp_path / "out.xml")
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("m.xml", "out.xml"))
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1 and 'pos="2 0 0.05"' in changed[0][1] and "of a robot" in changed[0][1]
    assert "MjcfWrittenAnew" not in [issue.code for issue in result.issues]


ARM = """#usda 1.0
(
    defaultPrim = "w"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "w" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def PhysicsScene "scene" {
    }
    def Cube "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    {
        double size = 0.2
        float physics:mass = 4
    }
    def Cube "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    {
        double size = 0.2
        float physics:mass = 1
        double3 xformOp:translate = (0.3, 0, 0.05)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def PhysicsFixedJoint "ground" {
        rel physics:body1 = </w/base>
    }
    def PhysicsRevoluteJoint "turn" {
        rel physics:body0 = </w/base>
        rel physics:body1 = </w/link>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (0, 0, 0.05)
        point3f physics:localPos1 = (-0.3, 0, 0)
    }
}
"""


def test_a_base_on_a_fixed_joint_is_written_and_read_as_that(tmp_path):
    (tmp_path / "arm.usda").write_text(ARM)
    api.convert(tmp_path / "arm.usda", tmp_path / "arm.xml")
    before = usd_read.read_stage(usd_read.open_stage(tmp_path / "arm.usda"))
    after = mjcf_stage.plan(tmp_path / "arm.xml").model
    for model in (before, after):
        masses = {prim.name: prim.get(usd_physics.MassAPI).mass for prim in model.bodies.values()}
        kinds = sorted(prim.type_name for prim in model.joints.values())
        assert masses == {"base": 4.0, "link": 1.0}
        assert kinds == ["PhysicsFixedJoint", "PhysicsRevoluteJoint"]
        assert not any(prim.get(usd_physics.Joint).collision_enabled for prim in model.joints.values())
    first, second = (api.simulate_file(tmp_path / name, 0.3) for name in ("arm.usda", "arm.xml"))
    order = [second.names.index(name) for name in first.names]
    assert np.abs(first.positions[-1] - first.positions[0]).max() > 0.1
    assert second.positions[:, order] == pytest.approx(first.positions, abs=2e-3)
