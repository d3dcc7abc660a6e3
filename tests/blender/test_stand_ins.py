# SPDX-License-Identifier: GPL-3.0-or-later
"""An instance with several bodies and joints plays part by part, and is the instance again afterwards."""

import re

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import authored_poses
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.playback import bake, guard
from usdphys_ext.usdphys_addon.worker import jobs

from . import scenes


def swing(collection=None):
    """A static frame, an arm that hangs from it by a hinge about Y and starts level, and a knob on it."""
    frame = scenes.add_box("Frame", (0.1, 0.1, 0.1), collection=collection, location=(0, 0, 0.3))
    scenes.make_collider(frame)
    arm = scenes.add_box("Arm", (0.5, 0.05, 0.05), collection=collection, location=(0.5, 0, 0))
    scenes.make_body(arm)
    scenes.make_collider(arm)
    knob = scenes.add_box("Knob", (0.05, 0.05, 0.05), collection=collection, location=(0.4, 0, 0), parent=arm)
    scenes.make_collider(knob)
    hinge = scenes.add_joint("Hinge", "REVOLUTE", frame, arm, collection=collection)
    hinge.usdphys.joint.axis = "Y"
    bpy.context.view_layer.update()
    for part, place in ((hinge, (0, 0, 0)), (knob, (0.9, 0, 0))):
        # As Ctrl P and the operators that make joints leave it.
        part.parent = frame if part == hinge else arm
        part.matrix_parent_inverse = part.parent.matrix_basis.inverted()
        part.location = place
    return frame, arm, hinge


def swing_instance(**places):
    held = scenes.new_collection("Swing")
    swing(held)
    empty = scenes.add_instance("Asset", held, **(places or {"location": (3, 0, 2)}))
    bpy.context.view_layer.update()
    return empty


def names():
    return {obj.name for obj in bpy.data.objects}


def marks(name):
    """What the preview notes in an object."""
    return [key for key in bpy.data.objects[name].keys() if key.startswith("usdphys_")]


def shown_at(part):
    """Where an object whose name begins so is drawn in the one instance, or by its stand-in."""
    graph = bpy.context.evaluated_depsgraph_get()
    return [np.array(one.matrix_world) for one in graph.object_instances if one.object.name.startswith(part)]


def state(empty):
    return empty.instance_type, tuple(empty.matrix_world[0]), tuple(empty.location), empty.rotation_mode, names()


def play(steps=20):
    session = guard.start(bpy.context)
    for _ in range(steps):
        session.step_once(bpy.context)
    return session


def test_a_door_in_an_instance_swings_in_its_frame_and_a_reset_is_exact():
    empty = swing_instance(location=(3, 0, 2), rotation_euler=(0, 0, 1.0), scale=(2, 2, 2))
    before, parts = state(empty), {part: shown_at(part) for part in ("Frame", "Arm", "Knob")}
    session = play()
    assert session.notices == [] and len(session.world.joints) == 1
    for part, start in parts.items():
        (now,) = shown_at(part)
        assert np.allclose(now, start[0], atol=1e-5) == (part == "Frame")
    (arm,) = shown_at("Arm")
    # The hinge is at the end of the arm, at the origin of the instance; it has only turned about it.
    assert np.allclose((arm @ (-0.5, 0, 0, 1))[:3] + 0.0, (3, 0, 2), atol=2e-2)
    assert arm[2, 3] < 2.0 - 0.05
    (knob,) = shown_at("Knob")
    assert np.allclose(np.linalg.inv(arm) @ knob, np.linalg.inv(parts["Arm"][0]) @ parts["Knob"][0], atol=1e-5)
    guard.stop()
    assert state(empty) == before
    assert all(np.array_equal(shown_at(part)[0], start[0]) for part, start in parts.items())


