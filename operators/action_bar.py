# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of the action bar: what the selected objects are in the physics, in one step for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .outcome import finish, refuse


def report(operator: Any, outcome: Any) -> set[Any]:
    return finish(operator, outcome.text, outcome.notes)


def can_edit(cls: Any, context: Any) -> bool:
    """True in object mode, where meshes are up to date."""
    if context.scene is None:
        cls.poll_message_set("There is no scene")
        return False
    if context.mode != "OBJECT":
        cls.poll_message_set("Leave the edit mode first")
        return False
    return True


def has_selection(cls: Any, context: Any) -> bool:
    if not can_edit(cls, context):
        return False
    if not context.selected_objects:
        cls.poll_message_set("Select one or more objects first")
        return False
    return True


class _Action:
    poll_message_set: Any
    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return has_selection(cls, context)


class _Role(_Action):
    role = ""

    @classmethod
    def description(cls, context: Any, _properties: Any) -> str:
        """What a click would do to the selection."""
        from ..usdphys_addon.authoring import tagging

        plain = cls.__doc__ or ""
        if getattr(context, "mode", "") != "OBJECT":
            return plain
        planned = tagging.describe(context, cls.role)
        return f"{plain}.\n{planned}" if planned else plain

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import tagging
        from ..usdphys_addon.core.errors import UsdPhysError

        try:
            separate = getattr(self, "separate", False)
            return report(self, tagging.tag(context, context.selected_objects, self.role, separate=separate))
        except UsdPhysError as error:
            return refuse(self, error)


class _BodyRole(_Role):
    if TYPE_CHECKING:
        separate: bool
    else:
        separate: bpy.props.BoolProperty(
            name="Parts Separately",
            description="Of a selected Empty and the objects below it each object becomes a body of its own; else they "
            "are the parts of one body",
        )


class USDPHYS_OT_make_dynamic(_BodyRole, bpy.types.Operator):
    """Make the selected objects rigid bodies that the solver moves, with colliders where there are none"""

    bl_idname = "usdphys.make_dynamic"
    bl_label = "Dynamic"
    role = "DYNAMIC"


class USDPHYS_OT_make_static(_Role, bpy.types.Operator):
    """Make the selected objects colliders that never move"""

    bl_idname = "usdphys.make_static"
    bl_label = "Static"
    role = "STATIC"


class USDPHYS_OT_make_kinematic(_BodyRole, bpy.types.Operator):
    """Make the selected objects rigid bodies that animation moves and that push others"""

    bl_idname = "usdphys.make_kinematic"
    bl_label = "Kinematic"
    role = "KINEMATIC"


class USDPHYS_OT_add_collider(_Role, bpy.types.Operator):
    """Give the selected objects colliders, and change nothing else of their physics"""

    bl_idname = "usdphys.add_collider"
    bl_label = "Collider"
    role = "COLLIDER"


class USDPHYS_OT_add_group(_Action, bpy.types.Operator):
    """Make a collision group of the selected objects; what is below them belongs to it, too"""

    bl_idname = "usdphys.add_group"
    bl_label = "Group"

    if TYPE_CHECKING:
        group_name: str
        ignores_itself: bool
    else:
        group_name: bpy.props.StringProperty(
            name="Name", default="Group", description="Name of the new group; it gets a number where it is taken"
        )
        ignores_itself: bpy.props.BoolProperty(
            name="Ignores Itself", description="The members of the group do not collide with each other"
        )

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import tagging
        from ..usdphys_addon.core.errors import UsdPhysError

        try:
            return report(self, tagging.add_group(
                context.scene, context.selected_objects, self.group_name, ignores_itself=self.ignores_itself
            ))  # fmt: skip
        except UsdPhysError as error:
            return refuse(self, error)


class USDPHYS_OT_clear_physics(_Action, bpy.types.Operator):
    """Remove all physics of the selected objects: bodies, colliders, joints, groups and filtered pairs"""

    bl_idname = "usdphys.clear_physics"
    bl_label = "Clear Physics"

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.authoring import tagging
        from ..usdphys_addon.core.errors import UsdPhysError

        try:
            return report(self, tagging.clear_physics(context.selected_objects))
        except UsdPhysError as error:
            return refuse(self, error)


CLASSES = (
    USDPHYS_OT_make_dynamic, USDPHYS_OT_make_static, USDPHYS_OT_make_kinematic, USDPHYS_OT_add_collider,
    USDPHYS_OT_add_group, USDPHYS_OT_clear_physics,
)  # fmt: skip
