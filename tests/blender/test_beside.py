# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs beside the preview, the proof of the scene, and the report about it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import bpy
import pytest
from usdphys_ext.operators import beside as beside_operators
from usdphys_ext.operators import prove as prove_operators
from usdphys_ext.panels import beside_panel
from usdphys_ext.usdphys_addon.core import clock
from usdphys_ext.usdphys_addon.playback import beside
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback import session as session_module
from usdphys_ext.usdphys_addon.proving.twins import Kind, Verdict

from .layout_recorder import LayoutRecorder, draw
from .scenes import add_box


@pytest.fixture(autouse=True)
def _nothing_beside(monkeypatch):
    monkeypatch.delenv("OCIO", raising=False)
    yield
    for name in (beside.COMPARE, beside.CONFIDENCE):
        beside.switch(name, False)


def settings():
    return bpy.context.window_manager.usdphys_overlay


def crate(name="Crate", z=3.0):
    obj = add_box(name, location=(0, 0, z))
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def floor():
    obj = add_box("Floor", (20, 20, 0.5), location=(0, 0, -0.5))
    obj.usdphys.colliders.add()
    return obj


def run(session, seconds):
    for _ in range(round(seconds / session.world.time_step)):
        session.step_once(bpy.context)


def twin_place(session):
    return session.twins.twins[0].poses()[0][0]


def test_confidence_runs_twins_from_the_start_and_nothing_without_it():
    floor()
    crate(z=0.5)
    session = preview_guard.start(bpy.context)
    assert session.twins is None
    preview_guard.stop()
    settings().confidence = True
    session = preview_guard.start(bpy.context)
    assert session.twins.twins[0].kind.rate == 2 and not session.twins.is_late
    run(session, 1.0)
    assert session.twins.verdicts().tolist() == [Verdict.ALIKE]
    settings().confidence = False
    run(session, 0.1)
    assert session.twins is None and not session.world.followers


def test_switched_on_while_it_plays_they_go_on_from_where_the_bodies_are():
    obj = crate(z=50.0)
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    settings().compare = True
    run(session, 0.25)
    assert session.twins.is_late
    assert twin_place(session) == pytest.approx(session.world.positions[0], abs=0.05)
    assert session.world.positions[0, 2] == pytest.approx(obj.matrix_world.translation.z, abs=1e-4)


def test_they_are_built_in_slices_in_which_the_preview_waits(monkeypatch):
    crate(z=50.0)
    session = preview_guard.start(bpy.context)
    session.play()
    settings().compare = True
    monkeypatch.setattr(session_module, "BUILD_SECONDS", 0.0)
    frame = session.world.frame
    session.advance(bpy.context)
    assert session.builds_twins and session.twins is None and session.world.frame == frame
    for _ in range(100):
        if not session.builds_twins:
            break
        session.advance(bpy.context)
    assert session.twins is not None


def test_switched_off_while_it_is_paused_after_an_edit_nothing_is_left():
    obj = crate(z=50.0)
    settings().confidence = True
    session = preview_guard.start(bpy.context)
    run(session, 0.1)
    obj.select_set(True)
    bpy.context.scene.gravity = (0.0, 0.0, -5.0)
    bpy.context.view_layer.update()
    settings().confidence = False
    session.advance(bpy.context)
    assert session.twins is None and not session.world.followers


@pytest.mark.slow
def test_a_reset_brings_them_back_to_the_bit():
    floor()
    crate()
    settings().confidence = True
    session = preview_guard.start(bpy.context)

    def played():
        found = []
        for _ in range(60):
            session.step_once(bpy.context)
            found.append((twin_place(session).tobytes(), session.twins.twins[0].share.tobytes()))
        return found

    first = played()
    session.reset(bpy.context)
    assert played() == first


def test_an_edit_reaches_them_live_and_after_another_one_they_are_built_anew():
    obj = crate(z=50.0)
    settings().confidence = True
    session = preview_guard.start(bpy.context)
    run(session, 0.2)
    before = session.twins
    bpy.context.scene.gravity = (0.0, 0.0, 3.0)
    run(session, 0.5)
    assert session.twins is before
    assert twin_place(session)[2] == pytest.approx(session.world.positions[0, 2], abs=0.05)
    obj.usdphys.rigid_body.is_applied = True
    crate("Other", 70.0)
    bpy.context.view_layer.update()
    session.take_edits(bpy.context)
    run(session, 0.2)
    assert session.twins is not before and len(session.twins.radii) == 2
    assert twin_place(session)[2] == pytest.approx(session.world.positions[0, 2], abs=0.05)


