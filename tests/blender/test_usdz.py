# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages (.usdz) that are imported, edited and written as packages again."""

import base64
import shutil
import zipfile

import bpy
import pytest
from pxr import Sdf, Usd, UsdPhysics, UsdUtils
from usdphys_ext.usdphys_addon import api

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
BOX = """#usda 1.0
(
    defaultPrim = "Box"
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Box" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI", "MaterialBindingAPI"]
)
{
    float physics:mass = 2
    rel material:binding = </Box/Red>
    def Material "Red"
    {
        token outputs:surface.connect = </Box/Red/Surface.outputs:surface>
        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Box/Red/Image.outputs:rgb>
            token outputs:surface
        }
        def Shader "Image"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./red.png@
            float3 outputs:rgb
        }
    }
}
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "red.png").write_bytes(PNG)
    (tmp_path / "box.usda").write_text(BOX)
    UsdUtils.CreateNewUsdzPackage(str(tmp_path / "box.usda"), str(tmp_path / "box.usdz"))
    (tmp_path / "red.png").unlink()
    api.import_file(tmp_path / "box.usdz")
    bpy.data.objects["Box"].usdphys.mass.mass = 5.0
    return tmp_path / "box.usdz"


@pytest.mark.parametrize("form", ["copy", "flat"])
def test_an_edited_package_holds_its_images_and_not_the_package_that_it_came_from(form, package, tmp_path):
    """Readers on the web and on telephones know no packages in packages, and no word said that one was in it."""
    result = api.export(tmp_path / "edited.usdz", form=form)
    names = zipfile.ZipFile(tmp_path / "edited.usdz").namelist()
    images = [name for name in names if name.endswith(".png")]
    assert len(names) == 1 + len(images) and names[0].startswith("edited.usd")
    (said,) = [issue.message for issue in result.issues if issue.code == "FilesPacked"]
    assert all(f"'{name}'" in said for name in images)
    package.unlink()
    (tmp_path / "away").mkdir()
    shutil.move(tmp_path / "edited.usdz", tmp_path / "away" / "moved.usdz")
    stage = Usd.Stage.Open(str(tmp_path / "away" / "moved.usdz"))
    box = stage.GetDefaultPrim()
    assert UsdPhysics.MassAPI(box).GetMassAttr().Get() == 5.0
    image = next(prim for prim in stage.Traverse() if prim.GetName() == "Image").GetAttribute("inputs:file").Get()
    assert isinstance(image, Sdf.AssetPath) and image.resolvedPath.endswith("red.png]")


@pytest.mark.parametrize("form", ["copy", "flat", "composed"])
def test_nothing_is_said_to_be_missing_that_is_packed(form, package, tmp_path, capfd):
    """USD warned that it failed to resolve images of the package that was imported, and had packed them."""
    api.export(tmp_path / "edited.usdz", form=form)
    assert "Failed to resolve" not in "".join(capfd.readouterr())
    stage = Usd.Stage.Open(str(tmp_path / "edited.usdz"))
    files = [value for prim in stage.Traverse() for attribute in prim.GetAttributes()
             if isinstance(value := attribute.Get(), Sdf.AssetPath)]  # fmt: skip
    assert files and all(value.resolvedPath.endswith("red.png]") for value in files)
