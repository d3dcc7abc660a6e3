# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups, filtered pairs and masses -> prims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..core.model import Prim
from ..core.schemas import usd_physics
from .placements import Placement
from .reading import ReadingContext

GROUPS_SCOPE = "CollisionGroups"


def read_mass_and_filters(
    reading: ReadingContext, owner: Any, touched: list[str], prim: Prim, placement: Placement
) -> None:
    """Read the mass, filtered pairs and groups of an object or a collider (owner). touched: keys of the owner."""
    mass = owner.mass if "mass" in touched else None
    if mass is not None and mass.is_applied:
        prim.add(reading.properties.read(mass, usd_physics.MassAPI))
    if "filtered_pairs" in touched and owner.filtered_pairs.is_applied:
        _read_filtered_pairs(reading, owner.filtered_pairs, prim, placement)
    if "collision_groups" in touched:
        _read_memberships(reading, owner.collision_groups, prim.path)


def _read_filtered_pairs(reading: ReadingContext, group: PropertyGroup, prim: Prim, placement: Placement) -> None:
    targets = []
    for reference in group.filtered_pairs:
        if reference.object is None and reference.path:
            targets.append(reading.root + reference.path)
            continue
        other = reading.placements.find(reference.object, placement.instance)
        hidden = reading.hidden_path(reference.object)
        if hidden:
            targets.append(hidden)
        elif other is None:
            what = f"'{reference.object.name}'" if reference.object else "a deleted object"
            reading.issue(
                "FilteredPairMissing", "error", prim.path, placement.obj.name,
                f"'{placement.obj.name}' filters {what}, which is not exported.",
                f"Remove it from the filtered pairs of '{placement.obj.name}'.",
            )  # fmt: skip
        else:
            targets.append(other.path)
    prim.add(usd_physics.FilteredPairsAPI(filtered_pairs=tuple(targets) or None))


def _read_memberships(reading: ReadingContext, memberships: Iterable[PropertyGroup], path: str) -> None:
    for membership in memberships:
        reading.members.setdefault(membership.name, ([], []))[bool(membership.exclude)].append(path)


def _read_hidden_memberships(reading: ReadingContext) -> None:
    """Read the memberships of imported objects that are not shown: they stay in the source."""
    for obj in reading.scene.objects if reading.sources is not None else ():
        if path := reading.hidden_path(obj):
            for owner in (obj.usdphys, *obj.usdphys.colliders):
                _read_memberships(reading, owner.collision_groups, path)


def read_groups(reading: ReadingContext) -> None:
    _read_hidden_memberships(reading)
    paths: dict[str, str] = {}
    defined = {item.name: item for item in reading.scene.usdphys.collision_groups}
    for name in (*defined, *(name for name in reading.members if name not in defined)):
        paths[name] = reading.made_path(name or "CollisionGroup", "collision group", GROUPS_SCOPE, defined.get(name))
    for name, path in paths.items():
        prim = reading.model.add(Prim(path, "PhysicsCollisionGroup", is_xformable=False, label=name))
        group = usd_physics.CollisionGroup()
        item = defined.get(name) or _defined_elsewhere(reading, name, path)
        if item is not None:
            reading.properties.read(item, usd_physics.CollisionGroup, into=group)
            filtered = [_group_target(reading, target.name, paths, path, name) for target in item.filtered_groups]
            group.filtered_groups = tuple(target for target in filtered if target) or None
        includes, excludes = reading.members.get(name, ([], []))
        if item is not None:
            includes = includes + [reading.root + path for path in item.other_includes.splitlines()]
            excludes = excludes + [reading.root + path for path in item.other_excludes.splitlines()]
        group.includes = tuple(includes) or None
        group.excludes = tuple(excludes) or None
        prim.add(group)


def _defined_elsewhere(reading: ReadingContext, name: str, path: str) -> Any:
    """The definition of a group in any scene of the file, even a linked one; None (and reports an issue) without."""
    for scene in bpy.data.scenes:
        for item in scene.usdphys.collision_groups:
            if item.name == name:
                return item
    reading.issue(
        "GroupUndefined", "warning", path, name,
        f"Objects belong to the collision group '{name}', which this scene does not define; it filters nothing.",
        f"Add a collision group '{name}' to the scene, or take the objects out of it.",
    )  # fmt: skip
    return None


def _group_target(reading: ReadingContext, name: str, paths: dict[str, str], path: str, label: str) -> str:
    if name in paths:
        return paths[name]
    # The path of a prim that an imported file filters, and has not: its text stays.
    target = name if name.startswith("/") else ""
    if target and reading.sources is not None:
        return target
    reading.issue(
        "GroupTargetMissing", "error", path, label,
        f"The collision group '{label}' filters the group '{name}', which does not exist.",
        f"Add the group '{name}', or remove it from the filtered groups of '{label}'.",
    )  # fmt: skip
    return target
