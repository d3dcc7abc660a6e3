"""The preview in two windows: the second one grabs and ends it, and it goes on when the first one is closed."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def guard():
    return __import__(f"{kit.MODULE}.usdphys_addon.playback.guard", fromlist=["guard"])


def windows():
    return bpy.context.window_manager.windows


def steps():
    yield from kit.install()
    for index in range(3):
        kit.crate(f"Crate {index}", (2.0 * index, 0.0, 500.0))
    bpy.data.objects["Cube"].usdphys.colliders.add()
    first = kit.window()
    with kit.in_view():
        bpy.ops.usdphys.preview_play()
    yield from kit.simulated(guard().current(), 5)

    # A window that is opened while it plays ends it by Esc.
    with kit.in_view():
        bpy.ops.wm.window_new()
    yield from kit.until(lambda: len(windows()) == 2, "a second window")
    second = next(one for one in windows() if one != first)
    yield from kit.until(lambda: len(listening()) == 2, "the second window listens")
    kit.shot("1-two")
    second.event_simulate(type="ESC", value="PRESS", x=20, y=20)
    yield from kit.until(lambda: guard().current() is None, "Esc in the second window ends the preview")
    assert bpy.data.objects["Crate 0"].location.z == 500.0
    yield from kit.until(lambda: not listening(), "nobody listens any more")

    # It was started in the second window, which is closed.
    with bpy.context.temp_override(window=second):
        bpy.ops.usdphys.preview_play()
    yield from kit.until(lambda: len(listening()) == 2, "both windows listen")
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield from kit.until(lambda: len(windows()) == 1, "the second window is closed")
    yield from kit.simulated(guard().current(), 20)
    assert len(listening()) == 1
    kit.shot("2-one")
    yield from kit.key("ESC", 600, 400)
    yield from kit.until(lambda: guard().current() is None, "Esc in the window that is left")
    assert bpy.data.objects["Crate 0"].location.z == 500.0


def listening():
    return __import__(f"{kit.MODULE}.operators.preview", fromlist=["preview"]).listening


if __name__ == "__main__":
    kit.run(steps)
