# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule on a stage of its own; OpenUSD's validators and the development files as judges; speed."""

import math
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdValidation
from usdphys_ext.usdphys_addon.core import frames, model_fixes, paths, schema, tables, validate
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.rules import base, colliders, overlaps
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.simulation import notices
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import test_deformables, test_gltf_reader_rules, test_mujoco_rules, test_newton_rules, test_vendor_rules

NAN, INF = float("nan"), float("inf")
CHECKERS = ("RigidBodyChecker", "ColliderChecker", "ArticulationChecker", "PhysicsJointChecker")
#: Every name that the physics validators of usd-core 26.11 report.
OPENUSD_NAMES = {
    "ArticulationOnStaticBody", "ColliderNonUniformScale", "ColliderPlaneDynamic", "ColliderSpherePointsDataMissing",
    "DensityInvalidValues", "InertiaInvalidValues", "JointInvalidPrimRel", "JointMultiplePrimsRel",
    "JointNoEnabledRigidBody", "JointRelNotXformable", "MassInvalidValues", "NestedArticulation",
    "RigidBodyNonInstanceable", "RigidBodyNonXformable", "RigidBodyOrientationScale",
}  # fmt: skip
#: Errors that ours reports on files of others where OpenUSD's validators report none; none so far.
JUSTIFIED_EXTRA: set[str] = set()

Found = set[tuple[str, str]]


def openusd(stage: Usd.Stage) -> Found:
    registry = UsdValidation.ValidationRegistry()
    validators = [registry.GetOrLoadValidatorByName(f"usdPhysicsValidators:{name}") for name in CHECKERS]
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    return {(error.GetName(), str(site.GetPrim().GetPath())) for error in errors for site in error.GetSites()}


def found(model: PhysicsModel, severity: str = "", **options) -> Found:
    issues = validate.validate(model, **options)
    return {(issue.code, issue.path) for issue in issues if severity in ("", issue.severity)}


def new_stage(up_axis: str = "Z") -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, up_axis)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.Scene.Define(stage, "/Scene")
    return stage


# --------------------------------------------------------------------------- authoring


def body(stage, path="/B", shape=UsdGeom.Xform, *, enabled=None, kinematic=None):
    prim = shape.Define(stage, path)
    api = UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
    if enabled is not None:
        api.CreateRigidBodyEnabledAttr(enabled)
    if kinematic is not None:
        api.CreateKinematicEnabledAttr(kinematic)
    return prim


def collider(stage, path="/B/C", shape=UsdGeom.Cube, scale=None):
    prim = shape.Define(stage, path)
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())
    if scale is not None:
        prim.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(scale))
    return prim


def mesh(stage, path="/B/C", approximation=None, *, faces=True):
    prim = collider(stage, path, UsdGeom.Mesh)
    if faces:
        prim.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        prim.CreateFaceVertexCountsAttr([3] * 4)
        prim.CreateFaceVertexIndicesAttr([0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2])
    if approximation is not None:
        UsdPhysics.MeshCollisionAPI.Apply(prim.GetPrim()).CreateApproximationAttr(approximation)
    return prim


def solid(stage, path="/B", shape=UsdGeom.Cube, **options):
    prim = body(stage, path, shape, **options)
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())
    return prim


def joint(stage, body0=None, body1=None, path="/J", kind=UsdPhysics.Joint, **values):
    prim = kind.Define(stage, path)
    for relationship, targets in ((prim.CreateBody0Rel, body0), (prim.CreateBody1Rel, body1)):
        if targets:
            relationship().SetTargets([targets] if isinstance(targets, str) else targets)
    for name, value in values.items():
        getattr(prim, f"Create{name}Attr")(value)
    return prim


def mass(prim, **values):
    api = UsdPhysics.MassAPI.Apply(prim.GetPrim())
    for name, value in values.items():
        getattr(api, f"Create{name}Attr")(value)


def material(stage, **values):
    api = UsdPhysics.MaterialAPI.Apply(stage.DefinePrim("/M", "Material"))
    for name, value in values.items():
        getattr(api, f"Create{name}Attr")(value)


def articulation(stage, path, **options):
    prim = solid(stage, path, **options) if options else UsdGeom.Xform.Define(stage, path)
    UsdPhysics.ArticulationRootAPI.Apply(prim.GetPrim())


def instance(stage, **options):
    body(stage, "/P/B", **options)
    prim = UsdGeom.Xform.Define(stage, "/I").GetPrim()
    prim.GetReferences().AddInternalReference("/P")
    prim.SetInstanceable(True)


def points(stage, widths=None, primvar=None, count=2):
    prim = collider(stage, "/C", UsdGeom.Points)
    if count:
        prim.CreatePointsAttr([(0, 0, 0)] * count)
    if widths is not None:
        prim.CreateWidthsAttr(widths)
    if primvar is not None:
        UsdGeom.PrimvarsAPI(prim).CreatePrimvar("widths", Sdf.ValueTypeNames.FloatArray).Set(primvar)


def group(stage, path="/G", **lists):
    prim = UsdPhysics.CollisionGroup.Define(stage, path)
    for name, targets in lists.items():
        name = {"filters": "physics:filteredGroups"}.get(name, f"collection:colliders:{name}")
        prim.GetPrim().CreateRelationship(name, custom=False).SetTargets(targets)
    return prim


def drive(prim, dof="angular", **values):
    api = UsdPhysics.DriveAPI.Apply(prim.GetPrim(), dof)
    for name, value in values.items():
        getattr(api, f"Create{name}Attr")(value)


def limit(prim, dof, low, high):
    api = UsdPhysics.LimitAPI.Apply(prim.GetPrim(), dof)
    api.CreateLowAttr(low)
    api.CreateHighAttr(high)


def sheared(prim):
    turn = Gf.Matrix4d().SetRotate(Gf.Rotation((0, 0, 1), 30))
    prim.AddTransformOp().Set(turn * Gf.Matrix4d().SetScale((1, 2, 3)))


def as_string(stage, path, name):
    Sdf.AttributeSpec(stage.GetRootLayer().GetPrimAtPath(path), name, Sdf.ValueTypeNames.String).default = "heavy"


def run(*steps: Callable[[], object]) -> None:
    """Lets a lambda hold several steps."""


def inertia(axes, moments):
    def author(stage):
        values = {"PrincipalAxes": axes, "DiagonalInertia": moments}
        mass(solid(stage), **{name: value for name, value in values.items() if value is not None})

    return author


def two(stage, kind=UsdPhysics.RevoluteJoint, **values):
    """Two boxes, 2 m apart along X, and a joint."""
    solid(stage, "/A")
    solid(stage, "/B").AddTranslateOp().Set((2, 0, 0))
    return joint(stage, "/A", "/B", kind=kind, **values)


def floor(stage):
    """A static box whose top is at 0."""
    collider(stage, "/Floor", scale=(10, 10, 1)).AddTranslateOp().Set((0, 0, -1))


def lifted(stage):
    """A box that stands on the one at /A."""
    prim = solid(stage)
    prim.AddTranslateOp().Set((0, 0, 2))
    return prim


def driven_generic(stage):
    """A generic joint with a drive of each of its six degrees of freedom."""
    free = two(stage, UsdPhysics.Joint)
    for dof in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        drive(free, dof, Damping=1.0)


MEET = {"LocalPos0": (1, 0, 0), "LocalPos1": (-1, 0, 0)}
ONE = Gf.Quatf(1)
J, B, C = "/J", "/B", "/B/C"

# --------------------------------------------------------------------------- what OpenUSD's validators know too

