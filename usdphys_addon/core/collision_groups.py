# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of collision groups, and which groups filter each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .schemas import usd_physics


class FilterRule(NamedTuple):
    """The filter of one group. is_inverted: collide with the targets only. targets: indices of merged groups."""

    is_inverted: bool
    targets: frozenset[int]


class MergedGroups(NamedTuple):
    """number: index of the merged group, by key of a group. rules: filters of each merged group, by index."""

    number: dict[str, int]
    rules: list[list[FilterRule]]

    def ignore_each_other(self, one: int, other: int) -> bool:
        """True if colliders whose only groups are these two merged groups do not collide."""
        return any(
            (target in rule.targets) != rule.is_inverted
            for group, target in ((one, other), (other, one))
            for rule in self.rules[group]
        )


def merge(groups: Mapping[str, usd_physics.CollisionGroup]) -> MergedGroups:
    """Merge groups with the same merge name; a filter of one group filters the whole merged group.

    groups: by the key that `filtered_groups` uses. Source: "Collision Filtering" of the UsdPhysics
    documentation.
    """
    number: dict[str, int] = {}
    by_name: dict[str, int] = {}
    for key, group in groups.items():
        new = len(set(number.values()))
        number[key] = by_name.setdefault(group.merge_group, new) if group.merge_group else new
    rules: list[list[FilterRule]] = [[] for _ in set(number.values())]
    for key, group in groups.items():
        targets = frozenset(number[target] for target in group.filtered_groups or () if target in number)
        if targets or group.invert_filtered_groups:
            rules[number[key]].append(FilterRule(bool(group.invert_filtered_groups), targets))
    return MergedGroups(number, rules)


def members(group: usd_physics.CollisionGroup, path: str, colliders: Iterable[str]) -> set[str]:
    """The paths of `colliders` that are members of a group's collection."""
    mode = group.resolved("mode")
    lists = bool(group.includes or group.include_root)
    if group.membership_expression and (mode == "expression" or (mode == "automatic" and not lists)):
        return {collider for collider in colliders if matches(group.membership_expression, collider)}
    includes = set(group.includes or ())
    excludes = set(group.excludes or ())
    if group.include_root:
        includes.add("/")
    explicit = group.resolved("expansion_rule") == "explicitOnly"
    found = set()
    for collider in colliders:
        if explicit:
            if collider in includes and collider not in excludes:
                found.add(collider)
            continue
        # The nearest include or exclude at or above the prim decides.
        place = collider
        while True:
            if place in excludes:
                break
            if place in includes:
                found.add(collider)
                break
            if place == "/":
                break
            place = place.rpartition("/")[0] or "/"
    return found


def matches(expression: str, path: str) -> bool:
    """Whether a path expression of paths, wildcards, `//` and the operators + | & - ~ matches a path.

    Predicates in braces and references to other collections are not supported: they match nothing.
    """
    result = False
    operator = "+"
    for token in re.findall(r"[+|&-]|~?[^\s+|&-]+", expression):
        if token in "+|&-":
            operator = token
            continue
        negative = token.startswith("~")
        hit = _matches_one(token.lstrip("~"), path) != negative
        if operator == "&":
            result = result and hit
        elif operator == "-":
            result = result and not hit
        else:
            result = result or hit
        operator = "+"
    return result


def _matches_one(pattern: str, path: str) -> bool:
    parts = [part for part in re.split(r"(//|/)", pattern) if part]
    expression = ""
    for part in parts:
        if part == "//":
            expression += "/(?:.*/)?"
        elif part == "/":
            expression += "/"
        else:
            expression += re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    if pattern.endswith("//"):
        expression = expression.removesuffix("/(?:.*/)?") + "(?:/.*)?"
    return re.fullmatch(expression, path) is not None
