# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage in other units means the same: its physics in SI, its places in the world, and what moves over time."""

from __future__ import annotations

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import unit_conversion

CELL = """#usda 1.0
(
    defaultPrim = "Cell"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def PhysicsScene "Physics"
{
    vector3f physics:gravityDirection = (0, -1, 0)
    float physics:gravityMagnitude = 981
}
def Scope "Props"
{
    def Xform "Cart" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        vector3f physics:velocity = (100, 0, 0)
        int physics:mass = 3
        point3f physics:centerOfMass = (0, 10, 0)
        float3 physics:diagonalInertia = (20000, 30000, 40000)
        double3 xformOp:translate = (0, 50, 100)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 40
        }
        def Xform "Free" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
        {
            double3 xformOp:translate = (300, 0, 0)
            uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]
        }
    }
}
def Xform "Cell"
{
    def PhysicsPrismaticJoint "Rail" (prepend apiSchemas = ["PhysicsDriveAPI:linear"])
    {
        rel physics:body1 = </Props/Cart>
        point3f physics:localPos0 = (0, 50, 100)
        uniform token physics:axis = "X"
        float physics:lowerLimit = -200
        float physics:breakForce = inf
        float drive:linear:physics:maxForce = 500
        float drive:linear:physics:targetPosition.timeSamples = { 1: 0, 2: 150 }
    }
    def PhysicsDistanceJoint "Rope"
    {
        rel physics:body0 = </Props/Cart>
        rel physics:body1 = </Props/Cart/Free>
        float physics:minDistance = -1
        float physics:maxDistance = 80
    }
}
"""
METRES = StageUnits(1.0, 1.0, "Z")
ODD = StageUnits(0.0254, 0.45359237, "Z")


def opened(text: str = CELL) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(text)
    return stage


def assert_same(before: Usd.Stage, after: Usd.Stage) -> None:
    """The same physics in SI, at the same places, and no scale that converts."""
    old, new = usd_read.read_stage(before), usd_read.read_stage(after)
    assert new.prims.keys() == old.prims.keys()
    for path, prim in old.prims.items():
        assert not prim.is_xformable or np.allclose(prim.world, new.prims[path].world, atol=1e-6), path
        assert new.prims[path].schemas.keys() == prim.schemas.keys()
        for name, value in prim.schemas.items():
            for attribute, content in value.authored():
                found = getattr(new.prims[path].schemas[name], attribute.field)
                is_number = np.asarray(content).dtype.kind in "fi"
                assert found == (pytest.approx(content, rel=1e-5) if is_number else content), (path, attribute.usd)


@pytest.mark.parametrize("target", [METRES, ODD, StageUnits(0.01, 1.0, "Z"), StageUnits(1000.0, 1.0, "Y")])
def test_all_means_the_same(target: StageUnits) -> None:
    stage = opened()
    assert unit_conversion.convert(stage, target) == {}
    assert usd_read.stage_units(stage).is_like(target)
    # The turn of the world is in the rotation of the frame that has no body, which the model has in its own axes.
    assert_same(opened(), stage)


def test_numbers_are_those_of_the_new_units() -> None:
    stage = opened()
    unit_conversion.convert(stage, METRES)
    value = {name: stage.GetAttributeAtPath(f"/{name}").Get() for name in (
        "Physics.physics:gravityMagnitude", "Cell/Rail.physics:lowerLimit", "Cell/Rail.drive:linear:physics:maxForce",
        "Cell/Rail.physics:breakForce", "Cell/Rope.physics:minDistance", "Cell/Rope.physics:maxDistance",
        "Props/Cart.physics:centerOfMass", "Props/Cart.physics:mass", "Props/Cart/Box.size",
    )}  # fmt: skip
    assert list(value.values()) == pytest.approx(
        [9.81, -2.0, 5.0, float("inf"), -1.0, 0.8, Gf.Vec3f(0, 0.1, 0), 3, 0.4]
    )  # fmt: skip
    assert stage.GetAttributeAtPath("/Physics.physics:gravityDirection").Get() == Gf.Vec3f(0, 0, -1)
    samples = stage.GetAttributeAtPath("/Cell/Rail.drive:linear:physics:targetPosition")
    assert [samples.Get(time) for time in samples.GetTimeSamples()] == [0.0, 1.5]
    assert stage.GetAttributeAtPath("/Cell/Rail.physics:localPos0").Get() == Gf.Vec3f(0, -1, 0.5)


