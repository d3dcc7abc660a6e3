# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are mirrored or sheared, names that no prim can have, and nodes with more than one thing, in glTF."""

from __future__ import annotations

import json
import math
from pathlib import Path

import bpy
import mathutils
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.gltf import names, read
from usdphys_ext.usdphys_addon.gltf.document import Document

from .gltf_scenes import BODY, cube, exported, hinge, nodes_of, physics

pytestmark = pytest.mark.slow

OMI = names.OMI_BODY
TETRAHEDRON = (
    "data:application/octet-stream;base64,"
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAEBAAAACAAEAAAABAAMAAQACAAMAAAADAAIA"
)
LOCKED = {"linearAxes": [0, 1, 2], "min": 0, "max": 0}
HINGE = [LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0}, {"angularAxes": [2], "min": -0.4, "max": 1.2}]
TAPERED = {"type": "capsule", "capsule": {"height": 1.5, "radiusTop": 0.2, "radiusBottom": 0.5}}


def loaded(path: Path, nodes: list[dict], shapes=(), **top) -> list:
    """The issues of an import of nodes with KHR physics into an empty scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    children = {child for node in nodes for child in node.get("children", ())}
    path.write_text(json.dumps({
        "asset": {"version": "2.0"}, "extensionsUsed": [BODY, names.KHR_SHAPE], "scene": 0, "nodes": nodes,
        "scenes": [{"nodes": [number for number in range(len(nodes)) if number not in children]}],
        "extensions": {names.KHR_SHAPE: {"shapes": list(shapes)}, BODY: top},
        "buffers": [{"byteLength": 72, "uri": TETRAHEDRON}],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 2, 3]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "meshes": [{"name": "Tetra", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    }))  # fmt: skip
    return formats.GLTF.load(str(path), formats.GLTF.options())


def through_usd(folder: Path) -> None:
    """Write the open scene as USD, and open that."""
    formats.USD.write(str(folder / "scene.usda"), formats.WriteOptions(form="composed"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    formats.USD.load(str(folder / "scene.usda"), formats.USD.options())


def node(name: str, **values) -> dict:
    physics = {key: values.pop(key) for key in ("motion", "collider", "trigger", "joint") if key in values}
    return {"name": name, **values, **({"extensions": {BODY: physics}} if physics else {})}


# --------------------------------------------------------------------------- mirrors


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 1), (-1, -1, -1)])
@pytest.mark.parametrize("way", ["own", "usd"])
def test_wide_end_of_a_mirrored_capsule_stays_where_it_is(tmp_path, scale, way):
    """The wide end of the file is at the negative end of the node's Y; masses are those of the mirrored solid."""
    loaded(tmp_path / "in.gltf", [node("A", scale=scale, motion={}, collider={"geometry": {"shape": 0}})], [TAPERED])
    if way == "usd":
        through_usd(tmp_path)
    document, _ = exported(tmp_path / "out.gltf")
    reading = read.read(document)
    (prim,) = reading.model.colliders.values()
    kept = prim.extras["shape"]["capsule"]
    along = math.copysign(1.0, kept["radiusBottom"] - kept["radiusTop"]) * -prim.world[:3, 2]
    wide = np.array((0.0, 0.0, -scale[1]))
    assert float(along @ wide) > 0.0
    center = physics(document, "A", OMI)["motion"]["centerOfMass"]
    center_in_world = document.world(0)[:3, :3] @ np.array((center[0], -center[2], center[1]))
    assert float(center_in_world @ wide) > 0.1


