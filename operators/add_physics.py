# SPDX-License-Identifier: GPL-3.0-or-later
"""Add > Physics: objects that have physics from the start."""

from typing import Any

import bpy

from ..usdphys_addon.authoring.generator_kinds import KINDS, SAMPLES
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
)
from ..usdphys_addon.core.words import phrase
from . import needs
from .outcome import draw_rows


class USDPHYS_OT_add_physics(bpy.types.Operator):
    """Add objects with physics at the 3D cursor"""

    bl_idname = "usdphys.add_physics"
    bl_label = "Add Physics"
    bl_options = {"REGISTER", "UNDO"}

    kind = EnumProperty(
        name="Kind", items=[(kind, label, doc) for kind, label, _, doc in KINDS], description="Type of object to add"
    )
    scale = FloatProperty(name="Scale", default=1.0, min=1e-4, soft_max=100.0, description="Factor of the usual size")
    count = IntProperty(name="Count", default=5, min=1, soft_max=50, description="Number of boxes or dominoes")
    velocity: tuple[float, float, float] = FloatVectorProperty(
        name="Velocity", subtype="VELOCITY", unit="VELOCITY", description="Velocity of the ball at the start"
    )
    throw = BoolProperty(
        name="Throw at Selection", default=True,
        description="Throw the ball at the selected bodies. If off, without a selection or with a velocity, the "
                    "ball starts at the 3D cursor",
    )  # fmt: skip

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return tr(next(doc for kind, _, _, doc in KINDS if kind == properties.kind))

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def draw(self, _context: bpy.types.Context) -> None:
        own = {"STACK": ("count",), "DOMINOES": ("count",), "BALL": ("throw", "velocity")}
        draw_rows(self, "kind", "scale", *own.get(self.kind, ()))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import generators

        ground = generators.ground_here(context) if self.kind == "GROUND" else None
        if ground is not None:
            text = phrase("'{name}' is there already; move the 3D cursor to add another ground", name=ground.name)
            self.report({"INFO"}, tr(text))
            if context.selected_objects:
                return {"CANCELLED"}
            ground.select_set(True)
            context.view_layer.objects.active = ground
            return {"FINISHED"}
        generators.add(
            context, self.kind, count=self.count, velocity=tuple(self.velocity), throw=self.throw, scale=self.scale
        )
        return {"FINISHED"}


class USDPHYS_OT_sample_scene(bpy.types.Operator):
    """Make a new scene that demonstrates the add-on; press Play in it"""

    bl_idname = "usdphys.sample_scene"
    bl_label = "Sample Scene"
    bl_options = {"REGISTER", "UNDO"}

    kind = EnumProperty(
        name="Sample", items=[(kind, label, doc) for kind, label, _, doc in SAMPLES], description="Sample to make"
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        doc = next(doc for kind, _, _, doc in SAMPLES if kind == properties.kind)
        return tr(phrase("{sample}, in a scene of its own", sample=phrase(doc)))

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.generators import samples

        done = self.execute(context)
        view = getattr(context.space_data, "region_3d", None)
        if view is not None:
            context.view_layer.update()
            samples.frame(context.scene, view)
        return done

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.generators import samples

        scene = samples.make(context, self.kind)
        self.report({"INFO"}, tr(phrase("'{scene}' is ready: press Play in the sidebar", scene=scene.name)))
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_add_physics, USDPHYS_OT_sample_scene)
