# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws rows that fit their region: a label that would be cut takes a row of its own, buttons stand one below another.

Widths are in pixels at a UI scale of 1.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.bridge import language
from ..usdphys_addon.viewport.wrapped_text import draw_text
from ..usdphys_addon.viewport.wrapped_text import text_width as text_width  # for all panels, with the widths below

#: What margins, indents and tabs take of the width of a region.
_MARGINS = {"UI": 56.0, "WINDOW": 40.0}
#: Of the width of a row: the label of a property that is split from its field, or that has its field beside it.
SPLIT, _BESIDE = 0.4, 0.25
#: What a button takes besides its text, an icon, a number with its unit, a box to tick, the arrow of a menu.
_EDGES, _ICON, _NUMBER, _TICK, _ARROW = 10.0, 20.0, 68.0, 26.0, 14.0


def room() -> float:
    """Width of a row of a panel; infinite without a region, and in a popover, which is as wide as it says."""
    context: Context = bpy.context
    region = context.region
    if region is None or region.type not in _MARGINS:
        return math.inf
    return float(region.width / (context.preferences.system.ui_scale or 1.0)) - _MARGINS[region.type]


def shown(text: str) -> str:
    """A label in the language of Blender."""
    return language.label(text, bpy.app.translations.locale)


def label_room(kind: str, width: float, *, is_split: bool, is_array: bool = False, share: float = SPLIT) -> float:
    """Width that the label of a property has in a row. kind: of the property, as Blender says it.

    share: part of the width that is on the side of the labels where the row is split.
    """
    if kind == "BOOLEAN" and not is_array:
        return (width * (1.0 - share) if is_split else width) - _TICK
    if is_split:
        return share * width - _EDGES
    if is_array:
        return width
    return width - _NUMBER if kind in ("INT", "FLOAT") else _BESIDE * width


def prop(layout: UILayout, data: Any, name: str, *, text: str | None = None, taken: float = 0.0, **search: Any) -> None:
    """Draw a property. taken: width of what is beside it. search: where its name is looked up, as of `prop_search`."""
    declared = data.bl_rna.properties[name]
    given: dict[str, Any] = {} if text is None else {"text": text}
    label = shown(declared.name if text is None else text)
    draw = layout.prop_search if search else layout.prop
    width = room() - taken
    is_array = bool(getattr(declared, "is_array", False))
    is_split = layout.use_property_split
    if not label or math.isinf(width) or (
        text_width(label) <= label_room(declared.type, width, is_split=is_split, is_array=is_array)
        and chosen_fits(chosen_in(declared, data, name), declared.type, width, is_split=is_split)
    ):  # fmt: skip
        draw(data, name, **search, **given)
        return
    column = layout.column(align=True)
    column.use_property_split = False
    draw = column.prop_search if search else column.prop
    if declared.type == "BOOLEAN" and not is_array:
        draw(data, name, **given)
        return
    if " " not in label or text_width(label) <= width:
        column.label(text=label, translate=False)
    else:
        draw_text(column, label, "NONE", int(taken))
    draw(data, name, **search, text="")


def chosen_fits(chosen: str, kind: str, width: float, *, is_split: bool) -> bool:
    """True if the field of a property shows what is chosen whole beside its label. chosen: "" if there is no choice.

    kind: of the property, as Blender says it. That of a text, or of a pointer, is the name of something looked up.
    """
    needed = text_width(chosen) + _EDGES + (_ARROW if kind == "ENUM" else 2.0 * _ICON)
    return not chosen or needed <= (1.0 - (SPLIT if is_split else _BESIDE)) * width


def chosen_in(declared: Any, data: Any, name: str) -> str:
    """What the field of a property shows of what is chosen in it; "" where there is nothing to choose."""
    if declared.type == "POINTER":
        return str(getattr(getattr(data, name), "name", ""))
    if declared.type == "STRING":
        return str(getattr(data, name))
    if declared.type != "ENUM" or declared.is_enum_flag:
        return ""
    chosen = getattr(data, name)
    return shown(next((item.name for item in declared.enum_items if item.identifier == chosen), ""))


def choice(layout: UILayout, data: Any, name: str, *, text: str | None = None) -> None:
    """Draw the items of a choice as buttons beside each other, with the label on their left side."""
    declared, width = data.bl_rna.properties[name], room()
    given: dict[str, Any] = {} if text is None else {"text": text}
    label, items = shown(declared.name if text is None else text), [shown(item.name) for item in declared.enum_items]
    widest = max(map(text_width, items)) + _EDGES
    if math.isinf(width) or (
        text_width(label) <= SPLIT * width - _EDGES and widest * len(items) <= (1.0 - SPLIT) * width
    ):  # fmt: skip
        layout.row(align=True).prop(data, name, expand=True, **given)
        return
    column = layout.column(align=True)
    column.use_property_split = False
    column.label(text=label, translate=False)
    below = column.row(align=True) if widest * len(items) <= width else column.column(align=True)
    below.prop(data, name, expand=True)


def together(layout: UILayout, *texts: str, has_icons: bool = False, arrow: float = 0.0) -> Any:
    """A row for buttons with these texts, or a column where the row would cut one of them. arrow: see `columns`."""
    fits = columns(len(texts), *texts, has_icons=has_icons, arrow=arrow) > 1
    return layout.row(align=True) if fits else layout.column(align=True)


def columns(most: int, *texts: str, has_icons: bool = False, arrow: float = 0.0) -> int:
    """`most` if so many buttons with these texts fit beside each other, else 1.

    arrow: width of what each has besides its text and its icon.
    """
    widest = max(text_width(shown(text)) for text in texts) + _EDGES + (_ICON if has_icons else 0.0) + arrow
    return most if widest * most <= room() else 1


def button(layout: UILayout, idname: str, icon: str, short: str = "") -> Any:
    """Draw an operator by its name, without its icon where the name would be cut, else by a shorter text."""
    module, _, name = idname.partition(".")
    label = getattr(bpy.types, f"{module.upper()}_OT_{name}").bl_label
    if short and not fits(label):
        return layout.operator(idname, text=short, icon=icon_for(short, icon))
    return layout.operator(idname, icon=icon_for(label, icon))


def fits(text: str, taken: float = 0.0) -> bool:
    """True if a button without an icon shows this text whole. taken: width of what it has besides."""
    return text_width(shown(text)) + _EDGES + taken <= room()


def icon_for(text: str, icon: str, taken: float = 0.0) -> str:
    """The icon of a button, or none where its text fits only without."""
    return icon if text_width(shown(text)) + _EDGES + _ICON + taken <= room() else "NONE"


def labelled(column: UILayout, text: str, needed: float) -> Any:
    """A row with a label on its left side, as properties have one, or above it. needed: width of what is in the row.

    Returns the row.
    """
    width = room()
    if math.isinf(width) or (
        text_width(shown(text)) <= SPLIT * width - _EDGES and needed <= (1.0 - SPLIT) * width
    ):  # fmt: skip
        split = column.split(factor=SPLIT, align=True)
        side = split.row()
        side.alignment = "RIGHT"
        side.label(text=text)
        return split.row(align=True)
    column.label(text=text)
    return column.row(align=True)


def buttons_width(*texts: str) -> float:
    """Width of a row of buttons with these texts."""
    return max(text_width(shown(text)) + _EDGES for text in texts) * len(texts)


def tick_width(text: str) -> float:
    """Width of a box to tick with this text."""
    return text_width(shown(text)) + _TICK
