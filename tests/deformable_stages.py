# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages with a cloth, a soft body or a cable, in the words of the proposal for OpenUSD."""

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from usdphys_ext.usdphys_addon.core.units import StageUnits

SYSTEMS = (StageUnits(1.0, 1.0, "Z"), StageUnits(0.01, 1.0, "Y"), StageUnits(0.001, 0.001, "Z"))


def set_(prim: Usd.Prim, name: str, type_: str, value: object) -> None:
    prim.CreateAttribute(f"physics:{name}", Sdf.ValueTypeNames.Find(type_), False).Set(value)


def material(stage: Usd.Stage, kind: str, **values: float) -> UsdShade.Material:
    found = UsdShade.Material.Define(stage, "/World/Stuff")
    found.GetPrim().SetMetadata("apiSchemas", Sdf.TokenListOp.Create(
        prependedItems=["PhysicsMaterialAPI", f"Physics{kind}DeformableMaterialAPI"]
    ))  # fmt: skip
    for name, value in values.items():
        set_(found.GetPrim(), name, "float", value)
    return found


def applied(prim: Usd.Prim, *names: str) -> Usd.Prim:
    for name in names:
        prim.AddAppliedSchema(name)
    return prim


def new_stage() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    UsdPhysics.Scene.Define(stage, "/World/Scene")
    return stage


def bind(prim: Usd.Prim, found: UsdShade.Material) -> None:
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(found, materialPurpose="physics")


def cloth(cells: int = 4, size: float = 0.6) -> Usd.Stage:
    """A square cloth of 2 mm with 150 kg/m^3, pinned at a kinematic body."""
    stage = new_stage()
    body = applied(UsdGeom.Xform.Define(stage, "/World/Cloth").GetPrim(), "PhysicsDeformableBodyAPI")
    UsdGeom.Xformable(body).AddTranslateOp().Set((0.5, 0.25, 1.0))
    mesh = UsdGeom.Mesh.Define(stage, "/World/Cloth/sim")
    across = np.linspace(0.0, size, cells + 1)
    mesh.GetPointsAttr().Set([(x, y, 0.0) for x in across for y in across])
    faces = []
    for row in range(cells):
        for column in range(cells):
            a = row * (cells + 1) + column
            faces += [(a, a + cells + 1, a + 1), (a + 1, a + cells + 1, a + cells + 2)]
    mesh.GetFaceVertexCountsAttr().Set([3] * len(faces))
    mesh.GetFaceVertexIndicesAttr().Set([index for face in faces for index in face])
    prim = applied(mesh.GetPrim(), "PhysicsSurfaceDeformableSimAPI", "PhysicsCollisionAPI")
    set_(prim, "thicknesses", "float[]", [0.002])
    set_(prim, "thicknesses:elementType", "token", "constant")
    bind(prim, material(stage, "Surface", density=150.0, youngsModulus=5e5, dynamicFriction=0.4))
    anchor = UsdGeom.Cube.Define(stage, "/World/Anchor").GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(anchor).CreateKinematicEnabledAttr(True)
    pin(stage, "/World/Cloth/sim", "/World/Anchor")
    return stage


