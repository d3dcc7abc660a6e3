# SPDX-License-Identifier: GPL-3.0-or-later
"""User messages that can be shown in another language; names and counts in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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


def in_language(message: str, translate: Callable[[str], str]) -> str:
    """A message with its template, and the phrases among its values, translated. Other values stay as they are."""
    if not isinstance(message, Phrase):
        return translate(message)
    values = {
        key: in_language(value, translate) if isinstance(value, Phrase) else value
        for key, value in message.values.items()
    }
    template = translate(message.template)
    return template.format(**values) if values else template


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
    """12.3 mm, 4.56 m, 7.89 km."""
    for unit, size in (("km", 1000.0), ("m", 1.0)):
        if meters >= size:
            return f"{meters / size:.{digits}g} {unit}"
    return f"{meters * 1000.0:.{digits}g} mm"
