# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches from a window: a folder converted, collections exported, the list, the report, and Esc."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from pxr import Usd, UsdPhysics
from usdphys_ext.operators import batch_files
from usdphys_ext.panels import batch_panel
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.batch import background, plans
from usdphys_ext.usdphys_addon.core.errors import InputError

from .layout_recorder import LayoutRecorder
from .scenes import solid

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _shell(monkeypatch):
    """What a shell would pass on: without the variable that bpy has set in this process."""
    monkeypatch.delenv("OCIO", raising=False)


def state():
    return bpy.context.window_manager.usdphys_batch


def bodies(path: Path) -> list[str]:
    stage = Usd.Stage.Open(str(path))
    return sorted(prim.GetName() for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI))


def test_a_folder_is_converted_and_what_fails_is_listed_and_reported_first(tmp_path):
    solid("Crate")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crate.blend"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "arm.urdf").write_text('<robot name="arm"><link name="base"/></robot>')
    (tmp_path / "broken.usda").write_text("no stage")
    assert bpy.ops.usdphys.batch_convert_folder(directory=str(tmp_path), format=".usdc") == {"FINISHED"}
    found = {job.name: job.status for job in state().jobs}
    assert found == {"crate.blend": "ok", "sub/arm.urdf": "ok", "broken.usda": "failed"}
    assert not state().is_running and state().total == 3
    assert bodies(tmp_path / "converted" / "crate.usdc") == ["Crate"]
    assert (tmp_path / "converted" / "sub" / "arm.usdc").exists()
    assert bpy.ops.usdphys.batch_report() == {"FINISHED"}
    lines = bpy.data.texts[batch_files.REPORT].as_string().splitlines()
    assert lines[0].startswith("3 of 3 done: ") and lines[2].startswith("failed   broken.usda: ")
    assert len(lines) == 5


def test_each_collection_becomes_a_file_with_its_own_objects_only(tmp_path):
    """Objects that are hidden in the view belong to the asset; what is not saved is exported, too."""
    for name in ("Chair", "Ta/ble"):
        collection = bpy.data.collections.new(name)
        bpy.context.scene.collection.children.link(collection)
        obj = solid(f"{name[:2]}Body")
        for other in list(obj.users_collection):
            other.objects.unlink(obj)
        collection.objects.link(obj)
    bpy.data.objects["ChBody"].hide_set(True)
    loose = solid("Loose")
    before = bpy.data.filepath
    assert bpy.ops.usdphys.export_collections(directory=str(tmp_path), format=".usda") == {"FINISHED"}
    assert {job.name: job.status for job in state().jobs} == {"Chair": "ok", "Ta/ble": "ok"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Chair.usda", "Ta_ble.usda"]
    assert (bodies(tmp_path / "Chair.usda"), bodies(tmp_path / "Ta_ble.usda")) == (["ChBody"], ["TaBody"])
    # The scene is as it was.
    assert bpy.data.objects["ChBody"].hide_get() and loose.name in bpy.context.scene.objects
    assert bpy.data.filepath == before


def test_a_collection_becomes_a_gltf_file_without_a_word_about_the_others(tmp_path, capfd):
    for name in ("Chair", "Table"):
        collection = bpy.data.collections.new(name)
        bpy.context.scene.collection.children.link(collection)
        obj = solid(f"{name}Body")
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "room.blend"))
    arguments = ["convert", str(tmp_path / "room.blend"), str(tmp_path / "chair.gltf"), "--collection", "Chair"]
    assert cli.main(arguments) == 0
    told = capfd.readouterr()
    assert "Table" not in told.out + told.err and "1 body, 1 collider" in told.out
    assert [node["name"] for node in json.loads((tmp_path / "chair.gltf").read_text())["nodes"]] == ["ChairBody"]


def test_a_collection_that_is_not_there_is_named(tmp_path, capfd):
    solid("Crate")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crate.blend"))
    arguments = ["convert", str(tmp_path / "crate.blend"), str(tmp_path / "a.usda"), "--collection", "Nope"]
    assert cli.main(arguments) == 1
    assert "'Nope'" in capfd.readouterr().err and not (tmp_path / "a.usda").exists()
    with pytest.raises(RuntimeError, match="no collections with objects"):
        bpy.ops.usdphys.export_collections(directory=str(tmp_path))
    assert not state().is_running


def test_files_of_one_name_do_not_write_one_output_and_no_input_is_replaced(tmp_path):
    for name in ("a.usda", "a.blend", "b.glb", ".hidden.usda", "c.txt"):
        (tmp_path / name).touch()
    found = plans.of_folder(tmp_path, tmp_path, (".usda", ".blend", ".glb"), ".usda", below=True)
    outputs = {job["id"]: Path(job["out"]).name for job in found}
    assert outputs == {"a.blend": "a_blend.usda", "a.usda": "a_usda.usda", "b.glb": "b.usda"}
    with pytest.raises(InputError, match="no files"):
        plans.of_folder(tmp_path, tmp_path, (".urdf",), ".usda", below=True)
    (tmp_path / "converted").mkdir()
    (tmp_path / "converted" / "old.usda").touch()
    again = plans.of_folder(tmp_path, tmp_path / "converted", (".usda",), ".usda", below=True)
    assert [job["id"] for job in again] == ["a.usda"]


def test_collections_whose_names_are_alike_get_files_of_their_own(tmp_path):
    found = plans.of_collections(tmp_path / "s.blend", ("A b", "a/b", "..", "É"), tmp_path, ".usdc")
    assert [Path(job["out"]).name for job in found] == ["A_b.usdc", "a_b_2.usdc", "collection.usdc", "É.usdc"]
    assert [job["options"]["collection"] for job in found] == ["A b", "a/b", "..", "É"]


