# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > USD Physics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..usdphys_addon.bridge.props import HIERARCHIES
from .usd_file import USD_FILTER, UsdExportOperator


class USDPHYS_OT_export_usd(UsdExportOperator, bpy.types.Operator, ExportHelper):
    """Write the scene and its physics as UsdPhysics"""

    bl_idname = "usdphys.export_usd"
    bl_label = "Export USD Physics"
    bl_options = {"REGISTER", "PRESET"}

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        selected_only: bool
        animation: bool
        hierarchy: Any
        meters_per_unit: float
        kilograms_per_unit: float
        up_axis: Any
        force: bool
    else:
        filter_glob: bpy.props.StringProperty(default=USD_FILTER, options={"HIDDEN"})
        selected_only: bpy.props.BoolProperty(name="Selected Only", description="Export selected objects only")
        animation: bpy.props.BoolProperty(name="Animation", description="Write the frame range as time samples")
        hierarchy: bpy.props.EnumProperty(
            name="Nested Bodies", items=HIERARCHIES, default="NESTED",
            description="What becomes of rigid bodies below other rigid bodies",
        )
        meters_per_unit: bpy.props.FloatProperty(
            name="Meters per Unit", default=1.0, min=1e-9, precision=6,
            description="Length of one unit of the file: 1 is metres, 0.01 centimetres",
        )
        kilograms_per_unit: bpy.props.FloatProperty(
            name="Kilograms per Unit", default=1.0, min=1e-9, precision=6,
            description="Mass of one unit of the file: 1 is kilograms, 0.001 grams",
        )
        up_axis: bpy.props.EnumProperty(
            name="Up Axis", items=(("Y", "Y", ""), ("Z", "Z", "")), default="Z", description="Axis that points up"
        )
        force: bpy.props.BoolProperty(
            name="Export with Errors", description="Write the file although the checks find errors"
        )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[Any]:
        stage = context.scene.usdphys.stage
        for name in ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy"):
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(stage, name))
        result: set[Any] = super().invoke(context, event)
        return result

    def draw(self, _context: Any) -> None:
        layout = self.split_layout()
        for names in (("selected_only", "animation"), ("meters_per_unit", "kilograms_per_unit", "up_axis"),
                      ("hierarchy", "force")):  # fmt: skip
            column = layout.column()
            for name in names:
                column.prop(self, name)

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.bridge import usd_io
        from ..usdphys_addon.core.errors import UsdPhysError

        try:
            result = usd_io.export_usd(context, self.filepath, self.export_options())
        except UsdPhysError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.say("Wrote", result)
        return {"FINISHED"}

    def export_options(self) -> Any:
        from ..usdphys_addon.bridge import usd_io
        from ..usdphys_addon.core.units import StageUnits

        units = StageUnits(
            usd_io.typed_number(self.meters_per_unit), usd_io.typed_number(self.kilograms_per_unit), self.up_axis
        )
        return usd_io.ExportOptions(
            units, self.hierarchy.lower(), self.selected_only, self.animation, force=self.force
        )


def draw_menu(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_usd.bl_idname, text="USD Physics (.usd, .usda, .usdc, .usdz)")


CLASSES = (USDPHYS_OT_export_usd,)
