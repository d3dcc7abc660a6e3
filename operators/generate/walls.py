# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls, stacks, pyramids and chimneys."""

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    IntVectorProperty,
)
from .generator import Generator


class USDPHYS_OT_wall(Generator, bpy.types.Operator):
    """Make a wall, a stack, a pyramid or a chimney of copies of the active object, which are rigid bodies"""

    bl_idname = "usdphys.wall"
    edits_selected = True
    bl_label = "Wall or Stack"
    icon = "MOD_ARRAY"
    needs = (1, "Select the object that is to be the brick")

    kind = EnumProperty(
        name="Kind", description="How the bricks are laid",
        items=items_of("kind of wall"),
    )  # fmt: skip
    counts: tuple[int, int, int] = IntVectorProperty(
        name="Bricks",
        size=3,
        default=(8, 1, 6),
        min=1,
        max=1000,
        soft_max=50,
        subtype="XYZ",
        description="Number of bricks along X and Y, and of courses",
    )
    gap = FloatProperty(name="Gap", default=0.0, min=0.0, subtype="DISTANCE", description="Distance between bricks")
    shift = FloatProperty(
        name="Random Offset", default=0.0, min=0.0, subtype="DISTANCE", description="Largest offset of a brick"
    )
    turn = FloatProperty(
        name="Random Turn", default=0.0, min=0.0, subtype="ANGLE", description="Largest turn of a brick about Z"
    )
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number gives other offsets")
    bonded = BoolProperty(
        name="Bonded",
        description="Join touching bricks by fixed joints that break like brick masonry, as Break Apart does",
    )

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.bridge.writing import unit_length
        from ...usdphys_addon.core.errors import InputError
        from ...usdphys_addon.generators import bonds, walls

        counts = (self.counts[0], self.counts[1], self.counts[2])
        made = walls.make_wall(
            context, walls.WallOptions(self.kind, counts, self.gap, self.shift, self.turn, self.seed, self.bonded)
        )
        if not self.bonded:
            return f"Made {len(made)} bricks", []
        try:
            bonded = bonds.bond(context, made, bonds.BondOptions(gap=self.gap + 0.001 / unit_length(context.scene)))
        except InputError as error:
            # The bricks are there, and stand without bonds.
            return f"Made {len(made)} bricks", [str(error)]
        return f"Made {len(made)} bricks with {len(bonded.joints)} bonds", []


CLASSES = (USDPHYS_OT_wall,)
