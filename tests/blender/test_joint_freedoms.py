"""Generic joints by preset, lock, limit and free; gains by frequency and damping ratio."""

import math

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.authoring import joint_freedoms
from usdphys_ext.usdphys_addon.core.joint_kinds import AXIS_DOFS, PRESETS
from usdphys_ext.usdphys_addon.simulation.world import World

from . import scenes


def a_joint(kind="GENERIC", **settings):
    body = scenes.solid("Body", (0.5, 0.25, 0.1))
    body.location.x = 1.0
    joint = scenes.add_joint("Joint", kind, body, **settings)
    bpy.context.view_layer.objects.active = joint
    bpy.context.view_layer.update()
    return joint, body


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_frees_what_it_says_and_locks_the_rest(name, tmp_path):
    joint, _ = a_joint("REVOLUTE")
    bpy.ops.usdphys.joint_preset(preset=name)
    assert joint.usdphys.joint.type == "GENERIC" and joint_freedoms.preset_of(joint.usdphys.joint) == name
    stage, _ = scenes.export(tmp_path / "out.usda")
    prim = scenes.prim_of(stage, "Joint")
    for dof in AXIS_DOFS:
        low, high = (prim.GetAttribute(f"limit:{dof}:physics:{end}").Get() for end in ("low", "high"))
        is_locked = low is not None and low > high
        assert is_locked == (dof not in PRESETS[name].free), dof


def test_a_preset_keeps_the_limits_of_what_it_frees():
    joint, _ = a_joint()
    group = joint.usdphys.joint
    joint_freedoms.set_motion(group, "rotX", "LIMITED")
    group.limits.rotX.high = 0.3
    bpy.ops.usdphys.joint_preset(preset="CYLINDRICAL")
    assert group.limits.rotX.high == pytest.approx(0.3) and joint_freedoms.motion_of(group, "rotX") == "LIMITED"


def moved_by(kind, axis, unit, preset, fixed):
    """World matrix of a body after half a second on a joint with limits and a motor; a preset is applied before."""
    bpy.context.scene.unit_settings.scale_length = 1.0 / unit
    joint, body = a_joint(kind, location=(0.4 * unit, 0, 0), rotation_euler=(0.3, 0.5, 0.7))
    body.scale, body.location = (unit,) * 3, (unit, 0, 0)
    group = joint.usdphys.joint
    group.axis = axis
    own, drive = getattr(group, kind.lower()), getattr(group.drives, "angular" if kind == "REVOLUTE" else "linear")
    own.lower_limit, own.upper_limit = (-0.2, 0.3) if kind == "REVOLUTE" else (-0.2 * unit, 0.05 * unit)
    speed = 3.0 if kind == "REVOLUTE" else 3.0 * unit
    drive.is_applied, drive.type, drive.target_velocity, drive.damping = True, "acceleration", speed, 5.0
    bpy.context.view_layer.update()
    if fixed:
        bpy.ops.object.select_all(action="DESELECT")
        joint.select_set(True)
        bpy.ops.usdphys.joint_fix_frames()
    if preset:
        assert bpy.ops.usdphys.joint_preset(preset=preset) == {"FINISHED"}
        bpy.context.view_layer.update()
        assert joint.usdphys.joint.type == "GENERIC" and not drive.is_applied
    world = World(scenes.read_model())
    for _ in range(30):
        world.step()
    return world.matrices()


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(("axis", "unit"), [("X", 1.0), ("Y", 100.0), ("Z", 1.0)])
@pytest.mark.parametrize(("kind", "preset"), [("REVOLUTE", "HINGE"), ("PRISMATIC", "SLIDE")])
def test_a_joint_that_becomes_a_generic_one_keeps_its_axis_its_limits_and_its_motor(kind, preset, axis, unit, fixed):
    """A hinge about Z turned about X without limits and motor."""
    expected = moved_by(kind, axis, unit, "", fixed)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    found = moved_by(kind, axis, unit, preset, fixed)
    assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("kind", "values", "preset", "told"), [
    ("REVOLUTE", {"lower_limit": 0.0}, "SLIDE", "limits and its motor"), ("REVOLUTE", {}, "SLIDE", ""),
    ("SPHERICAL", {"cone_angle0_limit": 0.4}, "BALL", "no longer has a cone"), ("SPHERICAL", {}, "BALL", ""),
    ("DISTANCE", {"max_distance": 1.0}, "FREE", "limits a distance"), ("DISTANCE", {}, "FREE", ""),
])  # fmt: skip
def test_a_generic_joint_says_what_it_cannot_take_over(kind, values, preset, told, capfd):
    joint, _ = a_joint(kind)
    scenes.assign(getattr(joint.usdphys.joint, kind.lower()), **values)
    capfd.readouterr()
    assert bpy.ops.usdphys.joint_preset(preset=preset) == {"FINISHED"}
    warned = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning")]
    assert len(warned) == bool(told) and all(told in line for line in warned)


