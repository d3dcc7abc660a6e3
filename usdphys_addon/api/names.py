# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes by the names that USD has for them, and the check of a value that somebody gives one.

Values of the API are SI with angles in degrees, also below a fraction line: kg, m, °, °/s, N·m/°. Directions in the
world are Z up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ..core import schema, units, vendor_data, vendor_schemas
from ..core.errors import InputError
from ..core.nearest import did_you_mean, nearest
from ..core.schema import INSTANCE, Attribute, Place, Schema
from ..core.schemas import usd_geom  # noqa: F401 (it declares schemas)
from ..core.units import Dimension
from ..core.value_types import RANGES, ValueType, with_elements
from .unit_text import read_unit, symbols

#: Places of the vendors' schemas, as far as an API can reach them.
_PLACES: tuple[Place, ...] = ("scene", "body", "collider", "material", "articulation", "joint", "dof", "prim")


@dataclass(frozen=True, slots=True)
class AttributeInfo:
    """What is known of an attribute.

    name: in USD, such as "physics:mass". schema: that has it, with its instance. type: Sdf value type, or "rel" for a
    relationship. unit: of the numbers that the API takes and gives; empty for none. fallback: what USD assumes where
    nobody has authored a value, in that unit; None if there is nothing to assume. tokens: the allowed words; empty for
    any. doc: one sentence.
    """

    name: str
    schema: str
    type: str
    unit: str
    fallback: Any
    tokens: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Declared:
    """An attribute of one schema, with the instance of that."""

    cls: type[Schema]
    attribute: Attribute
    instance: str = ""

    @property
    def name(self) -> str:
        return self.attribute.usd_name(self.instance)

    @property
    def applied(self) -> str:
        return f"{self.cls.usd_name}:{self.instance}" if self.instance else self.cls.usd_name

    @property
    def is_vendors(self) -> bool:
        return self.cls.family not in schema.OWN_FAMILIES

    def dimension(self, mode: Any = None, joint_type: str = "") -> Dimension:
        """What its numbers measure. mode: of the schema, see `Schema.unit_mode`. joint_type: of the prim."""
        return self.attribute.dimension_for(vendor_schemas.dof_of(self.cls, self.instance, joint_type), mode)

    def info(self) -> AttributeInfo:
        item = self.attribute
        # Fallbacks of the tables are in metres, kilograms and degrees already.
        fallback = None if item.is_relationship else item.fallback
        return AttributeInfo(
            self.name, self.applied, item.type, units.unit_name(self.dimension()), fallback, item.tokens, item.doc
        )


@vendor_data.follows
@cache
def _index() -> dict[str, tuple[Declared, ...]]:
    index: dict[str, list[Declared]] = {}
    own = [cls for cls in schema.SCHEMAS.values() if cls.family == "UsdPhysics"]
    for cls in (*own, *vendor_schemas.all_schemas(*_PLACES)):
        instances = (cls.instances or ("default",)) if cls.kind == "multiple" else ("",)
        for instance in instances:
            for attribute in cls.attributes:
                one = Declared(cls, attribute, instance)
                index.setdefault(one.name, []).append(one)
    return {name: tuple(some) for name, some in index.items()}


def declared(name: str) -> tuple[Declared, ...]:
    """All attributes with a name: several schemas have a "physics:density". Raises InputError with the nearest name."""
    if not isinstance(name, str):
        raise InputError(f"{name!r} is no name of an attribute; give a text such as 'physics:mass'.")
    attributes = _index().get(name) or _of_free_instance(name)
    if not attributes:
        leaf = name.rpartition(":")[2].lower()
        alike = [known for known in _index() if known.rpartition(":")[2].lower() == leaf]
        meant = nearest(name, alike) or next(iter(alike), "") or nearest(name, _index())
        hint = f"did you mean '{meant}'?" if meant else "attributes() lists those that there are."
        raise InputError(f"No schema has an attribute '{name}'; {hint}")
    return attributes


def _of_free_instance(name: str) -> tuple[Declared, ...]:
    """Attributes of schemas whose instances may have any name, such as those of tendons."""
    attributes = []
    for some in _index().values():
        for one in some:
            before, mark, after = one.attribute.usd.partition(INSTANCE)
            middle = name[len(before) : len(name) - len(after)]
            if mark and not one.cls.instances and name == before + middle + after and middle.isidentifier():
                attributes.append(Declared(one.cls, one.attribute, middle))
    return tuple(attributes)


def attributes(schema_name: str = "") -> tuple[AttributeInfo, ...]:
    """What can be got and set, by schema and name. schema_name: only of this schema, such as "PhysicsMassAPI".

    Raises InputError for a schema that nobody has declared.
    """
    rows = [one for some in _index().values() for one in some]
    if schema_name:
        rows = [one for one in rows if schema_name in (one.cls.usd_name, one.applied)]
        if not rows and vendor_schemas.find(schema_name) is None:
            raise unknown_schema(schema_name)
    return tuple(one.info() for one in sorted(rows, key=lambda one: (one.applied, one.name)))


def describe(name: str) -> tuple[AttributeInfo, ...]:
    """What is known of the attributes with a name, one for each schema that has it.

    Raises InputError, with the nearest name, for one that no schema has.
    """
    return tuple(one.info() for one in declared(name))


