# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of Blender's glTF exporter and files of others with which physics is easily lost or put on the wrong node."""

from __future__ import annotations

import base64
import gc
import json
import math
import os
import random
import struct
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
from usdphys_ext.usdphys_addon.exchange import gltf_calls, gltf_export, gltf_import
from usdphys_ext.usdphys_addon.gltf import keep, names, read
from usdphys_ext.usdphys_addon.gltf.document import Document
from usdphys_ext.usdphys_addon.worker import jobs

from . import scenes
from .gltf_scenes import BODY, cube, enabled, exported, hinge, nodes_of, physics

pytestmark = pytest.mark.slow


def mesh_collider(name: str, **values):
    obj = cube(name, **values)
    obj.usdphys.colliders[0].shape = "MESH"
    return obj


def in_collection(name: str, above, *objects):
    collection = bpy.data.collections.new(name)
    above.children.link(collection)
    for obj in objects:
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    return collection


def named(stage) -> set[str]:
    """Paths of what has physics, with the bodies of joints."""
    return {
        f"{prim.GetPath()} {[str(path) for rel in prim.GetRelationships() for path in rel.GetTargets()]}"
        for prim in stage.Traverse() if "Physics" in f"{prim.GetTypeName()} {prim.GetAppliedSchemas()}"
    }  # fmt: skip


def test_what_collections_bring_has_its_names_in_usd_after_a_way_through_gltf(tmp_path):
    """Blender numbers equal names in one file in one way, in the other in another."""
    cart = scenes.new_collection("Cart")
    chassis, wheel = (scenes.solid(name, collection=cart) for name in ("Chassis", "Wheel"))
    scenes.add_joint("Axle", "REVOLUTE", chassis, wheel, collection=cart)
    for number in range(2):
        scenes.add_instance(f"Cart {number}", cart, location=(3 * number, 0, 0))
    direct, _ = scenes.export(tmp_path / "direct.usda")
    before = named(direct)
    assert len(before) == 11
    exported(tmp_path / "cart.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gltf_import.import_gltf(tmp_path / "cart.glb")
    stage, _ = scenes.export(tmp_path / "again.usda")
    assert named(stage) == before


# --------------------------------------------------------------------------- options of the exporter


def test_collections_as_nodes_do_not_take_the_physics_of_their_objects(tmp_path):
    base, arm = cube("Base"), cube("Arm", (3, 0, 0))
    joint = hinge("Hinge", base, arm)
    outer = in_collection("Base_", bpy.context.scene.collection, base)
    in_collection("Inner", outer, arm, joint)
    document, result = exported(tmp_path / "tree.glb", export_hierarchy_full_collections=True)
    assert {"Base_", "Inner"} <= nodes_of(document).keys()
    assert [issue.code for issue in result.issues if issue.severity == "error"] == []
    bodies = {name for name in nodes_of(document) if "motion" in physics(document, name)}
    assert bodies == {"Base", "Arm"}
    assert "joint" in physics(document, "Hinge")


def test_flattened_objects_leave_colliders_with_their_body(tmp_path):
    """A collider on a node beside its body would be a static one."""
    body = bpy.data.objects.new("Body", None)
    bpy.context.collection.objects.link(body)
    body.usdphys.rigid_body.is_applied = True
    part = cube("Part", (2, 0, 0), parent=body)
    part.usdphys.property_unset("rigid_body")
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "flat.glb", export_hierarchy_flatten_objs=True)
    assert document.parents[[node["name"] for node in document.nodes].index("Part")] is None
    model = read.read(document).model
    (collider,) = model.colliders.values()
    assert model.body_of(collider.path) is not None
    np.testing.assert_allclose(collider.world[:3, 3], (2, 0, 0), atol=1e-6)


def copied_by_nodes(count=3):
    """A box, and an object whose geometry nodes make copies of it, one metre apart."""
    box = cube("Box", (0, 0, 7))
    tree = bpy.data.node_groups.new("Copies", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    line, info = tree.nodes.new("GeometryNodeMeshLine"), tree.nodes.new("GeometryNodeObjectInfo")
    place, out = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new("NodeGroupOutput")
    line.inputs["Count"].default_value = count
    info.inputs["Object"].default_value, info.inputs["As Instance"].default_value = box, True
    tree.links.new(line.outputs["Mesh"], place.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], place.inputs["Instance"])
    tree.links.new(place.outputs["Instances"], out.inputs[0])
    bpy.ops.mesh.primitive_plane_add()
    owner = bpy.context.active_object
    owner.name = "Owner"
    owner.modifiers.new("Copies", "NODES").node_group = tree
    bpy.context.view_layer.update()
    return box


