"""Relationships of simulators' schemas: imported, followed in the preview, edited and exported."""

import math
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import mirroring, vendor_edits, vendor_prims
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.exchange import source_export, usd_import
from usdphys_ext.usdphys_addon.simulation.world import World

from . import scenes
from .test_joint_tools import select

ROBOT = """#usda 1.0
(
    defaultPrim = "Robot"
    metersPerUnit = 0.01
    upAxis = "Z"
)
def PhysicsScene "Scene"
{
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 0
}
def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def Cube "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 20
        rel physxVehicle:drive = [</Robot/Motor>, </Robot/Gears>]
        double3 xformOp:translate = (100, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Cube "Finger" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 20
        double3 xformOp:translate = (-100, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def PhysicsRevoluteJoint "Leads" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        rel physics:body1 = </Robot/Arm>
        uniform token physics:axis = "Z"
        point3f physics:localPos0 = (100, 0, 0)
        uniform token drive:angular:physics:type = "acceleration"
        float drive:angular:physics:damping = 1000
        float drive:angular:physics:targetVelocity = 40
    }
    def PhysicsRevoluteJoint "Follows" (prepend apiSchemas = ["NewtonMimicAPI", "PhysxMimicJointAPI:rotZ"])
    {
        rel physics:body1 = </Robot/Finger>
        uniform token physics:axis = "Z"
        point3f physics:localPos0 = (-100, 0, 0)
        float newton:mimicCoef1 = 2
        rel newton:mimicJoint = </Robot/Leads>
        rel physxMimicJoint:rotZ:referenceJoint = </Robot/Gone>
    }
    def AcmeThing "Motor" {}
    def AcmeThing "Gears" {}
}
"""


def imported(folder: Path, changed: Any = str) -> Any:
    file = folder / "robot.usda"
    file.write_text(changed(ROBOT.replace('"PhysicsCollisionAPI"]', '"PhysicsCollisionAPI", "PhysxVehicleAPI"]', 1)))
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    return bpy.data.objects


def test_an_imported_joint_follows_its_leader_in_the_preview(tmp_path):
    imported(tmp_path)
    model = scenes.read_model()
    world, paths = World(model), {prim.name: path for path, prim in model.joints.items()}
    for _ in range(round(1.0 / world.time_step)):
        world.step()
    found = world.joint_position(paths["Follows"], "angular")
    assert found == pytest.approx(2 * world.joint_position(paths["Leads"], "angular"), abs=0.01)
    assert found == pytest.approx(math.radians(80), abs=0.03)


def test_a_target_with_an_object_follows_its_name(tmp_path):
    objects = imported(tmp_path)
    row = vendor_rows.row_of(objects["Follows"].usdphys, "newton:mimicJoint")
    assert row.target == objects["Leads"] and row.text == ""
    objects["Leads"].name = "Master"
    stage, _ = scenes.export(tmp_path / "out.usda")
    (target,) = scenes.targets(scenes.prim_of(stage, "Follows"), "newton:mimicJoint")
    assert target == str(scenes.prim_of(stage, "Master").GetPath())


def test_targets_without_an_object_stay_paths(tmp_path):
    objects = imported(tmp_path)
    rows = [row.text for row in objects["Arm"].usdphys.vendor if row.name == "physxVehicle:drive"]
    assert rows == ['["/Robot/Motor"]', '["/Robot/Gears"]']
    stage, _ = scenes.export(tmp_path / "out.usda")
    by_name = {prim.GetName(): prim for prim in stage.Traverse() if prim.HasProperty("physics:body1")}
    follows = by_name["Follows"]
    (arm,) = (prim for prim in stage.Traverse() if prim.HasProperty("physxVehicle:drive"))
    assert [path.rpartition("/")[2] for path in scenes.targets(arm, "physxVehicle:drive")] == ["Motor", "Gears"]
    assert [path.rpartition("/")[2] for path in scenes.targets(follows, "physxMimicJoint:rotZ:referenceJoint")] == [
        "Gone"
    ]


def test_an_unedited_scene_edits_nothing_of_its_source(tmp_path):
    imported(tmp_path)
    source_export.export_edits(bpy.context, tmp_path / "edits.usda", "layer")
    text = (tmp_path / "edits.usda").read_text(encoding="utf-8")
    assert "mimic" not in text and "physxVehicle" not in text


