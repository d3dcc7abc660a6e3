# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in the background: Python switches threads often while it lasts, errors come through, nobody waits for ever."""

import gc
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge.placements import Placement
from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.system import collector
from usdphys_ext.usdphys_addon.usd import import_source
from usdphys_ext.usdphys_addon.worker import thread
from usdphys_ext.usdphys_addon.worker.thread import Background


def test_the_switch_interval_is_short_while_a_thread_works():
    before = sys.getswitchinterval()
    with Background("Asking", sys.getswitchinterval) as asking:
        assert asking.result() < before / 10
    assert sys.getswitchinterval() == before


def test_work_that_fails_leaves_the_interval_as_it_was():
    def fail(reason):
        raise ValueError(reason)

    before = sys.getswitchinterval()
    with Background("Failing", fail, "broken") as failing, pytest.raises(ValueError, match="broken"):
        failing.result()
    assert sys.getswitchinterval() == before


def test_without_more_threads_the_work_is_done_all_the_same(monkeypatch):
    def start(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Background("Counting", len, "four") as counting:
        assert counting.result() == 4


@pytest.mark.parametrize("override", [{}, {"scene": None}, {"window": "the window"}], ids=str)
def test_no_thread_works_beside_blender_under_a_context_override(override):
    """Blender reads an override without the GIL; from Python 3.12 on it sees that another thread has that."""
    here = threading.get_ident()
    with Background("Asking", threading.get_ident) as before:
        assert before.result() != here
    if "window" in override:
        override = {"window": bpy.data.window_managers[0].windows[0]}
    with bpy.context.temp_override(**override), Background("Asking", threading.get_ident) as under:
        assert (under.result() == here) == (sys.version_info < (3, 12))
    with Background("Asking", threading.get_ident) as after:
        assert after.result() != here


@pytest.mark.slow
@pytest.mark.parametrize("has_override", [False, True])
def test_what_lives_is_left_out_of_walks_once_unless_an_override_is_among_it(has_override):
    was_frozen = collector.is_frozen()
    collector.unfreeze()
    try:
        with bpy.context.temp_override() if has_override else nullcontext():
            thread.shorten_walks()
            count = gc.get_freeze_count()
            assert (count > 0) == (sys.version_info < (3, 12) and not has_override)
            later = [[] for _ in range(1000)]
            thread.shorten_walks()
            assert gc.get_freeze_count() <= count and later[0] == []
            assert thread.threads_are_safe() == (sys.version_info >= (3, 12) or not has_override)
        with bpy.context.temp_override():
            assert thread.threads_are_safe() == (sys.version_info >= (3, 12))
    finally:
        collector.unfreeze()
        if was_frozen:
            collector.freeze()


@pytest.mark.slow
def test_imports_under_a_context_override_do_not_bring_blender_down(tmp_path):
    """In a process of its own: a crash would end the tests."""
    script = tmp_path / "imports.py"
    script.write_text(_IMPORTS)
    conftest = Path(__file__).resolve().parents[1] / "conftest.py"
    result = subprocess.run(
        [sys.executable, str(script), str(conftest)], capture_output=True, text=True, timeout=900, check=False
    )
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["ENDED"]), result.stdout + result.stderr


_IMPORTS = """
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("alias", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
import bpy
from usdphys_ext.usdphys_addon.worker.thread import Background

file = Path(__file__).with_name("cube.usda")
file.write_text('#usda 1.0\\ndef Xform "A"\\n{\\n    def Cube "C"\\n    {\\n    }\\n}\\n')

def work():
    class Item:
        pass
    for _ in range(3000):
        for key, value in {str(number): (number, number) for number in range(50)}.items():
            item = Item()
            item.key = key
            getattr(item, "key")

for _ in range(10):
    with bpy.context.temp_override(scene=bpy.context.scene, view_layer=bpy.context.view_layer):
        with Background("Working", work):
            bpy.ops.wm.usd_import(filepath=str(file))
print("ENDED", flush=True)
"""


@pytest.fixture
def block(monkeypatch):
    """Replaces a function by one that waits for what never comes."""
    event = threading.Event()
    # Ends the wait of code that would wait for ever.
    rescue = threading.Timer(20.0, event.set)
    rescue.start()
    monkeypatch.setattr(thread, "LOOK", 0.001)
    monkeypatch.setattr(thread, "LOOKS", 50)
    monkeypatch.setattr(thread.clock, "process_now", lambda: 0.0)

    def blocked(module, name):
        work = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *arguments: event.wait() and work(*arguments))

    yield blocked
    event.set()
    rescue.cancel()


def test_a_reader_that_blocks_ends_the_import_with_a_sentence_and_the_scene_as_it_was(tmp_path, block):
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    usd_export.export_usd(bpy.context, tmp_path / "cube.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    before = sys.getswitchinterval()
    block(import_source, "read_source")
    with pytest.raises(UsdPhysError, match=r"Reading the physics of 'cube.usda' made no progress"):
        usd_import.import_usd(bpy.context, tmp_path / "cube.usda", usd_import.ImportOptions())
    assert not bpy.data.objects and not bpy.context.scene.usdphys.source.filepath
    assert sys.getswitchinterval() == before


def test_the_garbage_collector_does_not_run_in_the_reading_thread(tmp_path, monkeypatch):
    """It would delete Blender's objects there, while Blender works. The window imports step by step."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    usd_export.export_usd(bpy.context, tmp_path / "cube.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    asked, read_source = [], import_source.read_source

    def watched(*arguments):
        asked.append(gc.isenabled())
        return read_source(*arguments)

    monkeypatch.setattr(import_source, "read_source", watched)
    assert gc.isenabled()
    assert list(usd_import.import_steps(bpy.context, tmp_path / "cube.usda", usd_import.ImportOptions()))
    assert asked == [False] and gc.isenabled()


def test_a_thread_that_works_is_not_given_up(monkeypatch):
    """However long it takes: what counts is that the process does something."""
    monkeypatch.setattr(thread, "LOOK", 0.001)
    monkeypatch.setattr(thread, "LOOKS", 2)
    used, goal = iter(range(1_000_000)), threading.Event()

    def working():
        if (number := next(used)) > 100:
            goal.set()
        return float(number)

    monkeypatch.setattr(thread.clock, "process_now", working)
    with Background("Waiting", goal.wait) as waiting:
        assert waiting.result()


def alive():
    """What is read of scenes and files and is not freed yet."""
    return [item for item in gc.get_objects() if isinstance(item, Prim | PhysicsModel | Placement)]


@pytest.mark.parametrize("work", ["export", "import", "layer"])
def test_what_was_read_of_a_scene_is_freed_at_once(tmp_path, work):
    """A circle of references would leave it to the garbage collector: a third of the time of an export, and memory."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    bpy.context.object.usdphys.colliders.add()
    target = tmp_path / "cube.usda"
    usd_export.export_usd(bpy.context, target, usd_export.ExportOptions())
    if work != "export":
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if work == "layer":
        usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
        bpy.context.scene.objects["Cube"].location.x = 1.0
    gc.collect()
    gc.disable()
    before = alive()
    try:
        if work == "export":
            usd_export.export_usd(bpy.context, target, usd_export.ExportOptions())
        elif work == "import":
            usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
        else:
            source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
        left = {type(item).__name__ for item in alive() if all(item is not other for other in before)}
    finally:
        gc.enable()
    assert left == set()
