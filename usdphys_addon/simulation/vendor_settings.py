# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of simulators beside UsdPhysics that the preview simulates, and a notice about those that it does not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core import mass, schema, vendor_schemas
from ..core.air import OFF, Air
from ..core.joint_kinds import BY_TYPE_NAME
from ..core.joint_settings import GEAR, RACK, following
from ..core.model import PhysicsModel, Prim
from ..core.schema import Attribute
from ..core.schemas import usd_physics
from ..core.vendors import is_vendor_type
from .notices import Notices

#: Attributes that the preview simulates, by schema. A change of one of them rebuilds it.
SIMULATED: dict[str, frozenset[str]] = {
    "PhysxRigidBodyAPI": frozenset({
        "linear_damping", "angular_damping", "disable_gravity", "locked_pos_axis", "locked_rot_axis", "enable_ccd",
        "max_linear_velocity", "max_angular_velocity",
    }),
    "PhysxSurfaceVelocityAPI": frozenset({
        "surface_velocity", "surface_angular_velocity", "surface_velocity_enabled", "surface_velocity_local_space",
    }),
    "PhysxTriggerAPI": frozenset(),
    "NewtonArticulationRootAPI": frozenset({"self_collision_enabled"}),
    "PhysxArticulationAPI": frozenset({"enabled_self_collisions"}),
    "PhysxMaterialAPI": frozenset({"friction_combine_mode", "restitution_combine_mode"}),
    "NewtonJointAPI": frozenset({
        "armature", "damping", "friction", "velocity_limit", "limit_stiffness", "limit_damping",
    }),
    "MjcJointAPI": frozenset({"armature", "frictionloss", "damping"}),
    "PhysxJointAxisAPI": frozenset({
        "armature", "dynamic_friction_effort", "max_joint_velocity", "viscous_friction_coefficient",
    }),
    "PhysxLimitAPI": frozenset({"stiffness", "damping", "restitution", "bounce_threshold"}),
    "PhysxPhysicsDistanceJointAPI": frozenset({"spring_enabled", "spring_stiffness", "spring_damping"}),
    "NewtonMimicAPI": frozenset({"mimic_enabled", "mimic_joint", "mimic_coef0", "mimic_coef1"}),
    "PhysxMimicJointAPI": frozenset({"gearing", "offset", "reference_joint", "reference_joint_axis"}),
    GEAR: frozenset({"gear_ratio", "hinge0", "hinge1", "body0", "body1", "joint_enabled"}),
    RACK: frozenset({"ratio", "hinge", "prismatic", "body0", "body1", "joint_enabled"}),
}  # fmt: skip
#: Those whose animation is simulated, too.
_ANIMATED = frozenset({"PhysxSurfaceVelocityAPI"})
#: Attributes that change nothing in the motion that a preview could show: effort of the solver, contact reports.
_SILENT = frozenset({
    "solver_position_iteration_count", "solver_velocity_iteration_count", "sleep_threshold", "stabilization_threshold",
    "contact_offset", "enable_gyroscopic_forces", "enable_speculative_ccd", "time_steps_per_second",
    # How fast overlapping bodies are pushed apart: generators set it, and nothing that they make overlaps.
    "max_depenetration_velocity",
})  # fmt: skip
#: Schemas of prims that are simulated.
_PHYSICAL = frozenset({
    usd_physics.RigidBodyAPI.usd_name, usd_physics.CollisionAPI.usd_name, usd_physics.MaterialAPI.usd_name,
    usd_physics.PhysicsScene.usd_name,
    *BY_TYPE_NAME,
})  # fmt: skip
_ACTUATOR = "MjcActuator"
_DRIVE = usd_physics.DriveAPI.usd_name
_FOLLOWING = ("NewtonMimicAPI", "PhysxMimicJointAPI")
#: Schemas whose attributes are about motion, and so are worth a notice.
_PLACES = ("body", "joint", "dof", "material")
#: Of colliders and scenes, attributes about motion; most others are about how contacts and shapes are found.
_OF_MOTION = {
    "PhysxCollisionAPI": frozenset({"rest_offset", "torsional_patch_radius", "min_torsional_patch_radius"}),
    "NewtonCollisionAPI": frozenset({"contact_margin"}),
    "MjcCollisionAPI": frozenset({"margin", "condim", "solref", "solimp", "solmix", "priority"}),
    "NewtonSDFCollisionAPI": frozenset({"hydroelastic_enabled"}),
    "NewtonSceneAPI": frozenset({"gravity_enabled"}),
    "MjcSceneAPI": frozenset({"gravity", "contact", "constraint", "damper", "spring", "limit", "frictionloss"}),
    "PhysxSceneAPI": frozenset({"bounce_threshold", "invert_collision_group_filter"}),
    "PhysxSceneQuasistaticAPI": frozenset({"enable_quasistatic"}),
}


