# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of export: each has its options, what its reader wants, and the checks of the written file."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon import cli, formats
from usdphys_ext.usdphys_addon.core.readers import READERS
from usdphys_ext.usdphys_addon.exchange import gltf_export, unreal_export, usd_import
from usdphys_ext.usdphys_addon.gltf.document import Document

from . import scenes


def run(*arguments: Any) -> int:
    return cli.main([str(argument) for argument in arguments])


@pytest.fixture
def blend(tmp_path) -> Path:
    """A crate on a ramp, and a door on a hinge."""
    scene: Any = bpy.context.scene
    crate = scenes.solid("Crate", shape="AUTO", location=(0, 0, 2))
    crate.usdphys.mass.is_applied = True
    crate.usdphys.mass.mass = 7.0
    crate.usdphys.articulation_root.is_applied = True
    floor = scenes.add_box("Floor", (4, 4, 4), location=(0, 0, -4))
    scenes.make_collider(floor, "AUTO")
    ball = scenes.solid("Ball", (0.25, 0.25, 0.25), shape="SPHERE", location=(3, 0, 2))
    scenes.make_collider(ball, "CAPSULE")
    hinge = bpy.data.objects.new("Hinge", None)
    scene.collection.objects.link(hinge)
    hinge.usdphys.joint.is_applied = True
    hinge.usdphys.joint.type = "REVOLUTE"
    hinge.usdphys.joint.body0, hinge.usdphys.joint.body1 = crate, ball
    scene.usdphys.physics_scenes.add().gravity_magnitude = 3.7
    steel = bpy.data.materials.new("Steel")
    steel.usdphys.physics_material.is_applied = True
    steel.usdphys.physics_material.dynamic_friction = 0.4
    crate.data.materials.append(steel)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"))
    return tmp_path / "in.blend"


def test_the_command_line_offers_the_rows_of_the_table_and_each_takes_its_suffixes():
    import tomllib

    table = Path(cli.__file__).with_name("arguments.toml")
    assert tomllib.loads(table.read_text())["convert"]["arguments"]["--for"]["choices"] == list(READERS)
    known = {name for row in formats.FORMATS for name in row.heeds}
    for row in READERS.values():
        assert set(row.options) <= known and row.suffixes
        assert row.target is None or row.target in ("usd", "physx", "newton", "mujoco", "havok", "godot")


@pytest.mark.parametrize("name", list(READERS))
def test_each_preset_writes_its_file(tmp_path, blend, capsys, monkeypatch, name):
    # The glTF exporter logs to the stream of the test that used it first, which is closed.
    monkeypatch.setattr(logging, "raiseExceptions", False)
    target = tmp_path / f"out{READERS[name].suffixes[0]}"
    assert run("convert", blend, target, "--for", name) == 0
    assert target.is_file()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("name", "suffix"), [("godot", ".usda"), ("isaac", ".glb"), ("apple", ".xml")])
def test_a_file_that_the_reader_does_not_get_is_refused(tmp_path, blend, capsys, name, suffix):
    assert run("convert", blend, tmp_path / f"out{suffix}", "--for", name) == 2
    assert f"--for {name} writes {READERS[name].suffixes[0]}" in capsys.readouterr().err
    assert not (tmp_path / f"out{suffix}").exists()


@pytest.mark.parametrize(("name", "axis"), [("isaac", "Z"), ("newton", "Z"), ("houdini", "Y"), ("apple", "Y")])
def test_usd_has_the_axis_and_the_unit_of_the_reader(tmp_path, blend, name, axis):
    run("convert", blend, tmp_path / "out.usda", "--for", name)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == axis and UsdGeom.GetStageMetersPerUnit(stage) == 1.0


def test_an_option_that_is_given_wins_over_the_preset(tmp_path, blend):
    run("convert", blend, tmp_path / "out.usda", "--for", "houdini", "--up-axis", "Z", "--meters-per-unit", "0.01")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 0.01


