# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a .usda in which single statements are replaced, so that comments, order and digits of the rest stay.

USD writes a layer anew, without comments. Here a layer before and after an edit, as USD writes both, say which
statements differ; these are put into the text of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SPACE = re.compile(r"(?:[ \t\r\n;,]|#[^\n]*)+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL
)
_ASSET = re.compile(r"@@@.*?@@@|@[^@\n]*@", re.DOTALL)
_PRIM = re.compile(r"(def|over|class)\b[^\"\n{(]*")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
#: Levels of prims in each other that are read; each takes two calls of Python.
_DEEPEST = 200


class _UnknownTextError(Exception):
    """The text is written in a way that is not understood here."""


@dataclass(slots=True)
class _Statement:
    """One property or piece of metadata: its place in the text, and what stands before its value."""

    start: int
    end: int


@dataclass(slots=True)
class _Block:
    """A prim: the statements of its metadata and of its body, and the prims below it, by name.

    name_end: after its name. inside: after the opening bracket of its body. metadata_inside: of its metadata, or -1.
    """

    name_end: int = 0
    inside: int = 0
    close: int = 0
    metadata_inside: int = -1
    metadata: dict[str, _Statement] = field(default_factory=dict)
    body: dict[str, _Statement] = field(default_factory=dict)
    prims: dict[str, _Block] = field(default_factory=dict)


def merged(text: str, before: str, after: str) -> str | None:
    """A text with the statements that differ between two layers, as USD writes them. text: says what `before` says.

    None where the text is not understood; the caller compares what the result says with `after`.
    """
    try:
        own, old, new = _Reader(text).root(), _Reader(before).root(), _Reader(after).root()
        edits = list(_edits(text, own, before, old, after, new, 0))
    except (_UnknownTextError, KeyError, IndexError):
        return None
    made, at = [], 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        if start < at:
            return None
        made += [text[at:start], replacement]
        at = end
    return "".join([*made, text[at:]])


def lines_of_prims(text: str) -> dict[str, int]:
    """The line of each prim that a text defines or overrides, by path; empty where the text is not understood."""
    try:
        waiting = [("", _Reader(text).root())]
    except (_UnknownTextError, IndexError):
        return {}
    ends: dict[str, int] = {}
    while waiting:
        path, block = waiting.pop()
        ends.update({f"{path}/{name}": inner.name_end for name, inner in block.prims.items()})
        waiting += [(f"{path}/{name}", inner) for name, inner in block.prims.items()]
    lines, line, at = {}, 1, 0
    for found, end in sorted(ends.items(), key=lambda item: item[1]):
        line, at = line + text.count("\n", at, end), end
        lines[found] = line
    return lines


def _edits(
    text: str, own: _Block, before: str, old: _Block, after: str, new: _Block, depth: int
) -> Iterator[tuple[int, int, str]]:
    """(start, end, replacement) of what differs between two blocks, in the text of a third that says the same."""
    indent = "    " * depth
    if old.metadata.keys() | new.metadata.keys():
        yield from _metadata(text, own, before, old, after, new, indent)
    for key in old.body.keys() - new.body.keys():
        yield _lines_of(text, own.body[key])
    added = ""
    for key, statement in new.body.items():
        words = after[statement.start : statement.end]
        if key not in old.body:
            added += f"\n{indent}{words}"
        elif before[old.body[key].start : old.body[key].end] != words:
            yield own.body[key].start, own.body[key].end, words
    for name, block in new.prims.items():
        if name in old.prims:
            yield from _edits(text, own.prims[name], before, old.prims[name], after, block, depth + 1)
        else:
            start = after.rindex("\n", 0, block.name_end) + 1
            end = block.close + 1
            at = own.close if depth else len(text)
            yield at, at, f"\n{after[start:end]}\n{'    ' * max(0, depth - 1)}"
    if old.prims.keys() - new.prims.keys():
        raise _UnknownTextError
    if added:
        # What stands beside the bracket gets a line of its own.
        is_free = not text[own.inside :].partition("\n")[0].partition("#")[0].strip()
        yield own.inside, own.inside, added if is_free else f"{added}\n"


