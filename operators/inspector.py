# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint inspector: start it, and set limits at the present position of a joint."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.typed_props import EnumProperty, IntProperty
from ..usdphys_addon.core.errors import UsdPhysError
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.playback import joint_inspector
from . import needs


class USDPHYS_OT_inspect_joints(bpy.types.Operator):
    """Move the selected joints with sliders; without a selection, all joints. The preview pauses meanwhile. Apply \
Pose keeps the pose, Reset undoes it"""

    bl_idname = "usdphys.inspect_joints"
    bl_label = "Inspect Joints"

    poll = needs.poll(needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        was_running = preview_guard.current() is not None
        if not was_running:
            # The play operator is modal: it handles the timer, Esc and the end of the session.
            try:
                bpy.ops.usdphys.preview_play(ignores_timeline=True)  # type: ignore[attr-defined]
            except RuntimeError as error:
                # Blender makes an exception of what the operator reports.
                self.report({"ERROR"}, str(error).strip().removeprefix("Error: "))
                return {"CANCELLED"}
        session = preview_guard.current()
        if session is None:
            return {"CANCELLED"}
        session.pause()
        context.window_manager.usdphys_inspector.physics = False
        try:
            joint_inspector.open_rows(context)
        except UsdPhysError:
            if not was_running:
                preview_guard.stop()
            raise
        return {"FINISHED"}


class USDPHYS_OT_inspect_limit(bpy.types.Operator):
    """Set the limit to the present position of the joint"""

    bl_idname = "usdphys.inspect_limit"
    bl_label = "Set Limit Here"
    bl_options = {"UNDO", "INTERNAL"}

    index = IntProperty()
    which = EnumProperty(name="Limit", items=items_of("limit of a joint"))

    poll = needs.poll((needs.IN_PREVIEW[0], "Inspect joints first"))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        rows = context.window_manager.usdphys_inspector.rows
        joint_inspector.set_limit(rows[self.index], self.which)
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_inspect_joints, USDPHYS_OT_inspect_limit)
