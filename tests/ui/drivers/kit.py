"""What every driver needs. A driver is a generator of steps; it yields seconds in which Blender draws and listens, or
None, for a moment in which nothing is drawn that has not changed.

However slow the machine is, a driver goes on only after Blender has drawn its editors twice: what was simulated as
input before is handled then, and what it led to is on the screen. For everything else, wait on it: `until`.
"""

import itertools
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import bpy

MODULE = "bl_ext.user_default.usdphys_addon"
#: The folder that the runner shares, and what runs a program inside of the tree: both set where Blender is outside.
SHARE = os.environ.get("UI_SHARE", "/share")
IN_TREE = os.environ.get("UI_IN_TREE", "").split()
#: Seconds of waiting in vain that are a failure.
PATIENCE = 240.0
#: Redraws of an editor that a driver lets pass at each of its steps.
REDRAWS = 2
#: Seconds between two looks at a state; at one of so many all is drawn anew, which takes much longer without a GPU.
LOOK, LOOKS = 0.1, 10
#: The least pause, as a part of the seconds that a driver yields: what it waits for are the redraws.
PAUSE = 0.5
_redraws = 0


def window():
    return bpy.context.window_manager.windows[0]


def area(kind="VIEW_3D"):
    return next(a for a in window().screen.areas if a.type == kind)


def region(kind="WINDOW", of="VIEW_3D"):
    return next(r for r in area(of).regions if r.type == kind)


def in_view():
    return bpy.context.temp_override(window=window(), area=area(), region=region())


def until(condition, what):
    """Wait on a state, never on a time: the machine may be slow."""
    end = time.monotonic() + PATIENCE
    for look in itertools.count(1):
        if condition():
            return
        assert time.monotonic() < end, f"waited in vain: {what}"
        yield None if look % LOOKS else LOOK


def guard():
    """The module that knows whether a preview runs."""
    return sys.modules[f"{MODULE}.usdphys_addon.playback.guard"]


def session():
    """The preview that runs, or None."""
    return guard().current()


def begun():
    """Wait until the preview that was started has begun: it is prepared in slices."""
    yield from until(lambda: session() is not None, "the preview begins")


def play():
    """Press Play, and wait until the preview has begun."""
    with in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    yield from begun()


def reset():
    """Press Reset."""
    with in_view():
        bpy.ops.usdphys.preview_reset()


def open_panel(panel):
    """As one click on the header of a panel does. panel: its class."""
    bpy.utils.unregister_class(panel)
    panel.bl_options = set(getattr(panel, "bl_options", ())) - {"DEFAULT_CLOSED"}
    bpy.utils.register_class(panel)


def show_sidebar(*panels, distance=9.0):
    """Open panels of the tab *USD Physics*, over a view of the middle. A generator, as Blender has to draw between."""
    area().spaces.active.show_region_ui = True
    view = area().spaces.active.region_3d
    view.view_location, view.view_distance = (0, 0, 0.3), distance
    for panel in panels:
        open_panel(panel)
    yield 0.5
    region("UI").active_panel_category = "USD Physics"


def scroll_sidebar_down():
    """To the end of the sidebar."""
    with bpy.context.temp_override(window=window(), area=area(), region=region("UI")):
        for _ in range(24):
            bpy.ops.view2d.scroll_down(deltay=40)


def shot(name):
    """Blender's own screenshot operators give black without a GPU."""
    file = Path(SHARE, "pictures")
    is_for_manual = file.exists() and name in file.read_text(encoding="utf-8").split()
    if is_for_manual:
        _draw_plainly(False)
        with bpy.context.temp_override(window=window()):
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
    # Quality 11: packed as fast as it can be. By default, a picture takes as long as two redraws.
    grab = ["import", "-silent", "-window", "root", "-quality", "11", f"/share/shots/{name}.png"]
    subprocess.run([*IN_TREE, *grab], check=True)
    if is_for_manual:
        _draw_plainly(True)


