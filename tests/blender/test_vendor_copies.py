"""Rows of simulators and prims of their own types through copies, overrides, undo, append, mirrors and odd scales."""

from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import mirroring, vendor_edits, vendor_prims
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import

from . import scenes
from .test_joint_tools import select

GEAR = "PhysxPhysicsGearJoint"
ENDS = ("physics:hinge0", "physics:hinge1", "physics:body0", "physics:body1")


def gear_box(ratio: float = 3.0) -> Any:
    """Two hinges and their gear; an armature on the first hinge, a damping on its body, a margin on its collider."""
    bodies = [scenes.solid(name, (1, 1, 1)) for name in ("Big", "Small")]
    bodies[1].location.x = 3.0
    joints = [scenes.add_joint(f"Hinge{body.name}", "REVOLUTE", body) for body in bodies]
    bpy.context.view_layer.update()
    select(*joints)
    bpy.context.view_layer.objects.active = joints[0]
    gear = vendor_prims.couple(bpy.context, ratio=ratio, radius=1.0, is_reversed=False)
    put(joints[0].usdphys, "NewtonJointAPI", "newton:armature", 0.25)
    put(bodies[0].usdphys, "PhysxRigidBodyAPI", "physxRigidBody:linearDamping", 0.5)
    put(bodies[0].usdphys.colliders[0], "PhysxCollisionAPI", "physxCollision:contactOffset", 0.125)
    return gear


def put(thing: Any, applied: str, name: str, value: float) -> None:
    vendor_edits.add_attribute(thing, applied, name, bpy.context.scene).number = value


def number(thing: Any, name: str) -> Any:
    row = vendor_rows.row_of(thing, name)
    return None if row is None else row.number


def targets(gear: Any) -> dict[str, Any]:
    """What a gear leads to, by attribute."""
    return {row.name: row.target for row in gear.usdphys.vendor if row.target is not None}


def ends(gear: Any) -> dict[str, str]:
    """Names of what a gear leads to."""
    return {name: target.name for name, target in targets(gear).items()}


def the_gear(suffix: str = "", *, overridden: bool = False) -> Any:
    """The one gear whose name ends like that. overridden: among the library overrides."""
    (gear,) = (
        obj for obj in bpy.data.objects
        if vendor_rows.typed_schema(obj.usdphys) and obj.name.endswith(suffix)
        and (obj.override_library is not None or not overridden)
    )  # fmt: skip
    return gear


#: The active hinge is the second one.
WHOLE = {"physics:hinge0": "HingeSmall", "physics:hinge1": "HingeBig", "physics:body0": "Small",
         "physics:body1": "Big"}  # fmt: skip


def check_imported() -> Any:
    """The gear box is there; an import has given some objects numbers. Returns (gear, active hinge's body)."""
    gear = the_gear()
    assert {name: target.partition(".")[0] for name, target in ends(gear).items()} == WHOLE
    big, hinge = targets(gear)["physics:body1"], targets(gear)["physics:hinge1"]
    assert big.usdphys.rigid_body.is_applied and hinge.usdphys.joint.body0 == big
    assert number(gear.usdphys, "physics:gearRatio") == 3.0
    assert number(hinge.usdphys, "newton:armature") == 0.25
    assert number(big.usdphys, "physxRigidBody:linearDamping") == 0.5
    items = [item for obj in bpy.data.objects for item in obj.usdphys.colliders]
    assert [found for item in items if (found := number(item, "physxCollision:contactOffset"))] == [0.125]
    return gear, big


def check_box(suffix: str = "") -> None:
    """The gear box is there, its names with a suffix."""
    gear = the_gear(suffix)
    assert ends(gear) == {name: f"{target}{suffix}" for name, target in WHOLE.items()}
    assert number(gear.usdphys, "physics:gearRatio") == 3.0
    objects = bpy.data.objects
    assert number(objects[f"HingeBig{suffix}"].usdphys, "newton:armature") == 0.25
    big = objects[f"Big{suffix}"].usdphys
    assert number(big, "physxRigidBody:linearDamping") == 0.5
    assert number(big.colliders[0], "physxCollision:contactOffset") == 0.125


def test_a_duplicate_couples_the_duplicates(tmp_path):
    """Shift D on all of it: the new gear leads to the new joints, the old one to the old."""
    gear = gear_box()
    select(*bpy.context.scene.objects)
    bpy.ops.object.duplicate()
    assert ends(gear) == WHOLE
    check_box(".001")
    stage, _ = scenes.export(tmp_path / "copies.usda")
    gears = [prim for prim in stage.Traverse() if prim.GetTypeName() == GEAR]
    led = [tuple(prim.GetRelationship(name).GetTargets()[0].name for name in ENDS) for prim in gears]
    assert len(set(led)) == 2 and all(len(one) == 4 for one in led)


