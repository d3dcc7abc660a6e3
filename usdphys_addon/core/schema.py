# SPDX-License-Identifier: GPL-3.0-or-later
"""Machinery of schema classes: each field is one USD attribute. The classes are declared in `core.schemas`.

Reader, writer, units, properties, panels and checks loop over the table SCHEMAS. All fields are keywords of the
constructor; `None` means "not authored". Values are SI, radians and Z up. Vendors have tables, see `vendor_schemas`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, dataclass_transform

from . import units
from .units import Dimension
from .value_types import value_type

Vector = tuple[float, float, float]
#: Real part first.
Quaternion = tuple[float, float, float, float]
Kind = Literal["typed", "single", "multiple"]
Space = Literal["stage", "local", "world"]
#: What a schema belongs to: "dof" is a degree of freedom of a joint, "gprim" the shape of a prim, "prim" a prim of a
#: vendor's own type.
Place = Literal["scene", "body", "collider", "material", "group", "articulation", "joint", "dof", "gprim", "prim"]
#: How a value is reflected by a mirror plane. "spin" is an axial vector (angular velocity): reflected and negated.
Mirror = Literal["", "point", "vector", "spin"]

INF = math.inf
#: Stands for the instance name in the property names of multiple-apply schemas, as in the USD schema registry.
INSTANCE = "__INSTANCE_NAME__"
ANGULAR_DOFS = ("rotX", "rotY", "rotZ", "angular", "cone")


class Attribute:
    """One attribute or relationship of a schema.

    field: name in the class and in Blender. usd: property name, with INSTANCE where an instance name goes.
    type: Sdf value type, or "rel". fallback: what USD assumes when nothing is authored, in USD's units.
    automatic: authored values that mean "let the simulator decide" ("negative", "infinite" or "zero").
    distance_automatic: the same for the degree of freedom "distance", if different.
    dimension: of its unit; angular_dimension: for angular degrees of freedom, if different.
    space: "local" values scale with the prim, "world" directions turn with the up axis, "stage" values do neither.
    body: 0 or 1 if a joint's value is in the space of that body. mirror: how a mirror plane reflects it.
    acceleration_dimensions: (linear, angular), of a gain in an acceleration drive. live: a running preview applies a
    change without being rebuilt. animates: its animation is simulated, in a world that was built for it. value: its
    value type; a relationship holds a tuple of paths.
    """

    __slots__ = (
        "acceleration_dimensions", "angular_dimension", "animates", "automatic", "body", "dimension",
        "distance_automatic", "doc", "fallback", "field", "label", "live", "mirror", "space", "tokens", "type",
        "uniform", "usd", "value",
    )  # fmt: skip

    # Written by hand: a dataclass would take 2 ms of every start of Blender.
    def __init__(
        self, field: str, usd: str, type: str, fallback: Any, label: str, doc: str, *,
        dimension: Dimension = units.NONE, angular_dimension: Dimension | None = None,
        acceleration_dimensions: tuple[Dimension, Dimension] | None = None, automatic: str = "",
        distance_automatic: str = "", tokens: tuple[str, ...] = (), uniform: bool = False, space: Space = "stage",
        body: int | None = None, mirror: Mirror = "", live: bool = False,
        animates: bool = False,
    ) -> None:  # fmt: skip
        self.field, self.usd, self.type, self.fallback, self.label, self.doc = field, usd, type, fallback, label, doc
        self.dimension, self.angular_dimension = dimension, angular_dimension
        self.acceleration_dimensions = acceleration_dimensions
        self.automatic, self.distance_automatic = automatic, distance_automatic
        self.tokens, self.uniform, self.space, self.body = tokens, uniform, space, body
        self.mirror, self.live, self.animates = mirror, live, animates or live
        self.value = value_type("string[]" if type == "rel" else type)

    @property
    def is_relationship(self) -> bool:
        return self.type == "rel"

    def usd_name(self, instance: str = "") -> str:
        """Property name on a prim."""
        return self.usd.replace(INSTANCE, instance) if instance else self.usd

    def dimension_for(self, instance: str = "", mode: Any = None) -> Dimension:
        """Dimension for a degree of freedom; gains of acceleration drives contain neither mass nor length.

        mode: value of the field that decides about units, see `Schema.mode_field`.
        """
        angular = instance in ANGULAR_DOFS
        if mode == "acceleration" and self.acceleration_dimensions:
            return self.acceleration_dimensions[angular]
        if angular and self.angular_dimension is not None:
            return self.angular_dimension
        return self.dimension

    def accepts(self, value: Any) -> bool:
        """False for a value of another type; files can hold such values."""
        return self.value.accepts(value)

    def depends_on(self, value: Schema) -> tuple[str, ...]:
        """Fields of the schema that decide what a number of this one means."""
        return (value.mode_field,) if self.acceleration_dimensions else ()

    def turns(self, _value: Schema) -> bool:
        """True if the values of a schema turn with the up axis."""
        return self.space == "world"

    def turned(self, value: Any, rotation: Any) -> Any:
        """A value after a rotation (3, 3) of the world; unchanged if it has another type."""
        return tuple(map(float, rotation @ value)) if self.accepts(value) else value

    @property
    def is_editable(self) -> bool:
        """True if it can be a Blender property: not a relationship and not opaque."""
        return self.type not in ("rel", "opaque")

    def allows(self, value: Any) -> bool:
        """True for a value of the right type; if there are tokens, it must be one of them, or an array of them."""
        if not self.tokens or not self.accepts(value):
            return self.accepts(value)
        if type(value) is str:  # the usual case
            return value in self.tokens
        return all(token in self.tokens for token in (value if isinstance(value, tuple) else (value,)))

    def is_automatic(self, value: Any, instance: str = "") -> bool:
        """True if the simulator decides: the value is None or the sentinel named by `automatic`."""
        if value is None:
            return True
        numbers = value if isinstance(value, tuple) else (value,)
        sentinel = self.distance_automatic if instance == "distance" and self.distance_automatic else self.automatic
        if sentinel == "negative":
            return any(number < 0 for number in numbers)
        if sentinel == "infinite":
            return any(math.isnan(number) or units.is_infinite(number) for number in numbers)
        if sentinel == "zero":
            return all(number == 0 for number in numbers)
        return False

    def is_sentinel(self, value: Any) -> bool:
        """True for a negative number that means "automatic" or "no limit" and is no angle: the same in all units."""
        is_negative = self.automatic == "negative" and isinstance(value, int | float) and value < 0
        return is_negative and not self.dimension.angle

    def is_unlimited(self, value: Any) -> bool:
        """True for an infinite value where infinity of that sign is the fallback, as in limits and breaking forces."""
        if not isinstance(self.fallback, float) or not isinstance(value, int | float):
            return False
        return math.isinf(self.fallback) and units.is_infinite(value) and (value > 0) == (self.fallback > 0)

    def is_decided(self, value: Any, instance: str = "") -> bool:
        """True if a value says something: it is there, not automatic, and not "no limit"."""
        return not self.is_automatic(value, instance) and not self.is_unlimited(value)


class _Declared(NamedTuple):
    """An attribute in a class body, before `_make_schema` knows its field name."""

    usd: str
    type: str
    fallback: Any
    label: str
    doc: str
    extra: dict[str, Any]


def attr(usd: str, type_: str, fallback: Any, doc: str, *, label: str = "", **extra: Any) -> Any:
    """A field that is a USD attribute; see `Attribute` for the keywords."""
    return _Declared(usd, type_, fallback, label, doc, extra)


def rel(usd: str, doc: str, *, label: str = "", **extra: Any) -> Any:
    """A field that is a USD relationship: a tuple of prim paths."""
    return attr(usd, "rel", None, doc, label=label, **extra)


class Schema:
    """Base of all schemas."""

    __slots__ = ()
    usd_name: ClassVar[str]
    kind: ClassVar[Kind]
    family: ClassVar[str]
    attributes: ClassVar[tuple[Attribute, ...]] = ()
    instances: ClassVar[tuple[str, ...]] = ()
    on: ClassVar[Place]
    #: Field that decides about the units of others; empty if none does.
    mode_field: ClassVar[str] = ""
    #: Attributes of vendors that mean something a file does not say, see `vendor_schemas`.
    unsaid: ClassVar[tuple[Attribute, ...]] = ()
    #: Returns the values of all attributes in declaration order, None if not authored.
    all_values: ClassVar[Callable[[Any], tuple[Any, ...]]]
    #: The same of a value, without a call of Python for each; a single attribute is in no tuple.
    values_of: ClassVar[Any]

    if TYPE_CHECKING:

        def __init__(self, *values: Any, **named: Any) -> None: ...

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.all_values() == other.all_values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{attribute.field}={value!r}" for attribute, value in self.authored())
        return f"{type(self).__name__}({shown})"

    def __copy__(self) -> Self:
        return type(self)(*self.all_values())

    @property
    def unit_mode(self) -> Any:
        """The value of the field that decides about units; None without one."""
        return getattr(self, self.mode_field) if self.mode_field else None

    def copy(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        values = {attribute.field: value for attribute, value in self.authored()}
        return type(self)(**{**values, **changes})

    def authored(self) -> Iterator[tuple[Attribute, Any]]:
        """(attribute, value) of all authored attributes."""
        values = self.all_values()
        if values.count(None) == len(values):
            return
        for attribute, value in zip(self.attributes, values, strict=True):
            if value is not None:
                yield attribute, value

    def holds(self, name: str) -> bool:
        """True where a field is authored with a value that the schema allows."""
        value = getattr(self, name)
        return value is not None and _attribute(type(self), name).allows(value)

    def allowed(self, name: str) -> Any:
        """The authored value of a field; None if it is not authored or not allowed."""
        return getattr(self, name) if self.holds(name) else None

    def resolved(self, name: str) -> Any:
        """The authored value of a field; the schema's fallback if it is not authored or not allowed."""
        attribute = _FOUND.get((type(self), name)) or _attribute(type(self), name)
        value = getattr(self, name)
        return value if value is not None and attribute.allows(value) else attribute.fallback

    def decided(self, name: str, instance: str = "") -> Any:
        """The resolved value of a field; None if it is automatic or "no limit". instance: its degree of freedom."""
        value = self.resolved(name)
        return value if _attribute(type(self), name).is_decided(value, instance) else None


