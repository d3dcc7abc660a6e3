# SPDX-License-Identifier: GPL-3.0-or-later
"""The size of a gprim as properties of a collider, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.gprims import PLANE_AXES
from ..core.schemas import usd_geom
from . import props

#: Identifiers of the shape enum by type of prim.
SHAPES = {cls.usd_name: shape for shape, cls in props.GPRIM_SHAPES.items()}


def gprim_properties(
    gprim: usd_geom.Gprim, unit: float, *, scale: Sequence[float] = (1.0, 1.0, 1.0), around: float = 1.0,
    along: float = 1.0,
) -> dict[str, Any]:  # fmt: skip
    """Values by property name: the size of a gprim in units of this length (metres), scaled.

    scale: by axis, for the edges of boxes and planes. around, along: for the radius and the height of round gprims.
    """
    x, y, z = scale
    if isinstance(gprim, usd_geom.Cube):
        edge = gprim.resolved("size")
        return {"size": (x * edge / unit, y * edge / unit, z * edge / unit)}
    if isinstance(gprim, usd_geom.Sphere):
        return {"radius": gprim.resolved("radius") * around / unit}
    axis = gprim.resolved("axis")
    if isinstance(gprim, usd_geom.Plane):
        size = [0.0, 0.0, 0.0]
        across, lengthwise = PLANE_AXES["XYZ".index(axis)]
        size[across], size[lengthwise] = gprim.resolved("width"), gprim.resolved("length")
        return {"size": (size[0] * x / unit, size[1] * y / unit, size[2] * z / unit), "axis": axis}
    return {
        "radius": gprim.resolved("radius") * around / unit,
        "height": gprim.resolved("height") * along / unit,
        "axis": axis,
    }


def gprim_of(item: Any, unit: float) -> usd_geom.Gprim:
    """The gprim of a collider whose object is itself a gprim. unit: length of a unit of the properties, metres."""
    kind = props.GPRIM_SHAPES[item.shape]
    if kind is usd_geom.Cube:
        return usd_geom.Cube(item.size[0] * unit)
    if kind is usd_geom.Sphere:
        return usd_geom.Sphere(item.radius * unit)
    if kind is usd_geom.Plane:
        across, lengthwise = PLANE_AXES["XYZ".index(item.axis)]
        return usd_geom.Plane(item.size[across] * unit, item.size[lengthwise] * unit, item.axis)
    return kind(item.height * unit, item.radius * unit, item.axis)
