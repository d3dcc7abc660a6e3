"""Material presets on selected objects, and the user's own presets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import property_values
from usdphys_ext.usdphys_addon.core.common_materials import BY_KEY

from . import scenes
from .test_structure import export_errors, linked, select

SUBFOLDERS = {"material": "usdphys/material", "body": "usdphys/body", "drive": "usdphys/drives"}


def values(material: Any) -> dict[str, float]:
    group = material.usdphys.physics_material
    assert group.is_applied
    return {name: pytest.approx(getattr(group, name)) for name in BY_KEY["STEEL"].values if group.is_property_set(name)}


def test_active_materials_get_the_values(tmp_path):
    boxes = [scenes.solid(f"Box{n}") for n in range(3)]
    paint = bpy.data.materials.new("Paint")
    other = bpy.data.materials.new("Other")
    for box in boxes[:2]:
        box.data.materials.append(other)
        box.data.materials.append(paint)
        box.active_material_index = 1
    select(*boxes)
    assert bpy.ops.usdphys.apply_material_preset(preset="OAK") == {"FINISHED"}
    assert BY_KEY["OAK"].values == values(paint)
    assert not other.usdphys.physics_material.is_applied
    # What has no material gets one for physics only.
    made = boxes[2].usdphys.physics_material
    assert made.name == "Oak (physics)" and BY_KEY["OAK"].values == values(made)
    assert not boxes[2].data.materials and boxes[0].usdphys.physics_material is None
    stage, wrong = export_errors(tmp_path)
    assert not wrong
    densities = [
        prim.GetAttribute("physics:density").Get() for prim in stage.Traverse()
        if "PhysicsMaterialAPI" in scenes.applied(prim)
    ]  # fmt: skip
    assert densities == [700, 700]


def test_another_preset_does_not_change_other_objects():
    first, second = scenes.add_box("First"), scenes.add_box("Second")
    select(first, second)
    bpy.ops.usdphys.apply_material_preset(preset="STEEL")
    assert first.usdphys.physics_material == second.usdphys.physics_material
    select(second)
    bpy.ops.usdphys.apply_material_preset(preset="ICE")
    assert BY_KEY["STEEL"].values == values(first.usdphys.physics_material)
    assert BY_KEY["ICE"].values == values(second.usdphys.physics_material)
    # Again, and back: no new materials.
    count = len(bpy.data.materials)
    bpy.ops.usdphys.apply_material_preset(preset="ICE")
    bpy.ops.usdphys.apply_material_preset(preset="STEEL")
    assert len(bpy.data.materials) == count
    assert second.usdphys.physics_material == first.usdphys.physics_material


def test_a_material_of_the_users_own_is_changed_in_place():
    box = scenes.add_box("Box")
    box.usdphys.physics_material = scenes.physics_material("Mine", static_friction=0.1)
    select(box)
    bpy.ops.usdphys.apply_material_preset(preset="RUBBER")
    assert box.usdphys.physics_material.name == "Mine"
    assert BY_KEY["RUBBER"].values == values(box.usdphys.physics_material)


def test_poll_and_linked(tmp_path):
    assert not bpy.ops.usdphys.apply_material_preset.poll()
    stone = linked(tmp_path)
    select(stone)
    with pytest.raises(RuntimeError, match="'Stone' is linked"):
        bpy.ops.usdphys.apply_material_preset(preset="STEEL")
    assert not len(bpy.data.materials)
    box = scenes.add_box("Box")
    select(stone, box)
    bpy.ops.usdphys.apply_material_preset(preset="STEEL")
    assert box.usdphys.physics_material is not None and stone.usdphys.physics_material is None


def test_tooltips_show_values_and_source():
    items = bpy.ops.usdphys.apply_material_preset.get_rna_type().properties["preset"].enum_items
    assert len(items) == len(BY_KEY)
    for item in items:
        preset = BY_KEY[item.identifier]
        assert f"{preset.density:g} kg/m³" in item.description and preset.source in item.description


# --------------------------------------------------------------------------- the user's own


def group_of(kind: str, obj: Any) -> Any:
    return {
        "material": lambda: obj.active_material.usdphys.physics_material,
        "body": lambda: obj.usdphys.rigid_body,
        "drive": lambda: obj.usdphys.joint.drives,
    }[kind]()


@pytest.mark.parametrize("kind", SUBFOLDERS)
def test_saved_preset_comes_back_as_authored(kind):
    first, second = scenes.add_box("First"), scenes.add_box("Second")
    for box in (first, second):
        box.data.materials.append(bpy.data.materials.new(box.name))
    group, other = group_of(kind, first), group_of(kind, second)
    if kind == "material":
        scenes.assign(group, is_applied=True, static_friction=0.25, density=123)
        scenes.assign(other, restitution=0.5)
    elif kind == "body":
        scenes.assign(group, is_applied=True, starts_asleep=True, velocity=(1, 2, 3))
        scenes.assign(other, kinematic_enabled=True)
    else:
        scenes.assign(group.rotX, is_applied=True, stiffness=10, type="acceleration")
        scenes.assign(other.transY, is_applied=True, damping=3)
    select(first)
    operator = getattr(bpy.ops.usdphys, f"{kind}_preset_add")
    assert operator(name="My Preset") == {"FINISHED"}
    file = Path(bpy.utils.preset_paths(SUBFOLDERS[kind])[0]) / "My_Preset.py"
    assert file.exists()
    try:
        select(second)
        menu = f"USDPHYS_MT_{kind}_presets"
        assert bpy.ops.script.execute_preset(filepath=str(file), menu_idname=menu) == {"FINISHED"}

        assert property_values.snapshot(other) == property_values.snapshot(group)
        assert getattr(bpy.types, menu).bl_label == "My Preset"
        assert operator(remove_active=True) == {"FINISHED"}
        assert not file.exists()
    finally:
        file.unlink(missing_ok=True)


def test_a_preset_of_a_joint_leaves_its_bodies_and_frames_alone(tmp_path):
    base, leaf = scenes.solid("Base"), scenes.solid("Leaf", location=(1, 0, 0))
    saved = scenes.add_joint("Saved", "REVOLUTE", base, leaf)
    scenes.assign(saved.usdphys.joint, break_force=50.0, local_pos0=(1, 2, 3))
    scenes.assign(saved.usdphys.joint.revolute, lower_limit=-1.0, upper_limit=2.0)
    scenes.assign(saved.usdphys.joint.drives.angular, is_applied=True, damping=3.0)
    other = scenes.add_joint("Other", "FIXED", leaf, base, location=(0, 0, 1))
    select(saved)
    label = bpy.types.USDPHYS_MT_joint_presets.bl_label
    assert bpy.ops.usdphys.joint_preset_add(name="Hinge") == {"FINISHED"}
    file = Path(bpy.utils.preset_paths("usdphys/joint")[0]) / "Hinge.py"
    try:
        select(other)
        bpy.ops.script.execute_preset(filepath=str(file), menu_idname="USDPHYS_MT_joint_presets")
        joint = other.usdphys.joint
        assert (joint.type, joint.body0, joint.body1, joint.break_force) == ("REVOLUTE", leaf, base, 50.0)
        assert (joint.revolute.lower_limit, joint.revolute.upper_limit) == (-1.0, 2.0)
        assert joint.drives.angular.is_applied and joint.drives.angular.damping == 3.0
        assert not joint.is_property_set("local_pos0")
    finally:
        file.unlink(missing_ok=True)
        # Blender has put the name of the preset there.
        bpy.types.USDPHYS_MT_joint_presets.bl_label = label


def test_presets_need_something_to_save():
    assert not bpy.ops.usdphys.body_preset_add.poll()
    select(scenes.add_box("Box"))
    assert bpy.ops.usdphys.body_preset_add.poll()
    assert not bpy.ops.usdphys.material_preset_add.poll()


def ours() -> set[str]:
    """Names of all that is registered with Blender under the prefix of the extension."""
    return {name for name in dir(bpy.types) if name.startswith("USDPHYS_")}


def test_disabling_leaves_nothing_behind():
    module = sys.modules["usdphys_ext"]
    manager = set(dir(bpy.types.WindowManager))
    before = ours()
    assert {"USDPHYS_MT_material_presets", "USDPHYS_PT_structure", "USDPHYS_OT_split_loose"} <= before
    module.unregister()
    try:
        left = ours()
        assert not {name for name in left if name.startswith(("USDPHYS_MT_", "USDPHYS_PT_", "USDPHYS_OT_"))}
        assert set(dir(bpy.types.WindowManager)) <= manager
    finally:
        module.register()
    assert ours() == before
