# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported scene that Blender composes anew: what Blender loses on its way is restored, or named."""

import math
import random
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon import cli, formats
from usdphys_ext.usdphys_addon.core.errors import OutputError
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.usd import overview

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade  # isort: skip

pytestmark = pytest.mark.slow

HEAD = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
"""


def load(folder: Path, text: str, head: str = HEAD) -> Any:
    """Import a file and open what was saved of it, as a user does."""
    path = folder / "in.usda"
    path.write_text(head + text)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "saved.blend"))
    return result


def write(folder: Path, **options: Any) -> tuple[Usd.Stage, set[str]]:
    """The composed stage, and the codes of its issues."""
    bpy.context.view_layer.update()
    result = formats.USD.write(str(folder / "out.usda"), formats.WriteOptions(form="composed", **options))
    stage = Usd.Stage.Open(str(folder / "out.usda"))
    stage.Reload()
    return stage, {issue.code for issue in result.issues}


def trip(folder: Path, text: str, **options: Any) -> Usd.Stage:
    load(folder, text)
    return write(folder, **options)[0]


def value(stage: Usd.Stage, path: str) -> Any:
    return stage.GetAttributeAtPath(path).Get()


def new_material(name: str) -> Any:
    material = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0):
        material.use_nodes = True
    return material


# --------------------------------------------------------------------------- places of materials

LOOKS = """
def Xform "World"
{
    def Cube "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        rel material:binding = </World/Looks/Red>
        double size = 1
    }
    def Mesh "Plain"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }
    def Scope "Looks"
    {
        def Material "Red"
        {
            token outputs:surface.connect = </World/Looks/Red/S.outputs:surface>
            def Shader "S"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (1, 0, 0)
                token outputs:surface
            }
        }
    }
}
"""


def bound_where_referenced(stage: Usd.Stage, path: str) -> str:
    """Material of a prim of a stage, seen by another stage that refers to it."""
    other = Usd.Stage.CreateInMemory()
    other.DefinePrim("/Env/A").GetReferences().AddReference(stage.GetRootLayer().identifier)
    prim = other.GetPrimAtPath(path.replace("/World", "/Env/A", 1))
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    return str(material.GetPath()) if material else ""


@pytest.mark.parametrize("physical", [False, True])
def test_a_reference_to_the_file_brings_its_new_materials(tmp_path, physical):
    load(tmp_path, LOOKS)
    blue = new_material("Blue")
    blue.usdphys.physics_material.is_applied = physical
    bpy.data.objects["Plain"].data.materials.append(blue)
    bpy.data.objects["Plain"].usdphys.colliders.add().shape = "MESH"
    stage, _ = write(tmp_path)
    assert bound_where_referenced(stage, "/World/Body") == "/Env/A/Looks/Red"
    assert bound_where_referenced(stage, "/World/Plain") == "/Env/A/Looks/Blue"
    applied = "PhysicsMaterialAPI" in stage.GetPrimAtPath("/World/Looks/Blue").GetAppliedSchemas()
    assert applied == physical
    assert not stage.GetPrimAtPath("/_materials")
    assert not stage.GetPrimAtPath("/World/_materials")


# --------------------------------------------------------------------------- looks

INTERFACE = """
def Xform "World"
{
    def Mesh "Plate" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        rel material:binding = </World/Looks/Red>
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }
    def Scope "Looks"
    {
        def Material "Red" (prepend apiSchemas = ["VendorLookAPI"])
        {
            custom string vendor:note = "keep me"
            color3f inputs:tint = (1, 0.25, 0)
            float inputs:rough = 0.125
            token outputs:surface.connect = </World/Looks/Red/S.outputs:surface>
            token outputs:mdl:surface.connect = </World/Looks/Red/M.outputs:out>
            def Shader "S"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </World/Looks/Red.inputs:tint>
                float inputs:roughness.connect = </World/Looks/Red.inputs:rough>
                token outputs:surface
            }
            def Shader "M"
            {
                uniform token info:implementationSource = "sourceAsset"
                uniform asset info:mdl:sourceAsset = @OmniPBR.mdl@
                color3f inputs:diffuse_color_constant = (0.2, 0.4, 0.8)
                token outputs:out
            }
        }
        def Material "Free" (prepend apiSchemas = ["VendorMatterAPI"])
        {
            custom float vendorMatter:stiffness = 3
        }
    }
}
"""


def shader_of(name: str) -> Any:
    nodes: Any = bpy.data.materials[name].node_tree.nodes
    return next(node for node in nodes if node.type == "BSDF_PRINCIPLED")


def test_values_behind_the_interface_of_a_material_are_seen_in_blender(tmp_path):
    load(tmp_path, INTERFACE)
    shader = shader_of("Red")
    assert list(shader.inputs["Base Color"].default_value) == [1, 0.25, 0, 1]
    assert shader.inputs["Roughness"].default_value == 0.125
    stage, codes = write(tmp_path)
    assert "ShaderLeftOut" not in codes
    assert value(stage, "/World/Looks/Red.inputs:tint") == (1, 0.25, 0)
    preview = UsdShade.Shader(stage.GetPrimAtPath("/World/Looks/Red/S"))
    assert [str(one.GetPath()) for one in preview.GetInput("diffuseColor").GetValueProducingAttributes()] == [
        "/World/Looks/Red.inputs:tint"
    ]


def test_a_texture_behind_the_interface_of_a_material_is_loaded(tmp_path):
    image = bpy.data.images.new("dots", 2, 2)
    image.filepath_raw, image.file_format = str(tmp_path / "dots.png"), "PNG"
    image.save()
    text = INTERFACE.replace("color3f inputs:tint = (1, 0.25, 0)", "asset inputs:tint = @./dots.png@").replace(
        "color3f inputs:diffuseColor.connect = </World/Looks/Red.inputs:tint>",
        "color3f inputs:diffuseColor.connect = </World/Looks/Red/T.outputs:rgb>",
    ).replace('def Shader "M"', """def Shader "T"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file.connect = </World/Looks/Red.inputs:tint>
                color3f outputs:rgb
            }
            def Shader "M\"""")  # fmt: skip
    load(tmp_path, text)
    (link,) = shader_of("Red").inputs["Base Color"].links
    assert Path(bpy.path.abspath(link.from_node.image.filepath)).name == "dots.png"


