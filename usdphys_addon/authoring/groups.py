# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups of a scene: who ignores whom, and who belongs to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..core.errors import InputError


def group_named(scene: Any, name: str) -> Any:
    """The collision group of a name. Raises InputError."""
    found = next((group for group in scene.usdphys.collision_groups if group.name == name), None)
    if found is None:
        raise InputError(f"The scene has no collision group '{name}'; add one in the scene's physics.")
    return found


def ignores(group: Any, other: Any) -> bool:
    """Whether a group itself says that its members pass through those of another; either of the two is enough."""
    is_listed = any(item.name == other.name for item in group.filtered_groups)
    return bool(is_listed != group.invert_filtered_groups)


def are_ignored(one: Any, other: Any) -> bool:
    """Whether the members of two groups pass through each other."""
    return ignores(one, other) or ignores(other, one)


def set_ignored(one: Any, other: Any, ignored: bool) -> None:
    """Have the members of two groups pass through each other, or collide."""
    _say(one, other, ignored)
    if not ignored:
        _say(other, one, False)


def _say(group: Any, other: Any, ignored: bool) -> None:
    if ignores(group, other) == ignored:
        return
    is_listed = ignored != bool(group.invert_filtered_groups)
    if is_listed:
        group.filtered_groups.add().name = other.name
        return
    for index in reversed(range(len(group.filtered_groups))):
        if group.filtered_groups[index].name == other.name:
            group.filtered_groups.remove(index)


def members(name: str) -> list[bpy.types.Object]:
    """The objects that belong to a group themselves, not by a parent."""
    return [
        obj for obj in bpy.data.objects
        if "collision_groups" in (physics := obj.usdphys).keys()  # type: ignore[attr-defined]
        and any(item.name == name and not item.exclude for item in physics.collision_groups)
    ]  # fmt: skip


def add_members(name: str, objects: Iterable[Any]) -> int:
    """Put objects into a group; the number of those that were not in it. Linked objects are left out."""
    added = 0
    for obj in objects:
        memberships = obj.usdphys.collision_groups
        if not obj.is_editable or any(item.name == name and not item.exclude for item in memberships):
            continue
        remove_members(name, [obj])
        memberships.add().name = name
        added += 1
    return added


def remove_members(name: str, objects: Iterable[Any]) -> int:
    """Take objects out of a group; the number of those that were in it."""
    removed = 0
    for obj in objects:
        memberships = obj.usdphys.collision_groups
        before = len(memberships)
        for index in reversed(range(before)):
            if memberships[index].name == name and obj.is_editable:
                memberships.remove(index)
        removed += len(memberships) < before
    return removed


def rename(scene: Any, old: str, new: str) -> None:
    """Let members, exclusions and filters follow a group to its new name."""
    for obj in bpy.data.objects:
        physics = obj.usdphys  # type: ignore[attr-defined]
        touched = physics.keys()
        memberships = list(physics.collision_groups) if "collision_groups" in touched else []
        for collider in physics.colliders if "colliders" in touched else ():
            memberships += collider.collision_groups
        for item in memberships:
            if item.name == old:
                item.name = new
    for group in scene.usdphys.collision_groups:
        for item in group.filtered_groups:
            if item.name == old:
                item.name = new
