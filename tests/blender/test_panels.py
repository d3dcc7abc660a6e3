"""What panels, menus and dialogs draw, and that their buttons do it to what is shown beside them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import blf
import bpy
import pytest
from usdphys_ext import panels, preferences
from usdphys_ext.operators import batch, translations
from usdphys_ext.panels import fitting, object_physics, overlays
from usdphys_ext.usdphys_addon.bridge import environment, property_values
from usdphys_ext.usdphys_addon.checks import live as checks
from usdphys_ext.usdphys_addon.checks.report import FoundIssue, Report
from usdphys_ext.usdphys_addon.core.rules.base import Issue
from usdphys_ext.usdphys_addon.core.words import in_language
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback import joint_inspector
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES, Program
from usdphys_ext.usdphys_addon.simulation.load_history import JointBreak
from usdphys_ext.usdphys_addon.viewport import readout, selection, wrapped_text

from . import scenes
from .layout_recorder import (
    ContextRecorder,
    LayoutRecorder,
    RefusedByLayoutError,
    draw,
    drawing_part,
    is_narrow,
    is_shown,
    operator_type,
    widths,
)
from .scenes import select

JOINT_FOLDS = tuple(f"usdphys_joint_{name}" for name in ("limits", "drives", "break", "frames"))
TYPES = ("FIXED", "REVOLUTE", "PRISMATIC", "SPHERICAL", "DISTANCE", "GENERIC")
SIX = ["transX", "transY", "transZ", "rotX", "rotY", "rotZ"]


def places(names: Any) -> Any:
    """A test for each of these panels, in the properties editor and, where it has one, in the sidebar."""
    known = {cls.__name__ for cls in panels.CLASSES}
    found = [(name, place) for name in names for place in ("", "_view") if f"USDPHYS_PT_{name}{place}" in known]
    return pytest.mark.parametrize(("name", "place"), found)


def panel(name: str) -> Any:
    return getattr(bpy.types, f"USDPHYS_PT_{name}")


def context(area: str = "PROPERTIES", **members: Any) -> ContextRecorder:
    """Blender's context in an area of the window, which this Blender does not have."""
    from types import SimpleNamespace

    space = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
    return ContextRecorder(area=SimpleNamespace(type=area), space_data=space, **members)


def drawn(name: str, area: str = "PROPERTIES", opened: Any = JOINT_FOLDS, **members: Any) -> LayoutRecorder:
    return draw(panel(name), context(area, **members), opened=opened)


def active(obj: Any) -> Any:
    select(obj)
    return obj


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    """No session, no report and no readout of another test."""
    checks.forget()
    yield
    preview_guard.stop()
    checks.forget()
    bpy.context.window_manager.usdphys_inspector.rows.clear()


# --------------------------------------------------------------------------- the recorder itself


@pytest.mark.parametrize(
    "wrong",
    [
        lambda layout, obj: layout.prop(obj, "mass_of_it"),
        lambda layout, obj: layout.prop(obj, "name", icon="NO_SUCH_ICON"),
        lambda layout, obj: layout.prop(obj, "name", txt="Name"),
        lambda layout, obj: layout.prop(obj),
        lambda layout, obj: layout.prop("Cube", "name"),
        lambda layout, obj: layout.prop(obj, "name", expand=True),
        lambda layout, obj: layout.label(text=1),
        lambda layout, obj: layout.operator("usdphys.no_such_operator"),
        lambda layout, obj: setattr(layout.operator("usdphys.list_add"), "wich", "colliders"),
        lambda layout, obj: setattr(layout.operator("usdphys.list_add"), "which", "no_such_list"),
        lambda layout, obj: setattr(layout.operator("usdphys.fit_collider"), "explicit", "yes"),
        lambda layout, obj: layout.operator_menu_enum("usdphys.fit_collider", "explicit"),
        lambda layout, obj: layout.menu("USDPHYS_MT_none"),
        lambda layout, obj: layout.popover(panel="USDPHYS_PT_none"),
        lambda layout, obj: layout.prop_search(obj, "name", bpy.context.scene, "no_such_list"),
        lambda layout, obj: layout.template_list("UI_UL_none", "", obj, "modifiers", obj, "pass_index"),
        lambda layout, obj: layout.template_list("UI_UL_list", "", obj, "modifiers", obj, "name"),
        lambda layout, obj: setattr(layout, "greyed", True),
        lambda layout, obj: setattr(layout, "alignment", "SIDEWAYS"),
    ],
)
def test_the_recorder_refuses_what_blender_cannot_draw(wrong):
    with pytest.raises(RefusedByLayoutError):
        wrong(LayoutRecorder(), scenes.add("Empty"))


def test_the_recorder_knows_what_is_greyed_around_it():
    obj, layout = scenes.add("Empty"), LayoutRecorder()
    column = layout.column()
    column.row().prop(obj, "name")
    layout.prop(obj, "location")
    column.active = False
    assert [one.is_active for one in layout.all()] == [False, True]
    layout.enabled = False
    assert [one.is_enabled for one in layout.all()] == [False, False]
    with pytest.raises(AttributeError):
        layout.no_such_function()


# --------------------------------------------------------------------------- every panel on everything


def all_panels() -> list[Any]:
    return [cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel)]


def scene_of_nothing() -> None:
    pass


def scene_of_a_light() -> None:
    active(scenes.add("Light", bpy.data.lights.new("Light", "POINT")))


def scene_of_a_full_body() -> None:
    obj = scenes.solid("Crate")
    obj.data.materials.append(scenes.physics_material("Wood", density=600.0))
    physics = obj.usdphys
    for shape in ("AUTO", "CUBE", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "PLANE"):
        scenes.make_collider(obj, shape).mass.is_applied = True
    physics.active_collider_index = 2
    for name in ("mass", "articulation_root", "filtered_pairs"):
        getattr(physics, name).is_applied = True
    physics.filtered_pairs.filtered_pairs.add()
    for name in ("Wheels", "Chassis"):
        scenes.join_group(obj, name)
        scenes.define_group(name, ("Wheels",))
    bpy.context.scene.usdphys.physics_scenes.add().name = "Moon"
    active(obj)


def scene_of_joints() -> None:
    one, other = scenes.solid("One"), scenes.solid("Other", location=(3, 0, 0))
    for kind in TYPES:
        obj = scenes.add_joint(kind.title(), kind, one, other)
        for groups in (obj.usdphys.joint.limits, obj.usdphys.joint.drives):
            for name in SIX:
                getattr(groups, name).is_applied = True
    active(obj)


def authored() -> list[Any]:
    """All that is authored in the file."""

    def without_empty(values: Any) -> Any:
        # Blender makes a group as soon as somebody looks at it.
        parts = {name: without_empty(value) if isinstance(value, dict) else value for name, value in values.items()}
        return {name: value for name, value in parts.items() if value != {}}

    owners = (*bpy.data.objects, *bpy.data.materials, *bpy.data.scenes)
    return [without_empty(property_values.snapshot(owner.usdphys)) for owner in owners]


def scene_of_a_cable() -> None:
    data = bpy.data.curves.new("Hose", "CURVE")
    data.splines.new("POLY").points.add(3)
    obj = bpy.data.objects.new("Hose", data)
    bpy.context.collection.objects.link(obj)
    obj.usdphys.cable.is_applied = True
    active(obj)
    assert any(cls.__name__ == "USDPHYS_PT_cable" and is_shown(cls, context("PROPERTIES")) for cls in all_panels())


SCENES = [scene_of_nothing, scene_of_a_light, scene_of_a_full_body, scene_of_joints, scene_of_a_cable]


@pytest.mark.slow
@pytest.mark.parametrize("build", SCENES)
def test_every_panel_draws_what_exists_and_authors_nothing(build):
    build()
    before = authored()
    for cls in all_panels():
        shown_in = context(cls.bl_space_type)
        if not is_shown(cls, shown_in):
            # Without an object there is nothing that its panels could show, without declared vendors nothing of theirs.
            running = ("USDPHYS_PT_preview_state", "USDPHYS_PT_preview_notices")
            hidden = cls.__name__.removesuffix("_view") in (*running, "USDPHYS_PT_cable") or cls.__name__.startswith(
                "USDPHYS_PT_vendor"
            )
            assert build is not scene_of_a_full_body or hidden, cls.__name__
            continue
        for function in ("draw_header", "draw_header_preset", "draw"):
            if hasattr(cls, function):
                draw(cls, shown_in, function=function, opened=JOINT_FOLDS)
        assert authored() == before, cls.__name__


@pytest.mark.parametrize("cls", all_panels(), ids=lambda cls: cls.__name__)
def test_every_panel_has_its_place(cls):
    """Below a parent in the same tab, in the physics, scene or material tab, or in the sidebar under our own name."""
    parent = getattr(cls, "bl_parent_id", "")
    if parent:
        above = getattr(bpy.types, parent)
        assert (above.bl_space_type, above.bl_region_type) == (cls.bl_space_type, cls.bl_region_type)
        assert getattr(above, "bl_context", "") == getattr(cls, "bl_context", "")
    if cls.bl_region_type == "UI":
        assert cls.bl_category == "USD Physics"
    if cls.bl_space_type == "PROPERTIES":
        assert cls.bl_context in ("physics", "scene", "material")


def test_the_panels_that_are_used_most_are_open():
    is_open = {cls.__name__ for cls in all_panels() if "DEFAULT_CLOSED" not in getattr(cls, "bl_options", set())}
    assert {"USDPHYS_PT_selection", "USDPHYS_PT_actions", "USDPHYS_PT_object"} <= is_open
    assert not {"USDPHYS_PT_joint", "USDPHYS_PT_mass", "USDPHYS_PT_preview", "USDPHYS_PT_overlays_view"} & is_open


# --------------------------------------------------------------------------- an object


def test_object_panels_are_shown_with_an_object_only():
    names = ["object", "rigid_body", "mass", "colliders", "joint", "articulation_root", "filtered_pairs",
             "collision_groups"]  # fmt: skip
    select()
    assert not any(is_shown(panel(name), context()) for name in names)
    active(scenes.add("Empty"))
    assert all(is_shown(panel(name), context()) for name in names)


def test_the_sidebar_names_the_object_that_it_shows():
    active(scenes.add("Crate"))
    assert drawn("selection", "VIEW_3D").labels()[0] == "Crate"
    assert drawn("object").labels() == []
    other = scenes.add("Other")
    select(other, bpy.data.objects["Crate"])
    assert drawn("selection", "VIEW_3D").labels()[0] == "Crate and 1 more"


def test_a_blender_without_usd_says_so_at_the_object(monkeypatch):
    monkeypatch.setattr(object_physics, "usd_is_supported", lambda: False)
    active(scenes.add("Crate"))
    assert " ".join(drawn("object").labels()) == environment.NO_USD


@places(["rigid_body", "mass", "joint", "articulation_root", "filtered_pairs"])
def test_a_header_switches_its_own_physics_and_what_is_off_is_grey(name, place):
    obj = active(scenes.add_box("Crate"))
    group = getattr(obj.usdphys, name)
    header = draw(panel(name + place), context(), function="draw_header")
    assert [(one.data, one.name, one.text) for one in header.all()] == [(group, "is_applied", "")]
    for is_applied in (False, True):
        group.is_applied = is_applied
        inside = drawn(name + place).all()
        assert inside
        # Buttons and fields that are not authored are greyed themselves.
        switched = [one for one in inside if one.kind in ("label", "template_list") or one.name == "type"]
        if name in ("joint", "articulation_root", "filtered_pairs"):
            assert switched
        assert all(one.is_active == is_applied for one in switched)
        assert is_applied or not any(one.is_active for one in inside)


@pytest.mark.parametrize("name", ["colliders", "collision_groups"])
def test_lists_have_no_switch(name):
    active(scenes.add_box("Crate"))
    assert draw(panel(name), context(), function="draw_header").all() == []
    assert all(one.is_active for one in drawn(name).all())


