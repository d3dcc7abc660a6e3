# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror the physics of one side of a model to the other."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.typed_props import EnumProperty
from . import needs
from .outcome import finish


class USDPHYS_OT_mirror_physics(bpy.types.Operator):
    """Put the physics of the selected parts on their counterparts, 'Arm.L' on 'Arm.R', with the joints that hold \
them. What the counterparts had is replaced; joints that are missing are made"""

    bl_idname = "usdphys.mirror_physics"
    bl_label = "Mirror Physics"
    bl_options = {"REGISTER", "UNDO"}

    axis = EnumProperty(
        name="Axis", description="Axis at right angles to the mirror plane",
        items=[(axis, axis, f"Mirror along {axis}") for axis in "XYZ"],
    )  # fmt: skip
    about = EnumProperty(
        name="About", description="Position of the mirror plane",
        items=items_of("mirror plane"),
    )  # fmt: skip

    poll = needs.poll(
        needs.SCENE, needs.OBJECT_MODE, needs.AT_REST,
        needs.selected(1, "Select the parts of one side, with names such as 'Arm.L'"),
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import mirroring
        from ..usdphys_addon.core.words import counted

        result = mirroring.mirror(context, self.axis, about_active=self.about == "ACTIVE")
        parts, joints = counted(result.parts, "object"), counted(result.joints, "joint")
        return finish(self, f"Mirrored {parts} and {joints}", result.notes)


CLASSES = (USDPHYS_OT_mirror_physics,)
