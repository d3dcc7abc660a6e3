"""Play the physics of a small stack in the view: pause, grab, reset, keep, and what a user sees of it."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def steps():
    yield from kit.install()
    guard = kit.guard()
    space = kit.area().spaces.active
    space.show_region_ui = True
    kit.crate("Floor", (0, 0, -1.1), (6, 6, 0.1), moves=False)
    falling = kit.crate("Falling", (0.3, 0, 4), (0.5, 0.5, 0.5))
    stack = [kit.crate(f"Stack {index}", (2.5, 0, -0.5 + index * 1.02), (0.5, 0.5, 0.5)) for index in range(3)]
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.view_layer.update()
    yield 0.5
    region = kit.region("UI")
    if hasattr(region, "active_panel_category"):
        region.active_panel_category = "USD Physics"
    yield 0.5
    kit.shot("1-ready")
    before = {obj.name: (tuple(obj.location), tuple(obj.rotation_euler), obj.rotation_mode) for obj in bpy.data.objects}

    with kit.in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    yield from kit.until(lambda: falling.location.z < 2.5, "the crate falls")
    kit.shot("2-playing")
    yield from kit.until(lambda: falling.location.z < -0.4, "the crate has landed")
    session = guard.current()
    yield from kit.simulated(session, 60)

    # Grab a crate of the stack with the mouse.
    x, y = kit.pixel(stack[2].matrix_world.translation)
    height = stack[2].location.z
    kit.move(x, y)
    yield 0.3
    kit.window().event_simulate(type="LEFTMOUSE", value="PRESS", x=int(x), y=int(y), ctrl=True)
    yield 0.1
    for step in range(12):
        kit.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(x), y=int(y + 10 * step))
        yield 0.1
    yield from kit.until(lambda: stack[2].location.z > height + 0.4, "the crate is lifted by the mouse")
    kit.shot("3-grabbed")
    kit.window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=int(x), y=int(y + 110))
    yield from kit.simulated(session, 60)

    # Pause by the shortcut: nothing moves any more.
    kit.window().event_simulate(type="SPACE", value="PRESS", x=int(x), y=int(y), shift=True, alt=True)
    yield 0.1
    kit.window().event_simulate(type="SPACE", value="RELEASE", x=int(x), y=int(y), shift=True, alt=True)
    yield from kit.until(lambda: not session.is_playing, "the preview pauses")
    place, frame = tuple(stack[2].location), session.world.frame
    yield 0.7
    assert (tuple(stack[2].location), session.world.frame) == (place, frame), "paused, and it moves"
    kit.shot("4-paused")

    # Esc puts everything back.
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: not bpy.context.scene.usdphys.preview.is_running, "the preview has ended")
    after = {obj.name: (tuple(obj.location), tuple(obj.rotation_euler), obj.rotation_mode) for obj in bpy.data.objects}
    assert after == before, (before, after)
    kit.shot("5-reset")

    # Play again and keep the pose; one undo takes it back.
    with kit.in_view():
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    yield from kit.until(lambda: falling.location.z < -0.4, "the crate has landed again")
    with kit.in_view():
        bpy.ops.usdphys.preview_apply("INVOKE_DEFAULT", True)  # with an undo step, as from a button
    yield 0.5
    assert bpy.data.objects["Falling"].location.z < -0.4
    assert bpy.data.objects["Falling"].rotation_mode == "XYZ"
    kit.shot("6-applied")
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.5
    assert abs(bpy.data.objects["Falling"].location.z - 4) < 1e-6

    # An undo while it plays ends the preview, and no simulated pose is left behind.
    with kit.in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    yield from kit.until(lambda: bpy.data.objects["Falling"].location.z < 3.0, "the crate falls for the third time")
    with kit.in_view():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.ed.undo_push(message="While it plays")
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.ed.undo_push(message="While it plays, too")
        bpy.ops.ed.undo()
    yield from kit.until(lambda: guard.current() is None, "the preview has ended")
    assert abs(bpy.data.objects["Falling"].location.z - 4) < 1e-6, bpy.data.objects["Falling"].location
    assert not bpy.context.scene.usdphys.preview.is_running

    # A bake that plays with the timeline.
    with kit.in_view():
        bpy.ops.usdphys.preview_bake(use_scene_range=False, frame_start=1, frame_end=40)
    bpy.context.scene.frame_set(30)
    yield 0.5
    assert bpy.data.objects["Falling"].location.z < 0
    selection = sys.modules[f"{kit.MODULE}.usdphys_addon.viewport.selection"]
    yield from kit.until(lambda: selection.baked_in(bpy.context.scene), "the panel says that the scene is baked")
    yield 0.5
    kit.shot("7-baked")
    with kit.in_view():
        bpy.ops.usdphys.preview_clear_bake()
    assert abs(bpy.data.objects["Falling"].location.z - 4) < 1e-6


kit.run(steps)
