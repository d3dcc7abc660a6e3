"""An artist's tasks, counted in actions: a click, a key, a typed value. Pictures of them are those of the manual."""

import itertools
import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit
from actions import Actions, box, clear, click_on, front, play, press, select_all, wheel


def door():
    """Click the door, shift-click the frame, Joint, two limits, Play."""
    frame = box("Frame", (-0.65, 0, 1.1), (0.2, 0.2, 2.2), (0.5, 0.35, 0.2, 1))
    leaf = box("Door", (0.02, 0, 1.1), (1.1, 0.08, 2.0), (0.75, 0.55, 0.35, 1))
    front(7.0)
    yield 0.5
    actions = Actions("door", 6)
    yield from click_on(actions, leaf, (0.1, -0.04, 0.2))
    yield from click_on(actions, frame, (0, -0.1, 0.2), shift=True)
    assert bpy.context.object == frame
    kit.shot("door-1-selected")
    yield from press(actions, "joint_add")
    joint = bpy.context.object.usdphys.joint
    assert (joint.body0, joint.body1) == (frame, leaf)
    actions(2)
    joint.revolute.lower_limit, joint.revolute.upper_limit = -1.9, 0.0
    yield 0.5
    kit.shot("door-2-joint")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 1.0)
    actions.end()
    assert abs(leaf.matrix_world.translation.z - 1.1) < 0.01, "the door fell off its hinge"
    # Push it open: it stops at the limit.
    path = kit.session().shown.body_at("Door")
    grab = kit.session().grab(path, (0.5, 0, 1.1))
    kit.session().drag(grab, (-0.4, -1.2, 1.1))
    yield from kit.hurry(kit.session(), 3.0)
    kit.session().release(grab)
    kit.shot("door-3-open")
    angle = leaf.matrix_world.to_euler().z
    assert -1.95 < angle < -0.5, angle
    print(f"DOOR opened to {angle:.2f}", flush=True)


def table():
    """Select all, Static with Empty."""
    parts = [box("Top", (0, 0, 1.0), (2, 1, 0.1), (0.7, 0.5, 0.3, 1))]
    corners = [(x, y, 0.475) for x in (-0.9, 0.9) for y in (-0.4, 0.4)]
    parts += [box("Leg", corner, (0.1, 0.1, 0.95), (0.5, 0.35, 0.2, 1)) for corner in corners]
    front(6.0)
    yield 0.5
    actions = Actions("table", 2)
    yield from select_all(actions)
    yield from press(actions, "compound_from_selection", target="EMPTY", role="STATIC")
    actions.end()
    kit.shot("table-1-compound")
    assert all(len(part.usdphys.colliders) == 1 and not part.usdphys.rigid_body.is_applied for part in parts)
    assert len({part.parent for part in parts}) == 1
    ball = box("Crate", (0.2, 0, 2.0), (0.3, 0.3, 0.3))
    ball.usdphys.rigid_body.is_applied = True
    ball.usdphys.colliders.add()
    yield from play(actions)
    yield from kit.hurry(kit.session(), 1.5)
    assert abs(ball.location.z - 1.2) < 0.02, "the crate does not lie on the table"
    kit.shot("table-2-crate")


def car_parts():
    """A chassis and its four wheels, in view and not selected."""
    chassis = box("Chassis", (-4, 0, 0.7), (2.4, 1.0, 0.4), (0.7, 0.15, 0.1, 1))
    wheels = [wheel(f"Wheel {x} {y}", (-4 + 0.8 * x, 0.7 * y, 0.35)) for x in (-1, 1) for y in (-1, 1)]
    front(11.0, 0.2, 0.9)
    bpy.ops.object.select_all(action="DESELECT")
    return chassis, wheels


def car():
    """Click the chassis, select all, Dynamic, Joint, motor and velocity in the panel of the operation, Ground, Play.
    The way of `vehicle` is shorter."""
    chassis, wheels = car_parts()
    yield 0.5
    actions = Actions("car by joints", 8)
    yield from click_on(actions, chassis, (0, 0, 0.2))
    yield from select_all(actions)
    assert bpy.context.object == chassis
    yield from press(actions, "make_dynamic")
    kit.shot("car-1-dynamic")
    actions(2)
    yield from press(actions, "joint_add", type="REVOLUTE", motor="VELOCITY", speed=6.0)
    joints = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert {obj.usdphys.joint.body1 for obj in joints} == set(wheels)
    kit.shot("car-2-joints")
    yield from press(actions, "add_physics", kind="GROUND")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.5)
    actions.end()
    kit.shot("car-3-drives")
    print(f"CAR drove {chassis.location.x + 4:.2f} m", flush=True)
    # 0.35 m at 6 rad/s is 2.1 m/s.
    assert 2.5 < abs(chassis.location.x + 4) < 5.5
    assert abs(chassis.location.y) < 0.3
    for one in wheels:
        assert abs((one.matrix_world.translation - chassis.matrix_world.translation).length - 1.12) < 0.06


def vehicle():
    """Select all, Vehicle, Ground, Play: it drives at once, without a value in a panel."""
    chassis, wheels = car_parts()
    yield 0.5
    actions = Actions("vehicle", 6)
    yield from select_all(actions)
    yield from press(actions, "vehicle")
    yield from press(actions, "add_physics", kind="GROUND")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.5)
    actions.end()
    kit.shot("vehicle-1-drives")
    assert abs(chassis.location.x + 4) > 2.0 and abs(chassis.location.y) < 0.5
    assert all(one.matrix_world.translation.z > 0.3 for one in wheels)


