"""The box of the selection in the sidebar: a body, several bodies, a joint; dark and light, wide and narrow, 150 %."""

import sys

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


def steps():
    yield from kit.install()
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    kit.shot("0-nothing")
    door, frame = kit.crate("Door", (0, 0, 2)), kit.crate("Frame", (3, 0, 2), moves=False)
    door.usdphys.rigid_body.is_applied = True
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
    joint = bpy.data.objects.new("Hinge", None)
    bpy.context.scene.collection.objects.link(joint)
    group = joint.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, "REVOLUTE", frame, door
    select(joint)
    selection.is_limited, selection.mover = True, "SERVO"
    yield 1.0
    kit.shot("3-joint")
    bpy.context.preferences.view.ui_scale = 1.5
    yield 1.0
    kit.shot("4-joint-150")
    bpy.context.preferences.view.ui_scale = 1.0
    light()
    yield 1.0
    kit.shot("5-joint-light")
    print("SELECTION DRAWN", flush=True)


kit.run(steps)