def test_isaac_gets_its_robot_schema(tmp_path, blend):
    run("convert", blend, tmp_path / "out.usda", "--for", "isaac")
    text = (tmp_path / "out.usda").read_text()
    assert "IsaacRobotAPI" in text and "IsaacLinkAPI" in text and "IsaacJointAPI" in text


def test_without_joints_isaac_gets_no_robot_and_no_warning_of_it(tmp_path, blend, capsys):
    bpy.data.objects.remove(bpy.data.objects["Hinge"])
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    assert run("convert", blend, tmp_path / "out.usda", "--for", "isaac") == 0
    assert "Isaac" not in (tmp_path / "out.usda").read_text() + capsys.readouterr().err


@pytest.mark.slow
def test_games_get_their_extensions(tmp_path, blend, capsys):
    families = ("godot", "OMI_physics_body", "KHR_"), ("web", "KHR_physics_rigid_bodies", "OMI_physics_body")
    for name, here, not_here in families:
        run("convert", blend, tmp_path / "out.glb", "--for", name)
        used = Document.load(tmp_path / "out.glb").json["extensionsUsed"]
        assert here in used and not [one for one in used if one.startswith(not_here)]
    run("convert", blend, tmp_path / "out.glb", "--for", "godot")
    assert "Godot leaves out the joint 'Hinge'" in capsys.readouterr().err


@pytest.mark.slow
def test_games_are_told_nothing_that_the_preset_has_done_or_the_file_cannot_have(tmp_path, blend, capsys):
    """Nested bodies are written flat, there are no physics scenes, and the checks of scene and file say it once."""
    bpy.data.objects["Ball"].parent = bpy.data.objects["Crate"]
    bpy.context.scene.usdphys.physics_scenes[0].gravity_magnitude = 9.81
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    for name in ("godot", "web"):
        run("convert", blend, tmp_path / "out.glb", "--for", name)
        out, said = capsys.readouterr()
        numbers = out.splitlines()[-1].partition("out.glb: ")[2]
        assert "2 bodies" in numbers and "articulation" not in numbers and "scene" not in numbers
        assert "NestedRigidBody" not in said and "NoScene" not in said
        assert said.count("FrictionOrder") == 1


def test_what_holds_for_several_prims_is_one_line_with_their_number(tmp_path, blend, capsys):
    for name in ("Iron", "Brass"):
        material = bpy.data.materials["Steel"].copy()
        material.name = name
        bpy.data.objects["Ball" if name == "Iron" else "Floor"].data.materials.append(material)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    run("convert", blend, tmp_path / "out.glb", "--for", "godot", "--receipt", tmp_path / "receipt.json")
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "MaterialLeftOut" in line]
    assert "The same holds for 2 more." in said
    codes = [issue["code"] for issue in json.loads((tmp_path / "receipt.json").read_text())["issues"]]
    assert codes.count("MaterialLeftOut") == 3


@pytest.mark.slow
def test_the_check_of_the_reader_decides_about_the_status(tmp_path, blend, capsys):
    """Newton refuses a joint that is in no articulation, PhysX does not."""
    bpy.data.objects["Crate"].usdphys.articulation_root.is_applied = False
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    assert run("convert", blend, tmp_path / "out.usda", "--for", "newton") == 1
    assert "error: JointOutsideArticulation" in capsys.readouterr().err
    assert (tmp_path / "out.usda").is_file()
    assert run("convert", blend, tmp_path / "out.usda", "--for", "isaac") == 0


