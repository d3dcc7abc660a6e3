# SPDX-License-Identifier: GPL-3.0-or-later
"""Which colliders a collision group holds, and which of them ignore each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import and_, or_
from typing import TYPE_CHECKING, NamedTuple

from .schemas import usd_physics

if TYPE_CHECKING:
    from .model import Prim


def collides_with_itself(root: Prim) -> bool:
    """False for the root of an articulation whose links do not collide with each other, as one simulator is told."""
    newton, physx = (root.schemas.get(name) for name in ("NewtonArticulationRootAPI", "PhysxArticulationAPI"))
    told = getattr(newton, "self_collision_enabled", None), getattr(physx, "enabled_self_collisions", None)
    return False not in told


class FilterRule(NamedTuple):
    """What one group says. is_inverted: collide with the targets only. targets: numbers of merged groups."""

    is_inverted: bool
    targets: frozenset[int]


class MergedGroups(NamedTuple):
    """number: of the merged group, by the key of a group. rules: of the merged groups, by number."""

    number: dict[str, int]
    rules: list[list[FilterRule]]

    def ignore_each_other(self, one: int, other: int) -> bool:
        """True where colliders that belong to these two merged groups, and to no others, do not collide."""
        return any(
            (target in rule.targets) != rule.is_inverted
            for group, target in ((one, other), (other, one))
            for rule in self.rules[group]
        )


def merge(groups: Mapping[str, usd_physics.CollisionGroup]) -> MergedGroups:
    """Groups of one merge name as one; a group that another one filters stands for all that it merges with.

    groups: by the key that `filtered_groups` names them with. Source: "Collision Filtering" of the UsdPhysics
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


def members(group: usd_physics.CollisionGroup, colliders: Iterable[str]) -> set[str]:
    """The colliders, by path, that a group's collection holds."""
    mode = group.resolved("mode")
    lists = bool(group.includes or group.include_root)
    if group.membership_expression and (mode == "expression" or (mode == "automatic" and not lists)):
        return {collider for collider in colliders if matches(group.membership_expression, collider)}
    includes = set(group.includes or ())
    excludes = set(group.excludes or ())
    if group.include_root:
        includes.add("/")
    explicit = group.resolved("expansion_rule") == "explicitOnly"
    paths = set()
    for collider in colliders:
        if explicit:
            if collider in includes and collider not in excludes:
                paths.add(collider)
            continue
        # The nearest statement above a prim decides.
        place = collider
        while True:
            if place in excludes:
                break
            if place in includes:
                paths.add(collider)
                break
            if place == "/":
                break
            place = place.rpartition("/")[0] or "/"
    return paths


Test = Callable[[str], bool]
#: A pattern with its classes of letters and predicates, an operator, or a bracket.
_TOKEN = re.compile(r"(?:\[[^\]]*\]|\{[^}]*\}|[^\s()~+|&\[{-])+|[()~+|&-]")
#: Operators, those that bind least first. Patterns side by side are a union that binds more than any.
_OPERATORS: tuple[dict[str, Callable[[bool, bool], bool]], ...] = (
    {"-": lambda one, other: one and not other}, {"&": and_}, {"+": or_, "|": or_},
)  # fmt: skip


def matches(expression: str, path: str) -> bool:
    """Whether a path expression of paths, wildcards, `//`, brackets and the operators + | & - ~ holds a path.

    Predicates in braces and references to other collections are not understood: they match nothing. Nor does an
    expression that cannot be read.
    """
    return _test_of(expression)(path)


@lru_cache(maxsize=256)
def _test_of(expression: str) -> Test:
    tokens = _TOKEN.findall(expression)
    try:
        test = _combined(tokens)
    except IndexError:
        tokens = ["the end came too early"]
    return (lambda _path: False) if tokens else test


def _combined(tokens: list[str], level: int = 0) -> Test:
    """Takes tokens off the front, up to an operator that binds less."""
    if level == len(_OPERATORS):
        return _union(tokens)
    test = _combined(tokens, level + 1)
    while tokens and tokens[0] in _OPERATORS[level]:
        operator = _OPERATORS[level][tokens.pop(0)]
        test = _joined(operator, test, _combined(tokens, level + 1))
    return test


def _union(tokens: list[str]) -> Test:
    test = _single(tokens)
    while tokens and tokens[0] not in "+|&-)":
        test = _joined(or_, test, _single(tokens))
    return test


def _single(tokens: list[str]) -> Test:
    token = tokens.pop(0)
    if token == "~":
        inner = _single(tokens)
        return lambda path: not inner(path)
    if token == "(":
        inner = _combined(tokens)
        if tokens.pop(0) != ")":
            raise IndexError
        return inner
    if token in "+|&-)":
        raise IndexError
    try:
        pattern = re.compile(_pattern(token))
    except re.error:
        return lambda _path: False
    return lambda path: pattern.fullmatch(path) is not None


def _joined(operator: Callable[[bool, bool], bool], first: Test, second: Test) -> Test:
    return lambda path: operator(first(path), second(path))


def _pattern(text: str) -> str:
    """The regular expression of a path with wildcards; of what is not understood one that matches nothing."""
    if "{" in text or "%" in text:
        return r"(?!)"
    expression = ""
    for part in re.findall(r"//|/|\[[^\]]+\]|[^/\[]+|\[", text):
        if part == "//":
            expression += "/(?:.*/)?"
        elif part.startswith("[") and len(part) > 1:
            expression += f"[^{part[2:]}" if part[1] == "!" else part
        else:
            expression += re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    if text.endswith("//"):
        expression = expression.removesuffix("/(?:.*/)?") + "(?:/.*)?"
    return expression
