# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the authored values make a body land where the Empty is, in any unit and below scaled parents."""

import sys

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.aiming import beside
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core.steps import finished
from usdphys_ext.usdphys_addon.playback import aims, ghosts, guard

from .scenes import select


def solid(name, location, half, *, moves=True):
    mesh = bpy.data.meshes.new(name)
    corners = [(x * half[0], y * half[1], z * half[2]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    obj.usdphys.rigid_body.is_applied = moves
    obj.usdphys.colliders.add()
    return obj


def empty_at(place):
    target = bpy.data.objects.new("Here", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = place
    return target


def played(body, frame):
    """Where the preview, led by the timeline, shows the body at a frame."""
    guard.start(bpy.context, with_timeline=True)
    for now in range(2, frame + 1):
        bpy.context.scene.frame_set(now)
    place = np.array(body.matrix_world.translation)
    guard.stop()
    bpy.context.scene.frame_set(1)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_thrown_crate_is_at_the_empty_when_it_is_played(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    solid("Floor", (0, 0, -unit), (9 * unit, 9 * unit, unit), moves=False)
    crate = solid("Crate", (0, 0, unit), (0.1 * unit,) * 3)
    crate.rotation_euler = (0.3, 0.2, 1.0)
    target = empty_at((2 * unit, 0.5 * unit, 0.8 * unit))
    select(crate, target)
    before = tuple(crate.location)
    assert bpy.ops.usdphys.aim(frame=16, tolerance=0.02 * unit, speed=6 * unit) == {"FINISHED"}
    assert tuple(crate.location) == before and guard.current() is None
    assert np.linalg.norm(played(crate, 16) - np.array(target.location)) < 0.025 * unit


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_place_that_is_too_far_is_a_warning_and_the_best_values_are_kept(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    crate = solid("Crate", (0, 0, unit), (0.1 * unit,) * 3)
    target = empty_at((50 * unit, 0, 0))
    select(crate, target)
    wish = aims.Wish(crate, target, 16)
    result = finished(aims.aim_steps(bpy.context, [wish], aims.Changes(speed=3.0 * unit), most_runs=30))
    assert not result.met and result.runs == 30
    velocity = crate.usdphys.rigid_body.velocity
    assert velocity[0] > 1.5 * unit and max(map(abs, velocity)) <= 3.0001 * unit


@pytest.mark.slow
def test_ending_the_search_keeps_the_best():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    target = empty_at((9, 0, 0.5))
    select(crate, target)
    steps = aims.aim_steps(bpy.context, [aims.Wish(crate, target, 20)], aims.Changes(speed=4.0))
    for _ in range(5):
        next(steps)
    family = ghosts.current()
    assert len(family.ways) == 5 and family.ways[0].shape == (20, 1, 3)
    assert family.ways[family.best][-1, 0, 0] == max(way[-1, 0, 0] for way in family.ways) > 1.0
    steps.close()
    assert ghosts.current() is None
    assert crate.usdphys.rigid_body.velocity.length > 0.0


@pytest.mark.slow
def test_a_place_may_change_and_nothing_else():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    target = empty_at((0.7, -0.4, 0.2))
    select(crate, target)
    assert bpy.ops.usdphys.aim(frame=10, speed=0.0, place=1.5) == {"FINISHED"}
    assert not crate.usdphys.rigid_body.is_property_set("velocity")
    assert np.linalg.norm(played(crate, 10) - np.array(target.location)) < 0.025


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda crate: setattr(crate.usdphys.rigid_body, "is_applied", False), "no rigid body"),
    ],
)
def test_what_cannot_be_aimed_is_refused(change, part):
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    select(crate, empty_at((1, 0, 0)))
    change(crate)
    with pytest.raises(RuntimeError, match=part):
        bpy.ops.usdphys.aim(frame=10)


def scattered(count):
    """Crates in a row on a floor, and Empties for them; selected."""
    solid("Floor", (0, 0, -1), (9, 9, 1), moves=False)
    bodies = [solid(f"Crate{number}", (0, number, 1), (0.1,) * 3) for number in range(count)]
    targets = []
    for number in range(count):
        target = empty_at((1.0 + 0.5 * number, number + 0.2, 0.6))
        target.name = f"Place{number}"
        targets.append(target)
    bpy.ops.object.select_all(action="DESELECT")
    for obj in (*bodies, *targets):
        obj.select_set(True)
    bpy.context.view_layer.update()
    return bodies, targets


@pytest.mark.slow
def test_each_body_lands_at_its_own_empty():
    bodies, targets = scattered(4)
    assert bpy.ops.usdphys.land_here(frame=14) == {"FINISHED"}
    assert [target.usdphys.land_here.body for target in targets] == bodies
    bpy.ops.object.select_all(action="DESELECT")
    assert bpy.ops.usdphys.aim(speed=6.0) == {"FINISHED"}
    guard.start(bpy.context, with_timeline=True)
    for now in range(2, 15):
        bpy.context.scene.frame_set(now)
    places = [np.array(body.matrix_world.translation) for body in bodies]
    guard.stop()
    for place, target in zip(places, targets, strict=True):
        assert np.linalg.norm(place - np.array(target.location)) < 0.03
    # What is a target is no physics.
    assert len(scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model.bodies) == 4


def test_selected_targets_alone_are_aimed_at():
    bodies, targets = scattered(2)
    bpy.ops.usdphys.land_here(frame=14)
    bpy.ops.object.select_all(action="DESELECT")
    targets[1].select_set(True)
    bpy.ops.usdphys.aim(speed=6.0)
    assert bodies[1].usdphys.rigid_body.velocity.length > 0.0
    assert not bodies[0].usdphys.rigid_body.is_property_set("velocity")


def test_without_a_target_it_says_what_to_do():
    bpy.ops.object.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="choose Land Here"):
        bpy.ops.usdphys.aim()


def test_a_target_whose_body_is_gone_is_named():
    bodies, _ = scattered(1)
    bpy.ops.usdphys.land_here(frame=14)
    bpy.data.objects.remove(bodies[0])
    with pytest.raises(RuntimeError, match="Place0"):
        bpy.ops.usdphys.aim()


def hinged_door(dof_type="REVOLUTE"):
    """A door of 1 m on a hinge about Z at the origin, with a drive that has a stiffness. No gravity."""
    scene = bpy.context.scene.usdphys.physics_scenes.add()
    scene.gravity_magnitude = 0.0
    door = solid("Door", (1, 0, 0), (0.1,) * 3)
    hinge = empty_at((0, 0, 0))
    hinge.name = "Hinge"
    joint = hinge.usdphys.joint
    joint.type, joint.axis, joint.body1 = dof_type, "Z", door
    drive = joint.drives.angular if dof_type == "REVOLUTE" else joint.drives.linear
    drive.is_applied, drive.stiffness, drive.damping = True, 10.0, 2.0
    return door, hinge, drive


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "changes", "place", "value"),
    [
        ("REVOLUTE", {"drive_angle": 2.0}, (np.cos(0.7), np.sin(0.7), 0.0), 0.7),
        ("PRISMATIC", {"drive_distance": 2.0}, (1.0, 0.0, 0.7), 0.7),
        # A second has 24 frames, and the runs have 48: the angle, and the way, is that of the speed after 47 of them.
        ("REVOLUTE", {"motor_spin": 2.0}, (np.cos(0.9), np.sin(0.9), 0.0), 0.9 * 24 / 47),
        ("PRISMATIC", {"motor_speed": 2.0}, (1.0, 0.0, 0.9), 0.9 * 24 / 47),
    ],
)  # fmt: skip
def test_the_target_and_the_speed_of_a_drive_may_change(kind, changes, place, value):
    door, _, drive = hinged_door(kind)
    is_motor = next(iter(changes)).startswith("motor")
    drive.stiffness, drive.damping = (0.0, 1e4) if is_motor else (1000.0, 100.0)
    target = empty_at(place)
    select(door, target)
    assert bpy.ops.usdphys.aim(frame=48, speed=0.0, at_rest=not is_motor, **changes) == {"FINISHED"}
    assert (drive.target_velocity if is_motor else drive.target_position) == pytest.approx(value, abs=0.03)
    assert not door.usdphys.rigid_body.is_property_set("velocity")
    assert np.linalg.norm(played(door, 48) - np.array(place)) < 0.03


