# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for colliders that do not fit what they stand for: hulls over hollows, colliders elsewhere, touching links."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt
from usdphys_ext.usdphys_addon.core import cavity, overlap, validate
from usdphys_ext.usdphys_addon.core.model import Mesh, Prim
from usdphys_ext.usdphys_addon.core.rules import colliders
from usdphys_ext.usdphys_addon.usd.read import read_stage


def lathe(profile: list[tuple[float, float]], sides: int = 32) -> Mesh:
    """A mesh of rotation of a line of points (radius, height), from below and outside upwards."""
    count = len(profile)
    angles = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    points = np.array([(r * np.cos(turn), r * np.sin(turn), z) for turn in angles for r, z in profile])
    quads = []
    for side in range(sides):
        near, far = side * count, (side + 1) % sides * count
        quads += [(near + row, far + row, far + row + 1, near + row + 1) for row in range(count - 1)]
    return Mesh(points, np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))]))


def ring(radius: float, thickness: float) -> Mesh:
    turns = np.linspace(0.0, 2.0 * np.pi, 17)
    return lathe([(radius + thickness * np.cos(turn), thickness * np.sin(turn)) for turn in turns], 48)


AXIS = 1e-6
CUP = lathe([(AXIS, 0), (1, 0), (1, 2), (0.9, 2), (0.9, 0.1), (AXIS, 0.1)])
CAN = lathe([(AXIS, 0), (1, 0), (1, 2), (AXIS, 2)])
SEALED = lathe([(AXIS, 0), (1, 0), (1, 2), (AXIS, 2), (AXIS, 1.9), (0.9, 1.9), (0.9, 0.1), (AXIS, 0.1)])


def test_a_cup_has_room_for_a_ball_that_fills_it() -> None:
    """The ball that fits best is in the middle of the inner cylinder, or as high as wide: a radius of 0.9 less."""
    assert cavity.radius(CUP) == pytest.approx(0.8, abs=0.12)


def test_a_cup_without_a_wall_thickness_has_it_too() -> None:
    assert cavity.radius(lathe([(AXIS, 0), (1, 0), (1, 2)])) == pytest.approx(0.85, abs=0.12)


def test_the_hole_of_a_ring_counts_as_deep_as_the_ring_is_thick() -> None:
    assert cavity.radius(ring(1.0, 0.3)) == pytest.approx(0.27, abs=0.05)


@pytest.mark.parametrize("mesh", [CAN, SEALED, lathe([(AXIS, -1), (0.7, -0.7), (1, 0), (0.7, 0.7), (AXIS, 1)])])
def test_what_nothing_gets_into_has_no_hollow(mesh: Mesh) -> None:
    assert cavity.radius(mesh) == 0.0


# --------------------------------------------------------------------------- rules


def stage_of() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdPhysics.Scene.Define(stage, "/Scene")
    return stage


def body(stage: Usd.Stage, path: str, place: tuple[float, float, float]) -> None:
    prim = UsdGeom.Xform.Define(stage, path)
    prim.AddTranslateOp().Set(Gf.Vec3d(*place))
    UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())


def box(
    stage: Usd.Stage, path: str, size: float, place: tuple[float, float, float] = (0, 0, 0), *, guide: bool = True
) -> None:
    cube = UsdGeom.Cube.Define(stage, path)
    cube.CreateSizeAttr(size)
    cube.CreateExtentAttr([Gf.Vec3f(-size / 2), Gf.Vec3f(size / 2)])
    cube.AddTranslateOp().Set(Gf.Vec3d(*place))
    if guide:
        cube.CreatePurposeAttr(UsdGeom.Tokens.guide)
        UsdPhysics.CollisionAPI.Apply(cube.GetPrim())


def mesh(stage: Usd.Stage, path: str, made: Mesh, approximation: str) -> UsdGeom.Mesh:
    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(made.points.astype(np.float32)))
    prim.CreateFaceVertexCountsAttr([3] * len(made.triangles))
    prim.CreateFaceVertexIndicesAttr(made.triangles.reshape(-1).tolist())
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())
    UsdPhysics.MeshCollisionAPI.Apply(prim.GetPrim()).CreateApproximationAttr(approximation)
    return prim


