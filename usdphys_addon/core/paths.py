# SPDX-License-Identifier: GPL-3.0-or-later
"""Prim paths as strings, such as "/World/Arm". The parent of a root prim is the empty string."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping


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


def nearest(path: str, wanted: Collection[str]) -> str:
    """The path itself or its nearest ancestor in `wanted`; empty if none of them is."""
    return path if path in wanted else next((above for above in ancestors_of(path) if above in wanted), "")


def followed(path: str, moves: Mapping[str, str]) -> str:
    """The new path after moves (old -> new); the longest moved prefix decides."""
    old = nearest(path, moves)
    return f"{moves[old]}{path[len(old) :]}" if old else path


def free(path: str, is_taken: Callable[[str], object], form: str = "_{}", start: int = 1) -> str:
    """The path or name if it is not taken, else with the first number appended that makes it unique.

    form: format of the suffix. start: first number to try.
    """
    number, candidate = start, path
    while is_taken(candidate):
        candidate = path + form.format(number)
        number += 1
    return candidate
