# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: search values with which bodies are at their Empties. Vary: run with values at random, and choose one."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.roles import is_body
from ..usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from ..usdphys_addon.core.steps import Next
from ..usdphys_addon.core.words import counted, phrase
from ..usdphys_addon.playback import ghosts
from . import needs
from .outcome import check_numbers, draw_rows, finish
from .stepped import Stepped

VARIATIONS: needs.Need = (
    lambda _context: ghosts.variations() is not None, "There are no variations; vary values first"
)  # fmt: skip
BODY: needs.Need = (
    lambda context: any(is_body(obj) for obj in context.selected_objects), "Select one or more bodies first"
)  # fmt: skip


def _pairs(context: Any) -> list[tuple[Any, Any]]:
    """(body, Empty) of the selection, in the order of their names; none if their numbers differ."""
    empties = [obj for obj in context.selected_objects if obj.type == "EMPTY" and not is_body(obj)]
    bodies = [obj for obj in context.selected_objects if obj not in empties]
    if len(empties) != len(bodies):
        return []
    return list(zip(*(sorted(each, key=lambda obj: obj.name) for each in (bodies, empties)), strict=True))


PAIRS: needs.Need = (lambda context: bool(_pairs(context)), "Select bodies, and an Empty for each of them")


class Changing(Stepped):
    """Mix-in: how far values may change. speed, spin, place: of bodies; the others of materials and joints."""

    slice = 0.0

    speed = FloatProperty(
        name="Velocity", default=5.0, min=0.0, description="How far each part may change; 0: not at all"
    )
    spin = FloatProperty(
        name="Spin", default=0.0, min=0.0, subtype="ANGLE", description="How far each part may change a second"
    )
    place = FloatProperty(
        name="Place", default=0.0, min=0.0, subtype="DISTANCE", description="How far the start may move along each axis"
    )
    friction = FloatProperty(
        name="Friction", default=0.0, min=0.0, max=1.0,
        description="How far the friction of the bodies' materials may change",
    )  # fmt: skip
    restitution = FloatProperty(
        name="Restitution", default=0.0, min=0.0, max=1.0,
        description="How far the bounciness of the bodies' materials may change",
    )  # fmt: skip
    drive_angle = FloatProperty(
        name="Drive Angle", default=0.0, min=0.0, subtype="ANGLE",
        description="How far the target angles of drives may change, of all joints that move the bodies",
    )  # fmt: skip
    drive_distance = FloatProperty(
        name="Drive Position", default=0.0, min=0.0, subtype="DISTANCE",
        description="How far the target positions of drives may change, of all joints that move the bodies",
    )  # fmt: skip
    motor_spin = FloatProperty(
        name="Motor Spin", default=0.0, min=0.0, subtype="ANGLE",
        description="How far the speeds of turning drives may change a second, of all joints that move the bodies",
    )  # fmt: skip
    motor_speed = FloatProperty(
        name="Motor Speed", default=0.0, min=0.0,
        description="How far the speeds of sliding drives may change, of all joints that move the bodies",
    )  # fmt: skip
    limit_angle = FloatProperty(
        name="Limit Angle", default=0.0, min=0.0, subtype="ANGLE",
        description="How far both ends of limits may change, of all turning joints that move the bodies",
    )  # fmt: skip
    limit_distance = FloatProperty(
        name="Limit Position", default=0.0, min=0.0, subtype="DISTANCE",
        description="How far both ends of limits may change, of all sliding joints that move the bodies",
    )  # fmt: skip

    def changes(self) -> Any:
        from ..usdphys_addon.playback import aims

        return aims.Changes(*(getattr(self, name) for name in aims.Changes.__slots__))

    def draw_changes(self) -> None:
        from ..usdphys_addon.playback import aims

        draw_rows(self, *aims.Changes.__slots__)


