# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes that many elements of a new text share -> default classes, where these make the text shorter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: Elements that defaults hold for, with the name of their classes.
_TAGS = {"joint": "joint", "geom": "geom", "general": "servo", "site": "site"}
_LINE = re.compile(rf"^( *)<({'|'.join(_TAGS)}) ([^<>]*)/>$")
_WORD = re.compile(r'([\w:]+)="([^"]*)"')
#: What each element has for itself.
_OWN = frozenset({"name", "class", "pos", "quat", "joint", "site", "body", "mesh", "hfield", "refsite", "tendon"})
#: Fewer elements than these are no class.
_FEWEST = 3

Words = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Kind:
    """The elements of one tag. lines: number of the line and attributes, which have a style."""

    tag: str
    lines: dict[int, dict[str, str]] = field(default_factory=dict)

    def styles(self, chosen: Iterable[str]) -> Counter[Words]:
        names = sorted(chosen)
        return Counter(tuple((name, words[name]) for name in names if name in words) for words in self.lines.values())

    def saved(self, styles: Mapping[Words, int]) -> dict[Words, int]:
        """Letters that each style saves as a class, if it saves any."""
        label = len(f"{_TAGS[self.tag]}_99")
        found = {}
        for style, count in styles.items():
            text = sum(len(name) + len(value) + 4 for name, value in style)
            # The class has a line of its own: <default class="NAME"><TAG .../></default>.
            won = (
                count * (text - len(' class=""') - label)
                - text
                - 2 * len('<default class="">  ')
                - label
                - len(self.tag)
            )
            if style and count >= _FEWEST and won > 0:
                found[style] = won
        return found

    def best(self) -> list[Words]:
        """The styles that are to be classes: of the attributes whose choice saves most, found one by one."""
        chosen = {name for words in self.lines.values() for name in words} - _OWN
        won = self.saved(self.styles(chosen))
        improved = True
        while improved and chosen:
            improved = False
            for name in sorted(chosen):
                other = self.saved(self.styles(chosen - {name}))
                if sum(other.values()) > sum(won.values()):
                    chosen, won, improved = chosen - {name}, other, True
        self.chosen = sorted(chosen)
        return sorted(won, key=lambda style: -won[style])

    chosen: list[str] = field(default_factory=list)


def with_classes(lines: list[str]) -> tuple[list[str], list[str]]:
    """(lines of the defaults, the other lines) of a text without classes; equal words are said once.

    An element of a class has all its words, so that the text means the same.
    """
    kinds = {tag: _Kind(tag) for tag in _TAGS}
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        if match is not None and "class=" not in match[3]:
            kinds[match[2]].lines[number] = dict(_WORD.findall(match[3]))
    made = list(lines)
    defaults = []
    for kind in kinds.values():
        names = {style: f"{_TAGS[kind.tag]}_{number + 1}" for number, style in enumerate(kind.best())}
        for style, name in names.items():
            defaults.append(f'    <default class="{name}">\n      <{kind.tag} {_text(style)}/>\n    </default>')
        for number, words in kind.lines.items():
            style = tuple((name, words[name]) for name in kind.chosen if name in words)
            if style not in names:
                continue
            own = [(name, value) for name, value in words.items() if (name, value) not in style]
            # The name first, as it is looked for.
            own.insert(1 if own and own[0][0] == "name" else 0, ("class", names[style]))
            pad = len(lines[number]) - len(lines[number].lstrip())
            made[number] = f"{' ' * pad}<{kind.tag} {_text(own)}/>"
    return defaults, made


def _text(words: Iterable[tuple[str, str]]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in words)