#: (name, how to author it, what must be found). Nothing else that OpenUSD's validators know may be found.
SHARED = [
    ("body on a scope", lambda s: body(s, shape=UsdGeom.Scope), {("RigidBodyNonXformable", B)}),
    ("disabled body on a scope", lambda s: body(s, shape=UsdGeom.Scope, enabled=False), {("RigidBodyNonXformable", B)}),
    ("sheared body", lambda s: sheared(body(s)), {("RigidBodyOrientationScale", B)}),
    ("sheared disabled body", lambda s: sheared(body(s, enabled=False)), {("RigidBodyOrientationScale", B)}),
    ("sheared kinematic body", lambda s: sheared(body(s, kinematic=True)), {("RigidBodyOrientationScale", B)}),
    ("unevenly scaled body", lambda s: solid(s).AddScaleOp().Set((1, 2, 3)), set()),
    ("body in an instance", instance, {("RigidBodyNonInstanceable", "/I/B")}),
    ("kinematic body in an instance", lambda s: instance(s, kinematic=True), set()),
    ("disabled body in an instance", lambda s: instance(s, enabled=False), set()),
    ("negative mass", lambda s: mass(solid(s), Mass=-1.0), {("MassInvalidValues", B)}),
    ("mass of minus infinity", lambda s: mass(solid(s), Mass=-INF), {("MassInvalidValues", B), ("NotFinite", B)}),
    ("disabled body of negative mass", lambda s: mass(solid(s, enabled=False), Mass=-1.0), {("MassInvalidValues", B)}),
    ("negative density", lambda s: mass(solid(s), Density=-1.0), {("DensityInvalidValues", B)}),
    ("negative mass of a collider", lambda s: mass(collider(s, "/C"), Mass=-1.0), {("MassInvalidValues", "/C")}),
    ("inertia alone", inertia(None, (1, 1, 1)), {("InertiaInvalidValues", B)}),
    ("axes alone", inertia(ONE, None), {("InertiaInvalidValues", B)}),
    ("sentinel axes alone", inertia(Gf.Quatf(0), None), {("InertiaInvalidValues", B)}),
    ("inertia with sentinel axes", inertia(Gf.Quatf(0), (1, 1, 1)), {("InertiaInvalidValues", B)}),
    ("axes with sentinel inertia", inertia(ONE, (0, 0, 0)), {("InertiaInvalidValues", B)}),
    ("both sentinels", inertia(Gf.Quatf(0), (0, 0, 0)), set()),
    ("negative inertia", inertia(ONE, (-1, 1, 1)), {("InertiaInvalidValues", B)}),
    ("flat inertia", inertia(ONE, (0, 1, 1)), {("InertiaInvalidValues", B)}),
    ("long axes", inertia(Gf.Quatf(1.1), (1, 1, 1)), {("InertiaInvalidValues", B)}),
    ("slightly long axes", inertia(Gf.Quatf(1.00002), (1, 1, 1)), {("InertiaInvalidValues", B)}),
    ("axes within tolerance", inertia(Gf.Quatf(1.000005), (1, 1, 1)), set()),
    ("root below a root", lambda s: run(articulation(s, "/A"), articulation(s, "/A/m/B")),
     {("NestedArticulation", "/A/m/B")}),
    ("root on a disabled body", lambda s: articulation(s, B, enabled=False), {("ArticulationOnStaticBody", B)}),
    ("root on a kinematic body", lambda s: articulation(s, B, kinematic=True), {("ArticulationOnKinematicBody", B)}),
    *((f"uneven {shape.__name__}", lambda s, shape=shape: collider(s, "/C", shape, (1, 2, 3)),
       {("ColliderNonUniformScale", "/C")})
      for shape in (UsdGeom.Sphere, UsdGeom.Capsule, UsdGeom.Capsule_1, UsdGeom.Cylinder, UsdGeom.Cylinder_1,
                    UsdGeom.Cone)),
    ("uneven cube", lambda s: collider(s, "/C", UsdGeom.Cube, (1, 2, 3)), set()),
    ("nearly even sphere", lambda s: collider(s, "/C", UsdGeom.Sphere, (1, 1, 1.000009)), set()),
    ("barely uneven sphere", lambda s: collider(s, "/C", UsdGeom.Sphere, (1, 1, 1.00002)),
     {("ColliderNonUniformScale", "/C")}),
    ("mirrored sphere", lambda s: collider(s, "/C", UsdGeom.Sphere, (-1, 1, 1)), {("NegativeScale", "/C")}),
    ("sphere scaled to nothing", lambda s: collider(s, "/C", UsdGeom.Sphere, (0, 0, 0)), {("ZeroScale", "/C")}),
    ("sphere scaled flat", lambda s: collider(s, "/C", UsdGeom.Sphere, (1, 1, 0)),
     {("ColliderNonUniformScale", "/C"), ("ZeroScale", "/C")}),
    ("sheared sphere", lambda s: sheared(collider(s, "/C", UsdGeom.Sphere)), {("ColliderNonUniformScale", "/C")}),
    ("points", lambda s: points(s, [1.0, 2.0]), set()),
    ("points without widths", points, {("ColliderSpherePointsDataMissing", "/C")}),
    ("points with one width", lambda s: points(s, [1.0]), {("ColliderSpherePointsDataMissing", "/C")}),
    ("widths without points", lambda s: points(s, [1.0], count=0), {("ColliderSpherePointsDataMissing", "/C")}),
    pytest.param("points with a primvar", lambda s: points(s, None, [1.0, 2.0]), set()),
    pytest.param("points with a short primvar", lambda s: points(s, [1.0, 1.0], [1.0]),
                 {("ColliderSpherePointsDataMissing", "/C")}),
    ("plane on a body", lambda s: run(body(s), collider(s, shape=UsdGeom.Plane)), {("ColliderPlaneDynamic", C)}),
    ("plane that is a body", lambda s: solid(s, shape=UsdGeom.Plane), {("ColliderPlaneDynamic", B)}),
    ("plane on a kinematic body", lambda s: run(body(s, kinematic=True), collider(s, shape=UsdGeom.Plane)), set()),
    ("plane on a disabled body", lambda s: run(body(s, enabled=False), collider(s, shape=UsdGeom.Plane)), set()),
    ("plane on a disabled body below a body",
     lambda s: run(body(s), body(s, C, enabled=False), collider(s, "/B/C/P", UsdGeom.Plane)),
     {("ColliderPlaneDynamic", "/B/C/P")}),
    ("plane on a kinematic body below a body",
     lambda s: run(body(s), body(s, C, kinematic=True), collider(s, "/B/C/P", UsdGeom.Plane)), set()),
    ("plane below a body, stack reset",
     lambda s: run(body(s), collider(s, shape=UsdGeom.Plane).SetResetXformStack(True)), {("ColliderPlaneDynamic", C)}),
    ("static plane", lambda s: collider(s, "/C", UsdGeom.Plane), set()),
    ("joint to the world", lambda s: run(solid(s), joint(s, B)), set()),
    ("joint without bodies", joint, {("JointNoEnabledRigidBody", J)}),
    ("disabled joint without bodies", lambda s: joint(s, JointEnabled=False), {("JointNoEnabledRigidBody", J)}),
    ("joint to a disabled body", lambda s: run(solid(s, enabled=False), joint(s, B)), {("JointNoEnabledRigidBody", J)}),
    ("joint to a static prim", lambda s: run(UsdGeom.Xform.Define(s, "/X"), joint(s, "/X")),
     {("JointNoEnabledRigidBody", J)}),
    ("joint to a kinematic body", lambda s: run(solid(s, kinematic=True), joint(s, B)), set()),
    ("joint to a part of a body", lambda s: run(solid(s), UsdGeom.Xform.Define(s, C), joint(s, C)), set()),
    ("joint to a disabled body below a body", lambda s: run(solid(s), solid(s, C, enabled=False), joint(s, C)), set()),
    ("joint to a missing body", lambda s: run(solid(s), joint(s, "/nope", B)), {("JointInvalidPrimRel", J)}),
    ("joint to nothing but a missing body", lambda s: joint(s, "/nope"),
     {("JointInvalidPrimRel", J), ("JointNoEnabledRigidBody", J)}),
    ("joint to a property", lambda s: run(solid(s), joint(s, "/B.physics:velocity", B)), {("JointInvalidPrimRel", J)}),
    ("joint to two bodies at once", lambda s: run(solid(s), solid(s, "/A"), joint(s, [B, "/A"])),
     {("JointMultiplePrimsRel", J)}),
    ("second target missing", lambda s: run(solid(s), joint(s, [B, "/nope"])), {("JointMultiplePrimsRel", J)}),
    ("second target is the body", lambda s: run(solid(s, enabled=False), solid(s, "/A"), joint(s, [B, "/A"])),
     {("JointMultiplePrimsRel", J), ("JointNoEnabledRigidBody", J)}),
    ("joint to a scene", lambda s: run(solid(s), joint(s, "/Scene", B)), {("JointRelNotXformable", J)}),
    pytest.param("joint to a scope", lambda s: run(solid(s), UsdGeom.Scope.Define(s, "/S"), joint(s, "/S", B)),
                 {("JointRelNotXformable", J)}),
    pytest.param("joint to a prim without a type", lambda s: run(solid(s), s.DefinePrim("/S"), joint(s, "/S", B)),
                 {("JointRelNotXformable", J)}),
    pytest.param("joint to an over", lambda s: run(solid(s), s.OverridePrim("/S"), joint(s, "/S", B)),
                 {("JointRelNotXformable", J)}),
    pytest.param("joint to an inactive prim",
                 lambda s: run(solid(s), UsdGeom.Xform.Define(s, "/S").GetPrim().SetActive(False), joint(s, "/S", B)),
                 set()),
]  # fmt: skip


def _values(case):
    return case.values if hasattr(case, "values") else case


def _params(cases):
    return [pytest.param(*_values(case)[1:], id=_values(case)[0], marks=getattr(case, "marks", ())) for case in cases]


@pytest.mark.parametrize(("author", "expected"), _params(SHARED))
def test_like_openusd(author, expected):
    stage = new_stage()
    author(stage)
    theirs, model = openusd(stage), usd_read.read_stage(stage)
    errors = found(model, "error")
    assert theirs <= errors
    assert {item for item in errors if item[0] in OPENUSD_NAMES} == theirs
    assert expected <= found(model)
    assert {item for item in expected if item[0] in OPENUSD_NAMES} == theirs


def test_the_fix_of_a_joint_without_bodies_speaks_of_none_that_it_joins():
    stage = new_stage()
    joint(stage)
    (issue,) = [one for one in validate.validate(usd_read.read_stage(stage)) if one.code == "JointNoEnabledRigidBody"]
    assert issue.fix == "Give 'J' a rigid body that is enabled as body 0 or body 1."


def test_every_openusd_name_has_a_case_and_a_rule():
    assert {code for case in SHARED for code, _ in _values(case)[2]} >= OPENUSD_NAMES
    assert {row.code for row in validate.issue_table()} >= OPENUSD_NAMES


@pytest.mark.slow
@pytest.mark.parametrize("up_axis", ["Y", "Z"])
def test_rounding_errors_that_openusd_takes_for_shear(up_axis):
    """A rotated body with two equal scales of three: where OpenUSD's validators see shear we do, and only there."""
    rng = random.Random(up_axis)
    scales = [(1, 1, 1), (1, 1, 2), (2, 2, 1), (1, 2, 3), (-1, 1, 1), (0.3, 0.3, 0.7), (1, 1, 1.00002)]
    reported = 0
    for _ in range(300):
        stage = new_stage(up_axis)
        path = ""
        for depth in range(rng.randint(0, 2)):
            path += f"/P{depth}"
            parent = UsdGeom.Xform.Define(stage, path)
            turn = Gf.Quatf(*(rng.uniform(-1, 1) for _ in range(4)))
            parent.AddOrientOp().Set(turn.GetNormalized())
            if rng.random() < 0.2:
                parent.AddScaleOp().Set(rng.choice(scales))
        prim = solid(stage, f"{path}/B", rng.choice((UsdGeom.Cube, UsdGeom.Sphere)))
        prim.AddRotateXYZOp().Set(tuple(rng.choice((0, 90, rng.uniform(-180, 180))) for _ in range(3)))
        prim.AddScaleOp().Set(rng.choice(scales))
        theirs, model = openusd(stage), usd_read.read_stage(stage)
        assert found(model, "error") == theirs
        reported += bool(theirs)
        code = ("RigidBodyOrientationScale", f"{path}/B")
        if (code in found(model, target="physx")) != (code in theirs):
            assert not validate.Facts(model).placements.sheared.any(), "only rounding errors are forgiven"
    assert reported > 30


def test_development_files(shared: Path, subtests):
    folder = shared / "devset"
    files = sorted([*(folder / "usd").rglob("*.usd*"), *(folder / "urdf").glob("*/reference_usd/*.usda")])
    assert len(files) > 40  # with the layers that they refer to
    for path in files:
        with subtests.test(path.relative_to(folder).as_posix()):
            stage = Usd.Stage.Open(str(path))
            theirs, errors = openusd(stage), found(usd_read.read_stage(stage), "error")
            assert theirs <= errors
            assert {item for item in errors - theirs if item[0] not in JUSTIFIED_EXTRA} == set()


# --------------------------------------------------------------------------- rules of our own

