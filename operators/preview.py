# SPDX-License-Identifier: GPL-3.0-or-later
"""The live preview: play, pause, step, reset, grab with the mouse; keep the pose, bake it, clear the bake."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..usdphys_addon.bridge.environment import redraw
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, IntProperty, StringProperty
from ..usdphys_addon.core.steps import Next
from ..usdphys_addon.core.words import counted, joined, phrase
from ..usdphys_addon.playback import clock_choice
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.simulation.engine import ENGINES, Program
from ..usdphys_addon.system import faults
from ..usdphys_addon.worker import jobs
from ..usdphys_addon.worker.queue import Job
from . import needs
from .grab import Hand
from .outcome import draw_rows, refuse
from .stepped import SLICE, Stepped

#: (throttle, steering) of the keys that drive vehicles.
_ARROWS = {"UP_ARROW": (1.0, 0.0), "DOWN_ARROW": (-1.0, 0.0), "LEFT_ARROW": (0.0, 1.0), "RIGHT_ARROW": (0.0, -1.0)}
#: Ctrl is held to grab a body while it plays.
GRAB_HINT = "Ctrl drag: grab a body    Esc: reset"


#: Seconds between looks for windows that do not listen yet.
_LOOK = 0.25
#: Windows that have a modal operator of the running preview, by pointer.
listening: set[int] = set()
#: The timers of these windows, which outlive the operators where the add-on is disabled.
_timers: list[bpy.types.Timer] = []


class HeldArrows:
    """The arrow keys that are held down to drive the vehicles of a scene."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._is_driven = False

    def take(self, event: bpy.types.Event, scene: bpy.types.Scene) -> tuple[float, float] | None:
        """(throttle, steering) after an event; None if it is not one that drives."""
        from ..usdphys_addon.generators import vehicle

        if event.type not in _ARROWS:
            return None
        if event.value == "RELEASE":
            self._held.discard(event.type)
        elif event.value != "PRESS" or event.shift or event.alt or event.ctrl or not vehicle.is_there(scene):
            return None
        else:
            self._held.add(event.type)
            self._is_driven = True
        if not self._is_driven:
            return None
        return sum(_ARROWS[key][0] for key in self._held), sum(_ARROWS[key][1] for key in self._held)


