# SPDX-License-Identifier: GPL-3.0-or-later
"""Deformables: what they weigh, what is wrong with them, and that other units change none of it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from deformable_stages import KINDS, SYSTEMS, applied, cable, cloth, new_stage, set_, soft
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import deformables, summary, validate, vendor_units
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read, unit_conversion

TABLE = Path(vendor_units.__file__).parent / "vendor_tables" / "deformable.json"


def codes(stage: Usd.Stage, target: str = "usd") -> set[str]:
    return {issue.code for issue in validate.validate(read.read_stage(stage), target=target)}


def only(stage: Usd.Stage) -> deformables.Deformable:
    (found,) = read.read_stage(stage).deformables()[0]
    return found


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_deformable_weighs_the_same_in_all_units(make: Callable[[], Usd.Stage]) -> None:
    for system in SYSTEMS:
        stage = make()
        unit_conversion.convert(stage, system)
        assert deformables.mass_of(only(stage)).value == pytest.approx(KINDS[make], rel=1e-6)
        unit_conversion.convert(stage, SYSTEMS[0])
        assert deformables.mass_of(only(stage)).value == pytest.approx(KINDS[make], rel=1e-6)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_clean_deformables_have_no_issue_and_are_counted_as_what_they_are(make: Callable[[], Usd.Stage]) -> None:
    stage = make()
    assert codes(stage) == set()
    assert codes(stage, "newton") <= {"BodyWithoutMass"}
    model = read.read_stage(stage)
    assert summary.counts(model)["deformables"] == 1
    (row,) = summary.summarise(model)["deformables"]
    assert row["mass"] == pytest.approx(KINDS[make], rel=1e-5) and row["massSource"] == "density of the material"
    assert "(static)" not in {one["body"] for one in summary.summarise(model)["colliders"]}
    world = World(model)
    assert [notice.code for notice in world.notices].count("Deformable") == 1


def test_masses_win_over_the_body_and_that_over_its_density_and_the_material() -> None:
    stage = cloth()
    prim, body = stage.GetPrimAtPath("/World/Cloth/sim"), stage.GetPrimAtPath("/World/Cloth")
    said = [deformables.mass_of(only(stage))]
    set_(body, "density", "float", 300.0)
    said.append(deformables.mass_of(only(stage)))
    set_(body, "mass", "float", 2.0)
    said.append(deformables.mass_of(only(stage)))
    set_(prim, "masses", "float[]", [0.25] * 25)
    set_(prim, "masses:elementType", "token", "point")
    said.append(deformables.mass_of(only(stage)))
    set_(prim, "masses", "float[]", [4.0])
    set_(prim, "masses:elementType", "token", "constant")
    said.append(deformables.mass_of(only(stage)))
    assert [round(one.value, 6) for one in said] == [0.108, 0.216, 2.0, 6.25, 4.0]
    assert [one.source for one in said][1:4] == ["density of the body", "mass of the body", "masses"]
    stage.GetPrimAtPath("/World/Stuff").GetAttribute("physics:density").Clear()
    for path in (body, prim):
        for name in ("density", "mass", "masses"):
            path.RemoveProperty(f"physics:{name}")
    assert deformables.mass_of(only(stage)) == (pytest.approx(0.72), "1000 kg/m3")


def test_the_shape_at_rest_decides_what_a_deformable_weighs() -> None:
    stage = soft()
    prim = stage.GetPrimAtPath("/World/Jelly")
    set_(prim, "restShapePoints", "point3f[]", prim.GetAttribute("points").Get())
    prim.GetAttribute("points").Set([point * 1.5 for point in prim.GetAttribute("points").Get()])
    assert deformables.mass_of(only(stage)).value == pytest.approx(KINDS[soft])


def test_thicknesses_of_faces_points_and_segments() -> None:
    stage = cloth(cells=1)
    prim = stage.GetPrimAtPath("/World/Cloth/sim")
    half = 0.6 * 0.6 / 2 * 150.0
    for values, kind, expected in (
        ([0.001, 0.004], "face", half * 0.005),
        # Corners 0, 2, 1 and 1, 2, 3.
        ([0.001, 0.002, 0.003, 0.007], "point", half * (0.002 + 0.004)),
    ):
        set_(prim, "thicknesses", "float[]", values)
        set_(prim, "thicknesses:elementType", "token", kind)
        assert deformables.mass_of(only(stage)).value == pytest.approx(expected)


def _quads(stage: Usd.Stage) -> None:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Cloth/sim"))
    mesh.GetFaceVertexCountsAttr().Set([4])
    mesh.GetFaceVertexIndicesAttr().Set([0, 1, 6, 5])


def _fin(stage: Usd.Stage) -> None:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Cloth/sim"))
    mesh.GetFaceVertexCountsAttr().Set([*mesh.GetFaceVertexCountsAttr().Get(), 3])
    mesh.GetFaceVertexIndicesAttr().Set([*mesh.GetFaceVertexIndicesAttr().Get(), 1, 5, 24])


def _put_a_block_in_the_way(stage: Usd.Stage) -> None:
    block = UsdGeom.Cube.Define(stage, "/World/Block")
    UsdPhysics.CollisionAPI.Apply(block.GetPrim())
    block.AddTranslateOp().Set((0.0, 0.0, 1.0))
    block.AddScaleOp().Set(Gf.Vec3f(0.1))


def _turn_a_tetrahedron(stage: Usd.Stage) -> None:
    mesh = UsdGeom.TetMesh(stage.GetPrimAtPath("/World/Jelly"))
    rows = list(mesh.GetTetVertexIndicesAttr().Get())
    rows[2] = Gf.Vec4i(rows[2][1], rows[2][0], rows[2][2], rows[2][3])
    mesh.GetTetVertexIndicesAttr().Set(rows)


def _static_anchor(stage: Usd.Stage) -> None:
    anchor = stage.GetPrimAtPath("/World/Anchor")
    anchor.RemoveAPI(UsdPhysics.RigidBodyAPI)
    anchor.RemoveProperty("physics:kinematicEnabled")


FAULTS = {
    "DeformableNotTriangles": (cloth, _quads),
    "DeformableNonManifold": (cloth, _fin),
    "TetInverted": (soft, _turn_a_tetrahedron),
    "DeformableIntersects": (cable, _put_a_block_in_the_way),
    "DeformableUnderRigid": (soft, lambda s: UsdPhysics.RigidBodyAPI.Apply(s.GetPrimAtPath("/World"))),
    "DeformableMassAPI": (soft, lambda s: UsdPhysics.MassAPI.Apply(s.GetPrimAtPath("/World/Jelly"))),
    "DeformableThicknessMissing": (
        cable, lambda s: s.GetPrimAtPath("/World/Cable").RemoveProperty("physics:thicknesses")
    ),
    "DeformableDialects": (
        soft, lambda s: applied(s.GetPrimAtPath("/World/Jelly"), "OmniPhysicsDeformableBodyAPI")
    ),
    "DeformablePinStatic": (cloth, _static_anchor),
    "DeformableCurvesInPhysx": (cable, lambda s: None),
}  # fmt: skip
TARGETS = {"DeformablePinStatic": "newton", "DeformableCurvesInPhysx": "physx"}


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_named_and_nothing_else(code: str) -> None:
    make, spoil = FAULTS[code]
    target = TARGETS.get(code, "usd")
    before = codes(make(), target)
    stage = make()
    spoil(stage)
    assert codes(stage, target) - before - {"BodyWithoutMass"} == ({code} if code not in before else set())
    assert code in codes(stage, target)


def test_orientation_and_mirrors_turn_no_tetrahedron() -> None:
    stage = soft()
    UsdGeom.Xformable(stage.GetPrimAtPath("/World/Jelly")).AddScaleOp().Set((-1, 1, 1))
    assert "TetInverted" not in codes(stage)
    stage = soft()
    mesh = UsdGeom.TetMesh(stage.GetPrimAtPath("/World/Jelly"))
    mesh.GetOrientationAttr().Set("leftHanded")
    assert "TetInverted" in codes(stage)
    mesh.GetTetVertexIndicesAttr().Set([Gf.Vec4i(b, a, c, d) for a, b, c, d in mesh.GetTetVertexIndicesAttr().Get()])
    assert "TetInverted" not in codes(stage)


def test_every_number_of_the_table_has_its_dimension_in_other_units() -> None:
    """Converted by powers of the units that the table says, and back to the same number. Older words, too."""
    powers = {"kg": 0.001, "m": 0.001}  # SI of one unit of the third system
    for schema in json.loads(TABLE.read_text())["schemas"]:
        for row in schema["attributes"]:
            if not row["type"].startswith("float") or "unit" not in row:
                continue
            stage = new_stage()
            is_typed = schema["kind"] == "typed"
            prim = stage.DefinePrim("/World/P", schema["name"] if is_typed else "Xform")
            if not is_typed:
                applied(prim, schema["name"] + ":a" * (schema["kind"] == "multiple"))
            value = [3.0] if row["type"] == "float[]" else 3.0
            attribute = prim.CreateAttribute(row["usd"], Sdf.ValueTypeNames.Find(row["type"]), False)
            attribute.Set(value)
            unit_conversion.convert(stage, SYSTEMS[2])
            dimension = vendor_units.parse_unit(row["unit"])
            expected = 3.0 / (powers["m"] ** dimension.length * powers["kg"] ** dimension.mass)
            found = np.ravel(stage.GetPrimAtPath("/World/P").GetAttribute(row["usd"]).Get())[0]
            assert found == pytest.approx(expected, rel=1e-6), row["usd"]
            unit_conversion.convert(stage, SYSTEMS[0])
            found = np.ravel(stage.GetPrimAtPath("/World/P").GetAttribute(row["usd"]).Get())[0]
            assert found == pytest.approx(3.0, rel=1e-6), row["usd"]


@pytest.mark.parametrize("kind", ["Cube", "Sphere", "Capsule", "Cylinder", "Cone"])
@pytest.mark.parametrize("seed", range(4))
def test_points_that_start_inside_a_collider_are_named_and_others_not(kind: str, seed: int) -> None:
    """The collider stands beside the cloth by a hair, or reaches into it by a hair."""
    rng = np.random.default_rng(seed)
    for reach, expected in ((-0.02, False), (0.02, True)):
        stage = cloth(cells=12)
        gprim = getattr(UsdGeom, kind).Define(stage, "/World/Rock")
        UsdPhysics.CollisionAPI.Apply(gprim.GetPrim())
        scale = rng.uniform(0.1, 0.3)
        # The cloth is at z = 1, from (0.5, 0.25) on; the shapes reach to `scale` above their origin.
        gprim.AddTranslateOp().Set((0.8, 0.55, 1.0 - scale + reach))
        gprim.AddRotateZOp().Set(float(rng.uniform(0, 360)))
        gprim.AddScaleOp().Set(Gf.Vec3f(scale))
        assert ("DeformableIntersects" in codes(stage)) == expected, (kind, reach, scale)


def test_a_held_end_may_be_inside_of_what_holds_it() -> None:
    stage = cable()
    _put_a_block_in_the_way(stage)
    assert "DeformableIntersects" in codes(stage)
    stage.GetPrimAtPath("/World/Pin").GetRelationship("physics:src1").SetTargets(["/World/Block"])
    assert "DeformableIntersects" not in codes(stage)


def test_masses_without_a_type_are_of_the_points_as_in_the_first_revision() -> None:
    stage = cloth()
    set_(stage.GetPrimAtPath("/World/Cloth/sim"), "masses", "float[]", [0.25] * 25)
    assert deformables.mass_of(only(stage)) == (6.25, "masses")
    set_(stage.GetPrimAtPath("/World/Cloth/sim"), "masses", "float[]", [0.25] * 24)
    assert deformables.mass_of(only(stage)).source == "density of the material"
