# SPDX-License-Identifier: GPL-3.0-or-later
"""URDF 1.0 to 1.2 -> Robot. No single joint, link or shape stops it: each oddity is an issue with file and line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import numpy as np

from ..core import frames
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.validate import Issue, Severity
from ..core.words import NAMED, and_more
from . import markup, xacro
from .markup import Element
from .packages import Packages, is_file
from .robot import JOINT_TYPES, LOOP_TYPES, SINGLE, Color, Inertial, Joint, Link, Loop, Material, Mimic, Robot, Shape

#: Attributes with numbers of the children of a joint.
NUMBERS = {
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    "dynamics": ("damping", "friction"),
    "calibration": ("rising", "falling", "reference_position"),
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
}
_SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
#: Numbers further from zero are no lengths, masses or angles. As a limit they mean that there is none.
_MOST = 1e15


def read_file(path: Path, packages: Packages | None = None, arguments: Mapping[str, str] | None = None) -> Robot:
    """Read a URDF or a xacro. Raises InputError if there is no such file, or no robot in it.

    packages, arguments: of a xacro.
    """
    root, text = markup_of(path)
    packages = packages or Packages(path.absolute().parent)
    left = ""
    if root.tag == "robot" and (path.suffix.lower() == ".xacro" or xacro.is_xacro(root)):
        try:
            root = xacro.expand(root, path, packages, arguments or {})
            text = '<?xml version="1.0"?>\n' + markup.to_text(root)
        except InputError as error:
            if arguments or path.suffix.lower() == ".xacro" or not xacro.is_expanded(root):
                raise
            left = str(error)
    elif arguments:
        raise InputError(f"'{path.name}' is no xacro file, so it has no arguments.")
    robot = _robot_of(root, text, path)
    if left:
        robot.issues.insert(0, Issue(
            "UrdfXacroLeft", "warning", "", "", f"{left} What is left of xacro is kept, and means nothing.",
            "Expand the xacro file anew.",
        ))  # fmt: skip
    robot.files = list(packages.used)
    return robot


def markup_of(path: Path) -> tuple[Element, str]:
    """(first element, text) of a file. Raises InputError."""
    # What is no file, such as a pipe, may have no end.
    if not is_file(path):
        raise InputError(f"There is no file '{path}' that can be read; check the name.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"'{path}' cannot be read ({error.strerror}).") from error
    return markup.parse(data, path.name)


def read(data: bytes | str, path: Path) -> Robot:
    """Read the text of a URDF. path: of its file, for messages."""
    root, text = markup.parse(data, path.name)
    return _robot_of(root, text, path)


def _robot_of(root: Element, text: str, path: Path) -> Robot:
    if root.tag != "robot":
        raise InputError(f"'{path.name}' is no URDF: its first element is '{root.tag}', not 'robot'.")
    return _Reader(root, text, path).robot


def rotation_of(roll: float, pitch: float, yaw: float) -> Matrix:
    """Rotation (3, 3) of URDF's angles about the fixed axes X, Y and Z."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


