# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > MuJoCo, also by dropping a file."""

from pathlib import Path
from typing import Any

import bpy
from bpy_extras.io_utils import ImportHelper

from ...usdphys_addon.bridge.typed_props import StringProperty
from .usd_file import SteppedImport


def _keyframes(operator: Any, _context: bpy.types.Context, _typed: str) -> list[str]:
    """Names of the keyframes of the chosen file."""
    from ...usdphys_addon.exchange import mjcf_import

    return mjcf_import.keyframes_of(bpy.path.abspath(operator.filepath))


class USDPHYS_OT_import_mjcf(SteppedImport, bpy.types.Operator, ImportHelper):
    """Import a model of MuJoCo with its meshes, joints, masses and actuators into the scene"""

    bl_idname = "usdphys.import_mjcf"
    bl_label = "Import MuJoCo"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob = StringProperty(default="*.xml", options={"HIDDEN"})
    keyframe = StringProperty(
        name="Keyframe",
        options={"SKIP_SAVE"},
        description="Pose and controls that the model gets; without one, the pose of its bodies",
        search=_keyframes,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        # A dropped file comes with its path.
        if self.filepath and Path(self.filepath).is_file():
            return self.execute(context)
        return super().invoke(context, event)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import mjcf_import

        return self.run(context, mjcf_import.import_steps(context, self.filepath, keyframe=self.keyframe))


class USDPHYS_FH_mjcf(bpy.types.FileHandler):
    """Drop a model of MuJoCo into the 3D view"""

    bl_idname = "USDPHYS_FH_mjcf"
    bl_label = "MuJoCo Model"
    bl_import_operator = USDPHYS_OT_import_mjcf.bl_idname
    bl_file_extensions = ".xml"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:  # type: ignore[override]
        return context.area is not None and context.area.type in ("VIEW_3D", "OUTLINER")


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_import_mjcf.bl_idname, text="MuJoCo Model (.xml)")


CLASSES = (USDPHYS_OT_import_mjcf, USDPHYS_FH_mjcf)
