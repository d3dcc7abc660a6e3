# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: buttons that add and edit joints."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.words import phrase

#: (type, icon) of the joints, in two rows of buttons.
_TYPES = (
    (("FIXED", "PINNED"), ("REVOLUTE", "DRIVER_ROTATIONAL_DIFFERENCE"), ("PRISMATIC", "DRIVER_DISTANCE")),
    (("SPHERICAL", "SPHERE"), ("DISTANCE", "FIXED_SIZE"), ("GENERIC", "EMPTY_ARROWS")),
)


class USDPHYS_PT_joint_tools(bpy.types.Panel):
    bl_label = "Joint Tools"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "USD Physics"
    bl_order = 1
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column(align=True)
        column.label(text="Add")
        for types in _TYPES:
            row = column.row(align=True)
            for kind, icon in types:
                row.operator("usdphys.joint_add", text=kind.title(), icon=icon).type = kind
        row = column.row(align=True)
        row.operator("usdphys.joint_chain", text="Chain", icon="LINKED")
        row.operator("usdphys.weld", icon="SNAP_ON")
        column.operator("usdphys.joint_motor", icon="FORCE_VORTEX")
        column.operator("usdphys.joint_couple", icon="PREFERENCES")
        column.operator("usdphys.robot_arm", icon="CON_KINEMATIC")
        column = layout.column(align=True)
        column.label(text="Limit from Pose")
        row = column.row(align=True)
        for which in ("LOWER", "UPPER"):
            row.operator("usdphys.joint_limit_from_pose", text=which.title()).which = which
        obj = context.active_object
        if obj is not None and obj.usdphys.joint.is_applied and obj.usdphys.joint.type == "GENERIC":
            column.operator_menu_enum("usdphys.joint_limit_from_pose", "dof", text="Lower Limit Of").which = "LOWER"
            column.operator_menu_enum("usdphys.joint_limit_from_pose", "dof", text="Upper Limit Of").which = "UPPER"
        column = layout.column(align=True)
        column.label(text="Frames")
        column.operator("usdphys.joint_fix_frames", icon="PINNED")
        row = column.row(align=True)
        for side in ("BODY0", "BODY1"):
            row.operator("usdphys.joint_align", text=tr(phrase("Align to Body {number}", number=side[-1]))).side = side
        column.operator("usdphys.joint_swap_bodies", icon="ARROW_LEFTRIGHT")
        layout.operator("usdphys.mirror_physics", icon="MOD_MIRROR")


CLASSES = (USDPHYS_PT_joint_tools,)
