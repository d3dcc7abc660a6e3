# SPDX-License-Identifier: GPL-3.0-or-later
"""Nets."""

from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import EnumProperty, FloatProperty, FloatVectorProperty, IntVectorProperty
from .generator import Generator


class USDPHYS_OT_net(Generator, bpy.types.Operator):
    """Make a net at the 3D cursor"""

    bl_idname = "usdphys.net"
    bl_label = "Net"
    icon = "MESH_GRID"
    needs = (0, "")
    is_at_cursor = True

    size: tuple[float, float] = FloatVectorProperty(
        options={"SKIP_SAVE"}, name="Size", size=2, default=(2.0, 2.0), min=1e-3, subtype="XYZ_LENGTH",
        description="Along X and Y of the cursor",
    )  # fmt: skip
    knots: tuple[int, int] = IntVectorProperty(
        name="Knots", subtype="XYZ", size=2, default=(8, 8), min=1, max=100, soft_max=30,
        description="Number of knots along X and Y",
    )  # fmt: skip
    held = EnumProperty(
        name="Held At", description="Knots that are fixed to the world",
        items=items_of("what holds a net"),
    )  # fmt: skip
    radius = FloatProperty(
        options={"SKIP_SAVE"}, name="Radius", default=0.01, min=1e-4, subtype="DISTANCE",
        description="Radius of the strings",
    )  # fmt: skip
    mass = FloatProperty(name="Mass (kg/m²)", default=0.5, min=1e-4, description="Kilograms for each square metre")

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        from ...usdphys_addon.bridge.writing import unit_length

        meters = unit_length(context.scene)
        yield "size", (2.0 / meters, 2.0 / meters)
        yield "radius", 0.01 / meters

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import nets

        made = nets.make_net(
            context,
            nets.NetOptions(
                (self.size[0], self.size[1]), (self.knots[0], self.knots[1]), self.held, self.radius, self.mass
            ),
        )
        return f"Made a net of {len(made)} knots", []


CLASSES = (USDPHYS_OT_net,)
