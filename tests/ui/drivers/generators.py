"""Generators in a window: settling with progress and Esc and one undo step; sample scenes of the others play."""

import sys
from importlib import import_module

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def look(distance, target=(0, 0, 0.8)):
    view = kit.area().spaces.active.region_3d
    view.view_distance, view.view_location = distance, target


def clear():
    with kit.in_view():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.context.scene.cursor.location = (0, 0, 0)
        bpy.ops.usdphys.add_physics(kind="GROUND")


def settle():
    clear()
    with kit.in_view():
        bpy.ops.mesh.primitive_cube_add(size=0.3, location=(5, 5, 0.15))
        cube = bpy.context.object
        select(cube)
        bpy.context.scene.cursor.location = (0, 0, 0.2)
        bpy.ops.ed.undo_push(message="Before")
    number = len(bpy.data.objects)
    look(7)
    x, y = kit.pixel((0, 0, 0))
    for is_cancelled in (True, False):
        with kit.in_view():
            bpy.ops.usdphys.settle("INVOKE_DEFAULT", True, copies=30, spread=0.8)
        yield 0.3
        if is_cancelled:
            assert len(bpy.data.objects) == number + 30
            kit.shot("1-falling")
            yield from kit.key("ESC", x, y)
            yield from kit.until(lambda: len(bpy.data.objects) == number, "Esc removes the copies")
    # Blender notes an operator that has finished.
    yield from kit.until(
        lambda: any(one.bl_idname == "USDPHYS_OT_settle" for one in bpy.context.window_manager.operators), "it settles"
    )
    made = list(bpy.context.selected_objects)
    assert len(made) == 30 and not any(obj.usdphys.rigid_body.is_applied for obj in made)
    yield 0.3
    heights = [obj.matrix_world.translation.z for obj in made]
    assert min(heights) > 0.1 and max(heights) < 2.5, sorted(heights)
    kit.shot("2-settled")
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.3
    assert len(bpy.data.objects) == number, "one step to undo"


#: (kind of sample, picture, seconds to play, distance and target of the view).
SAMPLES = (
    ("CHIMNEY", "chimney", 0.45, 9, (0, 0, 1.2)), ("RAGDOLL", "ragdoll", 0.9, 7, (0, -0.8, 0.9)),
    ("BRIDGE", "bridge", 1.2, 9, (0, 0, 1.4)), ("MACHINES", "machines", 0.6, 9, (0, -0.3, 1.4)),
)  # fmt: skip


def samples():
    guard = import_module(f"{kit.MODULE}.usdphys_addon.playback.guard")
    for kind, picture, seconds, distance, target in SAMPLES:
        with kit.in_view():
            bpy.ops.usdphys.sample_scene(kind=kind)
        look(distance, target)
        yield 0.3
        with kit.in_view():
            bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
        yield from kit.until(lambda: guard.current() is not None, f"{kind} starts")
        yield from kit.hurry(guard.current(), seconds)
        kit.shot(picture)
        with kit.in_view():
            bpy.ops.usdphys.preview_reset()
        yield 0.3


def steps():
    yield from kit.install()
    yield from settle()
    yield from samples()


kit.run(steps)