@pytest.mark.parametrize(("scale", "dof", "wanted"), [(1.0, "transY", 0.1), (0.01, "transY", 10.0),
                                                      (0.01, "rotZ", math.radians(45))])  # fmt: skip
def test_a_first_limit_has_a_size_that_can_be_seen(scale, dof, wanted):
    bpy.context.scene.unit_settings.scale_length = scale
    joint, _ = a_joint()
    bpy.ops.usdphys.joint_motion(dof=dof, motion="LIMITED")
    limit = getattr(joint.usdphys.joint.limits, dof)
    assert (limit.low, limit.high) == pytest.approx((-wanted, wanted))
    bpy.ops.usdphys.joint_motion(dof=dof, motion="LOCKED")
    assert limit.low > limit.high
    bpy.ops.usdphys.joint_motion(dof=dof, motion="FREE")
    assert not limit.is_applied


def test_the_same_gains_go_to_the_free_rotations_only():
    joint, _ = a_joint()
    bpy.ops.usdphys.joint_preset(preset="UNIVERSAL")
    drives = joint.usdphys.joint.drives
    with pytest.raises(RuntimeError, match="add it first"):
        bpy.ops.usdphys.joint_equal_gains(dof="rotX")
    drives.rotX.is_applied, drives.rotX.stiffness, drives.rotX.damping = True, 5.0, 0.5
    bpy.ops.usdphys.joint_equal_gains(dof="rotX")
    assert drives.rotY.stiffness == 5.0 and drives.rotY.damping == 0.5 and not drives.rotZ.is_applied


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize(("kind", "dof"), [("REVOLUTE", "angular"), ("PRISMATIC", "linear")])
@pytest.mark.parametrize("type_", ["force", "acceleration"])
def test_a_tuned_drive_swings_at_its_frequency(kind, dof, type_, scale):
    """Without damping, from a target that is away: the preview is back at the start after a period."""
    bpy.context.scene.unit_settings.scale_length = scale
    joint, _ = a_joint(kind)
    drive = getattr(joint.usdphys.joint.drives, dof)
    drive.is_applied, drive.type = True, type_
    drive.target_position = 0.2
    bpy.context.scene.use_gravity = False
    bpy.ops.usdphys.joint_tune(dof=dof, frequency=0.5, ratio=0.0)
    model = scenes.read_model()
    (path,) = model.joints
    world = World(model, time_step=1 / 240)
    found = []
    for _ in range(480):
        world.step()
        found.append(world.joint_position(path, dof))
    unit = 1.0 if dof == "angular" else scale
    assert max(found) == pytest.approx(0.4 * unit, rel=0.05)
    assert int(np.argmax(found)) == pytest.approx(240, abs=8)
    assert abs(found[-1]) < 0.02 * unit


def test_tuning_starts_from_the_gains_that_are_there():
    joint, _ = a_joint("REVOLUTE")
    drive = joint.usdphys.joint.drives.angular
    bpy.ops.usdphys.joint_tune(dof="angular", frequency=3.0, ratio=0.7)
    inertia, is_angular = joint_freedoms.inertia_of(bpy.context, joint, "angular")
    assert is_angular
    assert joint_freedoms.tuning_of(drive, inertia, True).oscillator == pytest.approx((3.0, 0.7), rel=1e-5)


def test_a_joint_without_a_body_cannot_be_tuned():
    joint = scenes.add_joint("Joint", "REVOLUTE", None)
    bpy.context.view_layer.objects.active = joint
    with pytest.raises(RuntimeError, match="moves no rigid body"):
        bpy.ops.usdphys.joint_tune(dof="angular", frequency=3.0, ratio=0.7)