def test_networks_of_other_renderers_and_unbound_materials_come_back(tmp_path):
    stage = trip(tmp_path, INTERFACE)
    red = UsdShade.Material(stage.GetPrimAtPath("/World/Looks/Red"))
    source, *_ = red.ComputeSurfaceSource("mdl")
    assert str(source.GetPath()) == "/World/Looks/Red/M"
    assert source.GetInput("diffuse_color_constant").Get() == Gf.Vec3f(0.2, 0.4, 0.8)
    assert value(stage, "/World/Looks/Red/M.info:mdl:sourceAsset").path == "OmniPBR.mdl"
    assert "VendorLookAPI" in stage.GetPrimAtPath("/World/Looks/Red").GetPrimTypeInfo().GetAppliedAPISchemas()
    assert value(stage, "/World/Looks/Red.vendor:note") == "keep me"
    free = stage.GetPrimAtPath("/World/Looks/Free")
    assert free.GetTypeName() == "Material"
    assert free.GetPrimTypeInfo().GetAppliedAPISchemas() == ["VendorMatterAPI"]
    assert value(stage, "/World/Looks/Free.vendorMatter:stiffness") == 3


def test_edited_nodes_are_written_and_the_lost_network_is_named(tmp_path):
    load(tmp_path, INTERFACE)
    shader_of("Red").inputs["Roughness"].default_value = 0.75
    stage, codes = write(tmp_path)
    surface, *_ = UsdShade.Material(stage.GetPrimAtPath("/World/Looks/Red")).ComputeSurfaceSource()
    assert surface.GetInput("roughness").Get() == 0.75
    assert "ShaderLeftOut" in codes


def test_the_network_of_a_renamed_material_goes_with_it(tmp_path):
    load(tmp_path, INTERFACE)
    bpy.data.materials["Red"].name = "Rouge"
    stage, _ = write(tmp_path)
    rouge = UsdShade.Material(stage.GetPrimAtPath("/World/Looks/Rouge"))
    assert str(rouge.ComputeSurfaceSource("mdl")[0].GetPath()) == "/World/Looks/Rouge/M"
    assert not stage.GetPrimAtPath("/World/Looks/Red")


