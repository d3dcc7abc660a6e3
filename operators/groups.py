# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups: filters between groups, members, names."""

from typing import Any

import bpy

from ..usdphys_addon.authoring import group_edits
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import counted, phrase
from . import needs
from .outcome import message_of

_COLLIDE = "Let members of '{one}' collide with members of '{other}'"
_COLLIDE_ITSELF = "Let members of '{one}' collide with each other"
_PASS = "Let members of '{one}' pass through members of '{other}'"
_PASS_ITSELF = "Let members of '{one}' pass through each other"


class USDPHYS_OT_group_ignore(bpy.types.Operator):
    """Switch whether members of the two groups pass through each other"""

    bl_idname = "usdphys.group_ignore"
    bl_label = "Ignore Group"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    one = StringProperty(name="Group")
    other = StringProperty(name="Other Group")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        try:
            for name in (properties.one, properties.other):
                group_edits.group_named(context.scene, name)
        except InputError as error:
            return tr(message_of(error))
        one, other = properties.one, properties.other
        ignored = group_edits.are_ignored(context.scene, one, other)
        collide, go_through = (_COLLIDE_ITSELF, _PASS_ITSELF) if one == other else (_COLLIDE, _PASS)
        return tr(phrase(collide if ignored else go_through, one=one, other=other))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        for name in (self.one, self.other):
            group_edits.group_named(context.scene, name)
        ignored = group_edits.are_ignored(context.scene, self.one, self.other)
        group_edits.set_ignored(context.scene, self.one, self.other, not ignored)
        return {"FINISHED"}


class _Members(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}

    group = StringProperty(name="Group", description="Name of the collision group; empty: the active one")

    poll = needs.poll(
        (lambda context: context.scene.usdphys.collision_groups, "The scene has no collision group; add one first")
    )

    def group_name(self, context: bpy.types.Context) -> str:
        physics = context.scene.usdphys
        if self.group:
            return str(group_edits.group_named(context.scene, self.group).name)
        index = min(physics.active_group_index, len(physics.collision_groups) - 1)
        return str(physics.collision_groups[index].name)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return self.edit_group(context, self.group_name(context))

    def edit_group(self, context: bpy.types.Context, name: str) -> set[Any]:
        raise NotImplementedError


class USDPHYS_OT_group_add_selected(_Members):
    """Put the selected objects and all their children into the collision group"""

    bl_idname = "usdphys.group_add_selected"
    bl_label = "Add Selected"

    def edit_group(self, context: bpy.types.Context, name: str) -> set[Any]:
        added = group_edits.add_members(name, context.selected_objects)
        self.report({"INFO"}, tr(phrase("Added {objects} to '{group}'", objects=counted(added, "object"), group=name)))
        return {"FINISHED"} if added else {"CANCELLED"}


class USDPHYS_OT_group_remove_selected(_Members):
    """Take the selected objects out of the collision group"""

    bl_idname = "usdphys.group_remove_selected"
    bl_label = "Remove Selected"

    def edit_group(self, context: bpy.types.Context, name: str) -> set[Any]:
        removed = group_edits.remove_members(name, context.selected_objects)
        self.report(
            {"INFO"}, tr(phrase("Took {objects} out of '{group}'", objects=counted(removed, "object"), group=name))
        )
        return {"FINISHED"} if removed else {"CANCELLED"}


class USDPHYS_OT_group_select(_Members):
    """Select the objects that belong to the collision group"""

    bl_idname = "usdphys.group_select"
    bl_label = "Select Members"

    def edit_group(self, context: bpy.types.Context, name: str) -> set[Any]:
        members = {obj.name for obj in group_edits.members(name)}
        for obj in context.view_layer.objects:
            obj.select_set(obj.name in members)
        return {"FINISHED"}


class USDPHYS_OT_group_rename(_Members):
    """Rename the collision group; its members and filters follow"""

    bl_idname = "usdphys.group_rename"
    bl_label = "Rename Group"

    new_name = StringProperty(name="New Name")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        self.new_name = self.group_name(context)
        return set(context.window_manager.invoke_props_dialog(self))

    def edit_group(self, context: bpy.types.Context, name: str) -> set[Any]:
        taken = {group.name for group in context.scene.usdphys.collision_groups} - {name}
        if not self.new_name or self.new_name in taken:
            raise InputError(
                f"'{self.new_name}' cannot be the name of the group; choose a name that no other group has."
            )
        group_edits.group_named(context.scene, name).list_name = self.new_name
        return {"FINISHED"}


CLASSES = (
    USDPHYS_OT_group_ignore, USDPHYS_OT_group_add_selected, USDPHYS_OT_group_remove_selected, USDPHYS_OT_group_select,
    USDPHYS_OT_group_rename,
)  # fmt: skip
