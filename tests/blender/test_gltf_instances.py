# SPDX-License-Identifier: GPL-3.0-or-later
"""Collection instances in glTF: the meshes of the file are those that Blender shows, whatever is parented to what."""

import random

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import OutputError

from .gltf_scenes import cube, exported
from .random_edits import shown


def written(document):
    """(name, corners (2, 3) in the world) of each mesh of a file, Z up."""
    found = []
    for index, node in enumerate(document.nodes):
        if "mesh" not in node:
            continue
        accessors = [
            document.json["accessors"][primitive["attributes"]["POSITION"]]
            for primitive in document.json["meshes"][node["mesh"]]["primitives"]
        ]
        low = np.min([one["min"] for one in accessors], axis=0)
        high = np.max([one["max"] for one in accessors], axis=0)
        corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
        world = document.world(index)
        placed = corners @ world[:3, :3].T + world[:3, 3]
        found.append((node["name"], np.array([placed.min(axis=0), placed.max(axis=0)])))
    return found


def differing(boxes, others):
    """Names of boxes that are in one list and not in the other."""
    left = list(others)
    lost = []
    for name, box in boxes:
        same = next(
            (at for at, (known, other) in enumerate(left) if known == name and np.allclose(box, other, atol=1e-3)), None
        )
        if same is None:
            lost.append(name)
        else:
            del left[same]
    return lost + [name for name, _ in left]


def instancer(name, collection, location=(0, 0, 0), parent=None):
    obj = bpy.data.objects.new(name, None)
    obj.instance_type, obj.instance_collection = "COLLECTION", collection
    obj.location, obj.parent = location, parent
    bpy.context.scene.collection.objects.link(obj)
    return obj


def collection_of(name, *objects):
    collection = bpy.data.collections.new(name)
    for obj in objects:
        collection.objects.link(obj)
    return collection


def test_an_object_whose_parent_is_outside_of_the_collection_is_in_its_instances_with_its_body(tmp_path):
    above = cube("Above", (0, 0, 5))
    part = cube("Part", (3, 0, 0), parent=above)
    instancer("Instance", collection_of("Parts", part), (10, 0, 0))
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    assert differing(written(document), shown()) == []
    assert result.counts["bodies"] == sum("KHR_physics_rigid_bodies" in str(node) for node in document.nodes) == 3
    assert not [issue for issue in result.issues if issue.code in ("FileDiffers", "GltfNotExported")]


