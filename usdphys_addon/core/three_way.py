# SPDX-License-Identifier: GPL-3.0-or-later
"""Merging two edits of one value: lists and dictionaries by what each edit has added, removed and changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

_Item = TypeVar("_Item")
#: Stands for a value that is not there.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: "nothing"})()


def same(one: Any, other: Any) -> bool:
    """True for equal values of one type. NaN equals itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other) or repr(one) == repr(other)


def merged_list(base: Sequence[_Item], ours: Sequence[_Item], theirs: Sequence[_Item]) -> list[_Item] | None:
    """The list with the additions and removals of both edits. No item is in a list twice.

    Returns None where both have brought what stays into different orders. What both have added at one place is sorted
    by its text, so that the result does not depend on who is who.
    """
    kept = [item for item in base if item in ours and item in theirs]
    orders = [[item for item in side if item in kept] for side in (ours, theirs)]
    changed = [order for order in orders if order != kept]
    if len(changed) == 2 and changed[0] != changed[1]:
        return None
    order = changed[0] if changed else kept
    merged: list[_Item] = []
    for anchor in (MISSING, *order):
        if anchor is not MISSING:
            merged.append(anchor)
        runs = sorted((_added_after(anchor, side, order, base) for side in (ours, theirs)), key=str)
        merged += [item for run in runs for item in run if item not in merged]
    return list(dict.fromkeys(merged))


def merged_order(
    items: Sequence[_Item], base: Sequence[_Item], ours: Sequence[_Item], theirs: Sequence[_Item]
) -> list[_Item] | None:
    """Items in the order of the edit that has changed that of the base; those of the other stand behind the same ones.

    Returns None where both have changed it differently. No item is in a list twice. Those in no edit are the last.
    """
    wanted = set(items)
    common = set(base) & set(ours) & set(theirs)
    orders = [[item for item in side if item in common] for side in (base, ours, theirs)]
    if orders[0] not in orders[1:] and orders[1] != orders[2]:
        return None
    first, second = (theirs, ours) if orders[1] == orders[0] != orders[2] else (ours, theirs)
    behind: dict[Any, list[_Item]] = {}
    known, last = set(first), MISSING
    for item in second:
        if item in known:
            last = item
        else:
            behind.setdefault(last, []).append(item)
    found: list[_Item] = list(behind.get(MISSING, ()))
    for item in first:
        found += [item, *behind.get(item, ())]
    return list(dict.fromkeys([item for item in [*found, *items] if item in wanted]))


def _added_after(anchor: Any, side: Sequence[_Item], order: Sequence[_Item], base: Sequence[_Item]) -> list[_Item]:
    """What a side has added behind an item that stays, or before all of them."""
    last, added = MISSING, []
    for item in side:
        if item in order:
            last = item
        elif item not in base and (last is anchor or (MISSING not in (last, anchor) and last == anchor)):
            added.append(item)
    return added


def merged_dictionary(
    base: Mapping[Any, Any], ours: Mapping[Any, Any], theirs: Mapping[Any, Any],
    settle: Callable[[tuple[Any, ...], Any, Any, Any], Any], above: tuple[Any, ...] = (),
) -> dict[Any, Any]:  # fmt: skip
    """The dictionary with the edits of both, key by key, also in dictionaries in it.

    settle: gives the value of a key that both have changed differently. It takes the keys down to it, and the three
    values, of which any may be MISSING.
    """
    merged = {}
    for key in _keys(ours, theirs, base):
        values = tuple(side.get(key, MISSING) for side in (base, ours, theirs))
        value = one_sided(*values)
        if value is None:
            first, second, third = ({} if one is MISSING else one for one in values)
            if isinstance(first, dict) and isinstance(values[1], dict) and isinstance(values[2], dict):
                value = (merged_dictionary(first, second, third, settle, (*above, key)),)
            else:
                value = (settle((*above, key), *values),)
        if value[0] is not MISSING:
            merged[key] = value[0]
    return merged


def one_sided(base: Any, ours: Any, theirs: Any) -> tuple[Any] | None:
    """A tuple of the value where one edit has changed it, or both alike; None where they differ."""
    if same(ours, theirs) or same(theirs, base):
        return (ours,)
    return (theirs,) if same(ours, base) else None


def _keys(*sides: Mapping[Any, Any]) -> Iterator[Any]:
    yield from dict.fromkeys(key for side in sides for key in side)
