# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of one physics scene in Rapier: made from their facts, in trees, with followers and gears."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import rapier3d
from rapier3d import (
    GenericJoint,
    PhysicsWorld,
)

from ...core.joint_settings import GEAR, RACK, following
from ..engine import Setup
from ..layout import Layout
from ..notices import Notices
from ..weights import Weight
from .constraints import FREE, Constraint
from .followers import Follower, followers_of
from .gears import Gear, gears_of
from .start import close
from .trees import Trees


class JointBuilder:
    """Adds joints to a world that has its bodies and static colliders; keeps what is stepped with them."""

    def __init__(
        self, physics: PhysicsWorld, layout: Layout, handles: Mapping[str, Any], static_handles: Mapping[str, Any],
        weights: Mapping[str, Weight], notices: Notices,
    ) -> None:  # fmt: skip
        self._physics, self._model, self._names = physics, layout.model, layout.names
        self._handles, self._static_handles, self._weights, self._notices = handles, static_handles, weights, notices
        self._ground: Any = None
        self.constraints: list[Constraint] = []
        self.followers: list[Follower] = []
        self.gears: list[Gear] = []
        #: True if the bodies are not where their prims are, because joints were closed.
        self.is_moved_at_start = False

    def _side(self, path: str, static: str) -> Any:
        """The solver's body on one side of a joint."""
        if path:
            return self._handles[path]
        if static in self._static_handles:
            return self._static_handles[static]
        return self._still()

    def _still(self) -> Any:
        """A fixed body at the origin of the world, for joints; created on first use."""
        if self._ground is None:
            self._ground = self._physics.add_body(rapier3d.RigidBody.fixed())
        return self._ground

    def add(self, setup: Setup, earlier: Mapping[str, tuple[Constraint, PhysicsWorld]] | None = None) -> None:
        """Make the joints of a scene. earlier: the same joints, by path, and the worlds from which they go on."""
        sides = [
            (self._side(facts.body0, facts.static0), self._side(facts.body1, facts.static1)) for facts in setup.joints
        ]
        jointed = [] if earlier is not None else list(zip(setup.joints, sides, strict=True))
        for gap in close(self._physics, jointed, self._weights):
            self.is_moved_at_start = True
            if gap.is_told:
                self._notices.add(
                    "JointApart", gap.facts.prim,
                    f"The frames of {gap.facts.prim.display} are {1e3 * gap.length:.3g} mm and "
                    f"{math.degrees(gap.angle):.3g} degrees apart, or so far outside of its limits: its bodies are "
                    "moved together before the start.",
                )  # fmt: skip
        trees = Trees(self._physics, setup, self._handles, self._static_handles, self._weights)
        if earlier is not None:
            links = [link for tree in setup.trees for link in tree.links]
            in_tree = {link.joint.path: link for link in links if earlier[link.joint.path][0].state.reduced}
        else:
            in_tree = trees.reduced_links(self._model.prims, self._notices)
        by_path = {}
        for facts, handles in zip(setup.joints, sides, strict=True):
            constraint = Constraint(facts, handles, in_tree.get(facts.path))
            by_path[facts.path] = constraint
            self.constraints.append(constraint)
            limited = [freedom for freedom in facts.freedoms[3:] if freedom.is_limited]
            if len(limited) > 1 and any(max(-item.low, item.high) > math.pi for item in limited):
                self._notices.add(
                    "LimitBeyondTurn", facts.prim,
                    f"{facts.prim.display} limits several rotations, one of them beyond half a turn.",
                )  # fmt: skip
        self.followers = followers_of(self.constraints)
        for follower in self.followers:
            one, other = follower.constraint.facts.prim, follower.leader.facts.prim
            self._notices.add(
                "JointFollows", one,
                f"{one.display} follows {other.display}, but no force acts back on the leader.",
            )  # fmt: skip
        coupled = {frozenset((each.constraint.facts.path, each.leader.facts.path)) for each in self.followers}
        for facts in setup.joints:
            rule = following(facts.prim)
            if rule is not None and frozenset((facts.path, rule.leader)) not in coupled:
                self._notices.add(
                    "VendorNotSimulated", facts.prim,
                    f"{facts.prim.display} does not follow {rule.leader}: both have to be hinges or slides of one "
                    "scene, and not follow each other.",
                )  # fmt: skip
        self._add_gears()
        for path, (before, _) in earlier.items() if earlier else ():
            by_path[path].take_over(before)
        for tree in setup.trees:
            inside = [by_path[link.joint.path] for link in tree.links if link.joint.path in in_tree]
            trees.insert(tree, inside, self._notices)
        for constraint in self.constraints:
            if not constraint.state.reduced:
                constraint.insert(self._physics)
        for path, (before, world) in earlier.items() if earlier else ():
            by_path[path].turn_as(self._physics, before, world)

    def _add_gears(self) -> None:
        if self._names.isdisjoint((GEAR, RACK)):
            return
        self.gears, idle = gears_of(self._model, self.constraints)
        for path, needs in idle:
            prim = self._model.prims[path]
            self._notices.add(
                "VendorNotSimulated", prim,
                f"{prim.display} couples nothing: it needs {needs} of one scene, a ratio other than zero, and the "
                "bodies that these joints move.",
            )  # fmt: skip
        self.part({tuple(sorted(gear.bodies)) for gear in self.gears if all(gear.bodies)})

    def part(self, pairs: Iterable[tuple[str, ...]]) -> None:
        """Keep pairs of bodies and static colliders from colliding."""
        everything = {**self._static_handles, **self._handles}
        for first, second in sorted(pairs):
            if first in everything and second in everything:
                if first in self._static_handles and second in self._static_handles:
                    continue
                joint = GenericJoint(FREE)
                joint.contacts_enabled = False
                self._physics.impulse_joints.insert(everything[first], everything[second], joint, False)
