# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of joints that UsdPhysics has no words for, from the schemas of Newton, PhysX and MuJoCo alike.

SI units and radians. Newton's words come first: PhysX and MuJoCo read them, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from .joint_kinds import DISTANCE
from .model import Prim
from .schema import attribute_of
from .schemas import usd_physics
from .vendor_schemas import number_for_simulator


def _positive(value: Any) -> float:
    return float(value) if isinstance(value, float | int) and 0.0 < value < math.inf else 0.0


def _from_any(prim: Prim, dof: str, newton: str, physx: str, mujoco: str) -> float:
    """The first of these fields that is authored; 0 if none is, or if it is not above 0."""
    for name, field in (("NewtonJointAPI", newton), (f"PhysxJointAxisAPI:{dof}", physx), ("MjcJointAPI", mujoco)):
        api: Any = prim.schemas.get(name)
        value = getattr(api, field, None) if api is not None and field else None
        if value is not None:
            return _positive(value)
    return 0.0


#: The schemas of PhysX before 5.8, for the whole joint, by the schema and field that say the same now. The unit is that
#: of the joint.
OLD_SCHEMAS = {("PhysxJointAxisAPI", "max_joint_velocity"): "PhysxJointAPI"}


def joint_damping(prim: Prim, dof: str) -> float:
    """Force or torque per speed that a joint resists with along a degree of freedom."""
    return _from_any(prim, dof, "damping", "viscous_friction_coefficient", "damping")


def joint_friction(prim: Prim, dof: str) -> float:
    """Force or torque that a moving joint resists with along a degree of freedom, whatever its speed."""
    return _from_any(prim, dof, "friction", "dynamic_friction_effort", "frictionloss")


def joint_speed(prim: Prim, dof: str) -> float:
    """Largest speed along a degree of freedom; 0 without a limit."""
    speed = _from_any(prim, dof, "velocity_limit", "max_joint_velocity", "")
    if speed:
        return speed
    api: Any = prim.schemas.get(OLD_SCHEMAS["PhysxJointAxisAPI", "max_joint_velocity"])
    return _positive(getattr(api, "max_joint_velocity", None)) if api is not None else 0.0


@dataclass(frozen=True, slots=True)
class AxisSettings:
    """Of a degree of freedom, in N, N m, kg, kg m2, m/s and rad/s. stiffness, damping: of its limits; both 0: hard.

    bounce: share of the speed that a hard limit gives back. threshold: slower joints do not bounce.
    """

    armature: float = 0.0
    friction: float = 0.0
    resistance: float = 0.0
    max_speed: float = math.inf
    stiffness: float = 0.0
    damping: float = 0.0
    bounce: float = 0.0
    threshold: float = 0.0

    @property
    def is_special(self) -> bool:
        """True if the solver needs more than a drive and hard limits."""
        return self.armature > 0.0 or self.max_speed < math.inf or self.stiffness > 0.0 or self.bounce > 0.0

    @property
    def is_soft(self) -> bool:
        """True for limits that are springs."""
        return self.stiffness > 0.0


PLAIN_AXIS = AxisSettings()


def axis_settings(prim: Prim, dof: str) -> AxisSettings:
    """What all these schemas say about a degree of freedom."""
    newton: Any = prim.schemas.get("NewtonJointAPI")
    limit: Any = prim.schemas.get(f"PhysxLimitAPI:{dof}")

    def of_limit(field: str, name: str) -> float:
        own = getattr(newton, field) if newton is not None else None
        if own is not None or limit is None:
            return _positive(own)
        # As PhysX takes it, which is the only one to read it.
        return _positive(getattr(limit, name)) / number_for_simulator(attribute_of(type(limit), name), dof)

    settings = AxisSettings(
        _from_any(prim, dof, "armature", "armature", "armature"), joint_friction(prim, dof), joint_damping(prim, dof),
        joint_speed(prim, dof) or math.inf, of_limit("limit_stiffness", "stiffness"),
        of_limit("limit_damping", "damping"), 0.0 if limit is None else min(_positive(limit.restitution), 1.0),
        0.0 if limit is None else _positive(limit.bounce_threshold),
    )  # fmt: skip
    return settings if settings != PLAIN_AXIS else PLAIN_AXIS


def distance_spring(prim: Prim) -> AxisSettings:
    """The spring of the limits of a distance: of a distance joint, or of a generic one. Source: measured in PhysX."""
    if prim.get(usd_physics.DistanceJoint) is None:
        limit: Any = prim.schemas.get(f"PhysxLimitAPI:{DISTANCE}")
        return PLAIN_AXIS if limit is None else AxisSettings(
            stiffness=_positive(limit.stiffness), damping=_positive(limit.damping)
        )  # fmt: skip
    api: Any = prim.schemas.get("PhysxPhysicsDistanceJointAPI")
    if api is None or api.spring_enabled is not True:
        return PLAIN_AXIS
    return AxisSettings(stiffness=_positive(api.spring_stiffness), damping=_positive(api.spring_damping))


class Following(NamedTuple):
    """A joint is at `offset` (rad or m) plus `ratio` times the position of its leader, the path of a joint."""

    leader: str
    offset: float
    ratio: float


def following(prim: Prim) -> Following | None:
    """What a joint follows. Source: NewtonMimicAPI; PhysX's own equation for its mimic joint."""
    newton: Any = prim.schemas.get("NewtonMimicAPI")
    if newton is not None:
        if newton.mimic_joint and newton.mimic_enabled is not False:
            return Following(newton.mimic_joint[0], newton.resolved("mimic_coef0"), newton.resolved("mimic_coef1"))
        return None
    for name in ("rotX", "rotY", "rotZ"):
        physx: Any = prim.schemas.get(f"PhysxMimicJointAPI:{name}")
        if physx is not None and physx.reference_joint:
            return Following(physx.reference_joint[0], -physx.resolved("offset"), -physx.resolved("gearing"))
    return None


#: Types of prims that couple two joints.
GEAR, RACK = "PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint"


class Gearing(NamedTuple):
    """Two joints of which the sum of factor times way stays the same.

    axes: their degrees of freedom: 3 turns about the axis of a hinge, 0 is along a slide. bodies: that the way of each
    is meant of; empty where the file does not say. needs: what the joints have to be.
    """

    joints: tuple[str, str]
    bodies: tuple[str, str]
    factors: tuple[float, float]
    axes: tuple[int, int]
    is_enabled: bool
    needs: str


def gearing_of(prim: Prim) -> Gearing | None:
    """What a gear, or a rack with its pinion, couples. None for other prims. Source: measured in PhysX."""
    value: Any = prim.schemas.get(prim.type_name) if prim.type_name in (GEAR, RACK) else None
    if value is None:
        return None
    ends = ("hinge0", "hinge1") if prim.type_name == GEAR else ("hinge", "prismatic")
    joints, bodies = ([(getattr(value, name) or ("",))[0] for name in names] for names in (ends, ("body0", "body1")))
    if prim.type_name == GEAR:
        factors, axes, needs = (float(value.resolved("gear_ratio")), 1.0), (3, 3), "two hinges"
    else:
        # PhysX: degrees of the pinion for each metre of the rack; radians here.
        factors, axes, needs = (1.0, -float(value.resolved("ratio"))), (3, 0), "a hinge and a slide"
    enabled = value.resolved("joint_enabled") is not False
    return Gearing((joints[0], joints[1]), (bodies[0], bodies[1]), factors, axes, enabled, needs)
