# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups of a scene: who ignores whom, and who belongs to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..core.collision_groups import MergedGroups, merge
from ..core.errors import InputError
from ..core.schemas import usd_physics


def group_named(scene: Any, name: str) -> Any:
    """The collision group of a name. Raises InputError."""
    found = next((group for group in scene.usdphys.collision_groups if group.name == name), None)
    if found is None:
        raise InputError(f"The scene has no collision group '{name}'; add one in the scene's physics.")
    return found


def merged_groups(scene: Any) -> MergedGroups:
    """The collision groups of a scene by name, those that share a merge name as one."""
    return merge({
        group.name: usd_physics.CollisionGroup(
            merge_group=group.merge_group or None, invert_filtered_groups=group.invert_filtered_groups,
            filtered_groups=tuple(item.name for item in group.filtered_groups),
        )
        for group in scene.usdphys.collision_groups
    })  # fmt: skip


def are_ignored(scene: Any, one: str, other: str) -> bool:
    """Whether the members of two groups, given by name, pass through each other."""
    merged = merged_groups(scene)
    return merged.ignore_each_other(merged.number[one], merged.number[other])


def set_ignored(scene: Any, one: str, other: str, ignored: bool) -> None:
    """Have the members of two groups, given by name, pass through each other, or collide.

    What merges with one of the two passes through, or collides, as well. Raises InputError for a name without group.
    """
    first, second = group_named(scene, one), group_named(scene, other)
    if are_ignored(scene, one, other) == ignored:
        return
    merged = merged_groups(scene)
    if ignored:
        _set_rule(first, _merging_with(merged, other), other, ignored=True)
        return
    # Each group that merges with one of the two may have said so.
    for name in _merging_with(merged, one):
        _set_rule(group_named(scene, name), _merging_with(merged, other), second.name, ignored=False)
    for name in _merging_with(merged, other):
        _set_rule(group_named(scene, name), _merging_with(merged, one), first.name, ignored=False)


def _merging_with(merged: MergedGroups, name: str) -> set[str]:
    """The names of the groups that are one with this group, its own among them."""
    return {other for other, number in merged.number.items() if number == merged.number[name]}


def _set_rule(group: Any, targets: set[str], name: str, *, ignored: bool) -> None:
    """List a group, or remove what lists it, in the filtered groups of another one. targets: what stands for it."""
    listed = [index for index, item in enumerate(group.filtered_groups) if item.name in targets]
    is_listed = ignored != bool(group.invert_filtered_groups)
    if is_listed and not listed:
        group.filtered_groups.add().name = name
    elif not is_listed:
        for index in reversed(listed):
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
