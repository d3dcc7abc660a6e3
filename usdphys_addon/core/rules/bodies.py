# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for rigid bodies, their mass, and articulations."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..mass import ROUNDED
from ..model import Prim
from ..paths import inside_each
from ..schemas import usd_physics
from .base import Above, Facts, Finding, kind, name, rule

# --------------------------------------------------------------------------- prims of bodies


@rule("RigidBodyNonXformable")
def body_non_xformable(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.bodies:
        if not prim.is_xformable:
            yield Finding(prim, f"{prim.display} is a rigid body, but a {kind(prim)} has no transform and cannot move.")


@rule("RigidBodyNonInstanceable")
def body_in_instance(facts: Facts) -> Iterator[Finding]:
    for prim in facts.dynamic.values():
        if prim.is_instance_proxy:
            yield Finding(prim, f"{prim.display} is a rigid body inside an instance.")


@rule("RigidBodyOrientationScale")
def body_orientation_scale(facts: Facts) -> Iterator[Finding]:
    places = facts.placements
    for row in np.flatnonzero(places.skewed):
        prim = places.prims[row]
        if not facts.is_body(prim):
            continue
        if places.sheared[row]:
            yield Finding(prim, f"{prim.display} is a sheared rigid body: its scale is not along its own axes.")
        elif facts.target == "usd":
            yield Finding(
                prim, f"{prim.display} is rotated and scaled unevenly; OpenUSD's validators report it as sheared."
            )


@rule("NestedRigidBody")
def nested_body(facts: Facts) -> Iterator[Finding]:
    if facts.hierarchy != "nested":
        return
    # One finding: a robot of a hundred links has a hundred of them.
    nested = [
        (prim, other) for prim, _ in facts.bodies
        if not prim.resets_xform_stack and (other := facts.carrier.over(prim.path)) is not None
    ]  # fmt: skip
    if nested:
        prim, other = nested[0]
        count = len(nested) - 1
        one, two = prim.display, other.display
        text = f"{one} is a rigid body below the rigid body {two}."
        if count == 1:
            text = f"{one} is a rigid body below the rigid body {two}; 1 more body is below another."
        elif count:
            text = f"{one} is a rigid body below the rigid body {two}; {count} more bodies are below another."
        yield Finding(prim, text, {"other": name(other)})


@rule("PhysicsInInstancer")
def physics_in_instancer(facts: Facts) -> Iterator[Finding]:
    found: dict[str, list[Prim]] = {}
    for path, instancer in facts.in_instancers.items():
        prim = facts.model.prims[path]
        if any(prim.get(one) is not None for one in (usd_physics.RigidBodyAPI, usd_physics.CollisionAPI)):
            found.setdefault(instancer, []).append(prim)
    for instancer, (prim, *others) in found.items():
        text = f"{prim.display} has physics in the point instancer '{instancer}', which no simulator has to read."
        if others:
            text = (
                f"{prim.display} has physics in the point instancer '{instancer}', which no simulator has to read, "
                f"and so have others in it ({len(others)})."
            )
        yield Finding(prim, text, {"other": f"'{instancer}'"})


# --------------------------------------------------------------------------- mass


@rule("BodyWithoutMass")
def body_without_mass(facts: Facts) -> Iterator[Finding]:
    heavy = {prim.path for prim, mass in facts.masses if mass.mass}
    light = {path: prim for path, prim in facts.dynamic.items() if path not in heavy}
    if not light:
        return
    shaped = {owner.path for prim in facts.colliders.prims if (owner := facts.owner.at(prim.path)) is not None}
    for path, prim in light.items():
        if path not in shaped:
            yield Finding(prim, f"{prim.display} is a moving body without a collider and without a mass.")


@rule("MassWithoutBody")
def mass_without_body(facts: Facts) -> Iterator[Finding]:
    body, collider = usd_physics.RigidBodyAPI.usd_name, usd_physics.CollisionAPI.usd_name
    for prim in facts.masses.prims:
        if body not in prim.schemas and collider not in prim.schemas:
            yield Finding(prim, f"{prim.display} has a mass without effect, because it is no rigid body.")


@rule("MassInvalidValues")
def negative_mass(facts: Facts) -> Iterator[Finding]:
    for prim, mass in facts.masses:
        if mass.mass is not None and mass.mass < 0:
            yield Finding(prim, f"{prim.display} has a negative mass ({mass.mass:.6g} kg).")


@rule("DensityInvalidValues")
def negative_density(facts: Facts) -> Iterator[Finding]:
    for prim, mass in facts.masses:
        if mass.density is not None and mass.density < 0:
            yield Finding(prim, f"{prim.display} has a negative density ({mass.density:.6g} kg/m3).")


@rule("InertiaInvalidValues")
def inertia(facts: Facts) -> Iterator[Finding]:
    for prim, mass in facts.masses:
        if mass.diagonal_inertia is None and mass.principal_axes is None:
            continue
        problem = _inertia_problem(mass)
        if problem:
            yield Finding(prim, f"{prim.display} has {problem}.")


def _inertia_problem(mass: usd_physics.MassAPI) -> str:
    moments, axes = mass.diagonal_inertia, mass.principal_axes
    if moments is None or axes is None:
        return "principal axes without an inertia" if moments is None else "an inertia without principal axes"
    if any(moments) != any(axes):
        return "an inertia without principal axes" if any(moments) else "principal axes without an inertia"
    if not any(moments):
        return ""
    if min(moments) <= 0:
        return "an inertia that is not positive"
    if abs(math.sqrt(sum(part * part for part in axes)) - 1) > 1e-5:
        return "principal axes that are not a unit quaternion"
    return ""


@rule("InertiaImpossible")
def impossible_inertia(facts: Facts) -> Iterator[Finding]:
    for prim, mass in facts.masses:
        if mass.diagonal_inertia is not None and min(mass.diagonal_inertia) > 0:
            small, middle, large = sorted(mass.diagonal_inertia)
            if large > (small + middle) * (1 + ROUNDED):
                yield Finding(
                    prim, f"{prim.display} has moments of inertia ({small:.4g}, {middle:.4g}, {large:.4g} kg m2) of "
                    "which one is larger than the other two together."
                )  # fmt: skip


# --------------------------------------------------------------------------- articulations


@rule("NestedArticulation")
def nested_articulation(facts: Facts) -> Iterator[Finding]:
    roots = {prim.path: prim for prim, _ in facts.all(usd_physics.ArticulationRootAPI)}
    above = Above(roots)
    for path, prim in roots.items():
        other = above.over(path)
        if other is not None:
            yield Finding(
                prim, f"{prim.display} is an articulation root below the articulation root {other.display}.",
                {"other": name(other)},
            )  # fmt: skip


@rule("ArticulationOnStaticBody")
def articulation_on_static_body(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.ArticulationRootAPI):
        if facts.is_body(prim) and prim.path not in facts.enabled:
            yield Finding(prim, f"{prim.display} is an articulation root on a disabled rigid body.")


@rule("ArticulationOnKinematicBody")
def articulation_on_kinematic_body(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.ArticulationRootAPI):
        if prim.path in facts.enabled and prim.path not in facts.dynamic:
            yield Finding(prim, f"{prim.display} is an articulation root on a kinematic body.")


def _held(facts: Facts) -> list[tuple[Prim, Prim, bool]]:
    """(joint, body, whether it is fixed) of the joints of articulations between a body and what is none."""
    joints = []
    for prim, joint in facts.joints:
        if joint.joint_enabled is False or joint.exclude_from_articulation is True:
            continue
        ends = [facts.carrier.at(side[0]) if side else None for side in (joint.body0, joint.body1)]
        bodies = [end for end in ends if end is not None]
        if len(bodies) == 1 and bodies[0].path in facts.dynamic:
            joints.append((prim, bodies[0], isinstance(joint, usd_physics.FixedJoint)))
    return joints


@rule("ArticulationRootGives")
def root_beside_joint(facts: Facts) -> Iterator[Finding]:
    roots = {prim.path for prim, _ in facts.all(usd_physics.ArticulationRootAPI)}
    for joint, body, is_fixed in facts.once(_held) if roots else ():
        if is_fixed and body.path in roots:
            yield Finding(
                body, f"{body.display} is an articulation root that {joint.display} fixes; PhysX lets it give way.",
                {"joint": name(joint)},
            )  # fmt: skip


@rule("ArticulationRootStuck")
def root_on_joint(facts: Facts) -> Iterator[Finding]:
    roots = {root.path: root for root, _ in facts.all(usd_physics.ArticulationRootAPI) if not facts.is_body(root)}
    held = {joint.path: (joint, body, is_fixed) for joint, body, is_fixed in facts.once(_held)} if roots else {}
    for path, below in inside_each(held, roots).items():
        if below and not any(held[joint][2] for joint in below):
            root, (joint, body, _) = roots[path], held[below[0]]
            yield Finding(
                root, f"PhysX does not let {joint.display} move, because of the articulation root {root.display}.",
                {"body": name(body)},
            )  # fmt: skip
