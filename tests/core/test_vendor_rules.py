# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for settings of simulators that do nothing, or not what they say: found, and not found where all is well."""

import pytest
from pxr import Sdf, Usd
from usdphys_ext.usdphys_addon.core import validate
from usdphys_ext.usdphys_addon.usd import read as usd_read

HEAD = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
"""
ARM = """
def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"{root}])
{{
    float physics:mass = 1
}}
def Xform "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = 1
}}
def {type} "J" (prepend apiSchemas = [{applied}])
{{
    rel physics:body0 = </A>
    rel physics:body1 = </B>
    {values}
}}
"""
ROOT = ', "PhysicsArticulationRootAPI"'
LIMITS = "float physics:lowerLimit = -30\n    float physics:upperLimit = 30"
BALL = """
def PhysicsScene "Scene"{scene}
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", {applied}])
{{
    {values}
}}
"""


def codes(text: str, target: str = "physx") -> set[str]:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + text)
    return {issue.code for issue in validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), target)}


def arm(applied: str, values: str = "", *, root: str = ROOT, kind: str = "PhysicsRevoluteJoint") -> str:
    return ARM.format(applied=f'"{applied}"', values=values, root=root, type=kind)


def ball(applied: str, values: str = "", *, scene: str = "\n{\n}") -> str:
    return BALL.format(applied=applied, values=values, scene=scene)


ALLOWED = ' (prepend apiSchemas = ["PhysxSceneAPI"])\n{\n    bool physxScene:enableCCD = 1\n}'
GEAR = """
def PhysxPhysicsGearJoint "G"
{{
    rel physics:hinge0 = <{}>
    rel physics:hinge1 = <{}>
}}
"""
#: A soft limit in the words of both, as the rules of PhysX and of Newton see it.
SOFT_APIS = 'PhysxLimitAPI:angular", "NewtonJointAPI'
SOFT = "float physxLimit:angular:stiffness = {}\nfloat newton:limitStiffness = 5"
MESH = '"PhysicsMeshCollisionAPI", "PhysxSDFMeshCollisionAPI"'


#: (code, a stage where it is found, one where it is not).
CASES = [
    ("VendorJointApiDead", arm("PhysxJointAPI", "float physxJoint:armature = 1"),
     arm("NewtonJointAPI", "float newton:armature = 1")),
    ("VendorDeprecated", arm("PhysxMimicJointAPI:rotZ", "rel physxMimicJoint:rotZ:referenceJoint = </J>"),
     arm("NewtonMimicAPI")),
    ("VendorDeprecated", ball('"PhysxCollisionAPI"', "float physxCollision:restOffset = 0.1"),
     ball('"PhysxCollisionAPI"', "float physxCollision:torsionalPatchRadius = 0.1")),
    ("VendorDeprecated", ball('"PhysxCollisionAPI"', "float physxCollision:restOffset = 0.1"),
     ball('"PhysxCollisionAPI", "NewtonCollisionAPI"',
          "float physxCollision:restOffset = 0.1\nfloat newton:contactMargin = 0.1")),
    ("MimicWithoutLimits", arm("NewtonMimicAPI"), arm("NewtonMimicAPI", LIMITS)),
    ("GearWithoutJoints", arm("PhysicsFilteredPairsAPI") + GEAR.format("/J", "/Gone"),
     arm("PhysicsFilteredPairsAPI") + GEAR.format("/J", "/J")),
    ("GearWithoutJoints", arm("PhysicsFilteredPairsAPI", kind="PhysicsPrismaticJoint") + GEAR.format("/J", "/J"),
     arm("PhysicsFilteredPairsAPI", kind="PhysicsJoint") + GEAR.format("/J", "/J")),
    ("MimicWrongJoint", arm("NewtonMimicAPI", kind="PhysicsSphericalJoint"), arm("NewtonMimicAPI", LIMITS)),
    ("VendorNeedsArticulation", arm("PhysxJointAxisAPI:angular", root=""), arm("PhysxJointAxisAPI:angular")),
    ("VendorNotInArticulation", arm("PhysxLimitAPI:angular"), arm("PhysxLimitAPI:angular", root="")),
    ("VendorNotInArticulation", arm("PhysxLimitAPI:angular"),
     arm("PhysxLimitAPI:angular", "bool physics:excludeFromArticulation = 1")),
    ("CcdNotInScene", ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 1"),
     ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 1", scene=ALLOWED)),
    ("LimitStiffnessPerRadian", arm("PhysxLimitAPI:angular", "float physxLimit:angular:stiffness = 5"),
     arm("PhysxLimitAPI:linear", "float physxLimit:linear:stiffness = 5", kind="PhysicsPrismaticJoint")),
    ("LimitStiffnessPerRadian", arm(SOFT_APIS, SOFT.format(5)), arm(SOFT_APIS, SOFT.format(5 * 57.2957795))),
    ("VendorOtherApproximation", ball(MESH, 'uniform token physics:approximation = "convexHull"'),
     ball(MESH, 'uniform token physics:approximation = "sdf"')),
    ("TriggerOnBody", ball('"PhysxTriggerAPI"'), ball('"PhysxTriggerAPI"', "bool physics:kinematicEnabled = 1")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "wrong", "right"), CASES)
def test_what_does_nothing_is_named(code, wrong, right) -> None:
    assert code in codes(wrong)
    assert code not in codes(right)


def test_a_joint_far_from_the_root_is_in_the_articulation() -> None:
    """The root is on a body; the joint hangs on it through another joint."""
    chain = (
        arm("NewtonJointAPI")
        + """
def Xform "C" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
}
def PhysicsRevoluteJoint "K" (prepend apiSchemas = ["PhysxJointAxisAPI:angular"])
{
    rel physics:body0 = </B>
    rel physics:body1 = </C>
}
"""
    )
    assert "VendorNeedsArticulation" not in codes(chain)
    assert "VendorNeedsArticulation" in codes(chain.replace(ROOT, ""))


def test_schemas_that_nobody_declares_are_checked_without_harm() -> None:
    """Two prims with rows of other attributes under one name, as Blender can hold them."""
    from usdphys_ext.usdphys_addon.core import vendor_schemas
    from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim

    model = PhysicsModel()
    for path, attributes in (("/A", (("nobody:a", "float"),)), ("/B", (("nobody:b", "token"), ("nobody:c", "int")))):
        value = vendor_schemas.unknown_class("NobodysAPI", attributes)()
        setattr(value, value.attributes[0].field, "word" if len(attributes) > 1 else 1.0)
        model.add(Prim(path)).add(value)
    assert not {issue.code for issue in validate.validate(model)} - {"NoScene"}