SchemaT = TypeVar("SchemaT", bound=Schema)

#: By USD type name, in the order of declaration.
SCHEMAS: dict[str, type[Schema]] = {}


#: Declarations by class and field, as far as they were asked for.
_FOUND: dict[tuple[type, str], Attribute] = {}


def _attribute(cls: type[Schema], name: str) -> Attribute:
    known = _FOUND.get((cls, name))
    if known is not None:
        return known
    for attribute in cls.attributes:
        if attribute.field == name:
            _FOUND[cls, name] = attribute
            return attribute
    raise AttributeError(f"{cls.usd_name} has no attribute '{name}'")


def attribute_of(cls: type[Schema], name: str) -> Attribute:
    """The declaration of a field."""
    return _attribute(cls, name)


#: `Schema` has the other methods, the same for all classes.
_dataclass = partial(dataclass, slots=True, eq=False, repr=False, match_args=False)


def _label(usd: str) -> str:
    leaf = usd.rsplit(":", 1)[-1]
    spaced = "".join(f" {letter}" if letter.isupper() or letter.isdigit() else letter for letter in leaf)
    return spaced.strip().title()


def _give_attributes(cls: type[Schema], attributes: tuple[Attribute, ...]) -> None:
    cls.attributes = attributes
    names = [attribute.field for attribute in attributes]
    # A getter in C: values of thousands of schemas are asked for.
    get: Callable[[Any], Any] = attrgetter(*names) if names else (lambda _value: ())
    cls.values_of = staticmethod(get)
    if len(names) == 1:
        cls.all_values = lambda value: (get(value),)
    else:
        cls.all_values = lambda value: get(value)