def test_each_body_that_geometry_nodes_make_is_a_body_at_its_place(tmp_path):
    """Without a word about it: the exporter of Blender leaves them out unless it is asked for them."""
    copied_by_nodes()
    document, result = exported(tmp_path / "nodes.glb")
    bodies = read.read(document).model.bodies
    named = [issue for issue in result.issues if issue.code == "GltfNotExported"]
    assert "motion" in physics(document, "Box")
    assert (len(bodies), len(named)) == (4, 0)
    heights = sorted(round(float(prim.world[2, 3]), 4) for prim in bodies.values())
    assert heights == [0, 1, 2, 7]


def test_what_geometry_nodes_make_without_physics_is_written_as_blender_writes_it(tmp_path):
    copied_by_nodes().usdphys.property_unset("rigid_body")
    bpy.data.objects["Box"].usdphys.property_unset("colliders")
    cube("Other", (5, 0, 0))
    document, _ = exported(tmp_path / "nodes.glb")
    assert [node["name"] for node in document.nodes].count("Box") == 1


def test_the_advice_on_bodies_that_geometry_nodes_make_names_the_option(tmp_path):
    """In the dialog of Blender's exporter it is off."""
    copied_by_nodes()
    _, result = exported(tmp_path / "nodes.glb", export_gn_mesh=False)
    named = [issue for issue in result.issues if issue.code == "GltfNotExported"]
    assert len(named) == 3
    assert all("Geometry Nodes Instances" in issue.fix for issue in named), named[0]


def test_box_in_a_sheared_space_stands_where_it_is_and_is_no_mirror(tmp_path):
    parent = bpy.data.objects.new("Stretch", None)
    bpy.context.collection.objects.link(parent)
    parent.scale = (1, 1, 3)
    box = cube("Box", (0, 0, 1), parent=parent)
    box.rotation_euler = (0.6, 0, 0)
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "shear.glb")
    (collider,) = read.read(document).model.colliders.values()
    np.testing.assert_allclose(collider.world[:3, 3], (0, 0, 3), atol=1e-4)
    assert np.linalg.det(collider.world[:3, :3]) > 0


