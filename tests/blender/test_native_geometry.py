# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of Blender that deforms or is instanced: the file has the colliders that Blender shows."""

import bmesh
import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.core import mass
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import usd_export
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import random_edits
from .gltf_scenes import exported
from .scenes import read
from .test_gltf_instances import differing, written

from pxr import Usd  # isort: skip


def part(name="Part", place=(0, 0, 2)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=place)
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = True
    collider = obj.usdphys.colliders.add()
    collider.shape, collider.approximation = "MESH", "convexHull"
    return obj


def with_keys():
    obj = part()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Big")
    for point in key.data:
        point.co *= 2
    key.value = 1.0
    return 2.0


def with_armature():
    obj = part()
    bpy.ops.object.armature_add(location=(0, 0, 2))
    armature = bpy.context.object
    obj.parent, obj.matrix_parent_inverse = armature, armature.matrix_world.inverted()
    obj.modifiers.new("Bones", "ARMATURE").object = armature
    obj.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    armature.pose.bones[0].scale = (2, 2, 2)
    return 2.0


def with_subdivision():
    part().modifiers.new("Smooth", "SUBSURF").levels = 2
    return None


def with_modifier_before():
    obj = part()
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    obj.modifiers.new("Thick", "SOLIDIFY")
    return None


def export(path, **options):
    result = usd_export.export_usd(bpy.context, path, usd_export.ExportOptions(**options))
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(path))
    return result, stage, usd_read.read_stage(stage)


@pytest.mark.parametrize("units", [usd_export.StageUnits(), usd_export.StageUnits(0.01, 1.0, "Y")])
@pytest.mark.parametrize("deform", [with_keys, with_armature, with_subdivision, with_modifier_before])
def test_a_deformed_mesh_collides_in_the_shape_that_is_shown(tmp_path, deform, units):
    edge = deform()
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    obj = bpy.data.objects["Part"].evaluated_get(graph)
    shown = np.ptp([obj.matrix_world @ vertex.co for vertex in obj.data.vertices], axis=0)
    _, stage, model = export(tmp_path / "out.usda", units=units)
    (collider,) = model.colliders.values()
    points = collider.mesh().points @ collider.world[:3, :3].T
    assert np.ptp(points, axis=0) == pytest.approx(shown, rel=1e-4)
    assert stage.GetPrimAtPath(collider.path).GetAttribute("purpose").Get() in ("guide", "default")
    if edge is not None:
        found = mass.mass_properties(model, next(iter(model.bodies)))
        assert found.mass == pytest.approx(1000.0 * edge**3, rel=1e-4)
        assert found.diagonal_inertia == pytest.approx((1000.0 * edge**5 / 6.0,) * 3, rel=1e-4)


@pytest.mark.parametrize("with_copy", [False, True])
def test_a_mesh_in_edit_mode_collides_as_it_is_shown(tmp_path, with_copy):
    obj = part()
    if with_copy:
        copy = part("Copy", (3, 0, 2))
        copy.data = obj.data
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(obj.data)
    bmesh.ops.scale(edited, vec=(2, 2, 2), verts=edited.verts)
    bmesh.update_edit_mesh(obj.data)
    result, _, model = export(tmp_path / "out.usda")
    assert [issue.message for issue in result.issues if issue.severity == "error"] == []
    assert len(model.colliders) == 1 + with_copy
    for collider in model.colliders.values():
        assert np.ptp(collider.mesh().points, axis=0) == pytest.approx((2, 2, 2))
    bpy.ops.object.mode_set(mode="OBJECT")


def lattice():
    return bpy.data.lattices.new("Cage")


def speaker():
    return bpy.data.speakers.new("Voice")


@pytest.mark.parametrize("make", [lattice, speaker])
@pytest.mark.parametrize("units", [usd_export.StageUnits(), usd_export.StageUnits(0.01, 1.0, "Y")])
def test_what_blender_writes_no_prim_for_is_a_body_in_the_file(tmp_path, make, units):
    obj = bpy.data.objects.new("Part", make())
    bpy.context.collection.objects.link(obj)
    obj.location, obj.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    obj.usdphys.rigid_body.is_applied = True
    collider = obj.usdphys.colliders.add()
    collider.shape, collider.size = "CUBE", (0.4, 0.6, 0.2)
    result, _, model = export(tmp_path / "out.usda", units=units)
    assert [issue.code for issue in result.issues if issue.code == "NotExported"] == []
    assert result.counts["bodies"] == len(model.bodies) == len(model.colliders) == 1
    (body,) = model.bodies.values()
    assert body.world == pytest.approx(np.array(obj.matrix_world), abs=1e-5)


