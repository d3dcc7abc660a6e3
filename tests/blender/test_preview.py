# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview in Blender: objects follow the world, and are put back bit for bit whatever happens."""

import itertools
import math

import bpy
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback.session import CATCH_UP, FAST_BUDGET, SlowStepError

from . import scenes


def crate(name="Crate", location=(0.0, 0.0, 5.0), **changes):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    for key, value in changes.items():
        setattr(obj, key, value)
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def run(session, seconds):
    for _ in range(round(seconds / session.world.time_step)):
        session.step_once(bpy.context)


def raw():
    """Every transform property of every object, to the last bit."""
    names = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
    return {
        obj.name: (obj.rotation_mode, *(tuple(getattr(obj, name)) for name in names),
                   tuple(item.mute for item in obj.constraints))
        for obj in bpy.data.objects
    }  # fmt: skip


def fallen(seconds):
    return 0.5 * 9.81 * seconds**2


def test_a_body_whose_mesh_is_edited_meanwhile_keeps_its_collider():
    """It had no faces in Edit Mode: that was named as a mistake, and the body fell through the floor."""
    scenes.make_collider(scenes.add_box("Floor", (9, 9, 1), location=(0, 0, -1)), "AUTO")
    body = crate(location=(0, 0, 0.6))
    body.usdphys.colliders[0].shape = "AUTO"
    session = preview_guard.start(bpy.context)
    run(session, 0.02)
    scenes.select(body)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.gravity = (0.0, 0.0, -5.0)
    session.note_updates(bpy.context.evaluated_depsgraph_get())
    assert session.take_edits(bpy.context)
    run(session, 1.0)
    assert not session.notices and session.world.positions[0, 2] == pytest.approx(0.5, abs=0.01)
    bpy.ops.object.mode_set(mode="OBJECT")
    session.take_edits(bpy.context)
    run(session, 0.1)
    assert not session.notices and session.world.positions[0, 2] == pytest.approx(0.5, abs=0.01)


def test_a_scene_is_read_again_after_an_edit_and_not_without():
    crate()
    session = preview_guard.start(bpy.context)
    run(session, 0.1)
    for changed in (False, True, False):
        if changed:
            bpy.context.scene.gravity = (0.0, 0.0, -1.0)
        assert session.has_edits is changed and session.take_edits(bpy.context) is changed


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_a_crate_falls_as_it_must(scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    obj = crate(location=(1.0, 2.0, 5.0 / scale_length), scale=(1 / scale_length,) * 3)
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    assert (5.0 / scale_length - obj.matrix_world.translation.z) * scale_length == pytest.approx(fallen(0.5), rel=0.02)
    assert obj.location.x == pytest.approx(1.0) and obj.location.y == pytest.approx(2.0)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE"])
def test_stop_puts_everything_back_to_the_bit(mode):
    obj = crate(rotation_mode=mode)
    obj.rotation_euler = (0.1, 0.7, -2.0)
    obj.rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    obj.rotation_axis_angle = (0.4, 0.0, 1.0, 1.0)
    obj.scale = (1.0, 2.0, 0.5)
    crate("Floor", (0, 0, 0)).usdphys.rigid_body.is_applied = False
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 1.0)
    assert raw() != before
    session.reset(bpy.context)
    assert tuple(obj.location) == pytest.approx(before["Crate"][1], abs=1e-6)
    run(session, 0.3)
    preview_guard.stop()
    assert raw() == before
    assert not bpy.context.scene.usdphys.preview.is_running


def test_world_pose_is_right_below_parents_deltas_and_scale():
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (3, 1, 4), (0.5, 0.2, 1.0), (2, 2, 2)
    obj = crate(location=(1, 0, 2), rotation_euler=(0.3, 0.1, 0.2), scale=(1.0, 0.5, 2.0))
    obj.parent = parent
    obj.delta_location, obj.delta_scale = (0.5, 0, 0), (1.0, 2.0, 1.0)
    obj.delta_rotation_euler = (0.0, 0.3, 0.0)
    bpy.context.view_layer.update()
    before = obj.matrix_world.copy()
    session = preview_guard.start(bpy.context)
    session.step_once(bpy.context)
    run(session, 0.5 - session.world.time_step)
    after = obj.matrix_world
    assert before.translation.z - after.translation.z == pytest.approx(fallen(0.5), rel=0.02)
    for row in range(3):
        for column in range(3):
            assert after[row][column] == pytest.approx(before[row][column], abs=1e-4)


def test_a_body_below_a_body_and_what_is_below_follow():
    top = crate("Top", (0, 0, 10))
    below = crate("Below", (3, 0, 0))
    below.parent = top
    flag = bpy.data.objects.new("Flag", None)
    bpy.context.scene.collection.objects.link(flag)
    flag.parent, flag.location = below, (0, 0, 1)
    top.usdphys.rigid_body.angular_velocity = (0, 0, 1)
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    assert below.matrix_world.translation.x == pytest.approx(3.0, abs=1e-3)
    assert below.matrix_world.translation.z == pytest.approx(10 - fallen(0.5), rel=0.01)
    assert flag.matrix_world.translation.z == pytest.approx(11 - fallen(0.5), rel=0.01)
    assert top.matrix_world.to_euler().z == pytest.approx(0.5, rel=0.02)


