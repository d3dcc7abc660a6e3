# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > Unreal."""

from typing import Any

import bpy

from ...usdphys_addon.bridge.typed_props import StringProperty
from .usd_file import NamedExport, UsdFileOperator


class USDPHYS_OT_export_unreal(UsdFileOperator, bpy.types.Operator, NamedExport):  # type: ignore[misc]
    """Write the visible meshes, and for each collider a mesh with the name that Unreal takes for collision"""

    bl_idname = "usdphys.export_unreal"
    bl_label = "Export Unreal"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".fbx"
    check_extension = None
    filter_glob = StringProperty(default="*.fbx;*.glb", options={"HIDDEN"})

    def check(self, _context: bpy.types.Context) -> bool:
        if self.filepath and not self.filepath.lower().endswith((".fbx", ".glb")):
            self.filepath += self.filename_ext
            return True
        return False

    def draw(self, _context: bpy.types.Context) -> None:
        """There is nothing to choose but the end of the name."""

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import unreal_export

        self.report_result("Wrote {file}: {numbers}", unreal_export.export_unreal(context, self.filepath))
        return {"FINISHED"}


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_unreal.bl_idname, text="Unreal with Collision (.fbx, .glb)")


CLASSES = (USDPHYS_OT_export_unreal,)
