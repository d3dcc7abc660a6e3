"""Every option of an operator has its effect, and what there is to know is reported at its level."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.operators import outcome
from usdphys_ext.usdphys_addon.authoring import group_edits
from usdphys_ext.usdphys_addon.checks import live as checks
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.validate import Issue
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.gains import drive_design

from . import scenes
from .layout_recorder import LayoutRecorder, drawing_part, operator_type
from .scenes import select
from .test_joint_tools import link_back


@pytest.fixture(autouse=True)
def _no_checks():
    checks.forget()
    yield
    checks.forget()


def keyed(obj: Any) -> Any:
    """An object that moves by a metre along X from frame 1 to frame 25."""
    for frame, place in ((1, 0.0), (25, 1.0)):
        obj.location.x = place
        obj.keyframe_insert("location", frame=frame)
    return obj


# --------------------------------------------------------------------------- export


def exported(path: Path, **options: Any) -> Usd.Stage:
    assert bpy.ops.usdphys.export_usd(filepath=str(path), **options) == {"FINISHED"}
    return Usd.Stage.Open(str(path))


def nested_bodies() -> tuple[Any, Any]:
    parent = scenes.solid("Parent")
    return parent, scenes.solid("Child", parent=parent, location=(3, 0, 0))


def test_an_export_without_options_keeps_bodies_below_each_other(tmp_path):
    nested_bodies()
    stage = exported(tmp_path / "out.usda")
    paths = [str(prim.GetPath()) for prim in scenes.bodies_of(stage)]
    assert paths == ["/root/Parent", "/root/Parent/Child"]


def test_an_export_makes_nested_bodies_siblings_where_that_is_chosen(tmp_path):
    nested_bodies()
    stage = exported(tmp_path / "out.usda", hierarchy="FLAT")
    paths = [str(prim.GetPath()) for prim in scenes.bodies_of(stage)]
    assert paths == ["/root/Parent", "/root/Child"]


def test_an_export_resets_the_stack_of_nested_bodies_where_that_is_chosen(tmp_path):
    nested_bodies()
    stage = exported(tmp_path / "out.usda", hierarchy="RESET")
    parent, child = scenes.bodies_of(stage)
    assert not UsdGeom.Xformable(parent).GetResetXformStack()
    assert UsdGeom.Xformable(child).GetResetXformStack()


def test_an_export_of_the_selection_leaves_the_rest_out(tmp_path):
    one, _ = scenes.solid("One"), scenes.solid("Two", location=(3, 0, 0))
    select(one)
    for selected_only, expected in ((True, ["One"]), (False, ["One", "Two"])):
        stage = exported(tmp_path / f"{selected_only}.usda", selected_only=selected_only)
        assert sorted(prim.GetName() for prim in scenes.bodies_of(stage)) == expected


def test_an_export_holds_the_animation_only_where_that_is_chosen(tmp_path):
    keyed(scenes.solid("Door")).usdphys.rigid_body.kinematic_enabled = True
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25
    for is_animated in (False, True):
        stage = exported(tmp_path / f"{is_animated}.usda", animation=is_animated)
        (door,) = scenes.bodies_of(stage)
        assert UsdGeom.Xformable(door).TransformMightBeTimeVarying() == is_animated


def test_an_export_is_in_the_units_that_are_chosen(tmp_path):
    crate = scenes.solid("Crate", location=(0, 0, 3))
    scenes.assign(crate.usdphys.mass, is_applied=True, mass=2.0)
    stage = exported(tmp_path / "out.usda", meters_per_unit=0.01, kilograms_per_unit=0.001, up_axis="Y")
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 0.001
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    (body,) = scenes.bodies_of(stage)
    assert UsdPhysics.MassAPI(body).GetMassAttr().Get() == pytest.approx(2000.0)
    assert scenes.world_pose(body)[:3, 3] == pytest.approx((0, 300, 0), abs=1e-3)


@pytest.mark.parametrize(
    ("typed", "written"),
    [("crate", "crate.usda"), ("crate.v2", "crate.v2.usda"), ("crate.USDC", "crate.USDC"), ("crate.usdz", "crate.usdz"),
     ("", "")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["export_usd", "export_layer"])
def test_a_file_name_without_a_suffix_of_usd_gets_one(name, typed, written):
    part = drawing_part(getattr(bpy.types, f"USDPHYS_OT_{name}"), LayoutRecorder(), filepath=typed)
    assert part.check(bpy.context) == (typed != written)
    assert part.filepath == written


def reported(*issues: Issue, counts: dict[str, int] | None = None) -> list[tuple[set[str], str]]:
    """What an import or export says of its result, by level."""
    found: list[tuple[set[str], str]] = []
    part = drawing_part(
        bpy.types.USDPHYS_OT_export_usd, LayoutRecorder(), report=lambda level, text: found.append((level, text))
    )
    part.report_result(
        "Wrote {file}: {numbers}",
        SimpleNamespace(issues=list(issues), counts=counts or {}, path=Path("/tmp/crate.usda")),
    )
    return found


def issue(severity: Any, message: str) -> Issue:
    return Issue("Code", severity, "/Crate", "Crate", message, "Do this.")


def test_the_last_report_of_an_export_which_the_status_bar_shows_alone_says_that_there_are_others():
    found = reported(
        issue("warning", "It is thin."), issue("error", "It is wrong."), issue("info", "It was renamed."),
        counts={"bodies": 2, "colliders": 3, "joints": 1},
    )  # fmt: skip
    assert found == [
        ({"WARNING"}, "It is thin. Do this."), ({"WARNING"}, "It is wrong. Do this."), ({"INFO"}, "It was renamed."),
        ({"INFO"}, "Wrote crate.usda: 2 bodies, 3 colliders, 1 joint; 3 notes, see the Info editor"),
    ]  # fmt: skip
    assert reported() == [({"INFO"}, "Wrote crate.usda: 0 bodies, 0 colliders, 0 joints")]


@pytest.mark.parametrize(("level", "said"), [("warning", "It is thin. Do this."), ("info", "It is thin.")])
def test_a_short_note_that_is_the_only_one_is_in_the_report_that_the_status_bar_shows(level, said):
    (only,) = reported(issue(level, "It is thin."), counts={"bodies": 2})
    assert only == ({level.upper()}, f"Wrote crate.usda: 2 bodies, 0 colliders, 0 joints. {said}")
    long = f"It is {'very ' * 40}thin."
    *others, last = reported(issue(level, long))
    assert others == [({level.upper()}, said.replace("It is thin.", long))]
    assert last == ({"INFO"}, "Wrote crate.usda: 0 bodies, 0 colliders, 0 joints; 1 note, see the Info editor")


def test_what_an_action_leaves_out_is_in_its_last_report(capfd):
    crate = scenes.solid("Crate")
    ball = scenes.add("Ball")
    select(crate, ball)
    capfd.readouterr()
    bpy.ops.usdphys.make_dynamic()
    lines = said(capfd)
    assert "'Ball'" in lines[-1]
    assert not [line for line in lines if line.startswith("Error")]


# --------------------------------------------------------------------------- import and layer


CENTIMETRES = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
)
def Xform "World"
{
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 100
        double3 xformOp:translate = (300, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Cube "Wall" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 100
    }
}
"""


