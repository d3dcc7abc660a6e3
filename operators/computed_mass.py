# SPDX-License-Identifier: GPL-3.0-or-later
"""Author the computed mass properties of a body, as starting values for edits."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.roles import is_body
from ..usdphys_addon.bridge.typed_props import EnumProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.viewport import readout
from . import needs


class USDPHYS_OT_author_computed(bpy.types.Operator):
    """Set the value computed from the colliders, for all selected bodies; it stays if the colliders change"""

    bl_idname = "usdphys.author_computed"
    bl_label = "Set Computed Value"
    bl_options = {"REGISTER", "UNDO"}

    field = EnumProperty(name="Value", items=items_of("computed value"))

    poll = needs.poll((lambda context: any(map(is_body, needs.chosen(context))), "Select a rigid body"))

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        computed = None if context.object is None else readout.mass_of(context.object.name)
        source = "" if computed is None or computed.problem else dict(computed.sources).get(properties.field, "")
        told = (phrase("From {source}", source=source),) if source else ()
        return ". ".join(tr(text) for text in (*told, str(cls.__doc__)))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        bodies = [obj for obj in needs.chosen(context) if is_body(obj) and obj.is_editable]
        masses = [(obj, readout.compute_mass(context, obj.name)) for obj in bodies]
        for obj, mass in masses:
            if mass.problem:
                raise InputError(phrase("'{name}': {problem}", name=obj.name, problem=phrase(mass.problem)))
        for obj, mass in masses:
            group = obj.usdphys.mass
            group.is_applied = True
            setattr(group, self.field, getattr(mass, self.field))
            if self.field == "diagonal_inertia":
                group.principal_axes = mass.principal_axes
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_author_computed,)
