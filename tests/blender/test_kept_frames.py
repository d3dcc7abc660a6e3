# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of the timeline in the .blend: it survives closing, is not shown when stale, goes on, and is exported."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.playback import alembic, bake, caching, kept_frames
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.world import World

from . import scenes
from .test_panels import drawn

FPS, LAST = 24, 30


@pytest.fixture(autouse=True)
def _range():
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, LAST
    scene.frame_set(1)


def world(**settings):
    """A crate that falls on a floor and tumbles, and a box with keys that pushes another one along X."""
    scenes.make_collider(scenes.add_box("Floor", (20, 20, 0.5), location=(0, 0, -0.5)), "AUTO")
    crate = scenes.solid("Crate", shape="AUTO", location=(0, 0, 2.0))
    crate.rotation_euler = (0.3, 0.2, 0.0)
    pusher = scenes.solid("Pusher", shape="AUTO", location=(0, 5, 0.5))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    for frame, x in ((1, 0.0), (LAST, 3.0)):
        pusher.location.x = x
        pusher.keyframe_insert("location", frame=frame)
    scenes.solid("Pushed", shape="AUTO", location=(1.5, 5, 0.5))
    bpy.context.view_layer.update()


def cache(start=1, end=LAST):
    assert bpy.ops.usdphys.preview_cache(use_scene_range=False, frame_start=start, frame_end=end) == {"FINISHED"}


def places(frames, names=("Crate", "Pushed")):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([np.array(bpy.data.objects[name].matrix_world) for name in names])
    return np.array(found)


def reopened(tmp_path):
    path = str(tmp_path / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.context.scene


def counted(monkeypatch):
    """A list that gets an item for each time step."""
    steps, step = [], World.step
    monkeypatch.setattr(World, "step", lambda world: (steps.append(1), step(world)))
    return steps


def shown():
    """Begin to show the cache, as a window does when the timeline comes to it."""
    assert bpy.ops.usdphys.preview_show_kept() == {"FINISHED"}
    return preview_guard.timeline()


def refused():
    """A cache that is not shown where the timeline comes to it: nothing moves, the frame stays."""
    frame = bpy.context.scene.frame_current
    assert bpy.ops.usdphys.preview_show_kept() == {"CANCELLED"}
    assert preview_guard.current() is None and bpy.context.scene.frame_current == frame


def played():
    """Play begins a session, with the cache or without."""
    assert bpy.ops.usdphys.preview_play() == {"FINISHED"}
    return preview_guard.timeline()


def simulated(frames):
    """Poses as a session without a cache simulates them."""
    leader = preview_guard.timeline()
    assert leader is not None and not leader.has_kept
    return places(frames)


@pytest.mark.slow
def test_a_cache_is_shown_after_the_file_was_closed_without_simulating(tmp_path, monkeypatch):
    world()
    bpy.context.scene.usdphys.preview.with_timeline = True
    preview_guard.start(bpy.context, with_timeline=True)
    expected = simulated(range(1, LAST + 1))
    preview_guard.stop()
    bpy.context.scene.frame_set(7)
    before = [tuple(obj.matrix_world.translation) for obj in bpy.context.scene.objects]
    cache()
    assert bpy.context.scene.frame_current == 7 and preview_guard.current() is None
    assert [tuple(obj.matrix_world.translation) for obj in bpy.context.scene.objects] == before
    scene = reopened(tmp_path)
    about = kept_frames.about(scene)
    assert (about.start, about.end) == (1, LAST) and 500 < about.size < 200_000
    assert scene.usdphys.preview.with_timeline and scene.frame_current == 7
    steps = counted(monkeypatch)
    leader = shown()
    assert leader.has_kept and leader.kept == list(range(1, LAST + 1)) and scene.frame_current == 7
    order = [7, 30, 2, 19, *range(1, LAST + 1)]
    assert places(order) == pytest.approx(expected[[frame - 1 for frame in order]], abs=2e-5)
    assert steps == [] and not kept_frames.is_stale(scene)
    preview_guard.stop()


@pytest.mark.parametrize(("frame", "is_kept"), [(1, False), (2, True), (3, True), (4, False)])
def test_a_frame_of_the_cache_is_shown_where_it_was_made_and_where_the_file_is_opened(
    tmp_path, monkeypatch, frame, is_kept
):
    scenes.solid("Crate", shape="AUTO", location=(0, 0, 2.0))
    asked = []
    monkeypatch.setattr(preview_guard, "on_kept", [lambda: asked.append(bpy.context.scene.frame_current)])
    bpy.context.scene.frame_set(frame)
    cache(end=3)
    assert asked == [frame] * is_kept
    scene = reopened(tmp_path)
    assert asked == [frame] * 2 * is_kept and scene.frame_current == frame
    if is_kept:
        assert shown().has_kept
        preview_guard.stop()


@pytest.mark.slow
def test_it_goes_on_from_the_end_of_the_cache(tmp_path):
    world()
    bpy.context.scene.usdphys.preview.with_timeline = True
    preview_guard.start(bpy.context, with_timeline=True)
    expected = simulated(range(1, LAST + 1))[-5:]
    preview_guard.stop()
    cache(1, 12)
    reopened(tmp_path)
    bpy.context.scene.frame_set(12)
    leader = shown()
    found = places(range(13, LAST + 1))[-5:]
    assert not leader.has_kept and leader.kept == list(range(1, LAST + 1))
    # It is in single precision, and contacts begin anew.
    assert found[..., :3, 3] == pytest.approx(expected[..., :3, 3], abs=0.03)
    preview_guard.stop()


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["mass", "place", "mesh", "quality", "gravity", "animation"])
def test_a_cache_of_other_physics_is_stale_and_not_shown(edit, tmp_path):
    world()
    cache()
    scene = reopened(tmp_path)
    crate = bpy.data.objects["Crate"]
    if edit == "mass":
        crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, 3.0
    elif edit == "place":
        crate.location.z += 1e-4
    elif edit == "mesh":
        crate.data.vertices[0].co *= 1.2
    elif edit == "gravity":
        scene.gravity[2] = -9.7
    elif edit == "quality":
        scene.usdphys.preview.quality = "exact"
    else:
        strip = bpy.data.objects["Pusher"].animation_data.action.layers[0].strips[0]
        for key in strip.channelbags[0].fcurves[0].keyframe_points:
            key.co.y *= 2.0
    scene.frame_set(20)
    bpy.context.view_layer.update()
    refused()
    assert kept_frames.is_stale(scene) and kept_frames.about(scene) is not None
    assert not played().has_kept
    preview_guard.stop()
    cache()
    assert not kept_frames.is_stale(scene)