def test_a_deleted_material_stays_deleted(tmp_path):
    load(tmp_path, INTERFACE)
    bpy.data.materials.remove(bpy.data.materials["Red"])
    stage, _ = write(tmp_path)
    assert not stage.GetPrimAtPath("/World/Looks/Red")


# --------------------------------------------------------------------------- bindings

HEAVY = """
def Xform "World" (prepend apiSchemas = ["MaterialBindingAPI"])
{
    rel material:binding = </World/Lead>
    def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 1
        }
        def Mesh "Wedge" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {
            uniform token physics:approximation = "convexHull"
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        }
    }
    def Material "Lead" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:density = 11340
        token outputs:surface.connect = </World/Lead/S.outputs:surface>
        def Shader "S"
        {
            uniform token info:id = "UsdPreviewSurface"
            token outputs:surface
        }
    }
}
"""


def has_binding_api(stage: Usd.Stage, path: str) -> bool:
    return bool(stage.GetPrimAtPath(path).HasAPI(UsdShade.MaterialBindingAPI))


def test_an_inherited_binding_stays_inherited(tmp_path):
    stage = trip(tmp_path, HEAVY)
    assert has_binding_api(stage, "/World")
    for path in ("/World/Body/Box", "/World/Body/Wedge"):
        assert not has_binding_api(stage, path)
        material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath(path)).ComputeBoundMaterial()
        assert str(material.GetPath()) == "/World/Lead"


BARE = """
def Xform "World"
{
    def Sphere "Ball" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsRigidBodyAPI"])
    {
        rel material:binding:physics = </World/Rubber> (
            bindMaterialAs = "weakerThanDescendants"
        )
    }
    def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsRigidBodyAPI", "MaterialBindingAPI"])
    {
        rel material:binding:physics = </World/Rubber>
    }
    def Material "Rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:density = 1100
    }
}
"""


def test_a_physics_binding_without_its_schema_stays_so(tmp_path):
    """OpenUSD's parser ignores such a binding, simulators do not: with the schema it would compute another mass."""
    stage = trip(tmp_path, BARE)
    assert not has_binding_api(stage, "/World/Ball") and has_binding_api(stage, "/World/Box")
    for name in ("Ball", "Box"):
        binding = stage.GetPrimAtPath(f"/World/{name}").GetRelationship("material:binding:physics")
        assert [str(path) for path in binding.GetTargets()] == ["/World/Rubber"]
        assert binding.GetMetadata("bindMaterialAs") == ("weakerThanDescendants" if name == "Ball" else None)


def test_a_material_of_another_schema_that_is_bound_for_physics_gets_none(tmp_path):
    text = BARE.replace("PhysicsMaterialAPI", "PhysicsVolumeDeformableMaterialAPI")
    stage = trip(tmp_path, text)
    info = stage.GetPrimAtPath("/World/Rubber").GetPrimTypeInfo()
    assert info.GetAppliedAPISchemas() == ["PhysicsVolumeDeformableMaterialAPI"]
    assert value(stage, "/World/Rubber.physics:density") == 1100


def test_a_physics_binding_without_its_schema_is_told(tmp_path):
    said = [issue for issue in load(tmp_path, BARE).issues if issue.code == "BindingNotApplied"]
    assert [(issue.path, "1 such prim" in issue.message) for issue in said] == [("/World/Ball", True)]
    assert "BindingNotApplied" not in {issue.code for issue in load(tmp_path, HEAVY).issues}


@pytest.mark.parametrize(("declared", "told"), [("float", False), ("double", True), ("int", True)])
def test_a_number_of_another_type_than_its_schema_says_is_told(tmp_path, declared, told):
    """OpenUSD's parser asks for a float, and gets nothing where the file has a double."""
    text = BARE.replace("float physics:density", f"{declared} physics:density")
    said = [issue for issue in load(tmp_path, text).issues if issue.code == "WrongValueType"]
    of_type = f"is of type {declared} in place of float (1 such value)"
    assert [(issue.path, of_type in issue.message) for issue in said] == ([("/World/Rubber", True)] if told else [])
    (tmp_path / "inspected.usda").write_text(HEAD + text)
    found = overview.overview(tmp_path / "inspected.usda").issues
    assert ("WrongValueType" in {issue.code for issue in found}) == told