def with_triangle(nodes: list[dict], **more) -> dict:
    """A document with one triangle as its only mesh."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    return {
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY], "scene": 0, "nodes": nodes,
        "buffers": [{"uri": "data:application/octet-stream;base64," + base64.b64encode(points).decode(),
                     "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                       "min": [0, 0, 0], "max": [1, 1, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], **more,
    }  # fmt: skip


def imported(path: Path, content: dict) -> list:
    """The objects with a body of a file."""
    path.write_text(json.dumps(content))
    gltf_import.import_gltf(path)
    return [obj for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied]


def test_node_outside_of_the_scene_is_a_collider_mesh_and_no_object(tmp_path):
    body = {"motion": {}, "collider": {"geometry": {"node": 1, "convexHull": True}}}
    content = with_triangle([{"name": "Body", "extensions": {BODY: body}}, {"name": "Source", "mesh": 0}],
                            scenes=[{"nodes": [0]}])  # fmt: skip
    (found,) = imported(tmp_path / "orphan.gltf", content)
    assert found.name == "Body"
    assert "Source" not in bpy.data.objects
    document, _ = exported(tmp_path / "again.glb")
    assert "Source" not in nodes_of(document)
    (collider,) = read.read(document).model.colliders.values()
    assert len(collider.mesh().triangles) == 1


def test_nodes_without_names_and_nodes_of_one_name_have_their_own_physics(tmp_path):
    masses = [1, 2, 3, 4]
    nodes = [
        {**name, "mesh": 0, "translation": [mass, 0, 0], "extensions": {BODY: {"motion": {"mass": mass}}}}
        for mass, name in zip(masses, ({}, {}, {"name": "Same"}, {"name": "Same"}), strict=True)
    ]  # fmt: skip
    found = imported(tmp_path / "names.gltf", with_triangle(nodes, scenes=[{"nodes": [0, 1, 2, 3]}]))
    assert sorted((obj.location.x, obj.usdphys.mass.mass) for obj in found) == [(mass, mass) for mass in masses]


def alike(extension: str, motion: dict, shape: dict) -> dict:
    """A file with nodes that say the same of physics; four of them are held by a joint or have a part below them."""
    body = {"motion": motion, "collider": {"geometry": {"shape": 0}} if extension == BODY else {"shape": 0}}
    turned = [{"rotation": [0, 0, 0.6, 0.8]}, {}]
    joint = {"connectedNode": 5, "joint": 0}
    hold = {BODY: {"joint": joint}} if extension == BODY else {names.OMI_JOINT: joint}
    nodes: list[dict] = [{"name": f"Crate {at}", "translation": [at, 0, 0], **turned[at < 3]} for at in range(6)]
    for node in nodes:
        node["extensions"] = {extension: body}
    nodes += [
        {"name": "Sensor", "extensions": {extension: {"trigger": {"nodes": [1]}}}},
        {"name": "Part", "extensions": {extension: {key: body[key] for key in ("collider",)}}},
        {"name": "Hinge", "extensions": hold},
    ]  # fmt: skip
    nodes[2]["children"], nodes[3]["children"] = [7], [8]
    limits = [{"linearAxes": [0, 1, 2], "min": 0, "max": 0}, {"angularAxes": [0, 1], "min": 0, "max": 0}]
    joints, shapes = {"physicsJoints": [{"limits": limits}]}, {"shapes": [shape]}
    lists = (
        {BODY: joints, names.KHR_SHAPE: shapes}
        if extension == BODY
        else {names.OMI_JOINT: joints, names.OMI_SHAPE: shapes}
    )
    return {
        "asset": {"version": "2.0"}, "extensionsUsed": [*lists, extension], "extensions": lists, "nodes": nodes,
        "scenes": [{"nodes": [0, 1, 2, 3, 4, 5, 6]}],
    }  # fmt: skip


@pytest.mark.parametrize("family", [BODY, names.OMI_BODY])
@pytest.mark.parametrize(
    "motion", [{"mass": 2}, {"mass": 2, "gravityFactor": 0.5}, {"mass": 2, "linearVelocity": [0, 3, 0]}]
)
def test_nodes_that_say_the_same_get_the_same_and_those_of_joints_are_not_mixed_up(tmp_path, family, motion):
    """OMI velocities are of the world: in the space of a node that is turned, they are others."""
    kind = {} if family == BODY else {"type": "dynamic"}
    content = alike(family, {**kind, **motion}, {"type": "box", "box": {"size": [1, 2, 3]}})
    (tmp_path / "alike.gltf").write_text(json.dumps(content))
    result = gltf_import.import_gltf(tmp_path / "alike.gltf")
    assert (result.counts["bodies"], result.counts["colliders"], result.counts["joints"]) == (6, 7, 1)
    hinge_ = bpy.data.objects["Hinge"].usdphys.joint
    assert (hinge_.body0.name, hinge_.body1.name) == ("Crate 3", "Crate 5")
    crates = [bpy.data.objects[f"Crate {at}"] for at in range(6)]
    assert [tuple(one.usdphys.colliders[0].size) for one in crates] == [(1, 3, 2)] * 6
    document, _ = exported(tmp_path / "again.gltf", "KHR" if family == BODY else "OMI", export_extras=False)
    again = [physics(document, one.name, family) for one in crates]
    for key in motion:
        assert [one["motion"][key] for one in again] == [pytest.approx(motion[key], abs=1e-6)] * 6
    assert [one["collider"] for one in again] == [again[0]["collider"]] * 6
    reading = read.read(Document.load(tmp_path / "alike.gltf"), finds_copies=True)
    # 1, 2, 3 and 5 have to do with others. What is kept aside, and what depends on the place, is read for each.
    alone = "gravityFactor" in motion or (family != BODY and "linearVelocity" in motion)
    assert reading.copies == ({} if alone else {4: 0})


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "sphere", "sphere": {"radius": 0.7}},
        {"type": "capsule", "capsule": {"height": 1.5, "radiusBottom": 0.3, "radiusTop": 0.3}},
        {"type": "cylinder", "cylinder": {"height": 1.5, "radiusBottom": 0.4, "radiusTop": 0.4}},
        {"type": "capsule", "capsule": {"height": 1.5, "radiusBottom": 0.5, "radiusTop": 0.2}},
    ],
)
@pytest.mark.parametrize("scale", [[1, 2, 3], [3, 1, 2]])
def test_round_shape_on_an_uneven_scale_keeps_its_lengths(tmp_path, shape, scale):
    """By the largest scale, in the file and after it: the lengths on the node stay, and are not scaled twice."""
    body = {"motion": {"mass": 1}, "collider": {"geometry": {"shape": 0}}}
    nodes = [{"name": "A", "scale": scale, "rotation": [0, 0.6, 0, 0.8], "extensions": {BODY: body}}]
    more = {"scenes": [{"nodes": [0]}], "extensions": {names.KHR_SHAPE: {"shapes": [shape]}}}
    imported(tmp_path / "uneven.gltf", with_triangle(nodes, **more))
    document, _ = exported(tmp_path / "again.gltf", "KHR")
    (found,) = document.pool(names.KHR_SHAPE, "shapes")
    assert found[shape["type"]] == pytest.approx(shape[shape["type"]], rel=1e-5)


@pytest.mark.parametrize("extension", ["VENDOR_wheel", BODY])
def test_equal_nodes_that_say_nothing_of_physics_do_not_stop_the_import(tmp_path, extension):
    """Two nodes share a lamp, or the wheels of a car are alike: there is nothing to copy."""
    content = alike(BODY, {"mass": 2}, {"type": "box"})
    content["extensionsUsed"].append("VENDOR_wheel")
    for name in ("Left", "Right"):
        content["scenes"][0]["nodes"].append(len(content["nodes"]))
        content["nodes"].append({"name": name, "extensions": {extension: {}}})
    assert len(imported(tmp_path / "wheels.gltf", content)) == 6
    assert not bpy.data.objects["Left"].usdphys.colliders


def test_another_add_on_may_look_at_the_physics_of_objects_while_they_are_imported(tmp_path):
    """A look makes an empty group of properties, in whose place Blender takes no other one."""

    class Looking:
        def gather_import_node_after_hook(self, _vnode, _node, obj, _gltf):
            seen.append(obj.usdphys.rigid_body.is_applied)

    seen: list[bool] = []
    module = types.ModuleType("looks_at_physics")
    module.glTF2ImportUserExtension = Looking
    content = alike(BODY, {"mass": 2}, {"type": "box", "box": {"size": [1, 2, 3]}})
    (tmp_path / "alike.gltf").write_text(json.dumps(content))
    addons = bpy.context.preferences.addons
    entry = addons.new()
    sys.modules[module.__name__], entry.module = module, module.__name__
    try:
        gltf_import.import_gltf(tmp_path / "alike.gltf")
    finally:
        addons.remove(entry)
        del sys.modules[module.__name__]
    assert seen and not any(seen)
    assert [bpy.data.objects[f"Crate {at}"].usdphys.mass.mass for at in range(6)] == [2.0] * 6


def test_nodes_that_blender_makes_several_objects_of_do_not_move_the_physics_of_others(tmp_path):
    """Its importer numbers instances and skinned meshes 3.0 or 3.skinned."""
    nodes = [
        {"name": "Field", "mesh": 0,
         "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}}},
        {"name": "Skinned", "mesh": 0, "skin": 0}, {"name": "Bone"},
        {"name": "Body", "mesh": 0, "translation": [5, 0, 0], "extensions": {BODY: {"motion": {"mass": 7}}}},
    ]  # fmt: skip
    content = with_triangle(nodes, scenes=[{"nodes": [0, 1, 2, 3]}], skins=[{"joints": [2]}])
    content["extensionsUsed"].append("EXT_mesh_gpu_instancing")
    (found,) = imported(tmp_path / "several.gltf", content)
    assert (found.name, found.location.x, found.usdphys.mass.mass) == ("Body", 5.0, 7.0)


def test_joint_to_a_body_that_is_hidden_is_named_where_only_what_is_visible_is_exported(tmp_path):
    base, arm = cube("Base"), cube("Arm", (3, 0, 0))
    hinge("Hinge", base, arm, (1.5, 0, 0))
    arm.hide_set(True)
    document, result = exported(tmp_path / "visible.glb", use_visible=True)
    assert "Arm" not in nodes_of(document)
    assert "NotExported" in {issue.code for issue in result.issues if "Arm" in issue.message}
    assert any("Hinge" in issue.message and "Arm" in issue.message for issue in result.issues), result.issues
    assert physics(document, "Base")


def test_collider_mesh_has_its_modifiers_where_the_picture_has_none(tmp_path):
    box = mesh_collider("Box")
    box.modifiers.new("Array", "ARRAY").count = 3
    document, _ = exported(tmp_path / "modifiers.glb", export_apply=False)
    (shape,) = document.pool(names.OMI_SHAPE, "shapes")
    assert len(document.mesh(nodes_of(document)["Box"]["mesh"]).triangles) == 12
    assert len(document.mesh(shape[shape["type"]]["mesh"]).triangles) == 36


def test_object_without_values_stays_in_the_file(tmp_path):
    """Blender's exporter drops empty objects, and a dynamic body of KHR may be one."""
    cube("Box")
    document, _ = exported(tmp_path / "empty.glb", "KHR")
    assert physics(document, "Box")["motion"] == {}


