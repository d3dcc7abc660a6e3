# SPDX-License-Identifier: GPL-3.0-or-later
"""User messages that can be shown in another language; names and counts in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

#: Number of names listed before "and 5 more".
NAMED = 3


class Phrase(str):
    """An English message that keeps its template and values, so that `in_language` can translate it."""

    template: str
    values: Mapping[str, object]


def phrase(template: str, **values: object) -> Phrase:
    """The template with its values: "{count} objects" -> "3 objects". Values may be phrases."""
    made = Phrase(template.format(**values) if values else template)
    made.template, made.values = template, values
    return made


def joined(separator: str, parts: Iterable[str]) -> Phrase:
    """Several messages as one."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return phrase(separator.join(f"{{{key}}}" for key in values), **values)


class Templates:
    """The texts of a translation. Finds the one that a finished message was made from.

    Most messages reach the user as plain texts with their values in place: errors, issues of checks, lines of another
    process. Of several templates that fit, the one with the most letters is taken.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = frozenset(texts)
        placed = sorted((text for text in self.texts if "{" in text), key=lambda text: -len(_PLACE.sub("", text)))
        self._patterns = [(text, text[: text.index("{")], re.compile(_pattern(text), re.DOTALL)) for text in placed]
        self.find = lru_cache(2048)(self._find)

    def _find(self, message: str) -> tuple[str, Mapping[str, str]] | None:
        if message in self.texts:
            return message, {}
        for text, start, pattern in self._patterns:
            if message.startswith(start) and (match := pattern.fullmatch(message)):
                return text, match.groupdict()
        return None


#: A place for a value in a template: an opening quote, which makes the value a name; its key; its format.
_PLACE = re.compile(r"('?)\{(\w+):?([^{}]*)\}")
#: A value that is no name: within one sentence, or the whole of it.
_PART = r"(?:(?!\. ).)+?\.?"
#: Between the sentences of a message.
_BETWEEN = re.compile(r"((?<=\.) |; )")


def _pattern(template: str) -> str:
    parts: list[str] = []
    end = 0
    for place in _PLACE.finditer(template):
        key = place[2]
        text = ".+?" if place[1] else _PART
        value = f"(?P={key})" if f"(?P<{key}>" in "".join(parts) else f"(?P<{key}>{text})"
        parts += [re.escape(template[end : place.start()]), place[1], value]
        end = place.end()
    return "".join((*parts, re.escape(template[end:])))


#: No templates: messages that are no phrases are looked up as they are.
NO_TEMPLATES = Templates()


def in_language(message: str, translate: Callable[[str], str], known: Templates = NO_TEMPLATES) -> str:
    """A message with its template, and the messages among its values, translated. Quoted values stay as they are.

    known: the templates of messages and values that are not phrases.
    """
    if isinstance(message, Phrase) and message.values:
        return _filled(message.template, message.values, translate, known)
    text = translate(message)
    return _rebuilt(message, translate, known) if text == message else text


#: An option of the command line in a message, with the space before it. Chinese has brackets of its own.
_OPTION = re.compile(r"\s*[(\uff08]--[a-z][^()\uff08\uff09]*[)\uff09]")


def without_options(message: str) -> str:
    """A message as a window shows it: without the options of the command line that it names in brackets."""
    return _OPTION.sub("", message) if "--" in message else message


def _rebuilt(message: str, translate: Callable[[str], str], known: Templates) -> str:
    template = known.find(message)
    if template is not None:
        return _filled(*template, translate, known)
    parts = _BETWEEN.split(message)
    if len(parts) > 1:
        # The texts between the sentences are every second part.
        parts[::2] = [_rebuilt(part, translate, known) for part in parts[::2]]
    return "".join(parts)


@lru_cache(maxsize=4096)
def _quoted(template: str) -> frozenset[str]:
    """Keys of the values of a template that are names."""
    return frozenset(place[2] for place in _PLACE.finditer(template) if place[1])


def _filled(template: str, values: Mapping[str, object], translate: Callable[[str], str], known: Templates) -> str:
    quoted = _quoted(template)

    def filled(place: re.Match[str]) -> str:
        value = values[place[2]]
        if isinstance(value, Phrase):
            text = in_language(value, translate, known)
        elif not isinstance(value, str):
            text = format(value, place[3])
        else:
            text = value if place[2] in quoted else _rebuilt(value, translate, known)
        return place[1] + text

    return _PLACE.sub(filled, translate(template))


def named(names: Iterable[str]) -> str:
    """Quoted names without duplicates: 'A', 'B', 'C' and 5 more."""
    known = list(dict.fromkeys(names))
    return and_more([f"'{name}'" for name in known[:NAMED]], len(known))


def and_more(shown: Iterable[str], number: int) -> str:
    """The first of a number of things, and how many others there are."""
    first = list(shown)
    listed = joined(", ", first)
    return (
        phrase("{listed} and {count} more", listed=listed, count=number - len(first)) if number > len(first) else listed
    )


def tally(number: int, plural: str) -> str:
    """1 body, 2 bodies, 1 joint: of the names of kinds in `summary.counts`."""
    if number != 1:
        return phrase(f"{{number}} {plural}", number=number)
    return phrase(f"{{number}} {plural[:-3]}y" if plural.endswith("ies") else f"{{number}} {plural.removesuffix('s')}",
                  number=number)  # fmt: skip


def counted(number: int, what: str) -> str:
    """1 object, 2 objects, 2 bodies, 2 masses."""
    if number == 1:
        plural = what
    elif what.endswith("y"):
        plural = f"{what[:-1]}ies"
    else:
        plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return phrase(f"{{number}} {plural}", number=number)


def length_text(meters: float, digits: int = 3) -> str:
    """12.3 mm, 4.56 m, 7.89 km; 600 mm with two digits, too."""
    unit, size = ("km", 1000.0) if meters >= 1000.0 else ("m", 1.0) if meters >= 1.0 else ("mm", 0.001)
    return f"{number_text(meters / size, digits)} {unit}"


def number_text(value: float, digits: int = 3) -> str:
    """A number of so many digits, without an exponent below ten millions: 0.123, 1570, 1.23e+08."""
    if not abs(value) < 1e7:
        return f"{value:.{digits}g}"
    value = float(f"{value:.{digits}g}")
    return f"{value:.{max(digits, len(str(int(abs(value)))))}g}"


def joint_value_text(value: float, *, is_angular: bool) -> str:
    """A position or a limit of a joint, rad or m: 45°, 0.25 m."""
    return f"{math.degrees(value):.4g}°" if is_angular else f"{value:.4g} m"


def is_text(text: str) -> bool:
    """False for what no file in UTF-8 can hold: lone surrogates, which stand for other bytes, and the NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
