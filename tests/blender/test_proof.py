# SPDX-License-Identifier: GPL-3.0-or-later
"""A written file is held against what Blender shows: what differs is named, and refused where that is asked for."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.core.errors import ValidationFailedError
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.usd import asset_layers, runtime_variants, scene_edits
from usdphys_ext.usdphys_addon.usd import write as usd_write

from pxr import Usd, UsdGeom  # isort: skip

SOURCE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        double3 xformOp:translate = (0, 0, -0.5)
        double3 xformOp:scale = (100, 100, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Xform "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 2
        double3 xformOp:translate = (0, 1, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 0.5
        }
    }
    def Xform "Lid" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (0, 1, 4)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.25
        }
    }
    def PhysicsRevoluteJoint "Hinge"
    {
        rel physics:body0 = </World/Box>
        rel physics:body1 = </World/Lid>
        uniform token physics:axis = "X"
        point3f physics:localPos0 = (0, 0, 0.5)
        point3f physics:localPos1 = (0, 0, -0.5)
    }
}
"""
FORMS = ("copy", "layer", "flat", "composed")


@pytest.fixture
def imported(tmp_path):
    (tmp_path / "source.usda").write_text(SOURCE)
    usd_import.import_usd(bpy.context, tmp_path / "source.usda", usd_import.ImportOptions(), usd_import.LateProgress())
    return tmp_path


def export(path, form="auto", **options):
    return scene_export.export_scene(bpy.context, path, usd_export.ExportOptions(**options), form)


def differing(result):
    return [issue for issue in result.issues if issue.code == "FileDiffers"]


@pytest.mark.parametrize("form", FORMS)
def test_a_file_as_it_was_shown_is_called_so_and_its_physics_is_counted(imported, form):
    result = export(imported / "out.usda", form)
    assert differing(result) == []
    if form != "layer":
        assert {name: number for name, number in result.counts.items() if number} == {
            "scenes": 1, "bodies": 2, "colliders": 3, "joints": 1,
        }  # fmt: skip


def move_prim(path, offset):
    def after(stage):
        UsdGeom.Xformable(stage.GetPrimAtPath(path)).GetXformOp(UsdGeom.XformOp.TypeTranslate).Set(offset)

    return after


def set_value(path, value):
    def after(stage):
        attribute = stage.GetAttributeAtPath(path)
        attribute.Set(value)

    return after


def drop(path, schema):
    return lambda stage: stage.GetPrimAtPath(path).RemoveAppliedSchema(schema)


#: (what a writer does wrong, what the message says of it)
FAULTS = {
    "place": (move_prim("/World/Box", (0, 1, 7)), "'Box' is 4 m away"),
    "size": (set_value("/World/Floor.size", 0.02), "the collider of 'Floor' measures 2 x 2 x 0.02 m in it, and 100 x"),
    "mass": (set_value("/World/Box.physics:mass", 3.0), "physics:mass of 'Box' is 3.0 in it, and 2.0 here"),
    "anchor": (set_value("/World/Hinge.physics:localPos0", (0, 0, 0.1)), "the anchor of 'Hinge' on body 0 is 0.4 m"),
    "body": (drop("/World/Lid", "PhysicsRigidBodyAPI"), "'Lid' has no PhysicsRigidBodyAPI in it"),
    "extra": (
        lambda stage: stage.GetPrimAtPath("/World").ApplyAPI("PhysicsRigidBodyAPI"),
        "it has 3 bodies, and Blender shows 2",
    ),
}  # fmt: skip


@pytest.fixture(params=FAULTS)
def fault(request, monkeypatch):
    """A writer that does one thing wrong, and what is said of it."""
    spoil, message = FAULTS[request.param]
    write, last = usd_write.write_model, scene_edits.apply_last

    def write_model(stage, *arguments):
        write(stage, *arguments)
        spoil(stage)

    def apply_last(editor, edits):
        last(editor, edits)
        stage = Usd.Stage.Open(editor.layer)
        spoil(stage)

    monkeypatch.setattr(scene_edits, "apply_last", apply_last)
    monkeypatch.setattr(usd_write, "write_model", write_model)
    return message


@pytest.mark.parametrize("form", ("copy", "flat", "composed"))
def test_what_a_writer_does_wrong_is_named_and_refused_where_asked(imported, fault, form):
    bpy.data.objects["Box"]["note"] = 1  # without an edit, the source is copied byte by byte
    found = differing(export(imported / "out.usda", form))
    assert fault in " ".join(issue.message for issue in found)
    before = (imported / "out.usda").read_bytes()
    with pytest.raises(ValidationFailedError, match="not what Blender shows"):
        export(imported / "out.usda", form, strict=True)
    assert (imported / "out.usda").read_bytes() == before


def test_places_that_the_file_animates_are_its_own(imported):
    for name in ("Box", "Floor"):
        obj = bpy.data.objects[name]
        for frame in (1, 5):
            obj.location.x = frame
            obj.keyframe_insert("location", frame=frame)
    # Here Blender shows the last place, which at this frame is none of the animation.
    assert differing(export(imported / "out.usda", "composed", animation=True)) == []


def test_the_proof_can_be_switched_off(imported, fault):
    bpy.data.objects["Box"]["note"] = 1  # without an edit, the source is copied byte by byte
    assert fault in " ".join(issue.message for issue in differing(export(imported / "on.usda")))
    assert differing(export(imported / "out.usda", proves=False)) == []


@pytest.mark.parametrize("divided", ["layers", "runtimes"])
def test_an_asset_that_is_divided_is_proven_as_a_whole(imported, monkeypatch, divided):
    # Files of simulators need a folder for each asset.
    one, two, three = (imported / name / "out.usda" for name in ("one", "two", "three"))
    for file in (one, two, three):
        file.parent.mkdir()
    result = export(one, **{divided: True})
    assert differing(result) == [] and result.counts["bodies"] == 2
    spoil, message = FAULTS["place"]
    module = {"layers": asset_layers, "runtimes": runtime_variants}[divided]
    name = {"layers": "split", "runtimes": "divide"}[divided]
    original = getattr(module, name)

    def spoiled(whole, target, **options):
        found = original(whole, target, **options)
        stage = Usd.Stage.Open(str(target))
        spoil(stage)
        stage.Save()
        return found

    monkeypatch.setattr(module, name, spoiled)
    assert message in " ".join(issue.message for issue in differing(export(two, **{divided: True})))
    with pytest.raises(ValidationFailedError, match="not what Blender shows"):
        export(three, strict=True, **{divided: True})
    assert not three.exists()
