"""The preview with known answers: in other units, of kinematic turns, by the clock, and of edits while it plays."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from usdphys_ext.usdphys_addon.core import clock as product_clock
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback.session import MOST_LATE, SlowStepError

from . import scenes

pytest.importorskip("rapier3d")
CENTIMETRES = 0.01


def crate(name: str = "Crate", unit: float = 1.0, **settings: Any) -> Any:
    """A crate of a metre, made in a scene where a metre is so many Blender units."""
    obj = scenes.solid(name, np.full(3, 0.5) * unit, **settings)
    obj.usdphys.colliders[0].approximation = "convexHull"
    return obj


def in_centimetres() -> float:
    """Blender units of a metre in a scene in centimetres."""
    bpy.context.scene.unit_settings.scale_length = CENTIMETRES
    return 1.0 / CENTIMETRES


def session_of_scene() -> Any:
    bpy.context.view_layer.update()
    return preview_guard.start(bpy.context)


def run(session: Any, seconds: float) -> None:
    for _ in range(round(seconds / session.world.time_step)):
        session.step_once(bpy.context)


def place_of(obj: Any) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array(obj.matrix_world)[:3, 3]


def body_place(session: Any, name: str) -> np.ndarray:
    """Place of a body in the world of the solver, metres."""
    row = session.world.index(session.shown.body_at(name))
    return np.array(session.world.positions[row])


FALLEN = 9.81 / 2 * 0.5**2

# --------------------------------------------------------------------------- units


def test_bodies_below_others_fall_as_far_in_centimetres_as_in_metres():
    unit = in_centimetres()
    top = crate("Top", unit, location=(0, 0, 10 * unit))
    below = crate("Below", unit, location=(3 * unit, 0, 0), parent=top)
    run(session_of_scene(), 0.5)
    for obj, x in ((top, 0.0), (below, 3.0)):
        place = place_of(obj) / unit
        assert place[0] == pytest.approx(x, abs=1e-3)
        assert 10.0 - place[2] == pytest.approx(FALLEN, rel=0.03)


def test_a_baked_fall_is_as_far_in_centimetres_as_in_metres():
    unit = in_centimetres()
    obj = crate("Crate", unit, location=(0, 0, 10 * unit))
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 20, 1, 11
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    scene.frame_set(11)
    assert 10.0 - place_of(obj)[2] / unit == pytest.approx(FALLEN, rel=0.03)


def test_a_kinematic_body_goes_where_its_object_goes_in_centimetres():
    unit = in_centimetres()
    pusher = crate("Pusher", unit)
    pusher.usdphys.rigid_body.kinematic_enabled = True
    crate("Crate", unit, location=(0, 50 * unit, 0))
    session = session_of_scene()
    pusher.location.x = 2 * unit
    bpy.context.view_layer.update()
    run(session, 0.2)
    assert body_place(session, "Pusher") == pytest.approx((2, 0, 0), abs=1e-4)


@pytest.mark.slow
def test_a_body_is_grabbed_and_dragged_at_points_of_the_view():
    unit = in_centimetres()
    bpy.context.scene.use_gravity = False
    crate("Crate", unit)
    session = session_of_scene()
    number = session.grab(session.shown.body_at("Crate"), (0.25 * unit, 0, 0))
    assert session.world.grab_point(number) == pytest.approx((0.25, 0, 0), abs=1e-4)
    session.drag(number, (3.25 * unit, 0, 0))
    run(session, 2.0)
    assert body_place(session, "Crate")[0] == pytest.approx(3.0, abs=0.1)
    session.release(number)


def test_a_slider_joint_is_shown_and_posed_in_units_of_the_scene():
    unit = in_centimetres()
    rail = crate("Cart", unit, location=(1 * unit, 0, 0))
    joint = scenes.add_joint("Rail", "PRISMATIC", None, rail)
    scenes.assign(joint.usdphys.joint, axis="X", local_pos0=(0, 0, 0), local_pos1=(-1 * unit, 0, 0))
    scenes.assign(joint.usdphys.joint.prismatic, lower_limit=-2 * unit, upper_limit=3 * unit)
    session = session_of_scene()
    ((path, values),) = session.joint_positions().items()
    assert values == {"linear": pytest.approx(0.0, abs=1e-3)}
    assert session.joint_range(path, "linear") == pytest.approx((-2 * unit, 3 * unit))
    session.set_joint(path, "linear", 0.5 * unit, physics=False)
    assert place_of(rail)[0] / unit == pytest.approx(1.5, abs=1e-4)


# --------------------------------------------------------------------------- kinematic turns


def test_a_keyed_turn_goes_evenly_through_more_than_half_a_turn():
    """The quaternion of a turn changes its sign on the way; the body must not turn back for that."""
    scene = bpy.context.scene
    scene.render.fps, scene.usdphys.preview.frequency = 20, 80
    disc = crate("Disc")
    disc.usdphys.rigid_body.kinematic_enabled = True
    for frame, angle in ((1, 0.0), (21, 2 * math.pi)):
        disc.rotation_euler.z = angle
        disc.keyframe_insert("rotation_euler", frame=frame)
    action = disc.animation_data.action
    for curve in action.layers[0].strips[0].channelbag(disc.animation_data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    crate("Crate", location=(0, 50, 0))
    scene.frame_set(1)
    session = session_of_scene()
    row = session.world.index(session.shown.body_at("Disc"))
    step = Quaternion((0, 0, 1), 2 * math.pi / 80)
    for frame in range(2, 22):
        scene.frame_set(frame)
        for _ in range(4):
            before = Quaternion(session.world.rotations[row])
            session.step_once(bpy.context)
            turned = Quaternion(session.world.rotations[row]) @ before.inverted()
            # A straight line between two quaternions is not quite even.
            assert turned.rotation_difference(step).angle < 0.01


# --------------------------------------------------------------------------- the clock


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes as the test says; returns the function that moves it on."""
    now = [1000.0]
    monkeypatch.setattr(product_clock, "now", lambda: now[0])

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_slow_motion_is_slow_by_the_clock(clock, speed):
    crate()
    bpy.context.scene.usdphys.preview.speed = speed
    session = session_of_scene()
    session.play()
    for _ in range(60):
        clock(1 / 60)
        session.advance(bpy.context)
    assert session.world.time == pytest.approx(speed, abs=2.5 / 60)


