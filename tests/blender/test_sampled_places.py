# SPDX-License-Identifier: GPL-3.0-or-later
"""Places that a file has in time samples only: those of others are read as Blender shows them, ours have a default."""

import bpy
import numpy as np
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon.api import files as api
from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import

from . import scenes

#: As Houdini writes what stands still: a body of 2 m, 5 m above a floor.
FILE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
    startTimeCode = 1
    endTimeCode = 1
)
def Xform "World" {
    def PhysicsScene "PhysicsScene" {}
    def Xform "Group" {
        double3 xformOp:translate.timeSamples = { 1: (0, 0, 5) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
            double size = 1
            double3 xformOp:translate.timeSamples = { 1: (2, 0, 0) }
            float3 xformOp:scale.timeSamples = { 1: (2, 2, 2) }
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }
    }
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
        double size = 20
        double3 xformOp:translate.timeSamples = { 1: (0, 0, -10) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sampled.usda"
    path.write_text(FILE)
    return path


def place(path, name, time):
    stage = Usd.Stage.Open(str(path))
    (prim,) = [prim for prim in stage.Traverse() if prim.GetName() == name]
    return np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(prim).ExtractTranslation())


@pytest.mark.slow
def test_a_file_is_simulated_where_blender_shows_it(file):
    motion = api.simulate_file(file, 1.5, fps=60)
    assert motion.position("/World/Group/Body", 0) == pytest.approx((2, 0, 5))
    assert motion.position("Body") == pytest.approx((2, 0, 1), abs=0.01)
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    assert tuple(bpy.data.objects["Body"].matrix_world.translation) == pytest.approx((2, 0, 5))
    assert api.simulate_scene(1.5, fps=60).position("Body") == pytest.approx((2, 0, 1), abs=0.01)


@pytest.mark.parametrize("form", ["copy", "layer", "flat"])
@pytest.mark.parametrize("edited", ["", "Body", "Group", "Floor"])
def test_an_edited_file_is_written_where_blender_shows_it(file, tmp_path, form, edited):
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    if edited:
        bpy.data.objects[edited].location.y += 3
        bpy.context.view_layer.update()
    target = tmp_path / "out.usda"
    result = source_export.export_edits(bpy.context, target, form)
    assert scenes.codes(result.issues) == []
    for name in ("Body", "Floor"):
        shown = bpy.data.objects[name].matrix_world.translation
        assert place(target, name, 1) == pytest.approx(tuple(shown))


def test_an_instance_that_stands_still_has_its_place_at_the_default_time_beside_animation(tmp_path):
    """Blender writes the place of what an instance shows as one sample: a simulator would see it unscaled."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    shown = scenes.new_collection("Crates", linked=True)
    crate = scenes.solid("Crate", (0.5, 0.5, 0.5), collection=shown, scale=(3, 3, 3), location=(0, 0, 1))
    scenes.make_body(crate)
    scene.view_layers[0].layer_collection.children["Crates"].exclude = True
    scenes.add_instance("Here", shown, location=(4, 0, 0))
    target = tmp_path / "out.usda"
    result = usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(animation=True))
    assert "FileDiffers" not in [issue.code for issue in result.issues]
    stage = Usd.Stage.Open(str(target))
    (body,) = scenes.bodies_of(stage)
    world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(body)).T
    assert np.allclose(world, [[3, 0, 0, 4], [0, 3, 0, 0], [0, 0, 3, 1], [0, 0, 0, 1]], atol=1e-6)
