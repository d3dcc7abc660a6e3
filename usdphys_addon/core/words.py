# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and counts in user messages."""

from __future__ import annotations

from collections.abc import Iterable

#: Number of names listed before "and 5 more".
NAMED = 3


def named(names: Iterable[str]) -> str:
    """Quoted names without duplicates: 'A', 'B', 'C' and 5 more."""
    known = list(dict.fromkeys(names))
    shown = ", ".join(f"'{name}'" for name in known[:NAMED])
    return f"{shown} and {len(known) - NAMED} more" if len(known) > NAMED else shown


def tally(number: int, plural: str) -> str:
    """1 body, 2 bodies, 1 joint: of the names of kinds in `summary.counts`."""
    if number != 1:
        return f"{number} {plural}"
    return f"1 {plural[:-3]}y" if plural.endswith("ies") else f"1 {plural.removesuffix('s')}"


def counted(number: int, what: str) -> str:
    """1 object, 2 objects, 2 bodies, 2 masses."""
    if number == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{number} {what[:-1]}ies"
    return f"{number} {what}es" if what.endswith("s") else f"{number} {what}s"


def length_text(meters: float, digits: int = 3) -> str:
    """12.3 mm, 4.56 m, 7.89 km."""
    for unit, size in (("km", 1000.0), ("m", 1.0)):
        if meters >= size:
            return f"{meters / size:.{digits}g} {unit}"
    return f"{meters * 1000.0:.{digits}g} mm"
