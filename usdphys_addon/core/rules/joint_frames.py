# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the two frames of a joint: they must coincide along locked degrees of freedom.

Otherwise simulators snap the bodies together at the first step.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from .. import frames, joint_kinds, stacks
from ..model import Prim
from ..schemas import usd_physics
from ..words import joint_value_text
from .base import Above, Facts, Finding, name, rule

Array = NDArray[np.float64]
#: Largest misalignment without an issue: radians; metres; metres per metre between body and joint frame.
ANGLE_TOLERANCE, DISTANCE_TOLERANCE, RELATIVE_TOLERANCE = 2e-3, 1e-5, 1e-3


@dataclass(slots=True)
class Gap:
    """Misalignment of the frames of a joint along locked degrees of freedom: metres and radians."""

    prim: Prim
    distance: float
    angle: float


def _locked(facts: Facts) -> dict[str, set[str]]:
    """Degrees of freedom that LimitAPI locks, by path of the joint."""
    locked: dict[str, set[str]] = defaultdict(set)
    for prim, dof, limit in facts.applied(usd_physics.LimitAPI):
        if joint_kinds.is_locked(limit.resolved("low"), limit.resolved("high")):
            locked[prim.path].add(dof)
    return locked


def _world_frames(facts: Facts, joints: list[tuple[Prim, usd_physics.Joint]], side: int) -> tuple[Array, Array, Array]:
    """(origins of the bodies (n, 3), positions (n, 3), rotations (n, 3, 3)) of one side of joints, in the world."""
    identity = np.eye(4)
    prims = facts.model.prims
    bodies = [prims[targets[0]].world if (targets := _body(joint, side)) else identity for _, joint in joints]
    worlds = np.concatenate(bodies).reshape(-1, 4, 4)
    get_position, get_rotation = attrgetter(f"local_pos{side}"), attrgetter(f"local_rot{side}")
    local = np.array([get_position(joint) or (0.0, 0.0, 0.0) for _, joint in joints])
    turns = np.array([get_rotation(joint) or frames.IDENTITY_ROTATION for _, joint in joints])
    positions = np.einsum("nij,nj->ni", worlds[:, :3, :3], local) + worlds[:, :3, 3]
    return worlds[:, :3, 3], positions, frames.rotations_of(worlds) @ frames.matrices_of(turns)


def _body(joint: usd_physics.Joint, side: int) -> tuple[str, ...]:
    return (joint.body1 if side else joint.body0) or ()


def _measurable(facts: Facts) -> list[tuple[Prim, usd_physics.Joint]]:
    """Enabled joints whose bodies are in the model."""
    prims = facts.model.prims
    return [
        (prim, joint)
        for prim, joint in facts.joints
        if joint.joint_enabled is not False
        and (joint.body0 or joint.body1)
        and all(path in prims for side in (0, 1) for path in _body(joint, side)[:1])
    ]


def gaps(facts: Facts) -> list[Gap]:
    """The joints whose frames are misaligned by more than the tolerances."""
    joints = facts.once(_measurable)
    if not joints:
        return []
    origins0, positions0, rotations0 = _world_frames(facts, joints, 0)
    origins1, positions1, rotations1 = _world_frames(facts, joints, 1)
    limits = _locked(facts)
    locks = np.array([joint_kinds.locked_axes(joint, limits.get(prim.path, ())) for prim, joint in joints])
    # In the axes of frame 0.
    apart = np.einsum("nji,nj->ni", rotations0, positions1 - positions0) * locks[:, 0]
    distances = np.linalg.norm(apart, axis=1)  # NaN where a value is not finite, which compares as no gap
    reach = np.maximum(np.linalg.norm(positions0 - origins0, axis=1), np.linalg.norm(positions1 - origins1, axis=1))
    far = np.abs(np.concatenate((positions0, positions1), axis=1)).max(axis=1)
    allowed = DISTANCE_TOLERANCE + RELATIVE_TOLERANCE * reach + 1e-6 * far
    angles = _tilts(np.swapaxes(rotations0, 1, 2) @ rotations1, locks[:, 1])
    distances[distances <= allowed] = 0.0
    angles[angles <= ANGLE_TOLERANCE] = 0.0
    return [
        Gap(joints[row][0], float(distances[row]), float(angles[row]))
        for row in np.flatnonzero((distances > 0) | (angles > 0))
    ]


def _tilts(relative: Array, locked: NDArray[np.bool_]) -> Array:
    """Angles (n,) by which relative rotations (n, 3, 3) violate the locked rotations (n, 3)."""
    count = locked.sum(axis=1)
    angles = np.zeros(len(relative))
    # atan2, because an arc cosine is inaccurate for small angles.
    skew = np.stack([relative[:, 2, 1] - relative[:, 1, 2], relative[:, 0, 2] - relative[:, 2, 0],
                     relative[:, 1, 0] - relative[:, 0, 1]], axis=1)  # fmt: skip
    whole = np.arctan2(np.linalg.norm(skew, axis=1), np.trace(relative, axis1=1, axis2=2) - 1)
    angles[count == 3] = whole[count == 3]
    for free in range(3):
        chosen = (count == 2) & ~locked[:, free]
        axis = relative[chosen][:, :, free]
        others = np.delete(axis, free, axis=1)
        angles[chosen] = np.arctan2(np.linalg.norm(others, axis=1), axis[:, free])
    return angles


