# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: the preview and its read-outs."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core import air
from ..usdphys_addon.core.qualities import QUALITY_TEXTS
from ..usdphys_addon.core.words import Phrase, counted, phrase
from ..usdphys_addon.playback import clock_choice, ghosts
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.simulation.engine import ENGINES
from ..usdphys_addon.viewport.wrapped_text import draw_rest, draw_text
from . import fitting
from .checks_panel import ICONS
from .places import Sidebar

#: Notices that are shown.
MAX_ROWS = 8


def _range(first: int, last: int) -> Phrase:
    return phrase("{first} to {last}", first=first, last=last)


class USDPHYS_PT_preview(Sidebar, bpy.types.Panel):
    bl_label = "Preview"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        session = preview_guard.current()
        settings = context.scene.usdphys.preview
        row = layout.row()
        row.active = session is None
        row.prop(settings, "with_timeline", icon=fitting.icon_for("Play with Timeline", "TIME"), toggle=True)
        reason = "" if settings.with_timeline else clock_choice.last_reason(context.scene)
        if reason:
            # Which clock leads, and why; one click changes it.
            if settings.by_clock:
                draw_text(layout, phrase("The clock leads: {reason}, and stays as it is now.", reason=reason), "ERROR")
            else:
                draw_text(layout, phrase("The timeline leads: {reason}.", reason=reason), "TIME")
            row = layout.row()
            row.active = session is None
            row.prop(settings, "by_clock", toggle=True)
        if preview_guard.problem():
            draw_text(layout, preview_guard.problem(), "ERROR")
        layout.operator("usdphys.preview_apply", icon="CHECKMARK")
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        column.active = not settings.with_timeline and (settings.by_clock or not reason)
        row = column.row()
        row.active = not settings.is_fast
        fitting.prop(row, settings, "speed")
        fitting.prop(column, settings, "is_fast")
        column = layout.column()
        column.active = session is None
        _draw_engines(column, settings.engine)
        fitting.prop(column, settings, "quality")
        draw_text(column, QUALITY_TEXTS[settings.quality].cost, "BLANK1")
        fitting.prop(column, settings, "frequency")
        fitting.prop(column, settings, "substeps")
        fitting.prop(column, settings, "blend_frames")
        fitting.prop(column, settings, "air")
        for name in ("linear_damping", "angular_damping", "rolling_resistance") if settings.air == air.OWN else ():
            fitting.prop(column, settings, name)


def draw_play(layout: UILayout, context: Context) -> Any:
    """The buttons that play, step and reset. Returns their row."""
    session = preview_guard.current()
    row = layout.row(align=True)
    row.scale_y = 1.3
    leader = preview_guard.timeline()
    plays = _timeline_plays(context) if leader is not None else session is not None and session.is_playing
    row.operator("usdphys.preview_play", text="Pause" if plays else "Play", icon="PAUSE" if plays else "PLAY")
    row.operator("usdphys.preview_step", text="", icon="FRAME_NEXT")
    row.operator("usdphys.preview_reset", text="", icon="LOOP_BACK")
    return row


def draw_kept(layout: UILayout, scene: Any) -> None:
    """What a bake or a cache holds, which is shown in place of a simulation, with the button that removes it."""
    from ..usdphys_addon.playback import kept_frames
    from ..usdphys_addon.viewport import selection

    number = selection.baked_in(scene)
    if number:
        text = phrase("Baked {bodies}", bodies=counted(number, "object"))
        _draw_one_kept(layout, text, "REC", "usdphys.preview_clear_bake", "X")
    kept = kept_frames.about(scene)
    if kept is None:
        return
    text = phrase("Cached frames {first} to {last}, {size}", first=kept.start, last=kept.end, size=kept.text)
    _draw_one_kept(layout, text, "PACKAGE", "usdphys.preview_delete_cache", "TRASH")
    if kept_frames.is_stale(scene):
        draw_text(layout, "The cache is stale: the physics has changed since. Cache again.", "ERROR")


def _draw_one_kept(layout: UILayout, text: Phrase, icon: str, idname: str, remove: str) -> None:
    row = layout.row(align=True)
    draw_text(row.column(align=True), text, icon, 24)
    row.operator(idname, text="", icon=remove, emboss=False)


