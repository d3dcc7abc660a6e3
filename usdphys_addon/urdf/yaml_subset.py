# SPDX-License-Identifier: GPL-3.0-or-later
"""The YAML of robot packages: mappings, lists, flow style, plain scalars, anchors, angles in degrees and radians.

No blocks of text and no types of Python: what asks for them is refused.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#:,\[\]{}][^#:]*):(\s|\Z)""")
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "null": None, "~": None}


def load(text: str) -> Any:
    """The value of a document. Raises ValueError."""
    lines = []
    for line in text.replace("\t", "    ").splitlines():
        bare = _without_comment(line)
        if bare.strip() and bare.strip() not in ("---", "..."):
            lines.append((len(bare) - len(bare.lstrip()), bare.strip()))
    if not lines:
        return None
    reader = _Block(lines)
    document = reader.value(lines[0][0], 0)
    if reader.at < len(lines):
        raise ValueError(f"'{lines[reader.at][1][:40]}' is not indented like the lines above it")
    return document


def _without_comment(line: str) -> str:
    quote = ""
    for index, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (index == 0 or line[index - 1].isspace()):
            return line[:index].rstrip()
    return line.rstrip()


_ANCHOR = re.compile(r"&(\S+)\s*(.*)\Z")
#: Values in what an alias repeats: aliases of aliases could stand for more than any memory holds.
_MOST_REPEATED = 10_000


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


class _Block:
    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self.lines, self.at = lines, 0
        self.anchors: dict[str, Any] = {}
        self.repeated = 0

    def alias(self, text: str) -> Any:
        name = text[1:].strip()
        if name not in self.anchors:
            raise ValueError(f"'*{name}' has no anchor")
        self.repeated += _count(self.anchors[name])
        if self.repeated > _MOST_REPEATED:
            raise ValueError(f"'*{name}' repeats too much")
        return self.anchors[name]

    def value(self, indent: int, depth: int) -> Any:
        if depth > 50:
            raise ValueError("it is nested too deep")
        text = self.lines[self.at][1]
        if text == "-" or text.startswith("- "):
            return self.items(indent, depth)
        if _KEY.match(text):
            return self.pairs(indent, depth)
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at][0] >= indent and text[:1] in "[{":
            text += " " + self.lines[self.at][1]
            self.at += 1
        return scalar(text)

    def items(self, indent: int, depth: int) -> list[Any]:
        values = []
        while self.at < len(self.lines):
            here, text = self.lines[self.at]
            if here != indent or not (text == "-" or text.startswith("- ")):
                break
            rest = text[1:].strip()
            if not rest:
                self.at += 1
                values.append(self.below(indent, depth))
                continue
            # What follows the dash stands where it does.
            self.lines[self.at] = (indent + text.index(rest), rest)
            values.append(self.value(self.lines[self.at][0], depth + 1))
        return values

    def pairs(self, indent: int, depth: int) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        while self.at < len(self.lines):
            here, text = self.lines[self.at]
            match = _KEY.match(text)
            if here != indent or match is None:
                break
            key, rest = scalar(match[1]), text[match.end() :].strip()
            self.at += 1
            anchor = _ANCHOR.match(rest)
            if anchor is not None:
                rest = anchor[2]
            if not rest:
                value = self.below(indent, depth)
            elif rest.startswith("*"):
                value = self.alias(rest)
            else:
                value = self.one_line(rest)
            if anchor is not None:
                self.anchors[anchor[1]] = value
            if key == "<<" and isinstance(value, dict):
                mapping = {**value, **mapping}
            else:
                mapping[key] = value
        return mapping

    def one_line(self, rest: str) -> Any:
        """A scalar, or flow style that can go on over the next lines."""
        parts, level = [rest], _level(rest)
        while rest[:1] in "[{" and level > 0 and self.at < len(self.lines):
            parts.append(self.lines[self.at][1])
            level += _level(parts[-1])
            self.at += 1
        return scalar(" ".join(parts))

    def below(self, indent: int, depth: int) -> Any:
        if self.at >= len(self.lines):
            return None
        here, text = self.lines[self.at]
        if here > indent or (here == indent and text.startswith("-")):
            return self.value(here, depth + 1)
        return None


def _level(text: str) -> int:
    """How many brackets of a text are open at its end."""
    return text.count("[") + text.count("{") - text.count("]") - text.count("}")


def scalar(text: str, depth: int = 0) -> Any:
    """The value of what stands on one line."""
    text = text.strip()
    if depth > 50:
        raise ValueError("it is nested too deep")
    if text[:1] in ("&", "*", "|", ">"):
        raise ValueError(f"'{text[:20]}' is YAML that is not read here")
    if text.startswith("!"):
        tag, _, rest = text.partition(" ")
        factor = {"!degrees": math.radians(1.0), "!radians": 1.0}.get(tag)
        value = scalar(rest, depth + 1)
        if factor is None or not isinstance(value, int | float):
            raise ValueError(f"'{text[:20]}' is YAML that is not read here")
        return value * factor
    if text[:1] in "[{" and text:
        return _flow(text, depth)
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return json.loads(text) if text[0] == '"' else text[1:-1].replace("''", "'")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.match(text):
        bare = text.replace("_", "")
        return int(bare) if re.fullmatch(r"[-+]?\d+", bare) else float(bare)
    return text


def _flow(text: str, depth: int) -> Any:
    if text[-1:] != {"[": "]", "{": "}"}[text[0]]:
        raise ValueError(f"'{text[:20]}' has no end")
    parts, level, quote, start = [], 0, "", 1
    for index, letter in enumerate(text[1:-1], 1):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            level += 1
        elif letter in "]}":
            level -= 1
        elif letter == "," and level == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:-1])
    parts = [part for part in parts if part.strip()]
    if text[0] == "[":
        return [scalar(part, depth + 1) for part in parts]
    mapping = {}
    for part in parts:
        key, _, value = part.partition(":")
        mapping[scalar(key, depth + 1)] = scalar(value, depth + 1)
    return mapping
