# SPDX-License-Identifier: GPL-3.0-or-later
"""What urdfdom, with which ROS reads URDF, demands beyond what other programs do."""

from __future__ import annotations

from collections import Counter

from ..core.validate import Issue
from .markup import Element
from .robot import Robot

_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def check(robot: Robot) -> list[Issue]:
    """The reasons for which urdfdom would refuse a robot."""
    issues: list[Issue] = []

    def tell(code: str, element: Element, message: str, fix: str, label: str) -> None:
        place = f"{element.file}:{element.line}"
        issues.append(Issue(code, "error", "", label, f"{place}: ROS refuses this: {message}", fix))

    for tag in ("link", "joint"):
        elements = robot.element.findall(tag)
        for name, count in Counter(element.get("name") for element in elements).items():
            if count > 1 and name:
                element = next(one for one in reversed(elements) if one.get("name") == name)
                tell("RosNameTwice", element, f"{count} {tag}s are called '{name}'.", "Rename them.", name)
    if len(robot.roots) > 1:
        names = ", ".join(f"'{name}'" for name in robot.roots[:5])
        tell("RosSeveralRoots", robot.element, f"several links hang on no joint: {names}.", "Join them.", robot.name)
    for joint in robot.joints.values():
        limit = joint.element.find("limit")
        if joint.type in ("revolute", "prismatic"):
            missing = [one for one in ("effort", "velocity") if limit is None or limit.get(one) is None]
            if missing:
                tell("RosLimitMissing", limit if limit is not None else joint.element,
                     f"'{joint.name}' has no {' and no '.join(missing)}.", "Write both into its limit.",
                     joint.name)  # fmt: skip
        if joint.mimic is not None and joint.mimic.joint not in robot.joints:
            tell("RosMimicMissing", joint.element, f"'{joint.name}' follows '{joint.mimic.joint}', which there is not.",
                 "Name another joint.", joint.name)  # fmt: skip
    for link in robot.links.values():
        if link.inertial is None:
            continue
        element = link.inertial.element
        inertia = element.find("inertia")
        if element.find("mass") is None or inertia is None or any(inertia.get(name) is None for name in _TENSOR):
            tell("RosInertialIncomplete", element, f"the inertial of '{link.name}' lacks its mass or a moment.",
                 "Write them all, zeros included.", link.name)  # fmt: skip
    return issues
