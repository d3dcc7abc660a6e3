# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of MaterialX beside UsdPreviewSurface, where Blender writes them, and what is said where it does not."""

import bpy
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.exchange import materialx, scene_export, usd_export, usd_import

from pxr import Usd, UsdShade  # isort: skip

SOURCE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Scope "Looks"
    {
        def Material "Paint"
        {
            token outputs:surface.connect = </World/Looks/Paint/Shader.outputs:surface>
            token outputs:mtlx:surface.connect = </World/Looks/Paint/Old.outputs:surface>
            token outputs:mdl:surface.connect = </World/Looks/Paint/Mdl.outputs:out>
            def Shader "Shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (0.1, 0.2, 0.3)
                token outputs:surface
            }
            def Shader "Old"
            {
                uniform token info:id = "ND_standard_surface_surfaceshader"
                token outputs:surface
            }
            def Shader "Mdl"
            {
                token outputs:out
            }
        }
    }
    def Mesh "Plate" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI"])
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        uniform token subdivisionScheme = "none"
        rel material:binding = </World/Looks/Paint>
    }
}
"""


def crate(name="Crate", color=(0.25, 0.5, 0.75)):
    """A dynamic cube with a material of its own."""
    bpy.ops.mesh.primitive_cube_add(size=1)
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    material = bpy.data.materials.new(f"{name}Look")
    if bpy.app.version < (5, 0):
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1.0)
    obj.data.materials.append(material)
    return material


def imported(tmp_path):
    (tmp_path / "source.usda").write_text(SOURCE)
    usd_import.import_usd(
        bpy.context, tmp_path / "source.usda", usd_import.ImportOptions(), usd_import.LateProgress()
    )  # fmt: skip
    return bpy.data.materials["Paint"]


def export(tmp_path, form="auto", **options):
    target = tmp_path / "out.usda"
    result = scene_export.export_scene(bpy.context, target, usd_export.ExportOptions(**options), form)
    return result, Usd.Stage.Open(str(target))


def networks(stage):
    """Identifier of the surface of MaterialX by name of the material; empty where it has none."""
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdShade.Material):
            surface = UsdShade.Material(prim).ComputeSurfaceSource("mtlx")[0]
            shader = surface.GetIdAttr().Get() if surface else ""
            found[prim.GetName()] = shader if str(shader).startswith("ND_") else ""
    return found


def test_materials_have_a_network_of_materialx_if_one_asks_for_it(tmp_path):
    crate()
    assert networks(export(tmp_path)[1]) == {"CrateLook": ""}
    result, stage = export(tmp_path, materialx=True)
    assert networks(stage) == {"CrateLook": "ND_open_pbr_surface_surfaceshader"}
    surface = UsdShade.Material(next(prim for prim in stage.Traverse() if prim.IsA(UsdShade.Material)))
    color = surface.ComputeSurfaceSource("mtlx")[0].GetInput("base_color").Get()
    assert tuple(color) == pytest.approx((0.25, 0.5, 0.75))
    assert not [issue for issue in result.issues if issue.code in ("MaterialXMissing", "FileDiffers")]


def test_a_build_of_blender_without_materialx_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(materialx, "options", lambda *, wanted: {})
    bpy.ops.mesh.primitive_cube_add()
    bare, _ = export(tmp_path, materialx=True)
    assert not [issue for issue in bare.issues if issue.code == "MaterialXMissing"]
    crate()
    result, _ = export(tmp_path, materialx=True)
    (issue,) = [issue for issue in result.issues if issue.code == "MaterialXMissing"]
    assert bpy.app.version_string in issue.message and "CrateLook" in issue.path


@pytest.mark.slow
@pytest.mark.parametrize("form", ["copy", "layer", "flat"])
def test_materials_of_a_file_stay_until_they_are_edited_and_new_ones_have_a_network(tmp_path, form):
    paint = imported(tmp_path)
    crate()
    new = networks(export(tmp_path, form, materialx=True)[1])
    assert new.pop("CrateLook") and new == {"Paint": "ND_standard_surface_surfaceshader"}
    paint.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.9, 0.8, 0.7, 1.0)
    result, stage = export(tmp_path, form, materialx=True)
    surface = UsdShade.Material(stage.GetPrimAtPath("/World/Looks/Paint"))
    for context, name in (("mtlx", "base_color"), ("", "diffuseColor")):
        color = surface.ComputeSurfaceSource(context)[0].GetInput(name).Get()
        assert tuple(color) == pytest.approx((0.9, 0.8, 0.7)), context
    (kept,) = [issue for issue in result.issues if issue.code == "ShaderKept"]
    assert "outputs:mdl:surface" in kept.message and "mtlx" not in kept.message


def test_shaders_of_other_renderers_that_an_edit_leaves_behind_are_named(tmp_path):
    paint = imported(tmp_path)
    assert not [issue for issue in export(tmp_path, "copy")[0].issues if issue.code == "ShaderKept"]
    paint.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.9, 0.8, 0.7, 1.0)
    (kept,) = [issue for issue in export(tmp_path, "copy")[0].issues if issue.code == "ShaderKept"]
    assert kept.label == "Paint" and "outputs:mdl:surface" in kept.message and "outputs:mtlx:surface" in kept.message


def test_materialx_is_an_option_of_the_window_and_of_the_command_line(tmp_path):
    crate()
    target = tmp_path / "window.usda"
    assert bpy.ops.usdphys.export_usd(filepath=str(target), materialx=True) == {"FINISHED"}
    assert networks(Usd.Stage.Open(str(target)))["CrateLook"]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"))
    target = tmp_path / "line.usda"
    assert cli.main(["convert", str(tmp_path / "in.blend"), str(target), "--materialx"]) == 0
    assert networks(Usd.Stage.Open(str(target)))["CrateLook"]
    assert cli.main(["convert", str(tmp_path / "in.blend"), str(tmp_path / "line.glb"), "--materialx"]) == 2