def test_a_slow_scene_runs_slower_and_blender_still_draws(monkeypatch):
    crate(z=50.0)
    settings().confidence = True
    session = preview_guard.start(bpy.context)
    # Each look at the clock takes longer than what a redraw may take, and three time steps.
    now = [0.0]

    def tick():
        now[0] += 0.05
        return now[0]

    monkeypatch.setattr(clock, "now", tick)
    session.play()
    session.advance(bpy.context)
    assert session.advance(bpy.context) == 1


@pytest.mark.slow
def test_why_says_what_parts_and_selects_it():
    floor()
    crate("Near", 0.5)
    far = crate("Far", 0.5)
    far.location.x = 5.0
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    assert not bpy.ops.usdphys.why.poll()
    settings().confidence = True
    run(session, 0.2)
    # A fault that one world alone has.
    row = session.world.index(session.shown.body_at("Far"))
    twin = session.twins.twins[0]
    twin.world.set_collider_enabled(next(prim.path for prim in session.model.colliders_of(session.world.paths[row])),
                                    False)  # fmt: skip
    run(session, 0.5)
    assert bpy.ops.usdphys.why() == {"FINISHED"}
    assert bpy.context.view_layer.objects.active.name == "Far"
    assert "Far" in session.twins.why(row)[0]
    layout = LayoutRecorder()
    beside_panel.USDPHYS_PT_beside.draw(SimpleNamespace(layout=layout), bpy.context)
    text = " ".join(layout.labels())
    assert "Far" in text and "parts from" in text


CAUSE = {"path": "/Far/Shape", "attribute": "physics:restitution"}


@pytest.mark.parametrize(("checks", "said"), [
    ([("differs", "Far parts.", [CAUSE])],
     "physics:restitution of Shape of Far is the cause that Far parts: without it, both move alike."),
    ([("differs", "Far parts.", [CAUSE, CAUSE | {"path": "/Far"}])],
     "Far parts only with all of physics:restitution of Shape of Far, physics:restitution of Far: without one of them, "
     "both move alike."),
    ([("differs", "Far parts.", []), ("pass", "", [])],
     "No attribute is the cause that Far parts: the engines themselves differ."),
    ([("pass", "", [])], "From the start both engines move it alike"),
    ([("skipped", "There was no time for MuJoCo.", [])], "There was no time for MuJoCo."),
])  # fmt: skip
def test_the_cause_is_a_sentence_about_objects(checks, said):
    shape = SimpleNamespace(label="Shape of Far")
    operator = SimpleNamespace(names={"/Far": "Far"}, twins=SimpleNamespace(model=SimpleNamespace(
        prims={"/Far/Shape": shape})))  # fmt: skip
    cls = beside_operators.USDPHYS_OT_find_cause
    operator.name_of = lambda path: cls.name_of(operator, path)
    rows = [{"status": status, "path": "/Far", "message": message, "causes": causes}
            for status, message, causes in checks]  # fmt: skip
    assert cls.sentences(operator, rows)[0].startswith(said)


@pytest.mark.slow
def test_the_cause_is_searched_in_a_process_beside_blender_and_told_in_the_panel(monkeypatch):
    """The other engine is the preview itself here, in which one world alone has a fault: nothing is found then."""
    monkeypatch.setattr(session_module.beside, "kinds", lambda _engine: [Kind("preview")])
    floor()
    crate("Far", 0.5)
    settings().compare = True
    session = preview_guard.start(bpy.context)
    run(session, 0.2)
    assert not bpy.ops.usdphys.find_cause.poll()
    (path,) = [prim.path for prim in session.model.colliders_of(session.world.paths[0])]
    session.twins.twins[0].world.set_collider_enabled(path, False)
    run(session, 0.5)
    assert bpy.ops.usdphys.why() == {"FINISHED"}
    assert bpy.ops.usdphys.find_cause() == {"FINISHED"}
    assert not bpy.context.window_manager.usdphys_cause.is_running
    (told, *_) = beside_operators.found(session)
    assert "engine" in told
    layout = LayoutRecorder()
    beside_panel.USDPHYS_PT_beside.draw(SimpleNamespace(layout=layout), bpy.context)
    assert told[:30] in " ".join(layout.labels())
    preview_guard.stop()
    assert not bpy.ops.usdphys.find_cause.poll()


