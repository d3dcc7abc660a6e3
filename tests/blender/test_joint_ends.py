# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint goes where its bodies go: into another file, into copies, into another collection."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import joint_ends
from usdphys_ext.usdphys_addon.playback import guard

from . import scenes
from .scenes import select


def door():
    """A frame and a door in a collection of their own, with a hinge that the operator made."""
    home = scenes.new_collection("Doors", linked=True)
    frame = scenes.add_box("Frame", (0.1, 0.1, 1), collection=home)
    leaf = scenes.add_box("Door", (0.5, 0.05, 1), collection=home, location=(0.6, 0, 0))
    scenes.make_collider(frame)
    bpy.context.view_layer.update()
    select(frame, leaf)
    bpy.context.view_layer.objects.active = frame
    bpy.ops.usdphys.joint_add(type="REVOLUTE")
    (hinge,) = joints()
    bpy.context.view_layer.update()
    joint_ends.turn()
    return frame, leaf, hinge


def joints():
    return [obj for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied]


def ends(joint):
    return joint.usdphys.joint.body0, joint.usdphys.joint.body1


def names():
    return sorted(obj.name for obj in bpy.data.objects)


def settle_down():
    bpy.context.view_layer.update()
    joint_ends.turn()
    bpy.context.view_layer.update()


