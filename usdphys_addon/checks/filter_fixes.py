# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of collision groups and filtered pairs."""

from __future__ import annotations

from typing import Any

from ..bridge.list_items import remove_item
from ..core.errors import InputError
from .fix_table import fix
from .issue_data import editable, find_object, group_of, memberships, nothing_to_do, object_of, require
from .report import FoundIssue


@fix("GroupUndefined", safe=True, label="Take the objects out of the group")
def _leave_group(scene: Any, issue: FoundIssue) -> None:
    members = [obj for obj in scene.objects if any(row.name == issue.name for _, row in memberships(obj))]
    for obj in members:
        editable(obj)
    for obj in members:
        for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders)):
            for row in reversed(range(len(rows))):
                if rows[row].name == issue.name:
                    rows.remove(row)


@fix("GroupTargetMissing", safe=True, label="Remove missing groups")
def _remove_missing_groups(scene: Any, issue: FoundIssue) -> None:
    _, group = group_of(scene, issue)
    known = {item.name for item in scene.usdphys.collision_groups}
    # A group that is only named by memberships exists, too.
    known.update(row.name for obj in scene.objects for _, row in memberships(obj))
    rows = group.filtered_groups
    missing = [row for row in range(len(rows)) if rows[row].name not in known]
    require(missing, issue)
    for row in reversed(missing):
        rows.remove(row)


@fix("GroupDuplicateTarget", safe=True, label="Remove duplicates")
def _remove_duplicates(scene: Any, issue: FoundIssue) -> None:
    _, group = group_of(scene, issue)
    lists = [
        rows for obj in scene.objects if obj.library is None
        for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders))
    ]  # fmt: skip
    _drop_repeated(group.filtered_groups, None)
    for rows in lists:
        _drop_repeated(rows, issue.name)


def _drop_repeated(rows: Any, only: str | None) -> None:
    """Remove rows that repeat an earlier one. only: the name of the rows to look at; None for all."""
    seen, doubled = set(), []
    for row, item in enumerate(rows):
        key = (item.name, getattr(item, "exclude", False))
        if only is not None and item.name != only:
            continue
        if key in seen:
            doubled.append(row)
        seen.add(key)
    for row in reversed(doubled):
        rows.remove(row)


@fix("GroupEmpty", safe=False, label="Remove the group")
def _remove_group(scene: Any, issue: FoundIssue) -> None:
    row, _ = group_of(scene, issue)
    remove_item(scene.usdphys.collision_groups, row)


@fix("GroupMergeConflict", safe=False, label="Invert like the first merged group")
def _agree_on_inversion(scene: Any, issue: FoundIssue) -> None:
    _, group = group_of(scene, issue)
    first = next(item for item in scene.usdphys.collision_groups if item.merge_group == group.merge_group)
    if bool(first.invert_filtered_groups) == bool(group.invert_filtered_groups):
        raise nothing_to_do(issue)
    group.invert_filtered_groups = first.invert_filtered_groups


def _pair_lists(scene: Any, issue: FoundIssue) -> tuple[Any, list[Any]]:
    obj = object_of(scene, issue)
    owners = (obj.usdphys, *obj.usdphys.colliders)
    return obj, [owner.filtered_pairs.filtered_pairs for owner in owners if owner.filtered_pairs.is_applied]


@fix("FilteredPairMissing", safe=True, label="Remove missing objects")
def _remove_missing_pairs(scene: Any, issue: FoundIssue) -> None:
    _, lists = _pair_lists(scene, issue)
    missing = []
    for rows in lists:
        for row in reversed(range(len(rows))):
            other = rows[row].object
            if other is not None and find_object(scene, other.name_full) is not None:
                if not other.visible_get():
                    raise InputError(f"'{issue.name}' filters '{other.name}', which is hidden; show it or remove it.")
                continue
            if other is not None or not rows[row].path or rows[row].path in issue.message:
                missing.append((rows, row))
    require(missing, issue)
    for rows, row in missing:
        rows.remove(row)


@fix("FilteredPairSelf", safe=True, label="Remove the object from its own pairs")
def _remove_self(scene: Any, issue: FoundIssue) -> None:
    obj, lists = _pair_lists(scene, issue)
    for rows in lists:
        for row in reversed(range(len(rows))):
            if rows[row].object == obj:
                rows.remove(row)