@pytest.mark.slow
def test_a_scene_is_proven_beside_blender_and_a_fault_leads_to_its_object():
    floor()
    crate("Good", 0.5)
    inside = crate("Inside", 0.5)
    inside.location = (0.2, 0.0, 0.5)
    bpy.context.view_layer.update()
    assert bpy.ops.usdphys.prove(budget=10.0) == {"FINISHED"}
    state = bpy.context.window_manager.usdphys_proof
    assert not state.is_running and state.scene == bpy.context.scene.name
    assert state.verdict == "fail"
    assert {check.name for check in state.checks if check.status == "fail"} & {"Good", "Inside"}


@pytest.mark.parametrize(("statuses", "name", "said"), [
    ([], "", ({"INFO"}, "Proven: 1 check passed")),
    (["skipped"] * 2, "swing", ({"WARNING"}, "1 check passed, and 2 were skipped: see the sidebar")),
    (["skipped"], "absent", ({"INFO"}, "Proven: 1 check passed")),
    (["doubtful", "differs"], "", ({"INFO"}, "Nothing is wrong, 2 worth knowing: see the sidebar")),
    (["doubtful", "fail"], "", ({"WARNING"}, "1 check of the proof failed: see the sidebar")),
])  # fmt: skip
def test_what_is_wrong_what_is_worth_knowing_and_what_was_skipped_are_told_apart(tmp_path, statuses, name, said):
    rest = {"name": name, "path": "", "message": "The time was over.", "fix": "", "causes": []}
    checks = [{"status": status, **rest} for status in statuses]
    wrong, notable = statuses.count("fail"), len([one for one in statuses if one in ("doubtful", "differs")])
    table = {"verdict": "pass", "headline": "", "wrong": wrong, "worth_knowing": notable, "counts": {"pass": 1},
             "checks": checks}  # fmt: skip
    (tmp_path / "scene.json").write_text(json.dumps(table), encoding="utf-8")
    told = []
    operator = SimpleNamespace(
        command=SimpleNamespace(folder=tmp_path), names={}, report=lambda kind, text: told.append((kind, text))
    )
    prove_operators.USDPHYS_OT_prove.done(operator, bpy.context)
    assert told == [said] and len(bpy.context.window_manager.usdphys_proof.checks) == len(statuses)


def test_a_proof_names_objects_and_unfolds_what_was_not_tried(tmp_path):
    rest = {"name": "", "fix": "", "causes": [], "path": "/root/Crate"}
    checks = [
        {**rest, "status": "skipped", "message": "There was no time for /root/Crate."},
        {**rest, "status": "fail", "message": "/root/Crate sinks into /root/Floor.",
         "causes": [{"path": "/root/Crate", "attribute": "physics:density"}]},
    ]  # fmt: skip
    table = {"verdict": "fail", "headline": "", "wrong": 1, "worth_knowing": 0, "counts": {"pass": 1}, "checks": checks}
    (tmp_path / "scene.json").write_text(json.dumps(table), encoding="utf-8")
    operator = SimpleNamespace(
        command=SimpleNamespace(folder=tmp_path), names={"/root/Crate": "Red Crate"}, report=lambda *_: None
    )
    prove_operators.USDPHYS_OT_prove.done(operator, bpy.context)
    layout = draw(beside_panel.USDPHYS_PT_prove)
    text = " ".join(layout.labels())
    assert "'Red Crate' sinks into /root/Floor." in text and "Cause: 'Red Crate' physics:density" in text
    assert "no time" not in text and "Not Tried (1)" in text
    assert "no time for 'Red Crate'" in " ".join(
        draw(beside_panel.USDPHYS_PT_prove, opened=("usdphys_prove_skipped",)).labels()
    )


@pytest.mark.slow
def test_a_report_is_written_and_its_name_gets_its_end(tmp_path):
    floor()
    crate("Good", 0.5)
    assert bpy.ops.usdphys.share_report(filepath=str(tmp_path / "page"), budget=5.0) == {"FINISHED"}
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<html" in text and "Good" in text and "page.usdc" in text and "scene.usdc" not in text


def test_a_proof_that_is_stopped_leaves_nothing(monkeypatch):
    crate()
    state = bpy.context.window_manager.usdphys_proof
    monkeypatch.setattr(prove_operators.OfScene, "finish", lambda self, context: self.end(context) or {"CANCELLED"})
    monkeypatch.setattr("usdphys_ext.usdphys_addon.batch.background.BackgroundCommand.wait", lambda self: None)
    assert bpy.ops.usdphys.prove(budget=5.0) == {"CANCELLED"}
    assert not state.is_running
