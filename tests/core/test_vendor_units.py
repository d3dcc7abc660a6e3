# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of vendors in other units: what the tables say they measure, and the numbers that follow from it."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd
from usdphys_ext.usdphys_addon.core import units, validate, vendor_units
from usdphys_ext.usdphys_addon.core.units import Dimension, StageUnits
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import unit_conversion
from usdphys_ext.usdphys_addon.usd import write as usd_write

TABLES = sorted((Path(vendor_units.__file__).parent / "vendor_tables").glob("*.json"))
CENTIMETRES = StageUnits(0.01, 1.0, "Y")
METRES = StageUnits(1.0, 1.0, "Z")


def test_units_are_read_from_their_text() -> None:
    assert vendor_units.parse_unit("1") == units.NONE
    assert vendor_units.parse_unit("kg*m^2/s^2/deg") == units.ANGULAR_STIFFNESS
    assert vendor_units.parse_unit("1/s") == units.RATE and vendor_units.parse_unit("m") == units.LENGTH
    assert vendor_units.parse_unit("deg*s/kg/m^2") == Dimension(-2, -1, 1, 1)
    for text in ("", "N", "kg m", "kg*", "m^x"):
        with pytest.raises(ValueError, match="is no unit"):
            vendor_units.parse_unit(text)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_number_of_a_table_has_a_unit_or_says_that_nobody_knows_it(path) -> None:
    """And every row has a type that USD knows, and a name that is found again."""
    count = 0
    for schema in json.loads(path.read_text())["schemas"]:
        for row in schema["attributes"]:
            count += 1
            assert row["type"] == "rel" or Sdf.ValueTypeNames.Find(row["type"]), row
            is_number = row["type"].startswith(("float", "double", "half", "point", "vector", "normal"))
            assert not is_number or "unit" in row, row["usd"]
            if "unit" in row:
                name = row["usd"].replace("__INSTANCE_NAME__", "rotX")
                assert vendor_units.unit_of(name, schema["name"]) is not None, name
    assert count > (100 if path.stem in ("physx", "newton", "mujoco") else 0)


def test_joints_decide_what_an_armature_measures() -> None:
    unit = vendor_units.unit_of("newton:armature")
    assert unit.dimension("newton:armature", "PhysicsRevoluteJoint") == units.INERTIA
    assert unit.dimension("newton:armature", "PhysicsPrismaticJoint") == units.MASS
    assert unit.dimension("newton:armature", "PhysicsJoint") == units.INERTIA
    assert unit.dimension("newton:armature", "Xform") is None
    state = vendor_units.unit_of("state:angular:physics:position")
    assert state.dimension("state:angular:physics:position", "PhysicsRevoluteJoint") == units.ANGLE
    assert state.dimension("state:linear:physics:position", "PhysicsPrismaticJoint") == units.LENGTH


def converted(prims: str, target: StageUnits) -> tuple[Usd.Stage, dict[str, str]]:
    """The prims of a file in centimetres with Y up in other units, and the attributes that keep their numbers."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(f'#usda 1.0\n(\n    metersPerUnit = 0.01\n    upAxis = "Y"\n)\n{prims}')
    return stage, unit_conversion.convert(stage, target)


def value(stage: Usd.Stage, path: str) -> object:
    return stage.GetAttributeAtPath(path).Get()


def test_numbers_of_a_body_are_those_of_the_new_units() -> None:
    stage, unknown = converted("""
