"""Tasks of a person over someone else's file, as the operators of the menus do them."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.core.schemas import usd_geom

CRATES = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "World"
{
    def Mesh "Crate"
    {
        point3f[] points = [(-50, -50, -50), (50, -50, -50), (50, 50, -50), (-50, 50, -50), (-50, -50, 50), (50, -50, 50), (50, 50, 50), (-50, 50, 50)]
        int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
        int[] faceVertexIndices = [0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 2, 3, 7, 6, 1, 2, 6, 5, 0, 4, 7, 3]
        double3 xformOp:translate = (0, 300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Sphere "Ball"
    {
        double radius = 25
        double3 xformOp:translate = (200, 300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""  # noqa: E501


@pytest.mark.parametrize("separate", [False, True])
def test_a_file_of_somebody_else_becomes_dynamic_as_a_layer(tmp_path, separate):
    """Import, choose the file; Dynamic (and Parts Separately); Export Layer, confirm: what came in is selected."""
    source, layer = tmp_path / "crates.usda", tmp_path / "physics.usda"
    source.write_text(CRATES)
    before = source.read_bytes()
    assert bpy.ops.usdphys.import_usd(filepath=str(source)) == {"FINISHED"}
    assert {obj.name for obj in bpy.context.selected_objects} >= {"Crate", "Ball"}
    assert bpy.ops.usdphys.make_dynamic(separate=separate) == {"FINISHED"}
    assert bpy.ops.usdphys.export_layer(filepath=str(layer)) == {"FINISHED"}
    assert source.read_bytes() == before
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    stage = usd_read.open_stage(layer)
    model = usd_read.read_stage(stage)
    assert set(model.bodies) == ({"/World/Crate", "/World/Ball"} if separate else {"/World"})
    assert set(model.colliders) == {"/World/Crate", "/World/Ball"}
    text = layer.read_text()
    assert "points" not in text and "radius" not in text
    assert model.prims["/World/Ball"].get(usd_geom.Sphere).radius == pytest.approx(0.25)
    assert model.prims["/World/Crate"].world[:3, 3] == pytest.approx((0, 0, 3), abs=1e-6)
