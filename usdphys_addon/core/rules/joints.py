# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for bodies, limits and drives of joints. Rules for their frames are in `joint_frames`."""

from __future__ import annotations

from collections.abc import Iterator

from ..joint_kinds import DISTANCE, driven_dofs
from ..paths import ancestors_of, is_at_or_below, is_below
from ..schemas import usd_physics
from ..words import joint_value_text
from .base import Facts, Finding, kind, name, rule

# --------------------------------------------------------------------------- bodies


def _sides(joint: usd_physics.Joint) -> Iterator[tuple[int, str]]:
    """(side, path) of the bodies; OpenUSD uses the first of several targets."""
    if joint.body0:
        yield 0, joint.body0[0]
    if joint.body1:
        yield 1, joint.body1[0]


@rule("JointInvalidPrimRel")
def missing_body(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        for side, path in _sides(joint):
            if not facts.exists(path):
                message = f"Body {side} of the joint {prim.display} is {path}, which does not exist."
                yield Finding(prim, message, {"side": str(side)})


@rule("JointMultiplePrimsRel")
def several_bodies(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        for side, paths in enumerate((joint.body0 or (), joint.body1 or ())):
            if len(paths) > 1:
                message = f"The joint {prim.display} has {len(paths)} bodies as body {side}."
                yield Finding(prim, message, {"side": str(side)})


@rule("JointRelNotXformable")
def body_without_place(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        for side, path in _sides(joint):
            body = facts.model.prims.get(path)
            if body is not None and not body.is_xformable:
                yield Finding(
                    prim, f"Body {side} of the joint {prim.display} is {body.display}, which has no transform.",
                    {"side": str(side)},
                )  # fmt: skip


@rule("JointNoEnabledRigidBody")
def no_enabled_body(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        if all(facts.mover.at(path) is None for _, path in _sides(joint)):
            yield Finding(prim, f"The joint {prim.display} joins no enabled rigid body.")


@rule("JointTouchesStatic")
def touches_static(facts: Facts) -> Iterator[Finding]:
    pairs = [
        {prim.path, target} for prim, value in facts.all(usd_physics.FilteredPairsAPI)
        for target in value.filtered_pairs or ()
    ]  # fmt: skip
    for prim, joint in facts.joints:
        if joint.joint_enabled is False or joint.collision_enabled or not (joint.body0 and joint.body1):
            continue
        for own, other in ((joint.body0[0], joint.body1[0]), (joint.body1[0], joint.body0[0])):
            body, holder = facts.carrier.at(own), facts.model.prims.get(other)
            if body is None or holder is None or facts.carrier.at(other) is not None:
                continue
            if is_at_or_below(body.path, other):  # the root of a whole robot or scene, which stands for the world
                continue
            if other not in facts.once(_with_colliders) or body.path not in facts.once(_with_colliders):
                continue
            if not any(_are_about(pair, body.path, other) for pair in pairs):
                message = f"PhysX lets {body.display} collide with {holder.display}, to which {prim.display} holds it."
                yield Finding(prim, message, {"other": name(holder), "body": name(body)})


def _with_colliders(facts: Facts) -> set[str]:
    """The paths of colliders that collide, and of all that is above them."""
    api = usd_physics.CollisionAPI
    solid = [prim.path for prim, collider in facts.all(api) if collider.collision_enabled is not False]
    return {above for path in solid for above in (path, *ancestors_of(path))}


def _are_about(pair: set[str], one: str, other: str) -> bool:
    """True if one end of a pair is at, above or below a prim, and the other end another prim."""
    return any(_touch(first, one) and any(_touch(second, other) for second in pair - {first}) for first in pair)


def _touch(path: str, other: str) -> bool:
    return is_at_or_below(path, other) or is_below(other, path)


@rule("JointSameBody")
def same_body(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        if not (joint.body0 and joint.body1):
            continue
        body = facts.carrier.at(joint.body0[0])
        if joint.body0[0] == joint.body1[0] or (body is not None and body is facts.carrier.at(joint.body1[0])):
            yield Finding(prim, f"The joint {prim.display} joins {body.display if body else joint.body0[0]} to itself.")


# --------------------------------------------------------------------------- limits


@rule("LimitsReversed")
def reversed_limits(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        low: float | None = None
        high: float | None = None
        if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            low, high = joint.lower_limit, joint.upper_limit
        elif isinstance(joint, usd_physics.DistanceJoint) and (joint.max_distance or 0.0) >= 0:
            low, high = joint.min_distance, joint.max_distance
        if low is not None and high is not None and low > high:
            is_angular = isinstance(joint, usd_physics.RevoluteJoint)
            texts = [joint_value_text(limit, is_angular=is_angular) for limit in (low, high)]
            limits = f"lower limit ({texts[0]}) above its upper limit ({texts[1]})"
            yield Finding(prim, f"The joint {prim.display} has its {limits}.")


@rule("LimitNotOnJoint")
def limit_on_typed_joint(facts: Facts) -> Iterator[Finding]:
    for prim, dof, _ in facts.applied(usd_physics.LimitAPI):
        if prim.type_name != usd_physics.Joint.usd_name:
            yield Finding(prim, f"{prim.display} has a limit of {dof} but is a {kind(prim)}.")


# --------------------------------------------------------------------------- drives


@rule("DriveNotOnJoint")
def drive_without_dof(facts: Facts) -> Iterator[Finding]:
    for prim, instance, _ in facts.applied(usd_physics.DriveAPI):
        allowed = driven_dofs(prim.type_name)
        if instance not in allowed:
            instead = f", or make it '{allowed[0]}'" if len(allowed) == 1 else ""
            yield Finding(
                prim, f"{prim.display} has a drive of {instance}, which a {kind(prim)} does not have.",
                {"dof": instance, "instead": instead},
            )  # fmt: skip


@rule("DriveOfDistance")
def distance_drive(facts: Facts) -> Iterator[Finding]:
    for prim, instance, _ in facts.applied(usd_physics.DriveAPI):
        if instance == DISTANCE and instance in driven_dofs(prim.type_name):
            yield Finding(prim, f"The drive of the distance of {prim.display} does nothing in PhysX.")


@rule("DriveWithoutGain")
def drive_without_gain(facts: Facts) -> Iterator[Finding]:
    for prim, instance, drive in facts.applied(usd_physics.DriveAPI):
        if not (drive.stiffness or drive.damping):
            if (drive.decided("max_force") or 0.0) > 0 and not (drive.target_position or drive.target_velocity):
                continue  # It says how strong the motor is: controllers add the gains.
            yield Finding(
                prim, f"The drive {instance} of {prim.display} has no stiffness and no damping.", {"dof": instance}
            )
        elif drive.max_force == 0:
            yield Finding(prim, f"The drive {instance} of {prim.display} has a maximum force of 0.", {"dof": instance})


@rule("DriveInvalidValues")
def negative_gain(facts: Facts) -> Iterator[Finding]:
    for prim, instance, drive in facts.applied(usd_physics.DriveAPI):
        for value in ("stiffness", "damping", "max_force"):
            if (getattr(drive, value) or 0.0) < 0:
                words = {"value": value.replace("_", " "), "dof": instance}
                yield Finding(prim, f"The drive {instance} of {prim.display} has a negative {words['value']}.", words)
