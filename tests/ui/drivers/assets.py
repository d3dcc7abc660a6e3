"""Export each collection as an asset through the file browser, as a user does. In a Blender with USD."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit

OUT = Path(kit.SHARE, "assets")


def dialog():
    """The file browser of the operator, if it is open."""
    return next((area for area in kit.window().screen.areas if area.type == "FILE_BROWSER"), None)


def steps():
    yield from kit.install()
    OUT.mkdir()
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    for obj in list(bpy.data.objects):
        if obj.type != "MESH":
            bpy.data.objects.remove(obj)
    assets = bpy.data.collections.new("Assets")
    bpy.context.scene.collection.children.link(assets)
    for number, name in enumerate(("Chair", "Table", "Lamp")):
        part = bpy.data.collections.new(name)
        assets.children.link(part)
        crate = kit.crate(f"{name}Body", (3 * number, 0, 1))
        bpy.context.scene.collection.objects.unlink(crate)
        part.objects.link(crate)
    layer = bpy.context.view_layer.layer_collection.children["Assets"]
    bpy.context.view_layer.active_layer_collection = layer
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    for panel in ("USDPHYS_PT_batch", "USDPHYS_PT_batch_files"):
        kit.open_panel(getattr(bpy.types, panel))
    state = bpy.context.window_manager.usdphys_batch
    yield 0.5
    sidebar = kit.region("UI")
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=sidebar):
        for _ in range(14):
            bpy.ops.view2d.scroll_down()
    yield 0.5
    kit.shot("sidebar")
    with kit.in_view():
        bpy.ops.usdphys.export_collections("INVOKE_DEFAULT")
    yield from kit.until(lambda: dialog() is not None, "the dialog opens")
    dialog().spaces.active.show_region_tool_props = True
    yield 0.5
    dialog().spaces.active.params.directory = bytes(OUT)
    yield 1.0
    kit.shot("dialog")
    with bpy.context.temp_override(window=kit.window(), area=dialog()):
        bpy.ops.file.execute()
    yield from kit.until(lambda: state.total and not state.is_running, "the batch ends")
    found = {job.name: job.status for job in state.jobs}
    assert found == {"Chair": "ok", "Table": "ok", "Lamp": "ok"}, found
    files = sorted(path.name for path in OUT.iterdir())
    assert files == ["Chair.usda", "Lamp.usda", "Table.usda"], files
    text = (OUT / "Chair.usda").read_text(encoding="utf-8")
    assert "ChairBody" in text and "TableBody" not in text and "PhysicsRigidBodyAPI" in text
    yield 0.5
    kit.shot("done")
    print("EXPORTED AS USD")


kit.run(steps)
