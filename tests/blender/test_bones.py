# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs on bones is written where Blender shows it, and so are skins."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from usdphys_ext.usdphys_addon import formats

from . import random_edits

pytestmark = pytest.mark.slow


@pytest.fixture
def rig():
    """An armature of two bones away from the origin, in a pose."""
    data = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(obj)
    obj.location = (0.0, 0.5, 2.0)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = data.edit_bones.new("Lower"), data.edit_bones.new("Upper")
    lower.tail, upper.head, upper.tail, upper.parent = (0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 1.0, 1.0), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.pose.bones["Lower"].rotation_mode = "XYZ"
    obj.pose.bones["Lower"].rotation_euler = (0.3, 0.0, 0.2)
    bpy.context.view_layer.update()
    return obj


def hang(obj, rig):
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Upper"
    bpy.context.view_layer.update()


@pytest.fixture
def imported(tmp_path):
    random_edits.load(tmp_path)


@pytest.mark.parametrize("name", ["Wedge", "Arm", "Copies"])
def test_an_imported_object_on_a_new_bone_is_where_it_is_shown(tmp_path, imported, rig, name):
    hang(bpy.data.objects[name], rig)
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize("kind", ["lattices", "speakers", "armatures"])
def test_an_imported_object_below_a_new_one_without_a_shape_is_where_it_is_shown(tmp_path, imported, kind):
    """Blender writes no prim for such an object alone."""
    above = bpy.data.objects.new("Above", getattr(bpy.data, kind).new("Above"))
    bpy.context.collection.objects.link(above)
    above.location, above.scale = (1.0, 2.0, 3.0), (1.0, 1.0, 2.0)
    bpy.data.objects["Wedge"].parent = above
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_skin_in_a_gltf_file_has_the_pose_that_is_shown(tmp_path, rig):
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (0, 0, 1), (0, 1, 1)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.collection.objects.link(skin)
    skin.parent = rig
    for index, bone in enumerate(("Lower", "Lower", "Upper")):
        group = skin.vertex_groups.get(bone) or skin.vertex_groups.new(name=bone)
        group.add([index], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    shown = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
    wanted = sorted(tuple(skin.matrix_world @ vertex.co) for vertex in shown.data.vertices)
    formats.GLTF.write(str(tmp_path / "out.gltf"), formats.WriteOptions())
    assert np.allclose(sorted(skinned(tmp_path / "out.gltf")), wanted, atol=1e-4)


def skinned(file):
    """The points of the only skin of a glTF file as its joints place them, Z up."""
    document = json.loads(file.read_text())
    nodes, skin = document["nodes"], document["skins"][0]
    above = {child: index for index, node in enumerate(nodes) for child in node.get("children", ())}

    def values(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        data = (file.parent / document["buffers"][0]["uri"]).read_bytes()[view.get("byteOffset", 0) :]
        width = {"VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        kind = {5121: np.uint8, 5123: np.uint16, 5126: np.float32}[accessor["componentType"]]
        return np.frombuffer(data, kind, accessor["count"] * width).reshape(-1, width)

    def world(index):
        node = nodes[index]
        x, y, z, w = node.get("rotation", (0, 0, 0, 1))
        place = Vector(node.get("translation", (0, 0, 0)))
        local = Matrix.LocRotScale(place, Quaternion((w, x, y, z)), Vector(node.get("scale", (1, 1, 1))))
        return world(above[index]) @ local if index in above else local

    primitive = document["meshes"][0]["primitives"][0]["attributes"]
    inverses = [Matrix(row.reshape(4, 4).T.tolist()) for row in values(skin["inverseBindMatrices"])]
    moves = [world(joint) @ inverse for joint, inverse in zip(skin["joints"], inverses, strict=True)]
    points = []
    for point, joints, weights in zip(*(values(primitive[name]) for name in ("POSITION", "JOINTS_0", "WEIGHTS_0")),
                                      strict=True):  # fmt: skip
        placed = sum((float(weight) * (moves[joint] @ Vector(point.tolist())) for joint, weight in
                      zip(joints.tolist(), weights.tolist(), strict=True)), Vector())  # fmt: skip
        points.append((placed.x, -placed.z, placed.y))
    return points
