"""Settings of simulators in the panels: each can be added, drawn, edited and removed; written for the targets."""

import re
from pathlib import Path
from typing import Any

import blf
import bpy
import pytest
from usdphys_ext import panels
from usdphys_ext.operators import translations
from usdphys_ext.panels import vendor as vendor_panel
from usdphys_ext.usdphys_addon.authoring import vendor_edits
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core import concepts

from . import scenes
from .layout_recorder import LayoutRecorder
from .wanted_attributes import WANTED


def wanted() -> dict[str, list[str]]:
    """Attributes that matter most to artists, by the place of their row. Of a degree of freedom: of a hinge."""
    found: dict[str, list[str]] = {}
    for place, names in WANTED.items():
        for name in names.split():
            if place.startswith("Physx") or ":" not in name or "=" in name:
                continue  # prims, schemas and tokens have no row
            own = {"distance": "joint"}.get(place, place)
            found.setdefault("dof" if "{}" in name else own, []).append(name.format("angular"))
    return found


def owner_for(place: str) -> tuple[Any, str, str, tuple[str, ...]]:
    """(owner of rows, its kind, its path, places of its panel)."""
    body = scenes.make_body(scenes.solid("Body"))
    obj = bpy.data.objects["Body"]
    bpy.context.view_layer.objects.active = obj
    if place in ("joint", "dof"):
        hinge = scenes.add_joint("Hinge", "REVOLUTE", obj)
        bpy.context.view_layer.objects.active = hinge
        return hinge.usdphys, "object", "object.usdphys", ("joint", "dof")
    if place == "collider":
        return obj.usdphys.colliders[0], "collider", "object.usdphys.colliders[0]", ()
    if place == "material":
        material = scenes.physics_material("Rubber")
        obj.data.materials.append(material)
        return material.usdphys, "material", "material.usdphys", ()
    if place == "scene":
        item = bpy.context.scene.usdphys.physics_scenes.add()
        return item, "scene", "scene.usdphys.physics_scenes[0]", ()
    assert body is not None
    return obj.usdphys, "object", "object.usdphys", (place,)


def drawn(thing: Any, kind: str, path: str, places: tuple[str, ...], opened: Any = ()) -> LayoutRecorder:
    layout = LayoutRecorder(opened=opened)
    vendor_panel.draw(layout, bpy.context, thing, kind, path, *places)
    return layout


