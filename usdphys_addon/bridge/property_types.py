# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates bpy properties from the schema table: type, unit, tooltip and default of each attribute."""

from typing import Any

import bpy
from bpy.types import Context, PropertyGroup

from ..core import array_text, schema, units
from ..core.schema import Attribute, Schema
from ..core.switch import Switch
from ..core.value_types import RANGES
from .known_names import KnownNames
from .stored import stamps

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
#: Integer types beyond the 32 bits of Blender's integer properties; they are held as text.
LARGE_INTEGERS = frozenset({"uint", "int64", "uint64"})


def _tooltip(attribute: Attribute, unit: str) -> str:
    return f"{attribute.doc}{f' ({unit})' if unit else ''}. USD: {attribute.usd.replace(schema.INSTANCE, '*')}"


def unit_label(attribute: Attribute, angular: bool = False) -> str:
    """Unit of a property as text; empty for a plain number."""
    return units.unit_name(attribute.dimension_for("rotX" if angular else "transX", None))


#: Dimensions that Blender can show with units.
_UNITS = {units.LENGTH: "LENGTH", units.VELOCITY: "VELOCITY", units.ACCELERATION: "ACCELERATION"}
_VECTOR_SUBTYPES: dict[units.Dimension, Any] = {
    units.LENGTH: "TRANSLATION", units.VELOCITY: "VELOCITY", units.ACCELERATION: "ACCELERATION",
    units.ANGLE: "EULER", units.ANGULAR_VELOCITY: "EULER",
}  # fmt: skip


#: Units that Blender cannot show with the value: its own mass unit scales with the cube of the scene's unit scale.
_LABEL_UNITS = {
    units.MASS: " (kg)", units.DENSITY: " (kg/m³)", units.INERTIA: " (kg·m²)", units.ANGULAR_VELOCITY: " (°/s)",
}  # fmt: skip


#: Labels of tokens that say something else as words: a mesh with this approximation does collide.
_TOKEN_LABELS = {"physics:approximation": {"none": "Triangle Mesh"}}


def make_property(attribute: Attribute, angular: bool = False) -> Any:
    """The bpy property of an attribute, with its fallback as default. Arrays are text, see `core.array_text`."""
    kind, fallback = attribute.value, attribute.fallback
    dimension = attribute.dimension_for("rotX" if angular else "transX")
    common: dict[str, Any] = {
        "name": f"{attribute.label}{_LABEL_UNITS.get(dimension, '')}",
        "description": _tooltip(attribute, unit_label(attribute, angular)),
        "override": OVERRIDABLE,
    }
    if kind.is_array:
        return bpy.props.StringProperty(default=array_text.format_array(fallback or ()), **common)
    if kind.base == "text":
        if attribute.tokens:
            labels = _TOKEN_LABELS.get(attribute.usd, {})
            items = [(token, labels.get(token) or _token_label(token), "") for token in attribute.tokens]
            return bpy.props.EnumProperty(items=items, default=fallback, **common)
        if attribute.type == "asset":
            common["subtype"] = "FILE_PATH"
        return bpy.props.StringProperty(default=fallback or "", **common)
    if kind.is_quaternion:
        default = fallback if fallback is not None and any(fallback) else kind.zero
        return bpy.props.FloatVectorProperty(size=4, subtype="QUATERNION", default=default, **common)
    if kind.size > 1:
        # A sentinel fallback for "automatic" would be shown as a number.
        default = kind.zero if fallback is None or attribute.is_automatic(fallback) else fallback
        if kind.base == "int":
            return bpy.props.IntVectorProperty(size=kind.size, default=default, **common)
        if kind.size == 3:
            common["subtype"] = _VECTOR_SUBTYPES.get(dimension, "XYZ")
        return bpy.props.FloatVectorProperty(size=kind.size, default=default, precision=4, **common)
    default = kind.zero if fallback is None else fallback
    if kind.base == "bool":
        return bpy.props.BoolProperty(default=bool(default), **common)
    if kind.base == "int":
        if attribute.type in LARGE_INTEGERS:
            return bpy.props.StringProperty(default=str(default), **common)
        low, high = RANGES[attribute.type]
        return bpy.props.IntProperty(default=default, min=low, max=high, **common)
    if dimension in _UNITS:
        common["unit"] = _UNITS[dimension]
    elif dimension in (units.ANGLE, units.ANGULAR_VELOCITY):
        common["subtype"] = "ANGLE"
    return bpy.props.FloatProperty(default=default, precision=4, **common)


