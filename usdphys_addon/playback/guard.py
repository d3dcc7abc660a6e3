# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the one preview session, and keeps simulated poses out of files, undo steps and other scenes.

The session lives outside of Blender's data: whatever replaces that data ends it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from .poses import Transform
    from .session import PreviewSession

_session: PreviewSession | None = None
_shown: dict[str, Transform] = {}
#: Authored transforms of all objects that a preview has moved since the file was loaded, the last ones. An undo step
#: that was made while a preview ran holds simulated poses, and can come back long after that preview has ended.
_authored: dict[str, Transform] = {}


def current() -> PreviewSession | None:
    """The session that runs, if any."""
    return _session


def start(context: bpy.types.Context) -> PreviewSession:
    """A session of the scene; one that runs already ends. Raises MissingDependencyError and InputError."""
    global _session
    stop()
    from ..bridge.environment import collector_at_rest
    from .session import PreviewSession

    with collector_at_rest():
        _session = PreviewSession(context)
    _authored.update(_session.authored)
    return _session


def stop() -> None:
    """End the session, with all objects as they were authored."""
    global _session
    session, _session = _session, None
    if session is not None:
        _authored.update(session.authored)
        session.stop()


def forget() -> PreviewSession | None:
    """End the session and leave the objects alone; whoever calls this takes care of them."""
    global _session
    session, _session = _session, None
    if session is not None:
        _authored.update(session.authored)
    return session


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_save(*_: Any) -> None:
    """A file that is saved while the preview plays holds the authored poses."""
    _shown.clear()
    if _session is not None:
        _shown.update(_session.put_authored())


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_save(*_: Any) -> None:
    if _session is not None:
        _session.put_shown(_shown)
    _shown.clear()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_load(*_: Any) -> None:
    stop()
    _authored.clear()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_undo_step(*_: Any) -> None:
    """An undo ends the preview."""
    stop()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_undo_step(*_: Any) -> None:
    """Objects that come from a step that was made while a preview ran are put back as they were authored."""
    from ..bridge.naming import objects_by_name
    from .poses import is_simulated, restored

    known = objects_by_name() if _authored else {}
    for name, before in _authored.items():
        obj = known.get(name)
        if obj is not None and is_simulated(obj):
            restored(obj, before)
    for scene in bpy.data.scenes:
        preview = scene.usdphys.preview  # type: ignore[attr-defined]
        if preview.is_running:
            preview.property_unset("is_running")


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _session is not None and scene.name == _session.scene_name:
        _session.note_updates(depsgraph)


_HANDLERS = (
    ("save_pre", _before_save), ("save_post", _after_save), ("save_post_fail", _after_save),
    ("load_pre", _before_load), ("undo_pre", _before_undo_step), ("redo_pre", _before_undo_step),
    ("undo_post", _after_undo_step), ("redo_post", _after_undo_step), ("depsgraph_update_post", _after_update),
)  # fmt: skip


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    stop()
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