class Listener(Hand):
    """A modal operator that advances the preview and handles the events of one window.

    Each window has one: a modal operator gets only the events of its own window, and ends when that is closed.
    """

    _timer: Any = None
    _window = 0
    _arrows: Any = None

    def listen(self, context: bpy.types.Context) -> set[Any]:
        """Begin to listen in the window of the context; without a window there is nothing to listen to."""
        self._session, self._grab = preview_guard.current(), 0
        self._arrows = HeldArrows()
        if context.window is None:
            return {"FINISHED"}
        self.hold(context)
        context.workspace.status_text_set(tr(GRAB_HINT))
        return {"RUNNING_MODAL"}

    def hold(self, context: bpy.types.Context) -> None:
        """Become the modal operator of the window, if this is not it yet."""
        if self._timer is not None:
            return
        manager = context.window_manager
        self._window = context.window.as_pointer()
        listening.add(self._window)
        self._timer = manager.event_timer_add(1.0 / 60.0, window=context.window)
        _timers.append(self._timer)
        manager.modal_handler_add(self)

    def cancel(self, _context: bpy.types.Context) -> None:
        """The window is closed; Blender removes its timer."""
        listening.discard(self._window)
        if self._timer in _timers:
            _timers.remove(self._timer)
        session = preview_guard.current()
        if self._grab and session is not None and session is self._session:
            session.release(self._grab)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError

        if preview_guard.current() is not self._session:
            # The session was ended by a button, an undo or loading a file.
            return self.end(context, {"FINISHED"})
        try:
            return self.handle(context, event)
        except UsdPhysError as error:
            # Stop restores the scene; it does nothing if the session has already done so.
            preview_guard.stop()
            refuse(self, error)
        except Exception as error:
            preview_guard.stop()
            # Blender would call a modal operator again after an exception.
            faults.tell()
            self.report(
                {"ERROR"}, tr(phrase("The preview was stopped and the scene restored: {error}", error=repr(error)))
            )
        return self.end(context, {"CANCELLED"})

    def handle(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if event.type == "TIMER":
            if self._session.advance(context):
                redraw("VIEW_3D", "PROPERTIES")
            return {"PASS_THROUGH"}
        if event.type == "ESC" and event.value == "PRESS":
            _end_at_start(context)
            return self.end(context, {"CANCELLED"})
        if (driven := self._arrows.take(event, context.scene)) is not None:
            from ..usdphys_addon.generators import vehicle

            vehicle.drive(self._session, *driven)
            return {"RUNNING_MODAL"}
        if self._grab:
            return self.drag(context, event)
        if event.type == "LEFTMOUSE" and event.value == "PRESS" and event.ctrl and self.take(context, event):
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def end(self, context: bpy.types.Context, status: set[Any]) -> set[Any]:
        timer, self._timer = self._timer, None
        listening.discard(self._window)
        if timer in _timers:  # not where a file was loaded, which has ended it
            _timers.remove(timer)
            context.window_manager.event_timer_remove(timer)
        _clear_status(context.workspace)
        redraw("VIEW_3D", "PROPERTIES")
        return status


def listen_everywhere() -> Job:
    """Job: let the windows listen that do not yet, such as new ones, as long as the preview runs."""
    yield _LOOK
    while preview_guard.current() is not None:
        _listen_in_new_windows()
        yield _LOOK


def _listen_in_new_windows() -> None:
    for window in bpy.context.window_manager.windows:
        if window.as_pointer() not in listening:
            with bpy.context.temp_override(window=window):
                bpy.ops.usdphys.preview_listen()  # type: ignore[attr-defined]


def _listen_soon() -> None:
    """Let all windows listen, unless Blender runs without one."""
    if not bpy.app.background:
        jobs.add(listen_everywhere)


#: Seconds in which Blender shows the frame to which a cancelled animation returns; a change restarts the preparation.
_SETTLED = 0.05


def _hold_timeline() -> None:
    """The timeline waits until the session has begun, which is started slice by slice and with progress."""
    preview_guard.stop()
    for window in bpy.context.window_manager.windows:
        if window.screen.is_animation_playing:
            with bpy.context.temp_override(window=window):
                bpy.ops.screen.animation_cancel(restore_frame=True)
            jobs.call_later(_start_in_window, _SETTLED)
            return


def _invoke_in_window(operator: Any) -> None:
    """In the first window, where it can be called; Blender may have closed the one that played."""
    for window in bpy.context.window_manager.windows:
        with bpy.context.temp_override(window=window):
            if operator.poll():
                operator("INVOKE_DEFAULT")
        return


def _start_in_window() -> None:
    _invoke_in_window(bpy.ops.usdphys.preview_play)  # type: ignore[attr-defined]


def _show_kept() -> None:
    """The cache may have been shown or deleted meanwhile, and another file opened."""
    if bpy.context.scene is not None and preview_guard.has_kept(bpy.context.scene):
        _invoke_in_window(bpy.ops.usdphys.preview_show_kept)  # type: ignore[attr-defined]


def _show_kept_soon() -> None:
    """The handler of a frame cannot change it. A file that was opened may be at a kept frame."""
    if not jobs.is_waiting(_show_kept):
        jobs.call_later(_show_kept, survives=True)


def _start_soon() -> None:
    """A handler cannot stop what has called it."""
    jobs.call_later(_hold_timeline)


def register() -> None:
    preview_guard.after_start.append(_listen_soon)
    # Loading a file frees the windows with their timers.
    jobs.on_load.append(_end_listening)
    if not bpy.app.background:
        preview_guard.after_slice.append(_start_soon)
        preview_guard.on_kept.append(_show_kept_soon)


def unregister() -> None:
    preview_guard.after_start.remove(_listen_soon)
    preview_guard.after_slice.clear()
    preview_guard.on_kept.clear()
    jobs.on_load.remove(_end_listening)
    _end_listening()


def _end_listening() -> None:
    """Blender drops the modal operators of an add-on that is disabled without another call to them."""
    if not _timers:
        return
    manager: Any = bpy.context.window_manager
    for timer in _timers:
        manager.event_timer_remove(timer)
    _timers.clear()
    listening.clear()
    _clear_status()


def _clear_status(*workspaces: Any) -> None:
    """Each workspace has a text of its own, and the user may have changed to another one than these."""
    for workspace in (*workspaces, *bpy.data.workspaces):
        workspace.status_text_set(None)


class USDPHYS_OT_preview_listen(Listener, bpy.types.Operator):
    """Handle the events of another window while the preview runs"""

    bl_idname = "usdphys.preview_listen"
    bl_label = "Listen to This Window"
    bl_options = {"INTERNAL"}

    poll = needs.poll(needs.IN_PREVIEW)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return self.listen(context)


def _progress(fraction: float) -> str:
    """Text of the status bar before a session has begun: what takes long and cannot be cut is named."""
    if isinstance(fraction, Next):
        return phrase("Preparing physics ({done:.0%}), now {about}    Esc: cancel", done=fraction, about=fraction.about)
    return phrase("Preparing physics ({done:.0%})    Esc: cancel", done=fraction)


class Player(Listener):
    """Starts the preview in slices, and plays it."""

    ignores_timeline: bool
    _work: Any = None

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        return self.execute(context) if context.window is None else self.begin(context, SLICE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return self.begin(context, float("inf"))

    def begin(self, context: bpy.types.Context, seconds: float) -> set[Any]:
        """Play or pause; start the session before if there is none. seconds: of a slice of that."""
        session = preview_guard.current()
        with_timeline = not self.ignores_timeline and clock_choice.leads_timeline(context.scene)
        if session is None:
            return self.start(context, seconds, with_timeline=with_timeline)
        if with_timeline and preview_guard.timeline() is not None:
            return self.play_timeline(context)
        session.pause() if session.is_playing else session.play()
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}

    def moving(self, context: bpy.types.Context) -> frozenset[str]:
        """Names of the objects that move, with what is tied to them; empty for all."""
        return frozenset()

    def play(self, context: bpy.types.Context, session: Any) -> None:
        """What is done with a session that has just begun."""
        session.play()

    def start(self, context: bpy.types.Context, seconds: float, *, with_timeline: bool) -> set[Any]:
        self._work = preview_guard.begin(context, with_timeline=with_timeline, only=self.moving(context))
        return self.go_on(context, seconds)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError

        if self._session is not None:
            return super().modal(context, event)
        if preview_guard.starting() is not self._work:
            # An undo, loading a file, or another start has given it up.
            return self.end(context, {"CANCELLED"})
        if event.type == "ESC" and event.value == "PRESS":
            preview_guard.stop()
            self.report({"INFO"}, tr("The preview was not started"))
            return self.end(context, {"CANCELLED"})
        if event.type != "TIMER":
            # No edit comes between the slices.
            return {"RUNNING_MODAL"}
        try:
            return self.go_on(context, SLICE)
        except UsdPhysError as error:
            refuse(self, error)
        except Exception as error:
            faults.tell()
            self.report({"ERROR"}, tr(phrase("The preview was not started: {error}", error=repr(error))))
        return self.end(context, {"CANCELLED"})

    def cancel(self, context: bpy.types.Context) -> None:
        if self._session is None:
            preview_guard.stop()
        super().cancel(context)

    def go_on(self, context: bpy.types.Context, seconds: float) -> set[Any]:
        """Start the session for some seconds, and play it as soon as it has begun."""
        session = preview_guard.go_on(context, seconds)
        if session is None:
            self.hold(context)
            context.workspace.status_text_set(tr(_progress(self._work.fraction)))
            return {"RUNNING_MODAL"}
        if preview_guard.timeline() is not None:
            status = self.play_timeline(context)
            return status if self._timer is None else self.end(context, status)
        self._session = session
        from ..usdphys_addon.core.rules.base import alike

        for notice, number in alike(self._session.notices):
            if notice.severity != "info":
                said = tr(joined(" ", (notice.message, notice.fix)))
                self.report({"WARNING"}, f"{number} \N{MULTIPLICATION SIGN} {said}" if number > 1 else said)
        self.play(context, session)
        if context.window is not None:
            jobs.add(listen_everywhere)
        return self.listen(context)

    def play_timeline(self, context: bpy.types.Context) -> set[Any]:
        """Play or pause the timeline; there is nothing to play without a window."""
        if not bpy.app.background:
            _listen_soon()
            bpy.ops.screen.animation_play()
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}