@pytest.mark.parametrize("units", [{}, {"meters_per_unit": 0.01, "up_axis": "Y"}])
def test_a_number_keeps_its_type_until_somebody_edits_it(tmp_path, units):
    """Programs that ask for another type take the default; the export must not change what they simulate."""
    text = BARE.replace("float physics:density", "double physics:density")
    stage = trip(tmp_path, text, **units)
    density = stage.GetAttributeAtPath("/World/Rubber.physics:density")
    assert str(density.GetPropertyStack()[0].typeName) == "double"
    assert density.Get() == pytest.approx(1100 * (1e-6 if units else 1.0), rel=1e-6)
    bpy.data.materials["Rubber"].usdphys.physics_material.density = 20.0
    stage, _ = write(tmp_path, **units)
    density = stage.GetAttributeAtPath("/World/Rubber.physics:density")
    assert str(density.GetPropertyStack()[0].typeName) == "float"


TURNED = """
def Xform "World"
{
    def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsRigidBodyAPI"])
    {
    }
    def PhysicsFixedJoint "Pin"
    {
        rel physics:body1 = </World/Box>
        quatd physics:localRot0 = (0.7071068, 0.7071068, 0, 0)
        quatd physics:localRot1 = (0.7071068, 0.7071068, 0, 0)
    }
}
"""


def test_a_rotation_of_double_precision_is_imported_and_keeps_its_type(tmp_path):
    said = [issue.code for issue in load(tmp_path, TURNED).issues]
    assert "WrongValueType" in said
    stage, _ = write(tmp_path)
    rotation = stage.GetAttributeAtPath("/World/Pin.physics:localRot0")
    assert str(rotation.GetPropertyStack()[0].typeName) == "quatd"
    assert rotation.Get().GetReal() == pytest.approx(0.7071068)


def test_the_command_line_names_what_other_programs_ignore(tmp_path, capsys):
    (tmp_path / "bare.usda").write_text(HEAD + BARE.replace("float physics:density", "double physics:density"))
    assert cli.main(["validate", str(tmp_path / "bare.usda")]) == 0
    said = capsys.readouterr().out
    assert "WrongValueType" in said and "BindingNotApplied" in said


def test_a_new_physics_material_has_its_schema(tmp_path):
    load(tmp_path, BARE)
    made = new_material("Ice")
    made.usdphys.physics_material.is_applied = True
    bpy.data.objects["Ball"].usdphys.physics_material = made
    stage, _ = write(tmp_path)
    assert has_binding_api(stage, "/World/Ball")
    material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/Ball")).ComputeBoundMaterial("physics")
    assert material.GetPath().name == "Ice"


def test_a_new_material_of_a_collider_is_bound(tmp_path):
    load(tmp_path, HEAVY)
    for name in ("Box", "Wedge"):
        bpy.data.objects[name].material_slots[0].material = new_material("New")
    stage, _ = write(tmp_path)
    for path in ("/World/Body/Box", "/World/Body/Wedge"):
        material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath(path)).ComputeBoundMaterial()
        assert has_binding_api(stage, path)
        assert material.GetPath().name.startswith("New")


# --------------------------------------------------------------------------- values that Blender has no place for


def test_an_unknown_approximation_comes_back_unless_another_is_chosen(tmp_path):
    text = HEAVY.replace('"convexHull"', '"sdf"')
    load(tmp_path, text)
    stage, _ = write(tmp_path)
    assert value(stage, "/World/Body/Wedge.physics:approximation") == "sdf"
    bpy.data.objects["Wedge"].usdphys.colliders[0].approximation = "boundingCube"
    stage, _ = write(tmp_path)
    assert value(stage, "/World/Body/Wedge.physics:approximation") == "boundingCube"


