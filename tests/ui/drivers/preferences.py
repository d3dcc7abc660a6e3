"""The preferences of the add-on, drawn by Blender; Report a Bug puts the facts into the clipboard of the screen."""

import importlib
import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def steps():
    yield from kit.install()
    faults = importlib.import_module(f"{kit.MODULE}.usdphys_addon.system.faults")
    try:
        raise ZeroDivisionError("crossed wires")
    except ZeroDivisionError as error:
        faults.note(error)

    # The properties editor stays beside it: the driver counts its redraws.
    area = kit.area()
    area.type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "USD Physics"
    yield 0.5
    with bpy.context.temp_override(window=kit.window(), area=area):
        bpy.ops.preferences.addon_expand(module=kit.MODULE)
    yield 1.0
    kit.shot("1-top")
    main = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=kit.window(), area=area, region=main):
        for _ in range(40):
            bpy.ops.view2d.scroll_down("EXEC_DEFAULT", deltay=200)
    yield 1.0
    kit.shot("2-bottom")

    with bpy.context.temp_override(window=kit.window(), area=area):
        assert bpy.ops.usdphys.report_bug() == {"FINISHED"}
    facts = bpy.context.window_manager.clipboard
    print(facts.partition("Fault")[0], flush=True)  # the runner looks for tracebacks in what is printed
    assert f"Blender: {bpy.app.version_string}" in facts and "Mode: window" in facts, facts
    assert "crossed wires" in facts and "/share/res" not in facts, facts
    yield 1.0
    kit.shot("3-reported")


kit.run(steps)
