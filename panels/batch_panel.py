# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: a batch of files, its progress and what became of each."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..operators.batch_files import summary
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting

ICONS = {"ok": "CHECKMARK", "failed": "CANCEL", "crashed": "ERROR", "timeout": "TIME"}


class USDPHYS_UL_batch_jobs(bpy.types.UIList):
    def draw_item(  # type: ignore[override]
        self,
        _context: Context,
        layout: UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _owner: Any,
        _index: str,
    ) -> None:
        layout.label(text=item.name, icon=ICONS.get(item.status, "QUESTION"), translate=False)


class USDPHYS_PT_batch_files(bpy.types.Panel):
    bl_label = "Files"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "USD Physics"
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


CLASSES = (USDPHYS_UL_batch_jobs, USDPHYS_PT_batch_files)
