# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported scene that Blender composes anew: what Blender loses on its way is restored, or named."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.exchange import formats, usd_import

from pxr import Usd, UsdShade  # isort: skip

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
    return Usd.Stage.Open(str(folder / "out.usda")), {issue.code for issue in result.issues}


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
