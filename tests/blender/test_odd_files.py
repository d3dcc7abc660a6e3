# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that say something impossible: shown as they are read, kept as they are, and never changed in silence."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import gprims, validate
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

from pxr import Sdf, Usd, UsdGeom, UsdPhysics  # isort: skip

FORMS = ("copy", "layer", "flat", "composed")
KEPT = FORMS[:3]


def stage_at(path, up="Z"):
    """A box of 1 m that weighs 2 kg, and a lid of 0.5 m above it."""
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetMetadata("upAxis", up)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    UsdPhysics.Scene.Define(stage, "/World/Scene")
    for name, size, place in (("Box", 1.0, (0, 1, 3)), ("Lid", 0.5, (0, 1, 4))):
        cube = UsdGeom.Cube.Define(stage, f"/World/{name}")
        cube.CreateSizeAttr(size)
        cube.AddTranslateOp().Set(place)
        for schema in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
            schema.Apply(cube.GetPrim())
    UsdPhysics.MassAPI.Apply(stage.GetPrimAtPath("/World/Box")).CreateMassAttr(2.0)
    return stage


def hinge(stage, first="/World/Box", second="/World/Lid"):
    joint = UsdPhysics.RevoluteJoint.Define(stage, "/World/Hinge")
    for side, targets in enumerate((first, second)):
        relationship = getattr(joint, f"CreateBody{side}Rel")()
        relationship.SetTargets([targets] if isinstance(targets, str) else targets)
    joint.CreateLocalPos0Attr((0.0, 0.0, 0.5))
    joint.CreateLocalPos1Attr((0.0, 0.0, -0.5))
    return joint


def imported(stage):
    stage.GetRootLayer().Save()
    file = stage.GetRootLayer().realPath
    return usd_import.import_usd(bpy.context, file, usd_import.ImportOptions(), usd_import.LateProgress())


def exported(folder, form):
    """(result, stage) of the scene in a form."""
    result = scene_export.export_scene(bpy.context, folder / f"{form}.usda", usd_export.ExportOptions(), form)
    return result, Usd.Stage.Open(str(result.path))


def differing(result):
    return [issue.message for issue in result.issues if issue.code == "FileDiffers"]


def test_an_up_axis_that_usd_does_not_know_is_taken_for_z_everywhere(tmp_path):
    stage = stage_at(tmp_path / "in.usda", up="X")
    hinge(stage)
    result = imported(stage)
    assert [issue.code for issue in result.issues if issue.severity == "warning"] == ["StageUpAxis"]
    assert bpy.data.objects["Box"].matrix_world.translation[:] == pytest.approx((0, 1, 3))
    for form in FORMS:
        written, stage = exported(tmp_path, form)
        assert differing(written) == []
        model = usd_read.read_stage(stage)
        assert model.prims["/World/Box"].world[:3, 3] == pytest.approx((0, 1, 3))
        assert model.prims["/World/Hinge"].get(usd_physics.Joint).local_pos0 == pytest.approx((0, 0, 0.5))


#: (type, sizes with the sign or without, what is shown: half of its extent)
SIZES = [
    ("Cube", {"size": -0.6}, (0.3, 0.3, 0.3)),
    ("Sphere", {"radius": -0.3}, (0.3, 0.3, 0.3)),
    ("Cylinder", {"radius": 0.2, "height": -0.6}, (0.2, 0.2, 0.3)),
    ("Capsule", {"radius": -0.2, "height": 1.0}, (0.2, 0.2, 0.7)),
    ("Sphere", {"radius": None}, (1.0, 1.0, 1.0)),
]


@pytest.mark.parametrize(("kind", "sizes", "half"), SIZES)
def test_a_size_without_a_meaning_is_named_and_stays_until_it_is_edited(tmp_path, kind, sizes, half):
    stage = stage_at(tmp_path / "in.usda")
    prim = stage.DefinePrim("/World/Shape", kind)
    for name, size in sizes.items():
        attribute = prim.CreateAttribute(name, Sdf.ValueTypeNames.Double)
        attribute.Block() if size is None else attribute.Set(size)
    for schema in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
        schema.Apply(prim)
    imported(stage)
    model = usd_read.read_stage(usd_read.open_stage(tmp_path / "in.usda"))
    assert [issue.path for issue in validate.validate(model) if issue.code == "ShapeSizeOdd"] == ["/World/Shape"]
    for form in FORMS:
        written, stage = exported(tmp_path, form)
        assert differing(written) == []
        prim = stage.GetPrimAtPath("/World/Shape")
        for name, size in sizes.items():
            expected = size if form in KEPT else abs(size) if size is not None else 1.0
            assert prim.GetAttribute(name).Get() == (pytest.approx(expected) if expected is not None else None)
        shape = usd_read.read_stage(stage).prims["/World/Shape"].get(usd_geom.Gprim)
        assert np.allclose(gprims.half_extent(shape), half)


@pytest.mark.parametrize("owner", ["/World/Nothing", "/World/Lid"])
def test_a_physics_scene_that_is_none_stays_named(tmp_path, owner):
    stage = stage_at(tmp_path / "in.usda")
    UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/World/Box")).CreateSimulationOwnerRel().SetTargets([owner])
    imported(stage)
    for form in FORMS:
        written, stage = exported(tmp_path, form)
        assert differing(written) == []
        # A layer says nothing of prims that it leaves as they are.
        assert ("SimulationOwnerInvalid" in {issue.code for issue in written.issues}) == (form != "layer")
        body = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/World/Box"))
        assert list(map(str, body.GetSimulationOwnerRel().GetTargets())) == [owner]


@pytest.mark.parametrize("side", [0, 1])
def test_a_second_body_on_a_side_of_a_joint_is_named_and_stays_in_the_file(tmp_path, side):
    stage = stage_at(tmp_path / "in.usda")
    ends = [["/World/Box", "/World/Lid"], ["/World/Lid"]]
    hinge(stage, *(ends if side == 0 else ends[::-1]))
    result = imported(stage)
    assert [issue.path for issue in result.issues if issue.code == "JointMultiplePrimsRel"] == ["/World/Hinge"]
    for form in FORMS:
        written, stage = exported(tmp_path, form)
        assert differing(written) == []
        relationship = stage.GetPrimAtPath("/World/Hinge").GetRelationship(f"physics:body{side}")
        assert list(map(str, relationship.GetTargets())) == (ends[0] if form in KEPT else ["/World/Box"])


@pytest.mark.parametrize("ends", [("/World/Hinge", "/World/Lid"), ("/World/Lid", "/World/Hinge")])
def test_a_joint_on_a_joint_keeps_its_frames(tmp_path, ends):
    stage = stage_at(tmp_path / "in.usda")
    hinge(stage, *ends)
    imported(stage)
    for form in FORMS:
        written, stage = exported(tmp_path, form)
        assert differing(written) == []
        joint = UsdPhysics.Joint(stage.GetPrimAtPath("/World/Hinge"))
        assert joint.GetLocalPos0Attr().Get() == pytest.approx((0.0, 0.0, 0.5))
        assert joint.GetLocalPos1Attr().Get() == pytest.approx((0.0, 0.0, -0.5))
        assert [str(path) for relationship in (joint.GetBody0Rel(), joint.GetBody1Rel())
                for path in relationship.GetTargets()] == list(ends)  # fmt: skip
