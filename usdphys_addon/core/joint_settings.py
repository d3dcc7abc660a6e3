# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of joints that UsdPhysics has no words for, from the schemas of Newton, PhysX and MuJoCo alike.

SI units and radians. Newton's words come first: PhysX and MuJoCo read them, too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .model import Prim


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


def joint_damping(prim: Prim, dof: str) -> float:
    """Force or torque per speed that a joint resists with along a degree of freedom."""
    return _from_any(prim, dof, "damping", "viscous_friction_coefficient", "")


def joint_friction(prim: Prim, dof: str) -> float:
    """Force or torque that a moving joint resists with along a degree of freedom, whatever its speed."""
    return _from_any(prim, dof, "friction", "dynamic_friction_effort", "frictionloss")


def joint_speed(prim: Prim, dof: str) -> float:
    """Largest speed along a degree of freedom; 0 without a limit."""
    found = _from_any(prim, dof, "velocity_limit", "max_joint_velocity", "")
    if found:
        return found
    # The words of PhysX before 5.8, for the whole joint; its unit is that of the joint.
    api: Any = prim.schemas.get("PhysxJointAPI")
    return _positive(getattr(api, "max_joint_velocity", None)) if api is not None else 0.0


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
