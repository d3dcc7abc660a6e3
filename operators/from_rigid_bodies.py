# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert Blender's own rigid bodies to USD Physics."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.typed_props import BoolProperty
from . import needs
from .outcome import finish


class USDPHYS_OT_from_rigid_bodies(bpy.types.Operator):
    """Give the objects of Blender's rigid body world the same USD Physics, and take those that it moves out of it"""

    bl_idname = "usdphys.from_rigid_bodies"
    bl_label = "From Blender Rigid Bodies"
    bl_options = {"REGISTER", "UNDO"}

    selected_only = BoolProperty(name="Selected Only", description="Convert selected objects only")
    replace = BoolProperty(
        name="Replace", description="Replace USD Physics that the objects already have. Off: keep it"
    )

    keep_in_blender = BoolProperty(
        name="Keep in Blender's World",
        description="Leave the objects in Blender's rigid body world, which then moves them in the timeline and in "
        "exports. Off: take them out; their settings stay",
    )

    # While a preview runs, the rigid body world follows what it moves: such a body would be read as animated.
    poll = needs.poll(
        (lambda context: context.scene and context.scene.rigidbody_world, "The scene has no rigid body world"),
        needs.AT_REST,
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import blender_rigid_bodies
        from ..usdphys_addon.core.words import joined, phrase, tally
        from ..usdphys_addon.system import console

        assert context.scene is not None
        chosen = context.selected_objects if self.selected_only else None
        result = blender_rigid_bodies.convert_scene(
            context.scene, chosen, replace=self.replace, takes_out=not self.keep_in_blender
        )
        for note in result.notes:
            console.note(f"USD Physics: {note}")
        numbers = joined(", ", (tally(getattr(result, kind), kind) for kind in ("bodies", "colliders", "joints")))
        return finish(self, phrase("Converted {numbers}", numbers=numbers), result.notes)


CLASSES = (USDPHYS_OT_from_rigid_bodies,)
