# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the changes of scenes, so that the keeper of a result can tell whether it is stale.

Counts only grow. A caller keeps the `Stamp` of the scene from before its result was computed: the result is stale since
the scene has another one. Scenes are known by name.
Blender does not report everything: no handler runs after an operator that only sets properties (`look_at_operators`),
nor after a script that does. Hiding objects is reported in the same way as selecting them.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import bpy
from bpy.types import Depsgraph, Scene

from ..core import clock
from ..worker.handlers import Handlers

#: Operators that change no scene, because they select, move the view, check or compare; and those that count their edit
#: by themselves, before they compare.
_NOTHING_TO_COUNT = re.compile(
    r"_OT_(select|view)|_select$|^USDPHYS_OT_(check|compare_source|revert_change|revert_all_changes)$"
)


class Stamp(NamedTuple):
    """edits: changes of a scene that are more than a selection: objects, properties, frames, undo, another file.

    selections: changes of the selection or the visibility.
    """

    edits: int = 0
    selections: int = 0


class _Seen:
    """What has changed until now. moves: number of updates of any scene. changed_at: times of edits, by scene.

    last_operator: address of the last operator in the history, which is another one when an operator has run.
    """

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.changed_at: dict[str, float] = {}
        self.moves = self.last_operator = 0


_seen = _Seen()


def stamp_of(scene_name: str) -> Stamp:
    """The counts of a scene's changes until now."""
    return _seen.stamps.get(scene_name, Stamp())


def moves() -> int:
    """Number of updates of any scene: while it is the same, no object has moved."""
    return _seen.moves


def seconds_quiet(scene_name: str) -> float:
    """Seconds since the last edit of a scene; infinity if there was none."""
    return clock.now() - _seen.changed_at.get(scene_name, float("-inf"))


def note_edit(scene_name: str) -> None:
    """Count an edit that the caller has seen by itself."""
    stamp = stamp_of(scene_name)
    _seen.stamps[scene_name] = stamp._replace(edits=stamp.edits + 1)
    _seen.changed_at[scene_name] = clock.now()


def look_at_operators() -> None:
    """Count an edit of all scenes if an operator has run since the last call that may have changed something."""
    manager = bpy.context.window_manager
    operators: Any = manager.operators if manager is not None else ()
    if not len(operators):
        return
    last = operators[-1]
    mark = int(last.as_pointer())
    if mark == _seen.last_operator:
        return
    _seen.last_operator = mark
    if not _NOTHING_TO_COUNT.search(last.bl_idname):
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


def _after_update(scene: Scene, depsgraph: Depsgraph) -> None:
    updates = depsgraph.updates
    if not len(updates):
        return
    _seen.moves += 1
    if _is_selection(updates):
        stamp = stamp_of(scene.name)
        _seen.stamps[scene.name] = stamp._replace(selections=stamp.selections + 1)
    else:
        note_edit(scene.name)


def _after_frame(scene: Scene, *_: Any) -> None:
    _seen.moves += 1
    note_edit(scene.name)


def _after_replacement(*_: Any) -> None:
    """Undo, redo or loading has replaced the data."""
    _seen.moves += 1
    _note_all()


_handlers = Handlers(
    ("depsgraph_update_post", _after_update), ("frame_change_post", _after_frame), ("load_post", _after_replacement),
    ("undo_post", _after_replacement), ("redo_post", _after_replacement),
)  # fmt: skip
register, unregister = _handlers.register, _handlers.unregister
