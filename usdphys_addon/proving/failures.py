# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be wrong with a motion of a part: it does not rest, gains energy, comes apart, or a drive gives way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import frames, mass
from ..simulation.joint_facts import NO_LIMIT, JointFacts
from ..simulation.joint_poses import position_of, relative_pose
from .certificate import measure
from .runs import GLIMPSE, STEP, Motion, Part, Subject, corners_of, ends_of, radius_of

#: Part of the energy that moves, by which it may grow; J.
GROWTH, LEAST_ENERGY = 0.04, 1e-6
#: Part of its radius by which a solver lifts a part that rests, because it pushes out what has sunk in.
_PUSHED_OUT = 3e-4
#: Part of the energy of height that becomes kinetic, which a solver may miss: it grows as what falls for ever falls,
#: and with each swing of what swings.
_TURNED_OVER = 1e-3
#: Part of its way in a frame by which a joint of a fast body may be apart.
_FAST = 0.01
#: m and rad by which a joint may be apart, and as a part of the radius of its bodies.
APART, TURNED, SHARE = 1e-3, 0.02, 0.02
#: rad, and part of the radius, by which a drive may sag.
SAG, SAG_SHARE = 0.1, 0.1
#: m and degrees that are not told.
_NOTHING = 1e-6


class Found(NamedTuple):
    """What is wrong: a body or joint, and a sentence."""

    path: str
    message: str
    data: dict[str, Any]


#: What a part may fail.
Test = Callable[[Subject, Part, Motion], Found | None]


def _rows(part: Part, motion: Motion) -> list[int]:
    return [motion.paths.index(path) for path in part.bodies]


def _is_driven(part: Part) -> bool:
    """True where a drive has a velocity to keep."""
    return any(drive.target_velocity for facts in part.joints for drive in facts.drives)


def _flies(subject: Subject, part: Part) -> bool:
    """True where gravity acts on none of the bodies."""
    return all(mass.gravity_factor(subject.model.prims[path]) == 0.0 for path in part.bodies)