def reached(obj, *ways):
    """An object, and all that `ways` lead to from it, again and again; and what instancers bring."""
    found, waiting = set(), [obj]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in found:
            found.add(one)
            waiting += [other for way in ways for other in way(one)]
            waiting += one.instance_collection.all_objects if one.instance_collection else ()
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_meshes_of_instances_are_those_that_are_shown(tmp_path, seed):
    """Objects below others, in some of three collections whose instances are in the scene, and in each other.

    No instance is above or below what it brings: Blender's exporter goes around in circles there.
    """
    chance = random.Random(seed)
    collections = [bpy.data.collections.new(f"Set {number}") for number in range(3)]
    objects = []
    for number in range(9):
        place = [chance.uniform(-5.0, 5.0) for _ in range(3)]
        parent = chance.choice([None, *objects])
        if number % 3 == 2:
            obj = instancer(f"Instance {number}", collections[number // 3], place, parent)
        else:
            obj = cube(f"Cube {number}", place, parent)
            obj.scale = [chance.uniform(0.5, 1.5)] * 3
        obj.rotation_euler = [0.0, 0.0, chance.choice((0.0, np.pi / 2))]
        objects.append(obj)
    for collection in collections:
        collection.instance_offset = [chance.uniform(-1.0, 1.0) for _ in range(3)]
        for obj in objects:
            others = reached(obj, lambda one: [one.parent]) | reached(obj, lambda one: one.children)
            if chance.random() < 0.4 and all(other.instance_collection != collection for other in others):
                collection.objects.link(obj)
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    assert differing(written(document), shown()) == []
    assert not [issue.message for issue in result.issues if issue.code in ("FileDiffers", "GltfInstanceIncomplete")]


def test_objects_of_a_collection_in_the_collection_are_there_once(tmp_path):
    collection = collection_of("Parts", cube("Part"))
    collection.children.link(collection_of("Inner", cube("Inner part", (0, 0, 3))))
    holder = instancer("Instance", collection, (10, 0, 0))
    cube("Child", (0, 2, 0), holder)
    collection.instance_offset = (0, 0, 1)
    bpy.context.view_layer.update()
    assert differing(written(exported(tmp_path / "out.glb")[0]), shown()) == []


def left_out(result):
    return [issue.message for issue in result.issues if issue.code == "GltfInstanceIncomplete"]


def test_what_an_armature_outside_deforms_is_named(tmp_path):
    bpy.ops.object.armature_add()
    skin = cube("Skin", parent=bpy.context.object)
    skin.modifiers.new("Armature", "ARMATURE").object = skin.parent
    instancer("Instance", collection_of("Skins", skin), (10, 0, 0))
    bpy.context.view_layer.update()
    assert ["'Instance': 'Skin'" in text for text in left_out(exported(tmp_path / "out.glb")[1])] == [True]


def test_instances_without_their_objects_are_named_where_collections_are_nodes(tmp_path):
    part = cube("Part")
    instancer("Instance", collection_of("Parts", part), (10, 0, 0))
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb", export_hierarchy_full_collections=True)
    names = [name for name, _ in written(document)]
    assert names.count("Part") == 2 or ["'Instance': 'Part'" in text for text in left_out(result)] == [True]


def test_a_collection_that_is_instanced_below_what_it_shows_does_not_cost_the_physics(tmp_path):
    part = cube("Part", parent=cube("Above"))
    collection = collection_of("Parts", part)
    instancer("Instance", collection, (10, 0, 0))
    instancer("Inner", collection, (0, 0, 3), part)
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    assert sum("KHR_physics_rigid_bodies" in str(node) for node in document.nodes) >= 2
    assert any("'Instance': 'Part'" in text for text in left_out(result))


def endless_parent(crate, instancer, kept):
    kept.objects.link(crate)
    instancer.parent = crate


def endless_by_another(crate, instancer, kept):
    """Each of two instancers shows the collection in which what is above the other one is."""
    kept.objects.link(crate)
    lid, others = cube("Lid"), bpy.data.collections.new("Others")
    others.objects.link(lid)
    other = bpy.data.objects.new("Other", None)
    other.instance_type, other.instance_collection, other.parent = "COLLECTION", others, crate
    bpy.context.scene.collection.objects.link(other)
    instancer.parent = lid


@pytest.mark.parametrize("build", [endless_parent, endless_by_another])
def test_instances_in_which_the_exporter_never_ends_are_named_and_nothing_is_written(tmp_path, build):
    crate, kept = cube("Crate"), bpy.data.collections.new("Kept")
    instancer = bpy.data.objects.new("Copies", None)
    instancer.instance_type, instancer.instance_collection = "COLLECTION", kept
    bpy.context.scene.collection.objects.link(instancer)
    build(crate, instancer, kept)
    (tmp_path / "out.glb").write_bytes(b"old")
    with pytest.raises(OutputError, match=r"would never end: '.+' shows '.+' of the collection '(Kept|Others)'"):
        exported(tmp_path / "out.glb")
    assert [file.name for file in tmp_path.iterdir()] == ["out.glb"]
    assert (tmp_path / "out.glb").read_bytes() == b"old"


def bodies_of(document):
    """Names and places, Z up, of the nodes that move."""
    moving = [
        index for index, node in enumerate(document.nodes)
        if "motion" in node.get("extensions", {}).get("KHR_physics_rigid_bodies", {})
    ]  # fmt: skip
    return sorted(tuple(np.round(document.world(index)[:3, 3], 4)) for index in moving)


def test_instances_on_vertices_and_what_is_instanced_have_their_bodies(tmp_path):
    bpy.ops.mesh.primitive_plane_add(size=4, location=(0, 0, 2))
    plane = bpy.context.object
    plane.instance_type = "VERTS"
    part = cube("Part", (0, 0, 0), parent=plane)
    part.usdphys.rigid_body.is_applied = True
    part.usdphys.colliders.add().shape = "CUBE"
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    codes = [issue.code for issue in result.issues]
    assert not {"GltfNotExported", "FileDiffers"} & set(codes)
    corners = [(-2.0, -2.0, 2.0), (-2.0, 2.0, 2.0), (2.0, -2.0, 2.0), (2.0, 2.0, 2.0)]
    assert bodies_of(document) == sorted([*corners, (0.0, 0.0, 2.0)])


def test_a_linked_body_and_a_local_one_of_its_name_are_both_written(tmp_path):
    def made(height):
        body = cube("Part", (0, 0, height))
        body.usdphys.rigid_body.is_applied = True
        body.usdphys.colliders.add().shape = "CUBE"
        return body

    made(1)
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    made(5)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Part"]
    bpy.context.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    assert "FileDiffers" not in [issue.code for issue in result.issues]
    assert [place[2] for place in bodies_of(document)] == pytest.approx([1.0, 5.0])