@pytest.mark.slow
def test_a_layer_over_an_imported_file_keeps_the_units_of_that(tmp_path, blend):
    run("convert", blend, tmp_path / "source.usda", "--meters-per-unit", "0.01", "--up-axis", "Z")
    run("convert", tmp_path / "source.usda", tmp_path / "imported.blend")
    arguments = "--physics-layer", "--for", "houdini"
    assert run("convert", tmp_path / "imported.blend", tmp_path / "layer.usda", *arguments) == 0
    stage = Usd.Stage.Open(str(tmp_path / "layer.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert (
        run("convert", tmp_path / "imported.blend", tmp_path / "other.usda", "--physics-layer", "--for", "isaac") == 2
    )


# --------------------------------------------------------------------------- Apple


def test_apple_gets_masses_colliders_materials_and_gravity_in_its_words(tmp_path, blend, capsys):
    assert run("convert", blend, tmp_path / "out.usdz", "--for", "apple") == 0
    stage = Usd.Stage.Open(str(tmp_path / "out.usdz"))
    prims: dict[str, Any] = {}
    for prim in stage.Traverse():
        prims.setdefault(prim.GetName(), prim)
    crate = prims["Crate"]
    assert crate.GetAttribute("preliminary:physics:rigidBody:mass").Get() == pytest.approx(7.0)
    (shape,) = crate.GetRelationship("preliminary:physics:collider:convexShape").GetTargets()
    assert stage.GetPrimAtPath(shape).IsA(UsdGeom.Mesh)
    applied = crate.GetMetadata("apiSchemas").GetAddedOrExplicitItems()
    assert {"Preliminary_PhysicsRigidBodyAPI", "Preliminary_PhysicsColliderAPI"} <= set(applied)
    moved = [name for name, prim in prims.items() if prim.HasAttribute("preliminary:physics:rigidBody:mass")]
    assert sorted(moved) == ["Ball", "Crate"]
    fixed = [prim for prim in stage.Traverse() if prim.GetPath().HasPrefix(prims["Floor"].GetPath())]
    assert any(prim.HasRelationship("preliminary:physics:collider:convexShape") for prim in fixed)
    steel = prims["Steel"]
    assert steel.GetAttribute("preliminary:physics:material:friction:dynamic").Get() == pytest.approx(0.4)
    assert steel.GetAttribute("preliminary:physics:material:restitution").Get() == 0.0
    gravity = prims["AppleGravity"]
    assert gravity.GetTypeName() == "Preliminary_PhysicsGravitationalForce"
    acceleration = gravity.GetAttribute("physics:gravitationalForce:acceleration").Get()
    assert np.allclose(acceleration, (0.0, -3.7, 0.0), atol=1e-6)
    said = capsys.readouterr().err
    assert "AppleJointUnread" in said and "'Hinge'" in said and "AppleOneCollider" in said and "'Ball'" in said


def test_the_largest_collider_of_a_body_is_the_one_that_apple_reads(tmp_path, blend):
    small, large = bpy.data.objects["Ball"].usdphys.colliders
    small.radius, large.radius, large.height = 0.1, 0.5, 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    run("convert", blend, tmp_path / "out.usda", "--for", "apple")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    ball = next(prim for prim in stage.Traverse() if prim.GetName() == "Ball")
    (shape,) = ball.GetRelationship("preliminary:physics:collider:convexShape").GetTargets()
    assert stage.GetPrimAtPath(shape).GetTypeName() == "Capsule"


@pytest.mark.parametrize("axis", ["Y", "Z"])
def test_a_direction_of_gravity_alone_is_that_of_the_earth_there(tmp_path, blend, axis):
    physics = bpy.context.scene.usdphys.physics_scenes[0]
    physics.property_unset("gravity_magnitude")
    physics.gravity_direction = (2.0, 0.0, 0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    run("convert", blend, tmp_path / "out.usda", "--for", "apple", "--up-axis", axis)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    gravity = next(prim for prim in stage.Traverse() if prim.GetName() == "AppleGravity")
    assert gravity.GetAttribute("physics:gravitationalForce:acceleration").Get() == pytest.approx((9.81, 0.0, 0.0))


# --------------------------------------------------------------------------- Unreal


def nodes_of(file: Path) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for node in Document.load(file).json["nodes"]}


@pytest.mark.slow
def test_unreal_gets_a_mesh_for_each_collider_with_the_name_of_the_visible_one(tmp_path, blend, capsys):
    before = {name: sorted(getattr(bpy.data, name).keys()) for name in ("objects", "meshes")}
    assert run("convert", blend, tmp_path / "out.glb", "--for", "unreal") == 0
    document = Document.load(tmp_path / "out.glb").json
    nodes = nodes_of(tmp_path / "out.glb")
    assert {name for name in nodes if name[:2] == "UC" or name[:2] in ("UB", "US")} == {
        "UBX_Crate_00", "UBX_Floor_00", "USP_Ball_00", "UCP_Ball_01",
    }  # fmt: skip
    # The box lies where the crate lies, and has its size: an edge of 1 m, in glTF Y up.
    assert nodes["UBX_Crate_00"].get("translation") == pytest.approx([0.0, 2.0, 0.0])
    meshes = {mesh["name"]: mesh for mesh in document["meshes"]}
    assert {name for name in meshes if name.startswith(("U", "u"))} == {
        f"UBX_{bpy.data.objects['Crate'].data.name}_00", f"UBX_{bpy.data.objects['Floor'].data.name}_00",
        f"USP_{bpy.data.objects['Ball'].data.name}_00", f"UCP_{bpy.data.objects['Ball'].data.name}_01",
    }  # fmt: skip
    bounds = document["accessors"][
        meshes[f"UBX_{bpy.data.objects['Crate'].data.name}_00"]["primitives"][0]["attributes"]["POSITION"]
    ]
    assert np.subtract(bounds["max"], bounds["min"]) == pytest.approx([1.0, 1.0, 1.0])
    assert not [name for name in document.get("extensionsUsed", ()) if "physics" in name]
    said = capsys.readouterr().err
    assert "UnrealJointUnread" in said and "UnrealBodyUnread" in said
    assert {name: sorted(getattr(bpy.data, name).keys()) for name in before} == before


def test_unreal_is_told_nothing_of_bodies_below_bodies_which_it_does_not_get(tmp_path, capfd):
    scenes.solid("Hand", parent=scenes.solid("Arm"))
    capfd.readouterr()
    bpy.ops.usdphys.export_unreal(filepath=str(tmp_path / "out.glb"))
    said = capfd.readouterr().out
    assert "the physics of 2 bodies is left out" in said
    assert "below the rigid body" not in said


def test_hulls_are_convex_and_triangles_stay_unreals_complex_collision(tmp_path):
    scenes.solid("Crate").usdphys.colliders[0].approximation = "convexHull"
    scenes.make_collider(scenes.add_box("Hall", (5, 5, 5)), "MESH", approximation="none")
    lost = bpy.data.objects.new("Lost", None)
    bpy.context.scene.collection.objects.link(lost)
    lost.usdphys.colliders.add().shape = "CUBE"
    result = unreal_export.export_unreal(bpy.context, tmp_path / "out.glb")
    nodes = nodes_of(tmp_path / "out.glb")
    assert "UCX_Crate_00" in nodes and not [name for name in nodes if "Hall" in name and name != "Hall"]
    assert [issue.label for issue in result.issues if issue.code == "UnrealNoCollision"] == ["Lost"]
    assert result.counts["colliders"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".glb", ".fbx"])
