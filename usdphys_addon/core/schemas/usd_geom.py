# SPDX-License-Identifier: GPL-3.0-or-later
"""The gprims of UsdGeom that can collide. Source: the schema of OpenUSD 26.11."""

from __future__ import annotations

from typing import Any

from .. import units
from ..schema import Schema, attr, schema

_LOCAL_LENGTH: dict[str, Any] = {"dimension": units.LENGTH, "space": "local"}


_GPRIM_AXIS: dict[str, Any] = {"tokens": ("X", "Y", "Z"), "uniform": True}


class Gprim(Schema):
    """Base of the analytic shapes: a few parameters define the exact shape."""

    __slots__ = ()
    usd_name = "Gprim"
    on = "gprim"


@schema("Cube", "typed", "gprim", "UsdGeom")
class Cube(Gprim):
    size: float | None = attr("size", "double", 2.0, "Edge length", **_LOCAL_LENGTH)


@schema("Sphere", "typed", "gprim", "UsdGeom")
class Sphere(Gprim):
    radius: float | None = attr("radius", "double", 1.0, "Radius", **_LOCAL_LENGTH)


@schema("Capsule", "typed", "gprim", "UsdGeom")
class Capsule(Gprim):
    height: float | None = attr("height", "double", 1.0, "Length of the cylinder between the caps", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 0.5, "Radius", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis of the spine", **_GPRIM_AXIS)


@schema("Cylinder", "typed", "gprim", "UsdGeom")
class Cylinder(Gprim):
    height: float | None = attr("height", "double", 2.0, "Length along the axis", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 1.0, "Radius", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis of the spine", **_GPRIM_AXIS)


@schema("Cone", "typed", "gprim", "UsdGeom")
class Cone(Gprim):
    height: float | None = attr("height", "double", 2.0, "Length along the axis", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 1.0, "Radius of the base", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis from base to tip", **_GPRIM_AXIS)


@schema("Plane", "typed", "gprim", "UsdGeom")
class Plane(Gprim):
    width: float | None = attr("width", "double", 2.0, "Drawn width; the collider has no edge", **_LOCAL_LENGTH)
    length: float | None = attr("length", "double", 2.0, "Drawn length; the collider has no edge", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Normal of the plane", **_GPRIM_AXIS)


#: Gprims with two radii -> those with one, the larger, which a model has in their place. `Prim.extras` has `usd_type`,
#: their type, and `taper`, the shares of the radius at the bottom and at the top.
TAPERED = {"Capsule_1": Capsule, "Cylinder_1": Cylinder}

#: Types of gprims that can be colliders.
GPRIM_TYPES = frozenset(cls.usd_name for cls in Gprim.__subclasses__())
#: Types of prims that are geometry themselves.
GEOMETRY_TYPES = frozenset({"Mesh", "Points"}) | GPRIM_TYPES
#: Types of prims that are curves, which have no faces.
CURVE_TYPES = frozenset({"BasisCurves", "HermiteCurves", "NurbsCurves"})
