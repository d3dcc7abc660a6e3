# SPDX-License-Identifier: GPL-3.0-or-later
"""Tendons of PhysX: a joint can be on several, each has a name, and the names are those in the file."""

from __future__ import annotations

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import vendor_edits, vendor_instances
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core import schema, validate
from usdphys_ext.usdphys_addon.core.errors import InputError

from . import scenes

ROOT, AXIS = "PhysxTendonAxisRootAPI", "PhysxTendonAxisAPI"


def finger(count: int = 2):
    body = scenes.solid("Palm")
    joints = []
    for number in range(count):
        above, body = body, scenes.solid(f"Bone{number}")
        joints.append(scenes.add_joint(f"Knuckle{number}", "REVOLUTE", above, body))
    return joints


def offered(joint, base: str) -> list[str]:
    found = vendor_edits.choices(("joint",), "PhysX", joint.usdphys)
    return list(dict.fromkeys(schema.split_applied(name)[1] for name, _ in found if name.startswith(f"{base}:")))


def add(joint, applied: str, name: str = "gearing") -> None:
    instance = schema.split_applied(applied)[1]
    vendor_edits.add_attribute(joint.usdphys, applied, f"physxTendon:{instance}:{name}", bpy.context.scene)


def test_a_joint_is_offered_its_tendons_those_of_others_and_a_new_one():
    first, second = finger()
    assert offered(first, ROOT) == offered(second, AXIS) == ["default"]
    add(first, f"{ROOT}:default")
    assert offered(first, ROOT) == ["default", "default_1"]
    # The joint that is the root of a tendon is no further axis of it.
    assert offered(first, AXIS) == ["default_1"]
    assert offered(second, AXIS) == ["default", "default_1"]
    add(second, f"{AXIS}:default")
    add(second, f"{AXIS}:default_1")
    assert offered(second, AXIS) == ["default", "default_1", "default_2"]


@pytest.mark.parametrize("selected", [True, False])
def test_a_tendon_gets_its_name_on_the_selected_joints_and_in_the_file(tmp_path, capfd, selected):
    first, second = finger()
    for tendon in ("default", "default_1"):
        add(first, f"{ROOT}:{tendon}", "stiffness")
        add(second, f"{AXIS}:{tendon}")
    bpy.context.view_layer.objects.active = first
    second.select_set(selected)
    capfd.readouterr()
    bpy.ops.usdphys.vendor_rename(data_path="object.usdphys", applied=f"{ROOT}:default_1", new_name="flexor")
    assert ("'Knuckle1' is still on 'default_1': not selected" in capfd.readouterr().out) is not selected
    found = {issue.code for issue in validate.validate(scenes.read_model(), "physx")}
    assert ("TendonWithoutRoot" in found) is not selected
    other = "flexor" if selected else "default_1"
    assert vendor_rows.applied_names(first.usdphys) == [f"{ROOT}:default", f"{ROOT}:flexor"]
    assert vendor_rows.applied_names(second.usdphys) == [f"{AXIS}:default", f"{AXIS}:{other}"]
    stage, _ = scenes.export(tmp_path / "out.usda")
    prims = {prim.GetName(): prim for prim in stage.TraverseAll()}
    applied = prims["Knuckle0"].GetMetadata("apiSchemas").GetAddedOrExplicitItems()
    assert {f"{ROOT}:default", f"{ROOT}:flexor"} <= set(applied)
    assert prims["Knuckle0"].GetAttribute("physxTendon:flexor:stiffness").IsAuthored()
    assert prims["Knuckle1"].GetAttribute(f"physxTendon:{other}:gearing").IsAuthored()
    assert not prims["Knuckle0"].GetAttribute("physxTendon:default_1:stiffness").IsAuthored()


@pytest.mark.parametrize(
    ("applied", "name", "words"),
    [(f"{ROOT}:default", "default_1", "has 'default_1' already"), (f"{ROOT}:default", "a b", "no name that USD takes"),
     (f"{ROOT}:default", "", "no name that USD takes"), ("PhysxJointAPI", "x", "has no name of its own"),
     ("Unknown:x", "y", "has no name of its own")],
)  # fmt: skip
def test_a_name_that_cannot_be_is_refused_and_changes_nothing(applied, name, words):
    (joint,) = finger(1)
    add(joint, f"{ROOT}:default")
    add(joint, f"{AXIS}:default_1")
    before = [(row.applied, row.name) for row in joint.usdphys.vendor]
    with pytest.raises(InputError, match=words):
        vendor_instances.rename([joint.usdphys], applied, name)
    assert [(row.applied, row.name) for row in joint.usdphys.vendor] == before


def test_attachments_follow_the_name_of_the_one_before_them():
    body = scenes.solid("Body")
    space = "PhysxTendonAttachment"
    add_row = vendor_edits.add_attribute
    add_row(body.usdphys, f"{space}RootAPI:start", "physxTendon:start:gearing", bpy.context.scene)
    row = add_row(body.usdphys, f"{space}LeafAPI:end", "physxTendon:end:parentAttachment", bpy.context.scene)
    row.text = "start"
    vendor_instances.rename([body.usdphys], f"{space}RootAPI:start", "shoulder")
    rows = {row.name: row.text for row in body.usdphys.vendor if row.name}
    assert rows["physxTendon:end:parentAttachment"] == "shoulder"