class USDPHYS_OT_preview_play(Player, bpy.types.Operator):
    """Simulate the physics of the scene; pause and go on. Ctrl drag grabs a body, Esc puts everything back"""

    bl_idname = "usdphys.preview_play"
    bl_label = "Play Physics"

    ignores_timeline = BoolProperty(
        name="Without Timeline", description="Play by the clock in any case", options={"HIDDEN", "SKIP_SAVE"}
    )

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)


class USDPHYS_OT_preview_play_selected(Player, bpy.types.Operator):
    """Simulate the selected bodies and what joints tie to them. All others stand still, as obstacles"""

    bl_idname = "usdphys.preview_play_selected"
    bl_label = "Simulate Selected"

    ignores_timeline = BoolProperty(
        name="Without Timeline", description="Play by the clock in any case", options={"HIDDEN", "SKIP_SAVE"}
    )

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.ONE_OBJECT, needs.AT_REST)

    def moving(self, context: bpy.types.Context) -> frozenset[str]:
        return frozenset(obj.name for obj in context.selected_objects)


def _end_at_start(context: bpy.types.Context) -> None:
    """End the preview; a timeline that led it returns to the frame where it began, as Blender's own Esc does."""
    leader = preview_guard.timeline()
    if leader is not None:
        _pause_timeline(context)
    preview_guard.stop()
    if leader is not None:
        context.scene.frame_set(leader.start)