@pytest.fixture
def crate_file(tmp_path):
    file = tmp_path / "crate.usda"
    file.write_text(CENTIMETRES)
    return file


@pytest.mark.parametrize(("is_converted", "place", "unit"), [(True, 3.0, 1.0), (False, 300.0, 0.01)])
def test_an_import_converts_units_or_has_the_scene_take_them(crate_file, is_converted, place, unit):
    assert bpy.ops.usdphys.import_usd(filepath=str(crate_file), convert_units=is_converted) == {"FINISHED"}
    assert bpy.context.scene.unit_settings.scale_length == pytest.approx(unit)
    crate = bpy.data.objects["Crate"]
    assert scenes.world_of(crate)[:3, 3] == pytest.approx((place, 0, 0))


def test_an_import_of_a_prim_leaves_the_rest_out(crate_file):
    bpy.ops.usdphys.import_usd(filepath=str(crate_file), prim_path="/World/Wall")
    assert "Wall" in bpy.data.objects and "Crate" not in bpy.data.objects


def test_an_import_of_physics_alone_makes_no_object(crate_file):
    crate, wall = scenes.add_box("Crate"), scenes.add_box("Wall")
    before = set(bpy.data.objects.keys())
    assert bpy.ops.usdphys.import_usd(filepath=str(crate_file), attach=True) == {"FINISHED"}
    assert set(bpy.data.objects.keys()) == before
    assert crate.usdphys.rigid_body.is_applied
    assert len(wall.usdphys.colliders) == 1


