# SPDX-License-Identifier: GPL-3.0-or-later
"""How slow a body must be to fall asleep: by its size, by what its drives still have to do, by whether it is held."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from ..joint_facts import Drive
from . import tuning
from .constraints import Constraint

#: m/s and rad/s of what never stops by itself: single precision can hold no body stiller.
STILL = 1e-6
#: Most error (m or rad) of a drive that falls asleep on its way: it goes on in proportion to its distance.
UNREACHED = 1e-3


def thresholds(size: float, *, is_heavy: bool) -> tuple[float, float]:
    """Speeds, m/s and rad/s, below which a body may fall asleep.

    size: m, 0 without colliders. is_heavy: gravity acts on it, so that it is held where it does not gain speed; what
    floats goes on for ever.
    """
    if not is_heavy:
        return STILL, STILL
    return tuning.SLOW * (min(size, 1.0) if size > 0.0 else 1.0), tuning.SLOW_TURN


def drive_speeds(constraints: Iterable[Constraint]) -> Iterator[tuple[Any, float]]:
    """(the solver's body, speed (m/s or rad/s) above which it must stay awake) of both sides of driven joints."""
    for constraint in constraints:
        speeds = [drive_speed(drive) for _, drive in constraint.drives() if constraint.active]
        for handle in constraint.handles if speeds else ():
            yield handle, min(speeds)


def drive_speed(drive: Drive) -> float:
    """Speed (m/s or rad/s) from which on a drive has not reached its target; infinite for one without gains."""
    if drive.is_friction or drive.max_force == 0.0 or not (drive.stiffness > 0.0 or drive.damping > 0.0):
        return math.inf
    if not drive.stiffness > 0.0:
        # What is let down by a damper may sink as slowly as this.
        return STILL if drive.target_velocity else 0.1 * tuning.SLOW_TURN
    if not drive.damping > 0.0:
        # It swings back from where it turns, however slowly.
        return STILL
    # A slow drive creeps towards its target with its error times this rate.
    return UNREACHED * drive.stiffness / drive.damping