@pytest.mark.parametrize("place", wanted())
def test_what_matters_most_is_found_and_added(place):
    """By a field of its own, or by the search of its runtime."""
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    thing, kind, path, _ = owner_for(place)
    searched = {
        attribute.usd_name(applied.partition(":")[2]): applied
        for applied, attribute in vendor_edits.choices(vendor_rows.PLACES[kind], "", thing)
        if attribute is not None
    }
    fields = {
        name for concept in concepts.concepts_of(place) for twin in concept.twins
        for _, name in concepts.placed(twin, ("angular",))
    }  # fmt: skip
    missing = [name for name in wanted()[place] if name not in fields and name not in searched]
    assert missing == []
    for name in wanted()[place]:
        if name in searched:
            assert bpy.ops.usdphys.vendor_add(
                data_path=path, owner=kind, attribute=f"{searched[name]} {name}"
            ) == {"FINISHED"}  # fmt: skip
            assert vendor_rows.row_of(thing, name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("place", wanted())
def test_every_field_is_added_drawn_and_removed(place):
    """One click opens the settings, one adds a field; it is then drawn as its value, with a button that clears it."""
    bpy.context.scene.usdphys.targets = {"NEUTRAL"}
    thing, kind, path, places = owner_for(place)
    shown = places or (place,)
    fold = f"usdphys_concepts_{shown[0]}"
    for concept in concepts.concepts_of(place):
        dof = "angular" if concept.place == "dof" else ""
        values = {"data_path": path, "concept": concept.identifier, "dof": dof}
        drawn(thing, kind, path, places, opened={fold}).button("usdphys.concept_add", **values)
        assert bpy.ops.usdphys.concept_add(**values) == {"FINISHED"}
        layout = drawn(thing, kind, path, places)
        layout.button("usdphys.concept_remove", **values)
        row = vendor_edits.rows_of(thing, concept, dof)[0]
        assert not row.name or layout.prop_of(row, vendor_rows.view_of(row))
        assert bpy.ops.usdphys.concept_remove(**values) == {"FINISHED"}
        assert vendor_rows.applied_names(thing) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en_US", "de_DE", "fr_FR", "ja_JP", "zh_HANS"])
@pytest.mark.parametrize("place", wanted())
def test_no_label_of_a_setting_is_cut_in_a_sidebar_of_the_default_width(place, language):
    """Beside a number of seven digits there are 112 pixels; a box to tick or a line of its own has 190."""
    words = translations.table(language)
    bpy.context.scene.usdphys.targets = {"NEUTRAL"}
    thing, kind, path, places = owner_for(place)
    blf.size(0, 11)
    cut = []
    for concept in concepts.concepts_of(place):
        dof = "angular" if concept.place == "dof" else ""
        bpy.ops.usdphys.concept_add(data_path=path, concept=concept.identifier, dof=dof)
        row = vendor_edits.rows_of(thing, concept, dof)[0]
        text = words.get(("*", concept.label), concept.label)
        layout = drawn(thing, kind, path, places)
        is_number = row.name and vendor_rows.view_of(row) != "flag" and layout.prop_of(
            row, vendor_rows.view_of(row)
        ).arguments.get("text")  # fmt: skip
        if blf.dimensions(0, text)[0] > (112 if is_number else 190):
            cut.append(text)
        assert is_number or not row.name or vendor_rows.view_of(row) == "flag" or concept.label in layout.labels()
        bpy.ops.usdphys.concept_remove(data_path=path, concept=concept.identifier, dof=dof)
    assert cut == []


def test_a_field_is_written_for_each_target_in_its_unit(tmp_path):
    """A damping per degree in both. One edit changes both, wherever it is made."""
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    hinge = scenes.add_joint("Hinge", "REVOLUTE", scenes.solid("Body"))
    bpy.context.view_layer.objects.active = hinge
    bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="joint_damping")
    newton, physx = (
        vendor_rows.row_of(hinge.usdphys, name)
        for name in ("newton:damping", "physxJointAxis:angular:viscousFrictionCoefficient")
    )
    newton.number = 2.0
    assert physx.number == 2.0
    physx.number = 3.0
    assert newton.number == 3.0
    stage, _ = scenes.export(tmp_path / "out.usda")
    prim = scenes.prim_of(stage, "Hinge")
    assert prim.GetAttribute("newton:damping").Get() == 3.0
    assert prim.GetAttribute("physxJointAxis:angular:viscousFrictionCoefficient").Get() == 3.0
    listed = prim.GetMetadata("apiSchemas").GetAddedOrExplicitItems()
    assert {"NewtonJointAPI", "PhysxJointAxisAPI:angular"} <= set(listed)


@pytest.mark.parametrize(("concept", "name"), [("max_speed", "physxRigidBody:maxLinearVelocity"),
                                               ("max_spin", "physxRigidBody:maxAngularVelocity")])  # fmt: skip
def test_a_new_limit_of_speed_does_not_hold_the_body_still(concept, name):
    scenes.solid("Body")
    bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    assert vendor_rows.row_of(bpy.data.objects["Body"].usdphys, name).number > 1.0


