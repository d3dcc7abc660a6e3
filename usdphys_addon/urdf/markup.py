# SPDX-License-Identifier: GPL-3.0-or-later
"""XML as a tree that knows where each element stands in the text, so that a writer can leave the rest as it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from xml.parsers import expat

from ..core import pointers
from ..core.errors import InputError

#: Larger files are refused: a URDF holds no geometry.
_LARGEST = 128 * 2**20
#: Deeper elements are refused: no robot has them, and what walks the tree calls itself.
_DEEPEST = 200
_DECLARED = re.compile(r"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
#: A declaration that is not at the start.
_LATE_DECLARATION = re.compile(rb"\s+(<\?xml\b[^>]*\?>)")
#: To the bracket that closes a tag; what is in quotes can hold one, too.
_TAG = re.compile(rb"""(?:[^>"']+|"[^"]*"|'[^']*')*+>""")
#: How characters stand in the value of an attribute; what codes them begins with the first.
_CODED = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"
}  # fmt: skip
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Element:
    """One element. text: its own character data. line: of its start tag. file: where it was read from.

    start, opened, end: offsets of its start tag, of what follows that tag, and of what follows the element, in the text
    that `parse` returns.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int = 0
    start: int = 0
    opened: int = 0
    end: int = 0
    file: str = ""

    def find(self, tag: str) -> Element | None:
        """The first child with a tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def findall(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.attributes.get(name, default)

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the text."""
        pending = [self]
        while pending:
            one = pending.pop()
            yield one
            pending.extend(reversed(one.children))


def text_of(data: bytes) -> str:
    """The text of an XML file, whatever its encoding; without a byte order mark."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    match = _DECLARED.match(data[:200].decode("latin-1"))
    for encoding in (match[1] if match else "utf-8", "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("latin-1")


def parse(data: bytes | str, name: str) -> tuple[Element, str]:
    """(root element, text that its offsets are of). Raises InputError, naming the file, for what is no plain XML."""
    if len(data) > _LARGEST:
        raise InputError(f"'{name}' is larger than {_LARGEST >> 20} MB, which no robot description is.")
    pointers.refuse(data, name)
    text = text_of(data) if isinstance(data, bytes) else data
    return _TreeMaker(text, name).root, text


class _TreeMaker:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.found: list[Element] = []
        self.open: list[Element] = []
        self.data = text.encode("utf-8", "surrogatepass")
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        # Readers of robots take blank lines above the declaration, which XML does not allow. Offsets stay.
        late = _LATE_DECLARATION.match(self.data)
        try:
            parser.Parse(self.data.replace(late[1], b" " * len(late[1]), 1) if late else self.data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(f"'{name}' is not XML that can be read (line {error.lineno}: {reason}).") from error
        except ValueError as error:  # bytes that are no text
            raise InputError(f"'{name}' is not XML that can be read (it holds bytes that are no text).") from error
        if len(self.data) != len(text):
            self._count_letters(text)

    @property
    def root(self) -> Element:
        return self.found[0]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= _DEEPEST:
            raise InputError(f"'{self.name}' has elements nested more than {_DEEPEST} levels deep.")
        element = Element(tag, attributes, line=self.parser.CurrentLineNumber, file=self.name)
        element.start = self.parser.CurrentByteIndex
        element.opened = self._tag_end(element.start)
        if self.open:
            self.open[-1].children.append(element)
        self.open.append(element)
        self.found.append(element)

    def _end(self, _tag: str) -> None:
        element = self.open.pop()
        at = self.parser.CurrentByteIndex
        element.end = element.opened if at <= element.start else self._tag_end(at)
        if element.end < element.opened or self.data[element.opened - 2 : element.opened] == b"/>":
            element.end = element.opened

    def _text(self, text: str) -> None:
        if self.open:
            self.open[-1].text += text

    def _doctype(self, *_: object) -> None:
        raise InputError(f"'{self.name}' has a DOCTYPE (line {self.parser.CurrentLineNumber}), which is not read.")

    def _tag_end(self, at: int) -> int:
        """The offset behind the tag at an offset; a value in quotes can hold the closing bracket."""
        match = _TAG.match(self.data, at)
        return match.end() if match is not None else len(self.data)

    def _count_letters(self, text: str) -> None:
        """Turn offsets of bytes into offsets of letters."""
        letters, at = {}, 0
        for index, letter in enumerate(text):
            letters[at] = index
            code = ord(letter)
            at += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        letters[at] = len(text)
        for element in self.found:
            element.start, element.opened, element.end = (
                letters.get(offset, 0) for offset in (element.start, element.opened, element.end)
            )


def quoted(value: str) -> str:
    """An attribute value as XML, in quotes."""
    for plain, coded in _CODED.items():
        value = value.replace(plain, coded)
    return f'"{value}"'


def start_tag(tag: str, attributes: dict[str, str], *, closed: bool = False) -> str:
    inside = "".join(f" {name}={quoted(value)}" for name, value in attributes.items())
    return f"<{tag}{inside}{'/' if closed else ''}>"


def to_text(element: Element, indent: str = "  ", level: int = 0) -> str:
    """An element as indented XML, without its offsets in a text. Ends with a line break."""
    pad = indent * level
    inner = escape(element.text.strip(), quote=False)
    if not element.children:
        tag = start_tag(element.tag, element.attributes, closed=not inner)
        return f"{pad}{tag}{inner}</{element.tag}>\n" if inner else f"{pad}{tag}\n"
    below = "".join(to_text(child, indent, level + 1) for child in element.children)
    head = f"{pad}{indent}{inner}\n" if inner else ""
    return f"{pad}{start_tag(element.tag, element.attributes)}\n{head}{below}{pad}</{element.tag}>\n"
