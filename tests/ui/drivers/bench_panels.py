"""Processor time of every panel's draw in a scene of many objects; prints `name value unit` per panel.

It is that of Blender's thread alone, whatever else the machine does. The box of the selection is drawn with one object
and with many selected, too, several times in a row.
"""

import inspect
import statistics
import sys
import time

sys.path.insert(0, "/share/drivers")

import bpy
import kit

import panels

NUMBER, SELECTED = 10_000, 1000
REDRAWS = 25
#: Draws in a row of the box of the selection: between two redraws others have the caches of the processor.
AGAIN = 10
taken = {}
again = 1


def measured(function, key):
    def wrapped(self, context):
        for _ in range(again):
            start = time.thread_time()
            function(self, context)
            taken.setdefault(key, []).append(time.thread_time() - start)

    return wrapped


def timed(panel):
    for name in ("draw_header", "draw"):
        function = next((vars(cls)[name] for cls in panel.__mro__ if inspect.isfunction(vars(cls).get(name))), None)
        if function is not None:
            setattr(panel, name, measured(function, f"{panel.__name__}.{name}"))


def fill():
    mesh = bpy.data.objects["Cube"].data
    for index in range(NUMBER):
        obj = bpy.data.objects.new(f"Crate {index}", mesh)
        obj.location = (index % 100, index // 100, 0)
        bpy.context.scene.collection.objects.link(obj)
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.colliders.add()


def crates():
    return [bpy.data.objects[f"Crate {index}"] for index in range(SELECTED)]


def steps():
    global again
    yield from kit.install()
    panels.open_all_panels(timed)
    cube, hinge = panels.build()
    fill()
    space = kit.area().spaces.active
    space.show_region_ui = True
    yield 2.0
    region = kit.region("UI")
    region.active_panel_category = "USD Physics"
    properties = kit.area("PROPERTIES")
    for obj, context in ((cube, "PHYSICS"), (hinge, "PHYSICS"), (cube, "SCENE"), (cube, "MATERIAL")):
        bpy.context.view_layer.objects.active = obj
        properties.spaces.active.context = context
        yield 1.0
        taken_before = sum(map(len, taken.values()))
        for _ in range(REDRAWS):
            properties.tag_redraw()
            kit.area().tag_redraw()
            yield 0.05
        assert sum(map(len, taken.values())) > taken_before
    box = taken["USDPHYS_PT_selection.draw"]
    bpy.context.view_layer.objects.active = cube
    for name, chosen in (("one_object", [cube]), ("thousand_selected", crates())):
        names = {obj.name for obj in chosen}
        for obj in bpy.context.scene.objects:
            obj.select_set(obj.name in names)
        bpy.context.view_layer.objects.active = chosen[0]
        yield 1.0
        box.clear()
        again = AGAIN
        for _ in range(REDRAWS // AGAIN + 1):
            kit.area().tag_redraw()
            yield 0.05
        again = 1
        taken[f"USDPHYS_{name}"] = list(box)
    for name in sorted(taken):
        print(f"{name} {1e3 * statistics.median(taken[name]):.3f} ms", flush=True)


kit.run(steps)