def test_a_collision_mesh_is_as_large_as_the_visible_one_in_a_scene_of_centimetres(tmp_path, suffix):
    bpy.context.scene.unit_settings.scale_length = 0.01
    crate, ball = (
        scenes.solid("Crate", (50, 100, 50), location=(0, 0, 200)),
        scenes.solid("Ball", location=(300, 0, 200)),
    )
    crate.usdphys.colliders[0].approximation = "convexHull"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=50.0)
    ball.data = bpy.context.object.data
    ball.scale = (1.0, 1.0, 3.0)
    ball.usdphys.colliders[0].approximation = "boundingSphere"
    bpy.data.objects.remove(bpy.context.object)
    result = unreal_export.export_unreal(bpy.context, tmp_path / f"out{suffix}")
    assert {kind for kind, number in result.counts.items() if number} == {"colliders"}
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    operator = bpy.ops.import_scene.gltf if suffix == ".glb" else bpy.ops.import_scene.fbx
    operator(filepath=str(tmp_path / f"out{suffix}"))
    bpy.context.view_layer.update()
    corners = {}
    for obj in bpy.data.objects:
        points = np.array([obj.matrix_world @ point.co for point in obj.data.vertices])
        corners[obj.name] = np.array([points.min(axis=0), points.max(axis=0)])
    assert corners["UCX_Crate_00"] == pytest.approx(np.array([[-0.5, -1.0, 1.5], [0.5, 1.0, 2.5]]), abs=1e-4)
    assert corners["Crate"] == pytest.approx(corners["UCX_Crate_00"], abs=1e-4)
    # The ball around an ellipsoid has its longest half axis as radius.
    assert corners["USP_Ball_00"] == pytest.approx(np.array([[1.5, -1.5, 0.5], [4.5, 1.5, 3.5]]), abs=1e-4)


