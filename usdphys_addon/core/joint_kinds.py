# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint types and their degrees of freedom: which are locked, and which may have a limit or a drive."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

from .schema import Schema
from .schemas import usd_physics

#: Translations along and rotations about the axes of the joint frame.
AXIS_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
#: Degree of freedom: the distance between the two anchors.
DISTANCE = "distance"
Locks = tuple[bool, bool, bool]
_ALL: Locks = (True, True, True)
_NONE: Locks = (False, False, False)
_ACROSS: dict[str, Locks] = {"X": (False, True, True), "Y": (True, False, True), "Z": (True, True, False)}


class JointKind(NamedTuple):
    """One type of joint.

    identifier: of the Blender enum. cls: its schema. limits, drives: degrees of freedom that a LimitAPI or DriveAPI
    may act on. Revolute, prismatic, spherical and distance joints have attributes for their limits instead.
    """

    identifier: str
    cls: type[usd_physics.Joint]
    limits: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()


#: Source of the drives: documentation of PhysicsDriveAPI. Spherical joints have none, in PhysX too (measured).
JOINT_KINDS = (
    JointKind("FIXED", usd_physics.FixedJoint),
    JointKind("REVOLUTE", usd_physics.RevoluteJoint, drives=("angular",)),
    JointKind("PRISMATIC", usd_physics.PrismaticJoint, drives=("linear",)),
    JointKind("SPHERICAL", usd_physics.SphericalJoint),
    JointKind("DISTANCE", usd_physics.DistanceJoint, drives=(DISTANCE,)),
    JointKind("GENERIC", usd_physics.Joint, limits=(*AXIS_DOFS, DISTANCE), drives=(*AXIS_DOFS, DISTANCE)),
)
BY_IDENTIFIER = {kind.identifier: kind for kind in JOINT_KINDS}
BY_TYPE_NAME = {kind.cls.usd_name: kind for kind in JOINT_KINDS}


class Preset(NamedTuple):
    """free: degrees of freedom that are not locked."""

    label: str
    doc: str
    free: tuple[str, ...]


#: By identifier. Source: the combinations in the guide of PhysX to its D6 joint; the axis is X.
PRESETS = {
    "CYLINDRICAL": Preset("Cylindrical", "Slides along X and turns about it, like a piston rod", ("transX", "rotX")),
    "POINT_ON_LINE": Preset("Point on Line", "A point stays on the X axis; it turns in all ways, like a bead on a wire",
                            ("transX", "rotX", "rotY", "rotZ")),
    "POINT_ON_PLANE": Preset("Point on Plane", "A point stays in the plane across X; it turns in all ways, like a ball "
                             "caster", ("transY", "transZ", "rotX", "rotY", "rotZ")),
    "PLANAR": Preset("Planar", "Slides in the plane across X and turns about X, like a plate on a table",
                     ("transY", "transZ", "rotX")),
    "UNIVERSAL": Preset("Universal (Zero Swing)", "Turns about X and Y, like a cardan joint or a steered wheel. It is "
                        "singular at 90 degrees about Y", ("rotX", "rotY")),
    "ZERO_TWIST": Preset("Zero Twist", "Tilts about Y and Z without turning about X, like a flexible shaft. It is "
                         "singular at 180 degrees: limit the tilt", ("rotY", "rotZ")),
    "BALL": Preset("Ball", "Turns in all ways about one point, and can have drives, unlike the spherical joint",
                   ("rotX", "rotY", "rotZ")),
    "HINGE": Preset("Hinge", "Turns about X only", ("rotX",)),
    "SLIDE": Preset("Slide", "Slides along X only", ("transX",)),
    "FREE": Preset("Free", "All degrees of freedom are free; for drives that act on them", AXIS_DOFS),
}  # fmt: skip

#: Joints whose values about themselves, without a degree of freedom, are those of a translation.
_LINEAR = frozenset({usd_physics.PrismaticJoint.usd_name, usd_physics.DistanceJoint.usd_name})


def is_linear_joint(type_name: str) -> bool:
    return type_name in _LINEAR


def driven_dofs(type_name: str) -> tuple[str, ...]:
    """Degrees of freedom that a drive may act on, by USD type; empty for other types than joints."""
    kind = BY_TYPE_NAME.get(type_name)
    return kind.drives if kind is not None else ()


def is_locked(low: float, high: float) -> bool:
    """True if the limits lock a degree of freedom. Source: documentation of PhysicsLimitAPI (low above high)."""
    return low > high


def has_no_range(low: float, high: float) -> bool:
    """True if limits allow no motion: locked, or both limits equal."""
    return low >= high


def limits_of(limited: Schema, dof: str = "") -> tuple[float, float]:
    """(lower, upper) limit of a revolute or prismatic joint, or of a LimitAPI of a degree of freedom.

    rad or m; infinite where there is none.
    """
    names = ("low", "high") if isinstance(limited, usd_physics.LimitAPI) else ("lower_limit", "upper_limit")
    low, high = (limited.decided(name, dof) for name in names)
    return -math.inf if low is None else low, math.inf if high is None else high


def cone_angles(joint: usd_physics.SphericalJoint) -> tuple[float, float] | None:
    """Largest tilt towards the next axis and the third, rad; None if both are free. A half turn or more is free."""
    angles = [joint.decided(name) for name in ("cone_angle0_limit", "cone_angle1_limit")]
    first, second = (angle if angle is not None and 0.0 <= angle < math.pi else math.pi for angle in angles)
    return None if first == second == math.pi else (first, second)


def locked_axes(joint: usd_physics.Joint, locked: Collection[str] = ()) -> tuple[Locks, Locks]:
    """(translations, rotations) along and about X, Y, Z that a joint locks. locked: dofs that LimitAPI locks."""
    if isinstance(joint, usd_physics.FixedJoint):
        return _ALL, _ALL
    if isinstance(joint, usd_physics.SphericalJoint):
        return _ALL, _NONE
    if isinstance(joint, usd_physics.RevoluteJoint):
        return _ALL, _ACROSS[joint.resolved("axis")]
    if isinstance(joint, usd_physics.PrismaticJoint):
        return _ACROSS[joint.resolved("axis")], _ALL
    moves, turns = ([f"{kind}{axis}" in locked for axis in "XYZ"] for kind in ("trans", "rot"))
    return (moves[0], moves[1], moves[2]), (turns[0], turns[1], turns[2])
