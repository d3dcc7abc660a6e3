"""The joint inspector: sliders that pose bodies, limits where they are, keep or discard."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector
from usdphys_ext.panels import inspector_panel
from usdphys_ext.usdphys_addon.authoring import vendor_edits
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback import joint_inspector

from . import scenes
from .layout_recorder import draw
from .scenes import select


def arm():
    """A post, an upper arm on a hinge at x = 1, a forearm on a hinge at x = 3, both about Y."""
    post = scenes.add_box("Post", location=(0, 0, 0))
    post.usdphys.colliders.add()
    upper, fore = scenes.add_box("Upper", location=(2, 0, 0)), scenes.add_box("Fore", location=(4, 0, 0))
    for first, second, x in ((post, upper, 1), (upper, fore, 3)):
        bpy.context.scene.cursor.location = (x, 0, 0)
        select(second, first)
        bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Y")
    select()
    return post, upper, fore


def rows():
    return bpy.context.window_manager.usdphys_inspector.rows


def place(obj):
    bpy.context.view_layer.update()
    return obj.matrix_world.translation


def test_every_joint_has_its_slider_and_poses_what_hangs_on_it():
    _, upper, fore = arm()
    before = [tuple(obj.location) for obj in (upper, fore)]
    assert bpy.ops.usdphys.inspect_joints() == {"FINISHED"}
    assert [row.name for row in rows()] == ["Upper Joint", "Fore Joint"]
    assert [row.dof for row in rows()] == ["angular", "angular"]
    rows()[0].angle = math.pi / 2
    # About Y, from +X to -Z: both go along.
    assert (place(upper) - Vector((1, 0, -1))).length < 1e-4
    assert (place(fore) - Vector((1, 0, -3))).length < 1e-4
    rows()[1].angle = -math.pi / 2
    assert (place(upper) - Vector((1, 0, -1))).length < 1e-4
    assert (place(fore) - Vector((2, 0, -2))).length < 1e-4
    bpy.ops.usdphys.preview_reset()
    assert [tuple(obj.location) for obj in (upper, fore)] == before


def test_a_joint_that_follows_another_is_posed_with_it_from_both_sliders():
    _, _, fore = arm()
    leader, follower = bpy.data.objects["Upper Joint"], bpy.data.objects["Fore Joint"]
    for name in ("newton:mimicJoint", "newton:mimicCoef1"):
        vendor_edits.add_attribute(follower.usdphys, "NewtonMimicAPI", name, bpy.context.scene)
    vendor_rows.row_of(follower.usdphys, "newton:mimicJoint").target = leader
    vendor_rows.put(vendor_rows.row_of(follower.usdphys, "newton:mimicCoef1"), -2.0)
    assert bpy.ops.usdphys.inspect_joints() == {"FINISHED"}
    rows()[0].angle = 0.25
    assert rows()[1].angle == pytest.approx(-0.5)
    # Two parts of the arm, turned about Y by 0.25 and by 0.25 - 0.5.
    wanted = Vector((1 + 2 * math.cos(0.25) + math.cos(0.25), 0, -2 * math.sin(0.25) + math.sin(0.25)))
    assert (place(fore) - wanted).length < 1e-4
    rows()[1].angle = 0.5
    assert rows()[0].angle == pytest.approx(-0.25)


def test_only_the_joints_of_the_selection_are_shown():
    _, _, fore = arm()
    select(fore)
    bpy.ops.usdphys.inspect_joints()
    assert [row.joint for row in rows()] == ["Fore Joint"]


def test_a_slider_stops_at_the_limit():
    _, upper, _ = arm()
    bpy.data.objects["Upper Joint"].usdphys.joint.revolute.upper_limit = 0.5
    bpy.ops.usdphys.inspect_joints()
    rows()[0].angle = 2.0
    assert rows()[0].angle == pytest.approx(0.5)
    assert (place(upper) - Vector((1 + math.cos(0.5), 0, -math.sin(0.5)))).length < 1e-4


def test_limits_are_set_where_the_joint_is():
    arm()
    bpy.ops.usdphys.inspect_joints()
    rows()[0].angle = -0.25
    assert bpy.ops.usdphys.inspect_limit(index=0, which="LOWER") == {"FINISHED"}
    rows()[0].angle = 0.75
    assert bpy.ops.usdphys.inspect_limit(index=0, which="UPPER") == {"FINISHED"}
    joint = bpy.data.objects["Upper Joint"].usdphys.joint.revolute
    assert (joint.lower_limit, joint.upper_limit) == pytest.approx((-0.25, 0.75), abs=1e-4)
    rows()[0].angle = 0.0
    # A lower limit above the upper one is none.
    joint.upper_limit = -0.1
    with pytest.raises(RuntimeError, match="beyond its upper limit"):
        bpy.ops.usdphys.inspect_limit(index=0, which="LOWER")


def test_a_kept_pose_keeps_the_joints_together():
    _, upper, fore = arm()
    bpy.ops.usdphys.inspect_joints()
    rows()[0].angle = 0.5
    assert bpy.ops.usdphys.preview_apply() == {"FINISHED"}
    assert (place(upper) - Vector((1 + math.cos(0.5), 0, -math.sin(0.5)))).length < 1e-4
    assert (place(fore) - Vector((1 + 3 * math.cos(0.5), 0, -3 * math.sin(0.5)))).length < 1e-4
    bpy.ops.usdphys.inspect_joints()
    # The angle is counted from where the joint was made.
    assert rows()[0].angle == pytest.approx(0.5, abs=1e-4)


@pytest.mark.slow
def test_with_physics_a_drive_brings_it_there():
    arm()
    bpy.ops.usdphys.inspect_joints()
    session = preview_guard.current()
    bpy.context.window_manager.usdphys_inspector.physics = True
    assert session.is_playing
    rows()[0].angle = -0.5
    session.pause()
    for _ in range(240):
        session.simulate(bpy.context)
    session.show(bpy.context)
    assert session.joint_positions()[rows()[0].path]["angular"] == pytest.approx(-0.5, abs=0.1)


def test_a_closed_loop_says_why_it_does_not_move():
    post, _, fore = arm()
    bpy.context.scene.cursor.location = (4, 0, 0)
    select(fore, post)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Y")
    select()
    bpy.ops.usdphys.inspect_joints()
    rows()[0].angle = 0.3
    assert "closed loop" in bpy.context.window_manager.usdphys_inspector.problem


def test_nothing_to_inspect_is_said_and_nothing_runs():
    scenes.solid("Crate")
    with pytest.raises(RuntimeError, match="No joint can move"):
        bpy.ops.usdphys.inspect_joints()
    assert preview_guard.current() is None
    assert not bpy.ops.usdphys.inspect_limit.poll()


def panel():
    return draw(inspector_panel.USDPHYS_PT_inspector)


def test_gains_of_a_driven_joint_are_on_its_row():
    arm()
    joint = bpy.data.objects["Upper Joint"]
    select(joint)
    bpy.ops.usdphys.joint_motor(holds=True)
    select()
    bpy.ops.usdphys.inspect_joints()
    drive = joint.usdphys.joint.drives.angular
    assert panel().props(drive) == ["stiffness", "damping"]
    assert panel().props().count("stiffness") == 1
    rows()[0].joint = "Gone"
    assert panel().props(drive) == []


def test_limits_are_told_and_infinite_ones_are_none():
    arm()
    limits = bpy.data.objects["Upper Joint"].usdphys.joint.revolute
    texts = []
    for low, high in ((None, None), (-0.5, None), (None, 1.0), (-0.5, 1.0)):
        for name, value in (("lower_limit", low), ("upper_limit", high)):
            if value is None:
                limits.property_unset(name)
            else:
                setattr(limits, name, value)
        bpy.ops.usdphys.inspect_joints()
        labels = panel().labels()
        assert labels[::2] == ["Upper Joint", "Fore Joint"]
        texts.append(labels[1])
        bpy.ops.usdphys.preview_reset()
    assert texts == ["free", "from -28.65°", "up to 57.3°", "-28.65° to 57.3°"]


@pytest.mark.parametrize(("meters", "unit", "told"), [(1.0, "METERS", "-0.02 m to 0.5 m"),
                                                      (0.001, "MILLIMETERS", "-20 mm to 500 mm")])  # fmt: skip
def test_the_limits_of_a_slide_are_told_in_the_unit_of_its_slider(meters, unit, told):
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length, settings.length_unit = "METRIC", meters, unit
    rail = scenes.add_box("Rail", half=np.full(3, 0.05 / meters))
    scenes.make_collider(rail)
    drawer = scenes.solid("Drawer", half=np.full(3, 0.05 / meters), location=(0.2 / meters, 0, 0))
    slide = scenes.add_joint("Slide", "PRISMATIC", rail, drawer)
    slide.usdphys.joint.prismatic.lower_limit, slide.usdphys.joint.prismatic.upper_limit = -0.02 / meters, 0.5 / meters
    bpy.ops.usdphys.inspect_joints()
    assert panel().labels()[1] == told


def test_the_name_of_a_joint_is_not_translated():
    arm()
    bpy.ops.usdphys.inspect_joints()
    drawn = next(one for one in panel().all("label") if one.text == "Upper Joint")
    assert drawn.arguments.get("translate") is False


def test_rows_of_a_deleted_joint_are_gone():
    arm()
    bpy.ops.usdphys.inspect_joints()
    bpy.data.objects.remove(bpy.data.objects["Fore Joint"])
    assert panel().labels()[::2] == ["Upper Joint"]
    bpy.ops.usdphys.preview_step()
    assert panel().labels()[::2] == ["Upper Joint"]


def test_a_joint_whose_body_is_no_body_any_more_has_no_row():
    arm()
    bpy.ops.usdphys.inspect_joints()
    bpy.data.objects["Fore Joint"].usdphys.joint.joint_enabled = True
    bpy.data.objects["Fore Joint"].usdphys.joint.is_applied = False
    bpy.ops.usdphys.preview_step()
    assert panel().labels()[::2] == ["Upper Joint"]


def test_another_preview_starts_without_rows():
    """The rows would show positions of the last one."""
    arm()
    bpy.ops.usdphys.inspect_joints()
    rows()[0].angle = 0.3
    bpy.ops.usdphys.preview_reset()
    bpy.ops.usdphys.preview_play()
    assert panel().labels() == []
    bpy.ops.usdphys.inspect_joints()
    assert rows()[0].angle == pytest.approx(0.0, abs=1e-5)


def test_a_limit_at_rest_is_zero_and_not_noise(monkeypatch):
    arm()
    bpy.ops.usdphys.inspect_joints()
    session = preview_guard.current()
    monkeypatch.setattr(type(session), "joint_positions", lambda self: {rows()[0].path: {rows()[0].dof: -3.8e-22}})
    joint_inspector.set_limit(rows()[0], "LOWER")
    assert bpy.data.objects[rows()[0].joint].usdphys.joint.revolute.lower_limit == 0.0


def test_a_preview_that_plays_pauses_for_the_inspector():
    arm()
    session = preview_guard.start(bpy.context)
    session.play()
    bpy.ops.usdphys.inspect_joints()
    assert preview_guard.current() is session and not session.is_playing


def test_joints_of_a_scene_without_bodies_are_refused_in_one_sentence_without_a_traceback(capfd):
    with pytest.raises(RuntimeError, match="No rigid body can move") as refusal:
        bpy.ops.usdphys.inspect_joints()
    assert "Traceback" not in str(refusal.value) and "Traceback" not in "".join(capfd.readouterr())
