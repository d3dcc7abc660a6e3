"""Play, lead, drag, reset and bake in an engine in a process of its own, and see what a user sees where it dies.

The engine is a program that stands for PhysX. With UI_ENGINE (physx, newton, havok) and UI_ENGINE_PATH, its Python or
folder, in the environment it is that engine itself, whose process is killed.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

SHARE = os.environ.get("UI_SHARE", "/share")
sys.path.insert(0, f"{SHARE}/drivers")

import bpy
import kit


def transforms():
    return {
        obj.name: (
            tuple(obj.location),
            tuple(obj.rotation_euler),
            obj.rotation_mode,
            tuple(map(tuple, obj.matrix_world)),
        )
        for obj in bpy.data.objects
    }


def steps():
    yield from kit.install()
    engine = sys.modules[f"{kit.MODULE}.usdphys_addon.simulation.engine"]
    preferences = bpy.context.preferences.addons[kit.MODULE].preferences
    name, path = os.environ.get("UI_ENGINE", "physx"), os.environ.get("UI_ENGINE_PATH", "")
    if not path:
        os.environ["USDPHYS_PIPE"] = str(Path(engine.__file__).parent / "engines" / "pipe.py")
        engine.ENGINES["physx"] = replace(engine.ENGINES["physx"], program=f"{SHARE}/stand_in.py")
    space = kit.area().spaces.active
    space.show_region_ui = True
    kit.crate("Floor", (0, 0, -1.1), (6, 6, 0.1), moves=False)
    falling = kit.crate("Falling", (0.3, 0, 4), (0.5, 0.5, 0.5))
    lift = kit.crate("Lift", (3.0, 0, 0), (0.5, 0.5, 0.5))
    lift.usdphys.rigid_body.kinematic_enabled = True
    falling.usdphys.mass.is_applied, falling.usdphys.mass.mass = True, 1.0
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.view_layer.update()
    yield 0.5
    region = kit.region("UI")
    region.active_panel_category = "USD Physics"
    kit.open_panel(bpy.types.USDPHYS_PT_preview)
    yield 0.5
    kit.shot("1-not-set")
    setattr(preferences, f"{name}_python", path or sys.executable)
    assert engine.ENGINES[name].is_here()
    with kit.in_view():
        bpy.ops.usdphys.choose_engine(engine=name)
    yield 0.5
    kit.shot("2-chosen")
    before = transforms()

    yield from kit.play()
    session = kit.session()
    yield from kit.until(lambda: falling.location.z < 3.0, "the crate falls")
    kit.shot("3-playing")
    lift.location.z += 1.0
    yield from kit.until(
        lambda: session.world.positions[session.world.index("/root/Lift"), 2] > 0.9, "the led body arrives"
    )
    number = session.grab("/root/Falling", falling.matrix_world.translation)
    session.drag(number, (0.3, 0.0, 5.0))
    yield from kit.until(lambda: falling.matrix_world.translation.z > 4.0, "the grabbed crate comes back up")
    kit.shot("4-grabbed")
    rate = session.real_time_factor
    lift.location.z -= 1.0
    kit.reset()
    yield from kit.until(lambda: kit.session() is None, "the reset ends it")
    bpy.context.view_layer.update()
    assert transforms() == before, (before, transforms())
    print(f"REAL TIME {rate:.2f}, DELAY {session.world.delay:.2f} ms")
    kit.shot("5-reset")

    if not path:
        os.environ["USDPHYS_FAULT"], os.environ["USDPHYS_FAULT_AT"] = "dies@step", "20"
    yield from kit.play()
    if path:
        yield from kit.simulated(kit.session(), 20)
        os.kill(kit.session().world.spaces[0].child.pid, signal.SIGKILL)
    yield from kit.until(lambda: kit.session() is None, "it ends with the process")
    bpy.context.view_layer.update()
    assert transforms() == before, (before, transforms())
    yield 0.5
    kit.shot("6-died")
    os.environ["USDPHYS_FAULT"] = ""
    with kit.in_view():
        bpy.ops.usdphys.preview_bake(use_scene_range=False, frame_start=1, frame_end=10)
    bpy.context.scene.frame_set(10)
    yield 0.5
    assert falling.matrix_world.translation.z < 3.9
    kit.shot("7-baked")
    print("PLAYED IN A PROCESS OF ITS OWN")


kit.run(steps)
