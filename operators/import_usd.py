# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > USD Physics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ImportHelper

from ..usdphys_addon.bridge import environment


class USDPHYS_OT_import_usd(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Bring a USD file with its physics into the scene"""

    bl_idname = "usdphys.import_usd"
    bl_label = "Import USD Physics"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    layout: Any
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        convert_units: bool
        prim_path: str
    else:
        filter_glob: bpy.props.StringProperty(default="*.usd;*.usda;*.usdc;*.usdz", options={"HIDDEN"})
        convert_units: bpy.props.BoolProperty(
            name="Convert Units", default=True,
            description="Scale what is imported to the unit of the scene; else the scene takes the unit of the file",
        )
        prim_path: bpy.props.StringProperty(
            name="Prim Path", description="Import this prim and what is below it only; empty is the whole file"
        )

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not environment.usd_is_supported():
            cls.poll_message_set(environment.NO_USD)
            return False
        return True

    def draw(self, _context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "convert_units")
        layout.prop(self, "prim_path")

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.bridge import usd_import
        from ..usdphys_addon.core.errors import UsdPhysError

        options = usd_import.ImportOptions(self.convert_units, self.prim_path)
        try:
            result = usd_import.import_usd(context, self.filepath, options)
        except UsdPhysError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for issue in result.issues:
            self.report({"WARNING"}, f"{issue.message} {issue.fix}")
        count = result.counts
        self.report(
            {"INFO"},
            f"Read {result.path.name}: {count.get('bodies', 0)} bodies, {count.get('colliders', 0)} colliders, "
            f"{count.get('joints', 0)} joints",
        )
        return {"FINISHED"}


def draw_menu(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_import_usd.bl_idname, text="USD Physics (.usd, .usda, .usdc, .usdz)")


CLASSES = (USDPHYS_OT_import_usd,)
