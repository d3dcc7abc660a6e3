"""A newcomer drops a model of MuJoCo on the window, plays it in MuJoCo, drags the arm, and exports USD, URDF and MJCF.

In a Blender with USD and MuJoCo. The model is /share/robot/ROBOT, ROBOT of the environment, or arm.xml.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit
import numpy as np
import x11
from mathutils import Euler

ROBOT = Path(kit.SHARE, "robot", os.environ.get("UI_ROBOT", "arm.xml"))
#: Objects of the body that is dragged.
HAND = os.environ.get("UI_HAND", "hand")


def look():
    """Look at all that the robot shows."""
    corners = [obj.matrix_world @ type(obj.location)(corner) for obj in bpy.context.scene.objects if obj.type == "MESH"
               for corner in obj.bound_box]  # fmt: skip
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    view = kit.area().spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation, view.view_location = Euler((1.2, 0, 0.7)).to_quaternion(), (low + high) / 2.0
    view.view_distance = 2.2 * float(np.linalg.norm(high - low))


def export(operator, target, what):
    """By the dialog: its file browser, and its button."""
    with kit.in_view():
        operator("INVOKE_DEFAULT", filepath=str(target))
    yield from kit.until(
        lambda: any(one.type == "FILE_BROWSER" for one in kit.window().screen.areas), f"the dialog of {what} opens"
    )
    yield 0.6
    kit.shot(f"8-export-{what}")
    browser = next(one for one in kit.window().screen.areas if one.type == "FILE_BROWSER")
    with bpy.context.temp_override(window=kit.window(), area=browser):
        bpy.ops.file.execute()
    yield from kit.until(target.exists, f"the {what} is written")
    yield 0.5


def steps():
    yield from kit.install()
    kit.area().spaces.active.shading.color_type = "MATERIAL"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    yield 0.5
    view = kit.region()
    x, y = view.x + view.width // 2, kit.window().height - view.y - view.height // 2
    screen = x11.Screen()
    dropping = subprocess.Popen([sys.executable, x11.__file__, str(ROBOT), str(x), str(y)])
    yield from kit.until(lambda: dropping.poll() is not None, "the file is dropped")
    assert dropping.returncode == 0
    yield 1.0
    kit.shot("1-dropped")
    screen.key("Return", x, y)
    yield from kit.until(lambda: bpy.context.scene.usdphys.source.filepath, "the robot is imported")
    look()
    space = kit.area().spaces.active
    space.show_region_ui = True
    yield 1.0
    kit.region("UI").active_panel_category = "USD Physics"
    kit.open_panel(bpy.types.USDPHYS_PT_preview)
    yield 0.6
    kit.shot("2-imported")
    print("IMPORTED", len(bpy.data.objects), "objects")
    with kit.in_view():
        bpy.ops.usdphys.choose_engine(engine="mujoco")
    before = {obj.name: tuple(map(tuple, obj.matrix_world)) for obj in bpy.data.objects}

    yield from kit.play()
    session = kit.session()
    assert {type(each).__name__ for each in session.world.spaces} == {"MujocoScene"}
    yield from kit.simulated(session, 30)
    kit.shot("3-plays")
    path = next(each for each in session.world.paths if each.rpartition("/")[2] == HAND)

    def hand():
        return np.array(session.world.positions[session.world.index(path)])

    start = hand()
    pulled = start + np.array([0.0, 0.0, 0.12]) + 0.3 * (np.array([0.0, 0.0, start[2]]) - start)
    number = session.grab(path, tuple(start))
    session.drag(number, tuple(pulled))
    way = np.linalg.norm(pulled - start)
    # Servos hold it back.
    yield from kit.until(lambda: np.linalg.norm(hand() - start) > 0.25 * way, "the arm comes along")
    yield from kit.simulated(session, 20)
    kit.shot("4-dragged")
    print(f"DRAGGED {np.linalg.norm(hand() - start):.3f} m, REAL TIME {session.real_time_factor:.2f}")
    session.release(number)
    kit.reset()
    yield from kit.until(lambda: kit.session() is None, "the reset ends it")
    bpy.context.view_layer.update()
    assert {obj.name: tuple(map(tuple, obj.matrix_world)) for obj in bpy.data.objects} == before, "reset to the bit"
    kit.shot("5-reset")

    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    made = Path(kit.SHARE, "made")
    made.mkdir()
    for what, name, operator in (
        ("USD", "robot.usda", bpy.ops.usdphys.export_usd), ("URDF", "robot.urdf", bpy.ops.usdphys.export_urdf),
        ("MJCF", "robot.xml", bpy.ops.usdphys.export_mjcf),
    ):  # fmt: skip
        yield from export(operator, made / name, what)
    kit.shot("9-exported")
    import mujoco

    models = [mujoco.MjModel.from_xml_path(str(file)) for file in (ROBOT, made / "robot.xml", made / "robot.urdf")]
    masses = [float(model.body_mass.sum()) for model in models]
    assert abs(masses[0] - masses[1]) < 1e-6 * masses[0] and models[0].njnt == models[1].njnt, masses
    print(f"EXPORTED: USD {(made / 'robot.usda').stat().st_size} bytes, joints {[model.njnt for model in models]}")


kit.run(steps)
