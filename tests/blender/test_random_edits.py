# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations of Blender on an imported scene, alone and at random: the written world is the one that Blender shows."""

import bpy
import pytest
from mathutils import Matrix

from . import random_edits

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def imported(tmp_path):
    random_edits.load(tmp_path)


def chosen(name):
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj.name == name)
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    return bpy.data.objects[name]


#: (operation, object): each has lost a collider or its shape at some time.
ALONE = [
    ("duplicate", "Wedge"), ("linked duplicate", "Wedge"), ("duplicate branch", "World"), ("separate", "Ball"),
    ("separate", "Disk"), ("subdivide", "Wedge"), ("subdivide", "Disk"), ("shape key", "Wedge"), ("shape key", "Ball"),
    ("collection instance", "Bone"), ("collection instance", "Wedge"), ("new parent", "World"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "name"), ALONE, ids=lambda value: value.replace(" ", "-"))
def test_an_operation_is_in_the_files(tmp_path, monkeypatch, operation, name):
    edits = random_edits.Edits(1)
    monkeypatch.setattr(edits, "one", lambda *_: chosen(name))
    random_edits.OPERATIONS[operation](edits)
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_what_moves_below_an_instance_is_seen_there(tmp_path):
    skin = chosen("Skin")
    skin.parent = bpy.data.objects["One"]
    skin.matrix_parent_inverse.identity()
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize(("name", "above"), [
    ("Crate", None), ("One", None), ("Group", None), ("Group", "Set"), ("Group", "World"), ("Copies", "World"),
])  # fmt: skip
def test_what_a_hidden_object_moves_is_where_it_is_shown(tmp_path, name, above):
    for moved in filter(None, (name, above)):
        bpy.data.objects[moved].location.x += 1.0
    bpy.data.objects[name].hide_viewport = True
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize("change", ["scale", "place"])
def test_a_hidden_part_of_a_shown_object_goes_with_it(tmp_path, change):
    bpy.data.objects["Shape"].hide_viewport = True
    one = chosen("One")
    one.scale *= 0.7 if change == "scale" else 1.0
    one.location.x += 0.0 if change == "scale" else 2.0
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("copy", "layer", "flat")) == []


def test_what_is_below_a_hidden_object_with_a_new_parent_is_where_it_is_shown(tmp_path):
    arm = chosen("Arm")
    arm.parent = None
    arm.hide_viewport = True
    bpy.data.objects["World"].scale.z = 1.2
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("copy", "layer", "flat")) == []


def test_a_mesh_in_an_instance_collides_where_it_is_shown(tmp_path):
    """Blender writes no node of it, because its parent is outside of the collection."""
    shape = chosen("Shape.001")
    bpy.data.objects["Bone"].select_set(True)
    bpy.ops.object.join()
    kept = bpy.data.collections.new("Kept")
    kept.objects.link(shape)
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", kept
    instance.location = (3.0, -1.0, 2.0)
    bpy.context.collection.objects.link(instance)
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("gltf",)) == []


def test_a_joint_holds_its_body_in_gltf_where_the_object_of_another_joint_is_below_that(tmp_path):
    """The node of the other one is at the same place, and moves below its own body."""
    lay("Slide", "Wedge")
    bpy.data.objects["Weld"].constraints.new("COPY_LOCATION").target = bpy.data.objects["Ball"]
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("gltf",)) == []


def lay(child, parent):
    """Parent an object to another, and keep its place."""
    child, parent = bpy.data.objects[child], bpy.data.objects[parent]
    place = child.matrix_world.copy()
    child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    child.matrix_world = place
    bpy.context.view_layer.update()


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0)])
@pytest.mark.parametrize("change", ["delta", "constraint"])
def test_an_object_below_one_that_is_scaled_to_nothing_is_written_or_named(tmp_path, change, scale):
    """No matrix of its own leads to where a constraint has it; a delta leaves it in the plane of what is above."""
    bpy.data.objects["World"].scale = scale
    skin = chosen("Skin")
    if change == "delta":
        skin.delta_location.x = 1.0
    else:
        skin.constraints.new("COPY_LOCATION").target = bpy.data.objects["Ball"]
        bpy.data.objects["Ball"].parent = None
    bpy.context.view_layer.update()
    for form in ("copy", "layer", "flat"):
        issues = random_edits.export(tmp_path, form).issues
        assert any(issue.code == "PlaceNotWritten" for issue in issues) == (change == "constraint"), form


def test_a_scope_that_is_sheared_below_its_new_parent_is_written(tmp_path):
    """Blender writes such a place as a matrix."""
    bpy.data.objects["Looks"].matrix_world = Matrix.Rotation(0.5, 4, "X")
    lay("Looks", "Box")
    assert random_edits.faults(tmp_path, ("composed",)) == []


@pytest.mark.parametrize("child", ["Skin", "Wedge"])
def test_what_gets_a_parent_inside_an_instance_leaves_it_the_shape_it_has(tmp_path, child):
    lay(child, "Shape")
    assert random_edits.faults(tmp_path) == []


def test_an_object_whose_transform_becomes_none_leaves_the_place_of_the_source(tmp_path):
    chosen("Crate")
    bpy.ops.object.transform_apply()
    assert random_edits.faults(tmp_path, ("copy", "layer")) == []