@dataclass_transform()
def schema(name: str, kind: Kind, on: Place, family: str = "UsdPhysics", instances: tuple[str, ...] = ()) -> Any:
    """Class decorator: make a dataclass of a declaration, with None for all fields, and register it in SCHEMAS."""

    def wrap(cls: type[Schema]) -> type[Schema]:
        declared = {field: value for field, value in vars(cls).items() if isinstance(value, _Declared)}
        for field in declared:
            setattr(cls, field, None)
        # Without a docstring, dataclasses would write the signature into one, which takes most of the time.
        cls.__doc__ = cls.__doc__ or name
        made: type[Schema] = _dataclass(cls)
        made.usd_name, made.kind, made.on, made.family, made.instances = name, kind, on, family, instances
        own = [
            Attribute(field, usd, type_, fallback, label or _label(usd), doc, **extra)
            for field, (usd, type_, fallback, label, doc, extra) in declared.items()
        ]
        _give_attributes(made, (*made.attributes, *own))
        SCHEMAS[name] = made
        return made

    return wrap


def table_class(
    name: str, kind: Kind, on: Place, family: str, instances: tuple[str, ...], attributes: Sequence[Attribute]
) -> type[Schema]:  # fmt: skip
    """A class for a schema that is declared as data, see `vendor_schemas`. It is not in SCHEMAS."""
    fields = [attribute.field for attribute in attributes]
    members = {"__doc__": name, "__annotations__": dict.fromkeys(fields, Any), **dict.fromkeys(fields)}
    made: type[Schema] = _dataclass(type(name.replace(":", ""), (Schema,), members))
    made.usd_name, made.kind, made.on, made.family, made.instances = name, kind, on, family, instances
    _give_attributes(made, tuple(attributes))
    return made


#: USD libraries for which the add-on has its own panels and properties; all others are vendors.
OWN_FAMILIES = frozenset({"UsdPhysics", "UsdGeom"})


def schemas_of(family: str) -> dict[str, type[Schema]]:
    """The schemas of one USD library, by USD type name."""
    return {name: cls for name, cls in SCHEMAS.items() if cls.family == family}


def split_applied(name: str) -> tuple[str, str]:
    """("PhysicsDriveAPI", "rotX") of "PhysicsDriveAPI:rotX"; the instance is empty for single-apply schemas."""
    base, _, instance = name.partition(":")
    return base, instance