#: (name, how to author it, the one code that must be found, where)
OWN = [
    ("half in the floor", lambda s: run(floor(s), solid(s).AddTranslateOp().Set((0, 0, 0.5))), "BodiesOverlap", B),
    ("hinges by two axes", lambda s: run(solid(s, "/A"), lifted(s), *(
     joint(s, "/A", B, f"/J{axis}", UsdPhysics.RevoluteJoint, Axis=axis) for axis in "XY")),
     "JointsLockEachOther", "/JX"),
    ("ball in a ball", lambda s: run(floor(s), solid(s, "/A", UsdGeom.Sphere).AddTranslateOp().Set((0, 0, 9)),
     solid(s, "/B", UsdGeom.Sphere).AddTranslateOp().Set((0.5, 0, 9.5))), "BodiesOverlap", "/A"),
    ("a ball of a negative radius", lambda s: collider(s, B, UsdGeom.Sphere).CreateRadiusAttr(-0.3), "ShapeSizeOdd", B),
    ("a box whose size is blocked", lambda s: collider(s, B, UsdGeom.Cube).CreateSizeAttr().Block(), "ShapeSizeOdd", B),
    ("a copy in its place", lambda s: run(solid(s, "/A"), solid(s)), "BodiesInOnePlace", B),
    ("heavy on light", lambda s: run(mass(solid(s, "/A"), Mass=1.0),
     mass(lifted(s), Mass=1000.0)), "MassRatioHigh", "/A"),
    ("heavy on a hinge", lambda s: run(two(s, **MEET), mass(UsdGeom.Cube.Get(s, "/A"), Mass=0.1),
     mass(UsdGeom.Cube.Get(s, B), Mass=50.0)), "MassRatioHigh", "/A"),
    ("light body first", lambda s: run(two(s, **MEET), mass(UsdGeom.Cube.Get(s, "/A"), Mass=1.0),
     mass(UsdGeom.Cube.Get(s, B), Mass=20.0)), "JointLightFirst", J),
    ("a light link between two heavy ones", lambda s: run(two(s, **MEET), mass(UsdGeom.Cube.Get(s, "/A"), Mass=1.0),
     mass(UsdGeom.Cube.Get(s, B), Mass=20.0), mass(solid(s, C), Mass=20.0), joint(s, "/A", C, path="/K")),
     "LightBetweenHeavy", "/A"),
    ("dust", lambda s: collider(s, "/C", scale=(1e-4, 1e-4, 1e-4)), "ColliderSizeExtreme", "/C"),
    ("planet", lambda s: collider(s, "/C", scale=(1e4, 1e4, 1e4)), "ColliderSizeExtreme", "/C"),
    ("a wide slab of triangles",
     lambda s: mesh(s, "/C").AddScaleOp().Set((2e4, 2e4, 1.0)), "ColliderSizeExtreme", "/C"),
    ("a cup of 100 m", lambda s: solid(s).AddScaleOp().Set((50, 50, 50)), "SceneScaleUnusual", "/"),
    ("nothing to land on", solid, "NoFloor", "/"),
    ("joint of two kinematic bodies", lambda s: run(solid(s, "/A", kinematic=True), solid(s, kinematic=True),
     joint(s, "/A", B)), "JointMovesNothing", J),
    ("two roots of one arm", lambda s: run(two(s, **MEET), UsdPhysics.ArticulationRootAPI.Apply(s.GetPrimAtPath("/A")),
     UsdPhysics.ArticulationRootAPI.Apply(s.GetPrimAtPath(B))), "ArticulationRootTwice", B),
    ("velocity of a kinematic body", lambda s: UsdPhysics.RigidBodyAPI(solid(s, kinematic=True)).CreateVelocityAttr(
     (1, 0, 0)), "KinematicVelocity", B),
    ("density beside a mass", lambda s: mass(solid(s), Mass=1.0, Density=5.0), "DensityWithoutEffect", B),
    ("target without stiffness", lambda s: drive(two(s, **MEET), Damping=1.0, TargetPosition=5.0),
     "DriveTargetWithoutEffect", J),
    ("a motor with a target and without gains", lambda s: drive(two(s, **MEET), MaxForce=10.0, TargetPosition=5.0),
     "DriveWithoutGain", J),
    ("a hinge that aims beyond its limit", lambda s: drive(two(s, **MEET, LowerLimit=-10.0, UpperLimit=20.0),
     Stiffness=1.0, Damping=1.0, TargetPosition=30.0), "DriveTargetBeyondLimit", J),
    ("a generic joint that aims beyond its limit", lambda s: run(limit(two(s, UsdPhysics.Joint), "rotX", -10.0, 20.0),
     drive(s.GetPrimAtPath(J), "rotX", Stiffness=1.0, Damping=1.0, TargetPosition=30.0)), "DriveTargetBeyondLimit", J),
    ("a slide that aims beyond its limit", lambda s: drive(two(s, UsdPhysics.PrismaticJoint, **MEET, LowerLimit=0.0,
     UpperLimit=1.0), "linear", Stiffness=1.0, Damping=1.0, TargetPosition=-0.5), "DriveTargetBeyondLimit", J),
    ("body below a body", lambda s: run(solid(s), solid(s, C)), "NestedRigidBody", C),
    ("body in a point instancer", lambda s: run(UsdGeom.PointInstancer.Define(s, "/X"), solid(s, "/X/N")),
     "PhysicsInInstancer", "/X/N"),
    ("body without mass", body, "BodyWithoutMass", B),
    ("body with a density alone", lambda s: mass(body(s), Density=7800.0), "BodyWithoutMass", B),
    ("mass on a plain prim", lambda s: mass(UsdGeom.Xform.Define(s, "/X"), Mass=1.0), "MassWithoutBody", "/X"),
    ("impossible inertia", inertia(ONE, (1, 1, 9)), "InertiaImpossible", B),
    ("triangle mesh on a body", lambda s: run(body(s), mesh(s)), "ColliderTriangleMeshDynamic", C),
    ("simplified mesh on a body", lambda s: run(body(s), mesh(s, C, "meshSimplification")),
     "ColliderTriangleMeshDynamic", C),
    ("sheared box", lambda s: sheared(collider(s, "/C")), "ColliderSheared", "/C"),
    ("mirrored body", lambda s: solid(s).AddScaleOp().Set((-1, 1, 1)), "NegativeScale", B),
    ("flat body", lambda s: solid(s).AddScaleOp().Set((1, 0, 1)), "ZeroScale", B),
    ("collider on an xform", lambda s: collider(s, "/C", UsdGeom.Xform), "ColliderNotGprim", "/C"),
    ("collider on a scope", lambda s: UsdPhysics.CollisionAPI.Apply(UsdGeom.Scope.Define(s, "/C").GetPrim()),
     "ColliderNonXformable", "/C"),
    ("mesh without faces", lambda s: mesh(s, "/C", faces=False), "ColliderEmptyMesh", "/C"),
    ("mesh with a point at NaN",
     lambda s: mesh(s, "/C").GetPointsAttr().Set([(0, 0, 0), (1, 0, 0), (0, math.nan, 0), (0, 0, 1)]),
     "ColliderPointsNotFinite", "/C"),
    ("approximation without collider",
     lambda s: UsdPhysics.MeshCollisionAPI.Apply(UsdGeom.Mesh.Define(s, "/C").GetPrim()),
     "MeshCollisionWithoutCollider", "/C"),
    ("approximation of a cube", lambda s: UsdPhysics.MeshCollisionAPI.Apply(collider(s, "/C").GetPrim()),
     "MeshCollisionOnNonMesh", "/C"),
    ("two scenes", lambda s: run(UsdPhysics.Scene.Define(s, "/Other"), solid(s)), "SceneAmbiguous", B),
    ("a place in samples only", lambda s: UsdGeom.Xformable(solid(s)).AddTranslateOp(opSuffix="late").Set((0, 0, 1), 1),
     "PlaceInSamples", B),
    ("no scene", lambda s: run(s.RemovePrim("/Scene"), solid(s)), "NoScene", "/"),
    ("owner is a body", lambda s: UsdPhysics.RigidBodyAPI(solid(s)).CreateSimulationOwnerRel().SetTargets([B]),
     "SimulationOwnerInvalid", B),
    ("owner of a body without a collider is missing", lambda s: UsdPhysics.RigidBodyAPI(body(s))
     .CreateSimulationOwnerRel().SetTargets(["/nope"]), "SimulationOwnerInvalid", B),
    ("owner is missing", lambda s: UsdPhysics.CollisionAPI(collider(s, "/C")).CreateSimulationOwnerRel()
     .SetTargets(["/nope"]), "SimulationOwnerInvalid", "/C"),
    ("group with a missing member", lambda s: group(s, includes=["/nope"]), "GroupMissingTarget", "/G"),
    ("group that filters a body", lambda s: run(solid(s), group(s, includes=[B], filters=[B])),
     "GroupMissingTarget", "/G"),
    ("group without members", group, "GroupEmpty", "/G"),
    ("merged groups that disagree", lambda s: run(
        group(s, "/G").CreateMergeGroupNameAttr("m"), group(s, "/H").CreateMergeGroupNameAttr("m"),
        UsdPhysics.CollisionGroup.Get(s, "/H").CreateInvertFilteredGroupsAttr(True)), "GroupMergeConflict", "/H"),
    ("pair with something missing", lambda s: UsdPhysics.FilteredPairsAPI.Apply(solid(s).GetPrim())
     .CreateFilteredPairsRel().SetTargets(["/nope"]), "FilteredPairMissing", B),
    ("pair with itself", lambda s: UsdPhysics.FilteredPairsAPI.Apply(solid(s).GetPrim()).CreateFilteredPairsRel()
     .SetTargets([B]), "FilteredPairSelf", B),
    ("pair with a plain prim", lambda s: run(UsdGeom.Xform.Define(s, "/X"), UsdPhysics.FilteredPairsAPI.Apply(
        solid(s).GetPrim()).CreateFilteredPairsRel().SetTargets(["/X"])), "FilteredPairUnread", B),
    ("joint of a body with itself", lambda s: run(solid(s), joint(s, B, B)), "JointSameBody", J),
    ("joint of a plain prim with itself", lambda s: run(UsdGeom.Xform.Define(s, "/X"), joint(s, "/X", "/X")),
     "JointSameBody", J),
    ("joint of a body with its part", lambda s: run(solid(s), collider(s), joint(s, B, C)), "JointSameBody", J),
    ("reversed revolute", lambda s: two(s, LowerLimit=10.0, UpperLimit=-10.0, **MEET), "LimitsReversed", J),
    ("reversed prismatic", lambda s: two(s, UsdPhysics.PrismaticJoint, LowerLimit=1.0, UpperLimit=0.0),
     "LimitsReversed", J),
    ("reversed distance", lambda s: two(s, UsdPhysics.DistanceJoint, MinDistance=2.0, MaxDistance=1.0),
     "LimitsReversed", J),
    ("drive on a spherical", lambda s: drive(two(s, UsdPhysics.SphericalJoint, **MEET), "rotX", Damping=1.0),
     "DriveNotOnJoint", J),
    ("drive of a distance", lambda s: drive(two(s, UsdPhysics.DistanceJoint), "distance", Damping=1.0),
     "DriveOfDistance", J),
    ("limit on a revolute", lambda s: limit(two(s, **MEET), "rotX", 0, 1), "LimitNotOnJoint", J),
    ("linear drive of a revolute", lambda s: drive(two(s, **MEET), "linear", Damping=1.0), "DriveNotOnJoint", J),
    ("drive on a body", lambda s: drive(solid(s), Damping=1.0), "DriveNotOnJoint", B),
    ("drive without gains", lambda s: drive(two(s, **MEET)), "DriveWithoutGain", J),
    ("drive without force", lambda s: drive(two(s, **MEET), Damping=1.0, MaxForce=0.0), "DriveWithoutGain", J),
    ("negative damping", lambda s: drive(two(s, **MEET), Damping=-1.0), "DriveInvalidValues", J),
    ("short local rotation", lambda s: two(s, LocalRot1=Gf.Quatf(0.5), **MEET), "JointRotationNotUnit", J),
    ("gravity direction too short",
     lambda s: UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityDirectionAttr((0, 0, -0.5)),
     "GravityDirectionNotUnit", "/Scene"),
    ("misspelt schema",
     lambda s: s.GetPrimAtPath("/Scene").AddAppliedSchema("PhysxSceneApi"), "NameMisspelt", "/Scene"),
    ("misspelt attribute",
     lambda s: solid(s).GetPrim().CreateAttribute("physics:mas", Sdf.ValueTypeNames.Float), "NameMisspelt", B),
    ("mass without its schema",
     lambda s: solid(s).GetPrim().CreateAttribute("physics:mass", Sdf.ValueTypeNames.Float), "SchemaMissing", B),
    ("translation drive of a prismatic", lambda s: drive(two(s, UsdPhysics.PrismaticJoint), "transX", Damping=1.0),
     "DriveNotOnJoint", J),
    ("long local rotation", lambda s: two(s, LocalRot0=Gf.Quatf(2), **MEET), "JointRotationNotUnit", J),
    ("fixed frames apart", lambda s: two(s, UsdPhysics.FixedJoint), "JointFramesApart", J),
    ("revolute frames apart", two, "JointFramesApart", J),
    ("spherical frames apart", lambda s: two(s, UsdPhysics.SphericalJoint), "JointFramesApart", J),
    ("prismatic frames apart", lambda s: two(s, UsdPhysics.PrismaticJoint, Axis="Y"), "JointFramesApart", J),
    ("generic frames apart", lambda s: limit(two(s, UsdPhysics.Joint), "transX", 1, -1), "JointFramesApart", J),
    ("revolute axes tilted", lambda s: two(s, LocalRot0=Gf.Quatf(0.8, 0, 0.6, 0), **MEET), "JointFramesTilted", J),
    ("fixed frames turned", lambda s: two(s, UsdPhysics.FixedJoint, LocalRot0=Gf.Quatf(0.8, 0.6, 0, 0), **MEET),
     "JointFramesTilted", J),
    ("negative friction", lambda s: material(s, StaticFriction=-0.1), "MaterialInvalidValues", "/M"),
    ("negative restitution", lambda s: material(s, Restitution=-0.1), "MaterialInvalidValues", "/M"),
    ("bouncy", lambda s: material(s, Restitution=1.5), "RestitutionAboveOne", "/M"),
    ("slides badly", lambda s: material(s, StaticFriction=0.1, DynamicFriction=0.5), "FrictionOrder", "/M"),
    ("mass not a number", lambda s: mass(solid(s), Mass=NAN), "NotFinite", B),
    ("infinite mass", lambda s: mass(solid(s), Mass=INF), "NotFinite", B),
    ("centre of mass not a number", lambda s: mass(solid(s), CenterOfMass=(NAN, 0, 0)), "NotFinite", B),
    ("infinite gravity", lambda s: UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityMagnitudeAttr(INF),
     "NotFinite", "/Scene"),
    ("limit not a number", lambda s: two(s, LowerLimit=NAN, **MEET), "NotFinite", J),
    ("infinite velocity", lambda s: UsdPhysics.RigidBodyAPI(solid(s)).CreateVelocityAttr((INF, 0, 0)), "NotFinite", B),
    ("transform not a number", lambda s: solid(s).AddTranslateOp().Set((NAN, 0, 0)), "NotFinite", B),
    ("body in another galaxy", lambda s: solid(s).AddTranslateOp().Set((1e21, 0, 0)), "TooLargeToSimulate", B),
    ("ball of 1e308", lambda s: UsdGeom.Sphere(collider(s, "/C", UsdGeom.Sphere)).CreateRadiusAttr(1e308),
     "TooLargeToSimulate", "/C"),
    ("unknown approximation", lambda s: mesh(s, "/C", "voxels"), "TokenUnknown", "/C"),
    ("approximation of PhysX", lambda s: mesh(s, "/C", "sdf"), "ApproximationOfPhysx", "/C"),
    ("mass as a string", lambda s: run(mass(solid(s)), as_string(s, "/B", "physics:mass")), "AttributeTypeMismatch", B),
    ("gravity direction too long",
     lambda s: UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityDirectionAttr((0, 0, -9.8)),
     "GravityDirectionNotUnit", "/Scene"),
]  # fmt: skip


