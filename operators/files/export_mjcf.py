# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > MuJoCo."""

from typing import Any

import bpy

from ...usdphys_addon.bridge.typed_props import StringProperty
from .usd_file import NamedExport, UsdFileOperator


class USDPHYS_OT_export_mjcf(UsdFileOperator, bpy.types.Operator, NamedExport):  # type: ignore[misc]
    """Write the bodies, joints, colliders and drives of the scene as a model of MuJoCo"""

    bl_idname = "usdphys.export_mjcf"
    bl_label = "Export MuJoCo"
    bl_options = {"REGISTER"}

    filename_ext = ".xml"
    filter_glob = StringProperty(default="*.xml", options={"HIDDEN"})

    def draw(self, _context: bpy.types.Context) -> None:
        """There is nothing to choose."""

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import mjcf_export

        self.report_result("Wrote {file}: {numbers}", mjcf_export.export_mjcf(context, self.filepath))
        return {"FINISHED"}


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_mjcf.bl_idname, text="MuJoCo Model (.xml)")


CLASSES = (USDPHYS_OT_export_mjcf,)