def test_rigid_body_shows_its_fields_and_where_it_is_simulated():
    body = active(scenes.solid("Crate")).usdphys.rigid_body
    layout = drawn("rigid_body")
    assert layout.props(body) == [
        "rigid_body_enabled", "kinematic_enabled", "starts_asleep", "velocity", "angular_velocity", "simulation_owner",
    ]  # fmt: skip
    owner = layout.prop_of(body, "simulation_owner")
    assert (owner.kind, owner.arguments["search_data"]) == ("prop_search", bpy.context.scene.usdphys)
    assert owner.arguments["search_property"] == "physics_scenes"


def test_what_is_authored_is_bright_and_has_a_button_that_takes_it_back():
    body = active(scenes.solid("Crate")).usdphys.rigid_body
    body.velocity, body.starts_asleep = (1.0, 0.0, 0.0), False
    layout = drawn("rigid_body")
    bright = {one.name: one.is_active for one in layout.all("prop")}
    assert bright == {
        "rigid_body_enabled": False, "kinematic_enabled": False, "starts_asleep": True, "velocity": True,
        "angular_velocity": False,
    }  # fmt: skip
    assert all(one.is_enabled for one in layout.all("prop"))
    buttons = layout.buttons("usdphys.unset")
    assert [one.values["data_path"] for one in buttons] == [
        "object.usdphys.rigid_body.starts_asleep", "object.usdphys.rigid_body.velocity",
    ]  # fmt: skip
    assert buttons[1].press() == {"FINISHED"}
    assert not body.is_property_set("velocity")
    assert body.is_property_set("starts_asleep")


def author_everything(group: Any) -> None:
    """Author all fields of a property group, except for names and what points to others."""
    for item in group.bl_rna.properties:
        if item.type in ("FLOAT", "BOOLEAN", "ENUM", "INT") and not item.is_hidden and not item.is_readonly:
            value = getattr(group, item.identifier)
            setattr(group, item.identifier, tuple(value) if getattr(item, "is_array", False) else value)


UNSET_BUTTONS = {
    "rigid_body": lambda obj: [obj.usdphys.rigid_body],
    "mass": lambda obj: [obj.usdphys.mass],
    "colliders": lambda obj: [obj.usdphys.colliders[1], obj.usdphys.colliders[1].mass],
    "joint": lambda obj: [
        obj.usdphys.joint, obj.usdphys.joint.revolute, obj.usdphys.joint.limits.rotY, obj.usdphys.joint.drives.angular,
    ],
    "material": lambda obj: [obj.active_material.usdphys.physics_material],
    "physics_scenes": lambda obj: [bpy.context.scene.usdphys.physics_scenes[1]],
    "scene_collision_groups": lambda obj: [bpy.context.scene.usdphys.collision_groups[1]],
}  # fmt: skip


@places(UNSET_BUTTONS)
def test_every_clear_button_takes_back_the_property_beside_it_and_nothing_else(name, place):
    obj = scenes.solid("Crate", shape="SPHERE")
    scenes.make_collider(obj, "CAPSULE").mass.is_applied = True
    obj.usdphys.active_collider_index = 1
    scenes.assign(obj.usdphys.joint, is_applied=True, type="REVOLUTE")
    obj.usdphys.joint.limits.rotY.is_applied = obj.usdphys.joint.drives.angular.is_applied = True
    obj.data.materials.append(scenes.physics_material("Wood"))
    scene = bpy.context.scene.usdphys
    for number in "12":
        scene.physics_scenes.add().name = f"Moon{number}"
        scenes.define_group(f"Group{number}", merge_group="Same", invert_filtered_groups=True)
    scene.active_scene_index = scene.active_group_index = 1
    active(obj)
    groups = UNSET_BUTTONS[name](obj)
    for group in groups:
        author_everything(group)
    buttons = drawn(name + place).buttons("usdphys.unset")
    assert len(buttons) >= 2
    for button in buttons:
        row = button.layout.above.all("prop")
        assert len(row) == 1
        group, field = row[0].data, row[0].name
        assert group in groups
        before = authored()
        assert group.is_property_set(field)
        assert button.press() == {"FINISHED"}
        assert not group.is_property_set(field)
        setattr(group, field, row_value(group, field))
        assert authored() == before


def row_value(group: Any, field: str) -> Any:
    value = getattr(group, field)
    # These were not authored at their defaults.
    special = {"merge_group": "Same", "invert_filtered_groups": True}
    return special.get(field, tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value)


# --------------------------------------------------------------------------- lists


LISTS = {
    "colliders": ("colliders", lambda: bpy.context.object.usdphys, "active_collider_index"),
    "collision_groups": ("collision_groups", lambda: bpy.context.object.usdphys, "active_group_index"),
    "filtered_pairs": ("filtered_pairs", lambda: bpy.context.object.usdphys.filtered_pairs, "active_index"),
    "physics_scenes": ("physics_scenes", lambda: bpy.context.scene.usdphys, "active_scene_index"),
    "scene_collision_groups": ("collision_groups", lambda: bpy.context.scene.usdphys, "active_group_index"),
}


@places(LISTS)
def test_plus_and_minus_of_a_list_edit_the_list_beside_them(name, place):
    active(scenes.add_box("Crate"))
    items_name, owner_of, index = LISTS[name]
    shown = drawn(name + place).all("template_list")[0].arguments
    assert (shown["dataptr"], shown["propname"]) == (owner_of(), items_name)
    assert (shown["active_dataptr"], shown["active_propname"]) == (owner_of(), index)
    items = getattr(owner_of(), items_name)
    for number in (1, 2, 3):
        assert drawn(name + place).buttons("usdphys.list_add")[0].press() == {"FINISHED"}
        assert (len(items), getattr(owner_of(), index)) == (number, number - 1)
    # From the end: the index must stay on a row.
    for number in (2, 1, 0):
        assert drawn(name + place).buttons("usdphys.list_remove")[0].press() == {"FINISHED"}
        assert (len(items), getattr(owner_of(), index)) == (number, max(0, number - 1))
    assert drawn(name + place).buttons("usdphys.list_remove")[0].press() == {"CANCELLED"}


def test_plus_of_filtered_groups_adds_to_the_group_that_is_shown():
    first, second = scenes.define_group("First"), scenes.define_group("Second")
    bpy.context.scene.usdphys.active_group_index = 1
    layout = drawn("scene_collision_groups")
    layout.button("usdphys.list_add", which="filtered_groups").press()
    assert (len(first.filtered_groups), len(second.filtered_groups)) == (0, 1)
    shown = layout.all("template_list")[1].arguments
    assert (shown["dataptr"], shown["propname"]) == (second, "filtered_groups")
    layout.button("usdphys.list_remove", which="filtered_groups").press()
    assert len(second.filtered_groups) == 0


def test_minus_removes_the_row_that_is_chosen_and_leaves_the_others():
    obj = active(scenes.add_box("Crate"))
    for shape in ("CUBE", "SPHERE", "CONE"):
        scenes.make_collider(obj, shape)
    obj.usdphys.active_collider_index = 1
    drawn("colliders").button("usdphys.list_remove").press()
    assert [item.shape for item in obj.usdphys.colliders] == ["CUBE", "CONE"]
    assert obj.usdphys.active_collider_index == 0
    drawn("colliders").button("usdphys.list_remove").press()
    assert [item.shape for item in obj.usdphys.colliders] == ["CONE"]


@pytest.mark.parametrize("operator", ["list_add", "list_remove"])
@pytest.mark.parametrize("which", ["colliders", "collision_groups", "filtered_pairs"])
def test_a_list_of_an_object_needs_one(which, operator):
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="There is no active object; click one first"):
        getattr(bpy.ops.usdphys, operator)(which=which)


@pytest.mark.parametrize("operator", ["list_add", "list_remove"])
def test_a_list_of_a_group_needs_one(operator):
    with pytest.raises(RuntimeError, match="There is no active collision group; add one first"):
        getattr(bpy.ops.usdphys, operator)(which="filtered_groups")


@pytest.mark.parametrize("which", ["collision_groups", "scene_collision_groups", "physics_scenes"])
def test_new_rows_get_names_that_are_free(which):
    active(scenes.add_box("Crate"))
    items_name, owner_of, _ = LISTS[which]
    for _ in range(3):
        bpy.ops.usdphys.list_add(which=which)
    stem = "PhysicsScene" if which == "physics_scenes" else "Group"
    assert [item.name for item in getattr(owner_of(), items_name)] == [stem, f"{stem}2", f"{stem}3"]


def drawn_item(cls: Any, owner: Any, item: Any, index: str) -> LayoutRecorder:
    layout = LayoutRecorder()
    part = drawing_part(cls, layout)
    part.draw_item(bpy.context, layout, owner, item, 0, owner, index)
    return layout


def test_rows_of_lists_show_what_can_be_changed_there():
    obj = active(scenes.add_box("Crate"))
    collider, physics = scenes.make_collider(obj), obj.usdphys
    row = drawn_item(bpy.types.USDPHYS_UL_colliders, physics, collider, "active_collider_index")
    assert row.props(collider) == ["shape", "name"]
    pair = physics.filtered_pairs.filtered_pairs.add()
    row = drawn_item(bpy.types.USDPHYS_UL_objects, physics.filtered_pairs, pair, "active_index")
    assert row.props(pair) == ["object"]
    scenes.define_group("Wheels")
    scenes.join_group(obj, "Wheels")
    member = physics.collision_groups[0]
    for exclude, icon in ((False, "ADD"), (True, "REMOVE")):
        member.exclude = exclude
        row = drawn_item(bpy.types.USDPHYS_UL_memberships, physics, member, "active_group_index")
        assert row.props(member) == ["name", "exclude"]
        assert row.prop_of(member, "exclude").icon == icon
        found = row.prop_of(member, "name").arguments
        assert (found["search_data"], found["search_property"]) == (bpy.context.scene.usdphys, "collision_groups")
    group = scenes.define_group("Chassis", ("Wheels",))
    row = drawn_item(bpy.types.USDPHYS_UL_groups, bpy.context.scene.usdphys, group, "active_group_index")
    assert row.props(group) == ["list_name"]
    row = drawn_item(bpy.types.USDPHYS_UL_group_references, group, group.filtered_groups[0], "active_index")
    assert row.props(group.filtered_groups[0]) == ["name"]


# --------------------------------------------------------------------------- mass


@pytest.fixture
def known_mass(monkeypatch):
    """What the readout knows of the mass of an object, and for which objects it was asked."""
    known: dict[str, Any] = {}
    asked: list[str] = []

    def mass_of(name: str) -> Any:
        asked.append(name)
        return known.get(name)

    monkeypatch.setattr(readout, "mass_of", mass_of)
    return known, asked


COMPUTED = readout.MassReadout(
    2.5, (0, 0, 1), (1, 2, 3), sources=(("mass", "density 1000 kg/m3 by default"), ("center_of_mass", "the colliders"),
    ("diagonal_inertia", "the colliders"), ("principal_axes", "the colliders")), notes=("A note about it",)
)  # fmt: skip


def test_the_mass_that_counts_is_shown_with_its_reason(known_mass):
    known_mass[0]["Crate"] = COMPUTED
    active(scenes.solid("Crate"))
    labels = drawn("mass").labels()
    assert labels[0] == "2.5 kg"
    assert " ".join(labels[1:]) == "from density 1000 kg/m3 by default A note about it"
    assert max(map(len, labels)) <= 32


def test_no_mass_is_computed_for_what_is_no_body(known_mass):
    active(scenes.add_box("Crate"))
    assert drawn("mass").labels() == []
    assert known_mass[1] == []


def test_a_mass_that_cannot_be_computed_says_why_and_offers_nothing(known_mass):
    known_mass[0]["Crate"] = readout.MassReadout(problem="Only a rigid body has a mass")
    active(scenes.solid("Crate"))
    layout = drawn("mass")
    assert layout.labels() == ["Only a rigid body has a mass"]
    assert layout.buttons() == []


