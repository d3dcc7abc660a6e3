# SPDX-License-Identifier: GPL-3.0-or-later
"""How far new bodies must be lifted to start outside of the colliders that are there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mathutils
import numpy as np
from bpy.types import Context, Depsgraph

_UP = mathutils.Vector((0.0, 0.0, 1.0))
#: Lines through a column, along X and along Y; how many faces each passes at most.
_LINES, _MOST_FACES = 7, 64
#: Part of the size of a column by which it may be in a collider, and by which a line goes on behind a face.
_SLACK = 1e-4


class Column(NamedTuple):
    """The space of a body, Blender units: its middle and its height, the two sides, and whether it is round."""

    x: float
    y: float
    low: float
    height: float
    sides: tuple[float, float]
    is_round: bool = False


def lift(context: Context, columns: Sequence[Column]) -> float:
    """The least height, in Blender units, by which all columns must rise to be free of colliders; 0.0 if they are."""
    depsgraph = context.evaluated_depsgraph_get()
    taken = [
        (column, bottom, top)
        for column in columns for x, y in _lines(column) for bottom, top in _filled(context, depsgraph, column, x, y)
    ]  # fmt: skip
    found = 0.0
    while True:
        higher = max((
            top - column.low for column, bottom, top in taken
            if bottom < column.low + found + column.height * (1.0 - _SLACK)
            and top > column.low + found + column.height * _SLACK
        ), default=found)  # fmt: skip
        if higher <= found:
            return found
        found = higher


def _lines(column: Column) -> Iterator[tuple[float, float]]:
    for right in np.linspace(-0.5 + _SLACK, 0.5 - _SLACK, _LINES).tolist():
        for forth in np.linspace(-0.5 + _SLACK, 0.5 - _SLACK, _LINES).tolist():
            if not column.is_round or math.hypot(right, forth) <= 0.5:
                yield column.x + right * column.sides[0], column.y + forth * column.sides[1]


def _filled(
    context: Context, depsgraph: Depsgraph, column: Column, x: float, y: float
) -> Iterator[tuple[float, float]]:  # fmt: skip
    """(bottom, top) of colliders on a vertical line from the foot of a column upwards, and about its foot."""
    step = _SLACK * column.height
    entered: dict[str, float] = {}
    start = mathutils.Vector((x, y, column.low + step))
    for _ in range(_MOST_FACES):
        is_hit, place, normal, _, obj, matrix = context.scene.ray_cast(depsgraph, start, _UP)
        if not is_hit or obj is None:
            break
        start = place + _UP * step
        if not obj.usdphys.keys() or not len(obj.usdphys.colliders):
            continue
        if normal.z < 0.0:
            entered.setdefault(obj.name_full, place.z)
        else:
            bottom = entered.pop(obj.name_full, None)
            yield _below(obj.evaluated_get(depsgraph), matrix, place, step) if bottom is None else bottom, place.z
    for height in entered.values():
        yield height, height


def _below(evaluated: Any, matrix: Any, top: Any, step: float) -> float:
    """Height of the bottom of what an upper face belongs to; that of the face for a sheet.

    The line begins in it, or its bottom is hidden in the top of what it stands on.
    """
    if evaluated.type != "MESH":
        return float(top.z)
    inverse = matrix.inverted_safe()
    is_hit, place, normal, _ = evaluated.ray_cast(inverse @ (top - _UP * step), inverse.to_3x3() @ -_UP)
    is_bottom = is_hit and (inverse.to_3x3().transposed() @ normal).z < 0.0
    return float((matrix @ place).z if is_bottom else top.z)
