# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint types and their degrees of freedom: which there are, which a limit and which a drive may act on."""

from __future__ import annotations

from .schemas import usd_physics

#: Joint types by the identifier of the enum.
JOINT_TYPES: dict[str, type[usd_physics.Joint]] = {
    "FIXED": usd_physics.FixedJoint,
    "REVOLUTE": usd_physics.RevoluteJoint,
    "PRISMATIC": usd_physics.PrismaticJoint,
    "SPHERICAL": usd_physics.SphericalJoint,
    "DISTANCE": usd_physics.DistanceJoint,
    "GENERIC": usd_physics.Joint,
}
_GENERIC_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
#: Degrees of freedom that a limit or a drive of its own is for, by joint type; the others have limits in their type.
LIMIT_DOFS: dict[str, tuple[str, ...]] = {
    "FIXED": (), "REVOLUTE": (), "PRISMATIC": (), "SPHERICAL": (), "DISTANCE": (),
    "GENERIC": (*_GENERIC_DOFS, "distance"),
}  # fmt: skip
DRIVE_DOFS: dict[str, tuple[str, ...]] = {
    "FIXED": (), "REVOLUTE": ("angular",), "PRISMATIC": ("linear",), "SPHERICAL": ("rotX", "rotY", "rotZ"),
    "DISTANCE": (), "GENERIC": _GENERIC_DOFS,
}  # fmt: skip
SIX = frozenset(("transX", "transY", "transZ", "rotX", "rotY", "rotZ"))
#: Degrees of freedom that a drive may move, by type of joint. Source: the documentation of PhysicsDriveAPI.
DRIVEN = {
    "PhysicsJoint": SIX,
    "PhysicsRevoluteJoint": frozenset(("angular",)),
    "PhysicsPrismaticJoint": frozenset(("linear",)),
    "PhysicsDistanceJoint": frozenset(("distance",)),
}
