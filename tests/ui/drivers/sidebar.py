"""The sidebar of the 3D view with all panels of the physics open, on a body, a joint and collision groups."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit

import panels


def scrolled(area, region, steps):
    with bpy.context.temp_override(window=kit.window(), area=area, region=region):
        for _ in range(steps):
            bpy.ops.view2d.scroll_down()


def steps():
    yield from kit.install()
    panels.open_all_panels()
    cube, hinge = panels.build()
    cube.usdphys.mass.property_unset("mass")
    cube.usdphys.physics_material = cube.active_material
    cube.active_material.usdphys.physics_material.density = 1100
    space = kit.area().spaces.active
    space.show_region_ui = True
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=kit.region()):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    view = kit.area()
    region = next(one for one in view.regions if one.type == "UI")
    if hasattr(region, "active_panel_category"):
        region.active_panel_category = "USD Physics"
    for name, obj, parts in (("body", cube, 5), ("joint", hinge, 4)):
        bpy.context.view_layer.objects.active = obj
        for other in bpy.data.objects:
            other.select_set(other == obj)
        with bpy.context.temp_override(window=kit.window(), area=view, region=region):
            bpy.ops.view2d.reset()
        for part in range(parts):
            view.tag_redraw()
            yield 1.2
            kit.shot(f"{name}-{part + 1}")
            scrolled(view, region, 22)
    yield 0.5


if __name__ == "__main__":
    kit.run(steps)
