# SPDX-License-Identifier: GPL-3.0-or-later
"""How exact a simulation is, and what that takes: quality levels, steps by mass and size. No solver."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.qualities import DRAFT, EXACT, NORMAL


class Quality(NamedTuple):
    """steps: of the solver in a sixtieth of a second, with nothing but free bodies.

    busy_steps: the same for a scene with joints or materials that bounce. sweeps: over all contacts in each small step.
    small_steps, joint_steps: the most small steps in each step, for masses and sizes that need more than four: for all
    bodies, and for jointed ones. sag: how far contacts may yield, relative to that of Normal. crowd_stiffness:
    frequency (Hz) of contacts, at least, between more than CROWD bodies: a softer pile comes to rest much sooner.
    """

    steps: int
    busy_steps: int
    sweeps: int
    small_steps: int
    joint_steps: int
    sag: float
    crowd_stiffness: float


QUALITIES: dict[str, Quality] = {
    DRAFT: Quality(1, 2, 1, 8, 16, 4.0, 30.0),
    NORMAL: Quality(2, 4, 2, 16, 32, 1.0, 60.0),
    EXACT: Quality(8, 8, 4, 16, 64, 0.25, 120.0),
}

#: Small steps in each step of the solver.
SMALL_STEPS = 4
#: Frequency (Hz) of contacts, as springs, at least; and at most, in each of the small steps: stiffer contacts tremble.
STIFFNESS, STIFFEST = 120.0, 0.25
#: Number of dynamic bodies up to which contacts have this stiffness.
CROWD = 200
#: How far a body may sink: under its own weight, relative to its size, and under the heaviest of all bodies.
SAG, HEAVY_SAG = 0.001, 0.015
#: How far the top of a column may sink: m, and relative to its height. A contact yields YIELD times as far as a spring.
COLUMN_SAG, HIGH_SAG, YIELD = 0.0022, 0.005, 1.76
#: Small steps in each step of the solver, at least, by the number of jointed bodies in a group: swinging bodies lose
#: energy in proportion to the length of a small step.
SMALL_JOINT_STEPS = ((8, 16), (64, 8))
#: A group with more drives that have a stiffness needs this many further sweeps: an arm of 7 equal links sags by 0.8 %
#: of its reach with 15, by 1.1 % with 7, by 2.4 % with 1 (Response 0.5 s). In maximal coordinates already one needs
#: them: a lid of 3 cm sags by 0.5 % with 15, by 1.7 % with 1. Where more than HEAVY_LOAD times a body hangs on it
#: there, 13 times on a bar of 5 cm sag by 0.95 % with 75, by 3.2 % with 15.
FEW_SPRINGS, SPRING_SWEEPS, HEAVY_LOAD, HEAVY_SWEEPS = 3, 15, 10.0, 75
#: Sweeps of each small step that take out the velocities with which joints and contacts are corrected. What one sweep
#: leaves of them in a ragdoll drives it: its arms slid on the floor by 0.2 m/s for ever with one, by 0.07 with two, and
#: rest with three. It costs next to nothing. Not where joints break: their loads would be others.
JOINT_RELAXATIONS = 4
#: From this ratio on, sweeps are needed in spite of small steps.
UNEVEN = 60.0
#: Reduced coordinates are for articulations with fewer degrees of freedom, the cost of which grows with their cube, and
#: with less mass that hangs on a body, relative to its own.
MOST_REDUCED, BEARABLE_REDUCED = 48, 100.0
#: The latter does not matter where each joint has an armature of this part of the mass and the inertia of all bodies.
#: Seven links, each 1.3 times as long as the one before, hold with 0.3 %; in maximal coordinates they do not.
EVENING = 0.001
#: Part of its distance from the axis by which a turning platform may carry a body outwards in a second.
DRIFT, MOST_TURNING_STEPS = 0.004, 48
#: Damping ratio of contacts, as springs; and by which part of its size a fast body may enter another one on impact.
DAMPING_RATIO, IMPACT = 10.0, 0.1
#: Angle, rad, by which a rolling body may turn in a step, and the most steps that this makes of one.
ROLL, MOST_ROLLING_STEPS = 0.5, 4
#: Mass that hangs on a jointed body, relative to its own, that four small steps bear.
BEARABLE = 700.0


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
            square = max(square, gravity / size * max(1.0 / SAG, heaviest / mass / HEAVY_SAG) / quality.sag)
    least = STIFFNESS if (number or len(masses)) <= CROWD else quality.crowd_stiffness
    wanted = max(least, math.sqrt(square) / (2.0 * math.pi))
    # A body of nearly no size wants infinitely many.
    small = math.ceil(min(wanted * step / STIFFEST, quality.small_steps) - 1e-6)
    small = min(max(small, SMALL_STEPS), quality.small_steps)
    return ContactSteps(small, min(wanted, STIFFEST * small / step))


def column_load(places: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Of the column of bodies that sinks most: all loads in it, in weights of a body, over how far it may sink, 1/m.

    places (n, 3), m, the last upwards, and sizes (n,), m, of bodies, which count as equally heavy.
    """
    reach = 0.45 * (sizes[:, None] + sizes[None])
    level = (np.abs(places[:, None, :2] - places[None, :, :2]) < reach[:, :, None]).all(axis=2)
    is_above = level & (places[None, :, 2] > places[:, None, 2])
    loads = 1.0 + is_above.sum(axis=1)
    whole = loads + is_above.T @ loads
    lowest = np.where(is_above.T, places[None, :, 2], places[:, None, 2]).min(axis=1, initial=np.inf)
    heights = places[:, 2] - lowest + sizes
    return float((YIELD * whole / np.minimum(COLUMN_SAG, HIGH_SAG * heights)).max(initial=0.0))


