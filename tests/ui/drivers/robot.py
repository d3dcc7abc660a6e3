"""A robot in a window: a URDF is dropped, imported, undone, redone, posed, played and exported. In a Blender with USD.

The robot is in /share/robot.urdf. The pictures are those of the manual.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit
import x11
from actions import Actions, play
from mathutils import Euler


def scrolled(clicks):
    """Scroll the sidebar down."""
    sidebar = kit.region("UI")
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=sidebar):
        for _ in range(clicks):
            bpy.ops.view2d.scroll_down()
    yield 0.5


def on_screen():
    """The middle of the view, in pixels from the upper left corner of the screen."""
    view = kit.region()
    return view.x + view.width // 2, kit.window().height - view.y - view.height // 2


def everything():
    """How many of each there are."""
    kinds = ("objects", "meshes", "materials", "collections", "images", "scenes")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def look():
    view = kit.area().spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation, view.view_location = Euler((1.2, 0, 0.5)).to_quaternion(), (0.3, 0, 0.35)
    view.view_distance = 3.2


def drop():
    """Drop the robot into the middle of the view."""
    x, y = on_screen()
    dropping = subprocess.Popen([sys.executable, x11.__file__, f"{kit.SHARE}/robot.urdf", str(x), str(y)])
    yield from kit.until(lambda: dropping.poll() is not None, "the file is dropped")
    assert dropping.returncode == 0


def counted():
    """An arm from a URDF in two actions: drop it, Play. It holds its pose."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.data.orphans_purge(do_recursive=True)
    yield 1.0
    actions = Actions("arm from URDF", 2)
    actions()
    yield from drop()
    yield from kit.until(lambda: "right_finger" in bpy.data.objects, "the robot is imported")
    yield 1.0
    before = bpy.data.objects["right_finger"].matrix_world.translation.copy()
    yield from play(actions)
    yield from kit.hurry(kit.session(), 2.0)
    actions.end()
    moved = (bpy.data.objects["right_finger"].matrix_world.translation - before).length
    print(f"ARM moved by {moved:.4f} m", flush=True)
    kit.shot("6-arm")
    assert moved < 0.05


def steps():
    yield from kit.install()
    kit.open_panel(bpy.types.USDPHYS_PT_inspector)
    space = kit.area().spaces.active
    space.shading.color_type = "MATERIAL"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.data.orphans_purge(do_recursive=True)
    with kit.in_view():
        bpy.ops.ed.undo_push(message="Empty")
    look()
    yield 0.5
    empty, screen = everything(), x11.Screen()
    x, y = on_screen()

    yield from drop()
    # No dialog comes before. The last thing that the import does; objects are there before.
    yield from kit.until(lambda: bpy.context.scene.usdphys.source.filepath, "the robot is imported")
    full = everything()
    print("IMPORTED", full)
    for _ in range(4):
        yield 0.5
    kit.shot("2-imported")
    # Adjust Last Operation, with its seventh row: Visuals.
    screen.key("F9", x, y)
    yield 1.0
    kit.shot("1-dropped")
    for is_seen in (False, True):
        screen.click(x + 137, y + 213)
        yield from kit.until(lambda seen=is_seen: ("upper_visual" in bpy.data.objects) == seen, "Visuals are adjusted")
        yield 1.0
    screen.key("Escape", x + 137, y + 213)
    yield 0.5
    print("ADJUSTED")
    full = everything()
    for _ in range(2):
        screen.key("Control_L+z", x, y)
        yield from kit.until(lambda: "upper" not in bpy.data.objects, "Ctrl+Z takes the robot away")
        yield 0.5
        assert everything() == empty, (everything(), empty)
        assert not bpy.context.scene.usdphys.source.filepath
        screen.key("Control_L+Shift_L+z", x, y)
        yield from kit.until(lambda: "upper" in bpy.data.objects, "Ctrl+Shift+Z brings it back")
        yield 0.5
        assert everything() == full, (everything(), full)
    print("UNDONE AND REDONE IN ONE STEP")

    scene = bpy.context.scene
    for obj in scene.objects:
        obj.select_set(False)
    kit.window().view_layer.objects.active = scene.objects["upper"]
    kit.area().spaces.active.show_region_ui = True
    look()
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    with kit.in_view():
        bpy.ops.usdphys.inspect_joints("INVOKE_DEFAULT")
    yield 0.5
    rows = {row.name: row for row in bpy.context.window_manager.usdphys_inspector.rows}
    before = scene.objects["right_finger"].matrix_world.copy()
    for name, angle in (("turn", 0.6), ("lift", -0.6), ("left", 0.5)):
        rows[name].angle = angle
        yield 0.3
    assert abs(rows["right"].angle + 0.5) < 1e-3, "the other finger follows"
    assert (scene.objects["right_finger"].matrix_world.translation - before.translation).length > 0.3
    yield from scrolled(24)
    kit.shot("3-inspected")
    kit.reset()
    yield 0.4
    yield from kit.play()
    yield from kit.hurry(kit.session(), 0.35)
    kit.shot("4-plays")
    kit.reset()
    yield 0.3

    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    target = Path(kit.SHARE, "again.urdf")
    with kit.in_view():
        bpy.ops.usdphys.export_urdf("INVOKE_DEFAULT", filepath=str(target))
    yield from kit.until(
        lambda: any(one.type == "FILE_BROWSER" for one in kit.window().screen.areas), "the dialog opens"
    )
    yield 1.0
    kit.shot("5-export")
    browser = next(one for one in kit.window().screen.areas if one.type == "FILE_BROWSER")
    with bpy.context.temp_override(window=kit.window(), area=browser):
        bpy.ops.file.execute()
    yield from kit.until(target.exists, "the URDF is written")
    assert target.read_text() == Path(kit.SHARE, "robot.urdf").read_text(), "what nobody edited comes back as it was"
    print("EXPORTED AS IT CAME")
    yield from counted()


kit.run(steps)