def soft() -> Usd.Stage:
    """A box of 0.4 x 0.4 x 0.4 m of five tetrahedra, 1100 kg/m^3."""
    stage = new_stage()
    mesh = UsdGeom.TetMesh.Define(stage, "/World/Jelly")
    mesh.GetPointsAttr().Set([(0.4 * x, 0.4 * y, 0.4 * z) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    mesh.GetTetVertexIndicesAttr().Set([
        Gf.Vec4i(0, 1, 2, 4), Gf.Vec4i(3, 2, 1, 7), Gf.Vec4i(5, 4, 7, 1), Gf.Vec4i(6, 7, 4, 2), Gf.Vec4i(1, 2, 4, 7)
    ])  # fmt: skip
    prim = applied(mesh.GetPrim(), "PhysicsDeformableBodyAPI", "PhysicsVolumeDeformableSimAPI", "PhysicsCollisionAPI")
    bind(prim, material(stage, "Volume", density=1100.0, youngsModulus=2e5, poissonsRatio=0.4, dynamicFriction=0.5))
    return stage


def cable(segments: int = 10, length: float = 1.5) -> Usd.Stage:
    """A straight cable, 12 mm thick, of 1300 kg/m^3."""
    stage = new_stage()
    curves = UsdGeom.BasisCurves.Define(stage, "/World/Cable")
    curves.CreateTypeAttr("linear")
    curves.GetPointsAttr().Set([(length * index / segments, 0.0, 1.0) for index in range(segments + 1)])
    curves.GetCurveVertexCountsAttr().Set([segments + 1])
    prim = applied(curves.GetPrim(), "PhysicsDeformableBodyAPI", "PhysicsCurvesDeformableSimAPI", "PhysicsCollisionAPI")
    set_(prim, "thicknesses", "float[]", [0.012])
    set_(prim, "thicknesses:elementType", "token", "constant")
    bind(prim, material(stage, "Curves", density=1300.0, youngsModulus=1e7))
    pin(stage, "/World/Cable", "/World")
    return stage


def pin(stage: Usd.Stage, source: str, target: str) -> None:
    found = stage.DefinePrim("/World/Pin", "PhysicsAttachment")
    found.CreateRelationship("physics:src0").SetTargets([source])
    found.CreateRelationship("physics:src1").SetTargets([target])
    set_(found, "type0", "token", "point")
    set_(found, "type1", "token", "xform")
    set_(found, "coords1", "vector3f[]", [Gf.Vec3f(0.5, 0.25, 1.0)])


#: kg of each.
KINDS = {cloth: 0.6 * 0.6 * 0.002 * 150.0, soft: 0.4**3 * 1100.0, cable: 1.5 * np.pi * 0.006**2 * 1300.0}


def random_stage(seed: int) -> Usd.Stage:
    """Cloths, soft bodies and cables in random places, with everything that the proposal lets them say."""
    rng = np.random.default_rng(seed)
    stage = new_stage()
    for kind in ("surface", "volume", "curves"):
        for number in range(int(rng.integers(0, 2)) + (seed % 3 == ("surface", "volume", "curves").index(kind))):
            _random_deformable(stage, kind, number, rng)
    anchor = UsdGeom.Xform.Define(stage, "/World/Anchor")
    anchor.AddTranslateOp().Set(tuple(rng.uniform(-1, 1, 3)))
    body = UsdPhysics.RigidBodyAPI.Apply(anchor.GetPrim())
    body.CreateKinematicEnabledAttr(True)
    return stage


def _random_deformable(stage: Usd.Stage, kind: str, number: int, rng: np.random.Generator) -> None:
    path = f"/World/{kind.title()}{number}"
    body = UsdGeom.Xform.Define(stage, path)
    body.AddTranslateOp().Set(tuple(rng.uniform(-3, 3, 3)))
    body.AddRotateXYZOp().Set(tuple(map(float, rng.uniform(-180, 180, 3))))
    type_name = {"surface": "Mesh", "volume": "TetMesh", "curves": "BasisCurves"}[kind]
    prim = stage.DefinePrim(f"{path}/sim", type_name)
    if kind == "curves":
        sizes = [int(rng.integers(3, 7)) for _ in range(int(rng.integers(1, 3)))]
        points = np.concatenate([np.cumsum(rng.uniform(0.05, 0.2, (size, 3)), axis=0) + index
                                 for index, size in enumerate(sizes)])  # fmt: skip
        UsdGeom.BasisCurves(prim).CreateTypeAttr("linear")
        UsdGeom.BasisCurves(prim).CreateCurveVertexCountsAttr(sizes)
        UsdGeom.BasisCurves(prim).CreateWidthsAttr([float(width) for width in rng.uniform(0.01, 0.03, len(points))])
        UsdGeom.BasisCurves(prim).SetWidthsInterpolation("vertex")
        normals = rng.normal(size=(len(points), 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        UsdGeom.BasisCurves(prim).CreateNormalsAttr([Gf.Vec3f(*map(float, normal)) for normal in normals])
        UsdGeom.BasisCurves(prim).SetNormalsInterpolation("vertex")
        if rng.random() < 0.5:
            UsdGeom.BasisCurves(prim).CreateWidthsAttr([0.02])
            UsdGeom.BasisCurves(prim).SetWidthsInterpolation("constant")
        elements, counts = len(points) - len(sizes), {"curve": len(sizes), "segment": len(points) - len(sizes)}
    elif kind == "surface":
        size = int(rng.integers(3, 6))
        across = np.arange(size) * 0.1
        points = np.array([(x, y, rng.uniform(0, 0.02)) for x in across for y in across])
        starts = [row * size + column for row in range(size - 1) for column in range(size - 1)]
        faces = [face for at in starts for face in ((at, at + size, at + 1), (at + 1, at + size, at + size + 1))]
        UsdGeom.Mesh(prim).CreateFaceVertexCountsAttr([3] * len(faces))
        UsdGeom.Mesh(prim).CreateFaceVertexIndicesAttr([index for face in faces for index in face])
        UsdGeom.Mesh(prim).CreateSubdivisionSchemeAttr("none")
        elements, counts = len(faces), {"face": len(faces)}
    else:
        points = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]) * rng.uniform(0.2, 0.6, 3)
        rows = [(0, 1, 2, 4), (3, 2, 1, 7), (5, 4, 7, 1), (6, 7, 4, 2), (1, 2, 4, 7)]
        UsdGeom.TetMesh(prim).CreateTetVertexIndicesAttr([Gf.Vec4i(*row) for row in rows])
        elements, counts = len(rows), {"tetrahedron": len(rows)}
    UsdGeom.PointBased(prim).CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in points])
    applied(prim, f"Physics{kind.title()}DeformableSimAPI", "PhysicsCollisionAPI", "PhysicsDeformablePoseAPI:bind")
    applied(body.GetPrim(), "PhysicsDeformableBodyAPI")
    set_(prim, "deformablePose:bind:purposes", "token[]", ["bindPose"])
    rest = [Gf.Vec3f(*map(float, point)) for point in points * rng.uniform(0.9, 1.1)]
    set_(prim, "deformablePose:bind:points", "point3f[]", rest)
    if rng.random() < 0.7:
        set_(prim, "restShapePoints", "point3f[]", rest)
    counts |= {"constant": 1, "point": len(points)}
    for name in ("masses", *(("thicknesses",) if kind != "volume" else ())):
        element = str(rng.choice(sorted(counts)))
        if rng.random() < 0.7:
            set_(prim, name, "float[]", [float(value) for value in rng.uniform(0.001, 0.02, counts[element])])
            set_(prim, f"{name}:elementType", "token", element)
    if rng.random() < 0.5:
        set_(body.GetPrim(), str(rng.choice(["mass", "density"])), "float", float(rng.uniform(1, 900)))
    name = kind.title()
    stuff = UsdShade.Material.Define(stage, f"/World/Stuff{name}{number}")
    applied(stuff.GetPrim(), "PhysicsMaterialAPI", f"Physics{name}DeformableMaterialAPI")
    values = {"density": 1100.0, "youngsModulus": 10.0 ** rng.uniform(4, 8), "poissonsRatio": 0.4}
    words = {"surface": ("Stretch", "Shear", "Bend"), "curves": ("Stretch", "Shear", "Bend", "Twist"), "volume": ()}
    values |= {f"{kind}{word}Stiffness": float(rng.uniform(1, 500)) for word in words[kind] if rng.random() < 0.6}
    for key, value in values.items():
        set_(stuff.GetPrim(), key, "float", float(value))
    bind(prim, stuff)
    held = stage.DefinePrim(f"{path}_held", "PhysicsAttachment")
    held.CreateRelationship("physics:src0").SetTargets([prim.GetPath()])
    held.CreateRelationship("physics:src1").SetTargets(["/World/Anchor"])
    set_(held, "type0", "token", "point")
    set_(held, "type1", "token", "xform")
    set_(held, "indices0", "int[]", [0, len(points) - 1])
    set_(held, "coords1", "vector3f[]", [Gf.Vec3f(*map(float, row)) for row in rng.uniform(-1, 1, (2, 3))])
    set_(held, "damping", "float", float(rng.uniform(0, 3)))
    ignored = stage.DefinePrim(f"{path}_ignored", "PhysicsElementCollisionFilter")
    ignored.CreateRelationship("physics:src0").SetTargets([prim.GetPath()])
    ignored.CreateRelationship("physics:src1").SetTargets(["/World/Anchor"])
    set_(ignored, "groupElemCounts0", "uint[]", [min(2, elements)])
    set_(ignored, "groupElemIndices0", "uint[]", list(range(min(2, elements))))
