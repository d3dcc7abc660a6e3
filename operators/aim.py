# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: search start values of a body with which it is at the active Empty at a frame."""

import math
from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from ..usdphys_addon.core.words import counted, phrase
from . import needs
from .outcome import check_numbers, draw_rows
from .stepped import Stepped

_BODY_AND_EMPTY: needs.Need = (
    lambda context: (
        len(context.selected_objects) == 2
        and context.active_object in context.selected_objects
        and context.active_object.type == "EMPTY"
    ),
    "Select a body, then the Empty that it is to reach",
)


class USDPHYS_OT_aim(Stepped, bpy.types.Operator):
    """Search start values of the selected body with which it is at the active Empty at a frame"""

    bl_idname = "usdphys.aim"
    bl_label = "Aim at Empty"
    bl_options = {"REGISTER", "UNDO"}
    slice = 0.0
    cancelled = phrase("The search was ended; the body has the best values found")

    frame = IntProperty(name="At Frame", default=0, description="Frame at which the body is there; 0: the last one")
    tolerance = FloatProperty(
        name="Tolerance", default=0.02, min=1e-5, subtype="DISTANCE", description="Largest distance from the Empty"
    )
    use_place = BoolProperty(name="Land Here", default=True, description="The body is to be where the Empty is")
    face = EnumProperty(
        name="Face",
        items=[("NONE", "Any", "The body may be turned in any way")]
        + [(axis, axis, "This axis of the body is to point along the Z axis of the Empty") for axis in
           ("X", "-X", "Y", "-Y", "Z", "-Z")],
        default="NONE",
        description="Axis of the body that is to point along the Z axis of the Empty, within 5 degrees",
    )  # fmt: skip
    speed = FloatProperty(
        name="Velocity", default=5.0, min=0.0, description="How far each part may change; 0: not at all"
    )
    spin = FloatProperty(
        name="Spin", default=0.0, min=0.0, subtype="ANGLE", description="How far each part may change a second"
    )
    place = FloatProperty(
        name="Place", default=0.0, min=0.0, subtype="DISTANCE", description="How far the start may move along each axis"
    )
    friction = BoolProperty(name="Friction", description="The friction of the body's material may change")
    restitution = BoolProperty(name="Restitution", description="The bounciness of the body's material may change")
    runs = IntProperty(name="Runs", default=200, min=1, max=5000, description="Simulations to try at most")
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number searches in another order")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, _BODY_AND_EMPTY)

    def draw(self, _context: bpy.types.Context) -> None:
        draw_rows(
            self, "frame", "use_place", "tolerance", "face", "speed", "spin", "place", "friction", "restitution",
            "runs", "seed",
        )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import aims

        check_numbers(self)
        target: Any = context.active_object
        (body,) = (obj for obj in context.selected_objects if obj != target)
        options = aims.AimOptions(
            self.frame or context.scene.frame_end, self.tolerance, self.use_place,
            "" if self.face == "NONE" else self.face, math.radians(5.0), self.speed, self.spin, self.place,
            self.friction, self.restitution, self.runs, self.seed,
        )  # fmt: skip
        return self.run(context, aims.aim_steps(context, body, target, options))

    def done(self, result: Any) -> set[Any]:
        runs = counted(result.runs, "run")
        if result.is_hit:
            self.report({"INFO"}, tr(phrase("The target is met after {runs}", runs=runs)))
        else:
            self.report({"WARNING"}, tr(phrase(
                "The target is missed by {miss:.3g} tolerances after {runs}; the best values are kept. Allow more to "
                "change, or more runs.", miss=result.miss, runs=runs,
            )))  # fmt: skip
        return {"FINISHED"}

    def progress(self, fraction: float) -> str:
        return phrase("Aiming ({done:.0%} of the runs)    Esc: keep the best", done=fraction)


CLASSES = (USDPHYS_OT_aim,)
