# SPDX-License-Identifier: GPL-3.0-or-later
"""Add gears, racks with pinions, and other prims of simulators' own types."""

from typing import TYPE_CHECKING, Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import phrase
from .joint_tools import _JointOperator
from .outcome import refuse
from .vendor import _VendorOperator


class USDPHYS_OT_joint_couple(_JointOperator, bpy.types.Operator):
    """Couple two joints: hinges by a gear, a hinge and a slide by a rack and pinion. PhysX and the preview simulate
    it"""

    bl_idname = "usdphys.joint_couple"
    bl_label = "Gear or Rack"
    needs = (2, "Select two hinges, or a hinge and a slide")

    if TYPE_CHECKING:
        ratio: float
        radius: float
        is_reversed: bool
    else:
        ratio: bpy.props.FloatProperty(
            name="Ratio", default=1.0, min=1e-4, soft_max=20.0,
            description="Turns of the active hinge for one turn of the other; it turns the other way",
        )  # fmt: skip
        radius: bpy.props.FloatProperty(
            name="Radius", default=0.1, min=1e-4, subtype="DISTANCE",
            description="Radius of the pinion: a rack moves by its circumference in a turn",
        )  # fmt: skip
        is_reversed: bpy.props.BoolProperty(name="Reversed", description="Turn or slide the other way")

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        obj = context.active_object
        is_rack = obj is not None and any(row.name == "physics:prismatic" for row in obj.usdphys.vendor)
        layout.prop(self, "radius" if is_rack else "ratio")
        layout.prop(self, "is_reversed")

    def run(self, context: Any) -> None:
        from ..usdphys_addon.authoring import vendor_prims

        made = vendor_prims.couple(context, ratio=self.ratio, radius=self.radius, is_reversed=self.is_reversed)
        self.report({"INFO"}, tr(phrase("Added '{name}'", name=made.name)))


#: The items of the search have to stay alive while Blender shows them.
_shown: list[tuple[str, str, str]] = []


def _types(_self: Any, _context: Any) -> list[tuple[str, str, str]]:
    from ..usdphys_addon.authoring import vendor_prims

    _shown[:] = [(cls.usd_name, f"{cls.usd_name} ({cls.family})", "") for cls in vendor_prims.types()]
    return _shown


class USDPHYS_OT_vendor_prim_add(bpy.types.Operator):
    """Add an Empty that stands for a prim of a simulator's own type, such as an actuator or a tendon"""

    bl_idname = "usdphys.vendor_prim_add"
    bl_label = "Simulator Prim"
    bl_options = {"REGISTER", "UNDO"}
    bl_property = "type"

    if TYPE_CHECKING:
        type: str
    else:
        type: bpy.props.EnumProperty(name="Type", items=_types, description="Type of the prim")

    @classmethod
    def poll(cls, context: Any) -> bool:
        from .action_bar import can_edit

        return can_edit(cls, context)

    def invoke(self, context: Any, _event: Any) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_prims

        made = vendor_prims.add_prim(context, self.type)
        self.report({"INFO"}, tr(phrase("Added '{name}'", name=made.name)))
        return {"FINISHED"}


class USDPHYS_OT_vendor_target_add(_VendorOperator, bpy.types.Operator):
    """Add a further target"""

    bl_idname = "usdphys.vendor_target_add"
    bl_label = "Add Target"

    if TYPE_CHECKING:
        applied: str
        attribute: str
    else:
        applied: bpy.props.StringProperty(name="Schema", options={"HIDDEN"})
        attribute: bpy.props.StringProperty(name="Attribute", options={"HIDDEN"})

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_prims
        from .edit_lists import owner_of

        thing = owner_of(context, self.data_path)
        if thing is None:
            return {"CANCELLED"}
        try:
            vendor_prims.add_target(thing, self.applied, self.attribute)
        except InputError as error:
            return refuse(self, error)
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_joint_couple, USDPHYS_OT_vendor_prim_add, USDPHYS_OT_vendor_target_add)
