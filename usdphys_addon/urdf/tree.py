# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies and joints -> a tree from one root, as URDF demands it; joints that close loops are left out, by name."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core import joint_kinds, paths
from ..core.errors import InputError
from ..core.joint_kinds import AXIS_DOFS
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.validate import Issue

#: The root of a tree whose joints hold it to the world.
WORLD = ""


class Freedom(NamedTuple):
    """A degree of freedom of a joint. axis: index in the joint frame. low, high: rad or m. name: of its drive."""

    is_angular: bool
    axis: int
    low: float
    high: float
    name: str

    @property
    def is_limited(self) -> bool:
        return self.low > -math.inf or self.high < math.inf


class Branch(NamedTuple):
    """A joint of the tree. parent, child: paths of bodies, or WORLD. reversed: body 1 of the joint is the parent."""

    joint: Prim
    parent: str
    child: str
    reversed: bool


#: Type of a `loop_joint` by USD type.
LOOP_KINDS = {
    "PhysicsRevoluteJoint": "revolute", "PhysicsPrismaticJoint": "prismatic", "PhysicsFixedJoint": "fixed",
    "PhysicsSphericalJoint": "spherical",
}  # fmt: skip


@dataclass(slots=True)
class Tree:
    """links: paths of bodies, parents first. branches: joint above each link, by path; the root has none.

    loops: joints beside the tree that a `loop_joint` can hold.
    """

    root: str
    links: list[str] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    loops: list[Edge] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)


class Edge(NamedTuple):
    joint: Prim
    ends: tuple[str, str]

    @property
    def is_last(self) -> bool:
        """True for a joint that the author left out of the articulation."""
        joint = self.joint.get(usd_physics.Joint)
        return joint is not None and bool(joint.resolved("exclude_from_articulation"))


def freedoms(prim: Prim) -> list[Freedom]:
    """The degrees of freedom in which a joint moves: none if it is fixed, six if it holds nothing."""
    joint = prim.get(usd_physics.Joint)
    if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
        is_angular = isinstance(joint, usd_physics.RevoluteJoint)
        axis = "XYZ".index(joint.resolved("axis"))
        name = "angular" if is_angular else "linear"
        return [Freedom(is_angular, axis, joint.resolved("lower_limit"), joint.resolved("upper_limit"), name)]
    if isinstance(joint, usd_physics.SphericalJoint):
        axis = "XYZ".index(joint.resolved("axis"))
        following, third = (axis + 1) % 3, (axis + 2) % 3
        # Tilting towards the next axis is turning about the third.
        towards_next, towards_third = joint_kinds.cone_angles(joint) or (math.inf, math.inf)
        return [
            Freedom(True, third, *_about_zero(towards_next), f"rot{'XYZ'[third]}"),
            Freedom(True, following, *_about_zero(towards_third), f"rot{'XYZ'[following]}"),
            Freedom(True, axis, -math.inf, math.inf, f"rot{'XYZ'[axis]}"),
        ]
    if isinstance(joint, usd_physics.FixedJoint):
        return []
    limits = dict(prim.instances(usd_physics.LimitAPI))
    freedoms_found = []
    for index, name in enumerate(AXIS_DOFS):
        limit = limits.get(name)
        low, high = (-math.inf, math.inf) if limit is None else (limit.resolved("low"), limit.resolved("high"))
        if not joint_kinds.has_no_range(low, high):
            freedoms_found.append(Freedom(index > 2, index % 3, low, high, name))
    return freedoms_found


def _about_zero(angle: float) -> tuple[float, float]:
    return (-angle, angle) if angle < math.pi else (-math.inf, math.inf)


def tree_of(model: PhysicsModel, chosen: Collection[str] = (), ignored: Collection[str] = ()) -> Tree:
    """The robot of a model. chosen: paths of prims, one of which is of the robot that is meant. ignored: of joints.

    Bodies without joints beside a robot are left out, by name. Raises InputError where there is no body, or where
    several robots could be meant.
    """
    return _Grower(model, chosen, ignored).tree


