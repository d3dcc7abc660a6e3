# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview on Blender's timeline. A change of frame leads it, and no clock."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback.timeline import MOST_FRAMES

from . import scenes

FPS = 24


@pytest.fixture(autouse=True)
def _rate():
    bpy.context.scene.render.fps = FPS
    bpy.context.scene.frame_set(1)


def solid(name, location, **changes):
    obj = scenes.solid(name, shape="AUTO")
    obj.location = location
    for key, value in changes.items():
        setattr(obj.usdphys.rigid_body, key, value)
    return obj


def key_along_x(obj, speed, until):
    """Let an object go along X by its keys, so many metres a second, up to a frame."""
    for frame in (1, until):
        obj.location.x = speed * (frame - 1) / FPS
        obj.keyframe_insert("location", frame=frame)
    curves = obj.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    for key in (point for curve in curves for point in curve.keyframe_points):
        key.interpolation = "LINEAR"
    return obj


def keyed_pusher(speed=1.0, until=49):
    """A kinematic box that goes along X by its keys, so many metres a second."""
    pusher = solid("Pusher", (0, 0, 0), kinematic_enabled=True)
    return key_along_x(pusher, speed, until)


def begin():
    """As the Play button does: without a window it only starts the session."""
    bpy.context.scene.usdphys.preview.with_timeline = True
    bpy.context.view_layer.update()
    assert bpy.ops.usdphys.preview_play() == {"FINISHED"}
    return preview_guard.timeline()


def go(*frames):
    for frame in frames:
        bpy.context.scene.frame_set(frame)


def height(obj):
    return obj.matrix_world.translation.z


def fallen(frames):
    return 0.5 * 9.81 * (frames / FPS) ** 2


@pytest.mark.parametrize("fps", [24, 25, 120])
def test_a_frame_of_the_timeline_is_a_frame_of_time(fps, clock):
    """The clock of the machine goes on by an hour in each frame, and nothing else moves the bodies."""
    bpy.context.scene.render.fps = fps
    obj = solid("Crate", (0, 0, 50))
    leader = begin()
    for frame in range(2, 2 + fps):
        go(frame)
        clock.advance(3600.0)
        leader.session.advance(bpy.context)
    assert leader.session.world.time == pytest.approx(1.0, rel=1e-9)
    assert 50 - height(obj) == pytest.approx(0.5 * 9.81, rel=0.02)
    assert dict(leader.session.readout)["Time"] == "1.00 s"


def test_frames_are_simulated_once_and_scrubbed():
    obj, other = solid("Crate", (0, 0, 50), angular_velocity=(1, 2, 3)), solid("Beside", (5, 0, 50))
    leader = begin()
    seen = {}
    for frame in range(1, 25):
        go(frame)
        seen[frame] = (obj.matrix_world.copy(), other.matrix_world.copy())
    steps = leader.session.world.frame
    for frame in (24, 3, 17, 1, 24, 9):
        go(frame)
        now = (obj.matrix_world, other.matrix_world)
        for shown, before in zip(now, seen[frame], strict=True):
            assert np.array(shown) == pytest.approx(np.array(before), abs=1e-5)
        assert dict(leader.session.readout)["Time"] == f"{(frame - 1) / FPS:.2f} s"
    assert leader.session.world.frame == steps and leader.kept == list(range(1, 25))
    go(25)
    assert 50 - height(obj) == pytest.approx(fallen(24), rel=0.02)


def test_before_the_first_frame_bodies_are_where_they_were_authored():
    go(10)
    obj = solid("Crate", (1, 2, 50))
    begin()
    go(11, 12, 13, 4)
    assert tuple(obj.matrix_world.translation) == pytest.approx((1, 2, 50), abs=1e-5)


