# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > USD Layer over the Import: the edits since the import, as a layer over the imported file."""

from pathlib import Path
from typing import Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ...usdphys_addon.bridge.language import tr
from ...usdphys_addon.bridge.typed_props import BoolProperty, StringProperty
from .. import needs
from .usd_file import UsdExportOperator


class USDPHYS_OT_export_layer(UsdExportOperator, bpy.types.Operator, ExportHelper):
    """Write the edits since the import as a layer over the imported file, which does not change"""

    bl_idname = "usdphys.export_layer"
    bl_label = "Export USD Layer"
    bl_options = {"REGISTER", "PRESET"}

    filter_glob = StringProperty(default="*.usd;*.usda;*.usdc", options={"HIDDEN"})
    into_copy = BoolProperty(
        name="Merge into a Copy",
        description="Write a copy of the imported file that includes the edits, instead of a layer over it",
    )
    physics_only = BoolProperty(
        name="Physics Only", description="Leave out moved, new and deleted objects, changed meshes and materials"
    )
    strict = BoolProperty(name="Stop at Errors", description="Write nothing where the checks find errors")

    poll = needs.poll(needs.USD, needs.IMPORTED_USD)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if not self.filepath:
            source = Path(bpy.path.abspath(context.scene.usdphys.source.filepath))
            self.filepath = str(source.with_name(f"{source.stem}_edits.usda"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.split_layout()
        source = Path(bpy.path.abspath(context.scene.usdphys.source.filepath))
        layout.label(text=f"{tr('Copy of' if self.into_copy else 'Over')} {source.name}", icon="FILE")
        column = layout.column()
        column.prop(self, "into_copy")
        column.prop(self, "physics_only")
        column.prop(self, "strict")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import scene_export, usd_export

        options = usd_export.ExportOptions(
            *usd_export.stage_options(context.scene), strict=self.strict, proves=self.proves()
        )  # fmt: skip
        form: Any = "copy" if self.into_copy else "layer"
        result = scene_export.export_scene(
            context, self.filepath, options, form, physics_only=self.physics_only
        )  # fmt: skip
        self.report_result("Wrote {file}: {numbers}", result)
        return {"FINISHED"}


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_layer.bl_idname, text="USD Physics Layer over the Import (.usda)")


CLASSES = (USDPHYS_OT_export_layer,)
