# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF files with physics, through Blender's own importer and exporter."""

from __future__ import annotations

import copy
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import assets
import bpy
import mathutils
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.core import likeness
from usdphys_ext.usdphys_addon.core.errors import InputError, UsdPhysError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.exchange import gltf_export, gltf_import, gltf_panels
from usdphys_ext.usdphys_addon.gltf import additions, keep, names, read, write
from usdphys_ext.usdphys_addon.gltf.document import Document

from . import scenes
from .gltf_scenes import BODY, FAMILIES, cube, enabled, exported, hinge, nodes_of, physics
from .test_import import share_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def judged(usd_python: Path, one: Path, other: Path) -> str:
    command = [usd_python, assets.gltf_judge(), "compare", one, other]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


# --------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("family", FAMILIES)
def test_devset_comes_back_through_blender(tmp_path, shared, usd_python, family):
    assert len(assets.gltf_files()) == 8
    for path in assets.gltf_files():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        gltf_import.import_gltf(path)
        out = tmp_path / f"{path.stem}.glb"
        exported(out, family)
        assert "score 1.0000" in (text := judged(usd_python, path, out)), f"{path.name}: {text}"


def test_scene_made_in_blender_is_the_same_after_a_second_round(tmp_path, shared, usd_python):
    base = cube("Base", (0, 0, 1), kinematic_enabled=True)
    arm = cube("Arm", (3, 0, 1))
    arm.rotation_euler = (0.3, 0.2, 0.1)
    arm.usdphys.mass.is_applied = True
    arm.usdphys.mass.density = 400
    hinge("Hinge", base, arm, (1.5, 0, 1))
    exported(tmp_path / "one.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gltf_import.import_gltf(tmp_path / "one.glb")
    exported(tmp_path / "two.glb")
    assert "score 1.0000" in judged(usd_python, tmp_path / "one.glb", tmp_path / "two.glb")


def test_values_are_those_of_the_scene(tmp_path):
    """A box of 2 m and 400 kg/m3 weighs 3,200 kg; up is Y."""
    box = cube("Box", (1, 2, 3))
    box.usdphys.mass.is_applied = True
    box.usdphys.mass.density = 400
    box.usdphys.rigid_body.velocity = (0, 0, 5)
    document, _ = exported(tmp_path / "box.gltf")
    motion = physics(document, "Box")["motion"]
    assert motion["mass"] == pytest.approx(3200)
    assert motion["linearVelocity"] == pytest.approx([0, 5, 0])
    assert nodes_of(document)["Box"]["translation"] == pytest.approx([1, 3, -2])
    assert document.pool(names.KHR_SHAPE, "shapes") == [{"type": "box", "box": {"size": pytest.approx([2, 2, 2])}}]


def test_bodies_that_differ_in_one_fact_have_their_own_masses(tmp_path):
    """Boxes of 2 m: 1,000 kg/m3 by default. Equal bodies share the computation."""
    heavy = bpy.data.materials.new("Heavy")
    heavy.usdphys.physics_material.is_applied = True
    heavy.usdphys.physics_material.density = 2000
    boxes = {name: cube(name, (5 * number, 0, 0)) for number, name in enumerate(("A", "B", "Scaled", "Dense", "Heavy"))}
    boxes["Scaled"].scale = (2, 1, 1)
    boxes["Dense"].usdphys.mass.is_applied = True
    boxes["Dense"].usdphys.mass.density = 500
    boxes["Heavy"].usdphys.colliders[0].physics_material = heavy
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "boxes.glb")
    masses = {name: physics(document, name, names.OMI_BODY)["motion"]["mass"] for name in boxes}
    wanted = {"A": 8000, "B": 8000, "Scaled": 16000, "Dense": 4000, "Heavy": 16000}
    assert masses == pytest.approx(wanted, rel=1e-6)


def test_copies_have_all_the_physics_of_the_first(tmp_path):
    """The nodes of copies get their extensions from the first; joints and other scales are of each one."""
    first = cube("Crate")
    for number in range(4):
        obj = first.copy()
        obj.name, obj.location = f"Copy {number}", (3 * number + 3, 0, 0)
        bpy.context.collection.objects.link(obj)
    bpy.data.objects["Copy 1"].scale = (1, 1, 2)
    bpy.data.objects["Copy 2"].usdphys.rigid_body.kinematic_enabled = True
    hinge("Hinge", bpy.data.objects["Copy 0"], bpy.data.objects["Copy 3"], (6, 0, 0))
    document, _ = exported(tmp_path / "copies.glb")
    for extension in (names.KHR_BODY, names.OMI_BODY):
        of_first = physics(document, "Crate", extension)
        assert {"collider", "motion"} <= of_first.keys()
        assert physics(document, "Copy 0", extension) == physics(document, "Copy 3", extension) == of_first
        assert physics(document, "Copy 2", extension)["motion"] != of_first["motion"]
    shape = physics(document, "Copy 1")["collider"]["geometry"]["shape"]
    assert document.pool(names.KHR_SHAPE, "shapes")[shape]["box"]["size"] == pytest.approx([2, 2, 2])
    assert "joint" in physics(document, "Hinge")


def test_joint_node_is_below_its_first_body(tmp_path):
    base, arm = cube("Base", (0, 0, 0)), cube("Arm", (3, 0, 0))
    hinge("Hinge", base, arm, (1.5, 0, 0))
    document, _ = exported(tmp_path / "joint.gltf")
    index = [node["name"] for node in document.nodes].index("Hinge")
    assert document.node_name(document.parents[index]) == "Base"
    connected = physics(document, "Hinge")["joint"]["connectedNode"]
    assert document.node_name(document.parents[connected]) == "Arm"
    np.testing.assert_allclose(document.world(connected)[:3, 3], (1.5, 0, 0), atol=1e-6)


def test_joint_to_the_world_has_a_static_end(tmp_path):
    hinge("Hinge", None, cube("Arm", (3, 0, 0)), (1.5, 0, 0))
    document, _ = exported(tmp_path / "joint.gltf")
    connected = physics(document, "Hinge", names.OMI_JOINT)["connectedNode"]
    assert document.node_extension(connected, names.OMI_BODY)["motion"]["type"] == "static"
    (settings,) = document.pool(BODY, "physicsJoints")
    # The bodies have changed places, so the limits have, too.
    assert settings["limits"][-1] == {"angularAxes": [1], "min": pytest.approx(-1.0), "max": pytest.approx(0.5)}