def _draw_engines(column: Any, chosen: str) -> None:
    """A button for each engine; one that has to be installed or set in the preferences before is grey."""
    grid = column.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    for key, engine in ENGINES.items():
        button = grid.row(align=True)
        button.enabled = engine.is_here()
        button.operator("usdphys.choose_engine", text=engine.name, depress=key == chosen).engine = key
    if chosen in ENGINES and not ENGINES[chosen].is_here():
        draw_text(column, ENGINES[chosen].get, "ERROR")


def _timeline_plays(context: Any) -> bool:
    return context.screen is not None and bool(context.screen.is_animation_playing)


class USDPHYS_PT_preview_state(Sidebar, bpy.types.Panel):
    bl_label = "State"
    # Not below the preview: it is seen while that is closed.
    bl_order = 0

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return preview_guard.current() is not None

    def draw(self, context: Context) -> None:
        session = preview_guard.current()
        if session is None:
            return
        layout = self.layout
        if session.scene_name != context.scene.name:
            other = phrase("The scene '{name}' plays; reset it to play this one", name=session.scene_name)
            draw_text(layout.column(align=True), other, "INFO")
        column = layout.column(align=True)
        leader = preview_guard.timeline()
        # The frames of a cache are not simulated: only their time says something.
        for name, value in session.readout[: 1 if leader is not None and leader.has_kept else None]:
            _readout(column, name, value)
        if leader is not None:
            frames = leader.kept
            _readout(column, "Frames kept", _range(frames[0], frames[-1]))
            if leader.edited:
                draw_text(column, leader.edited, "INFO")
            _draw_breaks(layout.column(align=True), leader.events)
        from ..usdphys_addon.viewport import joint_loads, load_plot

        of_joints = joint_loads.of_selected(context, session)
        if of_joints:
            _columns(layout.column(align=True), "", fitting.shown("Now"), fitting.shown("Largest"))
        for name, loads in of_joints:
            _draw_loads(layout.column(align=True), name, loads, is_active=name == getattr(context.object, "name", ""))
        column = layout.column(align=True)
        broken = list(session.broken.items())
        # The last ones, as those before were seen.
        for label, event in broken[-MAX_ROWS:]:
            draw_text(column, phrase("{joint}: {event}", joint=label, event=load_plot.break_text(event)), "UNLINKED")
        draw_rest(column, len(broken), MAX_ROWS)
        for text in session.warnings:
            draw_text(column, text, "ERROR")
        if session.is_bottomless:
            draw_text(column, "Nothing to land on: press Reset, then Ground", "INFO")


def _draw_breaks(column: UILayout, events: Any) -> None:
    """A button for each frame of a cache in which joints break, which shows the frame."""
    from ..usdphys_addon.playback import bake

    rows = bake.breaks_by_frame(events)
    for frame, labels in list(rows.items())[:MAX_ROWS]:
        if len(labels) == 1:
            text = phrase("Frame {frame}: {joint} breaks", frame=frame, joint=labels[0])
        else:
            text = phrase("Frame {frame}: {number} joints break", frame=frame, number=len(labels))
        column.operator("usdphys.go_to_frame", text=tr(text), icon="UNLINKED").frame = frame
    draw_rest(column, len(rows), MAX_ROWS)


def _readout(column: UILayout, name: str, value: str) -> None:
    row = column.split(factor=0.4)
    row.label(text=name)
    row.label(text=tr(value))


def _columns(column: UILayout, name: str, now: str, most: str) -> None:
    """Two values beside a name. Both in one text would be cut in a sidebar of usual width."""
    row = column.split(factor=0.4)
    row.label(text=name)
    values = row.row()
    for value in (now, most):
        values.label(text=value, translate=False)


def _draw_loads(column: UILayout, name: str, loads: Any, *, is_active: bool) -> None:
    """The load of a selected joint; of the active one its parts along the joint frame on the second body, too."""
    from ..usdphys_addon.viewport import load_plot

    column.label(text=name, icon="CONSTRAINT", translate=False)
    force, torque = load_plot.pairs(loads)
    _columns(column, "Force", *force)
    if is_active:
        _readout(column, "on Body 1, X Y Z", load_plot.along_text(loads.force, "N"))
    _columns(column, "Torque", *torque)
    if is_active:
        _readout(column, "on Body 1, X Y Z", load_plot.along_text(loads.torque, "N m"))