@pytest.mark.slow
def test_a_keyed_kinematic_body_pushes_at_its_speed_and_is_scrubbed_with_what_it_pushes():
    bpy.context.scene.use_gravity = False
    pusher, pushed = keyed_pusher(), solid("Pushed", (1.5, 0, 0))
    leader = begin()
    places = {}
    for frame in range(1, 49):
        go(frame)
        places[frame] = pushed.matrix_world.translation.x
        assert leader.session.world.positions[leader.session.shown.names.index("Pusher")][0] == pytest.approx(
            pusher.matrix_world.translation.x, abs=1e-5
        )
    # They meet after half a second; then the other is as fast, or faster by the restitution.
    assert places[12] == pytest.approx(1.5, abs=1e-3) and places[48] - places[36] == pytest.approx(0.5, abs=0.2)
    go(30)
    assert pushed.matrix_world.translation.x == pytest.approx(places[30], abs=1e-5)
    assert pusher.matrix_world.translation.x == pytest.approx(29 / FPS, abs=1e-5)


def test_a_skipped_frame_is_simulated_and_kept_too():
    obj = solid("Crate", (0, 0, 50))
    leader = begin()
    go(3, 3 + MOST_FRAMES)
    assert leader.kept == list(range(1, 4 + MOST_FRAMES))
    assert 50 - height(obj) == pytest.approx(fallen(2 + MOST_FRAMES), rel=0.1)


def test_a_jump_does_not_simulate_everything_between():
    obj = solid("Crate", (0, 0, 50))
    leader = begin()
    go(2, 200)
    assert leader.front == 2 and 50 - height(obj) == pytest.approx(fallen(1), rel=0.5)


@pytest.mark.slow
def test_an_edit_drops_the_frames_before_and_the_first_frame_begins_anew():
    ice = scenes.physics_material("Ice", dynamic_friction=0.0, static_friction=0.0, restitution=0.0)
    floor = scenes.add_box("Floor", (50, 50, 0.5), location=(0, 0, -0.5))
    scenes.make_collider(floor, "AUTO")
    obj = solid("Crate", (0, 0, 0.5), velocity=(2, 0, 0))
    for one in (floor, obj):
        one.usdphys.colliders[0].physics_material = ice
    leader = begin()
    go(*range(2, 26))
    assert obj.matrix_world.translation.x == pytest.approx(2.0, abs=0.1)
    ice.usdphys.physics_material.dynamic_friction = 1.0
    go(26)
    assert leader.kept == [25, 26] and "continues from frame 25" in leader.edited
    go(*range(27, 60))
    # It brakes from where it was: v^2 / 2 g.
    assert obj.matrix_world.translation.x == pytest.approx(2.08 + 4.0 / (2 * 9.81), abs=0.1)
    go(1)
    assert obj.matrix_world.translation.x == pytest.approx(0.0, abs=1e-5) and leader.kept == [1]
    assert not leader.edited
    go(*range(2, 26))
    assert obj.matrix_world.translation.x == pytest.approx(4.0 / (2 * 9.81), abs=0.1)
    assert leader.kept == list(range(1, 26))


@pytest.mark.parametrize("adds", [False, True])
def test_after_an_edit_at_the_first_frame_the_next_one_begins_anew(adds):
    """Back to the start, edit, play: the first frame that Blender then shows is the second."""
    obj = solid("Crate", (0, 0, 50))
    obj.usdphys.mass.mass = 1.0
    leader = begin()
    go(*range(2, 26), 1)
    if adds:
        solid("More", (5, 0, 50))
    else:
        obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(2)
    assert leader.kept == [1, 2]
    assert 50 - height(obj) == pytest.approx(fallen(1), rel=0.5)
    go(*range(3, 14))
    assert 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)
    go(1)
    assert height(obj) == pytest.approx(50, abs=1e-5)