def test_a_gear_box_is_appended_with_what_it_leads_to(tmp_path):
    """Appending the gear alone brings its joints and bodies."""
    name = gear_box().name
    blend = tmp_path / "box.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(blend)) as (_, here):
        here.objects = [name]
    check_box()


def test_overrides_of_a_gear_box_keep_changed_and_added_values(tmp_path):
    gear_box()
    made = bpy.data.collections.new("Box")
    for obj in list(bpy.context.scene.objects):
        made.objects.link(obj)
    blend = tmp_path / "library.blend"
    bpy.data.libraries.write(str(blend), {made})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(blend), link=True) as (_, here):
        here.collections = ["Box"]
    bpy.context.scene.collection.children.link(bpy.data.collections["Box"])
    bpy.data.collections["Box"].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    own = {obj.name: obj for obj in bpy.data.objects if obj.override_library}
    big, hinge = own["Big"], own["HingeBig"]
    gear = the_gear(overridden=True)
    vendor_rows.row_of(big.usdphys, "physxRigidBody:linearDamping").number = 0.75
    vendor_rows.row_of(gear.usdphys, "physics:gearRatio").number = 5.0
    put(hinge.usdphys, "NewtonJointAPI", "newton:friction", 2.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "user.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "user.blend"))
    own = {obj.name: obj for obj in bpy.data.objects if obj.override_library}
    gear = the_gear(overridden=True)
    assert number(own["Big"].usdphys, "physxRigidBody:linearDamping") == 0.75
    assert number(own["Big"].usdphys.colliders[0], "physxCollision:contactOffset") == 0.125
    assert number(gear.usdphys, "physics:gearRatio") == 5.0
    assert number(own["HingeBig"].usdphys, "newton:armature") == 0.25
    assert number(own["HingeBig"].usdphys, "newton:friction") == 2.0
    assert targets(gear) == {name: own[target] for name, target in WHOLE.items()}


def test_undo_takes_a_gear_away_and_brings_its_values_back():
    gear = gear_box()
    name = gear.name
    bpy.ops.ed.undo_push(message="made")
    vendor_rows.row_of(gear.usdphys, "physics:gearRatio").number = 7.0
    bpy.ops.ed.undo_push(message="edited")
    bpy.ops.ed.undo()
    check_box()
    bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.ed.undo_push(message="removed")
    bpy.ops.ed.undo()
    check_box()


def test_edits_of_a_gear_are_edits_of_the_physics(tmp_path):
    """Physics Only: its ratio is written over the source, the moved body is not."""
    gear_box()
    file = tmp_path / "box.usda"
    usd_export.export_usd(bpy.context, file, usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    gear, big = check_imported()
    vendor_rows.row_of(gear.usdphys, "physics:gearRatio").number = 4.0
    big.location.z = 5.0
    bpy.context.view_layer.update()
    source_export.export_edits(bpy.context, tmp_path / "edits.usda", "layer", physics_only=True)
    text = (tmp_path / "edits.usda").read_text(encoding="utf-8")
    assert "physics:gearRatio = 4" in text and "xformOp:translate" not in text


def test_a_mirrored_object_keeps_its_numbers(tmp_path):
    """Negative scale: an attribute of a collider stays a length, a gear's ratio a number; both come back."""
    gear_box()
    bpy.data.objects["Big"].scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    file = tmp_path / "box.usda"
    stage, _ = scenes.export(file)
    offsets = [
        prim.GetAttribute("physxCollision:contactOffset").Get()
        for prim in stage.Traverse()
        if prim.HasAttribute("physxCollision:contactOffset")
    ]
    assert offsets == [pytest.approx(0.125)]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    check_imported()


def test_a_mirrored_follower_keeps_its_numbers():
    """Joints of bodies on the left: the follower on the right follows the leader there, by the same ratio."""
    body = {side: scenes.solid(f"Body.{side}", location=(sign, 0, 0)) for side, sign in (("L", 1.0), ("R", -1.0))}
    leader, follower = (scenes.add_joint(f"{name}.L", "REVOLUTE", body["L"]) for name in ("Leads", "Follows"))
    for name, value in (("newton:mimicCoef0", 0.5), ("newton:mimicCoef1", -2.0)):
        put(follower.usdphys, "NewtonMimicAPI", name, value)
    vendor_edits.add_attribute(
        follower.usdphys, "NewtonMimicAPI", "newton:mimicJoint", bpy.context.scene
    ).target = leader
    put(follower.usdphys, "NewtonJointAPI", "newton:friction", 3.0)
    bpy.context.view_layer.update()
    select(leader, follower)
    mirroring.mirror(bpy.context, "X")
    image = bpy.data.objects["Follows.R"].usdphys
    assert vendor_rows.row_of(image, "newton:mimicJoint").target == bpy.data.objects["Leads.R"]
    assert number(image, "newton:mimicCoef1") == -2.0 and number(image, "newton:friction") == 3.0
    assert number(image, "newton:mimicCoef0") == 0.5