def Xform "Body" (
    prepend apiSchemas = ["PhysicsCollisionAPI", "PhysxRigidBodyAPI", "PhysxForceAPI", "PhysxCollisionAPI"]
)
{
    float physxCollision:contactOffset = 2
    float physxCollision:restOffset = -inf
    float physxRigidBody:maxLinearVelocity = 1000
    float physxRigidBody:maxAngularVelocity = 720
    float physxRigidBody:linearDamping = 0.5
    float physxRigidBody:sleepThreshold = 0.5
    int physxRigidBody:lockedPosAxis = 5
    int physxRigidBody:lockedRotAxis = 2
    bool physxForce:worldFrameEnabled = 1
    uniform token physxForce:mode = "force"
    vector3f physxForce:force = (100, 200, 300)
    double[] newton:inertia = [10000, 20000, 30000]
    float[] unknown:thing = [1]
    float unknown:nothing = 0
}
""", METRES)  # fmt: skip
    body = "/Body.physx"
    assert value(stage, f"{body}Collision:contactOffset") == pytest.approx(0.02)
    assert value(stage, f"{body}Collision:restOffset") == -math.inf
    assert value(stage, f"{body}RigidBody:maxLinearVelocity") == pytest.approx(10)
    assert value(stage, f"{body}RigidBody:maxAngularVelocity") == 720
    assert value(stage, f"{body}RigidBody:linearDamping") == 0.5
    assert value(stage, f"{body}RigidBody:sleepThreshold") == pytest.approx(0.5e-4)
    # The Y axis of the file is the Z axis now, and its Z axis is -Y.
    assert value(stage, f"{body}RigidBody:lockedPosAxis") == 3
    assert value(stage, f"{body}RigidBody:lockedRotAxis") == 4
    assert Gf.IsClose(value(stage, f"{body}Force:force"), Gf.Vec3f(1, -3, 2), 1e-6)
    assert list(value(stage, "/Body.newton:inertia")) == [1, 2, 3]
    assert value(stage, "/Body.unknown:thing")[0] == 1 and unknown == {"unknown:thing": "/Body"}


def test_modes_and_frames_decide_what_a_number_is() -> None:
    """An acceleration has no mass; a vector in the frame of the body does not turn with the up axis."""
    stage, _ = converted("""
def Xform "Pushed" (prepend apiSchemas = ["PhysxForceAPI"])
{
    vector3f physxForce:force = (100, 200, 300)
}
def Material "Soft" (prepend apiSchemas = ["PhysxMaterialAPI"])
{
    float physxMaterial:compliantContactStiffness = 8
}
def Material "Springy" (prepend apiSchemas = ["PhysxMaterialAPI"])
{
    bool physxMaterial:compliantContactAccelerationSpring = 1
    float physxMaterial:compliantContactStiffness = 8
}
""", StageUnits(1.0, 0.001, "Z"))  # fmt: skip
    assert Gf.IsClose(value(stage, "/Pushed.physxForce:force"), Gf.Vec3f(1, 2, 3), 1e-6)
    assert value(stage, "/Soft.physxMaterial:compliantContactStiffness") == pytest.approx(8000)
    assert value(stage, "/Springy.physxMaterial:compliantContactStiffness") == 8


def test_joints_and_time_samples_are_converted() -> None:
    stage, unknown = converted("""
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["NewtonJointAPI", "PhysxLimitAPI:angular"])
{
    float newton:armature = 10000
    float newton:armature.timeSamples = { 0: 10000, 1: 20000 }
    float newton:velocityLimit = 90
    float physxLimit:angular:stiffness = 20000
}
def PhysicsPrismaticJoint "Slider" (prepend apiSchemas = ["NewtonJointAPI", "PhysxLimitAPI:linear"])
{
    float newton:armature = 3
    float newton:velocityLimit = 90
    float physxLimit:linear:bounceThreshold = 50
}
""", METRES)  # fmt: skip
    assert value(stage, "/Hinge.newton:armature") == pytest.approx(1)
    samples = stage.GetAttributeAtPath("/Hinge.newton:armature")
    assert [samples.Get(time) for time in samples.GetTimeSamples()] == [1, 2]
    assert value(stage, "/Hinge.newton:velocityLimit") == 90
    assert value(stage, "/Hinge.physxLimit:angular:stiffness") == pytest.approx(2)
    assert value(stage, "/Slider.newton:armature") == 3
    assert value(stage, "/Slider.newton:velocityLimit") == pytest.approx(0.9)
    assert value(stage, "/Slider.physxLimit:linear:bounceThreshold") == 0.5
    assert not unknown


def test_lengths_and_frames_of_vendor_joints_are_converted() -> None:
    """Their frames have no place in the model."""
    stage, _ = converted("""