@pytest.mark.parametrize("adds", [False, True], ids=["value", "structure"])
def test_an_edit_while_scrubbed_back_goes_on_from_the_shown_frame(adds):
    """Half of the frames are shown again: from there on the body falls as it fell there, not as at the last frame."""
    obj = solid("Crate", (0, 0, 50), velocity=(1, 0, 0), angular_velocity=(0, 0, 1))
    obj.usdphys.mass.mass = 1.0
    leader = begin()
    go(*range(2, 26), 13)
    assert 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)
    if adds:
        more = solid("More", (5, 0, 50))
    else:
        obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(14)
    assert leader.kept == [13, 14] and (leader.front, leader.shown) == (14, 14)
    assert "continues from frame 13" in leader.edited
    go(*range(15, 26))
    assert 50 - height(obj) == pytest.approx(fallen(24), rel=0.05)
    assert obj.matrix_world.translation.x == pytest.approx(1.0, rel=1e-3)
    assert obj.matrix_world.to_euler().z == pytest.approx(1.0, abs=0.02)
    # Frames before the edit are not known any more: the frame of the edit is shown, and says so.
    go(5)
    assert leader.shown == 13 and 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)
    assert dict(leader.session.readout)["Time"] == f"{12 / FPS:.2f} s"
    go(20)
    assert leader.shown == 20 and 50 - height(obj) == pytest.approx(fallen(19), rel=0.05)
    go(1)
    assert height(obj) == pytest.approx(50, abs=1e-5) and leader.kept == [1]
    go(*range(2, 14))
    assert 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)
    if adds:
        assert height(obj) == pytest.approx(height(more), abs=1e-4)


def test_an_edit_while_a_kept_frame_is_visited_goes_on_from_that_one():
    """Edited at the last frame, then scrubbed back: what is shown there is what goes on."""
    obj = solid("Crate", (0, 0, 50))
    obj.usdphys.mass.mass = 1.0
    leader = begin()
    go(*range(2, 26))
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(13)
    assert leader.front == leader.shown == 13 and 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)
    go(14, 15)
    assert 50 - height(obj) == pytest.approx(fallen(14), rel=0.1)


def test_an_edit_after_a_joint_broke_begins_anew_because_the_kept_frames_do_not_hold_that():
    obj = solid("Crate", (0, 0, 50))
    obj.usdphys.mass.mass = 1.0
    joint = scenes.add_joint("Thread", "FIXED", None, obj, location=(0, 0, 50))
    joint.usdphys.joint.break_force = 1.0
    leader = begin()
    go(*range(2, 26))
    assert leader.session.world.broken_joints and height(obj) < 49.9
    go(13)
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(14)
    assert "restarts at frame 1" in leader.edited and "Thread" in leader.edited
    assert leader.kept == [1] and height(obj) == pytest.approx(50, abs=1e-5)


def test_a_keyed_body_begins_at_its_first_frame_after_an_edit_there():
    """The next frame that Blender shows is the second; a box that touches the pusher must not be hit by a jump."""
    bpy.context.scene.use_gravity = False
    pusher = keyed_pusher(speed=4.0)
    obj = solid("Pushed", (50, 0, 0))
    obj.usdphys.mass.mass = 1.0
    leader = begin()
    row = leader.session.shown.names.index("Pusher")
    go(*range(2, 13), 1)
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(2)
    world = leader.session.world
    assert leader.kept == [1, 2]
    assert world.positions[row][0] == pytest.approx(pusher.matrix_world.translation.x, abs=1e-4)
    linear, _ = world.velocities()
    assert linear[row][0] == pytest.approx(4.0, rel=0.05)
    go(1)
    assert world.positions[row][0] == pytest.approx(0.0, abs=1e-5) and leader.kept == [1, 2]


def test_a_key_moved_at_the_first_frame_moves_the_beginning():
    bpy.context.scene.use_gravity = False
    pusher, _ = keyed_pusher(speed=0.0), solid("Pushed", (50, 0, 0))
    leader = begin()
    row = leader.session.shown.names.index("Pusher")
    go(*range(2, 13), 1)
    for frame in (1, 49):
        pusher.location.y = -3.0
        pusher.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    leader.session.take_edits(bpy.context)
    go(1, 2)
    assert leader.session.world.positions[row][1] == pytest.approx(-3.0, abs=1e-4)
    go(1)
    assert leader.kept == [1, 2] and leader.session.world.positions[row][1] == pytest.approx(-3.0, abs=1e-4)