def test_collider_mesh_with_two_materials_is_one_primitive(tmp_path):
    """OMI asks for a mesh of one primitive."""
    box = mesh_collider("Box")
    for number in range(2):
        box.data.materials.append(bpy.data.materials.new(f"M{number}"))
    box.data.polygons[0].material_index = 1
    document, _ = exported(tmp_path / "two.glb")
    (shape,) = document.pool(names.OMI_SHAPE, "shapes")
    mesh = shape[shape["type"]]["mesh"]
    assert len(document.json["meshes"][nodes_of(document)["Box"]["mesh"]]["primitives"]) == 2
    assert len(document.json["meshes"][mesh]["primitives"]) == 1
    assert len(document.mesh(mesh).triangles) == 12


def test_collider_mesh_does_not_move_with_shape_keys(tmp_path):
    box = mesh_collider("Box")
    box.shape_key_add(name="Basis")
    box.shape_key_add(name="Far").data[0].co.x -= 5
    document, _ = exported(tmp_path / "morph.glb", export_apply=False)
    (shape,) = document.pool(names.OMI_SHAPE, "shapes")
    own = document.json["meshes"][nodes_of(document)["Box"]["mesh"]]["primitives"][0]
    made = document.json["meshes"][shape[shape["type"]]["mesh"]]["primitives"][0]
    assert "targets" in own and "targets" not in made