SHAPES = """
def Xform "World"
{
    def Sphere "Site" (prepend apiSchemas = ["MjcSiteAPI", "MaterialBindingAPI"])
    {
        double radius = 0.02
        token purpose = "guide"
        rel material:binding = </World/Red>
        uniform token mjc:type = "sphere"
        double3 xformOp:translate = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Cylinder "Post"
    {
        double height = 3
        uniform token axis = "X"
        token visibility = "invisible"
    }
    def Cube "Block"
    {
        color3f[] primvars:displayColor = [(1, 0, 0)]
        token purpose = "render"
    }
    def Cube "Stone" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 0.5
        float3[] extent = [(-0.25, -0.25, -0.25), (0.25, 0.25, 0.25)]
        color3f[] primvars:displayColor = [(0, 1, 0)]
    }
    def Xform "Group"
    {
        token visibility = "invisible"
        token purpose = "proxy"
    }
    def Material "Red"
    {
        token outputs:surface.connect = </World/Red/S.outputs:surface>
        def Shader "S"
        {
            uniform token info:id = "UsdPreviewSurface"
            token outputs:surface
        }
    }
}
"""


def test_visual_gprims_stay_what_they_are(tmp_path):
    stage = trip(tmp_path, SHAPES)
    types = {name: stage.GetPrimAtPath(f"/World/{name}").GetTypeName() for name in ("Site", "Post", "Block")}
    assert types == {"Site": "Sphere", "Post": "Cylinder", "Block": "Cube"}
    assert value(stage, "/World/Site.radius") == 0.02
    assert value(stage, "/World/Site.mjc:type") == "sphere"
    assert value(stage, "/World/Post.height") == 3
    assert value(stage, "/World/Post.axis") == "X"
    assert list(value(stage, "/World/Block.primvars:displayColor")) == [(1, 0, 0)]
    assert list(value(stage, "/World/Stone.primvars:displayColor")) == [(0, 1, 0)]
    material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/Site")).ComputeBoundMaterial()
    assert str(material.GetPath()) == "/World/Red"
    assert not stage.GetPrimAtPath("/World/Site").GetAttribute("points").HasAuthoredValue()


def test_a_visual_gprim_whose_mesh_was_edited_becomes_a_mesh(tmp_path):
    load(tmp_path, SHAPES)
    bpy.data.objects["Site"].data.vertices[0].co.x += 1
    stage, _ = write(tmp_path)
    assert stage.GetPrimAtPath("/World/Site").GetTypeName() == "Mesh"
    assert not stage.GetPrimAtPath("/World/Site").HasAttribute("radius")
    assert value(stage, "/World/Site.purpose") == "guide"


def test_purpose_and_visibility_come_back(tmp_path):
    stage = trip(tmp_path, SHAPES)
    assert value(stage, "/World/Site.purpose") == "guide"
    assert value(stage, "/World/Block.purpose") == "render"
    assert value(stage, "/World/Group.purpose") == "proxy"
    assert value(stage, "/World/Post.visibility") == "invisible"
    assert value(stage, "/World/Group.visibility") == "invisible"


def test_a_cube_without_its_collider_is_still_a_cube(tmp_path):
    load(tmp_path, SHAPES)
    bpy.data.objects["Stone"].usdphys.colliders.clear()
    stage, _ = write(tmp_path)
    stone = stage.GetPrimAtPath("/World/Stone")
    assert stone.GetTypeName() == "Cube"
    assert stone.GetAttribute("size").Get() == 0.5
    assert stone.GetAppliedSchemas() == ["PhysicsRigidBodyAPI"]


# --------------------------------------------------------------------------- prims that Blender does not know

OTHERS = """
def Xform "World"
{
    def "iris" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"])
    {
        custom string myTag = "hello"
        float physxRigidBody:angularDamping = 0.3
        double3 xformOp:translate = (0, 0, 0.9)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 1
        }
    }
    def DomeLight "Dome"
    {
        float inputs:intensity = 500
        asset inputs:texture:file = @sky.hdr@
    }
    def TetMesh "Soft" (prepend apiSchemas = ["PhysicsVolumeDeformableSimAPI", "PhysicsCollisionAPI"])
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int4[] tetVertexIndices = [(0, 1, 2, 3)]
        double3 xformOp:translate = (1, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Points "Dust"
    {
        int64[] ids = [7, 9]
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
        float[] widths = [0.1, 0.2]
    }
    def Camera "Eye"
    {
        token projection = "orthographic"
        float horizontalAperture = 50
        float focalLength = 35
    }
    def CylinderLight "Tube"
    {
        float inputs:intensity = 12
        float inputs:length = 3
    }
}
"""