@pytest.mark.parametrize("scale", [(-1, 1, 1), (2, -2, 2), (-1, -1, -1)])
def test_joint_below_mirrored_nodes_has_its_frames_after_a_round_through_usd(tmp_path, scale):
    turn = [0.0, 0.0, math.sin(0.3), math.cos(0.3)]
    issues = loaded(
        tmp_path / "in.gltf",
        [
            node("Root", scale=scale, children=[1, 2]),
            node("A", translation=[0, 1, 0], children=[3], motion={"mass": 1}),
            node("B", translation=[2, 1, 0], children=[4], motion={"mass": 1}),
            node("J", translation=[1, 0, 0], rotation=turn, joint={"joint": 0, "connectedNode": 4}),
            node("K", translation=[-1, 0, 0], rotation=turn),
        ],
        physicsJoints=[{"limits": HINGE}],
    )
    assert any(issue.code == "GltfMirrored" and "J" in issue.message for issue in issues)
    before = Document.load(tmp_path / "in.gltf")
    through_usd(tmp_path)
    document, _ = exported(tmp_path / "out.gltf")
    nodes = nodes_of(document)
    ends = [document.nodes.index(nodes["J"]), physics(document, "J")["joint"]["connectedNode"]]
    for index, old in zip(ends, (3, 4), strict=True):
        np.testing.assert_allclose(document.world(index)[:3, 3], before.world(old)[:3, 3], atol=1e-5)
        expected = frames.rotation_of(before.world(old))
        np.testing.assert_allclose(frames.rotation_of(document.world(index)), expected, atol=1e-5)
        # As others read it, who multiply the rotations of nodes.
        assert frames.determinant(document.local(index)) > 0.0
    (limit,) = [one for one in document.pool(BODY, "physicsJoints")[0]["limits"] if one.get("max")]
    assert (limit["min"], limit["max"]) == pytest.approx((-0.4, 1.2))


def test_rotation_of_a_mirrored_body_is_named_for_each_body(tmp_path):
    spinning = {"mass": 1, "angularVelocity": [0, 1, 0]}
    issues = loaded(
        tmp_path / "in.gltf",
        [node("A", motion=spinning), node("B", scale=[-1, 1, 1], motion=spinning), node("C", motion={"mass": 1})],
    )
    assert [issue.path for issue in issues if issue.code == "GltfMirrored"] == ["/B"]


# --------------------------------------------------------------------------- shear


def test_sheared_matrix_of_a_node_is_named(tmp_path):
    sheared = [2, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]
    turned = [0, 2, 0, 0, -1, 0, 0, 0, 0, 0, 3, 0, 5, 0, 0, 1]
    issues = loaded(
        tmp_path / "in.gltf", [node("A", matrix=turned, motion={"mass": 1}), node("B", matrix=sheared, motion={})]
    )
    (found,) = [issue.message for issue in issues if issue.code == "GltfSheared"]
    assert "'B'" in found and "'A'" not in found


def test_nodes_that_an_uneven_scale_shears_are_named(tmp_path):
    turn = [0, 0, math.sin(0.3), math.cos(0.3)]
    box, mesh = {"geometry": {"shape": 0}}, {"geometry": {"mesh": 0}}
    issues = loaded(
        tmp_path / "in.gltf",
        [node("P", scale=[2, 1, 1], children=[1, 2, 3]), node("B", rotation=turn, motion={"mass": 1}, collider=box),
         node("Straight", motion={"mass": 1}, collider=box), node("M", rotation=turn, mesh=0, collider=mesh)],
        [{"type": "box", "box": {"size": [1, 2, 3]}}],
    )  # fmt: skip
    (found,) = [issue.message for issue in issues if issue.code == "GltfSheared"]
    assert found.endswith(": 'B'.")


# --------------------------------------------------------------------------- names


def test_name_that_begins_with_a_digit_comes_back_from_usd(tmp_path):
    loaded(tmp_path / "in.gltf", [node(name, motion={"mass": 1}) for name in ("Crate", "1st", "2nd", "3rd")])
    through_usd(tmp_path)
    bpy.data.objects["_3rd"].name = "Other"
    document, _ = exported(tmp_path / "out.gltf")
    assert nodes_of(document).keys() - {"root"} == {"1st", "2nd", "Crate", "Other"}


def test_joint_on_the_node_of_its_body_gets_a_node_by_way_of_usd_and_that_is_named(tmp_path):
    ball = {"joint": 0, "connectedNode": 1}
    loaded(
        tmp_path / "in.gltf", [node("A", motion={"mass": 1}, joint=ball), node("B", motion={"mass": 1})],
        physicsJoints=[{"limits": [LOCKED]}],
    )  # fmt: skip
    document, _ = exported(tmp_path / "own.gltf")
    assert "joint" in physics(document, "A")
    through_usd(tmp_path)
    document, result = exported(tmp_path / "out.gltf")
    assert "joint" in physics(document, "A_joint")
    assert any("on the node of its body" in issue.message and "A_joint" in issue.message for issue in result.issues)


# --------------------------------------------------------------------------- two things on one node


