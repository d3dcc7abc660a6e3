"""The physics in the dialogs of Blender's glTF importer and exporter, in each language: what is clicked there counts.

At the width that the sidebar of a dialog has at first, no label is cut.
"""

import sys
from pathlib import Path

sys.path.insert(0, "/share/drivers")

import bpy
import kit

FILE = Path("/share/dialog.gltf")


def dialog():
    """The file browser of the exporter, if it is open."""
    return next((area for area in kit.window().screen.areas if area.type == "FILE_BROWSER"), None)


def opened(operator, language, **options):
    """Open a dialog, scroll to its end and take a picture; returns its area."""
    bpy.context.preferences.view.language = language
    yield 0.5
    with kit.in_view():
        operator("INVOKE_DEFAULT", **options)
    yield from kit.until(lambda: dialog() is not None, "the dialog opens")
    area = dialog()
    area.spaces.active.show_region_tool_props = True
    yield 0.5
    region = next(one for one in area.regions if one.type == "TOOL_PROPS")
    with bpy.context.temp_override(window=kit.window(), area=area, region=region):
        for _ in range(12):
            bpy.ops.view2d.scroll_down()
    yield 1.0
    kit.shot(f"{operator.idname_py().partition('_')[0]}-{language[:2]}")
    return area


def closed(area):
    yield from kit.key("ESC", area.x + area.width / 2, area.y + area.height / 2)
    yield from kit.until(lambda: dialog() is None, "the dialog closes")


def steps():
    yield from kit.install()
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    kit.crate("Crate", (0, 0, 1))
    for language in ("de_DE", "fr_FR", "en_US"):
        area = yield from opened(bpy.ops.import_scene.gltf, language)
        yield from closed(area)
        options = {"filepath": str(FILE), "export_format": "GLTF_SEPARATE"}
        area = yield from opened(bpy.ops.export_scene.gltf, language, **options)
        if language != "en_US":
            yield from closed(area)
    settings = bpy.context.scene.usdphys.gltf
    settings.families = "OMI"
    yield 1.0
    kit.shot("omi")
    buttons = next(one for one in area.regions if one.type == "EXECUTE")
    yield from kit.click(buttons.x + buttons.width - 70, buttons.y + buttons.height / 2)
    yield from kit.until(lambda: FILE.is_file(), "the file is written")
    text = FILE.read_text(encoding="utf-8")
    assert "OMI_physics_body" in text, text[:500]
    assert "KHR_physics_rigid_bodies" not in text
    print("glTF dialog: ok")


kit.run(steps)
