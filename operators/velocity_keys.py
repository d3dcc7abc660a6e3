# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes in place of velocities of kinematic bodies."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.roles import has_velocity
from ..usdphys_addon.core.words import counted
from . import needs
from .outcome import finish


class USDPHYS_OT_key_velocity(bpy.types.Operator):
    """Key the motion that the velocity gives the selected kinematic bodies, from the first to the last frame of the
    scene, and remove the velocity"""

    bl_idname = "usdphys.key_velocity"
    bl_label = "Key Velocity"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(
        needs.SCENE, needs.OBJECT_MODE, needs.AT_REST,
        (lambda context: any(map(has_velocity, needs.chosen(context))), "Select a kinematic body with a velocity"),
    )  # fmt: skip

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import velocity_keys

        count = velocity_keys.key_velocities(context, needs.chosen(context))
        return finish(self, f"Keyed {counted(count, 'body')}")


CLASSES = (USDPHYS_OT_key_velocity,)
