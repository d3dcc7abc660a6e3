# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: a batch of files, its progress and what became of each."""

from __future__ import annotations

import bpy
from bpy.types import Context, PropertyGroup, UILayout

from ..operators.batch_files import summary
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Sidebar, item_list

ICONS = {"ok": "CHECKMARK", "failed": "CANCEL", "crashed": "ERROR", "timeout": "TIME"}


def _draw_batch_jobs(_context: Context, layout: UILayout, item: PropertyGroup) -> None:
    layout.label(text=item.name, icon=ICONS.get(item.status, "QUESTION"), translate=False)


class USDPHYS_PT_batch_files(Sidebar, bpy.types.Panel):
    bl_label = "Files"
    bl_parent_id = "USDPHYS_PT_batch"

    def draw(self, context: Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        fitting.button(column, "usdphys.batch_convert_folder", "FILE_FOLDER")
        fitting.button(column, "usdphys.export_collections", "OUTLINER_COLLECTION")
        state = context.window_manager.usdphys_batch
        if not state.total:
            return
        if state.is_running:
            layout.progress(factor=len(state.jobs) / state.total, text=f"{len(state.jobs)} / {state.total}")
        else:
            layout.label(text=summary(state), translate=False)
        layout.template_list("USDPHYS_UL_batch_jobs", "", state, "jobs", state, "active", rows=4)
        if 0 <= state.active < len(state.jobs) and state.jobs[state.active].message:
            draw_text(layout.column(align=True), state.jobs[state.active].message, "INFO")
        layout.operator("usdphys.batch_report", icon="TEXT")


CLASSES = (item_list("batch_jobs", _draw_batch_jobs), USDPHYS_PT_batch_files)
