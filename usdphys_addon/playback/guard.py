# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the one preview session, and keeps simulated poses out of files, undo steps and other scenes.

The session lives outside of Blender's data, so handlers end it before undo or loading replaces that data. Objects that
show simulated poses and are not the session's, such as copies, are restored from what is stored in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy

from ..bridge import authored_poses, stand_ins
from ..worker import jobs
from ..worker.handlers import Handlers

if TYPE_CHECKING:
    from .session import PreviewSession
    from .starting import Starting
    from .timeline import Timeline


class _Running:
    """starting: is to become the session. timeline: leads the session if the timeline does.

    problem: why the timeline plays without physics. counts: of objects and scenes when the last look was taken at them.
    """

    session: PreviewSession | None = None
    starting: Starting | None = None
    timeline: Timeline | None = None
    problem: str = ""
    counts: tuple[int, int] = (0, 0)

    def take(self) -> PreviewSession | None:
        """The session, which does not run any more."""
        session, self.session, self.timeline = self.session, None, None
        return session


_running = _Running()
#: Called after playing the timeline has started a session.
after_start: list[Callable[[], None]] = []
#: Called where the scene is at a frame that the .blend keeps, and no session shows it.
on_kept: list[Callable[[], None]] = []
#: Called where a session for the timeline is not begun within a slice of time. Without any, it is started at once.
after_slice: list[Callable[[], None]] = []
#: Seconds of that slice.
SLICE = 0.1
#: Simulated poses, and what stands in for instances, while a file is saved.
_shown: list[tuple[authored_poses.Poses, stand_ins.Hidden]] = []


def current() -> PreviewSession | None:
    """The running session, or None."""
    return _running.session


def timeline() -> Timeline | None:
    """What leads the running session, if the timeline does."""
    return _running.timeline


def problem() -> str:
    """Why the timeline plays without physics; empty if it does not."""
    return _running.problem


def start(context: bpy.types.Context, *, with_timeline: bool = False) -> PreviewSession:
    """Start a session of the scene, after ending a running one. Raises MissingDependencyError and InputError.

    with_timeline: the current frame of the scene leads the session, instead of time.
    """
    begin(context, with_timeline=with_timeline)
    session = go_on(context, float("inf"))
    assert session is not None
    return session


def begin(context: bpy.types.Context, *, with_timeline: bool = False, only: frozenset[str] = frozenset()) -> Starting:
    """Begin to start a session, after ending a running one; `go_on` does the work. only: see `Starting`."""
    stop()
    from .starting import Starting

    _running.problem = ""
    _running.starting = Starting(context, with_timeline=with_timeline, only=only)
    return _running.starting


def starting() -> Starting | None:
    """The session that is being started, or None."""
    return _running.starting


def go_on(context: bpy.types.Context, seconds: float) -> PreviewSession | None:
    """Start the session for some seconds. Returns it when it has begun, None before.

    Raises MissingDependencyError and InputError, after which nothing is being started.
    """
    from .timeline import Timeline

    work = _running.starting
    assert work is not None
    try:
        if not work.advance(context, seconds):
            return None
    except BaseException:
        _running.starting = None
        raise
    session, _running.starting = work.done, None
    _running.timeline, _running.session = (
        (session, session.session) if isinstance(session, Timeline) else (None, session)
    )
    assert _running.session is not None
    _running.counts = _counts()
    if work.back_to is not None:
        context.scene.frame_set(work.back_to)
    return _running.session


def stop() -> None:
    """End the session and restore all authored transforms, of copies too; give up one that is being started."""
    work, _running.starting = _running.starting, None
    if work is not None:
        work.close()
    session = _running.take()
    if session is not None:
        session.stop()
        restore_strays()


def restore_strays() -> None:
    """Restore all objects and scenes that show a simulation, but are not those of the running session."""
    session = _running.session
    if session is None and _running.starting is None:
        stand_ins.remove()
    authored_poses.restore_all(frozenset() if session is None else session.shown.uids)
    simulated = None if session is None else session.scene
    for scene in bpy.data.scenes:
        if scene.is_property_set("usdphys") and scene.usdphys.preview.is_running and scene != simulated:
            scene.usdphys.preview.property_unset("is_running")


def _counts() -> tuple[int, int]:
    return len(bpy.data.objects), len(bpy.data.scenes)


def forget() -> PreviewSession | None:
    """Drop the session without touching the objects, and return it; the caller restores or keeps them."""
    return _running.take()


