# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of structure on an imported scene: the world of the written file is the world that Blender shows."""

import itertools

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

from pxr import Usd, UsdGeom  # isort: skip

FORMS = ("copy", "layer", "flat", "composed")
#: The body of each gprim, and what of it lies along its axis.
GPRIMS = {
    "Cube": "double size = 0.5",
    "Sphere": "double radius = 0.25",
    "Capsule": 'double radius = 0.1\ndouble height = 0.4\nuniform token axis = "X"',
    "Cylinder": 'double radius = 0.2\ndouble height = 0.6\nuniform token axis = "Z"',
    "Cone": 'double radius = 0.2\ndouble height = 0.6\nuniform token axis = "Y"',
    "Plane": 'double width = 2\ndouble length = 3\nuniform token axis = "Z"',
}


def source_of(type_name):
    return f"""#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World"
{{
    def PhysicsScene "Scene" {{}}
    def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {{
        double3 xformOp:translate = (0.5, 1, 3)
        float3 xformOp:rotateXYZ = (0, 0, 90)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]
        def {type_name} "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            {GPRIMS[type_name]}
            double3 xformOp:translate = (0, 0, 0.25)
            double3 xformOp:scale = (3, 3, 3)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }}
    }}
}}
"""


def import_text(folder, text):
    (folder / "source.usda").write_text(text)
    options = usd_import.ImportOptions()
    usd_import.import_usd(bpy.context, folder / "source.usda", options, usd_import.LateProgress())


def export(path, form, **options):
    return scene_export.export_scene(bpy.context, path, usd_export.ExportOptions(**options), form)


def chosen(name):
    for obj in bpy.data.objects:
        obj.select_set(obj.name == name)
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    return bpy.data.objects[name]


def apply(**what):
    return lambda: bpy.ops.object.transform_apply(**{"location": False, "rotation": False, "scale": False, **what})


def set_origin(to):
    def run():
        bpy.context.scene.cursor.location = (1.5, 0.5, 2.0)
        bpy.ops.object.origin_set(type=to)

    return run


def in_edit_mode(matrix):
    def run():
        mesh = bpy.context.object.data
        edited = bmesh.new()
        edited.from_mesh(mesh)
        bmesh.ops.transform(edited, matrix=matrix, verts=list(edited.verts))
        edited.to_mesh(mesh)
        edited.free()

    return run


def move():
    bpy.context.object.location.x += 0.75


def stretch():
    bpy.context.object.scale = (1.5, 1.5, 1.5)


OPERATIONS = {
    "apply scale": apply(scale=True), "apply rotation": apply(rotation=True), "apply location": apply(location=True),
    "apply all": apply(location=True, rotation=True, scale=True), "origin to cursor": set_origin("ORIGIN_CURSOR"),
    "geometry to origin": set_origin("GEOMETRY_ORIGIN"), "origin to mass": set_origin("ORIGIN_CENTER_OF_MASS"),
    "edit mode": in_edit_mode(Matrix.Translation((0.1, 0, 0)) @ Matrix.Diagonal((1, 2, 1, 1))),
    "edit mode, uniform": in_edit_mode(Matrix.Diagonal((2, 2, 2, 1))),
    "move": move, "stretch": stretch,
}  # fmt: skip


def shown_bounds(name):
    """Smallest and largest corner (2, 3) of an object in the world, as Blender shows it."""
    graph = bpy.context.evaluated_depsgraph_get()
    obj = bpy.data.objects[name].evaluated_get(graph)
    mesh = obj.to_mesh()
    points = np.array([obj.matrix_world @ vertex.co for vertex in mesh.vertices])
    obj.to_mesh_clear()
    return np.array([points.min(axis=0), points.max(axis=0)])


def file_bounds(file):
    """World bounds (2, 3) of the only collider of a file, by OpenUSD."""
    stage = Usd.Stage.Open(str(file))
    (path,) = usd_read.read_stage(stage).colliders
    purposes = UsdGeom.Imageable.GetOrderedPurposeTokens()
    prim = stage.GetPrimAtPath(path)
    if prim.GetTypeName() == "Mesh":
        world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(prim)).T
        points = np.array(prim.GetAttribute("points").Get()) @ world[:3, :3].T + world[:3, 3]
        return np.array([points.min(axis=0), points.max(axis=0)])
    box = UsdGeom.BBoxCache(Usd.TimeCode.Default(), purposes).ComputeWorldBound(prim).ComputeAlignedRange()
    return np.array([box.GetMin(), box.GetMax()])