def test_a_computed_value_is_offered_where_none_is_authored(known_mass):
    known_mass[0]["Crate"] = COMPUTED
    mass = active(scenes.solid("Crate")).usdphys.mass
    mass.is_applied, mass.center_of_mass = True, (0.0, 0.0, 0.5)
    layout = drawn("mass")
    assert layout.props(mass) == ["mass", "density", "center_of_mass", "diagonal_inertia", "principal_axes"]
    offers = layout.buttons("usdphys.author_computed")
    assert [one.values["field"] for one in offers] == ["mass", "diagonal_inertia"]
    for one in offers:
        assert [beside.name for beside in one.layout.all("prop")] == [one.values["field"]]
    assert [one.values["data_path"] for one in layout.buttons("usdphys.unset")] == [
        "object.usdphys.mass.center_of_mass"
    ]
    offers[0].press()
    assert mass.mass == pytest.approx(1000.0)


# --------------------------------------------------------------------------- colliders


GPRIM_FIELDS = {
    "AUTO": [], "MESH": [], "CUBE": ["size"], "SPHERE": ["radius"], "CAPSULE": ["radius", "height", "axis"],
    "CYLINDER": ["radius", "height", "axis"], "CONE": ["radius", "height", "axis"], "PLANE": ["size", "axis"],
}  # fmt: skip


def placing_fields(shape: str) -> list[str]:
    return ["location"] if shape == "SPHERE" else ["location", "rotation"]


@pytest.mark.parametrize("shape", GPRIM_FIELDS)
def test_a_collider_shows_the_fields_of_its_shape_and_no_others(shape):
    obj = active(scenes.solid("Crate"))
    collider = scenes.make_collider(obj, shape)
    obj.usdphys.active_collider_index = 1
    layout = drawn("colliders")
    fields = GPRIM_FIELDS[shape]
    own = [*fields, *placing_fields(shape)] if fields else ["approximation", "other_approximation"]
    always = ["purpose", "collision_enabled", "physics_material", "simulation_owner"]
    assert layout.props(collider) == ["shape", *own, *always]
    assert layout.props(obj.usdphys.colliders[0]) == []
    assert [one.values for one in layout.buttons("usdphys.fit_collider")] == (
        [{"only_active": True, "explicit": False}, {"only_active": True, "explicit": True}] if fields else []
    )


@pytest.mark.parametrize("shape", [name for name, fields in GPRIM_FIELDS.items() if fields])
def test_fields_of_a_shape_change_the_collider_that_is_exported(shape):
    """A field that a panel shows has an effect."""
    obj = active(scenes.make_body(scenes.add_box("Crate")))
    if shape == "PLANE":
        obj.usdphys.rigid_body.is_applied = False
    collider = scenes.make_collider(obj, shape, size=(1, 2, 3), radius=0.4, height=1.5, axis="X")
    changed = {"size": (2, 4, 6), "radius": 0.7, "height": 2.5, "axis": "Y", "location": (1, 2, 3),
               "rotation": (0.5, 0.5, 0.5, 0.5)}  # fmt: skip
    layout = drawn("colliders")
    for name in [*GPRIM_FIELDS[shape], *placing_fields(shape)]:
        assert layout.prop_of(collider, name)
        before = colliders_of_model()
        old = getattr(collider, name)
        old = tuple(old) if hasattr(old, "__len__") and not isinstance(old, str) else old
        setattr(collider, name, changed[name])
        assert colliders_of_model() != before, name
        setattr(collider, name, old)


def colliders_of_model() -> list[str]:
    model = scenes.read_model()
    return [repr((prim.type_name, prim.schemas, prim.world.round(6).tolist())) for prim in model.colliders.values()]


def test_a_chosen_row_that_is_gone_shows_no_collider():
    obj = active(scenes.solid("Crate"))
    for index in (1, 7):
        obj.usdphys.active_collider_index = index
        layout = drawn("colliders")
        assert layout.props(obj.usdphys) == ["physics_material"]
        assert layout.props() == ["physics_material"]
    obj.usdphys.active_collider_index = 0
    assert "shape" in drawn("colliders").props()


def test_a_collider_shows_a_mass_of_its_own_only_where_it_has_one():
    obj = active(scenes.solid("Crate"))
    mass = obj.usdphys.colliders[0].mass
    layout = drawn("colliders")
    assert layout.props(mass) == ["is_applied"]
    assert layout.prop_of(mass, "is_applied").text == "Own Mass"
    mass.is_applied, mass.mass = True, 2.0
    layout = drawn("colliders")
    assert layout.props(mass) == ["is_applied", "mass", "density", "center_of_mass", "diagonal_inertia",
                                  "principal_axes"]  # fmt: skip
    # What is computed is that of the body.
    assert layout.buttons("usdphys.author_computed") == []
    layout.button("usdphys.unset", data_path="object.usdphys.colliders[0].mass.mass").press()
    assert not mass.is_property_set("mass")


# --------------------------------------------------------------------------- joints


JOINT_FIELDS = {
    "FIXED": [], "REVOLUTE": ["lower_limit", "upper_limit"], "PRISMATIC": ["lower_limit", "upper_limit"],
    "SPHERICAL": ["cone_angle0_limit", "cone_angle1_limit"], "DISTANCE": ["min_distance", "max_distance"],
    "GENERIC": [],
}  # fmt: skip
LIMIT_ROWS = {"GENERIC": [*SIX, "distance"]}
DRIVE_ROWS = {
    "REVOLUTE": ["angular"], "PRISMATIC": ["linear"], "DISTANCE": ["distance"], "GENERIC": [*SIX, "distance"],
}  # fmt: skip
DOFS = [*SIX, "distance", "linear", "angular"]


def rows_of(layout: LayoutRecorder, groups: Any) -> list[str]:
    """Degrees of freedom of which a layout shows the limit or the drive."""
    known = {name: getattr(groups, name) for name in DOFS if hasattr(groups, name)}
    shown = [one.data for one in layout.all("prop") if one.name == "is_applied"]
    return [name for data in shown for name, group in known.items() if group == data]


@pytest.mark.parametrize("kind", TYPES)
def test_a_joint_shows_its_own_limits_and_drives_and_no_others(kind):
    joint = active(scenes.add_joint("Hinge", kind)).usdphys.joint
    layout = drawn("joint")
    for other in ("REVOLUTE", "PRISMATIC", "SPHERICAL", "DISTANCE"):
        group = getattr(joint, other.lower())
        assert layout.props(group) == (JOINT_FIELDS[kind] if other == kind else [])
    assert rows_of(layout, joint.limits) == LIMIT_ROWS.get(kind, [])
    assert rows_of(layout, joint.drives) == DRIVE_ROWS.get(kind, [])
    assert ("axis" in layout.props(joint)) == (kind in ("REVOLUTE", "PRISMATIC", "SPHERICAL"))
    shared = [name for name in layout.props(joint) if name != "axis"]
    assert shared == [
        "type", "body0", "body1", "joint_enabled", "collision_enabled", "exclude_from_articulation",
        "break_force", "break_torque", "local_pos0", "local_rot0", "local_pos1", "local_rot1",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_parts_of_a_joint_are_folded_and_absent_where_it_has_none(kind):
    active(scenes.add_joint("Hinge", kind))
    layout = drawn("joint", opened=())
    folds = [one.arguments["idname"] for one in layout_parts(layout) if one.kind == "panel header"]
    limits, drives = kind in LIMIT_ROWS, kind in DRIVE_ROWS
    assert folds == [
        f"usdphys_joint_{name}" for name, is_there in
        (("limits", limits), ("drives", drives), ("break", True), ("frames", True)) if is_there
    ] + ["usdphys_concepts_joint", "usdphys_object_joint_Newton", "usdphys_object_joint_PhysX"]  # fmt: skip
    names = layout.props()
    assert "is_applied" not in names
    assert not {"break_force", "break_torque", "local_pos0", "local_rot1"} & set(names)
    assert {"body0", "body1", "joint_enabled"} <= set(names)


def layout_parts(layout: LayoutRecorder) -> Iterator[LayoutRecorder]:
    yield layout
    for one in layout.content:
        if isinstance(one, LayoutRecorder):
            yield from layout_parts(one)


@pytest.mark.parametrize("kind", TYPES)
def test_a_limit_or_drive_that_a_file_brings_is_shown_at_any_joint(kind):
    joint = active(scenes.add_joint("Hinge", kind)).usdphys.joint
    joint.limits.transY.is_applied = joint.drives.distance.is_applied = True
    layout = drawn("joint")
    assert rows_of(layout, joint.limits) == LIMIT_ROWS.get(kind, ["transY"])
    expected = [name for name in DOFS if name in DRIVE_ROWS.get(kind, ()) or name == "distance"]
    assert rows_of(layout, joint.drives) == expected


def test_a_limit_and_a_drive_show_their_fields_once_they_are_applied():
    joint = active(scenes.add_joint("Free", "GENERIC")).usdphys.joint
    assert drawn("joint").props(joint.limits.rotY) == ["is_applied"]
    joint.limits.rotY.is_applied = joint.drives.transZ.is_applied = True
    layout = drawn("joint")
    assert layout.props(joint.limits.rotY) == ["is_applied", "low", "high"]
    assert layout.props(joint.drives.transZ) == [
        "is_applied", "type", "max_force", "target_position", "target_velocity", "damping", "stiffness",
    ]  # fmt: skip
    assert layout.props(joint.drives.rotY) == layout.props(joint.limits.transZ) == ["is_applied"]


def test_degrees_of_freedom_are_named_in_words():
    joint = active(scenes.add_joint("Free", "GENERIC")).usdphys.joint
    layout = drawn("joint")
    texts = {name: layout.prop_of(getattr(joint.limits, name), "is_applied").text for name in (*SIX, "distance")}
    assert texts == {
        **{f"trans{axis}": f"Translation {axis}" for axis in "XYZ"},
        **{f"rot{axis}": f"Rotation {axis}" for axis in "XYZ"}, "distance": "Distance",
    }  # fmt: skip


def test_limits_are_shown_in_degrees_where_they_are_angles_and_as_lengths_where_they_are_lengths():
    joint = active(scenes.add_joint("Free", "GENERIC")).usdphys.joint
    for group, name, is_angle in (
        (joint.limits.rotX, "low", True), (joint.limits.transX, "low", False),
        (joint.revolute, "upper_limit", True), (joint.prismatic, "upper_limit", False),
        (joint.spherical, "cone_angle0_limit", True), (joint.distance, "max_distance", False),
        (joint.drives.angular, "target_position", True), (joint.drives.linear, "target_position", False),
    ):  # fmt: skip
        item = group.bl_rna.properties[name]
        assert (item.subtype == "ANGLE", item.unit) == (is_angle, "ROTATION" if is_angle else "LENGTH")


# --------------------------------------------------------------------------- the scene


def test_the_scene_shows_how_its_stage_is_written():
    stage = bpy.context.scene.usdphys.stage
    assert drawn("scene").props(stage) == ["meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy"]


def test_without_a_physics_scene_it_is_said_that_one_is_made():
    layout = drawn("physics_scenes")
    assert " ".join(layout.labels()).startswith("One is made at export, with Blender's gravity")
    assert layout.props() == []


def test_gravity_that_is_not_authored_is_said_to_be_that_of_the_earth():
    physics = bpy.context.scene.usdphys
    for name in ("Earth", "Moon"):
        physics.physics_scenes.add().name = name
    physics.active_scene_index = 1
    moon = physics.physics_scenes[1]
    layout = drawn("physics_scenes")
    assert layout.props(moon) == ["gravity_direction", "gravity_magnitude"]
    assert "Automatic: 9.81 m/s², down" in layout.labels()
    moon.gravity_magnitude = 1.62
    assert "Automatic: 9.81 m/s², down" not in drawn("physics_scenes").labels()
    physics.active_scene_index = 2
    assert drawn("physics_scenes").props() == []


@pytest.fixture
def known_members(monkeypatch):
    known: dict[str, tuple[str, ...]] = {}
    monkeypatch.setattr(readout, "members_of", known.get)
    return known


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (None, "Members: ..."),
        ((), "No members yet"),
        (("A", "B"), "Members: A, B"),
        (tuple("ABCDE"), "Members: A, B, C, D, E"),
        (tuple("ABCDEFG"), "Members: A, B, C, D, E and 2 more"),
    ],
)
def test_a_group_names_its_members(known_members, members, text):
    scenes.define_group("Wheels")
    if members is not None:
        known_members["Wheels"] = members
    assert text in " ".join(drawn("scene_collision_groups").labels())