@pytest.mark.slow
def test_an_edit_while_a_cache_is_shown_makes_it_stale_and_goes_on_from_the_frame(tmp_path):
    world()
    cache()
    scene = reopened(tmp_path)
    scene.frame_set(10)
    leader = shown()
    before = places([10])
    bpy.data.objects["Floor"].location.z -= 1.0
    bpy.context.view_layer.update()
    scene.frame_set(11)
    assert not leader.has_kept and kept_frames.is_stale(scene) and leader.edited
    after = places([11])
    assert np.abs(after - before).max() < 0.5
    preview_guard.stop()


def test_a_cache_is_deleted_with_its_markers_and_the_file_is_small_again(tmp_path):
    world()
    scene = bpy.context.scene
    scene.usdphys.preview.marks_contacts = True
    scene.timeline_markers.new("Mine", frame=3)
    cache()
    names = [marker.name for marker in scene.timeline_markers]
    assert "Crate hits Floor" in names and "Mine" in names
    assert bpy.ops.usdphys.preview_delete_cache() == {"FINISHED"}
    assert kept_frames.about(scene) is None and kept_frames.load(scene) is None
    assert [marker.name for marker in scene.timeline_markers] == ["Mine"]
    assert bpy.ops.usdphys.preview_delete_cache() == {"CANCELLED"}


@pytest.mark.slow
@pytest.mark.parametrize("is_reopened", [False, True])
def test_a_joint_is_marked_as_broken_from_the_frame_on_in_which_it_broke(is_reopened, tmp_path):
    """In frames that were simulated before and in a cache, at the place that the body has in the frame."""
    crate = scenes.solid("Crate", shape="AUTO", location=(0, 0, 50.0))
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, 1.0
    pusher = scenes.solid("Pusher", shape="AUTO", location=(0, 0, 20.0))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    for frame, z in ((1, 20.0), (LAST, 49.5)):
        pusher.location.z = z
        pusher.keyframe_insert("location", frame=frame)
    scenes.add_joint("Thread", "FIXED", crate, None, location=(0, 0, 50)).usdphys.joint.break_force = 20.0
    bpy.context.view_layer.update()
    if is_reopened:
        cache()
        reopened(tmp_path)
        leader = shown()
        assert leader.has_kept
    else:
        preview_guard.start(bpy.context, with_timeline=True)
        leader = preview_guard.timeline()
    found = {}
    for frame in (*range(1, LAST + 1), 3, LAST, 5):
        bpy.context.scene.frame_set(frame)
        marked = leader.session.broken_places
        found.setdefault(frame, []).append(len(marked))
        if marked:
            place = bpy.data.objects["Crate"].matrix_world.translation
            assert marked[0].place == pytest.approx(tuple(place), abs=1e-3)
    first = min(frame for frame, counts in found.items() if counts[0])
    assert 5 < first < LAST
    assert all(set(counts) == {int(frame >= first)} for frame, counts in found.items())
    preview_guard.stop()