def test_a_changed_animation_goes_on_from_the_visited_frame():
    pusher, _ = keyed_pusher(), solid("Pushed", (50, 0, 0))
    leader = begin()
    go(*range(2, 13))
    pusher.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[1].co[1] = 9.0
    pusher.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].update()
    go(6)
    assert leader.kept == [6]
    row = leader.session.shown.names.index("Pusher")
    assert leader.session.world.positions[row][0] == pytest.approx(pusher.matrix_world.translation.x, abs=1e-4)
    go(7, 8)
    assert leader.session.world.positions[row][0] == pytest.approx(pusher.matrix_world.translation.x, abs=1e-4)
    go(1)
    assert leader.kept == [1]


def test_selecting_and_hiding_drop_nothing():
    obj = solid("Crate", (0, 0, 50))
    leader = begin()
    go(2, 3, 4)
    obj.select_set(True)
    bpy.context.view_layer.update()
    go(5)
    assert leader.kept == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("way", ["reset", "undo", "frame rate", "stop"])
def test_the_end_restores_every_pose(way):
    obj = solid("Crate", (0, 0, 50))
    obj.rotation_euler = (0.1, 0.2, 0.3)
    begin()
    go(*range(2, 13))
    assert height(obj) < 49.5
    if way == "reset":
        bpy.ops.usdphys.preview_reset()
        assert bpy.context.scene.frame_current == 1
    elif way == "frame rate":
        bpy.context.scene.render.fps = 30
        go(13)
    elif way == "undo":
        bpy.app.handlers.undo_pre[0](bpy.context.scene)
        for handler in bpy.app.handlers.undo_pre:
            handler(bpy.context.scene)
    else:
        preview_guard.stop()
    assert preview_guard.current() is None and preview_guard.timeline() is None
    assert tuple(obj.location) == (0, 0, 50) and obj.rotation_mode == "XYZ"
    go(20)
    assert tuple(obj.location) == (0, 0, 50)


def test_the_shown_frame_is_the_one_that_is_applied():
    obj = solid("Crate", (0, 0, 50))
    begin()
    go(*range(2, 26), 13)
    bpy.ops.usdphys.preview_apply()
    assert 50 - obj.location.z == pytest.approx(fallen(12), rel=0.1)


def test_the_step_button_goes_on_by_a_frame():
    obj = solid("Crate", (0, 0, 50))
    leader = begin()
    for _ in range(12):
        bpy.ops.usdphys.preview_step()
    assert bpy.context.scene.frame_current == 13 and leader.kept == list(range(1, 14))
    assert 50 - height(obj) == pytest.approx(fallen(12), rel=0.1)


def test_playing_the_timeline_starts_the_physics_only_where_it_is_wanted():
    """As Blender calls it before the timeline plays."""
    obj = solid("Crate", (0, 0, 50))
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    play = [handler for handler in bpy.app.handlers.animation_playback_pre if "usdphys" in handler.__module__]
    for handler in play:
        handler(scene, None)
    assert preview_guard.current() is None
    scene.usdphys.preview.with_timeline = True
    for handler in play:
        handler(scene, None)
    assert preview_guard.timeline() is not None
    go(2)
    assert height(obj) < 50


def test_playing_the_timeline_without_bodies_says_why_in_the_panel():
    scene = bpy.context.scene
    scene.usdphys.preview.with_timeline = True
    for handler in bpy.app.handlers.animation_playback_pre:
        handler(scene, None)
    assert preview_guard.current() is None
    assert "No rigid body can move" in preview_guard.problem()