@pytest.mark.slow
def test_round_colliders_of_uneven_scale_are_as_the_preview_has_them(tmp_path):
    """Their radius is the one by the largest scale; that simulators see them so is said."""
    shapes = {
        "Ball": ("Sphere", "double radius = 0.5", (1, 2, 3), (3.0, 3.0, 3.0)),
        "Pill": ("Capsule", "double radius = 0.5\n double height = 1", (2, 1, 1), (2.0, 2.0, 3.0)),
        "Can": ("Cylinder", "double radius = 0.5\n double height = 1", (1, 2, 1), (2.0, 2.0, 1.0)),
    }
    prims = "".join(
        f'def {kind} "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n {values}\n'
        f" float3 xformOp:scale = {scale}\n float3 xformOp:rotateXYZ = (0, 0, 90)\n"
        ' uniform token[] xformOpOrder = ["xformOp:rotateXYZ", "xformOp:scale"]\n}\n'
        for name, (kind, values, scale, _) in shapes.items()
    )
    (tmp_path / "round.usda").write_text(f'#usda 1.0\n(\n metersPerUnit = 1\n upAxis = "Z"\n)\n{prims}')
    usd_import.import_usd(bpy.context, tmp_path / "round.usda", usd_import.ImportOptions())
    result = unreal_export.export_unreal(bpy.context, tmp_path / "out.glb")
    assert [issue.code for issue in result.issues].count("ColliderNonUniformScale") == 3
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "out.glb"))
    bpy.context.view_layer.update()
    for name, (*_, extent) in shapes.items():
        obj = next(obj for obj in bpy.data.objects if obj.name.endswith(f"_{name}_00"))
        points = np.array([obj.matrix_world @ point.co for point in obj.data.vertices])
        assert np.ptp(points, axis=0) == pytest.approx(extent, abs=0.05), name


def test_visible_objects_that_unreal_does_not_get_are_named(tmp_path):
    scenes.solid("Crate")
    text = bpy.data.objects.new("Label", bpy.data.curves.new("Label", "FONT"))
    bpy.context.scene.collection.objects.link(text)
    inner = scenes.new_collection("Props")
    inner.objects.link(bpy.data.objects.new("Prop", scenes.box_mesh("Prop")))
    scenes.add_instance("Copy", inner)
    result = unreal_export.export_unreal(bpy.context, tmp_path / "out.glb")
    (issue,) = [issue for issue in result.issues if issue.code == "UnrealNoMesh"]
    assert "and 1 more" in issue.message and issue.label in ("Label", "Prop")


