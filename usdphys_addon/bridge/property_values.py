# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshot, restore, copy and unset property groups. Unset properties stay unset."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..core.schema import Schema, attribute_of
from .property_types import values_only
from .stored.stamps import STAMP


def decided(group: PropertyGroup, cls: type[Schema], name: str, instance: str = "") -> Any:
    """The value of a property that is set, vectors as tuples; None if it is automatic or "no limit"."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    if getattr(group.bl_rna.properties[name], "array_length", 0):
        value = tuple(value)
    return value if attribute_of(cls, name).is_decided(value, instance) else None


def _is_no_value(item: Any) -> bool:
    """True for a property that shows another one, and for the stamp, which says who has written the others."""
    return item.is_skip_save or item.identifier in ("rna_type", STAMP)


def snapshot(group: PropertyGroup) -> dict[str, Any]:
    """All values that are set in a property group and in nested groups, by name."""
    values: dict[str, Any] = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if _is_no_value(prop) or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if prop.type == "COLLECTION":
            values[name] = [snapshot(item) for item in value]
        elif isinstance(value, bpy.types.PropertyGroup):
            values[name] = snapshot(value)
        else:
            values[name] = tuple(value) if getattr(prop, "array_length", 0) else value
    return values


def restore(group: PropertyGroup, values: dict[str, Any]) -> None:
    """Set the values of a `snapshot`; other properties stay."""
    with values_only():
        _restore(group, values)


def _restore(group: PropertyGroup, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            _restore(getattr(group, name), value)
        elif isinstance(value, list):
            items = getattr(group, name)
            items.clear()
            for each in value:
                _restore(items.add(), each)
        else:
            setattr(group, name, value)


def unset_all(group: PropertyGroup) -> None:
    """Unset every property of a property group."""
    for prop in group.bl_rna.properties:
        if not _is_no_value(prop) and group.is_property_set(prop.identifier):
            group.property_unset(prop.identifier)


def drop_lone_stamp(group: PropertyGroup) -> None:
    """Unset the stamp of a property group in which nothing else is set: no version has written anything there."""
    if set(group.keys()) == {STAMP}:
        group.property_unset(STAMP)


def copy_property(
    source: PropertyGroup,
    target: PropertyGroup,
    name: str,
    left_out: Callable[[Any], Collection[str]] = lambda group: (),
) -> None:
    """Give a property the value that it has in another group of the same type, or unset it where it is not set there.

    left_out: gives the names that are not copied from a nested group.
    """
    with values_only():
        _copy_property(source, target, name, left_out)


def _copy_property(
    source: PropertyGroup, target: PropertyGroup, name: str, left_out: Callable[[Any], Collection[str]]
) -> None:
    if _is_no_value(source.bl_rna.properties[name]):
        return
    is_set = source.is_property_set(name)
    # is_property_set first: reading an unset group creates it.
    if not is_set and not target.is_property_set(name):
        return
    value, item = getattr(source, name), source.bl_rna.properties[name]
    if item.type == "POINTER" and isinstance(value, bpy.types.PropertyGroup):
        _copy_group(value, getattr(target, name), left_out)
    elif not is_set:
        target.property_unset(name)
    elif item.type == "COLLECTION":
        copies = getattr(target, name)
        copies.clear()
        for element in value:
            _copy_group(element, copies.add(), left_out)
    else:
        setattr(target, name, value)


def _copy_group(source: PropertyGroup, target: PropertyGroup, left_out: Callable[[Any], Collection[str]]) -> None:
    skipped = left_out(source)
    for name in source.bl_rna.properties.keys():
        if name != "rna_type" and name not in skipped:
            _copy_property(source, target, name, left_out)
