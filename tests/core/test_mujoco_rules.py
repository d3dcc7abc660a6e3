"""What MuJoCo's own reader of USD refuses, leaves out and takes, as it was measured with mujoco-usd 4.0.0."""

import pytest
from pxr import Sdf, Usd
from usdphys_ext.usdphys_addon.core import validate
from usdphys_ext.usdphys_addon.core.rules.base import RULES
from usdphys_ext.usdphys_addon.usd import read as usd_read

HEAD = '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
PLACE = 'double3 xformOp:{op} = {value}\n    uniform token[] xformOpOrder = ["xformOp:{op}"]'
#: An L, which is not convex, and the box that it is cut from.
L_SHAPE = """point3f[] points = [(0, 0, 0), (4, 0, 0), (4, 1, 0), (1, 1, 0), (1, 4, 0), (0, 4, 0),
        (0, 0, 1), (4, 0, 1), (4, 1, 1), (1, 1, 1), (1, 4, 1), (0, 4, 1)]
    int[] faceVertexCounts = [6, 6, 4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = [5, 4, 3, 2, 1, 0, 6, 7, 8, 9, 10, 11, 0, 1, 7, 6, 1, 2, 8, 7, 2, 3, 9, 8, 3, 4, 10, 9,
        4, 5, 11, 10, 5, 0, 6, 11]"""
BOX = """point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = [3, 2, 1, 0, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7]"""


def prim(kind: str, name: str, apis: str = "", values: str = "") -> str:
    applied = ", ".join(f'"Physics{api}"' for api in apis.split())
    metadata = f" (prepend apiSchemas = [{applied}])" if applied else ""
    return f'def {kind} "{name}"{metadata}\n{{\n    {values}\n}}\n'


def solid(values: str = "", apis: str = "", name: str = "A") -> str:
    return prim("Cube", name, f"RigidBodyAPI CollisionAPI {apis}", values)


def joint(kind: str, values: str = "", apis: str = "", ends: tuple[str, str] = ("A", "B")) -> str:
    targets = "\n    ".join(f"rel physics:body{side} = </{end}>" for side, end in enumerate(ends) if end)
    return solid() + solid(name="B") + prim(f"Physics{kind}Joint", "J", apis, f"{targets}\n    {values}")


def static(kind: str, values: str = "") -> str:
    return prim(kind, "C", "CollisionAPI", values)


def mesh(approximation: str, geometry: str) -> str:
    return prim("Mesh", "M", "CollisionAPI MeshCollisionAPI",
                f'uniform token physics:approximation = "{approximation}"\n    {geometry}')  # fmt: skip


FLAT = """point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]"""
TWICE = """def Cube "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", {}])
{{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    quatf physics:principalAxes = (1, 0, 0, 0)
    double[] newton:inertia = [1, 1, 1, 0, 0, 0]
}}
"""
GROUP = 'def PhysicsCollisionGroup "G" (prepend apiSchemas = ["CollectionAPI:colliders"])\n{{\n{}\n}}\n'
#: (code, what MuJoCo refuses or leaves out, what it takes).
CASES = [
    ("JointWelded", joint("Spherical"), joint("Revolute")),
    ("JointWelded", joint("Distance"), joint("Prismatic")),
    ("JointWelded", joint(""), joint("Fixed")),
    ("WorldJointSkipped", joint("Revolute", ends=("A", "")), joint("Revolute", ends=("", "A"))),
    ("DisabledStillActs", solid("bool physics:kinematicEnabled = 1"), solid()),
    ("DisabledStillActs", solid("bool physics:rigidBodyEnabled = 0"), solid("bool physics:rigidBodyEnabled = 1")),
    ("DisabledStillActs", joint("Revolute", "bool physics:jointEnabled = 0"), joint("Revolute")),
    ("DriveLeftOut", joint("Revolute", "float drive:angular:physics:stiffness = 5", "DriveAPI:angular"),
     joint("Revolute", "float drive:angular:physics:stiffness = 5", "DriveAPI:angular")
     + 'def MjcActuator "Motor"\n{\n}\n'),
    ("GroupsLeftOut", GROUP.format("    rel physics:filteredGroups = </G>"), GROUP.format("")),
    ("MassRefused", solid("float physics:mass = 0", "MassAPI"), solid("float physics:density = 0", "MassAPI")),
    ("MassRefused", prim("Xform", "A", "RigidBodyAPI"), prim("Xform", "A", "RigidBodyAPI", 'def Sphere "Seen"\n{\n}')),
    ("MassRefused", prim("Xform", "A", "RigidBodyAPI"),
     prim("Xform", "A", "RigidBodyAPI") + 'def PhysicsFixedJoint "J"\n{\n    rel physics:body1 = </A>\n}\n'),
    ("InertiaTwice", TWICE.format('"NewtonMassAPI", "PhysicsMassAPI"'), TWICE.format('"PhysicsMassAPI"')),
    ("RootRefused", prim("Xform", "R", "ArticulationRootAPI"), solid("", "ArticulationRootAPI")),
    ("RootRefused", solid() + prim("PhysicsFixedJoint", "J", "ArticulationRootAPI", "rel physics:body1 = </A>"),
     solid() + prim("PhysicsFixedJoint", "J", "", "rel physics:body1 = </A>")),
    ("MassRefused", prim("Xform", "A", "RigidBodyAPI MassAPI", "float physics:mass = 2"),
     prim("Xform", "A", "RigidBodyAPI MassAPI", "float physics:mass = 2\n    float3 physics:diagonalInertia = (1, 1, 1)"
          "\n    quatf physics:principalAxes = (1, 0, 0, 0)")),
    ("ShapeRefused", static("Cone"), static("Cylinder")),
    ("ShapeRefused", prim("Cone", "Seen"), prim("Cube", "Seen")),
    ("ShapeRefused", prim("BasisCurves", "Seen"), prim("Mesh", "Seen")),
    ("ShapeRefused", mesh("none", FLAT), mesh("none", BOX)),
    ("ShapeRefused", static("Points", "point3f[] points = [(0, 0, 0)]\n    float[] widths = [1]"), static("Sphere")),
    ("ShapeRefused", static("Capsule_1", "double height = 2\n    double radiusTop = 0.5\n    double radiusBottom = 1"),
     static("Capsule")),
    ("ShapeRefused", static("Cube", PLACE.format(op="scale", value="(-1, 1, 1)")),
     static("Cube", PLACE.format(op="scale", value="(1, 2, 1)"))),
    ("MeshTakenAsHull", mesh("none", L_SHAPE), mesh("none", BOX)),
    ("MeshTakenAsHull", mesh("convexDecomposition", L_SHAPE), mesh("convexHull", L_SHAPE)),
]  # fmt: skip


