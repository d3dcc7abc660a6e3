# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the object that a row of a panel names."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.bridge.typed_props import StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import phrase
from . import needs


class USDPHYS_OT_select_object(bpy.types.Operator):
    """Select this object alone"""

    bl_idname = "usdphys.select_object"
    bl_label = "Select Object"
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    name = StringProperty(name="Name", description="Name of the object", options={"SKIP_SAVE"})

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        obj = context.view_layer.objects.get(self.name)
        if obj is None or not obj.visible_get():
            raise InputError(phrase("'{name}' is not a visible object", name=self.name))
        for other in context.selected_objects:
            other.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_select_object,)
