# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist's tasks in few steps, each with the right physical result.

A step is a call of an operator, a click that selects, or a click that sets the 3D cursor. Values in the panel of the
last operation belong to its step.
"""

import math

import bpy
import pytest
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes


class Steps:
    def __init__(self, most):
        self.most, self.number = most, 0

    def _count(self):
        self.number += 1
        assert self.number <= self.most, f"more than {self.most} steps"
        bpy.context.view_layer.update()

    def click(self, obj, shift=False):
        self._count()
        if not shift:
            for other in bpy.context.scene.objects:
                other.select_set(False)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj

    def select_all(self):
        self._count()
        for obj in bpy.context.scene.objects:
            obj.select_set(True)

    def cursor(self, place):
        self._count()
        bpy.context.scene.cursor.location = place

    def run(self, name, **options):
        self._count()
        operator = getattr(bpy.ops.usdphys, name)
        assert operator.poll(), name
        assert operator(**options) == {"FINISHED"}

    def play(self):
        self._count()
        bpy.ops.usdphys.preview_play()
        return preview_guard.current()


def run(session, seconds):
    until = session.world.time + seconds
    while session.world.time < until - 1e-9:
        session.step_once(bpy.context)


def speed(obj, session, seconds=0.5):
    before = obj.matrix_world.translation.copy()
    run(session, seconds)
    return (obj.matrix_world.translation - before) / seconds


def wheel(name, location):
    bpy.ops.mesh.primitive_cylinder_add(radius=0.35, depth=0.25, rotation=(math.pi / 2, 0, 0), location=location)
    bpy.context.object.name = name
    return bpy.context.object


def test_a_door_hangs_on_its_side_and_stops_at_its_limit_in_6():
    frame = scenes.add_box("Frame", (0.1, 0.1, 1.1), location=(-0.65, 0, 1.1))
    leaf = scenes.add_box("Door", (0.55, 0.04, 1.0), location=(0.02, 0, 1.1))
    steps = Steps(6)
    steps.click(leaf)
    steps.click(frame, shift=True)
    steps.run("joint_add", type="REVOLUTE", has_limits=True, lower=-1.5, upper=0.0)
    session = steps.play()
    grab = session.grab(session.shown.body_at("Door"), (0.5, 0, 1.1))
    session.drag(grab, (-2.0, -3.0, 1.1))
    run(session, 3.0)
    assert leaf.matrix_world.to_euler().z == pytest.approx(-1.5, abs=0.05)
    # It turns about its own left side.
    assert leaf.matrix_world.translation.z == pytest.approx(1.1, abs=0.01)
    hinge = leaf.matrix_world.translation - leaf.matrix_world.to_3x3().col[0] * 0.55
    assert (hinge.x, hinge.y) == pytest.approx((-0.53, 0.0), abs=0.06)


def test_a_table_is_one_static_compound_that_carries_in_2():
    scenes.add_box("Top", (1, 0.5, 0.05), location=(0, 0, 1.0))
    for x in (-0.9, 0.9):
        for y in (-0.4, 0.4):
            scenes.add_box("Leg", (0.05, 0.05, 0.475), location=(x, y, 0.475))
    bpy.context.view_layer.objects.active = bpy.data.objects["Top"]
    steps = Steps(2)
    steps.select_all()
    steps.run("compound_from_selection", role="STATIC")
    crate = scenes.solid("Crate", (0.15,) * 3, location=(0.2, 0, 1.5))
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    run(session, 2.0)
    assert tuple(crate.matrix_world.translation) == pytest.approx((0.2, 0.0, 1.2), abs=0.01)
    assert session.shown.moving == ["Crate"]


@pytest.mark.slow
def test_a_car_drives_with_four_wheels_in_6():
    chassis = scenes.add_box("Chassis", (1.2, 0.5, 0.2), location=(0, 0, 0.7))
    for x in (-0.8, 0.8):
        for y in (-0.7, 0.7):
            wheel("Wheel", (x, y, 0.35))
    steps = Steps(6)
    steps.click(chassis)
    steps.select_all()
    steps.run("make_dynamic")
    steps.run("joint_add", type="REVOLUTE", motor="VELOCITY", speed=6.0)
    steps.run("add_physics", kind="GROUND")
    session = steps.play()
    run(session, 4.0)
    found = speed(chassis, session)
    assert abs(found.x) == pytest.approx(0.35 * 6.0, rel=0.05) and abs(found.y) < 0.05 and abs(found.z) < 0.05


@pytest.mark.slow
def test_a_robot_arm_of_four_joints_holds_itself_in_5():
    base = scenes.add_box("Base", (0.2, 0.2, 0.5), location=(0, 0, 0.5))
    links = [scenes.add_box(f"Link {n}", (0.45, 0.075, 0.075), location=(0.7 + n, 0, 0.9)) for n in range(4)]
    steps = Steps(5)
    steps.click(base)
    steps.select_all()
    steps.run("robot_arm")
    session = steps.play()
    run(session, 4.0)
    assert len(session.world.joints) == 5
    assert 0.9 - links[-1].matrix_world.translation.z < 0.01 * 4.2
    assert base.matrix_world.translation.z == pytest.approx(0.5, abs=1e-4)


@pytest.mark.slow
def test_a_rigid_body_scene_of_blender_is_converted_and_plays_in_2():
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Bodies")
    boxes = {"Floor": ((3, 3, 0.1), (0, 0, -0.1)), "Low": ((0.5,) * 3, (0, 0, 0.5)), "High": ((0.5,) * 3, (0, 0, 3))}
    for name, (half, place) in boxes.items():
        obj = scenes.add_box(name, half, location=place)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.rigidbody.object_add(type="PASSIVE" if name == "Floor" else "ACTIVE")
    steps = Steps(2)
    steps.run("from_rigid_bodies")
    session = steps.play()
    run(session, 3.0)
    heights = [bpy.data.objects[name].matrix_world.translation.z for name in ("Low", "High")]
    assert heights == pytest.approx([0.5, 1.5], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_stack_is_hit_by_a_ball_in_5(meters):
    """Without a value in the panel of an operation: the ball is thrown at what is selected, which is the stack."""
    bpy.context.scene.unit_settings.scale_length = meters
    steps = Steps(5)
    steps.run("add_physics", kind="GROUND")
    steps.run("add_physics", kind="STACK")
    steps.run("add_physics", kind="BALL")
    before = {obj.name: obj.matrix_world.translation.copy() for obj in bpy.context.scene.objects}
    assert before["Ball"].x < -1.0 / meters
    session = steps.play()
    run(session, 0.1)
    boxes = [obj for name, obj in bpy.data.objects.items() if name.startswith("Box")]
    assert len(boxes) == 5
    assert all((obj.matrix_world.translation - before[obj.name]).length < 0.01 / meters for obj in boxes)
    run(session, 2.0)
    assert max(obj.matrix_world.translation.x - before[obj.name].x for obj in boxes) > 0.3 / meters


def test_a_ball_without_a_selected_body_or_with_a_velocity_is_at_the_cursor():
    bpy.context.scene.cursor.location = (1, 2, 3)
    bpy.ops.usdphys.add_physics(kind="GROUND")
    bpy.ops.usdphys.add_physics(kind="BALL")
    assert tuple(bpy.context.object.location) == (1, 2, 3.25)
    for options in ({"throw": False}, {"velocity": (1, 0, 0)}):
        bpy.data.objects.remove(bpy.context.object)
        bpy.ops.usdphys.add_physics(kind="BALL", **options)
        assert tuple(bpy.context.object.location) == (1, 2, 3.25)
