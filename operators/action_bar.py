# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the action bar: make all selected objects bodies, colliders or group members, or clear their physics."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, StringProperty
from . import needs
from .outcome import finish


def report(operator: Any, outcome: Any) -> set[Any]:
    return finish(operator, outcome.text, outcome.notes)


class _Action:
    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.ONE_OBJECT)


class _Role(_Action):
    role = ""

    @classmethod
    def description(cls, context: bpy.types.Context, _properties: bpy.types.OperatorProperties) -> str:
        """Tooltip: the docstring, and a sentence about the effect on the current selection."""
        from ..usdphys_addon.authoring import tagging

        plain = tr(cls.__doc__ or "")
        if getattr(context, "mode", "") != "OBJECT":
            return plain
        planned = tagging.describe(context, cls.role)
        return f"{plain}.\n{tr(planned)}" if planned else plain

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import tagging

        separate = getattr(self, "separate", False)
        return report(self, tagging.tag(context, context.selected_objects, self.role, separate=separate))


class _BodyRole(_Role):
    separate = BoolProperty(
        name="Parts Separately",
        description="Make each object below a selected Empty a body of its own. Off: together they are one body",
    )


class USDPHYS_OT_make_dynamic(_BodyRole, bpy.types.Operator):
    """Make the selected objects rigid bodies that the solver moves, and add missing colliders"""

    bl_idname = "usdphys.make_dynamic"
    bl_label = "Dynamic"
    role = "DYNAMIC"


class USDPHYS_OT_make_static(_Role, bpy.types.Operator):
    """Make the selected objects colliders without a rigid body: they never move"""

    bl_idname = "usdphys.make_static"
    bl_label = "Static"
    role = "STATIC"


class USDPHYS_OT_make_kinematic(_BodyRole, bpy.types.Operator):
    """Make the selected objects rigid bodies that animation moves and that push other bodies"""

    bl_idname = "usdphys.make_kinematic"
    bl_label = "Kinematic"
    role = "KINEMATIC"


class USDPHYS_OT_add_collider(_Role, bpy.types.Operator):
    """Add colliders to the selected objects; the rest of their physics does not change"""

    bl_idname = "usdphys.add_collider"
    bl_label = "Collider"
    role = "COLLIDER"


class USDPHYS_OT_add_group(_Action, bpy.types.Operator):
    """Put the selected objects into a new collision group; their children belong to it as well"""

    bl_idname = "usdphys.add_group"
    bl_label = "Group"

    group_name = StringProperty(
        name="Name", default="Group", description="Name of the new group; a number is added if the name is taken"
    )
    ignores_itself = BoolProperty(
        name="Ignores Itself", description="The members of the group do not collide with each other"
    )

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import group_edits

        return report(self, group_edits.add_group(
            context.scene, context.selected_objects, self.group_name, ignores_itself=self.ignores_itself
        ))  # fmt: skip


class USDPHYS_OT_clear_physics(_Action, bpy.types.Operator):
    """Remove all physics of the selected objects: bodies, colliders, joints, groups and filtered pairs"""

    bl_idname = "usdphys.clear_physics"
    bl_label = "Clear Physics"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import clearing

        return report(self, clearing.clear_physics(context.selected_objects))


CLASSES = (
    USDPHYS_OT_make_dynamic, USDPHYS_OT_make_static, USDPHYS_OT_make_kinematic, USDPHYS_OT_add_collider,
    USDPHYS_OT_add_group, USDPHYS_OT_clear_physics,
)  # fmt: skip