def joint_steps(quality: Quality, group: Hanging, *, breaks: bool = False) -> int:
    """Small steps in each step of the solver for a group of jointed bodies.

    breaks: their loads are measured, with an error that grows as the steps become smaller.
    """
    ratio = group.ratio
    wanted = math.ceil(SMALL_STEPS * math.sqrt(ratio / BEARABLE) - 1e-6) if math.isfinite(ratio) else math.inf
    least = next((steps for most, steps in SMALL_JOINT_STEPS if len(group.bodies) <= most and not breaks), SMALL_STEPS)
    return int(min(max(wanted, least * 4 // quality.busy_steps, SMALL_STEPS), quality.joint_steps))


def joint_sweeps(group: Hanging, small_steps: int, springs: int = 0, apart: int = 0) -> int:
    """Additional sweeps over all constraints in each small step for a group of jointed bodies.

    springs: drives with a stiffness in the group; apart: of these, in maximal coordinates. Each sweep leaves a velocity
    in an arm that such drives hold.
    """
    if springs > FEW_SPRINGS or apart:
        return HEAVY_SWEEPS if apart and group.ratio > HEAVY_LOAD else SPRING_SWEEPS
    return 7 if group.ratio > UNEVEN else max(1, 28 // small_steps - (small_steps > SMALL_STEPS))


def is_bearable(quality: Quality, ratio: float) -> bool:
    """False if jointed bodies with this ratio need more small steps than the quality has."""
    return ratio <= BEARABLE * (quality.joint_steps / SMALL_STEPS) ** 2


def turning_steps(step: float, spin: float) -> int:
    """Steps in which a body may turn at `spin` (rad/s) within `step` (s), so that it carries others in a circle.

    They move along tangents in each step: their distance from the axis grows by the part spin^2 * step / 2 in a second.
    """
    return min(max(math.ceil(0.5 * spin * spin * step / DRIFT), 1), MOST_TURNING_STEPS)


def impact_damping(frequency: float, small_step: float, rate: float) -> float:
    """Damping ratio of contacts of a frequency (Hz) for a body that moves `rate` of its own sizes in a second.

    In its first small step (s) a contact lets the part 1 / (1 + x (2 damping + x)) of a speed through, with x the angle
    that its spring turns in that step.
    """
    turn = 2.0 * math.pi * frequency * small_step
    return max(DAMPING_RATIO, 0.5 * (rate * small_step / IMPACT / turn - turn))


def rolling_steps(seconds: float, spin: float, steps: int) -> int:
    """Steps in `seconds`, that otherwise take `steps`, for a body that rolls with `spin` (rad/s).

    The points of contact turn with the body during a step: it sinks into what it rolls on, and is slowed down.
    """
    if not math.isfinite(spin):  # a body that is lost is rescued elsewhere
        return steps
    return min(max(math.ceil(spin * seconds / ROLL), steps), MOST_ROLLING_STEPS * steps)


class Hanging(NamedTuple):
    """A group of jointed bodies. ratio: the largest of the mass that hangs on one of them to its own; on `body`."""

    bodies: tuple[str, ...]
    body: str
    ratio: float


def hanging(ends: Iterable[tuple[str, str]], masses: Mapping[str, float]) -> list[Hanging]:
    """The groups of bodies that joints connect. ends: the two bodies of each joint; one without a mass is fixed.

    What hangs on a body is what it holds on all its sides but the heaviest, or but that of the fixed end. Joints that
    close a loop are left out.
    """
    at: dict[str, list[str]] = defaultdict(list)
    fixed: set[str] = set()
    for first, second in ends:
        for path, other in ((first, second), (second, first)):
            if path not in masses:
                continue
            if other in masses:
                at[path].append(other)
            else:
                fixed.add(path)
                at.setdefault(path, [])
    found: list[Hanging] = []
    seen: set[str] = set()
    for start in [*sorted(fixed), *sorted(at, key=lambda path: -masses[path])]:
        if start in seen:
            continue
        seen.add(start)
        order, parents = [start], {start: ""}
        for path in order:
            for other in at[path]:
                if other not in seen:
                    seen.add(other)
                    parents[other] = path
                    order.append(other)
        below = {path: masses[path] for path in order}
        sides: dict[str, list[float]] = defaultdict(list)
        for path in reversed(order):
            parent = parents[path]
            if parent:
                below[parent] += below[path]
                sides[parent].append(below[path])
        total, is_held = below[start], start in fixed
        worst, ratio = start, 0.0
        for path in order:
            around = sides[path] if is_held else [*sides[path], total - below[path]]
            hangs = sum(around) - (0.0 if is_held else max(around, default=0.0))
            if hangs > ratio * masses[path]:
                worst, ratio = path, hangs / masses[path] if masses[path] > 0.0 else math.inf
        found.append(Hanging(tuple(order), worst, ratio))
    return found
