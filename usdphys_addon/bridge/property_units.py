# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert property groups to schemas and back, with the units of Blender properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..core import units
from ..core.array_text import format_array, parse_array
from ..core.schema import Attribute, Schema, SchemaT
from ..core.schemas import usd_physics
from ..core.value_types import RANGES, with_elements
from .property_types import LARGE_INTEGERS

#: By property name: attribute, factor to SI, factor to SI under an acceleration drive; None for no conversion.
_Rows = dict[str, tuple[Attribute, float | None, float | None]]


def _rows_of(cls: type[Schema], angular: bool, meters: float) -> _Rows:
    rows: _Rows = {}
    dof = "rotX" if angular else "transX"
    for attribute in cls.attributes:
        if not attribute.is_editable:
            continue
        if attribute.value.base != "float":
            rows[attribute.field] = (attribute, None, None)
            continue
        factors = [property_factor(attribute.dimension_for(dof, kind), meters) for kind in (None, "acceleration")]
        rows[attribute.field] = (attribute, factors[0], factors[1])
    return rows


def is_text(attribute: Attribute) -> bool:
    """True if Blender holds the values as text: arrays, and integers beyond 32 bits."""
    return attribute.value.is_array or attribute.type in LARGE_INTEGERS


def value_of_text(attribute: Attribute, text: str) -> Any:
    """Parse the value of a text property. Raises ValueError with a sentence."""
    if attribute.value.is_array:
        return parse_array(attribute.value, text)
    try:
        value = int(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a whole number") from error
    low, high = RANGES[attribute.type]
    if not low <= value <= high:
        raise ValueError(f"{text!r} does not fit into the type {attribute.type}")
    return value


def text_of_value(attribute: Attribute, value: Any) -> str:
    """Format a value for a text property."""
    return format_array(value) if attribute.value.is_array else str(value)


def property_factor(dimension: units.Dimension, meters: float) -> float:
    """Factor from a property to SI. meters: length of a Blender unit.

    Dimensions without mass have lengths in Blender units, gains are per degree, the rest is SI.
    """
    length = meters**dimension.length if dimension.mass == 0 else 1.0
    return length * (math.degrees(1.0) if dimension.angle < 0 else 1.0)


class PropertyReader:
    """Property groups -> schemas, authored values only.

    unreadable: (attribute, reason) for each text that cannot be parsed; these are left out.
    """

    def __init__(self, meters: float) -> None:
        self.meters = meters
        self.unreadable: list[tuple[Attribute, str]] = []
        #: Is called with what was read: property group, class, whether it is angular, and schema.
        self.note: Callable[[Any, type[Schema], bool, Schema], None] | None = None
        self._rows: dict[tuple[type[Schema], bool], _Rows] = {}

    def read(
        self, group: Any, cls: type[SchemaT], *, angular: bool = False, into: SchemaT | None = None,
        skip: frozenset[str] = frozenset(), keys: Iterable[str] | None = None,
    ) -> SchemaT:  # fmt: skip
        """A schema with the values that are set on a property group, in SI.

        skip: fields to leave out. keys: of the group, where they are known.
        """
        rows = self._rows.get((cls, angular))
        if rows is None:
            rows = self._rows[cls, angular] = _rows_of(cls, angular, self.meters)
        value = cls() if into is None else into
        if self.note is not None:
            self.note(group, cls, angular, value)
        accelerates = None
        # The keys of a group are its set properties, which is faster than is_property_set for each.
        for name in group.keys() if keys is None else keys:
            if name in skip or name not in rows:
                continue
            attribute, factor, acceleration_factor = rows[name]
            raw = getattr(group, name)
            if factor is None or attribute.value.is_array:
                if is_text(attribute):
                    try:
                        raw = value_of_text(attribute, raw)
                    except ValueError as error:
                        self.unreadable.append((attribute, str(error)))
                        continue
                    if attribute.value.has_unit and factor is not None and factor != 1.0:
                        raw = with_elements(attribute.value, raw, partial(_number, factor=factor))
                elif attribute.value.size > 1:
                    raw = tuple(raw)
                setattr(value, name, raw)
                continue
            if acceleration_factor != factor:
                if accelerates is None:
                    accelerates = getattr(group, "type", "") == "acceleration"
                if accelerates:
                    factor = acceleration_factor
            setattr(value, name, raw if attribute.is_sentinel(raw) else si_value(raw, factor or 1.0))
        return value


def si_value(raw: Any, factor: float) -> Any:
    if isinstance(raw, float):
        return _number(raw, factor)
    return tuple(_number(part, factor) for part in raw)


def _number(value: float, factor: float) -> float:
    # Blender clamps an infinite property to the largest 32-bit float.
    if units.is_infinite(value):
        return math.copysign(math.inf, value)
    return value * factor


#: Types of the values that need no check, by type of the attribute.
_PLAIN: dict[str, type] = {"float": float, "double": float, "bool": bool}
#: Field; attribute, None where it is no property; type of the values that need no check; factor from SI, None for none.
_Row = tuple[str, Attribute | None, type | None, float | None]


class PropertyWriter:
    """Schemas -> property groups, authored values only; the reverse of PropertyReader.

    meters: length of a Blender unit. local: length of a unit in the space of imported objects, whose data
    Blender keeps in the units of the file, below a scale that converts them.
    """

    def __init__(self, meters: float, local: float) -> None:
        self.meters, self.local = meters, local
        #: Is called with what was written: property group, schema and instance.
        self.note: Callable[[Any, Schema, str], None] | None = None
        #: The same of a row of a vendor: row, schema, field, and what brings a value to the unit of the row.
        self.note_row: Callable[[Any, Schema, str, Callable[[Any], Any]], None] | None = None
        self._rows: dict[tuple[type[Schema], str, str | None], list[_Row]] = {}

    def write(self, group: Any, value: Schema, *, instance: str = "", skip: frozenset[str] = frozenset()) -> None:
        if self.note is not None:
            self.note(group, value, instance)
        cls = type(value)
        key = (cls, instance, getattr(value, "type", None) if issubclass(cls, usd_physics.DriveAPI) else None)
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = self._rows_of(*key)
        for content, (field, attribute, plain, factor) in zip(value.all_values(), rows, strict=True):
            if content is None or attribute is None or field in skip:
                continue
            if plain is str and type(content) is str:
                if content in attribute.tokens:
                    setattr(group, field, content)
                continue
            if type(content) is not plain and not attribute.allows(content):
                continue
            if factor is not None and not (attribute.automatic and attribute.is_sentinel(content)):
                if plain is float:
                    content = units.scaled(content, factor)
                else:
                    content = with_elements(attribute.value, content, partial(units.scaled, factor=factor))
            if plain is None and is_text(attribute):
                content = text_of_value(attribute, content)
            setattr(group, field, content)

    def _rows_of(self, cls: type[Schema], instance: str, drive_type: str | None) -> list[_Row]:
        """A row for each attribute of a schema, in their order."""
        rows: list[_Row] = []
        for attribute in cls.attributes:
            kind, factor = attribute.value, None
            if kind.base == "float":
                meters = self.local if attribute.space == "local" else self.meters
                factor = 1.0 / property_factor(attribute.dimension_for(instance or "transX", drive_type), meters)
            plain = _PLAIN.get(kind.name) if not attribute.tokens else str if kind.name == "token" else None
            rows.append((attribute.field, attribute if attribute.is_editable else None, plain, factor))
        return rows
