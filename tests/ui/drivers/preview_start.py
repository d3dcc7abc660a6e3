"""Start the physics of many bodies: Blender draws its progress and listens while it is prepared, and Esc ends it."""

import sys
from importlib import import_module

sys.path.insert(0, "/share/drivers")

import bpy
import kit

BODIES = 3000


def steps():
    yield from kit.install()
    guard = kit.guard()
    kit.crate("Floor", (0, 0, -1.1), (90, 90, 0.1), moves=False)
    crates = [
        kit.crate(f"Crate {index}", (index % 60 - 30, index // 60 - 30, 0), (0.4,) * 3) for index in range(BODIES)
    ]
    bpy.context.view_layer.update()
    yield 0.5
    before = {obj.name: (tuple(obj.location), obj.rotation_mode) for obj in bpy.data.objects}
    view = kit.region()
    x, y = view.x + view.width // 2, view.y + view.height // 2

    # A slice is one step, so that it does not depend on the machine how much of it is done when Esc is pressed.
    preview = import_module(f"{kit.MODULE}.operators.preview")
    preview.SLICE = 0.0

    # The editors are drawn again between two slices, and the progress grows.
    with kit.in_view():
        assert bpy.ops.usdphys.preview_play("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    work = guard.starting()
    assert work is not None, "all of it at once"
    first = work.fraction
    yield 0.0
    assert guard.starting() is work and first < work.fraction < 1.0
    kit.shot("1-progress")

    # What is typed meanwhile is no edit.
    yield from kit.key("X", x, y)
    assert len(bpy.data.objects) >= BODIES and guard.starting() is work

    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: guard.starting() is None, "Esc ends it")
    assert guard.current() is None and not bpy.context.scene.usdphys.preview.is_running
    assert {obj.name: (tuple(obj.location), obj.rotation_mode) for obj in bpy.data.objects} == before
    print("ESC ENDED IT")

    # Once more, to its end, by the timeline: it waits until the physics is prepared.
    guard.SLICE = 0.0
    bpy.context.scene.usdphys.preview.with_timeline = True
    with kit.in_view():
        bpy.ops.screen.animation_play()
    yield from kit.until(lambda: guard.starting() is not None and guard.starting().slices > 3, "it is prepared")
    assert guard.current() is None and not bpy.context.screen.is_animation_playing
    assert bpy.context.scene.frame_current == 1
    kit.shot("2-timeline")
    preview.SLICE = 0.1
    yield from kit.until(lambda: guard.timeline() is not None, "the timeline leads the preview")
    yield from kit.until(lambda: crates[0].location.z < -0.05, "the crates fall")
    assert bpy.context.scene.frame_current > 1
    kit.shot("3-playing")
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: guard.current() is None, "the preview has ended")


kit.run(steps)