def _token_label(token: str) -> str:
    return "".join(f" {letter}" if letter.isupper() else letter for letter in token).strip().title()


#: Kinds of properties that a user sets as one value; lists and groups have no `update`.
_SINGLE_VALUES = (
    bpy.props.BoolProperty, bpy.props.IntProperty, bpy.props.FloatProperty, bpy.props.StringProperty,
    bpy.props.EnumProperty, bpy.props.IntVectorProperty, bpy.props.FloatVectorProperty, bpy.props.BoolVectorProperty,
)  # fmt: skip


_only_values = Switch()
#: Within this block, setting a value does not apply its schema.
values_only = _only_values.on


def apply_schema(group: PropertyGroup, _context: Context) -> None:
    """Update callback of a value: apply the schema that it belongs to."""
    if not _only_values.is_on and not group.is_applied:
        group.is_applied = True


def apply_joint(group: Any, _context: Context | None = None) -> None:
    """Apply the joint that a group of values belongs to, unless the group was switched off."""
    joint = group.id_data.usdphys.joint
    if not _only_values.is_on and getattr(group, "is_applied", True) and not joint.is_applied:
        joint.is_applied = True


def _apply_with_joint(group: PropertyGroup, context: Context) -> None:
    apply_schema(group, context)
    apply_joint(group)


def make_group(name: str, doc: str, annotations: dict[str, Any], of_joint: bool = False) -> type[PropertyGroup]:
    """A group of properties. Setting a visible value applies the schema of the group.

    of_joint: it is a part of a joint, which is applied as well.
    """
    has_switch = "is_applied" in annotations
    update = (_apply_with_joint if has_switch else apply_joint) if of_joint else apply_schema if has_switch else None
    for field, deferred in annotations.items():
        if (
            update is None
            or deferred.function not in _SINGLE_VALUES
            or "HIDDEN" in deferred.keywords.get("options", ())
            or (field != "is_applied" and "update" in deferred.keywords)
        ):
            continue
        if field != "is_applied":
            deferred.keywords["update"] = update
        elif of_joint:
            deferred.keywords["update"] = apply_joint
    members = {"__doc__": doc, "__annotations__": annotations, "__slots__": ()}
    return type(name, (KnownNames, bpy.types.PropertyGroup), members)


def make_properties(cls: type[Schema], angular: bool = False, skip: frozenset[str] = frozenset()) -> dict[str, Any]:
    return {
        attribute.field: make_property(attribute, angular)
        for attribute in cls.attributes
        if attribute.is_editable and attribute.field not in skip
    }


def _mark(group: PropertyGroup, _context: Context) -> None:
    """Update callback of a switch: a data-block with physics says which version of the add-on has made it."""
    stamps.mark(group.id_data)


def is_applied(what: str) -> Any:
    return bpy.props.BoolProperty(name=what, description=f"{what} is applied", override=OVERRIDABLE, update=_mark)


def stamp() -> dict[str, Any]:
    """The property that holds the version of the add-on, for the groups of data-blocks. An override has no own one."""
    return {stamps.STAMP: bpy.props.StringProperty(options={"HIDDEN"})}


def pointer(group: type[PropertyGroup], name: str = "") -> Any:
    return bpy.props.PointerProperty(type=group, name=name, override=OVERRIDABLE)


def list_of(group: type[PropertyGroup], name: str = "") -> Any:
    return bpy.props.CollectionProperty(type=group, name=name, override=OVERRIDABLE_LIST)


def index() -> Any:
    return bpy.props.IntProperty(min=0, options={"HIDDEN"})


def hidden_text() -> Any:
    return bpy.props.StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)


def hidden_flag() -> Any:
    return bpy.props.BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
