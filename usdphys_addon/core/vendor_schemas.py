# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemas of simulators beside UsdPhysics, from the tables in `vendor_tables`: one file for each runtime.

Nothing is read before a name is looked up, and a class is made when it is first used. The classes are like those of
`core.schemas`, so that reading, writing, units and comparison treat them in the same way. Another vendor is another
file in the folder, or a call of `add_table`.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from . import schema, units, vendor_data
from .joint_kinds import is_linear_joint
from .schema import ANGULAR_DOFS, INSTANCE, Attribute, Place, Schema
from .schemas import usd_physics
from .units import Dimension
from .value_types import value_type
from .vendor_units import Condition, VendorUnit, unit_of_row


class VendorAttribute(Attribute):
    """An attribute of a table.

    unit: None for what has no number. runtime: "PhysX", "Newton", ... modes: its unit is another one while a field of
    the schema has a value; the attribute of each condition is that field. world_if: it is a direction in the world
    only under such a condition. axes: a bit for each of the world axes. is_deprecated: its vendor wants another word
    for it. is_axis: without a value it stands for the axis of the joint. is_stated: its fallback, which has a unit,
    is authored where the units of a file change. is_per_radian: its simulator takes it per radian and says per degree.
    """

    __slots__ = (
        "axes", "is_axis", "is_deprecated", "is_per_radian", "is_stated", "modes", "runtime", "unit", "world_if",
    )  # fmt: skip

    def __init__(
        self, *arguments: Any, unit: VendorUnit | None = None, runtime: str = "",
        modes: tuple[tuple[Condition, Dimension], ...] = (), world_if: Condition | None = None, axes: bool = False,
        is_deprecated: bool = False, is_axis: bool = False, is_stated: bool = False, is_per_radian: bool = False,
        **keywords: Any,
    ) -> None:  # fmt: skip
        super().__init__(*arguments, **keywords)
        self.unit, self.runtime, self.modes, self.world_if, self.axes = unit, runtime, modes, world_if, axes
        self.is_deprecated, self.is_axis, self.is_stated = is_deprecated, is_axis, is_stated
        self.is_per_radian = is_per_radian

    def dimension_for(self, instance: str = "", mode: Any = None) -> Dimension:
        for condition, dimension in self.modes:
            if condition.holds(mode):
                return dimension
        if instance in ANGULAR_DOFS and self.angular_dimension is not None:
            return self.angular_dimension
        return self.dimension

    def depends_on(self, _value: Schema) -> tuple[str, ...]:
        conditions = (*(condition for condition, _ in self.modes[:1]), self.world_if)
        return tuple(condition.attribute for condition in conditions if condition is not None)

    def turns(self, value: Schema) -> bool:
        if self.world_if is None:
            return self.space == "world" or self.axes
        return self.world_if.holds(getattr(value, self.world_if.attribute))

    def turned(self, value: Any, rotation: Any) -> Any:
        if not self.axes:
            return super().turned(value, rotation)
        return turned_bits(value, rotation) if isinstance(value, int) else value

    @property
    def has_known_unit(self) -> bool:
        return not self.value.has_unit or (self.unit is not None and self.unit.linear is not None)


#: Most numbers of a value that Blender shows as a vector.
MOST_NUMBERS = 4


def may_be_keyed(attribute: Attribute) -> bool:
    """True for an attribute of a vendor whose time samples are F-curves in Blender: numbers and switches that may vary,
    whose unit no other value decides."""
    if not isinstance(attribute, VendorAttribute) or attribute.uniform or attribute.modes:
        return False
    kind = attribute.value
    is_number = kind.name in ("bool", "int", "uchar") or (kind.base == "float" and kind.size <= MOST_NUMBERS)
    return is_number and not kind.is_array and attribute.has_known_unit


def is_known(attribute: Attribute) -> bool:
    """False for a number of which no table says what it measures."""
    return not isinstance(attribute, VendorAttribute) or attribute.has_known_unit


def turned_bits(bits: int, rotation: Any) -> int:
    """Bits of the axes X, Y, Z after a rotation (3, 3) that takes axes to axes. Further bits stay."""
    turned = bits & ~7
    for axis in range(3):
        if bits & (1 << axis):
            column = [abs(float(rotation[row][axis])) for row in range(3)]
            turned |= 1 << column.index(max(column))
    return turned


@vendor_data.follows
@cache
def _rows() -> dict[str, tuple[str, dict[str, Any]]]:
    """(runtime, row of its table) of each schema that Blender has a place for."""
    return {
        row["name"]: (table["runtime"], row)
        for table in vendor_data.tables()
        for row in table["schemas"]
        if row.get("on")
    }


