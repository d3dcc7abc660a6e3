# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the two frames of a joint: they must coincide along locked degrees of freedom.

Otherwise simulators snap the bodies together at the first step.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from .. import frames, joint_kinds
from ..model import Prim
from ..schemas import usd_physics
from .base import Facts, Finding, rule

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
    for entries in facts.instances(usd_physics.LimitAPI):
        for prim, limit in entries:
            if joint_kinds.is_locked(limit.resolved("low"), limit.resolved("high")):
                locked[prim.path].add(entries.instance)
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
    joints = _measurable(facts)
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


@rule(
    "JointFramesApart", "warning", "warning", "warning",
    meaning="The two frames of a joint are apart along a direction that the joint locks; the bodies will jump.",
    fix="Move the bodies of {X} together, or recompute the joint's frames from the current poses.",
)  # fmt: skip
def frames_apart(facts: Facts) -> Iterator[Finding]:
    for gap in facts.once(gaps):
        if gap.distance:
            distance = f"{gap.distance:.4g} m apart along directions that it locks."
            yield Finding(gap.prim, f"The two frames of the joint {gap.prim.display} are {distance}")


@rule(
    "JointFramesTilted", "warning", "warning", "warning",
    meaning="The two frames of a joint differ by a rotation about an axis that the joint locks; the bodies "
    "will jump.",
    fix="Align the bodies of {X}, or recompute the joint's frames from the current poses.",
)  # fmt: skip
def frames_tilted(facts: Facts) -> Iterator[Finding]:
    for gap in facts.once(gaps):
        if gap.angle:
            angle = f"turned by {math.degrees(gap.angle):.4g} degrees about axes that it locks."
            yield Finding(gap.prim, f"The two frames of the joint {gap.prim.display} are {angle}")


@rule(
    "JointRotationNotUnit", "warning", "warning", "warning",
    meaning="The orientation of a joint frame is not a unit quaternion.",
    fix="Normalize the local rotation {side} of {X}.",
)  # fmt: skip
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
