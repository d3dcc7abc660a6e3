# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables -> prims of a model: curve objects of one line with points, which a deformable follows."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Object

from ..core import cables, deformables, frames
from ..core.cables import Cable, End
from .cable_lines import line_of
from .placements import Placement
from .reading import ReadingContext

#: Names of the prims that hold the ends, by property.
_ENDS = {"start": "cable_start", "end": "cable_end"}


def material_of(group: Any, meters: float) -> Cable:
    """group: the properties of a cable. meters: length of a Blender unit."""
    return Cable(
        group.thickness * meters, group.density, group.youngs_modulus, group.poissons_ratio, group.dynamic_friction,
        group.bending_stiffness,
    )  # fmt: skip


def read_cable(reading: ReadingContext, placement: Placement, world: frames.Matrix) -> None:
    """Add the prims of a cable. world: (4, 4), metres."""
    obj: Any = placement.obj
    group, points = obj.usdphys.cable, line_of(obj.data) if obj.type == "CURVE" else None
    if points is None:
        reading.issue(
            "CableNotALine", "error", placement.path, obj.name,
            f"The cable '{obj.name}' is not one open line of type Poly, and is left out.",
            "Make it anew with Rope, or convert its spline to Poly.",
        )  # fmt: skip
        return
    cable, ends = material_of(group, reading.meters), []
    for side, number in (("start", 0), ("end", len(points) - 1)):
        if getattr(group, f"{side}_is_held"):
            end = _end(reading, placement, side, points[number], number)
            if end is not None:
                ends.append(end)
    for prim in cables.prims(placement.path, placement.geometry, world, obj.name, cable, ends):
        reading.taken.add(prim.path)
        reading.model.add(prim)
    placed = points * reading.meters @ world[:3, :3].T + world[:3, 3]
    prims = cables.deformable(placement.geometry, placed, cable)
    pins = [deformables.Pin(f"{placement.path}/{end.name}", placement.geometry, end.holder) for end in ends]
    before = reading.model.deformables() if reading.model.deformables is not None else ([], [])
    known = ([*before[0], prims], [*before[1], *pins])
    reading.model.deformables = lambda: known


def _end(reading: ReadingContext, placement: Placement, side: str, point: Any, number: int) -> End | None:
    obj: Any = placement.obj
    holder: Object | None = getattr(obj.usdphys.cable, side)
    name = _ENDS[side]
    if holder is None:
        # The object of the cable stands still.
        return End(name, number, placement.path, tuple((point * reading.meters).tolist()))
    target = reading.placements.find(holder, placement.instance)
    if target is None:
        reading.issue(
            "CableHolderMissing", "error", placement.path, obj.name,
            f"'{holder.name}', which holds the {side} of the cable '{obj.name}', is hidden or not exported: that end "
            "is free.",
            f"Show '{holder.name}', or choose another object.",
        )  # fmt: skip
        return None
    inverse = np.linalg.inv(np.array(target.matrix, float))
    place = (inverse @ np.array(placement.matrix, float) @ (*point, 1.0))[:3] * reading.meters
    return End(name, number, target.path, tuple(place.tolist()))
