# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints -> a forest of bodies, as MuJoCo has them, and the coordinates of a pose. Without MuJoCo.

A joint from its parent to its child is a chain of slides and hinges, the outermost first: slides along X, Y, Z, then
hinges about Z, Y, X of frame 0. Where body 1 is the parent the chain is reversed and each axis negated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from ...core import frames
from ...core.frames import Matrix
from ...core.ties import Ties
from ..joint_facts import JointFacts
from ..joint_poses import whole_turns

#: Degrees of freedom of a chain, the outermost first.
_ORDER = (0, 1, 2, 5, 4, 3)


@dataclass(slots=True)
class Link:
    """A body on its joint. parent: path of a body, or "" for the world. is_reversed: body 1 is the parent."""

    facts: JointFacts
    parent: str
    child: str
    is_reversed: bool

    @property
    def ends(self) -> tuple[Matrix, Matrix]:
        """The frames (4, 4) of the joint on parent and child."""
        return self.facts.ends(is_reversed=self.is_reversed)

    @property
    def is_ball(self) -> bool:
        """True for a joint that turns in all ways alike, without limits and drives."""
        turns = self.facts.freedoms[3:]
        plain = not any(each.is_locked or each.is_limited or each.drive or each.resistances for each in turns)
        is_even = len({each.settings.armature for each in turns}) == 1
        return plain and is_even and all(each.is_locked for each in self.facts.freedoms[:3])

    @property
    def chain(self) -> list[int]:
        """Degrees of freedom that move, the outermost first."""
        order = _ORDER[::-1] if self.is_reversed else _ORDER
        return [axis for axis in order if not self.facts.freedoms[axis].is_locked]

    def values(self, parent: Matrix, child: Matrix) -> dict[int, float]:
        """Values of all degrees of freedom, m and rad, where the bodies are at these poses (4, 4).

        That of a hinge has the whole turns of its limits; others are within half a turn.
        """
        first, second = (parent @ self.ends[0], child @ self.ends[1])
        if self.is_reversed:
            first, second = second, first
        relative = np.linalg.inv(first) @ second
        angles = list(frames.euler_angles(relative[:3, :3]))
        if self.facts.turns:
            angles[0] = whole_turns(self.facts.freedoms[3], angles[0])
        return {**dict(enumerate(relative[:3, 3].tolist())), **{3 + axis: angles[axis] for axis in range(3)}}


def forest(
    joints: Iterable[JointFacts], bodies: Collection[str], kinematic: Collection[str],
    rank: Callable[[JointFacts], int] = lambda _facts: 0,
) -> list[Link]:  # fmt: skip
    """The links of a spanning forest, parents first: from the world, then from kinematic bodies, then from the others.

    A kinematic body is never a child. rank: of what closes a loop, where one has to: the joint with the largest one.
    """
    usable = list(joints)
    near = [link.facts for link in _spread(usable, bodies, kinematic)]
    ranks = {facts.path: rank(facts) for facts in usable}
    if len(near) == len(usable) or len(set(ranks.values())) < 2:
        return _spread(near, bodies, kinematic)
    # Those near the root first, where it does not matter.
    order = {facts.path: number for number, facts in enumerate(near)}
    ties, kept = Ties(), []
    ties.tie(["", *kinematic])
    for facts in sorted(usable, key=lambda one: (ranks[one.path], order.get(one.path, len(order)))):
        if ties.root(facts.body0) != ties.root(facts.body1):
            ties.tie([facts.body0, facts.body1])
            kept.append(facts)
    return _spread(kept, bodies, kinematic)


def _spread(joints: Iterable[JointFacts], bodies: Collection[str], kinematic: Collection[str]) -> list[Link]:
    """The links of a forest by the shortest ways."""
    by_body: dict[str, list[JointFacts]] = {}
    for facts in joints:
        for path in {facts.body0, facts.body1}:
            by_body.setdefault(path, []).append(facts)
    links: list[Link] = []
    done = {"", *kinematic}
    for root in ("", *kinematic, *bodies):
        if root not in kinematic and root in done and root:
            continue
        done.add(root)
        queue = [root]
        while queue:
            parent = queue.pop(0)
            for facts in by_body.get(parent, ()):
                is_reversed = facts.body1 == parent
                child = facts.body0 if is_reversed else facts.body1
                if child in done:
                    continue
                done.add(child)
                links.append(Link(facts, parent, child, is_reversed))
                queue.append(child)
    return links
