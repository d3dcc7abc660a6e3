# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for settings of simulators that do nothing, or not what they say: found, and not found where all is well."""

from typing import Any

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


def tied(kind: str, root: str = "") -> str:
    """A body that a joint holds to the world."""
    body = f'\ndef Xform "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"{root}])\n'
    return body + f'{{\n    float physics:mass = 1\n}}\ndef {kind} "W"\n{{\n    rel physics:body1 = </B>\n}}\n'


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
FRICTION = """float physxJointAxis:angular:dynamicFrictionEffort = {}
    float physxJointAxis:angular:staticFrictionEffort = {}"""
CONE = "float physics:coneAngle0Limit = {}\n    float physics:coneAngle1Limit = {}"
ZONE = '\ndef Cube "Zone" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysxTriggerAPI"])\n{\n}\n'
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
    ("TendonWithoutRoot", arm("PhysxTendonAxisAPI:one"), arm('PhysxTendonAxisAPI:one", "PhysxTendonAxisRootAPI:one')),
    ("GearWithoutJoints", arm("PhysicsFilteredPairsAPI") + GEAR.format("/J", "/Gone"),
     arm("PhysicsFilteredPairsAPI") + GEAR.format("/J", "/J")),
    ("GearWithoutJoints", arm("PhysicsFilteredPairsAPI", kind="PhysicsPrismaticJoint") + GEAR.format("/J", "/J"),
     arm("PhysicsFilteredPairsAPI", kind="PhysicsJoint") + GEAR.format("/J", "/J")),
    ("MimicWrongJoint", arm("NewtonMimicAPI", kind="PhysicsSphericalJoint"), arm("NewtonMimicAPI", LIMITS)),
    ("VendorNeedsArticulation", arm("PhysxJointAxisAPI:angular", root=""), arm("PhysxJointAxisAPI:angular")),
    ("VendorNotInArticulation", arm("PhysxLimitAPI:angular"), arm("PhysxLimitAPI:angular", root="")),
    ("VendorNotInArticulation", arm("PhysxLimitAPI:angular"),
     arm("PhysxLimitAPI:angular", "bool physics:excludeFromArticulation = 1")),
    ("JointJumpsAtStart", arm("NewtonJointAPI", "quatf physics:localRot1 = (0, 1, 0, 0)"), arm("NewtonJointAPI")),
    ("CcdNotInScene", ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 1"),
     ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 1", scene=ALLOWED)),
    ("CcdNotInScene", ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 1"),
     ball('"PhysxRigidBodyAPI"', "bool physxRigidBody:enableCCD = 0")),
    ("LimitStiffnessPerRadian", arm("PhysxLimitAPI:angular", "float physxLimit:angular:stiffness = 5"),
     arm("PhysxLimitAPI:linear", "float physxLimit:linear:stiffness = 5", kind="PhysicsPrismaticJoint")),
    ("LimitStiffnessPerRadian", arm(SOFT_APIS, SOFT.format(5)), arm(SOFT_APIS, SOFT.format(5 * 57.2957795))),
    ("FrictionAboveStatic", arm("PhysxJointAxisAPI:angular", FRICTION.format(2, 1)),
     arm("PhysxJointAxisAPI:angular", FRICTION.format(2, 2))),
    ("FrictionAboveStatic", arm("PhysxJointAxisAPI:angular", FRICTION.partition("\n")[0].format(2)),
     arm("PhysxJointAxisAPI:angular", "float physxJointAxis:angular:viscousFrictionCoefficient = 2")),
    ("VendorOtherApproximation", ball(MESH, 'uniform token physics:approximation = "convexHull"'),
     ball(MESH, 'uniform token physics:approximation = "sdf"')),
    ("ConeTurnsOtherWay", arm("NewtonJointAPI", CONE.format(40, 10), kind="PhysicsSphericalJoint"),
     arm("NewtonJointAPI", CONE.format(40, 40), kind="PhysicsSphericalJoint")),
    ("ConeTurnsOtherWay", arm("NewtonJointAPI", CONE.format(40, -1), kind="PhysicsSphericalJoint"),
     arm("NewtonJointAPI", CONE.format(-1, -1), kind="PhysicsSphericalJoint")),
    ("TriggerOnBody", ball('"PhysxTriggerAPI"'), ball('"PhysxTriggerAPI"', "bool physics:kinematicEnabled = 1")),
    ("TriggerOnBody", ball('"PhysxTriggerAPI"'), tied("PhysicsRevoluteJoint") + ZONE),
    # Outside of an articulation the body falls through the limit, in one it does not move at all; angles hold.
    ("SlideLimitOneSided", arm("PhysicsLimitAPI:transX", "float limit:transX:physics:high = 0", kind="PhysicsJoint"),
     arm("PhysicsLimitAPI:rotX", "float limit:rotX:physics:high = 0", kind="PhysicsJoint")),
    ("SlideLimitOneSided", arm("NewtonJointAPI", "float physics:lowerLimit = -1", kind="PhysicsPrismaticJoint"),
     arm("NewtonJointAPI", LIMITS, kind="PhysicsPrismaticJoint")),
    ("SlideLimitOneSided", arm("NewtonJointAPI", "float physics:upperLimit = 1", kind="PhysicsPrismaticJoint"),
     arm("NewtonJointAPI", kind="PhysicsPrismaticJoint")),
]  # fmt: skip


