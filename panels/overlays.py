# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the overlays in the 3D view: a popover in the header, and the same in the sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.viewport import overlay_settings


def _draw_parts(layout: Any, settings: Any) -> None:
    layout.use_property_split = True
    layout.use_property_decorate = False
    layout.active = settings.show
    _row(layout, settings, "colliders")
    if settings.colliders != "NONE":
        _row(layout, settings, "color_by", "Color")
    for name in ("bodies", "mass", "joints"):
        _row(layout, settings, name)
    if settings.joints != "NONE":
        column = layout.column(heading="Show", align=True)
        for name in ("joint_frames", "joint_limits", "joint_drives"):
            column.prop(settings, name)
        layout.prop(settings, "joint_size")
    _row(layout, settings, "filtered_pairs", text="Filters")
    _row(layout, settings, "articulations")
    column = layout.column(heading="Preview", align=True)
    column.prop(settings, "contacts")
    column.prop(settings, "broken")
    column.prop(settings, "loads")
    layout.separator()
    layout.prop(settings, "use_xray")
    layout.prop(settings, "line_width")


def _row(layout: Any, settings: Any, name: str, text: str | None = None) -> None:
    row = layout.row(align=True)
    if text is None:
        row.prop(settings, name, expand=True)
    else:
        row.prop(settings, name, expand=True, text=text)


class USDPHYS_PT_overlays(bpy.types.Panel):
    """Choose the physics overlays of the 3D view"""

    bl_label = "Physics Overlays"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 16

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        settings = overlay_settings.current(context)
        if settings is None:
            return
        layout.label(text="Physics Overlays")
        layout.active = context.space_data.overlay.show_overlays
        _draw_parts(layout.column(), settings)


class USDPHYS_PT_overlays_view(bpy.types.Panel):
    bl_label = "Overlays"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "USD Physics"
    bl_order = 7
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        settings = overlay_settings.current(context)
        if settings is not None:
            self.layout.prop(settings, "show", text="")  # type: ignore[union-attr]

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        settings = overlay_settings.current(context)
        if settings is None:
            return
        if not context.space_data.overlay.show_overlays:
            layout.label(text="Overlays are off in this view", icon="INFO")
        _draw_parts(layout.column(), settings)


def draw_popover(self: Any, context: Any) -> None:
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
