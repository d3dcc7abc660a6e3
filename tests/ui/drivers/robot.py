"""The manual's pictures of a robot from a URDF: its joints are inspected, and it plays.

The robot is in /share/robot.blend, which a Blender with USD has imported: that of the window has none. Taken by
scripts/robot_pictures.py.
"""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit
from mathutils import Euler


def scrolled(clicks):
    """Scroll the sidebar down."""
    sidebar = kit.region("UI")
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=sidebar):
        for _ in range(clicks):
            bpy.ops.view2d.scroll_down()
    yield 0.5


def steps():
    yield from kit.install()
    kit.open_panel(bpy.types.USDPHYS_PT_inspector)
    space = kit.area().spaces.active
    space.show_region_ui = True
    space.shading.color_type = "MATERIAL"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    with bpy.data.libraries.load("/share/robot.blend") as (found, wanted):
        wanted.scenes = found.scenes
    scene = kit.window().scene = wanted.scenes[0]
    for obj in scene.objects:
        obj.select_set(False)
    kit.window().view_layer.objects.active = scene.objects["upper"]
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    view = space.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation, view.view_location = Euler((1.2, 0, 0.5)).to_quaternion(), (0.3, 0, 0.35)
    view.view_distance = 3.2
    yield 0.5
    with kit.in_view():
        bpy.ops.usdphys.inspect_joints("INVOKE_DEFAULT")
    yield 0.5
    rows = {row.name: row for row in bpy.context.window_manager.usdphys_inspector.rows}
    for name, angle in (("turn", 0.6), ("lift", -0.6), ("left", 0.5)):
        rows[name].angle = angle
        yield 0.3
    assert abs(rows["right"].angle + 0.5) < 1e-3, "the other finger follows"
    yield from scrolled(14)
    kit.shot("1-inspected")
    kit.reset()
    yield 0.4
    yield from kit.play()
    yield from kit.hurry(kit.session(), 0.35)
    kit.shot("2-plays")
    kit.reset()
    yield 0.3


kit.run(steps)
