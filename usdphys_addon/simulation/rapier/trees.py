# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of joints in the solver: which of them it simulates well in reduced coordinates, and how they get there."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import rapier3d
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from ...core.model import Prim
from ..articulations import WORLD, Link, Tree
from ..engine import FASTEST, Setup
from ..hanging import hanging
from ..joint_facts import NO_LIMIT, JointFacts
from ..notices import Notices
from ..weights import Weight
from . import carriers, joint_effects, tuning
from .constraints import Constraint, isometry, matrix_of
from .matter import of_solver
from .panics import is_panic
from .reduced import start_tree


class Trees:
    """The trees of one scene, whose bodies are in the solver."""

    def __init__(
        self, physics: PhysicsWorld, setup: Setup, handles: Mapping[str, Any], static_handles: Mapping[str, Any],
        weights: Mapping[str, Weight],
    ) -> None:  # fmt: skip
        """handles, static_handles: the solver's bodies, by path. weights: of the dynamic bodies."""
        self.physics, self.setup, self.weights = physics, setup, weights
        self.handles, self.static_handles = handles, static_handles

    def reduced_links(self, prims: Mapping[str, Prim], notices: Notices) -> dict[str, Link]:
        """The links of the trees to be simulated in reduced coordinates, by the paths of their joints."""
        links = {}
        for tree in self.setup.trees:
            prim = prims[tree.prim]
            if why := self._why_maximal(tree):
                notices.add(
                    "ArticulationNotReduced", prim,
                    f"{prim.display} is simulated joint by joint, because {why}.",
                )  # fmt: skip
            elif self._survives(tree):
                links.update({link.joint.path: link for link in tree.links})
            else:
                notices.add(
                    "ArticulationUnstable", prim,
                    f"{prim.display} is unstable in reduced coordinates; its joints are simulated in maximal ones.",
                )  # fmt: skip
        return links

    def _weights_of(self, handles: Mapping[str, Any], tree: Tree) -> dict[Any, Weight]:
        """The weights of the dynamic bodies of a tree, by handle."""
        paths = {path for link in tree.links for path in (link.parent, link.child)} & self.weights.keys()
        return {handles[path]: self.weights[path] for path in paths}

    def insert(self, tree: Tree, links: Sequence[Constraint], notices: Notices) -> None:
        """Add the joints of a tree that are simulated in reduced coordinates; those that it refuses in maximal ones."""
        if not links:
            return
        physics, handles = self.physics, self.handles
        root = handles[tree.root] if tree.root != WORLD else physics.add_body(rapier3d.RigidBody.fixed())
        inserted = carriers.carry(physics, root, self.weights.get(tree.root))
        for constraint in links:
            link = constraint.tree_link
            assert link is not None
            facts = constraint.facts
            parent = handles[link.parent] if link.parent != WORLD else root
            joint = constraint.reduced_joint()
            if link.parent == WORLD:
                # The fixed base is at the world origin, not at the static collider: convert the frame back.
                side, static = (1, facts.static1) if constraint.reversed else (0, facts.static0)
                if static in self.static_handles:
                    pose = matrix_of(physics.rigid_bodies[self.static_handles[static]].position)
                    joint.local_frame1 = isometry(pose @ (facts.frame1 if side else facts.frame0))
            constraint.state.link = physics.multibody_joints.insert(parent, handles[link.child], joint)
            if constraint.state.link is None:
                constraint.insert(physics)
            else:
                inserted.append((parent, handles[link.child], joint))
        start_tree(physics, inserted, self._weights_of(handles, tree))
        for constraint in links:
            if constraint.state.reduced:
                joint_effects.set_tree_settings(constraint, physics)
                if any(drive.is_friction for item in constraint.state.freedoms for drive in item.resistances):
                    prim = constraint.facts.prim
                    notices.add(
                        "VendorNotSimulated", prim,
                        f"{prim.display} has friction beside a drive, which the preview ignores in an articulation.",
                    )  # fmt: skip

    def _why_maximal(self, tree: Tree) -> str:
        """Why a tree is better in maximal coordinates; or empty."""
        reasons = (self._joint_beside, self._joint_inside, self._wheels, self._size, self._unevenness)
        return next(filter(None, (find(tree) for find in reasons)), "")

    def _joint_beside(self, tree: Tree) -> str:
        """A joint that is not one of the tree, but closes a loop of it or has a limit that the solver leaves out."""
        together = [tree]
        if tree.root == WORLD:
            # Trees that hang on the world are one.
            together += [other for other in self.setup.trees if other.root == WORLD]
        inside = {link.joint.path for one in together for link in one.links}
        own = {path for link in tree.links for path in (link.parent, link.child)}
        joined = own | {tree.root} | {link.child for one in together for link in one.links}
        for joint in self.setup.joints:
            ends = {joint.body0, joint.body1}
            if joint.path in inside or not joint.enabled or ends.isdisjoint(own - {WORLD}):
                continue
            # The rows of such a joint depend on those of the tree: in the solver they drive each other up.
            locks = joint.kind != "DistanceJoint" and any(freedom.is_locked for freedom in joint.freedoms)
            if locks and ends <= joined:
                return f"{joint.prim.display} closes a loop of it"
            # The solver leaves out limits of several axes together where a body is in reduced coordinates.
            if joint.cone is not None:
                return f"the cone limit of {joint.prim.display} acts on it"
            if joint.distance is not None and (joint.distance.high < NO_LIMIT or joint.distance.drive is not None):
                return f"the distance limit of {joint.prim.display} acts on it"
        return ""

    def _joint_inside(self, tree: Tree) -> str:
        """A joint of the tree with a setting that the solver lacks there."""
        for link in tree.links:
            for freedom in link.joint.freedoms:
                if why := joint_effects.why_not_reduced(freedom):
                    return f"{link.joint.prim.display} has {why}"
        return ""

    def _wheels(self, tree: Tree) -> str:
        """Several wheels: in reduced coordinates friction is too small, and depends on the direction in the world."""
        wheels = [link for link in tree.links if tree.root != WORLD and self._is_wheel(link)]
        return (
            f"{self.setup.bodies[wheels[0].child].prim.display} rolls, and friction is exact there"
            if wheels[1:]
            else ""
        )

    def _size(self, tree: Tree) -> str:
        """Too many degrees of freedom."""
        freedoms = sum(not freedom.is_locked for link in tree.links for freedom in link.joint.freedoms)
        return f"it has {freedoms} degrees of freedom" if freedoms > tuning.MOST_REDUCED else ""

    def _unevenness(self, tree: Tree) -> str:
        """A body that holds too many times its own mass."""
        # The mass of a base that nothing can move does not matter.
        still = {WORLD}
        for link in tree.links:
            if link.parent in still and all(freedom.is_locked for freedom in link.joint.freedoms):
                still.add(link.child)
        masses = {path: weight.mass for path, weight in self.weights.items() if path not in still}
        pivots = self._pivots(tree)
        ends = []
        for link in tree.links:
            parent = link.parent
            while parent in pivots:
                parent = pivots[parent]
            if link.child not in pivots:
                ends.append((parent, link.child))
        groups = hanging(ends, masses)
        worst = max(groups, key=lambda group: group.ratio, default=None)
        if worst is None or worst.ratio <= tuning.BEARABLE_REDUCED or self._is_evened(tree):
            return ""
        return f"{self.setup.bodies[worst.body].prim.display} holds {worst.ratio:.2g} times its own mass"

    def _pivots(self, tree: Tree) -> dict[str, str]:
        """By path of each body that is nothing but the place where two joints meet, what holds it: such a body has no
        lever on which anything could hang, whatever its mass."""
        below: dict[str, list[Link]] = defaultdict(list)
        for link in tree.links:
            below[link.parent].append(link)
        found: dict[str, str] = {}
        arms: dict[str, float] = {}
        for link in reversed(tree.links):
            path, after = link.child, below[link.child]
            if len(after) != 1 or not self.weights.keys() >= {path, after[0].child}:
                continue
            (_, end), (start, own) = link.ends, after[0].ends
            # Of what hangs on a pivot that hangs on this one, too.
            arm = float(np.linalg.norm(own[:3, 3] - self.weights[after[0].child].center))
            arm = arms.get(after[0].child, arm)
            is_bare = not self.physics.rigid_bodies[self.handles[path]].colliders
            if is_bare and np.linalg.norm(end[:3, 3] - start[:3, 3]) < tuning.PIVOT_ARM * arm:
                found[path], arms[path] = link.parent, arm
        return found

    def _is_evened(self, tree: Tree) -> bool:
        """True if all its joints have an armature that is a part of what moves with the first one: the inertias that
        the solver sees are not as different as the masses then."""
        paths = list(dict.fromkeys(link.child for link in tree.links))
        masses = np.array([self.weights[path].mass if path in self.weights else 0.0 for path in paths])
        places = np.array([self.setup.bodies[path].position for path in paths])
        least = tuning.EVENING * np.array([masses.sum(), masses @ np.square(places - places[0]).sum(axis=1)])
        return all(
            freedom.settings.armature > least[axis // 3]
            for link in tree.links for axis, freedom in enumerate(link.joint.freedoms) if not freedom.is_locked
        )  # fmt: skip

    def _is_wheel(self, link: Link) -> bool:
        """True for a body with a collider on a driven hinge without limits."""
        return is_axle(link.joint) and bool(self.physics.rigid_bodies[self.handles[link.child]].colliders)

    def _survives(self, tree: Tree) -> bool:
        """Simulate the tree alone for `tuning.TRIAL_STEPS`: its state must stay finite and slower than FASTEST.

        A tree that does not hang on the world must fall: limits that are violated at the start can drive it through
        space, because the solver's rows of a multibody do not keep its momentum.
        """
        physics = PhysicsWorld(tuple(self.setup.gravity.tolist()))
        physics.integration_parameters.dt = 1.0 / 240.0
        handles: dict[str, Any] = {}
        for link in tree.links:
            for path in (link.parent, link.child):
                if path != WORLD and path not in handles:
                    source = self.physics.rigid_bodies[self.handles[path]]
                    builder = rapier3d.RigidBody.dynamic().position(source.position).can_sleep(False)
                    builder = builder.linvel(source.linvel).angvel(source.angvel)
                    handles[path] = physics.add_body(builder.additional_mass_properties(of_solver(self.weights[path])))
        root = handles[tree.root] if tree.root != WORLD else physics.add_body(rapier3d.RigidBody.fixed())
        joints = carriers.carry(physics, root, self.weights.get(tree.root))
        for link in tree.links:
            joint = Constraint(link.joint, (None, None), link).reduced_joint()
            parent = root if link.parent == WORLD else handles[link.parent]
            if physics.multibody_joints.insert(parent, handles[link.child], joint) is None:
                return False
            joints.append((parent, handles[link.child], joint))
        start_tree(physics, joints, self._weights_of(handles, tree))
        masses = {path: self.weights[path].mass for path in handles}
        before = _speed_of_all(physics, handles, masses)
        for _ in range(tuning.TRIAL_STEPS):
            try:
                physics.step()
            except BaseException as error:
                if is_panic(error):
                    return False
                raise
            if not physics.quarantine.is_empty():
                return False
        if tree.root != WORLD:
            seconds = tuning.TRIAL_STEPS * physics.integration_parameters.dt
            gained = _speed_of_all(physics, handles, masses) - before - self.setup.gravity * seconds
            if not np.linalg.norm(gained) <= tuning.STRAY_SPEED:
                return False
        speeds = [physics.rigid_bodies[handle].linvel.norm() for handle in handles.values()]
        return all(math.isfinite(speed) and speed < FASTEST for speed in speeds)


def is_axle(facts: JointFacts) -> bool:
    """True for a driven hinge without limits."""
    hinge = facts.freedoms[3]
    turns = [not freedom.is_locked for freedom in facts.freedoms] == [False] * 3 + [True, False, False]
    return turns and not hinge.is_limited and hinge.drive is not None


def _speed_of_all(physics: Any, handles: Mapping[str, Any], masses: Mapping[str, float]) -> Matrix:
    """Velocity (3,) of the centre of mass of bodies."""
    moves = [
        np.array(physics.rigid_bodies[handle].linvel.to_tuple()) * masses[path] for path, handle in handles.items()
    ]
    return np.asarray(sum(moves) / sum(masses.values()), float)