def test_a_joint_that_is_switched_off_holds_no_mass():
    """As for the two other rules about masses of joined bodies."""
    stage = new_stage()
    joined = two(stage, **MEET)
    for path, kilograms in (("/A", 0.1), (B, 50.0)):
        mass(UsdGeom.Cube.Get(stage, path), Mass=kilograms)
    assert "MassRatioHigh" in {code for code, _ in found(usd_read.read_stage(stage))}
    joined.CreateJointEnabledAttr(False)
    assert "MassRatioHigh" not in {code for code, _ in found(usd_read.read_stage(stage))}


def test_masses_that_joints_are_judged_by_need_no_geometry():
    """As in the checks while one works. The heavy body first is right, and so is all of an articulation."""

    def codes(first, second, root=""):
        stage = new_stage()
        two(stage, **MEET)
        for path, kilograms in (("/A", first), (B, second)):
            mass(UsdGeom.Cube.Get(stage, path), Mass=kilograms)
        if root:
            UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
        issues = validate.validate(usd_read.read_stage(stage), check_geometry=False)
        return {issue.code for issue in issues} & {"JointLightFirst", "MassRatioHigh"}

    assert codes(1.0, 11.0) == {"JointLightFirst"}
    assert codes(1.0, 200.0) == {"JointLightFirst", "MassRatioHigh"}
    assert codes(11.0, 1.0) == codes(1.0, 9.0) == set()


@pytest.mark.parametrize(("author", "code", "path"), _params(OWN))
def test_own_rule(author, code, path):
    stage = new_stage()
    author(stage)
    model = usd_read.read_stage(stage)
    reported = found(model)
    assert openusd(stage) <= reported
    assert (code, path) in reported
    for issue in validate.validate(model):
        named = model.prims[issue.path].display if issue.path != "/" else ""
        assert named in issue.message
        assert issue.message.endswith(".") and issue.fix.endswith(".") and "{" not in issue.fix


def test_nothing_is_wrong_with_good_stages():
    good = [
        lambda s: run(body(s), mesh(s, C, "convexHull")),
        lambda s: run(body(s, kinematic=True), mesh(s)),
        lambda s: mesh(s, "/C"),
        lambda s: run(body(s), mesh(s, C).SetResetXformStack(True), mass(UsdGeom.Xform.Get(s, B), Mass=1.0)),
        lambda s: two(s, **MEET),
        lambda s: drive(two(s, LowerLimit=-INF, UpperLimit=INF, **MEET), Damping=1.0, MaxForce=INF),
        lambda s: two(s, UsdPhysics.PrismaticJoint),
        lambda s: two(s, UsdPhysics.DistanceJoint, MaxDistance=3.0),
        lambda s: two(s, LowerLimit=10.0, **MEET),
        lambda s: two(s, UsdPhysics.PrismaticJoint, UpperLimit=-1.0),
        # A drive that aims at a limit, and one whose velocity alone counts.
        lambda s: drive(two(s, UpperLimit=30.0, **MEET), Stiffness=1.0, Damping=1.0, TargetPosition=30.0),
        lambda s: drive(two(s, LowerLimit=-30.0, **MEET), Damping=1.0, TargetVelocity=-90.0),
        # Limits that are equal hold a joint in place.
        lambda s: two(s, LowerLimit=10.0, UpperLimit=10.0, **MEET),
        lambda s: two(s, UsdPhysics.PrismaticJoint, LowerLimit=2.0, UpperLimit=2.0),
        lambda s: two(s, UsdPhysics.DistanceJoint, MinDistance=2.0, MaxDistance=2.0),
        lambda s: limit(two(s, UsdPhysics.Joint), "transX", 2.0, 2.0),
        # A negative largest distance is none.
        lambda s: two(s, UsdPhysics.DistanceJoint, MinDistance=2.0, MaxDistance=-1.0),
        lambda s: two(s, UsdPhysics.Joint),
        lambda s: two(s, UsdPhysics.SphericalJoint, LocalRot0=Gf.Quatf(0.8, 0, 0.6, 0), **MEET),
        lambda s: two(s, LocalRot0=Gf.Quatf(0.8, 0.6, 0, 0), **MEET),
        lambda s: two(s, UsdPhysics.FixedJoint, JointEnabled=False),
        lambda s: limit(two(s, UsdPhysics.Joint), "transY", 1, -1),
        lambda s: run(solid(s), group(s, includes=[B])),
        lambda s: group(s, includes=[]).GetCollidersCollectionAPI().CreateIncludeRootAttr(True),
        lambda s: group(s).GetCollidersCollectionAPI().CreateMembershipExpressionAttr(Sdf.PathExpression("//Arm*")),
        # Not inverted is the same, authored or not.
        lambda s: run(
            solid(s),
            group(s, "/G", includes=[B]).CreateMergeGroupNameAttr("m"),
            group(s, "/H", includes=[B]).CreateMergeGroupNameAttr("m"),
            UsdPhysics.CollisionGroup.Get(s, "/H").CreateInvertFilteredGroupsAttr(False),
        ),
        lambda s: drive(two(s, **MEET), Damping=1.0),
        lambda s: drive(two(s, UsdPhysics.PrismaticJoint), "linear", Damping=1.0),
        driven_generic,
        # Half a millimetre at the end of an arm of a metre.
        lambda s: two(s, LocalPos0=(1.0005, 0, 0), LocalPos1=(-1, 0, 0)),
        lambda s: UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityDirectionAttr((0, 0, 0)),
        lambda s: material(s, StaticFriction=0.0, DynamicFriction=0.0, Restitution=0.0, Density=0.0),
        # Zero lets the simulator decide.
        lambda s: mass(solid(s), Mass=0.0, Density=0.0),
        lambda s: mass(collider(s, "/C"), Mass=2.0),
        # A flat thing: one moment is the sum of the other two.
        inertia(ONE, (1, 1, 2)),
        lambda s: body(s, kinematic=True),
        lambda s: articulation(s, "/R"),
        lambda s: articulation(s, B, enabled=True),
        lambda s: mass(solid(s), CenterOfMass=(-INF, -INF, -INF)),
        lambda s: run(solid(s), UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityMagnitudeAttr(-INF)),
        lambda s: material(s, StaticFriction=0.5, DynamicFriction=0.5, Restitution=1.0),
        # How strong a motor is, for a controller that adds the gains.
        lambda s: drive(two(s, **MEET), MaxForce=0.5),
        lambda s: UsdPhysics.Scene(s.GetPrimAtPath("/Scene")).CreateGravityDirectionAttr((0, 0.6, -0.8)),
        lambda s: UsdPhysics.RigidBodyAPI(solid(s)).CreateSimulationOwnerRel().SetTargets(["/Scene"]),
        lambda s: run(solid(s), group(s, "/H", includes=[B]), group(s, includes=[B], filters=["/H"])),
        lambda s: run(
            two(s, **MEET),
            UsdPhysics.FilteredPairsAPI.Apply(s.GetPrimAtPath("/A")).CreateFilteredPairsRel().SetTargets([B]),
        ),
    ]
    for author in good:
        stage = new_stage()
        author(stage)
        assert {issue.code for issue in validate.validate(usd_read.read_stage(stage))} <= {"NoFloor"}