@pytest.mark.slow
def test_a_limit_may_change():
    """A door that is thrown open stops where its limit is."""
    door, hinge, drive = hinged_door()
    drive.is_applied = False
    hinge.usdphys.joint.revolute.lower_limit, hinge.usdphys.joint.revolute.upper_limit = 0.0, 0.3
    door.usdphys.rigid_body.velocity = (0.0, 3.0, 0.0)
    door.usdphys.mass.is_applied = True
    target = empty_at((np.cos(0.8), np.sin(0.8), 0.0))
    select(door, target)
    bpy.ops.usdphys.aim(frame=20, tolerance=0.1, speed=0.0, limit_angle=1.0)
    assert 0.6 < hinge.usdphys.joint.revolute.upper_limit < 1.3


def test_one_undo_step_takes_an_aim_back():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    select(crate, empty_at((1.0, 0, 0.5)))
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.usdphys.aim("EXEC_DEFAULT", True, frame=10)
    assert bpy.data.objects["Crate"].usdphys.rigid_body.velocity.length > 1.0
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Crate"].usdphys.rigid_body.is_property_set("velocity")


def test_a_variation_that_is_chosen_is_what_plays():
    solid("Floor", (0, 0, -1), (9, 9, 1), moves=False)
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    select(crate, crate)
    with pytest.raises(RuntimeError, match="vary values first"):
        bpy.ops.usdphys.use_variation()
    assert bpy.ops.usdphys.vary(frame=12, runs=5, speed=3.0, seed=2) == {"FINISHED"}
    assert not crate.usdphys.rigid_body.is_property_set("velocity")
    shown = ghosts.variations()
    assert len(shown.ways) == 5 and len({way[-1].tobytes() for way in shown.ways}) == 5
    bpy.ops.usdphys.choose_variation(step=-2)
    assert shown.best == 3
    end = shown.ways[3][-1, 0].copy()
    assert bpy.ops.usdphys.use_variation() == {"FINISHED"}
    assert ghosts.current() is None
    assert np.linalg.norm(played(crate, 12) - end) < 1e-4