def test_a_long_wait_is_not_made_up_for(clock):
    """A slow scene runs slower; it does not hang on what it has missed."""
    crate()
    session = session_of_scene()
    session.play()
    clock(10.0)
    assert session.advance(bpy.context) <= 4
    session.pause()
    clock(10.0)
    assert session.advance(bpy.context) == 0
    session.play()
    # The time while it was paused does not count.
    clock(1 / 60 + 1e-6)
    assert session.advance(bpy.context) == 1


@pytest.mark.parametrize(("seconds", "steps"), [(0.01, 4), (0.15, 2), (0.9, 1)])
def test_steps_that_are_slow_are_not_made_up_for_in_one_redraw(clock, monkeypatch, seconds, steps):
    """Four steps of 0.9 s would let nobody press Esc for 3.6 s."""
    crate()
    session = session_of_scene()
    plain_step = session.world.step

    def slow() -> None:
        plain_step()
        clock(seconds)

    monkeypatch.setattr(session.world, "step", slow)
    session.play()
    for _ in range(3):
        clock(10.0)
        assert session.advance(bpy.context) == steps


# --------------------------------------------------------------------------- edits while it plays


def moving_crate(**mass: float) -> tuple[Any, Any]:
    """A crate at 1 m/s without gravity, and its session."""
    bpy.context.scene.use_gravity = False
    obj = crate()
    obj.usdphys.rigid_body.velocity = (1.0, 0.0, 0.0)
    if mass:
        scenes.assign(obj.usdphys.mass, is_applied=True, **mass)
    return obj, session_of_scene()