def test_a_layer_goes_over_the_file_or_into_a_copy_of_it(tmp_path, crate_file):
    bpy.ops.usdphys.import_usd(filepath=str(crate_file))
    bpy.data.objects["Crate"].usdphys.rigid_body.kinematic_enabled = True
    for into_copy in (False, True):
        target = tmp_path / f"{into_copy}.usda"
        assert bpy.ops.usdphys.export_layer(filepath=str(target), into_copy=into_copy) == {"FINISHED"}
        text = target.read_text()
        assert "physics:kinematicEnabled = 1" in text
        assert ("subLayers" in text) == (not into_copy)
        assert ("double size = 100" in text) == into_copy


@pytest.mark.slow
def test_a_layer_with_errors_is_refused_only_where_that_is_chosen(tmp_path, crate_file):
    bpy.ops.usdphys.import_usd(filepath=str(crate_file))
    crate = bpy.data.objects["Crate"]
    crate.usdphys.rigid_body.simulation_owner = "No such scene"
    target = tmp_path / "layer.usda"
    with pytest.raises(RuntimeError, match="No such scene"):
        bpy.ops.usdphys.export_layer(filepath=str(target), strict=True)
    assert not target.exists()
    assert bpy.ops.usdphys.export_layer(filepath=str(target)) == {"FINISHED"}
    assert target.exists()


# --------------------------------------------------------------------------- checks


def broken_crate() -> Any:
    crate = scenes.solid("Crate")
    crate.usdphys.colliders[0].approximation = "convexHull"
    scenes.assign(crate.usdphys.mass, is_applied=True, mass=-1.0)
    return crate


def said(capfd: Any) -> list[str]:
    """What was reported, a line each, with its level."""
    return [line for line in capfd.readouterr().out.splitlines() if line.startswith(("Info: ", "Warning: ", "Error: "))]


@pytest.mark.slow
def test_a_check_reports_errors_as_a_warning_and_nothing_else_as_one(capfd):
    crate = broken_crate()
    scenes.make_collider(scenes.add_box("Floor", location=(0, 0, -9)))
    assert bpy.ops.usdphys.check() == {"FINISHED"}
    (line,) = said(capfd)
    assert line.startswith("Warning: 1 error")
    crate.usdphys.mass.mass = 1.0
    bpy.ops.usdphys.check()
    (line,) = said(capfd)
    assert line == "Info: No problems found"


def test_a_check_counts_errors_warnings_and_notes():
    from usdphys_ext.operators.checks import summary

    assert summary({"error": 1, "warning": 2, "info": 3}) == "1 error, 2 warnings, 3 notes"
    assert summary({"error": 0, "warning": 1, "info": 0}) == "1 warning"
    assert summary({"error": 0, "warning": 0, "info": 0}) == "No problems found"


def test_hidden_objects_are_not_selected_as_causes(capfd):
    crate, other = scenes.solid("Crate"), scenes.solid("Other", location=(3, 0, 0))
    crate.hide_set(True)
    select(other)
    assert bpy.ops.usdphys.check_select(name="Crate") == {"CANCELLED"}
    assert said(capfd)[0].startswith("Warning: 'Crate' is not a visible object")
    assert other.select_get()


def test_the_progress_of_a_cache_and_of_an_export_speaks_of_no_bake():
    for name in ("preview_bake", "preview_cache", "export_alembic"):
        part = drawing_part(getattr(bpy.types, f"USDPHYS_OT_{name}"), LayoutRecorder())
        assert part.progress(0.25) == "Simulating the frames (25%)    Esc: cancel"


# --------------------------------------------------------------------------- mass


def test_a_mass_that_cannot_be_computed_is_not_authored_on_any_body():
    one, hidden = scenes.solid("One"), scenes.solid("Hidden", location=(3, 0, 0))
    select(one, hidden)
    hidden.hide_viewport = True
    bpy.context.view_layer.objects.active = one
    try:
        bpy.ops.usdphys.author_computed(field="mass")
    except RuntimeError as error:
        assert "'Hidden'" in str(error)
        assert not one.usdphys.mass.is_applied
    # An object that is hidden is not selected in every Blender.
    assert not hidden.usdphys.mass.is_applied


