"""Tasks of the first hour, counted in actions: a click, a key, a typed value."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit
from actions import Actions, box, clear, click_on, front, play, press, select_all, wheel


def empty_selection():
    bpy.ops.object.select_all(action="DESELECT")


def joints():
    return [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]


def selection():
    return bpy.context.scene.usdphys_selection


def pile():
    """Select all stones, Ground, Dynamic, Play: the ground keeps the selection, and stays static."""
    stones = [box(f"Stone {n}", (0.35 * (n % 3), 0.3 * (n // 3), 1.0 + 0.6 * n), (0.5, 0.5, 0.4)) for n in range(6)]
    front(9.0)
    empty_selection()
    yield 0.5
    actions = Actions("pile", 12)
    yield from select_all(actions)
    yield from press(actions, "add_physics", kind="GROUND")
    assert set(bpy.context.selected_objects) == set(stones), "Ground keeps the selection"
    yield from press(actions, "make_dynamic")
    ground = next(obj for obj in bpy.data.objects if obj.name.startswith("Ground"))
    assert not ground.usdphys.rigid_body.is_applied
    kit.shot("1-pile")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 3.0)
    actions.end()
    kit.shot("2-pile-lies")
    heights = [stone.matrix_world.translation.z for stone in stones]
    assert min(heights) > 0.15 and max(heights) < 2.5, heights
    top = ground.matrix_world.translation.z
    assert top < 0.8, "the ground is below the stones"


def spring_door():
    """Door, frame, Door, Spring, Play: pushed open, it comes back."""
    frame = box("Frame", (-0.65, 0, 1.1), (0.2, 0.2, 2.2), (0.5, 0.35, 0.2, 1))
    leaf = box("Door", (0.02, 0, 1.1), (1.1, 0.08, 2.0), (0.75, 0.55, 0.35, 1))
    front(7.0)
    empty_selection()
    yield 0.5
    actions = Actions("door with spring", 8)
    yield from click_on(actions, leaf, (0.1, -0.04, 0.2))
    yield from click_on(actions, frame, (0, -0.1, 0.2), shift=True)
    yield from press(actions, "joint_add")
    assert bpy.context.object in joints(), "the new joint is selected: its box is there"
    actions()
    selection().mover = "SPRING"
    yield 0.5
    kit.shot("3-spring")
    yield from play(actions)
    path = kit.session().shown.body_at("Door")
    grab = kit.session().grab(path, (0.5, 0, 1.1))
    kit.session().drag(grab, (-0.2, -0.8, 1.1))
    yield from kit.hurry(kit.session(), 1.5)
    opened = abs(leaf.matrix_world.to_euler().z)
    kit.session().release(grab)
    yield from kit.hurry(kit.session(), 6.0)
    actions.end()
    closed = abs(leaf.matrix_world.to_euler().z)
    print(f"DOOR {opened:.2f} rad, then {closed:.2f}", flush=True)
    assert opened > 0.3 and closed < 0.15


def drawers():
    """Select all, the cabinet last, Drawer, Play: each drawer slides."""
    cabinet = box("Cabinet", (0, 0.3, 0.6), (1.0, 0.1, 1.2), (0.5, 0.35, 0.2, 1))
    made = [box(f"Drawer {n}", (0, -0.1, 0.25 + 0.35 * n), (0.9, 0.6, 0.3), (0.75, 0.55, 0.35, 1)) for n in range(3)]
    front(5.0, 0.6)
    empty_selection()
    yield 0.5
    actions = Actions("drawers", 6)
    yield from select_all(actions)
    yield from click_on(actions, cabinet, (0, -0.05, 0.58), shift=True)
    yield from press(actions, "mechanism", kind="DRAWER")
    actions()
    kit.shot("4-drawers")
    assert len(joints()) == 3 and {joint.usdphys.joint.type for joint in joints()} == {"PRISMATIC"}
    yield from play(actions)
    yield from kit.hurry(kit.session(), 1.0)
    actions.end()
    assert all(abs(one.matrix_world.translation.z - (0.25 + 0.35 * n)) < 0.02 for n, one in enumerate(made))


def car():
    """Select all, Vehicle, Ground, Play."""
    chassis = box("Chassis", (-4, 0, 0.7), (2.4, 1.0, 0.4), (0.7, 0.15, 0.1, 1))
    for x in (-1, 1):
        for y in (-1, 1):
            wheel(f"Wheel {x} {y}", (-4 + 0.8 * x, 0.7 * y, 0.35))
    front(11.0, 0.2, 0.9)
    empty_selection()
    yield 0.5
    actions = Actions("car", 5)
    yield from select_all(actions)
    yield from press(actions, "vehicle")
    yield from press(actions, "add_physics", kind="GROUND")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.5)
    actions.end()
    kit.shot("5-car")
    assert abs(chassis.location.x + 4) > 2.0


def ragdoll():
    """Click the rig, Ragdoll, Ground, Play: it falls and lies."""
    rig = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", rig)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    with kit.in_view():
        bpy.ops.object.mode_set(mode="EDIT")
        above = None
        for number in range(5):
            bone = rig.edit_bones.new(f"spine.{number:03d}")
            # Somewhat bent: what stands exactly upright stays so.
            bone.head, bone.tail = (
                (0, 0.02 * number**2, 1 + 0.3 * number),
                (0, 0.02 * (number + 1) ** 2, 1.3 + 0.3 * number),
            )
            bone.parent, above = above, bone
        bpy.ops.object.mode_set(mode="OBJECT")
    front(7.0)
    empty_selection()
    yield 0.5
    actions = Actions("ragdoll", 4)
    yield from click_on(actions, obj, (0.0, 0, 1.5))
    yield from press(actions, "ragdoll")
    yield from press(actions, "add_physics", kind="GROUND")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 3.0)
    actions.end()
    kit.shot("6-ragdoll")
    bodies = [one for one in bpy.data.objects if one.usdphys.rigid_body.is_applied]
    assert bodies and all(-0.2 < body.matrix_world.translation.z < 0.5 for body in bodies), "it has not fallen down"


def bridge():
    """Click both banks, Rope, the kind in its panel, Play: it hangs between their edges."""
    banks = [box(f"Bank {side}", (3 * side, 0, 0.5), (2, 2, 1), (0.4, 0.5, 0.3, 1)) for side in (-1, 1)]
    front(14.0, 0.5, 0.3)
    empty_selection()
    yield 0.5
    actions = Actions("rope bridge", 5)
    yield from click_on(actions, banks[0], (0, -0.3, 0.5))
    yield from click_on(actions, banks[1], (0, -0.3, 0.5), shift=True)
    yield from press(actions, "rope", kind="BRIDGE")
    actions()
    kit.shot("7-bridge")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    kit.shot("8-bridge-hangs")
    planks = [one for one in bpy.data.objects if one.usdphys.rigid_body.is_applied]
    heights = [one.matrix_world.translation.z for one in planks]
    print(f"BRIDGE {len(planks)} planks, {min(heights):.2f} to {max(heights):.2f} m", flush=True)
    assert len(planks) > 5 and min(heights) > -1.0 and max(heights) > 0.6


def wall():
    """Click a brick, Ground, Wall, Ball, Play: the ball hits the wall."""
    brick = box("Brick", (0, 0, 0.1), (0.4, 0.2, 0.2), (0.7, 0.3, 0.2, 1))
    front(9.0)
    empty_selection()
    yield 0.5
    actions = Actions("wall and ball", 5)
    yield from click_on(actions, brick, (0, -0.1, 0))
    yield from press(actions, "add_physics", kind="GROUND")
    yield from press(actions, "wall")
    yield from press(actions, "add_physics", kind="BALL")
    before = {obj.name: obj.matrix_world.translation.copy() for obj in bpy.data.objects if "rick" in obj.name}
    kit.shot("9-wall")
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    kit.shot("10-wall-hit")
    ways = [(bpy.data.objects[name].matrix_world.translation - place).length for name, place in before.items()]
    print(f"WALL {len(ways)} bricks, moved by at most {max(ways):.2f} m", flush=True)
    assert len(ways) > 5 and max(ways) > 0.3


def steps():
    yield from kit.install()
    space = kit.area().spaces.active
    space.show_region_ui = True
    space.shading.color_type = "OBJECT"
    clear()
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    for task in (pile, spring_door, drawers, car, ragdoll, bridge, wall):
        yield from task()
        clear()
        yield 0.5


kit.run(steps)
