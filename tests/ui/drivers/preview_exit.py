"""The add-on is disabled while the physics plays; then Blender ends while it plays."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit

#: The last text of the status bar, by workspace.
told = {}
status_text_set = bpy.types.WorkSpace.status_text_set


def note(workspace, text):
    told[workspace.name] = text
    status_text_set(workspace, text)


def steps():
    bpy.types.WorkSpace.status_text_set = note
    yield from kit.install()
    kit.crate("Floor", (0, 0, -1.1), (9, 9, 0.1), moves=False)
    kit.crate("Crate", (0, 0, 3), (0.5,) * 3)
    bpy.context.view_layer.update()
    yield from kit.play()
    yield from kit.simulated(kit.session(), 8)
    crate = bpy.data.objects["Crate"]
    assert crate.location.z < 3.0
    first = kit.window().workspace
    assert "Ctrl drag" in told[first.name]
    kit.window().workspace = next(one for one in bpy.data.workspaces if one != first)
    yield 0.5
    bpy.ops.preferences.addon_disable(module=kit.MODULE)
    assert set(told.values()) == {None}, told
    kit.window().workspace = first
    yield 0.5
    assert tuple(crate.location) == (0, 0, 3) and crate.rotation_mode == "XYZ"
    yield 0.5
    kit.shot("1-disabled")
    bpy.ops.preferences.addon_enable(module=kit.MODULE)
    yield 0.5
    yield from kit.play()
    yield from kit.simulated(kit.session(), 8)
    print("QUITS WHILE IT PLAYS", flush=True)
    bpy.context.preferences.view.use_save_prompt = False
    with kit.in_view():
        bpy.ops.wm.quit_blender()
    yield from kit.until(lambda: False, "Blender ends")


kit.run(steps)
