# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint types and their degrees of freedom: what is locked, what a limit and what a drive may act on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .schemas import usd_physics

#: Along and about the axes of the joint frame.
AXIS_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
#: Of the distance between the two anchors.
DISTANCE = "distance"
Locks = tuple[bool, bool, bool]
_ALL: Locks = (True, True, True)
_NONE: Locks = (False, False, False)
_ACROSS: dict[str, Locks] = {"X": (False, True, True), "Y": (True, False, True), "Z": (True, True, False)}


@dataclass(frozen=True, slots=True)
class JointKind:
    """One type of joint.

    identifier: of the enum in Blender. cls: its schema. limits, drives: degrees of freedom that a LimitAPI or a
    DriveAPI acts on; types with an axis or a cone have their limits as attributes of their own.
    """

    identifier: str
    cls: type[usd_physics.Joint]
    limits: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()


#: Source of the drives: the documentation of PhysicsDriveAPI; spherical joints have none, measured in PhysX too.
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


def driven_dofs(type_name: str) -> tuple[str, ...]:
    """Degrees of freedom that a drive may act on, for a prim of this USD type; empty where it is no joint."""
    kind = BY_TYPE_NAME.get(type_name)
    return kind.drives if kind is not None else ()


def is_locked(low: float, high: float) -> bool:
    """True for limits that lock a degree of freedom. Source: PhysicsLimitAPI, low above high."""
    return low > high


def has_no_range(low: float, high: float) -> bool:
    """True for limits that leave a degree of freedom no way to go: locked, or with both limits the same."""
    return low >= high


def locked_axes(joint: usd_physics.Joint, locked: Collection[str] = ()) -> tuple[Locks, Locks]:
    """(translations, rotations) along and about X, Y, Z that a joint locks. locked: by LimitAPI, on generic joints."""
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