def touch(obj: Any) -> None:
    """What Blender tells of an edit in a panel."""
    obj.update_tag()
    bpy.context.view_layer.update()


def test_a_mass_that_is_taken_back_while_it_plays_is_that_of_the_colliders():
    obj, session = moving_crate(mass=5.0)
    session.step_once(bpy.context)
    assert session.world.kinetic_energy() == pytest.approx(2.5, rel=1e-4)
    obj.usdphys.mass.mass = 8.0
    touch(obj)
    session.step_once(bpy.context)
    assert session.world.kinetic_energy() == pytest.approx(4.0, rel=1e-4)
    obj.usdphys.mass.mass = 0.0
    touch(obj)
    session.step_once(bpy.context)
    # A cubic metre of 1000 kg/m3.
    assert session.world.kinetic_energy() == pytest.approx(500.0, rel=1e-3)


@pytest.mark.parametrize("is_playing", [True, False])
def test_a_change_of_structure_goes_on_playing_or_pausing(is_playing):
    obj, session = moving_crate()
    session.play() if is_playing else session.pause()
    session.step_once(bpy.context)
    scenes.make_collider(obj, "SPHERE", radius=1.0, location=(0, 0, 0))
    touch(obj)
    session.step_once(bpy.context)
    assert session.is_playing == is_playing
    assert preview_guard.current() is session


@pytest.mark.slow
def test_friction_and_restitution_of_a_material_are_not_mixed_up_by_an_edit():
    """On ice that is made rough a sliding crate stops, and does not bounce."""
    ice = scenes.physics_material("Ice", dynamic_friction=0.0, static_friction=0.0, restitution=0.0)
    floor = scenes.add_box("Floor", (50, 50, 0.5), location=(0, 0, -0.5))
    scenes.make_collider(floor, "AUTO").physics_material = ice
    obj = crate(location=(0, 0, 0.5))
    obj.usdphys.colliders[0].physics_material = ice
    obj.usdphys.rigid_body.velocity = (2.0, 0.0, 0.0)
    session = session_of_scene()
    run(session, 0.5)
    assert body_place(session, "Crate")[0] == pytest.approx(1.0, abs=0.1)
    ice.usdphys.physics_material.dynamic_friction = 1.0
    ice.update_tag()
    bpy.context.view_layer.update()
    highest, start = 0.0, body_place(session, "Crate")[0]
    for _ in range(60):
        session.step_once(bpy.context)
        highest = max(highest, body_place(session, "Crate")[2])
    # It slides for v^2 / 2 g.
    assert body_place(session, "Crate")[0] - start == pytest.approx(4.0 / (2 * 9.81), abs=0.1)
    assert highest < 0.6


# --------------------------------------------------------------------------- what is not shown


def test_what_the_points_of_a_mesh_bring_is_simulated_and_said_not_to_be_shown():
    points = bpy.data.objects.new("Points", bpy.data.meshes.new("Points"))
    points.data.from_pydata([(5, 0, 0), (9, 0, 0)], [], [])
    scenes.new_collection("Kept", linked=True).objects.link(points)
    inside = scenes.solid("Inside")
    inside.parent, points.instance_type = points, "VERTS"
    crate()
    session = session_of_scene()
    assert session.shown.moving == ["Inside", "Crate"]
    found = [issue for issue in session.notices if issue.code == "PreviewUnshown"]
    assert [issue.severity for issue in found] == ["warning"] * 2
    assert any("'Inside'" in issue.message for issue in found)


def test_what_falls_asleep_stands_exactly_where_its_body_is():
    floor = scenes.add_box("Floor", (5, 5, 0.5), location=(0, 0, -0.5))
    scenes.make_collider(floor, "AUTO")
    obj = crate(location=(0, 0, 0.6))
    session = session_of_scene()
    for _ in range(600):
        session.step_once(bpy.context)
        if not session.world.awake.any():
            break
    assert not session.world.awake.any()
    assert place_of(obj) == pytest.approx(body_place(session, "Crate"), abs=1e-6)