def test_collider_mesh_is_readable_where_the_picture_is_compressed(tmp_path):
    mesh_collider("Box")
    document, _ = exported(tmp_path / "draco.glb", export_draco_mesh_compression_enable=True)
    if "KHR_draco_mesh_compression" not in document.json.get("extensionsUsed", []):
        pytest.skip("this Blender has no Draco")
    (prim,) = read.read(document).model.colliders.values()
    assert len(prim.mesh().triangles) == 12


def test_collider_whose_mesh_is_compressed_has_the_mesh_that_blender_makes_of_it(tmp_path):
    mesh_collider("Box")
    document, _ = exported(tmp_path / "draco.glb", export_draco_mesh_compression_enable=True)
    if "KHR_draco_mesh_compression" not in document.json.get("extensionsUsed", []):
        pytest.skip("this Blender has no Draco")
    node = nodes_of(document)["Box"]
    node["extensions"][BODY]["collider"]["geometry"]["mesh"] = node["mesh"]
    del document.json["extras"]
    document.save(tmp_path / "packed.glb")
    (issue,) = read.read(Document.load(tmp_path / "packed.glb")).issues
    assert "Draco" in issue.message
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not gltf_import.import_gltf(tmp_path / "packed.glb").issues
    document, _ = exported(tmp_path / "again.glb")
    (prim,) = read.read(document).model.colliders.values()
    assert len(prim.mesh().triangles) == 12


# --------------------------------------------------------------------------- other add-ons