def test_what_gltf_cannot_say_comes_back_and_is_named(tmp_path):
    base, arm = cube("Base"), cube("Arm", (3, 0, 0))
    arm.usdphys.rigid_body.starts_asleep = True
    joint = hinge("Hinge", base, arm, (1.5, 0, 0))
    joint.usdphys.joint.break_force = 12
    _, result = exported(tmp_path / "kept.glb")
    named = [issue.label for issue in result.issues if issue.code == "GltfNotSaid"]
    assert named == ["Arm", "Hinge"]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gltf_import.import_gltf(tmp_path / "kept.glb")
    assert bpy.data.objects["Arm"].usdphys.rigid_body.starts_asleep
    assert bpy.data.objects["Hinge"].usdphys.joint.break_force == 12


def test_equal_objects_share_what_is_kept_and_each_has_what_is_its_own(tmp_path):
    """A group, a joint and a parent make objects that are otherwise equal differ."""
    for number, name in enumerate(("A", "B", "C", "Member", "Held", "Above", "Heavy")):
        cube(name, (3 * number, 0, 0), starts_asleep=True)
    objects = bpy.data.objects
    cube("Below", (15, 0, 3), objects["Above"], starts_asleep=True)
    objects["Heavy"].usdphys.mass.is_applied, objects["Heavy"].usdphys.mass.density = True, 50
    bpy.context.scene.usdphys.collision_groups.add().name = "Group"
    objects["Member"].usdphys.collision_groups.add().name = "Group"
    hinge("Hinge", objects["Held"], objects["Heavy"], (13, 0, 0)).usdphys.joint.break_force = 7
    document, before = exported(tmp_path / "kept.glb")
    held = document.json["extras"]["usdphys"]
    assert len(held["kinds"]) == 1
    assert {path for path, entry in held["prims"].items() if entry == 0} == {
        f"/root/{name}" for name in ("A", "B", "C", "Member", "Held", "Above", "Above/Below")
    }  # fmt: skip
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    after = gltf_import.import_gltf(tmp_path / "kept.glb")
    assert {kind: after.counts[kind] for kind in ("bodies", "colliders", "joints")} == {
        kind: before.counts[kind] for kind in ("bodies", "colliders", "joints")
    }  # fmt: skip
    for name in ("A", "B", "C", "Member", "Held", "Above", "Below", "Heavy"):
        physics_of = bpy.data.objects[name].usdphys
        assert physics_of.rigid_body.is_applied and physics_of.rigid_body.starts_asleep, name
        assert [item.shape for item in physics_of.colliders] == ["CUBE"], name
        assert physics_of.mass.is_applied == (name == "Heavy"), name
        assert [item.name for item in physics_of.collision_groups] == ["Group"] * (name == "Member"), name
    assert bpy.data.objects["Hinge"].usdphys.joint.body0 == bpy.data.objects["Held"]
    again, _ = exported(tmp_path / "again.glb")
    came_back = again.json["extras"]["usdphys"]
    # The physics scene is an item of Blender's scene now, with a label.
    assert came_back["prims"].pop("/root/PhysicsScene").pop("label") == "PhysicsScene"
    del held["prims"]["/root/PhysicsScene"]
    assert (came_back["prims"], came_back["kinds"]) == (held["prims"], held["kinds"])


def test_prims_keep_their_names_where_blender_numbers_the_objects(tmp_path):
    for name in ("A", "B"):
        cube(name, (3, 0, 0) if name == "B" else (0, 0, 0))
    document, _ = exported(tmp_path / "kept.glb")
    for obj in list(bpy.data.objects):
        obj.use_fake_user = True
        bpy.context.collection.objects.unlink(obj)
    gltf_import.import_gltf(tmp_path / "kept.glb")
    assert {obj.name for obj in bpy.context.scene.objects} == {"A.001", "B.001"}
    again, _ = exported(tmp_path / "again.glb")
    assert again.json["extras"]["usdphys"]["prims"].keys() == document.json["extras"]["usdphys"]["prims"].keys()


def _of_version_1(name):
    """What two prims of one object said in files of before: each prim for itself, with its label."""
    box = {"type": "Cube", "schemas": {"Cube": {"size": 1.0}, "PhysicsCollisionAPI": {}}, "purpose": "guide"}
    return {
        f"/root/{name}": {"type": "Xform", "schemas": {"PhysicsRigidBodyAPI": {"starts_asleep": True}}, "label": name},
        f"/root/{name}/Cube_collider": {**box, "label": name, "local": np.eye(4).ravel().tolist()},
    }


VERSION_1 = {
    "asset": {"generator": "Khronos glTF Blender I/O v5.0.21", "version": "2.0"},
    "scene": 0,
    "scenes": [{"name": "Scene", "nodes": [0, 1]}],
    "nodes": [
        {"name": name, "translation": [3 * number, 1, 0],
         "extensions": {BODY: {"motion": {}, "collider": {"geometry": {"shape": 0}}}}}
        for number, name in enumerate("AB")
    ],
    "extensionsUsed": [BODY, names.KHR_SHAPE],
    "extensions": {names.KHR_SHAPE: {"shapes": [{"type": "box", "box": {"size": [1.0, 1.0, 1.0]}}]}, BODY: {}},
    "extras": {"usdphys": {
        "version": 1, "digest": "1815574de738969bcf5ca21340484007",
        "prims": {
            "/root/PhysicsScene": {"type": "PhysicsScene", "schemas": {"PhysicsScene": {}}, "xformable": False},
            **_of_version_1("A"), **_of_version_1("B"),
        },
        "nodes": {"/root/A": 0, "/root/B": 1}, "made": 2,
    }},
}  # fmt: skip


@pytest.mark.parametrize("is_changed", [False, True])
def test_extras_as_they_were_written_before_are_read(tmp_path, is_changed):
    """The digest is the one that the add-on wrote then."""
    content = copy.deepcopy(VERSION_1)
    if is_changed:
        content["nodes"][0]["translation"] = [0, 1.5, 0]
    (tmp_path / "old.gltf").write_text(json.dumps(content))
    result = gltf_import.import_gltf(tmp_path / "old.gltf")
    assert ("GltfEdited" in {issue.code for issue in result.issues}) == is_changed
    for name in "AB":
        physics_of = bpy.data.objects[name].usdphys
        assert physics_of.rigid_body.is_applied and len(physics_of.colliders) == 1
        assert physics_of.rigid_body.starts_asleep != is_changed