# --------------------------------------------------------------------------- rotations on top of rotations


def shown_rotation(obj: Any) -> Quaternion:
    bpy.context.view_layer.update()
    return obj.matrix_world.to_quaternion()


DELTAS = {
    "QUATERNION": {"delta_rotation_quaternion": Quaternion((0.8, 0.0, 0.6, 0.0))},
    "XYZ": {"delta_rotation_euler": (0.3, 0.5, -0.7)},
    "ZYX": {"delta_rotation_euler": (0.3, 0.5, -0.7)},
    "AXIS_ANGLE": {"delta_rotation_quaternion": Quaternion((0.8, 0.0, 0.6, 0.0))},
}


@pytest.mark.parametrize("parented", [False, True])
@pytest.mark.parametrize("mode", DELTAS)
def test_a_body_with_a_delta_rotation_is_shown_and_kept_as_it_is(mode, parented):
    obj = crate(rotation_mode=mode, rotation_euler=(0.1, 0.2, 0.3), rotation_axis_angle=(0.4, 0, 0, 1), **DELTAS[mode])
    if parented:
        obj.parent = scenes.add("Parent", rotation_euler=(0.4, 0.0, 0.2))
    before = shown_rotation(obj)
    session = session_of_scene()
    session.step_once(bpy.context)
    assert shown_rotation(obj).rotation_difference(before).angle < 1e-3
    assert bpy.ops.usdphys.preview_apply() == {"FINISHED"}
    assert obj.rotation_mode == mode
    assert shown_rotation(obj).rotation_difference(before).angle < 1e-3


# --------------------------------------------------------------------------- what an object hangs on


def same_place(obj: Any, before: np.ndarray) -> bool:
    bpy.context.view_layer.update()
    return bool(np.abs(np.array(obj.matrix_world) - before).max() < 1e-3)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 1), (-1, -1, -1), (-1, -1, 1)])
def test_a_mirrored_body_is_shown_as_it_stands(scale):
    bpy.context.scene.use_gravity = False
    obj = crate(scale=scale, rotation_euler=(0.3, -0.5, 0.7))
    bpy.context.view_layer.update()
    before = np.array(obj.matrix_world)
    run(session_of_scene(), 0.1)
    assert same_place(obj, before)


def test_a_body_at_rest_stays_behind_when_the_body_above_it_leaves():
    bpy.context.scene.use_gravity = False
    top = crate("Top")
    top.usdphys.rigid_body.velocity = (2.0, 0.0, 0.0)
    below = crate("Below", location=(0, 5, 0), parent=top)
    session = session_of_scene()
    run(session, 0.5)
    assert place_of(top) == pytest.approx((1, 0, 0), abs=1e-2)
    assert place_of(below) == pytest.approx((0, 5, 0), abs=1e-3)


def test_a_body_on_a_bone_is_shown_where_it_stands():
    bpy.context.scene.use_gravity = False
    bpy.ops.object.armature_add(location=(1, 2, 3), rotation=(0.2, 0.4, 0.6))
    rig = bpy.context.object
    obj = crate(location=(0.5, 0, 0), rotation_euler=(0.1, 0.2, 0.3))
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", rig.data.bones[0].name
    bpy.context.view_layer.update()
    before = np.array(obj.matrix_world)
    assert np.abs(before[:3, 3] - (0.5, 0, 0)).max() > 1
    run(session_of_scene(), 0.1)
    assert same_place(obj, before)


# --------------------------------------------------------------------------- undo


def state_of(name: str) -> tuple[Any, ...]:
    obj = bpy.data.objects[name]
    return tuple(obj.location), obj.rotation_mode, tuple(item.mute for item in obj.constraints)