def test_severity_depends_on_the_target():
    stage = new_stage()
    body(stage)
    mesh(stage)
    solid(stage, "/B/N")
    articulation(stage, "/K", kinematic=True)
    model = usd_read.read_stage(stage)
    severities = {
        target: {issue.code: issue.severity for issue in validate.validate(model, target)}
        for target in validate.TARGETS
    }
    for code, *expected in (
        ("ColliderTriangleMeshDynamic", "warning", "error", "warning", *3 * ["warning"]),
        ("NestedRigidBody", "info", "warning", "info", *3 * ["info"]),
        ("ArticulationOnKinematicBody", "warning", "error", "warning", *3 * ["warning"]),
    ):
        assert [severities[target][code] for target in validate.TARGETS] == expected
    for hierarchy in ("flat", "reset"):
        assert ("NestedRigidBody", "/B/N") not in found(model, target="physx", hierarchy=hierarchy)


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_nested_bodies_are_one_line_with_their_number(count):
    stage = new_stage()
    path = "/B"
    body(stage)
    for _ in range(count):
        path += "/N"
        solid(stage, path)
    issues = [one for one in validate.validate(usd_read.read_stage(stage)) if one.code == "NestedRigidBody"]
    assert [issue.path for issue in issues] == ["/B/N"]
    more = {1: ".", 2: "; 1 more body is below another."}.get(count, f"; {count - 1} more bodies are below another.")
    assert issues[0].message.endswith(f"the rigid body /B{more}")


def test_newton_is_said_to_leave_a_single_body_on_the_world_where_it_is():
    """Measured with Newton 1.8: the joint of a turntable on the world runs, and the pose of the table stays.

    An articulation of that body alone changes nothing; one of two links does.
    """

    def still(author, target="newton"):
        stage = new_stage()
        solid(stage, "/Table")
        UsdPhysics.RevoluteJoint.Define(stage, "/J").CreateBody1Rel().SetTargets(["/Table"])
        author(stage)
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [issue.severity for issue in issues if issue.code == "WorldJointStill"]

    def alone(stage):
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/Table"))

    def two(stage):
        alone(stage)
        solid(stage, "/Arm")
        joint = UsdPhysics.RevoluteJoint.Define(stage, "/K")
        joint.CreateBody0Rel().SetTargets(["/Table"])
        joint.CreateBody1Rel().SetTargets(["/Arm"])

    def fixed(stage):
        stage.RemovePrim("/J")
        UsdPhysics.FixedJoint.Define(stage, "/J").CreateBody1Rel().SetTargets(["/Table"])

    assert still(lambda stage: None) == still(alone) == ["warning"]
    assert still(two) == still(fixed) == still(lambda stage: None, "physx") == []


def test_newton_is_said_to_refuse_joints_that_no_articulation_holds():
    """Measured with Newton 1.8: it refuses a file with a joint between two bodies that is in no articulation.

    It takes joints with the world, and those that close a loop of an articulation.
    """
    code = "JointOutsideArticulation"

    def loose(author, target="newton"):
        stage = new_stage()
        for path in ("/B", "/C", "/D"):
            solid(stage, path)
        for name, ends in (("J", ("/B", "/C")), ("K", ("/C", "/D")), ("W", ("/B",))):
            joint = UsdPhysics.SphericalJoint.Define(stage, f"/{name}")
            for side, end in enumerate(ends):
                (joint.CreateBody0Rel, joint.CreateBody1Rel)[side]().SetTargets([end])
        author(stage)
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [(issue.severity, issue.message) for issue in issues if issue.code == code]

    def root(stage):
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/B"))

    def loop(stage):
        root(stage)
        UsdPhysics.Joint(stage.GetPrimAtPath("/J")).CreateExcludeFromArticulationAttr(True)

    def alone(stage):
        stage.RemovePrim("/K")

    ((severity, message),) = loose(lambda stage: None)
    assert severity == "error" and "one of 2 in no articulation" in message
    assert len(loose(alone)) == 1 and loose(root) == [] and loose(lambda stage: None, "physx") == []
    # /C and /D hang on nothing of the articulation any more.
    assert len(loose(loop)) == 1


@pytest.mark.parametrize("up_axis", ["Y", "Z"])
@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 3), (-1, -1, 1), (1, 1, 1), (-1, -1, -1)])
def test_a_mirror_image_is_noticed_whatever_axis_is_up(up_axis, scale):
    """Two mirrors are a turn."""
    stage = new_stage(up_axis)
    turned = solid(stage)
    turned.AddRotateXYZOp().Set((30, 40, 50))
    turned.AddScaleOp().Set(scale)
    is_mirrored = np.prod(scale) < 0
    assert (("NegativeScale", B) in found(usd_read.read_stage(stage))) == is_mirrored


def test_noise_of_a_scene_is_no_shear_where_openusd_sees_some():
    """Rounding errors of a turned body with two equal scales count only where the axes are exact."""
    rng = random.Random(7)
    code, reported = ("RigidBodyOrientationScale", B), 0
    for _ in range(30):
        stage = new_stage()
        prim = solid(stage)
        prim.AddRotateXYZOp().Set(tuple(rng.uniform(-180, 180) for _ in range(3)))
        prim.AddScaleOp().Set((2, 2, 1))
        model = usd_read.read_stage(stage)
        reported += code in found(model)
        assert code not in found(model, target="physx")
        model.angular_precision = 1e-6
        assert code not in found(model)
        prim.AddTransformOp().Set(
            Gf.Matrix4d().SetRotate(Gf.Rotation((0, 0, 1), 30)) * Gf.Matrix4d().SetScale((1, 3, 1))
        )
        sheared_model = usd_read.read_stage(stage)
        sheared_model.angular_precision = 1e-6
        assert code in found(sheared_model)
    assert reported > 5


def test_reset_stack_unties_bodies():
    stage = new_stage()
    solid(stage)
    solid(stage, C).SetResetXformStack(True)
    assert found(usd_read.read_stage(stage)) == {("BodiesInOnePlace", C), ("NoFloor", "/")}


def test_a_distance_joint_has_the_degree_of_freedom_of_its_distance():
    stage = new_stage()
    drive(two(stage, UsdPhysics.DistanceJoint, MaxDistance=3.0), "distance", Stiffness=1.0)
    assert ("DriveNotOnJoint", J) not in found(usd_read.read_stage(stage))


def test_a_sheared_round_collider_is_reported_once():
    stage = new_stage()
    sheared(collider(stage, "/C", UsdGeom.Sphere))
    assert found(usd_read.read_stage(stage)) == {("ColliderNonUniformScale", "/C")}


def test_physx_knows_its_own_approximations():
    stage = new_stage()
    mesh(stage, "/C", "sdf")
    assert found(usd_read.read_stage(stage), target="physx") == set()


# --------------------------------------------------------------------------- on models alone


def test_message_names_the_object_and_errors_come_first():
    model = PhysicsModel()
    model.add(Prim("/Scene", "PhysicsScene", schemas={"PhysicsScene": usd_physics.PhysicsScene()}, is_xformable=False))
    world = np.diag([1.0, 2.0, 1.0, 1.0])
    door = model.add(Prim("/Root/Door", "Sphere", world, label="Door"))
    door.add(usd_physics.CollisionAPI())
    door.add(usd_physics.RigidBodyAPI(velocity=(0.0, 0.0, float("inf"))))
    door.add(usd_physics.MeshCollisionAPI(approximation="convexHull"))
    issues = validate.validate(model)
    assert [issue.severity for issue in issues] == ["error", "error", "warning", "info"]
    scale = next(issue for issue in issues if issue.code == "ColliderNonUniformScale")
    assert (scale.path, scale.label) == ("/Root/Door", "Door")
    assert "'Door' (/Root/Door)" in scale.message and "1, 2, 1" in scale.message
    assert scale.fix == "Give 'Door' the same scale on all axes: apply its scale (Ctrl A) and set its size instead."


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("wrong", "code"),
    [("/nope", "JointInvalidPrimRel"), ([B, "/A"], "JointMultiplePrimsRel"), ("/Scene", "JointRelNotXformable")],
)
def test_what_is_wrong_with_a_body_of_a_joint_names_its_side(side, wrong, code):
    stage = new_stage()
    solid(stage, "/A"), solid(stage)
    joint(stage, *(("/A", wrong) if side else (wrong, "/A")))
    (issue,) = [issue for issue in validate.validate(usd_read.read_stage(stage)) if issue.code == code]
    assert f"ody {side}" in issue.message and f"body {1 - side}" not in issue.message.lower()
    assert f"body {side}" in issue.fix and f"body {1 - side}" not in issue.fix


def test_duplicate_group_members():
    model = PhysicsModel()
    model.add(Prim("/C", "Cube")).add(usd_physics.CollisionAPI())
    model.add(Prim("/G", "PhysicsCollisionGroup")).add(usd_physics.CollisionGroup(includes=("/C", "/C")))
    assert found(model) == {("GroupDuplicateTarget", "/G")}


def test_units():
    for units in (StageUnits(0.0), StageUnits(kilograms_per_unit=-1.0), StageUnits(NAN)):
        assert found(PhysicsModel(units), "error") == {("UnitsInvalid", "/")}


@pytest.mark.parametrize(("meters", "file", "is_named"), [
    (0.01, "a.usda", True), (1.0, "a.usda", False), (0.01, "a.blend", False), (0.01, "", False),
])  # fmt: skip
def test_a_file_that_is_not_in_metres_is_named_for_newton(meters, file, is_named):
    """The unit of a scene is not that of its export."""
    model = PhysicsModel(StageUnits(meters), source=file)
    for target in ("newton", "physx"):
        codes = [issue.code for issue in validate.validate(model, target=target)]
        assert ("NewtonMetres" in codes) == (is_named and target == "newton")


def test_values_of_a_wrong_type_are_reported_and_trip_no_rule():
    model = PhysicsModel()
    prim = model.add(Prim("/B", "Cube"))
    prim.add(usd_physics.CollisionAPI())
    prim.add(usd_physics.RigidBodyAPI(rigid_body_enabled="yes", velocity=(1.0, 2.0)))  # type: ignore[arg-type]
    prim.add(usd_physics.MassAPI(mass="heavy", density=True, diagonal_inertia="x"))  # type: ignore[arg-type]
    joint = model.add(Prim("/J", "PhysicsJoint", is_xformable=False))
    joint.add(usd_physics.Joint(body1=("/B",), local_pos0=(INF, 0.0, 0.0), local_rot0=(NAN, 0.0, 0.0, 0.0)))
    joint.add(usd_physics.LimitAPI(low="x", high=1.0), "transX")  # type: ignore[arg-type]
    joint.add(usd_physics.LimitAPI(low=1.0, high=-1.0), "transY")
    wrong = [issue for issue in validate.validate(model) if issue.code == "AttributeTypeMismatch"]
    assert len(wrong) == 6
    assert prim.schemas["PhysicsMassAPI"].mass == "heavy", "the model itself stays as it is"


