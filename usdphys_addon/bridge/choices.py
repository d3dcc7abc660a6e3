# SPDX-License-Identifier: GPL-3.0-or-later
"""The items of the choices that the interface offers: rows of choices.tsv, as Blender's enumerations take them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..core import tables

Items = tuple[tuple[str, str, str], ...]


@cache
def _all() -> dict[str, Items]:
    items: dict[str, Items] = {}
    for row in tables.rows(Path(__file__).with_suffix(".tsv")):
        item = (row["identifier"], row["label"], row["tooltip"])
        items[row["choice"]] = (*items.get(row["choice"], ()), item)
    return items


def items_of(choice: str) -> Items:
    """(identifier, label, tooltip) of the items of a choice, in the order of the interface."""
    return _all()[choice]