def found(stage: Usd.Stage, code: str) -> list[validate.Issue]:
    return [issue for issue in validate.validate(read_stage(stage)) if issue.code == code]


def test_a_hull_over_a_cup_is_named_with_the_ball_that_has_room_in_it() -> None:
    stage = stage_of()
    for name, word in (("Cup", "convexHull"), ("Parts", "convexDecomposition")):
        body(stage, f"/{name}", (0, 0, 0))
        mesh(stage, f"/{name}/Shape", CUP, word).AddScaleOp().Set(Gf.Vec3f(0.1))
    (issue,) = found(stage, "HullFillsHollow")
    assert issue.path == "/Cup/Shape" and "a ball of 15" in issue.message and "convexDecomposition" in issue.fix


def test_equal_meshes_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, calls = stage_of(), []
    steps = cavity.radius_steps
    monkeypatch.setattr(cavity, "radius_steps", lambda made: calls.append(made) or steps(made))
    for number in range(20):
        body(stage, f"/Cup{number}", (3.0 * number, 0, 0))
        mesh(stage, f"/Cup{number}/Shape", CUP, "convexHull")
    assert len(found(stage, "HullFillsHollow")) == 20 and len(calls) == 1


def test_a_mesh_that_is_too_large_is_left_out_and_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colliders, "MOST_FACES", len(CUP.triangles))
    stage = stage_of()
    for number, made in enumerate((ring(1.0, 0.3), CUP, lathe([(AXIS, 0), (1, 0), (1, 2.5)], 64), CUP)):
        body(stage, f"/Body{number}", (3.0 * number, 0, 0))
        mesh(stage, f"/Body{number}/Shape", made, "convexHull")
    assert [issue.path for issue in found(stage, "HullFillsHollow")] == ["/Body1/Shape", "/Body3/Shape"]


@pytest.mark.parametrize(("place", "expected"), [((0, 0, 0), 0), ((0, 0, 0.9), 0), ((0, 0, 4.0), 1)])
def test_a_collider_that_is_away_from_all_that_its_body_shows_is_named(
    place: tuple[float, float, float], expected: int
) -> None:
    stage = stage_of()
    body(stage, "/Robot", (0, 0, 1))
    box(stage, "/Robot/Seen", 1.0, guide=False)
    box(stage, "/Robot/Collider", 1.0, place)
    issues = found(stage, "ColliderFarFromMesh")
    assert len(issues) == expected
    if expected:
        # From 0.5 above the middle to 3.5 above it.
        assert "3 m away" in issues[0].message and issues[0].path == "/Robot/Collider"


def test_what_another_body_below_shows_does_not_count_and_a_body_without_looks_is_left_alone() -> None:
    stage = stage_of()
    body(stage, "/Base", (0, 0, 0))
    box(stage, "/Base/Seen", 1.0, guide=False)
    box(stage, "/Base/Collider", 1.0, (6, 0, 0))
    body(stage, "/Base/Arm", (6, 0, 0))
    box(stage, "/Base/Arm/Seen", 1.0, guide=False)
    body(stage, "/Plain", (0, 9, 0))
    box(stage, "/Plain/Collider", 1.0, (4, 0, 0))
    assert [issue.path for issue in found(stage, "ColliderFarFromMesh")] == ["/Base/Collider"]


def chain(stage: Usd.Stage, gap: float) -> None:
    """Three links of 1 m along X whose middle one is short, so that the outer ones are `gap` apart."""
    for number, x in enumerate((0.0, 0.5 + gap / 2.0, 1.0 + gap)):
        body(stage, f"/Link{number}", (x, 0, 0))
        box(stage, f"/Link{number}/Collider", 1.0 if number != 1 else 0.2)
    for number in range(2):
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"/Joint{number}")
        joint.CreateBody0Rel().SetTargets([f"/Link{number}"])
        joint.CreateBody1Rel().SetTargets([f"/Link{number + 1}"])


@pytest.mark.parametrize(("gap", "expected"), [(-0.01, 0), (-0.05, 1), (-0.3, 1), (0.0, 0), (0.01, 0)])
def test_links_with_one_between_them_that_touch_at_rest_are_named(gap: float, expected: int) -> None:
    stage = stage_of()
    chain(stage, gap)
    both = found(stage, "LinkTouchesNext") + found(stage, "BodiesOverlap")
    assert len({(issue.path, issue.fix[:20]) for issue in both if "Link1" not in issue.message}) == expected