def test_the_same_seed_varies_alike_and_drop_forgets():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    select(crate, crate)
    ends = []
    for seed in (1, 1, 2):
        bpy.ops.usdphys.vary(frame=8, runs=2, seed=seed)
        ends.append(np.array(ghosts.variations().ways).tobytes())
    assert ends[0] == ends[1] != ends[2]
    bpy.ops.usdphys.drop_variations()
    assert ghosts.current() is None


@pytest.mark.slow
@pytest.mark.parametrize("python", [sys.executable, "/nowhere/python"])
def test_a_long_search_goes_on_beside_blender_or_here_and_finds_the_same(python, monkeypatch):
    sled = solid("Sled", (0, 0, 0.8), (0.5, 0.5, 0.1))
    sled.usdphys.rigid_body.kinematic_enabled = True
    keyed(sled, "location", {1: (0, 0, 0.8), 31: (1.5, 0, 0.8)})
    bpy.context.scene.frame_set(1)
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    target = empty_at((30, 0, 0.5))
    select(crate, target)
    wish, changes = aims.Wish(crate, target, 14), aims.Changes(speed=4.0)
    started = []
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(aims, "BesideSearch", lambda *given: started.append(beside.BesideSearch(*given)) or started[-1])
    monkeypatch.setattr(aims, "SOON", 0.0)
    found = []
    for is_beside in (True, False):
        result = finished(aims.aim_steps(bpy.context, [wish], changes, 12, is_beside=is_beside))
        found.append((result.runs, tuple(crate.usdphys.rigid_body.velocity)))
        crate.usdphys.rigid_body.property_unset("velocity")
    assert found[0] == found[1] and found[0][0] == 12
    assert len(started) == (0 if python == "/nowhere/python" else 1)
    assert all(one.is_done for one in started)