@pytest.mark.parametrize("export", ["unreal", "gltf"])
def test_a_file_has_the_pose_of_the_current_frame(tmp_path, export):
    crate = scenes.solid("Crate")
    for frame in (0, 10):
        crate.location.x = frame
        crate.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(5)
    place = crate.location.x
    if export == "unreal":
        unreal_export.export_unreal(bpy.context, tmp_path / "out.glb")
    else:
        gltf_export.export_gltf(bpy.context, tmp_path / "out.glb", gltf_export.WriteOptions())
    assert 0.0 < place < 10.0
    moved = [node for name, node in nodes_of(tmp_path / "out.glb").items() if "Crate" in name]
    assert moved and all(node["translation"][0] == pytest.approx(place, abs=1e-4) for node in moved)


def test_fbx_has_the_same_meshes(tmp_path, blend):
    assert run("convert", blend, tmp_path / "out.fbx", "--for", "unreal") == 0
    data = (tmp_path / "out.fbx").read_bytes()
    for name in (b"UBX_Crate_00", b"USP_Ball_00", b"UCP_Ball_01"):
        assert name in data


def test_the_receipt_has_the_issues_of_the_reader(tmp_path, blend):
    run("convert", blend, tmp_path / "out.usdz", "--for", "apple", "--receipt", tmp_path / "receipt.json")
    codes = {issue["code"] for issue in json.loads((tmp_path / "receipt.json").read_text())["issues"]}
    assert "AppleJointUnread" in codes


# --------------------------------------------------------------------------- in the window


@pytest.mark.slow
def test_the_dialog_of_usd_takes_the_preset_and_reports_the_check(tmp_path, blend):
    assert bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "out.usda"), reader="HOUDINI") == {"FINISHED"}
    assert UsdGeom.GetStageUpAxis(Usd.Stage.Open(str(tmp_path / "out.usda"))) == "Y"
    arguments = {"reader": "HOUDINI", "up_axis": "Z"}
    bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "out.usda"), **arguments)
    assert UsdGeom.GetStageUpAxis(Usd.Stage.Open(str(tmp_path / "out.usda"))) == "Z"
    bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "out.usdz"), reader="APPLE")
    stage = Usd.Stage.Open(str(tmp_path / "out.usdz"))
    assert any(prim.HasAttribute("preliminary:physics:rigidBody:mass") for prim in stage.Traverse())


def test_the_dialogs_offer_the_readers_of_their_files():
    offered = {item.identifier for item in bpy.ops.usdphys.export_usd.get_rna_type().properties["reader"].enum_items}
    of_gltf = bpy.context.scene.usdphys.gltf.bl_rna.properties["reader"].enum_items
    assert offered == {"NONE", *(name.upper() for name, row in READERS.items() if ".usda" in row.suffixes)}
    assert set(of_gltf.keys()) == {"NONE", *(name.upper() for name, row in READERS.items() if ".gltf" in row.suffixes)}


@pytest.mark.slow
def test_the_dialog_of_gltf_takes_the_preset_and_checks_for_the_reader(tmp_path, blend):
    settings = bpy.context.scene.usdphys.gltf
    settings.reader = "GODOT"
    assert (settings.families, settings.hierarchy, settings.is_for_godot) == ("OMI", "FLAT", True)
    job = gltf_export.GltfExport(gltf_export.options_of(settings), checks=False)
    assert job.options.target == "godot"
    result = gltf_export.export_gltf(bpy.context, tmp_path / "out.glb", gltf_export.options_of(settings))
    assert "JointLeftOut" in {issue.code for issue in result.issues}
    settings.reader = "WEB"
    assert (settings.families, settings.hierarchy, settings.is_for_godot) == ("KHR", "FLAT", False)


@pytest.mark.slow
def test_the_entry_for_unreal_writes_the_collision_meshes(tmp_path, blend):
    assert bpy.ops.usdphys.export_unreal(filepath=str(tmp_path / "out.glb")) == {"FINISHED"}
    assert "UBX_Crate_00" in nodes_of(tmp_path / "out.glb")
    with pytest.raises(RuntimeError, match="no file for Unreal"):
        bpy.ops.usdphys.export_unreal(filepath=str(tmp_path / "out.usda"))