@pytest.mark.parametrize("stated", ["newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"])
@pytest.mark.parametrize("root", ["/Link0", "/Fix", "/Robot"])
@pytest.mark.parametrize("collides", [True, False])
def test_links_of_an_articulation_that_does_not_collide_with_itself_overlap_as_they_like(
    stated: str, root: str, collides: bool
) -> None:
    """The root is a body, the joint that holds it, or what all is below; the fourth link has two between it and it."""
    stage = stage_of()
    above = root if root == "/Robot" else ""
    if above:
        UsdGeom.Xform.Define(stage, above)
    links = [f"{above}/Link{number}" for number in range(4)]
    for number, path in enumerate(links):
        body(stage, path, (0.25 * number, 0, 0))
        box(stage, f"{path}/Collider", 1.0)
    for first, second in pairwise(links):
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"{second.replace('Link', 'Joint')}")
        joint.CreateBody0Rel().SetTargets([first])
        joint.CreateBody1Rel().SetTargets([second])
    if root == "/Fix":
        UsdPhysics.FixedJoint.Define(stage, root).CreateBody1Rel().SetTargets(links[:1])
    body(stage, "/Other", (0, 0, 0.9))
    box(stage, "/Other/Collider", 1.0)
    prim = stage.GetPrimAtPath(root)
    UsdPhysics.ArticulationRootAPI.Apply(prim)
    prim.AddAppliedSchema("PhysxArticulationAPI" if "physx" in stated else "NewtonArticulationRootAPI")
    prim.CreateAttribute(stated, Sdf.ValueTypeNames.Bool).Set(collides)
    issues = found(stage, "BodiesOverlap") + found(stage, "LinkTouchesNext")
    assert any("/Other" in issue.message for issue in issues)
    assert any("/Other" not in issue.message for issue in issues) == collides


def test_links_whose_joint_lets_them_collide_are_named_and_filtered_ones_are_not() -> None:
    stage = stage_of()
    chain(stage, 0.5)
    assert not found(stage, "LinkTouchesNext")
    for number in range(2):
        UsdPhysics.Joint(stage.GetPrimAtPath(f"/Joint{number}")).CreateCollisionEnabledAttr(True)
    stage.GetPrimAtPath("/Link1/Collider").GetAttribute("size").Set(1.0)
    issues = found(stage, "LinkTouchesNext")
    assert len(issues) == 2 and all("lets them collide" in issue.message for issue in issues)
    UsdPhysics.FilteredPairsAPI.Apply(stage.GetPrimAtPath("/Link1")).CreateFilteredPairsRel().SetTargets(
        ["/Link0", "/Link2"]
    )
    assert not found(stage, "LinkTouchesNext")


def test_the_depth_of_two_hulls_is_found_closely() -> None:
    """Two cones whose tips pass each other at an angle are apart; the coarse depth takes them for overlapping."""
    tip = np.array([[0.0, 0.0, 0.0], [-1.0, 0.15, 0.1], [-1.0, -0.15, 0.1], [-1.0, 0.0, -0.2]])
    turned = np.array([[0.02, 0.03, 0.0], [0.75, 0.75, 0.1], [0.85, 0.6, 0.1], [0.8, 0.7, -0.2]])

    def solid(points: np.ndarray) -> overlap.Solid:
        return overlap.Solid(Prim("/x"), points, 0.0, np.eye(3), False, points.min(axis=0), points.max(axis=0))

    assert overlap.depth_closely(solid(tip), solid(turned)) <= 0.0

    corners = np.array(list(np.ndindex(2, 2, 2)), float) - 0.5
    half = np.sqrt(0.5)
    diamond = corners @ np.array([[half, half, 0.0], [-half, half, 0.0], [0.0, 0.0, 1.0]]) + [1.1, 0.0, 0.0]
    assert overlap.depth_closely(solid(corners), solid(diamond)) == pytest.approx(0.5 + half - 1.1, abs=0.005)