def test_physics_of_another_add_on_is_left_and_named(tmp_path):
    class glTF2ExportUserExtension:  # noqa: N801
        def __init__(self):
            from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

            self.made = Extension

        def gather_node_hook(self, node, obj, _settings):
            if node.extensions is None:
                node.extensions = {}
            node.extensions[BODY] = self.made(BODY, {"motion": {"mass": 77.0}}, required=False)

    module = types.ModuleType("usdphys_foreign")
    module.glTF2ExportUserExtension = glTF2ExportUserExtension
    sys.modules[module.__name__] = module
    entry = bpy.context.preferences.addons.new()
    entry.module = module.__name__
    cube("Box")
    try:
        document, result = exported(tmp_path / "both.glb")
    finally:
        bpy.context.preferences.addons.remove(entry)
        del sys.modules[module.__name__]
    assert "GltfForeign" in {issue.code for issue in result.issues}
    assert physics(document, "Box") == {"motion": {"mass": 77.0}}
    assert physics(document, "Box", names.OMI_BODY)["motion"]["type"] == "dynamic"


def test_failing_physics_leaves_blenders_own_export_and_is_told(tmp_path, monkeypatch, capfd):
    cube("Box")
    with monkeypatch.context() as patch, enabled():
        patch.setattr(gltf_export.GltfExport, "watch_scene", lambda *_: 1 / 0)
        try:
            bpy.ops.export_scene.gltf(filepath=str(tmp_path / "box.glb"))
        except RuntimeError as error:
            # A message of an add-on in Blender's log is an error of the operator.
            assert "physics" in str(error)
    assert "could not be handled: division by zero" in "".join(capfd.readouterr())
    assert "Box" in nodes_of(Document.load(tmp_path / "box.glb"))


# --------------------------------------------------------------------------- files of others


def test_physics_of_the_scene_that_is_shown_is_read_and_others_are_named(tmp_path):
    node = {"extensions": {BODY: {"motion": {}}}}
    content = {
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY], "scene": 1,
        "scenes": [{"nodes": [0]}, {"nodes": [1]}],
        "nodes": [{"name": "Other", **node}, {"name": "Shown", **node}],
    }  # fmt: skip
    (tmp_path / "two.gltf").write_text(json.dumps(content))
    result = gltf_import.import_gltf(tmp_path / "two.gltf")
    assert bpy.data.objects["Shown"].usdphys.rigid_body.is_applied
    assert "GltfOtherScenes" in {issue.code for issue in result.issues}


def test_extras_of_others_stay_with_their_objects(tmp_path):
    box = cube("Box")
    box["price"] = 3.5
    exported(tmp_path / "one.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gltf_import.import_gltf(tmp_path / "one.glb")
    assert bpy.data.objects["Box"]["price"] == 3.5
    document, _ = exported(tmp_path / "two.glb")
    assert nodes_of(document)["Box"]["extras"] == {"price": 3.5}


# --------------------------------------------------------------------------- the judge of Khronos


def test_validator_of_khronos_finds_no_error(tmp_path, gltf_validator):
    base, arm = cube("Base", kinematic_enabled=True), mesh_collider("Arm", location=(3, 0, 0))
    arm.usdphys.colliders.add().shape = "SPHERE"
    for number in range(2):
        arm.data.materials.append(bpy.data.materials.new(f"M{number}"))
    arm.data.polygons[0].material_index = 1
    hinge("Hinge", base, arm, (1.5, 0, 0))
    hinge("Held", None, arm, (3, 0, 0))
    for suffix in ("glb", "gltf"):
        exported(tmp_path / f"scene.{suffix}")
    assert gltf_validator(tmp_path / "scene.glb", tmp_path / "scene.gltf") == []


def test_validator_of_khronos_finds_what_is_wrong(tmp_path, gltf_validator):
    (tmp_path / "bad.gltf").write_text('{"asset": {"version": "2.0"}, "nodes": [{"mesh": 3}]}')
    assert [error.partition(": ")[2][:21] for error in gltf_validator(tmp_path / "bad.gltf")] == [
        "UNRESOLVED_REFERENCE "
    ]


# --------------------------------------------------------------------------- mutated files


def places(value, at=()):
    """Every place in a JSON value."""
    yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*at, key))


BAD = (None, -1, 99, 1e300, "text", [], {}, True, [1, 2], {"a": 1}, 0, -0.5)