def test_mesh_that_is_collider_and_trigger_of_one_node_is_both(tmp_path):
    shape = {"geometry": {"mesh": 0, "convexHull": True}}
    loaded(tmp_path / "in.gltf", [node("A", mesh=0, motion={"mass": 1}, collider=shape, trigger=shape)])
    document, _ = exported(tmp_path / "out.gltf", "KHR")
    kinds = sorted(
        (key, document.mesh(one[key]["geometry"]["mesh"]).points.max(axis=0).tolist())
        for index in range(len(document.nodes)) for one in [document.node_extension(index, BODY)]
        for key in ("collider", "trigger") if key in one
    )  # fmt: skip
    assert [kind for kind, _ in kinds] == ["collider", "trigger"]
    for _, high in kinds:
        assert high == pytest.approx([1, 0, 2])


def test_body_without_shapes_gets_a_centre_of_mass_in_omi_and_that_is_named(tmp_path):
    loaded(
        tmp_path / "in.gltf", [node("A", motion={"mass": 1}), node("B", motion={"mass": 1, "centerOfMass": [0] * 3})]
    )
    _, result = exported(tmp_path / "out.gltf", "OMI")
    (found,) = [issue.message for issue in result.issues if "their origin" in issue.message]
    assert "'A'" in found and "'B'" not in found


# --------------------------------------------------------------------------- cameras and lamps


@pytest.mark.parametrize("kind", ["camera", "light"])
def test_body_on_the_node_of_a_camera_or_lamp_is_not_turned_with_it(tmp_path, kind):
    """Blender's cameras and lamps look along another axis than those of glTF, so it turns their objects."""
    loaded(
        tmp_path / "in.gltf",
        [node("A", rotation=[0, 0, 0.6, 0.8], motion={"mass": 1}, collider={"geometry": {"shape": 0}}, children=[1]),
         node("B", translation=[0, 1, 0])],
        [{"type": "box", "box": {"size": [1, 2, 3]}}],
    )  # fmt: skip
    content = json.loads((tmp_path / "in.gltf").read_text())
    if kind == "camera":
        content["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.1}}]
        content["nodes"][0]["camera"] = 0
    else:
        content["extensions"][names.LIGHTS] = {"lights": [{"type": "spot", "intensity": 10, "spot": {}}]}
        content["nodes"][0]["extensions"][names.LIGHTS] = {"light": 0}
        content["extensionsUsed"].append(names.LIGHTS)
    (tmp_path / "in.gltf").write_text(json.dumps(content))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    formats.GLTF.load(str(tmp_path / "in.gltf"), formats.GLTF.options())
    body, lens = bpy.data.objects["A"], bpy.data.objects[f"A_{kind}"]
    assert (body.type, lens.type, lens.parent) == ("EMPTY", kind.upper(), body)
    turn = frames.matrix_of((0.8, 0, -0.6, 0))
    np.testing.assert_allclose(np.array(body.matrix_world)[:3, :3], turn, atol=1e-6)
    document, _ = exported(tmp_path / "out.gltf")
    (prim,) = read.read(document).model.colliders.values()
    np.testing.assert_allclose(np.abs(frames.scale_of(prim.world)), (1, 3, 2), atol=1e-5)
    np.testing.assert_allclose(frames.rotation_of(prim.world), turn, atol=1e-6)
    before, after = (Document.load(tmp_path / name) for name in ("in.gltf", "out.gltf"))
    places = [
        nodes_of(one)["B"] and one.world([node["name"] for node in one.nodes].index("B")) for one in (before, after)
    ]
    np.testing.assert_allclose(places[0], places[1], atol=1e-6)


@pytest.mark.parametrize("kind", ["CAMERA", "LIGHT"])
def test_physics_of_a_camera_or_lamp_is_not_turned_with_its_node(tmp_path, kind):
    data = bpy.data.cameras.new("L") if kind == "CAMERA" else bpy.data.lights.new("L", "SPOT")
    obj = bpy.data.objects.new("Lens", data)
    bpy.context.collection.objects.link(obj)
    obj.location, obj.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    obj.usdphys.rigid_body.is_applied, obj.usdphys.rigid_body.velocity = True, (0, 0, 5)
    item = obj.usdphys.colliders.add()
    item.shape, item.location, item.size = "CUBE", (0, 0, 1), (1, 2, 3)
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "out.gltf")
    model = read.read(document).model
    (prim,), (body,) = model.colliders.values(), model.bodies.values()
    np.testing.assert_allclose(body.world, np.array(obj.matrix_world), atol=1e-5)
    np.testing.assert_allclose(prim.world[:3, 3], obj.matrix_world @ mathutils.Vector((0, 0, 1)), atol=1e-5)
    np.testing.assert_allclose(frames.scale_of(prim.world), (1, 2, 3), atol=1e-5)
    # The camera looks where it looked.
    lens = next(index for index, one in enumerate(document.nodes) if one["name"] == f"Lens_{kind.lower()}")
    view = document.world(lens)[:3, :3] @ (0, 1, 0)
    np.testing.assert_allclose(view, np.array(obj.matrix_world.to_3x3()) @ (0, 0, -1), atol=1e-5)


