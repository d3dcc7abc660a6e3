# SPDX-License-Identifier: GPL-3.0-or-later
"""Property groups from and to schemas, with the units of Blender's fields."""

from __future__ import annotations

import math
from typing import Any

from ..core import units
from ..core.schema import Schema, SchemaT
from ..core.schemas import usd_physics

_Factors = dict[str, tuple[float | None, float | None]]


def _converters(cls: type[Schema], angular: bool, meters: float) -> _Factors:
    """(factor, factor under an acceleration drive) to SI by field of a schema; None: as it is."""
    rows: _Factors = {}
    dof = "rotX" if angular else "transX"
    for attribute in cls.attributes:
        if attribute.is_relationship or attribute.type == "opaque":
            continue
        if attribute.type not in ("float", "float3", "point3f", "vector3f", "quatf"):
            rows[attribute.field] = (None, None)
            continue
        factors = [property_factor(attribute.dimension_for(dof, kind), meters) for kind in (None, "acceleration")]
        rows[attribute.field] = (factors[0], factors[1])
    return rows


def property_factor(dimension: units.Dimension, meters: float) -> float:
    """SI value of a property's 1: plain lengths are Blender units, gains are per degree, the rest is SI."""
    length = meters**dimension.length if dimension.mass == 0 else 1.0
    return length * (math.degrees(1.0) if dimension.angle < 0 else 1.0)


class PropertyReader:
    """Property groups -> schemas, authored values only."""

    def __init__(self, meters: float) -> None:
        self.meters = meters
        self._rows: dict[tuple[type[Schema], bool], _Factors] = {}

    def read(
        self, group: Any, cls: type[SchemaT], *, angular: bool = False, into: SchemaT | None = None,
        skip: frozenset[str] = frozenset(),
    ) -> SchemaT:  # fmt: skip
        """A schema with what is set on a property group; fields that the group lacks must be in `skip`."""
        rows = self._rows.get((cls, angular))
        if rows is None:
            rows = self._rows[cls, angular] = _converters(cls, angular, self.meters)
        value = cls() if into is None else into
        accelerates = None
        # The keys of a group are the properties that are set: quicker than to ask for each.
        for name in group.keys():
            if name in skip or name not in rows:
                continue
            factor, acceleration_factor = rows[name]
            if factor is None:
                setattr(value, name, getattr(group, name))
                continue
            if acceleration_factor != factor:
                if accelerates is None:
                    accelerates = getattr(group, "type", "") == "acceleration"
                if accelerates:
                    factor = acceleration_factor
            setattr(value, name, si_value(getattr(group, name), factor or 1.0))
        return value


def si_value(raw: Any, factor: float) -> Any:
    if isinstance(raw, float):
        return _number(raw, factor)
    return tuple(_number(part, factor) for part in raw)


def _number(value: float, factor: float) -> float:
    # Blender clamps an infinite property to the largest 32-bit float.
    if abs(value) > units.PRACTICALLY_INFINITE:
        return math.copysign(math.inf, value)
    return value * factor


class PropertyWriter:
    """Schemas -> property groups, authored values only; the reverse of scene_read.PropertyReader.

    meters: length of a Blender unit. local: length of a unit in the space of the imported objects, which Blender
    leaves in the units of the file, below a scale that converts them.
    """

    def __init__(self, meters: float, local: float) -> None:
        self.meters, self.local = meters, local

    def write(self, group: Any, value: Schema, *, instance: str = "", skip: frozenset[str] = frozenset()) -> None:
        drive_type = getattr(value, "type", None) if isinstance(value, usd_physics.DriveAPI) else None
        for attribute, content in value.authored():
            if attribute.is_relationship or attribute.type == "opaque" or attribute.field in skip:
                continue
            if not attribute.accepts(content):
                continue
            if attribute.type in ("float", "float3", "point3f", "vector3f", "quatf"):
                meters = self.local if attribute.space == "local" else self.meters
                factor = property_factor(attribute.dimension_for(instance or "transX", drive_type), meters)
                content = _divided(content, factor)
            elif not attribute.allows(content):
                continue
            setattr(group, attribute.field, content)


def _divided(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(units.scaled(part, 1.0 / factor) for part in value)
    return units.scaled(value, 1.0 / factor)