@pytest.mark.slow
def test_many_bodies_are_written_at_once_and_right():
    objects = [crate(f"Crate {index}", (3.0 * index, 0, 5)) for index in range(80)]
    bystander = bpy.data.objects.new("A first", None)
    bpy.context.scene.collection.objects.link(bystander)
    bystander.location = (7, 8, 9)
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    for index, obj in enumerate(objects):
        assert obj.matrix_world.translation.x == pytest.approx(3.0 * index, abs=1e-3)
        assert obj.matrix_world.translation.z == pytest.approx(5 - fallen(0.5), rel=0.01)
    assert tuple(bystander.location) == (7, 8, 9)
    later = bpy.data.objects.new("A second", None)
    bpy.context.scene.collection.objects.link(later)
    bpy.data.objects.remove(objects[3])
    run(session, 0.1)
    assert objects[4].matrix_world.translation.z == pytest.approx(5 - fallen(0.6), rel=0.01)
    assert tuple(later.location) == (0, 0, 0)


def test_constraints_rest_while_it_plays():
    obj = crate()
    constraint = obj.constraints.new("LIMIT_LOCATION")
    constraint.use_min_z, constraint.min_z = True, 4.9
    muted = obj.constraints.new("LIMIT_ROTATION")
    muted.mute = True
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    assert obj.matrix_world.translation.z == pytest.approx(5 - fallen(0.5), rel=0.02)
    preview_guard.stop()
    assert raw() == before


@pytest.mark.slow
def test_a_kinematic_body_pushes_by_the_way_its_object_goes():
    pusher = crate("Pusher", (0, 0, 0))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    rider = crate("Rider", (0, 0, 1.0))
    rider.usdphys.rigid_body.is_applied = True
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    for step in range(60):
        pusher.location.x = 0.5 * (step + 1) / 60
        bpy.context.view_layer.update()
        session.step_once(bpy.context)
    assert rider.matrix_world.translation.x == pytest.approx(0.5, abs=0.1)
    assert rider.matrix_world.translation.z == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_a_keyed_kinematic_body_pushes_while_the_timeline_plays():
    """1 m/s by the keys, without friction or loss: the rider takes that speed, not that of a jump per frame."""
    scene = bpy.context.scene
    scene.render.fps, scene.use_gravity = 20, False
    pusher = crate("Pusher", (0, 0, 0))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    for frame, x in ((1, 0.0), (41, 2.0)):
        pusher.location.x = x
        pusher.keyframe_insert("location", frame=frame)
        curves = pusher.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
        for key in (point for curve in curves for point in curve.keyframe_points):
            key.interpolation = "LINEAR"
    pushed = crate("Pushed", (1.5, 0, 0))
    scene.frame_set(1)
    before = raw()
    session = preview_guard.start(bpy.context)
    world = session.world
    places = []
    for frame in range(1, 45):
        scene.frame_set(frame)
        run(session, 1 / 20)
        places.append(pushed.matrix_world.translation.x)
    assert session.world is world
    assert pusher.matrix_world.translation.x == pytest.approx(2.0)
    # It is met after half a second, and leaves the pusher at most as fast as a blow without loss would make it.
    speeds = [(late - early) * 20 for early, late in itertools.pairwise(places)]
    assert max(speeds[:9]) == pytest.approx(0.0, abs=1e-3)
    assert 0.9 < speeds[-1] < 1.3 and max(speeds) < 1.4
    preview_guard.stop()
    scene.frame_set(1)
    assert raw() == before


# --------------------------------------------------------------------------- by the clock


def redraws(session, clock, number, seconds):
    """Steps of each of as many redraws that come so many seconds after each other."""
    made = []
    for _ in range(number):
        clock.advance(seconds)
        made.append(session.advance(bpy.context))
    return made


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 60), (0.5, 30)])
def test_a_second_of_redraws_simulates_a_second_times_the_speed(clock, speed, expected):
    crate()
    bpy.context.scene.usdphys.preview.speed = speed
    bpy.context.scene.usdphys.preview.frequency = 60
    session = preview_guard.start(bpy.context)
    session.play()
    made = redraws(session, clock, 24, 1 / 24)
    assert sum(made) in (expected - 1, expected) and session.world.frame == sum(made)
    assert max(made) - min(made) <= 1
    assert session.world.time == pytest.approx(speed, abs=1.01 / 60)
    assert session.real_time_factor == pytest.approx(speed * (1 - 0.9**24), rel=0.15)


def test_a_slow_redraw_slows_the_preview_and_does_not_hang_it(clock):
    crate()
    session = preview_guard.start(bpy.context)
    session.play()
    assert redraws(session, clock, 3, 10.0) == [CATCH_UP] * 3
    assert session.real_time_factor < 0.05


@pytest.mark.usefixtures("slow_steps")
def test_a_time_step_that_takes_seconds_ends_the_play_and_names_a_body(clock):
    for name in ("Low", "High"):
        crate(name)
    session = preview_guard.start(bpy.context)
    session.play()
    session.play_on(bpy.context)
    clock.per_look = 2.0
    with pytest.raises(SlowStepError, match=r"took \d\.\d s.* those of '(Low|High)': the preview was stopped"):
        session.play_on(bpy.context)
    clock.per_look = 0.0


@pytest.mark.usefixtures("slow_steps")
def test_a_time_step_that_waits_for_other_programs_ends_nothing(clock):
    """Where the processor is busy with something else, no collider is too complex."""
    crate()
    session = preview_guard.start(bpy.context)
    session.play()
    clock.per_look, clock.share = 2.0, 0.01
    session.play_on(bpy.context)
    clock.per_look = 0.0
    assert session.world.step_milliseconds > 1000.0 and session.world.frame == 1


