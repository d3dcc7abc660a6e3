# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and remove items of the lists in the panels, and unset authored values."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..usdphys_addon.bridge.list_items import remove_item
from ..usdphys_addon.bridge.typed_props import EnumProperty, StringProperty
from ..usdphys_addon.core import paths
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import counted, phrase
from . import needs
from .outcome import finish

#: (owner, list, name of a new item, index) by the name of the list.
LISTS = {
    "colliders": ("object", "colliders", "", "active_collider_index"),
    "collision_groups": ("object", "collision_groups", "Group", "active_group_index"),
    "filtered_pairs": ("object", "filtered_pairs.filtered_pairs", "", "filtered_pairs.active_index"),
    "physics_scenes": ("scene", "physics_scenes", "PhysicsScene", "active_scene_index"),
    "scene_collision_groups": ("scene", "collision_groups", "Group", "active_group_index"),
    "filtered_groups": ("group", "filtered_groups", "Group", "active_index"),
}
#: Path to the first physics scene. Panels show its settings before there is one; the first that is added makes it.
FIRST_SCENE = "scene.usdphys.physics_scenes[0]"


def _resolve(context: bpy.types.Context, which: str) -> tuple[Any, Any, str, str]:
    """(list, owner of its index, name of the index, name of a new item). Raises InputError if nothing has the list."""
    owner_name, path, new_name, index_path = LISTS[which]
    if owner_name == "object" and context.object is None:
        raise InputError("There is no active object; click one first")
    owner = (context.object if owner_name == "object" else context.scene).usdphys
    if owner_name == "group":
        if not 0 <= owner.active_group_index < len(owner.collision_groups):
            raise InputError("There is no active collision group; add one first")
        owner = owner.collision_groups[owner.active_group_index]
    index_owner, _, index = index_path.rpartition(".")
    return owner.path_resolve(path), owner.path_resolve(index_owner) if index_owner else owner, index, new_name


class _ListOperator:
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    which = EnumProperty(name="List", items=[(name, name, "") for name in LISTS])

    poll = needs.poll(needs.SCENE)


class USDPHYS_OT_list_add(_ListOperator, bpy.types.Operator):
    """Add an item to the list"""

    bl_idname = "usdphys.list_add"
    bl_label = "Add"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        items, owner, index, name = _resolve(context, self.which)
        item = items.add()
        if hasattr(owner, "is_applied"):
            owner.is_applied = True
        if name:
            taken = {other.name for other in items}
            item.name = paths.free(name, taken.__contains__, "{}", 2)
        setattr(owner, index, len(items) - 1)
        return {"FINISHED"}


class USDPHYS_OT_list_remove(_ListOperator, bpy.types.Operator):
    """Remove the active item of the list"""

    bl_idname = "usdphys.list_remove"
    bl_label = "Remove"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        items, owner, index, _ = _resolve(context, self.which)
        active = getattr(owner, index)
        if not 0 <= active < len(items):
            return {"CANCELLED"}
        remove_item(items, active)
        setattr(owner, index, max(0, active - 1))
        return {"FINISHED"}


def owner_of(context: bpy.types.Context, data_path: str) -> Any:
    """What a path from "object", "scene" or "material" leads to; None if there is none in the context."""
    owners = {"object": context.object, "scene": context.scene, "material": getattr(context, "material", None)}
    head, _, rest = data_path.partition(".")
    owner = owners.get(head)
    if owner is None and head == "material" and context.object is not None:
        owner = context.object.active_material
    if owner is None or (data_path == FIRST_SCENE and not len(owner.usdphys.physics_scenes)):
        return None
    return owner.path_resolve(rest)


@contextmanager
def made_owner(context: bpy.types.Context, data_path: str) -> Iterator[Any]:
    """What `owner_of` finds. A first physics scene that is missing is made, and stays if nothing is raised."""
    scenes = context.scene.usdphys.physics_scenes
    is_new = data_path == FIRST_SCENE and not len(scenes)
    if is_new:
        scenes.add().name = LISTS["physics_scenes"][2]
    try:
        yield owner_of(context, data_path)
    except BaseException:
        if is_new:
            scenes.clear()
        raise


class USDPHYS_OT_unset(bpy.types.Operator):
    """Clear the value; the default applies again"""

    bl_idname = "usdphys.unset"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    data_path = StringProperty(name="Data Path")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        owner_path, _, name = self.data_path.rpartition(".")
        owner = owner_of(context, owner_path)
        if owner is None:
            return {"CANCELLED"}
        owner.property_unset(name)
        return {"FINISHED"}


class USDPHYS_OT_selection_unset(bpy.types.Operator):
    """Clear the value of all selected objects; the default applies again"""

    bl_idname = "usdphys.selection_unset"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    name = StringProperty(name="Name")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.viewport import selection

        return {"FINISHED"} if selection.unset(context, self.name) else {"CANCELLED"}


class USDPHYS_OT_selection_key(bpy.types.Operator):
    """Animate the value of all selected objects: set a keyframe in this frame, or take the one of this frame away"""

    bl_idname = "usdphys.selection_key"
    bl_label = "Animate"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    name = StringProperty(name="Name")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.viewport import selection, shown_values

        if self.name not in shown_values.VALUES:
            return {"CANCELLED"}
        number, is_removed = selection.toggle_key(context, self.name)
        objects = counted(number, "object")
        return finish(self, phrase("Removed the keyframes of {objects}" if is_removed else "Keyed {objects}",
                                   objects=objects))  # fmt: skip


CLASSES = (
    USDPHYS_OT_list_add, USDPHYS_OT_list_remove, USDPHYS_OT_unset, USDPHYS_OT_selection_unset,
    USDPHYS_OT_selection_key,
)  # fmt: skip
