# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of schemas that can be applied several times under any name, such as those of tendons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..bridge import vendor_rows
from ..core import paths, schema, vendor_schemas
from ..core.errors import InputError
from ..core.schema import Schema

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def family_of(cls: type[Schema]) -> frozenset[str]:
    """The schemas that one name joins: the axes of a tendon have the name of its root."""
    if cls.kind != "multiple" or cls.instances or not cls.attributes:
        return frozenset()
    space = _space(cls)
    return frozenset(
        other.usd_name for other in vendor_schemas.all_schemas(cls.on)
        if other.kind == "multiple" and not other.instances and other.attributes and _space(other) == space
    )  # fmt: skip


def is_named(applied: str) -> bool:
    """Whether an applied schema has a name that the user chooses."""
    cls = vendor_schemas.find(schema.split_applied(applied)[0])
    return cls is not None and bool(family_of(cls))


def _space(cls: type[Schema]) -> str:
    return cls.attributes[0].usd.partition(":")[0]


def _instances(thing: PropertyGroup, family: frozenset[str]) -> dict[str, str]:
    """Schema by instance of those of a family that an owner of rows has."""
    pairs = (schema.split_applied(applied) for applied in vendor_rows.applied_names(thing))
    return {instance: base for base, instance in pairs if base in family}


def choices(cls: type[Schema], thing: PropertyGroup | None) -> list[str]:
    """Names under which a schema can be on an owner: its own, those of others in the file, and a new one."""
    family = family_of(cls) or frozenset({cls.usd_name})
    own = {} if thing is None else _instances(thing, family)
    known = dict.fromkeys(instance for instance, base in own.items() if base == cls.usd_name)
    for obj in bpy.data.objects if thing is not None else ():
        known.update(dict.fromkeys(name for name in _instances(obj.usdphys, family) if name not in own))
    fresh = paths.free("default", lambda name: name in known or name in own)
    return [*known, fresh]


def rename(things: Iterable[Any], applied: str, name: str) -> int:
    """Give an instance another name on all of some owners of rows that have it. Returns on how many it was.

    Raises InputError for a name that USD refuses, and for one that such an owner has already.
    """
    base, old = schema.split_applied(applied)
    cls = vendor_schemas.find(base)
    family = family_of(cls) if cls is not None else frozenset()
    if not old or not family:
        raise InputError(f"'{applied}' has no name of its own; only tendons and their like have one")
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name}' is no name that USD takes; use letters, digits and underscores")
    renamed = [thing for thing in things if old in _instances(thing, family)]
    if name == old:
        return 0
    for thing in renamed:
        if name in _instances(thing, family):
            raise InputError(f"'{thing.id_data.name}' has '{name}' already; choose another name")
    for thing in renamed:
        for row in thing.vendor:
            kind, instance = schema.split_applied(row.applied)
            if kind not in family or instance != old:
                continue
            attribute = vendor_rows.attribute_of(row)
            row.applied = f"{kind}:{name}"
            if attribute is not None:
                row.name = attribute.usd_name(name)
    _follow_parents(renamed, old, name)
    return len(renamed)


def with_instance(applied: str) -> list[str]:
    """Names of the objects of the file with an instance of the family of a schema, such as all joints of a tendon."""
    base, instance = schema.split_applied(applied)
    cls = vendor_schemas.find(base)
    family = family_of(cls) if cls is not None else frozenset()
    things: Any = bpy.data.objects
    return [obj.name for obj in things if instance in _instances(obj.usdphys, family)]


def _follow_parents(things: list[Any], old: str, name: str) -> None:
    """Attachments of a spatial tendon name the one before them."""
    for thing in things:
        for row in thing.vendor:
            if row.name.endswith(":parentAttachment") and row.text == old:
                row.text = name
