# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the schemas of simulators beside UsdPhysics: settings that do nothing, or not what they say."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from .. import concepts, schema, vendor_schemas
from ..joint_kinds import cone_angles, limits_of
from ..joint_settings import gearing_of
from ..model import Prim
from ..schema import Attribute, Schema
from ..schemas import usd_physics
from ..words import named
from .base import OF_GLTF, Facts, Finding, rule

#: Schemas of joints that PhysX reads in articulations only, and outside of them only.
_INSIDE = ("PhysxJointAxisAPI", "PhysicsJointStateAPI", "PhysxDrivePerformanceEnvelopeAPI", "NewtonMimicAPI",
           "PhysxMimicJointAPI")  # fmt: skip
_OUTSIDE = ("PhysxLimitAPI", "PhysxPhysicsDistanceJointAPI")
#: The approximation that a schema of a mesh collider is for.
_APPROXIMATIONS = {
    "PhysxConvexHullCollisionAPI": "convexHull", "PhysxConvexDecompositionCollisionAPI": "convexDecomposition",
    "PhysxSDFMeshCollisionAPI": "sdf", "PhysxSphereFillCollisionAPI": "sphereFill",
    "PhysxTriangleMeshSimplificationCollisionAPI": "meshSimplification",
}  # fmt: skip

_Applied = list[tuple[Prim, str, Schema]]


def _by_schema(facts: Facts) -> dict[str, _Applied]:
    """(prim, instance, values) of all vendor schemas, by USD type name."""
    by_schema: dict[str, _Applied] = defaultdict(list)
    for prim in facts.model.prims.values():
        for applied, value in prim.schemas.items():
            if value.family not in schema.OWN_FAMILIES:
                base, instance = schema.split_applied(applied)
                by_schema[base].append((prim, instance, value))
    return by_schema


def _all(facts: Facts, *names: str) -> Iterator[tuple[Prim, str, Any]]:
    applied = facts.once(_by_schema)
    for name in names:
        yield from applied.get(name, ())


@rule("VendorJointApiDead")
def dead_joint_api(facts: Facts) -> Iterator[Finding]:
    for prim, _, value in _all(facts, "PhysxJointAPI"):
        if any(True for _ in value.authored()):
            yield Finding(prim, f"PhysX ignores the PhysxJointAPI of {prim.display}.")


@rule("VendorDeprecated")
def deprecated_words(facts: Facts) -> Iterator[Finding]:
    for base, applied in facts.once(_by_schema).items():
        cls = vendor_schemas.find(base)
        old = {one.field: one for one in cls.attributes if is_replaced(base, one)} if cls is not None else {}
        for prim, instance, value in applied if old and base != "PhysxJointAPI" else ():
            names = [
                one.usd_name(instance) for one, _ in value.authored()
                if one.field in old and not _is_said_anew(prim, base, instance, one)
            ]  # fmt: skip
            if names:
                yield Finding(prim, f"{names[0]} of {prim.display} is deprecated by its simulator.")


def _is_said_anew(prim: Prim, base: str, instance: str, attribute: Attribute) -> bool:
    """True where a prim has Newton's word for an attribute, too, as a file for all versions of simulators does."""
    if base == "PhysxMimicJointAPI":
        return "NewtonMimicAPI" in prim.schemas
    applied = f"{base}:{instance}" if instance else base
    replacing = concepts.replacement(applied, attribute.usd_name(instance), concepts.dofs_of(prim.type_name))
    newer = vendor_schemas.attribute_named(*replacing) if replacing is not None else None
    held = prim.schemas.get(replacing[0]) if replacing is not None else None
    return newer is not None and held is not None and getattr(held, newer.field, None) is not None


def is_replaced(base: str, attribute: Attribute) -> bool:
    """True for a deprecated attribute for which Newton has another word."""
    if not isinstance(attribute, vendor_schemas.VendorAttribute) or not attribute.is_deprecated:
        return False
    if base == "PhysxMimicJointAPI":
        return attribute.field == "reference_joint"
    return concepts.replacement(base, attribute.usd, ()) is not None