# --------------------------------------------------------------------------- in a window


class Batch:
    """A batch that says what the test wants. closed: whether it was ended."""

    def __init__(self) -> None:
        self.new, self.runs, self.closed, self.said = [], True, False, ""
        #: Results of jobs that end while it is being stopped.
        self.late: list[dict[str, str]] = []

    def is_running(self):
        return self.runs

    def results(self):
        found, self.new = self.new, []
        return found

    def error(self):
        return self.said

    def stop(self):
        self.new += self.late

    def close(self):
        self.closed = True


class Operator(batch_files.BatchOperator):
    def __init__(self) -> None:
        self.command, self.reports = Batch(), []

    def report(self, kind, text):
        self.reports.append((*kind, text))


@pytest.fixture
def window():
    """(operator, context, texts in the status bar) of a batch of three that runs in a window."""
    told = []
    context = SimpleNamespace(
        window_manager=SimpleNamespace(usdphys_batch=state(), event_timer_remove=lambda _: None),
        workspace=SimpleNamespace(status_text_set=told.append),
    )
    state().jobs.clear()
    state().total, state().is_running = 3, True
    operator = Operator()
    operator.timer = object()
    yield operator, context, told
    state().is_running = False
    state().jobs.clear()


TIMER, MOVE, ESC = (SimpleNamespace(type=name, value="PRESS") for name in ("TIMER", "MOUSEMOVE", "ESC"))


def test_while_it_runs_the_window_stays_in_use_and_results_are_listed(window):
    operator, context, told = window
    operator.command.new = [{"id": "a", "status": "ok"}]
    assert operator.modal(context, MOVE) == {"PASS_THROUGH"} and not len(state().jobs)
    assert operator.modal(context, TIMER) == {"PASS_THROUGH"}
    assert [job.name for job in state().jobs] == ["a"] and "1 of 3 done: 1 ok" in told[-1]
    operator.command.new = [{"id": "b", "status": "crashed", "error": "Why."}, {"id": "c", "status": "ok"}]
    operator.command.runs = False
    assert operator.modal(context, TIMER) == {"FINISHED"}
    (found,) = operator.reports
    assert found == ("WARNING", "3 of 3 done: 2 ok, 1 crashed. The reasons for 'b' are in the sidebar: Batch > Files")
    assert state().jobs["b"].message == "Why." and state().jobs[state().active].name == "b"
    assert operator.command.closed and not state().is_running and told[-1] is None


def test_esc_ends_the_batch_and_keeps_what_is_done(window):
    operator, context, told = window
    operator.command.new, operator.command.late = [{"id": "a", "status": "ok"}], [{"id": "b", "status": "ok"}]
    assert operator.modal(context, ESC) == {"CANCELLED"}
    assert operator.command.closed and not state().is_running and told[-1] is None
    assert operator.reports == [("WARNING", "The batch was stopped: 2 of 3 done: 2 ok")]


def test_a_batch_that_cannot_work_says_why(window):
    operator, context, _ = window
    operator.command.runs, operator.command.said = False, "No process with Blender can be started."
    assert operator.modal(context, TIMER) == {"CANCELLED"}
    assert operator.reports == [("ERROR", "No process with Blender can be started.")]


def test_no_second_batch_begins_while_one_runs(window):
    assert not bpy.ops.usdphys.batch_convert_folder.poll()
    state().is_running = False
    assert bpy.ops.usdphys.batch_convert_folder.poll()


def test_the_panel_shows_progress_then_the_summary_and_why_the_chosen_job_failed(window):
    operator, context, _ = window
    operator.command.new = [{"id": "a", "status": "failed", "issues": [{"severity": "error", "message": "Bad mass."}]}]
    operator.look(context)
    for is_running, shown in ((True, "1 / 3"), (False, "1 of 3 done: 1 failed")):
        state().is_running = is_running
        layout = LayoutRecorder()
        batch_panel.USDPHYS_PT_batch_files.draw(SimpleNamespace(layout=layout), bpy.context)
        texts = [each.text for each in layout.all()]
        assert shown in texts and any("Bad mass." in text for text in texts)


# --------------------------------------------------------------------------- the process beside the window


def test_results_come_while_it_runs_and_a_stop_ends_all_processes(tmp_path):
    (tmp_path / "arm.urdf").write_text('<robot name="arm"><link name="base"/></robot>')
    jobs = [{"op": "inspect", "in": str(tmp_path / "arm.urdf"), "id": str(number)} for number in range(3)]
    batch = background.BackgroundBatch(jobs, workers=1)
    try:
        batch.wait()
        assert [each["status"] for each in batch.results()] == ["ok"] * 3
        assert batch.results() == [] and batch.error() == ""
    finally:
        batch.close()
    assert not batch.folder.exists()
    stopped = background.BackgroundBatch(jobs)
    stopped.close()
    assert not stopped.is_running() and not stopped.folder.exists()


def test_jobs_that_are_none_are_said(tmp_path):
    batch = background.BackgroundBatch([{"op": "nothing"}])
    try:
        batch.wait()
        assert "'op'" in batch.error() and json.dumps(batch.results()) == "[]"
    finally:
        batch.close()


def test_a_program_that_ends_with_a_traceback_has_not_answered(monkeypatch):
    """Blender's Python ends with status 1 then, which is also that of files with problems."""
    for code, told in (("raise ValueError('odd help')", "ValueError: odd help"), ("raise SystemExit(1)", "")):
        monkeypatch.setattr(background.isolate, "program", lambda code=code: [sys.executable, "-c", code])
        batch = background.BackgroundBatch([{"op": "nothing"}])
        try:
            batch.wait()
            assert batch.error() == (f"The batch ended with status 1: {told}" if told else "")
        finally:
            batch.close()