def test_buttons_of_a_group_act_on_the_group_that_is_shown():
    first, second = scenes.define_group("First"), scenes.define_group("Second")
    bpy.context.scene.usdphys.active_group_index = 1
    layout = drawn("scene_collision_groups")
    for name in ("group_add_selected", "group_remove_selected", "group_select", "group_rename"):
        assert layout.button(f"usdphys.{name}").values == {"group": "Second"}
    assert layout.props(second) == ["merge_group", "invert_filtered_groups"]
    assert layout.props(first) == []
    assert "Does not collide with:" in layout.labels()
    second.invert_filtered_groups = True
    labels = drawn("scene_collision_groups").labels()
    assert "Collides only with:" in labels and "Does not collide with:" not in labels
    bpy.context.scene.usdphys.active_group_index = 2
    assert drawn("scene_collision_groups").buttons("usdphys.group_select") == []


def test_the_matrix_shows_who_ignores_whom_and_its_buttons_change_that():
    groups = [scenes.define_group(name) for name in "ABC"]
    groups[0].filtered_groups.add().name = "B"
    pressed = {(one.values["one"], one.values["other"]): one for one in drawn("collision_matrix").buttons()}
    assert list(pressed) == [(one, other) for one in "ABC" for other in "ABC"]
    ignored = {pair for pair, one in pressed.items() if one.arguments["depress"]}
    assert ignored == {("A", "B"), ("B", "A")}
    assert {pair for pair, one in pressed.items() if one.icon == "X"} == ignored
    assert pressed["C", "A"].press() == {"FINISHED"}
    assert pressed["B", "A"].press() == {"FINISHED"}
    again = drawn("collision_matrix").buttons()
    now = {(one.values["one"], one.values["other"]) for one in again if one.arguments["depress"]}
    assert now == {("A", "C"), ("C", "A")}


@pytest.mark.slow
def test_the_matrix_numbers_its_rows_like_its_columns_and_says_what_it_leaves_out():
    assert not is_shown(panel("collision_matrix"), context())
    for number in range(14):
        scenes.define_group(f"G{number}")
    assert is_shown(panel("collision_matrix"), context())
    layout = drawn("collision_matrix")
    labels = layout.labels()
    assert labels[:12] == [str(number) for number in range(1, 13)]
    assert labels[12:24] == [f"{number}  G{number - 1}" for number in range(1, 13)]
    assert labels[24:] == ["2 more groups: see the list above"]
    assert len(layout.buttons("usdphys.group_ignore")) == 144
    bpy.context.scene.usdphys.collision_groups.remove(0)
    bpy.context.scene.usdphys.collision_groups.remove(0)
    assert not any("more groups" in text for text in drawn("collision_matrix").labels())


# --------------------------------------------------------------------------- materials and presets


def test_the_material_panel_shows_the_material_of_the_tab_or_of_the_object():
    obj = scenes.add_box("Crate")
    select()
    assert not is_shown(panel("material_view"), context("VIEW_3D"))
    active(obj)
    assert not is_shown(panel("material_view"), context("VIEW_3D"))
    wood, steel = scenes.physics_material("Wood"), scenes.physics_material("Steel")
    obj.data.materials.append(wood)
    assert is_shown(panel("material_view"), context("VIEW_3D"))
    assert drawn("material_view", "VIEW_3D").labels()[0] == "Wood"
    group = steel.usdphys.physics_material
    layout = drawn("material", material=steel)
    assert layout.props(group) == ["static_friction", "dynamic_friction", "restitution", "density"]
    assert layout.props(wood.usdphys.physics_material) == []
    assert "Steel" not in layout.labels()


def test_a_material_without_physics_is_grey_and_offers_typical_values():
    obj = active(scenes.add_box("Crate"))
    material = bpy.data.materials.new("Wood")
    obj.data.materials.append(material)
    physics = material.usdphys.physics_material
    header = draw(panel("material"), context(), function="draw_header")
    assert [(one.data, one.name) for one in header.all()] == [(physics, "is_applied")]
    layout = drawn("material")
    assert not any(one.is_active for one in layout.all("prop"))
    preset = layout.button("usdphys.apply_material_preset")
    assert preset.is_active and preset.arguments["property"] == "preset"
    assert [one.name for one in layout.all("menu")] == ["USDPHYS_MT_material_presets"]
    physics.is_applied, physics.restitution = True, 0.5
    bright = {one.name for one in drawn("material").all("prop") if one.is_active}
    assert bright == {"restitution"}


def test_presets_have_a_menu_and_save_and_remove_for_each_kind():
    layout = drawn("structure_presets", "VIEW_3D")
    assert layout.labels() == ["Material", "Rigid Body", "Joint", "Drives"]
    kinds = ["material", "body", "joint", "drive"]
    assert [one.name for one in layout.all("menu")] == [f"USDPHYS_MT_{kind}_presets" for kind in kinds]
    for kind in kinds:
        buttons = layout.buttons(f"usdphys.{kind}_preset_add")
        assert [(one.icon, one.values) for one in buttons] == [("ADD", {}), ("REMOVE", {"remove_active": True})]
        menu = getattr(bpy.types, f"USDPHYS_MT_{kind}_presets")
        saver = getattr(bpy.types, f"USDPHYS_OT_{kind}_preset_add")
        assert saver.preset_menu == menu.__name__
        assert saver.preset_subdir == menu.preset_subdir
    subfolders = {getattr(bpy.types, f"USDPHYS_MT_{kind}_presets").preset_subdir for kind in kinds}
    assert len(subfolders) == 4


# --------------------------------------------------------------------------- tools


def test_structure_offers_compounds_of_both_roles_about_both_targets():
    layout = drawn("structure", "VIEW_3D")
    compounds = layout.buttons("usdphys.compound_from_selection")
    assert [(one.values["role"], one.values["target"]) for one in compounds] == [
        ("DYNAMIC", "ACTIVE"), ("DYNAMIC", "EMPTY"), ("STATIC", "ACTIVE"), ("STATIC", "EMPTY"),
    ]  # fmt: skip
    assert [one.text for one in compounds] == ["Dynamic", "with Empty", "Static", "with Empty"]
    assert layout.button("usdphys.make_collider_objects").arguments["property"] == "kind"
    assert layout.button("usdphys.split_loose").arguments["property"] == "mode"
    fits = layout.buttons("usdphys.fit_collider")
    assert [(one.text, one.values) for one in fits] == [
        ("Fit", {"explicit": False}),
        ("Fit and Set", {"explicit": True}),
    ]
    assert layout.button("usdphys.collider_mesh_to_primitive")


def test_joint_tools_make_the_type_that_the_button_names():
    select()
    layout = drawn("joint_tools", "VIEW_3D")
    added = {one.text: one.values["type"] for one in layout.buttons("usdphys.joint_add")}
    assert added == {kind.title(): kind for kind in TYPES}
    limits = layout.buttons("usdphys.joint_limit_from_pose")
    assert [(one.text, one.values) for one in limits] == [
        ("Lower", {"which": "LOWER"}), ("Upper", {"which": "UPPER"}),
    ]  # fmt: skip
    aligned = layout.buttons("usdphys.joint_align")
    assert [(one.text, one.values) for one in aligned] == [
        ("Align to Body 0", {"side": "BODY0"}), ("Align to Body 1", {"side": "BODY1"}),
    ]  # fmt: skip
    for name in ("joint_chain", "weld", "joint_motor", "joint_fix_frames", "joint_swap_bodies", "mirror_physics"):
        assert layout.button(f"usdphys.{name}").values == {}


@pytest.mark.parametrize("kind", TYPES)
def test_a_generic_joint_lets_one_choose_what_is_limited(kind):
    obj = active(scenes.add_joint("Joint", kind))
    menus = drawn("joint_tools", "VIEW_3D").all("operator_menu_enum")
    expected = [("Lower Limit Of", "LOWER"), ("Upper Limit Of", "UPPER")] if kind == "GENERIC" else []
    assert [(one.text, one.values["which"]) for one in menus] == expected
    assert all(one.arguments["property"] == "dof" for one in menus)
    obj.usdphys.joint.is_applied = False
    assert drawn("joint_tools", "VIEW_3D").all("operator_menu_enum") == []


# --------------------------------------------------------------------------- checks


def found(severity: str = "error", number: int = 0, **values: Any) -> FoundIssue:
    short = values.pop("short", f"Issue {number}")
    named = {"kind": "object", "name": "Crate", "path": "/Crate", **values}
    return FoundIssue(severity, f"Code{number}", "", "", **named, short=short)


@pytest.fixture
def known_report(monkeypatch):
    """Have the checks know a report of every scene."""

    def know(*issues: FoundIssue, on_demand: str = "", is_outdated: bool = False) -> None:
        counts = {kind: sum(issue.severity == kind for issue in issues) for kind in ("error", "warning", "info")}
        monkeypatch.setattr(checks, "report", lambda _name: Report(tuple(issues), counts))
        monkeypatch.setattr(checks, "on_demand", lambda _name: on_demand)
        monkeypatch.setattr(checks, "is_outdated", lambda _name: is_outdated)

    return know


def test_checks_say_that_there_was_none_yet():
    layout = drawn("checks", "VIEW_3D")
    assert layout.labels() == ["Not checked yet"]
    assert [one.name for one in layout.buttons()] == ["usdphys.check", "usdphys.check_fix_all"]
    assert draw(panel("checks"), context("VIEW_3D"), function="draw_header_preset").all() == []


def test_checks_say_that_nothing_was_found(known_report):
    known_report()
    assert drawn("checks", "VIEW_3D").labels() == ["No problems found"]
    assert draw(panel("checks"), context("VIEW_3D"), function="draw_header_preset").labels() == []


def test_checks_say_why_they_wait_and_that_they_are_old(known_report):
    known_report(on_demand="Too large", is_outdated=True)
    assert drawn("checks", "VIEW_3D").labels() == ["Too large", "Changed since the last check"], "not: no problems"


def test_the_header_counts_each_severity_that_there_is(known_report):
    known_report(found("error"), found("error"), found("info"))
    labels = draw(panel("checks"), context("VIEW_3D"), function="draw_header_preset").all("label")
    assert [(one.text, one.icon) for one in labels] == [("2", "CANCEL"), ("1", "INFO")]


def test_an_issue_has_buttons_for_what_can_be_done_about_it(known_report):
    known_report(
        found("error", 0, can_be_fixed=True),
        found("warning", 1, kind="material", name="Wood", path=""),
        found("info", 2, kind="scene", name="", path="/Scene"),
        found("warning", 3, kind="group", name="Wheels", path="/Wheels"),
        found("warning", 4, kind="", name="", path="/Prim", can_be_fixed=True),
    )
    layout = drawn("checks", "VIEW_3D")
    assert [(one.text, one.icon) for one in layout.all("label")] == [
        ("Issue 0", "CANCEL"), ("Issue 1", "ERROR"), ("Issue 2", "INFO"), ("Issue 3", "ERROR"), ("Issue 4", "ERROR"),
    ]  # fmt: skip
    selects = layout.buttons("usdphys.check_select")
    assert [one.values for one in selects] == [
        {"code": "Code0", "kind": "object", "name": "Crate", "path": "/Crate"},
        {"code": "Code1", "kind": "material", "name": "Wood", "path": ""},
        {"code": "Code3", "kind": "group", "name": "Wheels", "path": "/Wheels"},
    ]
    fixes = layout.buttons("usdphys.check_fix")
    assert [one.values["code"] for one in fixes] == ["Code0", "Code4"]
    for one in [*selects, *fixes]:
        assert [label.text[-1] for label in one.layout.all("label")] == [one.values["code"][-1]]


