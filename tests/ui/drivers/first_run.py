"""The first minutes: a hint in the empty sidebar, a sample scene that plays, the page at F1, another language."""

import sys
from pathlib import Path
from urllib.parse import urlparse

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def own_cube():
    """The cube of the start file falls on a ground; a check names a setting that PhysX ignores, with its fix."""
    kit.window().scene = bpy.data.scenes["Scene"]
    cube = bpy.data.objects["Cube"]
    cube.location.z = 3.0
    kit.area().spaces.active.region_3d.view_distance = 17
    with kit.in_view():
        bpy.ops.usdphys.add_physics("INVOKE_DEFAULT", kind="GROUND")
        for obj in bpy.context.scene.objects:
            obj.select_set(obj == cube)
        bpy.context.view_layer.objects.active = cube
        bpy.ops.usdphys.make_dynamic("INVOKE_DEFAULT")
    assert cube.usdphys.rigid_body.is_applied and len(cube.usdphys.colliders) == 1
    yield 0.5
    kit.shot("5-dynamic")
    yield from kit.play()
    yield from kit.hurry(kit.session(), 2.0)
    kit.shot("6-landed")
    assert abs(cube.matrix_world.translation.z - 1.0) < 0.02, cube.matrix_world.translation
    kit.reset()
    yield 0.3
    assert abs(cube.location.z - 3.0) < 1e-6
    collider = cube.usdphys.colliders[0]
    collider.shape, collider.approximation = "MESH", "none"
    with kit.in_view():
        bpy.ops.usdphys.check()
    yield 0.5
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=kit.region("UI")):
        for _ in range(8):
            bpy.ops.view2d.scroll_down()
    yield 0.5
    kit.shot("7-checks")


def steps():
    yield from kit.install()
    guard = kit.guard()
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    kit.shot("1-hint")

    with kit.in_view():
        bpy.ops.usdphys.sample_scene("INVOKE_DEFAULT", kind="CAR")
    yield 0.5
    assert kit.window().scene.name == "Car"
    chassis = bpy.data.objects["Chassis"]
    kit.area().spaces.active.region_3d.view_distance = 14
    yield from kit.play()
    yield from kit.hurry(guard.current(), 3.0)
    kit.shot("2-car")
    assert abs(chassis.location.x) > 2.0, chassis.location
    kit.reset()
    yield 0.3

    # As F1 looks it up.
    prefix, pages = next((prefix, pages) for prefix, pages in bpy.utils.manual_map() if "usdphys" in prefix)
    page = Path(urlparse(prefix).path, dict(pages)["bpy.ops.usdphys.preview*"])
    assert "Play with Timeline" in page.read_text(encoding="utf-8")

    yield from own_cube()

    if "de_DE" in bpy.app.translations.locales:
        bpy.context.preferences.view.language = "de_DE"
        yield 1.0
        assert bpy.app.translations.pgettext_iface("Rigid Body") == "Starrkörper"
        kit.shot("3-german")
        bpy.context.preferences.view.language = "fr_FR"
        yield 1.0
        assert bpy.app.translations.pgettext_iface("Rigid Body", "Operator") == "Corps rigide"
        kit.shot("4-french")
        bpy.context.preferences.view.language = "en_US"
        yield 0.5
        assert bpy.app.translations.pgettext_iface("Rigid Body") == "Rigid Body"
    else:
        print("NO LOCALES", flush=True)


kit.run(steps)
