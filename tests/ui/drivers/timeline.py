"""Space plays the animation and the physics: a keyed pusher pushes, frames are kept, scrubbed, and Esc ends both."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def instance(name, location):
    held = bpy.data.collections.new("Held")
    inside = bpy.data.objects.new("Inside", bpy.data.meshes["Cube"])
    held.objects.link(inside)
    inside.scale = (0.4, 0.4, 0.4)
    inside.usdphys.rigid_body.is_applied = True
    inside.usdphys.colliders.add()
    empty = bpy.data.objects.new(name, None)
    empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", held, location
    bpy.context.scene.collection.objects.link(empty)
    return empty


def steps():
    yield from kit.install()
    guard = kit.guard()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 100000
    space = kit.area().spaces.active
    space.show_region_ui = True
    kit.crate("Floor", (0, 0, -1.1), (6, 6, 0.1), moves=False)
    pusher = kit.crate("Pusher", (-3, 0, -0.5), (0.5, 0.5, 0.45))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    for frame, x in ((1, -3.0), (61, 0.5)):
        pusher.location.x = x
        pusher.keyframe_insert("location", frame=frame)
    pushed = kit.crate("Pushed", (-1, 0, -0.5), (0.5, 0.5, 0.45))
    shown = instance("Instance", (0.5, 2.5, 3))
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    scene.frame_set(1)
    yield 0.5
    region = kit.region("UI")
    region.active_panel_category = "USD Physics"
    yield 0.5
    before = {obj.name: (tuple(obj.location), obj.rotation_mode) for obj in bpy.data.objects}
    x, y = region.x - 200, region.y + 300

    # Space plays only the animation, until it is asked for the physics as well.
    yield from kit.key("SPACE", x, y)
    yield from kit.until(lambda: scene.frame_current > 5, "the timeline plays")
    yield from kit.key("SPACE", x, y)
    assert guard.current() is None
    scene.frame_set(1)
    scene.usdphys.preview.with_timeline = True
    yield 0.5
    kit.shot("1-ready")

    yield from kit.key("SPACE", x, y)
    yield from kit.until(lambda: guard.timeline() is not None, "the physics has started, too")
    leader = guard.timeline()
    yield from kit.until(lambda: leader.front > 40, "both play")
    kit.shot("2-playing")
    yield from kit.until(lambda: leader.front > 65, "the pusher has arrived")
    yield from kit.key("SPACE", x, y)
    yield from kit.until(lambda: not kit.window().screen.is_animation_playing, "both wait")
    assert leader.front == scene.frame_current, "the clocks do not agree"
    assert abs(leader.session.time_shown - (scene.frame_current - 1) / 24) < 1e-6
    assert pushed.location.x > 1.4, pushed.location.x
    assert shown.location.z < 0.0, "the instance was not moved"
    yield 0.5
    kit.shot("3-pushed")
    end = tuple(pushed.location)
    last = scene.frame_current

    # Scrubbing.
    steps_made = leader.session.world.frame
    scene.frame_set(20)
    yield 0.5
    kit.shot("4-scrubbed")
    assert abs(pushed.location.x + 1) < 0.1
    scene.frame_set(last)
    yield 0.5
    assert all(abs(a - b) < 1e-5 for a, b in zip(pushed.location, end, strict=True))
    scene.frame_set(1)
    yield 0.3
    assert abs(pushed.location.x + 1) < 1e-4 and leader.session.world.frame == steps_made

    # Esc ends both, and goes back to the first frame, as Blender's own.
    yield from kit.key("SPACE", x, y)
    yield from kit.until(lambda: scene.frame_current > 10, "it plays again")
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: guard.current() is None, "the physics has ended")
    yield from kit.until(lambda: not kit.window().screen.is_animation_playing, "the timeline has ended")
    assert scene.frame_current == 1, scene.frame_current
    after = {obj.name: (tuple(obj.location), obj.rotation_mode) for obj in bpy.data.objects}
    assert after == before, (before, after)
    kit.shot("5-ended")


kit.run(steps)
