"""Time of every panel's draw in a scene of many objects; prints `name value unit` per panel."""

import inspect
import statistics
import sys
import time

sys.path.insert(0, "/share/drivers")

import bpy
import kit

import panels

NUMBER = 10_000
REDRAWS = 25
taken = {}


def measured(function, key):
    def wrapped(self, context):
        start = time.perf_counter()
        function(self, context)
        taken.setdefault(key, []).append(time.perf_counter() - start)

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


def steps():
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
    for name in sorted(taken):
        print(f"{name} {1e3 * statistics.median(taken[name]):.3f} ms", flush=True)


kit.run(steps)