def _pause_timeline(context: bpy.types.Context) -> None:
    if context.screen is not None and context.screen.is_animation_playing:
        bpy.ops.screen.animation_cancel(restore_frame=False)


class USDPHYS_OT_preview_show_kept(Player, bpy.types.Operator):
    """Show the frames that the file keeps, as the timeline comes to them"""

    bl_idname = "usdphys.preview_show_kept"
    bl_label = "Show Kept Frames"
    bl_options = {"INTERNAL"}
    ignores_timeline = False
    _frame = 1

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST)

    def start(self, context: bpy.types.Context, seconds: float, *, with_timeline: bool) -> set[Any]:
        self._frame = context.scene.frame_current
        return super().start(context, seconds, with_timeline=with_timeline)

    def play_timeline(self, context: bpy.types.Context) -> set[Any]:
        """The frame is shown by the session that has begun; a cache that is stale is not."""
        leader = preview_guard.timeline()
        redraw("VIEW_3D", "PROPERTIES")
        if leader is not None and leader.has_kept:
            if not bpy.app.background:
                _listen_soon()
            return {"FINISHED"}
        preview_guard.stop()
        context.scene.frame_set(self._frame)
        self.report({"WARNING"}, tr("The cache is stale: the physics has changed since. Cache again."))
        return {"CANCELLED"}


class USDPHYS_OT_preview_step(Player, bpy.types.Operator):
    """Simulate one frame of the scene's frame rate, and pause"""

    bl_idname = "usdphys.preview_step"
    bl_label = "Step One Frame"
    ignores_timeline = False

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def begin(self, context: bpy.types.Context, seconds: float) -> set[Any]:
        session = preview_guard.current()
        if session is None:
            return super().begin(context, seconds)
        if preview_guard.timeline() is not None:
            return self.play_timeline(context)
        self.play(context, session)
        return {"FINISHED"}

    def play(self, context: bpy.types.Context, session: Any) -> None:
        from ..usdphys_addon.core.errors import UsdPhysError

        session.pause()
        render = context.scene.render
        steps = max(1, round(render.fps_base / render.fps / session.world.time_step))
        try:
            for _ in range(steps):
                session.simulate(context)
            session.show(context)
        except UsdPhysError:
            # It does nothing if the session has restored the scene already.
            preview_guard.stop()
            raise
        redraw("VIEW_3D", "PROPERTIES")

    def play_timeline(self, context: bpy.types.Context) -> set[Any]:
        """The next frame."""
        if not bpy.app.background:
            _listen_soon()
        _pause_timeline(context)
        context.scene.frame_set(context.scene.frame_current + 1)
        return {"FINISHED"}