def test_a_whole_number_that_becomes_a_fraction_gets_the_type_of_its_row() -> None:
    stage = opened()
    unit_conversion.convert(stage, StageUnits(0.01, 2.0, "Y"))
    mass = stage.GetAttributeAtPath("/Props/Cart.physics:mass")
    assert (mass.Get(), str(mass.GetTypeName())) == (1.5, "float")


def test_there_and_back_leaves_no_operation() -> None:
    stage = opened()
    for target in (METRES, StageUnits(0.01, 1.0, "Y")):
        unit_conversion.convert(stage, target)
    assert "unitsResolve" not in stage.GetRootLayer().ExportToString()
    assert_same(opened(), stage)


def test_instances_are_placed_and_their_prototypes_are_not() -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString("""#usda 1.0
(
    metersPerUnit = 0.01
)
class Xform "Part"
{
    def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"])
    {
        float physics:density = 0.001
        double3 xformOp:translate = (10, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
def Xform "One" (
    instanceable = true
    prepend inherits = </Part>
)
{
}
def Xform "Two" (
    instanceable = true
    prepend inherits = </Part>
)
{
    double3 xformOp:translate = (0, 0, 70)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
""")
    before = Usd.Stage.Open(layer)
    after = Usd.Stage.Open(before.Flatten(addSourceFileComment=False))
    unit_conversion.convert(after, METRES)
    assert after.GetPrimAtPath("/Two").IsInstance()
    assert_same(before, after)
    proxy = after.GetPrimAtPath("/Two/Box")
    assert proxy.GetAttribute("physics:density").Get() == pytest.approx(1000.0)
    place = UsdGeom.XformCache().GetLocalToWorldTransform(proxy).ExtractTranslation()
    assert Gf.IsClose(place, Gf.Vec3d(0.1, -0.7, 0), 1e-9)


def test_what_a_spline_moves_is_named() -> None:
    stage = opened()
    attribute = stage.GetRootLayer().GetAttributeAtPath("/Props/Cart.physics:velocity")
    if not hasattr(attribute, "SetSpline"):
        pytest.skip("this USD has no splines")
    from pxr import Ts

    spec = Sdf.AttributeSpec(stage.GetRootLayer().GetPrimAtPath("/Cell/Rail"), "physics:breakTorque",
                             Sdf.ValueTypeNames.Float)  # fmt: skip
    spline = Ts.Spline("float")
    spline.SetKnot(Ts.Knot(typeName="float", time=1.0, value=2.0))
    spec.SetSpline(spline)
    assert unit_conversion.convert(stage, METRES) == {"physics:breakTorque": "/Cell/Rail"}


def test_the_axis_of_a_joint_decides_what_a_gearing_measures_where_its_schema_names_none() -> None:
    stage = opened("""#usda 1.0
(
    metersPerUnit = 0.01
)
def PhysicsRevoluteJoint "Turns" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:gearing = [2]
}
def PhysicsPrismaticJoint "Moves" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:gearing = [2]
}
""")
    unit_conversion.convert(stage, METRES)
    gearing = [stage.GetAttributeAtPath(f"/{name}.physxTendon:t:gearing").Get()[0] for name in ("Turns", "Moves")]
    assert gearing == pytest.approx([0.02, 2.0])
    assert "jointAxis" not in stage.GetRootLayer().ExportToString()


def test_numbers_of_a_urdf_keep_its_units_and_are_no_unknown_ones() -> None:
    """`urdf:limit:effort` is in N m whatever the units of the file: so it is read, too."""
    stage = Usd.Stage.CreateInMemory()
    joint = stage.DefinePrim("/Joint", "PhysicsRevoluteJoint")
    for name in ("urdf:limit:effort", "foo:effort"):
        joint.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(12.5)
    assert unit_conversion.convert(stage, StageUnits(0.01, 1.0, "Z")) == {"foo:effort": "/Joint"}
    assert joint.GetAttribute("urdf:limit:effort").Get() == 12.5
