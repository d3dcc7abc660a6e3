# SPDX-License-Identifier: GPL-3.0-or-later
"""An operator that waits for a process: while nothing new is to be said, the views are not drawn again."""

from types import SimpleNamespace

from usdphys_ext.operators import in_background


class Waiting(in_background.InBackground):
    """A process of which two things are told."""

    def __init__(self):
        self.command = SimpleNamespace(is_running=lambda: True)
        self.words = iter(["1 of 9", "1 of 9", "1 of 9", "2 of 9", "2 of 9"])

    def progress(self, context):
        return next(self.words)


def test_views_are_drawn_when_something_new_is_said(monkeypatch):
    drawn, said = [], []
    monkeypatch.setattr(in_background.environment, "redraw", lambda *kinds: drawn.append(kinds))
    context = SimpleNamespace(workspace=SimpleNamespace(status_text_set=said.append))
    operator = Waiting()
    for _ in range(5):
        assert operator.modal(context, SimpleNamespace(type="TIMER", value="NOTHING")) == {"PASS_THROUGH"}
    assert said == ["1 of 9", "2 of 9"]
    assert drawn == [("VIEW_3D",)] * 2
