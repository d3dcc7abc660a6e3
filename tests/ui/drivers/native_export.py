"""Blender's own USD export, which works in a thread from its dialog, writes colliders that renders do not show."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit


def browser():
    return next((one for one in kit.window().screen.areas if one.type == "FILE_BROWSER"), None)


def steps():
    yield from kit.install()
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    body = kit.crate("Body", (0, 0, 2))
    guide = kit.crate("Guide", (0, 0, 4))
    guide.parent, guide.hide_render = body, True
    guide.usdphys.rigid_body.is_applied = False
    yield 0.5
    target = Path(kit.SHARE, "native.usda")
    with kit.in_view():
        bpy.ops.wm.usd_export("INVOKE_DEFAULT", filepath=str(target))
    yield from kit.until(browser, "the dialog opens")
    yield 1.0
    with bpy.context.temp_override(window=kit.window(), area=browser()):
        bpy.ops.file.execute()
    yield from kit.until(target.exists, "the file is written")
    yield 1.0
    text = target.read_text()
    assert text.count("PhysicsCollisionAPI") == 2 and 'def Xform "Guide"' in text, text
    print("HIDDEN PHYSICS WRITTEN")


kit.run(steps)
