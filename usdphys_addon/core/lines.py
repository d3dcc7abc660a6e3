# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks messages into lines. Japanese and Chinese have no spaces: a line may end after most of their characters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache

#: Characters that are as wide as two of another script.
_WIDE = r"\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
#: Signs that do not end a line, and that do not begin one.
_OPENING = "「『（【〔《〈“‘(\\["  # noqa: RUF001
_CLOSING = "」』）】〕》〉”’、。，．：；！？・…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)\\],.;:!?%°"  # noqa: RUF001
_WIDE_ONE = f"[{_WIDE}]"
#: What stays together, and the spaces after it.
_PIECE = rf"([{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)[{_CLOSING}]*|[{_OPENING}]+)(\s*)"


def cells(text: str) -> int:
    """Width of a text in characters that are not wide."""
    return len(text) if text.isascii() else len(text) + len(_compiled(_WIDE_ONE).findall(text))


def lines(text: str, length: int) -> list[str]:
    """A message in lines of at most so many `cells`, without the spaces at which it is broken."""
    if text.isascii() or _compiled(_WIDE_ONE).search(text) is None:
        return textwrap.wrap(text, length)
    found, line = [], ""
    for piece, gap in _pieces(text, length):
        if line and cells(line + piece) > length:
            found.append(line.rstrip())
            line = ""
        line += piece + gap
    return [*found, line.rstrip()] if line.strip() else found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """On first use: the characters take a tenth of the time in which the add-on registers."""
    return re.compile(pattern)


def _pieces(text: str, length: int) -> Iterator[tuple[str, str]]:
    """(what stays together, the space after it)."""
    for match in _compiled(_PIECE).finditer(text.strip()):
        piece = match[1]
        while cells(piece) > length > 1:
            part = piece[:length]
            while len(part) > 1 and (cells(part) > length or piece[len(part)] in _CLOSING):
                part = part[:-1]
            yield part, ""
            piece = piece[len(part) :]
        if piece:
            yield piece, " " if match[2] else ""
