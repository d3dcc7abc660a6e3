# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that an older version has stored under another name, or in another way, arrive in today's properties.

`MIGRATIONS` is the table; `docs/recipes.md` says how to add a row. Blender keeps values whose property is not
registered any more; they are moved there, as stored, so no update callback runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import bpy
from bpy.types import PropertyGroup

from ...system.version import addon_version, order
from . import stamps


class Migration(NamedTuple):
    """A property that was stored in another way before a version of the add-on.

    group: class of the property group. old, new: the name in it, or names with dots for one in groups below it; new is
    empty if the value is stored no longer. convert: the stored value -> the new one. Enums are stored as numbers, their
    sets as the sum of numbers, vectors as lists.
    """

    version: str
    group: str
    old: str
    new: str
    convert: Callable[[Any], Any] | None = None


#: In the order in which they are applied.
MIGRATIONS: tuple[Migration, ...] = ()


def pending(version: str) -> list[Migration]:
    """The migrations for what a version of the add-on has stored."""
    return [one for one in MIGRATIONS if order(version) < order(one.version)]


def migrate(arrived: Iterable[tuple[Any, object]]) -> dict[int, str]:
    """Migrate data-blocks that have come from files: (data-block, which file it is from).

    Those that a newer add-on has saved stay as they are. Linked ones are migrated in memory, which no file shows.
    Returns the former versions by `session_uid`.
    """
    if not MIGRATIONS:
        return {}
    by_file: dict[object, list[Any]] = {}
    for owner, file in arrived:
        by_file.setdefault(file, []).append(owner)
    former: dict[int, str] = {}
    for group in by_file.values():
        # Saving stamps all of a file. What has no stamp was made after that, and autosaved or copied to the clipboard.
        version_of_file = stamps.newest(map(stamps.stamp_of, group))
        for owner in group:
            version = stamps.stamp_of(owner) or version_of_file
            if migrate_from(owner, version):
                former[owner.session_uid] = version
    return former


def migrate_from(owner: Any, version: str) -> bool:
    """Migrate a data-block that a version of the add-on has stored, and stamp it; False if there is nothing to do."""
    steps = pending(version)
    if stamps.is_newer(version) or not steps or not stamps.holds_values(owner.usdphys):
        return False
    for step in steps:
        for group in list(_groups(owner.usdphys, step.group)):
            _move(group, step)
            if step.new and step.new != step.old:
                _rename_paths(owner, group.path_from_id(), step)
    owner.usdphys.version = addon_version()
    return True


def _groups(group: Any, name: str) -> Iterator[Any]:
    """The groups of a class, in a group and below it. None that is unset is made."""
    if group.bl_rna.identifier == name:
        yield group
    known = group.bl_rna.properties
    for key in list(group.keys()):
        item = known.get(key)
        if item is None or item.type not in ("POINTER", "COLLECTION"):
            continue
        value = getattr(group, key)
        for below in value if item.type == "COLLECTION" else (value,):
            if isinstance(below, bpy.types.PropertyGroup):  # and no data-block
                yield from _groups(below, name)


# --------------------------------------------------------------------------- stored values


def _move(group: PropertyGroup, step: Migration) -> None:
    """Move the stored value of a group to its new name."""
    holder, name = _holder(group, step.old, makes=False)
    if holder is None or name not in holder.keys():
        return
    value = plain(holder[name])
    if step.new != step.old:
        del holder[name]
    if not step.new:
        return
    target, new = _holder(group, step.new, makes=True)
    if step.new != step.old and new in target.keys():
        return
    target[new] = value if step.convert is None else _as_stored(group, step.new, step.convert(value))


def _holder(group: PropertyGroup, path: str, *, makes: bool) -> tuple[Any, str]:
    """(the group that holds a value, its name there); None for a group that is unset, unless it is made."""
    *above, name = path.split(".")
    for part in above:
        if part not in group.keys():
            if not makes:
                return None, name
            group[part] = {}
        group = group[part]
    return group, name


def plain(value: Any) -> Any:
    """A stored value as one that can be stored elsewhere: groups as dictionaries, arrays and lists as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "to_list"):
        return value.to_list()
    return [plain(one) for one in value] if isinstance(value, list) else value


def _as_stored(group: PropertyGroup, path: str, value: Any) -> Any:
    """A converted value in the type that Blender stores: it drops a whole number where it expects another one."""
    item: Any = None
    known = group.bl_rna.properties
    for part in path.split("."):
        item = known[part]
        known = item.fixed_type.properties if hasattr(item, "fixed_type") else {}
    kind = {"FLOAT": float, "INT": int, "ENUM": int, "BOOLEAN": int, "STRING": str}.get(item.type)
    if kind is None:
        return value
    return [kind(part) for part in value] if getattr(item, "is_array", False) else kind(value)


# --------------------------------------------------------------------------- animation


def _rename_paths(owner: Any, path: str, step: Migration) -> None:
    """Have keyframes and drivers of a data-block follow a property of the group with this path."""
    old, new = f"{path}.{step.old}", f"{path}.{step.new}"
    for curve in _curves(owner):
        rest = curve.data_path.removeprefix(old)
        if rest != curve.data_path and rest[:1] in ("", ".", "["):
            curve.data_path = new + rest


def _curves(owner: Any) -> Iterator[Any]:
    data = owner.animation_data
    if data is None:
        return
    yield from data.drivers
    actions = {strip.action for track in data.nla_tracks for strip in track.strips} | {data.action}
    for action in actions - {None}:
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from bag.fcurves