def unknown_schema(name: str) -> InputError:
    known = [*(key for key, cls in schema.SCHEMAS.items() if cls.family == "UsdPhysics")]
    known += [cls.usd_name for cls in vendor_schemas.all_schemas(*_PLACES)]
    return InputError(f"There is no schema '{name}'{did_you_mean(name, known, '; check the name.')}")


# --------------------------------------------------------------------------- values


def to_model(one: Declared, value: Any, dimension: Dimension, unit: str | None = None) -> Any:
    """A value of the API as the model holds it: SI, radians, tuples. unit: of the value; None for that of the API.

    Raises InputError for a value of another type, a number that is none, and a unit that measures something else.
    """
    content = _plain(value, one.attribute.value)
    _check_type(one, content, value, dimension)
    factor = _factor(one, dimension, unit)
    if not one.attribute.value.has_unit or one.attribute.is_sentinel(content):
        return content
    return with_elements(one.attribute.value, content, partial(units.scaled, factor=factor))


def from_model(one: Declared, value: Any, dimension: Dimension) -> Any:
    """A value of the model in the units of the API."""
    if value is None or not one.attribute.value.has_unit or not one.attribute.accepts(value):
        return value
    is_double = one.attribute.type.removesuffix("[]")[-1] == "d" or "double" in one.attribute.type
    factor = 1.0 if one.attribute.is_sentinel(value) else 1.0 / units.SI.factor(dimension)

    def change(number: float) -> float:
        scaled = units.scaled(float(number), factor)
        # 2 is got where 2 was set: degrees and 32-bit numbers leave noise in the last digits.
        return float(f"{scaled:.15g}") if is_double else units.shortest(scaled)

    return with_elements(one.attribute.value, value, change)


def _factor(one: Declared, dimension: Dimension, unit: str | None) -> float:
    if unit is None:
        return units.SI.factor(dimension)
    wanted = units.unit_name(dimension) or "numbers without a unit"
    given = read_unit(unit)
    if given is None:
        raise InputError(
            f"'{unit}' is no unit that can be read; '{one.name}' takes {wanted}. Put · or / between {symbols()}."
        )
    if not one.attribute.value.has_unit or given.dimension != dimension:
        raise InputError(f"'{unit}' is no unit for '{one.name}', which takes {wanted}.")
    return given.factor


def _plain(value: Any, kind: ValueType) -> Any:
    """Lists, vectors of Blender and arrays as tuples, numbers of numpy as Python's."""
    if isinstance(value, str | bytes | bool | int | float) or value is None:
        return float(value) if kind.base == "float" and type(value) is int else value
    if hasattr(value, "item") and not getattr(value, "shape", (1,)):
        return _plain(value.item(), kind)
    if isinstance(value, Iterable) and not isinstance(value, dict | set | frozenset):
        return tuple(_plain(part, kind) for part in value)
    return value


_WORDS = {"bool": "True or False", "int": "a whole number", "float": "a number", "text": "a text"}


def _check_type(one: Declared, content: Any, given: Any, dimension: Dimension) -> None:
    item, kind = one.attribute, one.attribute.value
    numbers = [*_leaves(content)] if kind.is_number else []
    fits = item.accepts(content)
    if kind.base == "int":
        fits = fits and all(isinstance(number, int) for number in numbers)
    if not fits:
        unit = units.unit_name(dimension)
        words = _WORDS[kind.base] if kind.size == 1 else f"{kind.size} numbers"
        words = f"a list, each {words}" if kind.is_array else words
        raise InputError(f"'{one.name}' takes {words}{f' ({unit})' if unit else ''}, and not {_shown(given)}.")
    if item.tokens and not item.allows(content):
        hint = did_you_mean(str(content), item.tokens, f"; it takes {', '.join(item.tokens)}.")
        raise InputError(f"'{one.name}' has no value {_shown(given)}{hint}")
    for number in numbers:
        _check_number(one, number)


def _check_number(one: Declared, number: float) -> None:
    item = one.attribute
    if item.value.base == "int":
        low, high = RANGES.get(item.type.removesuffix("[]"), RANGES["int"])
        if not low <= number <= high:
            raise InputError(f"'{one.name}' takes numbers from {low} to {high}, and not {number}.")
    elif math.isnan(number):
        raise InputError(f"'{one.name}' takes numbers, and not NaN.")
    elif math.isinf(number) and not _may_be_infinite(item):
        raise InputError(f"'{one.name}' takes finite numbers, and not {number}.")
    elif not math.isinf(number) and units.is_infinite(number):
        raise InputError(f"'{one.name}' takes numbers below {units.PRACTICALLY_INFINITE:g}, and not {number:g}.")


def _may_be_infinite(item: Attribute) -> bool:
    fallback = item.fallback if isinstance(item.fallback, tuple) else (item.fallback,)
    is_infinite = any(isinstance(part, float) and math.isinf(part) for part in fallback)
    return item.automatic == "infinite" or (is_infinite and item.automatic != "negative")


def _leaves(content: Any) -> Iterable[float]:
    if isinstance(content, tuple):
        for part in content:
            yield from _leaves(part)
    elif isinstance(content, int | float):
        yield content


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
