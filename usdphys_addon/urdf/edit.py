# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes to the text of a URDF: attributes that get new values, and nothing else changes by a byte."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from .markup import Element, quoted, start_tag

_DECLARED = re.compile(r"""(<\?xml[^>]*?encoding\s*=\s*)("[^"]*"|'[^']*')""")


def number_text(value: float) -> str:
    """The shortest decimal of the 32-bit float nearest to a value."""
    short = np.format_float_positional(np.float32(value), unique=True, trim="-")
    return "0" if short in ("-0", "0") else short if len(short) < 20 else repr(float(str(np.float32(value))))


@dataclass(slots=True)
class TextEdits:
    """Collects changes of elements of one text. added: new children by the element that gets them, by tag."""

    text: str
    changed: dict[Element, dict[str, str | None]] = field(default_factory=dict)
    added: dict[Element, dict[str, dict[str, str]]] = field(default_factory=dict)

    def set(self, element: Element, name: str, value: str) -> None:
        """Give an attribute of an element a value."""
        self.changed.setdefault(element, {})[name] = value

    def remove(self, element: Element, name: str) -> None:
        """Take an attribute out of an element, if it has it."""
        self.changed.setdefault(element, {})[name] = None

    def set_in(self, parent: Element, tag: str, name: str, value: str) -> None:
        """The same in the first child with a tag, which is added if it is missing."""
        child = parent.find(tag)
        if child is not None:
            self.set(child, name, value)
        else:
            self.added.setdefault(parent, {}).setdefault(tag, {})[name] = value

    def complete(self, parent: Element, tag: str, names: tuple[str, ...], value: str = "0") -> None:
        """Write a value for those attributes of a child that are missing."""
        child = parent.find(tag)
        for name in names:
            is_added = name in self.added.get(parent, {}).get(tag, {})
            is_changed = child is not None and name in self.changed.get(child, {})
            if not is_added and not is_changed and (child is None or child.get(name) is None):
                self.set_in(parent, tag, name, value)

    def result(self) -> str:
        """The changed text. It is to be written in UTF-8."""
        parts: list[tuple[int, int, str]] = []
        for element in {**self.changed, **self.added}:
            tag = self._tag(element)
            children = self.added.get(element, {})
            if children:
                inside = "".join(f"{start_tag(name, values, closed=True)}" for name, values in children.items())
                if tag.endswith("/>"):
                    tag = f"{tag[:-2].rstrip()}>{inside}</{element.tag}>"
                else:
                    at = self.text.rindex("</", element.start, element.end)
                    parts.append((at, at, inside))
            parts.append((element.start, element.opened, tag))
        made, at = [], 0
        for start, end, replacement in sorted(parts):
            made += [self.text[at:start], replacement]
            at = end
        text = "".join([*made, self.text[at:]])
        return _DECLARED.sub(lambda found: f'{found[1]}"UTF-8"', text, count=1)

    def _tag(self, element: Element) -> str:
        tag = self.text[element.start : element.opened]
        for name, value in self.changed.get(element, {}).items():
            place = re.compile(rf"""(\s{re.escape(name)}\s*=\s*)("[^"]*"|'[^']*')""")
            if value is None:
                tag = place.sub("", tag, count=1)
            elif place.search(tag):
                tag = place.sub(lambda found, value=value: found[1] + quoted(value), tag, count=1)  # type: ignore[misc]
            else:
                end = -2 if tag.endswith("/>") else -1
                tag = f"{tag[:end].rstrip()} {name}={quoted(value)}{tag[end:]}"
        return tag
