"""Assets of the library: dragged from the asset browser, appended, duplicated, linked; all of them play."""

import sys
from pathlib import Path

sys.path.insert(0, "/share/drivers")

import bpy
import kit
from actions import box, front


def browser():
    return next(one for one in kit.window().screen.areas if one.type == "FILE_BROWSER")


def library_file():
    return str(Path(sys.modules[f"{kit.MODULE}.usdphys_addon.authoring.asset_library"].FOLDER, "physics_library.blend"))


def empty_scene():
    if kit.session() is not None:
        kit.reset()
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.data.orphans_purge(do_recursive=True)


def ends():
    """The names of the bodies of each joint of the scene."""
    joints = [obj.usdphys.joint for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied]
    return sorted((joint.body0.name, joint.body1.name) for joint in joints)


def opened_browser():
    """The editor of the properties becomes an asset browser with the library."""
    area = kit.area("PROPERTIES")
    area.type = "FILE_BROWSER"
    area.ui_type = "ASSETS"
    yield 1.0
    browser().spaces.active.show_region_toolbar = False
    browser().spaces.active.params.asset_library_reference = "Physics"
    yield 3.0


def drag():
    """Drag the first asset into the middle of the ground."""
    region = next(one for one in browser().regions if one.type == "WINDOW")
    x, y = region.x + 50, region.y + region.height - 50
    to_x, to_y = kit.pixel((0, 0, 0))
    kit.move(x, y)
    yield 0.5
    kit.window().event_simulate(type="LEFTMOUSE", value="PRESS", x=int(x), y=int(y))
    yield 0.3
    for part in (0.01, 0.02, 0.05, 0.1, 0.3, 0.6, 0.9, 1.0):
        kit.move(x + (to_x - x) * part, y + (to_y - y) * part)
        yield 0.3
    kit.shot("2-dragging")
    kit.window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=int(to_x), y=int(to_y))
    yield from kit.until(lambda: len(bpy.data.objects) > 1, "the asset is dropped")
    yield 1.0
    kit.shot("3-dropped")


def plays(name, bodies):
    """Play for two seconds: so many bodies, no notice, and what stands goes on standing."""
    yield from kit.play()
    session = kit.session()
    assert len(session.shown.names) == bodies, session.shown.names
    assert not session.notices, [notice.message for notice in session.notices]
    before = session.world.positions.copy()
    yield from kit.hurry(session, 2.0)
    kit.shot(name)
    assert abs(session.world.positions - before).max() < 0.1
    kit.reset()
    yield 0.5


def steps():
    yield from kit.install()
    with kit.in_view():
        bpy.ops.usdphys.library_add()
    kit.area().spaces.active.show_region_ui = True
    empty_scene()
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield from opened_browser()
    kit.shot("1-browser")
    ground = box("Ground", (0, 0, -0.5), (20, 20, 1), (0.5, 0.5, 0.5, 1))
    ground.usdphys.colliders.add()
    front(7.0)
    yield 1.0
    yield from drag()
    yield from plays("4-plays", 23)

    empty_scene()
    with kit.in_view():
        bpy.ops.wm.append(directory=f"{library_file()}/Collection/", filename="Double Door", instance_collections=False)
    front(7.0)
    yield 1.0
    kit.shot("5-appended")
    yield from plays("6-appended-plays", 2)
    before = ends()
    for obj in bpy.context.scene.objects:
        obj.select_set(True)
    with kit.in_view():
        bpy.ops.object.duplicate_move(TRANSFORM_OT_translate={"value": (2.5, 0, 0)})
    yield 1.0
    kit.shot("7-duplicated")
    new = [pair for pair in ends() if pair not in before]
    assert len(new) == 2 and not {name for pair in new for name in pair} & {name for pair in before for name in pair}
    yield from plays("8-duplicated-plays", 4)

    empty_scene()
    with kit.in_view():
        bpy.ops.wm.link(directory=f"{library_file()}/Collection/", filename="Double Door", instance_collections=True)
    yield 2.0
    kit.shot("9-linked")
    yield from plays("10-linked-plays", 2)
    print("LIBRARY USED", flush=True)


kit.run(steps)