@pytest.mark.parametrize("place", [("nodes", 0, "translation"), ("nodes", 1, "name"), ("extensions",), ("nodes", 1)])
def test_each_change_of_nodes_or_physics_by_another_program_is_seen(tmp_path, place):
    cube("A"), cube("B", (3, 0, 0))
    exported(tmp_path / "kept.gltf")
    content = json.loads((tmp_path / "kept.gltf").read_text())
    # The same numbers in another notation, and keys in another order, are no change.
    content["nodes"][1]["translation"] = [float(one) for one in content["nodes"][1]["translation"]]
    content["nodes"][1]["extensions"] = dict(reversed(content["nodes"][1]["extensions"].items()))
    (tmp_path / "kept.gltf").write_text(json.dumps(content))
    assert keep.take(Document.load(tmp_path / "kept.gltf"))[0] is not None
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    if place == ("nodes", 1):
        holder[1]["extensions"][BODY]["motion"] = {"mass": 5}
    else:
        holder[place[-1]] = {"translation": [0, 0, 0.5], "name": "Other", "extensions": {BODY: {"more": 1}}}[place[-1]]
    (tmp_path / "kept.gltf").write_text(json.dumps(content))
    assert keep.take(Document.load(tmp_path / "kept.gltf")) == (None, True)


