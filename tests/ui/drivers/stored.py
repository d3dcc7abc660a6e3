"""A stored file in a window: migrated when opened, appended and when the add-on is enabled late; undo; a warning."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit

FILE = "/share/0.1.0.blend"
TEXT = "stored Object.usdphys.prim.extras"


def module(name):
    return sys.modules[f"{kit.MODULE}.usdphys_addon.bridge.stored.{name}"]


def expect_renamed():
    migrations = module("migrations")
    migrations.MIGRATIONS = (migrations.Migration("99.0.0", "RememberedPrim", "extras", "more"),)


def renamed(name="Stored"):
    """The value under its new name; None where it is not there."""
    return bpy.data.objects[name].usdphys.prim.get("more")


def steps():
    yield from kit.install()
    bpy.ops.wm.open_mainfile(filepath=FILE, load_ui=False)
    yield 0.5
    assert not bpy.data.is_dirty
    assert renamed() is None
    assert bpy.data.objects["Stored"].usdphys.prim.extras == TEXT

    expect_renamed()
    bpy.ops.wm.open_mainfile(filepath=FILE, load_ui=False)
    yield 0.5
    assert renamed() == TEXT
    assert not bpy.data.is_dirty, "a file that was only opened asks to be saved"
    # The first step of the history has the new values, and is the only one.
    with kit.in_view():
        bpy.ops.ed.undo_push(message="Something")
        bpy.ops.ed.undo()
    yield 0.5
    assert renamed() == TEXT
    with kit.in_view():
        assert not bpy.ops.ed.undo.poll(), "opening has pushed a step"

    bpy.ops.wm.read_homefile(load_ui=False)
    yield 0.5
    with kit.in_view():
        bpy.ops.wm.append("EXEC_DEFAULT", True, filename="Stored", directory=f"{FILE}/Object")
    yield 0.5
    assert renamed() == TEXT
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.5
    assert "Stored" not in bpy.data.objects, "an append is one step"
    with kit.in_view():
        bpy.ops.ed.redo()
    yield 0.5
    assert renamed() == TEXT

    bpy.ops.preferences.addon_disable(module=kit.MODULE)
    bpy.ops.wm.open_mainfile(filepath=FILE, load_ui=False)
    yield 0.5
    expect_renamed()
    bpy.ops.preferences.addon_enable(module=kit.MODULE)
    expect_renamed()
    yield from kit.until(lambda: renamed() == TEXT, "an add-on that is enabled late looks at the open file")
    assert not bpy.data.is_dirty
    with kit.in_view():
        bpy.ops.ed.undo_push(message="Something")
        bpy.ops.ed.undo()
    yield 0.5
    assert renamed() == TEXT, "undo has brought back what was there before the add-on"

    obj = bpy.data.objects["Stored"]
    obj.usdphys.version = "99.0.0"
    bpy.context.view_layer.objects.active = obj
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    properties = kit.area("PROPERTIES")
    properties.spaces.active.context = "PHYSICS"
    yield 1.0
    kit.shot("stored-newer")


kit.run(steps)
