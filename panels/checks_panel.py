# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: issues of the last check of the scene."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.checks import live as checks
from ..usdphys_addon.checks import report
from ..usdphys_addon.viewport.wrapped_text import draw_rest, draw_text
from . import fitting
from .places import Sidebar

MAX_ROWS = 20
#: Pixels that a button of an issue takes.
_BUTTON = 25
ICONS = {"error": "CANCEL", "warning": "ERROR", "info": "INFO"}


class USDPHYS_PT_checks(Sidebar, bpy.types.Panel):
    bl_label = "Checks"
    bl_order = 1

    def draw_header_preset(self, context: Context) -> None:
        report = checks.report(context.scene.name)
        if report is None:
            return
        layout = self.layout
        row = layout.row(align=True)
        for severity, icon in ICONS.items():
            if report.counts.get(severity):
                row.label(text=str(report.counts[severity]), icon=icon)

    def draw(self, context: Context) -> None:
        layout = self.layout
        name = context.scene.name
        report = checks.report(name)
        row = fitting.together(layout, "Check Now", "Fix All Safe", has_icons=True)
        row.operator("usdphys.check", icon="FILE_REFRESH")
        row.operator("usdphys.check_fix_all", icon="CHECKMARK")
        is_outdated = checks.is_outdated(name)
        for text in (checks.on_demand(name), "Changed since the last check" if is_outdated else ""):
            if text:
                draw_text(layout, text, "INFO")
        if report is None:
            layout.label(text="Not checked yet")
            return
        if not report.issues:
            if not is_outdated:
                layout.label(text="No problems found", icon="CHECKMARK")
            return
        column = layout.column(align=True)
        for issue in report.issues[:MAX_ROWS]:
            _draw_issue(column, issue)
        draw_rest(column, len(report.issues), MAX_ROWS)


def _draw_issue(column: UILayout, issue: report.FoundIssue) -> None:
    row = column.row(align=True)
    can_be_selected = issue.kind in ("object", "material", "group")
    taken = _BUTTON * (can_be_selected + issue.can_be_fixed)
    draw_text(row.column(align=True), issue.short, ICONS[issue.severity], taken=taken)
    if can_be_selected:
        _set(row.operator("usdphys.check_select", text="", icon="RESTRICT_SELECT_OFF"), issue)
    if issue.can_be_fixed:
        _set(row.operator("usdphys.check_fix", text="", icon="MODIFIER"), issue)


def _set(properties: Any, issue: report.FoundIssue) -> None:
    properties.code, properties.name, properties.path = issue.code, issue.name, issue.path
    properties.kind = issue.kind


CLASSES = (USDPHYS_PT_checks,)
