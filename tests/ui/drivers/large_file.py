"""A small USD file that composes very many prims is opened after a question only; Cancel leaves the scene as it was."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit
import x11

os.environ["USDPHYS_MOST_PRIMS"] = "100"
HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n)\n'


def multiplied():
    """Three levels of eight references: 585 prims."""
    text = HEAD
    for level in (3, 2, 1):
        below = f" (\n    references = </L{level + 1}>\n)" if level < 3 else ""
        text += f'class "L{level}"\n{{\n' + "".join(f'def Xform "c{n}"{below}\n{{\n}}\n' for n in range(8)) + "}\n"
    path = Path(kit.SHARE, "large.usda")
    path.write_text(f'{text}def Xform "World" (\n    references = </L1>\n)\n{{\n}}\n')
    return path


def browser():
    return next((one for one in kit.window().screen.areas if one.type == "FILE_BROWSER"), None)


def chosen(path):
    """Choose the file in the browser of File > Import > USD Physics."""
    with kit.in_view():
        bpy.ops.usdphys.import_usd("INVOKE_DEFAULT", filepath=str(path))
    yield from kit.until(lambda: browser() is not None, "the browser opens")
    yield 1.0
    space = browser()
    with bpy.context.temp_override(window=kit.window(), area=space):
        bpy.ops.file.execute()
    yield from kit.until(lambda: browser() is None, "the browser closes")
    # The refusal is a step of the import away, and the question is drawn then.
    yield 3.0


def steps():
    yield from kit.install()
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    path, before, screen = multiplied(), len(bpy.data.objects), x11.Screen()
    view = kit.region()
    x, y = view.x + view.width // 2, kit.window().height - view.y - view.height // 2
    for key in ("Escape", "Return"):
        yield from chosen(path)
        assert len(bpy.data.objects) == before
        kit.shot(f"1-asks-{key}")
        screen.key(key, x, y)
        yield 2.0
        print("ANSWERED", key, len(bpy.data.objects) - before)
    yield from kit.until(lambda: bpy.context.scene.usdphys.source.filepath, "the file is imported")
    assert len(bpy.data.objects) > before + 500
    print("OPENED ANYWAY", len(bpy.data.objects) - before)


kit.run(steps)
