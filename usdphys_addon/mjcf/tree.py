# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a model along a tree of its joints; the joints that are left close loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core import frames
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.stacks import Stack, stacks
from . import loops
from .values import Floats

LETTERS = "XYZ"


class End(NamedTuple):
    """A side of a joint: path of its body, empty for the world, and its frame (4, 4) in the world."""

    body: str
    frame: Floats


@dataclass(slots=True)
class Joint:
    """A joint of the model. child, parent: its sides; the child is the one further from the world. sign: -1 where the
    child is the first side."""

    prim: Prim
    schema: usd_physics.Joint
    parent: End
    child: End
    sign: float

    @property
    def between(self) -> Floats:
        """The frame (4, 4) of the second side in that of the first, which is what the joint measures."""
        seen = seen_from(self.parent.frame, self.child.frame)
        return np.asarray(np.linalg.inv(seen)) if self.sign < 0 else seen

    @property
    def start(self) -> float:
        """The angle, rad, or distance, m, of a hinge or a slide in the pose of the model."""
        number = LETTERS.index(self.schema.resolved("axis"))
        between = self.between
        is_hinge = self.prim.type_name == "PhysicsRevoluteJoint"
        return angle_about(between, number) if is_hinge else float(between[number, 3])


@dataclass(slots=True)
class Body:
    """A body that is simulated, its pose (4, 4) in the world, and the joint that holds it, if one does.

    joint: the last one of a stack (see `core.stacks`). before: the others of the stack, the outermost first.
    """

    prim: Prim
    pose: Floats
    name: str
    joint: Joint | None = None
    before: list[Joint] = field(default_factory=list)
    children: list[str] = field(default_factory=list)

    @property
    def joints(self) -> list[Joint]:
        """The joints that hold it, the outermost first."""
        return [*self.before, self.joint] if self.joint is not None else []

    @property
    def is_kinematic(self) -> bool:
        return bool(self.prim.get(usd_physics.RigidBodyAPI).resolved("kinematic_enabled"))  # type: ignore[union-attr]


class Tree:
    """bodies: by path. loops: the joints that hold no body."""

    def __init__(self, model: PhysicsModel, name_of: Callable[[str, str, str], str]) -> None:
        """name_of: makes a name of a path, of what it is to be called, and of its kind."""
        self.model = model
        self.bodies: dict[str, Body] = {}
        for path, prim in model.bodies.items():
            if prim.get(usd_physics.RigidBodyAPI).resolved("rigid_body_enabled"):  # type: ignore[union-attr]
                name = name_of(path, prim.label or prim.name, "body")
                self.bodies[path] = Body(prim, frames.unscaled(prim.world), name)
        self.loops = self._grow()

    @cached_property
    def holding(self) -> dict[str, Joint]:
        """The joints that hold bodies, by path."""
        return {joint.prim.path: joint for body in self.bodies.values() for joint in body.joints}

    def owner_of(self, path: str) -> str:
        """The path of the simulated body that carries a prim, empty for what stands still."""
        body = self.model.body_of(path)
        return body.path if body is not None and body.path in self.bodies else ""

    def pose_of(self, body: str) -> Floats:
        """The pose (4, 4) of a body in the world, with an empty path that of the world itself."""
        return self.bodies[body].pose if body else np.eye(4)

    def fixed_to(self, path: str) -> str:
        """The first body of those that no joint moves against a body; empty where that stands still."""
        while path:
            joint = self.bodies[path].joint
            if joint is None or joint.prim.type_name != "PhysicsFixedJoint":
                return path
            path = joint.parent.body
        return path

    def _end(self, joint: usd_physics.Joint, side: int) -> End:
        targets = getattr(joint, f"body{side}") or ()
        prim = self.model.prims.get(targets[0]) if targets else None
        world = prim.world if prim is not None else None
        if prim is None and targets and self.model.locate is not None:
            world = self.model.locate(targets[0])
        frame = frames.world_frame(world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
        return End(self.owner_of(targets[0]) if targets else "", frame)

    def _grow(self) -> list[Joint]:
        """Make a tree of the joints, from what stands still outwards. Returns the others, which close loops."""
        waiting = []
        stacked = {stack.joints[0].path: stack for stack in stacks(self.model)
                   if stack.base in self.bodies or not stack.base}  # fmt: skip
        others = {prim.path for stack in stacked.values() for prim in stack.joints[1:]}
        for prim in self.model.joints.values():
            joint = prim.get(usd_physics.Joint)
            assert joint is not None
            if joint.joint_enabled is False or prim.path in others:
                continue
            ends = self._end(joint, 0), self._end(joint, 1)
            if ends[0].body == ends[1].body:
                continue
            is_loop = bool(joint.exclude_from_articulation) or prim.type_name == "PhysicsDistanceJoint"
            waiting.append((is_loop, prim, joint, ends))
        # First what would be lost as an equality, then what would lose a part.
        closings = {prim.path: loops.closing_of(prim) for _, prim, _, _ in waiting}
        ranks = {path: 0 if one is None else 1 if one.more else 2 for path, one in closings.items()}
        waiting.sort(key=lambda one: (one[0], ranks[one[1].path]))
        held = {""} | {path for path, body in self.bodies.items() if body.is_kinematic}
        while waiting:
            next_row = next((row for row, (loop, _, _, ends) in enumerate(waiting) if not loop and
                          (ends[0].body in held) != (ends[1].body in held)), None)  # fmt: skip
            if next_row is None:
                loose = next((row for row, (loop, _, _, ends) in enumerate(waiting) if not loop and
                              not {ends[0].body, ends[1].body} & held), None)  # fmt: skip
                if loose is None:
                    break
                # A tree that floats begins at the first side of its first joint.
                held.add(waiting[loose][3][0].body)
                continue
            _, prim, joint, ends = waiting.pop(next_row)
            side = 1 if ends[0].body in held else 0
            made = Joint(prim, joint, ends[1 - side], ends[side], 1.0 if side else -1.0)
            body = self.bodies[made.child.body]
            *body.before, body.joint = _of_stack(made, stacked[prim.path]) if prim.path in stacked else [made]
            if made.parent.body:
                self.bodies[made.parent.body].children.append(made.child.body)
            held.add(made.child.body)
        return [Joint(prim, joint, ends[0], ends[1], 1.0) for _, prim, joint, ends in waiting]


def _of_stack(first: Joint, stack: Stack) -> list[Joint]:
    """The joints of a stack in the pose of the model, the outermost first. first: the first one of the model."""
    values, found = stack.values(), []
    moved = [np.eye(4), *stack.moved(values)]
    for prim, start, before, after in zip(stack.joints, stack.starts, moved, moved[1:], strict=False):
        schema: Any = prim.schemas[prim.type_name]
        frames_of = (before @ start, after @ start)
        sides = frames_of if first.sign > 0 else frames_of[::-1]
        parent, child = End(first.parent.body, sides[0]), End(first.child.body, sides[1])
        found.append(Joint(prim, schema, parent, child, first.sign))
    return found if first.sign > 0 else found[::-1]


def seen_from(frame: Floats, world: Floats) -> Floats:
    """A matrix (4, 4) of the world in the space of a frame."""
    return np.asarray(np.linalg.solve(frame, world))


def angle_about(between: Floats, number: int) -> float:
    """The angle of a rotation about an axis of its frame, rad."""
    after, last = (number + 1) % 3, (number + 2) % 3
    return math.atan2(float(between[last, after]), float(between[after, after]))