def test_the_mass_of_a_body_that_is_not_shown_is_refused_by_its_name():
    hidden = scenes.solid("Hidden")
    select(hidden)
    hidden.hide_viewport = True
    with pytest.raises(RuntimeError, match="'Hidden': The object is hidden"):
        bpy.ops.usdphys.author_computed(field="mass")


# --------------------------------------------------------------------------- groups


def test_a_group_is_selected_and_nothing_else():
    scenes.define_group("Wheels")
    member, other = scenes.solid("Member"), scenes.solid("Other", location=(3, 0, 0))
    scenes.join_group(member, "Wheels")
    select(other)
    assert bpy.ops.usdphys.group_select(group="Wheels") == {"FINISHED"}
    assert bpy.context.selected_objects == [member]


def test_without_a_name_the_active_group_is_taken_even_if_its_row_is_gone():
    for name in ("First", "Second"):
        scenes.define_group(name)
    crate = scenes.solid("Crate")
    select(crate)
    bpy.context.scene.usdphys.active_group_index = 7
    assert bpy.ops.usdphys.group_add_selected() == {"FINISHED"}
    assert group_edits.members("Second") == [crate]
    bpy.context.scene.usdphys.active_group_index = 0
    assert bpy.ops.usdphys.group_remove_selected() == {"CANCELLED"}
    assert group_edits.members("Second") == [crate]


# --------------------------------------------------------------------------- Blender's rigid bodies


@pytest.fixture
def rigid_bodies():
    """Two objects of Blender's rigid body world."""
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Bodies")
    made = [scenes.add_box(name, location=(3 * index, 0, 0)) for index, name in enumerate(("One", "Two"))]
    for obj in made:
        world.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return made


def test_only_selected_rigid_bodies_are_converted_where_that_is_chosen(rigid_bodies):
    one, two = rigid_bodies
    select(one)
    assert bpy.ops.usdphys.from_rigid_bodies(selected_only=True) == {"FINISHED"}
    assert [obj.usdphys.rigid_body.is_applied for obj in (one, two)] == [True, False]
    bpy.ops.usdphys.from_rigid_bodies()
    assert two.usdphys.rigid_body.is_applied


@pytest.mark.parametrize("replace", [False, True])
def test_physics_that_is_there_is_kept_unless_it_is_to_be_replaced(rigid_bodies, replace):
    one, _ = rigid_bodies
    one.rigid_body.mass = 5.0
    scenes.assign(one.usdphys.rigid_body, is_applied=True)
    scenes.assign(one.usdphys.mass, is_applied=True, mass=2.0)
    bpy.ops.usdphys.from_rigid_bodies(replace=replace)
    assert one.usdphys.mass.mass == (5.0 if replace else 2.0)


# --------------------------------------------------------------------------- joints


def two_bodies() -> tuple[Any, Any]:
    """Two boxes, the first of them active."""
    one, two = scenes.add_box("One"), scenes.add_box("Two", location=(3, 0, 0))
    select(two, one)
    return one, two


def added(**options: Any) -> Any:
    """The joint of two boxes."""
    two_bodies()
    assert bpy.ops.usdphys.joint_add(**options) == {"FINISHED"}
    return bpy.context.active_object


@pytest.mark.parametrize(
    ("kind", "options", "drive", "expected"),
    [
        ("REVOLUTE", {"speed": 2.0}, "angular", {"target_velocity": 2.0}),
        ("PRISMATIC", {"slide_speed": 2.0}, "linear", {"target_velocity": 2.0}),
        ("REVOLUTE", {"holds": True, "angle": 0.5, "distance": 9.0}, "angular", {"target_position": 0.5}),
        ("PRISMATIC", {"holds": True, "angle": 9.0, "distance": 0.25}, "linear", {"target_position": 0.25}),
        ("GENERIC", {"holds": True, "angle": 9.0, "distance": 0.25, "dof": "transY"}, "transY",
         {"target_position": 0.25}),
        ("GENERIC", {"holds": True, "angle": 0.5, "distance": 9.0, "dof": "rotX"}, "rotX", {"target_position": 0.5}),
    ],
)  # fmt: skip
def test_a_motor_aims_at_the_value_that_is_meant_for_its_joint(kind, options, drive, expected):
    joint = added(type=kind).usdphys.joint
    assert bpy.ops.usdphys.joint_motor(**options) == {"FINISHED"}
    group = getattr(joint.drives, drive)
    assert group.is_applied
    for name in ("target_position", "target_velocity"):
        assert getattr(group, name) == pytest.approx(expected.get(name, 0.0))
        assert group.is_property_set(name) == (name in expected)