def test_the_animation_of_what_blender_writes_no_prim_for_is_missed(tmp_path):
    obj = bpy.data.objects.new("Part", lattice())
    bpy.context.collection.objects.link(obj)
    obj.usdphys.rigid_body.is_applied = obj.usdphys.rigid_body.kinematic_enabled = True
    for frame in (1, 10):
        obj.location.x = frame
        obj.keyframe_insert("location", frame=frame)
    result, _, model = export(tmp_path / "out.usda", animation=True)
    assert len(model.bodies) == 1
    (missed,) = [issue for issue in result.issues if issue.code == "AnimationLeftOut"]
    assert "Part" in missed.message and "no prim" in missed.message


# --------------------------------------------------------------------------- instances


def field():
    """A mesh of nine points, 4 m apart."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=2, size=8)
    bpy.context.object.name = "Field"
    return bpy.context.object


def instance_on_points(node_type, **values):
    tree = bpy.data.node_groups.new("Copies", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    copies, source = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new(node_type)
    for name, value in values.items():
        source.inputs[name.replace("_", " ")].default_value = value
    names = ("Instances", "Geometry", "Mesh")
    geometry = next(filter(None, map(source.outputs.get, names)))
    for one, other in ((start.outputs[0], copies.inputs["Points"]), (geometry, copies.inputs["Instance"]),
                       (copies.outputs[0], end.inputs[0])):  # fmt: skip
        tree.links.new(one, other)
    field().modifiers.new("Copies", "NODES").node_group = tree


@pytest.mark.parametrize(("kept", "realized", "named"), [(True, False, 1), (False, False, 1), (True, True, 0)])
def test_instances_of_a_body_s_own_geometry_nodes_are_named(kept, realized, named):
    """They are shown, and no part of the mesh that collides."""
    instance_on_points("GeometryNodeMeshCube")
    body = bpy.data.objects["Field"]
    nodes = body.modifiers[0].node_group.nodes
    links, end = body.modifiers[0].node_group.links, nodes["Group Output"]
    joined, last = nodes.new("GeometryNodeJoinGeometry"), nodes["Instance on Points"].outputs[0]
    if realized:
        real = nodes.new("GeometryNodeRealizeInstances")
        links.new(last, real.inputs[0])
        last = real.outputs[0]
    links.new(last, joined.inputs[0])
    if kept:
        links.new(nodes["Group Input"].outputs[0], joined.inputs[0])
    links.new(joined.outputs[0], end.inputs[0])
    body.usdphys.rigid_body.is_applied = True
    body.usdphys.colliders.add().shape = "MESH"
    bpy.context.view_layer.update()
    issues = [issue for issue in read().issues if issue.code == "ColliderLacksInstances"]
    assert len(issues) == named
    assert all("9 instances" in issue.message and "Realize Instances" in issue.fix for issue in issues)


def test_the_mesh_of_a_curve_with_geometry_nodes_is_its_collider():
    """Blender shows it as an instance of the curve."""
    bpy.ops.curve.primitive_bezier_circle_add()
    ring = bpy.context.object
    ring.data.bevel_depth = 0.1
    tree = bpy.data.node_groups.new("Moved", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    moved, profile = tree.nodes.new("GeometryNodeCurveToMesh"), tree.nodes.new("GeometryNodeCurvePrimitiveCircle")
    profile.inputs["Radius"].default_value = 0.1
    tree.links.new(start.outputs[0], moved.inputs[0])
    tree.links.new(profile.outputs[0], moved.inputs[1])
    tree.links.new(moved.outputs[0], end.inputs[0])
    ring.modifiers.new("Moved", "NODES").node_group = tree
    ring.usdphys.rigid_body.is_applied = True
    ring.usdphys.colliders.add().shape = "MESH"
    bpy.context.view_layer.update()
    assert not [issue for issue in read().issues if issue.code.startswith("Collider")]


def collection_of(*objects):
    made = bpy.data.collections.new("Parts")
    bpy.context.scene.collection.children.link(made)
    for obj in objects:
        made.objects.link(obj)
        for other in obj.users_collection:
            if other != made:
                other.objects.unlink(obj)
    return made


def by_object_info():
    instance_on_points("GeometryNodeObjectInfo", Object=part(), As_Instance=True)
    return 9


def by_collection_info():
    instance_on_points("GeometryNodeCollectionInfo", Collection=collection_of(part()))
    return 9


def by_parents_in_a_collection():
    body = part()
    child = part("Knob", (0, 0, 3))
    child.usdphys.rigid_body.is_applied = False
    child.parent, child.matrix_parent_inverse = body, body.matrix_world.inverted()
    instance_on_points("GeometryNodeCollectionInfo", Collection=collection_of(body, child))
    return 9


def by_hair():
    body = part()
    field().modifiers.new("Hair", "PARTICLE_SYSTEM")
    settings = bpy.data.objects["Field"].particle_systems[0].settings
    settings.count, settings.type, settings.use_advanced_hair = 5, "HAIR", True
    settings.render_type, settings.instance_object = "OBJECT", body
    return 5


def by_vertices():
    body = part()
    above = field()
    body.parent, above.instance_type = above, "VERTS"
    return 9


def by_collection_instance():
    made = collection_of(part())
    for number in range(3):
        bpy.ops.object.collection_instance_add(collection=made.name, location=(5 * number, 5, 0))
    return 3


INSTANCERS = [
    by_object_info, by_collection_info, by_parents_in_a_collection, by_hair, by_vertices, by_collection_instance,
]  # fmt: skip


@pytest.mark.parametrize("instancer", INSTANCERS)
def test_instances_are_in_the_file_where_they_are_shown(tmp_path, instancer):
    copies = instancer()
    bpy.context.view_layer.update()
    shown = [
        np.array(item.matrix_world.translation) for item in bpy.context.evaluated_depsgraph_get().object_instances
        if item.object.name.partition(".")[0] == "Part"
    ]  # fmt: skip
    assert len(shown) >= copies
    result, _, model = export(tmp_path / "out.usda")
    assert result.counts["bodies"] == len(model.bodies) == len(shown)
    places = [body.world[:3, 3] for body in model.bodies.values()]
    for place in shown:
        assert min(np.linalg.norm(place - other) for other in places) < 1e-4
    for path in model.bodies:
        assert len(model.colliders_of(path)) == (2 if instancer is by_parents_in_a_collection else 1)


def curve():
    bpy.ops.curve.primitive_bezier_circle_add()
    bpy.context.object.data.bevel_depth = 0.1


def text():
    bpy.ops.object.text_add()
    bpy.context.object.data.extrude = 0.1


def surface():
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()


def mesh_with_instances():
    instance_on_points("GeometryNodeMeshCube")


def test_a_metaball_whose_surface_another_one_has_is_named_as_that():
    for name, place in (("Drop", 0), ("Drop.001", 1)):
        bpy.ops.object.metaball_add(radius=1, location=(place, 0, 0))
        bpy.context.object.name = name
        bpy.context.object.usdphys.rigid_body.is_applied = True
        bpy.context.object.usdphys.colliders.add().shape = "MESH"
    bpy.context.view_layer.update()
    (issue,) = (issue for issue in read().issues if issue.code == "ColliderWithoutGeometry")
    assert issue.message == "'Drop.001' is a metaball of the family 'Drop', of which another object has the surface."
    assert "another name" in issue.fix


@pytest.mark.parametrize("make", [curve, text, surface, mesh_with_instances])
@pytest.mark.parametrize("by_nodes", [False, True])
def test_each_instance_of_an_object_that_blender_shows_by_a_mesh_is_one_body(make, by_nodes):
    """That mesh comes as a further instance of the object, within each of its instances."""
    make()
    body = bpy.context.object
    body.usdphys.rigid_body.is_applied = True
    body.usdphys.colliders.add().shape = "CUBE"
    if by_nodes:
        instance_on_points("GeometryNodeObjectInfo", Object=body, As_Instance=True)
    else:
        made = collection_of(body)
        bpy.ops.object.collection_instance_add(collection=made.name, location=(0, 9, 0))
    bpy.context.view_layer.update()
    assert len(read().model.bodies) == (10 if by_nodes else 2)


@pytest.mark.skipif(bpy.app.version >= (5, 2), reason="Blender's exporter writes surfaces")
@pytest.mark.parametrize("suffix", ["xml", "urdf"])
def test_a_robot_that_is_a_surface_is_refused_for_its_true_reason(tmp_path, suffix):
    surface()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    bpy.context.object.usdphys.colliders.add().shape = "MESH"
    bpy.context.view_layer.update()
    file = str(tmp_path / f"robot.{suffix}")
    with pytest.raises(InputError, match=r"writes no such surfaces. Convert 'SurfSphere' to a mesh"):
        formats.format_of(file).write(file, formats.WriteOptions())


@pytest.mark.parametrize("suffix", ["xml", "urdf"])
def test_a_hidden_body_is_named_in_the_files_of_robots(tmp_path, suffix):
    part()
    part("Hidden").hide_viewport = True
    bpy.context.view_layer.update()
    file = str(tmp_path / f"robot.{suffix}")
    result = formats.format_of(file).write(file, formats.WriteOptions())
    assert [issue.label for issue in result.issues if issue.code == "NotExported"] == ["Hidden"]


def test_a_text_in_an_instance_is_left_out_for_its_true_reason(tmp_path):
    text()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    bpy.ops.object.collection_instance_add(collection=collection_of(bpy.context.object).name, location=(0, 9, 0))
    bpy.context.view_layer.update()
    result, _, _ = export(tmp_path / "out.usda")
    (issue,) = (issue for issue in result.issues if issue.code == "NotExported")
    assert "writes no instances of texts" in issue.message and "Convert" in issue.fix


def test_a_joint_to_what_only_instances_show_is_named_as_that(tmp_path):
    made = bpy.data.collections.new("Parts")
    inside, outside = part("Inside"), part("Outside", (3, 0, 2))
    for one in inside.users_collection:
        one.objects.unlink(inside)
    made.objects.link(inside)
    bpy.ops.object.collection_instance_add(collection=made.name, location=(0, 5, 0))
    joint = bpy.data.objects.new("Joint", None)
    bpy.context.collection.objects.link(joint)
    joint.usdphys.joint.is_applied = True
    joint.usdphys.joint.body0, joint.usdphys.joint.body1 = outside, inside
    bpy.context.view_layer.update()
    result, _, _ = export(tmp_path / "out.usda")
    (issue,) = (issue for issue in result.issues if issue.code == "JointBodyMissing")
    assert issue.message == "Body 1 of the joint 'Joint', 'Inside', is shown by instances only, as by 'Parts'."


@pytest.mark.slow
@pytest.mark.parametrize("form", random_edits.FORMS)
@pytest.mark.parametrize("kind", ["VERTS", "FACES"])
def test_an_imported_object_that_is_instanced_on_a_new_mesh_is_written_as_shown(tmp_path, kind, form):
    random_edits.load(tmp_path)
    bpy.ops.mesh.primitive_plane_add(size=4, location=(0, 0, 5))
    plane, wedge = bpy.context.object, bpy.data.objects["Wedge"]
    wedge.parent, wedge.location, plane.instance_type = plane, (0, 0, 1), kind
    below = part("Below", (0, 0, 1))
    below.parent = wedge
    bpy.context.view_layer.update()
    assert random_edits.faults(tmp_path, (form,)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["VERTS", "FACES"])
def test_a_gltf_has_each_copy_on_vertices_and_faces_and_what_is_copied(tmp_path, kind):
    bpy.ops.mesh.primitive_cube_add(size=4, location=(0, 0, 5))
    cube, above, below = bpy.context.object, part("Above", (0, 0, 0)), part("Below", (0, 0, 1))
    below.parent, above.parent, cube.instance_type = above, cube, kind
    bpy.context.view_layer.update()
    document, result = exported(tmp_path / "out.glb")
    assert differing(written(document), random_edits.shown()) == []
    assert sum("KHR_physics_rigid_bodies" in str(node) for node in document.nodes) == result.counts["bodies"]
    assert not [issue.message for issue in result.issues if issue.severity == "error"]
