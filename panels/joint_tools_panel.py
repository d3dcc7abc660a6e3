# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: buttons that add and edit joints."""

from __future__ import annotations

import bpy
from bpy.types import Context

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.words import phrase
from . import fitting
from .places import Sidebar

#: (type, icon) of the joints, in two rows of buttons.
_TYPES = (
    (("FIXED", "PINNED"), ("REVOLUTE", "DRIVER_ROTATIONAL_DIFFERENCE"), ("PRISMATIC", "DRIVER_DISTANCE")),
    (("SPHERICAL", "SPHERE"), ("DISTANCE", "FIXED_SIZE"), ("GENERIC", "EMPTY_ARROWS")),
)
#: Width of an icon in a row of three, where it stands at the very edge.
_ICON = 12.0


class USDPHYS_PT_joint_tools(Sidebar, bpy.types.Panel):
    bl_label = "Joint Tools"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        column.label(text="Add")
        for types in _TYPES:
            row = fitting.together(column, *(kind.title() for kind, _ in types), arrow=_ICON)
            for kind, icon in types:
                row.operator("usdphys.joint_add", text=kind.title(), icon=icon).type = kind
        row = fitting.together(column, "Chain", "Weld", has_icons=True)
        row.operator("usdphys.joint_chain", text="Chain", icon="LINKED")
        row.operator("usdphys.weld", icon="SNAP_ON")
        column.operator("usdphys.joint_motor", icon="FORCE_VORTEX")
        fitting.button(column, "usdphys.joint_couple", "PREFERENCES")
        fitting.button(column, "usdphys.robot_arm", "CON_KINEMATIC")
        column = layout.column(align=True)
        column.label(text="Limit from Pose")
        row = fitting.together(column, "Lower", "Upper")
        for which in ("LOWER", "UPPER"):
            row.operator("usdphys.joint_limit_from_pose", text=which.title()).which = which
        obj = context.active_object
        if obj is not None and obj.usdphys.joint.is_applied and obj.usdphys.joint.type == "GENERIC":
            column.operator_menu_enum("usdphys.joint_limit_from_pose", "dof", text="Lower Limit Of").which = "LOWER"
            column.operator_menu_enum("usdphys.joint_limit_from_pose", "dof", text="Upper Limit Of").which = "UPPER"
        column = layout.column(align=True)
        column.label(text="Frames")
        fitting.button(column, "usdphys.joint_fix_frames", "PINNED", "Keep in Bodies")
        sides = {side: tr(phrase("Align to Body {number}", number=side[-1])) for side in ("BODY0", "BODY1")}
        row = fitting.together(column, *sides.values())
        for side, text in sides.items():
            row.operator("usdphys.joint_align", text=text).side = side
        fitting.button(column, "usdphys.joint_swap_bodies", "ARROW_LEFTRIGHT")
        fitting.button(layout, "usdphys.mirror_physics", "MOD_MIRROR")


CLASSES = (USDPHYS_PT_joint_tools,)