def test_the_tooltip_of_the_response_says_what_the_motor_does():
    text = bpy.ops.usdphys.joint_motor.get_rna_type().properties["response"].description
    (share,) = (int(part) for part in re.findall(r"(\d+)%", text))
    assert share == round(100 * (1 - drive_design.SETTLED))


def test_a_motor_is_as_stiff_as_its_response_asks():
    """Without a load it is critically damped, and 2 % of the way is left after the response."""
    joint = added(type="PRISMATIC", axis="WORLD_X").usdphys.joint
    bpy.ops.usdphys.joint_motor(holds=True, response=0.5)
    drive = joint.drives.linear
    rate = drive.damping / drive.stiffness / 2.0
    assert (1 + 0.5 / rate) * math.exp(-0.5 / rate) == pytest.approx(0.02, rel=1e-3)
    turning = added(type="REVOLUTE", axis="WORLD_Z").usdphys.joint
    bpy.ops.usdphys.joint_motor(holds=True, response=0.5)
    drive = turning.drives.angular
    assert drive.damping / drive.stiffness / 2.0 == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize(
    ("order", "expected"), [("NEAREST", {("A", "C"), ("C", "B")}), ("NAME", {("A", "B"), ("B", "C")})]
)
def test_a_chain_goes_to_the_nearest_or_by_name(order, expected):
    places = {"A": 0, "B": 4, "C": 2}
    made = {name: scenes.add_box(name, location=(x, 0, 0)) for name, x in places.items()}
    select(made["B"], made["C"], made["A"])
    assert bpy.ops.usdphys.joint_chain(order=order) == {"FINISHED"}
    joints = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert {(joint.body0.name, joint.body1.name) for joint in joints} == expected


def test_welded_bodies_move_together_unless_the_one_they_hold_to_is_static():
    one, two = two_bodies()
    bpy.ops.usdphys.weld()
    assert [obj.usdphys.rigid_body.is_applied for obj in (one, two)] == [True, True]
    wall, lamp = two_bodies()
    scenes.make_collider(wall)
    bpy.ops.usdphys.weld()
    assert [obj.usdphys.rigid_body.is_applied for obj in (wall, lamp)] == [False, True]


@pytest.mark.parametrize(("which", "set_name"), [("LOWER", "lower_limit"), ("UPPER", "upper_limit")])
def test_a_pose_becomes_the_limit_that_is_asked_for(which, set_name):
    limits = added(type="REVOLUTE").usdphys.joint.revolute
    bpy.ops.usdphys.joint_limit_from_pose(which=which)
    assert [name for name in ("lower_limit", "upper_limit") if limits.is_property_set(name)] == [set_name]


def test_a_linked_joint_is_left_alone_and_named_while_others_are_changed(tmp_path, capfd):
    scenes.add_joint("Far", "REVOLUTE", None, scenes.solid("Door"))
    (linked,) = link_back(tmp_path, "Far")
    before = linked.usdphys.joint.body1
    own = scenes.add_joint("Near", "REVOLUTE", None, scenes.solid("Gate"))
    select(linked, own)
    capfd.readouterr()
    assert bpy.ops.usdphys.joint_swap_bodies() == {"FINISHED"}
    assert said(capfd) == ["Warning: 'Far' is linked and was left alone; make a library override of it first."]
    assert (own.usdphys.joint.body0.name, own.usdphys.joint.body1) == ("Gate", None)
    assert linked.usdphys.joint.body1 == before


# --------------------------------------------------------------------------- mirror, presets


@pytest.mark.parametrize(("about", "place"), [("WORLD", -2.0), ("ACTIVE", 0.0)])
def test_a_mirror_is_about_the_world_or_the_active_object(about, place):
    torso = scenes.solid("Torso", location=(1, 0, 0))
    left, right = scenes.solid("Arm.L", location=(3, 0, 0)), scenes.add_box("Arm.R", location=(-1, 0, 0))
    scenes.add_joint("Joint.L", "FIXED", torso, left, location=(2, 0, 0))
    select(left, torso)
    assert bpy.ops.usdphys.mirror_physics(about=about) == {"FINISHED"}
    made = bpy.data.objects["Joint.R"]
    assert (made.usdphys.joint.body0, made.usdphys.joint.body1) == (torso, right)
    assert scenes.world_of(made)[0, 3] == pytest.approx(place)


