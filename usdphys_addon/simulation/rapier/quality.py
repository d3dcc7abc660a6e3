# SPDX-License-Identifier: GPL-3.0-or-later
"""How exact a simulation is, and what that takes of the solver: quality levels, steps by mass and size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.qualities import DRAFT, EXACT, NORMAL
from ..hanging import Hanging
from . import tuning


class Quality(NamedTuple):
    """steps: of the solver in a sixtieth of a second, with nothing but free bodies.

    busy_steps: the same for a scene with joints or materials that bounce. sweeps: over all contacts in each small step.
    small_steps, joint_steps: the most small steps in each step, for masses and sizes that need more than four: for all
    bodies, and for jointed ones. sag: how far contacts may yield, relative to that of Normal. crowd_stiffness:
    frequency (Hz) of contacts, at least, between more than `tuning.CROWD` bodies.
    """

    steps: int
    busy_steps: int
    sweeps: int
    small_steps: int
    joint_steps: int
    sag: float
    crowd_stiffness: float

    def steps_in(self, time_step: float, is_busy: bool, substeps: int = 0) -> int:
        """Steps of the solver in a time step: in proportion to it, above 1/60 s. substeps: what a user chose, or 0."""
        return substeps or math.ceil((self.busy_steps if is_busy else self.steps) * max(1.0, time_step * 60.0 - 0.01))


QUALITIES: dict[str, Quality] = {
    DRAFT: Quality(1, 2, 1, 16, 16, 2.0, 30.0),
    NORMAL: Quality(2, 4, 2, 16, 32, 1.0, 60.0),
    EXACT: Quality(8, 8, 4, 16, 64, 0.25, 120.0),
}


class ContactSteps(NamedTuple):
    """small_steps: in each step of the solver. frequency: of contacts, as springs, Hz."""

    small_steps: int
    frequency: float


def contact_steps(
    quality: Quality, step: float, gravity: float, masses: Sequence[float], sizes: Sequence[float],
    column: float = 0.0, number: int = 0,
) -> ContactSteps:  # fmt: skip
    """What contacts need so that bodies sink no further than they may: the sag of a spring is load / mass * g / w^2.

    step: of the solver, s. gravity: m/s2. masses (kg) and sizes (m, the shorter side): of the dynamic bodies, or of the
    kinds of them. column: see `column_load`. number: of bodies; 0: as many as masses.
    """
    heaviest = max(masses, default=0.0)
    square = gravity * column / quality.sag
    for mass, size in set(zip(masses, sizes, strict=True)):
        if size > 0.0 and mass > 0.0:
            square = max(
                square, gravity / size * max(1.0 / tuning.SAG, heaviest / mass / tuning.HEAVY_SAG) / quality.sag
            )
    least = tuning.STIFFNESS if (number or len(masses)) <= tuning.CROWD else quality.crowd_stiffness
    wanted = max(least, _rounded_up(math.sqrt(square) / (2.0 * math.pi)))
    # A body of nearly no size wants infinitely many.
    small = math.ceil(min(wanted * step / tuning.STIFFEST, quality.small_steps) - 1e-6)
    small = min(max(small, tuning.SMALL_STEPS), quality.small_steps)
    return ContactSteps(small, min(wanted, tuning.STIFFEST * small / step))


def _rounded_up(frequency: float) -> float:
    """The next frequency (Hz) in steps of a tenth: what needs about the same has the same, and may share a world."""
    if not 0.0 < frequency < math.inf:
        return frequency
    return float(1.1 ** math.ceil(math.log(frequency, 1.1) - 1e-6))


def column_load(
    places: NDArray[np.float64], sizes: NDArray[np.float64], masses: NDArray[np.float64] | None = None
) -> float:  # fmt: skip
    """Of the column of bodies that sinks most: all loads in it, in weights of a body, over how far it may sink, 1/m.

    places (n, 3), m, the last upwards, sizes (n,), m, and masses (n,), kg, of bodies; without these they are equal.
    """
    masses = np.ones(len(sizes)) if masses is None else masses
    reach = 0.45 * (sizes[:, None] + sizes[None])
    level = (np.abs(places[:, None, :2] - places[None, :, :2]) < reach[:, :, None]).all(axis=2)
    is_above = level & (places[None, :, 2] > places[:, None, 2])
    # A contact yields as a spring on both of its bodies, of which a light one counts for more.
    heights = np.where(is_above.T, places[:, None, 2] - places[None, :, 2], np.inf)
    below = np.where(np.isfinite(heights).any(axis=1), heights.argmin(axis=1), np.arange(len(sizes)))
    springs = 2.0 * masses * masses[below] / (masses + masses[below])
    loads = (masses + is_above @ masses) / springs
    whole = loads + is_above.T @ loads
    lowest = np.where(is_above.T, places[None, :, 2], places[:, None, 2]).min(axis=1, initial=np.inf)
    heights = places[:, 2] - lowest + sizes
    return float((tuning.YIELD * whole / np.minimum(tuning.COLUMN_SAG, tuning.HIGH_SAG * heights)).max(initial=0.0))


def joint_steps(quality: Quality, group: Hanging, *, breaks: bool = False) -> int:
    """Small steps in each step of the solver for a group of jointed bodies.

    breaks: their loads are measured, with an error that grows as the steps become smaller.
    """
    ratio = group.ratio
    wanted = (
        math.ceil(tuning.SMALL_STEPS * math.sqrt(ratio / tuning.BEARABLE) - 1e-6) if math.isfinite(ratio) else math.inf
    )
    least = next(
        (steps for most, steps in tuning.SMALL_JOINT_STEPS if len(group.bodies) <= most and not breaks),
        tuning.SMALL_STEPS,
    )
    return int(min(max(wanted, least * 4 // quality.busy_steps, tuning.SMALL_STEPS), quality.joint_steps))


def joint_sweeps(
    group: Hanging, small_steps: int, springs: int = 0, apart: int = 0, drives: int = 0, armature: float = 0.0
) -> int:
    """Additional sweeps over all constraints in each small step for a group of jointed bodies.

    springs: drives with a stiffness in the group; apart: of these, in maximal coordinates. Each sweep leaves a velocity
    in an arm that such drives hold. drives: joints in maximal coordinates with a drive of any kind. armature: the
    largest one of a joint in maximal coordinates, relative to the inertia without it.
    """
    if armature:
        most = max(tuning.MOST_LINKAGE_SWEEPS / len(group.bodies), tuning.LINKAGE_SWEEPS)
        wanted = min(max(tuning.ARMATURE_SWEEPS * armature, tuning.LINKAGE_SWEEPS), most)
        return max(math.ceil(wanted), joint_sweeps(group, small_steps, springs, apart, drives))
    if drives and group.is_loop:
        wanted = tuning.LINKAGE_SWEEPS * max(group.spread / tuning.LINKAGE_SPREAD, 1.0)
        wanted = max(min(wanted, tuning.MOST_LINKAGE_SWEEPS / len(group.bodies)), tuning.LINKAGE_SWEEPS)
        return max(int(wanted), joint_sweeps(group, small_steps, springs, apart))
    if springs > tuning.FEW_SPRINGS or apart:
        return tuning.HEAVY_SWEEPS if apart and group.ratio > tuning.HEAVY_LOAD else tuning.SPRING_SWEEPS
    return 7 if group.ratio > tuning.UNEVEN else max(1, 28 // small_steps - (small_steps > tuning.SMALL_STEPS))


def stop_relaxations(bodies: int, *, has_stops: bool) -> int:
    """Sweeps that take out the velocities of corrections; bodies: that joints hold. has_stops: `JointFacts.has_stops`.

    Of many bodies each sweep takes long.
    """
    wanted = min(tuning.STOP_RELAXATIONS, tuning.MOST_STOP_SWEEPS // max(bodies, 1)) if has_stops else 0
    return max(wanted, tuning.JOINT_RELAXATIONS)


def armature_relaxations(armature: float, bodies: int) -> int:
    """Sweeps that take out the velocities of corrections where joints in maximal coordinates have an armature.

    With too few of them, the bodies move as if they had a part of the armature. armature: the largest one, relative to
    the inertia without it. bodies: that joints hold.
    """
    return math.ceil(min(tuning.ARMATURE_RELAXATIONS * armature, most_armature(bodies)))


def most_armature(bodies: int) -> float:
    """The largest armature, relative to the inertia without it, that acts as it says; bodies: that joints hold."""
    return tuning.MOST_LINKAGE_SWEEPS / max(bodies, 1)


def slows_drives(group: Hanging, sweeps: int, drives: int) -> bool:
    """True if the masses in a loop with drives differ by too much for so many sweeps."""
    return drives > 0 and group.is_loop and group.spread > tuning.SLOWED * sweeps


def is_bearable(quality: Quality, ratio: float) -> bool:
    """False if jointed bodies with this ratio need more small steps than the quality has."""
    return ratio <= tuning.BEARABLE * (quality.joint_steps / tuning.SMALL_STEPS) ** 2


def turning_steps(step: float, spin: float) -> int:
    """Steps in which a body may turn at `spin` (rad/s) within `step` (s), so that it carries others in a circle.

    They move along tangents in each step: their distance from the axis grows by the part spin^2 * step / 2 in a second.
    """
    return min(max(math.ceil(0.5 * spin * spin * step / tuning.DRIFT), 1), tuning.MOST_TURNING_STEPS)


def impact_damping(frequency: float, small_step: float, rate: float) -> float:
    """Damping ratio of contacts of a frequency (Hz) for a body that moves `rate` of its own sizes in a second.

    In its first small step (s) a contact lets the part 1 / (1 + x (2 damping + x)) of a speed through, with x the angle
    that its spring turns in that step.
    """
    turn = 2.0 * math.pi * frequency * small_step
    return max(tuning.DAMPING_RATIO, 0.5 * (rate * small_step / tuning.IMPACT / turn - turn))


def rolling_steps(seconds: float, spin: float, steps: int) -> int:
    """Steps in `seconds`, that otherwise take `steps`, for a body that rolls with `spin` (rad/s).

    The points of contact turn with the body during a step: it sinks into what it rolls on, and is slowed down.
    """
    if not math.isfinite(spin):  # a body that is lost is rescued elsewhere
        return steps
    return min(max(math.ceil(spin * seconds / tuning.ROLL), steps), tuning.MOST_ROLLING_STEPS * steps)


def led_steps(angle: float, rate: float, steps: int) -> int:
    """Steps in a time step, that otherwise takes `steps`, in which a surface leads a body round by an angle (rad).

    rate: how many of its own sizes the body moves in the time step.
    """
    wanted = angle / tuning.LED
    if angle > tuning.LED_LEAST:
        wanted = max(wanted, rate / tuning.LED_WAY)
    return min(max(math.ceil(wanted), steps), tuning.MOST_LED_STEPS * steps)


def precessing_steps(seconds: float, spin: float, steps: int, small_steps: int) -> int:
    """Steps in `seconds`, that otherwise take `steps`, for a body that spins (rad/s) about an axis that may swing.

    small_steps: of the solver in a step. In each, the axis of the spin falls behind the body by a part of its turn.
    """
    if not math.isfinite(spin):
        return steps
    wanted = math.ceil(spin * seconds / (tuning.PRECESSION * small_steps))
    return min(max(wanted, steps), tuning.MOST_PRECESSING_STEPS * steps)
