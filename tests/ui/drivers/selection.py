"""The box of the selection in the sidebar: a body, several bodies, a joint; dark and light, wide and narrow, 150 %."""

import sys
from functools import partial

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def light():
    """The light theme that Blender brings."""
    folder = bpy.utils.preset_paths("interface_theme")[0]
    bpy.ops.script.execute_preset(
        filepath=f"{folder}/Blender_Light.xml", menu_idname="USERPREF_MT_interface_theme_presets"
    )


def widen(width):
    """Drag the edge of the sidebar until it is so wide, in pixels."""
    region = kit.region("UI")
    x, y = region.x, region.y + 40
    kit.move(x, y)
    yield 0.3
    kit.window().event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
    yield 0.2
    for way in (0.5, 1.0):
        kit.move(x - (width - region.width) * way, y)
        yield 0.2
    kit.window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=int(x - (width - region.width)), y=y)
    yield 0.5
    kit.move(400, 400)
    print(f"SIDEBAR {kit.region('UI').width} px wide", flush=True)


def scene():
    """A door in a frame with a servo, in a group, and a robot of two bodies."""
    door, frame = kit.crate("Door", (0, 0, 2)), kit.crate("Frame", (3, 0, 2), moves=False)
    door.usdphys.rigid_body.is_applied = True
    joint = bpy.data.objects.new("Hinge", None)
    bpy.context.scene.collection.objects.link(joint)
    group = joint.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, "REVOLUTE", frame, door
    for name in ("Doors", "Walls"):
        bpy.context.scene.usdphys.collision_groups.add().name = name
    base, arm = kit.crate("Base", (0, 3, 2)), kit.crate("Arm", (1.5, 3, 2))
    base.usdphys.articulation_root.is_applied = True
    shoulder = bpy.data.objects.new("Shoulder", None)
    bpy.context.scene.collection.objects.link(shoulder)
    group = shoulder.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, "REVOLUTE", base, arm
    return door, frame, joint, base


def views(name, chosen):
    """Pictures of the box for each selection. chosen: name -> objects, active first; none: an empty selection."""
    for what, objects in chosen.items():
        if objects:
            select(*objects)
        else:
            bpy.ops.object.select_all(action="DESELECT")
        if len(objects) > 1:
            differing = sys.modules[f"{kit.MODULE}.usdphys_addon.viewport.selection"].differing
            yield from kit.until(partial(differing, objects[0], objects), "what differs is known")
        yield 1.5
        kit.shot(f"{name}-{what}")


def steps():
    yield from kit.install()
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    kit.shot("0-nothing")
    yield from widen(320)
    door, frame, joint, base = scene()
    select(door)
    selection = bpy.context.scene.usdphys_selection
    yield from kit.until(lambda: selection.mass > 0.0, "the mass is computed for the panel")
    yield 1.5
    kit.shot("1-body")
    select(door, frame)
    selection.friction = 0.25
    frame.usdphys.physics_material = None
    yield 1.5
    kit.shot("2-two")
    select(door)
    selection.group = "Doors"
    with kit.in_view():
        bpy.ops.usdphys.selection_key(name="mass")
    select(joint)
    selection.is_limited, selection.mover = True, "SERVO"
    yield 1.0
    kit.shot("3-joint")
    chosen = {"scene": (), "body": (door,), "several": (door, frame), "joint": (joint,), "robot": (base,)}
    yield from views("dark-100", chosen)
    light()
    yield from views("light-100", chosen)
    bpy.context.preferences.view.ui_scale = 1.5
    yield 0.5
    yield from views("light-150", chosen)
    with kit.in_view():
        bpy.ops.preferences.reset_default_theme()
    yield from views("dark-150", chosen)
    bpy.context.preferences.view.ui_scale = 1.0
    yield 0.5
    select(door)
    kit.move(400, 500)
    yield 0.5
    with kit.in_view():
        bpy.ops.usdphys.find_setting("INVOKE_DEFAULT")
    yield 1.0
    for letter in ("L", "I", "N", "E", "A", "R", "D", "A", "M", "P"):
        kit.window().event_simulate(type=letter, value="PRESS", x=400, y=500, unicode=letter.lower())
        kit.window().event_simulate(type=letter, value="RELEASE", x=400, y=500)
        yield 0.1
    yield 0.5
    kit.shot("6-search")
    yield from kit.key("RET", 400, 500)
    yield 1.0
    kit.shot("7-found")
    print("SELECTION DRAWN", flush=True)


kit.run(steps)
