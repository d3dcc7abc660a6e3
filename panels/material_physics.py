# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of a material: friction, restitution and density."""

from __future__ import annotations

from typing import Any

from bpy.types import Context

from ..usdphys_addon.core.schemas import usd_physics
from . import attributes, fitting, vendor
from .places import Part, in_properties, in_sidebar
from .structure_panel import draw_presets


class _Material(Part):
    """Friction, restitution and density of a material."""

    name, label, view_label = "material", "USD Physics", "Material"
    order = 5

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _material(context) is not None

    def draw_header(self, context: Context) -> None:
        self.layout.prop(_material(context).usdphys.physics_material, "is_applied", text="")

    def draw(self, context: Context) -> None:
        owner = _material(context)
        layout, material = self.split_layout(), owner.usdphys.physics_material
        if context.area.type == "VIEW_3D":
            layout.label(text=owner.name, icon="MATERIAL", translate=False)
        row = fitting.together(layout, "Typical Values", "Presets", arrow=60.0)
        row.operator_menu_enum("usdphys.apply_material_preset", "preset", text="Typical Values")
        draw_presets(row, "material")
        layout = layout.column()
        layout.active = material.is_applied
        attributes.draw(
            layout, material, attributes.fields_of(usd_physics.MaterialAPI), "material.usdphys.physics_material"
        )
        vendor.draw(layout, context, owner.usdphys, "material", "material.usdphys")


def _material(context: Context) -> Any:
    """The material of the Material tab; in the 3D view the active material of the active object."""
    material = getattr(context, "material", None)
    if material is None and context.object is not None:
        material = context.object.active_material
    return material


CLASSES = (*in_properties((_Material,), "material"), *in_sidebar((_Material,)))