def _locking(facts: Facts) -> list[list[Prim]]:
    """Hinges and slides that hold the same two bodies and allow no common motion."""
    joints = [pair for pair in facts.once(_measurable) if pair[0].type_name in stacks.OF_ONE_AXIS]
    holders: dict[frozenset[str], list[int]] = defaultdict(list)
    for row, (_, joint) in enumerate(joints):
        bodies = [facts.carrier.at(path) for side in (0, 1) for path in _body(joint, side)[:1]]
        ends = frozenset(body.path for body in bodies if body is not None)
        if ends & facts.dynamic.keys():
            holders[ends].append(row)
    holders = {ends: rows for ends, rows in holders.items() if len(rows) > 1}
    if not holders:
        return []
    _, places, turns = _world_frames(facts, joints, 1)
    numbers = ["XYZ".index(joint.resolved("axis")) for _, joint in joints]
    axes = turns[np.arange(len(joints)), :, numbers]

    def lines(rows: Iterable[int]) -> list[stacks.Line]:
        return [stacks.Line(joints[row][0].type_name, places[row], axes[row]) for row in rows]

    return [[joints[row][0] for row in rows] for rows in holders.values() if stacks.locks(lines(rows))]


@rule("JointsLockEachOther")
def joints_lock_each_other(facts: Facts) -> Iterator[Finding]:
    for prim, other, *more in facts.once(_locking):
        others = f"{len(more) + 1} other joints" if more else other.display
        yield Finding(
            prim, f"{prim.display} and {others} hold the same two bodies by different axes. PhysX and games hold all "
            "at once, so that nothing moves; MuJoCo makes one joint of several axes of them, and so do Newton and the "
            "preview in an articulation.", {"other": name(other)},
        )  # fmt: skip


@rule("JointFramesApart")
def frames_apart(facts: Facts) -> Iterator[Finding]:
    for gap in facts.once(gaps):
        if gap.distance:
            distance = f"{gap.distance:.4g} m apart along directions that it locks."
            yield Finding(gap.prim, f"The two frames of the joint {gap.prim.display} are {distance}")


@rule("JointFramesTilted")
def frames_tilted(facts: Facts) -> Iterator[Finding]:
    for gap in facts.once(gaps):
        if gap.angle:
            angle = f"turned by {math.degrees(gap.angle):.4g} degrees about axes that it locks."
            yield Finding(gap.prim, f"The two frames of the joint {gap.prim.display} are {angle}")


