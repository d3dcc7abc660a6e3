# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve as a cable that deforms: thickness, material, and what holds its ends."""

from __future__ import annotations

from typing import Any

from bpy.types import Context

from ..usdphys_addon.bridge.cable_lines import line_of
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Part, in_properties

_MATERIAL = ("thickness", "density", "youngs_modulus", "bending_stiffness", "poissons_ratio", "dynamic_friction")


class _Cable(Part):
    name, label, parent = "cable", "Cable", "object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(context.object is not None and context.object.type == "CURVE")

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.usdphys.cable, "is_applied", text="")

    def draw(self, context: Context) -> None:
        layout = self.split_layout().column()
        layout.active = context.object.usdphys.cable.is_applied
        draw_cable(layout, context.object)


def draw_cable(layout: Any, obj: Any) -> None:
    """Thickness, material and held ends of a cable."""
    group = obj.usdphys.cable
    if group.is_applied and line_of(obj.data) is None:
        draw_text(layout, "A cable is one open line of type Poly", "ERROR")
    for name in _MATERIAL:
        fitting.prop(layout, group, name)
    for side in ("start", "end"):
        fitting.prop(layout, group, f"{side}_is_held")
        row = layout.column()
        row.active = getattr(group, f"{side}_is_held")
        fitting.prop(row, group, side)


CLASSES = in_properties((_Cable,), "physics")
