# SPDX-License-Identifier: GPL-3.0-or-later
"""Break Apart: pieces with joints that break."""

from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from ...usdphys_addon.core.common_materials import MATERIALS
from .generator import Generator


class USDPHYS_OT_break_apart(Generator, bpy.types.Operator):
    """Make the selected pieces, or those that one mesh is broken into, bodies with fixed joints that break where they
    touch"""

    bl_idname = "usdphys.break_apart"
    edits_selected = True
    bl_label = "Break Apart"
    icon = "MOD_EXPLODE"
    needs = (1, "Select the pieces, or one mesh")

    material = EnumProperty(
        name="Material",
        default="BRICK",
        items=[(one.key, one.name, one.tooltip) for one in MATERIALS],
        description="Density, friction and strength",
    )
    strength = FloatProperty(
        name="Strength", default=1.0, min=0.0, soft_max=10.0,
        description="Factor of the tensile strength of the material; bonds break at the product",
    )  # fmt: skip
    pieces = IntProperty(
        name="Pieces", default=20, min=2, soft_max=100, max=1000,
        description="Number of pieces that a mesh of a single part is broken into",
    )  # fmt: skip
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number breaks it elsewhere")
    gap = FloatProperty(
        options={"SKIP_SAVE"}, name="Gap", default=0.0025, min=0.0, subtype="DISTANCE",
        description="Faces that are at most this far apart count as touching",
    )  # fmt: skip

    breaks = BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    def draw(self, _context: bpy.types.Context) -> None:
        # They say nothing of pieces that were there already.
        self.draw_all("material", "strength", *(("pieces", "seed") if self.breaks else ()), "gap")

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        from ...usdphys_addon.bridge.writing import unit_length

        # Cell Fracture leaves 0.002 between its pieces, in scenes of any unit.
        yield "gap", 0.0025 / min(unit_length(context.scene), 1.0)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import bonds, fracture

        options = bonds.BondOptions(self.material, self.strength, self.gap)
        with fracture.in_pieces(context, list(context.selected_objects), self.pieces, self.seed) as pieces:
            self.breaks = pieces.are_cells
            bonded = bonds.bond(context, list(context.selected_objects), options)
        return f"Joined {len(bonded.pieces)} pieces by {len(bonded.joints)} bonds that break", []


CLASSES = (USDPHYS_OT_break_apart,)
