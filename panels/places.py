# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels that are drawn in two places: in the properties editor, and in the sidebar of the 3D view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy

from . import fitting

CATEGORY = "USD Physics"
#: Suffix of the class names of panels in the sidebar.
VIEW = "_view"

#: Width of a row from which two columns have place for most labels; see `fitting.room`.
_WIDE = 240.0


class Sidebar:
    """Mix-in of panels that are in the sidebar of the 3D view alone."""

    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category = CATEGORY


class Part:
    """A panel without a space. name: of the class, after USDPHYS_PT_. parent: name of the part that contains it."""

    layout: Any
    name = ""
    label = ""
    #: Label in the sidebar, where no tab gives the context.
    view_label = ""
    parent = ""
    #: Position of a panel in the sidebar; smaller is higher.
    order = 0
    closed = True

    def is_narrow(self) -> bool:
        """True where two columns would cut labels: in the sidebar, and in a narrow properties editor."""
        return type(self).__name__.endswith(VIEW) or fitting.room() < _WIDE

    def split_layout(self) -> Any:
        layout = self.layout
        layout.use_property_split = not self.is_narrow()
        layout.use_property_decorate = False
        return layout


DrawItem = Callable[[bpy.types.Context, bpy.types.UILayout, bpy.types.PropertyGroup], None]


def item_list(name: str, draw: DrawItem) -> type[bpy.types.UIList]:
    """A list whose rows a function draws: (context, layout, item). name: of the class, after USDPHYS_UL_."""

    def draw_item(
        _self: Any, context: bpy.types.Context, layout: bpy.types.UILayout, _data: Any, item: Any, _icon: int,
        _owner: Any, _index: str,
    ) -> None:  # fmt: skip
        draw(context, layout, item)

    return type(f"USDPHYS_UL_{name}", (bpy.types.UIList,), {"draw_item": draw_item, "__module__": __name__})


def in_properties(parts: Sequence[type[Part]], context: str) -> tuple[type[bpy.types.Panel], ...]:
    """Panels of a tab of the properties editor."""
    place = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": context}
    return tuple(_panel(part, place, "") for part in parts)


def in_sidebar(parts: Sequence[type[Part]]) -> tuple[type[bpy.types.Panel], ...]:
    """Panels of the sidebar of the 3D view."""
    place = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": CATEGORY}
    return tuple(
        _panel(part, {**place, "bl_order": part.order, "bl_label": part.view_label or part.label}, VIEW)
        for part in parts
    )


def _panel(part: type[Part], place: dict[str, Any], suffix: str) -> type[bpy.types.Panel]:
    body: dict[str, Any] = {
        "bl_label": part.label, **place, "bl_options": {"DEFAULT_CLOSED"} if part.closed else set(),
        "__module__": part.__module__, "__doc__": part.__doc__,
    }  # fmt: skip
    if part.parent:
        body["bl_parent_id"] = f"USDPHYS_PT_{part.parent}{suffix}"
    return type(f"USDPHYS_PT_{part.name}{suffix}", (part, bpy.types.Panel), body)