def mutate(chance: random.Random, content: dict) -> None:
    """Replace or remove one to three values, most of them of the physics."""
    spots = list(places(content))[1:]
    ours = [spot for spot in spots if "extensions" in spot or "extras" in spot]
    for _ in range(chance.randint(1, 3)):
        spot = chance.choice(ours if chance.random() < 0.8 else spots)
        holder = content
        try:
            for key in spot[:-1]:
                holder = holder[key]
            if isinstance(holder, dict) and chance.random() < 0.2:
                del holder[spot[-1]]
            else:
                holder[spot[-1]] = chance.choice(BAD)
        except (KeyError, IndexError, TypeError):
            continue


def summary() -> dict:
    """What a failed import must not change."""
    physics = bpy.context.scene.usdphys
    return {
        "objects": sorted(bpy.data.objects.keys()), "meshes": sorted(bpy.data.meshes.keys()),
        "materials": sorted(bpy.data.materials.keys()), "collections": sorted(bpy.data.collections.keys()),
        "groups": len(physics.collision_groups), "scenes": len(physics.physics_scenes), "of": physics.source.filepath,
    }  # fmt: skip


def test_mutated_files_are_imported_or_refused_and_leave_the_scene_as_it_was(tmp_path, capfd):
    """60 files through Blender: no exception but ours, and nothing left behind by one that is refused."""
    base, arm = cube("Base"), mesh_collider("Arm", location=(3, 0, 0))
    arm.usdphys.mass.is_applied, arm.usdphys.mass.mass = True, 3
    hinge("Hinge", base, arm, (1.5, 0, 0))
    exported(tmp_path / "whole.gltf")
    source = (tmp_path / "whole.gltf").read_text()
    chance = random.Random(int(os.environ.get("USDPHYS_FUZZ_SEED", "11")))
    refused = 0
    for _ in range(int(os.environ.get("USDPHYS_FUZZ_RUNS", "60"))):
        content = json.loads(source)
        if chance.random() < 0.6:
            # Else the digest tells that the kept physics is not that of the file.
            content["extras"] = {}
        mutate(chance, content)
        (tmp_path / "mutant.gltf").write_text(json.dumps(content))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        before = summary()
        try:
            gltf_import.import_gltf(tmp_path / "mutant.gltf")
        except UsdPhysError:
            refused += 1
            assert summary() == before, content
        told = capfd.readouterr().err
        assert "usdphys_addon" not in told, (told, content)
    assert refused > 0


@pytest.mark.parametrize(
    ("place", "value", "stays"),
    [
        (("nodes", "/root/Box"), True, True),
        (("nodes", "/root/Box"), 0, True),
        (("prims", "/root/Hinge", "schemas", "PhysicsRevoluteJoint", "local_pos1"), [0, 0, 1e300], False),
        (("prims", "/root/Hinge", "local"), [1e300] * 16, False),
    ],
)
def test_extras_of_ours_with_a_wrong_number_leave_what_the_extensions_say(tmp_path, capfd, place, value, stays):
    """stays: the rest of the kept physics is still used. Two objects of one node were an error of Blender's memory."""
    hinge("Hinge", cube("Other"), cube("Box"))
    exported(tmp_path / "box.gltf")
    content = json.loads((tmp_path / "box.gltf").read_text())
    holder = content["extras"]["usdphys"]
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    (tmp_path / "box.gltf").write_text(json.dumps(content))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = gltf_import.import_gltf(tmp_path / "box.gltf")
    assert ("GltfEdited" not in {issue.code for issue in result.issues}) == stays
    if stays:
        kept, _ = keep.take(Document.load(tmp_path / "box.gltf"))
        assert "/root/Other" in kept.beside.nodes
        assert len(set(kept.beside.nodes.values())) == len(kept.beside.nodes)
    assert "Other" in bpy.data.objects
    exported(tmp_path / "again.gltf")
    assert "Warning" not in capfd.readouterr().err


def test_damaged_extras_of_ours_are_refused_in_one_sentence(tmp_path):
    hinge("Hinge", cube("Box"), None)
    exported(tmp_path / "box.gltf")
    content = json.loads((tmp_path / "box.gltf").read_text())
    content["extras"]["usdphys"]["prims"]["/root/Hinge"]["type"] = "Nonsense"
    (tmp_path / "box.gltf").write_text(json.dumps(content))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    before = summary()
    with pytest.raises(UsdPhysError, match="damaged data of USD Physics"):
        gltf_import.import_gltf(tmp_path / "box.gltf")
    assert summary() == before