def test_a_linked_instance_plays_and_the_library_is_left_alone(tmp_path):
    swing(scenes.new_collection("Swing", linked=True))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Swing"]
    one = scenes.add_instance("One", wanted.collections[0])
    two = scenes.add_instance("Two", wanted.collections[0], location=(0, 5, 0))
    bpy.context.view_layer.update()
    before = state(one), state(two)
    session = play()
    assert len(session.shown.moving) == 2 and len(session.world.joints) == 2
    heights = [matrix[2, 3] for matrix in shown_at("Arm")]
    assert len(heights) == 2 and max(heights) < -0.02
    guard.stop()
    assert (state(one), state(two)) == before


def test_a_linked_body_is_refused_with_the_way_out_and_beside_others_named(tmp_path):
    scenes.solid("Guest", collection=scenes.new_collection("Guests", linked=True))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Guests"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    bpy.context.view_layer.update()
    with pytest.raises(InputError, match=r"'Guest', are linked, .*; make library overrides of them"):
        play()
    scenes.solid("Own", location=(5, 0, 0))
    bpy.context.view_layer.update()
    (notice,) = [notice for notice in play().notices if notice.code == "PreviewUnshown"]
    assert "'Guest' is linked" in notice.short and notice.fix.startswith("Make a library override")


def test_nested_instances_play_with_a_joint_to_the_body_around_them():
    inner, outer = scenes.new_collection("Inner"), scenes.new_collection("Outer")
    frame = scenes.add_box("Frame", (0.1,) * 3, collection=outer, location=(0, 0, 1))
    scenes.make_collider(frame)
    arm = scenes.add_box("Arm", (0.5, 0.05, 0.05), collection=inner, location=(0.5, 0, 0))
    scenes.make_body(arm)
    scenes.make_collider(arm)
    scenes.add_joint("Hinge", "REVOLUTE", frame, arm, collection=inner).usdphys.joint.axis = "Y"
    scenes.add_instance("Mount", inner, collection=outer)
    scenes.add_instance("Top", outer, location=(0, 0, 5))
    scenes.add_instance("Side", outer, location=(0, 3, 5))
    bpy.context.view_layer.update()
    before = names()
    session = play()
    assert len(session.world.joints) == 2
    for place, matrix in zip(((0, 0, 5), (0, 3, 5)), shown_at("Arm"), strict=True):
        assert np.linalg.norm(matrix[:3, 3] - place) == pytest.approx(0.5, abs=5e-3)
        assert matrix[2, 3] < 4.97
    guard.stop()
    assert names() == before


def test_one_body_and_a_static_frame_do_not_turn_as_a_whole():
    """The frame's collider is its mesh, whose prim is below that of the object."""
    held = scenes.new_collection("Held")
    frame = scenes.add_box("Frame", (0.5, 0.5, 0.1), collection=held)
    scenes.make_collider(frame, "MESH")
    box = scenes.add_box("Box", (0.1,) * 3, collection=held, location=(0, 0, 2))
    scenes.make_body(box)
    scenes.make_collider(box)
    scenes.add_instance("Asset", held)
    bpy.context.view_layer.update()
    (frame_at,) = shown_at("Frame")
    play(60)
    assert np.array_equal(shown_at("Frame")[0], frame_at)
    assert shown_at("Box")[0][2, 3] < 1.0
    guard.stop()


def test_a_file_saved_while_it_plays_has_the_instance_and_no_stand_in(tmp_path):
    empty = swing_instance()
    before = names()
    play()
    playing = names()
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert names() == playing and empty.instance_type == "NONE" and len(shown_at("Arm")) == 1
    guard.current().step_once(bpy.context)
    guard.stop()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path) as (there, _):
        assert set(there.objects) == before
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Asset"].instance_type == "COLLECTION"
    assert names() == before and not marks("Asset")


def test_an_undo_step_written_while_it_plays_is_mended():
    swing_instance()
    bpy.ops.ed.undo_push(message="Before")
    before = names()
    play()
    bpy.ops.ed.undo_push(message="While it plays")
    guard.stop()
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    assert names() == before
    assert bpy.data.objects["Asset"].instance_type == "COLLECTION" and not marks("Asset")


