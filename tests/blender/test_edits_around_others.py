# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of imported objects that change what others have from them: inherited materials, units, instances."""

import bpy
import pytest
from mathutils import Matrix
from usdphys_ext.usdphys_addon.core.units import StageUnits

from .gltf_scenes import exported
from .test_structure_edits import FORMS, chosen, export, import_text

from pxr import Usd, UsdGeom, UsdShade  # isort: skip

pytestmark = pytest.mark.slow

#: A tree and its fruit, which inherits the bark of the tree; in centimetres with Y up.
TREE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)

def Xform "World"
{
    def Material "Bark" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.9
        float physics:density = 500
    }
    def Material "Moss" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.2
    }
    def Mesh "Tree" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI",
        "PhysicsMassAPI", "MaterialBindingAPI"])
    {
        point3f physics:centerOfMass = (0, 10, 0)
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
        point3f[] points = [(0, 0, 0), (100, 0, 0), (0, 80, 0), (0, 0, 60)]
        uniform token subdivisionScheme = "none"
        uniform token physics:approximation = "convexHull"
        rel material:binding = </World/Bark>
        def Sphere "Fruit" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 20
            double3 xformOp:translate = (50, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
    }
    def Cube "Field" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 200
        double3 xformOp:translate = (0, -300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
CENTIMETRES = StageUnits(0.01, 1.0, "Y")


def written(tmp_path, form):
    """(stage, messages of what differs) of an export in the units of the file."""
    bpy.context.view_layer.update()
    result = export(tmp_path / f"{form}.usda", form, units=CENTIMETRES)
    return Usd.Stage.Open(str(result.path)), [one.message for one in result.issues if one.code == "FileDiffers"]


def cleared():
    bpy.data.objects["Tree"].data.materials.clear()


def another():
    bpy.data.objects["Tree"].data.materials[0] = bpy.data.materials["Moss"]


def deleted():
    bpy.data.objects.remove(bpy.data.objects["Tree"])


def unparented():
    fruit = bpy.data.objects["Fruit"]
    place = fruit.matrix_world.copy()
    fruit.parent = None
    fruit.matrix_world = place


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("edit", [cleared, another, deleted, unparented])
def test_a_collider_keeps_the_material_that_it_no_longer_inherits(tmp_path, edit, form):
    """Blender shows it with this material in its own slot."""
    import_text(tmp_path, TREE)
    edit()
    stage, differing = written(tmp_path, form)
    assert differing == []
    (fruit,) = [prim for prim in stage.Traverse() if prim.GetName() == "Fruit"]
    material, _ = UsdShade.MaterialBindingAPI(fruit).ComputeBoundMaterial("physics")
    assert material.GetPrim().GetAttribute("physics:dynamicFriction").Get() == pytest.approx(0.9)


@pytest.mark.parametrize("form", FORMS[:3])
def test_what_still_inherits_its_material_gets_no_binding_of_its_own(tmp_path, form):
    import_text(tmp_path, TREE)
    chosen("Tree").location.x += 0.5
    stage, differing = written(tmp_path, form)
    assert differing == []
    assert not stage.GetPrimAtPath("/World/Tree/Fruit").GetRelationship("material:binding").HasAuthoredTargets()


@pytest.mark.parametrize("name", ["World", "Tree"])
@pytest.mark.parametrize("form", FORMS)
def test_a_key_on_a_place_is_no_difference_of_lengths_in_other_units(tmp_path, name, form):
    import_text(tmp_path, TREE)
    bpy.data.objects[name].keyframe_insert("location", frame=1)
    _, differing = written(tmp_path, form)
    assert differing == []


@pytest.mark.parametrize("part", ["Fruit", "Tree"])
@pytest.mark.parametrize("form", FORMS[:3])
def test_bodies_that_nodes_of_an_imported_mesh_instance_have_the_size_that_is_shown(tmp_path, part, form):
    import_text(tmp_path, TREE)
    tree = bpy.data.node_groups.new("Copies", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    copies, source = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new("GeometryNodeObjectInfo")
    source.inputs["Object"].default_value = bpy.data.objects[part]
    source.inputs["As Instance"].default_value = True
    for one, other in ((start.outputs[0], copies.inputs["Points"]), (source.outputs["Geometry"], copies.inputs[2]),
                       (copies.outputs[0], end.inputs[0])):  # fmt: skip
        tree.links.new(one, other)
    bpy.data.objects["Field"].modifiers.new("Copies", "NODES").node_group = tree
    stage, differing = written(tmp_path, form)
    assert differing == []
    found = [prim for prim in stage.Traverse() if prim.GetName().startswith(f"{part}_")]
    assert len(found) == 8
    cache = UsdGeom.XformCache()
    for prim in found:
        assert Matrix(cache.GetLocalToWorldTransform(prim)).to_scale()[:] == pytest.approx((1, 1, 1), abs=1e-4)
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        assert material.GetPrim().GetName() == "Bark"


@pytest.mark.parametrize("form", FORMS)
def test_a_collection_with_all_that_was_imported_can_be_instanced(tmp_path, form):
    import_text(tmp_path, TREE)
    everything = bpy.data.collections.new("Everything")
    for obj in bpy.context.scene.objects:
        everything.objects.link(obj)
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", everything
    instance.location = (20, 0, 0)
    bpy.context.scene.collection.objects.link(instance)
    _, differing = written(tmp_path, form)
    assert differing == []


def test_an_imported_point_instancer_is_no_obstacle_to_gltf(tmp_path):
    """Blender 5.2's exporter fails at its point cloud."""
    text = (
        TREE.rstrip()[:-1]
        + """
    def PointInstancer "Stones"
    {
        rel prototypes = [</World/Stones/Stone>]
        int[] protoIndices = [0, 0]
        point3f[] positions = [(500, 0, 0), (500, 100, 0)]
        def Sphere "Stone" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
        {
            double radius = 25
        }
    }
}
"""
    )
    import_text(tmp_path, text)
    bpy.context.view_layer.update()
    document, _ = exported(tmp_path / "out.glb")
    assert {"Tree", "Fruit", "Field"} <= {node["name"] for node in document.nodes}