def keyed(obj, path, values):
    """Keys with even changes between them. values: by frame."""
    for frame, value in values.items():
        owner, _, name = path.rpartition(".")
        holder = obj.path_resolve(owner) if owner else obj
        setattr(holder, name, value)
        obj.keyframe_insert(path, frame=frame)
    for layer in obj.animation_data.action.layers:
        for curve in layer.strips[0].channelbag(obj.animation_data.action_slot).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"


@pytest.mark.slow
def test_what_is_animated_moves_in_the_runs_as_when_it_is_played():
    """A crate on a sled that is keyed: at the end it is to be 0.5 m ahead of where the sled alone takes it."""
    sled = solid("Sled", (0, 0, 0.9), (2.0, 0.5, 0.1))
    sled.usdphys.rigid_body.kinematic_enabled = True
    keyed(sled, "location", {1: (0, 0, 0.9), 31: (1.5, 0, 0.9)})
    bpy.context.scene.frame_set(1)
    crate = solid("Crate", (0, 0, 1.1), (0.1,) * 3)
    target = empty_at((2.0, 0, 1.1))
    select(crate, target)
    assert bpy.ops.usdphys.aim(frame=30, speed=5.0, tolerance=0.03) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 1
    assert np.linalg.norm(played(crate, 30) - np.array(target.location)) < 0.04


@pytest.mark.slow
def test_an_animated_value_is_followed_and_not_searched():
    door, _, drive = hinged_door()
    drive.stiffness, drive.damping = 1000.0, 100.0
    hinge = bpy.data.objects["Hinge"]
    keyed(hinge, "usdphys.joint.drives.angular.target_position", {1: 0.0, 25: 1.0})
    bpy.context.scene.frame_set(1)
    end = played(door, 30)
    target = empty_at(end)
    select(door, target)
    assert bpy.ops.usdphys.aim(frame=30, speed=0.01, drive_angle=2.0) == {"FINISHED"}
    assert not door.usdphys.rigid_body.is_property_set("velocity") or door.usdphys.rigid_body.velocity.length < 1e-6
    with pytest.raises(RuntimeError, match="Nothing may change"):
        bpy.ops.usdphys.aim(frame=30, speed=0.0, drive_angle=2.0)


def test_a_body_whose_place_is_keyed_begins_there():
    crate = solid("Crate", (0, 0, 1), (0.1,) * 3)
    keyed(crate, "location", {1: (0, 0, 1.0), 40: (5, 5, 5)})
    bpy.context.scene.frame_set(1)
    select(crate, empty_at((1, 0, 1)))
    with pytest.raises(RuntimeError, match="Nothing may change"):
        bpy.ops.usdphys.aim(frame=10, speed=0.0, place=2.0)


@pytest.mark.slow
def test_the_bounciness_of_a_material_may_change():
    """A ball that falls 1 m onto a floor of the same material comes up again as high as e squared says."""
    floor = solid("Floor", (0, 0, -1), (9, 9, 1), moves=False)
    ball = solid("Ball", (0, 0, 1.1), (0.1,) * 3)
    matter = bpy.data.materials.new("Rubber")
    matter.usdphys.physics_material.is_applied = True
    matter.usdphys.physics_material.restitution = 0.2
    for obj in (floor, ball):
        obj.usdphys.physics_material = matter
    # It falls for 0.45 s, and with e = 0.7 it is at the top 0.7 * 0.45 s later: 18.4 frames in all, and at 0.59 m.
    target = empty_at((0, 0, 0.1 + 0.49))
    select(ball, target)
    assert bpy.ops.usdphys.aim(frame=19, tolerance=0.03, speed=0.0, restitution=0.8) == {"FINISHED"}
    assert matter.usdphys.physics_material.restitution == pytest.approx(0.7, abs=0.04)
    assert np.linalg.norm(played(ball, 19) - np.array(target.location)) < 0.04