@rule("TendonWithoutRoot")
def tendon_without_root(facts: Facts) -> Iterator[Finding]:
    """Two hinges swung as without a tendon where the first was no root of it, and each alone where that had another."""
    roots = {instance for _, instance, _ in _all(facts, "PhysxTendonAxisRootAPI")}
    for prim, instance, _ in _all(facts, "PhysxTendonAxisAPI"):
        if instance not in roots:
            text = f"{prim.display} is on the tendon '{instance}', which has no root, so PhysX ignores it."
            yield Finding(prim, text, {"tendon": instance})


@rule("MimicWithoutLimits")
def mimic_without_limits(facts: Facts) -> Iterator[Finding]:
    for prim, _, _ in _all(facts, "NewtonMimicAPI", "PhysxMimicJointAPI"):
        joint = prim.get(usd_physics.Joint)
        if not isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            continue
        if not all(map(math.isfinite, limits_of(joint))):
            yield Finding(prim, f"{prim.display} follows another joint and has no finite limits.")


@rule("MimicWrongJoint")
def mimic_on_other_joint(facts: Facts) -> Iterator[Finding]:
    for prim, _, _ in _all(facts, "NewtonMimicAPI"):
        joint = prim.get(usd_physics.Joint)
        if joint is not None and not isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            yield Finding(prim, f"{prim.display} has no single axis along which it could follow another joint.")


@rule("GearWithoutJoints")
def gear_without_joints(facts: Facts) -> Iterator[Finding]:
    for prim in facts.model.prims.values():
        gearing = gearing_of(prim)
        if gearing is None or not gearing.is_enabled:
            continue
        for path, axis in zip(gearing.joints, gearing.axes, strict=True):
            other = facts.model.prims.get(path)
            joint = other.get(usd_physics.Joint) if other is not None else None
            kind = usd_physics.RevoluteJoint if axis >= 3 else usd_physics.PrismaticJoint
            values = {"kinds": gearing.needs}
            if joint is None or other is None:
                yield Finding(prim, f"One end of {prim.display} is no joint.", values)
            elif not isinstance(joint, kind) and type(joint) is not usd_physics.Joint:
                yield Finding(prim, f"{prim.display} couples {other.display}, which is of another type.", values)


@rule("VendorNeedsArticulation")
def needs_articulation(facts: Facts) -> Iterator[Finding]:
    inside = facts.articulated
    for name in _INSIDE:
        for prim, instance, value in _all(facts, name):
            is_first = next(iter(prim.instances(type(value))), ("", None))[0] == instance
            if prim.path not in inside and is_first:
                message = f"PhysX ignores {name} of {prim.display}, which is in no articulation."
                yield Finding(prim, message, {"schema": name})


@rule("VendorNotInArticulation")
def not_in_articulation(facts: Facts) -> Iterator[Finding]:
    inside = facts.articulated
    for name in _OUTSIDE:
        for prim, instance, value in _all(facts, name):
            is_first = next(iter(prim.instances(type(value))), ("", None))[0] == instance
            if prim.path in inside and is_first:
                message = f"PhysX ignores {name} of {prim.display}, which is in an articulation."
                yield Finding(prim, message, {"schema": name})


@rule("CcdNotInScene")
def ccd_not_in_scene(facts: Facts) -> Iterator[Finding]:
    if any(value.enable_ccd for _, _, value in _all(facts, "PhysxSceneAPI")):
        return
    for prim, _, value in _all(facts, "PhysxRigidBodyAPI"):
        if value.enable_ccd:
            yield Finding(
                prim, f"{prim.display} asks for continuous collision detection, and its scene does not allow it."
            )


@rule("LimitStiffnessPerRadian")
def limit_per_radian(facts: Facts) -> Iterator[Finding]:
    reported = set()
    for prim, instance, value in _all(facts, "PhysxLimitAPI"):
        is_soft = (value.stiffness or 0.0) > 0.0 and math.isfinite(value.stiffness)
        is_wrong = instance in schema.ANGULAR_DOFS and is_soft and not _is_corrected(prim, instance, value)
        if is_wrong and prim.path not in reported:
            reported.add(prim.path)
            yield Finding(prim, f"PhysX takes the limit stiffness of {prim.display} per radian.")