@dataclass(frozen=True, slots=True)
class BodySettings:
    """Damping: 1/s. gravity: factor. moves: whether the body may move along the axes of the world. turns: about
    them.

    max_speed, max_spin: m/s and rad/s. sleeps: False if it is said to stay awake, however slow it is.
    """

    linear_damping: float = 0.0
    angular_damping: float = 0.0
    gravity: float = 1.0
    moves: tuple[bool, bool, bool] = (True, True, True)
    turns: tuple[bool, bool, bool] = (True, True, True)
    is_fast: bool = False
    max_speed: float = math.inf
    max_spin: float = math.inf
    sleeps: bool = True


PLAIN = BodySettings()


def body_settings(prim: Prim, air: Air = OFF) -> BodySettings:
    """What PhysxRigidBodyAPI says about a body; only what is authored: the fallbacks of PhysX are not everybody's.

    air: damping where none is authored.
    """
    api: Any = prim.schemas.get("PhysxRigidBodyAPI")
    factor = mass.gravity_factor(prim)
    if api is None:
        is_plain = factor == 1.0 and not air.linear and not air.angular
        return PLAIN if is_plain else BodySettings(air.linear, air.angular, factor)
    return BodySettings(
        air.linear if api.linear_damping is None else _positive(api.linear_damping),
        air.angular if api.angular_damping is None else _positive(api.angular_damping),
        factor,
        _free(api.locked_pos_axis), _free(api.locked_rot_axis), api.enable_ccd is True,
        _positive(api.max_linear_velocity) or math.inf, _positive(api.max_angular_velocity) or math.inf,
        api.sleep_threshold != 0.0,
    )  # fmt: skip


def animates(name: str, attribute: Attribute) -> bool:
    """True for an attribute whose animation is simulated. name: of its schema, with instance."""
    return attribute.animates or schema.split_applied(name)[0] in _ANIMATED


class Surface(NamedTuple):
    """How a surface runs, m/s and rad/s about the origin of the body. is_local: in the axes of the body."""

    velocity: Any
    spin: Any
    is_local: bool

    def in_world(self, pose: Any) -> tuple[Any, Any]:
        """Velocity and spin along the axes of the world. pose (4, 4): of the body."""
        return (pose[:3, :3] @ self.velocity, pose[:3, :3] @ self.spin) if self.is_local else (self.velocity, self.spin)


def surface_of(prim: Prim) -> Surface | None:
    """What PhysxSurfaceVelocityAPI says about a body; None where the surface does not run."""
    api: Any = prim.schemas.get("PhysxSurfaceVelocityAPI")
    if api is None or api.surface_velocity_enabled is False:
        return None
    velocity, spin = (np.array(api.resolved(name), float) for name in ("surface_velocity", "surface_angular_velocity"))
    surface = Surface(velocity, spin, api.surface_velocity_local_space is not False)
    return surface if velocity.any() or spin.any() else None


def _positive(value: Any) -> float:
    return float(value) if isinstance(value, float | int) and 0.0 < value < math.inf else 0.0


def _free(bits: Any) -> tuple[bool, bool, bool]:
    locked = bits if isinstance(bits, int) else 0
    return not locked & 1, not locked & 2, not locked & 4


def is_trigger(prim: Prim) -> bool:
    return "PhysxTriggerAPI" in prim.schemas


