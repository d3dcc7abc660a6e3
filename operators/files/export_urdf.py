# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > URDF."""

from typing import Any

import bpy

from ...usdphys_addon.bridge.typed_props import StringProperty
from .usd_file import NamedExport, UsdFileOperator


class USDPHYS_OT_export_urdf(UsdFileOperator, bpy.types.Operator, NamedExport):  # type: ignore[misc]
    """Write the robot of the scene as URDF: the imported URDF with your edits, or a new one with its meshes"""

    bl_idname = "usdphys.export_urdf"
    bl_label = "Export URDF"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".urdf"
    filter_glob = StringProperty(default="*.urdf", options={"HIDDEN"})
    package = StringProperty(
        name="ROS Package",
        description="Name of a ROS package to write, with package.xml and the meshes. The package is the folder of "
        "the file, or its parent if the folder is named urdf",
    )

    def draw(self, _context: bpy.types.Context) -> None:
        self.split_layout().prop(self, "package")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import urdf_export

        result = urdf_export.export_urdf(context, self.filepath, self.package.strip(), proves=self.proves())
        self.report_result("Wrote {file}: {numbers}", result)
        return {"FINISHED"}


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_urdf.bl_idname, text="URDF (.urdf)")


CLASSES = (USDPHYS_OT_export_urdf,)