def test_a_pause_is_not_made_up_for(clock):
    crate()
    session = preview_guard.start(bpy.context)
    clock.advance(10.0)
    session.play()
    assert redraws(session, clock, 1, 0.001) == [0]
    session.pause()
    assert redraws(session, clock, 2, 10.0) == [0, 0]
    session.play()
    assert redraws(session, clock, 1, 0.001) == [0] and session.world.frame == 0


@pytest.mark.parametrize("looks", [10, 30])
def test_as_fast_as_it_can_simulates_until_a_redraw_is_due(clock, looks):
    crate()
    bpy.context.scene.usdphys.preview.is_fast = True
    session = preview_guard.start(bpy.context)
    session.play()
    # Of each step, the solver reads the clock twice, and the loop once.
    clock.per_look = FAST_BUDGET / looks
    (made,) = redraws(session, clock, 1, 1.0)
    assert made in (looks // 3, looks // 3 + 1) and session.world.frame == made


# --------------------------------------------------------------------------- edits while it plays


def test_live_edits_take_effect_without_a_restart():
    obj = crate()
    item = bpy.context.scene.usdphys.physics_scenes.add()
    item.name = "Moon"
    session = preview_guard.start(bpy.context)
    world = session.world
    run(session, 0.25)
    bpy.context.scene.usdphys.physics_scenes[0].gravity_magnitude = 0.0
    bpy.context.view_layer.update()
    run(session, 0.5)
    assert session.world is world
    # It goes on with the speed that it had.
    assert 5 - obj.matrix_world.translation.z == pytest.approx(fallen(0.25) + 9.81 * 0.25 * 0.5, rel=0.05)


def test_gravity_of_blenders_scene_is_live():
    obj = crate()
    session = preview_guard.start(bpy.context)
    bpy.context.scene.use_gravity = False
    run(session, 0.5)
    assert obj.matrix_world.translation.z == pytest.approx(5.0, abs=0.01)


def test_a_change_of_structure_reads_and_builds_once(monkeypatch):
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.simulation.world import World

    obj = crate()
    resting = crate("Resting", (9, 0, 1.3))
    crate("Floor", (9, 0, 0), scale=(4, 4, 1)).usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    # It lies still and is not asleep yet.
    run(session, 0.6)
    height, model = obj.matrix_world.translation.z, session.model
    calls = []
    read, build = scene_read.read_scene, World.steps
    monkeypatch.setattr(scene_read, "read_scene", lambda *args, **more: calls.append("read") or read(*args, **more))
    monkeypatch.setattr(World, "steps", lambda *args, **more: calls.append("build") or build(*args, **more))
    crate("Late", (5, 0, 5))
    bpy.context.view_layer.update()
    session.step_once(bpy.context)
    assert calls == ["read", "build"]
    assert height - 0.3 < obj.matrix_world.translation.z < height
    assert resting.matrix_world.translation.z == pytest.approx(1.0, abs=0.02)
    # What goes on is no edit of the scene.
    assert session.model is not model
    world = session.world
    obj.update_tag()
    bpy.context.view_layer.update()
    session.step_once(bpy.context)
    assert session.world is world


def test_reset_after_a_change_of_structure_is_the_start():
    obj = crate()
    session = preview_guard.start(bpy.context)
    run(session, 0.3)
    crate("Late", (5, 0, 5))
    bpy.context.view_layer.update()
    run(session, 0.3)
    session.reset(bpy.context)
    assert obj.matrix_world.translation.z == pytest.approx(5.0, abs=1e-5)


def test_a_new_body_joins_and_the_others_go_on():
    obj = crate(rotation_euler=(0.1, 0.2, 0.3))
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    height = obj.matrix_world.translation.z
    late = crate("Late", (5, 0, 5))
    bpy.context.view_layer.update()
    run(session, 0.5)
    assert 5 - obj.matrix_world.translation.z == pytest.approx(fallen(1.0), rel=0.03)
    assert obj.matrix_world.translation.z < height
    assert 5 - late.matrix_world.translation.z == pytest.approx(fallen(0.5), rel=0.05)
    preview_guard.stop()
    assert raw()["Crate"] == before["Crate"]
    assert tuple(late.location) == (5, 0, 5)


def test_a_static_collider_can_be_moved_while_it_plays():
    obj = crate()
    floor = crate("Floor", (50, 0, 0), scale=(4, 4, 1))
    floor.usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    run(session, 0.2)
    floor.location = (0, 0, 2)
    bpy.context.view_layer.update()
    run(session, 1.5)
    assert obj.matrix_world.translation.z == pytest.approx(3.0, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Crate", "Floor"])
def test_an_object_that_is_scaled_while_it_plays_collides_in_its_new_size(name):
    """A crate of 1 m falls on a floor whose top is at 0.5 m, and one of them is scaled."""
    falls = crate()
    floor = crate("Floor", (0, 0, 0), scale=(4, 4, 1))
    floor.usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    run(session, 0.1)
    scaled = bpy.data.objects[name]
    scaled.scale.z = 1.5
    bpy.context.view_layer.update()
    run(session, 1.5)
    assert falls.matrix_world.translation.z == pytest.approx(1.25, abs=0.02)
    preview_guard.stop()
    assert scaled.scale.z == 1.5


def edit_mesh(obj, change):
    """Change the vertices of an object in Edit Mode, as tools do there, and leave it."""
    import bmesh

    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(obj.data)
    for vertex in mesh.verts:
        change(vertex)
    bmesh.update_edit_mesh(obj.data)
    bpy.context.view_layer.update()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()


def test_a_mesh_that_is_edited_while_it_plays_collides_in_its_new_shape():
    """A crate of 1 m falls on a floor whose top is at 0.5 m, and then at 1.5 m."""
    falls = crate()
    floor = crate("Floor", (0, 0, 0), scale=(4, 4, 1))
    floor.usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    run(session, 0.1)

    def raise_top(vertex):
        vertex.co.z += vertex.co.z > 0.0

    edit_mesh(floor, raise_top)
    run(session, 1.5)
    assert falls.matrix_world.translation.z == pytest.approx(2.0, abs=0.02)


def test_a_body_that_is_turned_or_whose_scale_is_animated_does_not_begin_anew():
    obj = crate()
    floor = crate("Floor", (0, 0, 0), scale=(4, 4, 1))
    floor.usdphys.rigid_body.is_applied = False
    floor.keyframe_insert("scale", frame=1)
    session = preview_guard.start(bpy.context)
    world = session.world
    run(session, 0.1)
    obj.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    floor.scale.z = 1.1
    bpy.context.view_layer.update()
    run(session, 0.1)
    assert session.world is world


def hung():
    """An animated beam with a weight on a ball joint."""
    beam = crate("Beam", (0, 0, 5), scale=(0.2, 0.2, 0.2))
    beam.usdphys.rigid_body.kinematic_enabled = True
    weight = crate("Weight", (0, 0, 4), scale=(0.2, 0.2, 0.2))
    pivot = bpy.data.objects.new("Pivot", None)
    bpy.context.scene.collection.objects.link(pivot)
    pivot.location = (0, 0, 5)
    joint = pivot.usdphys.joint
    joint.is_applied, joint.type, joint.body0, joint.body1 = True, "SPHERICAL", beam, weight
    bpy.context.view_layer.update()
    return beam, weight


@pytest.mark.slow
def test_a_joint_follows_the_kinematic_body_that_it_hangs_on():
    beam, weight = hung()
    session = preview_guard.start(bpy.context)
    world = session.world
    for step in range(120):
        beam.location.x = 2.0 * min(1.0, step / 100)
        bpy.context.view_layer.update()
        session.step_once(bpy.context)
    run(session, 1.0)
    assert session.world is world
    apart = weight.matrix_world.translation - beam.matrix_world.translation
    assert apart.length == pytest.approx(1.0, abs=0.02)
    assert weight.matrix_world.translation.x == pytest.approx(2.0, abs=0.9)


@pytest.mark.slow
def test_bake_follows_animation():
    from usdphys_ext.usdphys_addon.playback import bake

    beam, weight = hung()
    scene = bpy.context.scene
    for frame, x in ((1, 0.0), (60, 3.0)):
        beam.location.x = x
        beam.keyframe_insert("location", frame=frame)
    assert bake.bake(bpy.context, 1, 72) == 1
    scene.frame_set(72)
    apart = weight.matrix_world.translation - beam.matrix_world.translation
    assert apart.length == pytest.approx(1.0, abs=0.03)
    assert beam.matrix_world.translation.x == pytest.approx(3.0)


def test_friction_mass_and_drives_change_while_it_plays():
    obj = crate(location=(0, 0, 1.0))
    floor = crate("Floor", (0, 0, 0), scale=(50, 50, 1))
    floor.usdphys.rigid_body.is_applied = False
    ice = bpy.data.materials.new("Ice")
    ice.usdphys.physics_material.is_applied = True
    ice.usdphys.physics_material.dynamic_friction = ice.usdphys.physics_material.static_friction = 0.0
    for one in (obj, floor):
        one.usdphys.physics_material = ice
    obj.usdphys.rigid_body.velocity = (3, 0, 0)
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 2.0
    session = preview_guard.start(bpy.context)
    world = session.world
    run(session, 0.5)
    assert obj.location.x == pytest.approx(1.5, rel=0.05)
    ice.usdphys.physics_material.dynamic_friction = 1.0
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    run(session, 1.0)
    assert session.world is world
    # From 3 m/s at 9.81 m/s2 it stops within 0.46 m.
    assert obj.location.x == pytest.approx(1.5 + 9.0 / (2 * 9.81), abs=0.1)


def test_saved_file_holds_the_authored_poses(tmp_path):
    obj = crate(rotation_euler=(0.1, 0.2, 0.3))
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    shown = raw()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert raw() == shown and obj.matrix_world.translation.z < 4.0
    assert bpy.context.scene.usdphys.preview.is_running
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert preview_guard.current() is None
    assert raw() == before
    assert not bpy.context.scene.usdphys.preview.is_running


def test_nothing_that_moves_is_said():
    crate().usdphys.rigid_body.kinematic_enabled = True
    with pytest.raises(InputError, match="No rigid body"):
        preview_guard.start(bpy.context)
    assert preview_guard.current() is None


def test_deleted_object_is_no_harm():
    crate("Stays", (4, 0, 5))
    obj = crate()
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.2)
    bpy.data.objects.remove(obj)
    run(session, 0.3)
    preview_guard.stop()
    assert raw()["Stays"] == before["Stays"]


def test_a_body_is_out_of_the_simulation_that_is_deleted_between_two_steps():
    """Blender evaluates that together with the poses: in a slow window the body went on, unseen, with its outline."""
    crate("Stays", (4, 0, 5))
    obj = crate()
    session = preview_guard.start(bpy.context)
    session.step_once(bpy.context)
    assert len(session.model.bodies) == 2
    bpy.data.objects.remove(obj)
    session.step_once(bpy.context)
    session.step_once(bpy.context)
    assert list(session.model.bodies) == ["/root/Stays"]
    session.step_once(bpy.context)
    assert not session.has_edits
    preview_guard.stop()


def mass_of(session, name):
    return session.model.prims[f"/root/{name}"].get(usd_physics.MassAPI).mass


@pytest.mark.parametrize("steps", [1, 2])
def test_values_that_are_edited_between_two_steps_are_simulated(steps):
    """Also the last of a slider that is dragged: in a slow window Blender evaluates each together with the poses."""
    obj = crate()
    crate("Other", (4, 0, 5))
    obj.usdphys.mass.mass = 10.0
    session = preview_guard.start(bpy.context)
    for value in (None, 20.0, 30.0, 40.0, None):
        if value is not None:
            obj.usdphys.mass.mass = value
        for _ in range(steps):
            session.step_once(bpy.context)
    session.step_once(bpy.context)
    session.step_once(bpy.context)
    assert mass_of(session, "Crate") == 40.0
    session.step_once(bpy.context)
    assert not session.has_edits
    preview_guard.stop()


def test_a_floor_that_is_moved_between_two_steps_is_moved_in_the_simulation():
    crate(location=(0, 0, 5))
    floor = crate("Floor", (0, 0, 0))
    floor.usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    for z in (0.0, -1.0, -2.0):
        floor.location.z = z
        session.step_once(bpy.context)
    run(session, 3.0)
    assert bpy.data.objects["Crate"].matrix_world.translation.z == pytest.approx(-1.0, abs=0.01)
    preview_guard.stop()


@pytest.mark.parametrize("follower", ["child", "constraint", "modifier"])
def test_what_follows_a_body_is_no_edit(follower):
    obj = crate()
    other = bpy.data.objects.new("Follower", obj.data.copy())
    bpy.context.scene.collection.objects.link(other)
    if follower == "child":
        other.parent = obj
    elif follower == "constraint":
        other.constraints.new("COPY_LOCATION").target = obj
    else:
        other.modifiers.new("Hook", "HOOK").object = obj
    session = preview_guard.start(bpy.context)
    for _ in range(4):
        session.step_once(bpy.context)
        assert not session.has_edits
    obj.usdphys.mass.mass = 33.0
    session.step_once(bpy.context)
    assert session.has_edits and session.take_edits(bpy.context)
    assert mass_of(session, "Crate") == 33.0
    preview_guard.stop()


@pytest.mark.slow
def test_pendulum_swings_in_its_period():
    bob = crate("Bob", (0.05, 0, -2.0), scale=(0.1, 0.1, 0.1))
    pivot = bpy.data.objects.new("Pivot", None)
    bpy.context.scene.collection.objects.link(pivot)
    pivot.usdphys.joint.is_applied = True
    pivot.usdphys.joint.type = "REVOLUTE"
    pivot.usdphys.joint.axis = "Y"
    pivot.usdphys.joint.body0 = bob
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    places, crossings = [], []
    for step in range(600):
        session.step_once(bpy.context)
        places.append(bob.matrix_world.translation.x)
        if len(places) > 1 and places[-2] > 0 >= places[-1]:
            crossings.append(step * session.world.time_step)
    periods = [late - early for early, late in itertools.pairwise(crossings)]
    assert sum(periods) / len(periods) == pytest.approx(2 * math.pi * math.sqrt(2.0 / 9.81), rel=0.02)


@pytest.mark.slow
def test_applied_pose_is_kept_in_the_mode_that_was(tmp_path):
    obj = crate(rotation_mode="ZYX", rotation_euler=(0.1, 0.2, 7.0))
    crate("Floor", (0, 0, 0), scale=(10, 10, 1)).usdphys.rigid_body.is_applied = False
    session = preview_guard.start(bpy.context)
    run(session, 3.0)
    shown = obj.matrix_world.copy()
    preview_guard.forget().apply(bpy.context)
    bpy.context.view_layer.update()
    assert obj.rotation_mode == "ZYX" and abs(obj.rotation_euler.z - 7.0) < 1.0
    assert obj.matrix_world.translation.z == pytest.approx(1.0, abs=0.02)
    for row in range(3):
        assert tuple(obj.matrix_world[row]) == pytest.approx(tuple(shown[row]), abs=1e-5)


def test_applied_pose_keeps_the_frames_of_joints():
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.core import frames

    arm = crate("Arm", (1.0, 0, 2.0), scale=(2.0, 0.2, 0.2))
    hand = crate("Hand", (3.0, 0, 2.0), scale=(2.0, 0.2, 0.2))
    for name, place, one, other in (("Root", (0, 0, 2), None, arm), ("Elbow", (2, 0, 2), arm, hand)):
        pivot = bpy.data.objects.new(name, None)
        bpy.context.scene.collection.objects.link(pivot)
        pivot.location = place
        joint = pivot.usdphys.joint
        joint.is_applied, joint.type, joint.axis, joint.body0, joint.body1 = True, "REVOLUTE", "Y", one, other

    def facts():
        bpy.context.view_layer.update()
        model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
        joints = [prim.get(usd_physics.Joint) for prim in model.joints.values()]
        return [
            (joint.resolved(f"local_pos{side}"), frames.matrix_of(joint.resolved(f"local_rot{side}")).ravel())
            for joint in joints
            for side in (0, 1)
        ]

    before = facts()
    session = preview_guard.start(bpy.context)
    run(session, 0.7)
    assert arm.matrix_world.translation.z < 1.8
    preview_guard.forget().apply(bpy.context)
    for (old_place, old_turn), (place, turn) in zip(before, facts(), strict=True):
        assert place == pytest.approx(old_place, abs=2e-3)
        assert turn == pytest.approx(old_turn, abs=2e-3)


def test_bake_keys_every_frame_and_clear_takes_it_back():
    from usdphys_ext.usdphys_addon.playback import bake

    obj = crate(rotation_euler=(0.3, 0.2, 0.1))
    scene = bpy.context.scene
    scene.render.fps = 30
    scene.frame_set(1)
    before = raw()
    assert bake.bake(bpy.context, 1, 31) == 1
    assert bake.baked(scene) == ["Crate"]
    scene.frame_set(31)
    assert 5 - obj.matrix_world.translation.z == pytest.approx(fallen(1.0), rel=0.02)
    scene.frame_set(16)
    assert obj.matrix_world.translation.z == pytest.approx(5 - fallen(0.5), rel=0.02)
    scene.frame_set(1)
    assert tuple(obj.matrix_world.translation) == pytest.approx((0, 0, 5), abs=1e-5)
    assert bake.clear_bake(scene) == 1
    assert raw() == before and not bpy.data.actions


def test_a_bake_that_is_cleared_while_it_plays_leaves_the_authored_poses():
    obj = crate(rotation_euler=(0.3, 0.2, 0.1))
    scene = bpy.context.scene
    scene.frame_set(1)
    before = raw()
    assert bpy.ops.usdphys.preview_bake(use_scene_range=False, frame_start=1, frame_end=5) == {"FINISHED"}
    run(preview_guard.start(bpy.context), 0.5)
    assert obj.matrix_world.translation.z < 4.5
    assert bpy.ops.usdphys.preview_clear_bake() == {"FINISHED"}
    if (session := preview_guard.current()) is not None:
        run(session, 0.2)
    preview_guard.stop()
    assert raw() == before and not bpy.data.actions


def arm():
    """Two links of 2 m along X on hinges about Y, at (0, 0, 2) and (2, 0, 2); the second one cannot bend far."""
    links = [crate(name, (x, 0, 2.0), scale=(2.0, 0.2, 0.2)) for name, x in (("Upper", 1.0), ("Lower", 3.0))]
    for name, place, one, other in (("Shoulder", 0, None, links[0]), ("Elbow", 2, links[0], links[1])):
        pivot = bpy.data.objects.new(name, None)
        bpy.context.scene.collection.objects.link(pivot)
        pivot.location = (place, 0, 2)
        joint = pivot.usdphys.joint
        joint.is_applied, joint.type, joint.axis, joint.body0, joint.body1 = True, "REVOLUTE", "Y", one, other
    joint.revolute.lower_limit, joint.revolute.upper_limit = -1.0, 1.0
    bpy.context.view_layer.update()
    return links


@pytest.mark.slow
@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_joints_are_posed_shown_and_reset_to_the_bit(scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    upper, lower = arm()
    slider = crate("Slider", (0, 9, 2), scale=(0.2, 0.2, 0.2))
    rail = bpy.data.objects.new("Rail", None)
    bpy.context.scene.collection.objects.link(rail)
    rail.location = (0, 9, 2)
    joint = rail.usdphys.joint
    joint.is_applied, joint.type, joint.axis, joint.body1 = True, "PRISMATIC", "X", slider
    bpy.context.view_layer.update()
    before = raw()
    session = preview_guard.start(bpy.context)
    paths = {session.model.prims[path].label: path for path in session.joint_positions()}
    session.set_joint(paths["Shoulder"], "angular", 0.5, physics=False)
    session.set_joint(paths["Elbow"], "angular", 9.0, physics=False)
    session.set_joint(paths["Rail"], "linear", 3.0, physics=False)
    assert session.world.frame == 0
    found = session.joint_positions()
    assert found[paths["Shoulder"]]["angular"] == pytest.approx(0.5, abs=1e-4)
    assert found[paths["Elbow"]]["angular"] == pytest.approx(1.0, abs=1e-4)
    assert found[paths["Rail"]] == {"linear": pytest.approx(3.0, abs=1e-4)}
    elbow = (2 * math.cos(0.5), 0, 2 - 2 * math.sin(0.5))
    assert tuple(upper.matrix_world.translation) == pytest.approx((math.cos(0.5), 0, 2 - math.sin(0.5)), abs=1e-4)
    middle = (elbow[0] + math.cos(1.5), 0, elbow[2] - math.sin(1.5))
    assert tuple(lower.matrix_world.translation) == pytest.approx(middle, abs=1e-4)
    assert slider.matrix_world.translation.x == pytest.approx(3.0, abs=1e-4)
    # A drive holds the arm up, and the reset takes that back as well.
    session.set_joint(paths["Shoulder"], "angular", -0.3, physics=True)
    assert session.joint_positions()[paths["Shoulder"]]["angular"] == pytest.approx(0.5, abs=1e-4)
    run(session, 2.0)
    assert session.joint_positions()[paths["Shoulder"]]["angular"] == pytest.approx(-0.3, abs=0.15)
    session.reset(bpy.context)
    assert session.joint_positions()[paths["Shoulder"]]["angular"] == pytest.approx(0.0, abs=1e-5)
    # It falls for as long as it takes at its size, before it swings up again.
    run(session, 0.5 * math.sqrt(scale_length))
    assert session.joint_positions()[paths["Shoulder"]]["angular"] > 0.2
    preview_guard.stop()
    assert raw() == before


def test_a_joint_of_a_closed_loop_is_not_posed():
    _, lower = arm()
    pivot = bpy.data.objects.new("End", None)
    bpy.context.scene.collection.objects.link(pivot)
    pivot.location = (4, 0, 2)
    joint = pivot.usdphys.joint
    joint.is_applied, joint.type, joint.axis, joint.body1 = True, "REVOLUTE", "Y", lower
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    shown = raw()
    path = next(path for path in session.joint_positions() if session.model.prims[path].label == "Elbow")
    with pytest.raises(InputError, match=r"'Elbow'.*closed loop"):
        session.set_joint(path, "angular", 0.5, physics=False)
    assert raw() == shown
    with pytest.raises(KeyError):
        session.set_joint(path, "linear", 0.5, physics=False)


@pytest.mark.parametrize("support", ["nothing", "a joint between them", "ground", "animated", "hook", "no gravity"])
def test_a_preview_knows_whether_there_is_something_to_land_on(support):
    bodies = crate(), crate("Other", (3.0, 0.0, 5.0))
    if support == "a joint between them":
        scenes.add_joint("Weld", "FIXED", *bodies)
    elif support == "ground":
        bpy.ops.usdphys.add_physics(kind="GROUND")
    elif support == "animated":
        bodies[1].usdphys.rigid_body.kinematic_enabled = True
    elif support == "hook":
        scenes.add_joint("Hook", "FIXED", None, bodies[1])
    elif support == "no gravity":
        bpy.context.scene.use_gravity = False
    session = preview_guard.start(bpy.context)
    assert session.is_bottomless == (support in ("nothing", "a joint between them"))


def test_what_becomes_unstable_is_said_with_its_reason():
    obj = crate()
    obj.usdphys.rigid_body.velocity = (5000, 0, 0)
    quiet = crate("Quiet", (0, 90, 0))
    session = preview_guard.start(bpy.context)
    run(session, 0.1)
    assert session.warnings == ["Unstable: Crate, it moves faster than 1000 m/s"]
    assert quiet.matrix_world.translation.z < 0
    session.reset(bpy.context)
    assert session.warnings == []


def test_a_broken_joint_is_drawn_where_it_is_until_the_reset():
    bpy.context.scene.unit_settings.scale_length = 0.5
    weight = crate("Weight", (0, 0, 4))
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    hook.location = (0, 0, 5)
    joint = hook.usdphys.joint
    joint.is_applied, joint.type, joint.body1, joint.break_force = True, "FIXED", weight, 1.0
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    assert session.broken_places == []
    run(session, 0.3)
    assert list(session.broken) == ["Hook"]
    (found,) = session.broken_places
    assert tuple(found.place) == pytest.approx((0, 0, 5), abs=1e-4)
    (end,) = found.bodies
    assert tuple(end) == pytest.approx(tuple(weight.matrix_world.translation), abs=1e-3)
    assert end[2] < 3.9 and found.size == pytest.approx(1.0, abs=1e-3)
    session.reset(bpy.context)
    assert session.broken_places == [] and session.broken == {}


def hooked(name, at, break_force):
    """A crate that hangs on a fixed joint from the world."""
    weight, hook = crate(f"Weight of {name}", (at, 0, 4)), bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(hook)
    hook.location = (at, 0, 5)
    joint = hook.usdphys.joint
    joint.is_applied, joint.type, joint.body1, joint.break_force = True, "FIXED", weight, break_force
    return weight


def markers():
    return [(marker.frame, marker.name) for marker in bpy.context.scene.timeline_markers]


def test_a_bake_marks_the_frames_in_which_joints_break():
    from usdphys_ext.usdphys_addon.playback import bake

    scene = bpy.context.scene
    scene.render.fps = 60
    scene.timeline_markers.new("Mine", frame=3)
    weights = [hooked(name, 5.0 * number, 1.0) for number, name in enumerate(("First", "Second"))]
    strong = hooked("Strong", 20.0, float("inf"))
    bake.bake(bpy.context, 11, 21)
    assert markers() == [(3, "Mine"), (12, "2 joints break")]
    scene.frame_set(21)
    assert all(weight.matrix_world.translation.z < 3.9 for weight in weights)
    assert strong.matrix_world.translation.z == pytest.approx(4.0, abs=1e-3)
    bpy.data.objects["Second"].usdphys.joint.break_force = float("inf")
    bake.bake(bpy.context, 1, 11)
    assert markers() == [(3, "Mine"), (2, "First breaks")]
    bake.clear_bake(scene)
    assert markers() == [(3, "Mine")] and bake.MARKERS not in scene


def test_a_bake_marks_the_frames_in_which_bodies_hit_something_if_that_is_wanted():
    """A crate of 1 m falls by 1.25 m: it hits the floor after 0.505 s with 4952 N s. One that falls by 1 cm has 443."""
    from usdphys_ext.usdphys_addon.playback import bake

    scene, preview = bpy.context.scene, bpy.context.scene.usdphys.preview
    scene.render.fps = 60
    scenes.make_collider(scenes.add_box("A Floor", (20, 20, 0.5), location=(0, 0, -0.5)), "AUTO")
    for name, x, gap in (("Crate", 0, 1.25), ("Low", 5, 0.01)):  # 1000 kg each
        scenes.solid(name, shape="AUTO", location=(x, 0, 0.5 + gap))
    bpy.context.view_layer.update()
    bake.bake(bpy.context, 1, 40)
    assert markers() == []
    preview.marks_contacts, preview.least_impulse = True, 2000.0
    bake.bake(bpy.context, 1, 40)
    ((frame, name),) = markers()
    assert name == "Crate hits A Floor" and frame == pytest.approx(1 + 60 * 0.505, abs=2)
    preview.least_impulse = 6000.0
    bake.bake(bpy.context, 1, 40)
    assert markers() == []


def test_a_marker_of_a_bake_that_was_moved_is_the_users():
    from usdphys_ext.usdphys_addon.playback import bake

    hooked("Hook", 0.0, 1.0)
    bake.bake(bpy.context, 1, 5)
    bpy.context.scene.timeline_markers[0].frame = 4
    bake.clear_bake(bpy.context.scene)
    assert markers() == [(4, "Hook breaks")]


def test_nothing_is_drawn_without_windows(monkeypatch):
    from usdphys_ext.usdphys_addon import viewport

    added = []
    monkeypatch.setattr(bpy.types.SpaceView3D, "draw_handler_add", lambda *args: added.append(args))
    viewport.unregister()
    viewport.register()
    assert bpy.app.background and added == []


def test_cancelled_bake_leaves_nothing():
    from usdphys_ext.usdphys_addon.playback import bake

    crate()
    before = raw()
    steps = bake.bake_steps(bpy.context, 1, 50)
    for _ in range(10):
        next(steps)
    steps.close()
    assert raw() == before and not bpy.data.actions and bpy.context.scene.frame_current == 1


def test_bake_is_exported_as_time_samples(tmp_path):
    from pxr import Usd, UsdGeom
    from usdphys_ext.usdphys_addon.exchange import usd_export
    from usdphys_ext.usdphys_addon.playback import bake

    crate()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 25
    bake.bake(bpy.context, 1, 25)
    usd_export.export_usd(bpy.context, tmp_path / "baked.usda", usd_export.ExportOptions(animation=True))
    stage = Usd.Stage.Open(str(tmp_path / "baked.usda"))
    prim = UsdGeom.Xformable(stage.GetPrimAtPath("/root/Crate"))
    heights = [prim.ComputeLocalToWorldTransform(frame).ExtractTranslation()[2] for frame in (1, 13, 25)]
    assert [5 - height for height in heights] == pytest.approx([0.0, fallen(0.5), fallen(1.0)], rel=0.02, abs=1e-6)


def test_numbers_that_are_none_stop_it_and_name_the_body(monkeypatch):
    from usdphys_ext.usdphys_addon.playback.session import UnstableError

    obj = crate()
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.2)
    step = session.world.step

    def broken():
        step()
        session.world.unstable[session.world.paths[0]] = "its pose is not a number any more"

    monkeypatch.setattr(session.world, "step", broken)
    with pytest.raises(UnstableError, match="'Crate'"):
        session.step_once(bpy.context)
    preview_guard.forget()
    assert raw() == before and obj.location.z == 5.0


def test_add_on_that_is_disabled_while_it_plays_puts_everything_back():
    crate()
    before = raw()
    run(preview_guard.start(bpy.context), 0.2)
    preview_guard.unregister()
    try:
        assert raw() == before and preview_guard.current() is None
    finally:
        preview_guard.register()


def test_frame_change_leaves_the_bodies_to_the_preview():
    obj = crate()
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.3)
    height = obj.matrix_world.translation.z
    bpy.context.scene.frame_set(40)
    assert obj.matrix_world.translation.z == pytest.approx(height, abs=1e-5)
    preview_guard.stop()
    assert raw() == before


