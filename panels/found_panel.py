# SPDX-License-Identifier: GPL-3.0-or-later
"""The setting that *Find Setting* has found, for the active object."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..operators import find_setting
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core import schema
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import attributes, vendor


class USDPHYS_PT_found(bpy.types.Panel):
    """The setting that was found"""

    bl_label = "Setting"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 18

    def draw(self, context: Context) -> None:
        from ..usdphys_addon.authoring import settings_search

        layout = self.layout
        setting = find_setting.found()
        if setting is None:
            layout.operator("usdphys.find_setting", icon="VIEWZOOM")
            return
        column = layout.column(align=True)
        for text in (setting.text, setting.attribute.doc):
            draw_text(column, text, "NONE")
        spots = settings_search.spots_of(context, setting)
        if not spots:
            needed = settings_search.NEEDED.get(setting.cls.on, ("", ""))[1]
            of_type = settings_search.type_of(setting)
            text = phrase("It is a setting of joints of the type {type}", type=of_type) if of_type else phrase(
                "Select {object} to set it", object=phrase(needed)
            )  # fmt: skip
            draw_text(layout.column(align=True), text, "INFO")
        for spot in spots:
            self.draw_spot(layout.column(), setting, spot)
        layout.operator("usdphys.find_setting", text="Find Another", icon="VIEWZOOM")

    def draw_spot(self, column: UILayout, setting: Any, spot: Any) -> None:
        column.use_property_split, column.use_property_decorate = True, False
        if spot.label:
            column.label(text=spot.label, translate=False)
        if setting.is_own:
            if spot.thing is None:
                column.operator("usdphys.list_add", text="Add Physics Scene", icon="ADD").which = "physics_scenes"
            else:
                attributes.draw_one(column, spot.thing, setting.attribute.field, spot.path)
            return
        name = setting.attribute.usd_name(schema.split_applied(spot.applied)[1])
        if not vendor.draw_row(column, spot.thing, spot.path, spot.applied, name):
            button = column.operator(
                "usdphys.vendor_set", text=tr(phrase("Set {label}", label=setting.attribute.label)), icon="ADD"
            )
            button.data_path, button.applied, button.attribute = spot.path, spot.applied, name


CLASSES = (USDPHYS_PT_found,)
