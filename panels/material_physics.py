# SPDX-License-Identifier: GPL-3.0-or-later
"""Material tab: friction, restitution and density."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.core import schema
from . import attributes
from .structure import draw_presets


class USDPHYS_PT_material(bpy.types.Panel):
    layout: Any
    bl_label = "USD Physics"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.material is not None

    def draw_header(self, context: Any) -> None:
        self.layout.prop(context.material.usdphys.physics_material, "is_applied", text="")

    def draw(self, context: Any) -> None:
        layout, material = self.layout, context.material.usdphys.physics_material
        layout.use_property_split = True
        layout.use_property_decorate = False
        row = layout.row()
        row.operator_menu_enum("usdphys.apply_material_preset", "preset", text="Typical Values")
        draw_presets(row, "material")
        layout = layout.column()
        layout.active = material.is_applied
        attributes.draw(
            layout, material, attributes.fields_of(schema.MaterialAPI), "material.usdphys.physics_material"
        )


CLASSES = (USDPHYS_PT_material,)
