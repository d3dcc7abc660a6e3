# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: what runs beside the preview and where it parts, and the proof of the scene."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context

from ..operators import beside as beside_operators
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.words import counted, phrase
from ..usdphys_addon.playback import beside
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.simulation.engine import solvers
from ..usdphys_addon.viewport import overlay_settings
from ..usdphys_addon.viewport.wrapped_text import draw_rest, draw_text
from . import fitting
from .places import Sidebar

#: Partings and checks that are listed; pixels that the button of one takes.
MAX_PARTINGS, MAX_CHECKS, _BUTTON = 5, 12, 25
_ICONS = {"fail": "CANCEL", "doubtful": "QUESTION", "differs": "ERROR", "skipped": "INFO"}


class USDPHYS_PT_beside(Sidebar, bpy.types.Panel):
    bl_label = "Other Engines"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        settings = overlay_settings.current(context)
        if settings is None:
            return
        row = fitting.together(layout, "Compare", "Confidence", has_icons=True)
        row.prop(settings, "compare", icon="GHOST_ENABLED", toggle=True)
        row.prop(settings, "confidence", icon="SHADING_RENDERED", toggle=True)
        if not beside.wanted():
            return
        session = preview_guard.current()
        engine = context.scene.usdphys.preview.engine
        for key, row_of in solvers().items():
            if key != engine and not row_of.is_here() and row_of.get and key == "mujoco":
                draw_text(layout, phrase("{engine} is not in this Blender: smaller time steps of the preview are "
                                         "compared alone.", engine=row_of.name), "INFO")  # fmt: skip
        if session is None:
            draw_text(layout, "Press Play: they run beside the preview.", "PLAY")
            return
        if session.builds_twins:
            draw_text(layout, "They are being prepared.", "SORTTIME")
        if session.twins is not None:
            _draw_twins(layout, session)


def _draw_twins(layout: Any, session: Any) -> None:
    from ..usdphys_addon.core.rules.base import alike

    twins = session.twins
    for twin in twins.twins:
        if twin.problem:
            draw_text(layout, phrase("{twin} does not run: {why}", twin=twin.kind.name, why=twin.problem), "ERROR")
    partings = sorted((split.time, number, split) for number, twin in enumerate(twins.twins)
                      for split in twin.splits.values())  # fmt: skip
    if not partings:
        draw_text(layout, "All bodies move alike so far.", "CHECKMARK")
    column = layout.column(align=True)
    for _, number, split in partings[:MAX_PARTINGS]:
        row = column.row(align=True)
        text = twins.sentence(twins.twins[number], split)
        draw_text(row.column(align=True), text, "ERROR", taken=_BUTTON)
        name = session.shown.names[split.row]
        if name:
            row.operator("usdphys.why", text="", icon="QUESTION").name = name
    draw_rest(column, len(partings), MAX_PARTINGS)
    fitting.button(layout, "usdphys.why", "QUESTION")
    row = beside_operators.asked(session)
    if row is not None:
        box = layout.box().column(align=True)
        for text in twins.why(row):
            draw_text(box, text, "BLANK1")
        if beside_operators.is_searching():
            draw_text(box, "The cause is being searched    Esc: stop", "SORTTIME")
        for text in beside_operators.found(session):
            draw_text(box, text, "FORWARD")
    for twin in twins.twins:
        for notice, _ in alike(twins.notices(twin))[:MAX_PARTINGS]:
            draw_text(layout, phrase("{twin}: {notice}", twin=twin.kind.name, notice=notice.short), "INFO")


class USDPHYS_PT_prove(Sidebar, bpy.types.Panel):
    bl_label = "Prove"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        row = fitting.together(layout, "Prove", "Share Report", has_icons=True)
        row.operator("usdphys.prove", icon="EXPERIMENTAL")
        row.operator("usdphys.share_report", icon="URL")
        proof: Any = context.window_manager.usdphys_proof
        if proof.is_running:
            if hasattr(layout, "progress"):
                layout.progress(factor=proof.progress, text=tr("Esc: stop"))
            else:
                layout.label(text="Esc: stop")
            return
        if proof.scene != context.scene.name:
            draw_text(layout, "Not proven yet", "INFO")
            return
        passed = phrase("{number} passed", number=counted(proof.passed, "check"))
        draw_text(layout, passed, "CHECKMARK" if proof.verdict == "pass" else "BLANK1")
        if proof.wrong or proof.notable:
            told = phrase("{wrong} wrong, {notable} worth knowing", wrong=proof.wrong, notable=proof.notable)
            draw_text(layout, told, "BLANK1")
        found = [check for check in proof.checks if check.status != "skipped"]
        _draw_checks(layout, found)
        skipped = [check for check in proof.checks if check.status == "skipped"]
        if skipped:
            header, body = layout.panel("usdphys_prove_skipped", default_closed=True)
            header.label(text=tr(phrase("Not Tried ({count})", count=len(skipped))))
            if body is not None:
                _draw_checks(body, skipped)


def _draw_checks(layout: Any, checks: list[Any]) -> None:
    column = layout.column(align=True)
    for check in checks[:MAX_CHECKS]:
        row = column.row(align=True)
        part, taken = row.column(align=True), _BUTTON if check.name else 0
        draw_text(part, check.message, _ICONS[check.status], taken=taken)
        if check.cause:
            draw_text(part, phrase("Cause: {cause}", cause=check.cause), "BLANK1", taken=taken)
        if check.fix:
            draw_text(part, check.fix, "FORWARD", taken=taken)
        if check.name:
            select = row.operator("usdphys.check_select", text="", icon="RESTRICT_SELECT_OFF")
            select.kind, select.name = "object", check.name
    draw_rest(column, len(checks), MAX_CHECKS)


CLASSES = (USDPHYS_PT_beside, USDPHYS_PT_prove)