@pytest.mark.parametrize("end", ["undo", "reset", "apply"])
def test_an_undo_to_an_edit_that_was_made_while_it_played_shows_no_simulated_pose(end):
    """The step holds what was simulated then, be the preview under way or long over."""
    obj = crate(location=(0, 0, 5))
    obj.constraints.new("LIMIT_SCALE")
    authored = state_of("Crate")
    bpy.ops.ed.undo_push(message="before")
    session = session_of_scene()
    run(session, 0.3)
    bpy.ops.ed.undo_push(message="an edit while it plays")
    run(session, 0.2)
    if end == "undo":
        bpy.ops.ed.undo_push(message="another edit while it plays")
    else:
        getattr(bpy.ops.usdphys, f"preview_{end}")()
        bpy.ops.ed.undo_push(message="an edit afterwards")
    bpy.ops.ed.undo()
    assert preview_guard.current() is None
    assert state_of("Crate") == authored
    assert not bpy.context.scene.usdphys.preview.is_running
    bpy.ops.ed.undo()
    assert state_of("Crate") == authored
    bpy.ops.ed.redo()
    assert state_of("Crate") == authored
    assert not bpy.context.scene.usdphys.preview.is_running


def test_another_file_knows_nothing_of_the_poses_of_the_last_one(tmp_path):
    crate(location=(0, 0, 5))
    run(session_of_scene(), 0.1)
    preview_guard.stop()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    crate(location=(0, 0, 7))
    bpy.context.scene.usdphys.preview.is_running = True
    bpy.ops.ed.undo_push(message="as if a preview ran")
    bpy.context.scene.usdphys.preview.is_running = False
    bpy.ops.ed.undo_push(message="and afterwards")
    bpy.ops.ed.undo()
    assert tuple(bpy.data.objects["Crate"].location) == (0, 0, 7)


@pytest.mark.parametrize("mode", DELTAS)
def test_a_kept_pose_leaves_the_rotations_of_other_modes_alone(mode):
    values = {"rotation_euler": (0.1, 0.2, 0.3), "rotation_quaternion": (0.8, 0.6, 0, 0),
              "rotation_axis_angle": (0.5, 0, 1, 0)}  # fmt: skip
    obj = crate(rotation_mode=mode, **values)
    run(session_of_scene(), 0.1)
    bpy.ops.usdphys.preview_apply()
    if mode != "AXIS_ANGLE":
        assert tuple(obj.rotation_axis_angle) == pytest.approx(values["rotation_axis_angle"])
    assert obj.rotation_mode == mode


# --------------------------------------------------------------------------- bake


def test_a_bake_leaves_the_timeline_and_the_old_action_as_they_were():
    obj = crate(location=(0, 0, 5))
    obj.keyframe_insert("hide_render", frame=1)
    old = obj.animation_data.action
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    scene.frame_set(3)
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    assert scene.frame_current == 3
    assert obj.animation_data.action != old
    assert bpy.ops.usdphys.preview_clear_bake() == {"FINISHED"}
    assert obj.animation_data.action == old
    assert tuple(obj.location) == (0, 0, 5)


def test_a_bake_of_few_frames_is_as_exact_as_the_preview():
    """Five frames in a second, and 200 time steps."""
    obj = crate(location=(0, 0, 20))
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 5, 1, 6
    scene.usdphys.preview.frequency, scene.usdphys.preview.substeps = 200, 1
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    scene.frame_set(6)
    assert 20.0 - place_of(obj)[2] == pytest.approx(9.81 / 2, rel=0.01)


def test_a_second_bake_starts_from_what_was_authored():
    obj = crate(location=(0, 0, 20))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 13
    heights = []
    for _ in range(2):
        scene.frame_set(10)
        bpy.ops.usdphys.preview_bake()
        scene.frame_set(13)
        heights.append(place_of(obj)[2])
    assert heights[0] == pytest.approx(heights[1], abs=1e-4)
    bpy.ops.usdphys.preview_clear_bake()
    assert tuple(obj.location) == (0, 0, 20)


def test_the_quality_of_the_panel_is_that_of_the_simulation() -> None:
    scenes.make_body(crate())
    settings: Any = bpy.context.scene.usdphys.preview
    found = []
    for quality in ("draft", "normal", "exact"):
        settings.quality = quality
        found.append(preview_guard.start(bpy.context).world.substeps)
    assert found == [1, 2, 8]