def test_unknown_targets_are_no_error():
    """A model that does not know what else is on the stage does not call targets missing."""
    model = PhysicsModel()
    prim = model.add(Prim("/J", "PhysicsFixedJoint", is_xformable=False))
    prim.add(usd_physics.FixedJoint(body0=("/Elsewhere",)))
    assert ("JointInvalidPrimRel", "/J") not in found(model)
    model.other_paths = frozenset()
    assert ("JointInvalidPrimRel", "/J") in found(model)


def test_geometry_is_loaded_only_when_asked():
    def load() -> Mesh | None:
        raise AssertionError("loaded")

    model = PhysicsModel()
    model.add(Prim("/C", "Mesh", mesh=load)).add(usd_physics.CollisionAPI())
    assert validate.validate(model, check_geometry=False) == []
    with pytest.raises(AssertionError, match="loaded"):
        validate.validate(model)


def test_distance_of_the_frames():
    stage = new_stage()
    two(stage, LocalPos0=(1, 0, 0), LocalPos1=(-1, 0, 0.25))
    issue, *_ = validate.validate(usd_read.read_stage(stage))
    assert "0.25 m" in issue.message


QUARTERS = {axis: Gf.Quatf(0.5**0.5, *(0.5**0.5 * (name == axis) for name in "XYZ")) for axis in "XYZ"}


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
@pytest.mark.parametrize("turned", ["X", "Y", "Z"])
def test_frames_of_a_hinge_may_be_turned_about_its_axis_alone(axis, turned):
    stage = new_stage()
    two(stage, Axis=axis, LocalRot0=QUARTERS[turned], **MEET)
    assert (("JointFramesTilted", J) in found(usd_read.read_stage(stage))) == (turned != axis)


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
@pytest.mark.parametrize("turned", ["X", "Y", "Z"])
def test_frames_of_a_slider_may_be_apart_along_its_axis_alone(axis, turned):
    """Two metres along X of the world, in the axes of the frames."""
    stage = new_stage()
    two(stage, UsdPhysics.PrismaticJoint, Axis=axis, LocalRot0=QUARTERS[turned], LocalRot1=QUARTERS[turned])
    # A quarter about Z brings Y of the frame to where minus X is, one about Y brings Z to X.
    slides = {"X": "X", "Y": "Z", "Z": "Y"}[turned]
    assert (("JointFramesApart", J) in found(usd_read.read_stage(stage))) == (axis != slides)


@pytest.mark.parametrize(("kind", "values", "code"), [
    *((UsdPhysics.FixedJoint, {"LocalRot0": QUARTERS[axis], **MEET}, "JointFramesTilted") for axis in "XYZ"),
    (UsdPhysics.FixedJoint, {}, "JointFramesApart"), (UsdPhysics.SphericalJoint, {}, "JointFramesApart"),
])  # fmt: skip
def test_frames_are_either_apart_or_tilted(kind, values, code):
    stage = new_stage()
    two(stage, kind, **values)
    codes = {code for code, _ in found(usd_read.read_stage(stage))}
    assert codes & {"JointFramesApart", "JointFramesTilted"} == {code}


def test_a_joint_outside_of_articulations_makes_two_of_them_no_single_one():
    stage = new_stage()
    two(stage, ExcludeFromArticulation=True, **MEET)
    for path in ("/A", B):
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(path))
    assert "ArticulationRootTwice" not in {code for code, _ in found(usd_read.read_stage(stage))}


@pytest.mark.parametrize("is_articulated", [False, True])
def test_a_light_first_body_is_named_outside_of_articulations_alone(is_articulated):
    stage = new_stage()
    two(stage, **MEET)
    for path, kilograms in (("/A", 1.0), (B, 20.0)):
        mass(UsdGeom.Cube.Get(stage, path), Mass=kilograms)
    if is_articulated:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/A"))
    codes = {code for code, _ in found(usd_read.read_stage(stage))}
    assert ("JointLightFirst" in codes) == (not is_articulated)


def test_frames_apart_and_tilted_are_said_in_metres_and_degrees():
    stage = new_stage()
    two(stage, UsdPhysics.FixedJoint, LocalRot0=Gf.Quatf(0.8, 0.6, 0, 0))
    messages = {issue.code: issue.message for issue in validate.validate(usd_read.read_stage(stage))}
    assert "are 2 m apart" in messages["JointFramesApart"]
    assert "turned by 73.74 degrees" in messages["JointFramesTilted"]


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 3), (-1, -1, -1), (2, 2, 2)])
def test_frames_on_a_mirrored_body_meet_where_they_are_computed_to(scale):
    stage = new_stage()
    solid(stage, "/A").AddTranslateOp().Set((2, 0, 0))
    mirrored = solid(stage)
    mirrored.AddRotateXYZOp().Set((10, 20, 30))
    mirrored.AddScaleOp().Set(scale)
    worlds = usd_read.read_stage(stage).prims
    frame = frames.transform((1, 0, 0), frames.matrix_of((0.9, 0.1, -0.3, 0.2)))
    values = {}
    for side, path in enumerate(("/A", B)):
        position, rotation = frames.local_frame(worlds[path].world, frame)
        values |= {f"LocalPos{side}": position, f"LocalRot{side}": Gf.Quatf(*rotation)}
    joint(stage, "/A", B, kind=UsdPhysics.FixedJoint, **values)
    assert {code for code, path in found(usd_read.read_stage(stage)) if path == J} == set()


def test_a_joint_to_a_static_collider_is_said_to_collide_in_physx():
    """Measured: PhysX takes what has no body for the world, so that a door rubs against its frame."""
    code = "JointTouchesStatic"

    def codes(author=None, target="physx", *, is_solid=True, collides=False, is_enabled=True):
        stage = new_stage()
        solid(stage, "/Door")
        frame = UsdGeom.Cube.Define(stage, "/House/Frame").GetPrim()
        if is_solid:
            UsdPhysics.CollisionAPI.Apply(frame).CreateCollisionEnabledAttr(is_enabled)
        joint = UsdPhysics.RevoluteJoint.Define(stage, "/Hinge")
        joint.CreateBody0Rel().SetTargets(["/House"])
        joint.CreateBody1Rel().SetTargets(["/Door"])
        joint.CreateCollisionEnabledAttr(collides)
        if author is not None:
            UsdPhysics.FilteredPairsAPI.Apply(frame).CreateFilteredPairsRel().SetTargets([author])
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [issue.fix for issue in issues if issue.code == code]

    (fix,) = codes()
    assert "Frame" in fix or ("House" in fix and "Door" in fix)
    assert len(codes("/Elsewhere")) == 1
    assert (
        codes("/Door")
        == codes(is_solid=False)
        == codes(is_enabled=False)
        == codes(collides=True)
        == codes(target="usd")
        == []
    )


def test_a_joint_to_the_root_of_its_own_scene_touches_no_static_collider():
    """As in OpenUSD's own nested articulation: the default prim, above all bodies, stands for the world."""
    stage = new_stage()
    solid(stage, "/Robot/Base")
    collider(stage, "/Robot/Floor")
    joint(stage, "/Robot", "/Robot/Base", "/Robot/J", UsdPhysics.FixedJoint)
    issues = validate.validate(usd_read.read_stage(stage), "physx")
    assert [issue for issue in issues if issue.code == "JointTouchesStatic"] == []


def test_an_articulation_root_that_physx_lets_float_or_keeps_from_moving_is_named():
    """Measured in PhysX: a root on a body that is fixed gives way; a root on a hinge to the world welds it."""

    def codes(root, kind, target="physx", *, is_static=False):
        stage = new_stage()
        solid(stage, "/Robot/Base")
        if is_static:
            collider(stage, "/Ground")
        made = kind.Define(stage, "/Robot/J")
        made.CreateBody0Rel().SetTargets(["/Ground"] if is_static else [])
        made.CreateBody1Rel().SetTargets(["/Robot/Base"])
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [(issue.code, issue.path) for issue in issues if issue.code.startswith("ArticulationRoot")]

    hinge, fixed = UsdPhysics.RevoluteJoint, UsdPhysics.FixedJoint
    for root in ("/Robot", "/Robot/J"):
        assert codes(root, hinge) == codes(root, hinge, is_static=True) == [("ArticulationRootStuck", root)]
        assert codes(root, fixed) == []
    base = "/Robot/Base"
    assert codes(base, fixed) == codes(base, fixed, is_static=True) == [("ArticulationRootGives", base)]
    assert codes(base, hinge) == codes(base, fixed, "usd") == codes("/Robot", hinge, "newton") == []


@pytest.mark.parametrize("target", ["physx", "newton"])
def test_bounds_that_simulators_fit_themselves_are_named(target):
    """Measured: both fit a turned box, and PhysX a ball of its own; a box along the axes is the same everywhere."""

    def codes(approximation, points=None):
        stage = new_stage()
        prim = mesh(stage, "/C", approximation)
        if points is not None:
            prim.GetPointsAttr().Set(points)
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [issue.code for issue in issues if issue.code == "BoundsFittedAnew"]

    corners = [(x, y, z) for x in (0, 2) for y in (0, 1) for z in (0, 1)]
    turned = [(x - y, x + y, z) for x, y, z in corners]
    assert codes("boundingCube", corners) == codes("boundingSphere", corners) == codes("convexHull") == []
    assert codes("boundingCube", turned) == codes("boundingCube") == codes("boundingSphere") == ["BoundsFittedAnew"]
    assert codes("boundingSphere", turned) == []


def test_two_radii_that_simulators_do_not_know_are_named():
    stage = new_stage()
    collider(stage, "/C", UsdGeom.Capsule)
    tapered = collider(stage, "/T", UsdGeom.Capsule_1)
    tapered.CreateRadiusTopAttr(0.1)
    for target, wanted in (("usd", []), ("physx", ["/T"]), ("newton", ["/T"])):
        issues = validate.validate(usd_read.read_stage(stage), target)
        assert [issue.path for issue in issues if issue.code == "ColliderTwoRadii"] == wanted