def test_what_was_below_a_deleted_object_keeps_its_references(tmp_path):
    bpy.data.objects.remove(bpy.data.objects["Copies"])
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_what_was_below_a_deleted_object_of_a_moved_one_is_where_it_is_shown(tmp_path):
    """The moved one takes along, in the file, what is deleted below it."""
    bpy.data.objects.remove(bpy.data.objects["Crate"])
    chosen("Group").parent = None
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_prim_that_leaves_a_moved_one_is_where_it_went(tmp_path):
    for name in ("World", "Wedge"):
        holder = bpy.data.objects.new("Holder", None)
        bpy.context.collection.objects.link(holder)
        bpy.context.view_layer.update()
        lay(name, holder.name)
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize(("name", "other"), [("Ball", "Skin"), ("Ball", "Box"), ("Ball", "Wedge"), ("Disk", "Skin")])
def test_a_round_collider_with_the_mesh_of_a_box_is_that_mesh(tmp_path, name, other):
    bpy.data.objects[name].data = bpy.data.objects[other].data
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_body_whose_collider_has_no_faces_weighs_the_same_in_gltf(tmp_path):
    """Readers of glTF know no shape, so that the file says what the scene has without one."""
    shape = chosen("Shape.001")
    shape.data = bpy.data.meshes.new("Empty")
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("gltf",)) == []


@pytest.mark.parametrize("name", ["Bone", "Box"])
def test_a_gprim_gets_no_second_collider_of_its_own_mesh(tmp_path, name):
    """USD has one on a prim, which is said; the gprim stays what it was."""
    bpy.data.objects[name].usdphys.colliders.add().shape = "MESH"
    assert random_edits.faults(tmp_path) == []
    issues = random_edits.export(tmp_path, "copy").issues
    assert [issue.label for issue in issues if issue.code == "MeshColliderTwice"] == [name]


@pytest.mark.parametrize("name", ["Bone", "Shape"])
def test_a_round_collider_with_several_materials_keeps_its_shape(tmp_path, name):
    """It has no faces to bind, which is said."""
    data = bpy.data.objects[name].data
    for material in ("One", "Other"):
        data.materials.append(bpy.data.materials.new(material))
    data.polygons[0].material_index = 1
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []
    issues = random_edits.export(tmp_path, "copy").issues
    assert [issue.code for issue in issues if "materials" in issue.message] == ["DataEditLeftOut"]


def test_targets_follow_a_prim_that_leaves_a_moved_one(tmp_path):
    """The moved one is a reference in a layer, which drops targets outside of what it refers to."""
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    bpy.context.view_layer.update()
    lay("World", "Holder")
    lay("Set", "Bone")
    assert random_edits.faults(tmp_path, ("copy", "layer", "flat")) == []


def test_what_leaves_an_instance_is_no_longer_in_it(tmp_path):
    shape = chosen("Shape")
    shape.parent = bpy.data.objects["Skin"]
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_part_of_an_instance_is_renamed_with_it(tmp_path):
    bpy.data.objects["Shape"].name = "Part"
    bpy.data.objects["One"].name = "Copy"
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_round_collider_that_becomes_a_curve_keeps_its_shape(tmp_path):
    """Blender writes the curve; a copy or layer keeps the gprim, which is said."""
    chosen("Disk")
    bpy.ops.object.convert(target="CURVE")
    bpy.context.object.data.bevel_depth = 0.05
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []
    (issue,) = (issue for issue in random_edits.export(tmp_path, "copy").issues if issue.code == "DataEditLeftOut")
    assert issue.message.endswith("the source keeps its own Cylinder.")


def test_what_a_joint_carries_in_blender_is_where_it_is_shown(tmp_path):
    """A prim cannot be below a joint, so that it stays where it was in the file."""
    arm = chosen("Arm")
    arm.parent = bpy.data.objects["Hinge"]
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_joint_that_becomes_a_body_is_where_it_is_shown(tmp_path):
    slide = chosen("Slide")
    slide.usdphys.rigid_body.is_applied = slide.usdphys.rigid_body.kinematic_enabled = True
    assert random_edits.faults(tmp_path, ("copy", "layer", "flat")) == []


@pytest.mark.parametrize("name", ["Weld", "Slide"])
def test_a_joint_that_gets_a_collider_is_where_it_is_shown(tmp_path, name):
    joint = chosen(name)
    collider = joint.usdphys.colliders.add()
    collider.shape, collider.location = "CUBE", (0.1, 0.2, 0.3)
    joint.location.x += 0.5
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


def test_a_material_goes_with_the_last_object(tmp_path):
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("copy", "layer", "flat")) == []


def test_a_hidden_object_stays_when_the_one_above_it_is_deleted(tmp_path):
    bpy.data.objects["One"].hide_viewport = True
    bpy.data.objects.remove(bpy.data.objects["Copies"])
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize("name", ["Group", "World"])
def test_a_joint_of_a_sheared_body_points_where_it_did(tmp_path, name):
    chosen(name).scale.x = 0.8
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("gltf",)) == []


@pytest.mark.parametrize("name", ["Shape", "Copies"])
def test_what_is_turned_within_an_uneven_scale_keeps_its_place_in_gltf(tmp_path, name):
    child, parent = bpy.data.objects[name], bpy.data.objects["Box"]
    place = child.matrix_world.copy()
    child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    child.matrix_world = place
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, ("gltf",)) == []


def test_a_new_thick_curve_that_collides_is_in_the_files_with_its_faces(tmp_path):
    bpy.ops.curve.primitive_bezier_circle_add(location=(0.0, -3.0, 1.0))
    ring = bpy.context.object
    ring.name = ring.data.name = "Ring"
    ring.data.bevel_depth = 0.1
    ring.usdphys.rigid_body.is_applied = True
    item = ring.usdphys.colliders.add()
    item.shape, item.approximation = "MESH", "convexHull"
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path) == []


@pytest.mark.parametrize("seed", range(10))
def test_two_operations_at_random_are_in_the_files(tmp_path, seed):
    edits = random_edits.Edits(seed)
    edits.run(2)
    assert random_edits.faults(tmp_path) == [], edits.log
