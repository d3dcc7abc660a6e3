# SPDX-License-Identifier: GPL-3.0-or-later
"""A written file is held against what Blender shows: what differs is named, and refused where that is asked for."""

import json
import re

import bpy
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import ValidationFailedError
from usdphys_ext.usdphys_addon.exchange import gltf_export, scene_export, urdf_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.gltf import additions
from usdphys_ext.usdphys_addon.gltf.document import Document
from usdphys_ext.usdphys_addon.urdf import build
from usdphys_ext.usdphys_addon.usd import asset_layers, physics_edits, robot_files, runtime_variants, scene_edits
from usdphys_ext.usdphys_addon.usd import write as usd_write

from .gltf_scenes import FAMILIES

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
    def PhysicsCollisionGroup "Group" (prepend apiSchemas = ["CollectionAPI:colliders"])
    {
        rel collection:colliders:includes = </World/Floor>
        string physics:mergeGroup = "{0} {one"
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
            "scenes": 1, "bodies": 2, "colliders": 3, "joints": 1, "groups": 1,
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
    "braces": (
        set_value("/World/Group.physics:mergeGroup", "{}"),
        "physics:mergeGroup of 'Group' is {} in it, and {0} {one here",
    ),
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# --------------------------------------------------------------------------- the physics alone


def test_physics_alone_is_proven_without_the_places(imported):
    bpy.data.objects["Lid"].usdphys.mass.is_applied = True
    bpy.data.objects["Lid"].usdphys.mass.mass = 3.0
    bpy.data.objects["Box"].location.x += 2.0
    for form in ("copy", "layer", "flat"):
        file = imported / f"{form}.usda"
        result = scene_export.export_scene(bpy.context, file, usd_export.ExportOptions(), form, physics_only=True)
        assert differing(result) == []
        stage = Usd.Stage.Open(str(file))
        assert stage.GetAttributeAtPath("/World/Lid.physics:mass").Get() == 3.0
        assert stage.GetAttributeAtPath("/World/Box.xformOp:translate").Get()[0] == 0.0


def test_an_edit_of_the_physics_alone_that_gets_lost_is_named(imported, monkeypatch):
    bpy.data.objects["Box"].usdphys.mass.mass = 3.0
    monkeypatch.setattr(physics_edits.Editor, "apply", lambda *_: None)
    result = scene_export.export_scene(
        bpy.context, imported / "out.usda", usd_export.ExportOptions(), "copy", physics_only=True
    )
    assert "physics:mass of 'Box' is 2.0 in it, and 3.0 here" in differing(result)[0].message


# --------------------------------------------------------------------------- receipts


def receipt_of(folder, name, *options):
    assert cli.main(["convert", str(folder / name), str(folder / "out.usda"), "--receipt",
                     str(folder / "new" / "receipt.json"), *options]) == 0  # fmt: skip
    return json.loads((folder / "new" / "receipt.json").read_text())


@pytest.mark.slow
def test_a_receipt_says_what_differs_from_the_imported_file_and_nothing_else(imported):
    receipt = receipt_of(imported, "source.usda")
    assert receipt["changed"] == {} and receipt["text"] == "nothing" and receipt["proven"] is True
    assert receipt["counts"]["bodies"] == 2
    bpy.data.objects["Box"].usdphys.mass.mass = 3.0
    bpy.data.objects["Hinge"].usdphys.joint.revolute.upper_limit = 1.0
    bpy.data.objects["Floor"].location.z -= 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(imported / "scene.blend"))
    receipt = receipt_of(imported, "scene.blend")
    assert receipt["changed"] == {"mass": 1, "place": 1, "upper limit": 1}
    assert receipt["text"] == "1 mass, 1 place, 1 upper limit; nothing else"
    assert receipt_of(imported, "scene.blend", "--composed")["changed"] is None


def test_a_file_that_differs_is_not_called_proven(imported, fault):
    bpy.data.objects["Box"]["note"] = 1  # without an edit, the source is copied byte by byte
    bpy.ops.wm.save_as_mainfile(filepath=str(imported / "scene.blend"))
    receipt = receipt_of(imported, "scene.blend")
    assert receipt["proven"] is False and fault in " ".join(issue["message"] for issue in receipt["issues"])