@pytest.mark.slow
def test_the_breaks_of_a_cache_are_listed_and_a_click_goes_to_their_frame(tmp_path):
    """Joints that break in the same frame are one row. An edit, after which frames are simulated anew, drops them."""
    for number in range(3):
        crate = scenes.solid(f"Crate {number}", shape="AUTO", location=(3.0 * number, 0, 50.0))
        crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, 1.0
        pusher = scenes.solid(f"Pusher {number}", shape="AUTO", location=(3.0 * number, 0, 20.0))
        pusher.usdphys.rigid_body.kinematic_enabled = True
        for frame, z in ((1, 20.0), (LAST if number else LAST // 2, 49.5)):
            pusher.location.z = z
            pusher.keyframe_insert("location", frame=frame)
        thread = scenes.add_joint(f"Thread {number}", "FIXED", crate, None, location=(3.0 * number, 0, 50))
        thread.usdphys.joint.break_force = 20.0
    bpy.context.view_layer.update()
    cache()
    scene = reopened(tmp_path)
    leader = shown()
    rows = drawn("preview_state", "VIEW_3D").buttons("usdphys.go_to_frame")
    assert [row.text.partition(": ")[2] for row in rows] == ["Thread 0 breaks", "2 joints break"]
    frames = [row.values["frame"] for row in rows]
    assert 1 < frames[0] <= LAST // 2 < frames[1] <= LAST
    assert [row.text.partition(": ")[0] for row in rows] == [f"Frame {frame}" for frame in frames]
    assert frames == [marker.frame for marker in scene.timeline_markers]
    for row, frame, broken in zip(rows, frames, (1, 3), strict=True):
        row.press()
        assert scene.frame_current == frame and len(leader.session.broken_joints) == broken
    scene.frame_set(3)
    bpy.data.objects["Crate 2"].usdphys.mass.mass = 2.0
    bpy.context.view_layer.update()
    scene.frame_set(4)
    assert not leader.has_kept and not drawn("preview_state", "VIEW_3D").buttons("usdphys.go_to_frame")
    preview_guard.stop()


@pytest.mark.slow
def test_a_damaged_cache_is_none(tmp_path):
    world()
    cache()
    preview = bpy.context.scene.usdphys.preview
    data = preview["kept_frames"]
    del preview["kept_frames"]
    preview["kept_frames"] = data[: len(data) // 2]
    assert kept_frames.load(bpy.context.scene) is None
    refused()


@pytest.mark.slow
def test_a_bake_takes_the_frames_of_the_cache(monkeypatch):
    world()
    bake.bake(bpy.context, 1, LAST)
    expected = places(range(1, LAST + 1))
    bake.clear_bake(bpy.context.scene)
    cache()
    steps = counted(monkeypatch)
    bake.bake(bpy.context, 1, LAST)
    assert steps == []
    assert places(range(1, LAST + 1))[:12] == pytest.approx(expected[:12], abs=0.02)
    bake.clear_bake(bpy.context.scene)


def test_an_empty_range_is_refused():
    world()
    with pytest.raises(InputError, match="empty"):
        next(caching.cache_steps(bpy.context, 5, 5))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["simulated", "cached", "baked"])
def test_alembic_has_the_motion_when_it_is_imported_again(source, tmp_path):
    if not bpy.app.build_options.alembic:
        pytest.skip("this Blender has no Alembic")
    world()
    frames = range(1, LAST + 1)
    bpy.context.scene.usdphys.preview.with_timeline = True
    cache()
    shown()
    expected = places(frames)
    preview_guard.stop()
    bpy.context.scene.frame_set(1)
    if source == "simulated":
        caching.drop(bpy.context.scene)
    elif source == "baked":
        bake.bake(bpy.context, 1, LAST)
    keyed = bake.baked(bpy.context.scene)
    target = tmp_path / "motion.abc"
    assert bpy.ops.usdphys.export_alembic(filepath=str(target)) == {"FINISHED"}
    assert bake.baked(bpy.context.scene) == keyed and target.stat().st_size > 1000
    crate = bpy.data.objects["Crate"]
    assert crate.animation_data is None or source == "baked"
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = FPS
    bpy.ops.wm.alembic_import(filepath=str(target), as_background_job=False)
    found = places(frames)
    assert np.ptp(found[:, 0, 2, 3]) > 1.0
    assert found == pytest.approx(expected, abs=0.1 if source == "simulated" else 1e-4)


def test_an_export_that_is_closed_leaves_no_keys_and_no_file(tmp_path):
    world()
    target = tmp_path / "motion.abc"
    steps = alembic.export_steps(bpy.context, target, 1, LAST)
    for _ in range(5):
        next(steps)
    steps.close()
    assert not target.exists() and bake.baked(bpy.context.scene) == []
