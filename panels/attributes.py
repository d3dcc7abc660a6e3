# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws schema properties: greyed while not authored, with a button that clears an authored value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpy.types import PropertyGroup, UILayout

from ..usdphys_addon.core.schema import Schema
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting

#: Width of the button beside a value.
_BUTTON = 22.0


def fields_of(cls: type[Schema]) -> list[str]:
    """Names of the properties of a schema that a panel can draw as plain rows."""
    return [attribute.field for attribute in cls.attributes if attribute.is_editable]


def draw(layout: UILayout, group: PropertyGroup, names: Iterable[str], data_path: str) -> None:
    """One row per property; data_path: from "object", "scene" or "material" to the group."""
    for name in names:
        draw_one(layout, group, name, data_path)


def draw_one(
    layout: UILayout, group: PropertyGroup, name: str, data_path: str, *, ends: bool = True, text: str | None = None
) -> Any:  # fmt: skip
    """Draw one row and return it. ends: add a blank if there is no clear button, to align the rows. text: in place of
    the name of the property.
    """
    is_set = group.is_property_set(name)
    row = layout.row(align=True)
    value = row.column()
    # Greyed but enabled: typing a value authors it.
    value.active = is_set
    fitting.prop(value, group, name, text=text, taken=_BUTTON)
    button = row.column()
    if is_set:
        button.operator("usdphys.unset", text="", icon="X", emboss=False).data_path = f"{data_path}.{name}"
    elif ends:
        button.label(text="", icon="BLANK1")
    return row


def draw_list(layout: UILayout, owner: Any, items: str, index: str, which: str, list_type: str = "UI_UL_list") -> None:
    """A list with its add and remove buttons."""
    row = layout.row()
    row.template_list(list_type, which, owner, items, owner, index, rows=2)
    column = row.column(align=True)
    column.operator("usdphys.list_add", text="", icon="ADD").which = which
    column.operator("usdphys.list_remove", text="", icon="REMOVE").which = which


def draw_pairs(layout: UILayout, pairs: Any) -> None:
    """The objects that an object passes through."""
    draw_text(layout.column(align=True), "With its children, does not collide with:", "NONE")
    draw_list(layout, pairs, "filtered_pairs", "active_index", "filtered_pairs", "USDPHYS_UL_objects")
