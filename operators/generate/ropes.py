# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes, cables, chains and bridges."""

from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from ...usdphys_addon.core.words import joined, named, phrase
from ...usdphys_addon.viewport.wrapped_text import OPERATION_LINE, draw_text
from .generator import Generator, kind_of

_ARTICULATION = "One articulation: joints that do not stretch. PhysX needs short time steps for long ones"


class USDPHYS_OT_rope(Generator, bpy.types.Operator):
    """Make a rope, cable, chain or bridge along the selected curve, or between the two selected objects"""

    bl_idname = "usdphys.rope"
    edits_selected = True
    bl_label = "Rope, Chain or Bridge"
    icon = "LINKED"
    needs = (1, "Select a curve, or the two objects that hold the ends")

    idle = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    kind = EnumProperty(name="Kind", items=items_of("kind of rope"), description="Type of object to make")
    segments = IntProperty(
        name="Segments", default=20, min=0, max=1000, soft_max=100,
        description="Number of bodies; 0 for as many as fit the thickness",
    )  # fmt: skip
    radius = FloatProperty(
        options={"SKIP_SAVE"}, name="Radius", default=0.02, min=1e-4, subtype="DISTANCE",
        description="Radius of the rope or of the wire of a chain; half of the thickness of a bridge",
    )  # fmt: skip
    width = FloatProperty(
        options={"SKIP_SAVE"}, name="Width", default=1.0, min=1e-3, subtype="DISTANCE",
        description="Width of the bridge",
    )  # fmt: skip
    slack = FloatProperty(
        name="Slack", default=0.1, min=0.0, soft_max=1.0, subtype="FACTOR",
        description="Extra length, as a share of the distance between the two objects",
    )  # fmt: skip
    mass = FloatProperty(
        options={"SKIP_SAVE"}, name="Mass (kg/m)", default=1.0, min=1e-4,
        description="Kilograms for each metre of length",
    )  # fmt: skip
    ends = EnumProperty(
        name="Fixed Ends",
        items=items_of("fixed ends"),
        default="START",
        description="Ends of a curve that are fixed to the world; between two objects both ends are fixed to them",
    )
    stiffness = FloatProperty(
        options={"SKIP_SAVE"}, name="Stiffness (N m²)", default=1.0, min=0.0, description="Bending stiffness of a cable"
    )
    damping = FloatProperty(
        name="Damping", default=0.1, min=0.0, soft_max=1.0,
        description="Damping ratio of the swing as a whole; 1 stops it without oscillation",
    )  # fmt: skip
    articulation = BoolProperty(name="Articulation", description=_ARTICULATION)
    load = FloatProperty(
        options={"SKIP_SAVE"}, name="Load (kg)", default=100.0, min=0.0,
        description="Load that the bridge carries in PhysX, as an articulation. A larger load makes its hinges "
        "resist more",
    )  # fmt: skip
    skin = BoolProperty(
        name="Skin",
        description="A curve follows the segments and is rendered in their place. Other programs show it in its "
        "pose at the export",
    )

    def draw(self, _context: bpy.types.Context) -> None:
        bridge, cable, is_curve = self.kind == "BRIDGE", self.kind in ("CABLE", "CURVE"), self.kind == "CURVE"
        # What does not matter for the objects that were selected is left out.
        self.draw_all(*(name for name in (
            "kind", "segments", "radius", *(["width"] if bridge else []), "slack", "mass", "ends",
            *(["stiffness"] if cable else []), *([] if is_curve else ["damping", "articulation"]),
            *(["load"] if bridge and self.articulation else []),
            *(["skin"] if self.kind in ("ROPE", "CABLE") else []),
        ) if name not in self.idle.split()))  # fmt: skip
        if "ends" in self.idle.split():
            draw_text(self.layout, "Both ends are fixed to the selected objects", "INFO", length=OPERATION_LINE)

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        from ...usdphys_addon.generators import fitting

        radius, width = fitting.row(context, self.slack)
        yield "radius", radius
        yield "width", width
        yield "mass", fitting.weight(context, self.kind, self.radius, self.width)
        yield "stiffness", fitting.stiffness(context, self.radius)
        yield "load", fitting.load(context, self.slack, self.radius, self.width)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import ropes

        made, steps, idle, stilled = ropes.make_row(context, ropes.RopeOptions(
            self.kind, self.segments, self.radius, self.width, self.slack, self.mass, self.ends, self.stiffness,
            self.damping, self.articulation, self.skin, self.load,
        ))  # fmt: skip
        self.idle = " ".join(idle)
        notes: list[str] = []
        if self.kind == "CURVE":
            notes.append(phrase("The preview leaves it out: bake it in Newton."))
            return phrase("{kind} of {number} segments", kind=kind_of(self), number=_segments(made[0])), notes
        if self.articulation and (ends := ropes.moving_ends(context, made)):
            notes.append(phrase(
                "{names} moves, and is kinematic or joined to another object: PhysX and Newton cannot hold an "
                "articulation at such an end. Switch Articulation off.", names=named(ends),
            ))  # fmt: skip
        if self.articulation and steps > 60:
            notes.append(phrase(
                "The segments are far too light for their load, and PhysX cannot hold them as an articulation; make "
                "them heavier or fewer, or switch Articulation off."
            ) if steps > 960 else phrase(
                "The segments are light for their load. As an articulation PhysX needs {number} time steps a "
                "second to hold them; make them heavier or fewer, or switch Articulation off.", number=steps,
            ))  # fmt: skip
        text = phrase("{kind} of {number} bodies", kind=kind_of(self), number=len(made))
        if not stilled:
            return text, notes
        # A ball that was to hang on it would stay in the air.
        held = phrase("Static now, unless you make it Dynamic: {names}", names=named(obj.name for obj in stilled))
        return joined("; ", (text, held)), notes


def _segments(curve: Any) -> int:
    return len(curve.data.splines[0].points) - 1


CLASSES = (USDPHYS_OT_rope,)
