# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of an imported scene in another .blend file, which does not know the imported file."""

import bpy
import pytest
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.exchange import usd_import

from pxr import Usd, UsdGeom  # isort: skip

pytestmark = pytest.mark.slow

SOURCE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double radius = 0.3
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        def Capsule "Bone" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.1
            double height = 0.6
            uniform token axis = "X"
        }
    }
    def Mesh "Wedge" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 0.8, 0), (0, 0, 0.6)]
        uniform token subdivisionScheme = "none"
    }
}
"""


def take_over(folder, *, link):
    """The objects of an imported scene in an empty one."""
    (folder / "in.usda").write_text(SOURCE)
    usd_import.import_usd(bpy.context, folder / "in.usda", usd_import.ImportOptions())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "imported.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(folder / "imported.blend"), link=link) as (there, wanted):
        wanted.objects = list(there.objects)
    for obj in wanted.objects:
        bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()


@pytest.mark.parametrize("link", [False, True], ids=["appended", "linked"])
def test_gprims_of_another_blend_stay_gprims(tmp_path, link):
    take_over(tmp_path, link=link)
    result = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions())
    assert "FileDiffers" not in [issue.code for issue in result.issues]
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    ball, bone = (stage.GetPrimAtPath(f"/root/World/{name}") for name in ("Ball", "Arm/Bone"))
    assert (ball.GetTypeName(), bone.GetTypeName()) == ("Sphere", "Capsule")
    assert UsdGeom.Sphere(ball).GetRadiusAttr().Get() == pytest.approx(0.3)
    assert UsdGeom.Capsule(bone).GetHeightAttr().Get() == pytest.approx(0.6)
    assert [prim.GetName() for prim in stage.Traverse() if prim.GetTypeName() == "Mesh"] == ["Wedge"]