# --------------------------------------------------------------------------- glTF


def write_gltf(path, families="both", **options):
    return gltf_export.export_gltf(bpy.context, path, additions.WriteOptions(FAMILIES[families]), **options)


@pytest.mark.parametrize("families", FAMILIES)
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_gltf_file_as_it_was_shown_is_called_so(imported, families, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    assert differing(write_gltf(imported / "out.glb", families)) == []


def in_document(change):
    """A change of a node, by its name, or of a list of the physics."""

    def spoil(document):
        nodes = {node["name"]: node for node in document.nodes}
        change(nodes, document.json["extensions"], document)

    return spoil


def move_node(nodes, _extensions, document):
    node = nodes["Box"]
    node["translation"] = [value + 4.0 for value in node["translation"]]
    document.forget()


def shrink(_nodes, extensions, _document):
    for shape in extensions["KHR_implicit_shapes"]["shapes"]:
        if shape["type"] == "sphere":
            shape["sphere"]["radius"] = 0.1


def heavier(nodes, _extensions, _document):
    nodes["Box"]["extensions"]["KHR_physics_rigid_bodies"]["motion"]["mass"] = 3.0


def no_body(nodes, _extensions, _document):
    del nodes["Lid"]["extensions"]["KHR_physics_rigid_bodies"]["motion"]


def no_joint(nodes, _extensions, _document):
    for node in nodes.values():
        node.get("extensions", {}).get("KHR_physics_rigid_bodies", {}).pop("joint", None)


def elsewhere(nodes, _extensions, document):
    node = next(
        node for node in nodes.values() if "joint" in node.get("extensions", {}).get("KHR_physics_rigid_bodies", {})
    )
    node["translation"] = [0.0, 0.0, 0.0]
    document.forget()


GLTF_FAULTS = {
    "place": (move_node, "'Box' is 4 m away"),
    "size": (shrink, "measures 0.2 x 0.2 x 0.2 m in it, and 0.5 x 0.5 x 0.5 m here"),
    "mass": (heavier, "the mass of 'Box' is 3 kg in it, and 2 kg here"),
    "body": (no_body, "'Lid' is no body in it"),
    "joint": (no_joint, "'Hinge' is no joint in it"),
    "anchor": (elsewhere, "the anchor of 'Hinge' on body"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", GLTF_FAULTS)
def test_what_a_writer_of_gltf_does_wrong_is_named_and_refused_where_asked(imported, monkeypatch, name):
    change, message = GLTF_FAULTS[name]
    spoil, save = in_document(change), Document.save

    def saved(document, *arguments):
        spoil(document)
        save(document, *arguments)

    monkeypatch.setattr(Document, "save", saved)
    file = imported / "out.glb"
    assert message in " ".join(issue.message for issue in differing(write_gltf(file)))
    before = file.read_bytes()
    with pytest.raises(ValidationFailedError, match="not what Blender shows"):
        write_gltf(file, strict=True)
    assert file.read_bytes() == before
    assert differing(write_gltf(file, proves=False)) == []


def test_the_joint_of_a_kinematic_body_and_the_world_is_in_the_omi_extensions(imported):
    bpy.data.objects["Lid"].usdphys.rigid_body.kinematic_enabled = True
    bpy.data.objects["Hinge"].usdphys.joint.body0 = None
    assert differing(write_gltf(imported / "out.gltf", "OMI")) == []
    nodes = json.loads((imported / "out.gltf").read_text())["nodes"]
    assert sum("OMI_physics_joint" in node.get("extensions", {}) for node in nodes) == 1


# --------------------------------------------------------------------------- URDF

ROBOT = """<?xml version="1.0"?>
<!-- of a person -->
<robot name="arm">
  <link name="base">
    <inertial><mass value="4"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial><origin xyz="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>
    <collision><origin xyz="0.2 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.2" rpy="0 0 0.3"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    return tmp_path


def load_robot(folder):
    from usdphys_ext.usdphys_addon.exchange import urdf_import

    urdf_import.import_urdf(bpy.context, folder / "arm.urdf", robot_files.RobotOptions())


def test_a_robot_as_it_was_shown_is_called_so_and_keeps_its_text(robot):
    load_robot(robot)
    result = urdf_export.export_urdf(bpy.context, robot / "out.urdf")
    assert differing(result) == [] and "of a person" in (robot / "out.urdf").read_text()


def test_an_edited_collider_of_a_robot_is_written(robot):
    load_robot(robot)
    collider = next(obj for obj in bpy.data.objects if obj.name.startswith("base_collision"))
    collider.scale *= 2.0
    bpy.context.view_layer.update()
    result = urdf_export.export_urdf(bpy.context, robot / "out.urdf")
    assert differing(result) == []
    said = [issue.message for issue in result.issues if issue.code == "UrdfWrittenAnew"]
    assert said and "The colliders of 'base' are others than in the imported URDF" in said[0]
    sizes = re.findall(r'<box size="([^"]+)"', (robot / "out.urdf").read_text())
    assert [float(edge) for edge in sizes[0].split()] == pytest.approx([0.8, 0.8, 0.4], rel=1e-5)


ROBOT_FAULTS = {
    "mass": (r'<mass value="4"', '<mass value="5"', "the mass of 'base' is 5 kg in it, and 4 kg here"),
    "size": (r'radius="0.05"', 'radius="0.06"', "the collider of 'upper' measures"),
    "axis": (r'<axis xyz="[^"]+"', '<axis xyz="1 0 0"', "the axes of 'shoulder' on body 0"),
    "anchor": (r'(<joint[^>]*>\s*<origin xyz=)"[^"]+"', r'\1"0 0 0.5"', "the anchor of 'shoulder' on body 0"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOT_FAULTS)
def test_what_a_writer_of_robots_does_wrong_is_named_and_refused_where_asked(robot, monkeypatch, name):
    pattern, text, message = ROBOT_FAULTS[name]
    load_robot(robot)
    # Another part, so that the text is a new one.
    next(obj for obj in bpy.data.objects if obj.name.startswith("base_collision")).scale *= 1.5
    bpy.context.view_layer.update()
    make = build.build

    def spoiled(*arguments, **options):
        made = make(*arguments, **options)
        made.text, count = re.subn(pattern, text, made.text)
        assert count == 1
        made.worlds = {}
        return made

    monkeypatch.setattr(build, "build", spoiled)
    file = robot / "out.urdf"
    assert message in " ".join(issue.message for issue in differing(urdf_export.export_urdf(bpy.context, file)))
    before = file.read_bytes()
    with pytest.raises(ValidationFailedError, match="not what Blender shows"):
        urdf_export.export_urdf(bpy.context, file, strict=True)
    assert file.read_bytes() == before
    assert differing(urdf_export.export_urdf(bpy.context, file, proves=False)) == []


def test_a_robot_is_proven_without_blenders_scene(robot, monkeypatch):
    options = robot_files.RobotOptions()
    issues, counts = robot_files.convert(robot / "arm.urdf", options, robot / "arm.usda")
    assert [issue for issue in issues if issue.code == "FileDiffers"] == [] and counts["bodies"] == 2
    write = robot_files.write_stage

    def spoiled(plan, assets, target, **arguments):
        texts = write(plan, assets, target, **arguments)
        stage = Usd.Stage.Open(str(target))
        prim = next(prim for prim in stage.Traverse() if prim.GetName() == "base_collision")
        UsdGeom.Xformable(prim).GetOrderedXformOps()[-1].Set((0.4, 0.4, 0.4))
        stage.Save()
        return texts

    monkeypatch.setattr(robot_files, "write_stage", spoiled)
    issues, _ = robot_files.convert(robot / "arm.urdf", options, robot / "arm.usda")
    assert "The written file is not what the robot says: the collider of 'base_collision' measures" in " ".join(
        issue.message for issue in issues
    )
    with pytest.raises(ValidationFailedError):
        robot_files.convert(robot / "arm.urdf", options, robot / "other.usda", strict=True)
    assert not (robot / "other.usda").exists()
