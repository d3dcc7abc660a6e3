# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a merged layer: with the comments, the order and the layout of the files that it comes from.

USD writes a layer anew, without comments. Here the texts are merged line by line. Where the lines of both edits
meet, those of ours stay, and the statements that the merged layer says otherwise are put in. What comes out is used
only if it says what the merged layer says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from pxr import Sdf, Tf

from ..core.three_way import same
from .fixing import layer_text
from .merge import specs_of

#: Lines that differ; comparing more of them takes too long.
_MOST_LINES = 20_000
_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|@@@.*?@@@|@[^@\n]*@|(#[^\n]*)",
    re.DOTALL,
)


def text_of(layer: Sdf.Layer, base: str, ours: str, theirs: str) -> str:
    """The text of a merged layer. base, ours, theirs: of the files; those of crates are empty."""
    written: str = layer.ExportToString()
    for start in dict.fromkeys((merged_lines(base, ours, theirs), ours)):
        before = _layer_of(start)
        if before is None:
            continue
        if same(specs_of(before), specs_of(layer)):
            return start
        found = layer_text.merged(start, before.ExportToString(), written)
        if found is not None and _says_same(found, layer):
            return found
    return written


def _layer_of(text: str) -> Sdf.Layer | None:
    """The layer that a text is; None where it is none."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        return layer if text and layer.ImportFromString(text) else None
    except Tf.ErrorException:
        return None


def _says_same(text: str, merged: Sdf.Layer) -> bool:
    layer = _layer_of(text)
    return layer is not None and same(specs_of(layer), specs_of(merged))


def merged_lines(base: str, ours: str, theirs: str) -> str:
    """Three texts merged line by line. Where both edits meet, the lines of ours stay."""
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    lines = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    if max(map(len, lines)) > _MOST_LINES:
        return ours
    edits = [list(_edits(lines[0], side)) for side in lines[1:]]
    made: list[str] = []
    at = 0
    for start, end, replacement in _not_meeting(*edits):
        made += [*lines[0][at:start], *replacement]
        at = end
    return "".join([*made, *lines[0][at:]])


_Edit = tuple[int, int, list[str]]


def _edits(base: Sequence[str], side: Sequence[str]) -> Iterator[_Edit]:
    """(start, end, new lines) of what a side has in the place of lines of the base."""
    for kind, start, end, first, last in SequenceMatcher(None, base, side, autojunk=False).get_opcodes():
        if kind != "equal":
            yield start, end, list(side[first:last])


def _not_meeting(ours: list[_Edit], theirs: list[_Edit]) -> list[_Edit]:
    """All edits of ours, and those of theirs that touch none of them."""
    found = list(ours)
    number = 0
    for edit in theirs:
        while number < len(ours) and ours[number][1] < edit[0]:
            number += 1
        if number == len(ours) or ours[number][0] > edit[1]:
            found.append(edit)
    return sorted(found, key=lambda one: one[:2])


def lost_comments(text: str, base: str, ours: str, theirs: str) -> list[str]:
    """Comments of either edit that are not in a merged text, and that neither has removed."""
    known, mine, others = map(_comments, (base, ours, theirs))
    wanted = (mine | others) - (known - mine) - (known - others)
    return sorted(wanted - _comments(text))


def _comments(text: str) -> set[str]:
    """The comments of a text without its first line, which names the format."""
    body = text.partition("\n")[2]
    return {found[1].strip() for found in _COMMENT.finditer(body) if found[1] and found[1].strip("# \t")}
