# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows for the degrees of freedom of a joint: lock, limit and free, limits and drives."""

from __future__ import annotations

from typing import Any

from bpy.types import UILayout

from ..usdphys_addon.core import schema
from ..usdphys_addon.core.joint_kinds import AXIS_DOFS, PRESETS
from ..usdphys_addon.core.schemas import usd_physics
from . import attributes, fitting

#: Width of the icon and the arrow of a menu.
_ICONS = 36.0
DOF_LABELS = {
    "transX": "Translation X", "transY": "Translation Y", "transZ": "Translation Z", "rotX": "Rotation X",
    "rotY": "Rotation Y", "rotZ": "Rotation Z", "distance": "Distance", "linear": "Linear", "angular": "Angular",
}  # fmt: skip
_MOTION_LABELS = {"LOCKED": "Lock", "LIMITED": "Limit", "FREE": "Free"}


def draw_dofs(layout: UILayout, groups: Any, cls: type[schema.Schema], dofs: list[str], path: str) -> None:
    for dof in dofs:
        group = getattr(groups, dof)
        layout.prop(group, "is_applied", text=DOF_LABELS[dof])
        if group.is_applied:
            attributes.draw(layout, group, attributes.fields_of(cls), f"{path}.{dof}")
            if cls is usd_physics.DriveAPI and dof != "distance":
                row = fitting.together(layout, "Tune Gains", "Same on All", has_icons=True)
                row.operator("usdphys.joint_tune", icon="FCURVE").dof = dof
                if dof.startswith("rot"):
                    row.operator("usdphys.joint_equal_gains", text="Same on All", icon="ORIENTATION_GIMBAL").dof = dof


def draw_freedoms(layout: UILayout, joint: Any) -> None:
    """Presets, and a row of lock, limit and free for each degree of freedom."""
    from ..usdphys_addon.authoring import joint_freedoms

    preset = joint_freedoms.preset_of(joint)
    text = PRESETS[preset].label if preset else "Other Combination"
    column = layout.column(align=True)
    row = fitting.labelled(column, "Preset", fitting.buttons_width(text) + _ICONS)
    row.operator_menu_enum("usdphys.joint_preset", "preset", text=text, icon="PRESET")
    for dof in AXIS_DOFS:
        row = fitting.labelled(column, DOF_LABELS[dof], fitting.buttons_width(*_MOTION_LABELS.values()))
        now = joint_freedoms.motion_of(joint, dof)
        for motion in joint_freedoms.MOTIONS:
            button = row.operator("usdphys.joint_motion", text=_MOTION_LABELS[motion], depress=motion == now)
            button.dof, button.motion = dof, motion


def draw_limits(layout: UILayout, joint: Any, path: str) -> None:
    """The limits of the degrees of freedom that have some. path: of the limits, from "object"."""
    from ..usdphys_addon.authoring import joint_freedoms

    for dof in AXIS_DOFS:
        if joint_freedoms.motion_of(joint, dof) == "LIMITED":
            column = layout.column(align=True)
            for name, text in (("low", DOF_LABELS[dof]), ("high", "Up To")):
                attributes.draw_one(column, getattr(joint.limits, dof), name, f"{path}.{dof}", text=text)