def test_prims_that_blender_does_not_know_come_back(tmp_path):
    stage = trip(tmp_path, OTHERS)
    iris = stage.GetPrimAtPath("/World/iris")
    assert iris.GetTypeName() == ""
    assert iris.GetPrimTypeInfo().GetAppliedAPISchemas() == ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"]
    assert value(stage, "/World/iris.myTag") == "hello"
    assert value(stage, "/World/iris.xformOp:translate") == (0, 0, 0.9)
    assert list(value(stage, "/World/iris.xformOpOrder")) == ["xformOp:translate"]
    assert stage.GetPrimAtPath("/World/Dome").GetTypeName() == "DomeLight"
    assert value(stage, "/World/Dome.inputs:texture:file").path == "sky.hdr"
    assert stage.GetPrimAtPath("/World/Soft").GetTypeName() == "TetMesh"
    assert list(value(stage, "/World/Soft.tetVertexIndices")) == [(0, 1, 2, 3)]
    assert value(stage, "/World/Soft.xformOp:translate") == (1, 0, 0)
    assert list(value(stage, "/World/Dust.ids")) == [7, 9]
    assert value(stage, "/World/Eye.projection") == "orthographic"
    assert value(stage, "/World/Eye.horizontalAperture") == 50
    assert stage.GetPrimAtPath("/World/Tube").GetTypeName() == "CylinderLight"
    assert value(stage, "/World/Tube.inputs:length") == 3


def test_an_edited_camera_is_written_by_blender(tmp_path):
    load(tmp_path, OTHERS)
    bpy.data.cameras[0].type = "PERSP"
    stage, _ = write(tmp_path)
    assert stage.GetPrimAtPath("/World/Eye").GetTypeName() == "Camera"
    assert value(stage, "/World/Eye.projection") == "perspective"


def test_a_part_of_a_file_brings_no_unbound_materials_of_the_rest(tmp_path):
    path = tmp_path / "in.usda"
    path.write_text(HEAD + INTERFACE)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(prim_path="/World/Plate"))
    for material in list(bpy.data.materials):
        if material.name == "Free":
            bpy.data.materials.remove(material)
    stage, _ = write(tmp_path)
    assert stage.GetPrimAtPath("/World/Plate")
    assert not stage.GetPrimAtPath("/World/Looks/Free")


# --------------------------------------------------------------------------- animation

MOVING = """
def Xform "World"
{
    def Cube "Lift" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        bool physics:kinematicEnabled = 1
        double3 xformOp:translate.timeSamples = {
            0: (0, 0, 0),
            48: (5, 0, 0),
        }
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Xform "Door"
    {
        float xformOp:rotateZ.timeSamples = {
            0: 0,
            24: 45,
            48: 90,
        }
        uniform token[] xformOpOrder = ["xformOp:rotateZ"]
    }
}
"""
TIMES = HEAD.replace("metersPerUnit", "startTimeCode = 0\n    endTimeCode = 48\n    metersPerUnit")


@pytest.mark.parametrize("animation", [False, True])
def test_animation_of_the_file_comes_back(tmp_path, animation):
    load(tmp_path, MOVING, TIMES)
    stage, codes = write(tmp_path, animation=animation)
    assert "AnimationLeftOut" not in codes
    lift = stage.GetAttributeAtPath("/World/Lift.xformOp:translate")
    assert {time: lift.Get(time) for time in lift.GetTimeSamples()} == {0: (0, 0, 0), 48: (5, 0, 0)}
    assert stage.GetAttributeAtPath("/World/Door.xformOp:rotateZ").GetTimeSamples() == [0, 24, 48]


def test_a_new_scene_has_the_frames_of_the_file_and_shows_its_begin(tmp_path):
    load(tmp_path, MOVING, TIMES)
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (0, 48, 0)
    assert bpy.data.objects["Lift"].matrix_world.translation.x == 0


def test_a_scene_with_its_own_frames_keeps_them(tmp_path):
    path = tmp_path / "in.usda"
    path.write_text(TIMES + MOVING)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = 100
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 100)


def test_animation_that_is_not_written_is_named(tmp_path):
    load(tmp_path, MOVING, TIMES)
    door = bpy.data.objects["Door"]
    for frame, height in ((0, 1.0), (48, 2.0)):
        door.location.z = height
        door.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    result = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions(form="composed"))
    (issue,) = [issue for issue in result.issues if issue.code == "AnimationLeftOut"]
    assert "'Door'" in issue.message and "--animation" in issue.fix
    _, codes = write(tmp_path, animation=True)
    assert "AnimationLeftOut" not in codes


