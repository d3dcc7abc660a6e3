# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of prims as text: "/World/Arm". What is above a topmost prim is the empty path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping


def parent_of(path: str) -> str:
    """The path one step above; empty for that of a topmost prim."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def ancestors_of(path: str) -> Iterator[str]:
    """The paths above one, nearest first."""
    while path := parent_of(path):
        yield path


def is_below(path: str, above: str) -> bool:
    """True where one path is somewhere below another. All paths are below the root, "/"."""
    return path != above and path.startswith(above if above == "/" else f"{above}/")


def is_at_or_below(path: str, above: str) -> bool:
    return path == above or is_below(path, above)


def is_below_any(path: str, others: Collection[str]) -> bool:
    """`is_below` for any of many paths, in the time that one takes."""
    return any(above in others for above in ancestors_of(path))


def nearest(path: str, wanted: Collection[str]) -> str:
    """The one of some paths that is at a path or the nearest above it; empty where there is none."""
    return path if path in wanted else next((above for above in ancestors_of(path) if above in wanted), "")


def followed(path: str, moves: Mapping[str, str]) -> str:
    """A path after prims have moved, given by old and new path: the longest part of it that has moved decides."""
    old = nearest(path, moves)
    return f"{moves[old]}{path[len(old) :]}" if old else path


def free(path: str, is_taken: Callable[[str], object], form: str = "_{}", start: int = 1) -> str:
    """The path or name itself, or with the first number that makes it free.

    form: what is appended, with a place for the number. start: the first number that is tried.
    """
    number, candidate = start, path
    while is_taken(candidate):
        candidate = path + form.format(number)
        number += 1
    return candidate
