# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors, drawers, lids and other mechanisms."""

from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
)
from ...usdphys_addon.core.words import counted, joined, phrase
from .generator import Generator, kind_of


class USDPHYS_OT_mechanism(Generator, bpy.types.Operator):
    """Make the selected objects a door, a drawer, a lid and the like, held by the active object"""

    bl_idname = "usdphys.mechanism"
    edits_selected = True
    bl_label = "Mechanism"
    icon = "MODIFIER"

    kind = EnumProperty(
        name="Kind", description="Mechanism to make of the selected objects",
        items=items_of("mechanism"),
    )  # fmt: skip
    spin = FloatProperty(
        name="Velocity (°/s)", default=1.0, subtype="ANGLE", description="Angular velocity of a turntable"
    )
    speed = FloatProperty(
        options={"SKIP_SAVE"},
        name="Speed",
        default=1.0,
        unit="VELOCITY",
        description="Speed of the surface of a conveyor",
    )
    stages = IntProperty(
        name="Stages", default=2, min=1, soft_max=6, description="Pairs of crossed bars, one on the other"
    )
    rise = FloatProperty(
        options={"SKIP_SAVE"},
        name="Rise",
        default=0.3,
        subtype="DISTANCE",
        description="How far the drive lifts the platform",
    )
    articulation = BoolProperty(
        name="Articulation",
        description="Make one articulation that is fixed to the world; Newton moves it only in this form",
    )

    def draw(self, _context: bpy.types.Context) -> None:
        own = {"TURNTABLE": ["spin"], "CONVEYOR": ["speed"], "SCISSOR_LIFT": ["stages", "rise"]}.get(self.kind, [])
        self.draw_all("kind", *own, *([] if self.kind in ("CONVEYOR", "PULLEY", "SCISSOR_LIFT") else ["articulation"]))

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        from ...usdphys_addon.generators import fitting

        if self.kind == "CONVEYOR":
            yield "speed", fitting.run(context)
        elif self.kind == "SCISSOR_LIFT":
            yield "rise", fitting.rise(context, self.stages)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import linkages, mechanisms

        if self.kind == "PULLEY":
            return f"Made a pulley with a rope of {len(linkages.make_pulley(context))} bodies", []
        if self.kind == "SCISSOR_LIFT":
            joints = linkages.make_scissor_lift(context, self.stages, self.rise)
            return f"Made a scissor lift with {len(joints)} joints", []
        speed = self.spin if self.kind == "TURNTABLE" else self.speed
        made = mechanisms.make_mechanism(context, self.kind, speed, articulation=self.articulation)
        joints = [counted(len(made), "joint")] if len(made) > 1 else []
        return joined(": ", (phrase("Made"), joined(", ", (kind_of(self), *joints)))), []


CLASSES = (USDPHYS_OT_mechanism,)