def find(name: str) -> type[Schema] | None:
    """The class of a schema by USD type name, of UsdPhysics, UsdGeom or a table; None if nobody declares it.

    What Blender has no place for is None, too, see `declared`.
    """
    return schema.SCHEMAS.get(name) or _table_class(name)


@vendor_data.follows
@cache
def declared(name: str) -> type[Schema] | None:
    """The class of a schema of a table, also of one that is carried through Blender as text."""
    rows = ((table["runtime"], row) for table in vendor_data.tables() for row in table["schemas"])
    pair_of_name = next((pair for pair in rows if pair[1]["name"] == name), None)
    return None if pair_of_name is None else _make(*pair_of_name)


@vendor_data.follows
@cache
def _table_class(name: str) -> type[Schema] | None:
    row = _rows().get(name)
    return None if row is None else _make(*row)


def made(name: str, values: Mapping[str, Any]) -> Schema:
    """A schema of a table with values by the USD names of its attributes."""
    cls = declared(name)
    assert cls is not None, name
    fields = {attribute.usd: attribute.field for attribute in cls.attributes}
    made_schema: Schema = cls(**{fields[usd]: value for usd, value in values.items()})
    return made_schema


@vendor_data.follows
@lru_cache(maxsize=4096)
def attribute_named(applied: str, name: str) -> Attribute | None:
    """The attribute of an applied schema (with instance) that has a USD name; None if no table has it."""
    base, instance = schema.split_applied(applied)
    cls = find(base) if name else None
    return next((one for one in cls.attributes if one.usd_name(instance) == name), None) if cls is not None else None


def all_schemas(*places: Place) -> list[type[Schema]]:
    """All schemas of the tables that belong to one of these places, by runtime and name."""
    names = sorted((runtime, name) for name, (runtime, row) in _rows().items() if row["on"] in places)
    return [cls for _, name in names if (cls := _table_class(name)) is not None]


def add_table(table: dict[str, Any]) -> None:
    """Add the schemas of a vendor, given as the content of a file such as those of the folder.

    Raises ValueError for a name that is taken, an unknown type, a fallback of another type, or a wrong unit.
    """
    for row in table["schemas"]:
        if row["name"] in schema.SCHEMAS or row["name"] in _rows():
            raise ValueError(f"the schema {row['name']} is declared already")
        _make(table["runtime"], row)
    vendor_data.put(table["runtime"], table)


def remove_table(runtime: str) -> None:
    """Remove what `add_table` added."""
    vendor_data.put(runtime, None)


def _make(runtime: str, data: dict[str, Any]) -> type[Schema]:
    attributes = data["attributes"]
    fields = _fields([item["usd"] for item in attributes])
    deciding = {case[0] for item in attributes for case in item.get("unit_if", ())}
    deciding |= {item["world_if"][0] for item in attributes if "world_if" in item}
    # What decides about the unit of others is read before them.
    ordered = sorted(attributes, key=lambda item: item["usd"] not in deciding)
    made: list[VendorAttribute] = [_attribute(item, fields, runtime, data) for item in ordered]
    cls = schema.table_class(
        data["name"], data["kind"], data.get("on", ""), runtime, tuple(data.get("instances", ())), made
    )
    cls.unsaid = tuple(item for item in made if item.is_axis or item.is_stated)
    cls.mode_field = next((item.modes[0][0].attribute for item in made if item.modes), "")
    return cls


def _attribute(item: dict[str, Any], fields: dict[str, str], runtime: str, data: dict[str, Any]) -> VendorAttribute:
    """data: the row of its schema."""
    usd, type_, owner, place = item["usd"], item["type"], data["name"], data.get("on", "")
    unit = unit_of_row(item) if "unit" in item or item.get("axes") else None
    fallback = _plain(item.get("fallback"), type_)
    try:
        fits = type_ == "rel" or value_type(type_).accepts(fallback) or fallback is None
    except KeyError as error:
        raise ValueError(f"{usd} of {owner} has the type {type_}, which is not known") from error
    if not fits:
        raise ValueError(f"{usd} of {owner} has the fallback {fallback!r}, which is no {type_}")
    if unit is not None and place == "prim" and unit.linear != unit.angular:
        # What such a prim acts on decides, which it names by a relationship.
        unit = unit._replace(linear=None, angular=None)
    linear = unit.linear if unit is not None else None
    angular = unit.angular if unit is not None else None

    is_unlimited = isinstance(fallback, float) and units.is_infinite(fallback)

    def condition(found: Condition) -> Condition:
        return found._replace(attribute=fields[found.attribute])

    return VendorAttribute(
        fields[usd], usd, type_, fallback, item.get("label") or _label(usd), item.get("doc", ""),
        dimension=linear or units.NONE, angular_dimension=angular if angular != linear else None,
        tokens=tuple(item.get("tokens", ())), uniform=bool(item.get("uniform")),
        space=unit.space if unit is not None else "stage", mirror=item.get("mirror", ""),
        automatic=item.get("automatic") or ("infinite" if is_unlimited else ""),
        unit=unit, runtime=runtime,
        modes=tuple((condition(case), dimension) for case, dimension in unit.others) if unit is not None else (),
        world_if=condition(unit.world_if) if unit is not None and unit.world_if is not None else None,
        axes=bool(item.get("axes")),
        is_deprecated=bool(item.get("deprecated")), is_axis=item.get("otherwise") == "axis",
        is_stated=bool(item.get("stated")), is_per_radian=bool(item.get("per_radian")),
    )  # fmt: skip