def test_a_long_list_of_issues_ends_with_the_number_that_is_left_out(known_report):
    known_report(*(found("warning", number) for number in range(20)))
    assert len(drawn("checks", "VIEW_3D").labels()) == 20
    known_report(*(found("warning", number) for number in range(23)))
    assert drawn("checks", "VIEW_3D").labels()[-2:] == ["Issue 19", "and 3 more"]


def test_the_buttons_of_a_found_issue_select_and_fix_it():
    obj = scenes.solid("Crate")
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, -1.0
    other = active(scenes.solid("Other", location=(5, 0, 0)))
    bpy.ops.usdphys.check()
    layout = drawn("checks", "VIEW_3D")
    select_buttons = [one for one in layout.buttons("usdphys.check_select") if one.values["name"] == "Crate"]
    assert select_buttons
    assert select_buttons[0].press() == {"FINISHED"}
    assert obj.select_get() and not other.select_get()


# --------------------------------------------------------------------------- preview


def session_of(**values: Any) -> Any:
    from types import SimpleNamespace

    known = {"is_playing": False, "readout": (), "broken": (), "warnings": (), "notices": (), "is_bottomless": False}
    known["scene_name"] = bpy.context.scene.name
    return SimpleNamespace(**{**known, **values})


def run_session(monkeypatch: Any, **values: Any) -> None:
    monkeypatch.setattr(preview_guard, "current", lambda: session_of(**values))


def test_play_is_pause_while_it_plays(monkeypatch):
    others = [one.name for one in drawn("preview", "VIEW_3D").buttons() if one.name != "usdphys.choose_engine"]
    assert others == ["usdphys.preview_apply"]
    layout = drawn("selection", "VIEW_3D")
    assert [one.name for one in layout.buttons()] == [
        "usdphys.preview_play", "usdphys.preview_step", "usdphys.preview_reset", "usdphys.preview_bake",
        "usdphys.export_usd", "usdphys.find_setting",
    ]  # fmt: skip
    for is_playing, text in ((True, "Pause"), (False, "Play")):
        with monkeypatch.context() as patch:
            run_session(patch, is_playing=is_playing)
            button = drawn("selection", "VIEW_3D").button("usdphys.preview_play")
            assert (button.text, button.icon) == (text, text.upper())
    button = layout.button("usdphys.preview_play")
    assert (button.text, button.icon) == ("Play", "PLAY")


@pytest.mark.parametrize("engine", [key for key, row in ENGINES.items() if isinstance(row, Program)])
def test_every_simulator_has_a_button_and_a_preference(engine):
    button = drawn("preview", "VIEW_3D").button("usdphys.choose_engine", engine=engine)
    assert ENGINES[engine].name == button.text
    assert f"{engine}_python" in preferences.USDPHYS_Preferences.bl_rna.properties


def test_settings_without_effect_are_grey_while_the_preview_runs(monkeypatch):
    settings = bpy.context.scene.usdphys.preview
    greyed = {one.name: not one.is_active for one in drawn("preview", "VIEW_3D").all("prop")}
    names = ("with_timeline", "speed", "is_fast", "quality", "frequency", "substeps", "blend_frames", "air")
    assert greyed == dict.fromkeys(names, False)
    settings.is_fast = True
    run_session(monkeypatch)
    greyed = {one.name: not one.is_active for one in drawn("preview", "VIEW_3D").all("prop")}
    assert greyed == {**dict.fromkeys(names, True), "is_fast": False}


def test_the_state_is_shown_while_the_preview_runs(monkeypatch):
    assert not is_shown(panel("preview_state"), context("VIEW_3D"))
    assert drawn("preview_state", "VIEW_3D").all() == []
    run_session(monkeypatch, readout=(("Time", "1.5 s"),), warnings=("Too fast",),
                has_joints=False, broken={"Hinge": JointBreak(1.25, 31.0, 2.0)})  # fmt: skip
    assert is_shown(panel("preview_state"), context("VIEW_3D"))
    labels = drawn("preview_state", "VIEW_3D").all("label")
    assert [one.text for one in labels] == [
        "Time", "1.5 s", "Hinge: broke at 1.25 s under 31", "N and 2 N m", "Too fast",
    ]  # fmt: skip
    assert (labels[2].icon, labels[-1].icon) == ("UNLINKED", "ERROR")
    run_session(monkeypatch, has_joints=False, broken={}, is_bottomless=True)
    text = "Nothing to land on: press Reset, then Ground"
    assert " ".join(drawn("preview_state", "VIEW_3D").labels()) == text
    run_session(monkeypatch, scene_name="Stage", has_joints=False, broken={})
    labels = drawn("preview_state", "VIEW_3D").all("label")
    assert " ".join(one.text for one in labels) == "The scene 'Stage' plays; reset it to play this one"


def test_notices_are_shown_with_what_to_do_while_the_preview_runs_and_warnings_first(monkeypatch):
    """Of physics that is simulated differently; those of little weight too."""
    names = ("Rubber", *"ABCDEFGH")
    notices = [Issue(f"StaticFriction{name}", "info", f"/M/{name}", name, f"'{name}' (/M/{name}) slips.", "Set it.")
               for name in names]  # fmt: skip
    notices.append(Issue("MassRatio", "warning", "/Light", "Light", "'Light' (/Light) gives way.", "Add mass."))
    assert not is_shown(panel("preview_notices"), context("VIEW_3D"))
    assert drawn("preview_notices", "VIEW_3D").all() == []
    run_session(monkeypatch, notices=[])
    assert not is_shown(panel("preview_notices"), context("VIEW_3D"))
    run_session(monkeypatch, notices=notices)
    assert is_shown(panel("preview_notices"), context("VIEW_3D"))
    labels = drawn("preview_notices", "VIEW_3D").all("label")
    assert [(one.text, one.icon) for one in labels[:4]] == [
        ("'Light' gives way.", "ERROR"), ("Add mass.", "FORWARD"), ("'Rubber' slips.", "INFO"), ("Set it.", "FORWARD"),
    ]  # fmt: skip
    assert labels[-1].text == "and 2 more" and len(labels) == 2 * 8 + 1


def test_notices_that_say_the_same_are_one_line_with_their_number(monkeypatch):
    run_session(monkeypatch, notices=[
        Issue("StaticFriction", "info", f"/M/{name}", name, f"'{name}' (/M/{name}) slips.", "Set it.")
        for name in ("Rubber", *"ABCDEFGH")
    ])  # fmt: skip
    labels = drawn("preview_notices", "VIEW_3D").all("label")
    assert [one.text for one in labels] == ["9 \N{MULTIPLICATION SIGN} 'Rubber' slips.", "Set it."]


def test_the_bake_says_which_frames_it_takes():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 5, 48
    layout = drawn("preview_bake", "VIEW_3D")
    assert layout.labels() == ["Frames 5 to 48"]
    assert [one.name.removeprefix("usdphys.") for one in layout.buttons()] == [
        "preview_cache", "preview_bake", "preview_clear_bake", "export_alembic"
    ]  # fmt: skip
    assert not layout.buttons("usdphys.preview_clear_bake")[0].layout.enabled


def test_the_cache_shows_its_frames_and_its_size_and_says_when_it_is_stale():
    from usdphys_ext.usdphys_addon.playback import kept_frames

    scene = bpy.context.scene
    scenes.solid("Crate", shape="AUTO", location=(0, 0, 3))
    bpy.context.view_layer.update()
    bpy.ops.usdphys.preview_cache(use_scene_range=False, frame_start=1, frame_end=9)
    size = kept_frames.about(scene).text
    layout = drawn("selection", "VIEW_3D")
    assert f"Cached frames 1 to 9, {size}" in layout.labels() and size.endswith(" kB")
    assert [one.name for one in layout.buttons("usdphys.preview_delete_cache")]
    assert "stale" not in " ".join(layout.labels())
    kept_frames.note_stale(scene, True)
    assert "stale" in " ".join(drawn("selection", "VIEW_3D").labels())
    assert not drawn("preview_bake", "VIEW_3D").props(scene.usdphys.preview)[1:]
    scene.usdphys.preview.marks_contacts = True
    assert drawn("preview_bake", "VIEW_3D").props(scene.usdphys.preview) == ["marks_contacts", "least_impulse"]


# --------------------------------------------------------------------------- joint inspector


def inspected(name: str, **values: Any) -> Any:
    row = bpy.context.window_manager.usdphys_inspector.rows.add()
    row.name = name
    return scenes.assign(row, **{"joint": name, "low": -1.0, "high": 1.0, **values})


def test_the_inspector_offers_to_begin_and_nothing_else_without_a_session():
    inspected("Hinge")
    layout = drawn("inspector", "VIEW_3D")
    assert [one.name for one in layout.all()] == ["usdphys.inspect_joints"]


def test_the_inspector_offers_to_begin_and_nothing_else_without_joints(monkeypatch):
    run_session(monkeypatch)
    assert [one.name for one in drawn("inspector", "VIEW_3D").all()] == ["usdphys.inspect_joints"]


def run_inspector(monkeypatch: Any) -> None:
    """A session whose rows all have a joint."""
    run_session(monkeypatch)
    rows = bpy.context.window_manager.usdphys_inspector.rows
    monkeypatch.setattr(joint_inspector, "live_rows", lambda _context: list(enumerate(rows)))


def test_each_joint_has_a_slider_of_its_kind_between_buttons_for_its_limits(monkeypatch):
    run_inspector(monkeypatch)
    hinge = inspected("Hinge", is_angular=True, low=-0.5, high=1.0)
    slide = inspected("Slide", is_angular=False, low=-0.25, high=3.4e38)
    layout = drawn("inspector", "VIEW_3D")
    assert layout.props(hinge) == ["angle"]
    assert layout.props(slide) == ["distance"]
    assert layout.prop_of(hinge, "angle").arguments["slider"]
    limits = layout.buttons("usdphys.inspect_limit")
    assert [one.values for one in limits] == [
        {"index": index, "which": which} for index in (0, 1) for which in ("LOWER", "UPPER")
    ]
    for one, row in zip(limits, (hinge, hinge, slide, slide), strict=True):
        assert [slider.data for slider in one.layout.all("prop")] == [row]
    assert layout.labels() == ["Hinge", "-28.65° to 57.3°", "Slide", "from -0.25 m"]
    ends = [one for one in layout.buttons() if one.name.startswith("usdphys.preview_")]
    assert [(one.text, one.name) for one in ends] == [
        ("Keep Pose", "usdphys.preview_apply"), ("Discard", "usdphys.preview_reset"),
    ]  # fmt: skip


def test_the_inspector_shows_why_a_joint_does_not_follow(monkeypatch):
    run_inspector(monkeypatch)
    inspected("Hinge")
    inspector = bpy.context.window_manager.usdphys_inspector
    inspector.problem = "It is in a closed loop"
    assert "It is in a closed loop" in drawn("inspector", "VIEW_3D").labels()
    inspector.problem = ""
    assert drawn("inspector", "VIEW_3D").labels() == ["Hinge", "-1 m to 1 m"]
    assert drawn("inspector", "VIEW_3D").prop_of(inspector, "physics").arguments["toggle"]


@pytest.mark.slow
def test_the_inspector_shows_gains_of_driven_joints_unless_there_are_many(monkeypatch):
    run_inspector(monkeypatch)
    drives = scenes.add_joint("Hinge", "REVOLUTE").usdphys.joint.drives
    inspected("Hinge", is_angular=True, dof="angular")
    assert drawn("inspector", "VIEW_3D").props(drives.angular) == []
    drives.angular.is_applied = True
    assert drawn("inspector", "VIEW_3D").props(drives.angular) == ["stiffness", "damping"]
    for number in range(11):
        inspected(f"Other {number}")
    assert drawn("inspector", "VIEW_3D").props(drives.angular) == ["stiffness", "damping"]
    inspected("Thirteenth")
    assert drawn("inspector", "VIEW_3D").props(drives.angular) == []