def test_a_material_preset_goes_to_every_selected_object():
    one, two = scenes.solid("One"), scenes.solid("Two", location=(3, 0, 0))
    select(one, two)
    assert bpy.ops.usdphys.apply_material_preset(preset="STEEL") == {"FINISHED"}
    for obj in (one, two):
        assert obj.usdphys.physics_material.usdphys.physics_material.density == pytest.approx(7850.0, rel=0.02)


# --------------------------------------------------------------------------- preview


def falling_crate() -> Any:
    crate = scenes.solid("Crate", location=(0, 0, 5))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 9
    return crate


def baked_frames(obj: Any) -> list[int]:
    action = obj.animation_data.action
    bag = action.layers[0].strips[0].channelbag(obj.animation_data.action_slot)
    return [round(point.co.x) for point in bag.fcurves[0].keyframe_points]


@pytest.mark.parametrize(
    ("options", "frames"),
    [({}, list(range(3, 10))), ({"use_scene_range": False, "frame_start": 5, "frame_end": 8}, [5, 6, 7, 8])],
)
def test_a_bake_keys_every_frame_of_the_range_that_is_chosen(options, frames):
    crate = falling_crate()
    assert bpy.ops.usdphys.preview_bake(**options) == {"FINISHED"}
    assert baked_frames(crate) == frames


@pytest.mark.parametrize("name", ["preview_bake", "preview_cache", "export_alembic"])
def test_the_frames_that_are_shown_are_those_that_are_taken(name):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 40
    values = {"use_scene_range": True, "frame_start": 1, "frame_end": 250, "selected": False}
    cls, rna = getattr(bpy.types, f"USDPHYS_OT_{name}"), operator_type(f"usdphys.{name}")
    for is_of_scene in (True, False):
        layout = LayoutRecorder()
        part = drawing_part(cls, layout, bl_rna=rna, **values | {"use_scene_range": is_of_scene})
        part.draw(bpy.context)
        shown = [one.name for one in layout.all() if one.kind == "prop"]
        assert ("Frames 3 to 40" in layout.labels()) == is_of_scene
        assert ("frame_end" in shown) != is_of_scene and "use_scene_range" in shown


def test_a_cleared_bake_leaves_no_keys():
    crate = falling_crate()
    bpy.ops.usdphys.preview_bake()
    assert bpy.ops.usdphys.preview_clear_bake() == {"FINISHED"}
    assert crate.animation_data is None
    assert tuple(crate.location) == (0, 0, 5)
    assert bpy.ops.usdphys.preview_clear_bake() == {"CANCELLED"}


def test_a_step_is_a_frame_of_the_scene_however_finely_it_is_simulated():
    falling_crate()
    bpy.context.scene.render.fps = 25
    bpy.context.scene.usdphys.preview.frequency = 100
    assert bpy.ops.usdphys.preview_step() == {"RUNNING_MODAL"}  # it listens from now on
    session = preview_guard.current()
    assert session.world.time == pytest.approx(0.04)
    session.play()
    bpy.ops.usdphys.preview_step()
    assert session.world.time == pytest.approx(0.08)
    assert not session.is_playing


def test_play_is_pause_while_it_plays():
    falling_crate()
    for expected in (True, False, True):
        bpy.ops.usdphys.preview_play()
        assert preview_guard.current().is_playing == expected


def inspected_pair() -> None:
    added(type="REVOLUTE")
    select()


def test_the_inspector_pauses_a_preview_that_plays_and_ends_none_that_was_running():
    inspected_pair()
    bpy.ops.usdphys.preview_play()
    session = preview_guard.current()
    assert session.is_playing
    assert bpy.ops.usdphys.inspect_joints() == {"FINISHED"}
    assert preview_guard.current() is session
    assert not session.is_playing


def test_a_preview_that_was_running_goes_on_where_there_is_nothing_to_inspect():
    falling_crate()
    bpy.ops.usdphys.preview_play()
    with pytest.raises(RuntimeError, match="No joint can move"):
        bpy.ops.usdphys.inspect_joints()
    assert preview_guard.current() is not None


# --------------------------------------------------------------------------- structure


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 8])
def test_parts_of_a_decomposition_are_no_more_than_asked_for(most):
    """An L of three unit cubes needs two convex parts."""
    outline = ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))
    mesh = bpy.data.meshes.new("Ell")
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    mesh.from_pydata(points, [], [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11), *sides])
    ell = scenes.add("Ell", mesh)
    select(ell)
    assert bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION", most=most) == {"FINISHED"}
    assert len(ell.children) in ([1] if most == 1 else range(2, most + 1))


