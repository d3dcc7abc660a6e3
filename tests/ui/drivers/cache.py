"""Frames are cached with progress, saved, opened again, scrubbed without a button, said to be stale, and deleted."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit

LAST, AT = 30, 14


def sidebar():
    """Show the panel of bakes."""
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    yield 0.5
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=kit.region("UI")):
        bpy.ops.view2d.reset()
        for _ in range(40):
            bpy.ops.view2d.scroll_down()
    yield 0.5


def kept_frames():
    return sys.modules[f"{kit.MODULE}.usdphys_addon.playback.kept_frames"]


def crate():
    return bpy.data.objects["Crate"]


def steps():
    yield from kit.install()
    for name in ("preview", "preview_bake"):
        kit.open_panel(getattr(bpy.types, f"USDPHYS_PT_{name}"))
    for name in ("actions", "selection", "checks"):
        panel = getattr(bpy.types, f"USDPHYS_PT_{name}")
        bpy.utils.unregister_class(panel)
        panel.bl_options = {"DEFAULT_CLOSED"}
        bpy.utils.register_class(panel)
    kit.crate("Floor", (0, 0, -0.1), (6, 6, 0.1), moves=False)
    kit.crate("Crate", (2, 0, 3)).rotation_euler = (0.3, 0.2, 0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.usdphys.preview.marks_contacts = True
    yield from sidebar()
    kit.shot("1-before")
    with kit.in_view():
        bpy.ops.usdphys.preview_cache("INVOKE_DEFAULT")
    yield from kit.until(lambda: kept_frames().about(scene) is not None, "the frames are cached")
    yield 1.0
    kit.shot("2-cached")
    assert kit.session() is None and abs(crate().location.z - 3) < 1e-6
    assert "Crate hits Floor" in [marker.name for marker in scene.timeline_markers]
    bpy.ops.wm.save_as_mainfile(filepath=f"{kit.SHARE}/kept.blend")
    bpy.ops.wm.open_mainfile(filepath=f"{kit.SHARE}/kept.blend")
    yield 1.0
    scene = bpy.context.scene
    assert kit.session() is None
    yield from sidebar()

    # The timeline comes to a cached frame: no button is pressed.
    scene.frame_set(AT)
    yield from kit.until(lambda: kit.guard().timeline() is not None, "the cache is shown")
    leader = kit.guard().timeline()
    yield 0.5
    assert scene.frame_current == AT and leader.has_kept
    fallen = 3 - crate().location.z
    print(f"FALLEN {fallen:.3f} m", flush=True)
    assert abs(fallen - 0.5 * 9.81 * ((AT - 1) / 24) ** 2) < 0.05
    kit.shot("3-scrubbed")
    scene.frame_set(LAST)
    yield 0.5
    assert leader.session.world.frame == 0, "nothing was simulated"
    kit.shot("4-last")
    # Reset puts all back; the next frame shows the cache again.
    kit.reset()
    yield 0.5
    assert kit.session() is None and scene.frame_current == 1 and abs(crate().location.z - 3) < 1e-6
    scene.frame_set(AT)
    yield from kit.until(lambda: kit.guard().timeline() is not None, "the cache is shown again")
    # Esc ends it in that frame; Space plays the cache on from there.
    x, y = kit.region("UI").x - 200, kit.region("UI").y + 300
    # What listens to the keys begins in a turn after the first frame.
    yield 1.0
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: kit.session() is None, "Esc ends it")
    assert scene.frame_current == AT
    yield from kit.key("SPACE", x, y)
    yield from kit.until(lambda: kit.guard().timeline() is not None, "Space begins it")
    assert kit.guard().timeline().has_kept
    yield from kit.until(lambda: scene.frame_current > AT, "it plays on")
    kit.reset()
    yield 0.5

    crate().location.z = 4
    scene.frame_set(AT)
    yield from kit.until(lambda: kept_frames().is_stale(scene), "the cache is compared")
    yield 1.0
    assert kit.session() is None and scene.frame_current == AT and abs(crate().location.z - 4) < 1e-6
    kit.shot("5-stale")
    with kit.in_view():
        bpy.ops.usdphys.preview_delete_cache()
    yield 0.5
    scene.frame_set(AT)
    yield 1.0
    assert kit.session() is None and kept_frames().about(scene) is None
    kit.shot("6-deleted")
    print("CACHE SHOWN", flush=True)


kit.run(steps)
