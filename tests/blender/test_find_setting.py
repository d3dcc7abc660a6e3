# SPDX-License-Identifier: GPL-3.0-or-later
"""Find Setting: every attribute is found by its name, its label and the word of a simulator, and set where it is."""

from __future__ import annotations

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import selected, settings_search
from usdphys_ext.usdphys_addon.core import schema
from usdphys_ext.usdphys_addon.core.joint_kinds import BY_IDENTIFIER

from . import scenes
from .test_panels import drawn


def key_of(*words: str) -> str:
    """The only setting whose text has all these words."""
    found = [key for key, one in settings_search.settings().items() if all(word in one.text for word in words)]
    assert len(found) == 1, found
    return found[0]


def find(*words: str):
    assert bpy.ops.usdphys.find_setting(setting=key_of(*words)) == {"FINISHED"}
    return drawn("found", "VIEW_3D")


def test_every_attribute_of_usdphysics_that_a_panel_has_is_among_them():
    """All but relationships, frames, which no field shows, and groups, which have a panel."""
    known = {(one.cls.usd_name, one.attribute.field) for one in settings_search.settings().values()}
    for cls in schema.schemas_of("UsdPhysics").values():
        if cls.kind == "single" and cls.on != "articulation":
            wanted = {(cls.usd_name, one.field) for one in cls.attributes if one.is_editable}
            assert wanted <= known, cls.usd_name


@pytest.mark.parametrize(
    "words",
    [("physics:restitution",), ("Bounce", "physics:"), ("Restitution", "/ Bounce"),
     ("physxRigidBody:linearDamping",), ("Linear Damping", "physxRigidBody"),
     ("newton:selfCollisionEnabled",), ("physics:gravityMagnitude",)],
)  # fmt: skip
def test_it_is_found_by_name_label_and_the_word_of_a_simulator(words):
    assert key_of(*words)


def test_texts_are_told_apart():
    texts = [one.text for one in settings_search.settings().values()]
    assert len(texts) > 300 and len(set(texts)) == len(texts)


def test_the_field_of_the_selection_is_shown_and_its_value_cleared():
    crate = scenes.solid("Crate")
    scenes.select(crate)
    body = crate.usdphys.rigid_body
    body.starts_asleep = True
    panel = find("physics:startsAsleep")
    assert panel.props(body) == ["starts_asleep"]
    panel.button("usdphys.unset").press()
    assert not body.is_property_set("starts_asleep")


def test_each_motion_of_a_joint_has_its_field():
    hinge = scenes.add_joint("Hinge", "GENERIC", None, scenes.solid("Door"))
    scenes.select(hinge)
    drives = BY_IDENTIFIER["GENERIC"].drives
    assert set(drives) <= set(find("drive:*:physics:stiffness").labels()) and len(drives) > 5
    hinge.usdphys.joint.type = "REVOLUTE"
    panel = find("drive:*:physics:stiffness")
    assert panel.props(hinge.usdphys.joint.drives.angular) == ["stiffness"]


def test_a_limit_of_another_type_of_joint_names_the_type():
    hinge = scenes.add_joint("Hinge", "REVOLUTE", None, scenes.solid("Door"))
    scenes.select(hinge)
    bpy.ops.usdphys.find_setting(setting="PhysicsRevoluteJoint lower_limit")
    assert drawn("found", "VIEW_3D").props(hinge.usdphys.joint.revolute) == ["lower_limit"]
    bpy.ops.usdphys.find_setting(setting="PhysicsPrismaticJoint lower_limit")
    labels = " ".join(drawn("found", "VIEW_3D").labels())
    slide = hinge.usdphys.joint.bl_rna.properties["type"].enum_items["PRISMATIC"].name
    assert f"It is a setting of joints of the type {slide}" in labels


def test_a_simulators_attribute_is_set_by_a_click_and_then_shown():
    crate = scenes.solid("Crate")
    scenes.select(crate)
    panel = find("physxRigidBody:maxContactImpulse")
    assert panel.button("usdphys.vendor_set").press() == {"FINISHED"}
    (row,) = [one for one in crate.usdphys.vendor if one.name]
    assert (row.applied, row.name) == ("PhysxRigidBodyAPI", "physxRigidBody:maxContactImpulse")
    panel = drawn("found", "VIEW_3D")
    assert not panel.buttons("usdphys.vendor_set") and len(panel.props(row)) == 1


def test_what_the_selection_cannot_have_says_what_to_select():
    bare = scenes.add("Bare")
    scenes.select(bare)
    for words, wanted in ((("physics:mass",), "a rigid body"), (("physics:breakForce",), "a joint"),
                          (("physics:restitution",), "an object with a collider"),
                          (("newton:selfCollisionEnabled",), "an articulation root")):  # fmt: skip
        assert f"Select {wanted} to set it" in " ".join(find(*words).labels())


def test_a_setting_of_the_scene_makes_the_physics_scene():
    scene = bpy.context.scene
    scenes.select(scenes.solid("Crate"))
    find("physics:gravityMagnitude").button("usdphys.list_add").press()
    (own,) = scene.usdphys.physics_scenes
    assert drawn("found", "VIEW_3D").props(own) == ["gravity_magnitude"]


def test_a_surface_is_that_of_the_active_collider():
    crate = scenes.solid("Crate")
    material = scenes.physics_material("Rubber", restitution=0.5)
    crate.usdphys.colliders[0].physics_material = material
    scenes.select(crate)
    panel = find("physics:restitution")
    assert panel.props(material.usdphys.physics_material) == ["restitution"]
    panel.button("usdphys.unset").press()
    assert not material.usdphys.physics_material.is_property_set("restitution")
    assert selected.material_of(crate) == material
