# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in a window: slices, progress, Esc, and an end that leaves no timer and no text behind."""

import types

import bpy
import pytest
from usdphys_ext.operators import stepped
from usdphys_ext.usdphys_addon.core import clock
from usdphys_ext.usdphys_addon.core.errors import InputError


class Work(stepped.Stepped):
    """Stands for an operator and its context in a window."""

    cancelled = "Cancelled"

    def __init__(self, number=10, error=None):
        self.made, self.closed, self.texts, self.reports, self.timers = 0, False, [], [], 0
        self.number, self.error = number, error
        self.window = object()
        self.window_manager = self.workspace = self
        self.options = types.SimpleNamespace(is_invoke=True, is_repeat=False)

    def steps(self):
        try:
            while self.made < self.number:
                self.made += 1
                if self.error is not None and self.made == 3:
                    raise self.error
                yield self.made / self.number
        finally:
            self.closed = True
        return "result"

    def event_timer_add(self, _seconds, window):
        self.timers += 1
        return window

    def event_timer_remove(self, _timer):
        self.timers -= 1

    def modal_handler_add(self, _operator):
        pass

    def status_text_set(self, text):
        self.texts.append(text)

    def report(self, kind, text):
        self.reports.append((kind, text))

    def done(self, result):
        self.reports.append(({"INFO"}, result))
        return {"FINISHED"}

    def progress(self, fraction):
        return f"{fraction:.0%}"

    def begin(self):
        assert self.run(self, self.steps()) == {"RUNNING_MODAL"} and not self.made and self.timers == 1

    def event(self, kind):
        return self.modal(self, types.SimpleNamespace(type=kind))

    def has_ended(self):
        return self.closed and self.timers == 0 and self.texts[-1] is None


@pytest.fixture(autouse=True)
def frozen(monkeypatch):
    """Each look at the clock finds it a twentieth of a second later."""
    looks = iter(range(10_000))
    monkeypatch.setattr(clock, "now", lambda: next(looks) * 0.05)


def test_a_slice_is_as_many_steps_as_its_time_allows_and_shows_the_progress():
    work = Work()
    work.begin()
    assert work.event("MOUSEMOVE") == {"RUNNING_MODAL"} and not work.made
    assert work.event("TIMER") == {"RUNNING_MODAL"}
    assert (work.made, work.texts) == (2, ["20%"])
    while work.event("TIMER") == {"RUNNING_MODAL"}:
        pass
    assert work.reports == [({"INFO"}, "result")] and work.has_ended()


@pytest.mark.parametrize("seconds", [0.0, 0.001])
def test_however_late_the_clock_is_a_slice_makes_one_step(seconds):
    work = Work()
    work.slice = seconds
    work.begin()
    for number in range(1, 4):
        assert work.event("TIMER") == {"RUNNING_MODAL"} and work.made == number


def test_esc_and_a_closed_window_close_the_steps():
    work, other = Work(), Work()
    for one in (work, other):
        one.begin()
        one.event("TIMER")
    assert work.event("ESC") == {"CANCELLED"} and work.reports == [({"INFO"}, "Cancelled")]
    other.cancel(other)
    assert work.has_ended() and other.has_ended()


def test_an_error_of_ours_is_reported_and_another_is_raised_and_both_end_the_work():
    work, other = Work(error=InputError("No.")), Work(error=KeyError("bug"))
    for one in (work, other):
        one.begin()
        one.event("TIMER")
    assert work.event("TIMER") == {"CANCELLED"} and work.reports == [({"ERROR"}, "No.")]
    with pytest.raises(KeyError):
        other.event("TIMER")
    assert work.has_ended() and other.has_ended()


@pytest.mark.parametrize(("is_invoke", "is_repeat"), [(False, False), (True, True)], ids=["script", "adjusted"])
def test_a_script_and_adjust_last_operation_wait_for_the_end(is_invoke, is_repeat):
    """Blender frees an operator that it runs again when it returns: a timer of it would crash."""
    work = Work()
    work.options = types.SimpleNamespace(is_invoke=is_invoke, is_repeat=is_repeat)
    assert work.run(work, work.steps()) == {"FINISHED"} and work.made == 10 and work.timers == 0
    assert bpy.app.background