@pytest.mark.parametrize("oriented", [False, True])
def test_a_mesh_becomes_a_turned_primitive_only_where_that_is_allowed(oriented):
    """A long thin box across the axes: turned it fits, along the axes it does not."""
    stick = scenes.add_box("Stick", (2, 0.1, 0.1))
    turn = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    for vertex in stick.data.vertices:
        vertex.co = turn @ np.array(vertex.co)
    scenes.make_collider(stick)
    select(stick)
    assert bpy.ops.usdphys.collider_mesh_to_primitive(oriented=oriented) == {"FINISHED"}
    (item,) = stick.usdphys.colliders
    assert item.shape != "MESH"
    assert item.is_property_set("rotation") == oriented


def test_a_margin_makes_a_collider_larger_on_all_sides():
    crate = scenes.add_box("Crate")
    select(crate)
    bpy.ops.usdphys.make_collider_objects(kind="BOX", margin=0.25)
    (child,) = crate.children
    assert tuple(child.dimensions) == pytest.approx((1.5, 1.5, 1.5))


def test_a_fit_of_the_active_collider_leaves_the_others():
    crate = scenes.add_box("Crate")
    for _ in range(2):
        scenes.make_collider(crate, "SPHERE", radius=3.0)
    crate.usdphys.active_collider_index = 1
    select(crate)
    assert bpy.ops.usdphys.fit_collider(only_active=True) == {"FINISHED"}
    assert [item.is_property_set("radius") for item in crate.usdphys.colliders] == [True, False]


# --------------------------------------------------------------------------- handles


def test_a_handle_takes_no_value_beyond_its_range():
    crate = scenes.add_box("Crate")
    item = scenes.make_collider(crate, "SPHERE", radius=0.5)
    select(crate)
    assert bpy.ops.usdphys.drag_handle(handle="collider.radius", value=-4.0) == {"FINISHED"}
    assert 0.0 < item.radius < 0.01


@pytest.mark.parametrize("both", [False, True])
def test_both_sides_of_a_box_grow_where_that_is_chosen(both):
    crate = scenes.add_box("Crate")
    item = scenes.make_collider(crate, "CUBE", size=(1, 1, 1), location=(0, 0, 0))
    select(crate)
    bpy.ops.usdphys.drag_handle(handle="collider.size:+X", value=3.0, both_sides=both)
    assert item.size[0] == pytest.approx(3.0)
    assert item.location[0] == pytest.approx(0.0 if both else 1.0)


# --------------------------------------------------------------------------- limits from the inspector


@pytest.mark.parametrize(("which", "end", "value"), [("LOWER", "low", -0.25), ("UPPER", "high", 0.75)])
def test_a_limit_that_is_set_in_the_inspector_holds_its_slider_at_once(which, end, value):
    inspected_pair()
    bpy.ops.usdphys.inspect_joints()
    row = bpy.context.window_manager.usdphys_inspector.rows[0]
    row.angle = value
    assert bpy.ops.usdphys.inspect_limit(index=0, which=which) == {"FINISHED"}
    assert getattr(row, end) == pytest.approx(value, abs=1e-4)
    row.angle = 2 * value
    assert row.angle == pytest.approx(value, abs=1e-3)


def test_errors_come_before_warnings_in_a_report():
    scenes.solid("Thin")
    scenes.make_collider(scenes.add_box("Floor", location=(0, 0, -9)))
    crate = broken_crate()
    crate.location.x = 5
    report = checks.check(bpy.context.scene, bpy.context.view_layer)
    assert [issue.severity for issue in report.issues] == ["error", "warning"]


def test_an_adjusted_operator_refuses_without_a_popup():
    """Blender 5.2 ended with std::bad_optional_access: the kind of a mechanism was changed to one that did not fit."""
    for is_repeat, level in ((False, "ERROR"), (True, "WARNING")):
        told = []
        operator = SimpleNamespace(
            options=SimpleNamespace(is_repeat=is_repeat), report=lambda kind, text, told=told: told.append((kind, text))
        )
        assert outcome.refuse(operator, InputError("It is not above.")) == {"CANCELLED"}
        assert told == [({level}, "It is not above.")]