def robot_arm():
    """Click the base, select all, Robot Arm, Play: four hinges hold the arm."""
    base = box("Base", (0, 0, 0.5), (0.4, 0.4, 1.0), (0.35, 0.35, 0.4, 1))
    links = [box(f"Arm {index}", (0.7 + index, 0, 0.9), (0.9, 0.15, 0.15), (0.8, 0.5, 0.1, 1)) for index in range(4)]
    front(9.0, 0.6, 0.3)
    yield 0.5
    actions = Actions("robot arm", 5)
    yield from click_on(actions, base, (0, -0.2, -0.2))
    yield from select_all(actions)
    yield from press(actions, "robot_arm")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    kit.shot("arm-1-holds")
    assert len(kit.session().world.joints) == 5
    # The tip sags by less than 1 % of the reach, 4.15 m.
    assert abs(links[-1].matrix_world.translation.z - 0.9) < 0.04
    assert abs(base.matrix_world.translation.z - 0.5) < 1e-3


def rigid_bodies():
    """From Blender Rigid Bodies, Play."""
    bpy.ops.rigidbody.world_add()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
    places = {"Floor": ((0, 0, -0.1), (6, 6, 0.2)), "Low": ((0, 0, 0.5), (1, 1, 1)), "High": ((0, 0, 3), (1, 1, 1))}
    for name, (place, size) in places.items():
        bpy.context.view_layer.objects.active = box(name, place, size)
        bpy.ops.rigidbody.object_add(type="PASSIVE" if name == "Floor" else "ACTIVE")
    front(9.0)
    yield 0.5
    actions = Actions("rigid bodies", 2)
    yield from press(actions, "from_rigid_bodies")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 3.0)
    actions.end()
    kit.shot("rigid-bodies-1-stacked")
    heights = [bpy.data.objects[name].matrix_world.translation.z for name in ("Low", "High")]
    assert abs(heights[0] - 0.5) < 0.05 and abs(heights[1] - 1.5) < 0.05, heights
    bpy.ops.usdphys.preview_reset()
    bpy.ops.rigidbody.world_remove()


def stack():
    """Ground, Box Stack, Ball, Play: the ball is thrown at the stack, which is selected."""
    front(9.0)
    yield 0.5
    actions = Actions("stack", 5)
    for kind in ("GROUND", "STACK", "BALL"):
        yield from press(actions, "add_physics", kind=kind)
    kit.shot("stack-1-thrown")
    before = {obj.name: obj.location.copy() for obj in bpy.data.objects if obj.name.startswith("Box")}
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    kit.shot("stack-2-hit")
    ways = [(bpy.data.objects[name].location - place).length for name, place in before.items()]
    assert len(ways) == 5 and max(ways) > 0.3, ways


def chain():
    """Select all links, Chain, Play."""
    links = []
    for index in range(8):
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.12, segments=16, ring_count=8, location=(0.3 * index, 0, 2.5))
        bpy.context.object.name = f"Link {index}"
        links.append(bpy.context.object)
    front(6.0, 1.5, 0.0)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = links[0]
    yield 0.3
    actions = Actions("chain", 6)
    yield from select_all(actions)
    yield from press(actions, "joint_chain")
    kit.shot("chain-1-joints")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    kit.shot("chain-2-hangs")
    assert (links[0].location.z, links[0].location.x) == (2.5, 0.0)
    assert links[-1].location.z < 1.5


def arm():
    """Inspect Joints, a slider, Set Limit Here."""
    post = box("Post", (0, 0, 0.5), (0.4, 0.4, 1.0), (0.35, 0.35, 0.4, 1))
    links = [box(f"Arm {index}", (0.7 + index, 0, 0.9), (0.9, 0.15, 0.15), (0.8, 0.5, 0.1, 1)) for index in range(3)]
    post.usdphys.colliders.add()
    bpy.context.view_layer.update()
    for index, (first, second) in enumerate(itertools.pairwise([post, *links])):
        bpy.context.scene.cursor.location = (0.2 + index, 0, 0.9)
        bpy.ops.object.select_all(action="DESELECT")
        for obj in (second, first):
            obj.select_set(True)
        bpy.context.view_layer.objects.active = first
        bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Y")
    bpy.ops.object.select_all(action="DESELECT")
    bpy.data.objects["Arm 0 Joint"].select_set(True)
    bpy.ops.usdphys.joint_motor(holds=True)
    bpy.ops.object.select_all(action="DESELECT")
    front(9.0, 0.6, 0.3)
    yield 0.3
    actions = Actions("inspector", 6)
    yield from press(actions, "inspect_joints")
    rows = bpy.context.window_manager.usdphys_inspector.rows
    for row, angle in zip(rows, (-0.8, 0.9, 0.7), strict=True):
        actions()
        row.angle = angle
        yield 0.3
    yield from press(actions, "inspect_limit", index=0, which="LOWER")
    actions.end()
    sidebar = next(one for one in kit.area().regions if one.type == "UI")
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=sidebar):
        for _ in range(14):
            bpy.ops.view2d.scroll_down()
    yield 0.5
    kit.shot("inspector-1-posed")
    assert links[0].matrix_world.translation.z > 1.2
    assert abs(bpy.data.objects["Arm 0 Joint"].usdphys.joint.revolute.lower_limit + 0.8) < 1e-3
    kit.reset()
    yield 0.3
    assert abs(links[0].matrix_world.translation.z - 0.9) < 1e-6


def steps():
    yield from kit.install()
    kit.open_panel(bpy.types.USDPHYS_PT_inspector)
    space = kit.area().spaces.active
    space.show_region_ui = True
    space.shading.color_type = "OBJECT"
    clear()
    yield 0.5
    region = kit.region("UI")
    region.active_panel_category = "USD Physics"
    yield 0.5
    for task in (door, table, car, vehicle, robot_arm, rigid_bodies, stack, chain, arm):
        yield from task()
        clear()
        yield 0.5


kit.run(steps)
