# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws sentences in as many lines as a region needs for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import blf
import bpy
from bpy.types import UILayout

from ..bridge.language import tr
from ..core.lines import lines
from ..core.words import phrase

#: Characters per line without a region, and in the panel of an operation, whose width a draw does not know. At a UI
#: scale of 1: pixels of margins and icon, of a wide character and of a narrow one; the size of the font, and pixels of
#: the edges of a box in which a text may be.
_LINE, OPERATION_LINE = 32, 40
_MARGINS, _CHARACTER, _NARROW = 76, 6.4, 4.0
_FONT_SIZE, _BOX = 11.0, 12
#: Width of a dialog, pixels, and characters per line in it: while it is drawn, the region is that below it.
DIALOG = 400
DIALOG_LINE = int((DIALOG - _MARGINS) / _CHARACTER)


def draw_text(layout: UILayout, text: str, icon: str, taken: int = 0, length: int = 0) -> None:
    """Draw a message in the language of Blender, in lines that fit.

    taken: pixels that are drawn beside it. length: characters per line, where the region does not say how many fit.
    """
    for number, line in enumerate(_lines_of(text, taken, length)):
        layout.label(text=line, translate=False, icon="BLANK1" if number and icon != "NONE" else icon)


def _lines_of(text: str, taken: int, length: int) -> Sequence[str]:
    # French puts a space before such a sign, which must not begin a line.
    whole = re.sub(r" (?=[:;!?»])", "\N{NO-BREAK SPACE}", tr(text))
    return lines(whole, length) if length else _fitting(whole, taken)


def draw_rest(layout: UILayout, count: int, drawn: int) -> None:
    """Say how many rows of a list are not drawn. count: of all. drawn: so many at most are."""
    if count > drawn:
        layout.label(text=tr(phrase("and {count} more", count=count - drawn)))


def _fitting(text: str, taken: int) -> tuple[str, ...]:
    context: Any = bpy.context
    region = context.region
    if region is None:
        return tuple(lines(text, _LINE))
    scale = context.preferences.system.ui_scale or 1.0
    return _broken(text, region.width / scale - _MARGINS - _BOX - taken)


@lru_cache(maxsize=1024)
def _broken(text: str, width: float) -> tuple[str, ...]:
    """A text in lines that are no wider than so many pixels, as long as they can be."""
    least = max(10, int(width / _CHARACTER))
    for length in range(int(width / _NARROW), least, -1):
        found = lines(text, length)
        if all(text_width(line) <= width for line in found):
            return tuple(found)
    return tuple(lines(text, least))


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Width of a text that is translated already, in pixels at a UI scale of 1."""
    blf.size(0, _FONT_SIZE)
    return float(blf.dimensions(0, text)[0])
