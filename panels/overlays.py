# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the overlays in the 3D view: a popover in the header, and the same in the sidebar."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, PropertyGroup, UILayout

from ..usdphys_addon.viewport import overlay_settings
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Sidebar


def _draw_parts(layout: UILayout, settings: PropertyGroup) -> None:
    layout.use_property_split = True
    layout.use_property_decorate = False
    layout.active = settings.show
    fitting.choice(layout, settings, "colliders")
    if settings.colliders != "NONE":
        fitting.choice(layout, settings, "color_by", text="Color")
    for name in ("bodies", "mass", "joints"):
        fitting.choice(layout, settings, name)
    if settings.joints != "NONE":
        _ticks(layout, settings, "Show", ("joint_frames", "joint_limits", "joint_drives"))
        fitting.prop(layout, settings, "joint_size")
    fitting.choice(layout, settings, "filtered_pairs", text="Filters")
    fitting.choice(layout, settings, "articulations")
    _ticks(layout, settings, "Preview", ("contacts", "broken", "loads", "energy"))
    layout.separator()
    layout.prop(settings, "use_xray")
    fitting.prop(layout, settings, "line_width")


def _ticks(layout: UILayout, settings: PropertyGroup, heading: str, names: tuple[str, ...]) -> None:
    declared = settings.bl_rna.properties
    row = fitting.labelled(layout, heading, max(fitting.tick_width(declared[name].name) for name in names))
    column = row.column(align=True)
    column.use_property_split = False
    for name in names:
        column.prop(settings, name)


class USDPHYS_PT_overlays(bpy.types.Panel):
    """Choose the physics overlays of the 3D view"""

    bl_label = "Physics Overlays"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 16

    def draw(self, context: Context) -> None:
        layout = self.layout
        settings = overlay_settings.current(context)
        if settings is None:
            return
        layout.label(text="Physics Overlays")
        layout.active = context.space_data.overlay.show_overlays
        _draw_parts(layout.column(), settings)


class USDPHYS_PT_overlays_view(Sidebar, bpy.types.Panel):
    bl_label = "Overlays"
    bl_order = 7
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        settings = overlay_settings.current(context)
        if settings is not None:
            self.layout.prop(settings, "show", text="")

    def draw(self, context: Context) -> None:
        layout = self.layout
        settings = overlay_settings.current(context)
        if settings is None:
            return
        if not context.space_data.overlay.show_overlays:
            draw_text(layout.column(align=True), "Overlays are off in this view", "INFO")
        _draw_parts(layout.column(), settings)


def draw_popover(self: Any, context: Context) -> None:
    """Draw the switch and the popover in the header of the 3D view."""
    settings = overlay_settings.current(context)
    if settings is None:
        return
    row = self.layout.row(align=True)
    row.prop(settings, "show", text="", icon="PHYSICS")
    part = row.row(align=True)
    part.active = settings.show
    part.popover(panel=USDPHYS_PT_overlays.__name__, text="")


CLASSES = (USDPHYS_PT_overlays, USDPHYS_PT_overlays_view)


def register() -> None:
    bpy.types.VIEW3D_HT_header.append(draw_popover)  # type: ignore[arg-type]


def unregister() -> None:
    bpy.types.VIEW3D_HT_header.remove(draw_popover)  # type: ignore[arg-type]