TAPERED = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
)
def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Capsule_1 "Round" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        uniform token axis = "X"
        double height = 200
        double radiusBottom = 50
        double radiusTop = 25
    }
}
def Cylinder_1 "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double height = 100
    double radiusBottom = 10
    double radiusTop = 50
    double3 xformOp:translate = (400, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
"""


@pytest.mark.parametrize("keeps_usd", [True, False])
def test_gprims_with_two_radii_become_shapes_with_two_radii_and_come_back(tmp_path, keeps_usd):
    (tmp_path / "tapered.usda").write_text(TAPERED)
    formats.USD.load(str(tmp_path / "tapered.usda"), formats.USD.options())
    assert bpy.data.objects["Round"].type == "MESH"
    options = additions.WriteOptions(names.FAMILIES, keeps_usd=keeps_usd)
    gltf_export.export_gltf(bpy.context, tmp_path / "tapered.glb", options)
    shapes = {one["type"]: one for one in Document.load(tmp_path / "tapered.glb").pool(names.KHR_SHAPE, "shapes")}
    assert shapes["capsule"]["capsule"] == pytest.approx({"height": 2.0, "radiusBottom": 0.5, "radiusTop": 0.25})
    # Its node is scaled from centimetres.
    assert shapes["cylinder"]["cylinder"] == pytest.approx({"height": 100, "radiusBottom": 10, "radiusTop": 50})
    if keeps_usd:
        formats.GLTF.load(str(tmp_path / "tapered.glb"), formats.GLTF.options())
    for number, form in enumerate(("composed", "auto")):
        formats.USD.write(str(tmp_path / f"{number}.usda"), formats.WriteOptions(form=form, meters_per_unit=0.01))
        text = (tmp_path / f"{number}.usda").read_text()
        for line in ('Capsule_1 "Round"', 'Cylinder_1 "B"', "radiusTop = 25", "radiusBottom = 10", "height = 200"):
            assert line in text, (form, line)
        assert "gltf" not in text


@pytest.mark.parametrize("form", ["auto", "composed"])
def test_radius_that_is_edited_is_the_larger_of_two_radii(tmp_path, form):
    (tmp_path / "tapered.usda").write_text(TAPERED)
    formats.USD.load(str(tmp_path / "tapered.usda"), formats.USD.options())
    bpy.data.objects["Round"].usdphys.colliders[0].radius = 75
    formats.USD.write(str(tmp_path / "edited.usda"), formats.WriteOptions(form=form))
    text = (tmp_path / "edited.usda").read_text()
    assert ("radiusBottom = 75" in text, "radiusTop = 37.5" in text, " radius = " in text) == (True, True, False), text


def test_what_only_the_usd_file_says_is_named_where_nothing_is_kept(tmp_path):
    (tmp_path / "two.usda").write_text(
        """#usda 1.0
def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    custom float physxOther:value = 3
    def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
}
def Xform "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
}
"""
    )
    formats.USD.load(str(tmp_path / "two.usda"), formats.USD.options())
    options = additions.WriteOptions(keeps_usd=False)
    result = gltf_export.export_gltf(bpy.context, tmp_path / "two.glb", options)
    (names_,) = [issue.message for issue in result.issues if "the name of the USD prim" in issue.message]
    assert "(/A/Shape)" in names_
    assert "(/B/Shape)" in names_
    (others,) = [issue.message for issue in result.issues if "do not declare" in issue.message]
    assert "(/A)" in others
    assert "(/B)" not in others


def test_physics_material_comes_back_on_the_material_of_the_picture(tmp_path):
    crate = cube("Crate")
    material = bpy.data.materials.new("Rubber")
    group = material.usdphys.physics_material
    group.is_applied, group.static_friction = True, 0.25
    crate.data.materials.append(material)
    document, _ = exported(tmp_path / "rubber.glb")
    assert [one["name"] for one in document.pool(BODY, "physicsMaterials")] == ["Rubber"]
    for keeps_usd in (True, False):
        gltf_export.export_gltf(bpy.context, tmp_path / "rubber.glb", additions.WriteOptions(keeps_usd=keeps_usd))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        gltf_import.import_gltf(tmp_path / "rubber.glb")
        assert [one.name for one in bpy.data.materials] == ["Rubber"]
        assert bpy.data.materials["Rubber"].usdphys.physics_material.static_friction == 0.25


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_node_that_only_ends_a_joint_becomes_an_object_where_nothing_else_says_it(tmp_path, monkeypatch, is_changed):
    """Blender removes objects slowly where there are many."""
    hinge("Hinge", cube("Base"), cube("Arm", (3, 0, 0)), (1.5, 0, 0))
    document, _ = exported(tmp_path / "door.glb")
    ends = keep.ends_of_joints(document)
    assert len(ends) == 1 and not {document.node_name(one) for one in ends} & {"Base", "Arm", "Hinge"}
    if is_changed:
        physics(document, "Arm")["motion"]["mass"] = 7
        document.save(tmp_path / "door.glb")
    gltf_import.require_blenders_gltf()
    from io_scene_gltf2.blender.imp import node

    made, create = [], node.BlenderNode.create_object
    monkeypatch.setattr(
        node.BlenderNode, "create_object", staticmethod(lambda gltf, one: made.append(one) or create(gltf, one))
    )
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = gltf_import.import_gltf(tmp_path / "door.glb")
    assert (ends <= set(made)) == is_changed
    assert result.counts["joints"] == 1
    joint = next(obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied).usdphys.joint
    assert {joint.body0.name, joint.body1.name} == {"Base", "Arm"}


def test_file_that_another_program_has_changed_is_read_from_its_extensions(tmp_path):
    arm = cube("Arm", (3, 0, 0))
    arm.usdphys.mass.is_applied, arm.usdphys.mass.mass = True, 5
    arm.usdphys.rigid_body.starts_asleep = True
    document, _ = exported(tmp_path / "kept.glb")
    physics(document, "Arm")["motion"]["mass"] = 7
    document.save(tmp_path / "changed.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = gltf_import.import_gltf(tmp_path / "changed.glb")
    arm = bpy.data.objects["Arm"]
    assert arm.usdphys.mass.mass == 7
    assert not arm.usdphys.rigid_body.starts_asleep
    assert "GltfEdited" in {issue.code for issue in result.issues}


def test_physics_that_another_program_has_dropped_is_named(tmp_path):
    """As glTF-Transform does, which keeps nodes and extras."""
    cube("Arm")
    document, _ = exported(tmp_path / "kept.glb")
    for one in (document.json, *document.nodes):
        one.pop("extensions", None)
    del document.json["extensionsUsed"]
    document.save(tmp_path / "stripped.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = gltf_import.import_gltf(tmp_path / "stripped.glb")
    assert [issue.code for issue in result.issues] == ["GltfStripped"]
    del document.json["extras"]
    document.save(tmp_path / "plain.glb")
    assert gltf_import.import_gltf(tmp_path / "plain.glb").issues == []


def test_nothing_is_kept_where_that_is_switched_off(tmp_path):
    cube("Arm")
    target = tmp_path / "plain.glb"
    gltf_export.export_gltf(bpy.context, target, additions.WriteOptions(names.FAMILIES, keeps_usd=False))
    assert "extras" not in Document.load(target).json


# --------------------------------------------------------------------------- Blender's own operators


def test_native_export_and_import_have_the_physics(tmp_path):
    cube("Box")
    with enabled():
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "box.glb"))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert "motion" in physics(Document.load(tmp_path / "box.glb"), "Box")
    with enabled():
        bpy.ops.import_scene.gltf(filepath=str(tmp_path / "box.glb"))
    box = bpy.data.objects["Box"]
    assert box.usdphys.rigid_body.is_applied
    assert [item.shape for item in box.usdphys.colliders] == ["CUBE"]


def test_import_from_the_menu_says_what_it_has_read_and_left_out(tmp_path, capfd):
    node = {"extensions": {BODY: {"motion": {}}}}
    scenes = {"scenes": [{"nodes": [0]}, {"nodes": [1]}], "nodes": [{"name": "A", **node}, {"name": "B", **node}]}
    (tmp_path / "two.gltf").write_text(json.dumps({"asset": {"version": "2.0"}, "extensionsUsed": [BODY], **scenes}))
    with enabled():
        bpy.ops.import_scene.gltf(filepath=str(tmp_path / "two.gltf"))
    told = "".join(capfd.readouterr())
    assert "Info: USD Physics: 1 body, 0 colliders, 0 joints" in told
    assert "Warning: The file has 1 more scene, whose physics is not read." in told


def test_export_from_the_menu_says_what_it_has_left_out(tmp_path, capfd):
    cube("Box")
    bpy.context.scene.unit_settings.scale_length = 0.01
    with enabled():
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "box.glb"))
    assert "ignores the unit scale of the scene" in "".join(capfd.readouterr())


def test_export_from_the_menu_says_what_nothing_keeps(tmp_path, capfd):
    hinge("Hinge", cube("Base"), cube("Arm", (3, 0, 0)), (1.5, 0, 0)).usdphys.joint.break_force = 50
    settings = bpy.context.scene.usdphys.gltf
    said = []
    for settings.keeps_usd in (True, False):
        capfd.readouterr()
        with enabled():
            bpy.ops.export_scene.gltf(filepath=str(tmp_path / "a.glb"))
        text = capfd.readouterr()
        said.append(
            [
                words in text.out + text.err
                for words in ("a break force, so it is left out: 'Hinge'", "the name of the USD prim")
            ]
        )
    assert said == [[False, False], [True, False]]


def test_export_from_the_menu_says_once_that_an_articulation_is_lost(tmp_path, capfd):
    base = cube("Base")
    hinge("Hinge", base, cube("Arm", (3, 0, 0)), (1.5, 0, 0))
    base.usdphys.articulation_root.is_applied = True
    settings = bpy.context.scene.usdphys.gltf
    settings.keeps_usd = False
    counts = []
    for settings.reader in ("NONE", "GODOT", "WEB"):
        capfd.readouterr()
        with enabled():
            bpy.ops.export_scene.gltf(filepath=str(tmp_path / "a.glb"))
        text = capfd.readouterr()
        counts.append((text.out + text.err).count("articulation"))
    assert counts == [1, 1, 1]


def test_switched_off_means_no_physics(tmp_path):
    cube("Box")
    bpy.context.scene.usdphys.gltf.is_exported = False
    with enabled():
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "box.glb"))
    assert "extensionsUsed" not in Document.load(tmp_path / "box.glb").json


def test_gravity_factor_goes_through_usd_as_mujoco_and_newton_read_it(tmp_path):
    node = {"name": "Kite", "extensions": {BODY: {"motion": {"mass": 1, "gravityFactor": 0.25}}}}
    content = {"asset": {"version": "2.0"}, "extensionsUsed": [BODY], "scenes": [{"nodes": [0]}], "nodes": [node]}
    (tmp_path / "kite.gltf").write_text(json.dumps(content))
    gltf_import.import_gltf(tmp_path / "kite.gltf")
    formats.USD.write(str(tmp_path / "kite.usda"), formats.WriteOptions())
    text = (tmp_path / "kite.usda").read_text()
    assert "float mjc:gravcomp = 0.75" in text
    # As another program writes it, which knows nothing of glTF.
    (tmp_path / "other.usda").write_text(re.sub(r"string gltf = .*", "", text))
    assert "gravityFactor" not in (tmp_path / "other.usda").read_text()
    for name in ("kite", "other"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        formats.USD.load(str(tmp_path / f"{name}.usda"), formats.USD.options())
        document, result = exported(tmp_path / f"{name}.glb", "KHR")
        assert physics(document, "Kite")["motion"]["gravityFactor"] == pytest.approx(0.25)
        assert not [one for one in result.issues if "do not declare" in one.message]
        formats.USD.write(str(tmp_path / "again.usda"), formats.WriteOptions())
        assert (tmp_path / "again.usda").read_text().count("mjc:gravcomp = 0.75") == 1


def test_chosen_family_is_the_only_one(tmp_path):
    cube("Box")
    bpy.context.scene.usdphys.gltf.families = "OMI"
    with enabled():
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "box.glb"))
    assert set(Document.load(tmp_path / "box.glb").json["extensionsUsed"]) == {names.OMI_BODY, names.OMI_SHAPE}


def test_panels_are_in_the_dialogs_and_leave_with_the_add_on():
    import io_scene_gltf2

    gltf_panels.register()
    known = (io_scene_gltf2.exporter_extension_layout_draw, io_scene_gltf2.importer_extension_layout_draw)
    assert all(gltf_panels.draw_export in one.values() or gltf_panels.draw_import in one.values() for one in known)
    known[1]["usdphys_ext"] = gltf_panels.draw_nothing
    gltf_panels.unregister()
    assert not any("usdphys" in name for one in known for name in one)
    gltf_panels.register()


# --------------------------------------------------------------------------- traps


def test_required_extensions_do_not_stop_the_import(tmp_path):
    content = {
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY, names.KHR_SHAPE],
        "extensionsRequired": [BODY, names.KHR_SHAPE], "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "Body", "extensions": {BODY: {"motion": {}}}}],
    }  # fmt: skip
    (tmp_path / "required.gltf").write_text(json.dumps(content))
    gltf_import.import_gltf(tmp_path / "required.gltf")
    assert bpy.data.objects["Body"].usdphys.rigid_body.is_applied


def test_mesh_that_only_a_shape_names_comes_back(tmp_path, shared):
    gltf_import.import_gltf(assets.file("gltf/convex_hull.gltf", "gltf/hull.gltf"))
    name = assets.either("ConvexHullShape", "Hull")
    obj = bpy.data.objects[name]
    assert obj.type == "MESH" and obj.hide_render
    document, _ = exported(tmp_path / "hull.gltf")
    # It is a collider and no picture: the node has no mesh.
    assert "mesh" not in nodes_of(document)[name]
    (shape,) = document.pool(names.OMI_SHAPE, "shapes")
    assert len(document.mesh(shape["convex"]["mesh"]).triangles) == 8


def test_bodies_that_lose_their_node_to_instancing_are_named(tmp_path):
    first = cube("One", (0, 0, 0))
    second = cube("Two", (5, 0, 0))
    second.data = first.data
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    first.parent = second.parent = parent
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "inst.glb", export_gpu_instances=True)
    lost = {issue.label for issue in result.issues if issue.code == "GltfNotExported"}
    kept = {name for name in ("One", "Two") if name in nodes_of(document) and physics(document, name)}
    assert lost | kept == {"One", "Two"} and lost


def test_joint_to_a_body_that_is_not_exported_is_named(tmp_path):
    base, arm = cube("Base"), cube("Arm", (3, 0, 0))
    joint = hinge("Hinge", base, arm)
    for obj in bpy.data.objects:
        obj.select_set(obj in (base, joint))
    document, result = exported(tmp_path / "part.glb", use_selection=True)
    assert "Arm" not in nodes_of(document)
    assert "joint" not in physics(document, "Hinge")
    assert [issue.code for issue in result.issues if issue.label == "Hinge"] == ["GltfJointSkipped"]


def test_each_copy_of_a_collection_has_its_own_body(tmp_path):
    box = cube("Box")
    collection = bpy.data.collections.new("Crate")
    collection.objects.link(box)
    bpy.context.scene.collection.objects.unlink(box)
    for number in range(2):
        copy = bpy.data.objects.new(f"Copy{number}", None)
        copy.instance_type, copy.instance_collection = "COLLECTION", collection
        copy.location = (4 * number, 0, 0)
        bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "copies.glb")
    reading = read.read(document)
    places = sorted(round(prim.world[0, 3], 4) for prim in reading.model.bodies.values())
    assert places == [0, 4]


def test_two_scenes_have_their_own_physics(tmp_path):
    cube("Here")
    other = bpy.data.scenes.new("Other")
    there = bpy.data.objects.new("There", None)
    there.usdphys.rigid_body.is_applied = True
    other.collection.objects.link(there)
    document, _ = exported(tmp_path / "two.glb", use_active_scene=False)
    assert "motion" in physics(document, "Here")
    assert "motion" in physics(document, "There")


def test_unit_scale_is_named_in_the_menu_and_physics_follows_the_geometry(tmp_path, capfd):
    bpy.context.scene.unit_settings.scale_length = 0.01
    cube("Box", (100, 0, 0))
    with enabled():
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "unit.glb"))
    assert "ignores the unit scale of the scene" in "".join(capfd.readouterr())
    document = Document.load(tmp_path / "unit.glb")
    assert nodes_of(document)["Box"]["translation"][0] == pytest.approx(100)
    assert document.pool(names.KHR_SHAPE, "shapes")[0]["box"]["size"] == pytest.approx([2, 2, 2])


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_file_of_the_command_line_is_in_metres_whatever_the_unit_scale(tmp_path, suffix, gltf_validator):
    """Places, meshes, shape keys, bones, animation, cameras and lights; and the physics, which is that of metres."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    box, hull = cube("Box", (100, 0, 0)), cube("Hull", (0, 300, 0))
    hull.usdphys.colliders[0].shape = "MESH"
    box.usdphys.rigid_body.velocity = (200, 0, 0)
    hull.shape_key_add(name="Basis")
    hull.shape_key_add(name="Wide").data[0].co = (-50, 0, 0)
    hull.data.shape_keys.key_blocks["Wide"].value = 0.0
    box.location = (100, 0, 0)
    box.keyframe_insert("location", frame=1)
    box.location = (500, 0, 0)
    box.keyframe_insert("location", frame=10)
    scene.frame_set(1)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 70), (0, 0, 90)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = bpy.data.objects.new("Skin", hull.data.copy())
    scene.collection.objects.link(skin)
    skin.parent = rig
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    skin.vertex_groups.new(name="Bone").add(range(8), 1.0, "ADD")
    camera = bpy.data.objects.new("Eye", bpy.data.cameras.new("Eye"))
    scene.collection.objects.link(camera)
    camera.data.clip_end = 5000
    hinge("Hinge", box, hull, (50, 0, 0))
    document, _ = exported(tmp_path / f"unit.{suffix}", export_animations=True, export_cameras=True, export_apply=False)
    found, content = nodes_of(document), document.json
    assert found["Box"]["translation"][0] == pytest.approx(1)
    assert found["Hull"]["translation"] == pytest.approx([0, 0, -3])
    shape = document.json["meshes"][found["Hull"]["mesh"]]["primitives"][0]
    assert document.accessor(shape["attributes"]["POSITION"], "VEC3").max() == pytest.approx(0.01)
    assert document.accessor(shape["targets"][0]["POSITION"], "VEC3").min() == pytest.approx(-0.49)
    channel = next(one for one in content["animations"][0]["channels"] if one["target"]["path"] == "translation")
    output = content["animations"][0]["samplers"][channel["sampler"]]["output"]
    assert document.accessor(output, "VEC3")[:, 0].max() == pytest.approx(5, abs=1e-5)
    view = content["bufferViews"][content["accessors"][content["skins"][0]["inverseBindMatrices"]]["bufferView"]]
    binding = np.frombuffer(document.buffer(0), "<f4", 16, view["byteOffset"])
    assert np.abs(binding[12:15]).max() == pytest.approx(0.7)
    assert np.abs(binding[:3]).max() == pytest.approx(1)
    assert content["cameras"][0]["perspective"]["zfar"] == pytest.approx(50)
    reading = read.read(document)
    assert reading.model.bodies["/Box"].schemas["PhysicsRigidBodyAPI"].velocity == pytest.approx((2, 0, 0))
    assert document.pool(names.KHR_SHAPE, "shapes")[0]["box"]["size"] == pytest.approx([0.02] * 3)
    (collider,) = (one for path, one in reading.model.colliders.items() if path.startswith("/Hull/"))
    assert np.abs(collider.mesh().points).max() == pytest.approx(0.01)
    assert reading.model.prims["/Box/Hinge"].get(usd_physics.Joint).local_pos0 == pytest.approx((-0.5, 0, 0), abs=1e-6)
    # Blender leaves a skinned mesh below its armature.
    assert [one for one in gltf_validator(tmp_path / f"unit.{suffix}") if "NON_ROOT" not in one] == []
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    gltf_import.import_gltf(tmp_path / f"unit.{suffix}")
    assert bpy.data.objects["Hull"].location.y == pytest.approx(300)