def PhysxPhysicsRackAndPinionJoint "Rack"
{
    point3f physics:localPos0 = (100, 0, 50)
    quatf physics:localRot0 = (0, 1, 0, 0)
    float physics:ratio = 3
}
""", METRES)  # fmt: skip
    rack = stage.GetRootLayer().GetPrimAtPath("/Rack")
    assert rack.attributes["physics:localRot0"].default == Gf.Quatf(0, 1, 0, 0)
    assert rack.attributes["physics:ratio"].default == 300
    assert rack.attributes["physics:localPos0"].default == Gf.Vec3f(1, 0, 0.5)


def test_the_cone_of_a_ball_joint_is_an_angle() -> None:
    """Its soft limit is a torque for a degree: 10,000 kg cm2/s2 are 1 N m."""
    stage, unknown = converted("""
def PhysicsSphericalJoint "Ball" (prepend apiSchemas = ["PhysxLimitAPI:cone"])
{
    float physxLimit:cone:stiffness = 20000
    float physxLimit:cone:bounceThreshold = 30
}
""", METRES)  # fmt: skip
    assert value(stage, "/Ball.physxLimit:cone:stiffness") == pytest.approx(2.0)
    assert value(stage, "/Ball.physxLimit:cone:bounceThreshold") == 30.0
    assert not unknown


def test_a_limit_of_a_freedom_that_its_schema_does_not_list_is_converted() -> None:
    """UsdPhysics has no limit "linear" or "angular" of a generic joint; files have."""
    stage, unknown = converted("""
def PhysicsJoint "Few" (prepend apiSchemas = ["PhysicsLimitAPI:linear", "PhysicsLimitAPI:angular"])
{
    float limit:linear:physics:high = 300
    float limit:angular:physics:low = -15
}
""", METRES)  # fmt: skip
    assert value(stage, "/Few.limit:linear:physics:high") == pytest.approx(3.0)
    assert value(stage, "/Few.limit:angular:physics:low") == -15.0
    assert not unknown


def test_equal_units_change_nothing() -> None:
    assert StageUnits(0.01, 1.0, "Y").is_like(StageUnits(0.009999999776482582, 1.0, "Y"))
    assert not METRES.is_like(CENTIMETRES) and not METRES.is_like(StageUnits(1.0, 1.0, "Y"))


def test_the_gearing_of_a_tendon_is_a_length_for_a_degree_where_its_axis_turns() -> None:
    """And nothing where it moves. Read in centimetres, written in metres; an attachment has a plain number."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString("""#usda 1.0
(
    metersPerUnit = 0.01
)
def PhysicsRevoluteJoint "Turns" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:forceCoefficient = [5]
    float[] physxTendon:t:gearing = [2]
    uniform token[] physxTendon:t:jointAxis = ["rotX"]
}
def PhysicsPrismaticJoint "Slides" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:gearing = [2]
    uniform token[] physxTendon:t:jointAxis = ["transX"]
}
def Xform "Link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxTendonAttachmentAPI:t"])
{
    float physxTendon:t:gearing = 2
}
""")
    model = usd_read.read_stage(stage)
    # Its tokens are those of an array.
    assert "TokenUnknown" not in {issue.code for issue in validate.validate(model, check_geometry=False)}
    new = Usd.Stage.CreateInMemory()
    usd_write.write_model(new, model, METRES)
    words = (("Turns", "gearing"), ("Turns", "forceCoefficient"), ("Slides", "gearing"))
    numbers = [list(new.GetAttributeAtPath(f"/{name}.physxTendon:t:{word}").Get()) for name, word in words]
    assert numbers == [pytest.approx([0.02]), pytest.approx([0.05]), pytest.approx([2.0])]
    assert new.GetAttributeAtPath("/Link.physxTendon:t:gearing").Get() == 2.0


def in_metres(prims: str, meters_per_unit: float = 0.01) -> Usd.Stage:
    """The physics of prims of a file with Z up, written in metres."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(f"""#usda 1.0