class USDPHYS_PT_preview_notices(Sidebar, bpy.types.Panel):
    bl_label = "Notices"
    # Not below the preview: it is seen while that is closed.
    bl_order = 0

    @classmethod
    def poll(cls, _context: Context) -> bool:
        session = preview_guard.current()
        return session is not None and bool(session.notices)

    def draw(self, _context: Context) -> None:
        session = preview_guard.current()
        if session is None:
            return
        from ..usdphys_addon.core.rules.base import alike

        layout = self.layout
        # Warnings first.
        notices = sorted(alike(session.notices), key=lambda pair: pair[0].severity == "info")
        for notice, number in notices[:MAX_ROWS]:
            column = layout.column(align=True)
            times = f"{number} \N{MULTIPLICATION SIGN} " if number > 1 else ""
            draw_text(column, times + tr(notice.short), ICONS[notice.severity])
            draw_text(column, notice.fix, "FORWARD")
        draw_rest(layout, len(notices), MAX_ROWS)


class USDPHYS_PT_preview_aims(Sidebar, bpy.types.Panel):
    bl_label = "Aims"
    bl_parent_id = "USDPHYS_PT_preview"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        fitting.button(layout, "usdphys.land_here", "EMPTY_AXIS")
        fitting.button(layout, "usdphys.aim", "PIVOT_CURSOR")
        target: Any = context.object
        if target is not None and "land_here" in target.usdphys and target.usdphys.land_here.is_applied:
            _draw_target(layout.box().column(), target)
        fitting.button(layout, "usdphys.vary", "PARTICLE_PATH")
        variations = ghosts.variations()
        if variations is None:
            return
        row = layout.row(align=True)
        row.operator("usdphys.choose_variation", text="", icon="TRIA_LEFT").step = -1
        number = phrase("{number} of {count}", number=variations.best + 1, count=len(variations.ways))
        row.operator("usdphys.use_variation", text=tr(phrase("Use {number}", number=number)), icon="CHECKMARK")
        row.operator("usdphys.choose_variation", text="", icon="TRIA_RIGHT").step = 1
        row.operator("usdphys.drop_variations", text="", icon="X")


def _draw_target(column: Any, target: Any) -> None:
    """Where and when the body of the active Empty is to be there."""
    group = target.usdphys.land_here
    column.use_property_split, column.use_property_decorate = True, False
    fitting.prop(column, group, "is_applied", text="Land Here")
    for name in ("body", "frame", "use_place"):
        fitting.prop(column, group, name)
    row = column.row()
    row.active = group.use_place
    fitting.prop(row, group, "tolerance")
    for name in ("face", "at_rest"):
        fitting.prop(column, group, name)


class USDPHYS_PT_preview_bake(Sidebar, bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "USDPHYS_PT_preview"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        from ..usdphys_addon.viewport import selection

        layout = self.layout
        scene = context.scene
        layout.label(text=tr(phrase("Frames {frames}", frames=_range(scene.frame_start, scene.frame_end))))
        fitting.prop(layout, scene.usdphys.preview, "marks_contacts")
        if scene.usdphys.preview.marks_contacts:
            fitting.prop(layout, scene.usdphys.preview, "least_impulse")
        fitting.button(layout, "usdphys.preview_cache", "FILE_CACHE")
        fitting.button(layout, "usdphys.preview_bake", "REC")
        clear = layout.column()
        clear.enabled = bool(selection.baked_in(scene))
        fitting.button(clear, "usdphys.preview_clear_bake", "X")
        fitting.button(layout, "usdphys.export_alembic", "EXPORT")


CLASSES = (
    USDPHYS_PT_preview, USDPHYS_PT_preview_state, USDPHYS_PT_preview_notices, USDPHYS_PT_preview_aims,
    USDPHYS_PT_preview_bake,
)  # fmt: skip