def test_lamps_cameras_and_movements_are_in_the_file_or_named(tmp_path):
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    view = bpy.data.objects.new("View", bpy.data.cameras.new("View"))
    for obj in (lamp, view):
        bpy.context.collection.objects.link(obj)
    box = cube("Box")
    box.keyframe_insert("location", frame=1)
    box.location.x = 5
    box.keyframe_insert("location", frame=20)
    document, result = exported(tmp_path / "still.glb")
    (moving,) = [issue for issue in result.issues if issue.code == "AnimationLeftOut"]
    assert "'Box', animated here" in moving.message
    assert "camera" in nodes_of(document)["View"] and "KHR_lights_punctual" in document.extensions
    document, result = exported(tmp_path / "moving.glb", export_animations=True)
    assert "AnimationLeftOut" not in [issue.code for issue in result.issues] and document.json["animations"]


def test_lamp_with_a_temperature_has_its_colour_in_the_file_and_keeps_it(tmp_path):
    lamp = bpy.data.lights.new("Lamp", "POINT")
    lamp.use_temperature, lamp.temperature, lamp.color = True, 2500, (1, 0.5, 0.25)
    bpy.context.collection.objects.link(bpy.data.objects.new("Lamp", lamp))
    cube("Box")
    document, _ = exported(tmp_path / "warm.glb")
    (found,) = document.extensions["KHR_lights_punctual"]["lights"]
    expected = [one * factor for one, factor in zip((1, 0.5, 0.25), lamp.temperature_color, strict=True)]
    assert found["color"] == pytest.approx(expected, rel=1e-4)
    assert lamp.use_temperature and tuple(lamp.color) == (1, 0.5, 0.25)


