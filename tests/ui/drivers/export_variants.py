"""Runtime variants are chosen in the export dialog and written. In a Blender with USD, which has English alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit


def browser():
    return next((one for one in kit.window().screen.areas if one.type == "FILE_BROWSER"), None)


def opened(**settings):
    with kit.in_view():
        bpy.ops.usdphys.export_usd("INVOKE_DEFAULT", **settings)
    yield from kit.until(browser, "the dialog opens")
    yield 1.0


def closed(end):
    with bpy.context.temp_override(window=kit.window(), area=browser()):
        end()
    yield from kit.until(lambda: browser() is None, "the dialog closes")


def steps():
    yield from kit.install()
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    cube = kit.crate("Crate", (0, 0, 2))
    with kit.in_view(), bpy.context.temp_override(object=cube):
        bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept="linear_damping", dof="")
    target = Path(kit.SHARE, "asset", "crate.usda")
    target.parent.mkdir()
    yield from opened(filepath=str(target), runtimes=True)
    kit.shot("dialog")
    yield from closed(bpy.ops.file.execute)
    folder = target.parent / "runnables" / "physics"
    yield from kit.until(folder.exists, "the variants are written")
    assert target.exists()
    assert sorted(one.name for one in folder.iterdir()) == ["mujoco.usda", "newton.usda", "physx.usda"]
    yield 1.0
    kit.shot("written")
    print("VARIANTS WRITTEN")


kit.run(steps)
