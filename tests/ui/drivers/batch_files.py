"""Convert a folder beside Blender: the window is used meanwhile, all files are listed, Esc stops a second batch."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def sources(name, count):
    folder = Path("/share", name)
    folder.mkdir()
    first = folder / "scene0.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(first), copy=True)
    for number in range(1, count):
        shutil.copy(first, folder / f"scene{number}.blend")
    return folder


def steps():
    yield from kit.install()
    kit.area().spaces.active.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    state = bpy.context.window_manager.usdphys_batch
    cube = bpy.data.objects["Cube"]
    folder = sources("few", 3)
    (folder / "broken.gltf").write_text("no glTF")
    with kit.in_view():
        begun = bpy.ops.usdphys.batch_convert_folder("INVOKE_DEFAULT", directory=str(folder), format=".glb")
    assert begun == {"RUNNING_MODAL"}
    yield from kit.until(lambda: not state.is_running, "the batch ends")
    found = {job.name: job.status for job in state.jobs}
    assert found == {**{f"scene{number}.blend": "ok" for number in range(3)}, "broken.gltf": "failed"}, found
    assert len(list((folder / "converted").glob("*.glb"))) == 3
    kit.shot("1-done")

    many = sources("many", 600)
    with kit.in_view():
        bpy.ops.usdphys.batch_convert_folder("INVOKE_DEFAULT", directory=str(many), format=".glb")
    yield from kit.until(lambda: len(state.jobs) > 0, "the first file is converted")
    kit.shot("2-runs")
    # The operator lets all events but Esc pass: the cube is moved while the batch runs.
    x, y = kit.pixel(cube.location)
    yield from kit.click(x, y)
    yield from kit.key("G", x, y)
    kit.move(x + 60, y)
    yield 0.3
    yield from kit.click(x + 60, y)
    yield from kit.until(lambda: cube.location.length > 0.01, "the cube is moved")
    assert state.is_running
    print("EDITED WHILE IT RAN")
    yield from kit.key("ESC", x, y)
    yield from kit.until(lambda: not state.is_running, "Esc stops the batch")
    assert 0 < len(state.jobs) < 600
    print("STOPPED BY ESC", len(state.jobs))


kit.run(steps)