def _metadata(
    text: str, own: _Block, before: str, old: _Block, after: str, new: _Block, indent: str
) -> Iterator[tuple[int, int, str]]:
    added = ""
    for key in old.metadata.keys() - new.metadata.keys():
        yield _lines_of(text, own.metadata[key])
    for key, statement in new.metadata.items():
        words = after[statement.start : statement.end]
        if key not in old.metadata:
            added += f"\n{indent}{words}"
        elif before[old.metadata[key].start : old.metadata[key].end] != words:
            yield own.metadata[key].start, own.metadata[key].end, words
    if added and own.metadata_inside < 0:
        yield own.name_end, own.name_end, f" ({added}\n{indent[4:]})"
    elif added:
        yield own.metadata_inside, own.metadata_inside, added


def _lines_of(text: str, statement: _Statement) -> tuple[int, int, str]:
    """The place of a statement, with the whole line where it stands alone."""
    start, end = statement.start, statement.end
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    if line_end >= 0 and not text[line_start:start].strip() and not text[end:line_end].strip(" \t\r;"):
        return line_start, line_end + 1, ""
    return start, end, ""


class _Reader:
    """Finds the statements of a .usda, without reading their values."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def root(self) -> _Block:
        """The whole layer, as a prim without a name."""
        block = _Block(name_end=self.text.find("\n") if "\n" in self.text else len(self.text))
        self.at = block.name_end
        self.skip()
        self.header(block)
        block.inside = self.at
        self.body(block)
        block.close = len(self.text)
        return block

    def skip(self) -> None:
        """Pass spaces and comments."""
        match = _SPACE.match(self.text, self.at)
        if match:
            self.at = match.end()

    def is_next(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def header(self, block: _Block) -> None:
        """The metadata of a block, if there is any."""
        if not self.is_next("("):
            return
        self.at += 1
        block.metadata_inside = self.at
        self.skip()
        while not self.is_next(")"):
            start = self.at
            self.statement(block.metadata, start, ")")
            self.skip()
        self.at += 1
        self.skip()

    def body(self, block: _Block) -> None:
        """All statements and prims up to the end of a block, or of the text."""
        self.skip()
        while self.at < len(self.text) and not self.is_next("}"):
            start, match = self.at, _PRIM.match(self.text, self.at)
            if match:
                self.at = match.end()
                self.prim(block)
            else:
                self.statement(block.body, start, "}")
            self.skip()

    def prim(self, parent: _Block) -> None:
        named = _STRING.match(self.text, self.at)
        if named is None or named[0] in parent.prims or self.depth == _DEEPEST:
            raise _UnknownTextError
        self.depth += 1
        self.at = named.end()
        block = _Block(name_end=self.at)
        parent.prims[named[0].strip("\"'")] = block
        self.skip()
        self.header(block)
        if not self.is_next("{"):
            raise _UnknownTextError
        self.at += 1
        block.inside = self.at
        self.body(block)
        if not self.is_next("}"):
            raise _UnknownTextError
        block.close = self.at
        self.at += 1
        self.depth -= 1

    def statement(self, found: dict[str, _Statement], start: int, closing: str) -> None:
        """One statement: it ends at the end of a line or at a semicolon, outside of brackets and texts."""
        equals, depth = -1, []
        text = self.text
        while self.at < len(text):
            sign = text[self.at]
            if sign in "\"'":
                self.pass_over(_STRING)
                continue
            if sign == "@":
                self.pass_over(_ASSET)
                continue
            if sign in _CLOSES:
                depth.append(_CLOSES[sign])
            elif depth and sign == depth[-1]:
                depth.pop()
            elif not depth and (sign in "\n;#" or sign == closing):
                break
            elif depth and sign == "#":
                self.at = text.find("\n", self.at)
                if self.at < 0:
                    raise _UnknownTextError
            elif sign == "=" and not depth and equals < 0:
                equals = self.at
            self.at += 1
        end = start + len(text[start : self.at].rstrip())
        key = " ".join(text[start : equals if equals >= 0 else end].partition("(")[0].split())
        if not key or key in found:
            raise _UnknownTextError
        found[key] = _Statement(start, end)

    def pass_over(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _UnknownTextError
        self.at = match.end()
