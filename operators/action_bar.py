# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the action bar: make all selected objects bodies, colliders or group members, or clear their physics."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, StringProperty
from ..usdphys_addon.playback import guard as preview_guard
from .outcome import finish


def report(operator: Any, outcome: Any) -> set[Any]:
    return finish(operator, outcome.text, outcome.notes)


OBJECT_MODE = frozenset({"OBJECT"})
#: Least number of selected objects, and the message where fewer are selected.
Needs = tuple[int, str]
ONE_OBJECT: Needs = (1, "Select one or more objects first")


def can_edit(cls: Any, context: bpy.types.Context, modes: frozenset[str] = OBJECT_MODE) -> bool:
    """True in object mode, or one of these modes. In edit mode the mesh data lags behind the edits."""
    if context.scene is None:
        cls.poll_message_set(tr("There is no scene"))
        return False
    if context.mode not in modes:
        cls.poll_message_set(tr("Switch to Object Mode first"))
        return False
    return True


def has_selection(cls: Any, context: bpy.types.Context, needs: Needs = ONE_OBJECT) -> bool:
    return can_edit(cls, context) and _are_selected(cls, context, needs)


def can_build(
    cls: Any, context: bpy.types.Context, needs: Needs = ONE_OBJECT, modes: frozenset[str] = OBJECT_MODE
) -> bool:
    """`has_selection` while no preview shows other poses than the authored ones."""
    return can_edit(cls, context, modes) and is_at_rest(cls) and _are_selected(cls, context, needs)


def is_at_rest(cls: Any) -> bool:
    """False while a preview shows other poses than the authored ones."""
    if preview_guard.current() is not None:
        cls.poll_message_set(tr("Reset the preview first"))
        return False
    return True


def _are_selected(cls: Any, context: bpy.types.Context, needs: Needs) -> bool:
    if len(context.selected_objects) < needs[0]:
        cls.poll_message_set(tr(needs[1]))
        return False
    return True


class _Action:
    poll_message_set: Any
    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_selection(cls, context)


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