# --------------------------------------------------------------------------- uneven scales


def test_two_radii_on_an_uneven_scale_come_back_from_usd(tmp_path):
    loaded(
        tmp_path / "in.gltf", [node("A", scale=[1, 2, 3], motion={}, collider={"geometry": {"shape": 0}})], [TAPERED]
    )
    through_usd(tmp_path)
    document, _ = exported(tmp_path / "out.gltf", "KHR")
    (prim,) = read.read(document).model.colliders.values()
    sizes = prim.extras["shape"]["capsule"]
    across = abs(float(frames.scale_of(prim.world)[0]))
    assert (sizes["radiusBottom"] * across, sizes["radiusTop"] * across) == pytest.approx((1.5, 0.6), rel=1e-5)


def test_joint_that_a_file_has_sheared_has_that_node_again_after_a_round_through_usd(tmp_path):
    turn = [0, 0, math.sin(0.4), math.cos(0.4)]
    loaded(
        tmp_path / "in.gltf",
        [node("A", scale=[2, 1, 2], motion={"mass": 1}, children=[2]), node("B", motion={"mass": 1}, children=[3]),
         node("J", rotation=turn, joint={"joint": 0, "connectedNode": 3}), node("K", rotation=turn)],
        physicsJoints=[{"limits": HINGE}],
    )  # fmt: skip
    before = Document.load(tmp_path / "in.gltf").world(2)[:3, :3]
    through_usd(tmp_path)
    document, _ = exported(tmp_path / "out.gltf")
    index = [one["name"] for one in document.nodes].index("J")
    after = document.world(index)[:3, :3]
    assert document.nodes[index]["rotation"] == pytest.approx(turn, abs=1e-5)
    directions = [one / np.linalg.norm(one, axis=0) for one in (before, after)]
    np.testing.assert_allclose(directions[0], directions[1], atol=1e-4)


@pytest.mark.parametrize("scale", [(1, 2, 1), (3, 1, -0.5)])
def test_joint_and_collider_that_are_turned_within_an_uneven_scale_are_where_they_were(tmp_path, scale):
    base, arm = cube("Base", (3, 0, 0)), cube("Arm", (0, 0, 1))
    arm.scale, arm.rotation_euler = scale, (0.2, 0.1, 0.3)
    arm.usdphys.colliders[0].size = (1, 2, 3)
    arm.usdphys.colliders[0].location = (0, 0, 1)
    arm.usdphys.colliders[0].rotation = (0.8, 0.6, 0, 0)
    hinge("Hinge", arm, base, (1, 0, 1))
    before = sorted(obj.name for obj in bpy.data.objects)
    placed = next(
        prim.world for prim in scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model.colliders.values()
        if "/Arm/" in prim.path
    )  # fmt: skip
    document, result = exported(tmp_path / "out.gltf")
    assert not [issue.message for issue in result.issues if "sheared" in issue.message]
    end = [one["name"] for one in document.nodes].index("Hinge")
    np.testing.assert_allclose(document.world(end)[:3, 3], (1, 0, 1), atol=1e-5)
    np.testing.assert_allclose(frames.rotation_of(document.world(end)), np.eye(3), atol=1e-5)
    found = next(prim.world for prim in read.read(document).model.colliders.values() if "/Arm/" in prim.path)
    # A box may be mirrored.
    assert np.abs(np.abs(np.linalg.inv(placed) @ found) - np.eye(4)).max() < 1e-4
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    formats.GLTF.load(str(tmp_path / "out.gltf"), formats.GLTF.options())
    assert sorted(obj.name for obj in bpy.data.objects) == before