# --------------------------------------------------------------------------- overlays


OVERLAY_PANELS = ["overlays", "overlays_view"]


def overlay() -> Any:
    return bpy.context.window_manager.usdphys_overlay


@pytest.fixture
def fresh_overlay():
    """The settings of the overlays at their defaults; they belong to the session, not to a file."""

    def unset():
        for item in overlay().bl_rna.properties:
            if item.identifier != "rna_type":
                overlay().property_unset(item.identifier)

    unset()
    yield overlay()
    unset()


@pytest.mark.parametrize("name", OVERLAY_PANELS)
def test_overlay_panels_show_every_setting(name, fresh_overlay):
    shown = drawn(name, "VIEW_3D").props(fresh_overlay)
    # What runs beside the preview is drawn too, and has a panel of its own.
    others = {"compare", "confidence"}
    assert others <= set(drawn("beside", "VIEW_3D").props(fresh_overlay))
    known = {item.identifier for item in fresh_overlay.bl_rna.properties} - {"rna_type", "name", "show"} - others
    assert set(shown) == known
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize("name", OVERLAY_PANELS)
def test_overlay_settings_without_effect_are_absent(name, fresh_overlay):
    fresh_overlay.colliders = "NONE"
    assert "color_by" not in drawn(name, "VIEW_3D").props()
    fresh_overlay.colliders, fresh_overlay.joints = "ALL", "NONE"
    shown = drawn(name, "VIEW_3D").props()
    assert "color_by" in shown
    assert not {"joint_frames", "joint_limits", "joint_drives", "joint_size"} & set(shown)


@pytest.mark.parametrize("name", OVERLAY_PANELS)
def test_overlay_settings_are_grey_while_the_overlays_are_off(name, fresh_overlay):
    for is_shown_now in (True, False):
        fresh_overlay.show = is_shown_now
        assert {one.is_active for one in drawn(name, "VIEW_3D").all("prop")} == {is_shown_now}


def test_a_view_without_overlays_says_so(fresh_overlay):
    away = context("VIEW_3D")
    away.space_data.overlay.show_overlays = False
    labels = draw(panel("overlays_view"), away).labels()
    assert "Overlays are off in this view" in labels
    assert not any(one.is_active for one in draw(panel("overlays"), away).all("prop"))
    assert "Overlays are off in this view" not in drawn("overlays_view", "VIEW_3D").labels()


def test_the_header_of_the_view_has_the_switch_and_the_popover(fresh_overlay):
    layout = LayoutRecorder()
    assert overlays.draw_popover in bpy.types.VIEW3D_HT_header.draw._draw_funcs
    part = drawing_part(bpy.types.USDPHYS_PT_overlays, layout)
    overlays.draw_popover(part, bpy.context)
    switch, popover = layout.all()
    assert (switch.data, switch.name, switch.text) == (fresh_overlay, "show", "")
    assert popover.name == "USDPHYS_PT_overlays"
    assert switch.is_active and popover.is_active
    fresh_overlay.show = False
    layout.content.clear()
    overlays.draw_popover(part, bpy.context)
    switch, popover = layout.all()
    assert switch.is_active and not popover.is_active
    header = draw(panel("overlays_view"), context("VIEW_3D"), function="draw_header")
    assert [(one.data, one.name) for one in header.all()] == [(fresh_overlay, "show")]


# --------------------------------------------------------------------------- menus


def test_aims_show_the_target_that_is_active_and_the_variations(monkeypatch):
    from usdphys_ext.usdphys_addon.playback import ghosts

    target = bpy.data.objects.new("Here", None)
    bpy.context.scene.collection.objects.link(target)
    scenes.select(target)
    buttons = ["usdphys.land_here", "usdphys.aim", "usdphys.vary"]
    layout = drawn("preview_aims", "VIEW_3D")
    assert [one.name for one in layout.buttons()] == buttons and not layout.props()
    target.usdphys.land_here.is_applied = True
    assert {"body", "frame", "tolerance", "face", "at_rest"} <= set(drawn("preview_aims", "VIEW_3D").props())
    family = ghosts.Ghosts("Scene", 1.0, [None], ways=[None] * 3, best=1)
    monkeypatch.setattr(ghosts, "variations", lambda: family)
    layout = drawn("preview_aims", "VIEW_3D")
    assert layout.button("usdphys.use_variation").text == "Use 2 of 3"
    steps = [one.values["step"] for one in layout.buttons() if one.name == "usdphys.choose_variation"]
    assert steps == [-1, 1]


ACTIONS = ["make_dynamic", "make_static", "make_kinematic", "add_collider", "joint_add", "add_group", "clear_physics"]
BATCH = ["tag_by_name", "tag_collection", "copy_physics"]


def test_actions_are_in_the_pie_and_the_object_menu():
    actions, batch = ([f"usdphys.{name}" for name in names] for names in (ACTIONS, BATCH))
    texts = ["Dynamic", "Static", "Kinematic", "Collider", "Joint", "Group", "Clear"]
    scenes.solid("Crate")
    for cls, expected in (
        (bpy.types.USDPHYS_MT_pie, actions),
        (bpy.types.USDPHYS_PT_batch, batch),
        (bpy.types.USDPHYS_MT_object,
         [*actions, *batch, "usdphys.from_rigid_bodies", "usdphys.preview_play_selected", "usdphys.fit_asset",
          "usdphys.find_setting", "usdphys.manual", "usdphys.report_bug"]),
    ):  # fmt: skip
        layout = draw(cls)
        assert [one.name for one in layout.buttons()] == expected
        given = [one.values for one in layout.buttons() if one.values]
        assert given == []
        if expected != batch:
            # Blender's search compares the texts of a menu: there they are the names of the operators.
            named = cls is bpy.types.USDPHYS_MT_object
            wanted = [*texts[:4], "Add Joint", "Group", "Clear Physics"] if named else texts
            assert [one.text for one in layout.buttons()][:7] == wanted
    assert draw(bpy.types.USDPHYS_MT_pie).content[0].kind == "menu_pie"


@pytest.mark.slow
def test_every_operator_is_in_a_menu_where_the_search_finds_it():
    """Blender's search lists the operators of menus, and no others."""
    menus = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith("USDPHYS_MT_")]
    menus = [menu for menu in menus if not hasattr(menu, "preset_subdir")]
    found = {one.name for menu in menus for one in draw(menu).buttons()}
    for menu, module in (
        ("TOPBAR_MT_file_export", "export_usd"), ("TOPBAR_MT_file_export", "export_layer"),
        ("TOPBAR_MT_file_import", "import_usd"),
        ("TOPBAR_MT_file_export", "export_urdf"), ("TOPBAR_MT_file_import", "import_urdf"),
        ("TOPBAR_MT_file_import", "import_mjcf"), ("TOPBAR_MT_file_import", "import_sdf"),
        ("TOPBAR_MT_file_export", "export_mjcf"),
        ("TOPBAR_MT_file_export", "export_unreal"),
        ("TOPBAR_MT_file_external_data", "pack_source"),
    ):  # fmt: skip
        found |= {one.name for one in menu_entries(menu, f"operators.files.{module}").buttons()}
    # In the menu of a property.
    found.add("usdphys.copy_property")
    wanted = {
        cls.bl_idname for cls in operator_classes()
        if "INTERNAL" not in getattr(cls, "bl_options", set())
    }  # fmt: skip
    assert wanted - found == set()
    # Each menu of ours is reached from another one.
    shown = {one.name for menu in menus for one in draw(menu).all("menu")} | {"USDPHYS_MT_object", "USDPHYS_MT_add"}
    assert {menu.__name__ for menu in menus} - shown == {"USDPHYS_MT_pie"}


def operator_classes():
    from usdphys_ext import operators

    return [cls for cls in operators.CLASSES if issubclass(cls, bpy.types.Operator)]


def menu_entries(menu: str, module: str) -> LayoutRecorder:
    """What a module adds to one of Blender's menus."""
    layout = LayoutRecorder()
    part = drawing_part(bpy.types.USDPHYS_MT_object, layout)
    name = f"usdphys_ext.{module}"
    functions = [one for one in getattr(bpy.types, menu).draw._draw_funcs if one.__module__ == name]
    assert len(functions) == 1
    functions[0](part, bpy.context)
    return layout


def test_blenders_menus_lead_to_ours():
    assert [one.name for one in menu_entries("VIEW3D_MT_object", "panels.action_bar_panel").all("menu")] == [
        "USDPHYS_MT_object"
    ]
    for menu, module in (
        ("TOPBAR_MT_file_export", "export_usd"), ("TOPBAR_MT_file_export", "export_layer"),
        ("TOPBAR_MT_file_import", "import_usd"),
    ):  # fmt: skip
        entries = menu_entries(menu, f"operators.files.{module}").buttons()
        assert [one.name for one in entries] == [f"usdphys.{module}"]
        assert entries[0].text.startswith("USD Physics")
    assert "Layer" in menu_entries("TOPBAR_MT_file_export", "operators.files.export_layer").buttons()[0].text


def button_menu(pointer: Any, name: str) -> LayoutRecorder:
    """The context menu of a property in a panel."""
    layout = LayoutRecorder()
    members = {"button_pointer": pointer, "button_prop": pointer.bl_rna.properties[name]} if pointer else {}
    assert batch.draw_button_menu in bpy.types.UI_MT_button_context_menu.draw._draw_funcs
    batch.draw_button_menu(drawing_part(bpy.types.USDPHYS_MT_object, layout), context(**members))
    return layout


def test_the_menu_of_our_properties_copies_them_to_the_selection():
    obj, other = scenes.solid("Crate"), scenes.solid("Other")
    obj.usdphys.rigid_body.velocity = (1, 2, 3)
    select(other, obj)
    layout = button_menu(obj.usdphys.rigid_body, "velocity")
    button = layout.button("usdphys.copy_property", data_path="rigid_body.velocity")
    assert button.press() == {"FINISHED"}
    assert tuple(other.usdphys.rigid_body.velocity) == (1, 2, 3)
    row = button_menu(obj.usdphys.colliders[0], "radius")
    assert row.buttons()[0].values == {"data_path": "colliders[0].radius"}


def test_the_menu_of_other_properties_is_left_alone():
    obj = active(scenes.solid("Crate"))
    material = scenes.physics_material("Wood")
    for pointer, name in (
        (obj, "location"), (material.usdphys.physics_material, "restitution"),
        (bpy.context.scene.usdphys.stage, "up_axis"), (None, ""),
    ):  # fmt: skip
        assert button_menu(pointer, name).all() == []


# --------------------------------------------------------------------------- dialogs of operators


def drawn_operator(idname: str, area: str = "FILE_BROWSER", opened: Any = (), **values: Any) -> LayoutRecorder:
    """What an operator draws of itself with these values, its own defaults else."""
    rna = operator_type(idname)
    members = {}
    for item in rna.properties:
        if item.type in ("COLLECTION", "POINTER"):
            members[item.identifier] = []
        elif getattr(item, "is_array", False):
            members[item.identifier] = tuple(item.default_array)
        else:
            members[item.identifier] = item.default
    unknown = values.keys() - members.keys()
    assert not unknown
    module, _, name = idname.partition(".")
    cls = getattr(bpy.types, f"{module.upper()}_OT_{name}")
    layout = LayoutRecorder(opened=opened)
    drawing_part(cls, layout, bl_rna=rna, **{**members, **values}).draw(context(area))
    return layout


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("BOX", ["oriented"]), ("SPHERE", []), ("CAPSULE", ["axis", "oriented"]), ("CYLINDER", ["axis", "oriented"]),
        ("HULL", []), ("DECOMPOSITION", ["method", "error", "most"]),
    ],
)  # fmt: skip
def test_collider_objects_ask_for_what_their_kind_takes(kind, fields):
    layout = drawn_operator("usdphys.make_collider_objects", kind=kind)
    assert layout.props() == ["kind", "margin", *fields, "replace"]