DRIVEN = """
def Xform "World"
{
    def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
    def PhysicsRevoluteJoint "Lift" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        rel physics:body1 = </World/Arm>
        float drive:angular:physics:stiffness = 10
    }
}
"""


def test_keyframes_of_physics_alone_are_no_motion_that_is_left_out(tmp_path):
    load(tmp_path, DRIVEN)
    joint = bpy.data.objects["Lift"]
    for frame, angle in ((1, 0.0), (40, 0.8)):
        joint.usdphys.joint.drives.angular.target_position = angle
        joint.keyframe_insert("usdphys.joint.drives.angular.target_position", frame=frame)
    assert write(tmp_path)[1] & {"AnimationLeftOut", "AnimatedValueLeftOut"} == {"AnimatedValueLeftOut"}
    joint.keyframe_insert("location", frame=1)
    assert "AnimationLeftOut" in write(tmp_path)[1]


# --------------------------------------------------------------------------- colliders without faces

FACELESS = """
def Xform "World"
{
    def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        def Mesh "Empty" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {
            uniform token physics:approximation = "convexHull"
        }
    }
    def Mesh "Points" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
        bool physics:collisionEnabled = 0
    }
}
"""


@pytest.mark.parametrize("form", ["composed", "copy"])
def test_a_mesh_collider_without_faces_stays_in_the_file_and_is_named(tmp_path, form):
    """Nothing collides with it, but another program may fill in its faces."""
    load(tmp_path, FACELESS)
    bpy.context.view_layer.update()
    result = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions(form=form))
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    empty, points = (stage.GetPrimAtPath(path) for path in ("/World/Body/Empty", "/World/Points"))
    assert {"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"} == set(empty.GetAppliedSchemas())
    assert value(stage, "/World/Body/Empty.physics:approximation") == "convexHull"
    assert set(points.GetAppliedSchemas()) == {"PhysicsCollisionAPI"}
    assert value(stage, "/World/Points.physics:collisionEnabled") is False
    named = [issue.path for issue in result.issues if issue.code == "ColliderWithoutGeometry"]
    assert sorted(named) == ["/World/Body/Empty", "/World/Points"]
    assert "ColliderEmptyMesh" not in {issue.code for issue in result.issues}  # once is enough


# --------------------------------------------------------------------------- precision


@pytest.mark.parametrize("animation", [False, True])
@pytest.mark.parametrize("pitch", [89.9, 89.99, 90.0, 90.001])
def test_a_pitch_near_ninety_degrees_is_exact(tmp_path, pitch, animation):
    """Euler angles lose a yaw of 30 degrees there; the world matrix has 32-bit precision."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.mesh.primitive_cube_add(size=1)
    cube: Any = bpy.context.object
    cube.rotation_euler = [math.radians(angle) for angle in (20, pitch, 30)]
    if animation:
        cube.keyframe_insert("rotation_euler", frame=1)
    cube.usdphys.rigid_body.is_applied = True
    stage, _ = write(tmp_path, animation=animation)
    world = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/root/Cube"))
    expected = [part for column in zip(*cube.matrix_world, strict=True) for part in column]
    assert [part for row in world for part in row] == pytest.approx(expected, abs=1e-6)


def test_a_filter_against_a_group_that_the_file_has_not_stays(tmp_path):
    stage = trip(
        tmp_path,
        """