def pixel(point):
    """Where a point of the world is drawn, in pixels of the window."""
    from bpy_extras import view3d_utils

    view = area().spaces.active.region_3d
    place = view3d_utils.location_3d_to_region_2d(region(), view, point)
    return region().x + place[0], region().y + place[1]


def crate(name, location, scale=(0.5, 0.5, 0.5), moves=True):
    """A cube that collides, with the mesh of the start file."""
    obj = bpy.data.objects.new(name, bpy.data.meshes["Cube"])
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.scale = location, scale
    obj.usdphys.colliders.add()
    obj.usdphys.rigid_body.is_applied = moves
    return obj


def move(x, y):
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(x), y=int(y))


def click(x, y, button="LEFTMOUSE"):
    move(x, y)
    yield 0.2
    window().event_simulate(type=button, value="PRESS", x=int(x), y=int(y))
    yield 0.2
    window().event_simulate(type=button, value="RELEASE", x=int(x), y=int(y))
    yield 0.4


def key(name, x, y, **modifiers):
    window().event_simulate(type=name, value="PRESS", x=int(x), y=int(y), **modifiers)
    yield 0.1
    window().event_simulate(type=name, value="RELEASE", x=int(x), y=int(y), **modifiers)
    yield 0.4


def install():
    """Install and enable the zip through Blender's own operator, as a user does."""
    with in_view():
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=f"{SHARE}/extension.zip", enable_on_install=True
        )
    yield from until(lambda: MODULE in bpy.context.preferences.addons, "the add-on is enabled")


def simulated(session, frames):
    """Wait until a preview that plays has gone on by so many time steps."""
    goal = session.world.frame + frames
    yield from until(lambda: session.world.frame >= goal, "the preview goes on")


def hurry(session, seconds):
    """The preview plays; bring it to a time of its world without waiting for a redraw after every few steps."""
    yield from simulated(session, 8)
    with in_view():
        while session.world.time < seconds:
            session.simulate(bpy.context)
        session.show(bpy.context)
    yield 0.1


def _count_redraw():
    global _redraws
    _redraws += 1


def _tag_redraw():
    for one in window().screen.areas:
        one.tag_redraw()


def _draw_plainly(is_plain):
    """Without smooth edges, floor and axes of navigation, which no test looks at, a redraw takes half the time where
    there is no GPU."""
    system, view = bpy.context.preferences.system, bpy.context.preferences.view
    system.viewport_aa = "OFF" if is_plain else "8"
    system.use_overlay_smooth_wire = system.use_edit_mode_smooth_wire = view.show_navigate_ui = not is_plain
    view.mini_axis_type = "NONE" if is_plain else "GIZMO"
    for one in window().screen.areas:
        if one.type == "VIEW_3D":
            overlay = one.spaces.active.overlay
            overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = not is_plain


def run(steps):
    """Drive Blender with the generator; the process ends with 0 only when it ran to its end."""
    generator = steps()
    bpy.context.preferences.view.show_splash = False
    # Without a GPU, EEVEE compiles for half a minute to draw the icon of a material.
    bpy.context.scene.render.engine = "BLENDER_WORKBENCH"
    _draw_plainly(True)
    for space in (bpy.types.SpaceView3D, bpy.types.SpaceProperties, bpy.types.SpaceFileBrowser):
        space.draw_handler_add(_count_redraw, (), "WINDOW", "POST_PIXEL")
    waits_for = 0

    def end(status):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # no question about unsaved changes

    def pump():
        nonlocal waits_for
        try:
            if _redraws < waits_for:
                _tag_redraw()
                return 0.01
            pause = next(generator)
            if pause is None:
                return LOOK
            _tag_redraw()
            waits_for = _redraws + REDRAWS
            return pause * PAUSE
        except StopIteration:
            end(0)
        except BaseException:
            traceback.print_exc()
            try:
                shot("failed")
            finally:
                end(1)

    bpy.app.timers.register(pump, first_interval=1.5, persistent=True)