def test_a_decomposition_shows_how_well_its_parts_fit_below_the_slider():
    told = "'Cup': 9 parts, 0.2% missing, 1.4% added, at most 0.003 m away\nFewest for an error of 5%: 4 parts"
    layout = drawn_operator("usdphys.make_collider_objects", kind="DECOMPOSITION", told=told)
    # Wrapped, as the panel of the last operation is narrow.
    assert " ".join(layout.labels()).endswith(" ".join(told.split())) and max(map(len, layout.labels())) <= 40
    assert not drawn_operator("usdphys.make_collider_objects", kind="BOX", told=told).labels()


@pytest.mark.parametrize(("mode", "field"), [("OBJECTS", "replace"), ("PRIMITIVES", "oriented")])
def test_loose_parts_ask_for_what_their_mode_takes(mode, field):
    assert drawn_operator("usdphys.split_loose", mode=mode).props() == ["mode", "margin", field, "limit"]


@pytest.mark.parametrize(
    ("kinds", "speeds", "places", "asks"),
    [
        (["REVOLUTE"], ["speed"], ["angle"], []), (["PRISMATIC"], ["slide_speed"], ["distance"], []),
        (["REVOLUTE", "PRISMATIC", "FIXED"], ["speed", "slide_speed"], ["angle", "distance"], []),
        (["GENERIC"], ["speed"], ["angle"], ["dof"]), ([], ["speed", "slide_speed"], ["angle", "distance"], ["dof"]),
    ],
)  # fmt: skip
def test_a_motor_asks_for_what_the_chosen_joints_take(kinds, speeds, places, asks):
    """A velocity or a place, an angle or a length; the degree of freedom where there are several."""
    for obj in bpy.data.objects:
        obj.select_set(False)
    for number, kind in enumerate(kinds):
        scenes.add_joint(f"Joint {number}", kind).select_set(True)
    assert drawn_operator("usdphys.joint_motor").props() == ["holds", *speeds, "response", "articulation", *asks]
    held = drawn_operator("usdphys.joint_motor", holds=True)
    assert held.props() == ["holds", *places, "response", "articulation", "armature", *asks]


@pytest.mark.parametrize(
    ("handle", "fields"),
    [
        ("collider.radius:0", ["value"]),
        ("collider.size:0:x", ["value", "both_sides"]),
        ("collider.height:0", ["value", "both_sides"]),
        ("collider.location", ["place"]),
        ("mass.center_of_mass", ["place"]),
        ("joint.local_pos1", ["place"]),
        ("joint.local_rot1", ["angle"]),
        ("joint.revolute.upper_limit", ["angle"]),
        ("joint.spherical.cone_angle0_limit", ["angle"]),
        ("joint.prismatic.upper_limit", ["value"]),
        ("joint.limits.rotX.low", ["angle"]),
        ("joint.limits.transX.low", ["value"]),
        ("joint.drives.angular.target_position", ["angle"]),
    ],
)
def test_a_handle_shows_an_angle_a_place_or_a_length(handle, fields):
    assert drawn_operator("usdphys.drag_handle", handle=handle).props() == fields


#: Pixels that a window of the default size has in the file browser's column of options: for a label left of its field,
#: beside a box to tick, in a drop-down, for a line of text; and for the button that runs the operator.
ROOMS = {"field": 88, "BOOLEAN": 105, "item": 106, "label": 232, "button": 117}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en_US", "de_DE", "fr_FR", "ja_JP", "zh_HANS"])
@pytest.mark.parametrize(
    "name", ["export_usd", "export_layer", "import_usd", "export_urdf", "import_urdf", "batch_convert_folder",
             "export_collections"],
)  # fmt: skip
def test_no_label_of_a_file_dialog_is_cut(name, language):
    blf.size(0, 11)
    words = translations.table(language)
    layout, rna = drawn_operator(f"usdphys.{name}"), operator_type(f"usdphys.{name}")
    shown = [("button", rna.name), *(("label", one.text) for one in layout.all("label"))]
    for one in layout.all("prop"):
        item = rna.properties[one.name]
        shown.append((item.type if item.type in ROOMS else "field", one.arguments.get("text", item.name)))
        shown += [("item", choice.name) for choice in (item.enum_items if item.type == "ENUM" else ())]
    assert len(shown) > 1
    texts = [(kind, words.get(("Operator" if kind == "button" else "*", text), text)) for kind, text in shown]
    assert [
        (text, blf.dimensions(0, text)[0]) for kind, text in texts if blf.dimensions(0, text)[0] > ROOMS[kind]
    ] == []


def test_a_rope_shows_what_matters_for_the_objects_that_were_selected():
    assert {"slack", "ends"} < set(drawn_operator("usdphys.rope").props())
    held = drawn_operator("usdphys.rope", idle="ends")
    assert "slack" in held.props() and "ends" not in held.props()
    assert " ".join(held.labels()) == "Both ends are fixed to the selected objects"
    assert not {"slack", "ends"} & set(drawn_operator("usdphys.rope", idle="slack ends").props())


def test_copying_shows_all_parts_to_choose_from():
    (parts,) = drawn_operator("usdphys.copy_physics").all("prop")
    assert parts.name == "parts" and parts.arguments["expand"]


def test_an_export_shows_its_options_and_what_it_would_refuse(known_report):
    options = [
        "reader",
        "selected_only",
        "animation",
        "meters_per_unit",
        "kilograms_per_unit",
        "up_axis",
        "hierarchy",
        "layers",
        "instanceable",
        "runtimes",
        "physx_words",
        "materialx",
        "thumbnail",
        "strict",
    ]
    layout = drawn_operator("usdphys.export_usd")
    assert layout.props() == options
    assert layout.labels() == []
    known_report(found("warning", 1))
    assert drawn_operator("usdphys.export_usd").labels() == []
    known_report(found("warning", 1), found("error", 2))
    assert drawn_operator("usdphys.export_usd").labels() == ["1 error: written anyway", "Issue 2"]
    assert drawn_operator("usdphys.export_usd", strict=True).labels()[0] == "1 error: nothing is written"
    known_report(*(found("error", number) for number in range(8)))
    labels = drawn_operator("usdphys.export_usd").labels()
    assert labels[0] == "8 errors: written anyway"
    assert labels[1:] == [*(f"Issue {number}" for number in range(5)), "and 3 more"]


@pytest.mark.parametrize(("file", "has_forms"), [("/robot.usda", True), ("/robot.urdf", False), ("/robot.xml", False)])
def test_an_export_asks_for_a_form_only_where_edits_can_be_put_on_the_imported_file(file, has_forms):
    bpy.context.scene.usdphys.source.filepath = file
    layout = drawn_operator("usdphys.export_usd")
    assert layout.labels() == [f"Imported from {file[1:]}"]
    assert ("form" in layout.props()) == has_forms


def test_an_export_tells_errors_of_the_imported_file_apart(known_report, monkeypatch):
    known_report(found("error", 1), found("error", 2))
    monkeypatch.setattr(bpy.types.USDPHYS_OT_export_usd, "errors_of_source", frozenset({("Code2", "Crate")}))
    assert " ".join(drawn_operator("usdphys.export_usd").labels()) == (
        "1 error: written anyway Issue 1 1 error came with the imported file Issue 2"
    )


def test_a_layer_says_which_file_it_goes_over():
    bpy.context.scene.usdphys.source.filepath = "/tmp/robot.usda"
    layout = drawn_operator("usdphys.export_layer")
    assert layout.labels() == ["Over robot.usda"]
    assert layout.props() == ["into_copy", "physics_only", "strict"]
    assert drawn_operator("usdphys.export_layer", into_copy=True).labels() == ["Copy of robot.usda"]


USD_FILE = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "Robot" (
    variants = { string color = "red" }
    prepend variantSets = "color"
)
{
    def Cube "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
    }
    def PhysicsRevoluteJoint "Hinge"
    {
        rel physics:body1 = </Robot/Body>
    }
    variantSet "color" = {
        "red" { }
        "blue" { }
    }
}
"""


@contextlib.contextmanager
def import_properties() -> Iterator[Any]:
    """Properties of the import as Blender keeps them for the file browser."""
    chosen = bpy.context.window_manager.operator_properties_last("usdphys.import_usd")
    names = [name for name in chosen.bl_rna.properties.keys() if name != "rna_type"]
    try:
        yield chosen
    finally:
        for name in names:
            chosen.property_unset(name)


def import_part(chosen: Any, layout: LayoutRecorder) -> Any:
    members = {name: getattr(chosen, name) for name in chosen.bl_rna.properties.keys() if name != "rna_type"}
    return drawing_part(bpy.types.USDPHYS_OT_import_usd, layout, bl_rna=chosen.bl_rna, **members)


def test_an_import_shows_what_is_in_the_file(tmp_path):
    file = tmp_path / "robot.usda"
    file.write_text(USD_FILE)
    with import_properties() as chosen:
        chosen.filepath = str(file)
        layout = LayoutRecorder()
        part = import_part(chosen, layout)
        assert part.check(bpy.context)
        assert not part.check(bpy.context)
        part.draw(bpy.context)
        assert layout.props(part) == ["attach", "convert_units", "prim_path", "pack"]
        (variant,) = part.variant_sets
        assert layout.props(variant) == ["choice"]
        assert layout.prop_of(variant, "choice").text == "Robot color"
        assert (variant.choice, variant.known) == ("red", "blue\nred")
        labels = layout.labels()
        assert labels[:2] == ["Variants", "Contents"]
        assert labels[2] == "0.01 m, 1 kg per unit, Y up"
        assert {"1 body", "1 collider", "1 joint"} <= set(labels)
        assert "No physics in this file" not in labels
        variant.choice = "blue"
        assert part.chosen() == ("/Robot{color=blue}",)
        part.filepath = str(tmp_path / "other.usda")
        layout.content.clear()
        part.draw(bpy.context)
        assert not layout.props(variant)
        assert part.chosen() == ()


def test_blender_may_end_the_file_browser_before_and_during_an_import():
    with import_properties() as chosen:
        part = import_part(chosen, LayoutRecorder())
        part.cancel(bpy.context)
        told = []

        def steps():
            try:
                yield
            finally:
                told.append("undone")

        part.steps = steps()
        next(part.steps)
        part.end = lambda _context: told.append("timer removed")
        part.cancel(bpy.context)
        assert told == ["undone", "timer removed"]


def test_what_a_file_holds_is_told_in_the_language_of_blender(tmp_path, monkeypatch):
    words = translations.table("de_DE")
    monkeypatch.setattr(wrapped_text, "tr", lambda text: in_language(text, lambda one: words.get(("*", one), one)))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "asset").mkdir()
    (tmp_path / "elsewhere" / "part.usda").write_text('#usda 1.0\n(\n    defaultPrim = "P"\n)\ndef Xform "P"\n{\n}\n')
    file = tmp_path / "asset" / "asset.usda"
    file.write_text(f'#usda 1.0\ndef Xform "A" (references = @{tmp_path}/elsewhere/part.usda@)\n{{\n}}\n')
    said = " ".join(drawn_operator("usdphys.import_usd", filepath=str(file)).labels())
    assert "Sie liest 1 Datei aus anderen Ordnern, etwa '" in said
    assert "0.01 m, 1 kg je Einheit, Y nach oben" in said


def test_an_import_without_a_readable_file_says_so(tmp_path):
    for content, expected in (
        (None, "Choose a USD file of less than 64 MB to see its contents"), ("no USD", "file.usda' is not"),
        ('#usda 1.0\ndef Cube "Box" {\n}\n', "No physics in this file"),
    ):  # fmt: skip
        file = tmp_path / "file.usda"
        if content is not None:
            file.write_text(content)
        labels = drawn_operator("usdphys.import_usd", filepath=str(file)).labels()
        assert expected in " ".join(labels) and max(map(len, labels)) <= 32


def test_before_a_hostile_file_is_opened_its_reader_is_told_why_it_is_refused(tmp_path):
    file = tmp_path / "hostile.usda"
    file.write_text(
        USD_FILE
        + """