def test_a_body_that_is_renamed_while_it_plays_gets_its_authored_pose_back():
    obj = crate(rotation_euler=(0.1, 0.2, 0.3))
    other = crate("Other", (3, 0, 5))
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.25)
    obj.name = "Renamed"
    run(session, 0.25)
    assert obj.location.z < 4.5 and other.location.z < 4.5
    preview_guard.stop()
    before["Renamed"] = before.pop("Crate")
    assert raw() == before


def test_a_body_that_is_renamed_while_it_plays_goes_on_falling_from_where_it_is():
    obj = crate(rotation_euler=(0.1, 0.2, 0.3))
    child = crate("Child", (0, 0, 2))
    child.parent = obj
    other = crate("Other", (3, 0, 5))
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    height = obj.matrix_world.translation.z - child.matrix_world.translation.z
    obj.name = "Renamed"
    bpy.context.view_layer.update()
    run(session, 0.25)
    # The same for all: the world was built anew, but each body has its own state.
    assert obj.location.z == pytest.approx(other.location.z, abs=1e-3)
    assert obj.matrix_world.translation.z - child.matrix_world.translation.z == pytest.approx(height, abs=1e-3)
    assert 5.0 - other.location.z == pytest.approx(0.5 * 9.81 * 0.75**2, rel=0.03)
    # So does the time that is shown.
    assert session.world.time == pytest.approx(0.75, abs=0.02)
    session.reset(bpy.context)
    assert session.world.time == 0.0


def test_bodies_that_exchange_their_names_while_they_play_get_their_own_poses_back():
    one, two = crate("One", (0, 0, 5)), crate("Two", (3, 0, 8))
    session = preview_guard.start(bpy.context)
    run(session, 0.25)
    one.name, two.name = "Third", "One"
    one.name = "Two"
    preview_guard.stop()
    assert tuple(one.location) == (0, 0, 5) and tuple(two.location) == (3, 0, 8)
    assert one.rotation_mode == two.rotation_mode == "XYZ"


def test_a_renamed_body_is_saved_and_applied_as_any_other(tmp_path):
    obj = crate()
    session = preview_guard.start(bpy.context)
    run(session, 0.25)
    obj.name = "Renamed"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    with bpy.data.libraries.load(str(tmp_path / "saved.blend")) as (_, to):
        to.objects = ["Renamed"]
    assert to.objects[0].location.z == 5.0
    bpy.ops.usdphys.preview_apply()
    assert obj.rotation_mode == "XYZ" and obj.location.z == pytest.approx(5.0 - fallen(0.25), abs=0.03)