def combine_modes(model: PhysicsModel, material: str) -> tuple[str, str]:
    """How friction and restitution of a material are combined with those of another: PhysX's words."""
    prim = model.prims.get(material)
    api: Any = None if prim is None else prim.schemas.get("PhysxMaterialAPI")
    if api is None:
        return "average", "average"
    return api.resolved("friction_combine_mode"), api.resolved("restitution_combine_mode")


def is_simulated(name: str, field: str = "") -> bool:
    """True if the preview depends on a vendor schema (with instance), or on a field of it."""
    names = SIMULATED.get(schema.split_applied(name)[0])
    return names is not None and (not field or field in names)


def _is_of_cone(prim: Prim, name: str, field: str) -> bool:
    """True for the softness of the limit of a ball joint: the cone of the preview is hard."""
    is_limit = schema.split_applied(name)[0] == "PhysxLimitAPI" or field.startswith("limit_")
    return is_limit and prim.get(usd_physics.SphericalJoint) is not None


def _is_of_distance(prim: Prim, name: str, field: str) -> bool:
    """True for what PhysX does not read of the limit of a distance: that of a distance joint has a spring instead."""
    is_read = field in ("stiffness", "damping") and prim.get(usd_physics.DistanceJoint) is None
    return name == "PhysxLimitAPI:distance" and not is_read


def _is_that_of_motion(value: Any) -> bool:
    """True for a static friction that is no more than the dynamic one, which the preview has."""
    return (value.static_friction_effort or 0.0) <= (value.dynamic_friction_effort or 0.0)


def _may_be_left_out(name: str) -> bool:
    """True for the name of a schema or type of a vendor: only of those `report_others` says anything."""
    cls = vendor_schemas.find(schema.split_applied(name)[0])
    return cls is not None and cls.family not in schema.OWN_FAMILIES


def _is_simulated_as_drive(model: PhysicsModel, prim: Prim) -> bool:
    """True for an actuator of MuJoCo that is a servo: the joint that it moves has a drive with its gains."""
    api: Any = prim.schemas.get(_ACTUATOR) if prim.type_name == _ACTUATOR else None
    if api is None or api.bias_type != "affine" or len(api.target or ()) != 1:
        return False
    joint = model.prims.get(api.target[0])
    return joint is not None and any(schema.split_applied(name)[0] == _DRIVE for name in joint.schemas)


def report_others(model: PhysicsModel, names: Iterable[str], notices: Notices) -> None:
    """Notices about settings that change the motion and are not simulated.

    names: of the types and schemas in the model.
    """
    if not any(map(_may_be_left_out, names)):
        return
    for prim in model.prims.values():
        if _is_simulated_as_drive(model, prim):
            continue
        if is_vendor_type(prim.type_name) and not is_simulated(prim.type_name):
            notices.add("VendorNotSimulated", prim, f"{prim.display} is a {prim.type_name}, which the preview ignores.")
        left_out = []
        for name, value in prim.schemas.items():
            if value.family in schema.OWN_FAMILIES or value.family == "Other":
                continue
            said = None if value.on in _PLACES else _OF_MOTION.get(schema.split_applied(name)[0], frozenset())
            if schema.split_applied(name)[0] in _FOLLOWING and following(prim) is None:
                left_out.append(name)
                continue
            left_out += [
                attribute.usd_name(schema.split_applied(name)[1])
                for attribute, content in value.authored()
                if (said is None or attribute.field in said)
                and not (
                    is_simulated(name, attribute.field)
                    and not _is_of_cone(prim, name, attribute.field)
                    and not _is_of_distance(prim, name, attribute.field)
                )
                and attribute.field not in _SILENT
                and not (attribute.field == "static_friction_effort" and _is_that_of_motion(value))
                and not (not attribute.is_relationship and content == attribute.fallback)
            ]
        if left_out and not _PHYSICAL.isdisjoint(prim.schemas):
            listed = ", ".join(left_out[:3])
            more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
            notices.add("VendorNotSimulated", prim, f"{prim.display} has {listed}{more}, which the preview ignores.")