def test_an_edited_target_is_written_over_the_source(tmp_path):
    objects = imported(tmp_path)
    row = vendor_rows.row_of(objects["Follows"].usdphys, "physxMimicJoint:rotZ:referenceJoint")
    row.text, row.target = "", objects["Leads"]
    source_export.export_edits(bpy.context, tmp_path / "edits.usda", "layer")
    text = (tmp_path / "edits.usda").read_text(encoding="utf-8")
    assert "rel physxMimicJoint:rotZ:referenceJoint = </Robot/Leads>" in text and "mimicJoint =" not in text


def test_the_mirror_image_of_a_follower_follows_the_mirror_image(tmp_path):
    body = {side: scenes.solid(f"Body.{side}") for side in "LR"}
    for side in "LR":
        body[side].location.x = 1.0 if side == "L" else -1.0
    leader, follower = (scenes.add_joint(f"{name}.L", "REVOLUTE", body["L"]) for name in ("Leads", "Follows"))
    bpy.context.view_layer.objects.active = follower
    bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="mimic_joint")
    vendor_rows.row_of(follower.usdphys, "newton:mimicJoint").target = leader
    bpy.context.view_layer.update()
    select(leader, follower)
    mirroring.mirror(bpy.context, "X")
    row = vendor_rows.row_of(bpy.data.objects["Follows.R"].usdphys, "newton:mimicJoint")
    assert row.target == bpy.data.objects["Leads.R"]
    assert vendor_rows.row_of(follower.usdphys, "newton:mimicJoint").target == leader


def test_the_mirror_image_of_a_gear_couples_the_mirror_images():
    bodies = {side: [scenes.solid(f"{name}.{side}") for name in ("Big", "Small")] for side in "LR"}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for row, body in enumerate(bodies[side]):
            body.location = (sign * 1.0, 3.0 * row, 0.0)
    joints = [scenes.add_joint(f"Hinge{row}.L", "REVOLUTE", body) for row, body in enumerate(bodies["L"])]
    bpy.context.view_layer.update()
    select(*joints)
    bpy.context.view_layer.objects.active = joints[0]
    gear = vendor_prims.couple(bpy.context, ratio=3.0, radius=1.0, is_reversed=False)
    select(*joints, gear)
    mirroring.mirror(bpy.context, "X")
    image = bpy.data.objects[gear.name.replace(".L", ".R")]
    targets = {row.name: row.target for row in gear.usdphys.vendor if row.target is not None}
    flipped = {row.name: row.target for row in image.usdphys.vendor if row.target is not None}
    assert len(flipped) == 4
    assert {name: bpy.utils.flip_name(target.name) for name, target in targets.items()} == {
        name: target.name for name, target in flipped.items()
    }
    assert vendor_rows.row_of(image.usdphys, "physics:gearRatio").number == 3.0
    assert image.matrix_world.translation.x == pytest.approx(-gear.matrix_world.translation.x)


def test_a_follower_in_the_words_of_physx_is_said_in_those_of_newton():
    """PhysX: place + gearing * place of the other + offset = 0; a degree of 10 stays one, whatever the unit."""
    leader, follower = (scenes.add_joint(name, "REVOLUTE", scenes.solid(f"{name} Body", (1, 1, 1))) for name in "AB")
    thing = follower.usdphys
    for name, value in (("gearing", -2.0), ("offset", math.radians(10.0))):
        row = vendor_edits.add_attribute(
            thing, "PhysxMimicJointAPI:rotZ", f"physxMimicJoint:rotZ:{name}", bpy.context.scene
        )
        row.number = value
    # Without the joint that it follows nothing is converted, and no number is lost.
    assert not vendor_edits.convert_deprecated(bpy.context.scene, thing) and len(thing.vendor) >= 2
    row = vendor_edits.add_attribute(
        thing, "PhysxMimicJointAPI:rotZ", "physxMimicJoint:rotZ:referenceJoint", bpy.context.scene
    )
    row.target, row.text = leader, ""
    assert vendor_edits.convert_deprecated(bpy.context.scene, thing)
    assert vendor_rows.applied_names(thing) == ["NewtonMimicAPI"]
    assert vendor_rows.row_of(thing, "newton:mimicJoint").target == leader
    assert vendor_rows.row_of(thing, "newton:mimicCoef1").number == 2.0
    assert vendor_rows.row_of(thing, "newton:mimicCoef0").number == pytest.approx(math.radians(-10.0))
    assert not vendor_edits.convert_deprecated(bpy.context.scene, thing)