class _Reader:
    def __init__(self, root: Element, text: str, path: Path) -> None:
        name = root.get("name") or ""
        self.robot = Robot(name or path.stem, path, text, root)
        if not name:
            self.tell("UrdfNameless", "warning", root, "The robot has no name; that of the file is taken.",
                      "Give the robot a name.")  # fmt: skip
        for element in root.findall("material"):
            self.read_global_material(element)
        for element in root.findall("link"):
            self.read_link(element)
        for element in root.findall("joint"):
            self.read_joint(element)
        self.make_tree()
        for element in root.findall("loop_joint"):
            self.read_loop(element)
        if not self.robot.links:
            raise InputError(f"'{path.name}' has no link; a robot needs one.")

    def tell(
        self, code: str, severity: Severity, element: Element, message: str, fix: str, label: str = ""
    ) -> None:  # fmt: skip
        place = f"{element.file}:{element.line}"
        self.robot.issues.append(Issue(code, severity, "", label, f"{place}: {message}", fix))

    # ------------------------------------------------------------------ numbers

    def number(self, element: Element | None, name: str) -> float | None:
        """The number in an attribute; None if it is missing, or no number, which is reported.

        A limit can be infinite.
        """
        text = element.get(name) if element is not None else None
        if element is None or text is None:
            return None
        value = self.parsed(text, math.inf if element.tag == "limit" else _MOST)
        if value is None:
            self.tell("UrdfNumber", "warning", element, f"'{text[:40]}' in {element.tag} is no number for '{name}'.",
                      "Write a finite number.")  # fmt: skip
        return value

    def numbers(self, element: Element | None, name: str, count: int) -> tuple[float, ...] | None:
        text = element.get(name) if element is not None else None
        if element is None or text is None:
            return None
        parts = text.replace(",", " ").split() if len(text) < 1000 else []
        values = [self.parsed(part) for part in parts]
        if len(values) != count or None in values:
            self.tell("UrdfNumber", "warning", element,
                      f"'{text[:40]}' in {element.tag} are not {count} numbers for '{name}'.",
                      f"Write {count} finite numbers.")  # fmt: skip
            return None
        return tuple(part for part in values if part is not None)

    @staticmethod
    def parsed(text: str, most: float = _MOST) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        if not abs(value) <= most or "_" in text:
            return None
        return value if abs(value) <= _MOST else math.copysign(math.inf, value)

    def pose(self, element: Element) -> Matrix:
        """Matrix (4, 4) of the origin in an element; rpy, or quat_xyzw of URDF 1.1."""
        return self.place(element.find("origin"))

    def place(self, origin: Element | None) -> Matrix:
        """Matrix (4, 4) of an element with xyz and rpy."""
        position = self.numbers(origin, "xyz", 3) or (0.0, 0.0, 0.0)
        if origin is not None and origin.get("quat_xyzw") is not None:
            x, y, z, w = self.numbers(origin, "quat_xyzw", 4) or (0.0, 0.0, 0.0, 1.0)
            if not any((x, y, z, w)):
                self.tell("UrdfNumber", "warning", origin, "The quaternion is zero.", "Write a unit quaternion.")
            return frames.transform(position, frames.matrix_of((w, x, y, z)))
        angles = self.numbers(origin, "rpy", 3) or (0.0, 0.0, 0.0)
        return frames.transform(position, rotation_of(*angles) if any(angles) else None)

    # ------------------------------------------------------------------ links

    def read_link(self, element: Element) -> None:
        name = element.get("name")
        if not name:
            self.tell("UrdfNameless", "warning", element, "A link has no name and is left out.", "Name the link.")
            return
        if name in self.robot.links:
            self.tell("UrdfNameTwice", "warning", element, f"A second link '{name}' is left out.",
                      "Give each link its own name.", name)  # fmt: skip
            return
        link = Link(name, element)
        inertial = element.find("inertial")
        if inertial is not None:
            link.inertial = self.inertial(inertial, name)
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for one in element.findall(tag):
                shape = self.shape(one, name)
                if shape is not None:
                    shapes.append(shape)
        self.robot.links[name] = link

    def inertial(self, element: Element, link: str) -> Inertial:
        mass = self.number(element.find("mass"), "value")
        if mass is None:
            mass = 0.0
            self.tell("UrdfMassMissing", "warning", element, f"The inertial of '{link}' has no mass.",
                      "Write the mass in kilograms.", link)  # fmt: skip
        if mass < 0:
            self.tell("UrdfMassNegative", "warning", element, f"The mass of '{link}' is {mass:g}; it is left out.",
                      "Write a mass above zero.", link)  # fmt: skip
            mass = 0.0
        tensor = None
        inertia = element.find("inertia")
        if inertia is not None:
            xx, xy, xz, yy, yz, zz = (self.number(inertia, name) or 0.0 for name in _TENSOR)
            missing = [name for name in _TENSOR if inertia.get(name) is None]
            if missing:
                self.tell("UrdfInertiaIncomplete", "warning", inertia,
                          f"The inertia of '{link}' lacks {', '.join(missing)}; zero is taken.",
                          "Write all six numbers.", link)  # fmt: skip
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return Inertial(mass, self.pose(element), tensor, element)

    def shape(self, element: Element, link: str) -> Shape | None:
        geometry = element.find("geometry")
        shapes = [child for child in geometry.children if child.tag in _SHAPES] if geometry is not None else []
        if not shapes:
            kinds = ", ".join(child.tag for child in geometry.children[:3]) if geometry is not None else ""
            what = f"the unknown shape {kinds}" if kinds else "no shape"
            self.tell("UrdfShapeUnknown", "warning", element, f"A {element.tag} of '{link}' has {what}.",
                      f"Use one of {', '.join(_SHAPES)}.", link)  # fmt: skip
            return None
        one = shapes[0]
        shape = Shape(one.tag, self.pose(element), element, element.get("name") or "")
        if one.tag == "mesh":
            shape.uri = (one.get("filename") or "").strip()
            if not shape.uri:
                self.tell("UrdfMeshMissing", "warning", one, f"A mesh of '{link}' names no file.", "Name a file.", link)
                return None
            scale = self.numbers(one, "scale", 3) or (1.0, 1.0, 1.0)
            if not all(scale):
                self.tell("UrdfShapeFlat", "warning", one, f"A mesh of '{link}' is scaled to nothing.",
                          "Give it a scale that is not zero.", link)  # fmt: skip
                return None
            shape.scale = (scale[0], scale[1], scale[2])
        else:
            size = self.dimensions(one)
            if size is None or min(size) <= 0:
                self.tell("UrdfShapeFlat", "warning", one, f"A {one.tag} of '{link}' has no size above zero.",
                          "Give it positive dimensions.", link)  # fmt: skip
                return None
            shape.size = size
        material = element.find("material")
        if material is not None:
            shape.material = self.material(material)
        return shape

    def dimensions(self, element: Element) -> tuple[float, ...] | None:
        if element.tag == "box":
            return self.numbers(element, "size", 3)
        radius = self.number(element, "radius")
        length = 1.0 if element.tag == "sphere" else self.number(element, "length")
        if radius is None or length is None:
            return None
        return (radius,) if element.tag == "sphere" else (radius, length)

    # ------------------------------------------------------------------ materials

    def read_global_material(self, element: Element) -> None:
        material = self.material(element)
        if material.name in self.robot.materials:
            self.tell("UrdfNameTwice", "warning", element, f"A second material '{material.name}' is left out.",
                      "Give each material its own name.", material.name)  # fmt: skip
        else:
            self.robot.materials[material.name] = material

    def material(self, element: Element) -> Material:
        color, texture = element.find("color"), element.find("texture")
        rgba: Color | None = None
        if color is not None:
            values = self.numbers(color, "rgba", 4)
            if values is not None:
                red, green, blue, alpha = (min(1.0, max(0.0, value)) for value in values)
                rgba = (red, green, blue, alpha)
        return Material(element.get("name") or "", rgba, texture.get("filename") if texture is not None else None)

    # ------------------------------------------------------------------ joints

    def read_joint(self, element: Element) -> None:
        name, kind = element.get("name") or "", element.get("type") or ""
        parent, child = (
            end.get("link") or "" if (end := element.find(tag)) is not None else "" for tag in ("parent", "child")
        )
        robot = self.robot
        problem = ""
        if not name:
            problem = "A joint has no name"
        elif name in robot.joints:
            problem = f"A second joint '{name}'"
        elif not (parent and child):
            problem = f"The joint '{name}' lacks its {'child' if parent else 'parent'}"
        elif parent not in robot.links or child not in robot.links:
            gone = parent if parent not in robot.links else child
            problem = f"The joint '{name}' names the link '{gone}', which there is not,"
        elif kind not in JOINT_TYPES:
            problem = f"The joint '{name}' is of the unknown type '{kind}'"
        if problem:
            self.tell("UrdfJointLeftOut", "warning", element, f"{problem} and is left out.", "Correct the joint.", name)
            return
        axis = self.axis(element, name) if kind not in ("fixed", "floating") else (1.0, 0.0, 0.0)
        joint = Joint(name, kind, parent, child, self.pose(element), axis, element)
        for tag, names in NUMBERS.items():
            inside = element.find(tag)
            for one in names:
                value = self.number(inside, one)
                if value is not None:
                    joint.numbers[f"{tag}:{one}"] = value
        mimic = element.find("mimic")
        if mimic is not None and kind in SINGLE:
            multiplier, offset = self.number(mimic, "multiplier"), self.number(mimic, "offset")
            joint.mimic = Mimic(mimic.get("joint") or "", 1.0 if multiplier is None else multiplier, offset or 0.0)
        if kind in ("revolute", "prismatic"):
            self.check_limits(element, joint)
        robot.joints[name] = joint

    def read_loop(self, element: Element) -> None:
        """A joint beside the tree: <loop_joint name type><link1 link xyz rpy/><link2 .../><axis/></loop_joint>."""
        name, kind = element.get("name") or "", element.get("type") or "revolute"
        ends = [element.find(tag) for tag in ("link1", "link2")]
        links = [one.get("link") or "" if one is not None else "" for one in ends]
        problem = ""
        if not name or name in self.robot.joints or name in self.robot.loops:
            problem = "has no name" if not name else "has the name of another joint"
        elif kind not in LOOP_TYPES:
            problem = f"is of the unknown type '{kind}'"
        elif links[0] == links[1] or not all(link in self.robot.links for link in links):
            problem = "does not name two links of the robot"
        if problem:
            self.tell("UrdfJointLeftOut", "warning", element, f"The loop_joint '{name}' {problem} and is left out.",
                      "Correct the joint.", name)  # fmt: skip
            return
        limit = element.find("limit")
        self.robot.loops[name] = Loop(
            name, kind, (links[0], links[1]), (self.place(ends[0]), self.place(ends[1])), self.axis(element, name),
            (self.number(limit, "lower"), self.number(limit, "upper")), element,
        )  # fmt: skip

    def axis(self, element: Element, name: str) -> tuple[float, float, float]:
        element_found = element.find("axis")
        values = np.array(self.numbers(element_found, "xyz", 3) or (1.0, 0.0, 0.0))
        size = float(np.linalg.norm(values))
        if element_found is not None and size < 1e-9:
            self.tell("UrdfAxisZero", "warning", element_found, f"The axis of '{name}' is zero; X is taken.",
                      "Write a unit vector.", name)  # fmt: skip
            return (1.0, 0.0, 0.0)
        if abs(size - 1.0) > 1e-12:
            values = values / size
        return (float(values[0]), float(values[1]), float(values[2]))

    def check_limits(self, element: Element, joint: Joint) -> None:
        limit = element.find("limit")
        missing = [name for name in ("lower", "upper") if f"limit:{name}" not in joint.numbers]
        if missing:
            where = limit if limit is not None else element
            self.tell("UrdfLimitMissing", "warning", where,
                      f"The {joint.type} joint '{joint.name}' has no {' and no '.join(missing)} limit; zero is taken.",
                      "Write lower and upper limits, or make it continuous.", joint.name)  # fmt: skip
        elif joint.numbers["limit:lower"] > joint.numbers["limit:upper"]:
            where = limit if limit is not None else element
            self.tell("UrdfLimitsSwapped", "warning", where,
                      f"The lower limit of '{joint.name}' is above the upper one.", "Swap them.",
                      joint.name)  # fmt: skip

    # ------------------------------------------------------------------ the tree

    def make_tree(self) -> None:
        robot = self.robot
        #: A link above each, not always the next: looking for the topmost makes the way to it shorter.
        above: dict[str, str] = {}

        def topmost(name: str) -> str:
            while name in above:
                above[name] = above.get(above[name], above[name])
                name = above[name]
            return name

        for joint in list(robot.joints.values()):
            if joint.child in robot.parents:
                self.tell("UrdfSecondParent", "warning", joint.element,
                          f"'{joint.child}' is already the child of '{robot.parents[joint.child].name}', so "
                          f"the joint '{joint.name}' is left out.", "Use a loop_joint for a loop.",
                          joint.name)  # fmt: skip
                del robot.joints[joint.name]
                continue
            # Nothing is above the child yet.
            if topmost(joint.parent) == joint.child:
                self.tell("UrdfCycle", "warning", joint.element,
                          f"The joint '{joint.name}' closes a loop of parents, and is left out.",
                          "Make the links a tree.", joint.name)  # fmt: skip
                del robot.joints[joint.name]
                continue
            robot.parents[joint.child], above[joint.child] = joint, joint.parent
            robot.children.setdefault(joint.parent, []).append(joint)
        robot.roots = [name for name in robot.links if name not in robot.parents]
        for name in robot.roots[1:]:
            self.tell("UrdfSeveralRoots", "warning", robot.links[name].element,
                      f"'{name}' hangs on no joint, and neither does '{robot.roots[0]}'.",
                      "Join them: ROS takes only one root.", name)  # fmt: skip
        loops = _loops_of(robot.joints)
        for joint in robot.joints.values():
            if joint.mimic is not None:
                self.check_mimic(joint, joint.mimic, loops[joint.name])

    def check_mimic(self, joint: Joint, mimic: Mimic, loop: tuple[str, int] | None) -> None:
        """loop: see `_loops_of`."""
        joints = self.robot.joints
        leader = joints.get(mimic.joint)
        if leader is None or leader.type not in SINGLE:
            self.tell("UrdfMimicBroken", "warning", joint.element,
                      f"'{joint.name}' follows the joint '{mimic.joint}', which there is not or which does not "
                      "move; it moves freely.", "Name another joint.", joint.name)  # fmt: skip
            return
        if loop is not None:
            first, number = loop
            between = [f"'{name}'" for name in islice(_leaders_of(joint, joints), min(NAMED, number - 1))]
            way = f", by way of {and_more(between, number - 1)}" if between else ""
            whom = "itself" if first == joint.name else f"'{first}', which follows itself"
            self.tell("UrdfMimicBroken", "warning", joint.element,
                      f"'{joint.name}' follows {whom}{way}; it moves freely.",
                      "Name another joint.", joint.name)  # fmt: skip


def _leaders_of(joint: Joint, joints: Mapping[str, Joint]) -> Iterator[str]:
    """The joint that a joint follows, the one that this follows, and so on; without end in a loop."""
    while joint.mimic is not None and joint.mimic.joint in joints:
        joint = joints[joint.mimic.joint]
        yield joint.name


def _loops_of(joints: Mapping[str, Joint]) -> dict[str, tuple[str, int] | None]:
    """Where the joints that a joint follows lead into a loop: the first joint of it, and how many joints there are from
    this one all the way round; else None. By name, in time that grows with the number of joints."""
    loops: dict[str, tuple[str, int] | None] = {}
    for joint in joints.values():
        way: list[str] = []
        places: dict[str, int] = {}
        name = joint.name
        for name in chain((joint.name,), _leaders_of(joint, joints)):
            if name in places:
                round_it = way[places[name] :]
                loops.update((one, (one, len(round_it))) for one in round_it)
            if name in places or name in loops:
                break
            places[name] = len(way)
            way.append(name)
        else:
            loops[name] = None
        loop = loops[name]
        for before in reversed(way):
            if before not in loops:
                loop = loops[before] = None if loop is None else (loop[0], loop[1] + 1)
    return loops