@pytest.mark.parametrize("kind", ["Cube", "boundingCube", "convexHull", "none", "Plane"])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_cylinders_on_boxes_wider_than_100_m_are_named_for_physx(kind, unit):
    """Measured: they fall into boxes and hulls of 104 m, and into no triangles or planes."""

    def codes(width, shape, target="physx"):
        stage = new_stage()
        UsdGeom.SetStageMetersPerUnit(stage, unit)
        if kind in ("Cube", "Plane"):
            floor = collider(stage, "/Floor", UsdGeom.Cube if kind == "Cube" else UsdGeom.Plane)
            UsdGeom.Xformable(floor.GetPrim()).AddScaleOp().Set((width / unit / 2.0, 1.0, 1.0))
        else:
            floor = mesh(stage, "/Floor", kind)
            floor.GetPointsAttr().Set([(x * width / unit, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        UsdPhysics.RigidBodyAPI.Apply(collider(stage, "/Wheel", shape).GetPrim())
        issues = validate.validate(usd_read.read_stage(stage), target)
        return [issue.path for issue in issues if issue.code == "RoundOnWideBox"]

    named = ["/Floor"] if kind in ("Cube", "boundingCube", "convexHull") else []
    assert codes(104.0, UsdGeom.Cylinder) == codes(104.0, UsdGeom.Cone) == named
    assert codes(99.0, UsdGeom.Cylinder) == codes(104.0, UsdGeom.Capsule) == codes(104.0, UsdGeom.Cone, "newton") == []


def test_an_owner_of_what_is_body_and_collider_is_reported_once():
    stage = new_stage()
    UsdPhysics.RigidBodyAPI(solid(stage, "/B")).CreateSimulationOwnerRel().SetTargets(["/nope"])
    issues = validate.validate(usd_read.read_stage(stage))
    assert [issue.code for issue in issues].count("SimulationOwnerInvalid") == 1


def test_empty_model():
    assert validate.validate(PhysicsModel()) == []


# --------------------------------------------------------------------------- tables


def test_every_code_has_a_case():
    tested = {code for case in SHARED for code, _ in _values(case)[2]} | {case[2] for case in OWN}
    on_models = {
        "GroupDuplicateTarget",
        "NewtonMetres",
        "UnitsInvalid",
        "ArticulationRootGives",
        "ArticulationRootStuck",
        "JointOutsideArticulation",
        "BoundsFittedAnew",
        "ColliderTwoRadii",
        "RoundOnWideBox",
        "JointStartsAtZero",
        "JointTouchesStatic",
        "WorldJointStill",
        "ColliderFarFromMesh",
        "HullFillsHollow",
        "LinkTouchesNext",
    }  # tests of their own, above and in test_collision_meshes
    of_vendors = {code for code, _, _ in (*test_vendor_rules.CASES, *test_vendor_rules.NEWTON_CASES)}
    of_vendors |= {code for code, _, _ in test_mujoco_rules.CASES} | test_deformables.FAULTS.keys()
    of_vendors |= {case[0] for case in (*test_gltf_reader_rules.CASES, *test_newton_rules.CASES)}
    assert {row.code for row in validate.issue_table()} == tested | on_models | of_vendors


def test_gprims_are_those_of_usd():
    types = Tf.Type.FindByName("UsdGeomXformable").GetAllDerivedTypes()
    gprim = Tf.Type.FindByName("UsdGeomGprim")
    names = {Usd.SchemaRegistry.GetSchemaTypeName(found) for found in types if found.IsA(gprim)}
    assert names >= colliders.ROUND_TYPES
    assert not names & colliders.NO_GEOMETRY


def test_every_row_of_the_table_is_a_rule_with_known_severities():
    rows = tables.rows(Path(base.__file__).with_name("rules.tsv"))
    assert sorted(row["code"] for row in rows) == sorted(rule.code for rule in base.RULES)
    assert {severity for rule in base.RULES for severity in rule.severities.values()} == {"error", "warning", "info"}


def words_of(usd: str) -> str:
    """The words of an attribute's name: "approximation" for physics:approximation."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", usd.partition(":")[2]).lower()


def test_fixes_name_attributes_as_the_panels_do():
    """A person looks for the label that is on the screen; the name in a file may stand beside it."""
    renamed = {
        attribute.usd: attribute.label
        for cls in schema.schemas_of("UsdPhysics").values() for attribute in cls.attributes
        if attribute.label.lower() != words_of(attribute.usd)
    }  # fmt: skip
    assert renamed["physics:approximation"] == "Collides As"
    texts = {rule.code: rule.fix for rule in base.RULES} | {
        code: kind.fix for code, kind in notices.NOTICE_KINDS.items()
    }
    texts |= {code: fix.label for code, fix in model_fixes.FIXES.items()}
    wrong = {
        code: usd for code, text in texts.items() for usd in renamed
        if usd not in text and re.search(rf"\b{words_of(usd)}\b", text.lower())
    }  # fmt: skip
    assert wrong == {}


def test_document_is_up_to_date():
    document = Path(__file__).resolve().parents[2] / "docs" / "issue_codes.md"
    assert document.read_text(encoding="utf-8") == validate.issue_table_text()
    rows = validate.issue_table()
    assert len({row.code for row in rows}) == len(rows)
    assert all(row.meaning.endswith(".") and row.fix.endswith(".") for row in rows)


# --------------------------------------------------------------------------- time


def big_model(count: int) -> PhysicsModel:
    model = PhysicsModel(other_paths=frozenset(["/World"]))
    model.add(Prim("/Scene", "PhysicsScene", schemas={"PhysicsScene": usd_physics.PhysicsScene()}, is_xformable=False))
    for number in range(count):
        world = np.eye(4)
        world[:3, 3] = number
        prim = model.add(Prim(f"/World/B{number}", world=world))
        prim.add(usd_physics.RigidBodyAPI(velocity=(0.0, 0.0, 1.0)))
        prim.add(usd_physics.MassAPI(mass=1.0))
        shape = model.add(Prim(f"/World/B{number}/C", "Mesh", world=world))
        shape.add(usd_physics.CollisionAPI())
        shape.add(usd_physics.MeshCollisionAPI(approximation="convexHull"))
    return model


@pytest.mark.slow
def test_ten_thousand_bodies_and_colliders_have_no_issues():
    assert {issue.code for issue in validate.validate(big_model(10_000))} == {"NoFloor"}


def test_reversed_limits_are_reported_in_the_units_of_the_panel():
    def messages(cls, low, high):
        joint = cls(lower_limit=low, upper_limit=high)
        prim = Prim("/Joint", cls.usd_name, schemas={cls.usd_name: joint})
        model = PhysicsModel()
        model.add(prim)
        return [issue.message for issue in validate.validate(model) if issue.code == "LimitsReversed"]

    assert "lower limit (90°) above its upper limit (-30°)" in messages(
        usd_physics.RevoluteJoint, math.radians(90), math.radians(-30)
    )[0]  # fmt: skip
    assert "lower limit (0.5 m) above its upper limit (0 m)" in messages(usd_physics.PrismaticJoint, 0.5, 0.0)[0]


@pytest.mark.parametrize("author", [
    lambda s: run(floor(s), solid(s).AddTranslateOp().Set((0, 0, 1))),
    lambda s: run(floor(s), solid(s).AddTranslateOp().Set((0, 0, 0.99))),
    lambda s: run(floor(s), solid(s, "/A", UsdGeom.Sphere).AddTranslateOp().Set((1.5, 1.5, 1)),
                  solid(s, "/B", UsdGeom.Sphere).AddTranslateOp().Set((0, 0, 1))),
    lambda s: run(two(s, **MEET), UsdGeom.Xformable(s.GetPrimAtPath(B)).GetOrderedXformOps()[0].Set((1, 0, 0))),
    lambda s: run(floor(s), collider(s, "/Wall")),
    lambda s: run(floor(s), solid(s, enabled=False)),
    lambda s: run(solid(s, "/A").AddTranslateOp().Set((0, 0, 0.5)),
                  UsdPhysics.FilteredPairsAPI.Apply(solid(s).GetPrim()).CreateFilteredPairsRel().SetTargets(["/A"])),
    lambda s: run(solid(s, "/A").AddTranslateOp().Set((0, 0, 0.5)), solid(s), group(s, includes=["/A"], filters=["/H"]),
                  group(s, "/H", includes=[B])),
])  # fmt: skip
def test_what_touches_is_joined_or_filtered_is_no_overlap(author):
    stage = new_stage()
    author(stage)
    assert not {"BodiesOverlap", "BodiesInOnePlace"} & {code for code, _ in found(usd_read.read_stage(stage))}


def test_separation_brings_a_body_out_of_the_floor():
    stage = new_stage()
    floor(stage)
    solid(stage).AddTranslateOp().Set((0.3, 0, 0.25))
    way = overlaps.separation(validate.Facts(usd_read.read_stage(stage)), B).way
    assert np.allclose(way, (0, 0, 0.75), atol=1e-3)


#: Corners of a cube of 2 m about (5, 0, 3).
CORNERS = [(5 + x, y, 3 + z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def tall(stage, shape, height):
    """A body of 4 m without the ends of a capsule, 1 m wide, along Z, whose middle is at a height."""
    prim = solid(stage, B, shape)
    for name, value in (("Axis", "Z"), ("Height", 4.0), ("Radius", 0.5)):
        getattr(prim, f"Create{name}Attr")(value)
    prim.AddTranslateOp().Set((0, 0, height))


def boulder(stage, approximation, lowest):
    """A body with a mesh of a cube's corners, whose middle is 3 m above its origin; lowest: end below the middle."""
    body(stage).AddTranslateOp().Set((0, 0, lowest - 3 - 0.6))
    mesh(stage, C, approximation).GetPointsAttr().Set(CORNERS)


@pytest.mark.parametrize("author", [
    lambda s: tall(s, UsdGeom.Capsule, 1.9), lambda s: tall(s, UsdGeom.Cylinder, 1.4),
    lambda s: tall(s, UsdGeom.Cone, 1.4), lambda s: boulder(s, "boundingCube", 1.0),
    lambda s: boulder(s, "convexHull", 1.0), lambda s: boulder(s, "boundingSphere", math.sqrt(3)),
])  # fmt: skip
def test_every_convex_shape_is_as_deep_in_the_floor_as_it_is(author):
    """60 cm each."""
    stage = new_stage()
    floor(stage)
    author(stage)
    model = usd_read.read_stage(stage)
    assert ("BodiesOverlap", B) in found(model)
    assert np.allclose(overlaps.separation(validate.Facts(model), B).way, (0, 0, 0.6), atol=1e-3)


@pytest.mark.parametrize(("points", "overlaps"), [
    ([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], True), ([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 5)], False),
])  # fmt: skip
def test_of_triangles_only_a_flat_ground_is_known_to_overlap(points, overlaps):
    stage = new_stage()
    mesh(stage, "/Ground").GetPointsAttr().Set(points)
    solid(stage).AddTranslateOp().Set((0, 0, 0.4))
    assert (("BodiesOverlap", B) in found(usd_read.read_stage(stage))) == overlaps


@pytest.mark.parametrize("author", [
    lambda s: solid(s).AddTranslateOp().Set((0, 0, 0.4)),
    lambda s: solid(s, B, UsdGeom.Sphere).AddTranslateOp().Set((40, 0, 0.4)),
    lambda s: tall(s, UsdGeom.Capsule, 1.9),
    lambda s: (body(s), mesh(s), UsdGeom.Xformable(s.GetPrimAtPath(B)).AddTranslateOp().Set((0, 0, -0.6))),
])  # fmt: skip
def test_below_the_top_of_an_infinite_plane_all_is_inside_of_it(author):
    """60 cm each, wherever on it: width and length of a plane are what is seen of it."""
    stage = new_stage()
    collider(stage, "/Ground", UsdGeom.Plane).CreateAxisAttr("Z")
    author(stage)
    model = usd_read.read_stage(stage)
    (issue,) = [issue for issue in validate.validate(model) if issue.code == "BodiesOverlap"]
    assert (issue.path, issue.message) == (B, "/B starts inside /Ground, 600 mm deep.")
    assert np.allclose(overlaps.separation(validate.Facts(model), B).way, (0, 0, 0.6), atol=1e-3)


def test_a_body_below_a_plane_comes_up_and_one_on_a_tilted_plane_out_of_it():
    stage = new_stage()
    plane = collider(stage, "/Ground", UsdGeom.Plane)
    plane.CreateAxisAttr("Z")
    box = solid(stage).AddTranslateOp()
    box.Set((0, 0, -5))
    assert np.allclose(overlaps.separation(validate.Facts(usd_read.read_stage(stage)), B).way, (0, 0, 6), atol=0.01)
    plane.AddRotateYOp().Set(60)
    box.Set((0, 0, 0))
    way = overlaps.separation(validate.Facts(usd_read.read_stage(stage)), B).way
    assert way / np.linalg.norm(way) == pytest.approx((np.sin(np.pi / 3), 0, 0.5), abs=1e-6)
    box.Set((3, 0, 0))
    assert ("BodiesOverlap", B) not in found(usd_read.read_stage(stage))


def test_what_joints_tie_together_is_named_once_and_leaves_the_ground_together():
    """A robot whose feet are below the ground: each link was named, and lifted alone."""
    stage = new_stage()
    collider(stage, "/Ground", UsdGeom.Plane).CreateAxisAttr("Z")
    for number, height in enumerate((0.5, -2.0, 4.0)):
        solid(stage, f"/L{number}").AddTranslateOp().Set((4 * number, 0, height))
    joint(stage, "/L0", "/L1", "/J0", UsdPhysics.RevoluteJoint)
    joint(stage, "/L1", "/L2", "/J1", UsdPhysics.RevoluteJoint)
    joint(stage, "/L2", "/L0", "/Off", UsdPhysics.RevoluteJoint).CreateJointEnabledAttr(False)
    solid(stage, "/Alone").AddTranslateOp().Set((40, 0, 0.5))
    model = usd_read.read_stage(stage)
    messages = [issue.message for issue in validate.validate(model) if issue.code == "BodiesOverlap"]
    assert messages == [
        "/L1 starts inside /Ground, 3 m deep. So does 1 body that joints tie to it.",
        "/Alone starts inside /Ground, 500 mm deep.",
    ]
    for path in ("/L0", "/L1", "/L2"):
        found_way = overlaps.separation(validate.Facts(model), path)
        assert found_way.moved == {"/L0", "/L1", "/L2", "/J0", "/J1"}
        assert np.allclose(found_way.way, (0, 0, 3), atol=0.01)
    joint(stage, None, "/L2", "/Held", UsdPhysics.FixedJoint)
    assert overlaps.separation(validate.Facts(usd_read.read_stage(stage)), "/L1") is None


@pytest.mark.parametrize(("author", "locks"), [
    (lambda s: [joint(s, "/A", B, f"/J{axis}", UsdPhysics.RevoluteJoint, Axis=axis) for axis in "XY"], True),
    (lambda s: [joint(s, "/A", B, f"/J{axis}", UsdPhysics.RevoluteJoint, Axis=axis) for axis in "XYZ"], True),
    (lambda s: [joint(s, "/A", B, "/J0", UsdPhysics.RevoluteJoint, Axis="X"),
                joint(s, B, "/A", "/J1", UsdPhysics.PrismaticJoint, Axis="X")], True),
    (lambda s: [joint(s, "/A", B, f"/J{shift}", UsdPhysics.RevoluteJoint, Axis="Z", LocalPos0=(shift, 0, 0),
                      LocalPos1=(shift, 0, 0)) for shift in (0, 1)], True),
    # The two hinges of a door, and two rails.
    (lambda s: [joint(s, "/A", B, f"/J{height}", UsdPhysics.RevoluteJoint, Axis="Z", LocalPos0=(0, 0, height),
                      LocalPos1=(0, 0, height)) for height in (0, 1)], False),
    (lambda s: [joint(s, "/A", B, f"/J{shift}", UsdPhysics.PrismaticJoint, Axis="Z", LocalPos0=(shift, 0, 0),
                      LocalPos1=(shift, 0, 0)) for shift in (0, 1)], False),
    (lambda s: [joint(s, "/A", B, f"/J{axis}", UsdPhysics.RevoluteJoint, Axis=axis, JointEnabled=axis == "X")
                for axis in "XY"], False),
    (lambda s: [joint(s, "/A", B, "/J0", UsdPhysics.RevoluteJoint, Axis="X"),
                joint(s, None, B, "/J1", UsdPhysics.RevoluteJoint, Axis="Y")], False),
])  # fmt: skip
def test_hinges_and_slides_of_the_same_bodies_by_different_axes_are_named(author, locks):
    """As in USD files of MuJoCo's models, where a hip is three hinges: all held, and nothing was said."""
    stage = new_stage()
    solid(stage, "/A")
    solid(stage).AddTranslateOp().Set((0, 0, 3))
    author(stage)
    issues = [issue for issue in validate.validate(usd_read.read_stage(stage)) if issue.code == "JointsLockEachOther"]
    assert len(issues) == locks
    assert all("hold the same two bodies by different axes" in issue.message for issue in issues)
    assert not [issue for issue in validate.validate(usd_read.read_stage(stage), "newton")
                if issue.code == "JointsLockEachOther"]  # fmt: skip


@pytest.mark.parametrize("excuse", ["filter", "joint", "group", "kinematic", "above"])
def test_what_does_not_meet_a_plane_is_not_inside_of_it(excuse):
    stage = new_stage()
    plane = collider(stage, "/Ground", UsdGeom.Plane)
    plane.CreateAxisAttr("Z")
    box = solid(stage)
    box.AddTranslateOp().Set((0, 0, 1.0 if excuse == "above" else 0.4))
    if excuse == "filter":
        UsdPhysics.FilteredPairsAPI.Apply(box.GetPrim()).CreateFilteredPairsRel().SetTargets(["/Ground"])
    if excuse == "joint":
        joint(stage, "/Ground", B, kind=UsdPhysics.FixedJoint)
    if excuse == "group":
        group = UsdPhysics.CollisionGroup.Define(stage, "/G")
        group.GetCollidersCollectionAPI().CreateIncludesRel().SetTargets([B, "/Ground"])
        group.CreateFilteredGroupsRel().SetTargets(["/G"])
    if excuse == "kinematic":
        UsdPhysics.RigidBodyAPI(box.GetPrim()).CreateKinematicEnabledAttr(True)
    assert ("BodiesOverlap", B) not in found(usd_read.read_stage(stage))


@pytest.mark.parametrize(("shape", "overlaps"), [(UsdGeom.Cylinder, True), (UsdGeom.Cone, False)])
def test_the_rim_of_a_cylinder_overlaps_what_the_tip_of_a_cone_does_not(shape, overlaps):
    stage = new_stage()
    tall(stage, shape, 0.0)
    collider(stage, "/Wall", scale=(0.25, 0.25, 0.25)).AddTranslateOp().Set((2.4, 0, 7.8))
    assert (("BodiesOverlap", B) in found(usd_read.read_stage(stage))) == overlaps


@pytest.mark.parametrize(("shape", "overlaps"), [(UsdGeom.Cube, True), (UsdGeom.Cylinder, False)])
def test_only_of_boxes_and_balls_a_small_overlap_is_sure(shape, overlaps):
    """10 cm of 2 m."""
    stage = new_stage()
    floor(stage)
    solid(stage, B, shape).AddTranslateOp().Set((0, 0, 0.9))
    assert (("BodiesOverlap", B) in found(usd_read.read_stage(stage))) == overlaps


def test_a_body_in_two_others_is_named_once_with_the_one_that_it_is_deeper_in():
    stage = new_stage()
    floor(stage)
    collider(stage, "/Wall").AddTranslateOp().Set((1.5, 0, 1))
    solid(stage).AddTranslateOp().Set((0, 0, 0.2))
    issues = validate.validate(usd_read.read_stage(stage))
    (message,) = [issue.message for issue in issues if issue.code == "BodiesOverlap"]
    assert message == "/B starts inside /Floor, 800 mm deep."


def test_a_body_that_touches_nothing_needs_no_separation():
    stage = new_stage()
    floor(stage)
    solid(stage).AddTranslateOp().Set((0, 0, 5))
    assert overlaps.separation(validate.Facts(usd_read.read_stage(stage)), B) is None


def test_bodies_in_one_place_deep_in_a_hierarchy_cost_their_paths_once_and_not_for_each_pair(monkeypatch):
    """A file with 60 of them, 40 levels deep, kept the checks busy for minutes."""
    walks, ancestors_of = [], paths.ancestors_of
    monkeypatch.setattr(
        "usdphys_ext.usdphys_addon.core.paths.ancestors_of", lambda path: walks.append(path) or ancestors_of(path)
    )

    def walked(count):
        stage = new_stage()
        for number in range(count):
            solid(stage, f"/B{number}")
        joint(stage, "/B0", "/B1")
        model = usd_read.read_stage(stage)
        walks.clear()
        assert ("BodiesInOnePlace", f"/B{count - 1}") in found(model)
        return len(walks)

    assert walked(20) < 2.5 * walked(10)


def test_a_mirrored_body_and_its_shape_are_one_issue():
    stage = new_stage()
    body(stage).AddScaleOp().Set((-1, 1, 1))
    collider(stage)
    assert [path for code, path in found(usd_read.read_stage(stage)) if code == "NegativeScale"] == [B]


@pytest.mark.parametrize("count", [1, 2, 31])
def test_issues_that_say_the_same_of_different_prims_are_counted(count):
    def issue(number: int, text: str) -> validate.Issue:
        prim = f"'Box.{number}' (/Box_{number})"
        return validate.Issue("Code", "info", f"/Box_{number}", f"Box.{number}", text.format(prim), "Fix it.")

    same = [issue(number, "{} is heavy.") for number in range(count)]
    others = [issue(0, "{} is light."), issue(1, "{} is light by 3.")]
    assert base.alike([*same, *others]) == [(same[0], count), (others[0], 1), (others[1], 1)]


def test_many_bodies_at_one_place_are_named_by_few_comparisons(monkeypatch):
    stage = new_stage()
    for number in range(200):
        solid(stage, f"/Body{number}")
    compared, depth = [], overlaps.overlap.depth
    monkeypatch.setattr(overlaps.overlap, "depth", lambda *pair: compared.append(pair) or depth(*pair))
    named = [path for code, path in found(usd_read.read_stage(stage)) if code == "BodiesInOnePlace"]
    assert named and len(compared) < 10 * 200
