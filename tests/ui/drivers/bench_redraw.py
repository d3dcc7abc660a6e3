"""Time per frame with the redraw of the window: the preview against Blender's own rigid bodies, in one run.

Prints `REDRAW name value unit`. CPU time of the process, because drawing may be done by the processor, too. With a twin
beside 100 bodies it is that of the main thread, in a redraw of a thirtieth of a second: others draw in its place here.
"""

import sys
import time

sys.path.insert(0, "/share/drivers")

import bpy
import kit

FRAMES = 8
SIZES = (1_000, 5_000)
#: Bodies that have a twin, and time steps in a redraw of a thirtieth of a second.
BESIDE, STEPS = 100, 2


def build(number, own):
    for scene in bpy.data.scenes:
        if scene.rigidbody_world is not None:
            bpy.ops.rigidbody.world_remove()
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 60, 1, 1000
    scene.frame_set(1)
    mesh = bpy.data.meshes.new("Box")
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    side = round((number / 4) ** 0.5)
    objects = []
    for index in range(-1, number):
        obj = bpy.data.objects.new(f"Box {index:05d}", mesh)
        if index < 0:
            obj.scale, obj.location = (400, 400, 1), (0, 0, -0.5)
        else:
            layer, place = divmod(index, side * side)
            obj.location = (1.2 * (place % side) + 0.1 * layer, 1.2 * (place // side), 0.6 + 1.2 * layer)
        scene.collection.objects.link(obj)
        objects.append(obj)
    if own:
        for obj in objects:
            obj.usdphys.colliders.add()
            obj.usdphys.rigid_body.is_applied = obj is not objects[0]
    else:
        bpy.ops.rigidbody.world_add()
        world = scene.rigidbody_world
        world.collection = bpy.data.collections.new("Bodies")
        world.point_cache.frame_end = 1000
        for obj in objects:
            world.collection.objects.link(obj)
            obj.rigid_body.type = "PASSIVE" if obj is objects[0] else "ACTIVE"
            obj.rigid_body.collision_shape = "BOX"
    bpy.context.view_layer.update()


def redraw():
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)


def timed(step, clock=time.process_time):
    """(CPU milliseconds of a frame's step, of its redraw), on average."""
    stepping = drawing = 0.0
    for number in range(FRAMES + 3):
        began = clock()
        step(number)
        between = clock()
        redraw()
        # The first frames compile shaders and fill caches.
        if number >= 3:
            stepping += between - began
            drawing += clock() - between
    return 1e3 * stepping / FRAMES, 1e3 * drawing / FRAMES


def steps():
    yield from kit.install()
    guard = kit.guard()
    view = kit.area().spaces.active.region_3d
    for number in SIZES:
        view.view_distance, view.view_location = 1.2 * number**0.5, (0.3 * number**0.5, 0.3 * number**0.5, 0)
        found = {}
        for name in ("preview", "timeline", "blender"):
            with kit.in_view():
                build(number, name != "blender")
                scene = bpy.context.scene
                if name == "preview":
                    session = guard.start(bpy.context)
                    found[name] = timed(lambda _, session=session: session.step_once(bpy.context))
                elif name == "timeline":
                    guard.start(bpy.context, with_timeline=True)
                    found[name] = timed(lambda frame, scene=scene: scene.frame_set(frame + 2))
                else:
                    found[name] = timed(lambda frame, scene=scene: scene.frame_set(frame + 2))
                guard.stop()
            yield 0.2
        for name, (step, draw) in found.items():
            print(f"REDRAW {name}_{number} {step:.1f} + {draw:.1f} = {step + draw:.1f} ms", flush=True)
        if number == SIZES[0]:
            kit.shot("1-pile")
    view.view_distance, view.view_location = 1.2 * BESIDE**0.5, (3, 3, 0)
    settings = bpy.context.window_manager.usdphys_overlay
    for name in ("alone", "beside"):
        with kit.in_view():
            build(BESIDE, True)
            settings.confidence = name == "beside"
            session = guard.start(bpy.context)
            assert (session.twins is not None) == settings.confidence

            def play(_, session=session):
                for _ in range(STEPS):
                    session.step_once(bpy.context)

            step, draw = timed(play, time.thread_time)
            guard.stop()
            settings.confidence = False
        print(f"REDRAW {name}_{BESIDE} {step:.1f} + {draw:.1f} = {step + draw:.1f} ms", flush=True)
        yield 0.2


kit.run(steps)
