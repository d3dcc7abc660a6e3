# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a joint may get to one of its limits, or to its cone, within a step of the solver.

Turns are measured in plain numbers, and with the largest speed that they can have: they are asked for in each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rapier3d import PhysicsWorld

from . import joint_effects
from .constraints import Constraint

#: A joint may move by so many times its way in a step, as it is pulled; and so far from a limit (rad) it is there.
TIMES, NEAR = 3.0, 0.01


def is_bounded(item: Constraint) -> bool:
    """True for a joint with limits or a cone."""
    return item.facts.cone is not None or any(freedom.is_limited for freedom in item.state.freedoms)


def may_reach(item: Constraint, physics: PhysicsWorld, seconds: float) -> bool:
    """True if a joint with limits may be at one within so many seconds, or was at one so long ago."""
    limited = [axis for axis, freedom in enumerate(item.state.freedoms) if freedom.is_limited]
    slides = [axis for axis in limited if axis < 3]
    if slides and _may_slide_to_an_end(item, physics, slides, seconds):
        return True
    return (len(limited) > len(slides) or item.facts.cone is not None) and _may_turn_to_an_end(
        item, physics, [axis for axis in limited if axis > 2], seconds
    )


def _may_slide_to_an_end(item: Constraint, physics: PhysicsWorld, axes: Sequence[int], seconds: float) -> bool:
    look = joint_effects.Look(item, physics)
    pull = math.hypot(*physics.gravity.to_tuple()) * seconds
    for axis in axes:
        freedom, place = item.state.freedoms[axis], look.place(axis)
        near = TIMES * (abs(look.speed(axis)) + pull) * seconds
        if not freedom.low + near < place < freedom.high - near:
            return True
    return False


def _may_turn_to_an_end(item: Constraint, physics: PhysicsWorld, axes: Sequence[int], seconds: float) -> bool:
    first, second = (physics.rigid_bodies[handle] for handle in item.handles)
    near = TIMES * math.dist(first.angvel.to_tuple(), second.angvel.to_tuple()) * seconds + NEAR
    w, *turn = item.turn(first.position, second.position)
    cone = item.facts.cone
    if cone is not None and not 2.0 * math.asin(min(math.hypot(turn[1], turn[2]), 1.0)) + near < min(cone):
        return True
    for axis in axes:
        if cone is not None and axis > 3:
            continue
        freedom = item.state.freedoms[axis]
        if item.turns:
            middle = item.state.angle
            angle = middle + math.remainder(2.0 * math.atan2(turn[0], w) - middle, 2.0 * math.pi)
            low, high = freedom.low, freedom.high
        else:
            # As the solver measures it, which knows no more than half a turn.
            angle = math.copysign(2.0 * math.asin(min(abs(turn[axis - 3]), 1.0)), turn[axis - 3] * w)
            low, high = max(freedom.low, -math.pi), min(freedom.high, math.pi)
        if not low + near < angle < high - near:
            return True
    return False