def unrest(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A free part that still moves, or falls, at the end."""
    if part.is_held or _is_driven(part) or not np.linalg.norm(subject.gravity) or _flies(subject, part):
        return None
    rows = _rows(part, motion)
    masses = np.array([mass.mass_properties(subject.model, path).mass for path in part.bodies])
    centers = np.average(motion.positions[:, rows], axis=1, weights=masses)
    last = round(0.5 / STEP)
    way = float(np.linalg.norm(centers[-1] - centers[-1 - last]))
    radius = max(radius_of(subject.model, path) for path in part.bodies)
    heaviest = part.bodies[int(np.argmax(masses))]
    name = subject.model.prims[heaviest].display
    down = subject.gravity / np.linalg.norm(subject.gravity)
    fallen = float((centers[-1] - centers[0]) @ down)
    unstable = [path for path in part.bodies if path in motion.unstable]
    if unstable:
        return Found(unstable[0], f"{unstable[0]} is unstable: {motion.unstable[unstable[0]]}.", {})
    if way <= 0.02 * radius + 2e-3:
        return None
    data = {"way_metres": way, "fallen_metres": fallen}
    if float((centers[-1] - centers[-1 - last]) @ down) > 0.8 * way and fallen > 3.0 * radius:
        data["is_beside"] = _falls_beside(subject, heaviest, motion)
        return Found(heaviest, f"{name} falls and nothing stops it: {fallen:.3g} m so far.", data)
    return Found(heaviest, f"{name} does not come to rest: it moves {way:.3g} m in the last half second.", data)


def _falls_beside(subject: Subject, body: str, motion: Motion) -> bool:
    """Whether a body that is held at first, and falls later, passes all that stands on the outside."""
    still = [
        path for path in motion.paths if (own := subject.layout.bodies.get(path)) is not None and own.is_kinematic
    ]  # fmt: skip
    shapes = [prim for prim in subject.model.colliders.values() if subject.model.body_of(prim.path) is None]
    shapes += [prim for path in still for prim in subject.model.colliders_of(path)]
    found = [corners_of(prim) for prim in shapes]
    corners = np.concatenate([one for one in found if one is not None] or [np.zeros((0, 3))])
    if any(one is None for one in found) or not len(corners):
        return False
    down = subject.gravity / np.linalg.norm(subject.gravity)
    track = motion.positions[:, motion.paths.index(body)]
    below = np.flatnonzero(track @ down > (corners @ down).max())
    early, free = round(GLIMPSE / STEP), 0.5 * float(np.linalg.norm(subject.gravity)) * GLIMPSE**2
    if not len(below) or not below[0] or float((track[early] - track[0]) @ down) > 0.5 * free:
        return False
    across = np.linalg.svd(down[None])[2][1:]
    place, spread = across @ track[below[0]], corners @ across.T
    return bool((place < spread.min(axis=0)).any() or (place > spread.max(axis=0)).any())


def growth(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A part whose energy grows most, where the energy of all of them grows although nothing drives any."""
    if "growth" not in motion.memo:
        motion.memo["growth"] = _growth_of_all(subject, motion)
    found: Found | None = motion.memo["growth"]
    return found if found is not None and found.path in part.bodies else None


def _growth_of_all(subject: Subject, motion: Motion) -> Found | None:
    drives = [drive for facts in subject.joints for drive in facts.drives]
    if any(not drive.is_friction and (drive.stiffness or drive.target_velocity) for drive in drives):
        return None
    if any(body.is_kinematic for body in subject.layout.bodies.values()):
        return None
    bodies = [path for one in subject.parts for path in one.bodies]
    energies, heights = energies_of(subject, bodies, motion), heights_of(subject, bodies, motion)
    own = energies.sum(axis=1) + _rotors(subject, motion)
    moved = float(np.ptp(energies, axis=0).sum())
    fallen = float(-np.minimum(np.diff(heights, axis=0), 0.0).sum())
    growth = own - np.minimum.accumulate(own)
    # What is pushed apart, or closed, in the first moments is told by other checks.
    late = growth[round(0.2 / STEP) :]
    allowed = (
        GROWTH * moved
        + _TURNED_OVER * fallen
        + LEAST_ENERGY
        + _PUSHED_OUT * sum(_scale(subject, one) for one in subject.parts)
        + sum(_stretched(subject, one, motion) for one in subject.parts)
    )
    if not len(late) or float(late.max()) <= allowed:
        return None
    gains = energies - np.minimum.accumulate(energies, axis=0)
    body = bodies[int(np.argmax(gains.max(axis=0)))]
    return Found(body, f"The part with {subject.model.prims[body].display} gains {late.max():.3g} J from no source.",
                 {"gained_joules": float(late.max()), "moved_joules": moved})  # fmt: skip


def _rotors(subject: Subject, motion: Motion) -> NDArray[np.float64]:
    """(f,), J: the kinetic energy of armatures, which joints take and give back."""
    found = np.zeros(len(motion.positions))
    for facts in subject.joints:
        for axis, freedom in enumerate(facts.freedoms):
            if freedom.settings.armature > 0.0 and not freedom.is_locked:
                found += 0.5 * freedom.settings.armature * _rates(subject, facts, axis, motion) ** 2
    return found


def _rates(subject: Subject, facts: JointFacts, axis: int, motion: Motion) -> NDArray[np.float64]:
    """(f,), m/s or rad/s, of a joint along or about an axis of its frame on the first side."""
    count = len(motion.positions)
    ends = ends_of(subject, facts)
    direction = np.broadcast_to(ends[0][:3, axis % 3], (count, 3))
    if facts.body0 in motion.paths:
        turns = frames.matrices_of(motion.rotations[:, motion.paths.index(facts.body0)])
        direction = turns @ facts.frame0[:3, axis % 3]
    speeds = []
    for path, frame in ((facts.body0, facts.frame0), (facts.body1, facts.frame1)):
        if path not in motion.paths:
            speeds.append(np.zeros((count, 3)))
            continue
        row = motion.paths.index(path)
        speed, spin = motion.velocities[:, row, :3], motion.velocities[:, row, 3:]
        center = np.asarray(mass.mass_properties(subject.model, path).center_of_mass)
        arm = frames.matrices_of(motion.rotations[:, row]) @ (frame[:3, 3] - center)
        speeds.append(spin if axis >= 3 else speed + np.cross(spin, arm))
    return np.asarray(((speeds[1] - speeds[0]) * direction).sum(axis=1))


def _scale(subject: Subject, part: Part) -> float:
    """J: the weight of a part times its radius."""
    size = float(np.linalg.norm(subject.gravity))
    return sum(
        mass.mass_properties(subject.model, path).mass * size * radius_of(subject.model, path) for path in part.bodies
    )


def _stretched(subject: Subject, part: Part, motion: Motion) -> float:
    """J that joints of a part store, at most, while they are apart by no more than they may be: what hangs on them
    sinks by that, and is pulled up again."""
    weight = sum(mass.mass_properties(subject.model, path).mass for path in part.bodies)
    weight *= float(np.linalg.norm(subject.gravity))
    found = 0.0
    for facts in part.joints:
        if facts.distance is None and not facts.bond and facts.path not in motion.broken:
            found += min(_gap(subject, facts, motion)[0], _may_be_apart(subject, facts))
    return weight * found


def heights_of(subject: Subject, bodies: Sequence[str], motion: Motion) -> NDArray[np.float64]:
    """(f, n), J: the energy of height."""
    found = [mass.mass_properties(subject.model, path) for path in bodies]
    centers = _centers(found, [motion.paths.index(path) for path in bodies], motion)
    factors = np.array([mass.gravity_factor(subject.model.prims[path]) for path in bodies])
    return np.asarray(-np.array([one.mass for one in found]) * factors * (centers @ subject.gravity))


def _centers(found: Sequence[mass.BodyMassProperties], rows: Sequence[int], motion: Motion) -> NDArray[np.float64]:
    """(f, n, 3), m: the centres of mass of bodies in the world."""
    rotations = motion.rotations[:, rows]
    turns = frames.matrices_of(rotations.reshape(-1, 4)).reshape(*rotations.shape[:2], 3, 3)
    own = np.einsum("fnij,nj->fni", turns, np.array([one.center_of_mass for one in found]))
    return np.asarray(motion.positions[:, rows] + own)


def energies_of(subject: Subject, bodies: Sequence[str], motion: Motion) -> NDArray[np.float64]:
    """(f, n), J: kinetic energy and that of height."""
    rows = [motion.paths.index(path) for path in bodies]
    found = [mass.mass_properties(subject.model, path) for path in bodies]
    masses = np.array([one.mass for one in found])
    rotations = motion.rotations[:, rows]
    turns = frames.matrices_of(rotations.reshape(-1, 4)).reshape(*rotations.shape[:2], 3, 3)
    spins = np.einsum("fnji,fnj->fni", turns, motion.velocities[:, rows, 3:])
    spin = np.einsum("fni,nij,fnj->fn", spins, np.array([one.inertia for one in found]), spins)
    speeds = (motion.velocities[:, rows, :3] ** 2).sum(axis=2)
    return np.asarray(0.5 * (masses * speeds + spin)) + heights_of(subject, bodies, motion)


def apart(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A joint whose bodies leave each other where it locks them, or that was apart from the start."""
    worst: tuple[float, Found] | None = None
    for facts in part.joints:
        if facts.distance is not None or facts.bond or facts.path in motion.broken:
            continue
        moved, turned, frame = _gap(subject, facts, motion)
        share = max(moved / _may_be_apart(subject, facts), turned / TURNED)
        if share > 1.0 and (worst is None or share > worst[0]):
            joint, degrees = facts.prim.display, math.degrees(turned)
            far = measure(moved, 0) if degrees < _NOTHING else measure(turned, 3) if moved < _NOTHING else ""
            if frame == 0 and far:
                text = f"{joint} comes apart by {far} at the start."
            elif frame == 0:
                text = f"{joint} comes apart by {moved:.3g} m and {degrees:.3g} degrees at the start."
            elif far:
                text = f"{joint} comes apart by {far} after {frame * STEP:.2f} s."
            else:
                text = f"{joint} comes apart by {moved:.3g} m and {degrees:.3g} degrees after {frame * STEP:.2f} s."
            worst = share, Found(facts.path, text, {"metres": moved, "radians": turned, "at_start": frame == 0})
    return worst[1] if worst else None


def gap_of(subject: Subject, facts: Any) -> tuple[float, float, float]:
    """(m, rad) by which a joint is apart at the start, along and about what it locks, and the share of what it may."""
    moved, turned = _apart_by(facts, relative_pose(*ends_of(subject, facts)))
    return moved, turned, max(moved / _may_be_apart(subject, facts), turned / TURNED)


def _may_be_apart(subject: Subject, facts: Any) -> float:
    """m, of a joint."""
    return APART + SHARE * min(radius_of(subject.model, path) for path in (facts.body0, facts.body1) if path)


def _apart_by(facts: Any, relative: NDArray[np.float64]) -> tuple[float, float]:
    """(m, rad) along and about what a joint locks."""
    locked = [freedom.is_locked for freedom in facts.freedoms]
    turned = 0.0
    if all(locked[3:]):
        turned = float(np.linalg.norm(frames.rotation_vector(relative[:3, :3])))
    elif locked[3:] == [False, True, True]:
        turned = math.acos(min(1.0, max(-1.0, float(relative[0, 0]))))
    return float(np.linalg.norm(relative[:3, 3][locked[:3]])), turned


def _gap(subject: Subject, facts: Any, motion: Motion) -> tuple[float, float, int]:
    """(m, rad) by which a joint is apart along and about what it locks, at most, and the frame of that."""
    worst = (0.0, 0.0, 0)
    bodies = [(motion.paths.index(path), radius_of(subject.model, path)) for path in (facts.body0, facts.body1) if path]
    for frame in range(0, len(motion.positions), 3):
        moved, turned = _apart_by(facts, relative_pose(*ends_of(subject, facts, motion, frame)))
        moved = max(0.0, moved - _FAST * STEP * max(_speed(motion, *body, frame) for body in bodies))
        if moved + turned > worst[0] + worst[1]:
            worst = (moved, turned, frame)
    return worst


def _speed(motion: Motion, row: int, radius: float, frame: int) -> float:
    """m/s, of the edge of a body."""
    velocity = motion.velocities[frame, row]
    return float(np.linalg.norm(velocity[:3]) + radius * np.linalg.norm(velocity[3:]))


def sag(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A drive that does not hold its target."""
    for facts in part.joints:
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        if free not in ([0], [3]):
            continue
        freedom = facts.freedoms[free[0]]
        drive = freedom.drive
        if drive is None or drive.is_friction or drive.stiffness <= 0.0 or drive.target_velocity:
            continue
        if not freedom.low <= drive.target_position <= freedom.high:
            continue  # a spring that presses against a limit, which is told of the limits
        place = position_of(facts, relative_pose(*ends_of(subject, facts, motion)), free[0])
        error = place - min(max(drive.target_position, freedom.low), freedom.high)
        if free[0] == 3:
            error = (error + math.pi) % (2.0 * math.pi) - math.pi
        radius = max(radius_of(subject.model, path) for path in (facts.body0, facts.body1) if path)
        if abs(error) > (SAG if free[0] == 3 else max(SAG_SHARE * radius, 2e-3)):
            seconds = (len(motion.positions) - 1) * STEP
            text = (
                f"The drive of {facts.prim.display} is {measure(abs(error), free[0])} from its target after "
                f"{seconds:g} s."
            )
            if drive.max_force < NO_LIMIT:
                text += " " + f"Its largest force is {drive.max_force:.4g}."
            return Found(facts.path, text, {"error": error})
    return None
