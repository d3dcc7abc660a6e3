# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard the solver works for jointed bodies: its steps and sweeps, and the armatures that it bears in loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rapier3d import PhysicsWorld

from ..hanging import hanging, in_loops
from ..notices import Notices
from ..weights import Weight
from . import joint_effects, tuning
from .constraints import Constraint
from .quality import (
    Quality,
    armature_relaxations,
    is_bearable,
    joint_steps,
    joint_sweeps,
    most_armature,
    slows_drives,
    stop_relaxations,
)

if TYPE_CHECKING:
    from ..layout import Body


def tune_joints(
    physics: PhysicsWorld, constraints: Sequence[Constraint], weights: Mapping[str, Weight], handles: Mapping[str, Any],
    bodies: Mapping[str, Body], quality: Quality, small_steps: int, notices: Notices,
) -> set[str]:  # fmt: skip
    """Give jointed bodies more iterations and, where much hangs on a light one, smaller steps.

    weights, handles, bodies: by path. small_steps: in a step of the solver, for bodies that ask for no more. Returns
    the bodies whose contacts are seen from afar.
    """
    seeing: set[str] = set()
    if not constraints:
        return seeing
    masses = {path: weight.mass for path, weight in weights.items()}
    groups = hanging(((item.facts.body0, item.facts.body1) for item in constraints), masses)
    breaks = any(constraint.facts.breaks for constraint in constraints)
    wanted = [joint_steps(quality, group, breaks=breaks) for group in groups]
    if breaks:
        # The solver gives the force of a joint for one small step: all must have the same.
        small_steps = max([small_steps, *wanted])
        physics.integration_parameters.num_solver_iterations = small_steps
    number = sum(len(group.bodies) for group in groups)
    inside = [item.facts for item in constraints if item.state.reduced]
    reduced = {path for facts in inside for path in (facts.body0, facts.body1)}
    is_brittle = breaks or any(constraint.facts.bond for constraint in constraints)
    if not is_brittle:
        has_stops = any(item.facts.has_stops and not item.state.reduced for item in constraints)
        relaxations = stop_relaxations(number, has_stops=has_stops)
        physics.integration_parameters.num_internal_stabilization_iterations = relaxations
    driven = [
        item for item in constraints
        if not item.facts.bond and any(drive.stiffness > 0.0 for drive in item.facts.drives)
    ]  # fmt: skip
    moved = [
        item for item in constraints
        if not item.state.reduced and any(drive.stiffness or drive.damping for drive in item.facts.drives)
    ]  # fmt: skip
    springs, apart, drives = (
        Counter(item.facts.body1 or item.facts.body0 for item in items)
        for items in (driven, [item for item in driven if not item.state.reduced], moved)
    )
    armatures = _bear_armatures(constraints, weights, masses, most_armature(number), notices)
    if armatures:
        parameters = physics.integration_parameters
        relaxations = armature_relaxations(max(armatures.values()), number)
        parameters.num_internal_stabilization_iterations = max(
            relaxations, parameters.num_internal_stabilization_iterations
        )
    for group, steps in zip(groups, wanted, strict=True):
        # Articulations come to rest later with it: of 6 falls of a ragdoll 3 did within 5 s, and all without it.
        seen = 0.0 if is_brittle or not reduced.isdisjoint(group.bodies) else tuning.SEEN
        held = [sum(kind[path] for path in group.bodies) for kind in (springs, apart, drives)]
        armature = max(armatures[path] for path in group.bodies)
        sweeps = joint_sweeps(group, max(steps, small_steps), held[0], held[1], held[2], armature)
        if slows_drives(group, sweeps, held[2]):
            prim = bodies[group.lightest].prim
            notices.add(
                "MassRatio", prim,
                f"{prim.display} has {masses[group.lightest]:.3g} kg, and the heaviest body in its loop of joints has "
                f"{group.spread:.2g} times that: drives in the loop go too slowly.",
            )  # fmt: skip
        for path in group.bodies:
            body = physics.rigid_bodies[handles[path]]
            body.additional_pgs_iterations = sweeps
            body.additional_solver_iterations = max(steps - small_steps, 0)
            # The solver puts a fast body that meets a static one back to where they touch, without those that are
            # joined to it; not if its contact is seen to come.
            body.soft_ccd_prediction = seen
        if seen:
            seeing.update(group.bodies)
        if not is_bearable(quality, group.ratio):
            prim = bodies[group.body].prim
            notices.add(
                "MassRatio", prim,
                f"{prim.display} has {masses[group.body]:.3g} kg, and joints hang {group.ratio:.2g} times that mass on "
                "it: it gives way.",
            )  # fmt: skip
    return seeing


def _bear_armatures(
    constraints: Sequence[Constraint], weights: Mapping[str, Weight], masses: Mapping[str, float], most: float,
    notices: Notices,
) -> Mapping[str, float]:  # fmt: skip
    """Lessen armatures in loops to what the solver bears. Returns the largest ratio that is left, by body.

    most: ratio up to which others act as they say.
    """
    left: defaultdict[str, float] = defaultdict(float)
    with_armature = [item for item in constraints if joint_effects.has_armature(item)]
    if not with_armature:
        return left
    inside = in_loops([(item.facts.body0, item.facts.body1) for item in constraints], masses)
    looped = {item.facts.path for item, is_inside in zip(constraints, inside, strict=True) if is_inside}
    for item in with_armature:
        ratio, prim = joint_effects.armature_ratio(item, weights), item.facts.prim
        if item.facts.path in looped:
            item.state.armature = min(tuning.BEARABLE_ARMATURE / ratio, 1.0) if ratio > 0.0 else 1.0
            if item.state.armature < 1.0:
                notices.add(
                    "ArmatureLess", prim,
                    f"{prim.display} is in a loop of joints and has an armature of {ratio:.2g} times the inertia of "
                    f"its bodies: it gets one of {tuning.BEARABLE_ARMATURE:g} times.",
                )  # fmt: skip
        elif ratio > most:
            notices.add(
                "ArmatureLess", prim,
                f"{prim.display} is in no articulation and has an armature of {ratio:.2g} times the inertia of its "
                "bodies: a part of it acts.",
            )  # fmt: skip
        for path in (item.facts.body0, item.facts.body1):
            left[path] = max(left[path], ratio * item.state.armature)
    return left
