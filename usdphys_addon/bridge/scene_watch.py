# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the changes of scenes, so that whoever keeps a result can tell whether it still holds.

Counters only grow. A caller keeps the count that its result was made at, and compares. Scenes are known by name.
Blender does not report everything: no handler runs after an operator that only sets properties (`look_at_operators`),
nor after a script that does. Hiding objects is reported in the same way as selecting them.
"""

from __future__ import annotations

import re
from typing import Any

import bpy

from ..core import clock

#: Operators that change no scene: they select, move the view, or check.
_CHANGES_NOTHING = re.compile(r"_OT_(select|view)|_select$|^USDPHYS_OT_check$")

_edits: dict[str, int] = {}
_selections: dict[str, int] = {}
_changed_at: dict[str, float] = {}
_moves = 0
#: Address of the last operator in the history, which is another one when an operator has run.
_last_operator = 0


def edits_of(scene_name: str) -> int:
    """Number of changes of a scene that are more than a selection: objects, properties, frames, undo, another file."""
    return _edits.get(scene_name, 0)


def selections_of(scene_name: str) -> int:
    """Number of changes of the selection or the visibility in a scene."""
    return _selections.get(scene_name, 0)


def moves() -> int:
    """Number of updates of any scene: while it is the same, no object has moved."""
    return _moves


def seconds_quiet(scene_name: str) -> float:
    """Seconds since the last edit of a scene; infinity if there was none."""
    return clock.now() - _changed_at.get(scene_name, float("-inf"))


def note_edit(scene_name: str) -> None:
    """Count an edit that the caller has seen by itself."""
    _edits[scene_name] = _edits.get(scene_name, 0) + 1
    _changed_at[scene_name] = clock.now()


def look_at_operators() -> None:
    """Count an edit of all scenes if an operator has run since the last call that may have changed something."""
    global _last_operator
    manager = bpy.context.window_manager
    operators: Any = manager.operators if manager is not None else ()
    if not len(operators):
        return
    last = operators[-1]
    mark = int(last.as_pointer())
    if mark == _last_operator:
        return
    _last_operator = mark
    if not _CHANGES_NOTHING.search(last.bl_idname):
        _note_all()


def _note_all() -> None:
    for scene in bpy.data.scenes:
        note_edit(scene.name)


def _is_selection(updates: Any) -> bool:
    """True if only the selection or the visibility has changed: only the scene is tagged then."""
    return (
        len(updates) == 1
        and isinstance(updates[0].id, bpy.types.Scene)
        and not (updates[0].is_updated_transform or updates[0].is_updated_geometry or updates[0].is_updated_shading)
    )


# --------------------------------------------------------------------------- handlers


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_update(scene: Any, depsgraph: Any) -> None:
    global _moves
    updates = depsgraph.updates
    if not len(updates):
        return
    _moves += 1
    if _is_selection(updates):
        _selections[scene.name] = _selections.get(scene.name, 0) + 1
    else:
        note_edit(scene.name)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_frame(scene: Any, *_: Any) -> None:
    global _moves
    _moves += 1
    note_edit(scene.name)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_replacement(*_: Any) -> None:
    """Undo, redo or loading has replaced the data."""
    global _moves
    _moves += 1
    _note_all()


_HANDLERS = (
    ("depsgraph_update_post", _after_update), ("frame_change_post", _after_frame), ("load_post", _after_replacement),
    ("undo_post", _after_replacement), ("redo_post", _after_replacement),
)  # fmt: skip


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
