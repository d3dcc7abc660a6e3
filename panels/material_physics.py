# SPDX-License-Identifier: GPL-3.0-or-later
"""Material tab: friction, restitution and density."""

from __future__ import annotations

import bpy

from ..usdphys_addon.core import schema
from . import attributes


class USDPHYS_PT_material(bpy.types.Panel):
    bl_label = "USD Physics"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.material is not None

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.material.usdphys.physics_material, "is_applied", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, material = self.layout, context.material.usdphys.physics_material
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.active = material.is_applied
        attributes.draw(
            layout, material, attributes.fields_of(schema.MaterialAPI), "material.usdphys.physics_material"
        )


CLASSES = (USDPHYS_PT_material,)
