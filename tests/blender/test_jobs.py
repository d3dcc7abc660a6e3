"""The one timer of the add-on in a real Blender: when it rings, what cancels its jobs, and that it goes with them."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.system import faults
from usdphys_ext.usdphys_addon.viewport import overlay_state, readout
from usdphys_ext.usdphys_addon.viewport.scene_shapes import Options
from usdphys_ext.usdphys_addon.worker import jobs

DONE = []


@pytest.fixture(autouse=True)
def _nothing_waits():
    """Not even what other tests have left: no timer rings here."""
    jobs.unregister()
    jobs.register()
    DONE.clear()
    yield
    for job in (forever, broken, call):
        jobs.cancel(job)


def forever():
    try:
        while True:
            yield 1.0
            DONE.append("step")
    finally:
        DONE.append("closed")


def broken():
    yield 0.0
    raise KeyError("broken on purpose")


def call():
    DONE.append("called")


def has_timer():
    return bpy.app.timers.is_registered(jobs.tick)


def rings(clock, seconds):
    """What Blender does: it calls the timer whenever this has asked for it."""
    end, wait = clock.seconds + seconds, 0.0
    while wait is not None and clock.seconds + wait <= end:
        clock.advance(wait)
        wait = jobs.tick()
    return wait


def test_the_timer_rings_when_the_first_job_is_due_and_ends_with_the_last(clock):
    assert not has_timer()
    jobs.add(forever)
    assert has_timer() and jobs.tick() == pytest.approx(1.0)
    jobs.call_later(call, 0.25)
    assert jobs.tick() == pytest.approx(0.25)
    rings(clock, 2.3)
    assert DONE == ["called", "step", "step"]
    jobs.cancel(forever)
    assert DONE[-1] == "closed" and jobs.tick() is None


def test_what_is_asked_for_often_is_called_once_and_may_ask_again(clock):
    def again():
        call()
        if len(DONE) < 2:
            jobs.call_later(again)

    for _ in range(3):
        jobs.call_later(again)
    assert rings(clock, 1.0) is None
    assert DONE == ["called", "called"]


def test_an_error_is_told_once_and_the_other_jobs_go_on(clock, capsys):
    jobs.add(broken)
    jobs.add(forever)
    rings(clock, 3.5)
    assert DONE == ["step"] * 3 and not jobs.is_waiting(broken)
    assert capsys.readouterr().err.count("Traceback") == 1
    assert "broken on purpose" in faults.last_fault()


def loads():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def undoes():
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


@pytest.mark.parametrize("replace", [loads, undoes])
def test_a_load_and_an_undo_cancel_jobs_but_for_those_that_survive(replace):
    jobs.add(forever)
    jobs.call_later(call, survives=True)
    replace()
    assert DONE == ["closed"] and not jobs.is_waiting(forever) and jobs.is_waiting(call)


@pytest.mark.parametrize("replace", [loads, undoes])
def test_what_was_asked_for_before_a_load_or_an_undo_is_not_computed_after_it(replace):
    readout.members_of("A")
    key = bpy.context.scene.name, bpy.context.view_layer.name, 0
    overlay_state.view_of(key, Options("ALL"))
    assert jobs.is_waiting(readout.compute) and jobs.is_waiting(overlay_state.read_wanted)
    replace()
    assert not jobs.is_waiting(readout.compute) and not jobs.is_waiting(overlay_state.read_wanted)
    readout.members_of("A")
    assert jobs.is_waiting(readout.compute)


def test_disabling_the_add_on_closes_all_jobs_and_leaves_no_timer(extension):
    readout.members_of("A")
    jobs.add(forever, survives=True)
    jobs.call_later(call, survives=True)
    assert has_timer()
    try:
        extension.unregister()
        assert DONE == ["closed"] and not has_timer() and not jobs.on_load and not jobs.on_undo
        assert not jobs.is_waiting(readout.compute) and not jobs.is_waiting(call)
    finally:
        extension.register()


def test_in_the_background_nothing_waits_that_nobody_asked_for(clock):
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.view_layer.update()
    assert bpy.app.background and not has_timer() and jobs.tick() is None