@pytest.mark.skipif(bpy.app.version < (5, 0), reason="this Blender normalizes all lamps")
def test_power_of_a_lamp_by_its_area_is_in_the_file_and_the_lamp_keeps_it(tmp_path):
    for name, normalize in (("Area", False), ("Plain", True)):
        lamp = bpy.data.lights.new(name, "POINT")
        lamp.energy, lamp.shadow_soft_size, lamp.normalize = 10.0, 0.5, normalize
        bpy.context.collection.objects.link(bpy.data.objects.new(name, lamp))
    cube("Box")
    document, _ = exported(tmp_path / "area.glb")
    power = {light["name"]: light["intensity"] for light in document.extensions["KHR_lights_punctual"]["lights"]}
    lamp = bpy.data.lights["Area"]
    area = lamp.area(matrix_world=bpy.data.objects["Area"].matrix_world)
    assert area != pytest.approx(1.0) and power["Area"] == pytest.approx(power["Plain"] * area, rel=1e-4)
    assert lamp.energy == 10.0 and not lamp.normalize


def test_animated_file_is_opened_at_its_beginning(tmp_path):
    """Time 0 of a glTF file is frame 0, where an empty scene begins at 1."""
    box = cube("Box")
    for frame, place in ((0, 0), (24, 6)):
        box.location.x = place
        box.keyframe_insert("location", frame=frame)
    exported(tmp_path / "moving.glb", export_animations=True)
    formats.GLTF.load(str(tmp_path / "moving.glb"), formats.GLTF.options())
    scene = bpy.context.scene
    assert bpy.data.objects["Box"].matrix_world.translation.x == pytest.approx(0)
    assert (scene.frame_current, scene.frame_start, scene.frame_end) == (0, 0, 24)