def _before_save(*_: Any) -> None:
    """Show the authored poses while a file is saved."""
    _shown.append((authored_poses.put(), stand_ins.hide()))
    if _running.session is not None:
        _running.session.mark(False)


def _after_save(*_: Any) -> None:
    if _shown:
        poses, hidden = _shown.pop()
        stand_ins.show(hidden)
        authored_poses.put_back(poses)
    if _running.session is not None:
        _running.session.mark(True)


def _before_load(*_: Any) -> None:
    stop()


def _before_undo_step(*_: Any) -> None:
    """End the preview."""
    stop()


def _after_arrival(*_: Any) -> None:
    """Objects have come from a file, the clipboard or an undo step, written while a preview ran."""
    restore_strays()


def _after_load(*_: Any) -> None:
    _after_arrival()
    scene = bpy.context.scene
    if scene is not None:
        show_kept(scene)


def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _running.session is not None and not authored_poses.are_put() and _running.counts != _counts():
        # Objects or the scene were copied.
        restore_strays()
        _running.counts = _counts()
        jobs.call_later(tidy_stand_ins)  # a handler removes no objects of the update that it hears of
    if _running.session is not None and scene.name == _running.session.scene_name:
        _running.session.note_updates(depsgraph)
        if _running.timeline is not None:
            _running.timeline.note_updates(bpy.context)


def tidy_stand_ins() -> None:
    """See `stand_ins.tidy`: a job, after instances were copied or deleted."""
    stand_ins.tidy()
    _running.counts = _counts()


def _guarded(act: Callable[[], Any]) -> None:
    """Run within a handler, which has nobody to raise an error to: end the session and keep the sentence."""
    from ..core.errors import UsdPhysError

    try:
        act()
    except UsdPhysError as error:
        stop()
        _running.problem = str(error)


def _before_playback(scene: bpy.types.Scene, *_: Any) -> None:
    """The timeline is about to play: start a session if it is to play physics, too."""
    context: Any = bpy.context
    preview = scene.usdphys.preview
    if not preview.with_timeline or context.scene != scene or context.mode != "OBJECT":
        return
    runs = _running.session is not None and _running.session.scene_name == scene.name
    if runs and (_running.timeline is None or _running.timeline.is_at_rate(scene)):
        return
    begin(context, with_timeline=True)
    _guarded(lambda: go_on(context, SLICE if after_slice else float("inf")))
    calls = after_start if _running.session is not None else after_slice if _running.starting is not None else ()
    for call in calls:
        call()


def _after_frame(scene: bpy.types.Scene, *_: Any) -> None:
    """Show the simulated poses of the new frame."""
    leader, context = _running.timeline, bpy.context
    if context.scene != scene or authored_poses.are_put():
        return
    show_kept(scene)
    # A render job changes the frame in a thread of its own.
    if leader is None or leader.session.scene_name != scene.name or bpy.app.is_job_running("RENDER"):
        return
    if not leader.is_at_rate(scene):
        stop()
        return
    _guarded(lambda: leader.show_frame(context))


def show_kept(scene: bpy.types.Scene) -> None:
    """Let the frames that the .blend keeps be shown, if the current one is among them and no session runs."""
    if _running.session is None and _running.starting is None and has_kept(scene):
        for call in on_kept:
            call()


def has_kept(scene: bpy.types.Scene) -> bool:
    """True if the .blend keeps how the bodies are at the current frame, and is to show it.

    Not where it is known to be stale: playing compares it again.
    """
    from . import kept_frames

    kept = kept_frames.about(scene) if scene.usdphys.preview.with_timeline else None
    if kept is None or kept_frames.is_stale(scene) or bpy.context.mode != "OBJECT" or bpy.app.is_job_running("RENDER"):
        return False
    return kept.start < scene.frame_current <= kept.end


_handlers = Handlers(
    ("save_pre", _before_save), ("save_post", _after_save), ("save_post_fail", _after_save),
    ("load_pre", _before_load), ("undo_pre", _before_undo_step), ("redo_pre", _before_undo_step),
    ("undo_post", _after_arrival), ("redo_post", _after_arrival), ("load_post", _after_load),
    ("blend_import_post", _after_arrival), ("depsgraph_update_post", _after_update),
    ("animation_playback_pre", _before_playback), ("frame_change_post", _after_frame),
)  # fmt: skip


def register() -> None:
    _handlers.register()
    # A file that is open may have been written while a preview ran.
    jobs.call_later(restore_strays, survives=True)


def unregister() -> None:
    jobs.cancel(restore_strays)
    if isinstance(bpy.data, bpy.types.BlendData):
        stop()
    _handlers.unregister()
