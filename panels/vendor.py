# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the properties of vendor schemas: one switch for each declared schema, and its values below."""

from __future__ import annotations

from typing import Any

from ..usdphys_addon.bridge import vendor_props
from ..usdphys_addon.core.schema import Schema
from . import attributes


def draw(layout: Any, thing: Any, owner: str, data_path: str) -> None:
    """The vendor schemas of an owner of properties.

    owner: which kind of owner, see vendor_props.PLACES. data_path: from "object", "scene" or "material" to it.
    """
    for cls in vendor_props.schemas_of(owner):
        name = vendor_props.group_name(cls)
        group, path = getattr(thing.vendor, name), f"{data_path}.vendor.{name}"
        if cls.kind != "multiple":
            _draw_schema(layout, group, cls, cls.usd_name, path)
            continue
        for instance in cls.instances:
            _draw_schema(layout, getattr(group, instance), cls, f"{cls.usd_name}: {instance}", f"{path}.{instance}")


def _draw_schema(layout: Any, group: Any, cls: type[Schema], text: str, path: str) -> None:
    layout.prop(group, "is_applied", text=text)
    if group.is_applied:
        attributes.draw(layout, group, attributes.fields_of(cls), path)
