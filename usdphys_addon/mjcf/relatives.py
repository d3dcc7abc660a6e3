# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies MuJoCo lets pass through each other because of where they are in the tree, without an exclude."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain, combinations, product

from .values import Model

#: (contype, conaffinity) of a geom.
Kind = tuple[int, int]


def meet(one: Kind, other: Kind) -> bool:
    """Whether geoms with these masks collide."""
    return bool(one[0] & other[1] or other[0] & one[1])


class Relatives:
    """The bodies of a model, by their index, and what is fixed to what.

    fixed: the first body of those that no joint moves against each other, of each body; 0 of what stands still.
    """

    def __init__(self, source: Model) -> None:
        self.source = source
        self.fixed: list[int] = []
        for index, body in enumerate(source.bodies):
            is_own = bool(body.joints) or body.is_mocap or body.parent < 0
            self.fixed.append(index if is_own else self.fixed[body.parent])
        self._parts_sides = source.flags.get("filterparent") != "disable"

    def _above(self, root: int) -> int:
        """What the joint of a fixed body is on; 0 where that stands still, or where it is let collide."""
        return self.fixed[max(self.source.bodies[root].parent, 0)] if self._parts_sides else 0

    def pass_each_other(self, one: int, other: int) -> bool:
        """True for two that are fixed to each other, or to the two sides of a joint."""
        first, second = self.fixed[one], self.fixed[other]
        return first == second or self._above(first) == second > 0 or self._above(second) == first > 0

    def pairs(self, kinds: Mapping[int, Collection[Kind]]) -> Iterator[tuple[int, int]]:
        """Those that would collide else. kinds: of the geoms of each body that has some."""
        rigid: dict[int, list[int]] = {}
        for index in kinds:
            rigid.setdefault(self.fixed[index], []).append(index)
        for root, members in rigid.items():
            above = self._above(root)
            across = product(members, rigid.get(above, ()) if above else ())
            for first, second in chain(combinations(members, 2), across):
                if any(meet(one, two) for one in kinds[first] for two in kinds[second]):
                    yield first, second
