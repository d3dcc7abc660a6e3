# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the one preview session, and keeps simulated poses out of files, undo steps and other scenes.

The session lives outside of Blender's data, so handlers end it before undo or loading replaces that data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from .poses import Transform
    from .session import PreviewSession

_session: PreviewSession | None = None
_shown: dict[str, Transform] = {}
#: Latest authored transforms of all objects that a preview has moved since the file was loaded. An undo step that was
#: pushed while a preview ran holds simulated poses, and can be restored long after that preview has ended.
_authored: dict[str, Transform] = {}


def current() -> PreviewSession | None:
    """The running session, or None."""
    return _session


def start(context: bpy.types.Context) -> PreviewSession:
    """Start a session of the scene, after ending a running one. Raises MissingDependencyError and InputError."""
    global _session
    stop()
    from ..bridge.environment import gc_paused
    from .session import PreviewSession

    with gc_paused():
        _session = PreviewSession(context)
    _authored.update(_session.authored)
    return _session


def stop() -> None:
    """End the session and restore all authored transforms."""
    global _session
    session, _session = _session, None
    if session is not None:
        _authored.update(session.authored)
        session.stop()


def forget() -> PreviewSession | None:
    """Drop the session without touching the objects, and return it; the caller restores or keeps them."""
    global _session
    session, _session = _session, None
    if session is not None:
        _authored.update(session.authored)
    return session


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_save(*_: Any) -> None:
    """Show the authored poses while a file is saved."""
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
    """End the preview."""
    stop()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_undo_step(*_: Any) -> None:
    """Restore the authored transforms of objects from an undo step that was pushed while a preview ran."""
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
