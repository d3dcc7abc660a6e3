# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit the collision groups of a scene: make them, which of them filter each other, and their members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ..bridge.list_items import remove_item
from ..bridge.roles import applies
from ..core import paths
from ..core.collision_groups import MergedGroups, merge
from ..core.errors import InputError
from ..core.schemas import usd_physics
from ..core.words import counted, joined, named, phrase
from .edit_report import LINKED, NOT_JOINTS, EditReport, sentences

_LINKED_SCENE = "The scene '{name}' is linked and cannot get a collision group; work in a scene of this file"


def add_group(scene: Scene, objects: Iterable[Object], name: str, *, ignores_itself: bool = False) -> EditReport:
    """Make a collision group with these members. A taken name gets a number. Raises InputError."""
    if scene.library is not None:
        raise InputError(phrase(_LINKED_SCENE, name=scene.name))
    left_out: dict[str, list[str]] = defaultdict(list)
    members = []
    for obj in objects:
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        elif obj.type == "EMPTY" and applies(obj, "joint"):
            left_out[NOT_JOINTS].append(obj.name)
        else:
            members.append(obj)
    notes = sentences(left_out)
    if not members:
        raise InputError(joined(". ", notes or ["There are no objects to make a group of; select some"]))
    free = _free_group_name(name)
    reached = set()
    for obj in bpy.data.objects:
        above: Any = obj if len(obj.usdphys.colliders) else None
        while above is not None and above.name_full not in reached:
            reached.add(above.name_full)
            above = above.parent
    idle = [obj.name for obj in members if obj.name_full not in reached and obj.instance_type != "COLLECTION"]
    group = scene.usdphys.collision_groups.add()
    group.name = free
    if ignores_itself:
        group.filtered_groups.add().name = free
    scene.usdphys.active_group_index = len(scene.usdphys.collision_groups) - 1
    for obj in members:
        obj.usdphys.collision_groups.add().name = free
    if idle:
        notes.append(phrase("Groups affect colliders only, and there are none on {names}", names=named(idle)))
    number = counted(len(members), "object")
    text = phrase("Made the collision group '{group}' of {objects}", group=free, objects=number)
    return EditReport(text, notes, [obj.name for obj in members])


def _free_group_name(name: str) -> str:
    """The name, with a number appended if a group of any scene or a membership uses it."""
    owners: list[Any] = [*bpy.data.scenes, *bpy.data.objects]
    taken = {item.name for owner in owners for item in owner.usdphys.collision_groups}
    taken |= {item.name for obj in bpy.data.objects for collider in obj.usdphys.colliders
              for item in collider.collision_groups}  # fmt: skip
    return paths.free(name.strip() or "Group", taken.__contains__, "{}", 2)


def group_named(scene: Scene, name: str) -> Any:
    """The collision group with this name. Raises InputError if there is none."""
    named = next((group for group in scene.usdphys.collision_groups if group.name == name), None)
    if named is None:
        raise InputError(f"The scene has no collision group '{name}'; add one in the scene's physics.")
    return named


def merged_groups(scene: Scene) -> MergedGroups:
    """The collision groups of a scene by name; groups with the same merge group count as one."""
    return merge({
        group.name: usd_physics.CollisionGroup(
            merge_group=group.merge_group or None, invert_filtered_groups=group.invert_filtered_groups,
            filtered_groups=tuple(item.name for item in group.filtered_groups),
        )
        for group in scene.usdphys.collision_groups
    })  # fmt: skip


def are_ignored(scene: Scene, one: str, other: str) -> bool:
    """True if the members of two groups, given by name, pass through each other."""
    merged = merged_groups(scene)
    return merged.ignore_each_other(merged.number[one], merged.number[other])


def set_ignored(scene: Scene, one: str, other: str, ignored: bool) -> None:
    """Let the members of two groups, given by name, pass through each other, or collide.

    Groups that are merged with one of the two do the same. Raises InputError if there is no group with a name.
    """
    first, second = group_named(scene, one), group_named(scene, other)
    if are_ignored(scene, one, other) == ignored:
        return
    merged = merged_groups(scene)
    if ignored:
        _set_rule(first, _merging_with(merged, other), other, ignored=True)
        return
    # Any group that is merged with one of the two may hold the filter.
    for name in _merging_with(merged, one):
        _set_rule(group_named(scene, name), _merging_with(merged, other), second.name, ignored=False)
    for name in _merging_with(merged, other):
        _set_rule(group_named(scene, name), _merging_with(merged, one), first.name, ignored=False)


def _merging_with(merged: MergedGroups, name: str) -> set[str]:
    """The names of all groups that are merged with a group, including its own."""
    return {other for other, number in merged.number.items() if number == merged.number[name]}


def _set_rule(group: PropertyGroup, targets: set[str], name: str, *, ignored: bool) -> None:
    """Add a group to the filtered groups of another, or remove it; the reverse if the other inverts its list.

    targets: the names that count as this group, its own and those merged with it.
    """
    listed = [index for index, item in enumerate(group.filtered_groups) if item.name in targets]
    is_listed = ignored != bool(group.invert_filtered_groups)
    if is_listed and not listed:
        group.filtered_groups.add().name = name
    elif not is_listed:
        for index in reversed(listed):
            group.filtered_groups.remove(index)


def members(name: str) -> list[Object]:
    """The objects that are members of a group themselves, not through a parent."""
    return [
        obj for obj in bpy.data.objects
        if "collision_groups" in (physics := obj.usdphys).keys()
        and any(item.name == name and not item.exclude for item in physics.collision_groups)
    ]  # fmt: skip


def add_members(name: str, objects: Iterable[Object]) -> int:
    """Put objects into a group, except linked ones. Returns how many were not in it before."""
    added = 0
    for obj in objects:
        memberships = obj.usdphys.collision_groups
        if not obj.is_editable or any(item.name == name and not item.exclude for item in memberships):
            continue
        _remove(memberships, name, exclude=True)
        memberships.add().name = name
        added += 1
    return added


def remove_members(name: str, objects: Iterable[Object]) -> int:
    """Take objects out of a group, except linked ones. Exclusions from the group stay. Returns how many were in it."""
    return sum(_remove(obj.usdphys.collision_groups, name, exclude=False) for obj in objects if obj.is_editable)


def _remove(memberships: PropertyGroup, name: str, *, exclude: bool) -> bool:
    """Remove an object's memberships in a group, or its exclusions from it. True if there were any."""
    matching = [
        index for index, item in enumerate(memberships) if item.name == name and bool(item.exclude) == exclude
    ]  # fmt: skip
    for index in reversed(matching):
        remove_item(memberships, index)
    return bool(matching)