@pytest.mark.parametrize(("kind", "wanted", "dead"), [
    ("SPHERICAL", {"PhysxLimitAPI:cone"}, {"PhysxLimitAPI:rotX", "PhysxJointAxisAPI:cone"}),
    ("REVOLUTE", {"PhysxMimicJointAPI:rotX", "PhysxLimitAPI:angular"}, {"PhysxMimicJointAPI:rotZ"}),
    ("PRISMATIC", {"PhysxLimitAPI:linear"}, {"PhysxMimicJointAPI:rotX"}),
])  # fmt: skip
def test_the_search_offers_what_the_simulator_reads_of_a_kind_of_joint(kind, wanted, dead):
    """PhysX has one soft limit of a ball joint, that of its cone, and a hinge follows about its axis."""
    joint = scenes.add_joint("Joint", kind, scenes.solid("Body"))
    found = {applied for applied, _ in vendor_edits.choices(("joint", "dof"), "PhysX", joint.usdphys)}
    assert wanted <= found and not dead & found


def test_a_soft_limit_of_a_ball_joint_is_that_of_its_cone():
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    joint = scenes.add_joint("Joint", "SPHERICAL", scenes.solid("Body"))
    bpy.context.view_layer.objects.active = joint
    for concept in ("limit_stiffness", "joint_friction"):
        bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    names = {row.name for row in joint.usdphys.vendor if row.name}
    assert "physxLimit:cone:stiffness" in names and "physxLimit:rotX:stiffness" not in names
    # PhysX refuses a dynamic friction above the static one, so that this is there, too.
    assert {f"physxJointAxis:rotX:{kind}FrictionEffort" for kind in ("dynamic", "static")} <= names
    layout = drawn(joint.usdphys, "object", "object.usdphys", ("joint", "dof"), {"usdphys_concepts_joint"})
    dofs = {one.values["dof"] for one in layout.buttons("usdphys.concept_add") if one.values["concept"]
            in ("limit_bounce", "start_position")}  # fmt: skip
    assert dofs == {"cone", "rotX", "rotY", "rotZ"}
    bounce = [one.values["dof"] for one in layout.buttons("usdphys.concept_add")
              if one.values["concept"] == "limit_bounce"]  # fmt: skip
    assert bounce == ["cone"]


def test_a_target_without_a_word_is_refused():
    bpy.context.scene.usdphys.targets = {"NEWTON"}
    scenes.solid("Body")
    bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    with pytest.raises(RuntimeError, match="has an attribute for 'Linear Damping'"):
        bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="linear_damping")
    assert vendor_rows.applied_names(bpy.data.objects["Body"].usdphys) == []


def test_a_joint_follows_another_by_the_object(tmp_path):
    """The object is kept, not its name; without an object the check says so."""
    body = scenes.solid("Body")
    leader, follower = (scenes.add_joint(name, "REVOLUTE", body) for name in ("Leader", "Follower"))
    bpy.context.view_layer.objects.active = follower
    bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="mimic_joint")
    assert any("newton:mimicJoint" in issue.message for issue in scenes.read().issues)
    vendor_rows.row_of(follower.usdphys, "newton:mimicJoint").target = leader
    leader.name = "Master"
    stage, _ = scenes.export(tmp_path / "out.usda")
    (target,) = scenes.targets(scenes.prim_of(stage, "Follower"), "newton:mimicJoint")
    assert target.endswith("/Master")


def test_undo_brings_a_removed_attribute_back():
    scenes.solid("Body")
    bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="linear_damping")
    vendor_rows.row_of(bpy.data.objects["Body"].usdphys, "physxRigidBody:linearDamping").number = 0.25
    bpy.ops.ed.undo_push(message="edited")
    bpy.ops.usdphys.concept_remove(data_path="object.usdphys", concept="linear_damping")
    bpy.ops.ed.undo_push(message="removed")
    bpy.ops.ed.undo()
    assert vendor_rows.row_of(bpy.data.objects["Body"].usdphys, "physxRigidBody:linearDamping").number == 0.25


def test_panels_load_no_table_before_they_are_drawn():
    text = Path(panels.__file__).with_name("vendor.py").read_text(encoding="utf-8")
    assert not re.findall(r"^from .*(concepts|vendor_edits)", text, re.MULTILINE)
