# SPDX-License-Identifier: GPL-3.0-or-later
"""Articulation roots -> trees of joints in reduced coordinates. Independent of the solver.

Source: "Articulations" of the UsdPhysics documentation.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..core import paths
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas.usd_physics import Joint, RigidBodyAPI
from .joint_facts import JointFacts, read_joints
from .layout import layout
from .notices import Notices

#: Node of the joint graph for the world and all static colliders.
WORLD = ""


@dataclass(slots=True)
class Link:
    """A joint of a tree. parent, child: body paths. reversed: body 0 is the child."""

    joint: JointFacts
    parent: str
    child: str

    @property
    def reversed(self) -> bool:
        return self.joint.body0 == self.child

    @property
    def ends(self) -> tuple[Matrix, Matrix]:
        """The frames (4, 4) of the joint on parent and child."""
        return self.joint.ends(is_reversed=self.reversed)


@dataclass(slots=True)
class Tree:
    """prim: path of the articulation root. root: path of the root body, or WORLD. links: parents before children."""

    prim: str
    root: str
    links: list[Link] = field(default_factory=list)


def trees_of(model: PhysicsModel) -> list[Tree]:
    """The articulations of a model that is not simulated now, with their loops cut as the simulation names them."""
    if not model.articulations:
        return []
    notices = Notices()
    arranged = layout(model, notices)
    kinematic = {path for path, body in arranged.bodies.items() if body.is_kinematic}
    return trees(model, read_joints(arranged, notices), kinematic, notices)


def joints_by_root(model: PhysicsModel) -> dict[str, list[JointFacts]]:
    """The joints of each articulation by the path of its root, as simulators count them: those that the preview
    simulates in maximal coordinates, too. Disabled and excluded ones are left out."""
    if not model.articulations:
        return {}
    joints = read_joints(layout(model, Notices()), Notices())
    return {
        path: [joint for joint in below if joint.enabled and not joint.excluded]
        for path, below in _joints_below(model, joints)
    }


def _joints_below(model: PhysicsModel, joints: Sequence[JointFacts]) -> Iterator[tuple[str, list[JointFacts]]]:
    """The root of each articulation with its joints, each joint once."""
    used: set[str] = set()
    for path, prim in model.articulations.items():
        body = path if prim.get(RigidBodyAPI) is not None else ""
        if prim.get(Joint) is not None:
            body = next((joint.body0 or joint.body1 for joint in joints if joint.path == path), "")
        if body:
            # The root is a body or joint: all connected joints belong to it, wherever their prims are.
            below = [joint for joint in _connected(joints, body) if joint.path not in used]
        else:
            below = [joint for joint in joints if joint.path not in used and paths.is_below(joint.path, path)]
        used.update(joint.path for joint in below)
        yield path, below


def trees(model: PhysicsModel, joints: Sequence[JointFacts], kinematic: set[str], notices: Notices) -> list[Tree]:
    """The articulations of a model. Joints in maximal coordinates are not in the result."""
    trees_found: list[Tree] = []
    taken: set[str] = set()
    for path, below in _joints_below(model, joints):
        candidates = [joint for joint in below if _reducible(joint, kinematic, notices)]
        trees_found += _spanning(path, candidates, taken, notices)
    return trees_found


def _connected(joints: Sequence[JointFacts], body: str) -> list[JointFacts]:
    """Joints connected to a body, directly or through other bodies."""
    at: dict[str, list[JointFacts]] = defaultdict(list)
    for joint in joints:
        for side in (joint.body0, joint.body1):
            if side:
                at[side].append(joint)
    reached, queue, result = {body}, deque([body]), {}
    while queue:
        for joint in at[queue.popleft()]:
            result[joint.path] = joint
            for side in (joint.body0, joint.body1):
                if side and side not in reached:
                    reached.add(side)
                    queue.append(side)
    return list(result.values())


def _reducible(joint: JointFacts, kinematic: set[str], notices: Notices) -> bool:
    """True if the joint is possible in reduced coordinates. There the solver ignores the motion of kinematic bodies."""
    if joint.excluded or not joint.enabled:
        return False
    moving = [index for index, freedom in enumerate(joint.freedoms) if not freedom.is_locked]
    simple = len(moving) <= 1
    ball = moving == [3, 4, 5] and not any(
        freedom.is_limited or freedom.drive is not None for freedom in joint.freedoms[3:]
    )
    why = ""
    if joint.breaks:
        why = "it can break"
    elif joint.distance is not None:
        why = "it limits a distance"
    elif joint.cone is not None:
        why = "it has a cone"
    elif joint.body0 in kinematic or joint.body1 in kinematic:
        why = "it hangs on a kinematic body"
    elif not simple and not ball:
        why = "it moves in several ways"
    if why:
        notices.add(
            "JointNotReduced", joint.prim,
            f"{joint.prim.display} is simulated apart from its articulation, because {why}.",
        )  # fmt: skip
    return not why


def _spanning(root: str, joints: list[JointFacts], taken: set[str], notices: Notices) -> list[Tree]:
    """One tree for each connected component, without joints that close a loop. taken: bodies already in a tree.

    The order of the joints changes nothing: the motion of a tree depends on which body is its root.
    """
    at: dict[str, list[JointFacts]] = defaultdict(list)
    for joint in sorted(joints, key=lambda joint: joint.path):
        at[joint.body0].append(joint)
        at[joint.body1].append(joint)
    result: list[Tree] = []
    placed: set[str] = set()
    # Fixed bases first, then the body that carries the root, then those that no joint has as its second body.
    held = {joint.body1 for joint in joints}
    bodies = sorted((path for path in at if path != WORLD), key=lambda path: (path in held, path))
    starts: list[tuple[str, JointFacts | None]] = [(WORLD, joint) for joint in at[WORLD]]
    starts += [(path, None) for path in bodies if path == root]
    starts += [(path, None) for path in bodies]
    for start, first in starts:
        if start in taken or (first is not None and (first.body0 or first.body1) in taken):
            continue
        tree = Tree(root, start)
        queue: deque[str] = deque()
        if first is None:
            taken.add(start)
            queue.append(start)
        else:
            child = first.body0 or first.body1
            tree.links.append(Link(first, WORLD, child))
            placed.add(first.path)
            taken.add(child)
            queue.append(child)
        while queue:
            parent = queue.popleft()
            for joint in at[parent]:
                other = joint.body1 if joint.body0 == parent else joint.body0
                if joint.path in placed or other in taken or other == WORLD:
                    continue
                tree.links.append(Link(joint, parent, other))
                placed.add(joint.path)
                taken.add(other)
                queue.append(other)
        if tree.links:
            result.append(tree)
        else:
            taken.discard(start)
    for joint in joints:
        if joint.path not in placed:
            notices.add(
                "ArticulationLoop", joint.prim,
                f"{joint.prim.display} closes a loop of the articulation {root}; it is simulated apart from it.",
            )  # fmt: skip
    return result
