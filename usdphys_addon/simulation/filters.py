# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups and filtered pairs -> bit masks for the solver, and pairs of bodies that do not collide.

Independent of the solver. Source: "Collision Filtering" of the UsdPhysics documentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core import paths
from ..core.collision_groups import FilterRule, collides_with_itself, members, merge
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from .notices import Notices

if TYPE_CHECKING:
    from .articulations import Tree
    from .layout import Layout

#: Names of the schemas that filter collisions.
FILTERING = frozenset({usd_physics.CollisionGroup.usd_name, usd_physics.FilteredPairsAPI.usd_name})
BITS = 32
ALL = (1 << BITS) - 1
#: Largest number of body pairs that replace one filter for which no bit is left.
MOST_PAIRS = 5000


@dataclass(frozen=True, slots=True)
class CollisionMask:
    """Bit masks of a collider. member: its own bit. meets: bits that it collides with."""

    member: int = 1
    meets: int = ALL


@dataclass(slots=True)
class Filters:
    """masks: by path of colliders; missing ones collide with all. pairs: paths of bodies or static colliders that do
    not collide with each other."""

    masks: dict[str, CollisionMask] = field(default_factory=dict)
    pairs: set[tuple[str, str]] = field(default_factory=set)

    def keep_apart(self, one: str, colliders: Iterable[str], other: str) -> bool:
        """Whether none of the colliders of a body meets a static collider."""
        if (min(one, other), max(one, other)) in self.pairs:
            return True
        there = self.masks.get(other, CollisionMask())
        heres = (self.masks.get(path, CollisionMask()) for path in colliders)
        return not any(here.member & there.meets and there.member & here.meets for here in heres)


@dataclass(slots=True)
class _Group:
    """A merged group."""

    rules: list[FilterRule]
    members: set[str] = field(default_factory=set)


def filters_of(found: Layout, articulations: Iterable[Tree], notices: Notices) -> Filters:
    """The collision filters of what is simulated of a model, without what its joints keep apart."""
    carriers = {collider.path: path for path, body in found.bodies.items() for collider in body.colliders}
    carriers.update({path: path for path in found.statics})
    links: dict[str, set[str]] = defaultdict(set)
    for tree in articulations:
        for link in tree.links:
            links[tree.prim] |= {link.parent, link.child} - {""}
    return filters(found.model, carriers, links, notices)


def filters(
    model: PhysicsModel, carriers: dict[str, str], articulations: dict[str, set[str]], notices: Notices
) -> Filters:
    """The collision filters of a model.

    carriers: by path of each collider, the path of its body, or its own if static. articulations: paths of the bodies
    by path of the articulation root.
    """
    result = Filters()
    signatures: dict[str, frozenset[int]] = {path: frozenset() for path in carriers}
    groups = _groups(model, carriers)
    for path, bodies in articulations.items():
        if not collides_with_itself(model.prims[path]):
            own = {collider for collider, carrier in carriers.items() if carrier in bodies}
            groups.append(_Group([FilterRule(False, frozenset({len(groups)}))], own))
    for number, group in enumerate(groups):
        for path in group.members:
            signatures[path] |= {number}
    whole, fine = _pairs(model, carriers, articulations)
    result.pairs |= whole
    result.masks = _masks(model, carriers, groups, signatures, fine, result.pairs, notices)
    return result


# --------------------------------------------------------------------------- groups


def _groups(model: PhysicsModel, colliders: Iterable[str]) -> list[_Group]:
    """The merged groups with their members."""
    groups: dict[str, usd_physics.CollisionGroup] = {}
    for path, prim in model.groups.items():
        group = prim.get(usd_physics.CollisionGroup)
        if group is not None:
            groups[path] = group
    merged = merge(groups)
    merged_groups = [_Group(rules) for rules in merged.rules]
    for path, group in groups.items():
        merged_groups[merged.number[path]].members |= members(group, colliders)
    return merged_groups


# --------------------------------------------------------------------------- pairs


def _pairs(
    model: PhysicsModel, carriers: dict[str, str], articulations: dict[str, set[str]]
) -> tuple[set[tuple[str, str]], list[tuple[frozenset[str], frozenset[str]]]]:
    """(pairs of whole carriers, pairs of sets of colliders that are only some of their carriers' colliders)"""
    carried: dict[str, set[str]] = defaultdict(set)
    for collider, carrier in carriers.items():
        carried[carrier].add(collider)
    said = list(model.filtered_pairs())
    inside = paths.inside_each(carriers, {end for pair in said for end in pair})

    def colliders(path: str) -> set[str]:
        """Those that a filtered pair refers to by a prim: of an articulation, of a body, or all at or below it.

        A body without colliders has none: those below it are of other bodies.
        """
        if path in articulations:
            return set(chain.from_iterable(carried.get(body, ()) for body in articulations[path]))
        prim = model.prims.get(path)
        if prim is not None and (path in carried or _is_body(prim)):
            return carried.get(path, set())
        return set(inside[path])

    whole: set[tuple[str, str]] = set()
    fine: list[tuple[frozenset[str], frozenset[str]]] = []
    for one, other in said:
        parts = (_split(colliders(end), carriers) for end in (one, other))
        for (a, part_a), (b, part_b) in product(*parts):
            if a == b:
                continue
            if part_a == carried[a] and part_b == carried[b]:
                whole.add((min(a, b), max(a, b)))
            else:
                fine.append((frozenset(part_a), frozenset(part_b)))
    return whole, fine