def test_import_follows_the_unit_scale(tmp_path):
    cube("Box", (1, 0, 0))
    exported(tmp_path / "unit.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    gltf_import.import_gltf(tmp_path / "unit.glb")
    box = bpy.data.objects["Box"]
    assert box.location.x == pytest.approx(100)
    assert box.usdphys.colliders[0].size[0] == pytest.approx(200)


def test_skinned_body_is_refused_by_name(tmp_path):
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    box = cube("Box", parent=armature)
    box.modifiers.new("Armature", "ARMATURE").object = armature
    box.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    document, result = exported(tmp_path / "skin.glb", export_apply=False, export_skins=True)
    assert "GltfSkinned" in {issue.code for issue in result.issues}
    assert not physics(document, "Box")


def test_body_that_became_a_bone_is_an_empty_on_that_bone(tmp_path):
    content = {
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY], "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "Rig", "children": [1], "translation": [1, 2, 3]},
            {"name": "Between", "children": [2], "translation": [0, 1, 0], "extensions": {BODY: {"motion": {}}}},
            {"name": "Tip", "translation": [0, 1, 0]},
        ],
        "skins": [{"joints": [1, 2], "skeleton": 0}],
    }  # fmt: skip
    (tmp_path / "rig.gltf").write_text(json.dumps(content))
    gltf_import.import_gltf(tmp_path / "rig.gltf")
    (body,) = (obj for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(body.matrix_world.translation, (1, -3, 3), atol=1e-5)


def test_custom_properties_are_exported_without_ours(tmp_path):
    """Before Blender 5.0 the properties of add-ons are among the custom properties."""
    box = cube("Box")
    box["colour"] = "red"
    document, _ = exported(tmp_path / "custom.glb", export_extras=True)
    assert nodes_of(document)["Box"]["extras"] == {"colour": "red"}


def test_equal_names_keep_their_own_physics(tmp_path):
    content = {
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY], "scenes": [{"nodes": [0, 1, 2]}],
        "nodes": [
            {"name": "Box", "extensions": {BODY: {"motion": {"mass": number + 1}}}} for number in range(3)
        ],
    }  # fmt: skip
    (tmp_path / "names.gltf").write_text(json.dumps(content))
    gltf_import.import_gltf(tmp_path / "names.gltf")
    assert sorted(obj.usdphys.mass.mass for obj in bpy.data.objects) == [1, 2, 3]


def test_z_up_export_has_no_physics_and_says_so(tmp_path):
    cube("Box")
    document, result = exported(tmp_path / "z.glb", export_yup=False)
    assert "GltfZUp" in {issue.code for issue in result.issues}
    assert not physics(document, "Box")


def test_packed_file_that_has_lost_its_physics_is_named(tmp_path):
    cube("Box")
    packer = tmp_path / "gltfpack"
    packer.write_text("#!/bin/sh\n")
    packer.chmod(0o755)
    bpy.context.preferences.addons["io_scene_gltf2"].preferences.gltfpack_path_ui = str(packer)
    document, result = exported(tmp_path / "packed.glb", export_use_gltfpack=True)
    assert [issue.code for issue in result.issues if "pack" in issue.message] == ["GltfPacked"]
    assert physics(document, "Box")


def test_failed_export_leaves_the_old_file(tmp_path, monkeypatch):
    """Blender only logs an error in a hook and says that it has finished."""
    cube("Box")
    target = tmp_path / "old.glb"
    target.write_bytes(b"old")

    def fail(*_arguments, **_options):
        raise InputError("The writer failed.")

    monkeypatch.setattr(write, "write", fail)
    with pytest.raises(UsdPhysError, match="The writer failed"):
        exported(target)
    assert target.read_bytes() == b"old"


def test_export_does_not_replace_the_buffer_of_another_file(tmp_path):
    cube("Box")
    other = tmp_path / "new.bin"
    other.write_bytes(b"of somebody else")
    with pytest.raises(UsdPhysError, match=r"'new.bin'.*another one has that name"):
        exported(tmp_path / "new.gltf")
    assert other.read_bytes() == b"of somebody else" and not (tmp_path / "new.gltf").exists()
    other.unlink()
    exported(tmp_path / "new.gltf")
    first = other.read_bytes()
    cube("Second", (3, 0, 0))
    exported(tmp_path / "new.gltf")
    assert other.read_bytes() != first, "its own buffer is replaced"


def test_export_whose_buffer_is_torn_replaces_nothing(tmp_path, monkeypatch):
    """A full disk shows nowhere but in the length of the file."""
    cube("Box")
    exported(tmp_path / "a.gltf")
    before = [(tmp_path / name).read_bytes() for name in ("a.gltf", "a.bin")]
    cube("Second", (3, 0, 0))
    save = Document.save

    def torn(self, file):
        save(self, file)
        buffer = Path(file).with_suffix(".bin")
        buffer.write_bytes(buffer.read_bytes()[:-8])

    monkeypatch.setattr(Document, "save", torn)
    with pytest.raises(UsdPhysError, match="disk full"):
        exported(tmp_path / "a.gltf")
    assert [(tmp_path / name).read_bytes() for name in ("a.gltf", "a.bin")] == before


@pytest.mark.parametrize(
    ("uri", "reason"),
    [("secret.txt", "another kind"), ("../secret.txt", "not in its folder")],
    ids=["inside", "outside"],
)
def test_a_file_that_is_no_image_does_not_come_into_the_blend(tmp_path, uri, reason):
    folder = tmp_path / "asset"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "secret.txt").write_text("TOPSECRET" * 99)
    cube("Box")
    document, _ = exported(folder / "a.gltf")
    document.json["images"] = [{"uri": uri}]
    document.json["textures"] = [{"source": 0}]
    document.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    document.json["meshes"][0]["primitives"][0]["material"] = 0
    document.save(folder / "a.gltf")
    with pytest.raises(InputError, match=reason):
        gltf_import.import_gltf(folder / "a.gltf")
    assert not [image.name for image in bpy.data.images if "secret" in image.filepath]


def test_refused_file_leaves_the_scene_as_it_was(tmp_path):
    cube("Box")
    before = sorted(bpy.data.objects.keys())
    (tmp_path / "bad.gltf").write_text('{"asset": {"version": "2.0"}, "nodes": [{"children": [0]}]}')
    with pytest.raises(InputError):
        gltf_import.import_gltf(tmp_path / "bad.gltf")
    assert sorted(bpy.data.objects.keys()) == before


