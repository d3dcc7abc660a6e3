# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws sentences in as many lines as a region needs for them."""

from __future__ import annotations

import re
from typing import Any

import bpy
from bpy.types import UILayout

from ..bridge.language import tr
from ..core.lines import lines
from ..core.words import phrase

#: Characters per line without a region, and in the panel of an operation, whose width a draw does not know; pixels of
#: margins and icon, and of a character.
_LINE, OPERATION_LINE = 32, 40
_MARGINS, _CHARACTER = 76, 6.4
#: Width of a dialog, pixels, and characters per line in it: while it is drawn, the region is that below it.
DIALOG = 400
DIALOG_LINE = int((DIALOG - _MARGINS) / _CHARACTER)


def draw_text(layout: UILayout, text: str, icon: str, taken: int = 0, length: int = 0) -> None:
    """Draw a message in the language of Blender, in lines that fit.

    taken: pixels that are drawn beside it. length: characters per line, where the region does not say how many fit.
    """
    # French puts a space before such a sign, which must not begin a line.
    whole = re.sub(r" (?=[:;!?»])", "\N{NO-BREAK SPACE}", tr(text))
    for number, line in enumerate(lines(whole, length or _line_length(taken))):
        layout.label(text=line, translate=False, icon="BLANK1" if number and icon != "NONE" else icon)


def draw_rest(layout: UILayout, count: int, drawn: int) -> None:
    """Say how many rows of a list are not drawn. count: of all. drawn: so many at most are."""
    if count > drawn:
        layout.label(text=tr(phrase("and {count} more", count=count - drawn)))


def _line_length(taken: int) -> int:
    context: Any = bpy.context
    region = context.region
    if region is None:
        return _LINE
    scale = context.preferences.system.ui_scale or 1.0
    return max(10, int((region.width / scale - _MARGINS - taken) / _CHARACTER))