@rule("FrictionAboveStatic")
def friction_above_static(facts: Facts) -> Iterator[Finding]:
    for prim, instance, value in _all(facts, "PhysxJointAxisAPI"):
        if (value.dynamic_friction_effort or 0.0) > (value.static_friction_effort or 0.0):
            yield Finding(
                prim, f"The dynamic friction of {prim.display} along {instance} is above its static friction, so PhysX "
                "ignores its friction and its damping.",
            )  # fmt: skip


def _is_corrected(prim: Prim, instance: str, value: Any) -> bool:
    """True where Newton's word says what is meant, and that of PhysX what PhysX needs for it."""
    newton: Any = prim.schemas.get("NewtonJointAPI")
    meant = (newton.limit_stiffness or 0.0) if newton is not None else 0.0
    factor = vendor_schemas.number_for_simulator(schema.attribute_of(type(value), "stiffness"), instance)
    return math.isclose(value.stiffness, meant * factor, rel_tol=1e-3)


@rule("ConeTurnsOtherWay")
def cone_turns_other_way(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        cone = cone_angles(joint) if isinstance(joint, usd_physics.SphericalJoint) else None
        if cone is not None and cone[0] != cone[1] and joint.joint_enabled is not False:
            yield Finding(prim, f"PhysX swaps the two cone angles of {prim.display}.")


@rule("SlideLimitOneSided")
def one_sided_slide(facts: Facts) -> Iterator[Finding]:
    joints = []
    for prim, joint in facts.joints:
        if isinstance(joint, usd_physics.PrismaticJoint):
            ranges = [limits_of(joint)]
        elif type(joint) is usd_physics.Joint:
            slides = (limit for dof, limit in prim.instances(usd_physics.LimitAPI) if dof.startswith("trans"))
            ranges = [limits_of(limit) for limit in slides]
        else:
            continue
        if joint.joint_enabled is not False and any(math.isfinite(low) != math.isfinite(high) for low, high in ranges):
            joints.append(prim)
    if len(joints) == 1:
        yield Finding(joints[0], f"PhysX needs both limits of the slide {joints[0].display}, which has one.")
    elif joints:
        message = f"PhysX needs both limits of the slide {joints[0].display}, one of {len(joints)} which have one."
        yield Finding(joints[0], message)


@rule("VendorOtherApproximation")
def other_approximation(facts: Facts) -> Iterator[Finding]:
    for name, wanted in _APPROXIMATIONS.items():
        for prim, _, _ in _all(facts, name):
            mesh = prim.get(usd_physics.MeshCollisionAPI)
            if mesh is None or mesh.approximation != wanted:
                message = f"{prim.display} has {name}, and does not collide as {wanted}."
                yield Finding(prim, message, {"schema": name, "approximation": wanted})


@rule("TriggerOnBody")
def trigger_on_body(facts: Facts) -> Iterator[Finding]:
    triggers = {prim.path for prim, _, _ in _all(facts, "PhysxTriggerAPI")}
    if not triggers:
        return
    for path, prim in facts.model.bodies.items():
        body = prim.get(usd_physics.RigidBodyAPI)
        if body is None or body.kinematic_enabled is True:
            continue
        colliders = facts.model.colliders_of(path)
        if colliders and all(collider.path in triggers for collider in colliders):
            yield Finding(prim, f"All colliders of {prim.display} are triggers.")


@rule("JointOutsideArticulation")
def outside_articulation(facts: Facts) -> Iterator[Finding]:
    inside = facts.articulated
    held = {
        end.path
        for prim, joint in facts.joints if prim.path in inside
        for end in _ends(facts, joint) if end is not None
    }  # fmt: skip
    held.update(prim.path for prim in facts.all(usd_physics.ArticulationRootAPI).prims)
    loose = []
    for prim, joint in facts.joints:
        first, second = _ends(facts, joint)
        if joint.joint_enabled is False or prim.path in inside or first is None or second is None:
            continue
        # A joint that closes a loop of an articulation is none of it.
        if first.path not in held and second.path not in held:
            loose.append(prim)
    if len(loose) == 1:
        yield Finding(loose[0], f"The joint {loose[0].display} is in no articulation; Newton refuses the file.")
    elif loose:
        number = len(loose)
        message = f"The joint {loose[0].display} is one of {number} in no articulation; Newton refuses the file."
        yield Finding(loose[0], message)


@rule("WorldJointStill")
def world_joint_still(facts: Facts) -> Iterator[Finding]:
    inside = facts.articulated
    others: dict[str, int] = defaultdict(int)
    ends = {}
    for prim, joint in facts.joints:
        ends[prim.path] = [end for end in _moving_ends(facts, joint) if end is not None]
        for end in ends[prim.path] if prim.path in inside else ():
            others[end.path] += 1
    still = [
        prim for prim, joint in facts.joints
        if joint.joint_enabled is not False and not isinstance(joint, usd_physics.FixedJoint)
        and len(own := ends[prim.path]) == 1 and others[own[0].path] <= (prim.path in inside)
    ]  # fmt: skip
    if still:
        name, number = still[0].display, len(still)
        message = f"In Newton, the body that {name} holds to the world seems to stand still."
        if number > 1:
            message = (
                f"In Newton, the body that {name}, one of {number} such joints, holds to the world seems to stand "
                "still."
            )
        yield Finding(still[0], message)


@rule("DistanceJointRefused")
def distance_joint_refused(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        if isinstance(joint, usd_physics.DistanceJoint) and joint.joint_enabled is not False:
            yield Finding(prim, f"Newton refuses the file for the distance joint {prim.display}.")


def _there(facts: Facts) -> str:
    """Where the words of PhysX are none."""
    return facts.target.capitalize() if facts.target in OF_GLTF else "Newton and MuJoCo"


@rule("BreakIgnored")
def break_ignored(facts: Facts) -> Iterator[Finding]:
    joints = [
        prim for prim, joint in facts.joints
        if any(value is not None and math.isfinite(value) for value in (joint.break_force, joint.break_torque))
    ]  # fmt: skip
    if len(joints) == 1:
        yield Finding(joints[0], f"The joint {joints[0].display} never breaks in {_there(facts)}.")
    elif joints:
        yield Finding(
            joints[0], f"The joint {joints[0].display} is one of {len(joints)} that never break in {_there(facts)}."
        )


@rule("SurfaceVelocityIgnored")
def surface_velocity_ignored(facts: Facts) -> Iterator[Finding]:
    for prim, _, value in _all(facts, "PhysxSurfaceVelocityAPI"):
        speeds = (*(value.surface_velocity or ()), *(value.surface_angular_velocity or ()))
        if value.surface_velocity_enabled is not False and any(speeds):
            yield Finding(prim, f"The surface of {prim.display} stands still in {_there(facts)}.")


@rule("FreedomLocked")
def freedom_locked(facts: Facts) -> Iterator[Finding]:
    by_dof: dict[str, list[Prim]] = {}
    for prim, joint in facts.joints:
        if prim.type_name != "PhysicsJoint" or joint.joint_enabled is False:
            continue
        limited = {instance for instance, _ in prim.instances(usd_physics.LimitAPI)}
        free = [dof for dof in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if dof not in limited]
        if free and "distance" not in limited:
            by_dof.setdefault(", ".join(free), []).append(prim)
    for dofs, prims in by_dof.items():
        words = {"dofs": dofs, "joints": named(prim.label or prim.name for prim in prims)}
        if len(prims) == 1:
            message = f"Newton locks {dofs} of the joint {prims[0].display}, which have no limits."
        else:
            message = f"Newton locks {dofs} of the joint {prims[0].display} and of {len(prims) - 1} more: no limits."
        yield Finding(prims[0], message, words)


def _ends(facts: Facts, joint: usd_physics.Joint) -> list[Prim | None]:
    """The bodies of a joint, disabled ones too, which Newton ties like others; None for the world and statics."""
    return [facts.owner.at(target[0]) if target else None for target in (joint.body0, joint.body1)]


def _moving_ends(facts: Facts, joint: usd_physics.Joint) -> tuple[Prim | None, Prim | None]:
    """The enabled bodies of a joint; None for the world and for what is static."""
    first, second = (facts.mover.at(target[0]) if target else None for target in (joint.body0, joint.body1))
    return first, second