BREAKS = "float physics:breakForce = 10"
BELT = '"PhysxSurfaceVelocityAPI"'
RUNS = "vector3f physxSurfaceVelocity:surfaceVelocity = (1, 0, 0)"
OPEN = ", ".join(f'"PhysicsLimitAPI:{dof}"' for dof in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"))[1:-1]
HANGING = '\ndef PhysicsRevoluteJoint "W"\n{\n    rel physics:body1 = </B>\n}\n'
#: The same for Newton; measured with Newton 1.8. Each is no issue for PhysX.
NEWTON_CASES = [
    ("BreakIgnored", arm("NewtonJointAPI", BREAKS), arm("NewtonJointAPI", "float physics:breakForce = inf")),
    ("BreakIgnored", arm("NewtonJointAPI", "float physics:breakTorque = 1"), arm("NewtonJointAPI")),
    ("SurfaceVelocityIgnored", ball(BELT, RUNS), ball(BELT)),
    ("SurfaceVelocityIgnored", ball(BELT, "vector3f physxSurfaceVelocity:surfaceAngularVelocity = (0, 0, 5)"),
     ball(BELT, RUNS + "\nbool physxSurfaceVelocity:surfaceVelocityEnabled = 0")),
    ("FreedomLocked", arm("PhysicsLimitAPI:rotX", kind="PhysicsJoint"), arm(OPEN, kind="PhysicsJoint")),
    ("FreedomLocked", arm("PhysicsLimitAPI:rotX", kind="PhysicsJoint"), arm("NewtonJointAPI")),
    # With an articulation root on the body it stands still, too; a chain that hangs on the world moves.
    ("WorldJointStill", tied("PhysicsRevoluteJoint"), HANGING + arm("NewtonJointAPI")),
    ("WorldJointStill", tied("PhysicsRevoluteJoint", ROOT), tied("PhysicsFixedJoint")),
    ("DistanceJointRefused", arm("NewtonJointAPI", kind="PhysicsDistanceJoint"),
     arm("NewtonJointAPI", "bool physics:jointEnabled = 0", kind="PhysicsDistanceJoint")),
]  # fmt: skip

SLIDE, BALL_JOINT, FREE = "PhysicsPrismaticJoint", "PhysicsSphericalJoint", "PhysicsJoint"
TURNED = "quatf physics:localRot1 = (0.96592583, 0.25881905, 0, 0)\n    "  # 30 degrees about X
#: A further body on the arm, and a joint that holds its first one to the world; both are turned.
CHAIN = f"""
def Xform "C" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{{
}}
def PhysicsRevoluteJoint "K"
{{
    rel physics:body0 = </B>
    rel physics:body1 = </C>
    {TURNED}
}}
def PhysicsRevoluteJoint "W"
{{
    rel physics:body1 = </A>
    {TURNED}
}}
"""
MOVED = "point3f physics:localPos1 = (0.2, 0, 0)\n    "
#: State of a joint, its type, where its bodies are -> what PhysX does with it, if it jumps. Measured with ovphysx 0.7.
STARTS = [
    ("NewtonJointAPI", TURNED, "PhysicsRevoluteJoint", "starts the joint /J at 0°, and its bodies are at 30°."),
    ("NewtonJointAPI", TURNED.replace("0.258", "-0.258"), "PhysicsRevoluteJoint", "0°, and its bodies are at -30°."),
    ("PhysicsJointStateAPI:angular", TURNED + "float state:angular:physics:position = 30", "PhysicsRevoluteJoint", ""),
    ("PhysicsJointStateAPI:angular", TURNED + "float state:angular:physics:position = -330", "PhysicsRevoluteJoint",
     ""),
    ("PhysicsJointStateAPI:angular", TURNED + "float state:angular:physics:position = 10", "PhysicsRevoluteJoint",
     "/J at 10°, and its bodies are at 30°."),
    ("PhysicsJointStateAPI:rotX", TURNED + "float state:rotX:physics:position = 30", "PhysicsRevoluteJoint",
     "/J at 0°, and its bodies are at 30°."),
    ("NewtonJointAPI", TURNED + "bool physics:excludeFromArticulation = 1", "PhysicsRevoluteJoint", ""),
    ("NewtonJointAPI", TURNED + "bool physics:jointEnabled = 0", "PhysicsRevoluteJoint", ""),
    ("NewtonJointAPI", "quatf physics:localRot1 = (0.999994, 0.00349, 0, 0)", "PhysicsRevoluteJoint", ""),
    ("NewtonJointAPI", MOVED, SLIDE, "starts the joint /J at 0 m, and its bodies are at 0.2 m."),
    ("PhysicsJointStateAPI:linear", MOVED + "float state:linear:physics:position = 0.2", SLIDE, ""),
    ("NewtonJointAPI", "point3f physics:localPos1 = (0.00009, 0, 0)", SLIDE, ""),
    ("PhysicsJointStateAPI:rotX", TURNED + "float state:rotX:physics:position = 30", BALL_JOINT, "are at 30°."),
    ("PhysicsJointStateAPI:rotX", TURNED + "float state:rotX:physics:position = 30", FREE, ""),
    ("PhysicsJointStateAPI:transX", MOVED + "float state:transX:physics:position = 0.2", FREE, "are at 0.2 m."),
    ("NewtonJointAPI", TURNED, "PhysicsFixedJoint", ""),
    ("NewtonJointAPI", TURNED, "PhysicsDistanceJoint", ""),
]  # fmt: skip


def issues_of(text: str, target: str = "physx") -> list[Any]:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + text)
    found = validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), target)
    return [issue for issue in found if issue.code in ("JointJumpsAtStart", "JointStartsAtZero")]