(
    metersPerUnit = {meters_per_unit}
    upAxis = "Z"
)
{prims}""")
    new = Usd.Stage.CreateInMemory()
    usd_write.write_model(new, usd_read.read_stage(stage), METRES)
    return new


def test_a_tendon_that_names_no_axis_has_the_unit_of_its_joint() -> None:
    """As PhysX reads it. What nobody wrote is a number in the units of the file, too; the root brings both schemas."""
    stage = in_metres("""
def PhysicsRevoluteJoint "Turns" (prepend apiSchemas = ["PhysxTendonAxisRootAPI:t"])
{
    uniform token physics:axis = "Y"
    float[] physxTendon:t:gearing = [2]
    float physxTendon:t:restLength = 3
}
def PhysicsPrismaticJoint "Slides" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:gearing = [2]
}
def PhysicsJoint "Free" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
    float[] physxTendon:t:gearing = [2]
}
def PhysxPhysicsRackAndPinionJoint "Rack"
{
}
""")

    def numbers(name: str, word: str) -> list[float]:
        return list(stage.GetAttributeAtPath(f"/{name}.physxTendon:t:{word}").Get())

    assert numbers("Turns", "gearing") == pytest.approx([0.02])
    assert numbers("Turns", "forceCoefficient") == pytest.approx([0.01])
    assert list(stage.GetAttributeAtPath("/Turns.physxTendon:t:jointAxis").Get()) == ["rotY"]
    assert stage.GetAttributeAtPath("/Turns.physxTendon:t:restLength").Get() == pytest.approx(0.03)
    assert numbers("Slides", "gearing") == [2.0]
    assert list(stage.GetAttributeAtPath("/Slides.physxTendon:t:jointAxis").Get()) == ["transX"]
    assert numbers("Free", "gearing") == [2.0]
    assert not stage.GetAttributeAtPath("/Free.physxTendon:t:jointAxis")
    # One degree for each centimetre is a hundred for each metre.
    assert stage.GetAttributeAtPath("/Rack.physics:ratio").Get() == pytest.approx(100.0)


def test_what_nobody_wrote_stays_away_where_the_units_stay() -> None:
    stage = in_metres("""
def PhysicsRevoluteJoint "Turns" (prepend apiSchemas = ["PhysxTendonAxisAPI:t"])
{
}
""", 1.0)  # fmt: skip
    assert not stage.GetAttributeAtPath("/Turns.physxTendon:t:forceCoefficient")


def test_fallbacks_that_newton_takes_as_plain_numbers_are_written_where_the_units_change() -> None:
    """Measured with Newton 1.8: 0.005 is its torsional friction in a file in metres and in one in centimetres.

    PhysX takes its fallbacks as metres in all units (push-out speed, sleep, speed of bounces, distance of friction,
    automatic contact and rest offset: measured, ovphysx 0.7; other numbers of frictionCorrelationDistance and
    stabilizationThreshold changed no motion that we tried).
    """
    stage = in_metres("""
def Material "Rough" (prepend apiSchemas = ["PhysicsMaterialAPI", "NewtonMaterialAPI"])
{
}
def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"])
{
}
def PhysicsScene "Scene" (prepend apiSchemas = ["PhysxSceneAPI"])
{
}
""")
    assert not stage.GetAttributeAtPath("/Scene.physxScene:frictionOffsetThreshold")
    assert stage.GetAttributeAtPath("/Rough.newton:torsionalFriction").Get() == pytest.approx(0.005 * 0.01)
    assert stage.GetAttributeAtPath("/Rough.newton:rollingFriction").Get() == pytest.approx(1e-4 * 0.01)
    assert not stage.GetAttributeAtPath("/Body.physxRigidBody:maxDepenetrationVelocity")


def test_a_negative_number_that_means_no_limit_is_the_same_in_all_units() -> None:
    """A negative distance is none. A negative place of a limit is one, and so is a depth."""
    stage = in_metres("""
