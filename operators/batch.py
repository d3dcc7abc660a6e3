# SPDX-License-Identifier: GPL-3.0-or-later
"""Batch operators: tag by name or collection, copy physics from the active object to the other selected ones."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.typed_props import BoolProperty, EnumFlagProperty, EnumProperty, StringProperty
from . import needs
from .action_bar import report

ROLES = items_of("role")
PARTS = items_of("part of the physics")


def collections_like(_operator: Any, _context: bpy.types.Context, text: str) -> list[str]:
    """Names of the collections whose name contains the text."""
    return [item.name for item in bpy.data.collections if text.lower() in item.name.lower()]


def _role() -> str:
    return EnumProperty(
        name="Make Them", items=ROLES, default="DYNAMIC", description="Role of the objects in the physics"
    )


class _Batch:
    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        return set(context.window_manager.invoke_props_dialog(self))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return report(self, self.outcome(context))

    def outcome(self, context: bpy.types.Context) -> Any:
        raise NotImplementedError


class USDPHYS_OT_tag_by_name(_Batch, bpy.types.Operator):
    """Make all objects whose name matches a pattern dynamic, static, kinematic or colliders, or clear their physics"""

    bl_idname = "usdphys.tag_by_name"
    bl_label = "Tag by Name"

    pattern = StringProperty(
        name="Name",
        default="*",
        description="Name with wildcards: * is any text, ? is one character, [ab] is a or b",
    )
    role = _role()
    collection = StringProperty(
        name="Collection",
        search=collections_like,
        description="Only objects of this collection; empty: all objects of the scene",
    )
    match_case = BoolProperty(name="Match Case", description="Upper and lower case letters differ")

    def outcome(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import tagging

        return tagging.tag_by_name(context, self.pattern, self.role, self.collection, match_case=self.match_case)


class USDPHYS_OT_tag_collection(_Batch, bpy.types.Operator):
    """Make all objects of a collection dynamic, static, kinematic or colliders, or clear their physics"""

    bl_idname = "usdphys.tag_collection"
    bl_label = "Tag Collection"

    collection = StringProperty(
        name="Collection", search=collections_like, description="The collection whose objects are tagged"
    )
    role = _role()

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        active = context.collection
        if not self.collection and active is not None and active.name in bpy.data.collections:
            self.collection = active.name
        return super().invoke(context, event)

    def outcome(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import tagging

        return tagging.tag_collection(context, self.collection, self.role)


class _FromActive(_Batch):
    poll = needs.poll(
        needs.SCENE, needs.OBJECT_MODE, needs.ONE_OBJECT,
        (lambda context: context.active_object, "There is no active object to copy from; click an object"),
        (lambda context: any(obj != context.active_object for obj in context.selected_objects),
         "Select the objects to copy to as well; the active object is the source"),
    )  # fmt: skip


class USDPHYS_OT_copy_physics(_FromActive, bpy.types.Operator):
    """Copy the physics of the active object to the other selected objects; values that it does not set are cleared"""

    bl_idname = "usdphys.copy_physics"
    bl_label = "Copy Physics to Selected"

    parts = EnumFlagProperty(
        name="Parts",
        items=PARTS,
        options={"ENUM_FLAG"},
        default={item[0] for item in PARTS},
        description="Parts of the physics to copy",
    )

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.column().prop(self, "parts", expand=True)

    def outcome(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import copying

        return copying.copy_physics(context.active_object, context.selected_objects, self.parts)


class USDPHYS_OT_copy_property(_FromActive, bpy.types.Operator):
    """Copy one physics property of the active object to the other selected objects; if it is not set, clear it there"""

    bl_idname = "usdphys.copy_property"
    bl_label = "Copy to Selected"

    data_path = StringProperty(
        name="Data Path", description="Path of the property below object.usdphys, such as rigid_body.velocity"
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        return self.execute(context) if self.data_path else super().invoke(context, event)

    def outcome(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import copying

        return copying.copy_one_property(context.active_object, context.selected_objects, self.data_path)


def draw_button_menu(menu: Any, context: bpy.types.Context) -> None:
    """Context menu of our properties. Blender's own Copy to Selected would author values that are not authored."""
    pointer, item = getattr(context, "button_pointer", None), getattr(context, "button_prop", None)
    if pointer is None or item is None or not isinstance(pointer.id_data, bpy.types.Object):
        return
    try:
        path = pointer.path_from_id(item.identifier)
    except ValueError:
        return
    if path.startswith("usdphys."):
        text = "Copy to Selected, Including Unset"
        operator = menu.layout.operator("usdphys.copy_property", text=text, icon="COPYDOWN")
        operator.data_path = path.removeprefix("usdphys.")


CLASSES = (USDPHYS_OT_tag_by_name, USDPHYS_OT_tag_collection, USDPHYS_OT_copy_physics, USDPHYS_OT_copy_property)


def register() -> None:
    bpy.types.UI_MT_button_context_menu.append(draw_button_menu)  # type: ignore[arg-type]


def unregister() -> None:
    bpy.types.UI_MT_button_context_menu.remove(draw_button_menu)  # type: ignore[arg-type]