@rule("JointRotationNotUnit")
def rotation_not_unit(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        for side, rotation in enumerate((joint.local_rot0, joint.local_rot1)):
            if rotation is not None and rotation != frames.IDENTITY_ROTATION:
                length = math.hypot(*rotation)
                if abs(length - 1) > 1e-3:
                    yield Finding(
                        prim, f"The local rotation {side} of the joint {prim.display} has length {length:.4g}.",
                        {"side": str(side)},
                    )  # fmt: skip


# --------------------------------------------------------------------------- start of articulations

#: A joint of an articulation whose bodies are farther from its start jumps: radians, metres.
START_ANGLE, START_DISTANCE = math.radians(0.5), 1e-4
_AXES = "XYZ"


@dataclass(slots=True)
class Jump:
    """A degree of freedom that PhysX does not start where the bodies are: radians or metres.

    is_settable: a joint state would start it there.
    """

    prim: Prim
    dof: str
    position: float
    start: float
    is_linear: bool
    is_settable: bool


def _articulated(facts: Facts) -> list[list[int]]:
    """Rows of `_measurable`, by articulation: the joints between two bodies that hang on a root.

    PhysX excludes joints with the world, with kinematic bodies, and distance joints.
    """
    joints = facts.once(_measurable)
    roots = {
        prim.path: prim for prim, _ in facts.all(usd_physics.ArticulationRootAPI)
        if getattr(prim.schemas.get("PhysxArticulationAPI"), "articulation_enabled", None) is not False
    }  # fmt: skip
    if not roots:
        return []
    above, pending = Above(roots), []
    ends: dict[int, tuple[str, str]] = {}
    hubs: dict[str, list[int]] = defaultdict(list)
    for row, (prim, joint) in enumerate(joints):
        owners = [facts.carrier.at(paths[0]) if (paths := _body(joint, side)) else None for side in (0, 1)]
        moving = [owner.path for owner in owners if owner is not None and owner.path in facts.dynamic]
        pending += [path for path in moving if above.at(path) is not None or above.at(prim.path) is not None]
        is_outside = joint.exclude_from_articulation is True or isinstance(joint, usd_physics.DistanceJoint)
        if len(set(moving)) == 2 and not is_outside:
            ends[row] = (moving[0], moving[1])
            for path in moving:
                hubs[path].append(row)
    groups, seen = [], set()
    for first in pending:
        rows: set[int] = set()
        reached = [first]
        while reached:
            path = reached.pop()
            if path not in seen:
                seen.add(path)
                rows.update(hubs[path])
                reached += (end for row in hubs[path] for end in ends[row])
        if rows:
            groups.append(sorted(rows))
    return groups


def jumps(facts: Facts) -> list[list[Jump]]:
    """What PhysX moves at the start, by articulation.

    Measured with ovphysx: a joint starts at its state, without one at 0. The states of several rotations of a generic
    joint are the rotation vector, which is shorter than half a turn; spherical joints, and translations of generic
    joints, which it locks, have no state.
    """
    articulations = _articulated(facts)
    if not articulations:
        return []
    joints = facts.once(_measurable)
    _, positions0, rotations0 = _world_frames(facts, joints, 0)
    _, positions1, rotations1 = _world_frames(facts, joints, 1)
    offsets = np.einsum("nji,nj->ni", rotations0, positions1 - positions0)
    relative = np.swapaxes(rotations0, 1, 2) @ rotations1
    limits = _locked(facts)
    groups = [
        [jump for row in rows for jump in _jumps_of(*joints[row], offsets[row], relative[row], limits)]
        for rows in articulations
    ]
    return [some for some in groups if some]


def _jumps_of(
    prim: Prim, joint: usd_physics.Joint, offset: Array, relative: Array, limits: Mapping[str, set[str]]
) -> Iterator[Jump]:
    if not (np.isfinite(offset).all() and np.isfinite(relative).all()):
        return
    if isinstance(joint, usd_physics.RevoluteJoint):
        angle = frames.angle_about(relative, _AXES.index(joint.resolved("axis")))
        start = _start(prim, "angular")
        if abs(math.remainder(angle - start, math.tau)) > START_ANGLE:
            yield Jump(prim, "angular", math.remainder(angle, math.tau), start, is_linear=False, is_settable=True)
    elif isinstance(joint, usd_physics.PrismaticJoint):
        way, start = float(offset[_AXES.index(joint.resolved("axis"))]), _start(prim, "linear")
        if abs(way - start) > START_DISTANCE:
            yield Jump(prim, "linear", way, start, is_linear=True, is_settable=True)
    elif isinstance(joint, usd_physics.SphericalJoint):
        angle = math.hypot(*frames.rotation_vector(relative))
        if angle > START_ANGLE:
            yield Jump(prim, "", angle, 0.0, is_linear=False, is_settable=False)
    elif type(joint) is usd_physics.Joint:
        locked = limits.get(prim.path, set())
        for axis, (way, angle) in enumerate(zip(offset.tolist(), frames.rotation_vector(relative), strict=True)):
            dof = f"trans{_AXES[axis]}"
            if dof not in locked and abs(way) > START_DISTANCE:
                yield Jump(prim, dof, way, 0.0, is_linear=True, is_settable=False)
            dof = f"rot{_AXES[axis]}"
            if dof not in locked and abs(angle - (start := _start(prim, dof))) > START_ANGLE:
                yield Jump(prim, dof, angle, start, is_linear=False, is_settable=True)


def _start(prim: Prim, dof: str) -> float:
    """The position of a joint state, radians or metres; 0 without one."""
    position = getattr(prim.schemas.get(f"PhysicsJointStateAPI:{dof}"), "position", None)
    # A file can hold a value of another type, which another rule names.
    return float(position) if isinstance(position, int | float) and math.isfinite(position) else 0.0


@rule("JointJumpsAtStart")
def jumps_at_start(facts: Facts) -> Iterator[Finding]:
    yield from _jumping(facts, settable=True)


@rule("JointStartsAtZero")
def starts_at_zero(facts: Facts) -> Iterator[Finding]:
    yield from _jumping(facts, settable=False)


def _jumping(facts: Facts, *, settable: bool) -> Iterator[Finding]:
    """One finding for each articulation; settable: of joints that a joint state starts elsewhere, or of the others."""
    for group in facts.once(jumps):
        jumping = [jump for jump in group if jump.is_settable is settable]
        if not jumping:
            continue
        first = jumping[0]
        position, start = (
            joint_value_text(value, is_angular=not first.is_linear) for value in (first.position, first.start)
        )
        message = f"PhysX starts the joint {first.prim.display} at {start}, and its bodies are at {position}."
        others = len({jump.prim.path for jump in jumping}) - 1
        if others:
            message = f"{message} Other joints of the articulation that jump: {others}."
        yield Finding(first.prim, message)