class USDPHYS_OT_preview_reset(bpy.types.Operator):
    """End the preview and put every object back to its place before it"""

    bl_idname = "usdphys.preview_reset"
    bl_label = "Reset Physics"

    poll = needs.poll(needs.IN_PREVIEW)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        _end_at_start(context)
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}


class USDPHYS_OT_preview_apply(bpy.types.Operator):
    """End the preview and keep the objects in their present places"""

    bl_idname = "usdphys.preview_apply"
    bl_label = "Apply Pose"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.IN_PREVIEW)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        session = preview_guard.forget()
        if session is None:
            return {"CANCELLED"}
        session.apply(context)
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}


class OfRange(Stepped):
    """Mix-in: simulates the frames of the scene, or others that a script gives."""

    use_scene_range = BoolProperty(
        name="Scene Range", default=True, description="From the first to the last frame of the scene"
    )
    frame_start = IntProperty(name="Start", default=1)
    frame_end = IntProperty(name="End", default=250)

    def draw(self, context: bpy.types.Context) -> None:
        layout = draw_rows(self, "use_scene_range")
        if self.use_scene_range:
            frames = phrase("{first} to {last}", first=context.scene.frame_start, last=context.scene.frame_end)
            layout.label(text=tr(phrase("Frames {frames}", frames=frames)))
        else:
            draw_rows(self, "frame_start", "frame_end")

    def frames(self, context: bpy.types.Context) -> tuple[int, int]:
        if self.use_scene_range:
            return context.scene.frame_start, context.scene.frame_end
        return self.frame_start, self.frame_end

    def progress(self, fraction: float) -> str:
        if isinstance(fraction, Next):
            return _progress(fraction)
        return phrase("Simulating the frames ({done:.0%})    Esc: cancel", done=fraction)


class USDPHYS_OT_preview_bake(OfRange, bpy.types.Operator):
    """Simulate a range of frames and insert keyframes for every body on each frame"""

    bl_idname = "usdphys.preview_bake"
    bl_label = "Bake to Keyframes"
    bl_options = {"REGISTER", "UNDO"}
    cancelled = phrase("The bake was cancelled; the scene is as it was")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import bake, engine_bake

        engine = context.scene.usdphys.preview.engine
        row = ENGINES.get(engine)
        if isinstance(row, Program) and row.deforms:
            steps: Any = engine_bake.engine_bake_steps(
                context, *self.frames(context), engine, lambda file: _export(context, file)
            )
        else:
            steps = bake.bake_steps(context, *self.frames(context))
        return self.run(context, steps)

    def done(self, result: Any) -> set[Any]:
        if isinstance(result, int):
            self.report({"INFO"}, tr(phrase("Baked {bodies}", bodies=counted(result, "body"))))
            return {"FINISHED"}
        made = [(result.bodies, "body"), (result.deformables, "deformable")]
        parts = [counted(number, name) for number, name in made if number or (name == "body" and not made[1][0])]
        lines = (phrase("Baked {bodies}", bodies=joined(" and ", parts)), *result.lines)
        self.report({"INFO"}, ". ".join(tr(line) for line in lines))
        return {"FINISHED"}


class USDPHYS_OT_preview_cache(OfRange, bpy.types.Operator):
    """Simulate a range of frames and keep them in the .blend: the timeline shows them at once, also after a restart"""

    bl_idname = "usdphys.preview_cache"
    bl_label = "Cache Frames"
    bl_options = {"REGISTER", "UNDO"}
    cancelled = phrase("The simulation was cancelled; there is no cache")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import caching

        return self.run(context, caching.cache_steps(context, *self.frames(context)))

    def done(self, result: Any) -> set[Any]:
        kept = phrase("Cached frames {first} to {last}, {size}", first=result.start, last=result.end, size=result.text)
        self.report({"INFO"}, tr(kept))
        preview_guard.show_kept(bpy.context.scene)
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}


class USDPHYS_OT_preview_delete_cache(bpy.types.Operator):
    """Take the cached frames out of the .blend. The objects and their physics stay as they are"""

    bl_idname = "usdphys.preview_delete_cache"
    bl_label = "Delete Cache"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import caching

        preview_guard.stop()
        return {"FINISHED"} if caching.drop(context.scene) else {"CANCELLED"}


