"""Aims in a window: paths are drawn meanwhile, Esc keeps the best as one undo step, and a variation is chosen."""

import os
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def searches_beside():
    """True while a process of this one searches."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return any(b"aiming.beside" in Path(f"/proc/{child}/cmdline").read_bytes() for child in children)


def steps():
    yield from kit.install()
    ghosts = import_module(f"{kit.MODULE}.usdphys_addon.playback.ghosts")
    bpy.data.objects["Cube"].hide_set(True)
    kit.crate("Floor", (0, 0, -0.1), (9, 9, 0.1), moves=False)
    ball = kit.crate("Crate", (-3, 0, 1), (0.2,) * 3)
    wall = kit.crate("Wall", (0, 0, 0.5), (0.1, 2, 1.5), moves=False)
    target = bpy.data.objects.new("Here", None)
    bpy.context.scene.collection.objects.link(target)
    # Behind the wall, out of reach: the search goes on until Esc.
    target.location = (40, 0, 0.2)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    for obj in (ball, target):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = target
    kit.area().spaces.active.show_region_ui = True
    kit.open_panel(bpy.types.USDPHYS_PT_preview)
    kit.open_panel(bpy.types.USDPHYS_PT_preview_aims)
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    view = kit.region()
    x, y = view.x + view.width // 2, view.y + view.height // 2
    with kit.in_view():
        bpy.ops.ed.undo_push(message="before")
        assert bpy.ops.usdphys.land_here("INVOKE_DEFAULT", True, frame=30) == {"FINISHED"}
        assert bpy.ops.usdphys.aim("INVOKE_DEFAULT", True, speed=6.0, runs=4000) == {"RUNNING_MODAL"}
    yield from kit.until(lambda: ghosts.current() is not None and len(ghosts.current().ways) > 25, "it searches")
    kit.shot("1-search")
    yield from kit.until(searches_beside, "it goes on in a process beside Blender")
    count = ghosts.current().change
    yield from kit.until(lambda: ghosts.current().change > count + 5, "that sends its runs")
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: ghosts.current() is None, "Esc ends it")
    assert not searches_beside()
    ball = bpy.data.objects["Crate"]
    assert ball.usdphys.rigid_body.velocity[0] > 2.0
    yield 0.3
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.3
    ball = bpy.data.objects["Crate"]
    assert not ball.usdphys.rigid_body.velocity.length, "one undo step"
    assert bpy.data.objects["Here"].usdphys.land_here.is_applied
    print("ESC KEPT THE BEST")

    with kit.in_view():
        ball.select_set(True)
        assert bpy.ops.usdphys.vary("INVOKE_DEFAULT", frame=40, runs=20, speed=4.0) == {"RUNNING_MODAL"}
    yield from kit.until(lambda: ghosts.variations() and len(ghosts.variations().ways) == 20, "it varies")
    yield 0.5
    kit.shot("2-variations")
    with kit.in_view():
        bpy.ops.usdphys.choose_variation(step=3)
    yield 0.3
    kit.shot("3-chosen")
    with kit.in_view():
        assert bpy.ops.usdphys.use_variation() == {"FINISHED"}
    assert ghosts.current() is None and ball.usdphys.rigid_body.velocity.length
    yield 0.3
    print("CHOSEN")
    assert wall.name


kit.run(steps)