def turns(*names):
    """(first, second, form): each pair with one of the forms, in turn, so that each meets each form."""
    pairs = list(itertools.product(*names))
    return [(*pair, list(FORMS)[(number + number // len(names[-1])) % len(FORMS)]) for number, pair in enumerate(pairs)]


@pytest.mark.slow
@pytest.mark.parametrize(("type_name", "operation", "form"), turns(GPRIMS, OPERATIONS))
def test_a_gprim_stays_what_blender_shows(tmp_path, type_name, operation, form):
    import_text(tmp_path, source_of(type_name))
    chosen("Shape")
    OPERATIONS[operation]()
    bpy.context.view_layer.update()
    result = export(tmp_path / "out.usda", form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    shown, found = shown_bounds("Shape"), file_bounds(tmp_path / "out.usda")
    # Blender draws round gprims with few faces: those that turn are up to a tenth smaller.
    size = float(np.ptp(shown, axis=0).max())
    assert np.abs(shown - found).max() < (0.001 if type_name in ("Cube", "Plane") else 0.08) * size, (shown, found)


MATERIAL_OF_ITS_NAME = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Scope "Looks"
    {
        def Material "Wood" (prepend apiSchemas = ["PhysicsMaterialAPI"])
        {
            float physics:staticFriction = 0.7
        }
        def Material "Iron" (prepend apiSchemas = ["PhysicsMaterialAPI"])
        {
            float physics:staticFriction = 0.2
        }
    }
    def Mesh "Wood" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
    )
    {
        uniform token physics:approximation = "convexHull"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        uniform token subsetFamily:materialBind:familyType = "partition"
        def GeomSubset "Wood" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [0, 1]
            rel material:binding = </World/Looks/Wood>
        }
        def GeomSubset "Iron" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [2, 3]
            rel material:binding = </World/Looks/Iron>
        }
    }
}
"""


@pytest.mark.parametrize("options", [{}, {"units": usd_export.StageUnits(0.01, 1.0, "Y")}, {"hierarchy": "flat"}])
def test_a_mesh_with_the_name_of_one_of_its_materials_keeps_it(tmp_path, options):
    import_text(tmp_path, MATERIAL_OF_ITS_NAME)
    result = export(tmp_path / "out.usda", "composed", **options)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    (collider,) = usd_read.read_stage(Usd.Stage.Open(str(tmp_path / "out.usda"))).colliders.values()
    assert {path.rpartition("/")[2] for path in collider.materials} == {"Wood", "Iron"}


STRUCTURE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World"
{
    double3 xformOp:translate = (0, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def PhysicsScene "Scene" {}
    def Scope "Things"
    {
        def Xform "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
        {
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
            def Sphere "Ball" (prepend apiSchemas = ["PhysicsCollisionAPI"])
            {
                double radius = 0.25
            }
        }
        def PhysicsRevoluteJoint "Hinge"
        {
            rel physics:body0 = </World/Things/Box>
            rel physics:body1 = </World/Things/Lid>
            uniform token physics:axis = "X"
            point3f physics:localPos0 = (0, 0, 0.5)
            point3f physics:localPos1 = (0, 0, -0.5)
        }
    }
    def "Plain"
    {
        def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 1
            double3 xformOp:translate = (0, 0, -0.5)
            double3 xformOp:scale = (10, 10, 1)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }
    }
}
"""


def new_box():
    bpy.ops.mesh.primitive_cube_add(location=(1, 2, 3))
    bpy.context.object.name = "Crate"
    bpy.context.object.usdphys.colliders.add()
    return bpy.context.object


def set_parent(child, parent):
    """As Object > Parent > Object (Keep Transform)."""
    place = child.matrix_world.copy()
    child.parent = parent
    child.matrix_world = place
    bpy.context.view_layer.update()


def parent(child, above):
    return lambda: set_parent(bpy.data.objects[child] if child != "Crate" else new_box(), bpy.data.objects[above])


def moved(target, **values):
    def run():
        obj = bpy.data.objects[target]
        for key, value in values.items():
            setattr(obj, key, value)

    return run


def without_parent():
    obj = bpy.data.objects["Lid"]
    place = obj.matrix_world.copy()
    obj.parent = None
    obj.matrix_world = place


def duplicated():
    box = bpy.data.objects["Box"]
    copy = box.copy()
    shape = bpy.data.objects["Shape"].copy()
    for made in (copy, shape):
        bpy.context.scene.collection.objects.link(made)
    shape.parent, copy.location.x = copy, 5


def deleted():
    for name in ("Hinge", "Ball", "Lid"):
        bpy.data.objects.remove(bpy.data.objects[name])


STRUCTURAL = {
    "imported child of a joint": parent("Lid", "Hinge"), "floor below a joint": parent("Floor", "Hinge"),
    "new child of a joint": parent("Crate", "Hinge"), "new child of a body": parent("Crate", "Box"),
    "new child of a scope": parent("Crate", "Things"), "body below a body": parent("Lid", "Box"),
    "move a scope": moved("Things", location=(1, 2, 3)), "turn a scope": moved("Things", rotation_euler=(0, 0, 1)),
    "scale a scope": moved("Things", scale=(2, 2, 2)), "move a prim without a type": moved("Plain", location=(0, 0, 2)),
    "move the root": moved("World", location=(3, 0, 0)), "rename": moved("Box", name="Chest"),
    "without a parent": without_parent, "duplicate": duplicated, "delete": deleted,
}  # fmt: skip


def world_of_blender():
    """World matrices of the objects that have colliders or are bodies, by name."""
    found = {}
    for obj in bpy.context.scene.objects:
        if obj.usdphys.rigid_body.is_applied or len(obj.usdphys.colliders):
            found[obj.name.replace(".", "_")] = np.array(obj.matrix_world)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("operation", STRUCTURAL)
def test_an_edit_of_structure_leaves_everything_where_blender_shows_it(tmp_path, operation, form):
    import_text(tmp_path, STRUCTURE)
    STRUCTURAL[operation]()
    bpy.context.view_layer.update()
    shown = world_of_blender()
    result = export(tmp_path / "out.usda", form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    model = usd_read.read_stage(stage)
    assert len(model.joints) == (operation != "delete")
    cache = UsdGeom.XformCache()
    there = {}
    for path in {*model.bodies, *model.colliders}:
        prim = stage.GetPrimAtPath(path)
        # Blender writes the mesh of a new object below it.
        name = prim.GetName() if prim.GetName() in shown else prim.GetParent().GetName()
        there[name] = np.array(cache.GetLocalToWorldTransform(prim)).T
    assert there.keys() == shown.keys()
    for name, place in shown.items():
        assert np.abs(there[name] - place).max() < 1e-5, name


VARIANTS = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World" (
    prepend variantSets = "size"
    variants = { string size = "small" }
)
{
    def PhysicsScene "Scene" {}
    def Xform "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
    }
    variantSet "size" = {
        "small" {
            over "Box"
            {
                float physics:mass = 1
                double3 xformOp:translate = (0, 0, 1)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
        }
        "large" {
            over "Box"
            {
                float physics:mass = 10
                double3 xformOp:translate = (0, 0, 5)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
        }
    }
}
"""


def of_variant(file, choice):
    """(mass, height) of the box under a variant."""
    stage = Usd.Stage.Open(str(file))
    stage.GetPrimAtPath("/World").GetVariantSet("size").SetVariantSelection(choice)
    box = stage.GetPrimAtPath("/World/Box")
    place = UsdGeom.XformCache().GetLocalToWorldTransform(box).ExtractTranslation()
    return box.GetAttribute("physics:mass").Get(), place[2]


def test_an_edit_under_a_variant_stays_in_the_variant_of_the_value(tmp_path):
    import_text(tmp_path, VARIANTS)
    box = bpy.data.objects["Box"]
    box.usdphys.mass.mass, box.location.z = 3.0, 2.0
    bpy.context.view_layer.update()
    result = export(tmp_path / "copy.usda", "copy")
    assert not [issue for issue in result.issues if issue.code in ("FileDiffers", "EditOverVariants")]
    assert of_variant(tmp_path / "copy.usda", "small") == (3.0, 2.0)
    assert of_variant(tmp_path / "copy.usda", "large") == (10.0, 5.0)


def test_a_layer_says_that_its_edits_hold_in_all_variants(tmp_path):
    import_text(tmp_path, VARIANTS)
    bpy.data.objects["Box"].usdphys.mass.mass = 3.0
    result = export(tmp_path / "layer.usda", "layer")
    assert [issue.path for issue in result.issues if issue.code == "EditOverVariants"] == ["/World/Box"]
    assert of_variant(tmp_path / "layer.usda", "small")[0] == 3.0


CART = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "Proto"
{
}

def Xform "World"
{
    def "Copy" (prepend references = </Proto>)
    {
    }
    def Xform "Cart" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        def Sphere "Wheel" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
        {
        }
        def PhysicsRevoluteJoint "Axle"
        {
            rel physics:body0 = </World/Cart>
            rel physics:body1 = </World/Cart/Wheel>
        }
    }
}
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_joint_that_is_renamed_with_its_bodies_has_its_new_name_and_its_bodies(tmp_path, form):
    import_text(tmp_path, CART)
    for name in ("World", "Cart", "Wheel", "Axle"):
        bpy.data.objects[name].name = f"New{name}"
    result = export(tmp_path / "out.usda", form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    (joint,) = [prim for prim in stage.Traverse() if prim.GetTypeName() == "PhysicsRevoluteJoint"]
    assert str(joint.GetPath()) == "/NewWorld/NewCart/NewAxle"
    for side, name in enumerate(("/NewWorld/NewCart", "/NewWorld/NewCart/NewWheel")):
        assert [str(path) for path in joint.GetRelationship(f"physics:body{side}").GetTargets()] == [name]


BOUND = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "World"
{
    def Material "Ice" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.05
    }
    def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        rel material:binding:physics = </World/Ice>
    }
}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of_collider", [False, True])
def test_another_physics_material_of_an_imported_collider_is_what_the_file_has(tmp_path, of_collider, form):
    import_text(tmp_path, BOUND)
    rubber = bpy.data.materials.new("Rubber")
    rubber.usdphys.physics_material.dynamic_friction = 0.9
    physics = bpy.data.objects["Shape"].usdphys
    (physics.colliders[0] if of_collider else physics).physics_material = rubber
    result = export(tmp_path / "out.usda", form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    (shape,) = [prim for prim in stage.Traverse() if prim.GetName() == "Shape"]
    (target,) = shape.GetRelationship("material:binding:physics").GetTargets()
    assert stage.GetPrimAtPath(target).GetAttribute("physics:dynamicFriction").Get() == pytest.approx(0.9)