def test_the_joint_inspector_is_not_led_by_the_timeline():
    bpy.context.scene.usdphys.preview.with_timeline = True
    solid("Crate", (0, 0, 50))
    bpy.context.view_layer.update()
    bpy.ops.usdphys.preview_play(ignores_timeline=True)
    assert preview_guard.current() is not None and preview_guard.timeline() is None


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 6, 10])
@pytest.mark.parametrize("adds", [True, False])
def test_a_kinematic_body_that_is_added_or_removed_while_the_timeline_leads(adds, at):
    """Kept are the places of as many kinematic bodies as there were."""
    crate = solid("Crate", (9, 0, 20))
    pusher = keyed_pusher()
    other = solid("Other", (0, 5, 0), kinematic_enabled=adds is False)
    begin()
    go(*range(2, 11))
    go(at)
    if adds:
        other.usdphys.rigid_body.kinematic_enabled = True
    else:
        pusher.usdphys.rigid_body.is_applied = False
    bpy.context.view_layer.update()
    go(*range(at + 1, 13))
    assert preview_guard.timeline() is not None, "the preview has not ended by an error"
    assert height(crate) == pytest.approx(20 - fallen(11), rel=0.02)
    go(1)
    go(2)
    assert preview_guard.timeline() is not None
    assert height(crate) == pytest.approx(20, abs=0.03)


def keyed_carrier(obj, speed=1.0, until=49):
    """An Empty without physics that carries an object along X by its keys, so many metres a second."""
    carrier = scenes.add("Carrier")
    obj.parent = carrier
    return key_along_x(carrier, speed, until)


@pytest.mark.parametrize("shown", [1, 2, 9])
def test_a_body_below_a_keyed_parent_begins_where_the_parent_was_after_an_edit(shown):
    """Its parent carries it at the start only: it falls straight down, whatever frame shows the edit first."""
    obj = solid("Crate", (0, 0, 50))
    keyed_carrier(obj)
    leader = begin()
    go(*range(2, 9))
    assert obj.matrix_world.translation.x == pytest.approx(0.0, abs=1e-4)
    go(1)
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(shown)
    go(*range(2, 6))
    assert obj.matrix_world.translation.x == pytest.approx(0.0, abs=1e-4)
    assert leader.session.world.positions[0][0] == pytest.approx(0.0, abs=1e-4)
    assert 50 - height(obj) == pytest.approx(fallen(4), rel=0.1)


@pytest.mark.parametrize("shown", [1, 2, 9])
def test_a_velocity_below_a_turning_parent_is_turned_as_it_was_at_the_start(shown):
    """The parent turns by 90 degrees in 8 frames; the body starts along X of the first frame, and spins about it."""
    obj = solid("Crate", (0, 0, 50))
    obj.usdphys.rigid_body.velocity, obj.usdphys.rigid_body.angular_velocity = (6.0, 0.0, 0.0), (3.0, 0.0, 0.0)
    carrier = scenes.add("Carrier")
    obj.parent = carrier
    for frame, angle in ((1, 0.0), (9, np.pi / 2)):
        carrier.rotation_euler.z = angle
        carrier.keyframe_insert("rotation_euler", frame=frame)
    leader = begin()
    go(*range(2, 9), 1)
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    go(shown)
    go(*range(2, 6))
    expected = 6.0 * 4 * bpy.context.scene.render.fps_base / bpy.context.scene.render.fps
    assert tuple(obj.matrix_world.translation)[:2] == pytest.approx((expected, 0.0), abs=0.02)
    linear, angular = leader.session.world.velocities()
    assert tuple(linear[0][:2]) == pytest.approx((6.0, 0.0), abs=0.1)
    assert tuple(angular[0]) == pytest.approx((3.0, 0.0, 0.0), abs=0.1)


def test_a_body_below_a_keyed_parent_is_shown_and_baked_where_it_is():
    """Its parent, which goes on, took it along while it fell, in the preview and in the bake."""
    obj = solid("Crate", (0, 0, 50))
    keyed_carrier(obj)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    for frame in (4, 12):
        bpy.context.scene.frame_set(frame)
        assert obj.matrix_world.translation.x == pytest.approx(0.0, abs=1e-4)
        assert 50 - height(obj) == pytest.approx(fallen(frame - 1), rel=0.15)
