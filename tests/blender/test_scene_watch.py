"""What counts as a change of a scene, and what as a selection only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import scene_watch
from usdphys_ext.usdphys_addon.core import clock as product_clock

from . import scenes


@pytest.fixture
def crate() -> Any:
    made = scenes.solid("Crate")
    bpy.context.view_layer.update()
    return made


class _Counts:
    """How much the counters have grown since this was made."""

    def __init__(self) -> None:
        self.before = self.now()

    @staticmethod
    def now() -> tuple[int, int, int]:
        return *scene_watch.stamp_of("Scene"), scene_watch.moves()

    def grown(self) -> tuple[bool, bool, bool]:
        edits, selections, moves = (one > two for one, two in zip(self.now(), self.before, strict=True))
        return edits, selections, moves


def test_a_moved_object_is_an_edit_of_its_scene_only(crate):
    counts, other = _Counts(), bpy.data.scenes.new("Other")
    others = scene_watch.stamp_of(other.name).edits
    crate.location.x += 1.0
    bpy.context.view_layer.update()
    assert counts.grown() == (True, False, True)
    assert scene_watch.stamp_of(other.name).edits == others


def test_a_selection_is_no_edit(crate):
    counts = _Counts()
    crate.select_set(not crate.select_get())
    bpy.context.view_layer.update()
    assert counts.grown() == (False, True, True)


def test_a_frame_and_an_undo_are_edits(crate):
    counts = _Counts()
    bpy.context.scene.frame_set(5)
    assert counts.grown() == (True, False, True)
    bpy.ops.ed.undo_push(message="before")
    crate.location.x += 1.0
    bpy.ops.ed.undo_push(message="after")
    counts = _Counts()
    bpy.ops.ed.undo()
    edits, _, moves = counts.grown()
    assert edits and moves


def test_another_file_is_an_edit_although_its_scene_has_the_same_name(crate, tmp_path):
    file = str(tmp_path / "crate.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    counts = _Counts()
    bpy.ops.wm.open_mainfile(filepath=file)
    assert counts.grown()[0]


def test_seconds_since_the_last_edit_do_not_depend_on_selections(crate, clock):
    scene_watch.note_edit("Scene")
    clock.advance(2.0)
    crate.select_set(not crate.select_get())
    bpy.context.view_layer.update()
    assert scene_watch.seconds_quiet("Scene") == pytest.approx(2.0)
    crate.location.x += 1.0
    bpy.context.view_layer.update()
    assert scene_watch.seconds_quiet("Scene") == 0.0
    assert scene_watch.seconds_quiet("never seen") == float("inf")
    assert product_clock.now() == clock.seconds


@pytest.mark.parametrize(
    ("name", "is_edit"),
    [
        ("USDPHYS_OT_make_static", True),
        ("USDPHYS_OT_compound_from_selection", True),
        ("USDPHYS_OT_group_add_selected", True),
        ("OBJECT_OT_hide_view_set", True),
        ("OBJECT_OT_select_all", False),
        ("VIEW3D_OT_select_box", False),
        ("VIEW3D_OT_view_selected", False),
        ("USDPHYS_OT_group_select", False),
        ("USDPHYS_OT_check", False),
        ("USDPHYS_OT_check_fix", True),
        ("USDPHYS_OT_compare_source", False),
        # These count their edits by themselves, before they compare again.
        ("USDPHYS_OT_revert_change", False),
        ("USDPHYS_OT_revert_all_changes", False),
    ],
)
def test_an_operator_counts_once_and_only_if_it_may_have_changed_something(monkeypatch, name, is_edit):
    """No handler runs after an operator that only sets properties."""
    last = SimpleNamespace(bl_idname=name, as_pointer=lambda: id(last))
    context = SimpleNamespace(window_manager=SimpleNamespace(operators=[last]))
    monkeypatch.setattr(scene_watch, "bpy", SimpleNamespace(context=context, data=bpy.data))
    counts = _Counts()
    scene_watch.look_at_operators()
    assert counts.grown()[0] == is_edit
    counts = _Counts()
    scene_watch.look_at_operators()
    assert not counts.grown()[0]