def Shader "Trap"
{
    uniform token info:id = "UsdTransform2d"
    float2 inputs:in.connect = </Trap.outputs:result>
    float2 outputs:result
}
"""
    )
    labels = drawn_operator("usdphys.import_usd", filepath=str(file)).labels()
    assert "'hostile.usda' cannot be imported: the shader '/Trap' feeds itself" in " ".join(labels)
    assert "1 body" in labels, "the contents are shown all the same"
    assert bpy.ops.usdphys.import_usd.poll()
    with pytest.raises(RuntimeError, match="cannot be imported"):
        bpy.ops.usdphys.import_usd(filepath=str(file))
    assert "Trap" not in bpy.data.objects


def test_before_a_file_is_opened_the_files_that_it_reads_elsewhere_are_shown(tmp_path):
    for place in ("asset", "elsewhere"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "part.usda").write_text(
            '#usda 1.0\n(\n    defaultPrim = "Part"\n)\ndef Xform "Part"\n{\n}\n'
        )
    for part, is_outside in ((tmp_path / "elsewhere/part.usda", True), ("./part.usda", False)):
        file = tmp_path / "asset" / f"asset_{is_outside}.usda"
        file.write_text(f'#usda 1.0\ndef Xform "Asset" (references = @{part}@)\n{{\n}}\n')
        said = " ".join(drawn_operator("usdphys.import_usd", filepath=str(file)).labels())
        assert ("It reads 1 file from other folders" in said) == is_outside
        assert (str(tmp_path / "elsewhere") in "".join(said.split())) == is_outside


def test_options_of_geometry_are_grey_where_only_physics_is_read():
    for attach in (False, True):
        layout = drawn_operator("usdphys.import_usd", attach=attach)
        greyed = {one.name: not one.is_active for one in layout.all("prop")}
        assert greyed == {"attach": False, "convert_units": attach, "prim_path": attach, "pack": attach}


# --------------------------------------------------------------------------- preferences


def drawn_preferences(monkeypatch: Any, chosen: Any) -> tuple[LayoutRecorder, list[str]]:
    """What the preferences draw, and the shortcuts, which Blender draws itself."""
    import rna_keymap_ui

    keys: list[str] = []
    monkeypatch.setattr(rna_keymap_ui, "draw_kmi", lambda *rest: keys.append(rest[3].idname))
    if bpy.context.window_manager.keyconfigs.user:
        bpy.context.window_manager.keyconfigs.update()
    layout = LayoutRecorder()
    members = {name: getattr(chosen, name) for name in chosen.bl_rna.properties.keys() if name != "rna_type"}
    drawing_part(preferences.USDPHYS_Preferences, layout, bl_rna=chosen.bl_rna, **members).draw(bpy.context)
    return layout, keys


def test_preferences_show_every_setting_once(monkeypatch):
    with scenes.enabled() as chosen:
        layout, keys = drawn_preferences(monkeypatch, chosen)
        shown = layout.props()
        known = set(chosen.bl_rna.properties.keys()) - {"rna_type", "bl_idname"}
        assert set(shown) == known
        assert len(shown) == len(known)
        boxes = {part.labels()[0]: part.props() for part in layout_parts(layout) if part.kind == "box"}
        assert boxes["Export"] == ["export_units", "export_hierarchy", "export_format", "prove_exports"]
        assert boxes["Preview of New Files"] == ["preview_frequency", "preview_substeps", "preview_with_timeline"]
        assert len(boxes["Overlay"]) == 5
        assert "Shortcuts" in boxes
        if bpy.context.window_manager.keyconfigs.user:
            assert len(keys) == 5


def test_preferences_of_a_blender_without_usd_offer_no_export(monkeypatch):
    monkeypatch.setattr(preferences.environment, "usd_is_supported", lambda: False)
    with scenes.enabled() as chosen:
        layout, _ = drawn_preferences(monkeypatch, chosen)
        assert any("without USD" in text for text in layout.labels())
        assert not any(name.startswith(("add_to_usd", "export")) for name in layout.props())
        assert "check_live" in layout.props()


def test_labels_of_the_sidebar_have_the_whole_width():
    """In two columns "Upper Limit" was cut to "Upper Li..."."""
    active(scenes.add_joint("Hinge", "REVOLUTE"))
    assert not drawn("scene_view", "VIEW_3D").use_property_split
    assert drawn("joint").use_property_split


@places(["collision_matrix", "rigid_body", "physics_scenes"])
def test_nothing_is_more_than_two_folds_deep(name, place):
    """The matrix of the groups was three deep: Scene, Collision Groups, Who Ignores Whom."""

    def folds(cls: Any) -> int:
        above = getattr(bpy.types, getattr(cls, "bl_parent_id", ""), None)
        return ("DEFAULT_CLOSED" in getattr(cls, "bl_options", ())) + (folds(above) if above is not None else 0)

    assert folds(panel(name + place)) <= 2
    deep = {cls.__name__: folds(cls) for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel)}
    assert {name: depth for name, depth in deep.items() if depth > 2} == {} and len(deep) > 25


@pytest.fixture
def narrow(monkeypatch):
    """Panels are drawn as in the sidebar of a width, in a language."""
    from types import SimpleNamespace

    def make(width: int, language: str) -> None:
        class Blender:
            context = ContextRecorder(region=SimpleNamespace(width=width, type="UI"))

            def __getattr__(self, name):
                return getattr(bpy, name)

        words = translations.table(language)
        for module in (fitting, wrapped_text):
            monkeypatch.setattr(module, "bpy", Blender())
        monkeypatch.setattr(
            fitting, "shown", lambda text: words.get(("*", text), words.get(("Operator", text), text))
        )  # fmt: skip

    return make


def cut_texts(layout: LayoutRecorder, width: float) -> Iterator[str]:
    """Texts of buttons, labels and properties that do not fit where they are drawn."""
    for one, place in widths(layout, width):
        text, needed = fitting.shown(one.text), 20.0 * (one.icon != "NONE")
        needed += fitting.text_width(text)
        if one.kind in ("operator", "menu", "operator_menu_enum"):
            needed += 10.0 if one.kind == "operator" else 24.0
        elif one.kind in ("prop", "prop_search"):
            declared = one.data.bl_rna.properties[one.name]
            if one.arguments.get("expand"):
                items = [fitting.shown(item.name) for item in declared.enum_items]
                is_row = one.layout.kind == "row"
                needed = max(map(fitting.text_width, items)) + 10.0
                place /= len(items) if is_row else 1
            elif one.arguments.get("icon_only") or one.arguments.get("toggle") or not text:
                needed = needed + 10.0 if text else 0.0
            else:
                is_array = bool(getattr(declared, "is_array", False))
                needed = fitting.text_width(text)
                if declared.type == "ENUM" and not declared.is_enum_flag:
                    chosen = {item.identifier: item.name for item in declared.enum_items}.get(
                        getattr(one.data, one.name), ""
                    )
                    beside = fitting.SPLIT if one.layout.use_property_split else 0.25
                    menu = fitting.text_width(fitting.shown(chosen)) + 24.0 if chosen else 0.0
                    if (1.0 - beside) * place + 2.0 < menu <= place:
                        yield f"menu {chosen}: {menu:.0f} of {(1.0 - beside) * place:.0f}"
                if one.layout.use_property_split and one.layout.kind == "row" and declared.type != "BOOLEAN":
                    # Blender splits a row as if the narrow buttons behind a field were not there.
                    place += 20.0 * sum(map(is_narrow, one.layout.content))
                place = fitting.label_room(
                    declared.type, place, is_split=one.layout.use_property_split, is_array=is_array
                )  # fmt: skip
        elif one.kind != "label":
            continue
        if text and needed > place + 2.0:
            yield f"{one.kind} {text}: {needed:.0f} of {place:.0f}"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "language"), [
    (225, "en_US"), (230, "de_DE"), (230, "fr_FR"), (292, "en_US"), (292, "de_DE"), (292, "fr_FR"),
    (230, "ja_JP"), (230, "zh_HANS"),
])  # fmt: skip
def test_no_text_of_the_sidebar_is_cut(narrow, width, language):
    """292 pixels are its first width, 225 a narrow one. It said "Lower ...", "Not Arti..." and "Dyna..."."""
    cube = scenes.solid("Cube", shape="CAPSULE")
    cube.data.materials.append(bpy.data.materials.new("Rubber"))
    cube.usdphys.mass.is_applied = True
    scenes.define_group("Wheels")
    bpy.context.scene.usdphys.physics_scenes.add()
    hinge, generic = scenes.add_joint("Hinge", "REVOLUTE", cube), scenes.add_joint("Generic", "GENERIC", cube)
    hinge.usdphys.joint.drives.angular.is_applied = generic.usdphys.joint.drives.rotX.is_applied = True
    narrow(width, language)
    cut, drawn_texts = {}, 0
    for obj in (cube, hinge, generic):
        active(obj)
        for cls in panels.CLASSES:
            if getattr(cls, "bl_region_type", "") != "UI" or not is_shown(cls, context("VIEW_3D")):
                continue
            layout = drawn(cls.__name__.removeprefix("USDPHYS_PT_"), "VIEW_3D", opened=EVERYTHING)
            drawn_texts += len(layout.all())
            found = list(cut_texts(layout, width - 56.0))
            if found:
                cut[obj.name, cls.__name__] = found
    assert cut == {} and drawn_texts > 400


@pytest.mark.parametrize("place", ["box", "tab"])
def test_a_long_name_of_a_surface_has_a_line_of_its_own(narrow, place):
    """It was cut to "Galvani..."; a short one stays beside its label."""
    cube = active(scenes.solid("Cube"))
    narrow(320, "en_US")
    for name, above in (("Steel", False), ("Galvanised Steel, Oiled", True)):
        cube.usdphys.physics_material = bpy.data.materials.new(name)
        layout = drawn("selection", "VIEW_3D") if place == "box" else drawn("colliders")
        owner = selection.current(bpy.context) if place == "box" else cube.usdphys
        field = layout.prop_of(owner, "surface" if place == "box" else "physics_material")
        assert (field.text == "") == above
        assert (("Surface" if place == "box" else "Object's Material") in layout.labels()) == above
    width = next(place for one, place in widths(layout, 320 - 56.0) if one is field)
    assert fitting.text_width("Galvanised Steel, Oiled") <= width - 50.0


def test_a_sentence_is_broken_where_its_line_is_full(narrow):
    """Letters of one width were assumed, so that lines ended early, and a sign like "(0)." had one of its own."""
    narrow(292, "en_US")
    layout = LayoutRecorder()
    wrapped_text.draw_text(
        layout, "The filling of this little film still fills it until it is full, if it fits.", "NONE"
    )
    lines, room = layout.labels(), 292.0 - 76.0
    assert max(map(fitting.text_width, lines)) <= room
    for line, later in itertools.pairwise(lines):
        assert fitting.text_width(f"{line} {later.split()[0]}") > room - 24.0


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


#: All folds are open.
EVERYTHING: Any = _Everything()


def test_values_without_a_unit_of_blender_name_theirs():
    rows = scenes.solid("Crate").usdphys
    names = {
        "mass.mass": "Mass (kg)", "mass.density": "Density (kg/m³)",
        "mass.diagonal_inertia": "Inertia (kg·m²)",
        "rigid_body.angular_velocity": "Angular Velocity (°/s)",
    }  # fmt: skip
    for path, name in names.items():
        owner, _, field = path.rpartition(".")
        assert rows.path_resolve(owner).bl_rna.properties[field].name == name


def test_the_whole_text_of_an_issue_is_shown(known_report):
    text = "The joint 'Front Left Wheel Hinge' has its lower limit (90°) above its upper limit (-30°)"
    known_report(found("warning", 0, short=text))
    assert " ".join(drawn("checks", "VIEW_3D").labels()) == text
