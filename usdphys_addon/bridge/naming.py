# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Blender data as prim names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import bpy

_NOT_ASCII_WORD = re.compile(r"[^A-Za-z0-9_]")


def prim_name(name: str) -> str:
    """A valid prim name: letters of any script, digits and underscores, no digit first; as Blender's exporter does."""
    if not name:
        return "_"
    if name.isascii():
        if name.isidentifier():
            return name
        made = _NOT_ASCII_WORD.sub("_", name)
    else:
        made = "".join(letter if letter.isidentifier() or letter in "0123456789" else "_" for letter in name)
    return f"_{made}" if made[0].isdigit() else made


def numbered(path: str, taken: Collection[str]) -> str:
    """The path itself, or with a number of three digits, counted on from its own: as Blender's exporter does."""
    if path not in taken:
        return path
    head, _, digits = path.rpartition("_")
    number = int(digits) if digits.isdecimal() and digits.isascii() else 0
    if not number:
        head = path
    while (candidate := f"{head}_{number + 1:03d}") in taken:
        number += 1
    return candidate


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first free number, as Blender numbers copies: "Name.001"."""
    names, number, candidate = set(taken), 0, name
    while candidate in names:
        number += 1
        candidate = f"{name}.{number:03d}"
    return candidate


def objects_by_name() -> dict[str, Any]:
    """All local objects by name, for immediate use: each look-up in bpy.data.objects is a linear search."""
    return {obj.name: obj for obj in bpy.data.objects if obj.library is None}
