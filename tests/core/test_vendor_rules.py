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


BREAKS = "float physics:breakForce = 10"
BELT = '"PhysxSurfaceVelocityAPI"'
RUNS = "vector3f physxSurfaceVelocity:surfaceVelocity = (1, 0, 0)"
OPEN = ", ".join(f'"PhysicsLimitAPI:{dof}"' for dof in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"))[1:-1]
#: The same for Newton; measured with Newton 1.8. Each is no issue for PhysX.
NEWTON_CASES = [
    ("BreakIgnored", arm("NewtonJointAPI", BREAKS), arm("NewtonJointAPI", "float physics:breakForce = inf")),
    ("BreakIgnored", arm("NewtonJointAPI", "float physics:breakTorque = 1"), arm("NewtonJointAPI")),
    ("SurfaceVelocityIgnored", ball(BELT, RUNS), ball(BELT)),
    ("SurfaceVelocityIgnored", ball(BELT, "vector3f physxSurfaceVelocity:surfaceAngularVelocity = (0, 0, 5)"),
     ball(BELT, RUNS + "\nbool physxSurfaceVelocity:surfaceVelocityEnabled = 0")),
    ("FreedomLocked", arm("PhysicsLimitAPI:rotX", kind="PhysicsJoint"), arm(OPEN, kind="PhysicsJoint")),
    ("FreedomLocked", arm("PhysicsLimitAPI:rotX", kind="PhysicsJoint"), arm("NewtonJointAPI")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "wrong", "right"), NEWTON_CASES)
def test_what_newton_ignores_or_locks_is_named(code, wrong, right) -> None:
    assert code in codes(wrong, "newton") and code not in codes(wrong, "physx")
    assert code not in codes(right, "newton")


def test_a_wall_of_bonds_that_newton_does_not_break_is_one_issue() -> None:
    joints = (
        arm("NewtonJointAPI", BREAKS)
        + """
def PhysicsFixedJoint "K"
{
    rel physics:body1 = </B>
    float physics:breakForce = 5
}
"""
    )
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + joints)
    found = validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), "newton")
    assert [issue.message for issue in found if issue.code == "BreakIgnored"] == [
        "The joint /J is one of 2 that never break in Newton."
    ]


def test_joints_that_newton_locks_alike_are_one_issue() -> None:
    """A rope of twenty segments would fill the list of checks."""
    joint = 'def PhysicsJoint "{}" (prepend apiSchemas = [{}])\n{{\n    rel physics:body1 = </B>\n}}\n'
    shut = ", ".join(f'"PhysicsLimitAPI:{dof}"' for dof in ("transX", "transY", "transZ"))
    joints = "".join(joint.format(f"K{number}", shut) for number in range(5))
    joints += joint.format("Other", f'{shut}, "PhysicsLimitAPI:rotX"')
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + arm("NewtonJointAPI") + joints)
    found = validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), "newton")
    assert [(issue.message, issue.fix) for issue in found if issue.code == "FreedomLocked"] == [
        ("Newton locks rotX, rotY, rotZ of the joint /K0 and of 4 more: no limits.",
         "Add limits of -inf and inf to 'K0', 'K1', 'K2' and 2 more along rotX, rotY, rotZ."),
        ("Newton locks rotY, rotZ of the joint /Other, which have no limits.",
         "Add limits of -inf and inf to 'Other' along rotY, rotZ."),
    ]  # fmt: skip


@pytest.mark.parametrize(("code", "wrong", "right"), CASES)
def test_what_does_nothing_is_named(code, wrong, right) -> None:
    assert code in codes(wrong)
    assert code not in codes(right)


def test_no_limit_may_be_infinite() -> None:
    """Converters write an infinite speed for a joint without a limit; no other number may be infinite."""
    assert "NotFinite" not in codes(arm("PhysxJointAPI", "float physxJoint:maxJointVelocity = inf"))
    assert "NotFinite" in codes(arm("PhysxJointAPI", "float physxJoint:maxJointVelocity = nan"))
    assert "NotFinite" in codes(arm("PhysxJointAPI", "float physxJoint:armature = inf"))


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