def test_deleting_the_instance_while_it_plays_takes_its_parts_along():
    swing_instance()
    crate = scenes.solid("Crate", location=(0, 9, 9))
    bpy.context.view_layer.update()
    before = names() - {"Asset"}
    session = play()
    bpy.data.objects.remove(bpy.data.objects["Asset"])
    bpy.context.view_layer.update()
    jobs.turn(guard.tidy_stand_ins)
    bpy.context.view_layer.update()
    assert names() == before
    for _ in range(5):
        session.step_once(bpy.context)
    guard.stop()
    assert names() == before and tuple(crate.location) == (0, 9, 9)


def test_a_copy_of_the_instance_made_while_it_plays_shows_its_parts():
    empty = swing_instance()
    play()
    copy = empty.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    jobs.turn(guard.tidy_stand_ins)
    assert copy.instance_type == "COLLECTION" and not marks(copy.name)
    guard.stop()
    assert empty.instance_type == "COLLECTION"


def test_an_edit_while_it_plays_rebuilds_the_world_with_the_parts_where_they_are():
    swing_instance()
    session = play()
    (before,) = shown_at("Arm")
    crate = scenes.solid("Crate", location=(0, 9, 9))
    bpy.context.view_layer.update()
    session.step_once(bpy.context)
    (after,) = shown_at("Arm")
    assert crate.name in session.shown.moving and np.abs(after - before).max() < 0.1
    guard.stop()


def test_a_bake_moves_the_parts_and_clearing_it_shows_the_instance_again():
    empty = swing_instance()
    before = state(empty)
    assert bake.bake(bpy.context, 1, 12) == 1
    bpy.context.scene.frame_set(1)
    (start,) = shown_at("Arm")
    bpy.context.scene.frame_set(12)
    assert shown_at("Arm")[0][2, 3] < start[2, 3] - 0.02
    guard.restore_strays()
    assert empty.instance_type == "NONE"
    bpy.context.scene.frame_set(1)
    assert bake.clear_bake(bpy.context.scene) == 1
    assert state(empty) == before


def test_the_timeline_plays_the_parts():
    empty = swing_instance()
    before = state(empty)
    scene = bpy.context.scene
    scene.frame_set(1)
    guard.start(bpy.context, with_timeline=True)
    for frame in range(2, 12):
        scene.frame_set(frame)
    low = shown_at("Arm")[0][2, 3]
    assert low < 2.0 - 0.02
    scene.frame_set(1)
    assert shown_at("Arm")[0][2, 3] == pytest.approx(2.0, abs=1e-5)
    guard.stop()
    assert state(empty) == before


def test_an_export_while_it_plays_writes_the_instance_as_it_was(tmp_path):
    swing_instance()
    scenes.export(tmp_path / "rest.usda")
    play()
    scenes.export(tmp_path / "playing.usda")
    assert len(shown_at("Arm")) == 1 and guard.current() is not None
    guard.stop()
    # Blender numbers the instances in an order of its own.
    texts = [re.sub(r"_\d+", "", (tmp_path / name).read_text()) for name in ("rest.usda", "playing.usda")]
    lines = [sorted(text.replace("rest", "playing").splitlines()) for text in texts]
    assert lines[0] == lines[1] and "PhysicsRevoluteJoint" in texts[0]


def test_applying_the_poses_makes_the_instance_real():
    empty = swing_instance()
    session = play()
    guard.forget()
    session.apply(bpy.context)
    guard.restore_strays()
    (arm,) = shown_at("Arm")
    assert arm[2, 3] < 1.97 and empty.instance_type == "NONE" and not marks("Asset")
    assert play(1).notices == []
    guard.stop()
    assert authored_poses.issues_of_export() == []


def test_a_start_that_is_given_up_shows_the_instance_again():
    empty = swing_instance()
    before = state(empty)
    work = guard.begin(bpy.context)
    assert not work.advance(bpy.context, 0.0) and empty.instance_type == "NONE"
    guard.stop()
    assert state(empty) == before