@pytest.mark.usefixtures("slow_steps")
def test_play_ends_at_a_step_that_takes_seconds_and_names_the_body(monkeypatch) -> None:
    """The crate on the floor, not the one in the air."""
    scenes.make_body(crate("Falls")).location = (9, 0, 50)
    resting = scenes.make_body(crate("Rests"))
    resting.location = (0, 0, 0.5)
    floor = crate("Floor")
    floor.location, floor.scale = (0, 0, -0.5), (20, 20, 1)
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    settings: Any = bpy.context.scene.usdphys.preview
    settings.is_fast = True
    session.play()
    session.advance(bpy.context)
    plain_step = session.world.step

    def slow() -> None:
        plain_step()
        session.world.step_milliseconds = session.world.worked_milliseconds = 2500.0

    monkeypatch.setattr(session.world, "step", slow)
    with pytest.raises(SlowStepError, match=r"2\.5 s.*'Rests'"):
        session.advance(bpy.context)


@pytest.mark.usefixtures("slow_steps")
def test_an_engine_in_a_process_of_its_own_may_be_late_for_a_few_steps_and_is_named_then(monkeypatch) -> None:
    scenes.make_body(crate("Falls")).location = (0, 0, 50)
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    plain_step = session.world.step

    def slow() -> None:
        plain_step()
        session.world.step_milliseconds = 2500.0

    monkeypatch.setattr(session.world, "step", slow)
    monkeypatch.setattr(type(session.world), "delay", 2400.0)
    monkeypatch.setattr(type(session.world), "engine_name", "PhysX")
    for _ in range(MOST_LATE):
        session.play_on(bpy.context)
    with pytest.raises(SlowStepError, match=r"2\.5 s in PhysX"):
        session.play_on(bpy.context)


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_the_load_of_a_joint_is_read_in_newtons(unit):
    if unit != 1.0:
        in_centimetres()
    body = crate(unit=unit)
    assign = body.usdphys.mass
    assign.is_applied, assign.mass = True, 3.0
    bpy.context.view_layer.update()
    scenes.add_joint("Hook", "FIXED", None, body)
    session = session_of_scene()
    assert session.loads_of("Crate") is None
    session.loads_of("Hook")
    run(session, 0.5)
    loads = session.loads_of("Hook")
    assert loads.values[-1] == pytest.approx((0.5, 3.0 * 9.81, 0.0), rel=0.01, abs=0.05)
    assert loads.force == pytest.approx((0, 0, 3.0 * 9.81), abs=0.3) and loads.most_force >= 3.0 * 9.8
    session.reset(bpy.context)
    assert session.loads_of("Hook")[:3] == ((), 0.0, 0.0)


# --------------------------------------------------------------------------- air


@pytest.mark.parametrize(
    ("targets", "air", "spin"),
    [({"NEUTRAL"}, "TARGET", 0.0), ({"PHYSX"}, "TARGET", 0.05), ({"PHYSX", "NEWTON"}, "TARGET", 0.0),
     ({"PHYSX"}, "OFF", 0.0), ({"NEUTRAL"}, "OWN", 0.4)],
)  # fmt: skip
def test_a_body_is_slowed_down_as_the_scene_says(targets: set[str], air: str, spin: float) -> None:
    """Like its target simulator, by own values, or not at all; what acts is among the notices."""
    obj = crate()
    obj.usdphys.rigid_body.angular_velocity = (0.0, 0.0, math.radians(90.0))
    scene = bpy.context.scene.usdphys
    scene.targets, scene.preview.air, scene.preview.angular_damping = targets, air, 0.4
    session = session_of_scene()
    run(session, 1.0)
    found = session.world.velocities()[1][session.world.index(session.shown.body_at(obj.name))]
    assert found[2] == pytest.approx(math.radians(90.0) * math.exp(-spin), rel=0.01)
    assert any(issue.code == "AirSlows" for issue in session.notices) == (spin > 0.0)