def PhysicsScene "Scene"
{
    float physics:gravityMagnitude = -1
}
def PhysicsDistanceJoint "Rope"
{
    float physics:minDistance = -1
    float physics:maxDistance = 50
}
def PhysicsJoint "Free" (prepend apiSchemas = ["PhysicsLimitAPI:transX"])
{
    float limit:transX:physics:low = -1
}
def PhysicsSphericalJoint "Ball"
{
    float physics:coneAngle0Limit = -1
}
def Xform "Car" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxVehicleEngineAPI", "PhysxVehicleAPI"])
{
    float physxVehicleEngine:peakTorque = -1
    float physxVehicle:lateralStickyTireThresholdSpeed = -1
    float physxVehicle:longitudinalStickyTireThresholdSpeed = 20
}
def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "NewtonSDFCollisionAPI"])
{
    float newton:sdfNarrowBandInner = -10
}
""")
    found = {
        name: stage.GetAttributeAtPath(name).Get() for name in (
            "/Scene.physics:gravityMagnitude", "/Rope.physics:minDistance", "/Rope.physics:maxDistance",
            "/Free.limit:transX:physics:low",
            "/Ball.physics:coneAngle0Limit", "/Car.physxVehicleEngine:peakTorque",
            "/Car.physxVehicle:lateralStickyTireThresholdSpeed",
            "/Car.physxVehicle:longitudinalStickyTireThresholdSpeed", "/Shape.newton:sdfNarrowBandInner",
        )
    }  # fmt: skip
    assert list(found.values()) == pytest.approx([-1, -1, 0.5, -0.01, -1, -1, -1, 0.2, -0.1])


def test_a_carried_number_that_means_automatic_is_the_same_in_all_units() -> None:
    stage, unknown = converted("""
def Scope "Engine"
{
    float physxVehicleEngine:peakTorque = -1
    float physxVehicle:longitudinalStickyTireThresholdSpeed = 20
}
""", METRES)  # fmt: skip
    assert value(stage, "/Engine.physxVehicleEngine:peakTorque") == -1.0
    assert value(stage, "/Engine.physxVehicle:longitudinalStickyTireThresholdSpeed") == pytest.approx(0.2)
    assert not unknown


def test_carried_vectors_and_axes_of_the_world_turn_with_the_up_axis() -> None:
    """On prims without physics these schemas are carried. The force of the second one is along the prim's own axes."""
    stage, _ = converted("""
def Scope "Wind" (prepend apiSchemas = ["PhysxForceAPI", "PhysxRigidBodyAPI"])
{
    bool physxForce:worldFrameEnabled = 1
    uniform token physxForce:mode = "force"
    vector3f physxForce:force = (100, 200, 300)
    int physxRigidBody:lockedPosAxis = 13
}
def Scope "Fan" (prepend apiSchemas = ["PhysxForceAPI"])
{
    bool physxForce:worldFrameEnabled = 0
    vector3f physxForce:force = (100, 200, 300)
}
""", METRES)  # fmt: skip
    assert Gf.IsClose(value(stage, "/Wind.physxForce:force"), Gf.Vec3f(1, -3, 2), 1e-6)
    # X and Z are X and Y now; bits that are no axes stay.
    assert value(stage, "/Wind.physxRigidBody:lockedPosAxis") == 11
    assert Gf.IsClose(value(stage, "/Fan.physxForce:force"), Gf.Vec3f(1, 2, 3), 1e-6)


@pytest.mark.parametrize(("mode", "unit"), [("acceleration", 1.0), ("force", 1e-4)])
def test_an_angular_acceleration_is_in_radians_as_physx_takes_it(mode: str, unit: float) -> None:
    """Its documentation says degrees. A torque has the square of the unit of length."""
    stage, _ = converted(f"""
def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxForceAPI"])
{{
    uniform token physxForce:mode = "{mode}"
    vector3f physxForce:torque = (0, 2, 0)
}}
""", METRES)  # fmt: skip
    prim = usd_read.read_stage(stage).prims["/Body"]
    turns = np.abs(np.array(prim.schemas["PhysxForceAPI"].torque))
    assert turns.max() == pytest.approx(2.0 * unit)
