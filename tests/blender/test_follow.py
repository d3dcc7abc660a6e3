"""Follow Until Hit: a body is where its animation is, until something hits it harder than the threshold."""

import json

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.exchange import usd_export
from usdphys_ext.usdphys_addon.playback import bake, guard

from . import scenes


def flier(name="Flier", half=0.1, mass=2.0, last=40):
    """A cube that is keyed 3 m along X in 36 frames, at an even speed: 2 m/s at 24 frames a second."""
    obj = scenes.solid(name, (half,) * 3, shape="AUTO")
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, mass
    obj.usdphys.rigid_body.kinematic_enabled = True
    for frame, place in ((1, (-1.5, 0, 1)), (37, (1.5, 0, 1))):
        obj.location = place
        obj.keyframe_insert("location", frame=frame)
    for layer in obj.animation_data.action.layers:
        for curve in layer.strips[0].channelbag(obj.animation_data.action_slot).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    bpy.context.scene.frame_end = last
    return obj


def wall():
    """Its surface is 0.2 m beyond the middle of the way."""
    scenes.make_collider(scenes.add_box("Wall", (0.1, 1.0, 1.0), location=(0.3, 0, 1)), "AUTO")


def weightless():
    bpy.context.scene.usdphys.physics_scenes.add().gravity_magnitude = 0.0


def places(obj, last):
    """Where a bake has an object at the frames from 1 on."""
    bake.bake(bpy.context, 1, last)
    found = []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append(tuple(obj.matrix_world.translation))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_without_a_hit_it_is_where_its_animation_is_from_the_first_frame_on(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    obj = flier()
    obj.usdphys.colliders.clear()
    scenes.select(obj)
    bpy.context.scene.frame_set(20)
    assert bpy.ops.usdphys.follow_until_hit(impulse=0.5) == {"FINISHED"}
    way = places(obj, 36)
    wanted = -1.5 + (np.arange(36)) * 3.0 / 36.0
    # Its weight bends the springs by g / w^2.
    sag = 9.81 / meters / (2 * np.pi * 8.0) ** 2
    assert np.abs(way[:, 0] - wanted).max() < 0.01
    assert np.abs(way[-5:, 2] - (1.0 - sag)).max() < 0.002 / meters


@pytest.mark.slow
@pytest.mark.parametrize(("share", "lets_go"), [(0.75, True), (1.25, False)])
def test_it_lets_go_where_a_hit_is_harder_than_the_impulse(share, lets_go):
    """Plastic: the common speed is v M / (m + M), and the impulse m times what it lost of 2 m/s."""
    weightless()
    obj = flier()
    block = scenes.solid("Block", (0.1,) * 3, location=(0, 0, 1), shape="AUTO")
    block.usdphys.mass.is_applied, block.usdphys.mass.mass = True, 6.0
    impulse = 2.0 * (2.0 - 2.0 * 2.0 / 8.0)
    scenes.select(obj)
    bpy.ops.usdphys.follow_until_hit(impulse=share * impulse, frequency=4.0)
    end = places(obj, 40)[-1, 0]
    # Afterwards it is alone: at 0.5 m/s with the block in front, or where its animation ends.
    assert (end < 0.9) == lets_go


@pytest.mark.slow
def test_the_hit_body_falls_and_the_leader_goes_on():
    obj = flier()
    wall()
    scenes.select(obj)
    bpy.ops.usdphys.follow_until_hit(impulse=0.5)
    leader = bpy.data.objects["Flier Leader"]
    way = places(obj, 40)
    assert way[10, 2] > 0.98 and way[-1, 2] < 0.6 and way[:, 0].max() < 0.15
    bpy.context.scene.frame_set(37)
    assert leader.matrix_world.translation[0] == pytest.approx(1.5)


def test_a_spinning_body_starts_with_the_spin_of_its_animation():
    obj = scenes.solid("Top", shape="AUTO")
    obj.usdphys.rigid_body.is_applied = True
    obj.rotation_euler = (0, 0, 0)
    obj.keyframe_insert("rotation_euler", frame=1)
    obj.rotation_euler = (0, 0, 6.0)
    obj.keyframe_insert("rotation_euler", frame=25)
    for layer in obj.animation_data.action.layers:
        for curve in layer.strips[0].channelbag(obj.animation_data.action_slot).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    scenes.select(obj)
    bpy.ops.usdphys.follow_until_hit()
    assert tuple(obj.usdphys.rigid_body.angular_velocity) == pytest.approx((0, 0, 6.0), abs=0.01)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda obj: obj.animation_data_clear(), "key its motion"),
        (lambda obj: obj.usdphys.rigid_body.keyframe_insert("kinematic_enabled", frame=1), "physics animated"),
        (lambda obj: obj.animation_data.nla_tracks.new().strips.new("a", 1, obj.animation_data.action), "NLA"),
    ],
)
def test_what_cannot_follow_is_refused_and_stays_as_it_is(change, part):
    obj = flier()
    change(obj)
    scenes.select(obj)
    before = len(bpy.data.objects), obj.usdphys.rigid_body.kinematic_enabled
    with pytest.raises(RuntimeError, match=part):
        bpy.ops.usdphys.follow_until_hit()
    assert (len(bpy.data.objects), obj.usdphys.rigid_body.kinematic_enabled) == before


@pytest.mark.slow
def test_a_usd_file_has_the_springs_and_lets_go_in_simulate(tmp_path):
    obj = flier()
    wall()
    scenes.select(obj)
    bpy.ops.usdphys.follow_until_hit(impulse=0.5)
    file = tmp_path / "follow.usda"
    options = usd_export.ExportOptions(*usd_export.stage_options(bpy.context.scene), animation=True)
    usd_export.export_usd(bpy.context, file, options)
    out = tmp_path / "out.json"
    assert cli.main(["simulate", str(file), "--seconds", "1.5", "--json", str(out)]) == 0
    bodies = json.loads(out.read_text())["bodies"]
    (way,) = (np.array(one["translation"]) for path, one in bodies.items() if path.endswith("/Flier"))
    # It falls beside the wall for the rest of the 36 frames.
    assert way[:, 0].max() < 0.15 and way[-1, 2] < 0.9
    assert guard.current() is None
