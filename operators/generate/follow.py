# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow Until Hit: springs after an animation that let go."""

import bpy

from ...usdphys_addon.bridge.typed_props import FloatProperty
from ...usdphys_addon.core.words import counted, phrase
from .generator import Generator


class USDPHYS_OT_follow_until_hit(Generator, bpy.types.Operator):
    """Let the selected animated objects follow their animation by springs, and fall when something hits them"""

    bl_idname = "usdphys.follow_until_hit"
    edits_selected = True
    bl_label = "Follow Until Hit"
    icon = "CON_FOLLOWPATH"
    needs = (1, "Select one or more animated objects first")

    frequency = FloatProperty(
        name="Spring Frequency", default=8.0, min=0.1, soft_max=20.0, unit="FREQUENCY",
        description="How firmly the body follows its animation (Hz); less gives way more",
    )  # fmt: skip
    impulse = FloatProperty(
        name="Impulse", default=1.0, min=0.0, soft_max=100.0,
        description="About how hard a hit has to be for the body to let go (N s): mass times change of speed",
    )  # fmt: skip

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import follow

        options = follow.FollowOptions(self.frequency, self.impulse)
        made = follow.follow(context, list(context.selected_objects), options)
        return phrase("{bodies} will follow their animation until a hit", bodies=counted(len(made.bodies), "body")), []


CLASSES = (USDPHYS_OT_follow_until_hit,)
