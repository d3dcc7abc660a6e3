# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > SDF, also by dropping a file."""

import bpy
from bpy_extras.io_utils import ImportHelper

from ...usdphys_addon.bridge.typed_props import StringProperty
from .import_urdf import RobotImport


class USDPHYS_OT_import_sdf(RobotImport, bpy.types.Operator, ImportHelper):
    """Import a model or a world of Gazebo with its meshes, joints and masses into the scene. Gazebo is not needed"""

    bl_idname = "usdphys.import_sdf"
    bl_label = "Import SDF"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob = StringProperty(default="*.sdf;*.world", options={"HIDDEN"})


class USDPHYS_FH_sdf(bpy.types.FileHandler):
    """Drop a model of Gazebo into the 3D view"""

    bl_idname = "USDPHYS_FH_sdf"
    bl_label = "Gazebo SDF"
    bl_import_operator = USDPHYS_OT_import_sdf.bl_idname
    bl_file_extensions = ".sdf;.world"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:  # type: ignore[override]
        return context.area is not None and context.area.type in ("VIEW_3D", "OUTLINER")


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_import_sdf.bl_idname, text="Gazebo SDF (.sdf, .world)")


CLASSES = (USDPHYS_OT_import_sdf, USDPHYS_FH_sdf)
