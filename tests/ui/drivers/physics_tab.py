"""Install, show the Physics tab of a cube, and ask for an export that this Blender cannot do."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def steps():
    assert not bpy.app.usd.supported, "this driver is for a Blender without USD"
    kit.shot("1-start")
    yield from kit.install()

    cube = bpy.data.objects["Cube"]
    bpy.context.view_layer.objects.active = cube
    cube.usdphys.rigid_body.is_applied = True
    properties = kit.area("PROPERTIES")
    properties.spaces.active.context = "PHYSICS"
    properties.tag_redraw()
    yield 2.0
    kit.shot("2-physics-tab")

    with kit.in_view():
        try:
            bpy.ops.usdphys.export_usd(filepath="/share/out.usda")
        except RuntimeError as error:
            message = str(error)
        else:
            raise AssertionError("the export did not refuse")
    print("REFUSAL:", message)
    assert "without USD" in message, message
    yield 1.0
    kit.shot("3-export-refused")

    bpy.ops.preferences.addon_disable(module=kit.MODULE)
    yield 1.0
    assert not hasattr(bpy.types, "USDPHYS_OT_export_usd")
    kit.shot("4-disabled")


kit.run(steps)