def PhysicsCollisionGroup "Debris"
{
    rel physics:filteredGroups = </Elsewhere/Debris>
}
""",
    )
    filtered = stage.GetPrimAtPath("/Debris").GetRelationship("physics:filteredGroups")
    assert [str(path) for path in filtered.GetTargets()] == ["/Elsewhere/Debris"]


def test_curves_that_collide_stay_curves_also_empty_ones(tmp_path):
    """Blender writes an Xform for curves without points."""
    curves = (("Rope", "[2]", "[(0, 0, 0), (1, 0, 0)]"), ("None", "[]", "[]"))
    load(tmp_path, "".join(
        f'def BasisCurves "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n'
        f'    uniform token type = "linear"\n    int[] curveVertexCounts = {counts}\n'
        f"    point3f[] points = {points}\n}}\n"
        for name, counts, points in curves
    ))  # fmt: skip
    stage, codes = write(tmp_path)
    assert "ColliderNotGprim" not in codes
    for name in ("Rope", "None"):
        prim = stage.GetPrimAtPath(f"/{name}")
        assert prim.GetTypeName() == "BasisCurves" and "PhysicsCollisionAPI" in prim.GetAppliedSchemas()


@pytest.mark.parametrize("seed", range(3))
def test_prims_have_the_order_of_the_file_on_each_level(tmp_path, seed):
    chance = random.Random(seed)

    def tree(depth: int) -> str:
        names = [f"{kind}{number}" for number in range(chance.randint(3, 6)) for kind in ("a", "b")]
        chance.shuffle(names)
        # Those of one of the levels are in the order of their names, as Blender may have them.
        names = sorted(names) if depth == chance.randint(0, 3) else names
        return "".join(
            f'def Xform "{name}" {{\n{tree(depth - 1)}}}\n' if depth and chance.random() < 0.4 else
            f'def Cube "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{\n}}\n' for name in names
        )  # fmt: skip

    text = f'def Xform "World"\n{{\n{tree(2)}}}\n'
    stage = trip(tmp_path, text)
    before = Sdf.Layer.CreateAnonymous(".usda")
    before.ImportFromString("#usda 1.0\n" + text)
    source = Usd.Stage.Open(before)
    wanted = [str(prim.GetPath()) for prim in source.Traverse()]
    assert [str(prim.GetPath()) for prim in stage.Traverse()] == wanted
    assert all(prim.GetTypeName() in ("Xform", "Cube") for prim in stage.Traverse())


def test_hundreds_of_siblings_have_the_order_of_the_file(tmp_path):
    """They are put in order in another way than a few."""
    chance = random.Random(4)

    def several(kind: str, count: int, inside: Any = lambda index: "") -> str:
        numbers = chance.sample(range(count), count)
        return "".join(f'def Xform "{kind}{number}"\n{{\n{inside(number)}}}\n' for number in numbers)

    few = several("c", 9)
    many = several("b", 600, lambda number: few if number % 200 == 0 else "")
    text = f'def Xform "World"\n{{\n{several("a", 7, lambda number: many if number == 3 else few)}}}\n'
    stage = trip(tmp_path, text)
    before = Sdf.Layer.CreateAnonymous(".usda")
    before.ImportFromString("#usda 1.0\n" + text)
    source = Usd.Stage.Open(before)
    assert [str(prim.GetPath()) for prim in stage.Traverse()] == [str(prim.GetPath()) for prim in source.Traverse()]
    assert list(stage.GetRootLayer().rootPrims.keys()) == ["World"]


def test_bodies_of_a_point_instancer_are_in_the_file_as_before_also_where_errors_forbid_it(tmp_path):
    """No object stands for its prototype, so that the file has more bodies than the scene."""
    load(
        tmp_path,
        """def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
    def PointInstancer "Grains"
    {
        rel prototypes = </World/Grains/Grain>
        int[] protoIndices = [0, 0]
        point3f[] positions = [(0, 0, 2), (2, 0, 2)]
        def Sphere "Grain" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
        {
            double radius = 0.2
        }
    }
}
""",
    )
    stage, codes = write(tmp_path, strict=True)
    assert "FileDiffers" not in codes
    assert "PhysicsRigidBodyAPI" in stage.GetPrimAtPath("/World/Grains/Grain").GetAppliedSchemas()


def test_the_imported_file_is_not_replaced_by_what_blender_composes(tmp_path):
    load(tmp_path, 'def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}\n')
    before = (tmp_path / "in.usda").read_bytes()
    box = bpy.data.objects["Box"]
    for frame in (1, 9):
        box.location.x = frame
        box.keyframe_insert("location", frame=frame)
    for form in ("auto", "composed"):
        with pytest.raises(OutputError, match="is the input itself"):
            formats.USD.write(str(tmp_path / "in.usda"), formats.WriteOptions(form=form, animation=True))
    assert (tmp_path / "in.usda").read_bytes() == before