@pytest.mark.skipif(bpy.app.version >= (5, 2), reason="Blender 5.2 opens meshopt compression")
def test_compressed_file_is_refused_with_the_way_out(tmp_path):
    before = len(bpy.data.objects)
    (tmp_path / "packed.gltf").write_text(
        '{"asset": {"version": "2.0"}, "nodes": [{"name": "A"}], "extensionsRequired": '
        '["EXT_meshopt_compression"], "extensionsUsed": ["EXT_meshopt_compression"]}'
    )
    with pytest.raises(InputError, match=r"meshopt.*without compression"):
        gltf_import.import_gltf(tmp_path / "packed.gltf")
    assert len(bpy.data.objects) == before


def test_value_that_blender_does_not_take_costs_a_sentence_and_no_traceback(tmp_path):
    cube("Box")
    document, _ = exported(tmp_path / "a.gltf")
    document.json["extensionsUsed"] = 1
    document.save(tmp_path / "a.gltf")
    command = [sys.executable, "-m", "usdphys_addon", "convert", tmp_path / "a.gltf", tmp_path / "a.blend"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "importer failed" in run.stderr
    assert "Traceback" not in run.stdout + run.stderr


def test_import_that_fails_half_way_leaves_the_scene_as_it_was(tmp_path, monkeypatch):
    cube("Box")
    exported(tmp_path / "box.glb")
    before = (sorted(bpy.data.objects.keys()), sorted(bpy.data.meshes.keys()))

    def fail(*_arguments, **_options):
        raise InputError("The reader failed.")

    monkeypatch.setattr(gltf_import, "put_physics", fail)
    with pytest.raises(InputError, match="The reader failed"):
        gltf_import.import_gltf(tmp_path / "box.glb")
    assert (sorted(bpy.data.objects.keys()), sorted(bpy.data.meshes.keys())) == before


def test_scaled_and_offset_collider_has_a_node_of_its_own_below_the_body(tmp_path):
    box = cube("Box")
    box.scale = (2, 1, 1)
    item = box.usdphys.colliders.add()
    item.shape, item.radius, item.location = "SPHERE", 0.5, (0, 0, 3)
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "scaled.gltf")
    index = [node["name"] for node in document.nodes].index("Box_collider")
    assert document.node_name(document.parents[index]) == "Box"
    np.testing.assert_allclose(document.world(index), mathutils.Matrix.Translation((0, 0, 3)), atol=1e-6)
    radius = [shape["sphere"]["radius"] for shape in document.pool(names.KHR_SHAPE, "shapes") if "sphere" in shape]
    assert radius == [pytest.approx(1.0)]
    assert math.isfinite(radius[0])


@pytest.mark.parametrize("operator", ["cylinder", "cone"])
@pytest.mark.parametrize("scale", [(0.4, 0.4, 0.1), (3, 3, 3), (2, 2, 5)])
def test_the_automatic_collider_of_a_scaled_round_mesh_comes_back_as_large(tmp_path, operator, scale):
    """A wheel that was made by scaling a cylinder came back with a radius that was scaled twice, without a word."""
    getattr(bpy.ops.mesh, f"primitive_{operator}_add")(location=(0, 0, 3), rotation=(0.3, 0.5, 0))
    obj = bpy.context.object
    obj.name, obj.scale = "Wheel", scale
    scenes.make_body(obj)
    scenes.make_collider(obj, "AUTO")
    bpy.context.view_layer.update()
    before = likeness.bounds(scenes.the(scenes.read_model().colliders))
    exported(tmp_path / "wheel.gltf")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    gltf_import.import_gltf(tmp_path / "wheel.gltf")
    bpy.context.view_layer.update()
    after = likeness.bounds(scenes.the(scenes.read_model().colliders))
    np.testing.assert_allclose(after, before, atol=0.002 * max(scale))


# --------------------------------------------------------------------------- USD -> glTF -> USD


def test_devset_of_usd_comes_back_through_gltf(tmp_path, shared, compare):
    """What glTF cannot say is in the extras of the file. The bar is a mean of 0.999."""
    found = {}
    folder = shared / "devset" / "usd"
    files = sorted([*folder.glob("*.usd*"), *folder.glob("*/*.usd*")])
    assert len(files) == assets.either(33, 31)
    for path in share_of(files):
        formats.USD.load(str(path), formats.USD.options())
        middle, out = tmp_path / f"{path.stem}.glb", tmp_path / f"{path.stem}.usda"
        formats.GLTF.write(str(middle), formats.WriteOptions())
        formats.GLTF.load(str(middle), formats.GLTF.options())
        formats.USD.write(str(out), formats.WriteOptions(form="composed"))
        found[path.name] = compare(path, out)["score"]
    assert sum(found.values()) / len(found) >= 0.999, {name: score for name, score in found.items() if score < 1.0}


def test_faces_of_a_collider_and_the_nodes_of_the_scene_are_those_of_the_source(tmp_path):
    """glTF has triangles with split vertices, and nodes for offset colliders and for the ends of joints."""
    base, arm = cube("Base"), cube("Arm", (3, 0, 0))
    base.usdphys.colliders[0].shape, arm.usdphys.colliders[0].shape = "MESH", "CUBE"
    arm.usdphys.colliders[0].location = (0, 0, 2)
    hinge("Hinge", base, arm, (1.5, 0, 0))
    before = {obj.name: obj.parent for obj in bpy.context.scene.objects}
    exported(tmp_path / "scene.glb")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gltf_import.import_gltf(tmp_path / "scene.glb")
    assert {obj.name: obj.parent for obj in bpy.context.scene.objects} == dict.fromkeys(before)
    mesh = bpy.data.objects["Base"].data
    assert (len(mesh.vertices), [len(face.vertices) for face in mesh.polygons]) == (8, [4] * 6)
    assert len(mesh.uv_layers) == 1


def test_guide_collider_of_usd_is_seen_after_a_round_through_gltf(tmp_path):
    (tmp_path / "guide.usda").write_text(
        """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 0.01
)
def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Capsule "Hull" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        uniform token purpose = "guide"
        uniform token axis = "X"
        double radius = 20
        double height = 100
        double3 xformOp:translate = (0, 0, 50)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
    )
    formats.USD.load(str(tmp_path / "guide.usda"), formats.USD.options())
    formats.GLTF.write(str(tmp_path / "guide.glb"), formats.WriteOptions())
    formats.GLTF.load(str(tmp_path / "guide.glb"), formats.GLTF.options())
    hull = next(obj for obj in bpy.context.scene.objects if obj.name.startswith("Hull"))
    assert hull.type == "MESH"
    size = mathutils.Vector(hull.dimensions)
    np.testing.assert_allclose(size, (1.4, 0.4, 0.4), rtol=0.02)
