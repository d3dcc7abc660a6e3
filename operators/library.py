# SPDX-License-Identifier: GPL-3.0-or-later
"""The asset library of the extension: in the preferences, and fitted to what it was dropped on."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.bridge.typed_props import EnumProperty
from ..usdphys_addon.core.words import counted
from . import needs
from .outcome import finish


class USDPHYS_OT_library_add(bpy.types.Operator):
    """Show the physics library of this extension in the asset browser: doors, machines, vehicles, ropes, bricks"""

    bl_idname = "usdphys.library_add"
    bl_label = "Add Physics Library"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import asset_library

        if asset_library.add():
            return finish(self, "The asset browser has the library 'Physics' now")
        return finish(self, "The asset browser has the library 'Physics' already")


class USDPHYS_OT_library_remove(bpy.types.Operator):
    """Take the physics library out of the asset browser. What was dropped into scenes stays"""

    bl_idname = "usdphys.library_remove"
    bl_label = "Remove Physics Library"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import asset_library

        if asset_library.remove():
            return finish(self, "The asset browser does not have the library 'Physics' any more")
        return finish(self, "The asset browser does not have the library 'Physics'")


class USDPHYS_OT_fit_asset(bpy.types.Operator):
    """Scale the other selected objects evenly to the width of the active one, and put them on top of it"""

    bl_idname = "usdphys.fit_asset"
    bl_label = "Fit to Active"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(
        needs.selected(2, "Select what is to be fitted, and last the object to fit it to"), needs.OBJECT_MODE,
        needs.AT_REST,
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import asset_library

        return finish(self, f"Fitted {counted(len(asset_library.fit(context)), 'object')}")


class USDPHYS_OT_select_kind(bpy.types.Operator):
    """Select all shown objects of a kind in the scene, as the Outliner cannot filter by physics"""

    bl_idname = "usdphys.select_kind"
    bl_label = "Select Physics"
    bl_options = {"REGISTER", "UNDO"}

    kind = EnumProperty(
        name="Kind", default="BODIES",
        items=[
            ("BODIES", "Bodies", "Rigid bodies, kinematic ones too"),
            ("STATIC", "Static Colliders", "Colliders that belong to no rigid body"),
            ("JOINTS", "Joints", "Joints of all types"),
            ("ARTICULATIONS", "Articulations", "Roots of articulations"),
        ],
    )  # fmt: skip

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring.selected import of_kind

        chosen = set(of_kind(context, self.kind))
        for obj in context.view_layer.objects:
            obj.select_set(obj in chosen)
        if chosen and context.view_layer.objects.active not in chosen:
            context.view_layer.objects.active = next(obj for obj in context.view_layer.objects if obj in chosen)
        return finish(self, f"Selected {counted(len(chosen), 'object')}")


CLASSES = (
    USDPHYS_OT_library_add, USDPHYS_OT_library_remove, USDPHYS_OT_fit_asset, USDPHYS_OT_select_kind,
)  # fmt: skip
