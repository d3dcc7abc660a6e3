# SPDX-License-Identifier: GPL-3.0-or-later
"""How poses and values are authored: read by USD they are what they were."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.usd import write as usd_write

TURN = frames.matrix_of((0.9, 0.1, -0.3, 0.2))
SHEARED = frames.transform((0, 0, 0), None, (1, 2, 3)) @ frames.transform((0, 0, 0), TURN)
POSES = {
    "nowhere": np.eye(4),
    "moved": frames.transform((1, -2, 3)),
    "turned": frames.transform((1, -2, 3), TURN),
    "scaled": frames.transform((0, 0, 0), None, (1, 2, 3)),
    "turned and scaled": frames.transform((1, -2, 3), TURN, (1, 2, 3)),
    "mirrored": frames.transform((1, -2, 3), None, (-1, 2, 3)),
    "mirrored and turned": frames.transform((1, -2, 3), TURN, (1, 2, -3)),
    "half a turn": frames.transform((1, -2, 3), None, (-1, -1, 1)),
    "sheared": frames.transform((1, -2, 3)) @ SHEARED,
}


def written(local: np.ndarray, meters: float, *, reset: bool = False) -> UsdGeom.Xformable:
    stage = Usd.Stage.CreateInMemory()
    # What was there before goes.
    UsdGeom.Xform.Define(stage, "/Thing").AddTranslateOp().Set((7, 7, 7))
    usd_write.write_local(stage.GetRootLayer().GetPrimAtPath("/Thing"), local, meters, reset=reset)
    xformable = UsdGeom.Xformable(stage.GetPrimAtPath("/Thing"))
    written.stage = stage
    return xformable


@pytest.mark.parametrize("meters", [1.0, 0.01])
@pytest.mark.parametrize("name", POSES)
def test_a_pose_is_authored_as_it_is_in_the_units_of_the_file(name: str, meters: float) -> None:
    found = np.array(written(POSES[name], meters).GetLocalTransformation()).T
    expected = POSES[name].copy()
    expected[:3, 3] /= meters
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("angle", [1e-6, 2e-4, 0.01, 0.3])
def test_a_small_turn_is_not_lost(angle: float) -> None:
    """USD computes the angle from the real part of a quaternion, of which 32 bits keep nothing below 3e-4 rad."""
    pose = frames.transform((1, 2, 3), frames.matrix_of((math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))))
    found = np.array(written(pose, 1.0).GetLocalTransformation()).T
    np.testing.assert_allclose(found, pose, atol=1e-9)


def test_operations_are_no_more_than_are_needed() -> None:
    def names(pose: str) -> list[str]:
        return [operation.GetOpName() for operation in written(POSES[pose], 1.0).GetOrderedXformOps()]

    assert names("nowhere") == []
    assert names("moved") == ["xformOp:translate"]
    assert names("scaled") == ["xformOp:scale"]
    assert names("turned and scaled") == ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
    assert names("sheared") == ["xformOp:transform"]


@pytest.mark.parametrize("name", ["nowhere", "moved", "sheared"])
def test_a_reset_transform_stack_is_authored(name: str) -> None:
    assert written(POSES[name], 1.0, reset=True).GetResetXformStack()
    assert not written(POSES[name], 1.0).GetResetXformStack()


# --------------------------------------------------------------------------- whole prims


def stage_of(*prims: Prim, units: StageUnits) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, units)
    model = PhysicsModel()
    for prim in prims:
        model.add(prim)
    usd_write.write_model(stage, model, units)
    return stage


def test_a_new_shape_has_its_extent_in_the_units_of_the_file() -> None:
    prim = Prim("/World/Box", "Cylinder", local=frames.transform((1, 0, 0)))
    prim.add(usd_geom.Cylinder(4.0, 0.5, "X"))
    stage = stage_of(prim, units=StageUnits(0.01, 1.0, "Z"))
    shape = UsdGeom.Cylinder(stage.GetPrimAtPath("/World/Box"))
    low, high = shape.GetExtentAttr().Get()
    assert (tuple(low), tuple(high)) == ((-200, -50, -50), (200, 50, 50))
    assert shape.GetHeightAttr().Get() == 400.0
    # What had to be made on the way is a scope; it has no pose of its own.
    assert stage.GetPrimAtPath("/World").GetTypeName() == "Scope"


def test_a_joint_that_was_something_else_has_its_type_and_no_transform() -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.Xform.Define(stage, "/Joint").AddTranslateOp().Set((1, 2, 3))
    model, prim = PhysicsModel(), Prim("/Joint", "PhysicsFixedJoint")
    prim.add(usd_physics.FixedJoint(joint_enabled=False))
    model.add(prim)
    usd_write.write_model(stage, model, StageUnits())
    found = stage.GetPrimAtPath("/Joint")
    assert found.GetTypeName() == "PhysicsFixedJoint"
    assert found.GetAuthoredPropertyNames() == ["physics:jointEnabled"]


def test_schemas_come_after_those_that_are_there_and_only_once() -> None:
    stage = Usd.Stage.CreateInMemory()
    cube = UsdGeom.Cube.Define(stage, "/Cube").GetPrim()
    UsdPhysics.CollisionAPI.Apply(cube)
    spec = stage.GetRootLayer().GetPrimAtPath("/Cube")
    usd_write.apply_schemas(spec, ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    assert cube.GetAppliedSchemas() == ["PhysicsCollisionAPI", "PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    explicit = Sdf.CreatePrimInLayer(stage.GetRootLayer(), "/Explicit")
    explicit.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit(["PhysicsMassAPI"]))
    usd_write.apply_schemas(explicit, ["PhysicsMassAPI", "PhysicsCollisionAPI"])
    assert list(explicit.GetInfo("apiSchemas").explicitItems) == ["PhysicsMassAPI", "PhysicsCollisionAPI"]


def test_a_joint_frame_in_the_world_has_no_noise_from_the_turn_of_the_axes() -> None:
    """A quarter about X is what the axes of a file with Y up are turned by: nothing is left of it."""
    prim = Prim("/Joint", "PhysicsFixedJoint")
    root = 0.5**0.5
    prim.add(usd_physics.FixedJoint(body1=("/Body",), local_pos0=(0.1, 0.0, 2.0), local_rot0=(root, root, 0.0, 0.0)))
    stage = stage_of(prim, units=StageUnits(0.01, 1.0, "Y"))
    joint = UsdPhysics.Joint(stage.GetPrimAtPath("/Joint"))
    assert joint.GetLocalPos0Attr().Get() == Gf.Vec3f(10.0, 200.0, 0.0)
    assert joint.GetLocalRot0Attr().Get() == Gf.Quatf(1.0)


def test_schemas_that_live_for_one_prim_only_are_not_taken_for_others():
    """What shared schemas author is kept by their identity, which Python gives to another one later."""
    stage = Usd.Stage.CreateInMemory()
    writer = usd_write.SpecWriter(stage.GetRootLayer(), StageUnits())
    for number in range(1, 50):
        mass = usd_physics.MassAPI(mass=float(number))
        writer.write(Prim(f"/Body{number}", "Xform", schemas={mass.usd_name: mass}))
        del mass
    masses = [stage.GetPrimAtPath(f"/Body{number}").GetAttribute("physics:mass").Get() for number in range(1, 50)]
    assert masses == [float(number) for number in range(1, 50)]


def test_a_child_that_comes_before_its_parent_leaves_it_type_and_pose() -> None:
    model = PhysicsModel()
    for path, local in (("/Robot/Link", (0, 0, 1)), ("/Robot", (3, 0, 0))):
        prim = Prim(path, "Xform", np.eye(4))
        prim.local = frames.transform(local)
        prim.add(usd_physics.RigidBodyAPI())
        model.add(prim)
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_model(stage, model, StageUnits(1.0, "Z"))
    assert stage.GetPrimAtPath("/Robot").GetTypeName() == "Xform"
    place = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/Robot/Link")).ExtractTranslation()
    assert tuple(place) == (3, 0, 1)


@pytest.mark.parametrize(
    ("expression", "name", "is_readable"),
    [("/World/Left//", "Grüße", True), ("Left", "Group", True), ("Left", "Grüße", False), ("../Left", "Grüße", True)],
)
def test_an_expression_that_cannot_be_read_back_is_refused(
    expression: str, name: str, is_readable: bool, tmp_path: Path
) -> None:
    """USD puts the path of the group before what is relative, and reads ASCII names alone in expressions."""
    model, prim = PhysicsModel(), Prim(f"/World/{name}", "PhysicsCollisionGroup")
    prim.add(usd_physics.CollisionGroup(membership_expression=expression))
    model.add(prim)
    stage = Usd.Stage.CreateNew(str(tmp_path / "group.usda"))
    if not is_readable:
        with pytest.raises(InputError, match="rename 'Grüße', or begin the expression with '/'"):
            usd_write.write_model(stage, model, StageUnits())
        return
    usd_write.write_model(stage, model, StageUnits())
    stage.Save()
    assert Sdf.Layer.OpenAsAnonymous(str(tmp_path / "group.usda")).GetPrimAtPath(f"/World/{name}")
