# SPDX-License-Identifier: GPL-3.0-or-later
"""Ragdolls, and their motion as keyframes of bones."""

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty
from .generator import Generator

#: Nothing tips over what stands exactly upright.
_BALANCES = "Its bones stand in one vertical line, so it stays upright until something pushes it; tilt the rig first"


class USDPHYS_OT_ragdoll(Generator, bpy.types.Operator):
    """Make a ragdoll of the selected armature in its present pose: bodies, joints with limits, and bones that follow"""

    bl_idname = "usdphys.ragdoll"
    bl_label = "Ragdoll"
    icon = "ARMATURE_DATA"
    needs = (1, "Select an armature, or a mesh that an armature deforms")

    detail = EnumProperty(
        name="Detail", default="MEDIUM", description="How many bones of a human become bodies",
        items=items_of("detail of a ragdoll"),
    )  # fmt: skip
    mass = FloatProperty(
        name="Total Mass", default=0.0, min=0.0, unit="MASS",
        description="Mass of all bodies together. 0: 75 kg for a human rig, for other rigs the mass that their "
        "volume gives",
    )  # fmt: skip
    damping = FloatProperty(
        name="Damping", default=0.5, min=0.0, soft_max=1.0,
        description="Damping: a larger value brings bodies and joints to rest sooner",
    )  # fmt: skip
    articulation = BoolProperty(
        name="Articulation", default=True, description="One articulation: joints that do not stretch"
    )
    follow = BoolProperty(
        name="Bones Follow",
        default=True,
        description="Bones copy the transforms of the bodies; the property ragdoll of the armature blends between "
        "animation (0) and physics (1)",
    )
    active = BoolProperty(
        name="Active", description="Springs pull the bodies towards the animated bones, in rotation and location"
    )
    frequency = FloatProperty(
        name="Spring Frequency", default=4.0, min=0.1, soft_max=20.0, unit="FREQUENCY",
        description="How firmly an active ragdoll follows the animation (Hz); less gives way more",
    )  # fmt: skip

    def draw(self, _context: bpy.types.Context) -> None:
        self.draw_all(
            "detail", "mass", "damping", "articulation", "follow", "active", *(["frequency"] if self.active else [])
        )

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import ragdoll

        options = ragdoll.RagdollOptions(self.detail, self.mass, self.damping, self.articulation, self.follow,
                                         self.frequency if self.active else 0.0)  # fmt: skip
        made = ragdoll.make_ragdoll(context, options)
        total = sum(obj.usdphys.mass.mass for obj in made.bodies)
        kind = "human" if made.is_human else "mass from its volume"
        notes = [_BALANCES] if made.is_upright else []
        return f"Made a ragdoll of {len(made.bodies)} bodies and {total:.3g} kg: {kind}", notes


class USDPHYS_OT_ragdoll_bake(Generator, bpy.types.Operator):
    """Simulate the frames of the scene and insert keyframes for the bones that follow a ragdoll"""

    bl_idname = "usdphys.ragdoll_bake"
    bl_label = "Bake Ragdoll to Bones"
    icon = "REC"
    needs = (1, "Select an armature, or a mesh that an armature deforms")

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import ragdoll

        number, muted = ragdoll.bake_bones(context, context.scene.frame_start, context.scene.frame_end)
        notes = [f"Switched off constraints and drivers of bones that would hide the keys: {muted}"] if muted else []
        return f"Baked {number} bones", notes


CLASSES = (USDPHYS_OT_ragdoll, USDPHYS_OT_ragdoll_bake)