def saved(tmp_path):
    path = str(tmp_path / "doors.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return path


def test_a_new_joint_is_with_its_bodies_and_they_know_it():
    frame, leaf, hinge = door()
    assert bpy.data.collections["Doors"].all_objects.get(hinge.name) == hinge
    assert [[(end.joint, end.side) for end in obj.usdphys_joint_ends] for obj in (frame, leaf)] == [
        [(hinge, 0)], [(hinge, 1)]
    ]  # fmt: skip


@pytest.mark.parametrize("link", [False, True])
def test_a_door_that_is_brought_from_another_file_has_its_hinge_and_frame(tmp_path, link):
    door()
    path = saved(tmp_path)
    bpy.ops.wm.append(
        filepath=f"{path}/Object/Door", directory=f"{path}/Object/", filename="Door", link=link, autoselect=True
    )  # fmt: skip
    settle_down()
    (hinge,) = joints()
    assert [obj.name for obj in ends(hinge)] == ["Frame", "Door"]
    assert "Door" in bpy.context.scene.objects
    model = scenes.read_model()
    assert len(model.joints) == 1


def test_an_appended_door_stays_in_its_hinge_while_it_plays(tmp_path):
    door()
    path = saved(tmp_path)
    bpy.ops.wm.append(filepath=f"{path}/Object/Door", directory=f"{path}/Object/", filename="Door")
    settle_down()
    leaf = bpy.data.objects["Door"]
    start = np.array(leaf.matrix_world)
    session = guard.start(bpy.context)
    for _ in range(60):
        session.step_once(bpy.context)
    assert np.array(leaf.matrix_world)[2, 3] == pytest.approx(start[2, 3], abs=0.02)
    guard.stop()


def test_copies_of_door_and_frame_get_a_hinge_of_their_own_and_nothing_else_changes():
    frame, leaf, hinge = door()
    before = names()
    select(frame, leaf)
    bpy.ops.object.duplicate()
    copies = {obj.name for obj in bpy.context.selected_objects}
    for obj in bpy.context.selected_objects:
        obj.location.y += 3
    settle_down()
    assert ends(hinge) == (frame, leaf)
    (new,) = [obj for obj in joints() if obj != hinge]
    assert {obj.name for obj in ends(new)} == copies == {"Frame.001", "Door.001"}
    assert set(names()) - set(before) == copies | {new.name}
    assert np.allclose(new.matrix_world.translation, hinge.matrix_world.translation + (leaf.location * 0), atol=10)
    assert tuple(new.matrix_world.translation - hinge.matrix_world.translation) == pytest.approx((0, 3, 0), abs=1e-5)
    assert bpy.data.collections["Doors"].all_objects.get(new.name) == new
    settle_down()
    assert len(joints()) == 2


def test_a_copy_with_its_joint_gets_no_second_one():
    select(*door())
    bpy.ops.object.duplicate()
    settle_down()
    assert len(joints()) == 2


def test_a_copy_of_the_door_alone_has_no_hinge():
    _, leaf, hinge = door()
    select(leaf)
    bpy.ops.object.duplicate()
    settle_down()
    assert joints() == [hinge] and not bpy.data.objects["Door.001"].usdphys_joint_ends


def test_a_copy_of_what_hangs_on_the_world_hangs_there_too():
    lamp = scenes.solid("Lamp", location=(0, 0, 2))
    hinge = scenes.add_joint("Hook", "SPHERICAL", None, lamp, location=(0, 0, 3))
    settle_down()
    select(lamp)
    bpy.ops.object.duplicate()
    bpy.context.selected_objects[0].location.x += 4
    settle_down()
    (new,) = [obj for obj in joints() if obj != hinge]
    assert ends(new) == (None, bpy.data.objects["Lamp.001"])
    assert tuple(new.matrix_world.translation) == pytest.approx((4, 0, 3), abs=1e-5)


def test_a_joint_that_gets_another_body_is_no_copy():
    frame, leaf, hinge = door()
    other = scenes.solid("Other", location=(5, 0, 0))
    settle_down()
    hinge.usdphys.joint.body1 = other
    settle_down()
    assert joints() == [hinge] and ends(hinge) == (frame, other)
    assert not leaf.usdphys_joint_ends and len(other.usdphys_joint_ends) == 1


def test_a_deleted_joint_does_not_stay_in_the_file(tmp_path):
    _, _, hinge = door()
    name = hinge.name
    select(hinge)
    bpy.ops.object.delete()
    settle_down()
    path = saved(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert name not in bpy.data.objects and joints() == []


def test_a_joint_follows_its_bodies_into_another_collection():
    frame, leaf, hinge = door()
    other = scenes.new_collection("Other", linked=True)
    for obj in (frame, leaf):
        bpy.data.collections["Doors"].objects.unlink(obj)
        other.objects.link(obj)
    settle_down()
    assert other.all_objects.get(hinge.name) == hinge
    assert bpy.data.collections["Doors"].all_objects.get(hinge.name) is None


def test_a_joint_that_the_user_puts_elsewhere_stays_there():
    _, _, hinge = door()
    other = scenes.new_collection("Other", linked=True)
    for home in hinge.users_collection:
        home.objects.unlink(hinge)
    other.objects.link(hinge)
    settle_down()
    settle_down()
    assert list(hinge.users_collection) == [other]


def test_undo_of_a_copy_leaves_no_joint():
    frame, leaf, _ = door()
    bpy.ops.ed.undo_push(message="Door")
    before = names()
    select(frame, leaf)
    bpy.ops.object.duplicate()
    bpy.ops.ed.undo_push(message="Duplicate")
    settle_down()
    bpy.ops.ed.undo_push(message="Joints")
    assert len(joints()) == 2
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    settle_down()
    assert names() == before
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    settle_down()
    assert len(joints()) == 2


def test_a_full_copy_of_the_scene_has_joints_of_its_own_bodies():
    door()
    bpy.ops.scene.new(type="FULL_COPY")
    settle_down()
    (new,) = joints()
    assert [obj.name for obj in ends(new)] == ["Frame.001", "Door.001"]


def codes():
    return {issue.code: issue for issue in scenes.read().issues}


def test_a_check_names_a_joint_that_instances_of_its_bodies_do_not_have_and_the_fix_brings_it_home():
    _, _, hinge = door()
    assert "JointLeftBehind" not in codes()
    for home in hinge.users_collection:
        home.objects.unlink(hinge)
    bpy.context.scene.collection.objects.link(hinge)
    bpy.context.view_layer.update()
    assert "JointLeftBehind" not in codes()
    bpy.data.collections["Doors"].asset_mark()
    issue = codes()["JointLeftBehind"]
    assert issue.severity == "warning" and "'Doors'" in issue.message and issue.label == hinge.name
    bpy.ops.usdphys.check()
    bpy.ops.usdphys.check_fix_all()
    bpy.context.view_layer.update()
    assert "JointLeftBehind" not in codes()
    assert bpy.data.collections["Doors"].all_objects.get(hinge.name) == hinge


def test_a_check_says_that_a_body_is_in_another_scene():
    _, leaf, _ = door()
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(leaf)
    bpy.data.collections["Doors"].objects.unlink(leaf)
    bpy.context.view_layer.update()
    assert "in another scene, 'Other'" in codes()["JointBodyMissing"].message
