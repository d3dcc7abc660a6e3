# SPDX-License-Identifier: GPL-3.0-or-later
"""Add > Physics: objects that have physics from the start."""

from typing import TYPE_CHECKING, Any

import bpy

from ..usdphys_addon.authoring.generator_kinds import KINDS


class USDPHYS_OT_add_physics(bpy.types.Operator):
    """Add objects with physics at the 3D cursor"""

    bl_idname = "usdphys.add_physics"
    bl_label = "Add Physics"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        kind: str
        count: int
    else:
        kind: bpy.props.EnumProperty(
            name="Kind", items=[(kind, label, doc) for kind, label, _, doc in KINDS], description="What is added"
        )
        count: bpy.props.IntProperty(
            name="Count", default=5, min=1, soft_max=50, description="Number of boxes or dominoes"
        )

    @classmethod
    def description(cls, _context: Any, properties: Any) -> str:
        return next(doc for kind, _, _, doc in KINDS if kind == properties.kind)

    @classmethod
    def poll(cls, context: Any) -> bool:
        from .action_bar import can_edit

        return can_edit(cls, context)

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop(self, "kind")
        if self.kind in ("STACK", "DOMINOES"):
            layout.prop(self, "count")

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import generators

        generators.add(context, self.kind, count=self.count)
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_add_physics,)
