# SPDX-License-Identifier: GPL-3.0-or-later
"""The vendor schemas of an owner of properties (object, collider, material, physics scene): rows of one list.

A row is one attribute: the applied schema, the name and type of the attribute, and its value as text. A row without a
name says that the schema is applied. The text is exact and is all that a .blend holds; `flag`, `number`, `length` and
the like show it as the value that it is, and set it. So the 142 schemas of the tables need no registered properties,
and rows stay readable where a table has changed.

Numbers have the units of the other properties of the add-on: angles in radians, lengths in Blender units, gains per
degree, all else SI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import ID, Object, PropertyGroup

from ..core import joint_kinds, schema, units, vendor_schemas
from ..core.array_text import parse, text_of
from ..core.schema import Attribute, Place, Schema
from ..core.schemas import usd_physics
from ..core.value_types import RANGES, value_type, with_elements
from .animated import curves_of
from .property_types import OVERRIDABLE, list_of, make_group
from .property_units import property_factor

if TYPE_CHECKING:
    from ..core.model import Prim
    from .property_units import PropertyWriter
    from .reading import ReadingContext

#: Which schemas an owner of properties has.
PLACES: dict[str, tuple[Place, ...]] = {
    "object": ("body", "articulation", "joint", "dof", "prim"),
    "collider": ("collider",),
    "material": ("material",),
    "scene": ("scene",),
}
#: Properties of a row that show a number as what it measures.
VIEWS = {
    units.LENGTH: "length", units.ANGLE: "angle", units.ANGULAR_VELOCITY: "angle", units.VELOCITY: "speed",
    units.ACCELERATION: "acceleration",
}  # fmt: skip
#: Names of schemas that are no vendor's.
_OWN_NAMES = frozenset(name for name, cls in schema.SCHEMAS.items() if cls.family in schema.OWN_FAMILIES)


def _value(row: PropertyGroup, fallback: Any) -> Any:
    """The value of a row; the fallback if its text is not of its type, or if the type is unknown."""
    try:
        return parse(value_type(row.type), row.text)
    except (ValueError, KeyError):
        return fallback


def value_of(row: PropertyGroup) -> Any:
    """The value of a row, in the units of rows; None if it cannot be read."""
    return _value(row, None)


# --------------------------------------------------------------------------- the views of a row


def attribute_of(row: PropertyGroup) -> Attribute | None:
    """The declaration of a row; None if no table has it, and for a row that only applies a schema."""
    attribute: Attribute | None = vendor_schemas.attribute_named(row.applied, row.name)
    return attribute


def _number(row: PropertyGroup) -> float:
    value = _value(row, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _whole(row: PropertyGroup) -> int:
    value = _value(row, 0)
    return max(-(2**31), min(2**31 - 1, int(value))) if isinstance(value, int) else 0


def _flag(row: PropertyGroup) -> bool:
    return _value(row, False) is True


def _vector(size: int) -> Callable[[Any], tuple[float, ...]]:
    def get(row: PropertyGroup) -> tuple[float, ...]:
        value = _value(row, ())
        return value if isinstance(value, tuple) and len(value) == size else (0.0,) * size

    return get


def _set_number(row: PropertyGroup, value: Any) -> None:
    # The shortest decimal of the 32-bit number: 0.1 stays 0.1 where the attribute is a double.
    put(row, units.shortest(float(value)))


def _set_flag(row: PropertyGroup, value: Any) -> None:
    put(row, bool(value))


def _set_whole(row: PropertyGroup, value: Any) -> None:
    low, high = RANGES.get(row.type, RANGES["int"])
    put(row, max(low, min(high, int(value))))


def _set_vector(row: PropertyGroup, value: Any) -> None:
    put(row, tuple(units.shortest(float(part)) for part in value))


def put(row: PropertyGroup, value: Any) -> None:
    """Set the value of a row, in the units of rows, and that of all rows of the same artist concept."""
    row.text = text_of(value_type(row.type), value)
    followed = _followers.get("concept")
    # Blender writes what is animated while it evaluates the scene, where nothing else may change.
    if followed is not None and not _is_keyed(row):
        followed(row)


def _is_keyed(row: PropertyGroup) -> bool:
    """True where an F-curve or a driver sets the value of a row."""
    if getattr(row.id_data, "animation_data", None) is None:
        return False
    home = f"{row.path_from_id()}."
    return any(curve.data_path.startswith(home) for curve, _ in curves_of(row.id_data))


#: Functions that are called after a value was set; `authoring.vendor_edits` adds its own when it is loaded.
_followers: dict[str, Callable[[Any], None]] = {}


def follow(name: str, function: Callable[[Any], None]) -> None:
    """Have a function called with each row whose value was set through one of its views."""
    _followers[name] = function


#: The items of an enum have to stay alive while Blender shows them.
_items: dict[tuple[str, ...], list[tuple[str, str, str, int]]] = {}


def _tokens(row: PropertyGroup) -> tuple[str, ...]:
    attribute = attribute_of(row)
    known = attribute.tokens if attribute is not None else ()
    return known if row.text in known else (*known, row.text)


def _token_items(row: Any, _context: Any) -> list[tuple[str, str, str, int]]:
    tokens = _tokens(row)
    if tokens not in _items:
        attribute = attribute_of(row)
        known = attribute.tokens if attribute is not None else ()
        _items[tokens] = [
            (token or "(empty)", token if token in known else f"Other: {token}", "", number)
            for number, token in enumerate(tokens)
        ]
    return _items[tokens]


def _set_token(row: PropertyGroup, number: int) -> None:
    row.text = _tokens(row)[number]


def _set_path(row: PropertyGroup, text: str) -> None:
    row.text = text


def _view(make: Any, label: str, get: Any, put_in: Any, **options: Any) -> Any:
    return make(
        name=label,
        description="Value of the attribute",
        get=get,
        set=put_in,
        options={"SKIP_SAVE", "ANIMATABLE"},
        **options,
    )


_FLOAT = bpy.props.FloatProperty
VendorRow = make_group(
    "VendorRow",
    "One attribute of a vendor schema; its name is the USD name of the attribute.",
    {
        "applied": bpy.props.StringProperty(
            name="Schema", description="Applied API schema, with its instance name", override=OVERRIDABLE
        ),
        "type": bpy.props.StringProperty(name="Type", description="USD type of the value", override=OVERRIDABLE),
        "text": bpy.props.StringProperty(name="Value", description="Value of the attribute", override=OVERRIDABLE),
        # A relationship has one row for each target. A target without an object is a path of the file, in the text.
        "target": bpy.props.PointerProperty(
            type=bpy.types.Object, name="Target", description="Target object of the relationship",
            override=OVERRIDABLE,
        ),
        "flag": _view(bpy.props.BoolProperty, "Value", _flag, _set_flag),
        "whole": _view(bpy.props.IntProperty, "Value", _whole, _set_whole),
        "number": _view(_FLOAT, "Value", _number, _set_number, precision=4),
        "length": _view(_FLOAT, "Value", _number, _set_number, unit="LENGTH", precision=4),
        "angle": _view(_FLOAT, "Value", _number, _set_number, subtype="ANGLE", precision=4),
        "speed": _view(_FLOAT, "Value", _number, _set_number, unit="VELOCITY", precision=4),
        "acceleration": _view(_FLOAT, "Value", _number, _set_number, unit="ACCELERATION", precision=4),
        **{
            f"vector{size}": _view(
                bpy.props.FloatVectorProperty, "Value", _vector(size), _set_vector, size=size, precision=4
            )
            for size in (2, 3, 4)
        },
        "token": bpy.props.EnumProperty(
            name="Value", description="Value of the attribute", items=_token_items,
            get=lambda row: _tokens(row).index(row.text), set=_set_token, options={"SKIP_SAVE"},
        ),
        "path": bpy.props.StringProperty(
            name="File", description="File that the attribute names", subtype="FILE_PATH",
            get=lambda row: row.text, set=_set_path, options={"SKIP_SAVE"},
        ),
    },
)  # fmt: skip


def dimension_of(row: PropertyGroup, attribute: Attribute | None = None) -> units.Dimension:
    """What the number of a row measures."""
    attribute = attribute or attribute_of(row)
    if attribute is None:
        return units.NONE
    base, instance = schema.split_applied(row.applied)
    cls = vendor_schemas.find(base)
    assert cls is not None
    return attribute.dimension_for(vendor_schemas.dof_of(cls, instance, joint_type(row.id_data)), mode_of(row))


def view_of(row: PropertyGroup) -> str:
    """Name of the property that shows the value of a row as what it is."""
    if row.type == "rel":
        return "target" if row.target is not None or not row.text else "text"
    try:
        kind = value_type(row.type)
    except KeyError:
        return "text"
    attribute = attribute_of(row)
    if kind.is_array or (kind.base == "int" and kind.name not in ("int", "uchar")):
        return "text"
    if kind.base == "text":
        if attribute is not None and attribute.tokens:
            return "token"
        return "path" if row.type == "asset" else "text"
    if kind.size > 1:
        return f"vector{kind.size}" if kind.base == "float" and kind.size <= vendor_schemas.MOST_NUMBERS else "text"
    if kind.base != "float":
        return "flag" if kind.base == "bool" else "whole"
    return VIEWS.get(dimension_of(row, attribute), "number")


def mode_of(row: PropertyGroup) -> Any:
    """The value of the attribute that decides about the unit of a row; None if no attribute does, or it is not set."""
    base, instance = schema.split_applied(row.applied)
    cls = vendor_schemas.find(base)
    if cls is None or not cls.mode_field:
        return None
    decider = schema.attribute_of(cls, cls.mode_field)
    name = decider.usd_name(instance)
    mode = next((_value(other, None) for other in _siblings(row) if other.name == name), None)
    if mode is None and isinstance(decider, vendor_schemas.VendorAttribute) and decider.is_axis:
        kind = joint_kinds.BY_TYPE_NAME.get(joint_type(row.id_data))
        dof = vendor_schemas.axis_dof(kind.cls()) if kind is not None else ""
        return (dof,) if dof else None
    return mode


def _siblings(row: PropertyGroup) -> Iterator[Any]:
    """The rows of the same owner."""
    owner: Any = row.id_data.path_resolve(row.path_from_id().rpartition(".vendor[")[0])
    yield from owner.vendor


def joint_type(thing: ID) -> str:
    """USD type of the joint of an object; empty for what is no joint."""
    if not isinstance(thing, bpy.types.Object) or not thing.usdphys.joint.is_applied:
        return ""
    return joint_kinds.BY_IDENTIFIER[thing.usdphys.joint.type].cls.usd_name


def rows_property() -> Any:
    """The list of rows, for the groups of owners."""
    return list_of(VendorRow, "Vendor Attributes")


# --------------------------------------------------------------------------- lists of rows


def class_of(row: PropertyGroup) -> type[Schema] | None:
    return vendor_schemas.find(schema.split_applied(row.applied)[0])


def applied_names(thing: Any, *places: Place) -> list[str]:
    """The applied vendor schemas of an owner, with their instances. places: only those that belong there."""
    if "vendor" not in thing.keys():
        return []
    names = dict.fromkeys(row.applied for row in thing.vendor)
    if not places:
        return list(names)
    return [name for name in names if place_of(name) in places]


def typed_schema(thing: PropertyGroup) -> str:
    """The type of the prim that an object stands for, such as PhysxPhysicsGearJoint; empty for other objects."""
    return next((name for name in applied_names(thing, "prim") if _is_typed(name)), "")


def _is_typed(name: str) -> bool:
    cls = vendor_schemas.find(name)
    return cls is not None and cls.kind == "typed"


def place_of(name: str) -> str:
    cls = vendor_schemas.find(schema.split_applied(name)[0])
    return cls.on if cls is not None else ""


def row_of(thing: Any, name: str) -> Any:
    """The row of an attribute, by its USD name; None without one."""
    if "vendor" not in thing.keys():
        return None
    return next((row for row in thing.vendor if row.name == name), None)


def _read(
    thing: PropertyGroup,
    meters: float,
    type_name: str,
    places: tuple[Place, ...] = (),
    path_of: Callable[[Any], str] | None = None,
    joint: usd_physics.Joint | None = None,
) -> tuple[dict[str, Schema], list[tuple[str, str]]]:
    """(schemas by name with instance, (name, reason) of the attributes that cannot be read)."""
    schemas: dict[str, Schema] = {}
    broken: list[tuple[str, str]] = []
    pending: list[tuple[Schema, Attribute, str, Any]] = []
    for row, attribute, value in _attributes_of(thing, places, schemas):
        try:
            if attribute.is_relationship:
                content = (*(getattr(value, attribute.field) or ()), *_targets(row, path_of))
            else:
                content = parse(attribute.value, row.text)
        except ValueError as error:
            broken.append((row.name, str(error)))
            continue
        setattr(value, attribute.field, content)
        if not attribute.is_relationship and attribute.value.has_unit:
            instance = vendor_schemas.dof_of(type(value), schema.split_applied(row.applied)[1], type_name)
            pending.append((value, attribute, instance, content))
    for value in schemas.values():
        if value.unsaid:
            vendor_schemas.say_axis(value, joint)
    # Only now that all values are set: one can decide about the unit of another.
    for value, attribute, instance, content in pending:
        factor = property_factor(attribute.dimension_for(instance, value.unit_mode), meters)
        if factor != 1.0 and not attribute.is_sentinel(content):
            setattr(value, attribute.field, with_elements(attribute.value, content, partial(_scaled, factor=factor)))
    return schemas, broken


def _attributes_of(
    thing: Any, places: tuple[Place, ...], schemas: dict[str, Schema]
) -> Iterator[tuple[Any, Attribute, Schema]]:  # fmt: skip
    """(row, attribute, its schema) of the rows that name an attribute. schemas: gets all, also those without any."""
    unknown: dict[str, type[Schema]] = {}
    for row in thing.vendor:
        name = row.applied
        cls = class_of(row)
        if cls is None and (not places or not _OF_ALL.isdisjoint(places)):
            cls = unknown.get(name) or unknown.setdefault(name, _unknown_class(thing, name))
        if cls is None or (places and name not in unknown and cls.on not in places):
            continue
        value = schemas.get(name)
        if value is None:
            value = schemas[name] = cls()
        attribute = attribute_of(row) if name not in unknown else _named(cls, row.name)
        if attribute is not None:
            yield row, attribute, value


def _targets(row: PropertyGroup, path_of: Callable[[Any], str] | None) -> tuple[str, ...]:
    """Target paths of a row of a relationship. Raises ValueError if the target is missing or not exported.

    path_of: returns the path on the stage, of an object or of a path in the file; empty if it is not exported.
    """
    if row.target is None and row.text:
        paths = parse(value_type("string[]"), row.text)
        return paths if path_of is None else tuple(map(path_of, paths))
    path = path_of(row.target) if path_of is not None and row.target is not None else ""
    if not path:
        raise ValueError("its target is missing or not exported")
    return (path,)


#: Reading any of these places reads the schemas that no table has, too: their place is unknown.
_OF_ALL = frozenset({"body", "joint", "collider", "material", "scene"})


def _unknown_class(thing: Any, applied: str) -> type[Schema]:
    """A class for a schema that no table has, with the attributes that an owner has rows of."""
    rows = tuple((row.name, row.type) for row in thing.vendor if row.applied == applied and row.name)
    return vendor_schemas.unknown_class(schema.split_applied(applied)[0], rows)


def _named(cls: type[Schema], name: str) -> Attribute | None:
    return next((one for one in cls.attributes if one.usd == name), None)


def _scaled(value: float, factor: float) -> float:
    return units.scaled(value, factor)


def read_vendor(context: ReadingContext, thing: Any, prim: Prim, *places: Place) -> None:
    """Add the vendor schemas of an owner of properties to its prim. thing: the group with the list `vendor`."""
    if "vendor" not in thing.keys() or not len(thing.vendor):
        return

    def path_of(target: Object | str) -> str:
        if isinstance(target, str):
            return context.root + target
        placement = context.placements.find(target, None)
        return placement.path if placement is not None else context.hidden_path(target)

    joint = prim.get(usd_physics.Joint)
    schemas, broken = _read(thing, context.meters, joint_type(thing.id_data), places, path_of, joint)
    prim.schemas.update(schemas)
    if context.animated.paths:
        for number, row in enumerate(thing.vendor):
            if row.applied in schemas and (attribute := attribute_of(row)) is not None:
                context.animated.note_row(thing, number, schemas[row.applied], attribute.field, schemas_of)
    for name, reason in broken:
        context.issue(
            "ValueUnreadable", "error", prim.path, prim.label,
            f"{name} of {prim.display} cannot be written: {reason}.", f"Correct {name}, or remove it.",
        )  # fmt: skip


def schemas_of(thing: PropertyGroup, meters: float) -> dict[str, Schema]:
    """The schemas of vendors of an owner of properties, by name with instance, without their relationships."""
    return _read(thing, meters, joint_type(thing.id_data), path_of=lambda _target: "")[0]


def write_vendor(
    writer: PropertyWriter, thing: PropertyGroup, owner: str, prim: Prim, objects: Mapping[str, Object]
) -> None:  # fmt: skip
    """Write the vendor schemas of a prim to the rows of an owner of properties. objects: by prim path."""
    if _OWN_NAMES.issuperset(prim.schemas):  # the usual case
        return
    for name, value in prim.schemas.items():
        cls = type(value)
        if cls.family in schema.OWN_FAMILIES or cls.on not in PLACES[owner]:
            continue
        add_row(thing, name, "", "", "")
        instance = schema.split_applied(name)[1]
        dof = vendor_schemas.dof_of(cls, instance, prim.type_name)
        for attribute, content in value.authored():
            if attribute.is_relationship:
                _write_targets(thing, name, attribute.usd_name(instance), content, objects)
                continue
            if not attribute.is_editable or not attribute.accepts(content):
                continue
            factor = 1.0
            if attribute.value.has_unit:
                meters = writer.local if attribute.space == "local" else writer.meters
                factor = 1.0 / property_factor(attribute.dimension_for(dof, value.unit_mode), meters)
            convert = partial(_in_unit, attribute=attribute, factor=factor)
            text = text_of(attribute.value, convert(content))
            row = add_row(thing, name, attribute.usd_name(instance), attribute.type, text)
            if writer.note_row is not None:
                writer.note_row(row, value, attribute.field, convert)


def _in_unit(content: Any, *, attribute: Attribute, factor: float) -> Any:
    if not attribute.value.has_unit or attribute.is_sentinel(content):
        return content
    return with_elements(attribute.value, content, partial(_scaled, factor=factor))


def _write_targets(
    thing: PropertyGroup, applied: str, name: str, targets: Sequence[str], objects: Mapping[str, Object]
) -> None:
    """Write a relationship: a row for each target. A target without an object stays a path."""
    kind = value_type("string[]")
    for target in targets:
        obj = objects.get(target)
        add_row(thing, applied, name, "rel", "" if obj is not None else text_of(kind, (target,))).target = obj
    if not targets:
        add_row(thing, applied, name, "rel", text_of(kind, ()))


def add_row(thing: Any, applied: str, name: str, type_: str, text: str) -> Any:
    row = thing.vendor.add()
    row.applied = applied
    if name:
        row.name, row.type, row.text = name, type_, text
    return row