# --------------------------------------------------------------------------- the garbage collector


@contextmanager
def watched(found: list[bool]):
    """Notes at each node that Blender reads or writes whether the garbage collector works."""

    class Watch:
        is_critical = False

        def gather_import_node_before_hook(self, *_arguments):
            found.append(gc.isenabled())

        def gather_node_hook(self, *_arguments):
            found.append(gc.isenabled())

    module = types.ModuleType("usdphys_test_watch")
    module.glTF2ImportUserExtension = module.glTF2ExportUserExtension = Watch
    sys.modules[module.__name__] = module
    entry = bpy.context.preferences.addons.new()
    entry.module = module.__name__
    try:
        yield
    finally:
        bpy.context.preferences.addons.remove(entry)
        del sys.modules[module.__name__]


@pytest.mark.parametrize("is_window", [True, False])
def test_the_collector_rests_while_blender_imports_and_exports(tmp_path, monkeypatch, is_window):
    monkeypatch.setattr(gltf_calls, "has_main_loop", lambda: is_window)
    cube("Crate")
    file, during = str(tmp_path / "crate.glb"), []
    with enabled(), watched(during):
        bpy.ops.export_scene.gltf(filepath=file)
        assert gc.isenabled()
        bpy.ops.import_scene.gltf(filepath=file)
    assert gc.isenabled()
    assert len(during) >= 2 and not any(during)


def test_a_timer_wakes_the_collector_after_an_import_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(gltf_calls, "has_main_loop", lambda: True)
    (tmp_path / "torn.glb").write_bytes(b"glTF torn")
    try:
        with enabled(), pytest.raises(RuntimeError):
            bpy.ops.import_scene.gltf(filepath=str(tmp_path / "torn.glb"))
        assert not gc.isenabled()
        assert jobs.turn(gltf_calls.wake_collector_later) is None
    finally:
        gltf_calls.wake_collector()
    assert gc.isenabled()


def test_without_a_window_an_update_wakes_the_collector_after_an_import_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(gltf_calls, "has_main_loop", lambda: False)
    (tmp_path / "torn.glb").write_bytes(b"glTF torn")
    handlers = len(bpy.app.handlers.depsgraph_update_post)
    with enabled(), pytest.raises(RuntimeError):
        bpy.ops.import_scene.gltf(filepath=str(tmp_path / "torn.glb"))
    assert not gc.isenabled()
    cube("Crate")
    bpy.context.view_layer.update()
    assert gc.isenabled()
    assert len(bpy.app.handlers.depsgraph_update_post) == handlers


def test_a_collector_that_was_off_stays_off(tmp_path, monkeypatch):
    monkeypatch.setattr(gltf_calls, "has_main_loop", lambda: True)
    cube("Crate")
    gc.disable()
    try:
        with enabled():
            bpy.ops.export_scene.gltf(filepath=str(tmp_path / "crate.glb"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_own_imports_and_exports_let_the_collector_rest_and_wake_it(tmp_path):
    cube("Crate")
    during = []
    with watched(during):
        exported(tmp_path / "crate.glb")
        gltf_import.import_gltf(tmp_path / "crate.glb")
    assert len(during) >= 2 and not any(during)
    (tmp_path / "torn.glb").write_bytes(b"glTF torn")
    with pytest.raises(UsdPhysError):
        gltf_import.import_gltf(tmp_path / "torn.glb")
    assert gc.isenabled()


@pytest.mark.parametrize(("name", "number"), [
    ("mass", math.nan), ("mass", math.inf), ("mass", -1.0), ("center_of_mass", math.nan),
])  # fmt: skip
def test_a_number_that_no_body_can_have_is_left_out_and_named_for_what_it_is(tmp_path, name, number):
    body = cube("Crate")
    body.usdphys.mass.is_applied = True
    setattr(body.usdphys.mass, name, number if name == "mass" else (number, 0, 0))
    document, result = exported(tmp_path / "out.glb")
    motion = physics(document, "Crate")["motion"]
    assert not {"mass", "centerOfMass"} & {key for key, value in motion.items() if not np.isfinite(value).all()}
    codes = [issue.code for issue in result.issues if issue.severity == "error"]
    assert codes and "FileDiffers" not in codes
