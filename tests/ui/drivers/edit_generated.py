"""Edit shows the settings of a rope again, and changes nothing by that."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def bodies():
    return [
        obj for obj in bpy.context.scene.objects if obj.name.startswith("Rope") and obj.usdphys.rigid_body.is_applied
    ]


def steps():
    yield from kit.install()
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.data.meshes.new("Cube")
    for name, x in (("Post", -2), ("Other", 2)):
        with kit.in_view():
            bpy.ops.mesh.primitive_cube_add(size=0.4, location=(x, 0, 1))
        bpy.context.object.name = name
    posts = [bpy.data.objects[name] for name in ("Post", "Other")]
    for obj in posts:
        obj.select_set(True)
    with kit.in_view():
        bpy.ops.usdphys.rope("INVOKE_DEFAULT", True, segments=5)
    yield 1.0
    assert len(bodies()) == 5
    for obj in bpy.context.scene.objects:
        obj.select_set(obj == bodies()[2])
    bpy.context.view_layer.objects.active = bodies()[2]
    with kit.in_view():
        bpy.ops.ed.undo_push(message="Select")
    yield 0.5
    kit.move(500, 500)
    yield 0.5
    kit.shot("0-segment")
    with kit.in_view():
        bpy.ops.usdphys.edit_generated("INVOKE_DEFAULT")
    yield 1.0
    kit.shot("1-settings")
    # The popup is open: nothing was made anew yet, and the settings belong to one construction.
    assert len(bodies()) == 5 and len(bpy.context.scene.usdphys.constructions) == 1
    kit.move(60, 640)
    yield 1.0
    assert len(bodies()) == 5, len(bodies())
    print("SETTINGS SHOWN", flush=True)


kit.run(steps)
