# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a setting among all attributes, of UsdPhysics and of simulators."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import EnumProperty, StringProperty
from . import needs
from .edit_lists import made_owner

#: The panel that shows what was found.
PANEL = "USDPHYS_PT_found"
#: Key of the setting that was found last.
_found = ""
#: The items of the search have to stay alive while Blender shows them.
_shown: list[tuple[str, str, str]] = []


def found() -> Any:
    """The setting that was found last; None before."""
    from ..usdphys_addon.authoring import settings_search

    return settings_search.settings().get(_found)


def _items(_self: Any, _context: Any) -> list[tuple[str, str, str]]:
    from ..usdphys_addon.authoring import settings_search

    if not _shown:
        _shown[:] = [(one.key, one.text, tr(one.attribute.doc)) for one in settings_search.settings().values()]
    return _shown


class USDPHYS_OT_find_setting(bpy.types.Operator):
    """Search all attributes of UsdPhysics and of simulators by name, label or the word of a simulator, and show the one
    that you choose for the selection"""

    bl_idname = "usdphys.find_setting"
    bl_label = "Find Setting"
    bl_property = "setting"
    icon = "VIEWZOOM"

    setting = EnumProperty(name="Setting", items=_items)

    poll = needs.poll(needs.SCENE)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, _context: bpy.types.Context) -> set[Any]:
        global _found
        _found = self.setting
        if not bpy.app.background:
            bpy.ops.wm.call_panel(name=PANEL, keep_open=True)
        return {"FINISHED"}


class USDPHYS_OT_vendor_set(bpy.types.Operator):
    """Set this attribute for the simulator, from its default"""

    bl_idname = "usdphys.vendor_set"
    bl_label = "Set"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    data_path = StringProperty(name="Data Path", options={"HIDDEN"})
    applied = StringProperty(name="Schema", options={"HIDDEN"})
    attribute = StringProperty(name="Attribute", options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_edits

        with made_owner(context, self.data_path) as thing:
            if thing is None:
                return {"CANCELLED"}
            vendor_edits.add_attribute(thing, self.applied, self.attribute, context.scene)
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_find_setting, USDPHYS_OT_vendor_set)
