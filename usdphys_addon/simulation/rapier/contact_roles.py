# SPDX-License-Identifier: GPL-3.0-or-later
"""Which contacts the solver's hook treats in a way of their own: of wheels, about pivots, and of what rolls or lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core.paths import inside_each
from ..weights import Weight
from .constraints import Constraint, matrix_of
from .contact_hook import Pivot, Roller
from .stock import Static
from .templates import Template
from .trees import is_axle

#: Cylinders, capsules and cones that lie, at most, whose contacts are looked at while nothing moves, and the cosine
#: between their axis and gravity from which on they stand.
FEW_LYING, UPRIGHT = 16, 0.5


def driven_wheels(
    physics: PhysicsWorld, constraints: Iterable[Constraint], handles: Mapping[str, Any], weights: Mapping[str, Weight]
) -> dict[Any, Weight]:
    """Weights of the bodies that driven hinges without limits turn, by handle. handles, weights: by path."""
    wheels = {}
    for item in constraints:
        facts = item.facts
        if facts.body0 not in weights or facts.body1 not in weights or not is_axle(facts):
            continue
        handle = handles[facts.body1]
        if physics.rigid_bodies[handle].colliders:
            wheels[handle] = weights[facts.body1]
    return wheels


def pivots_of(
    constraints: Sequence[Constraint], handles: Mapping[str, Any], static_handles: Mapping[str, Any]
) -> dict[frozenset[Any], list[Pivot]]:
    """`ContactHook.pivots`. handles, static_handles: of bodies and of static colliders, by path."""
    found: dict[frozenset[Any], list[Pivot]] = {}
    stills = {still for item in constraints for still in (item.facts.static0, item.facts.static1) if still}
    inside = inside_each(static_handles, stills) if stills else {}
    for item in constraints:
        facts = item.facts
        if not facts.collides or not all(axis.is_locked for axis in facts.freedoms[:3]):
            continue
        body, other, still, frame = (
            (facts.body1, facts.body0, facts.static0, facts.frame1) if facts.body1
            else (facts.body0, facts.body1, facts.static1, facts.frame0)
        )  # fmt: skip
        free = [axis for axis, freedom in enumerate(facts.freedoms[3:]) if not freedom.is_locked]
        axis = frame[:3, free[0]] if len(free) == 1 else None
        held = Pivot(handles[body], frame[:3, 3], axis, not free, item)
        ends = [handles[other]] if other else [static_handles[path] for path in inside.get(still, ())]
        for end in ends:
            found.setdefault(frozenset((held.body, end)), []).append(held)
    return found


def rollers_of(
    physics: PhysicsWorld, statics: Iterable[Static], static_handles: Mapping[str, Any],
    bodies: Iterable[tuple[Any, Template]],
) -> dict[Any, Roller]:  # fmt: skip
    """`ContactHook.rollers`. bodies: handles and templates of those with such colliders."""
    found = {}
    for handle, template in bodies:
        for number, roller in template.rollers.items():
            found[physics.rigid_bodies[handle].colliders[number]] = roller
    for static in statics:
        if static.roller is not None:
            found[physics.rigid_bodies[static_handles[static.path]].colliders[0]] = static.roller
    return found


def lying(physics: PhysicsWorld, rollers: Iterable[Any]) -> set[Any]:
    """`ContactHook.lying`: none where there are many. rollers: handles of colliders."""
    gravity = np.array(physics.gravity.to_tuple())
    down = gravity / max(float(np.linalg.norm(gravity)), 1e-12)
    axes = {handle: matrix_of(physics.colliders[handle].position)[:3, 1] for handle in rollers}
    found = {handle for handle, axis in axes.items() if abs(float(axis @ down)) < UPRIGHT}
    return found if len(found) <= FEW_LYING else set()
