"""Other engines beside the preview in a window: the toggles, ghosts, painted bodies, the legend, the key for why."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit


def theme(light):
    space = bpy.context.preferences.themes[0].view_3d.space
    space.gradients.high_gradient = (0.85, 0.85, 0.85) if light else (0.24, 0.24, 0.24)


def steps():
    yield from kit.install()
    operators = import_module(f"{kit.MODULE}.operators.beside")
    bpy.data.objects["Cube"].hide_set(True)
    kit.crate("Floor", (0, 0, -0.1), (9, 9, 0.1), moves=False)
    for number in range(4):
        kit.crate(f"Crate{number}", (number * 1.2 - 2.4, -1.0, 0.3), (0.3,) * 3)
    kit.crate("Slider", (-2.0, 1.0, 0.3), (0.3,) * 3).usdphys.rigid_body.velocity = (4.0, 0.0, 0.0)
    kit.crate("Odd", (1.6, 1.2, 0.3), (0.3,) * 3)
    yield from kit.show_sidebar(bpy.types.USDPHYS_PT_beside, bpy.types.USDPHYS_PT_prove)
    settings = bpy.context.window_manager.usdphys_overlay
    settings.compare = settings.confidence = True
    yield 0.3
    yield from kit.play()
    session = kit.session()
    yield from kit.until(lambda: session.world.time > 0.0, "it plays")
    with kit.in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    assert not session.is_playing
    assert session.twins is not None
    assert {twin.problem for twin in session.twins.twins} == {""}
    # A fault that one of the worlds has alone: it pushes all that it holds.
    world = session.twins.twins[-1].world
    world.set_gravity((4.0, 5.0, -9.81))
    row = session.world.index(session.shown.body_at("Odd"))
    for _ in range(24):
        with kit.in_view():
            bpy.ops.usdphys.preview_step()
    assert session.twins.splits_of(row)
    yield 0.3
    bpy.data.objects["Odd"].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Odd"]
    if kit.IN_TREE:
        # Blender as a module simulates no events.
        with kit.in_view():
            bpy.ops.usdphys.why()
    else:
        middle = kit.region()
        yield from kit.key("W", middle.x + middle.width // 2, middle.y + middle.height // 2, shift=True, alt=True)
    yield from kit.until(lambda: operators.asked(session) == row, "it is asked")
    assert "Odd" in session.twins.why(row)[0]
    kit.scroll_sidebar_down()
    yield 0.4
    kit.shot("1-both")
    theme(light=True)
    yield 0.4
    kit.shot("2-light")
    settings.confidence = False
    yield 0.6
    kit.shot("3-compare")
    theme(light=False)
    settings.compare, settings.confidence = False, True
    yield 0.6
    settings.confidence = False
    yield from kit.until(lambda: session.twins is None, "nothing runs beside it any more")
    kit.reset()
    yield 0.3
    print("BESIDE DRAWN")


kit.run(steps)