def _is_body(prim: Prim) -> bool:
    body = prim.get(usd_physics.RigidBodyAPI)
    return body is not None and bool(body.resolved("rigid_body_enabled"))


def _split(colliders: set[str], carriers: dict[str, str]) -> list[tuple[str, set[str]]]:
    parts: dict[str, set[str]] = defaultdict(set)
    for collider in colliders:
        parts[carriers[collider]].add(collider)
    return list(parts.items())


# --------------------------------------------------------------------------- bits


def _masks(
    model: PhysicsModel, carriers: dict[str, str], groups: Sequence[_Group], signatures: dict[str, frozenset[int]],
    fine: list[tuple[frozenset[str], frozenset[str]]], pairs: set[tuple[str, str]], notices: Notices,
) -> dict[str, CollisionMask]:  # fmt: skip
    """Masks of all colliders. Colliders with the same filters share a bit; filters without a bit become `pairs`."""
    if not groups and not fine:
        return {}
    while True:
        ends: dict[str, set[tuple[int, int]]] = defaultdict(set)
        for number, (first, second) in enumerate(fine):
            for path in first:
                ends[path].add((number, 0))
            for path in second:
                ends[path].add((number, 1))
        kinds: dict[tuple[frozenset[int], frozenset[tuple[int, int]]], int] = {}
        kind_of = {}
        for path in carriers:
            key = (signatures[path], frozenset(ends.get(path, ())))
            kind_of[path] = kinds.setdefault(key, len(kinds))
        meets = _meeting(groups, list(kinds))
        class_of, rows = _classes(meets)
        if len(rows) <= BITS or not fine:
            break
        first, second = fine.pop()
        for path in sorted(first)[:1]:
            notices.add(
                "FilteredPairTooFine", model.prims.get(path),
                f"{path} and {min(second)} are parts of compound bodies and collide all the same: the solver has no "
                "filter left for them.",
            )  # fmt: skip
    classes = np.array([class_of[kind] for kind in range(len(kinds))])
    of_path = {path: int(classes[kind]) for path, kind in kind_of.items()}
    if len(rows) <= BITS:
        bits = [1 << index for index in range(len(rows))]
    else:
        bits = _shared_bits(model, carriers, of_path, rows, pairs, notices)
    result = {}
    for path, index in of_path.items():
        mask = 0
        for other in range(len(rows)):
            if rows[index, other]:
                mask |= bits[other]
        result[path] = CollisionMask(bits[index], mask)
    return result


def _meeting(
    groups: Sequence[_Group], kinds: Sequence[tuple[frozenset[int], frozenset[tuple[int, int]]]]
) -> NDArray[np.bool_]:
    """Whether colliders of two kinds collide, (k, k) symmetric."""
    count = len(kinds)
    membership = np.zeros((count, len(groups)), bool)
    for index, (numbers, _) in enumerate(kinds):
        membership[index, list(numbers)] = True
    meets = np.ones((count, count), bool)
    for number, group in enumerate(groups):
        inside = membership[:, number]
        for rule in group.rules:
            columns = sorted(rule.targets)
            hit = membership[:, columns].any(axis=1) if columns else np.zeros(count, bool)
            blocked = np.outer(inside, ~hit if rule.is_inverted else hit)
            meets &= ~(blocked | blocked.T)
    by_end: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (_, ends) in enumerate(kinds):
        for end in ends:
            by_end[end].append(index)
    for (number, side), here in by_end.items():
        if side == 0:
            for a, b in product(here, by_end.get((number, 1), ())):
                meets[a, b] = meets[b, a] = False
    return meets


def _classes(meets: NDArray[np.bool_]) -> tuple[list[int], NDArray[np.bool_]]:
    """Merge kinds with equal rows: (class of each kind, (c, c) whether classes collide)."""
    _, first, inverse = np.unique(meets, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    chosen = first[order]
    return [int(rank[index]) for index in inverse.reshape(-1)], meets[np.ix_(chosen, chosen)]


def _shared_bits(
    model: PhysicsModel, carriers: dict[str, str], of_path: dict[str, int], rows: NDArray[np.bool_],
    pairs: set[tuple[str, str]], notices: Notices,
) -> list[int]:  # fmt: skip
    """Bits if there are more classes than bits: the most populous classes have their own, the rest share the last.

    Classes that share a bit cannot be filtered from each other by masks; their pairs of bodies are added to `pairs`.
    """
    population = np.bincount(list(of_path.values()), minlength=len(rows))
    order = np.argsort(-population, kind="stable")
    bits = [0] * len(rows)
    for place, index in enumerate(order):
        bits[int(index)] = 1 << min(place, BITS - 1)
    shared = set(order[BITS - 1 :].tolist())
    carrier_sets: dict[int, set[str]] = defaultdict(set)
    for path, index in of_path.items():
        carrier_sets[index].add(carriers[path])
    # Both masks must agree for a collision, so only two classes that share the last bit can be wrong.
    for index in sorted(shared):
        for other in sorted(shared):
            if other < index or rows[index, other]:
                continue
            ends = product(carrier_sets[index], carrier_sets[other])
            conflicts = {(min(a, b), max(a, b)) for a, b in ends if a != b}
            if len(conflicts) > MOST_PAIRS:
                notices.add(
                    "CollisionGroupsTooMany", None,
                    f"The collision groups make {len(rows)} different filters, more than the {BITS} of the solver: "
                    f"{min(carrier_sets[index])} and {min(carrier_sets[other])} collide all the same.",
                )  # fmt: skip
            else:
                pairs |= conflicts
    return bits