@pytest.mark.parametrize(("applied", "values", "kind", "message"), STARTS)
def test_a_joint_that_physx_starts_elsewhere_than_its_bodies_is_named(applied, values, kind, message) -> None:
    found = issues_of(arm(applied, values, kind=kind))
    assert len(found) == bool(message) and all(issue.message.endswith(message) for issue in found)
    is_settable = kind not in (BALL_JOINT, FREE)
    # Only what a start position mends has a button for it.
    assert all(("Start Position" in issue.fix) == is_settable for issue in found)
    assert all(issue.code == ("JointJumpsAtStart" if is_settable else "JointStartsAtZero") for issue in found)
    for target in ("usd", "newton"):
        assert issues_of(arm(applied, values, kind=kind), target) == []
    assert issues_of(arm(applied, values, kind=kind, root="")) == []


def test_a_position_of_a_slide_is_in_metres_whatever_the_units_of_the_file() -> None:
    text = arm("PhysicsJointStateAPI:linear", MOVED + "float state:linear:physics:position = 0.1", kind=SLIDE)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD.replace("metersPerUnit = 1", "metersPerUnit = 0.01") + text)
    (issue,) = [
        issue for issue in validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), "physx")
        if issue.code == "JointJumpsAtStart"
    ]  # fmt: skip
    assert issue.message.endswith("at 0.001 m, and its bodies are at 0.002 m.")


def test_an_articulation_whose_joints_jump_is_one_issue_and_another_one_is_a_second() -> None:
    """PhysX moves no joint with the world, and none of an articulation that is switched off."""
    text = arm("NewtonJointAPI", TURNED) + CHAIN
    (issue,) = issues_of(text)
    assert issue.message.endswith("at 0°, and its bodies are at 30°. Other joints of the articulation that jump: 1.")
    second = text.replace("</", "</Other/")
    assert [found.path for found in issues_of(text + 'def Xform "Other"\n{\n' + second + "}\n")] == ["/J", "/Other/J"]
    off = text.replace(ROOT, ROOT + ', "PhysxArticulationAPI"').replace(
        "float physics:mass = 1", "float physics:mass = 1\n    bool physxArticulation:articulationEnabled = 0", 1
    )
    assert issues_of(off) == []


@pytest.mark.parametrize("root", ['"C" (prepend apiSchemas = ["PhysicsRigidBodyAPI"', '"W"'])
def test_an_articulation_reaches_through_all_joints_whichever_way_they_point(root) -> None:
    """The root is on the last body, or as in robots with a fixed base on the joint with the world."""
    with_root = f"{root}{ROOT}" if "(" in root else f"{root} (prepend apiSchemas = [{ROOT[2:]}])"
    (issue,) = issues_of(arm("NewtonJointAPI", TURNED, root="") + CHAIN.replace(root, with_root))
    assert issue.message.endswith("Other joints of the articulation that jump: 1.")


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
        "The joint /J is one of 2 that never break in Newton and MuJoCo."
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