class USDPHYS_OT_export_alembic(OfRange, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Write the scene with the motion of its physics as Alembic, by Blender's own exporter. What is baked or cached is
    written as it is; else it is simulated"""

    bl_idname = "usdphys.export_alembic"
    bl_label = "Export Alembic"
    cancelled = phrase("The export was cancelled; no file was written")
    if TYPE_CHECKING:  # as of `UsdFileOperator`
        filepath: str
    filename_ext = ".abc"

    filter_glob = StringProperty(default="*.abc", options={"HIDDEN"})
    selected = BoolProperty(name="Selected Objects", description="Export the selected objects only")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def draw(self, context: bpy.types.Context) -> None:
        OfRange.draw(self, context)
        self.layout.prop(self, "selected")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import alembic

        steps = alembic.export_steps(context, Path(self.filepath), *self.frames(context), selected=bool(self.selected))
        return self.run(context, steps)

    def done(self, result: Any) -> set[Any]:
        moving = counted(result, "object")
        self.report({"INFO"}, tr(phrase("Wrote '{name}': {moving} moved by physics", name=Path(self.filepath).name,
                                        moving=moving)))  # fmt: skip
        return {"FINISHED"}


def _export(context: bpy.types.Context, file: Path) -> Any:
    """Write the scene for an engine, with the paths that the preview has."""
    from ..usdphys_addon.bridge.reading import DEFAULT_ROOT
    from ..usdphys_addon.exchange import usd_export
    from ..usdphys_addon.playback.engine_bake import Handed
    from ..usdphys_addon.usd import read

    options = usd_export.ExportOptions(root=DEFAULT_ROOT)
    usd_export.export_usd(context, file, options)
    stage = read.open_stage(file)
    deformables_read = read.read_stage(stage).deformables
    return Handed(options.units, deformables_read()[0] if deformables_read is not None else [])


class USDPHYS_OT_go_to_frame(bpy.types.Operator):
    """Show this frame of the timeline"""

    bl_idname = "usdphys.go_to_frame"
    bl_label = "Go to Frame"
    bl_options = {"INTERNAL"}

    frame = IntProperty(name="Frame", default=1)

    poll = needs.poll(needs.SCENE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        _pause_timeline(context)
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class USDPHYS_OT_choose_engine(bpy.types.Operator):
    """Simulate in this engine"""

    bl_idname = "usdphys.choose_engine"
    bl_label = "Engine"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    engine = StringProperty(options={"HIDDEN"})

    poll = needs.poll(needs.SCENE, needs.AT_REST)

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        row = ENGINES.get(properties.engine)
        if row is None:
            return tr(cls.__doc__ or "")
        return tr(row.doc) if row.is_here() else tr(joined(". ", (row.doc, row.get)))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        context.scene.usdphys.preview.engine = self.engine
        redraw("VIEW_3D", "PROPERTIES")
        return {"FINISHED"}


class USDPHYS_OT_preview_clear_bake(bpy.types.Operator):
    """Remove the keyframes of the bake and put the objects back to their places before it"""

    bl_idname = "usdphys.preview_clear_bake"
    bl_label = "Clear Bake"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import bake, caching

        number = bake.clear_bake(context.scene)
        caching.mark(context.scene)
        self.report({"INFO"}, tr(phrase("Cleared the bake of {objects}", objects=counted(number, "object"))))
        return {"FINISHED"} if number else {"CANCELLED"}


CLASSES = (
    USDPHYS_OT_preview_play, USDPHYS_OT_preview_play_selected,
    USDPHYS_OT_preview_listen, USDPHYS_OT_preview_show_kept, USDPHYS_OT_preview_step, USDPHYS_OT_preview_reset,
    USDPHYS_OT_preview_apply, USDPHYS_OT_preview_bake, USDPHYS_OT_preview_cache, USDPHYS_OT_preview_delete_cache,
    USDPHYS_OT_export_alembic, USDPHYS_OT_go_to_frame, USDPHYS_OT_choose_engine, USDPHYS_OT_preview_clear_bake,
)  # fmt: skip
