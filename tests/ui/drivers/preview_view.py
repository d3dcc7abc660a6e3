"""What goes on in the view while the preview plays: broken joints, selection, orbiting, animation, and failures."""

import io
import sys
from importlib import import_module

sys.path.insert(0, "/share/drivers")

import bpy
import kit
import numpy as np


def reds(name):
    """Pixels of the 3D view that are as red as nothing else is."""
    kit.shot(name)
    image = bpy.data.images.load(f"/share/shots/{name}.png")
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    width, height = image.size
    bpy.data.images.remove(image)
    region = kit.region()
    view = pixels.reshape(height, width, 4)[region.y : region.y + region.height, region.x : region.x + region.width]
    return int(((view[..., 0] > 0.9) & (view[..., 1:3] < 0.35).all(axis=-1)).sum())


def everything():
    """All that a reset has to bring back, by object."""
    return {
        obj.name: (tuple(obj.location), tuple(obj.rotation_euler), tuple(obj.rotation_quaternion), obj.rotation_mode,
                   tuple(obj.scale), obj.hide_render, obj.hide_viewport, obj.hide_get(), obj.display_type)
        for obj in bpy.data.objects
    }  # fmt: skip


def play():
    with kit.in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")


def steps():
    yield from kit.install()
    guard = kit.guard()
    overlay = import_module(f"{kit.MODULE}.usdphys_addon.viewport.overlay")
    joint_loads = import_module(f"{kit.MODULE}.usdphys_addon.viewport.joint_loads")
    draw_data = import_module(f"{kit.MODULE}.usdphys_addon.viewport.draw_data")
    space = kit.area().spaces.active
    for name in ("show_axis_x", "show_axis_y", "show_floor", "show_cursor"):
        setattr(space.overlay, name, False)
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    kit.crate("Floor", (0, 0, -1.1), (6, 6, 0.1), moves=False)

    # A beam breaks off the post that holds it: its own weight is too much.
    post = kit.crate("Post", (-2, 0, 0), (0.2, 0.2, 1.0))
    post.usdphys.rigid_body.kinematic_enabled = True
    beam = kit.crate("Beam", (-1, 0, 0.6), (0.7, 0.1, 0.1))
    beam.usdphys.mass.is_applied, beam.usdphys.mass.mass = True, 50.0
    weld = bpy.data.objects.new("Weld", None)
    bpy.context.scene.collection.objects.link(weld)
    weld.location, weld.empty_display_size = (-1.7, 0, 0.6), 0.1
    joint = weld.usdphys.joint
    joint.is_applied, joint.type, joint.body0, joint.body1, joint.break_force = True, "FIXED", post, beam, 5.0
    # A crate in the way of one that is keyed.
    pusher = kit.crate("Pusher", (-1.5, -3, -0.5))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    for frame, x in ((1, -1.5), (11, 0.0)):
        pusher.location.x = x
        pusher.keyframe_insert("location", frame=frame)
    pushed = kit.crate("Pushed", (0, -3, -0.48))
    falling = kit.crate("Falling", (2.5, 1, 3))
    falling.hide_render = True
    hidden = kit.crate("Hidden", (9, 9, 9))
    hidden.hide_set(True)
    scene = bpy.context.scene
    scene.frame_set(1)
    scene.frame_start, scene.frame_end = 1, 250
    # What is keyed would have the timeline lead.
    scene.usdphys.preview.by_clock = True
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    yield 0.5
    before, without = everything(), reds("1-whole")

    play()
    yield from kit.begun()
    session = guard.current()
    yield from kit.until(lambda: session.world.broken_joints, "the weld breaks")
    yield from kit.until(lambda: beam.location.z < -0.7, "the beam has come down")
    yield 0.5
    broken = reds("2-broken")
    assert broken > without + 50, (without, broken)

    # A click selects a body that has landed, and the view turns, while it goes on.
    yield from kit.until(lambda: falling.location.z < -0.4, "the crate has landed")
    yield from kit.simulated(session, 60)
    x, y = kit.pixel(falling.matrix_world.translation)
    frames = session.world.frame
    yield from kit.click(x, y)
    yield from kit.until(lambda: falling.select_get(), "the click selects the crate")
    turned = space.region_3d.view_rotation.copy()
    kit.window().event_simulate(type="MIDDLEMOUSE", value="PRESS", x=int(x), y=int(y))
    yield 0.2
    for step in range(8):
        kit.move(x + 8 * step, y + 3 * step)
        yield 0.1
    kit.window().event_simulate(type="MIDDLEMOUSE", value="RELEASE", x=int(x + 60), y=int(y + 20))
    view = space.region_3d
    yield from kit.until(lambda: view.view_rotation.rotation_difference(turned).angle > 0.05, "the view turns")
    yield from kit.until(lambda: session.world.frame > frames + 5, "the preview goes on")
    assert guard.current() is session and session.is_playing
    kit.shot("3-orbited")

    # The timeline plays: what is keyed pushes, and what falls is left alone.
    place, held = pushed.location.copy(), falling.location.copy()
    world = session.world
    with kit.in_view():
        bpy.ops.screen.animation_play()
    yield from kit.until(lambda: scene.frame_current >= 13, "the timeline plays")
    with kit.in_view():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    yield from kit.simulated(session, 10)
    assert session.world is world, "a frame change has built another world"
    assert abs(pusher.matrix_world.translation.x) < 1e-3
    assert pushed.matrix_world.translation.x > 0.95, (place, pushed.location)
    assert (falling.location - held).length < 0.1, (held, falling.location)
    kit.shot("4-pushed")

    # Nothing of it is left, and nothing red.
    kit.reset()
    scene.frame_set(1)
    yield 0.5
    after = everything()
    assert after == before, [(name, before[name], after[name]) for name in before if before[name] != after[name]]
    assert abs(reds("5-reset") - without) < 30

    # A drawing that fails is said once, and the view goes on.
    spoken, sys.stderr = sys.stderr, io.StringIO()
    lines, draw_data.broken_joints = draw_data.broken_joints, lambda breaks: 1 / 0
    play()
    yield from kit.begun()
    session = guard.current()
    yield from kit.until(lambda: session.world.broken_joints, "the weld breaks again")
    frames = session.world.frame
    yield from kit.until(lambda: session.world.frame > frames + 10, "the preview goes on")
    said, sys.stderr = sys.stderr.getvalue(), spoken
    draw_data.broken_joints = lines
    assert said.count("ZeroDivisionError") == 1, said
    overlay.drawing.failed = False
    kit.reset()
    yield 0.5
    assert everything() == before

    # What nobody has foreseen ends the preview, its timer and its operator, with everything in its place.
    play()
    yield from kit.begun()
    session = guard.current()
    yield from kit.until(lambda: session.world.time > 0.3, "the preview plays")
    running = [operator.bl_idname for operator in kit.window().modal_operators]
    assert "USDPHYS_OT_preview_play" in running, running
    spoken, sys.stderr = sys.stderr, io.StringIO()
    calls = []

    def advance(context):
        calls.append(context)
        raise ZeroDivisionError("unforeseen")

    session.advance = advance
    yield from kit.until(lambda: guard.current() is None, "the preview has ended by itself")
    yield 0.3
    said, sys.stderr = sys.stderr.getvalue(), spoken
    assert said.count("unforeseen") >= 1 and len(calls) == 1, (said, len(calls))
    assert everything() == before
    assert not scene.usdphys.preview.is_running
    assert "USDPHYS_OT_preview_play" not in [operator.bl_idname for operator in kit.window().modal_operators]
    kit.shot("6-failed")
    # And it plays again, with the load of the selected joint in the corner.
    weld.select_set(True)
    bpy.context.view_layer.objects.active = weld
    play()
    yield from kit.begun()
    session = guard.current()
    yield from kit.until(lambda: session.world.time > 0.1 and session.broken, "the preview plays again")
    yield from kit.until(lambda: len(session.loads_of("Weld").values) > 60, "the load is plotted")
    assert not joint_loads.drawing.failed
    kit.shot("7-loads")
    kit.reset()
    weld.select_set(False)
    bpy.context.view_layer.objects.active = None
    yield 0.5
    assert everything() == before


kit.run(steps)
