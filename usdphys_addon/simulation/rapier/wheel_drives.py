# SPDX-License-Identifier: GPL-3.0-or-later
"""Stiff drives of wheels: a softer drive in the solver, whose target goes ahead so that the wheel has its speed.

A drive that is as good as rigid turns the rounding errors of contacts into leaps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from rapier3d import PhysicsWorld

from ..weights import Weight
from . import tuning
from .constraints import Constraint
from .joint_effects import Look
from .trees import is_axle

#: Rate (1/s) at which the target goes ahead by what is missing of the speed; a wheel that misses more than this part,
#: and so much (rad/s), slips, starts or is blocked.
RATE, PART, LEAST = 10.0, 0.9, 0.5


def wheels_of(
    constraints: Sequence[Constraint], weights: Mapping[str, Weight]
) -> dict[Constraint, tuple[float, float]]:  # fmt: skip
    """Driven hinges of bodies that nothing else holds, balanced on an axle; with the inertias (kg m2) about it.

    The first is of the wheel, the second with its part of the body that it carries, if it rolls as a disc.
    """
    ends = Counter(path for item in constraints for path in (item.facts.body0, item.facts.body1))
    wheels = {}
    for item in constraints:
        path, carried = item.facts.body1, item.facts.body0
        if ends[path] > 1 or path not in weights or carried not in weights or item.state.reduced:
            continue
        weight, frame = weights[path], item.facts.frame1
        axis = frame[:3, 0]
        arm = np.cross(np.array(weight.center) - frame[:3, 3], axis)
        inertia = float(axis @ weight.inertia @ axis)
        if is_axle(item.facts) and weight.mass * float(arm @ arm) < 0.1 * inertia:
            wheels[item] = inertia, inertia * (1.0 + 2.0 * weights[carried].mass / ends[carried] / weight.mass)
    return wheels


def soften(constraint: Constraint, physics: PhysicsWorld, inertias: tuple[float, float], small_step: float) -> None:
    """Give a wheel a softer drive if its own is rigid. inertias: see `wheels_of`. small_step: of the solver, s."""
    constraint.soft_damping = tuning.WHEEL_DAMPING * inertias[0] / small_step
    constraint.rigid_damping = max(tuning.RIGID_DAMPING * inertias[1] / small_step, constraint.soft_damping)
    constraint.apply_drives(physics)


def lead(constraint: Constraint, physics: PhysicsWorld, seconds: float) -> None:
    """Let the target go ahead for the next time step of so many seconds, up to the largest force of the drive."""
    drive, state = constraint.state.freedoms[3].drive, constraint.state
    if drive is None or not constraint.active or drive.damping <= constraint.rigid_damping:
        return
    missing = drive.target_velocity - Look(constraint, physics).speed(3)
    if not abs(missing) < PART * abs(drive.target_velocity) + LEAST:
        return
    most = min(10.0 * abs(drive.target_velocity) + 5.0, drive.max_force / constraint.soft_damping)
    wanted = state.ahead + RATE * seconds * missing
    state.ahead = math.copysign(min(abs(wanted), most), wanted)
    constraint.apply_drives(physics)