def codes(text: str, target: str = "mujoco") -> dict[str, str]:
    """Severity by code."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + text)
    model = usd_read.read_stage(Usd.Stage.Open(layer))
    return {issue.code: issue.severity for issue in validate.validate(model, target)}


@pytest.mark.parametrize(("code", "wrong", "right"), CASES)
def test_what_mujoco_does_not_take_is_named_for_it_alone(code, wrong, right) -> None:
    assert code in codes(wrong) and code not in codes(right)
    for target in ("usd", "physx", "newton"):
        assert code not in codes(wrong, target)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("LimitsReversed", joint("Revolute", "float physics:lowerLimit = 5\n    float physics:upperLimit = -5")),
        ("InertiaImpossible", solid("float3 physics:diagonalInertia = (1, 1, 5)\n"
                                    "    quatf physics:principalAxes = (1, 0, 0, 0)", "MassAPI")),
    ],
)  # fmt: skip
def test_what_is_a_warning_elsewhere_and_refused_by_mujoco_is_an_error(code, text) -> None:
    assert codes(text)[code] == "error" and codes(text, "usd")[code] == "warning"


@pytest.mark.parametrize("target", ["usd", "mujoco", "newton"])
@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e38"])
def test_a_mesh_with_a_point_nowhere_is_named_for_that_alone(number: str, target: str) -> None:
    """Its sizes along its own axes are those of nothing."""
    found = codes(mesh("none", FLAT.replace("(1, 0, 0)", f"(1e30, 1, {number})")), target)
    assert ("ColliderPointsNotFinite" in found) == (number != "1e38")


@pytest.mark.parametrize("others", [0, 1, 2])
def test_of_drives_the_first_joint_is_named_and_the_others_are_counted(others: int) -> None:
    joints = "".join(
        prim("PhysicsRevoluteJoint", f"J{number}", "DriveAPI:angular", "rel physics:body0 = </A>\n    "
             "rel physics:body1 = </B>\n    float drive:angular:physics:stiffness = 1")
        for number in range(others + 1)
    )  # fmt: skip
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(HEAD + solid() + solid(name="B") + joints)
    model = usd_read.read_stage(Usd.Stage.Open(layer))
    (issue,) = (one for one in validate.validate(model, "mujoco") if one.code == "DriveLeftOut")
    assert issue.path == "/J0"
    assert ("more" in issue.message) == bool(others) and (f"{others} more" in issue.message) == bool(others)


def test_where_nothing_was_measured_the_column_is_that_of_usd() -> None:
    known = {"ApproximationOfPhysx", "LimitsReversed", "InertiaImpossible", "BreakIgnored", "JointsLockEachOther",
             "SurfaceVelocityIgnored"} | {code for code, _, _ in CASES}  # fmt: skip
    #: What is said of PhysX alone.
    left_out = {"GearWithoutJoints", "MimicWithoutLimits", "VendorNeedsArticulation", "VendorNotInArticulation",
                "CcdNotInScene", "TendonWithoutRoot", "VendorOtherApproximation", "JointLightFirst"}  # fmt: skip
    for rule in RULES:
        if rule.code in left_out:
            assert "mujoco" not in rule.severities
        elif rule.code not in known:
            assert rule.severities.get("mujoco") == rule.severities.get("usd"), rule.code