class _Grower:
    def __init__(self, model: PhysicsModel, chosen: Collection[str], ignored: Collection[str]) -> None:
        self.model = model
        self.issues: list[Issue] = []
        self.bodies = [
            path for path, prim in model.bodies.items()
            if (api := prim.get(usd_physics.RigidBodyAPI)) is not None and api.resolved("rigid_body_enabled")
        ]  # fmt: skip
        self.edges = [
            edge for path, prim in model.joints.items() if path not in ignored and (edge := self.edge(prim)) is not None
        ]
        self.by_body: dict[str, list[Edge]] = {WORLD: [], **{path: [] for path in self.bodies}}
        for edge in sorted(self.edges, key=lambda edge: edge.is_last):
            for end in edge.ends:
                self.by_body[end].append(edge)
        self.tree = self.grow(self.robot(chosen))

    def tell(self, code: str, prim: Prim, message: str, fix: str) -> None:
        self.issues.append(Issue(code, "warning", prim.path, prim.label, message, fix))

    def edge(self, prim: Prim) -> Edge | None:
        """A joint that can be in a tree; others are named."""
        joint = prim.get(usd_physics.Joint)
        assert isinstance(joint, usd_physics.Joint)
        known = set(self.bodies)
        ends = [paths.nearest(targets[0], known) if targets else WORLD for targets in (joint.body0, joint.body1)]
        if ends[0] == ends[1]:
            return None
        if isinstance(joint, usd_physics.DistanceJoint):
            self.tell("UrdfJointLeftOut", prim, f"'{_name(prim)}' is left out: no joint of URDF keeps a distance.",
                      "Use another joint, or write USD.")  # fmt: skip
            return None
        if not joint.resolved("joint_enabled"):
            self.tell("UrdfJointLeftOut", prim, f"'{_name(prim)}' is left out: it is disabled.", "Enable the joint.")
            return None
        return Edge(prim, (ends[0], ends[1]))

    # ------------------------------------------------------------------ which robot

    def robot(self, chosen: Collection[str]) -> set[str]:
        """The bodies of the robot that is to be written."""
        if not self.bodies:
            raise InputError("There are no rigid bodies, so there is no robot to write.")
        groups = self.groups()
        jointed = [group for group in groups if len(group) > 1 or any(self.by_body[path] for path in group)]
        meant = [
            group for group in groups
            if any(paths.is_at_or_below(path, body) for path in chosen for body in group)
        ]  # fmt: skip
        bodies = meant or jointed or groups
        if len(bodies) > 1:
            names = ", ".join(f"'{min(group, key=self.bodies.index)}'" for group in bodies[:5])
            more = f" and {len(bodies) - 5} more" if len(bodies) > 5 else ""
            raise InputError(
                f"There are {len(bodies)} robots, at {names}{more}, and a URDF holds one; select a part of one of them "
                "in Blender, name it where a USD file is converted (--prim), or connect them by joints."
            )
        others = sorted(path for group in groups if group is not bodies[0] for path in group)
        for path in others:
            self.tell("UrdfBodyLeftOut", self.model.prims[path],
                      f"'{_name(self.model.prims[path])}' is left out: no joint connects it to the robot.",
                      "Connect it by a joint if it is a part of the robot.")  # fmt: skip
        return bodies[0]

    def groups(self) -> list[set[str]]:
        """Bodies that joints connect; also across the world if one articulation holds them all."""
        connected: list[set[str]] = []
        seen: set[str] = set()
        for start in self.bodies:
            if start in seen:
                continue
            group, pending = {start}, [start]
            while pending:
                for edge in self.by_body[pending.pop()]:
                    for end in edge.ends:
                        if end != WORLD and end not in group:
                            group.add(end)
                            pending.append(end)
            seen |= group
            connected.append(group)
        roots = list(self.model.articulations)
        if len(roots) == 1:
            below = [group for group in connected if any(paths.is_below(path, roots[0]) for path in group)]
            held = [
                group for group in below if any(WORLD in edge.ends for path in group for edge in self.by_body[path])
            ]
            if len(held) > 1:
                connected = [group for group in connected if group not in held] + [set().union(*held)]
        return connected

    # ------------------------------------------------------------------ the tree

    def grow(self, bodies: set[str]) -> Tree:
        tree = Tree(self.root(bodies), issues=self.issues)
        tree.links.append(tree.root)
        used: set[str] = set()
        for passes in (False, True):
            # Joints that are left out of the articulation come last: they close loops.
            at = 0
            while at < len(tree.links):
                link = tree.links[at]
                at += 1
                for edge in self.by_body[link]:
                    child = edge.ends[0] if edge.ends[1] == link else edge.ends[1]
                    if child not in bodies or child in tree.branches or child == tree.root or edge.is_last > passes:
                        continue
                    used.add(edge.joint.path)
                    tree.branches[child] = Branch(edge.joint, link, child, reversed=edge.ends[1] == link)
                    tree.links.append(child)
        for edge in self.edges:
            if edge.joint.path in used or not bodies.intersection(edge.ends):
                continue
            if edge.joint.type_name in LOOP_KINDS and {*edge.ends} <= {*tree.links}:
                tree.loops.append(edge)
                self.tell("UrdfLoop", edge.joint,
                          f"'{_name(edge.joint)}' closes a loop, and the links of a URDF are a tree: it is written "
                          "as a loop_joint, which ROS ignores.",
                          "Where a program leaves the loop open, write USD.")  # fmt: skip
                continue
            self.tell("UrdfLoop", edge.joint,
                      f"'{_name(edge.joint)}' is left out: it closes a loop, and the links of a URDF are a tree.",
                      "Simulators that read URDF do not close it; write USD.")  # fmt: skip
        return tree

    def root(self, bodies: set[str]) -> str:
        """The world if a joint holds the robot to it, else the body that the articulation starts at, else the first."""
        if any(WORLD in edge.ends and not edge.is_last for path in bodies for edge in self.by_body[path]):
            return WORLD
        for path in self.model.articulations:
            if path in bodies:
                return path
        children = {edge.ends[1] for edge in self.edges if not edge.is_last}
        ordered = [path for path in self.bodies if path in bodies]
        return next((path for path in ordered if path not in children), ordered[0])


def _name(prim: Prim) -> str:
    return prim.label or paths.name_of(prim.path)
