"""What Newton refuses with the whole file, as it was measured with Newton 1.8."""

import pytest

from .test_mujoco_rules import BOX, FLAT, PLACE, codes, mesh, prim, solid, static

KINEMATIC = "bool physics:kinematicEnabled = 1"
ROOT, BODY = "ArticulationRootAPI", "RigidBodyAPI"
MIRROR = PLACE.format(op="scale", value="(1, 1, -1)")
FALLING = solid(name="D")


def held(first: str, second: str) -> str:
    """An articulation of two bodies on a hinge, with values of each."""
    ends = "rel physics:body0 = </A>\n    rel physics:body1 = </B>"
    return solid(first, ROOT) + solid(second, name="B") + prim("PhysicsRevoluteJoint", "J", "", ends)


#: (code, severity, what Newton refuses, what it takes).
CASES = [
    ("NothingMoves", "warning", static("Cube"), static("Cube") + FALLING),
    ("NothingMoves", "warning", solid("bool physics:rigidBodyEnabled = 0"), solid(KINEMATIC)),
    ("WeightlessRefused", "error", prim("Xform", "X", BODY) + FALLING,
     prim("Xform", "X", f"{BODY} MassAPI", "float physics:mass = 1") + FALLING),
    ("WeightlessRefused", "error", prim("Xform", "X", BODY, KINEMATIC) + FALLING, solid(KINEMATIC) + FALLING),
    ("WeightlessRefused", "error", prim("Mesh", "M", f"{BODY} CollisionAPI", FLAT),
     prim("Mesh", "M", f"{BODY} CollisionAPI", BOX)),
    ("KinematicHeld", "error", held("", KINEMATIC), held(KINEMATIC, "")),
    ("KinematicHeld", "error", held(KINEMATIC, KINEMATIC), held("", "")),
    ("FlatMeshRefused", "error", mesh("none", FLAT) + FALLING, mesh("none", BOX) + FALLING),
    ("FlatMeshRefused", "error", mesh("convexHull", FLAT) + FALLING, mesh("boundingCube", FLAT) + FALLING),
    ("MirroredMeshRefused", "error", mesh("convexHull", f"{BOX}\n    {MIRROR}") + FALLING,
     mesh("boundingCube", f"{BOX}\n    {MIRROR}") + FALLING),
    ("MirroredMeshRefused", "error", mesh("none", f"{BOX}\n    {MIRROR}") + FALLING,
     mesh("none", BOX + "\n    " + PLACE.format(op="scale", value="(-1, -1, 1)")) + FALLING),
]  # fmt: skip


@pytest.mark.parametrize(("code", "severity", "wrong", "right"), CASES)
def test_what_newton_refuses_is_named_for_it_alone(code, severity, wrong, right) -> None:
    assert codes(wrong, "newton").get(code) == severity
    assert code not in codes(right, "newton")
    for target in ("usd", "physx", "mujoco"):
        assert code not in codes(wrong, target)


def test_a_joint_with_a_disabled_body_needs_an_articulation_and_one_beside_the_root_does_not() -> None:
    ends = "rel physics:body0 = </A>\n    rel physics:body1 = </B>"
    disabled = solid("bool physics:rigidBodyEnabled = 0", name="B")
    hinge = prim("PhysicsRevoluteJoint", "J", "", ends)
    assert codes(solid() + disabled + hinge, "newton")["JointOutsideArticulation"] == "error"
    apart = f"{ends}\n    bool physics:excludeFromArticulation = 1"
    excluded = prim("PhysicsFixedJoint", "J", "", apart)
    assert "JointOutsideArticulation" not in codes(solid("", ROOT) + solid(name="B") + excluded, "newton")


def test_a_body_below_no_articulation_may_be_kinematic() -> None:
    """Newton refuses its joint then, which is said."""
    bodies = solid() + solid(KINEMATIC, name="B")
    hinge = prim("PhysicsRevoluteJoint", "J", "", "rel physics:body0 = </A>\n    rel physics:body1 = </B>")
    third = solid(name="C") + prim(
        "PhysicsFixedJoint", "K", "", "rel physics:body0 = </A>\n    rel physics:body1 = </C>"
    )
    found = codes(bodies + third + hinge, "newton")
    assert "JointOutsideArticulation" in found and "KinematicHeld" not in found
