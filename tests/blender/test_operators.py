"""What holds for every operator: a refusal changes nothing and leaves no step to undo, an edit leaves one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import pytest
from bpy_extras.io_utils import ExportHelper
from usdphys_ext import operators, preferences
from usdphys_ext.operators.files import export_usd
from usdphys_ext.usdphys_addon.bridge import environment, property_values
from usdphys_ext.usdphys_addon.checks import live as checks
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes
from .scenes import select


def run(idname: str, **values: Any) -> set[str]:
    """Run one of our operators as a click does: with a step to undo where it made one."""
    return getattr(bpy.ops.usdphys, idname)("EXEC_DEFAULT", True, **values)


def history() -> list[str]:
    """Operators that were finished: those whose settings the user can adjust afterwards."""
    return [operator.bl_idname for operator in bpy.context.window_manager.operators]


@pytest.fixture(autouse=True)
def _no_checks():
    checks.forget()
    yield
    checks.forget()


# --------------------------------------------------------------------------- refusals


def crate() -> None:
    select(scenes.solid("Crate"))


def plane() -> None:
    obj = scenes.add_box("Floor")
    scenes.make_collider(obj, "PLANE")
    select(obj)


def bare_box() -> None:
    select(scenes.add_box("Box"))


def bare_empty() -> None:
    select(scenes.add("Empty"))


def fixed_joint() -> None:
    select(scenes.add_joint("Weld", "FIXED", None, scenes.solid("Crate")))


def two_boxes() -> None:
    select(scenes.add_box("One"), scenes.add_box("Two", location=(5, 0, 0)))


def flat() -> None:
    select(scenes.add_box("Flat", scale=(0, 0, 0)), scenes.add_box("Other", location=(5, 0, 0)))


def both_sides() -> None:
    select(scenes.solid("Arm.L"), scenes.solid("Arm.R"))


def one_side() -> None:
    select(scenes.solid("Arm.L"))


def groups() -> None:
    crate()
    for name in ("One", "Two"):
        scenes.define_group(name)


def hidden_body() -> None:
    crate()
    bpy.context.object.hide_viewport = True


def imported() -> None:
    crate()
    bpy.context.scene.usdphys.source.filepath = "/no/such/file.usda"


REFUSED: list[tuple[str, dict[str, Any], Callable[[], None]]] = [
    ("make_dynamic", {}, plane),
    ("make_static", {}, bare_empty),
    ("make_kinematic", {}, fixed_joint),
    ("add_collider", {}, crate),
    ("add_group", {}, fixed_joint),
    ("clear_physics", {}, bare_box),
    ("tag_by_name", {"pattern": "No such name"}, crate),
    ("tag_collection", {"collection": "No such collection"}, crate),
    ("copy_physics", {}, two_boxes),
    ("copy_property", {"data_path": "rigid_body.no_such_property"}, two_boxes),
    ("check_select", {}, crate),
    ("check_select", {"name": "No such object"}, crate),
    ("check_fix", {"code": "NoSuchCode", "name": "Crate"}, crate),
    ("check_fix_all", {}, bare_box),
    ("author_computed", {"field": "mass"}, hidden_body),
    ("export_usd", {"filepath": "/no/such/folder/crate.usda"}, crate),
    ("export_usd", {"filepath": "/tmp/crate.obj"}, crate),
    ("export_layer", {"filepath": "/no/such/folder/crate.usda"}, imported),
    ("import_usd", {"filepath": "/no/such/file.usda"}, crate),
    ("group_ignore", {"one": "One", "other": "Three"}, groups),
    ("group_add_selected", {"group": "Three"}, groups),
    ("group_remove_selected", {"group": "One"}, groups),
    ("group_select", {"group": "Three"}, groups),
    ("group_rename", {"group": "One", "new_name": "Two"}, groups),
    ("group_rename", {"group": "One", "new_name": ""}, groups),
    ("joint_add", {}, flat),
    ("joint_chain", {}, flat),
    ("weld", {}, flat),
    ("joint_align", {}, bare_box),
    ("joint_fix_frames", {}, bare_box),
    ("joint_swap_bodies", {}, bare_box),
    ("joint_limit_from_pose", {}, fixed_joint),
    ("joint_motor", {}, fixed_joint),
    ("mirror_physics", {}, both_sides),
    ("mirror_physics", {}, one_side),
    ("preview_bake", {"use_scene_range": False, "frame_start": 5, "frame_end": 5}, crate),
    ("preview_bake", {}, bare_box),
    ("preview_clear_bake", {}, crate),
    ("compound_from_selection", {}, bare_empty),
    ("make_collider_objects", {}, bare_empty),
    ("split_loose", {}, bare_empty),
    ("fit_collider", {}, crate),
    ("collider_mesh_to_primitive", {}, plane),
    ("drag_handle", {"handle": "collider.no_such_handle"}, crate),
    ("list_remove", {"which": "filtered_pairs"}, crate),
    ("concept_add", {"data_path": "scene.usdphys.physics_scenes[0]", "concept": "no_such_concept"}, crate),
    ("vendor_add_other", {"data_path": "scene.usdphys.physics_scenes[0]", "attribute": "no name"}, crate),
    ("unset", {"data_path": "material.usdphys.physics_material.density"}, crate),
]


def authored() -> list[Any]:
    owners = (*bpy.data.objects, *bpy.data.materials, *bpy.data.scenes)
    return [(owner.name, property_values.snapshot(owner.usdphys)) for owner in owners]


def facts() -> list[tuple[str, str]]:
    """What the scene says of physics; a mesh by what it loads, for its loader is another object at each reading."""
    prims = scenes.read_model().prims.values()
    return [(str(replace(prim, mesh=None)), str(prim.mesh and prim.mesh())) for prim in prims]


@pytest.mark.parametrize(("idname", "values", "build"), REFUSED, ids=[f"{one[0]}-{one[2].__name__}" for one in REFUSED])
def test_a_refusal_changes_nothing_and_is_no_step_to_undo(idname, values, build):
    build()
    before, names = history(), [obj.name for obj in bpy.data.objects]
    physics, number = facts(), len(bpy.context.scene.usdphys.physics_scenes)
    try:
        result = run(idname, **values)
    except RuntimeError:
        # An error that is reported is an exception for a script, whatever the operator returns.
        result = {"CANCELLED"}
    assert result == {"CANCELLED"}
    assert history() == before
    assert [obj.name for obj in bpy.data.objects] == names
    assert len(bpy.context.scene.usdphys.physics_scenes) == number
    assert facts() == physics


def test_what_is_done_is_a_step_to_undo():
    """The measure of the test above: a click that does something is seen there."""
    bare_box()
    before = history()
    assert run("make_dynamic") == {"FINISHED"}
    assert history() == [*before, "USDPHYS_OT_make_dynamic"]


# --------------------------------------------------------------------------- undo

#: Operators that change nothing of the file, or whose session an undo would end; presets and batches, which are files;
#: and the one that calls generators, which leave the step.
WITHOUT_UNDO = {
    "check", "export_usd", "export_mjcf", "export_unreal", "export_urdf", "export_layer", "preview_play",
    "preview_listen", "preview_step", "preview_reset", "inspect_joints", "material_preset_add",
    "body_preset_add", "drive_preset_add", "joint_preset_add", "manual", "report_bug", "batch_convert_folder",
    "export_collections", "vary", "choose_variation", "compare_source", "drop_variations", "edit_generated",
    "find_setting", "library_add", "library_remove", "preview_play_selected", "prove", "share_report", "why",
    "preview_show_kept", "export_alembic", "find_cause", "go_to_frame",
}  # fmt: skip
OPERATORS = [cls for cls in operators.CLASSES if issubclass(cls, bpy.types.Operator)]


@pytest.mark.slow
@pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.bl_idname)
def test_every_operator_that_edits_can_be_undone(cls):
    name = cls.bl_idname.removeprefix("usdphys.")
    assert ("UNDO" in getattr(cls, "bl_options", set())) == (name not in WITHOUT_UNDO)


@pytest.mark.slow
@pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.bl_idname)
def test_every_operator_says_what_it_does(cls):
    rna = getattr(bpy.ops.usdphys, cls.bl_idname.removeprefix("usdphys.")).get_rna_type()
    assert rna.name and rna.description
    hidden = {"INTERNAL", "HIDDEN"}
    for item in rna.properties:
        is_shown = not item.is_hidden and not (hidden & set(getattr(cls, "bl_options", ())))
        if item.identifier != "rna_type" and is_shown and item.identifier not in ("filepath", "check_existing"):
            assert item.name, item.identifier


# --------------------------------------------------------------------------- when they can be used

#: Operators that write to objects, which are not up to date in edit mode.
IN_OBJECT_MODE = [
    "make_dynamic", "make_static", "make_kinematic", "add_collider", "add_group", "clear_physics", "tag_by_name",
    "tag_collection", "check_fix", "check_fix_all", "check_select", "joint_chain", "weld", "joint_align",
    "joint_fix_frames", "joint_swap_bodies", "joint_limit_from_pose", "joint_motor", "mirror_physics", "preview_play",
    "preview_step", "preview_bake", "inspect_joints", "compound_from_selection", "make_collider_objects",
    "split_loose", "fit_collider", "collider_mesh_to_primitive", "drag_handle", "copy_physics", "copy_property",
    "make_tet_mesh",
]  # fmt: skip
#: Operators that would take simulated poses for authored ones.
NOT_IN_PREVIEW = [
    "check", "check_fix", "check_fix_all", "check_select", "joint_add", "joint_chain", "weld", "joint_align",
    "joint_fix_frames", "joint_swap_bodies", "joint_limit_from_pose", "joint_motor", "mirror_physics", "drag_handle",
]  # fmt: skip
#: Operators that are of no use before the preview runs.
IN_PREVIEW = ["preview_listen", "preview_reset", "preview_apply", "inspect_limit"]
ON_SELECTION = [
    "make_dynamic", "make_static", "make_kinematic", "add_collider", "add_group", "clear_physics", "joint_add",
    "joint_chain", "weld", "joint_align", "joint_fix_frames", "joint_swap_bodies", "joint_limit_from_pose",
    "joint_motor", "mirror_physics", "compound_from_selection", "make_collider_objects", "split_loose", "fit_collider",
    "collider_mesh_to_primitive", "copy_physics", "copy_property", "author_computed", "apply_material_preset",
    "make_tet_mesh",
]  # fmt: skip


def can_run(name: str) -> bool:
    return bool(getattr(bpy.ops.usdphys, name).poll())


def two_bodies() -> None:
    select(scenes.solid("One"), scenes.solid("Two", location=(5, 0, 0)))


@pytest.mark.parametrize("name", IN_OBJECT_MODE)
def test_edit_mode_is_left_first(name):
    two_bodies()
    assert can_run(name)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not can_run(name)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert can_run(name)


def test_a_joint_is_added_in_edit_mode_for_a_picked_face():
    two_bodies()
    bpy.ops.object.mode_set(mode="EDIT")
    assert can_run("joint_add")
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("name", NOT_IN_PREVIEW)
def test_simulated_poses_are_never_taken_for_authored_ones(name):
    two_bodies()
    assert can_run(name)
    preview_guard.start(bpy.context)
    assert not can_run(name)
    preview_guard.stop()
    assert can_run(name)


@pytest.mark.parametrize("name", IN_PREVIEW)
def test_what_ends_a_preview_needs_one(name):
    two_bodies()
    assert not can_run(name)
    preview_guard.start(bpy.context)
    assert can_run(name)


@pytest.mark.parametrize("name", ON_SELECTION)
def test_what_works_on_the_selection_needs_one(name):
    two_bodies()
    assert can_run(name)
    select()
    assert not can_run(name)


@pytest.mark.parametrize("name", ["weld", "joint_chain", "copy_physics", "copy_property"])
def test_what_takes_two_objects_is_not_offered_for_one(name):
    crate()
    assert not can_run(name)


def test_groups_need_a_group_and_a_layer_needs_an_import():
    crate()
    names = ("group_add_selected", "group_remove_selected", "group_select", "group_rename")
    assert not any(map(can_run, names)) and not can_run("export_layer") and not can_run("from_rigid_bodies")
    scenes.define_group("Wheels")
    bpy.context.scene.usdphys.source.filepath = "/tmp/robot.usda"
    assert all(map(can_run, names)) and can_run("export_layer")


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("material_preset_add", "material"),
        ("body_preset_add", "object"),
        ("drive_preset_add", "object"),
        ("joint_preset_add", "object"),
    ],
)
def test_a_preset_is_saved_of_something(name, needed):
    select()
    assert not can_run(name)
    obj = scenes.add_box("Crate")
    select(obj)
    assert can_run(name) == (needed == "object")
    obj.data.materials.append(bpy.data.materials.new("Wood"))
    assert can_run(name)


# --------------------------------------------------------------------------- what an export starts with


@pytest.fixture
def asked(monkeypatch):
    """What the file browser of an export would be opened with."""
    found: dict[str, Any] = {}

    def invoke(self: Any, _context: Any, _event: Any) -> set[str]:
        names = ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy", "filename_ext")
        found.update({name: getattr(self, name) for name in names})
        return {"CANCELLED"}

    monkeypatch.setattr(ExportHelper, "invoke", invoke)
    # Without a window Blender runs an operator at once, and asks nobody.
    monkeypatch.setattr(export_usd.USDPHYS_OT_export_usd, "execute", lambda self, context: self.invoke(context, None))
    return found


def test_an_export_starts_with_what_the_scene_says(asked):
    stage = bpy.context.scene.usdphys.stage
    scenes.assign(stage, meters_per_unit=0.5, kilograms_per_unit=2.0, up_axis="Y", hierarchy="FLAT")
    bpy.ops.usdphys.export_usd()
    assert asked == {
        "meters_per_unit": 0.5, "kilograms_per_unit": 2.0, "up_axis": "Y", "hierarchy": "FLAT", "filename_ext": ".usda",
    }  # fmt: skip


def test_an_export_starts_with_what_was_typed(asked):
    bpy.context.scene.usdphys.stage.meters_per_unit = 0.5
    bpy.ops.usdphys.export_usd(meters_per_unit=0.25, hierarchy="RESET")
    assert (asked["meters_per_unit"], asked["hierarchy"], asked["up_axis"]) == (0.25, "RESET", "Z")


def test_an_export_starts_with_the_format_of_the_preferences(asked, monkeypatch):
    from types import SimpleNamespace

    chosen = SimpleNamespace(export_format=".usdc", export_units="MILLIMETERS", export_hierarchy="RESET")
    monkeypatch.setattr(preferences, "current", lambda _context: chosen)
    bpy.ops.usdphys.export_usd()
    assert asked["filename_ext"] == ".usdc"
    assert asked["meters_per_unit"] == pytest.approx(0.001)
    assert asked["hierarchy"] == "RESET"


def test_an_export_checks_what_has_changed_before_it_asks(asked):
    crate()
    name = bpy.context.scene.name
    assert checks.report(name) is None
    bpy.ops.usdphys.export_usd()
    assert checks.report(name) is not None
    # Simulated poses are not what is exported.
    checks.forget()
    preview_guard.start(bpy.context)
    bpy.ops.usdphys.export_usd()
    assert checks.report(name) is None


@pytest.mark.parametrize("name", ["make_dynamic", "add_collider", "joint_add", "list_add"])
def test_panels_are_drawn_again_after_an_edit(name, monkeypatch):
    """The properties editor showed the state from before the click until the mouse moved over it."""
    drawn: list[str] = []
    monkeypatch.setattr(environment, "redraw", lambda *kinds: drawn.extend(kinds))
    crate = scenes.add_box("Crate")
    crate.select_set(True)
    bpy.context.view_layer.objects.active = crate
    getattr(bpy.ops.usdphys, name)()
    assert {"VIEW_3D", "PROPERTIES"} <= set(drawn)
