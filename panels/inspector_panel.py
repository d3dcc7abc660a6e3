# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: joints moved by sliders."""

from __future__ import annotations

import math

import bpy
from bpy.types import Context, PropertyGroup, Scene, UILayout

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core import units
from ..usdphys_addon.playback import joint_inspector
from ..usdphys_addon.viewport.lengths import length_text
from ..usdphys_addon.viewport.wrapped_text import draw_text
from .places import Sidebar

#: Stiffness and damping are shown for up to this many rows.
MAX_GAINS = 12


class USDPHYS_PT_inspector(Sidebar, bpy.types.Panel):
    bl_label = "Joint Inspector"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator("usdphys.inspect_joints", icon="CON_ROTLIKE")
        inspector = context.window_manager.usdphys_inspector
        rows = joint_inspector.live_rows(context)
        if not rows:
            return
        layout.prop(inspector, "physics", toggle=True, icon="PHYSICS")
        if inspector.problem:
            draw_text(layout, inspector.problem, "ERROR")
        for index, row in rows:
            column = layout.column(align=True)
            column.label(text=row.name, translate=False)
            line = column.row(align=True)
            _limit(line, index, "LOWER", "TRIA_LEFT_BAR")
            line.prop(row, "angle" if row.is_angular else "distance", text="", slider=True)
            _limit(line, index, "UPPER", "TRIA_RIGHT_BAR")
            column.label(text=tr(_range_text(row, context.scene)), icon="BLANK1")
            if len(rows) <= MAX_GAINS:
                _draw_gains(column, row)
        row = layout.row(align=True)
        row.operator("usdphys.preview_apply", text="Keep Pose", icon="CHECKMARK")
        row.operator("usdphys.preview_reset", text="Discard", icon="LOOP_BACK")


def _draw_gains(layout: UILayout, row: PropertyGroup) -> None:
    """Stiffness and damping of the drive; a running preview uses new values at once."""
    # Finding an object by name is a linear search: too slow for many rows.
    obj = bpy.data.objects.get(row.joint)
    drive = getattr(obj.usdphys.joint.drives, row.dof, None) if obj is not None else None
    if drive is not None and drive.is_applied:
        # Side by side their names are cut in a sidebar of the usual width.
        layout.prop(drive, "stiffness")
        layout.prop(drive, "damping")


def _limit(layout: UILayout, index: int, which: str, icon: str) -> None:
    button = layout.operator("usdphys.inspect_limit", text="", icon=icon)
    button.index, button.which = index, which


def _range_text(row: PropertyGroup, scene: Scene) -> str:
    # Blender stores infinity as the largest finite float.
    low, high = (
        "" if units.is_infinite(value) else f"{round(math.degrees(value), 4):.4g}°" if row.is_angular
        else length_text(scene.unit_settings, value)
        for value in (row.low, row.high)
    )  # fmt: skip
    if low and high:
        return f"{low} to {high}"
    return f"from {low}" if low else f"up to {high}" if high else "free"


CLASSES = (USDPHYS_PT_inspector,)
