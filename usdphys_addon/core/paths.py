# SPDX-License-Identifier: GPL-3.0-or-later
"""Prim paths as strings, such as "/World/Arm". The parent of a root prim is the empty string."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

#: Numbers that are tried one after the other for a name.
_FEW = 16


_NO_WORD = re.compile(r"[^A-Za-z0-9_]")


def ascii_name(name: str) -> str:
    """A prim name of ASCII letters, digits and underscores: what all programs that read USD take."""
    made = _NO_WORD.sub("_", name) or "_"
    return f"_{made}" if made[0].isdigit() else made


def parent_of(path: str) -> str:
    """The parent path; empty for a root prim."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last component of a path."""
    return path.rpartition("/")[2]


def ancestors_of(path: str) -> Iterator[str]:
    """The ancestors of a path, nearest first."""
    while path := parent_of(path):
        yield path


def is_below(path: str, above: str) -> bool:
    """True if `path` is a descendant of `above`. All paths are descendants of "/"."""
    return path != above and path.startswith(above if above == "/" else f"{above}/")


def is_at_or_below(path: str, above: str) -> bool:
    return path == above or is_below(path, above)


def is_below_any(path: str, others: Collection[str]) -> bool:
    """True if `path` is below any of `others`; its cost does not grow with their number if they are a set or dict."""
    return any(above in others for above in ancestors_of(path))


def inside_each(found: Iterable[str], tops: Collection[str]) -> dict[str, list[str]]:
    """Of some paths, those at or below each of others, which are a set or dict; in time that grows with the paths."""
    inside: dict[str, list[str]] = {top: [] for top in tops}
    for path in found:
        for above in (path, *ancestors_of(path)):
            if above in inside:
                inside[above].append(path)
    return inside


def nearest(path: str, wanted: Collection[str]) -> str:
    """The path itself or its nearest ancestor in `wanted`; empty if none of them is."""
    return path if path in wanted else next((above for above in ancestors_of(path) if above in wanted), "")


def followed(path: str, moves: Mapping[str, str]) -> str:
    """The new path after moves (old -> new); the longest moved prefix decides."""
    old = nearest(path, moves)
    return f"{moves[old]}{path[len(old) :]}" if old else path


def free(path: str, is_taken: Callable[[str], object], form: str = "_{}", start: int = 1) -> str:
    """The path or name if it is not taken, else with a number appended that makes it unique.

    That is the first such number, where few are taken; of many, the one after a row of them, because to try one after
    the other takes a time that grows with the square of their number.
    form: format of the suffix. start: first number to try.
    """

    def named(number: int) -> str:
        return path + form.format(number)

    if not is_taken(path):
        return path
    last, step = start - 1, 1
    while is_taken(named(last + step)):
        last += step
        if last - start >= _FEW:
            step *= 2
    # The last number is taken, and the one a step further is not.
    while step > 1:
        step //= 2
        if is_taken(named(last + step)):
            last += step
    return named(last + 1)
