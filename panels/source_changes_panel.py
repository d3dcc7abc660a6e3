# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: what of an imported scene differs from its source."""

from __future__ import annotations

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.bridge import source_report
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.system.files import GLTF_SUFFIXES, ROBOT_SUFFIXES, USD_SUFFIXES
from ..usdphys_addon.viewport.wrapped_text import draw_rest, draw_text
from . import fitting
from .places import Sidebar

MAX_ROWS = 20
#: Pixels that a button of an edit takes.
_BUTTON = 25


class USDPHYS_PT_source_changes(Sidebar, bpy.types.Panel):
    bl_label = "What Changed"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        from ..usdphys_addon.bridge.identity.remembered import source_file, source_name

        layout, scene = self.layout, context.scene
        source = source_name(scene)
        if not source_file(scene).lower().endswith((*USD_SUFFIXES, *ROBOT_SUFFIXES, *GLTF_SUFFIXES)):
            text = phrase("Imported from {file}, with which no scene is compared", file=source)
            draw_text(
                layout, text if source else "Not imported from a file with physics: nothing to compare with", "INFO"
            )
            return
        row = fitting.together(layout, "Compare", "Revert All", has_icons=True)
        row.operator("usdphys.compare_source", text="Compare", icon="FILE_REFRESH")
        row.operator("usdphys.revert_all_changes", text="Revert All", icon="LOOP_BACK")
        layout.label(text=tr(phrase("Imported from {file}", file=source)), icon="FILE", translate=False)
        report = source_report.report(scene.name)
        if report is None:
            layout.label(text="Not compared yet")
            return
        is_outdated = source_report.is_outdated(scene.name)
        if is_outdated:
            draw_text(layout, "Changed since the last comparison", "INFO")
        if not report.changes:
            if not is_outdated:
                layout.label(text="Nothing differs from the source", icon="CHECKMARK")
            return
        column = layout.column(align=True)
        for change in report.changes[:MAX_ROWS]:
            _draw_change(column, change, is_here=change.label in context.view_layer.objects)
        draw_rest(column, len(report.changes), MAX_ROWS)


def _draw_change(column: UILayout, change: source_report.SourceChange, *, is_here: bool) -> None:
    """is_here: its object can be selected."""
    row = column.row(align=True)
    draw_text(row.column(align=True), change.text, "DOT", taken=_BUTTON * (1 + is_here))
    if is_here:
        row.operator("usdphys.select_object", text="", icon="RESTRICT_SELECT_OFF").name = change.label
    button = row.operator("usdphys.revert_change", text="", icon="LOOP_BACK")
    button.kind, button.path, button.name = change.key


CLASSES = (USDPHYS_PT_source_changes,)