def _plain(value: Any, type_: str) -> Any:
    """A fallback of a table as the model holds it: infinities are text there, vectors lists."""
    if isinstance(value, list):
        return tuple(_plain(part, type_) for part in value)
    is_float = type_ != "rel" and type_.startswith(("float", "double", "half"))
    return float(value) if is_float and isinstance(value, str | int) and not isinstance(value, bool) else value


def _fields(names: list[str]) -> dict[str, str]:
    """Python names of attributes: their last word, or all of it where two have the same."""
    short = {name: _identifier(name.rsplit(":", 1)[-1]) for name in names}
    counts = list(short.values())
    return {
        name: field if counts.count(field) == 1 else _identifier(name.replace(f":{INSTANCE}", "").replace(":", "_"))
        for name, field in short.items()
    }


def _identifier(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    is_taken = keyword.iskeyword(spaced) or hasattr(Schema, spaced) or spaced in ("type", "name")
    return f"{spaced}_value" if is_taken or not spaced.isidentifier() else spaced


def _label(usd: str) -> str:
    """ "Enable CCD" of "physxRigidBody:enableCCD"."""
    leaf = usd.rsplit(":", 1)[-1]
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", leaf)
    return " ".join(word if word.isupper() else word.capitalize() for word in words)


@lru_cache(maxsize=1024)
def unknown_class(name: str, attributes: tuple[tuple[str, str], ...]) -> type[Schema]:
    """A class for a schema that no table has. attributes: USD name and type of each; unknown types are left out.

    Nobody knows what its numbers measure, so they stay as they are in all units.
    """
    made: list[Attribute] = []
    for number, (usd, type_) in enumerate(attributes):
        try:
            made.append(VendorAttribute(f"value{number}", usd, type_, None, usd, "", runtime="Other"))
        except KeyError:
            continue
    return schema.table_class(name, "single", "body", "Other", (), made)


def say_axis(value: Schema, joint: Schema | None) -> None:
    """Give the attributes that stand for the axis of the joint, if nothing is authored, that axis.

    joint: of the same prim. A joint without an axis of its own leaves them as they are.
    """
    dof = axis_dof(joint)
    for attribute in value.unsaid if dof else ():
        if isinstance(attribute, VendorAttribute) and attribute.is_axis and getattr(value, attribute.field) is None:
            setattr(value, attribute.field, (dof,) if attribute.value.is_array else dof)


def axis_dof(joint: Schema | None) -> str:
    """ "rotY" of a hinge about Y, "transX" of a slide along X; empty for what has no single axis."""
    if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
        return f"{'rot' if isinstance(joint, usd_physics.RevoluteJoint) else 'trans'}{joint.resolved('axis')}"
    return ""


def number_for_simulator(attribute: Attribute, instance: str) -> float:
    """Factor of the number that makes a simulator do what is meant: 1, unless it takes per radian what is per degree.

    instance: degree of freedom of the schema.
    """
    is_turn = isinstance(attribute, VendorAttribute) and attribute.is_per_radian and instance in ANGULAR_DOFS
    return math.degrees(1.0) if is_turn else 1.0


def is_unstated(attribute: Attribute, value: Schema) -> bool:
    """True where nobody has authored an attribute whose fallback has to be authored in other units."""
    is_stated = isinstance(attribute, VendorAttribute) and attribute.is_stated
    return is_stated and getattr(value, attribute.field) is None


def dof_of(cls: type[Schema], instance: str, type_name: str) -> str:
    """The degree of freedom that units of a schema on a prim of a type go by.

    That of the instance; where there is none, that of the joint. A generic joint counts as angular.
    """
    if instance or cls.on != "joint":
        return instance
    return "linear" if is_linear_joint(type_name) else "angular"
