# SPDX-License-Identifier: GPL-3.0-or-later
"""bpy properties made from the schema table: type, unit, tooltip and default of each attribute."""

from __future__ import annotations

from typing import Any

import bpy

from ..core import schema, units
from ..core.schema import Attribute, Schema

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


def _tooltip(attribute: Attribute, unit: str) -> str:
    return f"{attribute.doc}{f' ({unit})' if unit else ''}. USD: {attribute.usd.replace(schema.INSTANCE, '*')}"


def unit_label(attribute: Attribute, angular: bool = False, acceleration: bool = False) -> str:
    """Unit of a property as text, empty where it is a plain number or where Blender shows it itself."""
    dimension = attribute.dimension_for("rotX" if angular else "transX", "acceleration" if acceleration else None)
    per_second = {
        "velocity": "/s", "angular_velocity": "/s", "target_velocity": "/s", "damping": "·s",
        "gravity_magnitude": "/s²",
    }.get(attribute.field, "")  # fmt: skip
    names = {
        units.NONE: "", units.LENGTH: "m", units.ANGLE: "°", units.MASS: "kg", units.DENSITY: "kg/m³",
        units.FORCE: "N", units.TORQUE: "N·m", units.INERTIA: "kg·m²", units.ANGULAR_GAIN: "N·m/°",
        units.ANGULAR_RATE_GAIN: "1/s²/°",
    }  # fmt: skip
    if attribute.field in ("max_force", "break_force", "break_torque"):
        return "N·m" if angular or attribute.field == "break_torque" else "N"
    if attribute.field in ("stiffness", "damping") and not angular:
        return "N·s/m" if per_second else "N/m"
    return names[dimension] + per_second


def _property(attribute: Attribute, angular: bool = False) -> Any:
    """The bpy property of an attribute, with its fallback as default."""
    dimension = attribute.dimension_for("rotX" if angular else "transX")
    common: dict[str, Any] = {
        "name": attribute.label,
        "description": _tooltip(attribute, unit_label(attribute, angular)),
        "override": OVERRIDABLE,
    }
    if attribute.type == "bool":
        return bpy.props.BoolProperty(default=bool(attribute.fallback), **common)
    if attribute.type == "token":
        items = [(token, _token_label(token), "") for token in attribute.tokens]
        return bpy.props.EnumProperty(items=items, default=attribute.fallback, **common)
    if attribute.type in ("string", "pathExpression"):
        return bpy.props.StringProperty(default=attribute.fallback or "", **common)
    velocity = attribute.field in ("velocity", "angular_velocity", "target_velocity")
    if attribute.type == "quatf":
        return bpy.props.FloatVectorProperty(size=4, subtype="QUATERNION", default=(1.0, 0.0, 0.0, 0.0), **common)
    if attribute.type in ("float3", "point3f", "vector3f"):
        if dimension == units.LENGTH:
            subtype: Any = "VELOCITY" if velocity else "TRANSLATION"
        else:
            subtype = "EULER" if dimension == units.ANGLE else "XYZ"
        zero = (0.0, 0.0, 0.0)
        return bpy.props.FloatVectorProperty(size=3, subtype=subtype, default=zero, precision=4, **common)
    if dimension == units.LENGTH:
        common["unit"] = "ACCELERATION" if "gravity" in attribute.field else "VELOCITY" if velocity else "LENGTH"
    elif dimension == units.ANGLE:
        common["subtype"] = "ANGLE"
    return bpy.props.FloatProperty(default=attribute.fallback, precision=4, **common)


def _token_label(token: str) -> str:
    return "".join(f" {letter}" if letter.isupper() else letter for letter in token).strip().title()


def _group(name: str, doc: str, annotations: dict[str, Any]) -> type[bpy.types.PropertyGroup]:
    return type(name, (bpy.types.PropertyGroup,), {"__doc__": doc, "__annotations__": annotations})


def _attributes(cls: type[Schema], angular: bool = False, skip: frozenset[str] = frozenset()) -> dict[str, Any]:
    return {
        attribute.field: _property(attribute, angular)
        for attribute in cls.attributes
        if not attribute.is_relationship and attribute.type != "opaque" and attribute.field not in skip
    }


def _is_applied(what: str) -> Any:
    return bpy.props.BoolProperty(name=what, description=f"{what} is applied", override=OVERRIDABLE)


def _pointer(group: Any, name: str = "") -> Any:
    return bpy.props.PointerProperty(type=group, name=name, override=OVERRIDABLE)


def _list(group: Any, name: str = "") -> Any:
    return bpy.props.CollectionProperty(type=group, name=name, override=OVERRIDABLE_LIST)


def _index() -> Any:
    return bpy.props.IntProperty(min=0, options={"HIDDEN"})


def _hidden_text() -> Any:
    return bpy.props.StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)


def _hidden_flag() -> Any:
    return bpy.props.BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
