# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of SDF, which are a graph, -> the tree of a robot from the world, and the joints that close loops."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..urdf.markup import Element
from ..urdf.robot import SINGLE, Joint, Loop, Mimic, Robot
from .numbers import Numbers
from .scope import OWN, WORLD, Item, Scope

_KINDS = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed", "ball": "spherical",
    "universal": "universal", "revolute2": "universal",
}  # fmt: skip
#: What a joint and its axis have that is read.
_READ = {"pose", "parent", "child", "axis", "axis2"}
#: Cosine between the axes of a universal joint above which they are not at right angles.
_OBLIQUE = 1e-4
_READ_AXIS = {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position"}
_OTHER_LIMIT = {
    f"limit{one}:{end}": f"limit{other}:{end}" for one, other in (("", 2), (2, "")) for end in ("lower", "upper")
}
#: Before it, the axis of a joint was along the axes of its model.
_AXIS_IN_JOINT = (1, 5)


def add_joints(robot: Robot, outer: Scope, numbers: Numbers, leave: Callable[[str, Element], None]) -> None:
    """Hang all links of a robot below the world."""
    _Joints(robot, outer, numbers, leave).add()


@dataclass(slots=True)
class _Tie:
    """A joint between two links, either of which can become the parent. poses: (4, 4) of the joint in each."""

    joint: Joint
    poses: tuple[Matrix, Matrix]

    def below(self, link: str) -> Joint:
        """The joint with a link as the parent. About the opposite axis it moves the other way round by as much."""
        joint = self.joint
        if link == joint.parent:
            return replace(joint, pose=self.poses[0], inner=self.poses[1])
        turned = replace(joint, parent=joint.child, child=joint.parent, pose=self.poses[1], inner=self.poses[0])
        turned.axis = _opposite(joint.axis)
        if joint.axis2 is not None:
            turned.axis, turned.axis2 = _opposite(joint.axis2), _opposite(joint.axis)
            turned.numbers = {_OTHER_LIMIT.get(key, key): value for key, value in joint.numbers.items()}
        return turned


def _opposite(axis: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = axis
    return -x, -y, -z


@dataclass(slots=True)
class _Joints:
    robot: Robot
    outer: Scope
    numbers: Numbers
    leave: Callable[[str, Element], None]
    #: Pose (4, 4) of each link in the outermost scope.
    worlds: dict[str, Matrix] = field(default_factory=dict)
    ties: list[_Tie] = field(default_factory=list)
    fixed: list[Joint] = field(default_factory=list)

    def add(self) -> None:
        self.worlds[WORLD] = np.eye(4)
        for scope in self.outer.scopes():
            place = self.model_placed(scope)
            for name, item in scope.items.items():
                if item.tag != "joint" and (made := self.placed(scope, name, item)) is not None:
                    self.worlds[scope.prefix() + name] = place @ made
        for scope in self.outer.scopes():
            for name, item in scope.items.items():
                self.look_at(scope, name, item)
        self.grow()

    def model_placed(self, scope: Scope) -> Matrix:
        """Pose (4, 4) of a model in the outermost scope; relative to the model above where a name leads nowhere."""
        try:
            return scope.world_place()
        except KeyError as error:
            scope.pending.clear()
            self.numbers.tell("SdfFrameMissing", "warning", scope.element,
                              f"The pose of the model '{scope.name}' is relative to {error}, which there is not; it "
                              "is taken as relative to what holds the model.", "Correct the name.",
                              scope.name)  # fmt: skip
            scope.base = scope.placement = ""
            return scope.world_place()

    def placed(self, scope: Scope, name: str, item: Item) -> Matrix | None:
        """Pose (4, 4) of a link, joint or frame in its scope; the scope's own where a name leads nowhere."""
        try:
            return scope.place(name)
        except KeyError as error:
            scope.pending.clear()
            full = f"{scope.prefix()}{name}"
            self.numbers.tell("SdfFrameMissing", "warning", item.element,
                              f"The pose of '{full}' is relative to {error}, which there is not; it is taken as "
                              "relative to the model.", "Correct the name.", name)  # fmt: skip
            item.base = OWN
            return self.placed(scope, name, item) if name not in scope.placed else scope.placed[name]

    def full(self, scope: Scope, name: str) -> str:
        return scope.prefix() + name

    # ------------------------------------------------------------------ single joints

    def look_at(self, scope: Scope, name: str, item: Item) -> None:
        """A joint between links; that of a static model, or of a frame, which is fixed."""
        full = self.full(scope, name)
        if item.tag == "frame":
            self.hold(scope, full, item)
        elif item.tag == "link":
            if scope.is_static:
                self.fixed.append(Joint(f"{full} (static)", "fixed", WORLD, full, self.worlds[full], (1.0, 0.0, 0.0),
                                        item.element))  # fmt: skip
        elif not scope.is_static:
            self.tie(scope, name, full, item)

    def hold(self, scope: Scope, full: str, item: Item) -> None:
        try:
            link = scope.link_of(item.element.get("attached_to") or OWN)
        except KeyError:
            link = None
        above = WORLD if link is None else self.full(*link)
        pose = frames.inverse_pose(self.worlds[above]) @ self.worlds[full]
        self.fixed.append(Joint(f"{full} (frame)", "fixed", above, full, pose, (1.0, 0.0, 0.0), item.element))

    def tie(self, scope: Scope, name: str, full: str, item: Item) -> None:
        element = item.element
        kind = _KINDS.get(element.get("type") or "")
        ends: list[str] = []
        problem = "" if kind else f"is of the type '{(element.get('type') or '')[:40]}', which is not read"
        for tag in ("parent", "child"):
            found = element.find(tag)
            text = found.text.strip() if found is not None else ""
            try:
                link = None if text == WORLD else scope.link_of(text) if text else None
                ends.append(WORLD if link is None else self.full(*link))
                if not text:
                    raise KeyError(tag)
            except KeyError:
                problem = problem or (f"names '{text[:100]}', which there is not" if text else f"lacks its {tag}")
        if not problem and ends[0] == ends[1]:
            problem = "joins a link to itself"
        if problem or kind is None:
            self.numbers.tell("SdfJointLeftOut", "warning", element, f"The joint '{full}' {problem} and is left out.",
                              "Use another joint between two links.", full)  # fmt: skip
            return
        if full in self.robot.joints or any(tie.joint.name == full for tie in self.ties[-1:]):
            return
        place = self.placed(scope, name, item)
        assert place is not None
        world = scope.world_place() @ place
        poses = [frames.inverse_pose(self.worlds[end]) @ world for end in ends]
        if scope.find(item.base or OWN)[1] != OWN and self.full(*scope.find(item.base)) == ends[1]:
            poses[1] = item.pose  # to the bit
        joint = Joint(full, kind, ends[0], ends[1], poses[0], (0.0, 0.0, 1.0), element)
        axis = element.find("axis")
        if kind in SINGLE:
            axis = axis if axis is not None else Element("axis", file=element.file)
            joint.axis = self.read_axis(scope, joint, axis, world)
            self.read_numbers(scope, joint, axis)
        elif kind == "universal" and not self.read_two(scope, joint, world):
            return
        for child in element.children:
            if child.tag not in _READ and ":" not in child.tag:
                self.leave(f"{child.tag} of a joint", child)
        self.ties.append(_Tie(joint, (poses[0], poses[1])))

    def read_two(self, scope: Scope, joint: Joint, world: Matrix) -> bool:
        """The two axes of a joint with their limits; False where no joint of USD has such."""
        axes = [joint.element.find(tag) or Element(tag, file=joint.element.file) for tag in ("axis", "axis2")]
        joint.axis, second = (self.read_axis(scope, joint, axis, world) for axis in axes)
        if abs(np.dot(joint.axis, second)) > _OBLIQUE:
            self.numbers.tell("SdfJointLeftOut", "warning", joint.element,
                              f"The axes of the joint '{joint.name}' are not at right angles, so it is left out.",
                              "Use two joints with a link between them.", joint.name)  # fmt: skip
            return False
        along = np.asarray(second) - np.dot(joint.axis, second) * np.asarray(joint.axis)
        joint.axis2 = frames.vector(along / np.linalg.norm(along))
        for axis, word in zip(axes, ("limit", "limit2"), strict=True):
            limit = axis.find("limit") or Element("limit")
            for name, usual in (("lower", -math.inf), ("upper", math.inf)):
                joint.numbers[f"{word}:{name}"] = self.numbers.limit(limit.find(name), usual)
            for child in axis.children:
                if child.tag in ("dynamics", "mimic"):
                    self.leave(f"{child.tag} of a joint with two axes", child)
        return True

    def read_axis(
        self, scope: Scope, joint: Joint, axis: Element, world: Matrix
    ) -> tuple[float, float, float]:  # fmt: skip
        """The unit vector of an axis in the frame of its joint."""
        xyz = axis.find("xyz")
        values = np.array(self.numbers.list_of(xyz, 3) or (0.0, 0.0, 1.0))
        base = xyz.get("expressed_in") or "" if xyz is not None else ""
        in_model = axis.find("use_parent_model_frame")
        if in_model is not None or scope.version < _AXIS_IN_JOINT:
            said = in_model.text.strip().lower() if in_model is not None else "true"
            base = base or (OWN if said in ("true", "1") else "")
        if base:
            try:
                turn = (scope.world_place() @ scope.place(base))[:3, :3]
                values = world[:3, :3].T @ turn @ values
            except KeyError:
                self.numbers.tell("SdfFrameMissing", "warning", joint.element,
                                  f"The axis of '{joint.name}' is expressed in '{base[:100]}', which there is not.",
                                  "Correct the name.", joint.name)  # fmt: skip
        size = float(np.linalg.norm(values))
        if size < 1e-9:
            self.numbers.tell("SdfAxisZero", "warning", joint.element,
                              f"The axis of '{joint.name}' is zero; Z is taken.", "Write a unit vector.",
                              joint.name)  # fmt: skip
            values, size = np.array([0.0, 0.0, 1.0]), 1.0
        if abs(size - 1.0) > 1e-12:
            values = values / size
        for child in axis.children:
            if child.tag not in _READ_AXIS:
                self.leave(f"{child.tag} of a joint", child)
        return frames.vector(values)

    def read_numbers(self, scope: Scope, joint: Joint, axis: Element) -> None:
        """Limits, damping and friction, a spring, and what the joint follows."""
        limit, dynamics = axis.find("limit") or Element("limit"), axis.find("dynamics") or Element("dynamics")
        number = self.numbers
        low, high = number.limit(limit.find("lower"), -math.inf), number.limit(limit.find("upper"), math.inf)
        if joint.type == "revolute" and low == -math.inf and high == math.inf:
            joint.type = "continuous"
        if low > high:
            number.tell(
                "SdfLimitsSwapped",
                "warning",
                limit,
                f"The lower limit of '{joint.name}' is above the upper one.",
                "Swap them.",
                joint.name,
            )
        joint.numbers |= {"limit:lower": low, "limit:upper": high}
        # -1 means none.
        for name in ("effort", "velocity"):
            value = number.limit(limit.find(name), -1.0)
            if value >= 0 and math.isfinite(value):
                joint.numbers[f"limit:{name}"] = value
        for name in ("damping", "friction", "spring_stiffness", "spring_reference"):
            value = number.of(dynamics.find(name), 0.0)
            if value:
                joint.numbers[f"dynamics:{name}"] = value
        mimic = axis.find("mimic")
        if mimic is not None:
            self.read_mimic(scope, joint, mimic)

    def read_mimic(self, scope: Scope, joint: Joint, mimic: Element) -> None:
        """What follows is multiplier * (leader - reference) + offset."""
        leader = mimic.get("joint") or ""
        try:
            found, own = scope.find(leader)
            leader = self.full(found, own)
        except KeyError:
            pass  # reported where the joints are known
        if (mimic.get("axis") or "axis") != "axis":
            self.leave("mimic of a second axis", mimic)
            return
        number = self.numbers
        ratio = number.of(mimic.find("multiplier"), 1.0)
        offset = number.of(mimic.find("offset"), 0.0) - ratio * number.of(mimic.find("reference"), 0.0)
        joint.mimic = Mimic(leader, ratio, offset)

    # ------------------------------------------------------------------ the tree

    def grow(self) -> None:
        """Hang each link on one joint: on its own parent where it can be, and on its child where it must be."""
        robot = self.robot
        at: dict[str, list[_Tie]] = {}
        for tie in self.ties:
            for end in (tie.joint.parent, tie.joint.child):
                at.setdefault(end, []).append(tie)
        held: dict[str, list[Joint]] = {}
        for joint in self.fixed:
            held.setdefault(joint.parent, []).append(joint)
        used: set[str] = set()
        reached = {WORLD}
        forward, backward = deque([WORLD]), deque[tuple[str, _Tie]]()

        def hang(joint: Joint) -> None:
            robot.joints[joint.name] = robot.parents[joint.child] = joint
            robot.children.setdefault(joint.parent, []).append(joint)
            reached.add(joint.child)
            forward.append(joint.child)

        def spread() -> None:
            while forward or backward:
                if not forward:
                    link, tie = backward.popleft()
                    if tie.joint.name not in used and tie.joint.parent not in reached:
                        used.add(tie.joint.name)
                        hang(tie.below(link))
                    continue
                link = forward.popleft()
                for joint in held.get(link, ()):
                    if joint.child not in reached:
                        hang(joint)
                for tie in at.get(link, ()):
                    if tie.joint.parent != link:
                        backward.append((link, tie))
                    elif tie.joint.name not in used and tie.joint.child not in reached:
                        used.add(tie.joint.name)
                        hang(tie.below(link))

        spread()
        children = {tie.joint.child for tie in self.ties} | {joint.child for joint in self.fixed}
        for name in [*(name for name in robot.links if name not in children), *robot.links]:
            if name not in reached:
                hang(Joint(f"{name} (free)", "floating", WORLD, name, self.worlds[name], (1.0, 0.0, 0.0),
                           robot.links[name].element))  # fmt: skip
                spread()
        robot.roots = [WORLD]
        for tie in self.ties:
            if tie.joint.name not in used:
                self.close(tie)
        for joint in robot.joints.values():
            if joint.mimic is not None and joint.mimic.joint not in robot.joints:
                self.numbers.tell("SdfMimicBroken", "warning", joint.element,
                                  f"'{joint.name}' follows '{joint.mimic.joint[:100]}', which is no joint of the tree; "
                                  "it moves freely.", "Name another joint.", joint.name)  # fmt: skip
                joint.mimic = None

    def close(self, tie: _Tie) -> None:
        joint = tie.joint
        if joint.type == "universal":
            self.leave("universal joint that closes a loop", joint.element)
            return
        kind = "revolute" if joint.type == "continuous" else joint.type
        self.robot.loops[joint.name] = Loop(
            joint.name, kind, (joint.parent, joint.child), tie.poses, joint.axis,
            (joint.numbers.get("limit:lower"), joint.numbers.get("limit:upper")), joint.element,
        )  # fmt: skip
        if any(key.startswith("dynamics:") or key == "limit:effort" for key in joint.numbers) or joint.mimic:
            self.leave("drive or damping of a joint that closes a loop", joint.element)
