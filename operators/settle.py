# SPDX-License-Identifier: GPL-3.0-or-later
"""Scatter and Settle: drop the selected objects onto the scene and keep the poses in which they come to rest."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.typed_props import BoolProperty, FloatProperty, IntProperty, StringProperty
from ..usdphys_addon.core.words import phrase
from . import needs
from .generate.generator import fit
from .outcome import check_numbers, draw_rows, finish
from .stepped import Stepped


class USDPHYS_OT_settle(Stepped, bpy.types.Operator):
    """Drop the selected objects, or scattered copies of them, onto the scene and keep their poses at rest"""

    bl_idname = "usdphys.settle"
    bl_label = "Scatter and Settle"
    bl_options = {"REGISTER", "UNDO"}
    cancelled = phrase("Settling was cancelled; the scene is as it was")

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    seconds = FloatProperty(
        name="Stop After", default=10.0, min=0.1, soft_max=60.0, subtype="TIME", unit="TIME_ABSOLUTE",
        description="Longest time to simulate; it ends earlier when nothing moves any more",
    )  # fmt: skip
    copies = IntProperty(
        name="Copies", default=0, min=0, max=10_000, soft_max=200,
        description="Copies of each object, which share its data, scattered above the 3D cursor; 0 drops the "
        "objects themselves from where they are",
    )  # fmt: skip
    spread = FloatProperty(
        name="Spread", default=2.0, min=0.0, subtype="DISTANCE", options={"SKIP_SAVE"},
        description="Radius in which copies are scattered",
    )  # fmt: skip
    turn = BoolProperty(name="Random Rotation", default=True, description="Turn the copies at random")
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number scatters the copies differently")
    keep_physics = BoolProperty(
        name="Keep Physics",
        description="Keep the settled objects as rigid bodies. Off: restore the physics that they had before",
    )

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, needs.ONE_OBJECT)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = draw_rows(self, "seconds", "copies")
        column = layout.column()
        column.active = self.copies > 0
        for name in ("spread", "turn", "seed"):
            column.prop(self, name)
        layout.prop(self, "keep_physics")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.generators import fitting, settle

        check_numbers(self)
        if self.copies:
            fit(self, iter([("spread", fitting.spread(context))]))
        options = settle.SettleOptions(self.seconds, self.copies, self.spread, self.turn, self.seed, self.keep_physics)
        steps = settle.settle_steps(
            context, list(context.selected_objects), options, is_shown=self.is_in_window(context)
        )
        return self.run(context, steps)

    def done(self, result: Any) -> set[Any]:
        return finish(self, result.text, result.notes)

    def progress(self, fraction: float) -> str:
        return phrase("Settling ({done:.0%} of the longest time)    Esc: cancel", done=fraction)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.bridge.environment import redraw

        status = super().modal(context, event)
        if event.type == "TIMER":
            redraw("VIEW_3D")
        return status


CLASSES = (USDPHYS_OT_settle,)
