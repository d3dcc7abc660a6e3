# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Blender things as names of prims."""

from __future__ import annotations

from collections.abc import Collection


def prim_name(name: str) -> str:
    """A valid prim name: letters of any script, digits and underscores, no digit first; as Blender's exporter does."""
    if not name:
        return "_"
    made = "".join(letter if letter == "_" or letter.isalnum() else "_" for letter in name)
    made = "".join(letter if letter.isidentifier() or letter in "0123456789" else "_" for letter in made)
    return f"_{made}" if made[0].isdigit() else made


def unique(path: str, taken: Collection[str]) -> str:
    """The path itself, or with the first free number."""
    number, candidate = 0, path
    while candidate in taken:
        number += 1
        candidate = f"{path}_{number}"
    return candidate
