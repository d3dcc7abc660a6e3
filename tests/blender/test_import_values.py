"""What an import leaves in Blender: nothing of the file is lost on a save, nothing is said that is not so."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge.property_types import values_only
from usdphys_ext.usdphys_addon.bridge.property_units import PropertyReader, PropertyWriter
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.exchange import usd_import

from . import scenes


def import_usd(path: Path, text: str, **options: Any) -> Any:
    path.write_text(f'#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n{text}')
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(**options))


STAGE_WIDE = """
def Scope "Looks"
{
    def Material "Unused" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.125
    }
}
def PhysicsScene "Scene"
{
    float physics:gravityMagnitude = 1.5
}
def PhysicsCollisionGroup "Group" (prepend apiSchemas = ["CollectionAPI:colliders"])
{
    prepend rel collection:colliders:includes = </Box>
}
def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    double size = 1
}
"""


def test_what_lives_in_the_scene_and_in_materials_is_not_missed(tmp_path):
    result = import_usd(tmp_path / "stage.usda", STAGE_WIDE)
    assert result.issues == []
    assert result.counts == {"scenes": 1, "materials": 1, "colliders": 1, "groups": 1}


@pytest.mark.parametrize("attach", [False, True])
def test_a_physics_material_that_nothing_uses_is_still_there_after_a_save(tmp_path, attach):
    import_usd(tmp_path / "stage.usda", STAGE_WIDE, attach=attach)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "stage.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "stage.blend"))
    assert bpy.data.materials["Unused"].usdphys.physics_material.dynamic_friction == 0.125


TWO_SCENES = """
def Scope "Low"
{
    def PhysicsScene "Scene"
    {
        float physics:gravityMagnitude = 1
    }
}
def Scope "High"
{
    def PhysicsScene "Scene"
    {
        float physics:gravityMagnitude = 2
    }
}
def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    rel physics:simulationOwner = </High/Scene>
}
"""


def test_physics_scenes_of_one_name_are_told_apart(tmp_path):
    import_usd(tmp_path / "scenes.usda", TWO_SCENES)
    gravity = {item.name: item.gravity_magnitude for item in bpy.context.scene.usdphys.physics_scenes}
    assert sorted(gravity.values()) == [1.0, 2.0]
    assert gravity[bpy.data.objects["Box"].usdphys.rigid_body.simulation_owner] == 2.0


VARIANTS = """
def Xform "Robot" (
    variants = { string color = "red" }
    prepend variantSets = "color"
)
{
    variantSet "color" = {
        "red" { }
        "blue" { }
    }
}
"""


@pytest.mark.parametrize(("chosen", "remembered"), [("red", ""), ("blue", "/Robot{color=blue}")])
def test_only_a_variant_that_is_not_selected_in_the_file_is_remembered(tmp_path, chosen, remembered):
    file = tmp_path / "robot.usda"
    file.write_text(f'#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n{VARIANTS}')
    assert bpy.ops.usdphys.import_usd(filepath=str(file), variants=f"/Robot{{color={chosen}}}") == {"FINISHED"}
    assert bpy.context.scene.usdphys.source.variants == remembered


UNEVEN = """
def Xform "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Capsule "Hull" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double radius = 0.5
        double height = 2
        uniform token axis = "Z"
        float3 xformOp:scale = (2, 1, 3)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
}
"""


def test_a_round_collider_that_is_attached_is_as_thick_as_its_largest_scale_across(tmp_path):
    crate = scenes.add_box("Crate")
    import_usd(tmp_path / "crate.usda", UNEVEN, attach=True)
    (item,) = crate.usdphys.colliders
    assert (item.shape, item.axis) == ("CAPSULE", "Z")
    assert (item.radius, item.height) == pytest.approx((1.0, 6.0))


def test_guide_colliders_are_wires_that_no_render_shows(tmp_path):
    import_usd(tmp_path / "guide.usda", """
def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Cube "Hull" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        uniform token purpose = "guide"
        double size = 1
    }
    def Cube "Skin" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
    }
}
""")  # fmt: skip
    shown = {name: (bpy.data.objects[name].display_type, bpy.data.objects[name].hide_render)
             for name in ("Hull", "Skin")}  # fmt: skip
    assert shown == {"Hull": ("WIRE", True), "Skin": ("TEXTURED", False)}


VALUES = [
    (usd_physics.MassAPI(mass=2.5, density=3, center_of_mass=(1.0, 2.0, 4.0)),
     {"mass": 2.5, "density": 3.0, "center_of_mass": (10.0, 20.0, 40.0)}),
    (usd_physics.MassAPI(mass=True, density="3", center_of_mass=(1.0, 2.0)), {}),
    (usd_physics.RigidBodyAPI(rigid_body_enabled=False, kinematic_enabled=1.0, velocity=(0.0, 0.5, -0.0)),
     {"rigid_body_enabled": False, "velocity": (0.0, 5.0, 0.0)}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_values_of_another_type_are_left_out_and_the_others_are_in_the_units_of_the_scene(value, expected):
    physics = scenes.add("Thing").usdphys
    group = physics.mass if isinstance(value, usd_physics.MassAPI) else physics.rigid_body
    with values_only():
        PropertyWriter(0.1, 0.1).write(group, value)
    found = {name: tuple(each) if hasattr(each := getattr(group, name), "__len__") else each for name in group.keys()}
    assert found == {name: pytest.approx(each) for name, each in expected.items()}


def test_unknown_words_are_no_values_and_gains_follow_the_type_of_their_drive():
    physics = scenes.add("Thing").usdphys
    writer = PropertyWriter(1.0, 1.0)
    item = physics.colliders.add()
    writer.write(item, usd_physics.MeshCollisionAPI(approximation="sdf"))
    assert not item.is_property_set("approximation")
    writer.write(item, usd_physics.MeshCollisionAPI(approximation="boundingCube"))
    assert item.approximation == "boundingCube"
    for dof, kind in (("rotX", "force"), ("rotY", "acceleration")):
        drive = usd_physics.DriveAPI(type=kind, stiffness=180.0, max_force=math.inf)
        group = getattr(physics.joint.drives, dof)
        writer.write(group, drive, instance=dof)
        assert (group.type, group.stiffness) == (kind, pytest.approx(math.pi))
        assert PropertyReader(1.0).read(group, usd_physics.DriveAPI, angular=True).max_force == math.inf