class USDPHYS_OT_aim(Changing, bpy.types.Operator):
    """Search values with which bodies are at their Empties: those selected, or all that have Land Here"""

    bl_idname = "usdphys.aim"
    bl_label = "Aim at Empty"
    bl_options = {"REGISTER", "UNDO"}
    cancelled = phrase("The search was ended; the bodies have the best values found")
    # They have new values, which is an undo step.
    ended = {"FINISHED"}

    frame = IntProperty(name="At Frame", default=0, description="Frame at which the body is there; 0: the last one")
    tolerance = FloatProperty(
        name="Tolerance", default=0.02, min=1e-5, subtype="DISTANCE", description="Largest distance from the Empty"
    )
    use_place = BoolProperty(name="Land Here", default=True, description="The body is to be where the Empty is")
    face = EnumProperty(
        name="Face", items=items_of("face of a body"), default="NONE",
        description="Axis of the body that is to point along the Z axis of the Empty, within 5 degrees",
    )  # fmt: skip
    at_rest = BoolProperty(name="At Rest", description="The body is to come to rest there")
    runs = IntProperty(name="Runs", default=200, min=1, max=5000, description="Simulations to try at most")
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number searches in another order")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST)

    def draw(self, context: bpy.types.Context) -> None:
        if self._new_pairs(context):
            draw_rows(self, "frame", "use_place", "tolerance", "face", "at_rest")
        self.draw_changes()
        draw_rows(self, "runs", "seed")

    def _new_pairs(self, context: Any) -> list[tuple[Any, Any]]:
        """Pairs of the selection whose Empties have no *Land Here*: this operator says where and when."""
        from ..usdphys_addon.playback import aims

        return [pair for pair in _pairs(context) if not aims.is_target(pair[1])]

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import aims

        check_numbers(self)
        scene: Any = context.scene
        wishes = [
            aims.Wish(
                body, target, self.frame or scene.frame_end, self.tolerance if self.use_place else None,
                "" if self.face == "NONE" else self.face, self.at_rest,
            ) for body, target in self._new_pairs(context)
        ] or aims.wishes_of(scene, context.selected_objects)  # fmt: skip
        is_beside = self.is_in_window(context)
        steps = aims.aim_steps(context, wishes, self.changes(), self.runs, self.seed, is_beside=is_beside)
        return self.run(context, steps)

    def done(self, result: Any) -> set[Any]:
        runs = counted(result.runs, "run")
        if result.met == len(result.misses) == 1:
            self.report({"INFO"}, tr(phrase("The target is met after {runs}", runs=runs)))
        elif result.met == len(result.misses):
            self.report({"INFO"}, tr(phrase("All {count} targets are met after {runs}", count=result.met, runs=runs)))
        elif len(result.misses) == 1:
            self.report({"WARNING"}, tr(phrase(
                "The target is missed by {miss:.3g} tolerances after {runs}; the best values are kept. Allow more to "
                "change, or more runs.", miss=result.misses[0], runs=runs,
            )))  # fmt: skip
        else:
            self.report({"WARNING"}, tr(phrase(
                "{met} of {count} targets are met after {runs}; the best values are kept. Allow more to change, or "
                "more runs.", met=result.met, count=len(result.misses), runs=runs,
            )))  # fmt: skip
        return {"FINISHED"}

    def progress(self, fraction: float) -> str:
        about = fraction.about if isinstance(fraction, Next) else ""
        return phrase("Aiming ({about})    Esc: keep the best", about=about)


class USDPHYS_OT_land_here(bpy.types.Operator):
    """Make the selected Empties the targets of the selected bodies, in the order of their names"""

    bl_idname = "usdphys.land_here"
    bl_label = "Land Here"
    bl_options = {"REGISTER", "UNDO"}

    frame = IntProperty(name="At Frame", default=0, description="Frame at which the body is there; 0: the last one")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, PAIRS)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        pairs = _pairs(context)
        for body, target in pairs:
            group = target.usdphys.land_here
            group.is_applied, group.body, group.frame = True, body, self.frame
        return finish(self, phrase("Made {targets}", targets=counted(len(pairs), "target")))


class USDPHYS_OT_vary(Changing, bpy.types.Operator):
    """Simulate the selected bodies again and again with values at random, show their paths, and choose one"""

    bl_idname = "usdphys.vary"
    bl_label = "Vary"
    bl_options = {"REGISTER"}
    cancelled = phrase("The variations until now are shown")
    ended = {"FINISHED"}

    frame = IntProperty(name="Until Frame", default=0, description="Frame at which the runs end; 0: the last one")
    runs = IntProperty(name="Runs", default=20, min=1, max=1000, description="Number of simulations")
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number gives other variations")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, BODY)

    def draw(self, _context: bpy.types.Context) -> None:
        draw_rows(self, "frame")
        self.draw_changes()
        draw_rows(self, "runs", "seed")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import aims

        check_numbers(self)
        bodies = [obj for obj in context.selected_objects if is_body(obj)]
        frame = self.frame or context.scene.frame_end
        return self.run(context, aims.vary_steps(context, bodies, self.changes(), frame, self.runs, self.seed))

    def done(self, result: Any) -> set[Any]:
        return finish(self, phrase("{runs}: choose one in the panel Aims", runs=counted(result, "variation")))

    def progress(self, fraction: float) -> str:
        return phrase("Varying ({done:.0%})    Esc: end", done=fraction)


class USDPHYS_OT_choose_variation(bpy.types.Operator):
    """Show another variation"""

    bl_idname = "usdphys.choose_variation"
    bl_label = "Next Variation"
    bl_options = {"INTERNAL"}

    step = IntProperty(name="Step", default=1)

    poll = needs.poll(VARIATIONS)

    def execute(self, _context: bpy.types.Context) -> set[Any]:
        variations = ghosts.variations()
        assert variations is not None
        variations.choose(self.step)
        return {"FINISHED"}


class USDPHYS_OT_use_variation(bpy.types.Operator):
    """Give the objects the values of the variation that is shown, and drop the others"""

    bl_idname = "usdphys.use_variation"
    bl_label = "Use This Variation"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, VARIATIONS)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import aims

        return finish(self, phrase("Variation {number} is used", number=aims.author_chosen(context)))


class USDPHYS_OT_drop_variations(bpy.types.Operator):
    """Drop all variations"""

    bl_idname = "usdphys.drop_variations"
    bl_label = "Drop Variations"
    bl_options = {"INTERNAL"}

    poll = needs.poll(VARIATIONS)

    def execute(self, _context: bpy.types.Context) -> set[Any]:
        ghosts.drop()
        return {"FINISHED"}


CLASSES = (
    USDPHYS_OT_aim, USDPHYS_OT_land_here, USDPHYS_OT_vary, USDPHYS_OT_choose_variation, USDPHYS_OT_use_variation,
    USDPHYS_OT_drop_variations,
)  # fmt: skip
