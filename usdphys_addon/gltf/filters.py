# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision filters of glTF <-> collision groups and filtered pairs.

They mean what the loader of their authors makes of them: bits, of which one is enough to collide. Their text asks for
all systems of a collider in the list of the other. Both agree where each collider is in one system, which is written.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..core import collision_groups, paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics

Filter = dict[str, Any]


def _names(one: Filter, key: str) -> frozenset[str]:
    names = one.get(key)
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def collide(one: Filter, other: Filter) -> bool:
    """True where colliders with these two filters collide: neither refuses the other."""
    return not (_refuses(one, other) or _refuses(other, one))


def _refuses(one: Filter, other: Filter) -> bool:
    systems = _names(other, "collisionSystems")
    only, never = _names(one, "collideWithSystems"), _names(one, "notCollideWithSystems")
    if only and systems and not systems & only:
        # One without systems is in all.
        return True
    return bool(systems) and systems <= never


def label(one: Filter, number: int) -> str:
    """Name of the group of a filter."""
    return "+".join(sorted(_names(one, "collisionSystems"))) or f"filter_{number}"


def _signatures(model: PhysicsModel, colliders: Collection[str]) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Per collider: the groups that hold it, and the paths with filtered pairs that it is at or below."""
    groups = {path: prim.get(usd_physics.CollisionGroup) for path, prim in model.groups.items()}
    held = {path: collision_groups.members(group, colliders) for path, group in groups.items() if group is not None}
    ends: set[str] = set()
    for path, prim in model.having(usd_physics.FilteredPairsAPI).items():
        pairs = prim.get(usd_physics.FilteredPairsAPI)
        ends.update((path, *(pairs.filtered_pairs or ())) if pairs is not None else ())
    signatures = {}
    for collider in colliders:
        chain = {collider, *paths.ancestors_of(collider)}
        mine = frozenset(path for path, members in held.items() if collider in members)
        signatures[collider] = (mine, frozenset(chain & ends))
    return signatures


def filters_of(model: PhysicsModel, colliders: Collection[str]) -> tuple[list[Filter], dict[str, int]]:
    """(filters, number of the filter of each collider that has one): one for each class of equal behaviour."""
    groups = {
        path: group for path, prim in model.groups.items() if (group := prim.get(usd_physics.CollisionGroup))
    }  # fmt: skip
    pairs = {
        frozenset((path, target))
        for path, prim in model.having(usd_physics.FilteredPairsAPI).items()
        if (filtered := prim.get(usd_physics.FilteredPairsAPI)) is not None
        for target in filtered.filtered_pairs or ()
    }
    if not groups and not pairs:
        return [], {}
    merged = collision_groups.merge(groups)
    signatures = _signatures(model, colliders)
    kinds = list(dict.fromkeys(signatures.values()))
    names = _class_names(kinds)
    filters: list[Filter] = []
    for kind in kinds:
        apart = [
            names[number] for number, other in enumerate(kinds)
            if any(
                merged.ignore_each_other(merged.number[one], merged.number[two]) for one in kind[0] for two in other[0]
            ) or any(
                frozenset((one, two)) in pairs and (one != two) for one in kind[1] for two in other[1]
            )
        ]  # fmt: skip
        made: Filter = {"collisionSystems": [names[len(filters)]]}
        if apart:
            made["notCollideWithSystems"] = apart
        filters.append(made)
    named = {name for one in filters for name in one.get("notCollideWithSystems", ())}
    if not named:
        return [], {}
    wanted = [
        number for number, one in enumerate(filters)
        if one["collisionSystems"][0] in named or "notCollideWithSystems" in one
    ]  # fmt: skip
    numbers = {kinds[old]: new for new, old in enumerate(wanted)}
    return (
        [filters[old] for old in wanted],
        {collider: numbers[kind] for collider, kind in signatures.items() if kind in numbers},
    )


def _class_names(kinds: list[tuple[frozenset[str], frozenset[str]]]) -> list[str]:
    names: list[str] = []
    for groups, ends in kinds:
        base = "+".join(sorted(paths.name_of(path) for path in (*groups, *ends))) or "default"
        names.append(paths.free(base, names.__contains__))
    return names
